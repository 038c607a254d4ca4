//! The REST API, call by call.

use hedgerow_testkit::outside::github::{GitHub, Role};
use serde_json::json;

use crate::caller::{caller, nobody};

#[tokio::test]
async fn an_issue_is_talked_about_in_pages() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    let issue = repo.issue(42).titled("The login fails").saying("It says no.").opened_by("alice").await;
    for nth in 0..5 {
        issue.says("alice", &format!("comment {nth}")).await;
    }
    let bot = caller(&github, &github.token_of("hedgerow"));
    let shown = bot.gets("/repos/Acme/Shop/issues/42").await.json();
    assert_eq!((shown["title"].as_str(), shown["comments"].as_u64()), (Some("The login fails"), Some(5)));
    assert_eq!(shown["user"]["type"], "User");
    let page = bot.gets("/repos/acme/shop/issues/42/comments?per_page=2&page=2").await;
    let texts: Vec<_> = page.json().as_array().expect("a list").iter().map(|one| one["body"].clone()).collect();
    assert_eq!(texts, ["comment 2", "comment 3"]);
    let link = page.header("link").expect("links").to_owned();
    assert!(link.contains("page=3>; rel=\"next\"") && link.contains("page=1>; rel=\"prev\""), "{link}");
    assert!(link.starts_with(&format!("<{}", github.api_url())), "{link}");
    // Only what changed since.
    let last = &issue.comments()[4];
    let at = bot.gets(&format!("/repos/acme/shop/issues/comments/{}", last.id.0)).await.json();
    let since = at["updated_at"].as_str().expect("a time").to_owned();
    let recent = bot.gets(&format!("/repos/acme/shop/issues/comments?since={since}")).await.json();
    assert_eq!(recent.as_array().map(Vec::len), Some(1));
    // Its own it may change, and delete.
    let mine = bot.calls("POST", "/repos/acme/shop/issues/42/comments", json!({"body": "on it"})).await;
    assert_eq!(mine.status, 201);
    let path = format!("/repos/acme/shop/issues/comments/{}", mine.json()["id"]);
    let edited = bot.calls("PATCH", &path, json!({"body": "<!-- hidden -->done"})).await.json();
    assert_ne!(edited["created_at"], edited["updated_at"]);
    assert!(issue.transcript().ends_with("hedgerow: done"), "{}", issue.transcript());
    assert_eq!(caller(&github, &github.token_of("mallory")).calls("DELETE", &path, json!(null)).await.status, 403);
    assert_eq!(bot.calls("DELETE", &path, json!(null)).await.status, 204);
    assert_eq!(issue.comments().len(), 5);
}

#[tokio::test]
async fn permissions_are_those_of_the_moment() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write).with("alice", Role::Maintain);
    let bot = caller(&github, &github.token_of("hedgerow"));
    let permission = async |login: &str| {
        let answer = bot.gets(&format!("/repos/acme/shop/collaborators/{login}/permission")).await;
        (answer.status, answer.json()["permission"].clone(), answer.json()["role_name"].clone())
    };
    assert_eq!(permission("alice").await, (200, json!("write"), json!("maintain")));
    github.user_id("mallory");
    assert_eq!(permission("mallory").await, (200, json!("read"), json!("read")));
    assert_eq!(permission("nobody-at-all").await.0, 404);
    repo.gives("alice", Role::None);
    assert_eq!(permission("alice").await.1, "read");
    let repo = repo.private();
    assert_eq!(permission("alice").await.1, "none");
    assert_eq!(nobody(&github).gets("/repos/acme/shop").await.status, 404);
    assert_eq!(caller(&github, "ghp_wrong").gets("/user").await.status, 401);
    drop(repo);
}

#[tokio::test]
async fn a_pull_request_is_opened_once_and_only_for_something() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    repo.issue(42).opened_by("alice").await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    let wish = |head: &str| json!({"title": "Fix the login", "body": "Fixes #42", "head": head, "base": "main"});
    let missing = bot.calls("POST", "/repos/acme/shop/pulls", wish("issue-42")).await;
    assert_eq!((missing.status, missing.json()["errors"][0]["field"].as_str()), (422, Some("head")));
    let main = repo.rev("main").expect("main");
    repo.moves_branch("hedgerow", "issue-42", &main).await;
    let empty = bot.calls("POST", "/repos/acme/shop/pulls", wish("issue-42")).await;
    assert_eq!(empty.json()["errors"][0]["message"], "No commits between main and issue-42");
    let head = repo.commits("hedgerow", "issue-42", "login.txt", "yes\n").await;
    let opened = bot.calls("POST", "/repos/acme/shop/pulls", wish("acme:issue-42")).await;
    assert_eq!((opened.status, opened.json()["number"].as_u64()), (201, Some(43)));
    assert_eq!(opened.json()["head"]["sha"], head.as_str());
    let again = bot.calls("POST", "/repos/acme/shop/pulls", wish("issue-42")).await;
    assert_eq!(again.json()["errors"][0]["message"], "A pull request already exists for acme:issue-42.");
    let found = bot.gets("/repos/acme/shop/pulls?head=acme%3Aissue-42&state=open").await.json();
    assert_eq!(found[0]["number"], 43);
    assert_eq!(bot.gets("/repos/acme/shop/pulls?head=acme:other").await.json(), json!([]));
    let files = bot.gets("/repos/acme/shop/pulls/43/files").await.json();
    assert_eq!((files[0]["filename"].as_str(), files[0]["additions"].as_u64()), (Some("login.txt"), Some(1)));
    assert!(files[0]["patch"].as_str().is_some_and(|patch| patch.ends_with("+yes")), "{files}");
    assert_eq!(bot.gets("/repos/acme/shop/pulls/43/commits").await.json()[0]["sha"], head.as_str());
}

