//! Sync: what is new on the base comes into an environment, without anybody's work being touched.

use hedgerow_core::environment::Actor;
use hedgerow_core::provider::{News, Note};
use hedgerow_core::{Environment, Kind, UserError};

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::store::NewEvent;

/// So many files in conflict are named.
const MOST_FILES: usize = 20;

/// What a sync did.
#[derive(Debug, Clone)]
pub struct Synced {
    pub environment: Environment,
    /// Never a conflict: that is a refusal, and nothing was changed.
    pub news: News,
    pub notes: Vec<Note>,
}

impl Engine {
    /// Brings what is new on the base into an environment. Refused when it has uncommitted changes, or when somebody
    /// would have to settle conflicts; then nothing is changed.
    pub async fn sync(&self, environment: &Environment, by: &Actor) -> Outcome<Synced> {
        let held = self.lease(environment).await?;
        let synced = match self.require_live(environment).await {
            Ok(now) => self.sync_leased(&held.lease, now, by).await,
            Err(gone) => Err(gone),
        };
        self.release(held).await?;
        synced
    }

    async fn sync_leased(&self, lease: &hedgerow_core::Lease, environment: Environment, by: &Actor) -> Outcome<Synced> {
        self.require_path(&environment).await?;
        let codebase = self.codebase_of(&environment).await?;
        let (news, notes) = self.provider.sync(lease, &codebase, &environment).await?;
        let (from, to, base_sha) = match &news {
            News::UpToDate => return Ok(Synced { environment, news, notes }),
            News::Conflicts(files) => return Err(in_conflict(&environment, files).into()),
            // It begins anew where the base is now: nothing on it is its own, so nothing of it is merged either.
            News::Forwarded { from, to } => (from.clone(), to.clone(), Some(to.clone())),
            News::Merged { from, to } => (from.clone(), to.clone(), environment.base_sha.clone()),
        };
        let now = self.clock.now();
        let environment = Environment { base_sha, last_activity_at: now, ..environment };
        let event = NewEvent::new(now, by, "environment-synced").shas(Some(from), Some(to));
        self.store.save(&environment, (environment.state, environment.generation), &event).await?;
        Ok(Synced { environment, news, notes })
    }
}

fn in_conflict(environment: &Environment, files: &[String]) -> UserError {
    let name = environment.name();
    let base = environment.base.as_ref().map_or("its base", |base| base.as_str());
    let mut named: Vec<String> =
        files.iter().take(MOST_FILES).map(|file| format!("`{}`", file.escape_debug())).collect();
    let more = files.len().saturating_sub(MOST_FILES);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    UserError::new(Kind::Protected, format!("`{name}` and `{base}` are in conflict; nothing was changed"))
        .hint(format!("in conflict: {}", named.join(", ")))
        .hint(format!("merge `{base}` in it and settle them there, or ask the agent to"))
}
