//! What a person reads when something cannot be done.

use std::fmt;

/// In what sense a request failed. The same everywhere: exit status in a terminal, HTTP status in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It was tried and did not work.
    Failed,
    /// The request itself is wrong.
    Usage,
    /// Refused, because someone's work might be lost.
    Protected,
    /// There is no such thing.
    NotFound,
    /// The limit of environments is reached.
    Limit,
    /// Something else is using it now.
    Busy,
}

impl Kind {
    pub const ALL: [Self; 6] = [Self::Failed, Self::Usage, Self::Protected, Self::NotFound, Self::Limit, Self::Busy];

    /// As scripts read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Protected => "protected",
            Self::NotFound => "not_found",
            Self::Limit => "limit",
            Self::Busy => "busy",
        }
    }

    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Protected => 3,
            Self::NotFound => 4,
            Self::Limit => 5,
            Self::Busy => 6,
        }
    }
}

/// A sentence for a person, and what they can do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    pub kind: Kind,
    pub message: String,
    pub hints: Vec<String>,
}

impl UserError {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// Adds one next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}
