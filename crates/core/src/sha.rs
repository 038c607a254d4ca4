//! The name of a commit.

use std::fmt;

use serde::{Serialize, Serializer};

/// A full object name: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitSha(String);

impl CommitSha {
    pub fn parse(text: &str) -> Result<Self, BadSha> {
        let full = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
        if full { Ok(Self(text.to_ascii_lowercase())) } else { Err(BadSha(text.to_owned())) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The seven digits people read.
    pub fn short(&self) -> &str {
        &self.0[..7]
    }
}

/// Text that should have been a full commit name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a full commit sha (40 or 64 hexadecimal digits)")]
pub struct BadSha(String);

impl fmt::Display for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for CommitSha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_hexadecimal_names_pass() {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(CommitSha::parse(sha).expect("40 digits").short(), "0123456");
        assert!(CommitSha::parse(&sha.repeat(2)[..64]).is_ok());
        for bad in ["", "abc", "HEAD", &sha[..39], "g123456789abcdef0123456789abcdef01234567", "--upload-pack=x"] {
            assert!(CommitSha::parse(bad).is_err(), "{bad}");
        }
    }
}
