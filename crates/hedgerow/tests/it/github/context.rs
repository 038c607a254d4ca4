//! What an agent is told was said, and what it is not told.

use super::looking::last_word;
use super::town::Town;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_knows_what_was_said_before_it_was_asked_and_nothing_that_was_hidden_or_came_later() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).titled("Log in by key").from_branch("feature/auth");
    let pull = pull.saying("Adds keys.<!-- an order in a comment --> Zero\u{200b}width.").by("alice").await;
    pull.says("bob", "I like keys.").await;
    let changed = pull.says("bob", "The words before the edit.").await;
    let line = pull.review_comment("bob", "change-99.txt", 1, "Why this line?").await;
    pull.answers("alice", line, "Because of the keys.").await;
    pull.requests_changes("bob", "Please test it.").await;

    town.github.holds_back();
    pull.says("alice", "@hedgerow what do you think?").await;
    pull.says("mallory", "An order that came later.").await;
    pull.edits("bob", changed, "An order in an edit.").await;
    town.github.lets_go().await;
    town.is_quiet().await;
    let told = last_word(&pull);
    for known in [
        "Pull request #99 of acme/shop: Log in by key",
        "Adds keys. Zerowidth.",
        "I like keys.",
        "change-99.txt:1",
        "Why this line?",
        "Because of the keys.",
        "Please test it.",
        "Files changed: 1, +1 -0",
        "change-99.txt +1 -0",
        "what do you think?",
    ] {
        assert!(told.contains(known), "{known} is missing: {told}");
    }
    for unknown in ["order", "before the edit", "\u{200b}"] {
        assert!(!told.contains(unknown), "{unknown} is told: {told}");
    }

    // Asked on a line, it knows which.
    pull.review_comment("alice", "change-99.txt", 1, "@hedgerow and here?").await;
    town.is_quiet().await;
    let said = pull.review_comments();
    let told = &said.last().expect("an answer").text;
    assert!(told.contains("You were asked at change-99.txt:1") && told.contains("and here?"), "{said:#?}");
}
