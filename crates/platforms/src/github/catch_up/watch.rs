//! Looks at the start, and from time to time.

use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use hedgerow_core::message::Inbox;
use hedgerow_core::{RepositoryName, Timestamp};
use tokio::time::sleep;

use super::{Window, catch_up, redeliver_missed};
use crate::github::GitHub;

/// Each look goes back a little behind the last one, for lists can be late.
const OVERLAP: i64 = 10 * 60;
/// Nothing older is looked for, in seconds.
const OLDEST: i64 = 7 * 24 * 60 * 60;
/// How far back the very first look goes, in seconds.
const FIRST: i64 = 60 * 60;
/// Before a look that failed is made again, where no more are wanted.
const AGAIN: Duration = Duration::from_mins(5);

/// What a look needs to know of the house, and what it leaves there.
#[async_trait]
pub trait Diary: Send + Sync {
    /// The repositories to look at, and since when each is known here; `None` when that cannot be said now.
    async fn repositories(&self) -> Option<Vec<(RepositoryName, Timestamp)>>;
    /// How far earlier looks came, in this life or one before.
    async fn looked(&self, repository: &RepositoryName) -> Option<Looked>;
    /// Keeps the `since` of the first.
    async fn looks(&self, repository: &RepositoryName, looked: Looked);
    fn now(&self) -> Timestamp;
}

/// What all looks at a repository have covered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    /// What is older was said before anybody looked.
    pub since: Timestamp,
    pub until: Timestamp,
}

/// Looks for what was missed until `shutdown`. `last_heard` is when the last delivery of an earlier life came in.
pub async fn keep_looking(
    github: &GitHub,
    inbox: &dyn Inbox,
    diary: &dyn Diary,
    last_heard: Option<Timestamp>,
    shutdown: impl Future<Output = ()>,
) {
    let looking = async {
        let mut looks = Looks::new(last_heard, diary.now());
        loop {
            let is_known = know_us(github).await;
            let is_done = Box::pin(looks.look(github, inbox, diary)).await && is_known;
            // A look that failed is made again, whoever wants only one.
            let pause = match github.config.look_every {
                Some(pause) => pause,
                None if is_done => return,
                None => AGAIN,
            };
            sleep(pause.max(Duration::from_secs(1))).await;
        }
    };
    let (looking, shutdown) = (pin!(looking), pin!(shutdown));
    tokio::select! {
        () = looking => {}
        () = shutdown => {}
    }
}

/// Once known, a review that is asked of us by our name there is heard. `false` when another try may go better.
async fn know_us(github: &GitHub) -> bool {
    let Err(error) = github.client.who().await else { return true };
    tracing::warn!(%error, "GitHub does not say who we are there");
    !error.is_transient()
}

/// From when on is to be looked where no look is written down yet.
pub(super) struct Looks {
    first: Timestamp,
    deliveries: Timestamp,
}

impl Looks {
    pub(super) fn new(last_heard: Option<Timestamp>, now: Timestamp) -> Self {
        let first = last_heard.map_or(now.plus_seconds(-FIRST), |heard| heard.plus_seconds(-OVERLAP));
        let first = not_too_old(first.min(now), now);
        Self { first, deliveries: first }
    }

    /// One that fails does not keep the others from being looked at; it is looked at again from where it was. Whether all
    /// went well.
    pub(super) async fn look(&mut self, github: &GitHub, inbox: &dyn Inbox, diary: &dyn Diary) -> bool {
        if github.client.is_strained() {
            tracing::info!("GitHub takes few more calls; what was missed is looked for later");
            return false;
        }
        let now = diary.now();
        match redeliver_missed(github, self.deliveries).await {
            Ok(again) => {
                self.deliveries = now.plus_seconds(-OVERLAP);
                if again > 0 {
                    tracing::info!(again, "deliveries of GitHub that never arrived are asked for again");
                }
            }
            Err(error) => tracing::warn!(%error, "GitHub does not say which deliveries failed"),
        }
        let Some(repositories) = diary.repositories().await else { return false };
        let mut is_done = true;
        for (repository, known_since) in &repositories {
            let now = diary.now();
            let Looked { since, until } =
                diary.looked(repository).await.unwrap_or(Looked { since: self.first, until: self.first });
            // What was said before we were there was not for us.
            let begins = |at: Timestamp| not_too_old(at.max(known_since.plus_seconds(-OVERLAP)), now);
            let window = Window { oldest: begins(since), since: begins(until), now };
            match Box::pin(catch_up(github, inbox, repository, window)).await {
                Ok(caught_up) => {
                    let until = going_on(window.since, caught_up.until, now);
                    diary.looks(repository, Looked { since: window.oldest, until }).await;
                    if caught_up.found > 0 {
                        tracing::info!(%repository, found = caught_up.found, "what was missed on GitHub is found");
                    }
                }
                Err(error) => {
                    is_done = false;
                    tracing::warn!(%repository, %error, "it is not known what was missed on GitHub");
                }
            }
        }
        is_done
    }
}

