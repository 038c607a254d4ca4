//! Reviews and comments on lines.

use serde_json::{Value, json};

use crate::outside::github::state::{Kind, Node, Review, ReviewComment, World, written};

impl World {
    pub(crate) fn show_review(&self, id: u64, number: u64, review: &Review) -> Value {
        let repository = self.repository(id);
        let page = self.page_of(repository, &repository.issues[&number]);
        json!({
            "id": review.id, "node_id": Node(Kind::Review, review.id).json(), "user": self.show_user(review.author),
            "body": review.body, "commit_id": review.commit, "submitted_at": written(review.submitted_at),
            "updated_at": written(review.submitted_at), "state": review.state,
            "html_url": format!("{page}#pullrequestreview-{}", review.id),
            "pull_request_url": format!("{}/pulls/{number}", self.api_of(repository)),
            "author_association": self.association(repository, review.author),
        })
    }

    pub(crate) fn show_review_comment(&self, id: u64, number: u64, comment: &ReviewComment) -> Value {
        let repository = self.repository(id);
        let issue = &repository.issues[&number];
        let (api, page) = (self.api_of(repository), self.page_of(repository, issue));
        let url = format!("{api}/pulls/comments/{}", comment.id);
        let is_outdated = issue.pull().threads.iter().any(|thread| thread.id == comment.thread && thread.is_outdated);
        let line = if is_outdated { Value::Null } else { json!(comment.line) };
        let mut shown = json!({
            "url": url, "pull_request_review_id": comment.review, "id": comment.id,
            "node_id": Node(Kind::ReviewComment, comment.id).json(), "diff_hunk": comment.hunk, "path": comment.path,
            "commit_id": comment.commit, "original_commit_id": comment.commit, "user": self.show_user(comment.author),
            "body": comment.body, "created_at": written(comment.created_at), "updated_at": written(comment.updated_at),
            "html_url": format!("{page}#discussion_r{}", comment.id),
            "pull_request_url": format!("{api}/pulls/{number}"),
            "author_association": self.association(repository, comment.author),
            "reactions": Self::show_reactions(&comment.reactions, &url), "start_line": null,
            "original_start_line": null, "start_side": null, "line": line, "original_line": comment.line,
            "side": "RIGHT", "position": line, "original_position": comment.line, "subject_type": "line",
        });
        if let Some(first) = comment.reply_to {
            shown["in_reply_to_id"] = json!(first);
        }
        shown
    }
}
