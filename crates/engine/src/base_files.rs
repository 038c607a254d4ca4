//! What a codebase itself says to Hedgerow: files of the commit that its work starts from.
//!
//! A working tree, an environment's branch or a pull request can hold anything anybody wrote; what is on the base was
//! accepted there. So these files are read from that commit, and never from a disk.

use std::fmt;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use hedgerow_core::{BranchName, Codebase, CommitSha, Kind, UserError};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::Repo;
use crate::git::tree::Committed;

/// More files than this below one folder are no folder of templates.
const MOST_FILES: usize = 500;

/// The commit that new work of a codebase starts from, as last fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseCommit {
    /// `None` when a detached HEAD is all there is.
    pub branch: Option<BranchName>,
    pub commit: CommitSha,
}

impl fmt::Display for BaseCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.branch {
            Some(branch) => write!(f, "{branch} ({})", self.commit.short()),
            None => f.write_str(self.commit.short()),
        }
    }
}

/// A repository, and its base commit; none before the first commit.
pub(crate) struct AtBase {
    repo: Repo,
    pub(crate) base: Option<BaseCommit>,
}

impl Engine {
    /// The file at a path of the base commit; `None` when there is none. One of more than `cap` bytes is refused, and so
    /// is what is not a regular file, such as a symbolic link.
    pub async fn base_file(&self, codebase: &Codebase, path: &Path, cap: usize) -> Outcome<Option<Vec<u8>>> {
        self.at_base(codebase).await?.file(path, cap).await
    }

    /// The regular files of the base commit below a folder, as paths in the repository; the file itself when it is one.
    /// Symbolic links and submodules are left out.
    pub async fn base_files(&self, codebase: &Codebase, folder: &Path) -> Outcome<Vec<PathBuf>> {
        self.at_base(codebase).await?.files(folder).await
    }

    /// Finds the base as creation does, without fetching: the codebase's own, else the remote's HEAD, else HEAD.
    pub(crate) async fn at_base(&self, codebase: &Codebase) -> Outcome<AtBase> {
        let repo = self.git.open(codebase).await?;
        let configured = codebase.remote_name.as_deref().or(self.settings.remote.as_deref());
        let remote = repo.remote(configured);
        if let (Some(wanted), None) = (configured, remote) {
            return Err(Trouble::NoSuchRemote { remote: wanted.to_owned(), codebase: codebase.name.clone() }.into());
        }
        let base = base_of(&repo, remote, codebase.base_branch.as_ref()).await?;
        Ok(AtBase { repo, base })
    }
}

impl AtBase {
    pub(crate) async fn file(&self, path: &Path, cap: usize) -> Outcome<Option<Vec<u8>>> {
        require_inside(path)?;
        let Some(base) = &self.base else { return Ok(None) };
        let refuse = |why: String| {
            let shown = path.display();
            UserError::new(Kind::Usage, format!("`{shown}` at {base} cannot be used: {why}"))
        };
        match self.repo.blob_at(&base.commit, path, cap).await? {
            Committed::Nothing => Ok(None),
            Committed::File(bytes) => Ok(Some(bytes)),
            Committed::Larger { bytes } => {
                let error = refuse(format!("it has {bytes} bytes, and may have {cap}"));
                Err(error.hint("make it smaller, and bring that to the base branch").into())
            }
            Committed::Other(what) => {
                let error = refuse(format!("it is {what}"));
                Err(error.hint("put a regular file there, and bring that to the base branch").into())
            }
        }
    }

    /// Writes all files of the base commit into a file, as an archive, and goes back to its beginning.
    pub(crate) async fn archive(&self, into: File) -> Outcome<File> {
        let Some(base) = &self.base else { return Ok(into) };
        Ok(self.repo.archive(&base.commit, into).await?)
    }

    async fn files(&self, folder: &Path) -> Outcome<Vec<PathBuf>> {
        require_inside(folder)?;
        let Some(base) = &self.base else { return Ok(Vec::new()) };
        let files = self.repo.regular_files(&base.commit, folder, MOST_FILES).await?;
        files.ok_or_else(|| {
            let what = format!("`{}` at {base} has more than {MOST_FILES} files", folder.display());
            UserError::new(Kind::Usage, what).hint("name a folder that holds only what is meant").into()
        })
    }
}

async fn base_of(
    repo: &Repo,
    remote: Option<&str>,
    configured: Option<&BranchName>,
) -> Result<Option<BaseCommit>, Trouble> {
    let name = match (configured, remote) {
        (Some(name), _) => Some(name.clone()),
        (None, Some(remote)) => match repo.remote_head(remote).await? {
            Some(name) => Some(name),
            None => repo.head_branch().await?,
        },
        (None, None) => repo.head_branch().await?,
    };
    let Some(branch) = name else {
        let commit = repo.commit("HEAD").await?;
        return Ok(commit.map(|commit| BaseCommit { branch: None, commit }));
    };
    let known = match remote {
        Some(remote) => repo.remote_tip(remote, &branch).await?,
        None => None,
    };
    let known = match known {
        Some(tip) => Some(tip),
        None => repo.own_tip(&branch).await?,
    };
    match known {
        Some(commit) => Ok(Some(BaseCommit { branch: Some(branch), commit })),
        None if repo.commit("HEAD").await?.is_some() => Err(Trouble::NoSuchBranch { branch }),
        None => {
            repo.require_whole_branches().await?;
            Ok(None)
        }
    }
}

/// A path from the repository's root downwards, and to no other place.
pub(crate) fn is_inside(path: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    !path.as_os_str().is_empty() && !path.as_os_str().as_encoded_bytes().contains(&0) && path.components().all(is_plain)
}

fn require_inside(path: &Path) -> Result<(), UserError> {
    if is_inside(path) {
        return Ok(());
    }
    let shown = path.to_string_lossy().escape_debug().to_string();
    let error = UserError::new(Kind::Usage, format!("`{shown}` is not a path inside the repository"));
    Err(error.hint("paths begin at the repository's root and have no `..` in them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_are_paths_of_a_repository() {
        for good in ["a", ".hedgerow/config.toml", "a/b c/*", ":(top)x", "-x", "a/./b", "..a"] {
            assert!(is_inside(Path::new(good)), "{good}");
        }
        for bad in ["", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", ".", "./a", "a\0b"] {
            assert!(!is_inside(Path::new(bad)), "{bad:?}");
        }
    }
}
