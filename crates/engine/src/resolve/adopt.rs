//! Adopt: a worktree that someone else made for the same branch.

use std::path::Path;

use hedgerow_core::environment::{Actor, AdoptedFrom, NamedWork, Resolution};
use hedgerow_core::provider::Found;
use hedgerow_core::{BranchName, Codebase, Environment, EnvironmentId, Kind, State, UserError, Work};

use super::Asked;
use crate::engine::{Engine, Resolved};
use crate::failure::Outcome;
use crate::store::{Inserted, NewEvent, StoreError};

impl Engine {
    /// A worktree of this repository on the wanted branch. A branch that somebody named (a pull request's, a suggested
    /// one) is looked for everywhere; a generated one at its expected path, and when making it finds that it is taken.
    pub(super) async fn adopt_for(&self, asked: &Asked<'_>) -> Outcome<Option<Environment>> {
        let codebase = &asked.request.codebase;
        let branch = &asked.plan.branch;
        let expected = self.provider.expected_place(codebase, branch);
        let named = asked.hints.suggested_branch.is_some() || (asked.hints.pr_branch.is_some() && !asked.hints.is_fork);
        if !named && !expected.exists() {
            return Ok(None);
        }
        let at_path = if expected.exists() { self.provider.at(codebase, &expected).await? } else { None };
        let at_path = at_path.filter(|found| found.branch.as_ref() == Some(branch) && !found.is_main && !found.missing);
        let found = match at_path {
            Some(found) => Some(Found { adopted_from: AdoptedFrom::Path, ..found }),
            None if named => self.provider.find(codebase, branch).await?,
            None => None,
        };
        let Some(found) = found else { return Ok(None) };
        self.take_on(codebase, &found, &asked.works, asked.hints.description.clone(), &asked.request.by).await
    }

    /// The branch of a new environment is checked out already, at this path. Someone else's linked worktree is adopted;
    /// `None` when it is the environment that a neighbour made meanwhile.
    pub(super) async fn adopt_holder(
        &self,
        asked: &Asked<'_>,
        branch: &BranchName,
        holder: &Path,
    ) -> Outcome<Option<Environment>> {
        let codebase = &asked.request.codebase;
        let Some(found) = self.provider.at(codebase, holder).await? else { return Ok(None) };
        if found.is_main {
            let error = UserError::new(Kind::Failed, format!("the main checkout is on `{branch}`"));
            return Err(error.hint("`git switch` it to another branch, or ask for another one").into());
        }
        if found.missing {
            let error = UserError::new(Kind::Failed, format!("a worktree that is not there has `{branch}`"));
            return Err(error.hint("if its disk is not just away, `git worktree remove` forgets that one").into());
        }
        let known = match found.marker {
            Some(id) => self.store.environment(id).await?,
            None => None,
        };
        if let Some(known) = known.filter(|known| known.branch != *branch) {
            if self.provider.branch(codebase, &known.branch).await?.tip.is_none() {
                return self.corrected(asked, known, branch).await.map(Some);
            }
            let name = known.name();
            let error = UserError::new(Kind::Failed, format!("`{branch}` is checked out in the environment `{name}`"));
            return Err(error.hint(format!("work there, or `git switch {}` in it first", known.branch)).into());
        }
        self.take_on(codebase, &found, &asked.works, asked.hints.description.clone(), &asked.request.by).await
    }

    /// The branch we wrote down is no more: a move onto this one was interrupted before it was written down.
    async fn corrected(&self, asked: &Asked<'_>, known: Environment, branch: &BranchName) -> Outcome<Environment> {
        let now = Environment { branch: branch.clone(), branch_made: false, ..known };
        let event = NewEvent::new(self.clock.now(), &asked.request.by, "branch-corrected").detail(branch.as_str());
        self.store.save(&now, (now.state, now.generation), &event).await?;
        self.add_works(asked, &now).await?;
        Ok(now)
    }

