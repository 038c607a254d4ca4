//! Removal, always through here: refused where work could be lost, otherwise a move into the trash.

use hedgerow_core::cleanup::{Removal, Usage, may_remove};
use hedgerow_core::environment::{Actor, Trash, TrashedBecause};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::provider::{Condition, Facts, Presence, ProviderError};
use hedgerow_core::{Codebase, Environment, Kind, Lease, State, UserError};

use crate::engine::{Engine, Removed};
use crate::failure::Outcome;
use crate::lease::Held;
use crate::replies;
use crate::steps;
use crate::store::{NewEvent, NewReply};

/// Why an environment is being removed.
pub(crate) struct Order<'a> {
    pub(crate) because: TrashedBecause,
    /// Its work is in the base: the branch may go although its commits are nowhere else.
    pub(crate) merged: bool,
    pub(crate) by: &'a Actor,
}

impl Engine {
    /// Removes an environment because a person asks.
    ///
    /// 1. The lease: nothing runs in it, nobody else changes it.
    /// 2. What git and the conversations say, against the rules.
    /// 3. The intent, in the store.
    /// 4. The move.
    /// 5. The row is trashed; its work, branch and path are free.
    pub async fn remove(&self, environment: &Environment, force: bool, by: &Actor) -> Outcome<Removed> {
        Box::pin(self.remove_from(None, environment, force, by)).await
    }

    /// The same from a conversation, whose own use of the environment is no reason to keep it.
    pub(crate) async fn remove_from(
        &self,
        asking: Option<&ConversationKey>,
        environment: &Environment,
        force: bool,
        by: &Actor,
    ) -> Outcome<Removed> {
        let codebase = self.codebase_of(environment).await?;
        let held = self.lease(environment).await?;
        let removed = match self.require_live(environment).await {
            Ok(now) => self.remove_leased(&held, &codebase, &now, (asking, force), by).await,
            Err(gone) => Err(gone),
        };
        self.release(held).await?;
        removed
    }

    /// The row as it is under the lease: whoever held it before may have removed the environment or moved it.
    pub(crate) async fn require_live(&self, environment: &Environment) -> Outcome<Environment> {
        let name = environment.name();
        let gone = UserError::new(Kind::NotFound, format!("the environment `{name}` is there no more"));
        match self.store.environment(environment.id).await? {
            Some(now) if now.state.is_live() => Ok(now),
            Some(now) if now.state == State::Trashed => {
                Err(gone.hint(format!("it is in the trash: `hedgerow env restore {name}`")).into())
            }
            _ => Err(gone.into()),
        }
    }

    async fn remove_leased(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        (asking, force): (Option<&ConversationKey>, bool),
        by: &Actor,
    ) -> Outcome<Removed> {
        let mut usage = self.usage(environment).await?;
        if let Some(asking) = asking {
            let own = format!("{}:{}", asking.platform, asking.id);
            usage.conversations.retain(|name| *name != own);
        }
        // With --force nothing depends on what changed, so the files are not looked at: the time does not grow with them.
        let condition = if force {
            self.provider.glance(codebase, environment).await
        } else {
            self.provider.inspect(codebase, std::slice::from_ref(environment)).await.remove(0)
        };
        let order = Order { because: TrashedBecause::Asked, merged: false, by };
        match may_remove(&condition, &usage, force) {
            Ok(Removal::Trash) => self.put_in_trash(held, codebase, environment, &condition, &order).await,
            Ok(Removal::Forget) => self.forget_gone(held, codebase, environment, by).await,
            Ok(Removal::LetGo) => self.let_go(environment, by).await,
            Err(refusal) => Err(refusal.explain().into()),
        }
    }

