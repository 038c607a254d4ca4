//! A pull request, as people see it.

use std::ops::Deref;

use hedgerow_core::CommitSha;
use serde_json::Value;

use super::issue::{CommentId, GitHubIssue, Said};
use super::repository::commit;
use crate::outside::github::deeds::Remark;
use crate::outside::github::git::Way;
use crate::outside::github::state::{Kind, Node, World};

/// What can be done with an issue can be done with it too.
#[derive(Debug, Clone)]
pub struct GitHubPull {
    pub(super) issue: GitHubIssue,
}

impl Deref for GitHubPull {
    type Target = GitHubIssue;

    fn deref(&self) -> &GitHubIssue {
        &self.issue
    }
}

impl GitHubPull {
    /// As the API shows it alone.
    pub fn pull_json(&self) -> Value {
        self.looks(|world, id| world.show_whole_pull(id, self.number))
    }

    pub fn head(&self) -> CommitSha {
        let sha = self.looks(|world, id| world.issue(id, self.number).pull().head.clone());
        CommitSha::parse(&sha).expect("a commit of git")
    }

    pub fn head_branch(&self) -> String {
        self.looks(|world, id| world.issue(id, self.number).pull().head_branch.clone())
    }

    pub fn is_merged(&self) -> bool {
        self.looks(|world, id| world.issue(id, self.number).is_merged())
    }

    /// Somebody commits one file and pushes it to the head.
    pub async fn pushes(&self, login: &str, file: &str, content: &str) -> CommitSha {
        let sha = self.acts(login, |world, id, by| {
            let pull = world.issue(id, self.number).pull();
            let (head, branch) = (pull.head_repository.expect("the head is there"), pull.head_branch.clone());
            let sha = commit(world, head, &branch, file, content, login);
            world.branches_moved(head, by);
            sha
        });
        CommitSha::parse(&sha.await).expect("a commit of git")
    }

    /// A review with words, without a verdict.
    pub async fn review(&self, login: &str, body: &str) -> u64 {
        self.acts(login, |world, id, by| world.reviews(id, self.number, by, "COMMENTED", body)).await
    }

    pub async fn approves(&self, login: &str, body: &str) -> u64 {
        self.acts(login, |world, id, by| world.reviews(id, self.number, by, "APPROVED", body)).await
    }

    pub async fn requests_changes(&self, login: &str, body: &str) -> u64 {
        self.acts(login, |world, id, by| world.reviews(id, self.number, by, "CHANGES_REQUESTED", body)).await
    }

    /// A comment on a line, which begins a thread.
    pub async fn review_comment(&self, login: &str, path: &str, line: u64, text: &str) -> CommentId {
        let remark = Remark { path: path.to_owned(), line, body: text.to_owned(), reply_to: None };
        CommentId(self.acts(login, |world, id, by| world.remarks(id, self.number, by, &remark)).await)
    }

    /// An answer in a thread.
    pub async fn answers(&self, login: &str, to: CommentId, text: &str) -> CommentId {
        let remark = Remark { path: String::new(), line: 0, body: text.to_owned(), reply_to: Some(to.0) };
        CommentId(self.acts(login, |world, id, by| world.remarks(id, self.number, by, &remark)).await)
    }

    pub async fn edits_review_comment(&self, login: &str, comment: CommentId, text: &str) {
        self.acts(login, |world, id, by| world.edits_remark(id, self.number, comment.0, by, text)).await;
    }

    pub async fn resolves(&self, login: &str, comment: CommentId) {
        self.acts(login, |world, id, _| {
            let pull = world.issue_mut(id, self.number).pull_mut();
            let found = pull.review_comments.iter().find(|other| other.id == comment.0);
            let thread = found.expect("a comment on a line").thread;
            let thread = pull.threads.iter_mut().find(|other| other.id == thread).expect("it has a thread");
            thread.is_resolved = true;
        })
        .await;
    }

    pub async fn requests_review_of(&self, login: &str, reviewer: &str) {
        self.acts(login, |world, id, by| {
            let of = world.user(reviewer);
            world.requests_review(id, self.number, by, of);
        })
        .await;
    }

    pub async fn becomes_ready(&self, login: &str) {
        self.acts(login, |world, id, by| world.changes_draft(id, self.number, by, false)).await;
    }

    pub async fn becomes_draft(&self, login: &str) {
        self.acts(login, |world, id, by| world.changes_draft(id, self.number, by, true)).await;
    }

    /// Merges with a merge commit.
    pub async fn merges(&self, login: &str) -> CommitSha {
        self.merged(login, Way::Merge).await
    }

    pub async fn squash_merges(&self, login: &str) -> CommitSha {
        self.merged(login, Way::Squash).await
    }

    pub async fn rebases(&self, login: &str) -> CommitSha {
        self.merged(login, Way::Rebase).await
    }

    async fn merged(&self, login: &str, way: Way) -> CommitSha {
        let sha = self.acts(login, |world: &mut World, id, by| world.merges(id, self.number, by, way)).await;
        CommitSha::parse(&sha.expect("it can be merged")).expect("a commit of git")
    }

    /// All checks of its head have this outcome: `success`, `failure`; `None` while they run.
    pub async fn checks(&self, conclusion: Option<&str>) {
        let head = self.head();
        self.repository.checks(&head, "build", conclusion).await;
    }

    /// Its fork is gone.
    pub fn loses_its_fork(&self) {
        self.looks(|world, id| {
            let pull = world.issue_mut(id, self.number).pull_mut();
            if let Some(head) = pull.head_repository.take() {
                world.repository_mut(head).is_deleted = true;
            }
        });
    }

    /// What was said on lines, thread by thread.
    pub fn review_comments(&self) -> Vec<Said> {
        self.looks(|world, id| {
            let pull = world.issue(id, self.number).pull();
            let of = |thread: u64| pull.review_comments.iter().filter(move |comment| comment.thread == thread);
            let said = pull.threads.iter().flat_map(|thread| of(thread.id)).map(|comment| Said {
                id: CommentId(comment.id),
                author: world.login(comment.author).to_owned(),
                text: comment.body.clone(),
            });
            said.collect()
        })
    }

    pub fn reactions_of_review_comment(&self, comment: CommentId) -> Vec<String> {
        self.reactions(Node(Kind::ReviewComment, comment.0))
    }

    pub fn reactions_of_review(&self, review: u64) -> Vec<String> {
        self.reactions(Node(Kind::Review, review))
    }
}
