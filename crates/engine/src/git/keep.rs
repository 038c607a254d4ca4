//! Refs on objects that nothing else in the repository keeps.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use hedgerow_core::{BranchName, CommitSha};

use super::refs::{PASSING, sha};
use super::{GitResult, Repo};

/// Up to so many stranded commits get a ref each; more are tied together under one. Everybody who lists or fetches
/// pays for every ref of a repository.
const MAX_REFS: usize = 16;

impl Repo {
    /// Puts a ref below `prefix` on each of these objects that there is, whatever its kind.
    pub async fn keep_objects(&self, prefix: &str, names: &BTreeSet<String>) -> GitResult<()> {
        // Two beginnings may be of one name, which git takes only once.
        let there = self.kinds(names).await?.into_iter();
        let refs: BTreeSet<String> = there.map(|(name, _)| format!("update {prefix}{name} {name}\n")).collect();
        self.update_refs(refs.into_iter().collect()).await
    }

    /// Puts refs below `prefix` on those of these commits that no ref reaches, the branch that is going left out.
    /// Commits that are not there any more are none.
    pub async fn keep_stranded(
        &self,
        prefix: &str,
        commits: &BTreeSet<CommitSha>,
        going: Option<&BranchName>,
    ) -> GitResult<()> {
        if commits.is_empty() {
            return Ok(());
        }
        let without = going.map(|branch| format!("--exclude={}", branch.full_ref()));
        let asked = commits.iter().fold(String::new(), |text, commit| text + commit.as_str() + "\n");
        let call = self.call().args(["rev-list", "--no-commit-header", "--format=%H %T %P", "--ignore-missing"]);
        let call = call.args(["--stdin", "--not"]).args(PASSING).args(without).arg("--glob=refs/*");
        let out = call.stdin(asked).read().await?;
        self.tie(prefix, &heads(&String::from_utf8_lossy(&out))).await
    }

    /// Puts refs below `prefix` on all of these objects, commits tied together when they are many.
    pub async fn keep_together(&self, prefix: &str, names: &BTreeSet<String>) -> GitResult<()> {
        let kinds = self.kinds(names).await?;
        let of = |wanted: bool| kinds.iter().filter(move |(_, kind)| (kind == "commit") == wanted);
        let rest: BTreeSet<String> = of(false).map(|(name, _)| name.clone()).collect();
        self.keep_objects(prefix, &rest).await?;
        let asked = of(true).fold(String::new(), |text, (name, _)| text + name + "\n");
        if asked.is_empty() {
            return Ok(());
        }
        let call = self.call().args(["rev-list", "--no-walk=unsorted", "--no-commit-header", "--format=%H %T %P"]);
        let out = call.arg("--stdin").stdin(asked).read().await?;
        self.tie(prefix, &heads(&String::from_utf8_lossy(&out))).await
    }

    async fn tie(&self, prefix: &str, heads: &[(&str, &str)]) -> GitResult<()> {
        if heads.len() <= MAX_REFS {
            let refs = heads.iter().map(|(commit, _)| format!("update {prefix}{commit} {commit}\n"));
            return self.update_refs(refs.collect()).await;
        }
        let knot = self.call().args(["hash-object", "-t", "commit", "-w", "--stdin"]).stdin(knot(heads));
        let knot = sha(&knot.write().await?, "hash-object")?;
        self.update_refs(format!("update {prefix}{knot} {knot}\n")).await
    }

    /// The names of all refs below `prefix`.
    pub async fn refs_below(&self, prefix: &str) -> GitResult<Vec<String>> {
        let out = self.call().args(["for-each-ref", "--format=%(refname)", prefix]).read().await?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// Takes all refs below `prefix` away again.
    pub async fn let_go_of_objects(&self, prefix: &str) -> GitResult<()> {
        let out = self.call().args(["for-each-ref", "--format=delete %(refname)", prefix]).read().await?;
        self.update_refs(String::from_utf8_lossy(&out).into_owned()).await
    }

    pub(super) async fn update_refs(&self, commands: String) -> GitResult<()> {
        if commands.is_empty() {
            return Ok(());
        }
        self.call().args(["update-ref", "--stdin"]).stdin(commands).write().await.map(drop)
    }
}

/// Lines of `<commit> <tree> <parents>`: those commits that are nobody's parent, each with its tree. Whoever keeps them
/// keeps them all.
fn heads(listed: &str) -> Vec<(&str, &str)> {
    let parents: HashSet<&str> = listed.lines().flat_map(|line| line.split(' ').skip(2)).collect();
    let commits = listed.lines().filter_map(|line| {
        let mut names = line.split(' ');
        Some((names.next()?, names.next()?))
    });
    commits.filter(|(commit, _)| !parents.contains(commit)).collect()
}

/// A commit whose only use is to have all of these as parents.
fn knot(heads: &[(&str, &str)]) -> String {
    let mut text = format!("tree {}\n", heads[0].1);
    for (commit, _) in heads {
        writeln!(text, "parent {commit}").expect("writing to a string cannot fail");
    }
    let by = "Hedgerow <hedgerow@localhost> 0 +0000";
    text + &format!("author {by}\ncommitter {by}\n\nKeep what only a reflog names\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heads_are_kept_and_with_them_the_rest() {
        assert_eq!(heads("c t1 b\nb t2 a\nx t3 y\n"), [("c", "t1"), ("x", "t3")]);
        assert_eq!(heads("m t a b\na t r\nb t r\n"), [("m", "t")]);
        assert_eq!(heads(""), []);
    }
}
