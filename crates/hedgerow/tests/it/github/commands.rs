//! Commands in a conversation of a forge: each is answered once, and reaches no further than its repository.

use std::collections::BTreeSet;

use hedgerow_core::command::{COMMANDS, Parsed, parse};
use hedgerow_testkit::outside::github::{GitHubIssue, GitHubRepository, Role};

use super::town::{BOT, Town};

/// Every command of the table, as somebody would type it, and a plain ask.
pub(super) fn every_ask() -> Vec<String> {
    let commands = COMMANDS.iter().map(|help| help.example.map_or_else(|| filled(help.usage), str::to_owned));
    let commands: Vec<String> = commands.collect();
    for command in &commands {
        assert!(matches!(parse(command), Parsed::Command(_)), "{command}");
    }
    commands.into_iter().chain(["say hello".to_owned()]).collect()
}

/// A usage without what may be left out, and with something for what may not.
fn filled(usage: &str) -> String {
    let needed = usage.split(" [").next().unwrap_or(usage);
    needed.replace("<name>", "shop").replace("<folder>", ".claude/commands")
}

/// What the bot said there last, as it is written.
fn last_word(issue: &GitHubIssue) -> String {
    issue.comments().into_iter().rfind(|said| said.author == BOT).map(|said| said.text).unwrap_or_default()
}

/// Asks one thing after the other; each with its answer.
async fn answers(town: &Town, issue: &GitHubIssue, by: &str, asks: &[&str]) -> Vec<String> {
    let mut answers = Vec::new();
    for ask in asks {
        issue.says(by, &format!("@hedgerow {ask}")).await;
        town.is_quiet().await;
        answers.push(last_word(issue));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_gets_one_answer_that_tells_nothing_of_the_machine() {
    let (town, shop) = Town::opens().await;
    let fresh = shop.issue(1).opened_by("alice").await;
    let busy = shop.issue(2).opened_by("alice").await;
    let pull = shop.pull_request(3).by("alice").await;
    let fork = shop.pull_request(4).from_fork("mallory").by("mallory").await;
    // Nothing is cloned yet.
    let looks: Vec<String> = every_ask().into_iter().filter(|ask| !is_reason_to_clone(ask)).collect();
    for ask in &looks {
        fresh.says("alice", &format!("@hedgerow {ask}")).await;
    }
    town.is_quiet().await;
    assert_eq!(town.desk.rows("codebases").await.len(), 0);
    busy.says("alice", "@hedgerow write a.txt one\ncommit One\nsay Done.").await;
    town.is_quiet().await;
    for ask in every_ask() {
        for place in [&busy, &*pull, &*fork] {
            place.says("alice", &format!("@hedgerow {ask}")).await;
        }
    }
    town.is_quiet().await;

    let (heard, said) = (town.desk.rows("inbox").await, town.desk.rows("outbox").await);
    assert_eq!(heard.len(), looks.len() + 1 + 3 * every_ask().len());
    for message in &heard {
        let last = said.iter().filter(|reply| reply.get("message_id") == message.get("id") && reply["last"] == "1");
        let last: Vec<_> = last.map(|reply| &reply["state"]).collect();
        assert_eq!(last, ["sent"], "{message:?}");
        assert!(["answered", "failed"].contains(&message["outcome"].as_str()), "{message:?}");
    }
    let comments: Vec<String> = [&fresh, &busy, &*pull, &*fork]
        .iter()
        .flat_map(|place| place.comments())
        .filter(|said| said.author == BOT)
        .map(|said| said.text)
        .collect();
    // Each begins with a marker of its own.
    let firsts: BTreeSet<&str> = comments.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(firsts.len(), comments.len(), "nothing is said twice");
    let own = town.desk.folder().to_string_lossy().into_owned();
    for text in &comments {
        let tells =
            [own.as_str(), "/tmp/", "/home/", "/root", ".hedgerow/"].into_iter().find(|place| text.contains(place));
        assert_eq!(tells, None, "{text}");
    }
}

/// What says that something is to be done.
fn is_reason_to_clone(ask: &str) -> bool {
    !ask.starts_with('/') || ask.starts_with("/worktree create")
}

/// Two repositories that are both cloned, each with an environment: `issue-1` and `issue-7`.
async fn two_repositories(variables: &[(&str, &str)]) -> (Town, GitHubRepository, GitHubIssue) {
    let (town, shop) = Town::with(variables).await;
    let shop = shop.with("bob", Role::Write);
    let vault = town.github.repository("acme/vault").with("bob", Role::Write).with(BOT, Role::Write).private();
    let (here, there) = (shop.issue(1).opened_by("alice").await, vault.issue(7).opened_by("bob").await);
    here.says("alice", "@hedgerow write here.txt shop\nsay Done.").await;
    there.says("bob", "@hedgerow write there.txt vault\nsay Done.").await;
    town.is_quiet().await;
    assert_eq!(town.desk.rows("codebases").await.len(), 2);
    (town, shop, here)
}

/// Each would reach into the other repository.
const REACHES: [&str; 6] = [
    "/repos",
    "/repo vault",
    "/clone https://127.0.0.1:1/acme/vault",
    "/repo-remove vault",
    "/worktree link issue-7",
    "/worktree list",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_reaches_no_other_repository() {
    let (town, _, here) = two_repositories(&[]).await;
    let before = town.desk.rows("codebases").await;
    let said = answers(&town, &here, "alice", &REACHES).await;
    assert!(said[0].contains("`shop`") && !said[0].contains("vault"), "{}", said[0]);
    assert!(said[1].contains("has no clone `vault` here") && said[1].contains("needs an admin"), "{}", said[1]);
    assert!(said[2].contains("Only an admin may clone"), "{}", said[2]);
    assert!(said[3].contains("Only an admin may forget"), "{}", said[3]);
    assert!(said[4].contains("No worktree found for `issue-7`"), "{}", said[4]);
    assert!(said[5].contains("issue-1") && !said[5].contains("issue-7"), "{}", said[5]);
    assert_eq!(town.desk.rows("codebases").await, before);
    assert_eq!(town.works(), [(vec!["issue-1".to_owned()], "issue-1".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_may_reach_further_and_nobody_follows() {
    let (town, shop, here) = two_repositories(&[("HEDGEROW_ADMINS", "github:alice")]).await;
    let said = answers(&town, &here, "alice", &["/repo vault", "/worktree link issue-7"]).await;
    assert!(said[0].contains("vault") && !said[0].contains("needs an admin"), "{}", said[0]);
    assert!(said[1].contains("issue-7") && !said[1].contains("No worktree"), "{}", said[1]);
    // Who is no admin does not come along: what the other repository holds is not told here.
    for ask in ["/worktree list", "/worktree diff", "/status", "say hello"] {
        let said = answers(&town, &here, "bob", &[ask]).await;
        assert!(said[0].contains("works on another repository than `acme/shop`"), "{ask}: {}", said[0]);
    }
    let said = answers(&town, &here, "bob", &["/repo shop", "/worktree list"]).await;
    assert!(said[1].contains("issue-1") && !said[1].contains("issue-7"), "{}", said[1]);

    let other = shop.issue(2).opened_by("alice").await;
    let said = answers(&town, &other, "alice", &["/clone https://127.0.0.1:1/acme/tools", "/repo-remove vault"]).await;
    assert!(!said[0].contains("Only an admin"), "{}", said[0]);
    assert!(!said[1].contains("Only an admin"), "{}", said[1]);
}
