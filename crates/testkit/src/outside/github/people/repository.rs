//! A repository, as people see it.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_core::CommitSha;

use super::issue::GitHubIssue;
use super::pull::GitHubPull;
use super::pull_builder::NewPull;
use crate::outside::github::Office;
use crate::outside::github::git::bare;
use crate::outside::github::state::{Role, World};

#[derive(Debug, Clone)]
pub struct GitHubRepository {
    pub(super) office: Arc<Office>,
    pub(super) id: u64,
}

impl GitHubRepository {
    pub const fn id(&self) -> u64 {
        self.id
    }

    pub fn full_name(&self) -> String {
        self.office.world(|world| world.repository(self.id).full_name())
    }

    pub fn clone_url(&self) -> String {
        self.office.world(|world| format!("{}/{}.git", world.url, world.repository(self.id).full_name()))
    }

    /// The bare repository itself, to look at.
    pub fn path(&self) -> PathBuf {
        self.office.world(|world| world.repository(self.id).path.clone())
    }

    /// Somebody may do this there.
    #[must_use]
    pub fn with(self, login: &str, role: Role) -> Self {
        self.gives(login, role);
        self
    }

    pub fn gives(&self, login: &str, role: Role) {
        self.office.world(|world| {
            let user = world.user(login);
            world.repository_mut(self.id).roles.insert(user, role);
        });
    }

    #[must_use]
    pub fn private(self) -> Self {
        self.office.world(|world| world.repository_mut(self.id).is_private = true);
        self
    }

    /// The App is not installed there.
    #[must_use]
    pub fn without_app(self) -> Self {
        self.office.world(|world| world.app.installed.remove(&self.id));
        self
    }

    /// Nobody pushes to this branch.
    pub fn protects(&self, branch: &str) {
        self.office.world(|world| world.protects(self.id, branch));
    }

    pub fn default_branch_is(&self, branch: &str) {
        self.office.world(|world| branch.clone_into(&mut world.repository_mut(self.id).default_branch));
    }

    /// An issue, there or still to be opened.
    pub fn issue(&self, number: u64) -> GitHubIssue {
        GitHubIssue { repository: self.clone(), number, title: format!("Issue {number}"), body: None }
    }

    /// A pull request to be opened.
    pub fn pull_request(&self, number: u64) -> NewPull {
        NewPull::new(self.clone(), number)
    }

    /// A pull request that is there.
    pub fn pull(&self, number: u64) -> GitHubPull {
        GitHubPull { issue: self.issue(number) }
    }

    /// The newest pull request, whoever opened it.
    pub fn newest_pull(&self) -> Option<GitHubPull> {
        self.pulls().pop()
    }

    /// All pull requests, whoever opened them and however they stand, by their number.
    pub fn pulls(&self) -> Vec<GitHubPull> {
        let numbers: Vec<u64> = self.office.world(|world| {
            let issues = world.repository(self.id).issues.values();
            issues.filter(|issue| issue.pull.is_some()).map(|issue| issue.number).collect()
        });
        numbers.into_iter().map(|number| self.pull(number)).collect()
    }

    /// Somebody commits one file on a branch, which is made from the default branch if it is new, and pushes.
    pub async fn commits(&self, login: &str, branch: &str, file: &str, content: &str) -> CommitSha {
        let sha = self.office.world(|world| {
            let by = world.user(login);
            let sha = commit(world, self.id, branch, file, content, login);
            world.branches_moved(self.id, by);
            sha
        });
        self.office.settled().await;
        CommitSha::parse(&sha).expect("a commit of git")
    }

    /// Somebody moves a branch to a commit that is there, wherever it was.
    pub async fn moves_branch(&self, login: &str, branch: &str, to: &CommitSha) {
        self.office.world(|world| {
            let by = world.user(login);
            bare::set_ref(&world.repository(self.id).path, &format!("refs/heads/{branch}"), to.as_str());
            world.branches_moved(self.id, by);
        });
        self.office.settled().await;
    }

    pub async fn deletes_branch(&self, login: &str, branch: &str) {
        self.office.world(|world| {
            let by = world.user(login);
            crate::git::git(&world.repository(self.id).path, &["update-ref", "-d", &format!("refs/heads/{branch}")]);
            world.branches_moved(self.id, by);
        });
        self.office.settled().await;
    }

    /// Where a branch, or any ref, is.
    pub fn rev(&self, revision: &str) -> Option<CommitSha> {
        let sha = bare::rev(&self.path(), revision)?;
        CommitSha::parse(&sha).ok()
    }

    pub fn branches(&self) -> Vec<String> {
        bare::heads(&self.path()).into_keys().collect()
    }

    /// What a file says on a branch.
    pub fn file(&self, revision: &str, file: &str) -> Option<String> {
        let output = crate::git::try_git(&self.path(), &["show", &format!("{revision}:{file}")]);
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Something was found out about a commit: `success`, `failure`; `None` while it runs.
    pub async fn checks(&self, sha: &CommitSha, name: &str, conclusion: Option<&str>) {
        self.office.world(|world| world.checks(self.id, sha.as_str(), name, conclusion, false));
        self.office.settled().await;
    }

    /// The same by a status, as older tools do.
    pub async fn status(&self, sha: &CommitSha, name: &str, state: Option<&str>) {
        self.office.world(|world| world.checks(self.id, sha.as_str(), name, state, true));
        self.office.settled().await;
    }

    /// It has another name, or owner, now; the old one leads to it.
    pub async fn renamed_to(&self, login: &str, full_name: &str) {
        self.office.world(|world| {
            let by = world.user(login);
            world.renames(self.id, by, full_name);
        });
        self.office.settled().await;
    }

    pub fn deleted(&self) {
        self.office.world(|world| world.repository_mut(self.id).is_deleted = true);
    }
}

pub(super) fn commit(
    world: &mut World,
    repository: u64,
    branch: &str,
    file: &str,
    content: &str,
    login: &str,
) -> String {
    let time = world.clock.tick();
    let place = world.repository(repository);
    let name = format!("refs/heads/{branch}");
    let parent = bare::rev(&place.path, &name)
        .or_else(|| bare::rev(&place.path, &format!("refs/heads/{}", place.default_branch)));
    let sha = bare::commit(&place.path, parent.as_deref(), file, content, login, time);
    bare::set_ref(&place.path, &name, &sha);
    sha
}
