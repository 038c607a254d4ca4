//! What follows from branches that moved: pushes are told, pull requests go along.

use serde_json::{Value, json};

use super::bare;
use crate::outside::github::state::World;

const NOTHING: &str = "0000000000000000000000000000000000000000";

impl World {
    /// Looks where the branches of a repository are now, and tells what changed since.
    pub(crate) fn branches_moved(&mut self, repository: u64, by: u64) {
        let path = self.repository(repository).path.clone();
        let now = bare::heads(&path);
        let before = std::mem::replace(&mut self.repository_mut(repository).heads, now.clone());
        let names: Vec<String> =
            before.keys().chain(now.keys().filter(|name| !before.contains_key(*name))).cloned().collect();
        for branch in names {
            let (old, new) = (before.get(&branch), now.get(&branch));
            if old != new {
                let time = self.clock.tick();
                self.repository_mut(repository).pushed_at = time;
                self.branch_moved(repository, &branch, old, new, by);
            }
        }
    }

    fn branch_moved(&mut self, repository: u64, branch: &str, old: Option<&String>, new: Option<&String>, by: u64) {
        self.tells_push(repository, branch, old, new, by);
        let kind = json!({"ref": branch, "ref_type": "branch", "pusher_type": "user"});
        match (old, new) {
            (None, Some(_)) => {
                let mut payload = kind;
                payload["master_branch"] = json!(self.repository(repository).default_branch);
                payload["description"] = Value::Null;
                self.happened("create", repository, by, payload);
            }
            (Some(_), None) => self.happened("delete", repository, by, kind),
            _ => {}
        }
        for (base, number) in self.pulls_of(repository, branch) {
            match new {
                Some(sha) => self.pull_moved(base, number, sha, by),
                None => self.closes(base, number, by, None),
            }
        }
        if let Some(new) = new
            && self.repository(repository).default_branch == branch
        {
            self.closes_by_commits(repository, old, new, by);
        }
    }

    /// Open pull requests with this head.
    fn pulls_of(&self, repository: u64, branch: &str) -> Vec<(u64, u64)> {
        let all = self.repositories.values().flat_map(|base| base.issues.values().map(move |issue| (base.id, issue)));
        let open = all.filter(|(_, issue)| issue.is_open && issue.gone.is_none());
        let of_head = open.filter(|(_, issue)| {
            let pull = issue.pull.as_ref();
            pull.is_some_and(|pull| pull.head_repository == Some(repository) && pull.head_branch == branch)
        });
        of_head.map(|(base, issue)| (base, issue.number)).collect()
    }

    fn pull_moved(&mut self, base: u64, number: u64, sha: &str, by: u64) {
        let time = self.clock.tick();
        let issue = self.issue_mut(base, number);
        issue.updated_at = time;
        let pull = issue.pull_mut();
        let before = std::mem::replace(&mut pull.head, sha.to_owned());
        for thread in &mut pull.threads {
            thread.is_outdated = true;
        }
        self.keeps_pull_ref(base, number);
        let extra = json!({"before": before, "after": sha});
        self.tells_pull(base, number, by, "synchronize", extra);
    }

    /// `refs/pull/N/head`, also of forks, whose commits come along.
    pub(crate) fn keeps_pull_ref(&self, base: u64, number: u64) {
        let pull = self.issue(base, number).pull();
        let name = format!("refs/pull/{number}/head");
        let path = &self.repository(base).path;
        match pull.head_repository {
            Some(head) if head != base => bare::bring(path, &self.repository(head).path, &pull.head, &name),
            _ => bare::set_ref(path, &name, &pull.head),
        }
    }

    fn tells_push(&mut self, repository: u64, branch: &str, old: Option<&String>, new: Option<&String>, by: u64) {
        let path = self.repository(repository).path.clone();
        let show = |sha: &String| {
            let facts = bare::facts(&path, sha);
            json!({
                "id": sha, "tree_id": facts["tree"], "distinct": true, "message": facts["message"],
                "timestamp": facts["committer"]["date"], "author": facts["author"], "committer": facts["committer"],
                "added": [], "removed": [], "modified": [],
            })
        };
        let forced = old.zip(new).is_some_and(|(old, new)| !bare::is_ancestor(&path, old, new));
        let commits = match (old, new) {
            (Some(old), Some(new)) => bare::between(&path, old, new),
            _ => Vec::new(),
        };
        let payload = json!({
            "ref": format!("refs/heads/{branch}"), "before": old.map_or(NOTHING, String::as_str),
            "after": new.map_or(NOTHING, String::as_str), "created": old.is_none(), "deleted": new.is_none(),
            "forced": forced, "base_ref": null, "compare": format!("{}/compare", self.url),
            "commits": commits.iter().map(show).collect::<Vec<_>>(), "head_commit": new.map(show),
            "pusher": {"name": self.login(by), "email": format!("{}@example.com", self.login(by))},
        });
        self.happened("push", repository, by, payload);
    }

    /// Commits on the default branch close the issues that they say they fix.
    fn closes_by_commits(&mut self, repository: u64, old: Option<&String>, new: &str, by: u64) {
        let Some(old) = old else { return };
        let path = self.repository(repository).path.clone();
        for sha in bare::between(&path, old, new) {
            let message = bare::facts(&path, &sha)["message"].as_str().unwrap_or_default().to_owned();
            for number in self.fixed_by(repository, &message) {
                if self.issue(repository, number).is_open {
                    self.closes(repository, number, by, Some("completed"));
                }
            }
        }
    }
}
