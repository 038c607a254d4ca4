//! Linked worktrees: listing, registering, moving, filling.

use std::path::{Path, PathBuf};

use hedgerow_core::provider::Progress;
use hedgerow_core::{BranchName, CommitSha};

use super::{GitError, GitResult, Repo};

/// A worktree as git lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub path: PathBuf,
    pub head: Option<CommitSha>,
    /// `None` when detached, bare, or on a branch whose name is not UTF-8.
    pub branch: Option<BranchName>,
    pub locked: Option<String>,
    pub prunable: bool,
    pub bare: bool,
    /// The first one git lists: the main checkout or the bare repository.
    pub is_main: bool,
}

impl Repo {
    pub async fn worktrees(&self) -> GitResult<Vec<Listed>> {
        let mut tried = 0;
        loop {
            match self.call().args(["worktree", "list", "--porcelain", "-z"]).read().await {
                Err(error) if error.is_half_made_entry() && self.may_try_again(tried).await => tried += 1,
                listed => return parse_list(&listed?),
            }
        }
    }

    /// Registers a worktree on a branch that exists, locked from the first moment, without any files yet.
    pub async fn add_worktree(&self, path: &Path, branch: &BranchName, lock: &str) -> GitResult<()> {
        let mut tried = 0;
        loop {
            let call = self.call().args(["worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", lock]);
            match call.arg("--end-of-options").arg(path).arg(branch.as_str()).write().await {
                Err(error) if error.is_half_made_entry() && self.may_try_again(tried).await => tried += 1,
                added => return added.map(drop),
            }
        }
    }

    /// Writes the files of HEAD into a worktree that has none. Several workers: on two cores and more it is quicker
    /// than what `git worktree add` does by itself.
    pub async fn fill_worktree(&self, progress: &dyn Progress) -> GitResult<()> {
        let call = self.call().config("checkout.workers", "0").config("checkout.thresholdForParallelism", "500");
        call.opened(self.opening_of_promises().await)
            .args(["checkout", "--quiet", "--progress", "--force", "--no-recurse-submodules"])
            .long(progress)
            .await
            .map(drop)
    }

    /// Whether some worktree, the main checkout included, is on this branch.
    pub async fn is_held(&self, branch: &BranchName) -> GitResult<bool> {
        Ok(self.worktrees().await?.iter().any(|listed| listed.branch.as_ref() == Some(branch)))
    }

    pub async fn lock_worktree(&self, path: &Path, reason: &str) -> GitResult<()> {
        self.call().args(["worktree", "lock", "--reason", reason]).arg(path).write().await.map(drop)
    }

    /// Unlocks a worktree if its lock has this reason.
    pub async fn unlock_worktree(&self, path: &Path, admin: &Path, reason: &str) -> GitResult<()> {
        let locked = std::fs::read_to_string(admin.join("locked"));
        if locked.is_ok_and(|text| text.trim_end() == reason) {
            self.call().args(["worktree", "unlock"]).arg(path).write().await?;
        }
        Ok(())
    }

    pub async fn init_submodules(&self, progress: &dyn Progress) -> GitResult<()> {
        let args = ["submodule", "update", "--init", "--recursive", "--checkout", "--progress"];
        self.call().args(args).long(progress).await.map(drop)
    }

    /// Paths of the submodules in the index of this worktree.
    pub async fn submodules(&self) -> GitResult<Vec<PathBuf>> {
        let out = self.call().args(["ls-files", "--stage", "-z"]).read().await?;
        let links = out.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
        let paths = links.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        Ok(paths.map(|path| self.at().join(String::from_utf8_lossy(path).as_ref())).collect())
    }
}

fn parse_list(out: &[u8]) -> GitResult<Vec<Listed>> {
    let mut list: Vec<Listed> = Vec::new();
    for field in out.split(|byte| *byte == 0).filter(|field| !field.is_empty()) {
        let text = String::from_utf8_lossy(field);
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        if word == "worktree" {
            list.push(Listed {
                path: PathBuf::from(rest),
                head: None,
                branch: None,
                locked: None,
                prunable: false,
                bare: false,
                is_main: list.is_empty(),
            });
            continue;
        }
        let Some(entry) = list.last_mut() else {
            return Err(GitError::Unexpected { what: "worktree list".into(), got: text.into_owned() });
        };
        match word {
            "HEAD" => entry.head = CommitSha::parse(rest).ok().filter(|sha| sha.as_str().bytes().any(|b| b != b'0')),
            "branch" => entry.branch = rest.strip_prefix("refs/heads/").and_then(|name| BranchName::parse(name).ok()),
            "locked" => entry.locked = Some(rest.to_owned()),
            "prunable" => entry.prunable = true,
            "bare" => entry.bare = true,
            _ => {}
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_porcelain_list_is_read_field_by_field() {
        let sha = "b90244187207e9e6f69292ffe005c8e491c08708";
        let out = format!(
            "worktree /r\0HEAD {sha}\0branch refs/heads/main\0\0worktree /w x\0HEAD {sha}\0branch refs/heads/a/b\0locked hedgerow:1\n2\0\0\
             worktree /d\0HEAD {sha}\0detached\0prunable gone\0\0"
        );
        let list = parse_list(out.as_bytes()).expect("reads");
        assert_eq!(list.len(), 3);
        assert!(list[0].is_main && !list[1].is_main);
        assert_eq!(list[1].path, Path::new("/w x"));
        assert_eq!(list[1].branch.as_ref().map(BranchName::as_str), Some("a/b"));
        assert_eq!(list[1].locked.as_deref(), Some("hedgerow:1\n2"));
        assert!(list[2].branch.is_none() && list[2].prunable);
    }
}
