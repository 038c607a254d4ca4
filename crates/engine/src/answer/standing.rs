//! How an issue or pull request stands on its forge, asked just before its end is acted on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::platform::{Forge, PlatformError, PullRequest, WorkState};
use hedgerow_core::{Environment, RepositoryName, Work};
use tokio::time::{sleep, timeout};

use super::close::Closing;
use crate::failure::Outcome;
use crate::forges::Hosted;
use crate::replies::messages;

/// Longest pause between two tries to ask.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// No try begins later than this after the first. Then what was told counts.
const PATIENCE: Duration = Duration::from_secs(12);
/// Longest that a forge may take for one answer.
const ONE_CALL: Duration = Duration::from_mins(1);

impl Closing {
    /// Whether it stands as was told. What the forge cannot say counts as told. `None` when the server goes down first.
    pub(super) async fn is_still_so(&self) -> Option<bool> {
        let (Some(forge), Some(repository), Some(work)) =
            (self.forge(), self.closed.repository.as_ref(), self.closed.hints.work.as_ref())
        else {
            return Some(true);
        };
        let work = as_asked(work);
        let state = match self.patiently(|| forge.state(repository, &work)).await? {
            Ok(state) => state,
            Err(error) => {
                tracing::warn!(%repository, %work, %error, "a forge cannot be asked how something stands");
                WorkState::Unknown
            }
        };
        let is_so = match state {
            WorkState::Open => self.closed.reopened,
            WorkState::Closed | WorkState::Merged => !self.closed.reopened,
            WorkState::Unknown => true,
        };
        if !is_so {
            tracing::info!(%repository, %work, "what was told is no longer so, and nothing is done");
        }
        Some(is_so)
    }

    /// Why an environment stays although nobody talks about it: another pull request that shares it is open, or may be. The
    /// outer `None` when the server goes down first.
    pub(super) async fn open_pull_request(&self, environment: &Environment, hosted: &Hosted) -> Option<Option<String>> {
        let shared = environment.works.iter().filter_map(|named| number(&named.work));
        let mut numbers: Vec<u64> = shared.chain(environment.pr.as_ref().map(|pr| pr.number)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|other| !self.is_about(hosted, *other));
        for number in numbers {
            let work = Work::PullRequest(number);
            match self.patiently(|| hosted.forge.state(&hosted.repository, &work)).await? {
                Ok(WorkState::Open) => return Some(Some(messages::pull_request_open(number))),
                Ok(WorkState::Closed | WorkState::Merged) => {}
                unknown @ (Ok(WorkState::Unknown) | Err(_)) => {
                    tracing::warn!(%work, ?unknown, "a forge does not say how a pull request that shares an environment stands");
                    return Some(Some(messages::pull_request_unknown(number)));
                }
            }
        }
        Some(None)
    }

    /// Writes down how the pull request that was closed stands, so that what is judged next knows where it was merged.
    /// `None` when the server goes down first.
    pub(super) async fn record(&self, environment: &Environment, hosted: &Hosted) -> Outcome<Option<()>> {
        let Some(number) = self.closed.hints.work.as_ref().and_then(number) else { return Ok(Some(())) };
        let is_its_own = environment.holds(&Work::PullRequest(number)) && self.is_about(hosted, number);
        // One that is still open says more than one that is not.
        let is_another = |known: &hedgerow_core::environment::PullRequestInfo| {
            known.number != number && known.state.as_deref() == Some("open")
        };
        if !is_its_own || environment.pr.as_ref().is_some_and(is_another) {
            return Ok(Some(()));
        }
        let asked = self.patiently(|| hosted.forge.pull_request(&hosted.repository, number)).await;
        let found: Option<PullRequest> = match asked {
            None => return Ok(None),
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                tracing::warn!(number, %error, "a forge cannot be asked about a pull request that was closed");
                None
            }
        };
        if let Some(found) = found {
            let engine = &self.desk.engine;
            let seen = crate::pull_requests::info(&found, environment.pr.as_ref(), engine.now());
            engine.store().see_pull_request(environment, &seen, None).await?;
        }
        Ok(Some(()))
    }

    /// Whether it is this pull request, of this repository, that was closed.
    fn is_about(&self, hosted: &Hosted, number_asked: u64) -> bool {
        let is_here = |repository: &RepositoryName| {
            *repository == hosted.repository && hosted.forge.platform() == self.closed.conversation.platform
        };
        let is_number = self.closed.hints.work.as_ref().and_then(number) == Some(number_asked);
        is_number && self.closed.repository.as_ref().is_none_or(is_here)
    }

    fn forge(&self) -> Option<&Arc<dyn Forge>> {
        self.desk.engine.settings().forges.of(self.closed.conversation.platform)
    }

    /// Asks a few times: most troubles pass. `None` when the server goes down first.
    async fn patiently<T, F>(&self, ask: impl Fn() -> F + Send) -> Option<Result<T, PlatformError>>
    where
        F: Future<Output = Result<T, PlatformError>> + Send,
    {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(250);
        loop {
            let asked = tokio::select! {
                () = self.desk.closes() => return None,
                asked = timeout(ONE_CALL, ask()) => asked,
            };
            let error = match asked {
                Ok(Err(error @ PlatformError::Transient(_))) => error,
                Ok(answer) => return Some(answer),
                Err(_) => PlatformError::Transient("it did not answer in time".to_owned()),
            };
            if Instant::now() + pause > deadline {
                return Some(Err(error));
            }
            tokio::select! {
                () = self.desk.closes() => return None,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// A forge knows no reviews, only what is reviewed.
fn as_asked(work: &Work) -> Work {
    number(work).map_or_else(|| work.clone(), Work::PullRequest)
}

/// The number of the pull request that a work is about.
const fn number(work: &Work) -> Option<u64> {
    match work {
        Work::PullRequest(number) | Work::Review(number) => Some(*number),
        _ => None,
    }
}
