//! A forge in memory: repositories by the URLs of their remotes, issues and pull requests whose state a test sets, and
//! every call that was made of it. Where a branch is, it reads from the remote when that is a folder next door.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use hedgerow_core::message::Author;
use hedgerow_core::platform::{
    Credential, Forge, Permission, PlatformError, PlatformKind, PullRequest, PullRequestDraft, WorkState,
};
use hedgerow_core::{BranchName, CommitSha, RepositoryName, Work};
use hedgerow_engine::Forges;

use crate::git::try_git;
use crate::world::branch;

/// A forge that a test writes on.
#[derive(Debug)]
pub struct Board {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The URLs of each repository. It is cloned from the first.
    remotes: Vec<(String, RepositoryName)>,
    clones: bool,
    works: HashMap<(RepositoryName, Work), WorkState>,
    pull_requests: HashMap<(RepositoryName, u64), PullRequest>,
    credential: Option<Credential>,
    /// So many calls fail for the moment; then all is well again.
    failures: u32,
    /// No call is allowed.
    refuses: bool,
    /// The next opening is done, and nobody hears of it.
    loses_an_answer: bool,
    asked: Vec<String>,
    drafts: Vec<PullRequestDraft>,
}

impl Board {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default() })
    }

    /// It alone, for an engine.
    pub fn forges(self: &Arc<Self>) -> Forges {
        Forges::new(vec![Arc::clone(self) as Arc<dyn Forge>])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics while it holds the lock")
    }

    /// A repository of this forge, and a URL that leads to it.
    pub fn hosts(&self, repository: &str, url: impl Into<String>) {
        self.state().remotes.push((url.into(), name(repository)));
    }

    /// From now on what somebody asks about is cloned.
    pub fn clones_what_is_asked_about(&self) {
        self.state().clones = true;
    }

    /// What opens its remotes. Before, it has nothing to give.
    pub fn gives(&self, credential: Credential) {
        self.state().credential = Some(credential);
    }

    /// An issue or pull request stands so. One that nobody wrote down is not known.
    pub fn set_state(&self, repository: &str, work: Work, state: WorkState) {
        let repository = name(repository);
        let mut board = self.state();
        if let Work::PullRequest(number) = work
            && let Some(known) = board.pull_requests.get_mut(&(repository.clone(), number))
        {
            known.state = state;
        }
        board.works.insert((repository, work), state);
    }

    /// Somebody has a pull request from this branch of the repository itself onto `main`.
    pub fn set_pull_request(&self, repository: &str, number: u64, head: &str, state: WorkState) -> PullRequest {
        let repository = name(repository);
        let made = PullRequest {
            number,
            url: format!("https://forge.example/{repository}/pull/{number}"),
            title: format!("Pull request {number}"),
            state,
            is_draft: false,
            head_branch: Some(branch(head)),
            head: self.tip(&repository, head),
            is_fork: false,
            base_branch: Some(branch("main")),
            checks: None,
            created_at: None,
        };
        self.state().pull_requests.insert((repository, number), made.clone());
        made
    }

    /// Something happens to a pull request.
    pub fn changes(&self, repository: &str, number: u64, change: impl FnOnce(&mut PullRequest)) {
        let mut board = self.state();
        change(board.pull_requests.get_mut(&(name(repository), number)).expect("a pull request of this number"));
    }

    /// The next so many calls fail for the moment.
    pub fn fails(&self, times: u32) {
        self.state().failures = times;
    }

    /// From now on no call is allowed, or all are again.
    pub fn refuses(&self, refuses: bool) {
        self.state().refuses = refuses;
    }

    /// The next pull request is opened, and the line goes dead before it is told.
    pub fn loses_an_answer(&self) {
        self.state().loses_an_answer = true;
    }

    /// Every call so far, such as `state acme/shop issue-42`.
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// What it was asked to open.
    pub fn drafts(&self) -> Vec<PullRequestDraft> {
        self.state().drafts.clone()
    }

    fn tip(&self, repository: &RepositoryName, branch: &str) -> Option<CommitSha> {
        let remote = self.clone_url(repository);
        let remote = Path::new(&remote);
        if !remote.is_dir() {
            return None;
        }
        let answer = try_git(remote, &["rev-parse", "--verify", &format!("refs/heads/{branch}")]);
        CommitSha::parse(String::from_utf8_lossy(&answer.stdout).trim()).ok()
    }

    fn answers(&self, asked: String) -> Result<MutexGuard<'_, State>, PlatformError> {
        self.state().asked.push(asked);
        self.answers_unheard()
    }

    /// The same for what nobody counts.
    fn answers_unheard(&self) -> Result<MutexGuard<'_, State>, PlatformError> {
        let mut state = self.state();
        if state.refuses {
            return Err(PlatformError::Refused("the board says no".to_owned()));
        }
        if state.failures > 0 {
            state.failures -= 1;
            return Err(PlatformError::Transient("nobody is there".to_owned()));
        }
        Ok(state)
    }
}