/// Where the next look begins. One that did not reach the present goes on where it ended, and always a little further: a
/// second can hold more than a look takes.
fn going_on(since: Timestamp, until: Timestamp, now: Timestamp) -> Timestamp {
    if until < now { until.max(since.plus_seconds(1)) } else { now.plus_seconds(-OVERLAP).max(since) }
}

fn not_too_old(since: Timestamp, now: Timestamp) -> Timestamp {
    since.max(now.plus_seconds(-OLDEST))
}

#[cfg(test)]
mod tests {
    use hedgerow_core::MessageId;
    use hedgerow_core::message::{Accepted, RawEvent};
    use hedgerow_core::platform::PlatformKind;
    use serde_json::json;

    use super::*;
    use crate::github::client::tests::server::{Said, Server};
    use crate::github::client::tests::{config, person};

    /// Where there is nothing to look at.
    struct Empty;

    #[async_trait]
    impl Diary for Empty {
        async fn repositories(&self) -> Option<Vec<(RepositoryName, Timestamp)>> {
            Some(Vec::new())
        }

        async fn looked(&self, _: &RepositoryName) -> Option<Looked> {
            None
        }

        async fn looks(&self, _: &RepositoryName, _: Looked) {}

        fn now(&self) -> Timestamp {
            NOW
        }
    }

    #[async_trait]
    impl Inbox for Empty {
        async fn accept(&self, _: RawEvent) -> Accepted {
            Accepted::Duplicate(MessageId::new())
        }

        async fn knows(&self, _: PlatformKind, _: &str) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn who_we_are_is_asked_again_until_it_is_known() {
        let server = Server::start(|_, before| match before {
            0 => Said::json(403, &json!({ "message": "not now" })),
            _ => Said::json(200, &json!({ "login": "robot", "id": 7 })),
        })
        .await;
        let mut settings = config(&server.url, person());
        settings.look_every = Some(Duration::from_secs(1));
        let github = GitHub::new(settings).expect("the settings are good");
        let known = async {
            while github.client.known().is_none() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let looking = keep_looking(&github, &Empty, &Empty, None, known);
        tokio::time::timeout(Duration::from_secs(30), looking).await.expect("it is known in the end");
        assert_eq!(server.count("/user"), 2);
    }

    const NOW: Timestamp = Timestamp::from_millis(1_777_802_400_000);

    #[test]
    fn the_first_look_goes_back_to_what_was_heard_last() {
        let first = |heard| Looks::new(heard, NOW).first;
        assert_eq!(first(None), NOW.plus_seconds(-60 * 60));
        assert_eq!(first(Some(NOW.plus_seconds(-60))), NOW.plus_seconds(-60 - 10 * 60));
        assert_eq!(first(Some(NOW.plus_seconds(-30 * 24 * 60 * 60))), NOW.plus_seconds(-7 * 24 * 60 * 60));
        assert_eq!(first(Some(NOW.plus_seconds(24 * 60 * 60))), NOW);
    }

    #[test]
    fn the_next_look_goes_on_where_this_one_ended() {
        let since = NOW.plus_seconds(-60 * 60);
        assert_eq!(going_on(since, NOW, NOW), NOW.plus_seconds(-10 * 60));
        assert_eq!(going_on(since, NOW.plus_seconds(-50 * 60), NOW), NOW.plus_seconds(-50 * 60));
        assert_eq!(going_on(NOW.plus_seconds(-60), NOW, NOW), NOW.plus_seconds(-60));
        assert_eq!(going_on(since, since, NOW), since.plus_seconds(1), "it never stands still");
    }
}
