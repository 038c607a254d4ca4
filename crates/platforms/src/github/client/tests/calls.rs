//! One call: what is sent, what is made of the answer, and when it is sent again.

use axum::http::HeaderMap;
use reqwest::StatusCode;
use serde::de::IgnoredAny;

use super::server::{Said, Server};
use super::*;
use crate::github::client::wire::Silence;

#[tokio::test]
async fn a_call_says_who_we_are_in_a_header_alone() {
    let server = Server::saying(Said::json(200, &json!({ "number": 42 }))).await;
    let answer: Value = client(&server.url, person()).get(&shop(), "/issues/42").await.expect("an answer");
    assert_eq!(answer["number"], 42);
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("GET", "/repos/acme/shop/issues/42"));
    assert_eq!(seen.header("authorization"), "Bearer ghp_of_a_person");
    assert_eq!(seen.header("accept"), "application/vnd.github+json");
    assert_eq!(seen.header("x-github-api-version"), "2022-11-28");
    assert_eq!(seen.header("user-agent"), concat!("hedgerow/", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn a_reading_call_is_made_again_when_github_fails() {
    let server = Server::start(|_, before| match before {
        0 => Said::json(502, &json!({})),
        1 => Said::Nothing,
        _ => Said::json(200, &json!("there")),
    })
    .await;
    assert_eq!(client(&server.url, person()).get::<String>(&shop(), "").await.as_deref(), Ok("there"));
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn three_failures_are_enough() {
    let server = Server::saying(Said::json(503, &json!({}))).await;
    let error = client(&server.url, person()).get::<IgnoredAny>(&shop(), "").await.expect_err("it failed");
    assert_eq!(error, CallError::transient("GitHub failed with 503"));
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn what_may_have_made_something_is_not_sent_again() {
    for said in [Said::json(502, &json!({})), Said::Nothing] {
        let server = Server::saying(said).await;
        let client = client(&server.url, person());
        let error = client.call::<IgnoredAny>(Method::POST, &shop(), "/pulls", Some(&json!({}))).await;
        assert!(error.expect_err("it failed").is_transient());
        let error = client.graphql::<IgnoredAny>(&shop(), "mutation { addReaction { id } }", json!({})).await;
        assert!(error.expect_err("it failed").is_transient());
        assert_eq!(server.seen().len(), 2);
        let error = client.graphql::<IgnoredAny>(&shop(), "query { viewer { login } }", json!({})).await;
        assert!(error.expect_err("it failed").is_transient());
        assert_eq!(server.seen().len(), 5);
    }
}

#[test]
fn what_never_left_is_sent_again_whatever_it_is() {
    let ask = |method| Ask {
        method,
        url: Url::parse("https://api.github.com/x").expect("a URL"),
        body: None,
        resource: Resource::Rest,
        repeatable: false,
    };
    let patience = Patience::default();
    let after = |outcome, attempt| verdict(&ask(Method::POST), &outcome, attempt, &patience);
    let not_connected = || Err(Silence::NotConnected("refused".to_owned()));
    assert_eq!(after(not_connected(), 1), Verdict::Again(patience.pause));
    assert_eq!(after(not_connected(), 2), Verdict::Again(patience.pause * 3));
    assert_eq!(after(not_connected(), 3), Verdict::GiveUp(CallError::transient("refused")));
    let (status, headers) = (StatusCode::BAD_GATEWAY, HeaderMap::new());
    let failed = Answer { status, headers, body: Vec::new(), led_to: None };
    assert!(matches!(after(Ok(failed), 1), Verdict::GiveUp(CallError::Transient { .. })));
}

#[tokio::test]
async fn nobody_at_home_is_worth_another_try_later() {
    let url = Server::saying(Said::Nothing).await.url.clone();
    let error = client(&url, person()).get::<IgnoredAny>(&shop(), "").await.expect_err("nobody is there");
    assert!(matches!(&error, CallError::Transient { why, .. } if why.contains("cannot be reached")), "{error}");
}

#[tokio::test]
async fn a_call_ends_even_when_github_says_nothing() {
    let server = Server::saying(Said::Never).await;
    let mut client = client(&server.url, person());
    client.patience.call = Duration::from_millis(50);
    assert!(client.get::<IgnoredAny>(&shop(), "").await.expect_err("there is no answer").is_transient());
}

#[tokio::test]
async fn each_refusal_is_told_apart() {
    let refused = |status, message: &str| CallError::Refused { status, message: message.to_owned() };
    let gone = || CallError::NotFound("/repos/acme/shop/x".to_owned());
    let table = [
        (301, CallError::Moved),
        (302, CallError::Moved),
        (307, CallError::Moved),
        (308, CallError::Moved),
        (400, refused(400, "no")),
        (401, refused(401, "no")),
        (403, refused(403, "no")),
        (404, gone()),
        (410, gone()),
        (422, refused(422, "no")),
        (451, gone()),
    ];
    for (status, expected) in table {
        let server = Server::saying(Said::json(status, &json!({ "message": "no" }))).await;
        let error = client(&server.url, person()).get::<IgnoredAny>(&shop(), "/x").await;
        assert_eq!(error.expect_err("refused"), expected, "{status}");
        assert_eq!(server.seen().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_redirect_carries_the_token_nowhere() {
    let elsewhere = Server::saying(Said::json(200, &json!({}))).await;
    let moved = Said::json(301, &json!({})).with("location", &elsewhere.url);
    let server = Server::saying(moved).await;
    let error = client(&server.url, person()).get::<IgnoredAny>(&shop(), "").await;
    assert_eq!(error.expect_err("it has moved"), CallError::Moved);
    assert!(elsewhere.seen().is_empty());
}

/// A repository that is `store` by now, with an issue 5 that went to another place where it has the same number.
async fn renamed() -> Server {
    Server::start(|seen, _| {
        let path = seen.target.split('?').next().unwrap_or_default();
        let led =
            |to: &str| Said::json(301, &json!({})).with("location", &format!("http://{}{to}", seen.header("host")));
        match path.strip_prefix("/repos/acme/shop") {
            Some(rest) => led(&format!("/repositories/7{rest}")),
            None if path == "/repos/acme/attic/issues/5" => led("/repositories/8/issues/5"),
            None if path == "/repositories/7/issues/6" => led("/repositories/8/issues/6"),
            None if path.starts_with("/repositories/7") || path == "/repos/acme/attic" => {
                Said::json(200, &json!([seen.method, seen.target, seen.body]))
            }
            None => Said::json(404, &json!({})),
        }
    })
    .await
}

#[tokio::test]
async fn a_renamed_repository_is_found_under_its_old_name() {
    let server = renamed().await;
    let client = client(&server.url, person());
    let seen = |method: &str, target: &str, body: &str| Ok(json!([method, target, body]));
    assert!(!client.was_led_on(&shop()));
    assert_eq!(client.get::<Value>(&shop(), "/pulls?a=b").await, seen("GET", "/repositories/7/pulls?a=b", ""));
    assert!(client.was_led_on(&shop()));
    assert_eq!(server.seen().len(), 2);
    assert_eq!(client.get::<Value>(&shop(), "/issues/4").await, seen("GET", "/repositories/7/issues/4", ""));
    let body = json!({ "body": "Done." });
    let made = client.call::<Value>(Method::POST, &shop(), "/issues/4/comments", Some(&body)).await;
    assert_eq!(made, seen("POST", "/repositories/7/issues/4/comments", &body.to_string()));
    assert!(server.seen().iter().all(|seen| seen.header("authorization") == "Bearer ghp_of_a_person"));
}

#[tokio::test]
async fn an_issue_that_was_transferred_has_moved_even_with_its_number() {
    let server = renamed().await;
    let client = client(&server.url, person());
    let attic = RepositoryName::new("acme", "attic").expect("a name");
    assert_eq!(client.get::<IgnoredAny>(&attic, "/issues/5").await.map(drop), Err(CallError::Moved));
    assert_eq!(server.count("/repositories/"), 0);
    assert!(!client.was_led_on(&attic));
    assert_eq!(client.get::<IgnoredAny>(&shop(), "/issues/6").await.map(drop), Err(CallError::Moved));
    assert_eq!(server.count("/repositories/8"), 0, "one redirect is enough");
}

#[tokio::test]
async fn an_answer_without_a_body_reads_as_nothing() {
    let said = Said::Answer { status: 204, headers: Vec::new(), body: String::new() };
    let server = Server::saying(said).await;
    let done: Result<(), _> = client(&server.url, person()).call(Method::DELETE, &shop(), "/x", None::<&Value>).await;
    assert_eq!(done, Ok(()));
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let body = format!("\"{}\"", "x".repeat(33 * 1024 * 1024));
    let server = Server::saying(Said::Answer { status: 200, headers: Vec::new(), body }).await;
    let error = client(&server.url, person()).get::<String>(&shop(), "").await.expect_err("too long");
    assert_eq!(error, CallError::Refused { status: 200, message: "the answer is too long to read".to_owned() });
}

#[tokio::test]
async fn a_page_of_the_longest_comments_there_can_be_is_read() {
    let comment = "\u{1f333}".repeat(65_536);
    let server = Server::saying(Said::json(200, &json!(vec![comment.as_str(); 100]))).await;
    let all = client(&server.url, person()).list::<String>(&shop(), "/issues/comments", 100).await.expect("a page");
    assert!(all.len() == 100 && all.iter().all(|read| *read == comment));
}

#[tokio::test]
async fn pages_are_followed_to_their_end_or_to_what_is_wanted() {
    let server = Server::start(|seen, _| {
        let host = seen.header("host");
        let page: usize = seen.target.rsplit_once("&page=").map_or(1, |(_, page)| page.parse().expect("a number"));
        let answer = Said::json(200, &json!([page * 10, page * 10 + 1]));
        if page == 4 {
            return answer;
        }
        let next = format!("<http://{host}/repos/acme/shop/issues?per_page=100&page={}>; rel=\"next\"", page + 1);
        answer.with("link", &next)
    })
    .await;
    let client = client(&server.url, person());
    assert_eq!(client.list::<u64>(&shop(), "/issues", 1000).await, Ok(vec![10, 11, 20, 21, 30, 31, 40, 41]));
    assert_eq!(server.seen()[0].target, "/repos/acme/shop/issues?per_page=100");
    assert_eq!(server.seen().len(), 4);
    assert_eq!(client.list::<u64>(&shop(), "/issues", 3).await, Ok(vec![10, 11, 20]));
    assert_eq!(server.seen().len(), 6);
}

#[tokio::test]
async fn a_page_elsewhere_is_not_turned_to_and_there_is_a_last_one() {
    let elsewhere = Server::saying(Said::json(200, &json!([2]))).await;
    let page = Said::json(200, &json!([1])).with("link", &format!("<{}/next>; rel=\"next\"", elsewhere.url));
    let server = Server::saying(page).await;
    assert_eq!(client(&server.url, person()).list::<u64>(&shop(), "/issues", 1000).await, Ok(vec![1]));
    assert!(elsewhere.seen().is_empty());

    let round = |seen: &server::Seen, _| {
        Said::json(200, &json!([1])).with("link", &format!("<http://{}/again>; rel=\"next\"", seen.header("host")))
    };
    let server = Server::start(round).await;
    let all = client(&server.url, person()).list::<u64>(&shop(), "/issues", 1000).await.expect("an end");
    assert_eq!((all.len(), server.seen().len()), (pages::MOST_PAGES, pages::MOST_PAGES));
}

#[tokio::test]
async fn a_query_is_sent_with_its_variables() {
    let server = Server::saying(Said::json(200, &json!({ "data": { "viewer": { "login": "alice" } } }))).await;
    let query = "query($n: Int!) { viewer { login } }";
    let data: Value = client(&server.url, person()).graphql(&shop(), query, json!({ "n": 1 })).await.expect("data");
    assert_eq!(data["viewer"]["login"], "alice");
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/graphql"));
    assert_eq!(seen.json(), json!({ "query": query, "variables": { "n": 1 } }));
}

#[tokio::test]
async fn a_query_is_sent_again_when_github_fails_with_a_good_status() {
    let failed = json!({ "data": null, "errors": [{ "message": "Something went wrong while executing your query" }] });
    let server = Server::start(move |_, before| match before % 3 {
        0 | 1 => Said::json(200, &failed),
        _ => Said::json(200, &json!({ "data": { "a": 1 } })),
    })
    .await;
    let client = client(&server.url, person());
    assert_eq!(client.graphql::<Value>(&shop(), "query { a }", json!({})).await, Ok(json!({ "a": 1 })));
    assert_eq!(server.seen().len(), 3);
    let error = client.graphql::<Value>(&shop(), "mutation { a }", json!({})).await.expect_err("it failed");
    assert!(error.is_transient(), "{error}");
    assert_eq!(server.seen().len(), 4, "what may have been done is not sent again");
}

#[test]
fn a_text_is_escaped_for_an_address() {
    assert_eq!(escaped("feature/a b?c&d=é"), "feature%2Fa%20b%3Fc%26d%3D%C3%A9");
    assert_eq!(escaped("dependabot[bot]"), "dependabot%5Bbot%5D");
}
