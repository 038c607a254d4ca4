//! What is seen while a run works: one comment that becomes the answer, reactions, threads of a review.

use std::fs;

use super::town::{BOT, Town};
use super::work::{Work, is_said_once, said_by_us, shown, times_said};

/// What a run shows after a while.
const WORKING: &str = "**Working…**";

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_shows_itself_in_the_comment_that_becomes_its_answer() {
    let (town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let go = town.desk.folder().join("go");
    let asks = format!("@hedgerow tool Reads the login\nwait-for {}\nsay Mended.", go.display());
    let asked = work.issue.says("alice", &asks).await;
    town.until("it shows itself", |_| times_said(&work.issue, WORKING) == 1).await;
    assert_eq!(work.issue.reactions_of(asked), ["eyes", "rocket"]);
    let live = work.issue.comments().pop().expect("a comment");
    assert!(live.text.contains("Reads the login"), "{}", live.text);
    let count = work.issue.comments().len();

    fs::write(go, "").expect("it can be written");
    town.is_quiet().await;
    town.until("it is marked", |_| work.issue.reactions_of(asked).len() == 3).await;
    assert_eq!(work.issue.reactions_of(asked), ["eyes", "rocket", "+1"]);
    let answer = work.issue.comments().pop().expect("a comment");
    assert_eq!((answer.id, shown(&answer.text).as_str()), (live.id, "Mended."));
    assert_eq!(work.issue.comments().len(), count);
    is_said_once(&town, &work.issue).await;

    let asked = work.issue.says("alice", "@hedgerow fail on purpose").await;
    town.is_quiet().await;
    town.until("it is marked", |_| work.issue.reactions_of(asked).len() == 3).await;
    assert_eq!(work.issue.reactions_of(asked), ["eyes", "rocket", "confused"]);
    assert_eq!(times_said(&work.issue, WORKING), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_server_showed_becomes_the_notice() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let never = town.desk.folder().join("never");
    let asks = format!("@hedgerow write login.txt half\nwait-for {}", never.display());
    let asked = work.issue.says("alice", &asks).await;
    town.until("it shows itself", |_| times_said(&work.issue, WORKING) == 1).await;
    let live = work.issue.comments().pop().expect("a comment");
    let count = work.issue.comments().len();

    town.is_killed_and_starts_again().await;
    town.is_quiet().await;
    let notice = work.issue.comments().pop().expect("a comment");
    assert_eq!(notice.id, live.id);
    assert!(shown(&notice.text).starts_with("Interrupted: the server stopped"), "{}", notice.text);
    assert_eq!(work.issue.comments().len(), count);
    town.until("it is marked", |_| work.issue.reactions_of(asked).len() == 3).await;
    assert_eq!(work.issue.reactions_of(asked), ["eyes", "rocket", "confused"]);
    assert_eq!(town.runs(), ["write login.txt half"]);
    is_said_once(&town, &work.issue).await;
    assert_eq!(town.environments()[0]["dirty"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_on_a_line_is_answered_in_its_thread() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(50).from_branch("feature").by("alice").await;
    let begins = pull.review_comment("alice", "change-50.txt", 1, "This is not clear.").await;
    let asked =
        pull.answers("alice", begins, "@hedgerow write change-50.txt clear\ncommit Say it\nsay Clear now.").await;
    pull.review_comment("alice", "change-50.txt", 1, "Another thread.").await;
    town.is_quiet().await;
    town.until("it is marked", |_| pull.reactions_of_review_comment(asked).len() == 3).await;
    assert_eq!(pull.reactions_of_review_comment(asked), ["eyes", "rocket", "+1"]);
    let threads: Vec<(String, String)> =
        pull.review_comments().into_iter().map(|said| (said.author, shown(&said.text))).collect();
    let answers = threads.iter().filter(|(author, text)| author == BOT && text == "Clear now.").count();
    assert_eq!(answers, 1, "{threads:#?}");
    // In the first thread, which is told first.
    assert_eq!(threads.last().map(|(_, text)| text.as_str()), Some("Another thread."), "{threads:#?}");
    assert_eq!(said_by_us(&pull).iter().filter(|said| said.contains("Clear now.")).count(), 0);
}
