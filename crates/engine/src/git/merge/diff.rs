//! Everything a worktree holds beyond a commit, as one patch.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hedgerow_core::CommitSha;

use super::super::call::Call;
use super::{Scratch, lines};
use crate::git::{GitError, GitResult, Repo};

impl Repo {
    /// The patch (or, with `stat`, the summary) of everything in this worktree since `from`: committed, staged,
    /// changed, and untracked files as new ones. Ignored files and untracked repositories inside are left out.
    ///
    /// The index is copied and the untracked names are entered in the copy, so one call of `git diff` sees them all and
    /// the worktree stays as it is.
    pub async fn diff(&self, from: &CommitSha, stat: bool) -> GitResult<Vec<u8>> {
        let others =
            self.call().args(["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]).read().await?;
        let untracked: Vec<&[u8]> = others.split(|byte| *byte == 0).filter(|path| is_file(path)).collect();
        if untracked.is_empty() {
            return shown(self.call(), from, stat).await;
        }
        let scratch = Scratch::new()?;
        let index = scratch.path().join("index");
        self.copy_index(&index).await?;
        // The copy is never written back, so a name that git would not check out elsewhere does no harm.
        let call = self.call().config("core.protectNTFS", "false").config("core.protectHFS", "false");
        let call = call.config("core.splitIndex", "false").env("GIT_INDEX_FILE", &index);
        call.args(["update-index", "-z", "--index-info"]).stdin(entries(&untracked, from)).read().await?;
        shown(self.call().env("GIT_INDEX_FILE", &index), from, stat).await
    }

    pub(in crate::git) async fn copy_index(&self, to: &Path) -> GitResult<()> {
        let out = self.call().args(["rev-parse", "--path-format=absolute", "--git-path", "index"]).read().await?;
        let index = Path::new(std::ffi::OsStr::from_bytes(lines(&out).next().unwrap_or_default()));
        match tokio::fs::copy(index, to).await {
            // A worktree that was never filled has none.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(GitError::io("copying the index")(error)),
            _ => Ok(()),
        }
    }
}

/// A repository inside is listed with a slash at its end.
fn is_file(path: &[u8]) -> bool {
    !path.is_empty() && !path.ends_with(b"/")
}

/// Entries for `update-index --index-info`: the content of no file, so git takes content and mode from the worktree.
fn entries(paths: &[&[u8]], like: &CommitSha) -> Vec<u8> {
    let empty = match like.as_str().len() {
        40 => "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        _ => "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    };
    let mut text = Vec::new();
    for path in paths {
        text.extend(format!("100644 {empty} 0\t").bytes());
        text.extend(*path);
        text.push(0);
    }
    text
}

async fn shown(call: Call<'_>, from: &CommitSha, stat: bool) -> GitResult<Vec<u8>> {
    let call = call
        // Showing a diff must not write what it learned about files into the index.
        .config("diff.autoRefreshIndex", "false")
        .args(["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "-M"])
        // One form for every reader, whatever the settings say.
        .args(["--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null", "--submodule=short"])
        // Looking for changes inside a submodule would run git there with the submodule's own settings.
        .arg("--ignore-submodules=dirty");
    let call = if stat { call.arg("--stat=80") } else { call };
    call.args([from.as_str(), "--"]).read().await
}
