//! Questions about what a merge did or would do.
//!
//! They are asked about branches that agents write, so nothing a repository holds may run, and no setting (the user's
//! included) may turn "not merged" into "merged".

mod commit;
mod diff;
mod patch;

use std::ffi::OsString;
use std::path::Path;

use hedgerow_core::CommitSha;
use tempfile::TempDir;

pub(crate) use self::commit::MergeCommit;
pub(crate) use self::patch::{Change, Digest, Outline, Patch};
use super::call::Call;
use super::hazards::Scope;
use super::refs::{sha, unexpected};
use super::{GitError, GitResult, Repo};

/// A commit and the commits it was made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) commit: CommitSha,
    pub(crate) parents: Vec<CommitSha>,
}

/// What two commits do not share, oldest first on each side.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    pub(crate) own: Vec<Step>,
    pub(crate) theirs: Vec<Step>,
}

/// How a merge would end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The tree it would leave.
    Clean(String),
    Conflicts,
}

impl Repo {
    /// The best common ancestors: several after a criss-cross merge, none for histories that never met.
    pub(crate) async fn merge_bases(&self, one: &CommitSha, other: &CommitSha) -> GitResult<Vec<CommitSha>> {
        let answer = self.call().args(["merge-base", "--all", one.as_str(), other.as_str()]).answer().await?;
        if answer.status.code() == Some(1) && answer.stdout.is_empty() {
            return Ok(Vec::new());
        }
        let out = answer.require_success("merge-base")?;
        lines(&out).map(|line| sha(line, "merge-base")).collect()
    }

    /// The trees of these commits, in their order.
    pub(crate) async fn trees(&self, commits: &[&CommitSha]) -> GitResult<Vec<String>> {
        let names = commits.iter().map(|commit| format!("{commit}^{{tree}}"));
        let out = self.call().arg("rev-parse").args(names).read().await?;
        let trees: Vec<String> = lines(&out).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        if trees.len() == commits.len() {
            Ok(trees)
        } else {
            Err(unexpected("rev-parse", &String::from_utf8_lossy(&out)))
        }
    }

    /// The commits that only one of the two has, with their parents.
    pub(crate) async fn sides(&self, own: &CommitSha, theirs: &CommitSha) -> GitResult<Sides> {
        let range = format!("{own}...{theirs}");
        let args = ["rev-list", "--left-right", "--topo-order", "--reverse", "--parents", &range];
        let out = self.call().args(args).read().await?;
        let mut sides = Sides::default();
        for line in lines(&out) {
            match line.split_first() {
                Some((b'<', rest)) => sides.own.push(step(rest)?),
                Some((b'>', rest)) => sides.theirs.push(step(rest)?),
                _ => return Err(unexpected("rev-list", &String::from_utf8_lossy(line))),
            }
        }
        Ok(sides)
    }

    /// The first-parent line from `tip` down to what `without` has, oldest first.
    pub(crate) async fn line(&self, tip: &CommitSha, without: &[&CommitSha]) -> GitResult<Vec<Step>> {
        let args = ["rev-list", "--first-parent", "--topo-order", "--reverse", "--parents", tip.as_str(), "--not"];
        let out = self.call().args(args).args(without.iter().map(|commit| commit.as_str())).read().await?;
        lines(&out).map(step).collect()
    }

    /// What merging `tip` into `target` would leave, judged without anyone's merge drivers.
    ///
    /// A driver may settle a file by keeping one side of it (`merge=union`, the popular `merge=ours`); "merging adds
    /// nothing" would then hide work. With `false` as every driver such a file is a conflict.
    pub(crate) async fn strict_merge(&self, target: &CommitSha, tip: &CommitSha) -> GitResult<Merge> {
        let drivers: Vec<&str> = self.merge_drivers(|_| true).chain(["merge.union.driver"]).collect();
        self.merge(without(self.call().config("merge.default", "text"), &drivers), target, tip).await
    }

    /// Whether merging `tip` into `base` would stop with conflicts.
    pub async fn would_conflict(&self, tip: &CommitSha, base: &CommitSha) -> GitResult<bool> {
        let is_foreign = |scope| scope == Scope::Worktree || (scope == Scope::Local && !self.is_trusted());
        let drivers: Vec<&str> = self.merge_drivers(is_foreign).collect();
        Ok(self.merge(without(self.call(), &drivers), base, tip).await? == Merge::Conflicts)
    }

    fn merge_drivers(&self, whose: impl Fn(Scope) -> bool) -> impl Iterator<Item = &str> {
        let entries = self.config().entries().iter().filter(move |entry| whose(entry.scope));
        entries.map(|entry| entry.key.as_str()).filter(|key| key.starts_with("merge.") && key.ends_with(".driver"))
    }

    async fn merge(&self, call: Call<'_>, into: &CommitSha, tip: &CommitSha) -> GitResult<Merge> {
        let scratch = Scratch::new()?;
        let args = ["merge-tree", "--write-tree", "--no-messages", "-z", into.as_str(), tip.as_str()];
        // Renormalising would run filters. Newer releases follow renames whatever the settings say; so do the others.
        let call = call.config("merge.renormalize", "false").config("merge.renames", "true");
        let answer = scratch.objects(call, self).args(args).answer().await?;
        let tree = answer.stdout.split(|byte| *byte == 0).next().unwrap_or_default();
        let tree = String::from_utf8_lossy(tree).into_owned();
        match (answer.status.code(), CommitSha::parse(&tree)) {
            (Some(0), Ok(_)) => Ok(Merge::Clean(tree)),
            (Some(1), Ok(_)) => Ok(Merge::Conflicts),
            (Some(0 | 1), Err(_)) => Err(unexpected("merge-tree", &format!("{tree} {}", answer.stderr))),
            _ => answer.require_success("merge-tree").and(Err(unexpected("merge-tree", &tree))),
        }
    }
}

/// The call with these merge drivers failing, which git takes for a conflict.
fn without<'a>(call: Call<'a>, drivers: &[&str]) -> Call<'a> {
    drivers.iter().fold(call, |call, key| call.config(*key, "false"))
}

/// A folder for what git must write in order to answer. The repository itself stays as it is, and may be read-only.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> GitResult<Self> {
        let folder = tempfile::Builder::new().prefix("hedgerow-").tempdir();
        folder.map(Self).map_err(GitError::io("making a temporary folder"))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Lets a call read the repository's objects and write new ones here.
    fn objects<'a>(&self, call: Call<'a>, repo: &Repo) -> Call<'a> {
        call.env("GIT_OBJECT_DIRECTORY", self.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&repo.common_dir().join("objects")))
    }
}

/// The variable is a list with colons between; a quoted path may hold one.
fn quoted(path: &Path) -> OsString {
    let escaped = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"").into()
}

/// `commit parent parent …`
fn step(line: &[u8]) -> GitResult<Step> {
    let mut names = line.split(|byte| *byte == b' ').map(|name| sha(name, "rev-list"));
    let commit = names.next().unwrap_or_else(|| Err(unexpected("rev-list", "")))?;
    Ok(Step { commit, parents: names.collect::<GitResult<_>>()? })
}

fn lines(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
