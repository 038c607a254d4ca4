//! Who may ask, as it is set and as GitHub says at that moment.

use std::time::Duration;

use hedgerow_testkit::outside::github::{GitHubIssue, Role, Trouble};

use super::town::{BOT, Town};

/// What the bot said there, without its markers.
fn said(issue: &GitHubIssue) -> Vec<String> {
    let own = issue.comments().into_iter().filter(|said| said.author == BOT);
    own.map(|said| said.text.split_once("-->").map_or("", |(_, text)| text).trim().to_owned()).collect()
}

fn refusals(issue: &GitHubIssue) -> usize {
    said(issue).iter().filter(|text| text.starts_with("Thank you for asking")).count()
}

/// The last lines of its answers that are like this. Before them stands what it was told.
fn answers(issue: &GitHubIssue, like: &str) -> Vec<String> {
    let last = |text: &String| text.lines().last().filter(|line| line.starts_with(like)).map(str::to_owned);
    said(issue).iter().filter_map(last).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_those_who_are_listed_may_ask_and_people_need_to_be_writers_too() {
    let (mut town, shop) = Town::opens().await;
    let shop = shop.with("bob", Role::Write).with("carol", Role::Read);
    let github = &town.github;
    let ids = [github.user_id("alice"), github.user_id("carol"), github.bot("robot")];
    github.bot("other-robot");
    town.desk.configure(&format!("[github]\nallow = [{}]", ids.map(|id| format!("\"{id}\"")).join(", ")));
    town.is_killed_and_starts_again().await;
    let issue = shop.issue(1).opened_by("alice").await;
    for who in ["alice", "bob", "carol", "robot", "other-robot", "mallory"] {
        issue.says(who, &format!("@hedgerow say I heard {who}.")).await;
    }
    town.is_quiet().await;
    let mut heard = answers(&issue, "I heard");
    // Two who speak at the same moment are heard in either order.
    heard.sort();
    assert_eq!(heard, ["I heard alice.", "I heard robot."], "{}", issue.transcript());
    // Bob, carol and mallory; the other program gets no word.
    assert_eq!(refusals(&issue), 3, "{}", issue.transcript());
    assert!(issue.transcript().contains("who are also on my list"));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_everybody_may_ask_programs_still_may_not() {
    let (town, shop) = Town::with(&[("GITHUB_ALLOW", "*")]).await;
    town.github.bot("robot");
    shop.gives("robot", Role::Write);
    let issue = shop.issue(1).opened_by("mallory").await;
    issue.says("mallory", "@hedgerow say I heard mallory.").await;
    issue.says("robot", "@hedgerow say I heard a robot.").await;
    town.is_quiet().await;
    assert_eq!(town.runs().len(), 1, "{}", issue.transcript());
    assert_eq!(answers(&issue, "I heard"), ["I heard mallory."], "{}", issue.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_taken_away_is_gone_at_once() {
    let (town, shop) = Town::opens().await;
    let issue = shop.issue(1).opened_by("alice").await;
    issue.says("alice", "@hedgerow say One.").await;
    town.is_quiet().await;
    shop.gives("alice", Role::Triage);
    issue.says("alice", "@hedgerow say Two.").await;
    issue.says("alice", "@hedgerow /worktree remove --force").await;
    issue.closes("alice").await;
    town.is_quiet().await;
    assert_eq!((town.runs().len(), refusals(&issue)), (1, 1), "{}", issue.transcript());
    assert_eq!(town.works().len(), 1, "closing is nothing to act on either");
    issue.reopens("alice").await;
    shop.gives("alice", Role::Write);
    issue.says("alice", "@hedgerow say Three.").await;
    town.is_quiet().await;
    assert_eq!(answers(&issue, "Three."), ["Three."], "{}", issue.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_over_a_login_takes_over_nothing_else() {
    let (town, shop) = Town::with(&[("HEDGEROW_ADMINS", "github:alice")]).await;
    let shop = shop.with("bob", Role::Write);
    let (issue, bobs) = (shop.issue(1).opened_by("alice").await, shop.issue(2).opened_by("bob").await);
    issue.says("alice", "@hedgerow write a.txt one\nsay Done.").await;
    bobs.says("bob", "@hedgerow write b.txt two\nsay Done.").await;
    town.is_quiet().await;
    town.github.login_passes_on("alice");
    issue.says("alice", "@hedgerow say hello").await;
    town.is_quiet().await;
    assert_eq!(refusals(&issue), 1, "the right to write did not pass on: {}", issue.transcript());
    shop.gives("alice", Role::Write);
    for ask in ["/worktree remove --force", "/worktree remove issue-2 --force", "/repo-remove shop"] {
        issue.says("alice", &format!("@hedgerow {ask}")).await;
    }
    town.is_quiet().await;
    let told = issue.transcript();
    assert!(told.contains("Only its owner (`github:alice`) or an admin may remove `issue-1`"), "{told}");
    assert!(told.contains("Only its owner (`github:bob`) or an admin may remove `issue-2`"), "{told}");
    assert!(told.contains("Only an admin may forget the codebase `shop`"), "{told}");
    assert_eq!(town.works().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_github_cannot_say_is_asked_again_and_answered_once() {
    let (town, shop) = Town::opens().await;
    let (issue, strangers) = (shop.issue(1).opened_by("alice").await, shop.issue(2).opened_by("mallory").await);
    town.github.troubles("/repos/acme/shop/collaborators", usize::MAX, Trouble::Status(502));
    issue.says("alice", "@hedgerow say One.").await;
    strangers.says("mallory", "@hedgerow say Two.").await;
    // Each is tried three times, and then prepared again.
    let asked = async {
        while town.github.asked("GET", "/repos/acme/shop/collaborators/alice") < 4 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), asked).await.expect("it is asked again");
    let spoke = |issue: &GitHubIssue| issue.comments().iter().any(|said| said.author == BOT);
    assert!(!spoke(&issue) && !spoke(&strangers) && town.runs().is_empty(), "nobody is let in, or sent away, unseen");
    town.github.recovers();
    town.is_quiet().await;
    assert_eq!(town.runs().len(), 1);
    assert_eq!(
        (answers(&issue, "One.").len(), refusals(&issue), refusals(&strangers)),
        (1, 0, 1),
        "{}",
        issue.transcript()
    );
}
