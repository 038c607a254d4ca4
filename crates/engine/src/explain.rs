//! From what went wrong to what a person reads. The only place that makes this step.

use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::provider::ProviderError;
use hedgerow_core::{BranchName, CommitSha, Kind, UserError};

use crate::failure::Failure;
use crate::git::GitError;
use crate::store::StoreError;

/// Everything that can stop an environment from being made, moved or inspected.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("{} is not the environment it should be: {why}", path.display())]
    Links { path: PathBuf, why: String },
    #[error("{} is on another disk", path.display())]
    OtherDisk { path: PathBuf },
    #[error("{} exists already", path.display())]
    PathTaken { path: PathBuf },
    #[error("someone went on working in `{name}` meanwhile")]
    MovedOn { name: String },
    #[error("the folder that holds the environments is not there")]
    BaseAway { path: PathBuf },
    #[error("another worktree is inside it: {}", path.display())]
    WorktreeInside { path: PathBuf },
    #[error("{why}")]
    CannotSave { why: &'static str, way_out: &'static str },
    #[error("`{name}` is not in the trash")]
    NotTrashed { name: String },
    #[error("the saved state at {} cannot be used: {why}", path.display())]
    Saved { path: PathBuf, why: String },
    #[error("the repository has no commit yet")]
    EmptyRepository,
    #[error("there is no branch `{branch}`")]
    NoSuchBranch { branch: BranchName },
    #[error("the branch `{branch}` holds something else already")]
    BranchTaken { branch: BranchName },
    #[error("the branch `{branch}` cannot be made, because `{by}` exists")]
    BranchBlocked { branch: BranchName, by: BranchName },
    #[error("`{codebase}` has no remote `{remote}`")]
    NoSuchRemote { remote: String, codebase: String },
    #[error("pull request {number} cannot be fetched: the repository has no remote")]
    NoRemote { number: u64 },
    #[error("pull request {number} cannot be found on the remote")]
    NoSuchPullRequest { number: u64 },
    #[error("the commit {sha} cannot be had")]
    NoSuchCommit { sha: CommitSha, why: Option<String> },
    /// Names of objects that only git's own records hold are then in no file that could be searched for them.
    #[error("a checkpoint cannot be made in `{codebase}`, because its refs are kept as `{form}`")]
    RefStorage { codebase: String, form: String },
    #[error("the configuration of `{codebase}` that can run programs has changed")]
    ConfigChanged { codebase: String, changes: Vec<String> },
}

impl Trouble {
    pub(crate) fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::Folder { path, source }
    }

    pub(crate) fn links(path: &Path) -> impl FnOnce(String) -> Self + use<> {
        let path = path.to_owned();
        |why| Self::Links { path, why }
    }

    /// A failed fetch of a pull request: not there, or not reachable.
    pub(crate) fn pull_request(number: u64) -> impl FnOnce(GitError) -> Self {
        move |error| if error.is_missing_ref() { Self::NoSuchPullRequest { number } } else { Self::Git(error) }
    }

    fn explain(self) -> Failure {
        let message = self.to_string();
        let user = |kind, hint: String| Failure::User(UserError::new(kind, message.clone()).hint(hint));
        match self {
            Self::Git(error) => explain_git(&error),
            Self::Folder { path, source } => explain_io(&path, &source),
            Self::Links { .. } => user(Kind::Protected, "`hedgerow doctor` says more; nothing was changed".into()),
            Self::OtherDisk { .. } => user(
                Kind::Protected,
                "it cannot be moved into the trash in one step; move its contents away by hand".into(),
            ),
            Self::PathTaken { .. } => {
                user(Kind::Protected, "move what is there away first; nothing is ever overwritten".into())
            }
            Self::MovedOn { .. } => user(Kind::Busy, "look at it, then try again; nothing was changed".into()),
            Self::BaseAway { path } => {
                user(Kind::Failed, format!("mount the disk of {}, then try again", path.display()))
            }
            Self::WorktreeInside { path } => {
                user(Kind::Protected, format!("move it out first: `git worktree move {} <elsewhere>`", path.display()))
            }
            Self::CannotSave { way_out, .. } => user(Kind::Failed, way_out.into()),
            Self::NotTrashed { .. } => user(Kind::NotFound, "`hedgerow env trash` lists what is there".into()),
            Self::Saved { .. } => user(Kind::Failed, "`hedgerow vault verify` checks all of them".into()),
            Self::EmptyRepository => {
                user(Kind::Failed, "make a first commit: `git commit --allow-empty -m start`".into())
            }
            Self::NoSuchBranch { .. } => user(Kind::NotFound, "`git branch --all` lists the branches there are".into()),
            Self::BranchTaken { branch } => user(Kind::Failed, format!("rename or delete the branch `{branch}`")),
            Self::BranchBlocked { by, .. } => {
                user(Kind::Failed, format!("rename the branch `{by}`, or set another `worktrees.branch_prefix`"))
            }
            Self::NoSuchRemote { .. } => user(Kind::Failed, "`git remote -v` lists the remotes there are".into()),
            Self::NoRemote { .. } => user(Kind::Failed, "add one with `git remote add origin <url>`".into()),
            Self::NoSuchPullRequest { .. } => {
                user(Kind::NotFound, "check the number, and `worktrees.pull_ref` if the forge is not GitHub".into())
            }
            Self::NoSuchCommit { why, .. } => {
                user(Kind::NotFound, why.unwrap_or_else(|| "the remote does not have it, or not any more".into()))
            }
            Self::RefStorage { .. } => user(
                Kind::Failed,
                "only a repository with refs in files has checkpoints: `git clone --ref-format=files` makes one".into(),
            ),
            Self::ConfigChanged { codebase, changes } => {
                Failure::User(UserError::new(Kind::Protected, message.clone()).hint(changes.join(", ")).hint(format!(
                    "look at `git config --local --list`, then accept it with `hedgerow codebase trust {codebase}`"
                )))
            }
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        trouble.explain()
    }
}

