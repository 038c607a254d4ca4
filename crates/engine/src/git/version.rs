//! Which git this is.

use std::fmt;

use super::{Git, GitError, GitResult};

/// `git worktree list -z`, `--no-write-fetch-head`, `merge-tree --write-tree`: all there since this release.
const MINIMUM: Version = Version([2, 39, 0]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// From `git version 2.47.3 (Apple Git-154)` and the like.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers =
            text.strip_prefix("git version ")?.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next()?.ok()?;
        let patch = numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(Self([major, minor, patch]))
    }

    /// Whether it has the security fixes of July 2025, which were made for every line then maintained.
    pub fn has_fixes_of_july_2025(self) -> bool {
        let [major, minor, patch] = self.0;
        match (major, minor) {
            (2, 43) => patch >= 7,
            (2, 44..=46) => patch >= 4,
            (2, 47) => patch >= 3,
            (2, 48) => patch >= 2,
            (2, 49 | 50) => patch >= 1,
            _ => self > Self([2, 50, 0]),
        }
    }

    /// `for-each-ref` can count commits ahead and behind for all branches in one go.
    pub fn counts_ahead_behind(self) -> bool {
        self >= Self([2, 41, 0])
    }
}

impl Git {
    /// The version, or an error when it is below the minimum.
    pub async fn require_version(&self) -> GitResult<Version> {
        let out = self.call(std::path::Path::new("/")).args(["version"]).read().await?;
        let text = String::from_utf8_lossy(&out);
        let found = Version::parse(text.trim())
            .ok_or_else(|| GitError::Unexpected { what: "version".into(), got: beginning(&text) })?;
        if found < MINIMUM { Err(GitError::TooOld { found, needed: MINIMUM }) } else { Ok(found) }
    }
}

/// Enough to recognise what answers in git's place.
fn beginning(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_build() {
        let table = [
            ("git version 2.47.3", Some([2, 47, 3])),
            ("git version 2.39.5 (Apple Git-154)", Some([2, 39, 5])),
            ("git version 2.50.0.windows.1", Some([2, 50, 0])),
            ("git version 2.51.rc1", Some([2, 51, 0])),
            ("hub version 2.1", None),
        ];
        for (text, expected) in table {
            assert_eq!(Version::parse(text), expected.map(Version), "{text}");
        }
    }

    #[test]
    fn security_releases_are_known_line_by_line() {
        for good in [[2, 43, 7], [2, 47, 3], [2, 50, 1], [2, 51, 0], [3, 0, 0]] {
            assert!(Version(good).has_fixes_of_july_2025(), "{good:?}");
        }
        for old in [[2, 39, 5], [2, 43, 6], [2, 47, 2], [2, 50, 0]] {
            assert!(!Version(old).has_fixes_of_july_2025(), "{old:?}");
        }
    }
}
