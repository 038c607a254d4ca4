//! Which environment a request gets: keep, reuse, share, adopt, restore, room, create. One authority, one order.
//!
//! Every way in comes through [`Engine::resolve`]. There is no fallback: what cannot be isolated is an error, and never
//! the main checkout.

mod adopt;
mod create;
pub(crate) mod limit;
mod reuse;
mod share;

use hedgerow_core::environment::{NamedWork, Resolution};
use hedgerow_core::provider::{Note, Progress};
use hedgerow_core::work::{BranchPlan, branch_plan};
use hedgerow_core::{Environment, Hints, Kind, Timestamp, UserError, Work};

use crate::engine::{Engine, Request, Resolved};
use crate::failure::Outcome;

/// Neighbours may take the work or its branch between our looking and our claiming; then we look again.
const ATTEMPTS: usize = 8;

/// A request with what follows from it.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    /// The work and those that are the same environment, each under its name.
    pub(crate) works: Vec<NamedWork>,
    pub(crate) plan: BranchPlan,
    pub(crate) hints: Hints,
    pub(crate) notes: Vec<Note>,
    pub(crate) as_of: Option<Timestamp>,
}

impl Asked<'_> {
    /// The issues that the wanted pull request closes, or the pull requests that close the wanted issue.
    ///
    /// None for a fork's pull request: a stranger's "Fixes #42" must not enter a maintainer's files.
    fn linked(&self) -> Vec<Work> {
        match self.request.work {
            _ if self.hints.is_fork => Vec::new(),
            Work::PullRequest(_) => self.hints.linked_issues.iter().map(|n| Work::Issue(*n)).collect(),
            Work::Issue(_) => self.hints.linked_prs.iter().map(|n| Work::PullRequest(*n)).collect(),
            _ => Vec::new(),
        }
    }

    fn is_linked(&self, environment: &Environment) -> bool {
        self.linked().iter().any(|work| environment.holds(work))
    }
}

impl Engine {
    /// The one authority on which environment a request gets.
    pub async fn resolve(&self, request: &Request, progress: &dyn Progress) -> Outcome<Resolved> {
        if let Work::Thread(id) = &request.work
            && id.is_empty()
        {
            return Err(UserError::new(Kind::Usage, "a thread needs the id of its conversation").into());
        }
        let mut asked = self.understand(request).await?;
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.keep(&mut asked).await? {
                return self.finish(asked, found, Resolution::Kept).await;
            }
            if let Some(found) = self.reuse(&mut asked, progress).await? {
                return self.finish(asked, found, Resolution::Reused).await;
            }
            if let Some(found) = self.share(&mut asked, progress).await? {
                return self.finish(asked, found, Resolution::Shared).await;
            }
            if let Some(found) = self.adopt_for(&asked).await? {
                return self.finish(asked, found, Resolution::Adopted).await;
            }
            if let Some(found) = self.bring_back(&mut asked).await? {
                return self.finish(asked, found, Resolution::Restored).await;
            }
            // By far the largest of them, and rarely needed.
            if let Some((found, resolution)) = Box::pin(self.create(&mut asked, progress)).await? {
                return self.finish(asked, found, resolution).await;
            }
        }
        let name = &asked.works[0].name;
        Err(UserError::new(Kind::Busy, format!("others kept changing `{name}` at the same time"))
            .hint("try again")
            .into())
    }

    /// Names the work and its branch.
    async fn understand<'a>(&self, request: &'a Request) -> Outcome<Asked<'a>> {
        let mut hints = request.hints.clone();
        if request.branch.is_some() {
            hints.suggested_branch.clone_from(&request.branch);
        }
        let mut works = Vec::new();
        for work in request.work.with_aliases(&hints) {
            let name = self.work_name(request, &work).await?;
            works.push(NamedWork { work, name });
        }
        let plan = branch_plan(&request.work, &works[0].name, &hints, &self.settings.branch_prefix);
        Ok(Asked { request, works, plan, hints, notes: Vec::new(), as_of: None })
    }

    /// The written form, longer for a thread whose short form another thread has.
    async fn work_name(&self, request: &Request, work: &Work) -> Outcome<String> {
        let name = work.to_string();
        match work.longer_name() {
            Some(longer) if self.store.work_name_taken(request.codebase.id, &name, work).await? => Ok(longer),
            _ => Ok(name),
        }
    }

    /// Whatever way it was found: it is used now, and the conversation refers to it.
    async fn finish(&self, asked: Asked<'_>, environment: Environment, resolution: Resolution) -> Outcome<Resolved> {
        let environment = self.known_as_fork(&asked, environment).await?;
        let now = self.clock.now();
        self.store.touch(environment.id, now).await?;
        if let Some(asking) = &asked.request.conversation {
            self.store.point(asking.conversation, Some(environment.id), now).await?;
        }
        let environment = self.store.environment(environment.id).await?.unwrap_or(environment);
        Ok(Resolved { environment, resolution, as_of: asked.as_of, notes: asked.notes })
    }
}
