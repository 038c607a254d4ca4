//! Checkpoints and undo: where an environment was, and the way back there.
//!
//! git holds the checkpoints, each under a ref of its own; the rows in the store follow. Whatever dies between the two is
//! set right by the next checkpoint.

use hedgerow_core::checkpoint::{KEPT, Mark, Marked, NewCheckpoint, Rewind, Rewinding, Rewound};
use hedgerow_core::environment::Actor;
use hedgerow_core::{Checkpoint, Codebase, CommitSha, Environment, Kind, Lease, State, UserError};

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::steps;
use crate::store::NewEvent;

/// What an undo says it has made: the state that it left.
const BEFORE: &str = "before undo";

/// What stands around each turn of an assistant. What lies between two turns is people's, and no undo takes it back.
pub(crate) const BEFORE_A_TURN: &str = "before a turn";
pub(crate) const AFTER_A_TURN: &str = "after a turn";

/// What a call for a checkpoint got.
#[derive(Debug, Clone)]
pub struct Checked {
    pub checkpoint: Checkpoint,
    /// Whether it was made now; otherwise nothing has changed since it was.
    pub is_new: bool,
}

/// What an undo did.
#[derive(Debug, Clone)]
pub struct Undone {
    /// The checkpoint that was gone back to.
    pub to: Checkpoint,
    /// The state before; going back to it undoes the undo.
    pub before: Checkpoint,
    pub rewound: Rewound,
}

impl Engine {
    /// Saves the state of an environment, to be gone back to. The newest twenty are kept.
    pub async fn checkpoint(&self, environment: &Environment, label: Option<&str>, by: &Actor) -> Outcome<Checked> {
        require_live(environment)?;
        let held = self.lease(environment).await?;
        let made = self.checkpoint_leased(&held.lease, environment, label, by).await;
        self.release(held).await?;
        made
    }

    /// Goes back: to the checkpoint of that number with everything since, or, without one, takes back what the last turn
    /// changed and leaves what anyone did after it. The state of now is saved first.
    pub async fn undo(&self, environment: &Environment, to: Option<u64>, by: &Actor) -> Outcome<Undone> {
        require_live(environment)?;
        let held = self.lease(environment).await?;
        let undone = self.undo_leased(&held.lease, environment, to, by).await;
        self.release(held).await?;
        undone
    }

    /// The checkpoints of an environment, oldest first, in the trash too.
    pub async fn checkpoints(&self, environment: &Environment) -> Outcome<Vec<Checkpoint>> {
        Ok(self.store.checkpoints(environment.id).await?)
    }

    /// Lets go of all checkpoints of an environment whose files are gone for good.
    pub async fn forget_checkpoints(&self, codebase: &Codebase, environment: &Environment) -> Outcome<()> {
        self.provider.forget_checkpoints(codebase, environment.id, None).await?;
        Ok(self.store.forget_checkpoints(environment.id, None).await?)
    }

    /// The same for whoever has the lease.
    pub(crate) async fn checkpoint_leased(
        &self,
        lease: &Lease,
        environment: &Environment,
        label: Option<&str>,
        by: &Actor,
    ) -> Outcome<Checked> {
        let codebase = self.codebase_of(environment).await?;
        let known = self.known_checkpoints(&codebase, environment).await?;
        let made = self.make(lease, &codebase, environment, &known, label, Mark::Plain, by).await?;
        self.drop_surplus(&codebase, environment).await?;
        match (made, known.last()) {
            (Some(checkpoint), _) => Ok(Checked { checkpoint, is_new: true }),
            (None, Some(newest)) => Ok(Checked { checkpoint: newest.checkpoint.clone(), is_new: false }),
            (None, None) => Err(anyhow::anyhow!("a first checkpoint was not made").into()),
        }
    }

