//! The button that merges: three ways, all with real git.

use serde_json::json;

use super::bare::{self, Author};
use crate::git::try_git;
use crate::outside::github::state::{Merge, World};

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Merge,
    Squash,
    Rebase,
}

impl World {
    /// Merges; what GitHub says when it cannot.
    pub(crate) fn merges(&mut self, repository: u64, number: u64, by: u64, way: Way) -> Result<String, &'static str> {
        let time = self.clock.tick();
        let place = self.repository(repository).clone();
        let issue = &place.issues[&number];
        let pull = issue.pull().clone();
        if !issue.is_open {
            return Err("Pull Request is not mergeable");
        }
        let base =
            bare::rev(&place.path, &format!("refs/heads/{}", pull.base_branch)).ok_or("Base branch was deleted")?;
        let name = self.login(by).to_owned();
        let author = Author { email: format!("{name}@example.com"), name, date: format!("@{time} +0000") };
        let sha = match way {
            Way::Merge => {
                let tree = merged_tree(&place.path, None, &base, &pull.head)?;
                let owner = pull.head_repository.map_or(&place.owner, |head| &self.repository(head).owner);
                let message =
                    format!("Merge pull request #{number} from {owner}/{}\n\n{}", pull.head_branch, issue.title);
                bare::commit_tree(&place.path, &tree, &[&base, &pull.head], &message, &author, time)
            }
            Way::Squash => {
                let tree = merged_tree(&place.path, None, &base, &pull.head)?;
                let message = format!("{} (#{number})", issue.title);
                bare::commit_tree(&place.path, &tree, &[&base], &message, &author, time)
            }
            Way::Rebase => rebased(&place.path, &base, &pull.head, time)?,
        };
        bare::set_ref(&place.path, &format!("refs/heads/{}", pull.base_branch), &sha);
        let issue = self.issue_mut(repository, number);
        issue.is_open = false;
        (issue.closed_at, issue.closed_by, issue.updated_at) = (Some(time), Some(by), time);
        issue.pull_mut().merge = Some(Merge { at: time, by, sha: sha.clone() });
        self.tells_pull(repository, number, by, "closed", json!({}));
        if pull.base_branch == place.default_branch {
            for fixed in self.closing_issues(repository, number) {
                if self.issue(repository, fixed).is_open {
                    self.closes(repository, fixed, by, Some("completed"));
                }
            }
        }
        self.branches_moved(repository, by);
        Ok(sha)
    }
}

/// The tree of two commits together.
fn merged_tree(path: &std::path::Path, base: Option<&str>, ours: &str, theirs: &str) -> Result<String, &'static str> {
    let base = base.map(|base| format!("--merge-base={base}"));
    let mut args = vec!["merge-tree", "--write-tree"];
    args.extend(base.as_deref());
    args.extend([ours, theirs]);
    let output = try_git(path, &args);
    if !output.status.success() {
        return Err("Pull Request is not mergeable");
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Each commit anew on top of the base. GitHub commits them itself, so none stays what it was.
fn rebased(path: &std::path::Path, base: &str, head: &str, time: i64) -> Result<String, &'static str> {
    let mut onto = base.to_owned();
    for commit in bare::between(path, base, head) {
        let tree = merged_tree(path, Some(&format!("{commit}^")), &onto, &commit)?;
        let facts = bare::facts(path, &commit);
        let text = |name: &str| facts["author"][name].as_str().unwrap_or_default().to_owned();
        let author = Author { name: text("name"), email: text("email"), date: text("date") };
        let message = facts["message"].as_str().unwrap_or_default();
        onto = bare::commit_tree(path, &tree, &[&onto], message, &author, time);
    }
    Ok(onto)
}
