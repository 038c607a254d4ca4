//! Pull requests.

use serde_json::{Value, json};

use super::issue::show_labels;
use crate::outside::github::git::bare;
use crate::outside::github::state::{Kind, Node, World, written};

impl World {
    /// As a list has it.
    pub(crate) fn show_pull(&self, id: u64, number: u64) -> Value {
        let repository = self.repository(id);
        let issue = &repository.issues[&number];
        let pull = issue.pull();
        let (api, page) = (self.api_of(repository), self.page_of(repository, issue));
        let url = format!("{api}/pulls/{number}");
        let people = |users: &[u64]| users.iter().map(|user| self.show_user(*user)).collect::<Vec<_>>();
        let owner = |id: u64| self.repository(id).owner.clone();
        let end = |repository: Option<u64>, branch: &str, sha: &str| {
            let label = repository.map_or_else(|| "unknown".to_owned(), owner);
            json!({
                "label": format!("{label}:{branch}"), "ref": branch, "sha": sha,
                "user": repository.and_then(|id| self.known_user(&owner(id))).map(|user| self.show_user(user.id)),
                "repo": repository.map(|id| self.show_repository(id)),
            })
        };
        json!({
            "url": url, "id": pull.id, "node_id": Node(Kind::PullRequest, pull.id).json(), "html_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
            "issue_url": format!("{api}/issues/{number}"), "number": number,
            "state": if issue.is_open { "open" } else { "closed" }, "locked": issue.is_locked, "title": issue.title,
            "user": self.show_user(issue.author), "body": issue.body, "created_at": written(issue.created_at),
            "updated_at": written(issue.updated_at), "closed_at": issue.closed_at.map(written),
            "merged_at": pull.merge.as_ref().map(|merge| written(merge.at)),
            "merge_commit_sha": pull.merge.as_ref().map(|merge| merge.sha.clone()), "assignee": null, "assignees": [],
            "requested_reviewers": people(&pull.reviewers), "requested_teams": [], "labels": show_labels(issue),
            "milestone": null, "draft": pull.is_draft, "commits_url": format!("{url}/commits"),
            "review_comments_url": format!("{url}/comments"), "comments_url": format!("{api}/issues/{number}/comments"),
            "statuses_url": format!("{api}/statuses/{}", pull.head),
            "head": end(pull.head_repository, &pull.head_branch, &pull.head),
            "base": end(Some(id), &pull.base_branch, &pull.base),
            "author_association": self.association(repository, issue.author), "auto_merge": null,
            "active_lock_reason": null,
        })
    }

    /// As it is shown alone, and delivered.
    pub(crate) fn show_whole_pull(&self, id: u64, number: u64) -> Value {
        let repository = self.repository(id);
        let issue = &repository.issues[&number];
        let pull = issue.pull();
        let files = bare::files(&repository.path, &pull.base, &pull.head);
        let sum = |name: &str| files.iter().filter_map(|file| file[name].as_u64()).sum::<u64>();
        let mut shown = self.show_pull(id, number);
        let more = json!({
            "merged": pull.merge.is_some(), "mergeable": if issue.is_open { json!(true) } else { Value::Null },
            "rebaseable": null, "mergeable_state": if issue.is_open { "clean" } else { "unknown" },
            "merged_by": pull.merge.as_ref().map(|merge| self.show_user(merge.by)),
            "comments": issue.comments.len(), "review_comments": pull.review_comments.len(),
            "maintainer_can_modify": pull.head_repository != Some(id),
            "commits": bare::between(&repository.path, &pull.base, &pull.head).len(),
            "additions": sum("additions"), "deletions": sum("deletions"), "changed_files": files.len(),
        });
        let more = more.as_object().expect("an object").clone();
        shown.as_object_mut().expect("an object").extend(more);
        shown
    }
}
