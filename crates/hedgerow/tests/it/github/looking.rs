//! What a story looks at, and what it waits for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_core::CommitSha;
use hedgerow_testkit::git::git;
use hedgerow_testkit::outside::github::GitHubIssue;
use serde_json::Value;

use super::town::{BOT, Town};

const PATIENCE: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_millis(20);

impl Town {
    /// Where the environment of a work is, such as `pr-99`.
    pub(crate) fn path_of(&self, work: &str) -> PathBuf {
        let holds = |row: &&Value| row["works"].as_array().is_some_and(|works| works.iter().any(|name| name == work));
        let all = self.environments();
        let row = all.iter().find(holds).unwrap_or_else(|| panic!("no environment of {work}: {all:#?}"));
        row["path"].as_str().expect("a path").into()
    }

    /// The commit that is checked out in it.
    pub(crate) fn head_of(&self, work: &str) -> CommitSha {
        head(&self.path_of(work))
    }

    /// The works and branches there are, in the order of their branches.
    pub(crate) fn sorted_works(&self) -> Vec<(Vec<String>, String)> {
        let mut works = self.works();
        works.sort_by(|one, other| one.1.cmp(&other.1));
        works
    }

    /// How many codebases there are.
    pub(crate) fn codebases(&self) -> usize {
        self.json::<Vec<Value>>(&["codebase", "list"]).len()
    }

    /// A checkout of a repository, with this branch, that people work in themselves and registered.
    pub(crate) fn has_checkout(&self, clone_url: &str, branch: &str) -> PathBuf {
        let path = self.desk.folder().join("checkouts").join("shop");
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        git(folder, &["clone", "--quiet", "--branch", branch, clone_url, "shop"]);
        path
    }

    pub(crate) fn registers(&self, checkout: &Path) {
        let said = self.desk.cli.run(checkout, &["codebase", "add", ".", "--name", "shop"]);
        assert_eq!(said.status(), 0, "{said}");
    }
}

/// Works and a branch, as [`Town::works`] tells them.
pub(crate) fn place(works: &[&str], branch: &str) -> (Vec<String>, String) {
    (works.iter().map(|work| (*work).to_owned()).collect(), branch.to_owned())
}

pub(crate) fn head(path: &Path) -> CommitSha {
    CommitSha::parse(git(path, &["rev-parse", "HEAD"]).trim()).expect("a commit")
}

/// What the bot said last.
pub(crate) fn last_word(issue: &GitHubIssue) -> String {
    let said = issue.comments().into_iter().rfind(|said| said.author.trim_end_matches("[bot]") == BOT);
    said.map(|said| said.text).unwrap_or_default()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("in time: {what}"));
}
