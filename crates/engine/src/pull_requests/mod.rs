//! `/worktree pr`: what an environment has goes to its forge, as a new pull request or into the one there is.
//!
//! Each step can be done again: a push of what is there changes nothing, and an open pull request is found before another
//! is opened. So whoever died half-way, or was not answered, asks again.

mod draft;
mod follow;

use hedgerow_core::environment::{Actor, NamedWork, PullRequestInfo};
use hedgerow_core::platform::{PlatformError, PullRequest, PullRequestDraft, WorkState};
use hedgerow_core::provider::{Outgoing, Push, Pushed, Rejection};
use hedgerow_core::{BranchName, Codebase, Environment, Kind, Lease, Timestamp, UserError, Work};

pub use follow::follow;

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::forges::Hosted;
use crate::store::{NewEvent, StoreError};

/// So many pull requests of one environment are looked at for where a push goes.
const MOST_LOOKED_AT: usize = 5;

/// What became of the wish for a pull request.
#[derive(Debug, Clone)]
pub struct Proposed {
    pub environment: Environment,
    pub pr: PullRequestInfo,
    /// Whether it was opened just now.
    pub is_new: bool,
    /// The branch of the forge that has the commits.
    pub target: BranchName,
    /// Never a rejection: that is a refusal.
    pub pushed: Pushed,
    /// There are changes that no commit holds.
    pub leaves_changes: bool,
}

impl Engine {
    /// Pushes the commits of an environment and opens a pull request with them, or pushes them into the one there is.
    pub async fn propose(&self, environment: &Environment, by: &Actor) -> Outcome<Proposed> {
        let held = self.lease_for_run(environment).await?;
        let proposed = match self.require_live(environment).await {
            Ok(now) => self.propose_leased(&held.lease, &now, by).await,
            Err(gone) => Err(gone),
        };
        self.release(held).await?;
        proposed
    }

