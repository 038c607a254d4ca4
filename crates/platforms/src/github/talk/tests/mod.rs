//! What people see of our talk, against a small GitHub that holds comments.

mod forum;

use std::time::Duration;

use hedgerow_core::RunId;
use hedgerow_core::platform::{
    ConversationKey, Glimpse, Live, Mark, Platform as _, PlatformError, PlatformKind, Reply,
};

use super::markers;
use crate::github::GitHub;
use crate::github::handle::Handle;
use forum::{Forum, Place, Trouble};

/// A run is shown at once.
const NOW: Duration = Duration::ZERO;
/// No run takes so long here.
const LATER: Duration = Duration::from_mins(10);

fn conversation(id: &str) -> ConversationKey {
    ConversationKey { platform: PlatformKind::Github, id: id.to_owned() }
}

fn here() -> ConversationKey {
    conversation("acme/shop#42")
}

fn of_run(run: RunId, text: &str, key: &str) -> Reply {
    Reply { run: Some(run), ..Reply::new(text, true, key) }
}

fn again(reply: &Reply) -> Reply {
    Reply { is_repeat: true, ..reply.clone() }
}

async fn show(github: &GitHub, run: RunId, what: Glimpse) {
    github.show(&here(), &Live { run, what }).await;
}

fn tool(line: &str) -> Glimpse {
    Glimpse::Tool(line.to_owned())
}

/// A run that is shown, with its live comment written.
async fn shown(forum: &Forum, github: &GitHub) -> RunId {
    let run = RunId::new();
    show(github, run, Glimpse::Started).await;
    show(github, run, tool("Bash: cargo test")).await;
    let is_there = |body: &&str| body.starts_with(&markers::of_run(run)) && body.contains("Bash: cargo test");
    forum.until("the live comment", |world| world.ours().iter().any(is_there)).await;
    run
}

#[tokio::test]
async fn an_answer_is_one_comment_and_asks_github_nothing_else() {
    let forum = Forum::open().await;
    let github = forum.github(LATER);
    let run = RunId::new();
    show(&github, run, Glimpse::Started).await;
    show(&github, run, tool("Bash: ls")).await;
    // Time enough for a live comment, were there to be one.
    let handle =
        Handle { node: "IC_1".to_owned(), review_comment: None, repository: "acme/shop".to_owned(), number: 42 };
    for _ in 0..5 {
        github.mark(&handle.to_text(), Mark::Working).await;
    }
    show(&github, run, Glimpse::Ended).await;
    github.send(&here(), &of_run(run, "Done, @alice.", "1")).await.expect("it is sent");
    let expected = format!("{}{}Done, @\u{200b}alice.", markers::of_run(run), markers::of_reply("1"));
    assert_eq!(forum.world().ours(), [expected]);
    github.send(&here(), &Reply::new("A notice.", false, "2")).await.expect("it is sent");
    assert_eq!(forum.world().ours()[1], format!("{}A notice.", markers::of_reply("2")));
    let calls = forum.world().calls.clone();
    let others: Vec<_> = calls.iter().filter(|call| *call != "react IC_1 ROCKET").collect();
    assert_eq!(others, ["POST /repos/acme/shop/issues/42/comments"; 2]);
}

#[tokio::test]
async fn a_repeat_of_what_arrived_unnoticed_is_not_said_twice() {
    let forum = Forum::open().await;
    let github = forum.github(LATER);
    let reply = Reply::new("Once.", true, "1");
    // Somebody quotes what they saw in the source of another comment.
    for key in ["1", "2"] {
        forum.world().add(&markers::of_reply(key), false, Place::Issue);
    }
    forum.world().trouble = Some(Trouble::LostAnswer);
    let failed = github.send(&here(), &reply).await;
    assert!(matches!(failed, Err(PlatformError::Transient(_))), "{failed:?}");
    for _ in 0..150 {
        forum.world().add("Meanwhile.", false, Place::Issue);
    }
    for process in [&github, &forum.github(LATER)] {
        process.send(&here(), &again(&reply)).await.expect("it is there");
    }
    assert_eq!(forum.world().ours().len(), 1);
    let other = again(&Reply::new("Another.", true, "2"));
    github.send(&here(), &other).await.expect("what did not arrive is sent");
    assert_eq!(forum.world().ours().len(), 2);
}