#[async_trait]
impl Forge for Board {
    fn platform(&self) -> PlatformKind {
        PlatformKind::Github
    }

    fn repository(&self, remote: &str) -> Option<RepositoryName> {
        let state = self.state();
        state.remotes.iter().find(|(url, _)| url == remote).map(|(_, repository)| repository.clone())
    }

    async fn learn_names(&self, _: &[&str], _: &RepositoryName) -> Result<(), PlatformError> {
        self.answers_unheard().map(drop)
    }

    fn clone_url(&self, repository: &RepositoryName) -> String {
        let state = self.state();
        let known = state.remotes.iter().find(|(_, known)| known == repository);
        known.map_or_else(|| format!("https://forge.example/{repository}.git"), |(url, _)| url.clone())
    }

    fn clones(&self) -> bool {
        self.state().clones
    }

    async fn credential(&self, repository: &RepositoryName) -> Result<Credential, PlatformError> {
        let state = self.answers(format!("credential {repository}"))?;
        state.credential.clone().ok_or_else(|| PlatformError::Refused("nothing to give".to_owned()))
    }

    async fn state(&self, repository: &RepositoryName, work: &Work) -> Result<WorkState, PlatformError> {
        let state = self.answers(format!("state {repository} {work}"))?;
        if let Work::PullRequest(number) = work
            && let Some(known) = state.pull_requests.get(&(repository.clone(), *number))
        {
            return Ok(known.state);
        }
        Ok(state.works.get(&(repository.clone(), work.clone())).copied().unwrap_or(WorkState::Unknown))
    }

    async fn permission(&self, repository: &RepositoryName, author: &Author) -> Result<Permission, PlatformError> {
        self.answers(format!("permission {repository} {}", author.name)).map(|_| Permission::Write)
    }

    async fn pull_request(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Option<PullRequest>, PlatformError> {
        let state = self.answers(format!("pull_request {repository} {number}"))?;
        Ok(state.pull_requests.get(&(repository.clone(), number)).cloned())
    }

    async fn pull_request_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, PlatformError> {
        let state = self.answers(format!("pull_request_of {repository} {head}"))?;
        let of_it = state.pull_requests.iter().filter(|((of, _), _)| of == repository).map(|(_, known)| known);
        let is_it =
            |pr: &&PullRequest| pr.head_branch.as_ref() == Some(head) && pr.state == WorkState::Open && !pr.is_fork;
        Ok(of_it.filter(is_it).max_by_key(|pr| pr.number).cloned())
    }

    async fn open_pull_request(
        &self,
        repository: &RepositoryName,
        draft: &PullRequestDraft,
    ) -> Result<PullRequest, PlatformError> {
        let number = {
            let mut state = self.answers(format!("open_pull_request {repository} {}", draft.head))?;
            state.drafts.push(draft.clone());
            let numbers = state.pull_requests.keys().filter(|(of, _)| of == repository).map(|(_, number)| *number);
            numbers.fold(100, u64::max) + 1
        };
        let mut made = self.set_pull_request(&repository.to_string(), number, draft.head.as_str(), WorkState::Open);
        made.title.clone_from(&draft.title);
        made.base_branch = Some(draft.base.clone());
        let mut state = self.state();
        state.pull_requests.insert((repository.clone(), number), made.clone());
        if std::mem::take(&mut state.loses_an_answer) {
            return Err(PlatformError::Transient("the line went dead".to_owned()));
        }
        Ok(made)
    }
}

fn name(repository: &str) -> RepositoryName {
    repository.parse().expect("a repository's name")
}
