//! Pull requests are reviewed.

use serde_json::json;

use crate::outside::github::state::{Review, ReviewComment, Thread, World};

/// A comment on a line, before it is one.
#[derive(Debug, Clone)]
pub(crate) struct Remark {
    pub(crate) path: String,
    pub(crate) line: u64,
    pub(crate) body: String,
    /// The comment that it answers.
    pub(crate) reply_to: Option<u64>,
}

impl World {
    pub(crate) fn reviews(&mut self, repository: u64, number: u64, by: u64, state: &'static str, body: &str) -> u64 {
        let id = self.keeps_review(repository, number, by, state, body);
        self.tells_review(repository, number, id, by, "submitted");
        id
    }

    /// One comment on a line by itself: a review without words around it, as GitHub makes it.
    pub(crate) fn remarks(&mut self, repository: u64, number: u64, by: u64, remark: &Remark) -> u64 {
        let review = self.keeps_review(repository, number, by, "COMMENTED", "");
        let id = self.keeps_remark(repository, number, by, review, remark);
        self.tells_review_comment(repository, number, id, by, "created", json!({}));
        self.tells_review(repository, number, review, by, "submitted");
        id
    }

    /// A review with comments on lines.
    pub(crate) fn reviews_with(
        &mut self,
        repository: u64,
        number: u64,
        by: u64,
        state: &'static str,
        body: &str,
        remarks: &[Remark],
    ) -> u64 {
        let review = self.keeps_review(repository, number, by, state, body);
        for remark in remarks {
            let id = self.keeps_remark(repository, number, by, review, remark);
            self.tells_review_comment(repository, number, id, by, "created", json!({}));
        }
        self.tells_review(repository, number, review, by, "submitted");
        review
    }

    fn keeps_review(&mut self, repository: u64, number: u64, by: u64, state: &'static str, body: &str) -> u64 {
        let (id, submitted_at) = (self.id(), self.clock.tick());
        let issue = self.issue_mut(repository, number);
        issue.updated_at = submitted_at;
        let pull = issue.pull_mut();
        let (commit, body) = (pull.head.clone(), body.to_owned());
        pull.reviewers.retain(|reviewer| *reviewer != by);
        pull.reviews.push(Review { id, author: by, body, state, submitted_at, commit, reactions: Vec::new() });
        id
    }

    fn keeps_remark(&mut self, repository: u64, number: u64, by: u64, review: u64, remark: &Remark) -> u64 {
        let (id, new_thread, time) = (self.id(), self.id(), self.clock.tick());
        let issue = self.issue_mut(repository, number);
        issue.updated_at = time;
        let pull = issue.pull_mut();
        let first =
            remark.reply_to.and_then(|id| pull.review_comments.iter().find(|comment| comment.id == id)).cloned();
        let thread = match &first {
            Some(first) => first.thread,
            None => {
                pull.threads.push(Thread { id: new_thread, is_resolved: false, is_outdated: false });
                new_thread
            }
        };
        let (path, line) = first.as_ref().map_or((&remark.path, remark.line), |first| (&first.path, first.line));
        let comment = ReviewComment {
            id,
            review,
            thread,
            author: by,
            path: path.clone(),
            line,
            body: remark.body.clone(),
            hunk: format!("@@ -{line},0 +{line},1 @@\n+line {line}"),
            // An answer to an answer belongs to the first of the thread.
            reply_to: first.map(|first| first.reply_to.unwrap_or(first.id)),
            created_at: time,
            updated_at: time,
            edited: None,
            commit: pull.head.clone(),
            reactions: Vec::new(),
        };
        pull.review_comments.push(comment);
        id
    }

    pub(crate) fn edits_remark(&mut self, repository: u64, number: u64, id: u64, by: u64, body: &str) {
        let time = self.clock.tick();
        let pull = self.issue_mut(repository, number).pull_mut();
        let comment = pull.review_comments.iter_mut().find(|comment| comment.id == id).expect("it was found before");
        comment.updated_at = time;
        comment.edited = Some((time, by));
        let before = std::mem::replace(&mut comment.body, body.to_owned());
        let changes = json!({"changes": {"body": {"from": before}}});
        self.tells_review_comment(repository, number, id, by, "edited", changes);
    }

    pub(crate) fn deletes_remark(&mut self, repository: u64, number: u64, id: u64, by: u64) {
        self.tells_review_comment(repository, number, id, by, "deleted", json!({}));
        self.issue_mut(repository, number).pull_mut().review_comments.retain(|comment| comment.id != id);
    }

    fn tells_review(&mut self, repository: u64, number: u64, id: u64, by: u64, action: &str) {
        let pull = self.issue(repository, number).pull();
        let review = pull.reviews.iter().find(|review| review.id == id).expect("it is there").clone();
        let mut shown = self.show_review(repository, number, &review);
        // Deliveries write it small, and no words as none.
        shown["state"] = json!(review.state.to_ascii_lowercase());
        if review.body.is_empty() {
            shown["body"] = json!(null);
        }
        let payload = json!({"action": action, "review": shown, "pull_request": self.show_pull(repository, number)});
        self.happened("pull_request_review", repository, by, payload);
    }

    fn tells_review_comment(
        &mut self,
        repository: u64,
        number: u64,
        id: u64,
        by: u64,
        action: &str,
        extra: serde_json::Value,
    ) {
        let pull = self.issue(repository, number).pull();
        let comment = pull.review_comments.iter().find(|comment| comment.id == id).expect("it is there").clone();
        let mut payload = json!({
            "action": action, "comment": self.show_review_comment(repository, number, &comment),
            "pull_request": self.show_pull(repository, number),
        });
        super::issues::add(&mut payload, extra);
        self.happened("pull_request_review_comment", repository, by, payload);
    }
}
