//! Events that were heard, prepared over real sockets with a GitHub that answers from a short list.

mod server;

use std::collections::BTreeSet;

use hedgerow_core::message::DeliveryKey;
use hedgerow_core::platform::Platform as _;
use hedgerow_core::{CommitSha, Timestamp};
use serde_json::{Value, json};

use self::server::Server;
use super::*;
use crate::github::client::tests::{config, person};
use crate::github::{Allow, Config};

const AT: &str = "2026-05-03T10:00:00Z";
const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn github(server: &Server, allow: Allow) -> GitHub {
    let config = config(server.url(), person());
    GitHub::new(Config { web_url: "https://github.com".into(), allow, ..config }).expect("a GitHub")
}

fn asked(text: &str, place: Spot) -> Asked {
    Asked { text: text.into(), place, node_id: "IC_1".into(), at: AT.into(), as_reviewer: false, is_anothers: false }
}

fn heard(number: u64, is_pull_request: bool, what: What) -> Heard {
    let sender = Person { id: 7, login: "alice".into(), is_bot: false };
    Heard { repository: "acme/shop".into(), number, is_pull_request, sender, what }
}

async fn prepared(github: &GitHub, heard: &Heard) -> Result<Option<Event>, PlatformError> {
    github.prepare(&heard.raw("d".into(), "m".into(), Timestamp::from_millis(0))).await
}

async fn message(github: &GitHub, heard: &Heard) -> Message {
    match prepared(github, heard).await {
        Ok(Some(Event::Said(message))) => *message,
        other => panic!("{other:?}"),
    }
}

async fn closing(github: &GitHub, heard: &Heard) -> Closed {
    match prepared(github, heard).await {
        Ok(Some(Event::Closed(closed))) => *closed,
        other => panic!("{other:?}"),
    }
}

/// A GitHub where alice may do this.
async fn where_alice_may(permission: &str) -> Server {
    let server = Server::start().await;
    let answer = json!({"permission": permission, "user": {"id": 7, "login": "alice"}});
    server.answers("GET /repos/acme/shop/collaborators/alice/permission", 200, &answer);
    server
}

fn issue_story() -> Value {
    json!({"data": {"repository": {"issue": {
        "title": "The login fails", "body": "It says no.", "state": "OPEN", "createdAt": AT, "author": {"login": "eve"},
        "comments": {"totalCount": 0, "nodes": []}
    }}}})
}

fn issue_hints() -> Value {
    let linked = json!({"number": 99, "state": "OPEN", "isCrossRepository": false, "headRepository": {"id": "R_1"},
                        "repository": {"nameWithOwner": "acme/shop"}});
    let closed_by = json!({"nodes": [linked]});
    json!({"data": {"repository": {"issue": {"title": "The login fails", "closedByPullRequestsReferences": closed_by}}}})
}

fn pull_request(state: &str, merged_at: Option<&str>, branch: &str, head: u64) -> Value {
    json!({
        "number": 99, "title": "Fix the login", "body": "Fixes #42", "state": state, "merged_at": merged_at,
        "head": {"ref": branch, "sha": SHA, "repo": {"id": head}}, "base": {"ref": "main", "sha": SHA, "repo": {"id": 1}}
    })
}

