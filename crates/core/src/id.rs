//! Ids and times, as types of their own so that one cannot be passed for another.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id. Version 7: ids sort by the time they were made.
            #[expect(clippy::new_without_default, reason = "two calls give two ids; that is no default")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The last eight digits: random, so short forms of ids made together still differ.
            pub fn short(&self) -> String {
                let text = self.0.simple().to_string();
                text[text.len() - 8..].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                Uuid::parse_str(text).map(Self).map_err(|_| BadId(text.to_owned()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

id!(
    /// A codebase.
    CodebaseId
);
id!(
    /// An environment.
    EnvironmentId
);
id!(
    /// A conversation.
    ConversationId
);
id!(
    /// A saved state in the vault.
    SavedId
);
id!(
    /// One turn of an assistant.
    RunId
);
id!(
    /// Something a platform delivered.
    MessageId
);
id!(
    /// Something we say.
    ReplyId
);
id!(
    /// An assistant's context inside one conversation.
    SessionId
);
id!(
    /// An entry of the append-only event log.
    EventId
);

/// Text that should have been an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id")]
pub struct BadId(String);

/// A moment in UTC, in milliseconds since 1970. Always from an injected clock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to `self`; negative when the clock went back.
    pub const fn seconds_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0) / 1000
    }

    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, whole seconds, `Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0.div_euclid(1000)) {
            Ok(moment) => moment.fmt(f),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_being_written_down() {
        let id = EnvironmentId::new();
        assert_eq!(id.to_string().parse::<EnvironmentId>().expect("parses"), id);
        assert!("42".parse::<EnvironmentId>().is_err());
    }

    #[test]
    fn a_timestamp_reads_as_rfc_3339() {
        assert_eq!(Timestamp::from_millis(1_777_802_400_000).to_string(), "2026-05-03T10:00:00Z");
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59Z");
    }
}
