//! What does not pass, and that it tells nothing.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_runs_own_token_opens_its_way() {
    let toll = Toll::new().await;
    let (one, other) = (toll.run().await, toll.run().await);
    let wrong = "0".repeat(64);
    for (below, error) in [
        ("v1/messages", json!("authentication_error")),
        ("openai/v1/responses", json!("invalid_api_key")),
        ("gemini/v1beta/models/m:generateContent", json!("UNAUTHENTICATED")),
    ] {
        for token in ["", &wrong, &other.models().token, crate::door::TOKEN, &one.models().token[1..]] {
            let asked = Ask::new("POST", &path(&one, below)).header("Authorization", &format!("Bearer {token}"));
            let answered = toll.ask(&asked.header("x-api-key", token).bytes(b"{}")).await;
            assert_eq!(answered.status, 401, "{below} {token}");
            let told = &answered.json()["error"];
            assert!([&told["type"], &told["code"], &told["status"]].contains(&&error), "{told}");
        }
        let nobody = RunId::new();
        let asked = Ask::new("POST", &format!("/llm/{nobody}/{below}")).header("x-api-key", &one.models().token);
        assert_eq!(toll.ask(&asked.bytes(b"{}")).await.status, 401);
    }
    for run in ["x", "..", "%2e%2e", "%00"] {
        let asked = Ask::new("POST", &format!("/llm/{run}/v1/messages")).header("x-api-key", &one.models().token);
        assert!([401, 404].contains(&toll.ask(&asked.bytes(b"{}")).await.status), "{run}");
    }
    let api = Ask::new("GET", "/api/v1/codebases").header("Authorization", &format!("Bearer {}", one.models().token));
    assert_eq!(toll.ask(&api).await.status, 401, "the token of a run is none of the API");
    assert!(toll.maker.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_trick_with_the_path_reaches_anything_else_of_the_account() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    for below in [
        "v1/files",
        "v1/organizations/me",
        "v1/messages/../files",
        "v1/messages/%2e%2e/files",
        "v1/models/..%2f..%2fv1%2ffiles",
        "v1//messages",
        "/v1/messages",
        "v1/messages/",
        "v1/messages%3fx",
        "v1/messages%23",
        "http://evil.example/v1/messages",
        "@evil.example/v1/messages",
        "openai/../v1/files",
        "openai/v1/files",
        "gemini/v1beta/models/x:y",
        "gemini/v1beta/models/a%2fb:generateContent",
    ] {
        let asked = Ask::new("POST", &path(&pass, below)).header("x-api-key", &pass.models().token);
        assert_eq!(toll.ask(&asked.bytes(b"{}")).await.status, 404, "{below}");
    }
    let wrong_method = Ask::new("DELETE", &path(&pass, "v1/models/x")).header("x-api-key", &pass.models().token);
    assert_eq!(toll.ask(&wrong_method).await.status, 404);
    assert!(toll.maker.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_in_nothing_that_comes_back() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let leaky = format!("x-api-key: {KEY}\r\nAuthorization: Bearer {KEY}\r\nLocation: http://evil.example/?{KEY}\r\n");
    for (status, expected) in
        [(400, 400), (401, 401), (403, 403), (404, 404), (429, 429), (500, 500), (302, 502), (308, 502)]
    {
        toll.maker.answers(status, &leaky, &format!("{{\"error\":\"your key {KEY} is odd\"}}"));
        let mut agent = Connection::open(toll.door.address).await;
        agent.write(&message(&pass).header("Connection", "close").wire()).await;
        let answered = agent.answer().await.expect("an answer");
        assert_eq!(answered.status, expected, "{status}");
        let seen = format!("{answered:?}");
        assert!(!seen.contains(KEY) && !seen.contains("evil.example"), "{seen}");
    }
    assert_eq!(toll.maker.asked().len(), 8, "no redirect was followed");
    let gateway = toll.door.world.engine.gateway().expect("a key is set");
    let debug = format!("{gateway:?} {pass:?} {:?} {:?}", toll.door.world.settings(), pass.models());
    assert!(!debug.contains(KEY) && !debug.contains(&pass.models().token), "{debug}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_told_to_whoever_can_set_another() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    toll.maker.answers(401, "", "{}");
    let refused = toll.message(&pass).await;
    let message = "the API of anthropic does not take the server's key; `llm.anthropic_key` must be set anew";
    assert_eq!(refused.json()["error"]["message"], message);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_announced_or_not() {
    let limits = CallLimits { request_bytes: 1000, ..CallLimits::default() };
    let toll = Toll::with(Budgets::default(), limits).await;
    let pass = toll.run().await;
    let asked = || Ask::new("POST", &path(&pass, "v1/messages")).header("x-api-key", &pass.models().token);
    let announced = toll.ask(&asked().bytes(&[b'x'; 1001])).await;
    assert_eq!((announced.status, announced.json()["error"]["type"].as_str()), (413, Some("request_too_large")));
    assert!(toll.maker.asked().is_empty());
    let mut agent = Connection::open(toll.door.address).await;
    let mut wire = asked().header("Transfer-Encoding", "chunked").wire();
    for _ in 0..3 {
        wire.extend(format!("190\r\n{}\r\n", "x".repeat(400)).into_bytes());
    }
    wire.extend(b"0\r\n\r\n");
    agent.write(&wire).await;
    assert_eq!(agent.answer().await.expect("an answer").status, 413);
    toll.maker.answers(200, "", &whole_answer(1, 1));
    let fits = toll.ask(&asked().bytes(&[b'x'; 1000])).await;
    assert_eq!(fits.status, 200);
    let mut agent = Connection::open(toll.door.address).await;
    toll.maker.answers(200, "", &whole_answer(1, 1));
    agent.write(&asked().header("Transfer-Encoding", "chunked").wire()).await;
    agent.write(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").await;
    assert_eq!(agent.answer().await.expect("an answer").status, 200);
    assert_eq!(toll.maker.asked().pop().expect("it was asked").body, b"abcde");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maker_that_is_away_or_slow_is_told_apart() {
    let limits = CallLimits { idle: Duration::from_millis(200), ..CallLimits::default() };
    let toll = Toll::with(Budgets::default(), limits).await;
    let pass = toll.run().await;
    toll.maker.will(vec![Step::Hang]);
    let slow = toll.message(&pass).await;
    assert_eq!((slow.status, slow.json()["error"]["type"].as_str()), (504, Some("timeout_error")));
    toll.maker.will(Vec::new());
    let away = toll.message(&pass).await;
    assert_eq!((away.status, away.json()["error"]["type"].as_str()), (502, Some("api_error")));
    toll.maker.will(vec![FakeMaker::stream_head(), Step::Say(b"data: {}\n\n".to_vec()), Step::Hang]);
    let mut agent = Connection::open(toll.door.address).await;
    agent.write(&message(&pass).wire()).await;
    agent.head().await.expect("a head");
    agent.chunk().await.expect("a piece");
    assert!(agent.chunk().await.is_none(), "silence in the middle cuts it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_has_only_so_many_calls_at_once() {
    let toll = Toll::new().await;
    let (greedy, modest) = (toll.run().await, toll.run().await);
    let mut held = Vec::new();
    for _ in 0..16 {
        toll.maker.will(vec![FakeMaker::stream_head(), Step::Hang]);
        let mut agent = Connection::open(toll.door.address).await;
        agent.write(&message(&greedy).wire()).await;
        assert_eq!(agent.head().await.expect("a head").0, 200);
        held.push(agent);
    }
    let refused = toll.message(&greedy).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    toll.maker.answers(200, "", &whole_answer(1, 1));
    assert_eq!(toll.message(&modest).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_there_is_no_gateway() {
    let door = Door::new().await;
    assert!(door.world.engine.gateway().is_none());
    let asked = Ask::new("POST", &format!("/llm/{}/v1/messages", RunId::new())).header("x-api-key", "x").bytes(b"{}");
    assert_eq!(door.ask_as_a_stranger(&asked).await.status, 404);
    let shown = door.get("/api/v1/spending").await.json();
    assert_eq!(shown, json!({"codebases": [], "people": []}));
}