    /// The same for whoever has the lease.
    pub(crate) async fn propose_leased(
        &self,
        lease: &Lease,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<Proposed> {
        Box::pin(self.keep_while(lease, self.push_and_open(lease, environment, by))).await
    }

    async fn push_and_open(&self, lease: &Lease, environment: &Environment, by: &Actor) -> Outcome<Proposed> {
        require_own(environment)?;
        self.require_path(environment).await?;
        let codebase = self.codebase_of(environment).await?;
        let hosted = self.require_hosted(&codebase, environment)?;
        let out = self.provider.outgoing(&codebase, environment).await?;
        self.require_same_forge(&hosted, &out)?;
        require_commits(environment, &out)?;
        let target = target(&hosted, environment, &out).await?;
        let base = require_base(&codebase, environment, &out, &target)?;
        let pushed = self.push_to(lease, &codebase, environment, (&out, &target), by).await?;
        let (pr, is_new) = match opened(&hosted, environment, &out, (&target, base), by).await {
            Ok(opened) => opened,
            Err(error) => return Err(not_opened(&error, &target).into()),
        };
        let pr = self.remember_pull_request(environment, &pr, is_new, by).await?;
        let environment = self.require_live(environment).await?;
        Ok(Proposed { environment, pr, is_new, target, pushed, leaves_changes: out.is_dirty })
    }

    /// Whether pull requests of a codebase can be opened.
    pub(crate) fn is_on_forge(&self, codebase: &Codebase) -> bool {
        self.settings.forges.of_codebase(codebase).is_some()
    }

    fn require_hosted(&self, codebase: &Codebase, environment: &Environment) -> Outcome<Hosted> {
        let hosted = self.settings.forges.of_codebase(codebase);
        hosted.ok_or_else(|| {
            let branch = &environment.branch;
            UserError::new(Kind::Usage, format!("`{}` is on no forge that I can open pull requests on", codebase.name))
                .hint(format!("push it by hand: `git push --set-upstream origin {branch}`"))
                .into()
        })
    }

    /// The repository's configuration may name another remote than the one that was registered.
    fn require_same_forge(&self, hosted: &Hosted, out: &Outgoing) -> Outcome<()> {
        let there = self.settings.forges.hosted(&out.url);
        if there.is_some_and(|there| there.repository == hosted.repository) {
            return Ok(());
        }
        let what = format!("the remote `{}` is no longer `{}`, which was registered", out.remote, hosted.repository);
        Err(UserError::new(Kind::Protected, what)
            .hint("`git remote -v` in the main checkout shows where it leads")
            .into())
    }

    async fn push_to(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        (out, target): (&Outgoing, &BranchName),
        by: &Actor,
    ) -> Outcome<Pushed> {
        // History is only rewritten where nobody else's can be: on a branch that we made and pushed ourselves.
        let is_ours = environment.branch_made && *target == environment.branch;
        let replaces = environment.pushed_sha.clone().filter(|_| is_ours);
        let (remote, url, head) = (out.remote.clone(), out.url.clone(), out.head.clone());
        let push = Push { remote, url, head, target: target.clone(), replaces };
        let pushed = self.provider.push(lease, codebase, environment, &push).await?;
        match &pushed {
            Pushed::Rejected(rejection) => return Err(rejected(rejection, environment, target, is_ours).into()),
            Pushed::UpToDate => {}
            Pushed::Moved { from, to, .. } => {
                let event = NewEvent::new(self.clock.now(), by, "branch-pushed").shas(from.clone(), Some(to.clone()));
                // What anybody else put on it is theirs, also once it is below what we pushed: nothing is replaced any more.
                let is_all_ours = from.is_none() || *from == environment.pushed_sha;
                let ours = Some(to).filter(|_| is_all_ours);
                self.store.set_pushed(environment, ours, &event.detail(target.as_str())).await?;
            }
        }
        Ok(pushed)
    }

    /// Writes the pull request down, and gives the environment its work: its conversation then works here.
    async fn remember_pull_request(
        &self,
        environment: &Environment,
        pr: &PullRequest,
        is_new: bool,
        by: &Actor,
    ) -> Outcome<PullRequestInfo> {
        let now = self.clock.now();
        let info = info(pr, environment.pr.as_ref(), now);
        let is_known = environment.pr.as_ref().is_some_and(|known| known.number == pr.number);
        let what = if is_new { "pull-request-opened" } else { "pull-request-found" };
        let event = NewEvent::new(now, by, what).detail(format!("#{}", pr.number));
        let news = Some(&event).filter(|_| is_new || !is_known);
        // Whoever follows pull requests may have seen another one just now.
        if !self.store.see_pull_request(environment, &info, news).await? {
            let now = self.require_live(environment).await?;
            self.store.see_pull_request(&now, &info, news).await?;
        }
        let work = Work::PullRequest(pr.number);
        let named = NamedWork { name: format!("pr-{}", pr.number), work };
        let event = NewEvent::new(now, by, "work-shared").detail(named.name.clone());
        match self.store.add_work(environment.id, &named, &event).await {
            // Somebody works on it elsewhere already, and goes on there.
            Err(StoreError::Taken(_)) => {
                tracing::info!(environment = %environment.id, work = named.name, "another environment has the work");
            }
            other => other?,
        }
        Ok(info)
    }
}

/// What is a stranger's, or only looked at, is not pushed.
fn require_own(environment: &Environment) -> Outcome<()> {
    let name = environment.name();
    let refused = |why: &str, way_out: &str| Err(UserError::new(Kind::Protected, why.to_owned()).hint(way_out).into());
    if environment.is_fork {
        return refused("a fork's pull request is only read here", "its author pushes to it from their own repository");
    }
    if environment.works.iter().any(|named| matches!(named.work, Work::Review(_))) {
        let way_out = "ask for changes in the conversation of the pull request itself";
        return refused(&format!("`{name}` holds a review, which is only read"), way_out);
    }
    if environment.state.is_usable() {
        return Ok(());
    }
    let what = format!("`{name}` is {} and cannot be pushed now", environment.state);
    Err(UserError::new(Kind::Busy, what).hint("try again later").into())
}

fn require_commits(environment: &Environment, out: &Outgoing) -> Outcome<()> {
    if out.commits > 0 {
        return Ok(());
    }
    let base = environment.base.as_ref().map_or("its base", |base| base.as_str());
    let what = format!("there is nothing to open: `{}` has no commit that `{base}` lacks", environment.name());
    let hint = if out.is_dirty { "commit the changes in it first" } else { "say what is to be done in it" };
    Err(UserError::new(Kind::NotFound, what).hint(hint).into())
}

/// The branch of the forge that a push goes to: the environment's own. Where the main checkout holds the branch of the pull
/// request, the environment is on another that goes to it; whether that is so is the forge's to say.
async fn target(hosted: &Hosted, environment: &Environment, out: &Outgoing) -> Outcome<BranchName> {
    let Some(upstream) = out.upstream.as_ref().filter(|upstream| **upstream != out.branch) else {
        return Ok(out.branch.clone());
    };
    for number in environment.related_prs().into_iter().take(MOST_LOOKED_AT) {
        let pr = hosted.forge.pull_request(&hosted.repository, number).await.map_err(|error| silent(&error))?;
        let is_it =
            |pr: &PullRequest| pr.state == WorkState::Open && !pr.is_fork && pr.head_branch.as_ref() == Some(upstream);
        if pr.as_ref().is_some_and(is_it) {
            return Ok(upstream.clone());
        }
    }
    Ok(out.branch.clone())
}

/// The base of the pull request. What others work from is never pushed to.
fn require_base(
    codebase: &Codebase,
    environment: &Environment,
    out: &Outgoing,
    target: &BranchName,
) -> Outcome<BranchName> {
    let shared = [environment.base.as_ref(), out.default_branch.as_ref(), codebase.base_branch.as_ref()];
    if shared.contains(&Some(target)) {
        let what = format!("`{target}` is a branch that others work from, and is not pushed to");
        let hint = "make a branch for the work: `/worktree create <branch>`";
        return Err(UserError::new(Kind::Protected, what).hint(hint).into());
    }
    let base = environment.base.clone().or_else(|| out.default_branch.clone());
    base.ok_or_else(|| UserError::new(Kind::Failed, "what to open it against is not known").into())
}

/// The open pull request of the branch, or a new one.
async fn opened(
    hosted: &Hosted,
    environment: &Environment,
    out: &Outgoing,
    (target, base): (&BranchName, BranchName),
    by: &Actor,
) -> Result<(PullRequest, bool), PlatformError> {
    let (forge, repository) = (&hosted.forge, &hosted.repository);
    if let Some(pr) = forge.pull_request_of(repository, target).await? {
        return Ok((pr, false));
    }
    let (title, body) = (draft::title(environment, out), draft::body(environment, out, by));
    let draft = PullRequestDraft { head: target.clone(), base, title, body };
    match forge.open_pull_request(repository, &draft).await {
        Ok(pr) => Ok((pr, true)),
        // It may have been opened although nobody heard the answer, or by somebody else just now.
        Err(error) => match forge.pull_request_of(repository, target).await {
            Ok(Some(pr)) => Ok((pr, false)),
            _ => Err(error),
        },
    }
}

fn silent(error: &PlatformError) -> UserError {
    UserError::new(Kind::Failed, error.to_string()).hint("try again in a while; nothing was pushed")
}

fn not_opened(error: &PlatformError, target: &BranchName) -> UserError {
    let what = format!("the commits are on `{target}` now, but no pull request could be opened: {error}");
    UserError::new(Kind::Failed, what).hint("`hedgerow env pr` tries again")
}

fn rejected(rejection: &Rejection, environment: &Environment, target: &BranchName, is_ours: bool) -> UserError {
    let name = environment.name();
    let refused = |why: String| UserError::new(Kind::Protected, format!("`{name}` was not pushed: {why}"));
    match rejection {
        Rejection::NotAForward => {
            let error = refused(format!("`{target}` has commits there that are not in it"));
            let error = error.hint(format!("bring `{target}` of the remote in, or ask the agent to, then try again"));
            if is_ours { error } else { error.hint("what others may have built on is never rewritten") }
        }
        Rejection::MovedMeanwhile => {
            refused(format!("somebody moved `{target}` meanwhile")).hint("look at what they did, then try again")
        }
        Rejection::ByTheRemote(words) => refused(format!("the remote does not take it: {words}"))
            .hint("whoever looks after the repository can change its rules"),
    }
}

/// A pull request as it is remembered. What the forge does not know now stays as it was.
pub(crate) fn info(pr: &PullRequest, before: Option<&PullRequestInfo>, now: Timestamp) -> PullRequestInfo {
    let before = before.filter(|before| before.number == pr.number);
    let state = pr.state.word().map(str::to_owned).or_else(|| before.and_then(|before| before.state.clone()));
    PullRequestInfo {
        number: pr.number,
        url: Some(pr.url.clone()).filter(|url| !url.is_empty()),
        title: Some(pr.title.clone()),
        state,
        created_at: pr.created_at.or_else(|| before.and_then(|before| before.created_at)),
        head: pr.head.clone().or_else(|| before.and_then(|before| before.head.clone())),
        checks: pr.checks,
        seen_at: Some(now),
    }
}
