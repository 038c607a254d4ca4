//! The end of an issue or pull request, as its forge has it now: late, repeated and reordered events do no harm.

use hedgerow_core::environment::Actor;
use hedgerow_core::message::RawEvent;
use hedgerow_core::platform::{ConversationKey, PlatformKind, WorkState};
use hedgerow_core::run::MessageEnd;
use hedgerow_core::{Environment, State, Work};

use super::{SHOP, Scene, hosts, last};

const ISSUE: &str = "acme/shop#42";
const PR: &str = "acme/shop#99";

/// Alice had something done for issue 42, which is open.
async fn scene() -> (Scene, Environment) {
    let scene = Scene::begin().await;
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Open);
    scene.office.hears(scene.says("write fix.txt fix\ncommit fix\nsay fixed")).await;
    let environment = scene.environment("issue-42").await;
    (scene, environment)
}

/// The same, and bob's pull request 99 from that branch, about which he talked.
async fn shared() -> (Scene, Environment) {
    let (scene, environment) = scene().await;
    scene.board.set_pull_request(SHOP, 99, "issue-42", WorkState::Open);
    scene.board.changes(SHOP, 99, |pr| pr.head = scene.repo.rev("issue-42"));
    let said = scene.office.forge.says(PR, "bob", "say reviewed").repository(SHOP).about("pr-99");
    scene.office.hears(said.pr_branch("issue-42").linked_issues(&[42]).raw()).await;
    assert_eq!(scene.office.row(&environment).await.works.len(), 2);
    (scene, environment)
}

fn issue_closes(scene: &Scene) -> RawEvent {
    scene.office.forge.closes(ISSUE, "carol").repository(SHOP).about("issue-42").raw()
}

fn issue_reopens(scene: &Scene) -> RawEvent {
    scene.office.forge.reopens(ISSUE, "carol").repository(SHOP).about("issue-42").raw()
}

fn pr_merges(scene: &Scene) -> RawEvent {
    scene.office.forge.merges(PR, "carol").repository(SHOP).about("pr-99").raw()
}

/// The forge merges pull request 99.
fn merged(scene: &Scene) {
    scene.repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "issue-42"]);
    scene.repo.push("main");
    scene.board.set_state(SHOP, Work::PullRequest(99), WorkState::Merged);
}

