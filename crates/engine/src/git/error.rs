//! What can go wrong with a call to git. Messages of git's are read here and nowhere else.

use std::path::PathBuf;

use super::Version;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be started ({program}): {source}")]
    Missing { program: String, source: std::io::Error },
    #[error("git {found} is too old; {needed} or newer is needed")]
    TooOld { found: Version, needed: Version },
    #[error("{} is not inside a git repository", .0.display())]
    NotARepository(PathBuf),
    /// git refuses a repository that belongs to another user.
    #[error("git does not trust {}: it belongs to another user", .0.display())]
    ForeignOwner(PathBuf),
    #[error("`git {what}` gave no sign of life for {seconds} s")]
    Timeout { what: String, seconds: u64 },
    #[error("`git {what}` printed more than {limit} bytes")]
    TooMuch { what: String, limit: usize },
    #[error("`git {what}` failed ({}): {stderr}", code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}")))]
    Failed { what: String, code: Option<i32>, stderr: String },
    #[error("`git {what}` answered something unexpected: {got}")]
    Unexpected { what: String, got: String },
    #[error("another program has held the lock {} for {seconds} s", path.display())]
    Locked { path: PathBuf, seconds: u64 },
    /// Who could open the remote does not answer.
    #[error("the forge of `{repository}` does not answer: {why}")]
    NoCredential { repository: String, why: String },
    /// Who could open the remote will not, and it is not to be opened as somebody else.
    #[error("the forge of `{repository}` does not let me write: {why}")]
    NotLetIn { repository: String, why: String },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl GitError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }

    /// What git printed, for people; without our own words around it.
    pub fn reason(&self) -> String {
        match self {
            Self::Failed { stderr, code, .. } if stderr.is_empty() => match code {
                Some(code) => format!("it ended with exit code {code} and said nothing"),
                None => "it was killed".to_owned(),
            },
            Self::Failed { stderr, .. } => {
                let line = stderr.lines().rev().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
                line.or_else(|| stderr.lines().last())
                    .unwrap_or_default()
                    .trim_start_matches("fatal: ")
                    .trim_start_matches("error: ")
                    .to_owned()
            }
            other => other.to_string(),
        }
    }

    /// Whether the disk is full or cannot be written; git says it only in words.
    pub fn is_disk_trouble(&self) -> bool {
        match self {
            Self::Failed { stderr, .. } => ["No space left on device", "Read-only file system", "Disk quota exceeded"]
                .iter()
                .any(|s| stderr.contains(s)),
            Self::Io { source, .. } => matches!(
                source.kind(),
                std::io::ErrorKind::StorageFull
                    | std::io::ErrorKind::ReadOnlyFilesystem
                    | std::io::ErrorKind::QuotaExceeded
            ),
            _ => false,
        }
    }

    /// Whether the remote was reached and simply has no such ref.
    pub fn is_missing_ref(&self) -> bool {
        matches!(self, Self::Failed { stderr, .. } if stderr.contains("couldn't find remote ref"))
    }

    /// Whether git stumbled over a worktree's entry that another git has not finished.
    pub(crate) fn is_half_made_entry(&self) -> bool {
        matches!(self, Self::Failed { stderr, .. } if stderr.contains("failed to read") && stderr.contains("/commondir"))
    }

    /// The failure of a discovery call, told apart by git's words under `LC_ALL=C`.
    pub(crate) fn of_discovery(self, at: &std::path::Path) -> Self {
        match self {
            Self::Failed { ref stderr, .. } if stderr.contains("dubious ownership") => {
                Self::ForeignOwner(at.to_owned())
            }
            Self::Failed { ref stderr, .. }
                if stderr.contains("not a git repository") || stderr.contains("cannot change to") =>
            {
                Self::NotARepository(at.to_owned())
            }
            other => other,
        }
    }
}