impl From<Trouble> for ProviderError {
    fn from(trouble: Trouble) -> Self {
        match trouble.explain() {
            Failure::User(user) => Self::User(user),
            Failure::Internal(error) => Self::Other(error.into()),
        }
    }
}

impl From<GitError> for ProviderError {
    fn from(error: GitError) -> Self {
        Trouble::Git(error).into()
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        explain_git(&error)
    }
}

fn explain_git(error: &GitError) -> Failure {
    let say = |kind, hint: &str| UserError::new(kind, error.to_string()).hint(hint);
    let user = match error {
        GitError::Missing { .. } => say(Kind::Failed, "install git 2.39 or newer, or set `git` in hedgerow.toml"),
        GitError::TooOld { .. } => say(Kind::Failed, "install a newer git, or set `git` in hedgerow.toml to one"),
        GitError::NotARepository(_) => say(
            Kind::Usage,
            "run this inside a git checkout, or name one with `--codebase` or `hedgerow codebase add <path>`",
        ),
        GitError::ForeignOwner(path) => {
            let hint = format!("if you trust it: `git config --global --add safe.directory {}`", path.display());
            UserError::new(Kind::Failed, error.to_string()).hint(hint)
        }
        GitError::NoCredential { .. } => say(Kind::Failed, "try again in a while"),
        GitError::NotLetIn { .. } => say(Kind::Protected, "whoever looks after the repository can let me"),
        GitError::Timeout { .. } => {
            say(Kind::Failed, "check the network and the disk, then try again; nothing was changed")
        }
        GitError::Locked { .. } => {
            say(Kind::Busy, "another Hedgerow is busy in this repository; try again when it is done")
        }
        _ if error.is_disk_trouble() => {
            UserError::new(Kind::Failed, format!("the disk cannot be written: {}", error.reason()))
                .hint("make room or make it writable, then try again; nothing was left behind")
        }
        GitError::Failed { what, .. } => {
            UserError::new(Kind::Failed, format!("`git {what}` failed: {}", error.reason()))
                .hint("`hedgerow doctor` checks git, the repository and the disk")
        }
        GitError::TooMuch { .. } | GitError::Unexpected { .. } | GitError::Io { .. } => {
            say(Kind::Failed, "`hedgerow doctor` checks git, the repository and the disk")
        }
    };
    Failure::User(user)
}

fn explain_io(path: &Path, source: &io::Error) -> Failure {
    let shown = path.display();
    let hint = match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "make it writable, or choose another place with HEDGEROW_HOME or WORKTREE_BASE"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk, then try again",
        _ => "`hedgerow doctor` checks the folders Hedgerow uses",
    };
    Failure::User(UserError::new(Kind::Failed, format!("cannot use {shown}: {source}")).hint(hint))
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => {
                let user = UserError::new(Kind::Failed, error.to_string());
                Self::User(user.hint("check DATABASE_URL, and that the folder or server can be reached and written"))
            }
            StoreError::Ambiguous(_) => Self::User(
                UserError::new(Kind::Usage, error.to_string()).hint("`hedgerow env list --json` shows ids in full"),
            ),
            // Whoever looks again sees what somebody else did.
            StoreError::Stale => Self::User(UserError::new(Kind::Busy, error.to_string()).hint("try again")),
            other => Self::Internal(other.into()),
        }
    }
}