#[tokio::test]
async fn what_may_have_been_said_waits_until_that_is_known() {
    let forum = Forum::open().await;
    let github = forum.github(LATER);
    let reply = Reply::new("Once.", true, "1");
    github.send(&here(), &reply).await.expect("it is said");
    for trouble in [Trouble::LeftOut, Trouble::Forbidden] {
        forum.world().trouble = Some(trouble);
        let failed = github.send(&here(), &again(&reply)).await;
        assert!(matches!(failed, Err(PlatformError::Transient(_))), "{trouble:?}: {failed:?}");
    }
    github.send(&here(), &again(&reply)).await.expect("it is there");
    assert_eq!(forum.world().ours().len(), 1);
}

#[tokio::test]
async fn a_live_comment_becomes_the_answer_and_later_parts_are_comments_of_their_own() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let run = shown(&forum, &github).await;
    show(&github, run, tool("Bash: cargo fmt")).await;
    forum.until("the edit", |world| world.ours()[0].contains("cargo fmt")).await;
    assert!(forum.world().ours()[0].contains("`@hedgerow /stop`"));
    show(&github, run, Glimpse::Ended).await;
    let first = Reply { last: false, ..of_run(run, "Part one.", "1") };
    github.send(&here(), &first).await.expect("it is sent");
    github.send(&here(), &of_run(run, "Part two.", "2")).await.expect("it is sent");
    github.send(&here(), &again(&first)).await.expect("it is there");
    show(&github, run, tool("too late")).await;
    let run = markers::of_run(run);
    let expected = ["1", "2"].map(markers::of_reply).map(|reply| format!("{run}{reply}"));
    let expected = [format!("{}Part one.", expected[0]), format!("{}Part two.", expected[1])];
    assert_eq!(forum.world().ours(), expected);
    assert_eq!(forum.world().count("comments"), 0, "who knows need not look");
}

#[tokio::test]
async fn after_a_restart_the_live_comment_is_found_and_becomes_the_notice() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let run = shown(&forum, &github).await;
    drop(github);
    forum.world().add(&format!("{}A forgery.", markers::of_run(run)), false, Place::Issue);
    let github = forum.github(NOW);
    let notice = of_run(run, "I was interrupted.", "1");
    github.send(&here(), &notice).await.expect("it is sent");
    github.send(&here(), &again(&notice)).await.expect("it is there");
    let expected = format!("{}{}I was interrupted.", markers::of_run(run), markers::of_reply("1"));
    assert_eq!(forum.world().ours(), [expected]);
    github.send(&here(), &of_run(run, "And more.", "2")).await.expect("it is sent");
    assert_eq!(forum.world().ours().len(), 2, "the place was taken");
    assert_eq!(forum.world().comments[1].body, format!("{}A forgery.", markers::of_run(run)));
}

#[tokio::test]
async fn a_live_comment_that_somebody_deleted_does_not_take_the_answer_with_it() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let run = shown(&forum, &github).await;
    forum.world().comments.clear();
    show(&github, run, Glimpse::Ended).await;
    github.send(&here(), &of_run(run, "Done.", "1")).await.expect("it is sent");
    assert_eq!(forum.world().ours().len(), 1);
}

#[tokio::test]
async fn a_live_comment_that_arrived_unnoticed_becomes_the_answer() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let run = RunId::new();
    forum.world().trouble = Some(Trouble::NoAnswer);
    show(&github, run, Glimpse::Started).await;
    forum.until("the live comment", |world| world.ours().len() == 1).await;
    // Nobody waits for GitHub meanwhile.
    let glimpses = async {
        for number in 0..1_000 {
            show(&github, run, tool(&number.to_string())).await;
        }
        show(&github, run, Glimpse::Ended).await;
    };
    tokio::time::timeout(Duration::from_secs(1), glimpses).await.expect("showing takes no time");
    github.send(&here(), &of_run(run, "Done.", "1")).await.expect("it is sent");
    assert_eq!(forum.world().ours(), [format!("{}{}Done.", markers::of_run(run), markers::of_reply("1"))]);
}

