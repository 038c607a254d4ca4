//! Issues and what is said below them.

use serde_json::{Value, json};

use crate::outside::github::state::{Comment, Issue, Kind, Node, Repository, World, written};

impl World {
    pub(crate) fn page_of(&self, repository: &Repository, issue: &Issue) -> String {
        let kind = if issue.pull.is_some() { "pull" } else { "issues" };
        format!("{}/{}/{kind}/{}", self.url, repository.full_name(), issue.number)
    }

    /// An issue; of a pull request, the issue that it also is.
    pub(crate) fn show_issue(&self, repository: u64, number: u64) -> Value {
        let repository = self.repository(repository);
        let issue = &repository.issues[&number];
        let (api, page) = (self.api_of(repository), self.page_of(repository, issue));
        let url = format!("{api}/issues/{number}");
        let node = match &issue.pull {
            Some(pull) => Node(Kind::PullRequest, pull.id),
            None => Node(Kind::Issue, issue.id),
        };
        let mut shown = json!({
            "url": url, "repository_url": api, "labels_url": format!("{url}/labels{{/name}}"),
            "comments_url": format!("{url}/comments"), "events_url": format!("{url}/events"), "html_url": page,
            "id": issue.id, "node_id": node.json(), "number": number, "title": issue.title,
            "user": self.show_user(issue.author), "labels": show_labels(issue),
            "state": if issue.is_open { "open" } else { "closed" }, "locked": issue.is_locked, "assignee": null,
            "assignees": [], "milestone": null, "comments": issue.comments.len(),
            "created_at": written(issue.created_at), "updated_at": written(issue.updated_at),
            "closed_at": issue.closed_at.map(written),
            "author_association": self.association(repository, issue.author), "active_lock_reason": null,
            "body": issue.body, "closed_by": issue.closed_by.map(|user| self.show_user(user)),
            "reactions": Self::show_reactions(&issue.reactions, &url), "timeline_url": format!("{url}/timeline"),
            "performed_via_github_app": null, "state_reason": issue.state_reason,
        });
        if let Some(pull) = &issue.pull {
            shown["draft"] = json!(pull.is_draft);
            shown["pull_request"] = json!({
                "url": format!("{api}/pulls/{number}"), "html_url": page, "diff_url": format!("{page}.diff"),
                "patch_url": format!("{page}.patch"), "merged_at": pull.merge.as_ref().map(|merge| written(merge.at)),
            });
        }
        shown
    }

    pub(crate) fn show_comment(&self, repository: u64, number: u64, comment: &Comment) -> Value {
        let repository = self.repository(repository);
        let issue = &repository.issues[&number];
        let (api, page) = (self.api_of(repository), self.page_of(repository, issue));
        let url = format!("{api}/issues/comments/{}", comment.id);
        json!({
            "url": url, "html_url": format!("{page}#issuecomment-{}", comment.id),
            "issue_url": format!("{api}/issues/{number}"), "id": comment.id,
            "node_id": Node(Kind::Comment, comment.id).json(), "user": self.show_user(comment.author),
            "created_at": written(comment.created_at), "updated_at": written(comment.updated_at),
            "author_association": self.association(repository, comment.author), "body": comment.body,
            "reactions": Self::show_reactions(&comment.reactions, &url), "performed_via_github_app": null,
        })
    }
}

pub(super) fn show_labels(issue: &Issue) -> Vec<Value> {
    let show = |(id, name): &(u64, String)| {
        json!({
            "id": id, "node_id": Node(Kind::Label, *id).json(), "name": name, "color": "d73a4a", "default": false,
            "description": null,
        })
    };
    issue.labels.iter().map(show).collect()
}