#[tokio::test]
async fn what_moved_or_went_says_so() {
    let github = GitHub::start().await;
    let (shop, attic) = (github.repository("acme/shop").with("hedgerow", Role::Write), github.repository("acme/attic"));
    let moved = shop.issue(1).opened_by("alice").await;
    let deleted = shop.issue(2).opened_by("alice").await;
    let locked = shop.issue(3).opened_by("alice").await;
    let there = moved.transferred_to("alice", &attic).await;
    deleted.deleted_by("alice").await;
    locked.locked_by("alice").await;
    let stranger = caller(&github, &github.token_of("mallory"));
    let answer = stranger.gets("/repos/acme/shop/issues/1").await;
    assert_eq!(answer.status, 301);
    let path = answer.header("location").expect("where it is").replace(&github.api_url(), "");
    assert_eq!(stranger.gets(&path).await.json()["number"], there.number());
    assert_eq!(stranger.gets("/repos/acme/shop/issues/2").await.status, 410);
    let words = json!({"body": "hello"});
    assert_eq!(stranger.calls("POST", "/repos/acme/shop/issues/3/comments", words.clone()).await.status, 403);
    let bot = caller(&github, &github.token_of("hedgerow"));
    assert_eq!(bot.calls("POST", "/repos/acme/shop/issues/3/comments", words).await.status, 201);
    shop.renamed_to("alice", "acme/store").await;
    let answer = bot.gets("/repos/acme/shop/issues?state=all&since=2020-01-01T00:00:00Z").await;
    assert_eq!(answer.status, 301);
    let path = answer.header("location").expect("where it is").replace(&github.api_url(), "");
    assert!(path.ends_with("/issues?state=all&since=2020-01-01T00:00:00Z"), "{path}");
    assert_eq!(bot.gets(&path).await.json()[0]["number"], 3);
}

#[tokio::test]
async fn answers_stand_in_their_thread() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    let pull = repo.pull_request(9).by("bob").await;
    let first = pull.review_comment("alice", "change-9.txt", 1, "why?").await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    let path = format!("/repos/acme/shop/pulls/9/comments/{}/replies", first.0);
    let answer = bot.calls("POST", &path, json!({"body": "because"})).await;
    assert_eq!((answer.status, answer.json()["in_reply_to_id"].as_u64()), (201, Some(first.0)));
    // An answer to an answer is refused.
    let path = format!("/repos/acme/shop/pulls/9/comments/{}/replies", answer.json()["id"]);
    assert_eq!(bot.calls("POST", &path, json!({"body": "and"})).await.status, 422);
    let said: Vec<_> = pull.review_comments().into_iter().map(|said| said.text).collect();
    assert_eq!(said, ["why?", "because"]);
    let reviews = bot.gets("/repos/acme/shop/pulls/9/reviews").await.json();
    assert_eq!(reviews.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn checks_are_known_by_commit() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop");
    let pull = repo.pull_request(9).by("bob").await;
    pull.checks(None).await;
    repo.status(&pull.head(), "lint", Some("success")).await;
    let path = format!("/repos/acme/shop/commits/{}", pull.head());
    let runs = nobody(&github).gets(&format!("{path}/check-runs")).await.json();
    assert_eq!(
        (runs["total_count"].as_u64(), runs["check_runs"][0]["status"].as_str()),
        (Some(1), Some("in_progress"))
    );
    pull.checks(Some("failure")).await;
    let runs = nobody(&github).gets(&format!("{path}/check-runs")).await.json();
    assert_eq!(runs["check_runs"][0]["conclusion"], "failure");
    assert_eq!(nobody(&github).gets(&format!("{path}/status")).await.json()["state"], "success");
}

#[tokio::test]
async fn what_there_is_not_fails_the_test() {
    let github = GitHub::start().await;
    github.repository("acme/shop");
    assert_eq!(nobody(&github).gets("/repos/acme/shop/milestones").await.status, 404);
    assert_eq!(nobody(&github).calls("DELETE", "/repos/acme/shop", json!(null)).await.status, 404);
    // A thing that is missing is no mistake.
    assert_eq!(nobody(&github).gets("/repos/acme/other").await.status, 404);
    assert_eq!(github.faults().len(), 2);
    let outcome = std::thread::spawn(move || drop(github)).join();
    assert!(outcome.is_err());
}