#[tokio::test]
async fn a_review_comment_is_answered_in_its_thread() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let first = forum.world().add("Why?", false, Place::Thread);
    let later = forum.world().add("@hedgerow fix it", false, Place::Below(first));
    let handle = Handle {
        node: "PRRC_1".to_owned(),
        review_comment: Some(later),
        repository: "acme/shop".to_owned(),
        number: 42,
    };
    let handle = handle.to_text();
    github.mark(&handle, Mark::Seen).await;
    github.mark(&handle, Mark::Working).await;
    let run = shown(&forum, &github).await;
    show(&github, run, Glimpse::Ended).await;
    let reply = Reply { handle: Some(handle.clone()), ..of_run(run, "Fixed.", "1") };
    github.send(&here(), &reply).await.expect("it is sent");
    github.mark(&handle, Mark::Done).await;
    let ours: Vec<_> = forum.world().comments.iter().filter(|comment| comment.is_ours).cloned().collect();
    assert_eq!(ours.len(), 1);
    assert_eq!(ours[0].place, Place::Below(first));
    assert!(ours[0].body.ends_with("Fixed."));
    let marks: Vec<_> = forum.world().calls.iter().filter(|call| call.starts_with("react")).cloned().collect();
    assert_eq!(marks, ["react PRRC_1 EYES", "react PRRC_1 ROCKET", "react PRRC_1 THUMBS_UP"]);

    let restarted = forum.github(NOW);
    restarted.send(&here(), &again(&reply)).await.expect("it is there");
    let notice = Reply { handle: Some(handle.clone()), ..Reply::new("By the way.", false, "2") };
    restarted.send(&here(), &notice).await.expect("it is sent");
    assert_eq!(forum.world().comments.last().expect("it is there").place, Place::Below(first));

    forum.world().comments.clear();
    restarted.send(&here(), &Reply { idempotency_key: "3".to_owned(), ..notice }).await.expect("it is sent");
    let comments = forum.world().comments.clone();
    assert_eq!((comments.len(), comments[0].place), (1, Place::Issue), "the thread is gone, the words are not");

    // What comes next in the conversation stands in no thread.
    let plain = Handle { review_comment: None, ..Handle::read(&handle).expect("it is one") };
    restarted.mark(&handle, Mark::Working).await;
    restarted.mark(&plain.to_text(), Mark::Working).await;
    shown(&forum, &restarted).await;
    assert_eq!(forum.world().comments[1].place, Place::Issue);
}

#[tokio::test]
async fn a_limit_is_waited_for_and_the_answer_says_how_long() {
    let forum = Forum::open().await;
    let github = forum.github(NOW);
    let run = shown(&forum, &github).await;
    forum.world().trouble = Some(Trouble::Limited);
    show(&github, run, tool("Bash: sleep")).await;
    forum.until("the limit", |world| world.trouble.is_none()).await;
    let calls = forum.world().calls.len();
    for number in 0..50 {
        show(&github, run, tool(&number.to_string())).await;
        tokio::task::yield_now().await;
    }
    show(&github, run, Glimpse::Ended).await;
    let refused = github.send(&here(), &of_run(run, "Done.", "1")).await;
    let Err(PlatformError::Transient(why)) = refused else { panic!("it is too early: {refused:?}") };
    assert!(why.contains("asks to wait 5") || why.contains("asks to wait 6"), "{why}");
    assert_eq!(forum.world().calls.len(), calls, "nobody knocks at a door that has just been shut");
}

#[tokio::test]
async fn where_nothing_can_be_said_the_reason_is_told() {
    let forum = Forum::open().await;
    let github = forum.github(LATER);
    let reply = Reply::new("Hello.", true, "1");
    forum.world().trouble = Some(Trouble::Locked);
    for (place, reason) in [
        ("acme/shop#42", "the conversation on acme/shop#42 is locked"),
        ("acme/shop#7", "acme/shop#7 is gone"),
        ("acme/shop", "`acme/shop` is no issue"),
        ("../x#1", "`../x#1` is no issue"),
    ] {
        let refused = github.send(&conversation(place), &reply).await;
        let Err(PlatformError::Refused(why)) = refused else { panic!("{place}: {refused:?}") };
        assert!(why.starts_with(reason), "{why}");
    }
    let elsewhere = of_run(RunId::new(), "Hello.", "2");
    let refused = github.send(&conversation("acme/shop#7"), &elsewhere).await;
    assert!(matches!(refused, Err(PlatformError::Refused(_))), "{refused:?}");
    github.mark("not a handle", Mark::Done).await;
    assert!(forum.world().ours().is_empty());
}
