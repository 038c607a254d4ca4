//! Pull requests are followed, and one that was merged at our head is merged, whatever the patch became on the way.

use hedgerow_core::platform::{Checks, WorkState};
use hedgerow_core::{State, Work};
use hedgerow_engine::engine::{Detail, Sweep, SweptOutcome};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::alice;

use super::{SHOP, Yard};

#[tokio::test(flavor = "multi_thread")]
async fn state_head_and_checks_are_looked_at_and_shown() {
    let yard = Yard::begin().await;
    let environment = yard.issue(42).await;
    let sha = commit(&environment.path, "a.txt", "a\n");
    yard.proposes(&environment).await;
    yard.board.changes(SHOP, 101, |pr| {
        pr.checks = Some(Checks::Failing);
        pr.title = "Better words".to_owned();
        pr.head = Some(sha.clone());
    });
    yard.world.engine.follow_pull_requests().await.expect("they are followed");
    let view = yard.world.engine.view(&yard.world.row(&environment).await, Detail::Row).await.expect("a view");
    let json = serde_json::to_value(&view).expect("it is JSON");
    assert_eq!(json["pr"]["number"], 101);
    assert_eq!(json["pr"]["title"], "Better words");
    assert_eq!(json["pr"]["state"], "open");
    assert_eq!(json["pr"]["head"], sha.as_str());
    assert_eq!(json["pr"]["checks"], "failing");
    let pr = view.pr.expect("it has one");
    assert_eq!(hedgerow_engine::replies::pull_request(&pr), "#101 open, checks failing");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_somebody_else_opened_is_followed_too_and_a_silent_forge_changes_nothing() {
    let yard = Yard::begin().await;
    yard.repo.commit_on_origin("feature", "f.txt", "f\n");
    yard.board.set_pull_request(SHOP, 99, "feature", WorkState::Open);
    let environment = yard.world.gets(&yard.world.asks_for_pr(&yard.codebase, 99, "feature")).await.environment;
    yard.board.fails(u32::MAX);
    yard.world.engine.follow_pull_requests().await.expect("nobody is stopped by it");
    assert_eq!(yard.world.row(&environment).await.pr, None);
    yard.board.fails(0);
    yard.world.engine.follow_pull_requests().await.expect("they are followed");
    let seen = yard.world.row(&environment).await.pr.expect("it is known now");
    assert_eq!((seen.number, seen.state.as_deref()), (99, Some("open")));
    let head = yard.remote("feature");
    yard.board.changes(SHOP, 99, |pr| (pr.state, pr.head) = (WorkState::Merged, head));
    yard.world.engine.follow_pull_requests().await.expect("they are followed");
    let asked = yard.board.asked();
    yard.world.engine.follow_pull_requests().await.expect("they are followed");
    assert_eq!(yard.board.asked(), asked, "a merged one stays merged");
    let events = yard.world.engine.store().events_of(environment.id).await.expect("the store answers");
    let told: Vec<&str> =
        events.iter().filter_map(|event| event.detail.as_deref()).filter(|it| it.starts_with("#99")).collect();
    assert_eq!(told, ["#99 is open", "#99 is merged"]);
}

/// The base took the work in with other words: neither trees nor patches tell.
async fn squashed_with_a_conflict(yard: &Yard) -> hedgerow_core::Environment {
    let environment = yard.issue(42).await;
    commit(&environment.path, "README.md", "mine\n");
    yard.proposes(&environment).await;
    yard.repo.commit_on_origin("main", "README.md", "theirs\n");
    yard.repo.commit_on_origin("main", "README.md", "theirs and mine\n");
    environment
}

#[tokio::test(flavor = "multi_thread")]
async fn a_squash_whose_patch_differs_is_merged_because_the_pull_request_was_merged_at_our_head() {
    let yard = Yard::begin().await;
    let environment = squashed_with_a_conflict(&yard).await;
    let swept = yard.world.engine.cleanup(&yard.codebase, Sweep::Merged, false, &alice()).await.expect("a report");
    assert_eq!(swept[0].outcome, SweptOutcome::Kept, "{swept:?}");
    let head = yard.remote("issue-42");
    yard.board.changes(SHOP, 101, |pr| (pr.state, pr.head) = (WorkState::Merged, head));
    let swept = yard.world.engine.cleanup(&yard.codebase, Sweep::Merged, false, &alice()).await.expect("a report");
    assert_eq!(swept[0].outcome, SweptOutcome::Removed, "{swept:?}");
    assert!(swept[0].because.contains("#101") || swept[0].because.contains("101"), "{swept:?}");
    assert_eq!(yard.world.row(&environment).await.state, State::Trashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_committed_after_the_merge_is_not_merged() {
    let yard = Yard::begin().await;
    let environment = squashed_with_a_conflict(&yard).await;
    let head = yard.remote("issue-42");
    yard.board.changes(SHOP, 101, |pr| (pr.state, pr.head) = (WorkState::Merged, head));
    commit(&environment.path, "later.txt", "later\n");
    let swept = yard.world.engine.cleanup(&yard.codebase, Sweep::Merged, false, &alice()).await.expect("a report");
    assert_eq!(swept[0].outcome, SweptOutcome::Kept, "{swept:?}");
    // Merged at another head than ours.
    git(&environment.path, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let other = yard.issue(43).await;
    let sha = commit(&other.path, "README.md", "other\n");
    yard.proposes(&other).await;
    let parent = git(&other.path, &["rev-parse", "HEAD~1"]);
    let parent = hedgerow_core::CommitSha::parse(&parent).expect("a commit");
    assert_ne!(parent, sha);
    yard.board.changes(SHOP, 102, |pr| (pr.state, pr.head) = (WorkState::Merged, Some(parent)));
    let swept = yard.world.engine.cleanup(&yard.codebase, Sweep::Merged, false, &alice()).await.expect("a report");
    let line = swept.iter().find(|line| line.name == "issue-43").expect("a line for it");
    assert_eq!(line.outcome, SweptOutcome::Kept, "{swept:?}");
    assert!(yard.world.row(&other).await.holds(&Work::PullRequest(102)));
}
