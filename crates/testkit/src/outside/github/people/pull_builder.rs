//! A pull request before it is opened.

use super::pull::GitHubPull;
use super::repository::{GitHubRepository, commit};
use crate::outside::github::deeds::Draft;
use crate::outside::github::git::bare;

#[derive(Debug, Clone)]
pub struct NewPull {
    repository: GitHubRepository,
    number: u64,
    title: String,
    body: Option<String>,
    branch: String,
    base: Option<String>,
    fork_of: Option<String>,
    is_draft: bool,
    fixes: Vec<u64>,
    linked: Vec<u64>,
}

impl NewPull {
    pub(super) fn new(repository: GitHubRepository, number: u64) -> Self {
        Self {
            repository,
            number,
            title: format!("Pull request {number}"),
            body: None,
            branch: format!("change-{number}"),
            base: None,
            fork_of: None,
            is_draft: false,
            fixes: Vec::new(),
            linked: Vec::new(),
        }
    }

    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    #[must_use]
    pub fn saying(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    /// Its head. A branch that is not there yet is made, with one commit.
    #[must_use]
    pub fn from_branch(mut self, branch: &str) -> Self {
        branch.clone_into(&mut self.branch);
        self
    }

    #[must_use]
    pub fn into_branch(mut self, branch: &str) -> Self {
        self.base = Some(branch.to_owned());
        self
    }

    /// Its head is in somebody's fork, which is made if it is not there.
    #[must_use]
    pub fn from_fork(mut self, owner: &str) -> Self {
        self.fork_of = Some(owner.to_owned());
        self
    }

    #[must_use]
    pub const fn as_draft(mut self) -> Self {
        self.is_draft = true;
        self
    }

    /// Its text says that it fixes an issue.
    #[must_use]
    pub fn fixes(mut self, issue: u64) -> Self {
        self.fixes.push(issue);
        self
    }

    /// Somebody linked it to an issue by hand, without words.
    #[must_use]
    pub fn linked_to(mut self, issue: u64) -> Self {
        self.linked.push(issue);
        self
    }

    /// Opens it.
    ///
    /// # Panics
    /// When GitHub would not.
    pub async fn by(self, login: &str) -> GitHubPull {
        let lines = self.body.clone().into_iter().chain(self.fixes.iter().map(|issue| format!("Fixes #{issue}")));
        let body = lines.collect::<Vec<_>>().join("\n\n");
        self.repository.office.world(|world| {
            let (by, id) = (world.user(login), self.repository.id);
            let head = self.fork_of.as_ref().map_or(id, |owner| world.forks(id, owner));
            let path = world.repository(head).path.clone();
            if bare::rev(&path, &format!("refs/heads/{}", self.branch)).is_none() {
                let file = format!("change-{}.txt", self.number);
                commit(world, head, &self.branch, &file, "changed\n", login);
                world.branches_moved(head, by);
            }
            let base = self.base.clone().unwrap_or_else(|| world.repository(id).default_branch.clone());
            let draft = Draft {
                number: Some(self.number),
                title: self.title.clone(),
                body: (!body.is_empty()).then_some(body),
                head_repository: head,
                head_branch: self.branch.clone(),
                base_branch: base,
                is_early: self.is_draft,
                linked: self.linked.clone(),
            };
            world.opens_pull(id, by, &draft).expect("a pull request that can be opened");
        });
        self.repository.office.settled().await;
        self.repository.pull(self.number)
    }
}
