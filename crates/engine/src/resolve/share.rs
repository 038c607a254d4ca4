//! Share: a pull request and the issue it closes are one piece of work.

use hedgerow_core::environment::NamedWork;
use hedgerow_core::provider::{Condition, Note, Plan, Presence, Progress, Wish};
use hedgerow_core::{Environment, Lease, Work};

use super::Asked;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::store::NewEvent;

impl Engine {
    /// The environment of a linked issue or pull request, if it can hold this work too.
    pub(super) async fn share(&self, asked: &mut Asked<'_>, progress: &dyn Progress) -> Outcome<Option<Environment>> {
        for work in asked.linked() {
            let Some(environment) = self.store.live_by_work(asked.request.codebase.id, &work).await? else { continue };
            if !self.can_share(asked, &environment) {
                continue;
            }
            if let Some(shared) = self.share_with(asked, &environment, progress).await? {
                return Ok(Some(shared));
            }
            asked
                .notes
                .push(Note::LinkedElsewhere { work: work.to_string(), environment: environment.name().to_owned() });
        }
        Ok(None)
    }

    /// Whether another work may come in at all.
    pub(super) fn can_share(&self, asked: &Asked<'_>, environment: &Environment) -> bool {
        environment.state.is_usable()
            && !holds_a_review(environment)
            && self.provider.presence(&asked.request.codebase, environment) == Presence::Here
    }

    async fn share_with(
        &self,
        asked: &mut Asked<'_>,
        environment: &Environment,
        progress: &dyn Progress,
    ) -> Outcome<Option<Environment>> {
        let head = match asked.request.work {
            Work::PullRequest(_) => asked.hints.pr_branch.as_ref(),
            // The linked pull request's own environment is on its head branch already.
            _ => None,
        };
        let must_move = head.is_some_and(|head| *head != environment.branch);
        if must_move
            && !(self.is_fresh(asked, environment).await
                && self.move_onto_pull_request(asked, environment, progress).await?)
        {
            return Ok(None);
        }
        for named in &asked.works {
            self.add_shared(asked, environment, named).await?;
        }
        // As it is now, with its new work and perhaps another branch.
        let environment = self.require_live(environment).await?;
        self.follow_head(asked, environment).await.map(Some)
    }

    async fn add_shared(&self, asked: &Asked<'_>, environment: &Environment, named: &NamedWork) -> Outcome<()> {
        let event = NewEvent::new(self.clock.now(), &asked.request.by, "work-shared").detail(named.name.clone());
        Ok(self.store.add_work(environment.id, named, &event).await?)
    }

    /// Nothing was done in the environment yet, so it becomes the pull request's. `false` when it cannot:
    /// another worktree has that branch, or someone began to work here meanwhile.
    async fn move_onto_pull_request(
        &self,
        asked: &mut Asked<'_>,
        environment: &Environment,
        progress: &dyn Progress,
    ) -> Outcome<bool> {
        let codebase = &asked.request.codebase;
        let wish = Wish {
            codebase: codebase.clone(),
            plan: asked.plan.clone(),
            base: asked.hints.base_branch.clone(),
            is_fork: false,
        };
        let plan: Plan = self.provider.plan(&wish, progress).await?;
        if self.provider.branch(codebase, &plan.branch).await?.held_by.is_some() {
            return Ok(false);
        }
        let held = self.lease(environment).await?;
        let moved = self.move_leased(&held.lease, asked, environment, &plan).await;
        self.release(held).await?;
        if moved? {
            asked.notes.extend(plan.notes);
            return Ok(true);
        }
        Ok(false)
    }

    async fn move_leased(
        &self,
        lease: &Lease,
        asked: &Asked<'_>,
        environment: &Environment,
        plan: &Plan,
    ) -> Outcome<bool> {
        if !self.is_fresh(asked, environment).await {
            return Ok(false);
        }
        self.provider.switch(lease, &asked.request.codebase, environment, plan).await?;
        let moved = Environment {
            branch: plan.branch.clone(),
            branch_made: plan.start.makes_branch(),
            base: plan.base.clone().or_else(|| environment.base.clone()),
            base_sha: plan.base_sha.clone(),
            ..environment.clone()
        };
        let event = NewEvent::new(self.clock.now(), &asked.request.by, "moved-onto-pull-request")
            .shas(environment.base_sha.clone(), plan.start.placed().cloned());
        self.store.save(&moved, (environment.state, environment.generation), &event).await?;
        Ok(true)
    }

    /// On the branch it was made with, without commits or changes of its own.
    async fn is_fresh(&self, asked: &Asked<'_>, environment: &Environment) -> bool {
        let conditions = self.provider.inspect(&asked.request.codebase, std::slice::from_ref(environment)).await;
        let Some(Condition::Present(facts)) = conditions.first() else { return false };
        let untouched = facts.head.is_some() && facts.head == environment.base_sha;
        let in_place = facts.branch.as_ref() == Some(&environment.branch);
        untouched && in_place && !facts.is_dirty() && facts.operation.is_none() && !environment.is_adopted()
    }
}

fn holds_a_review(environment: &Environment) -> bool {
    environment.works.iter().any(|named| matches!(named.work, Work::Review(_)))
}
