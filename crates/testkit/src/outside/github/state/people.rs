//! Who is there, what they may, and what they show at the door.

use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) id: u64,
    pub(crate) login: String,
    pub(crate) is_bot: bool,
}

/// What somebody may do in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    None,
    Read,
    Triage,
    Write,
    Maintain,
    Admin,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// The older word, which knows only four.
    pub(crate) const fn permission(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

/// What somebody shows to be let in.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// The id of a user.
    pub(crate) who: u64,
    /// The repositories it opens; of an installation only these.
    pub(crate) only: Option<BTreeSet<u64>>,
    pub(crate) expires_at: Option<i64>,
}

/// The App that acts by itself, with a bot for its deeds.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) id: u64,
    pub(crate) slug: String,
    pub(crate) bot: u64,
    /// The repositories it is installed in. The installation of each owner has an id of its own.
    pub(crate) installed: BTreeSet<u64>,
    pub(crate) created_at: i64,
}
