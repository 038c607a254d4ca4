//! Environments and codebases as people and scripts see them. The JSON is a fixed point: fields are added, never changed.

use std::path::PathBuf;

use hedgerow_core::environment::{
    AdoptedFrom, Environment, InitState, PORTS_PER_ENVIRONMENT, ProviderKind, Resolution,
};
use hedgerow_core::merged::Verdict;
use hedgerow_core::platform::Checks;
use hedgerow_core::provider::Condition;
use hedgerow_core::{BranchName, Codebase, CodebaseId, CommitSha, EnvironmentId, State, Timestamp};
use serde::Serialize;

use crate::engine::Removed;

/// What `list`, `show` and `create` answer. Costly fields are `null` where they were not asked for.
#[derive(Debug, Clone, Serialize)]
pub struct View {
    pub id: EnvironmentId,
    pub codebase: String,
    pub works: Vec<String>,
    pub provider: ProviderKind,
    pub branch: BranchName,
    pub base: Option<BranchName>,
    pub base_sha: Option<CommitSha>,
    pub path: PathBuf,
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    pub adopted: bool,
    pub adopted_from: Option<AdoptedFrom>,
    pub migrated_at: Option<Timestamp>,
    pub pinned: bool,
    pub dirty: Option<bool>,
    pub ahead: Option<u64>,
    pub behind: Option<u64>,
    pub merged: Option<&'static str>,
    pub conflicts: Option<bool>,
    pub ports: Option<[u16; 2]>,
    pub init: InitView,
    pub pr: Option<PullRequestView>,
    pub description: Option<String>,
    pub keywords: Vec<String>,
    pub related: Related,
    pub conversations: Vec<String>,
    pub created_at: Timestamp,
    pub created_by: String,
    pub last_activity_at: Timestamp,
    pub disk_bytes: Option<u64>,
    pub node: String,
    /// What git said; for people, not for scripts.
    #[serde(skip)]
    pub condition: Option<Condition>,
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

#[derive(Debug, Clone, Serialize)]
pub struct InitView {
    pub ran: bool,
    pub state: Option<InitState>,
    pub error: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PullRequestView {
    pub number: u64,
    pub url: Option<String>,
    pub title: Option<String>,
    pub state: Option<String>,
    pub created_at: Option<Timestamp>,
    pub head: Option<CommitSha>,
    pub checks: Option<Checks>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Related {
    pub issues: Vec<u64>,
    pub prs: Vec<u64>,
}

/// The costly part of a view, as far as it was asked for.
#[derive(Debug, Default)]
pub struct Look {
    pub condition: Option<Condition>,
    pub verdict: Option<Verdict>,
    pub conflicts: Option<bool>,
    pub disk_bytes: Option<u64>,
    pub conversations: Vec<String>,
}

impl View {
    pub fn new(environment: &Environment, codebase: &str, look: Look) -> Self {
        let facts = match &look.condition {
            Some(Condition::Present(facts)) => Some(facts.as_ref()),
            _ => None,
        };
        Self {
            id: environment.id,
            codebase: codebase.to_owned(),
            works: environment.works.iter().map(|work| work.name.clone()).collect(),
            provider: environment.provider,
            // git is the truth: someone may have switched or renamed it.
            branch: facts.and_then(|facts| facts.branch.clone()).unwrap_or_else(|| environment.branch.clone()),
            base: environment.base.clone(),
            base_sha: environment.base_sha.clone(),
            path: environment.path.clone(),
            state: environment.state,
            resolution: None,
            adopted: environment.is_adopted(),
            adopted_from: environment.adopted_from,
            migrated_at: environment.migrated_at,
            pinned: environment.pinned_at.is_some(),
            dirty: facts.map(hedgerow_core::provider::Facts::is_dirty),
            ahead: facts.and_then(|facts| facts.ahead),
            behind: facts.and_then(|facts| facts.behind),
            merged: look.verdict.as_ref().map(Verdict::word),
            conflicts: look.conflicts,
            ports: environment.port.map(|first| [first, first + PORTS_PER_ENVIRONMENT - 1]),
            init: InitView {
                ran: environment.init.state.is_some(),
                state: environment.init.state,
                error: environment.init.error.clone(),
            },
            pr: environment.pr.as_ref().map(|pr| PullRequestView {
                number: pr.number,
                url: pr.url.clone(),
                title: pr.title.clone(),
                state: pr.state.clone(),
                created_at: pr.created_at,
                head: pr.head.clone(),
                checks: pr.checks,
            }),
            description: environment.description.clone(),
            keywords: environment.keywords.clone(),
            related: Related { issues: environment.related_issues(), prs: environment.related_prs() },
            conversations: look.conversations,
            created_at: environment.created_at,
            created_by: environment.created_by.to_string(),
            last_activity_at: environment.last_activity_at,
            disk_bytes: look.disk_bytes,
            node: environment.node.clone(),
            condition: look.condition,
            verdict: look.verdict,
        }
    }
}

/// A codebase.
#[derive(Debug, Clone, Serialize)]
pub struct CodebaseView {
    pub id: CodebaseId,
    pub name: String,
    pub path: PathBuf,
    pub folder: String,
    pub remote: Option<String>,
    pub remote_name: Option<String>,
    pub base_branch: Option<BranchName>,
    pub created_at: Timestamp,
    /// Whether it was registered just now; only where one is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
    /// How many live ones it has; only where one is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environments: Option<usize>,
}

impl CodebaseView {
    pub fn new(codebase: &Codebase) -> Self {
        Self {
            id: codebase.id,
            name: codebase.name.clone(),
            path: codebase.path.clone(),
            folder: codebase.folder.clone(),
            remote: codebase.remote.clone(),
            remote_name: codebase.remote_name.clone(),
            base_branch: codebase.base_branch.clone(),
            created_at: codebase.created_at,
            is_new: None,
            environments: None,
        }
    }
}

/// What became of a removal.
#[derive(Debug, Clone, Serialize)]
pub struct RemovedView {
    pub outcome: &'static str,
    pub branch_deleted: bool,
    /// What undoes it, in the caller's own language.
    pub undo: Option<String>,
    pub environment: View,
}

impl RemovedView {
    pub fn new(removed: &Removed, codebase: &str, undo: Option<String>) -> Self {
        let (outcome, branch_deleted, environment) = match removed {
            Removed::Trashed { environment, branch_deleted } => ("trashed", *branch_deleted, environment),
            Removed::WasGone { environment } => ("was_gone", false, environment),
            Removed::LetGo { environment } => ("let_go", false, environment),
        };
        Self { outcome, branch_deleted, undo, environment: View::new(environment, codebase, Look::default()) }
    }
}