    async fn undo_leased(
        &self,
        lease: &Lease,
        environment: &Environment,
        to: Option<u64>,
        by: &Actor,
    ) -> Outcome<Undone> {
        let codebase = self.codebase_of(environment).await?;
        let known = self.known_checkpoints(&codebase, environment).await?;
        let way = Way::choose(&known, to, environment)?;
        let next = next_number(&known);
        let mark = Mark::Before {
            from: way.from.as_ref().map_or(next, |from| from.checkpoint.number),
            to: way.to.checkpoint.number,
        };
        let before = self.make(lease, &codebase, environment, &known, Some(BEFORE), mark, by).await?;
        let before = before.ok_or_else(|| anyhow::anyhow!("the state before the undo was not saved"))?;
        steps::reached("state before the undo saved");
        let from = way.from.as_ref().map_or(&before.commit, |from| &from.checkpoint.commit);
        let back = way.to.checkpoint.clone();
        let rewind = Rewind { from: from.clone(), to: back.commit.clone(), now: before.commit.clone() };
        let rewound = match self.provider.rewind(lease, &codebase, environment, &rewind).await? {
            Rewinding::Done(rewound) => rewound,
            Rewinding::Refused(refusal) => {
                // It must not look like an undo that was interrupted.
                self.drop_checkpoints(&codebase, environment, &[before.number]).await?;
                return Err(refusal.into());
            }
        };
        let to = way.to.clone();
        let newest = Marked { checkpoint: before.clone(), mark, state: String::new() };
        let known = [known.as_slice(), &[newest]].concat();
        // It is done. What cannot be written down of it now costs at most an undo that finds nothing to do.
        if let Err(error) = self.conclude(lease, &codebase, environment, &known, &to, &rewound, by).await {
            tracing::warn!(environment = %environment.id, %error, "an undo could not be concluded");
        }
        Ok(Undone { to: back, before, rewound })
    }

    /// Marks where the environment is now, for further undos.
    #[expect(clippy::too_many_arguments, reason = "the end of one act, told apart from its middle")]
    async fn conclude(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        known: &[Marked],
        to: &Marked,
        rewound: &Rewound,
        by: &Actor,
    ) -> Outcome<()> {
        let number = to.checkpoint.number;
        let mark = Mark::After { at: to.position() };
        let label = format!("after undo to {number}");
        self.make(lease, codebase, environment, known, Some(&label), mark, by).await?;
        steps::reached("state after the undo saved");
        let head = rewound.head.as_ref();
        let event = NewEvent::new(self.clock.now(), by, "undone").of(environment.codebase, environment.id);
        let event = event.shas(head.and_then(|head| head.from.clone()), head.map(|head| head.to.clone()));
        self.store.record(&event.detail(format!("to checkpoint {number}"))).await?;
        self.drop_surplus(codebase, environment).await
    }

    /// What git has; the store is made to agree.
    async fn known_checkpoints(&self, codebase: &Codebase, environment: &Environment) -> Outcome<Vec<Marked>> {
        let known = self.provider.checkpoints(codebase, environment.id).await?;
        let rows = self.store.checkpoints(environment.id).await?;
        for marked in &known {
            if !rows.iter().any(|row| row.number == marked.checkpoint.number) {
                let event = self.made(environment, &marked.checkpoint, &Actor::automation());
                self.store.add_checkpoint(environment.id, &marked.checkpoint, &event).await?;
            }
        }
        let is_known = |row: &&Checkpoint| known.iter().any(|marked| marked.checkpoint.number == row.number);
        let gone: Vec<u64> = rows.iter().filter(|row| !is_known(row)).map(|row| row.number).collect();
        self.store.forget_checkpoints(environment.id, Some(&gone)).await?;
        Ok(known)
    }

    #[expect(clippy::too_many_arguments, reason = "one call for the three kinds of checkpoints there are")]
    async fn make(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        known: &[Marked],
        label: Option<&str>,
        mark: Mark,
        by: &Actor,
    ) -> Outcome<Option<Checkpoint>> {
        let (number, at) = (next_number(known), self.clock.now());
        let label = label.map(str::to_owned);
        let new = NewCheckpoint { number, at, label: label.clone(), mark, newest: known.last().cloned() };
        let made: Option<CommitSha> = self.provider.checkpoint(lease, codebase, environment, &new).await?;
        let Some(commit) = made else { return Ok(None) };
        let checkpoint = Checkpoint { number, commit, made_at: at, label };
        self.store.add_checkpoint(environment.id, &checkpoint, &self.made(environment, &checkpoint, by)).await?;
        steps::reached("checkpoint written down");
        Ok(Some(checkpoint))
    }

