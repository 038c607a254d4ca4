//! Pull requests are opened and changed.

use serde_json::{Value, json};

use super::issues::add;
use crate::outside::github::git::bare;
use crate::outside::github::state::{Pull, World};

/// A pull request that somebody wants to open.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) number: Option<u64>,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    pub(crate) head_repository: u64,
    pub(crate) head_branch: String,
    pub(crate) base_branch: String,
    /// It is not ready for review yet.
    pub(crate) is_early: bool,
    pub(crate) linked: Vec<u64>,
}

impl World {
    /// Opens it; what GitHub says when it cannot, and which field that is about.
    pub(crate) fn opens_pull(
        &mut self,
        repository: u64,
        by: u64,
        draft: &Draft,
    ) -> Result<u64, (Option<&'static str>, String)> {
        let place = self.repository(repository);
        let base = bare::rev(&place.path, &format!("refs/heads/{}", draft.base_branch));
        let base = base.ok_or((Some("base"), "invalid".to_owned()))?;
        let from = self.repository(draft.head_repository);
        let head = bare::rev(&from.path, &format!("refs/heads/{}", draft.head_branch));
        let head = head.ok_or((Some("head"), "invalid".to_owned()))?;
        let is_same = |pull: &Pull| {
            pull.head_repository == Some(draft.head_repository)
                && pull.head_branch == draft.head_branch
                && pull.base_branch == draft.base_branch
        };
        if place.issues.values().any(|issue| issue.is_open && issue.pull.as_ref().is_some_and(is_same)) {
            let message = format!("A pull request already exists for {}:{}.", from.owner, draft.head_branch);
            return Err((None, message));
        }
        if draft.head_repository != repository {
            bare::bring(&place.path, &from.path, &head, "refs/pull/offered");
        }
        if bare::between(&place.path, &base, &head).is_empty() {
            let (base, head) = (&draft.base_branch, &draft.head_branch);
            return Err((None, format!("No commits between {base} and {head}")));
        }
        let number = draft.number.unwrap_or_else(|| place.next_number());
        let mut issue = self.blank_issue(number, by, &draft.title, draft.body.as_deref());
        issue.pull = Some(Pull {
            id: self.id(),
            head_repository: Some(draft.head_repository),
            head_branch: draft.head_branch.clone(),
            head,
            base_branch: draft.base_branch.clone(),
            base,
            is_draft: draft.is_early,
            merge: None,
            reviewers: Vec::new(),
            reviews: Vec::new(),
            review_comments: Vec::new(),
            threads: Vec::new(),
            linked: draft.linked.clone(),
        });
        self.repository_mut(repository).issues.insert(number, issue);
        self.keeps_pull_ref(repository, number);
        self.tells_pull(repository, number, by, "opened", json!({}));
        Ok(number)
    }

    pub(crate) fn tells_pull(&mut self, repository: u64, number: u64, by: u64, action: &str, extra: Value) {
        let pull = self.show_whole_pull(repository, number);
        let mut payload = json!({"action": action, "number": number, "pull_request": pull});
        add(&mut payload, extra);
        self.happened("pull_request", repository, by, payload);
    }

    pub(crate) fn requests_review(&mut self, repository: u64, number: u64, by: u64, of: u64) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        issue.updated_at = time;
        let reviewers = &mut issue.pull_mut().reviewers;
        if !reviewers.contains(&of) {
            reviewers.push(of);
        }
        let extra = json!({"requested_reviewer": self.show_user(of)});
        self.tells_pull(repository, number, by, "review_requested", extra);
    }

    pub(crate) fn changes_draft(&mut self, repository: u64, number: u64, by: u64, is_draft: bool) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        issue.updated_at = time;
        issue.pull_mut().is_draft = is_draft;
        let action = if is_draft { "converted_to_draft" } else { "ready_for_review" };
        self.tells_pull(repository, number, by, action, json!({}));
    }

    pub(crate) fn changes_base(&mut self, repository: u64, number: u64, by: u64, base: &str) {
        let time = self.clock.tick();
        let sha = bare::rev(&self.repository(repository).path, &format!("refs/heads/{base}")).unwrap_or_default();
        let issue = self.issue_mut(repository, number);
        issue.updated_at = time;
        let pull = issue.pull_mut();
        let before = std::mem::replace(&mut pull.base_branch, base.to_owned());
        let sha_before = std::mem::replace(&mut pull.base, sha);
        let changes = json!({"base": {"ref": {"from": before}, "sha": {"from": sha_before}}});
        self.tells_pull(repository, number, by, "edited", json!({"changes": changes}));
    }
}
