//! Create: plan, claim, make. And restore, which comes first when the work waits in the trash.

use std::time::Duration;

use hedgerow_core::environment::{Actor, Resolution, TrashedBecause};
use hedgerow_core::provider::{Intent, Note, Plan, Progress, Start, Wish};
use hedgerow_core::{Environment, EnvironmentId, Kind, State, UserError};

use tokio::time::{Instant, sleep};

use super::reuse::PATIENCE;
use super::{ATTEMPTS, Asked};
use crate::engine::{Engine, Resolved};
use crate::explain::Trouble;
use crate::failure::{Failure, Outcome};
use crate::isolation::Base;
use crate::journal::{Busy, CREATING};
use crate::steps;
use crate::store::{Inserted, NewEvent};

/// Between two looks at what a neighbour is doing.
const PAUSE: Duration = Duration::from_millis(20);

impl Engine {
    /// This work's environment is in the trash: automation put it there unmerged, or its issue was reopened. One that a
    /// person removed, or that was merged, is only mentioned.
    pub(super) async fn bring_back(&self, asked: &mut Asked<'_>) -> Outcome<Option<Environment>> {
        let trashed = self.store.trashed(asked.request.codebase.id).await?;
        let Some(last) = trashed.into_iter().find(|old| asked.works.iter().any(|named| old.holds(&named.work))) else {
            self.mention_saved(asked).await?;
            return Ok(None);
        };
        let because = last.trash.as_ref().map(|trash| trash.because);
        let by_itself =
            matches!(because, Some(TrashedBecause::Stale | TrashedBecause::Closed | TrashedBecause::Orphan));
        if !by_itself && !asked.request.reopened {
            let note = Note::InTrash { name: last.name().to_owned() };
            if !asked.notes.contains(&note) {
                asked.notes.push(note);
            }
            return Ok(None);
        }
        let Some(restored) = self.restore_or_wait(asked, &last).await? else { return Ok(None) };
        asked.notes.extend(restored.notes);
        asked.as_of = restored.as_of;
        self.follow_head(asked, restored.environment).await.map(Some)
    }

    /// An earlier environment of this work is only left in the vault.
    async fn mention_saved(&self, asked: &mut Asked<'_>) -> Outcome<()> {
        let saved = self.store.saved_by_work(asked.request.codebase.id, &asked.request.work).await?;
        let note = saved.map(|old| Note::InTrash { name: old.name().to_owned() });
        asked.notes.extend(note.filter(|note| !asked.notes.contains(note)));
        Ok(())
    }

    /// Brings it back, unless a neighbour does so or the trash does not hold it any more.
    async fn restore_or_wait(&self, asked: &mut Asked<'_>, last: &Environment) -> Outcome<Option<Resolved>> {
        let started = Instant::now();
        loop {
            let failure = match self.restore_environment(&asked.request.codebase, last, &asked.request.by).await {
                Ok(restored) => return Ok(Some(restored)),
                Err(failure) => failure,
            };
            let now = self.store.environment(last.id).await?;
            if now.is_none_or(|now| now.state != State::Trashed) {
                return Ok(None);
            }
            match failure.kind() {
                Kind::Busy if started.elapsed() < PATIENCE => sleep(PAUSE).await,
                Kind::NotFound => {
                    let why = "it is not in the trash any more".to_owned();
                    asked.notes.push(Note::Lost { environment: last.name().to_owned(), why });
                    return Ok(None);
                }
                _ => return Err(failure),
            }
        }
    }

    /// Makes a new environment, or adopts the worktree that has its branch. `None` when a neighbour took the work or the
    /// branch meanwhile.
    pub(super) async fn create(
        &self,
        asked: &mut Asked<'_>,
        progress: &dyn Progress,
    ) -> Outcome<Option<(Environment, Resolution)>> {
        self.require_base().await?;
        self.require_room(asked).await?;
        let codebase = &asked.request.codebase;
        let wish = Wish {
            codebase: codebase.clone(),
            plan: asked.plan.clone(),
            base: asked.hints.base_branch.clone(),
            is_fork: asked.hints.is_fork,
        };
        let plan =
            self.provider.plan(&wish, progress).await.map_err(|error| failed(&asked.plan.branch, error.into()))?;
        if !plan.start.makes_branch()
            && let Some(holder) = self.provider.branch(codebase, &plan.branch).await?.held_by
        {
            let adopted = self.adopt_holder(asked, &plan.branch, &holder).await;
            let adopted = adopted.map_err(|error| failed(&plan.branch, error))?;
            return Ok(adopted.map(|environment| (environment, Resolution::Adopted)));
        }
        let Some((environment, _busy)) = self.claim(asked, &plan).await? else { return Ok(None) };
        steps::reached("creation written down");
        let intent = Intent {
            id: environment.id,
            generation: environment.generation,
            codebase: codebase.clone(),
            path: environment.path.clone(),
            plan: plan.clone(),
            is_fork: asked.hints.is_fork,
        };
        let made = match self.provider.create(&intent, progress).await {
            Ok(notes) => notes,
            Err(error) => {
                self.take_back_failed(&environment, &intent, &asked.request.by, &error.to_string()).await?;
                return Err(failed(&plan.branch, error.into()));
            }
        };
        let active = Environment { state: State::Active, ..environment };
        let event = NewEvent::new(self.clock.now(), &asked.request.by, "environment-created")
            .shas(None, plan.start.placed().cloned());
        self.store.save(&active, (State::Creating, active.generation), &event).await?;
        steps::reached("row active");
        asked.notes.extend(plan.notes);
        asked.notes.extend(made);
        Ok(Some((active, Resolution::Created)))
    }

