//! What is said about issues, pull requests and people, from what GitHub says.

use hedgerow_core::Secret;
use hedgerow_core::Timestamp;
use hedgerow_core::platform::{Checks, ConversationKey, Platform as _, Reply};
use hedgerow_testkit::outside::github::{APP_KEY, GitHub as Fake, Role};
use serde_json::{Value, json};

use super::*;
use crate::github::Identity;
use crate::github::checkup::Standing;
use crate::github::client::tests::server::{Said, Server};
use crate::github::client::tests::{config, person, shop};

fn github(server: &Server) -> GitHub {
    GitHub::new(config(&server.url, person())).expect("a good configuration")
}

/// Answers by path; what is not in the table is not there.
async fn serving(table: &'static [(&'static str, u16, &'static str)]) -> Server {
    Server::start(move |seen, _| {
        let path = seen.target.split('?').next().unwrap_or_default();
        let found = table.iter().find(|(known, ..)| *known == path);
        let (_, status, body) = found.copied().unwrap_or(("", 404, "{}"));
        Said::Answer { status, headers: Vec::new(), body: body.to_owned() }
    })
    .await
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a name")
}

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// A pull request as GitHub tells it.
fn told(number: u64, state: &str, head: (&str, Option<u64>), merged_at: Option<&str>) -> Value {
    json!({
        "number": number,
        "html_url": format!("https://github.com/acme/shop/pull/{number}"),
        "title": "Add a gate",
        "state": state,
        "draft": true,
        "merged_at": merged_at,
        "created_at": "2026-05-03T10:00:00Z",
        "head": { "ref": head.0, "sha": SHA, "repo": head.1.map(|id| json!({ "id": id })) },
        "base": { "ref": "main", "sha": SHA, "repo": { "id": 1 } },
    })
}

