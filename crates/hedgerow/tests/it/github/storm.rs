//! A storm of deliveries, twice, out of order, and the server killed in it: each is taken once and answered once.
//!
//! The figures are those of the promise. `HEDGEROW_LOAD=full` makes them; without it a tenth.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::store::Served;
use hedgerow_testkit::http::{Ask, try_ask};
use hedgerow_testkit::outside::github::{GitHubIssue, GitHubRepository};
use tokio::sync::Mutex;

use super::door::delivery;
use super::town::{BOT, Town};
use crate::load::{figure, shuffled};

const SENDERS: usize = 16;
const GLANCE: Duration = Duration::from_millis(20);
/// Longest that a storm may take to be answered.
const PATIENCE: Duration = Duration::from_mins(15);
const SERVED: Served = Served { platform: PlatformKind::Github, only: None };

/// So many issues, and so many comments for us in them that nobody was told of.
async fn asked(town: &Town, shop: &GitHubRepository, issues: u64, asks: usize) -> Vec<GitHubIssue> {
    town.github.holds_back();
    let mut all = Vec::new();
    for number in 1..=issues {
        all.push(shop.issue(number).opened_by("alice").await);
    }
    for issue in all.iter().cycle().take(asks) {
        issue.says("alice", "@hedgerow /status").await;
    }
    all
}

/// Every comment as it is delivered, and every second one once more: under its own name, or by another hook under another.
fn parcels(town: &Town) -> Vec<Ask> {
    let comments = town.github.deliveries().into_iter().filter(|one| one.event == "issue_comment");
    let mut parcels = Vec::new();
    for (number, comment) in comments.enumerate() {
        parcels.push(delivery("issue_comment", &comment.guid, comment.body.as_bytes()));
        match number % 4 {
            0 => parcels.push(delivery("issue_comment", &comment.guid, comment.body.as_bytes())),
            2 => parcels.push(delivery("issue_comment", &format!("other-{}", comment.guid), comment.body.as_bytes())),
            _ => {}
        }
    }
    shuffled(parcels.len(), 1).into_iter().map(|index| parcels[index].clone()).collect()
}

/// Hands them in from many sides at once, each until it is accepted. How long each acceptance took, shortest first.
async fn send(address: SocketAddr, parcels: Vec<Ask>, accepted: Arc<AtomicUsize>) -> Vec<Duration> {
    let parcels = Arc::new(Mutex::new(parcels));
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..SENDERS {
        let (parcels, accepted) = (Arc::clone(&parcels), Arc::clone(&accepted));
        senders.spawn(async move {
            let mut took = Vec::new();
            loop {
                let Some(parcel) = parcels.lock().await.pop() else { return took };
                loop {
                    let begun = Instant::now();
                    match try_ask(address, &parcel).await {
                        Some(answer) if [200, 202].contains(&answer.status) => {
                            took.push(begun.elapsed());
                            break;
                        }
                        Some(answer) => panic!("{answer:?}"),
                        // Nobody there, or killed in the middle.
                        None => tokio::time::sleep(GLANCE).await,
                    }
                }
                accepted.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    let mut took: Vec<Duration> = senders.join_all().await.into_iter().flatten().collect();
    took.sort();
    took
}

async fn is_answered(town: &Town) {
    let answered = async {
        while town.store.unfinished(&SERVED).await.expect("counted")
            + town.store.unsent(&SERVED).await.expect("counted")
            > 0
        {
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.expect("everything is answered in time");
}

#[expect(clippy::print_stderr, reason = "a figure to be read")]
fn tell(figure: &str) {
    eprintln!("{figure}");
}

/// What was heard, by what it is about.
async fn meanings(town: &Town) -> Vec<String> {
    town.desk.rows("inbox").await.into_iter().map(|row| row["meaning"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_deliveries_is_taken_and_answered_once_each_though_the_server_is_killed() {
    let (mut town, shop) = Town::opens().await;
    town.desk.configure("[queue]\nlimit = 20000");
    town.is_killed_and_starts_again().await;
    let asks = figure(10_000) * 2 / 3;
    let issues = asked(&town, &shop, figure(200) as u64, asks).await;
    let parcels = parcels(&town);
    let total = parcels.len();
    let accepted = Arc::new(AtomicUsize::new(0));
    let (before, after) = parcels.split_at(total / 2);

    let half = send(town.server.address(), before.to_vec(), Arc::clone(&accepted)).await;
    // Killed while it takes more, and has hardly begun to answer.
    let sending = tokio::spawn(send(town.server.address(), after.to_vec(), Arc::clone(&accepted)));
    while accepted.load(Ordering::SeqCst) < total / 2 + total / 8 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    town.is_killed_and_starts_again().await;
    sending.await.expect("all are accepted");
    let at = |share: usize| half[half.len() * share / 100];
    tell(&format!("{total} deliveries, {SENDERS} at once: accepted in p50 {:?}, p99 {:?}", at(50), at(99)));

    let heard = meanings(&town).await;
    assert_eq!(heard.len(), asks, "each once, and none lost");
    assert_eq!(heard.iter().collect::<BTreeSet<_>>().len(), asks);
    is_answered(&town).await;
    for (number, issue) in issues.iter().enumerate() {
        let own = (number..asks).step_by(issues.len()).count();
        let answers = issue.comments().iter().filter(|said| said.author == BOT).count();
        assert_eq!(answers, own, "one answer each: {}", issue.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_github_does_not_answer_deliveries_are_taken_and_wait() {
    let (mut town, shop) = Town::opens().await;
    let issues = asked(&town, &shop, 10, 40).await;
    let parcels = parcels(&town);
    town.github.fails(usize::MAX, 503);
    send(town.server.address(), parcels, Arc::default()).await;
    assert_eq!(meanings(&town).await.len(), 40);
    assert_eq!(town.store.unfinished(&SERVED).await.expect("counted"), 40, "they wait");
    town.is_killed_and_starts_again().await;
    assert_eq!(town.store.unfinished(&SERVED).await.expect("counted"), 40, "also over a death");
    town.github.recovers();
    is_answered(&town).await;
    for issue in &issues {
        assert_eq!(issue.comments().iter().filter(|said| said.author == BOT).count(), 4, "{}", issue.transcript());
    }
}
