//! Who may come in.

use crate::door::{Door, TOKEN};
use hedgerow_testkit::http::{Answered, Ask};

/// Every method and path there is, as the description has it, and whether it is open to all.
pub(crate) async fn operations(door: &Door) -> Vec<(&'static str, String, bool)> {
    let document = door.ask_as_a_stranger(&Ask::new("GET", "/api/v1/openapi.json")).await.json();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let method = match method.as_str() {
                "get" => "GET",
                "post" => "POST",
                "delete" => "DELETE",
                other => panic!("{other} is new here"),
            };
            operations.push((method, path.replace("{id}", "x"), operation["security"].is_null()));
        }
    }
    assert_eq!(operations.len(), 19);
    operations
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_only_the_probes_and_the_description_are_there() {
    let door = Door::new().await;
    let mut open = Vec::new();
    for (method, path, is_open) in operations(&door).await {
        let headers = [
            None,
            Some(String::new()),
            Some("Bearer".to_owned()),
            Some("Bearer ".to_owned()),
            Some("Bearer wrong".to_owned()),
            Some(format!("Bearer {TOKEN}x")),
            Some(format!("Bearer {}", &TOKEN[..TOKEN.len() - 1])),
            Some(format!("Basic {TOKEN}")),
            Some(TOKEN.to_owned()),
        ];
        for header in headers {
            let mut asked = Ask::new(method, &path);
            if let Some(header) = &header {
                asked = asked.header("Authorization", header);
            }
            let answered = door.ask_as_a_stranger(&asked).await;
            if is_open {
                assert_eq!(answered.status, 200, "{path}");
                continue;
            }
            assert_eq!(
                (answered.status, answered.kind().as_str()),
                (401, "unauthorized"),
                "{method} {path} {header:?}"
            );
            assert_eq!(answered.header("www-authenticate"), Some("Bearer realm=\"hedgerow\""));
            assert!(!answered.text.contains(TOKEN));
        }
        if is_open {
            open.push(path);
        }
    }
    open.sort();
    assert_eq!(open, ["/", "/api/v1/openapi.json", "/healthz", "/readyz"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_word_bearer_may_be_written_in_any_case() {
    let door = Door::new().await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let asked = Ask::new("GET", "/api/v1/codebases").header("Authorization", &format!("{scheme} {TOKEN}"));
        assert_eq!(door.ask_as_a_stranger(&asked).await.status, 200, "{scheme}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_of_others_are_refused_even_with_the_token() {
    let door = Door::new().await;
    let own = door.address.to_string();
    let asked =
        |origin: &str, host: &str| Ask::new("GET", "/api/v1/codebases").header("Origin", origin).header("Host", host);
    for (origin, host, status) in [
        (format!("http://{own}"), own.clone(), 200),
        ("https://hedgerow.example".to_owned(), own.clone(), 200),
        ("http://evil.example".to_owned(), own.clone(), 403),
        ("null".to_owned(), own.clone(), 403),
        // A name that its owner has pointed at this machine.
        ("http://evil.example:4747".to_owned(), "evil.example:4747".to_owned(), 403),
    ] {
        let answered = door.ask(asked(&origin, &host)).await;
        assert_eq!(answered.status, status, "{origin} at {host}");
        assert_eq!(answered.header("access-control-allow-origin"), None);
    }
    let preflight = Ask::new("OPTIONS", "/api/v1/codebases").header("Origin", "http://evil.example");
    assert_eq!(door.ask_as_a_stranger(&preflight).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_and_methods_that_are_not_there_are_errors_like_all_others() {
    let door = Door::new().await;
    for path in ["/nothing", "/api", "/api/v2/codebases", "/api/v1/codebases/"] {
        let answered = door.get(path).await;
        assert_eq!((answered.status, answered.kind().as_str()), (404, "not_found"), "{path}");
    }
    for (method, path, allow) in [
        ("DELETE", "/api/v1/codebases", "GET,HEAD,POST"),
        ("PUT", "/api/v1/conversations/c/messages", "GET,HEAD,POST"),
        ("POST", "/healthz", "GET,HEAD"),
        ("POST", "/api/v1/environments/x", "DELETE,GET,HEAD"),
        ("GET", "/api/v1/environments/x/restore", "POST"),
    ] {
        let answered = door.ask(Ask::new(method, path)).await;
        assert_eq!((answered.status, answered.kind().as_str()), (405, "method_not_allowed"), "{method} {path}");
        let mut allowed: Vec<&str> = answered.header("allow").expect("what is allowed").split(',').collect();
        allowed.sort_unstable();
        assert_eq!(allowed.join(","), allow, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_can_be_found_in_the_log_and_is_no_page() {
    let door = Door::new().await;
    let all: Vec<Answered> = vec![door.get("/healthz").await, door.get("/nothing").await, door.get("/metrics").await];
    let mut ids: Vec<&str> = all.iter().map(|answered| answered.header("x-request-id").expect("an id")).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert!(all.iter().all(|answered| answered.header("x-content-type-options") == Some("nosniff")));
}