    /// Moves an environment into the trash. Whether it may be was decided before.
    pub(crate) async fn put_in_trash(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        condition: &Condition,
        order: &Order<'_>,
    ) -> Outcome<Removed> {
        let facts = match condition {
            Condition::Present(facts) => facts.as_ref().clone(),
            _ => Facts::default(),
        };
        let branch_deleted = self.branch_can_go(codebase, environment, &facts, order.merged).await?;
        let trash = Trash {
            path: self.provider.trash_place(environment),
            at: self.clock.now(),
            because: order.because,
            head: facts.head.clone(),
            was_detached: facts.branch.is_none(),
            branch_deleted,
        };
        if trash.path.starts_with(&self.settings.worktrees) {
            self.require_base().await?;
        }
        // An agent may have moved it to another branch; what goes to the trash is what is there.
        let branch = facts.branch.clone().or_else(|| facts.operation_branch.clone());
        let branch = branch.unwrap_or_else(|| environment.branch.clone());
        let going = Environment {
            state: State::Removing,
            generation: environment.generation + 1,
            branch_made: environment.branch_made && branch == environment.branch,
            branch,
            trash: Some(trash.clone()),
            ..environment.clone()
        };
        let event = NewEvent::new(trash.at, order.by, "environment-removing").shas(facts.head.clone(), None);
        self.store.save(&going, (environment.state, environment.generation), &event).await?;
        steps::reached("removal written down");
        if let Err(error) = self.provider.trash(&held.lease, codebase, &going, &trash).await {
            if self.provider.presence(codebase, environment) == Presence::Here {
                let back = Environment { generation: going.generation, ..environment.clone() };
                let event = NewEvent::new(self.clock.now(), order.by, "removal-failed").detail(error.to_string());
                self.store.save(&back, (State::Removing, going.generation), &event).await?;
                return Err(error.into());
            }
            // Half-way, because git died or failed: what is done stays done, and the rest is tried once more.
            self.provider.trash(&held.lease, codebase, &going, &trash).await?;
        }
        let environment = self.finish_removal(&going, order.by).await?;
        Ok(Removed::Trashed { environment, branch_deleted })
    }

    /// The last step: the row is trashed and no conversation refers to it any more.
    async fn finish_removal(&self, going: &Environment, by: &Actor) -> Outcome<Environment> {
        let trashed = Environment { state: State::Trashed, ..going.clone() };
        let head = going.trash.as_ref().and_then(|trash| trash.head.clone());
        let mut event = NewEvent::new(self.clock.now(), by, "environment-trashed").shas(head, None);
        if let Some(trash) = &going.trash {
            event = event.detail(trash.because.as_str());
        }
        self.store.save(&trashed, (State::Removing, going.generation), &event).await?;
        steps::reached("row trashed");
        if *by == Actor::automation() {
            self.tell_conversations(&trashed).await?;
        }
        self.unlink_conversations(going).await?;
        steps::reached("conversations let go of");
        Ok(trashed)
    }

    /// A removal whose maker died is carried on: it was decided, and the trash loses nothing.
    pub(crate) async fn carry_on_removal(&self, codebase: &Codebase, going: &Environment) -> Outcome<()> {
        let Some(lease) = self.lease_to_settle(going).await? else { return Ok(()) };
        let done = self.carry_on_leased(&lease, codebase, going).await;
        self.store.release_lease(going.id, lease.epoch()).await?;
        done
    }