#[tokio::test]
async fn who_may_write_is_heard_with_all_that_is_known() {
    let server = where_alice_may("write").await;
    server.answers("query IssueHints", 200, &issue_hints());
    server.answers("query IssueStory", 200, &issue_story());
    let github = github(&server, Allow::Writers);
    let message = message(&github, &heard(42, false, What::Asked(asked("fix it", Spot::Comment { id: 1 })))).await;
    assert_eq!(message.conversation, ConversationKey { platform: PlatformKind::Github, id: "acme/shop#42".into() });
    assert_eq!((message.author.id.as_str(), message.author.name.as_str()), ("7", "alice"));
    assert_eq!((message.text.as_str(), message.parent, message.codebase), ("fix it", None, None));
    assert_eq!(message.repository, "acme/shop".parse().ok());
    let hints = Hints {
        work: Some(Work::Issue(42)),
        linked_prs: vec![99],
        description: Some("The login fails".into()),
        ..Hints::default()
    };
    assert_eq!(message.hints, hints);
    assert!(message.context.is_some_and(|context| context.contains("    It says no.")));
    let handle = Handle::read(&message.handle.expect("a handle")).expect("ours");
    assert_eq!((handle.node.as_str(), handle.review_comment, handle.number), ("IC_1", None, 42));
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn who_may_not_is_refused_and_nothing_else_is_asked() {
    for permission in ["read", "none"] {
        let server = where_alice_may(permission).await;
        let github = github(&server, Allow::Writers);
        let heard = heard(42, false, What::Asked(asked("fix it", Spot::Comment { id: 1 })));
        let Ok(Some(Event::Refused(refused))) = prepared(&github, &heard).await else { panic!("not refused") };
        assert_eq!((refused.conversation.id.as_str(), refused.author.id.as_str()), ("acme/shop#42", "7"));
        assert!(refused.words.contains("write access to `acme/shop`") && refused.handle.is_some(), "{refused:?}");
        assert_eq!(server.calls(), 1);
    }
}

#[tokio::test]
async fn who_has_the_login_of_another_or_is_not_listed_is_refused() {
    let server = where_alice_may("admin").await;
    let mut heard = heard(42, false, What::Asked(asked("fix it", Spot::Comment { id: 1 })));
    heard.sender.id = 8;
    assert!(matches!(prepared(&github(&server, Allow::Writers), &heard).await, Ok(Some(Event::Refused(_)))));
    let only = Allow::Only(BTreeSet::from([7]));
    assert!(matches!(prepared(&github(&server, only), &heard).await, Ok(Some(Event::Refused(_)))));
    assert_eq!(server.calls(), 1, "who is not listed is not asked about");
}

#[tokio::test]
async fn programs_and_ourselves_are_nobody() {
    let server = Server::start().await;
    let github = github(&server, Allow::Everyone);
    for (login, is_bot) in [("helper[bot]", true), ("hedgerow", false), ("hedgerow[bot]", true)] {
        let mut heard = heard(42, false, What::Asked(asked("fix it", Spot::Comment { id: 1 })));
        heard.sender = Person { id: 9, login: login.into(), is_bot };
        assert!(matches!(prepared(&github, &heard).await, Ok(None)), "{login}");
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn an_event_waits_while_nobody_knows_who_may_ask() {
    let server = Server::start().await;
    server.answers("GET /repos/acme/shop/collaborators/alice/permission", 502, &json!({}));
    let github = github(&server, Allow::Writers);
    for what in [What::Asked(asked("fix it", Spot::Body)), What::Closed { merged: false }] {
        let outcome = prepared(&github, &heard(42, false, what)).await;
        assert!(matches!(outcome, Err(PlatformError::Transient(_))), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_command_needs_no_more_than_it_uses() {
    let server = where_alice_may("write").await;
    server.answers("query IssueHints", 200, &issue_hints());
    let github = github(&server, Allow::Writers);
    for (text, calls, links) in [("/stop", 1, vec![]), ("/worktree create", 2, vec![99])] {
        let message = message(&github, &heard(42, false, What::Asked(asked(text, Spot::Comment { id: 1 })))).await;
        assert_eq!((message.context, message.hints.work), (None, Some(Work::Issue(42))), "{text}");
        assert_eq!((server.calls(), message.hints.linked_prs), (calls, links), "{text}");
    }
}

#[tokio::test]
async fn what_is_not_known_of_an_issue_does_not_hold_it_up() {
    let server = where_alice_may("admin").await;
    server.answers("query", 200, &json!({"errors": [{"message": "no such field"}]}));
    server.answers("GET /repos/acme/shop/issues/42", 403, &json!({"message": "no"}));
    let github = github(&server, Allow::Writers);
    let message = message(&github, &heard(42, false, What::Asked(asked("", Spot::Body)))).await;
    assert_eq!(message.text, "Work on this issue.");
    assert_eq!(message.hints, Hints { work: Some(Work::Issue(42)), ..Hints::default() });
    assert_eq!(message.context, None);
}

#[tokio::test]
async fn the_least_is_read_the_other_way() {
    let server = where_alice_may("admin").await;
    server.answers("query", 200, &json!({"errors": [{"message": "no such field"}]}));
    let user = json!({"login": "eve"});
    let issue = json!({"title": "The login fails", "body": "It says no.", "state": "open", "user": user, "comments": 1,
                       "author_association": "NONE", "labels": [], "created_at": AT, "updated_at": AT});
    let comment = json!({"node_id": "IC_2", "html_url": "x", "body": "Me too.", "user": user, "author_association": "NONE",
                         "created_at": AT, "updated_at": AT});
    server.answers("GET /repos/acme/shop/issues/42", 200, &issue);
    server.answers("GET /repos/acme/shop/issues/42/comments", 200, &json!([comment]));
    let github = github(&server, Allow::Writers);
    let message = message(&github, &heard(42, false, What::Asked(asked("fix it", Spot::Comment { id: 1 })))).await;
    let context = message.context.expect("a context");
    assert!(context.contains("    It says no.") && context.contains("    Me too."), "{context}");
}

#[tokio::test]
async fn the_head_of_a_pull_request_is_read_the_other_way_or_not_guessed() {
    let server = where_alice_may("write").await;
    server.answers("query", 200, &json!({"errors": [{"message": "no such field"}]}));
    server.answers("GET /repos/acme/shop/issues/99", 404, &json!({}));
    server.answers("GET /repos/acme/shop/pulls/99", 200, &pull_request("open", None, "issue-42", 2));
    let github = github(&server, Allow::Writers);
    server.answers("GET /repos/acme/shop/pulls/comments/5", 404, &json!({}));
    let heard = heard(99, true, What::Asked(asked("Review it", Spot::ReviewComment { id: 5 })));
    let message = message(&github, &heard).await;
    let hints = Hints {
        work: Some(Work::Review(99)),
        pr_branch: BranchName::parse("issue-42").ok(),
        pr_head: CommitSha::parse(SHA).ok(),
        is_fork: true,
        linked_issues: vec![42],
        base_branch: BranchName::parse("main").ok(),
        description: Some("Fix the login".into()),
        ..Hints::default()
    };
    assert_eq!(message.hints, hints);
    assert_eq!(Handle::read(&message.handle.expect("a handle")).expect("ours").review_comment, Some(5));

    server.answers("GET /repos/acme/shop/pulls/99", 502, &json!({}));
    let outcome = prepared(&github, &heard).await;
    assert!(matches!(outcome, Err(PlatformError::Transient(_))), "{outcome:?}");
}

#[tokio::test]
async fn an_end_is_told_with_whether_who_made_it_may_ask() {
    for (permission, is_allowed) in [("write", true), ("read", false)] {
        let server = where_alice_may(permission).await;
        let github = github(&server, Allow::Writers);
        let closed = closing(&github, &heard(42, false, What::Closed { merged: false })).await;
        assert_eq!((closed.is_allowed, closed.merged, closed.reopened), (is_allowed, false, false));
        assert_eq!(closed.hints, Hints { work: Some(Work::Issue(42)), ..Hints::default() });
        assert_eq!((closed.conversation.id.as_str(), closed.repository), ("acme/shop#42", "acme/shop".parse().ok()));

        let transferred = closing(&github, &heard(42, false, What::Transferred)).await;
        assert_eq!((transferred.merged, transferred.reopened), (false, false));
        let reopened = closing(&github, &heard(42, false, What::Reopened)).await;
        assert_eq!((reopened.is_allowed, reopened.reopened), (is_allowed, true));
        let merged = closing(&github, &heard(99, true, What::Closed { merged: true })).await;
        assert_eq!((merged.is_allowed, merged.merged), (true, true), "who merged could write");
        assert_eq!(merged.hints.work, Some(Work::PullRequest(99)));
    }
}

#[tokio::test]
async fn a_program_may_close_but_not_ask() {
    let server = Server::start().await;
    let mut heard = heard(42, false, What::Closed { merged: false });
    heard.sender = Person { id: 9, login: "stale[bot]".into(), is_bot: true };
    assert!(closing(&github(&server, Allow::Writers), &heard).await.is_allowed, "an admin let it");
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn a_pull_request_of_a_stranger_comes_back_as_one() {
    let server = where_alice_may("write").await;
    server.answers("query", 200, &json!({"errors": [{"message": "no such field"}]}));
    server.answers("GET /repos/acme/shop/pulls/99", 200, &pull_request("open", None, "main", 2));
    let closed = closing(&github(&server, Allow::Writers), &heard(99, true, What::Reopened)).await;
    assert!(closed.reopened && closed.hints.is_fork, "{closed:?}");
}

#[tokio::test]
async fn a_deleted_branch_ends_the_pull_request_that_has_ended() {
    let found = |state: &str, merged_at, branch: &str, head| json!([pull_request(state, merged_at, branch, head)]);
    for (answer, expected) in [
        (found("closed", Some(AT), "a/b&c", 1), Some(true)),
        (found("closed", None, "a/b&c", 1), Some(false)),
        (found("open", None, "a/b&c", 1), None),
        (found("closed", None, "other", 1), None),
        (found("closed", None, "a/b&c", 2), None),
        (json!([]), None),
    ] {
        let server = where_alice_may("write").await;
        let path = "GET /repos/acme/shop/pulls?state=all&sort=created&direction=desc&head=acme%3Aa%2Fb%26c";
        server.answers(path, 200, &answer);
        let heard = heard(0, false, What::BranchDeleted { branch: "a/b&c".into() });
        let ended = match prepared(&github(&server, Allow::Writers), &heard).await {
            Ok(Some(Event::Closed(closed))) => {
                assert_eq!((closed.conversation.id.as_str(), closed.reopened), ("acme/shop#99", false));
                assert_eq!(closed.hints.work, Some(Work::PullRequest(99)));
                Some(closed.merged)
            }
            Ok(None) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(ended, expected, "{answer}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let server = Server::start().await;
    let github = github(&server, Allow::Everyone);
    let mut nowhere = heard(42, false, What::Reopened);
    nowhere.repository = "../..".into();
    let mut never = asked("fix it", Spot::Body);
    never.at = "soon".into();
    let delivery = DeliveryKey { id: "d".into(), meaning: None };
    let mut raw = nowhere.raw("d".into(), "m".into(), Timestamp::from_millis(0));
    raw.delivery = delivery;
    assert!(matches!(github.prepare(&raw).await, Err(PlatformError::Refused(_))));
    raw.body = "{}".into();
    assert!(matches!(github.prepare(&raw).await, Err(PlatformError::Refused(_))));
    let outcome = prepared(&github, &heard(42, false, What::Asked(never))).await;
    assert!(matches!(outcome, Err(PlatformError::Refused(_))), "{outcome:?}");
    assert_eq!(server.calls(), 0);
}

#[test]
fn who_only_calls_us_means_what_is_there() {
    for (is_pull_request, place, as_reviewer, expected) in [
        (false, Spot::Comment { id: 1 }, false, "Work on this issue."),
        (false, Spot::Body, false, "Work on this issue."),
        (true, Spot::Comment { id: 1 }, false, "Work on this pull request."),
        (true, Spot::Body, true, "Review this pull request."),
        (true, Spot::Review { id: 1 }, false, "Do what this review asks for."),
        (true, Spot::ReviewComment { id: 1 }, false, "Do what this thread of the review asks for."),
    ] {
        let asked = Asked { as_reviewer, ..asked(" \n", place) };
        assert_eq!(text(&heard(1, is_pull_request, What::Asked(asked.clone())), &asked), expected);
    }
    let asked = asked("  keep\n this ", Spot::Body);
    assert_eq!(text(&heard(1, true, What::Asked(asked.clone())), &asked), "  keep\n this ");
}