#[tokio::test]
async fn the_state_of_a_work_is_what_github_says_now() {
    let server = serving(&[
        ("/repos/acme/shop", 200, "{}"),
        ("/repos/acme/shop/issues/1", 200, r#"{"state":"open"}"#),
        ("/repos/acme/shop/issues/2", 200, r#"{"state":"closed"}"#),
        ("/repos/acme/shop/issues/3", 200, r#"{"state":"closed","pull_request":{"merged_at":"2026-05-03T10:00:00Z"}}"#),
        ("/repos/acme/shop/issues/4", 301, "{}"),
        ("/repos/acme/shop/issues/5", 410, "{}"),
        ("/repos/acme/shop/pulls/7", 200, r#"{"number":7,"state":"open","head":{},"base":{}}"#),
        ("/repos/acme/shop/pulls/8", 200, r#"{"number":8,"state":"closed","merged":true,"head":{},"base":{}}"#),
        ("/repos/acme/shop/pulls/9", 200, r#"{"number":9,"state":"closed","merged_at":null,"head":{},"base":{}}"#),
    ])
    .await;
    let github = github(&server);
    let table = [
        (Work::Issue(1), WorkState::Open),
        (Work::Issue(2), WorkState::Closed),
        (Work::Issue(3), WorkState::Merged),
        (Work::Issue(4), WorkState::Closed),
        (Work::Issue(5), WorkState::Closed),
        (Work::Issue(6), WorkState::Closed),
        (Work::PullRequest(7), WorkState::Open),
        (Work::Review(7), WorkState::Open),
        (Work::PullRequest(8), WorkState::Merged),
        (Work::Review(9), WorkState::Closed),
        (Work::Task("a".to_owned()), WorkState::Unknown),
    ];
    for (work, expected) in table {
        assert_eq!(github.state(&shop(), &work).await.expect("an answer"), expected, "{work}");
    }
}

#[tokio::test]
async fn nothing_is_known_about_what_is_in_a_repository_that_is_not_seen() {
    for repository in [404, 301] {
        let server = Server::saying(Said::json(repository, &json!({}))).await;
        let state = github(&server).state(&shop(), &Work::Issue(1)).await.expect("an answer");
        assert_eq!(state, WorkState::Unknown, "{repository}");
    }
    let server = Server::saying(Said::json(403, &json!({ "message": "Resource not accessible" }))).await;
    let error = github(&server).state(&shop(), &Work::Issue(1)).await.expect_err("refused");
    assert!(matches!(error, PlatformError::Refused(_)));
    let server = Server::saying(Said::json(403, &json!({})).with("retry-after", &3000)).await;
    let error = github(&server).state(&shop(), &Work::Issue(1)).await.expect_err("not now");
    assert!(matches!(error, PlatformError::Transient(_)));
}

#[tokio::test]
async fn what_somebody_may_is_asked_of_that_very_person() {
    let table = [
        (json!({ "permission": "admin", "role_name": "admin", "user": { "id": 7 } }), Permission::Admin),
        (json!({ "permission": "write", "role_name": "maintain", "user": { "id": 7 } }), Permission::Write),
        (json!({ "permission": "write", "role_name": "security-team", "user": { "id": 7 } }), Permission::Write),
        (json!({ "permission": "read", "role_name": "triage", "user": { "id": 7 } }), Permission::Read),
        (json!({ "permission": "read", "role_name": "admin", "user": { "id": 7 } }), Permission::Read),
        (json!({ "role_name": "maintain", "user": { "id": 7 } }), Permission::Write),
        (json!({ "permission": "none", "user": { "id": 7 } }), Permission::None),
        (json!({ "permission": "owner", "user": { "id": 7 } }), Permission::None),
        (json!({ "permission": "admin", "user": { "id": 8 } }), Permission::None),
        (json!({ "permission": "admin", "user": null }), Permission::None),
        (json!({ "permission": "admin" }), Permission::None),
    ];
    let author = Author { id: "7".to_owned(), name: "al/ice".to_owned() };
    for (answer, expected) in table {
        let server = Server::saying(Said::json(200, &answer)).await;
        let permission = github(&server).permission(&shop(), &author).await.expect("an answer");
        assert_eq!(permission, expected, "{answer}");
        assert_eq!(server.seen()[0].target, "/repos/acme/shop/collaborators/al%2Fice/permission");
    }
    let server = Server::saying(Said::json(404, &json!({}))).await;
    assert_eq!(github(&server).permission(&shop(), &author).await.expect("an answer"), Permission::None);
    let server = Server::saying(Said::json(403, &json!({ "message": "Must have push access" }))).await;
    assert!(github(&server).permission(&shop(), &author).await.is_err());
}

/// Answers with one pull request, and with how its checks stand.
async fn with_pull(pull: Value, checks: Value) -> Server {
    Server::start(move |seen, _| match seen.target.as_str() {
        "/graphql" => Said::json(200, &checks),
        "/repos/acme/shop/pulls/99" => Said::json(200, &pull),
        _ => Said::json(404, &json!({})),
    })
    .await
}

fn checks(state: &str) -> Value {
    let commits = json!({ "nodes": [{ "commit": { "statusCheckRollup": { "state": state } } }] });
    json!({ "data": { "repository": { "pullRequest": { "commits": commits } } } })
}

#[tokio::test]
async fn a_pull_request_is_told_whole() {
    let server = with_pull(told(99, "open", ("issue-42", Some(1)), None), checks("FAILURE")).await;
    let found = github(&server).pull_request(&shop(), 99).await.expect("an answer").expect("one");
    let expected = PullRequest {
        number: 99,
        url: "https://github.com/acme/shop/pull/99".to_owned(),
        title: "Add a gate".to_owned(),
        state: WorkState::Open,
        is_draft: true,
        head_branch: Some(branch("issue-42")),
        head: Some(hedgerow_core::CommitSha::parse(SHA).expect("a sha")),
        is_fork: false,
        base_branch: Some(branch("main")),
        checks: Some(Checks::Failing),
        created_at: Some(Timestamp::from_millis(1_777_802_400_000)),
    };
    assert_eq!(found, expected);
    let asked = server.seen().last().expect("a request").json();
    assert_eq!(asked["variables"], json!({ "owner": "acme", "name": "shop", "number": 99 }));
    assert_eq!(github(&server).pull_request(&shop(), 98).await.expect("an answer"), None);
}

#[tokio::test]
async fn checks_are_what_github_adds_them_up_to() {
    let forbidden = json!({ "data": null, "errors": [{ "type": "FORBIDDEN", "message": "not accessible" }] });
    let none = json!({ "data": { "repository": { "pullRequest": { "commits": { "nodes": [] } } } } });
    let table = [
        (checks("SUCCESS"), Some(Checks::Passing)),
        (checks("ERROR"), Some(Checks::Failing)),
        (checks("PENDING"), Some(Checks::Pending)),
        (checks("EXPECTED"), Some(Checks::Pending)),
        (none, None),
        (forbidden, None),
    ];
    for (answer, expected) in table {
        let server = with_pull(told(99, "open", ("x", Some(1)), None), answer.clone()).await;
        let found = github(&server).pull_request(&shop(), 99).await.expect("an answer").expect("one");
        assert_eq!(found.checks, expected, "{answer}");
    }
    let limited = json!({ "errors": [{ "type": "RATE_LIMITED", "message": "enough" }] });
    let server = with_pull(told(99, "open", ("x", Some(1)), None), limited).await;
    assert!(matches!(github(&server).pull_request(&shop(), 99).await, Err(PlatformError::Transient(_))));
}

#[tokio::test]
async fn a_head_that_is_not_known_to_be_here_is_a_forks() {
    let merged = Some("2026-05-03T10:00:00Z");
    let table = [
        (told(99, "open", ("x", Some(1)), None), false, WorkState::Open),
        (told(99, "open", ("x", Some(2)), None), true, WorkState::Open),
        (told(99, "closed", ("x", None), None), true, WorkState::Closed),
        (told(99, "closed", ("x", Some(1)), merged), false, WorkState::Merged),
    ];
    for (answer, is_fork, state) in table {
        let server = with_pull(answer, checks("SUCCESS")).await;
        let found = github(&server).pull_request(&shop(), 99).await.expect("an answer").expect("one");
        assert_eq!((found.is_fork, found.state), (is_fork, state));
        assert_eq!(found.checks.is_some(), state == WorkState::Open, "only an open one is followed");
    }
}

#[tokio::test]
async fn the_pull_request_of_a_branch_is_one_of_the_repository_itself() {
    let all = json!([
        told(9, "open", ("fix/a&b", Some(2)), None),
        told(8, "open", ("other", Some(1)), None),
        told(7, "open", ("fix/a&b", Some(1)), None),
        told(6, "open", ("fix/a&b", Some(1)), None),
    ]);
    let server = Server::start(move |seen, _| match seen.target.as_str() {
        "/graphql" => Said::json(200, &checks("SUCCESS")),
        _ => Said::json(200, &all),
    })
    .await;
    let github = github(&server);
    let found = github.pull_request_of(&shop(), &branch("fix/a&b")).await.expect("an answer").expect("one");
    assert_eq!((found.number, found.checks), (7, Some(Checks::Passing)));
    let query = "/repos/acme/shop/pulls?state=open&sort=created&direction=desc&head=acme%3Afix%2Fa%26b&per_page=100";
    assert_eq!(server.seen()[0].target, query);
    let newest = github.newest_pull_request_of(&shop(), &branch("fix/a&b")).await.expect("an answer").expect("one");
    assert_eq!(newest.number, 7);
    assert!(server.seen().last().expect("a request").target.contains("state=all"));
    assert_eq!(github.pull_request_of(&shop(), &branch("none")).await.expect("an answer"), None);
}

fn draft() -> PullRequestDraft {
    let (title, body) = ("é".repeat(300), "Fixes #42".to_owned());
    PullRequestDraft { head: branch("issue-42"), base: branch("main"), title, body }
}

#[tokio::test]
async fn a_pull_request_is_opened() {
    let server = Server::saying(Said::json(201, &told(99, "open", ("issue-42", Some(1)), None))).await;
    let opened = github(&server).open_pull_request(&shop(), &draft()).await.expect("a new one");
    assert_eq!((opened.number, opened.state), (99, WorkState::Open));
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/repos/acme/shop/pulls"));
    let wish = json!({ "title": "é".repeat(256), "body": "Fixes #42", "head": "issue-42", "base": "main" });
    assert_eq!(seen.json(), wish);
}

#[tokio::test]
async fn a_pull_request_that_is_there_is_the_one() {
    let mut elsewhere = told(9, "open", ("issue-42", Some(1)), None);
    elsewhere["base"]["ref"] = json!("release");
    let all = json!([elsewhere, told(7, "open", ("issue-42", Some(1)), None)]);
    let refusal = json!({
        "message": "Validation Failed",
        "errors": [{ "code": "custom", "message": "A pull request already exists for acme:issue-42." }],
    });
    let server = Server::start(move |seen, _| match seen.method.as_str() {
        "POST" => Said::json(422, &refusal),
        _ => Said::json(200, &all),
    })
    .await;
    let found = github(&server).open_pull_request(&shop(), &draft()).await.expect("the one that is there");
    assert_eq!(found.number, 7);
}

#[tokio::test]
async fn githubs_reasons_against_a_pull_request_are_passed_on() {
    let refusal = json!({
        "message": "Validation Failed",
        "errors": [{ "code": "custom", "message": "No commits between main and issue-42" }],
    });
    let server = Server::saying(Said::json(422, &refusal)).await;
    let error = github(&server).open_pull_request(&shop(), &draft()).await.expect_err("refused");
    assert!(error.to_string().contains("No commits between main and issue-42"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

/// One that knows nothing yet.
fn restarted(fake: &Fake, is_app: bool) -> GitHub {
    let identity = if is_app {
        Identity::App { id: fake.app_id(), key: Secret::new(APP_KEY) }
    } else {
        Identity::Token(Secret::new(fake.token_of("hedgerow")))
    };
    GitHub::new(config(&fake.api_url(), identity)).expect("a good configuration")
}

#[tokio::test]
async fn what_goes_by_an_old_name_goes_on_after_a_restart() {
    for is_app in [false, true] {
        let fake = Fake::start().await;
        let place = fake.repository("acme/shop").with("hedgerow", Role::Write).with("alice", Role::Write);
        let attic = fake.repository("acme/attic");
        let issue = place.issue(1).opened_by("alice").await;
        let gone = place.issue(2).opened_by("alice").await;
        gone.transferred_to("alice", &attic).await;
        place.pull_request(9).by("hedgerow").await;
        place.renamed_to("alice", "Umbrella/store").await;

        let github = restarted(&fake, is_app);
        let state = async |work| github.state(&shop(), &work).await.expect("an answer");
        assert_eq!(state(Work::Issue(1)).await, WorkState::Open);
        assert_eq!(state(Work::Issue(2)).await, WorkState::Closed, "it is in another place now");
        assert_eq!(state(Work::Issue(77)).await, WorkState::Closed);
        let found = github.pull_request(&shop(), 9).await.expect("an answer").expect("one");
        let head = found.head_branch.expect("a branch");
        let of_branch = github.pull_request_of(&shop(), &head).await.expect("an answer");
        assert_eq!(of_branch.map(|found| found.number), Some(9));
        let to = ConversationKey { platform: PlatformKind::Github, id: "acme/shop#1".to_owned() };
        github.send(&to, &Reply::new("Done.", true, "key")).await.expect("it is said");
        let again = Reply { is_repeat: true, ..Reply::new("Done.", true, "key") };
        github.send(&to, &again).await.expect("it was said");
        assert_eq!(issue.transcript().matches("Done.").count(), 1, "{}", issue.transcript());
        let moved = ConversationKey { platform: PlatformKind::Github, id: "acme/shop#2".to_owned() };
        let error = github.send(&moved, &Reply::new("Done.", true, "key")).await.expect_err("it is not there");
        assert!(error.to_string().contains("has moved"), "{error}");
    }
}

#[tokio::test]
async fn checking_up_sees_a_repository_by_its_old_name() {
    for is_app in [false, true] {
        let fake = Fake::start().await;
        let place = fake.repository("acme/shop").with("hedgerow", Role::Write);
        place.renamed_to("alice", "acme/store").await;
        let github = restarted(&fake, is_app);
        let found = github.checkup(&[shop()]).await;
        let of_shop: Vec<_> = found.iter().filter(|found| found.what == "github acme/shop").collect();
        assert!(!of_shop.is_empty(), "{found:?}");
        assert!(of_shop.iter().all(|found| found.standing != Standing::Problem), "{of_shop:?}");
    }
}
