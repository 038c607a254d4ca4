//! What goes wrong when it is told to.

use std::time::Duration;

use hedgerow_testkit::outside::github::{GitHub, Role, Trouble};
use serde_json::json;

use crate::caller::caller;

#[tokio::test]
async fn it_fails_so_often_and_then_no_more() {
    let github = GitHub::start().await;
    github.repository("acme/shop");
    let bot = caller(&github, &github.token_of("hedgerow"));
    github.fails(2, 503);
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(bot.gets("/user").await.status);
    }
    assert_eq!(statuses, [503, 503, 200]);
    // Only below a path.
    github.troubles("/repos/acme/shop", 9, Trouble::RateLimit(Duration::from_secs(90)));
    assert_eq!(bot.gets("/user").await.status, 200);
    let limited = bot.gets("/repos/acme/shop").await;
    assert_eq!((limited.status, limited.header("x-ratelimit-remaining")), (403, Some("0")));
    let reset: i64 = limited.header("x-ratelimit-reset").and_then(|text| text.parse().ok()).expect("a time");
    assert!((85..=95).contains(&(reset - github.now())));
    github.recovers();
    github.troubles("/repos/acme/shop", 1, Trouble::SecondaryLimit(Duration::from_secs(7)));
    assert_eq!(bot.gets("/repos/acme/shop").await.header("retry-after"), Some("7"));
    assert_eq!(bot.gets("/repos/acme/shop").await.status, 200);
    assert_eq!(github.asked("GET", "/repos/acme/shop"), 3);
}

#[tokio::test]
async fn a_query_is_refused_with_a_good_status() {
    let github = GitHub::start().await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    github.troubles("/graphql", 1, Trouble::QueryLimit(Duration::from_secs(90)));
    github.troubles("/graphql", 1, Trouble::QueryFails);
    let query = json!({"query": "query { viewer { login } }"});
    let limited = bot.calls("POST", "/graphql", query.clone()).await;
    assert_eq!((limited.status, limited.header("x-ratelimit-remaining")), (200, Some("0")));
    assert_eq!(limited.json()["errors"][0]["code"], "graphql_rate_limit");
    let failed = bot.calls("POST", "/graphql", query.clone()).await;
    assert_eq!((failed.status, failed.json()["data"].is_null()), (200, true));
    assert_eq!(bot.calls("POST", "/graphql", query).await.json()["data"]["viewer"]["login"], "hedgerow");
}

#[tokio::test]
async fn an_answer_is_lost_with_or_without_the_deed() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    let issue = repo.issue(1).opened_by("alice").await;
    let bot = caller(&github, &github.token_of("hedgerow"));
    let path = "/repos/acme/shop/issues/1/comments";
    github.troubles(path, 1, Trouble::Drops);
    github.troubles(path, 1, Trouble::DoesAndDrops);
    assert!(bot.tries("POST", path, json!({"body": "one"})).await.is_none());
    assert!(issue.comments().is_empty());
    assert!(bot.tries("POST", path, json!({"body": "two"})).await.is_none());
    assert_eq!(issue.transcript(), "hedgerow: two");
    github.troubles(path, 1, Trouble::Hangs);
    let hangs = tokio::time::timeout(Duration::from_millis(100), bot.gets(path)).await;
    assert!(hangs.is_err());
    assert_eq!(bot.gets(path).await.status, 200);
}
