//! Following pull requests: how each stands is looked at every few minutes, and before anything is judged as merged.

use std::pin::pin;
use std::time::Duration;

use hedgerow_core::environment::{Actor, PullRequestInfo};
use hedgerow_core::platform::{PlatformError, WorkState};
use hedgerow_core::{Codebase, Environment, Work};
use tokio::time::{sleep, timeout};

use super::info;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::forges::Hosted;
use crate::store::NewEvent;

const EVERY: Duration = Duration::from_mins(5);
/// Most that are looked at in one go; those that were not seen for longest come first.
const MOST: usize = 200;
/// A forge that does not answer so often in a row is left alone until the next time.
const MOST_SILENCES: usize = 3;
/// Longer than any forge takes to answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// Follows the pull requests of this machine's environments until `shutdown`. No error ends it.
pub async fn follow(engine: &Engine, shutdown: impl Future<Output = ()>) {
    let following = async {
        loop {
            if let Err(error) = engine.follow_pull_requests().await {
                tracing::error!(%error, "pull requests could not be followed");
            }
            sleep(EVERY).await;
        }
    };
    let mut following = pin!(following);
    tokio::select! {
        biased;
        () = shutdown => {}
        () = &mut following => {}
    }
}

impl Engine {
    /// Looks how each pull request of a live environment stands. One that cannot be asked never stops the rest.
    pub async fn follow_pull_requests(&self) -> Outcome<()> {
        for codebase in self.codebases().await? {
            let live = self.store.live(codebase.id).await?;
            self.follow_in(&codebase, &live).await;
        }
        Ok(())
    }

    /// The same for some environments of one codebase. What is found is in their rows.
    pub(crate) async fn follow_in(&self, codebase: &Codebase, environments: &[Environment]) {
        let Some(hosted) = self.settings.forges.of_codebase(codebase) else { return };
        if hosted.forge.is_strained() {
            tracing::info!(
                codebase = codebase.name,
                "the forge takes few more calls; its pull requests are followed later"
            );
            return;
        }
        let mut due: Vec<(&Environment, PullRequestInfo)> = environments
            .iter()
            .filter(|environment| environment.node == self.settings.node)
            .filter_map(|environment| Some((environment, of(environment)?)))
            .filter(|(_, known)| known.merged_at().is_none())
            .collect();
        due.sort_by_key(|(_, known)| known.seen_at);
        let mut silences = 0;
        for (environment, known) in due.into_iter().take(MOST) {
            match self.see(&hosted, environment, &known).await {
                Ok(()) => silences = 0,
                Err(error) => {
                    silences += 1;
                    let number = known.number;
                    tracing::warn!(environment = %environment.id, number, %error, "a pull request could not be looked at");
                }
            }
            if silences >= MOST_SILENCES {
                tracing::warn!(
                    codebase = codebase.name,
                    "the forge does not answer; its pull requests are followed later"
                );
                return;
            }
        }
    }

    async fn see(&self, hosted: &Hosted, environment: &Environment, known: &PullRequestInfo) -> anyhow::Result<()> {
        let asked = hosted.forge.pull_request(&hosted.repository, known.number);
        let answer = timeout(PATIENCE, asked)
            .await
            .unwrap_or_else(|_| Err(PlatformError::Transient("no answer in time".into())));
        let now = self.clock.now();
        let seen = match answer? {
            Some(pr) => info(&pr, Some(known), now),
            // Deleted, or moved to where we cannot see it.
            None => PullRequestInfo {
                state: WorkState::Closed.word().map(str::to_owned),
                seen_at: Some(now),
                ..known.clone()
            },
        };
        let is_news = environment.pr.is_none() || seen.state != known.state;
        let state = seen.state.as_deref().unwrap_or("in an unknown state");
        let event = NewEvent::new(now, &Actor::automation(), "pull-request-seen");
        let event = event.detail(format!("#{} is {state}", seen.number));
        self.store.see_pull_request(environment, &seen, Some(&event).filter(|_| is_news)).await?;
        Ok(())
    }
}

/// The pull request of an environment: the recorded one, else the one among its works.
fn of(environment: &Environment) -> Option<PullRequestInfo> {
    let among_works = || {
        environment.works.iter().rev().find_map(|named| match named.work {
            Work::PullRequest(number) => Some(PullRequestInfo::numbered(number)),
            _ => None,
        })
    };
    environment.pr.clone().or_else(among_works)
}
