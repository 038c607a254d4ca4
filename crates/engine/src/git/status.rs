//! What is changed in a worktree.

use hedgerow_core::{BranchName, CommitSha};

use super::{GitResult, Repo};

/// Counts of changed paths. Ignored files and flags like assume-unchanged are invisible to `git status`; that is why
/// removal keeps the whole folder and does not trust this for more than asking first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    pub staged: u64,
    pub unstaged: u64,
    pub untracked: u64,
    pub conflicted: u64,
    /// What HEAD is; `None` before the first commit.
    pub head: Option<CommitSha>,
    /// `None` when HEAD is detached.
    pub branch: Option<BranchName>,
    /// Some of the changed paths, to look at their times.
    pub sample: Vec<String>,
}

/// More paths than this are not looked at one by one.
const SAMPLE: usize = 256;

/// What git prints in place of a branch when HEAD is on none.
const DETACHED: &str = "(detached)";

impl Status {
    pub const fn is_clean(&self) -> bool {
        self.staged + self.unstaged + self.untracked + self.conflicted == 0
    }

    /// Takes one record of the answer in. There may be millions; only counts and a few names are kept.
    fn take(&mut self, record: &[u8]) {
        let text = String::from_utf8_lossy(record);
        if let Some(header) = text.strip_prefix("# ") {
            match header.split_once(' ') {
                Some(("branch.oid", oid)) => self.head = CommitSha::parse(oid).ok(),
                // The word for no branch would pass for the name of one.
                Some(("branch.head", name)) if name != DETACHED => self.branch = BranchName::parse(name).ok(),
                _ => {}
            }
            return;
        }
        let mut fields = text.split(' ');
        let path_at = match fields.next() {
            Some("1") => {
                let code = fields.next().unwrap_or_default().as_bytes();
                self.staged += u64::from(code.first().is_some_and(|c| *c != b'.'));
                self.unstaged += u64::from(code.get(1).is_some_and(|c| *c != b'.'));
                8
            }
            Some("u") => {
                self.conflicted += 1;
                10
            }
            Some("?") => {
                self.untracked += 1;
                1
            }
            // `2` (renames) is switched off; `!` is not asked for.
            _ => return,
        };
        if self.sample.len() < SAMPLE
            && let Some(path) = text.splitn(path_at + 1, ' ').nth(path_at)
        {
            self.sample.push(path.to_owned());
        }
    }
}

impl Repo {
    /// Whether there is nothing here but the files of HEAD, unchanged; ignored files count.
    pub async fn is_pristine(&self) -> GitResult<bool> {
        let args = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored", "--ignore-submodules=dirty"];
        let mut clean = true;
        self.call().args(args).records(|_| clean = false).await?;
        Ok(clean)
    }

    /// The changes of this worktree, submodules included.
    ///
    /// Submodules are asked one by one, each as a repository of its own: `git status` would enter them with their own
    /// configuration, filters and all.
    pub async fn status(&self, has_submodules: bool) -> GitResult<Status> {
        let args = [
            "status",
            "--porcelain=v2",
            "--branch",
            // Counted against the base for all branches at once; against the upstream nobody asks.
            "--no-ahead-behind",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let mut status = Status::default();
        self.call().args(args).records(|record| status.take(record)).await?;
        if has_submodules {
            for path in self.submodules().await? {
                if path.join(".git").exists() {
                    let inner = Box::pin(self.inner(&path).await?.status(true)).await?;
                    status.unstaged += inner.staged + inner.unstaged + inner.untracked + inner.conflicted;
                }
            }
        }
        Ok(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(out: &str) -> Status {
        let mut status = Status::default();
        out.split_terminator('\0').for_each(|record| status.take(record.as_bytes()));
        status
    }

    #[test]
    fn changes_are_counted_by_kind() {
        let zero = "0000000";
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let out = format!(
            "# branch.oid {sha}\0# branch.head a/b\0\
             1 M. N... 100644 100644 100644 {zero} {zero} a b.txt\0\
             1 .M N... 100644 100644 100644 {zero} {zero} c\0\
             1 MM N... 100644 100644 100644 {zero} {zero} d\0\
             u UU N... 100644 100644 100644 100644 {zero} {zero} {zero} e f\0\
             ? new file\0"
        );
        let status = read(&out);
        assert_eq!((status.staged, status.unstaged, status.untracked, status.conflicted), (2, 2, 1, 1));
        assert_eq!(status.head.as_ref().map(CommitSha::as_str), Some(sha));
        assert_eq!(status.branch.as_ref().map(BranchName::as_str), Some("a/b"));
        assert_eq!(status.sample, ["a b.txt", "c", "d", "e f", "new file"]);
    }

    #[test]
    fn a_detached_head_is_on_no_branch() {
        let status = read("# branch.oid 0123456789abcdef0123456789abcdef01234567\0# branch.head (detached)\0");
        assert_eq!(status.branch, None);
        assert!(status.head.is_some());
    }
}