    /// Makes the base, the first time. One that held environments and is not there is a disk that is away: making it anew
    /// would hide that, and all of them would look deleted.
    pub(crate) async fn require_base(&self) -> Outcome<()> {
        let base = Base::new(&self.settings.worktrees);
        if base.is_there() {
            return Ok(());
        }
        let mut known = self.store.live_everywhere().await?;
        known.extend(self.store.trashed_everywhere().await?);
        let was_there = |known: &Environment| {
            base.holds(&known.path) || known.trash.as_ref().is_some_and(|trash| base.holds(&trash.path))
        };
        if !known.iter().any(|known| known.node == self.settings.node && was_there(known)) {
            return Ok(base.prepare().map_err(Trouble::folder(base.path()))?);
        }
        Err(Trouble::BaseAway { path: base.path().to_owned() }.into())
    }

    /// Takes a failed creation back. If even that fails, the row stays an intent: whoever settles next tries again.
    pub(crate) async fn take_back_failed(
        &self,
        environment: &Environment,
        intent: &Intent,
        by: &Actor,
        why: &str,
    ) -> Outcome<()> {
        if let Err(error) = self.provider.undo(intent).await {
            tracing::warn!(environment = %environment.id, %error, "a failed creation could not be taken back yet");
            return Ok(());
        }
        let event = NewEvent::new(self.clock.now(), by, "creation-failed").detail(why);
        self.bury(environment, &event).await
    }

    /// Writes the intent: counting and claiming are one step in the store.
    async fn claim(&self, asked: &mut Asked<'_>, plan: &Plan) -> Outcome<Option<(Environment, Busy)>> {
        let request = asked.request;
        let id = EnvironmentId::new();
        let Some(busy) = self.try_busy(id)? else {
            return Err(anyhow::anyhow!("the lock of a new id is taken").into());
        };
        let mut draft = self.draft(&request.codebase, id, plan.branch.clone(), &request.by);
        draft.works.clone_from(&asked.works);
        draft.branch_made = plan.start.makes_branch();
        draft.is_fork = asked.hints.is_fork;
        draft.base.clone_from(&plan.base);
        draft.base_sha.clone_from(&plan.base_sha);
        draft.description.clone_from(&asked.hints.description);
        let was_at = match &plan.start {
            Start::Existing { at, forward_to: Some(_), .. } => Some(at.clone()),
            _ => None,
        };
        let event =
            NewEvent::new(self.clock.now(), &request.by, CREATING).shas(was_at, Some(plan.start.commit().clone()));
        for _ in 0..ATTEMPTS {
            let paths = self.provider.places(&request.codebase, &plan.branch, id);
            match self.store.insert(&draft, &paths, Some(self.settings.limit), &event).await? {
                Inserted::Written(environment) => return Ok(Some((environment, busy))),
                Inserted::WorkTaken(holder)
                    if request.branch.as_ref().is_some_and(|branch| holder.branch != *branch) =>
                {
                    // A task whose slug is spelled like the branch has the name; the branch gets a longer one.
                    draft.works.clear();
                }
                Inserted::WorkTaken(_) | Inserted::BranchTaken(_) => return Ok(None),
                Inserted::Full { .. } => self.find_room(asked).await?,
            }
        }
        Ok(None)
    }
}

/// What the person reads when isolation cannot be had. There is no second choice.
fn failed(branch: &hedgerow_core::BranchName, failure: Failure) -> Failure {
    match failure {
        Failure::User(error) if error.kind != Kind::Limit => {
            let message =
                format!("Failed to create isolated worktree for branch `{branch}`. {}", sentence(&error.message));
            UserError { message, ..error }.into()
        }
        other => other,
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}