    /// Takes a worktree that someone else made into the list. It is never moved or deleted by automation.
    pub async fn adopt(&self, codebase: &Codebase, path: &Path, by: &Actor) -> Outcome<Resolved> {
        let path = std::fs::canonicalize(path).map_err(|error| {
            let error = UserError::new(Kind::NotFound, format!("there is no folder {}: {error}", path.display()));
            error.hint("`hedgerow env orphans` lists the worktrees there are")
        })?;
        let shown = path.display();
        let found = self.provider.at(codebase, &path).await?.filter(|found| !found.missing);
        let Some(found) = found else {
            let error = UserError::new(Kind::NotFound, format!("{shown} is not a worktree of `{}`", codebase.name));
            return Err(error.hint("`hedgerow env orphans` lists the worktrees there are").into());
        };
        if found.is_main {
            let error =
                UserError::new(Kind::Protected, format!("{shown} is the main checkout; it is never an environment"));
            return Err(error.hint("`hedgerow env create branch <name>` makes one").into());
        }
        let Some(branch) = found.branch.clone() else {
            let error = UserError::new(Kind::Failed, format!("{shown} is on no branch"));
            return Err(error.hint("`git switch -c <branch>` there first").into());
        };
        let work = Work::Task(branch.to_string());
        let named = NamedWork { name: work.to_string(), work };
        match self.take_on(codebase, &found, &[named], None, by).await? {
            Some(environment) => {
                Ok(Resolved { environment, resolution: Resolution::Adopted, as_of: None, notes: Vec::new() })
            }
            None => {
                let holder = self.store.live_by_branch(codebase.id, &branch).await?;
                let name = holder.map_or_else(|| branch.to_string(), |holder| holder.name().to_owned());
                Err(UserError::new(Kind::Failed, format!("{shown} is an environment already: `{name}`")).into())
            }
        }
    }

    /// Writes a worktree down as an environment. One that carries our own marker but no row is taken over under its old id:
    /// it is ours, whatever became of the store. `None` when it is known already.
    async fn take_on(
        &self,
        codebase: &Codebase,
        found: &Found,
        works: &[NamedWork],
        description: Option<String>,
        by: &Actor,
    ) -> Outcome<Option<Environment>> {
        let Some(branch) = found.branch.clone() else { return Ok(None) };
        let known = match found.marker {
            Some(id) => self.store.environment(id).await?,
            None => None,
        };
        match known {
            Some(row) if row.state == State::Destroyed => {
                return self.back_from_history(row, found, &branch, by).await.map(Some);
            }
            Some(_) => return Ok(None),
            None if found.marker.is_some() && !found.is_below_base => {
                let error =
                    UserError::new(Kind::Protected, format!("`{branch}` is in an environment of another Hedgerow"));
                return Err(error.hint("ask there, or for another branch; nothing was changed").into());
            }
            None => {}
        }
        let mut draft = self.draft(codebase, found.marker.unwrap_or_else(EnvironmentId::new), branch, by);
        draft.works = works.to_vec();
        draft.state = State::Active;
        draft.description = description;
        draft.adopted_from = found.marker.is_none().then_some(found.adopted_from);
        draft.path.clone_from(&found.path);
        let event = NewEvent::new(self.clock.now(), by, "environment-adopted").shas(None, found.head.clone());
        match self.store.insert(&draft, std::slice::from_ref(&found.path), None, &event).await? {
            Inserted::Written(environment) => Ok(Some(environment)),
            Inserted::WorkTaken(_) | Inserted::BranchTaken(_) | Inserted::Full { .. } => Ok(None),
        }
    }

    /// Writes an orphan of ours down again, under the id it carries.
    pub(crate) async fn take_over(&self, codebase: &Codebase, found: &Found, by: &Actor) -> Outcome<Environment> {
        let Some(branch) = &found.branch else {
            return Err(UserError::new(Kind::Protected, format!("{} is on no branch", found.path.display())).into());
        };
        let work = Work::Task(branch.to_string());
        let named = NamedWork { name: work.to_string(), work };
        let taken = self.take_on(codebase, found, &[named], None, by).await?;
        taken.ok_or_else(|| UserError::new(Kind::Busy, format!("another environment has `{branch}`")).into())
    }

    /// It was taken for gone and is there: its row is no history.
    async fn back_from_history(
        &self,
        row: Environment,
        found: &Found,
        branch: &BranchName,
        by: &Actor,
    ) -> Outcome<Environment> {
        let back = Environment {
            state: State::Active,
            generation: row.generation + 1,
            path: found.path.clone(),
            branch_made: row.branch_made && row.branch == *branch,
            branch: branch.clone(),
            ..row
        };
        let event = NewEvent::new(self.clock.now(), by, "environment-adopted").shas(None, found.head.clone());
        match self.store.save(&back, (State::Destroyed, row.generation), &event).await {
            Ok(()) => Ok(back),
            Err(StoreError::Taken(_)) => {
                Err(UserError::new(Kind::Busy, format!("another environment has `{branch}`")).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A row to be filled in.
    pub(crate) fn draft(&self, codebase: &Codebase, id: EnvironmentId, branch: BranchName, by: &Actor) -> Environment {
        let path = self.provider.expected_place(codebase, &branch);
        Environment {
            provider: self.provider.kind(),
            node: self.settings.node.clone(),
            ..Environment::new(id, codebase.id, branch, path, by.clone(), self.clock.now())
        }
    }
}