async fn session(scene: &Scene) -> bool {
    let store = scene.office.engine.store();
    let key = ConversationKey { platform: PlatformKind::Github, id: ISSUE.to_owned() };
    let conversation = store.known_conversation(&key).await.expect("the store answers").expect("it talked");
    store.active_session(conversation.id).await.expect("the store answers").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closing_of_what_is_open_again_does_nothing() {
    let (scene, environment) = scene().await;
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Active);
    assert!(session(&scene).await, "the session goes on");
    assert_eq!(last(&scene.office, ISSUE), "fixed", "nothing is said");

    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
    assert!(!session(&scene).await);
    assert!(last(&scene.office, ISSUE).starts_with("Moved worktree `issue-42` to the trash: closed."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reopening_counts_when_it_is_open_now() {
    let (scene, environment) = scene().await;
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
    scene.office.hears(issue_closes(&scene)).await;
    // Closed, reopened, closed again; told late, one after the other.
    scene.office.hears(issue_reopens(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
    let told = scene.office.forge.said_in(ISSUE).len();
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.office.forge.said_in(ISSUE).len(), told, "that was said before");

    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Open);
    scene.office.hears(issue_reopens(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Active);
    assert!(last(&scene.office, ISSUE).starts_with("Restored `issue-42`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_does_not_answer_is_asked_again_and_then_what_was_told_counts() {
    let (scene, environment) = scene().await;
    // It comes back in time to say that it is open.
    scene.board.fails(2);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Active);
    assert_eq!(scene.board.asked().iter().filter(|asked| *asked == "state acme/shop issue-42").count(), 3);
    // It does not come back.
    scene.board.fails(u32::MAX);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
    scene.board.fails(0);
    scene.board.refuses(true);
    scene.office.hears(issue_reopens(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_s_closing_lets_go_of_nothing_but_what_a_fork_brought_and_their_reopening_brings_nothing_back() {
    let (scene, environment) = scene().await;
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
    let closes = scene.office.forge.closes(ISSUE, "mallory").repository(SHOP).about("issue-42");
    scene.office.hears(closes.by_a_stranger().raw()).await;
    assert_eq!(scene.state(&environment).await, State::Active);
    assert!(session(&scene).await);
    assert_eq!(last(&scene.office, ISSUE), "fixed");

    let sha = scene.repo.pull_request_from_fork(7, "theirs.txt", "theirs\n");
    let fork = scene.office.world.gets(&scene.office.asks_for_fork(&scene.codebase, 7, Some(&sha))).await.environment;
    scene.board.set_state(SHOP, Work::PullRequest(7), WorkState::Closed);
    let closes = scene.office.forge.closes("acme/shop#7", "mallory").repository(SHOP).about("pr-7").from_fork();
    scene.office.hears(closes.by_a_stranger().raw()).await;
    assert_eq!(scene.state(&fork).await, State::Trashed);
    scene.board.set_state(SHOP, Work::PullRequest(7), WorkState::Open);
    let reopens = |by| scene.office.forge.reopens("acme/shop#7", by).repository(SHOP).about("pr-7").from_fork();
    scene.office.hears(reopens("mallory").by_a_stranger().raw()).await;
    assert_eq!(scene.state(&fork).await, State::Trashed);
    scene.office.hears(reopens("carol").raw()).await;
    assert_eq!(scene.state(&fork).await, State::Active);

    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Open);
    let reopens = scene.office.forge.reopens(ISSUE, "mallory").repository(SHOP).about("issue-42");
    scene.office.hears(reopens.by_a_stranger().raw()).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_leaves_its_environment_to_an_open_pull_request_that_nobody_talked_about() {
    let (scene, environment) = shared().await;
    // As if its conversation had never been.
    let key = ConversationKey { platform: PlatformKind::Github, id: PR.to_owned() };
    let store = scene.office.engine.store();
    store.let_go_of(environment.id, Some(&key), environment.created_at).await.expect("the store answers");
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(last(&scene.office, ISSUE), "Kept worktree `issue-42`: its pull request #99 is still open.");
    assert_eq!(scene.state(&environment).await, State::Active);
    assert_eq!(store.conversations_of(environment.id).await.expect("the store answers"), [], "it let go of it");

    merged(&scene);
    scene.office.hears(pr_merges(&scene)).await;
    let row = scene.office.row(&environment).await;
    assert_eq!(row.state, State::Trashed);
    let pr = row.pr.expect("it is written down");
    assert_eq!((pr.number, pr.state.as_deref()), (99, Some("merged")));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nobody_can_say_whether_the_pull_request_is_open_the_environment_stays() {
    let (scene, environment) = shared().await;
    let key = ConversationKey { platform: PlatformKind::Github, id: PR.to_owned() };
    let store = scene.office.engine.store();
    store.let_go_of(environment.id, Some(&key), environment.created_at).await.expect("the store answers");
    scene.board.fails(u32::MAX);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(last(&scene.office, ISSUE), UNKNOWN);
    assert_eq!(scene.state(&environment).await, State::Active);
}

const UNKNOWN: &str = "Kept worktree `issue-42`: nobody could say whether its pull request #99 is still open.";

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_says_nothing_of_a_pull_request_does_not_say_that_it_ended() {
    for is_refused in [true, false] {
        let (scene, environment) = shared().await;
        let key = ConversationKey { platform: PlatformKind::Github, id: PR.to_owned() };
        let store = scene.office.engine.store();
        store.let_go_of(environment.id, Some(&key), environment.created_at).await.expect("the store answers");
        scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
        scene.board.changes(SHOP, 99, |pr| pr.state = WorkState::Unknown);
        scene.board.refuses(is_refused);
        scene.office.hears(issue_closes(&scene)).await;
        assert_eq!(last(&scene.office, ISSUE), UNKNOWN);
        assert_eq!(scene.state(&environment).await, State::Active);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn issue_and_pull_request_end_in_any_order_and_the_environment_goes_with_the_second() {
    for issue_is_first in [true, false] {
        let (scene, environment) = shared().await;
        merged(&scene);
        scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
        let (first, second) = if issue_is_first {
            (issue_closes(&scene), pr_merges(&scene))
        } else {
            (pr_merges(&scene), issue_closes(&scene))
        };
        let (kept, gone) = if issue_is_first { (ISSUE, PR) } else { (PR, ISSUE) };
        scene.office.hears(first).await;
        assert_eq!(last(&scene.office, kept), format!("Kept worktree `issue-42`: still used by github:{gone}."));
        assert_eq!(scene.state(&environment).await, State::Active);
        scene.office.hears(second).await;
        assert_eq!(scene.state(&environment).await, State::Trashed, "issue first: {issue_is_first}");
        assert!(last(&scene.office, gone).starts_with("Moved worktree `issue-42` to the trash"));
        assert_eq!(scene.repo.branches(), ["main"], "all of it is in the base");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_one_of_the_two_ends_is_never_told_the_next_cleanup_removes_what_is_merged() {
    for issue_is_told in [true, false] {
        let (scene, environment) = shared().await;
        merged(&scene);
        scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
        scene.office.hears(if issue_is_told { issue_closes(&scene) } else { pr_merges(&scene) }).await;
        assert_eq!(scene.state(&environment).await, State::Active);
        scene.office.clock.days_pass(1);
        scene.office.engine.tick(false, &Actor::automation()).await.expect("the round is done");
        assert_eq!(scene.state(&environment).await, State::Trashed, "issue told: {issue_is_told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_is_closed_unmerged_leaves_its_environment_to_the_issue() {
    let (scene, environment) = shared().await;
    scene.board.set_state(SHOP, Work::PullRequest(99), WorkState::Closed);
    scene.office.hears(scene.office.forge.closes(PR, "carol").repository(SHOP).about("pr-99").raw()).await;
    let row = scene.office.row(&environment).await;
    assert_eq!((row.state, row.pr.and_then(|pr| pr.state)), (State::Active, Some("closed".to_owned())));
    // Nothing else holds it then.
    scene.board.set_state(SHOP, Work::Issue(42), WorkState::Closed);
    scene.office.hears(issue_closes(&scene)).await;
    assert_eq!(scene.state(&environment).await, State::Trashed);
    assert_eq!(scene.repo.branches(), ["issue-42", "main"], "its commits are nowhere else");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_ends_with_the_pull_request() {
    let scene = Scene::begin().await;
    scene.repo.pull_request_from_fork(5, "theirs.txt", "theirs\n");
    let review = scene.office.environment(&scene.codebase, Work::Review(5)).await;
    let own = scene.office.environment(&scene.codebase, Work::PullRequest(5)).await;
    assert_ne!(review.id, own.id);
    scene.board.set_pull_request(SHOP, 5, "x", WorkState::Merged);
    scene.office.hears(scene.office.forge.merges("acme/shop#5", "carol").repository(SHOP).about("pr-5").raw()).await;
    assert_eq!(scene.state(&review).await, State::Trashed);
    assert_eq!(scene.state(&own).await, State::Trashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_concerns_nobody_here_is_neither_asked_about_nor_written_down() {
    let (scene, environment) = scene().await;
    hosts(&scene.office, &scene.board, "blog").await;
    let asked = scene.board.asked().len();
    // The same number in another repository, and a repository that is not here.
    for repository in ["acme/blog", "acme/wiki"] {
        let conversation = format!("{repository}#42");
        let raw = scene.office.forge.closes(&conversation, "carol").repository(repository).about("issue-42").raw();
        let id = scene.office.gets(raw).await;
        scene.office.is_idle().await;
        let store = scene.office.engine.store();
        assert_eq!(store.message_end(id).await.expect("the store answers"), Some(MessageEnd::Ignored));
        let key = ConversationKey { platform: PlatformKind::Github, id: conversation };
        assert_eq!(store.known_conversation(&key).await.expect("the store answers"), None);
    }
    assert_eq!(scene.board.asked().len(), asked);
    assert_eq!(scene.state(&environment).await, State::Active);
}