    /// The same for one who holds the lease. What is in neither place any more becomes history; what has something
    /// else in its place is parked for a person to look at.
    pub(crate) async fn carry_on_leased(&self, lease: &Lease, codebase: &Codebase, going: &Environment) -> Outcome<()> {
        let Some(trash) = going.trash.clone() else {
            return Err(anyhow::anyhow!("the removal of {} names no trash", going.id).into());
        };
        let by = Actor::automation();
        let is_trash_there = trash.path.parent().is_some_and(std::path::Path::is_dir);
        let in_trash = std::fs::symlink_metadata(&trash.path).is_ok();
        let presence = self.provider.presence(codebase, going);
        if !in_trash && is_trash_there && presence == Presence::Missing {
            return self.forget_leased(lease, codebase, going, &by).await;
        }
        match (self.provider.trash(lease, codebase, going, &trash).await, presence) {
            (Ok(()), _) => self.finish_removal(going, &by).await.map(drop),
            (Err(error), Presence::Foreign(why)) if !in_trash => {
                let event = NewEvent::new(self.clock.now(), &by, "environment-parked").detail(error.to_string());
                let parked = Environment { state: State::Broken, last_error: Some(why), trash: None, ..going.clone() };
                Ok(self.store.save(&parked, (State::Removing, going.generation), &event).await?)
            }
            // No room, no right, no git: nobody's decision, so it is tried again at the next start.
            (Err(error), Presence::Here) if !in_trash && is_refusal(&error) => {
                // Whoever is in it goes on; the removal can be asked for again.
                let event = NewEvent::new(self.clock.now(), &by, "removal-abandoned").detail(error.to_string());
                let back = Environment { state: State::Active, trash: None, ..going.clone() };
                Ok(self.store.save(&back, (State::Removing, going.generation), &event).await?)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// The branch goes only if Hedgerow made it, the environment is on it, nothing is half-done there, and everything on
    /// it is in the base or on a remote.
    async fn branch_can_go(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        facts: &Facts,
        merged: bool,
    ) -> Outcome<bool> {
        let on_it = facts.branch.as_ref() == Some(&environment.branch);
        let Some(head) = facts.head.as_ref().filter(|_| environment.branch_made && on_it && facts.operation.is_none())
        else {
            return Ok(false);
        };
        Ok(merged || self.provider.is_kept_elsewhere(codebase, environment, head).await?)
    }

    /// Its folder is verifiably gone: the row becomes history, git's entry of that one is tidied.
    pub(crate) async fn forget_gone(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<Removed> {
        // Whoever had the lease before may have moved it to the trash or out of it; that is not gone.
        let environment = self.require_live(environment).await?;
        if self.provider.presence(codebase, &environment) != Presence::Missing {
            return Err(UserError::new(Kind::Busy, "it changed while it was looked at").into());
        }
        self.forget_leased(&held.lease, codebase, &environment, by).await?;
        Ok(Removed::WasGone { environment })
    }

    pub(crate) async fn forget_leased(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<()> {
        self.provider.forget(lease, codebase, environment).await?;
        let event = NewEvent::new(self.clock.now(), by, "environment-gone");
        self.bury(environment, &event).await?;
        self.unlink_conversations(environment).await
    }

    /// Someone else made it: only our record of it goes.
    pub(crate) async fn let_go(&self, environment: &Environment, by: &Actor) -> Outcome<Removed> {
        let event = NewEvent::new(self.clock.now(), by, "environment-let-go");
        self.bury(environment, &event).await?;
        self.unlink_conversations(environment).await?;
        Ok(Removed::LetGo { environment: environment.clone() })
    }

    /// Nobody asked for it, so those who used it are told, and how to have it back.
    async fn tell_conversations(&self, trashed: &Environment) -> Outcome<()> {
        let now = self.clock.now();
        let because = match trashed.trash.as_ref().map(|trash| trash.because) {
            Some(TrashedBecause::Merged) => "its work is merged",
            Some(TrashedBecause::Stale) => "nothing happened there for long",
            Some(TrashedBecause::Closed) => "it was closed",
            _ => "it was not needed any more",
        };
        for key in self.store.conversations_of(trashed.id).await? {
            let conversation = self.store.conversation(&key, now).await?.id;
            let words = replies::messages::gone(trashed.name(), because);
            self.store.say(&NewReply { conversation, message: None, words }, now).await?;
        }
        Ok(())
    }

    async fn unlink_conversations(&self, environment: &Environment) -> Outcome<()> {
        Ok(self.store.let_go_of(environment.id, None, self.clock.now()).await?)
    }

    /// What Hedgerow itself knows about who uses an environment. Asked under its lease, so nothing runs in it.
    pub(crate) async fn usage(&self, environment: &Environment) -> Outcome<Usage> {
        let conversations = self.store.conversations_of(environment.id).await?;
        Ok(Usage {
            telegram: conversations.iter().any(|key| key.platform == PlatformKind::Telegram),
            conversations: conversations.iter().map(|key| format!("{}:{}", key.platform, key.id)).collect(),
            running: false,
            pinned: environment.pinned_at.is_some(),
            adopted: environment.is_adopted(),
            last_activity: environment.last_activity_at,
            verdict: None,
        })
    }
}

/// The provider will not do it, now or later: someone is working there, say. Not that it could not.
fn is_refusal(error: &ProviderError) -> bool {
    matches!(error, ProviderError::User(user) if user.kind != Kind::Failed)
}