    fn made(&self, environment: &Environment, checkpoint: &Checkpoint, by: &Actor) -> NewEvent {
        NewEvent::new(self.clock.now(), by, "checkpoint-made")
            .of(environment.codebase, environment.id)
            .shas(None, Some(checkpoint.commit.clone()))
            .detail(checkpoint.number.to_string())
    }

    async fn drop_surplus(&self, codebase: &Codebase, environment: &Environment) -> Outcome<()> {
        let surplus = self.store.surplus_checkpoints(environment.id, KEPT).await?;
        self.drop_checkpoints(codebase, environment, &surplus).await
    }

    async fn drop_checkpoints(&self, codebase: &Codebase, environment: &Environment, numbers: &[u64]) -> Outcome<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        self.provider.forget_checkpoints(codebase, environment.id, Some(numbers)).await?;
        Ok(self.store.forget_checkpoints(environment.id, Some(numbers)).await?)
    }
}

fn next_number(known: &[Marked]) -> u64 {
    known.last().map_or(1, |newest| newest.checkpoint.number + 1)
}

fn require_live(environment: &Environment) -> Outcome<()> {
    if matches!(environment.state, State::Active | State::Failed) {
        return Ok(());
    }
    let message = format!("`{}` is {}", environment.name(), environment.state.as_str());
    Err(UserError::new(Kind::NotFound, message)
        .hint("only a live environment has a state to save or go back to")
        .into())
}

/// From which checkpoint to which.
struct Way<'a> {
    /// What is taken back: the changes up to this one. `None` takes back everything up to now.
    from: Option<&'a Marked>,
    to: &'a Marked,
}

impl<'a> Way<'a> {
    fn choose(known: &'a [Marked], to: Option<u64>, environment: &Environment) -> Outcome<Self> {
        let of = |number: u64| known.iter().find(|marked| marked.checkpoint.number == number);
        let none = |message: String, hint: &str| UserError::new(Kind::NotFound, message).hint(hint);
        let name = environment.name();
        if let Some(number) = to {
            let message = format!("`{name}` has no checkpoint {number}");
            let to = of(number).ok_or_else(|| none(message, "`hedgerow env checkpoints` lists those there are"))?;
            return Ok(Self { from: None, to });
        }
        let Some(newest) = known.last() else {
            let hint = "`hedgerow env checkpoint` makes one; it can be gone back to from then on";
            return Err(none(format!("`{name}` has no checkpoints"), hint).into());
        };
        // An undo that was interrupted is carried on.
        if let Mark::Before { from, to } = newest.mark
            && let (Some(from), Some(to)) = (of(from), of(to))
        {
            return Ok(Self { from: Some(from), to });
        }
        let (mut from, mut position) = (newest, newest.position());
        let earlier = |position| known.iter().rev().find(|marked: &&Marked| marked.checkpoint.number < position);
        let begins_a_turn = of(position).is_some_and(|at| at.checkpoint.label.as_deref() == Some(BEFORE_A_TURN));
        if begins_a_turn && let Some(between) = earlier(position) {
            (from, position) = (between, between.position());
        }
        while let Some(earlier) = earlier(position) {
            // Only an undo that was not concluded is met here; it led to where it says.
            if let Mark::Before { to, .. } = earlier.mark {
                position = earlier.checkpoint.number.min(to + 1);
                continue;
            }
            if earlier.state != from.state {
                return Ok(Self { from: Some(from), to: earlier });
            }
            position = earlier.position();
        }
        let hint = format!("`hedgerow env undo --to {}` takes back what has changed since", newest.checkpoint.number);
        Err(none(format!("`{name}` has no earlier checkpoint to go back to"), &hint).into())
    }
}
