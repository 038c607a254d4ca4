//! The work in an environment, written down before a kill and looked for after it.

use std::path::Path;

use crate::git::{git, try_git};
use crate::repo::{commit, write};
use crate::tokens::Planted;
use crate::tree::Tree;

/// Everything of an environment that must come back.
#[derive(Debug, Clone)]
pub struct Kept {
    files: Tree,
    head: String,
    on: String,
    /// Staged, unstaged, untracked, ignored; and what git says of an unfinished operation.
    status: String,
}

/// What is looked for after a kill.
#[derive(Debug)]
pub enum Holding {
    /// The environment as it was.
    Seen(Kept),
    /// Tokens, which come back also where every file is written anew.
    Planted(Planted),
    /// Two states: before a turn, and after it.
    Turn { before: Kept, after: Kept },
}

/// Puts work of every kind into an environment: committed, staged, unstaged, untracked, ignored.
pub fn plant(environment: &Path) {
    commit(environment, "committed.txt", "token: committed\n");
    write(environment, "staged.txt", "token: staged\n");
    git(environment, &["add", "staged.txt"]);
    write(environment, "README.md", "token: unstaged\n");
    write(environment, "untracked.txt", "token: untracked\n");
    plant_ignored(environment);
}

/// What does not stand in the way of a removal without force.
pub fn plant_ignored(environment: &Path) {
    write(environment, "ignored/deep.txt", "token: ignored\n");
}

impl Kept {
    pub fn of(environment: &Path) -> Self {
        let say = |args: &[&str]| String::from_utf8_lossy(&try_git(environment, args).stdout).into_owned();
        Self {
            files: Tree::of(environment).without(".git").without(""),
            head: say(&["rev-parse", "HEAD"]),
            on: say(&["branch", "--show-current"]),
            status: say(&["status", "--ignored"]).lines().skip(1).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Without the times of files, for what writes them anew.
    #[must_use]
    fn without_times(self) -> Self {
        Self { files: self.files.without_times(), ..self }
    }

    /// What is not as it was, one line each.
    pub fn missing(&self, environment: &Path, branch_may_differ: bool) -> Vec<String> {
        self.differences(&Self::of(environment), branch_may_differ)
    }

    /// The same for an environment whose files were written anew.
    pub fn missing_but_times(&self, environment: &Path) -> Vec<String> {
        self.clone().without_times().differences(&Self::of(environment).without_times(), false)
    }

    fn differences(&self, now: &Self, branch_may_differ: bool) -> Vec<String> {
        let mut missing = self.files.differences(&now.files);
        let texts = [("HEAD", &self.head, &now.head), ("the status", &self.status, &now.status)];
        let on = ("the branch", &self.on, &now.on);
        for (what, before, after) in texts.into_iter().chain((!branch_may_differ).then_some(on)) {
            if before != after {
                missing.push(format!("{what} was {before:?}, is {after:?}"));
            }
        }
        missing
    }
}
