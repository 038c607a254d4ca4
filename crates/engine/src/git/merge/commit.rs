//! A merge as a commit, made without files, hooks or an index.

use hedgerow_core::CommitSha;
use hedgerow_core::provider::NoProgress;

use super::{Scratch, without};
use crate::git::call::Call;
use crate::git::hazards::Scope;
use crate::git::refs::{sha, unexpected};
use crate::git::{GitResult, Repo};

/// Who commits where git knows of nobody.
const NOBODY: (&str, &str) = ("Hedgerow", "hedgerow@localhost");

/// What a merge came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MergeCommit {
    /// It is in the repository; no ref names it yet.
    Made(CommitSha),
    /// The files in which the two disagree.
    Conflicts(Vec<String>),
}

impl Repo {
    /// Merges `theirs` into `own`. The commit has both as parents, in this order.
    pub(crate) async fn merge_commit(
        &self,
        own: &CommitSha,
        theirs: &CommitSha,
        message: &str,
    ) -> GitResult<MergeCommit> {
        let args = ["merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", own.as_str(), theirs.as_str()];
        // Tried in a folder of its own first: what ends in a conflict leaves nothing in the repository.
        let scratch = Scratch::new()?;
        let tried = scratch.objects(self.merging(), self).args(args).answer().await?;
        if tried.status.code() == Some(1) {
            let names = tried.stdout.split(|byte| *byte == 0).skip(1).filter(|name| !name.is_empty());
            return Ok(MergeCommit::Conflicts(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()));
        }
        tried.require_success("merge-tree")?;
        let out = self.merging().args(args).long(&NoProgress).await?;
        let tree = String::from_utf8_lossy(out.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
        if CommitSha::parse(&tree).is_err() {
            return Err(unexpected("merge-tree", &tree));
        }
        let commit = ["commit-tree", &tree, "-p", own.as_str(), "-p", theirs.as_str(), "-m", message];
        let made = self.committing().await?.args(commit).write().await?;
        Ok(MergeCommit::Made(sha(made.trim_ascii_end(), "commit-tree")?))
    }

    /// Nobody's merge drivers but the person's own (and the repository's, where they are trusted) have a say.
    fn merging(&self) -> Call<'_> {
        let is_foreign = |scope| scope == Scope::Worktree || (scope == Scope::Local && !self.is_trusted());
        let drivers: Vec<&str> = self.merge_drivers(is_foreign).collect();
        without(self.call(), &drivers).config("merge.renormalize", "false").config("merge.renames", "true")
    }

    /// As whoever git is configured for; where it is for nobody, as ourselves.
    async fn committing(&self) -> GitResult<Call<'_>> {
        let known = self.call().config("user.useConfigOnly", "true").args(["var", "GIT_COMMITTER_IDENT"]);
        if known.answer().await?.status.success() {
            return Ok(self.call());
        }
        let (name, email) = NOBODY;
        let call = self.call().env("GIT_AUTHOR_NAME", name).env("GIT_AUTHOR_EMAIL", email);
        Ok(call.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email))
    }
}
