//! What is spent, and what may be.

use super::*;
use crate::probes::fits;

fn at_most(run: Option<u64>, codebase_day: Option<u64>, person_day: Option<u64>) -> Budgets {
    let money = |micros: Option<u64>| micros.map(Money::from_micros);
    Budgets { run: money(run), codebase_day: money(codebase_day), person_day: money(person_day) }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_at_once_are_counted_apart() {
    let toll = Toll::new().await;
    let (one, other) = (toll.run().await, toll.run_of("bob", None).await);
    for _ in 0..3 {
        toll.maker.answers(200, "", &whole_answer(1000, 10));
    }
    let (first, second) = tokio::join!(toll.message(&one), toll.message(&other));
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!(toll.message(&other).await.status, 200);
    let spent = |calls: u64| Spent {
        calls,
        input_tokens: 1000 * calls,
        cached_tokens: 0,
        output_tokens: 10 * calls,
        cost_micros: (3000 + 150) * calls,
    };
    assert_eq!(toll.spent(&one).await, [("claude-sonnet-4-5".to_owned(), spent(1))]);
    assert_eq!(toll.spent(&other).await, [("claude-sonnet-4-5".to_owned(), spent(2))]);
    let shown = toll.door.get("/api/v1/spending").await.json();
    assert_eq!(shown["people"][0]["name"], "github:bob");
    assert_eq!(shown["people"][0]["day"]["cost_micros"], 6300);
    assert_eq!(shown["people"][1]["month"]["calls"], 1);
    let document = toll.door.get("/api/v1/openapi.json").await.json();
    fits(&document, "SpendingLine", &shown["people"][0]);
    fits(&document, "Spent", &shown["people"][0]["day"]);
    assert_eq!(shown["codebases"][0]["name"], json!(null));
    assert_eq!(shown["codebases"][0]["day"]["input_tokens"], 3000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_spent_in_the_middle_ends_the_calls_of_that_run_only() {
    let toll = Toll::with(at_most(Some(5000), None, None), CallLimits::default()).await;
    let (one, other) = (toll.run().await, toll.run().await);
    for _ in 0..3 {
        toll.maker.answers(200, "", &whole_answer(1000, 10));
    }
    assert_eq!(toll.message(&one).await.status, 200);
    assert_eq!(toll.message(&one).await.status, 200, "3150 of 5000 are spent");
    let refused = toll.message(&one).await;
    assert_eq!((refused.status, refused.header("x-should-retry")), (429, Some("false")));
    assert_eq!(
        refused.json(),
        json!({"type": "error", "error": {"type": "rate_limit_error",
            "message": "the budget of a run (`llm.budget.run`) is spent: $0.006300 of $0.005000"}})
    );
    let openai = Ask::new("POST", &path(&one, "openai/v1/responses")).header("x-api-key", &one.models().token);
    let refused = toll.ask(&openai.bytes(b"{}")).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (429, Some("insufficient_quota")));
    let gemini = Ask::new("POST", &path(&one, "gemini/v1beta/models/m:generateContent"));
    let refused = toll.ask(&gemini.header("x-goog-api-key", &one.models().token).bytes(b"{}")).await;
    assert_eq!(refused.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(toll.message(&other).await.status, 200, "another run has its own");
    assert_eq!(toll.maker.asked().len(), 3, "what is refused does not reach the maker");
    toll.maker.answers(200, "", "{\"input_tokens\": 3}");
    let free = Ask::new("POST", &path(&one, "v1/messages/count_tokens")).header("x-api-key", &one.models().token);
    assert_eq!(toll.ask(&free.bytes(b"{}")).await.status, 200, "what costs nothing is not refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_a_person_and_of_a_codebase_passes() {
    let toll = Toll::with(at_most(None, Some(4000), Some(3000)), CallLimits::default()).await;
    let (_, shop) = toll.door.world.given_a_repo("shop").await;
    let alice = toll.run_of("alice", Some(shop.id)).await;
    let bob = toll.run_of("bob", Some(shop.id)).await;
    let carol = toll.run_of("carol", Some(shop.id)).await;
    for _ in 0..3 {
        toll.maker.answers(200, "", &whole_answer(1000, 0));
    }
    assert_eq!(toll.message(&alice).await.status, 200);
    let refused = toll.message(&alice).await;
    assert!(
        refused.text.contains("a person for 24 hours (`llm.budget.person_day`) is spent: $0.003000"),
        "{}",
        refused.text
    );
    assert_eq!(toll.message(&bob).await.status, 200, "bob has spent nothing, and the codebase 3000");
    let refused = toll.message(&carol).await;
    assert!(refused.text.contains("a codebase for 24 hours (`llm.budget.codebase_day`)"), "{}", refused.text);
    toll.door.world.clock.days_pass(2);
    assert_eq!(toll.message(&carol).await.status, 200);
    let shown = toll.door.get("/api/v1/spending").await.json();
    assert_eq!(shown["codebases"][0]["name"], "shop");
    assert_eq!(shown["codebases"][0]["day"]["calls"], 1);
    assert_eq!(shown["codebases"][0]["month"]["calls"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_price_is_counted_and_free_and_a_failed_call_is_neither() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    toll.maker.answers(529, "retry-after: 7\r\n", "{\"type\":\"error\",\"usage\":{\"input_tokens\":9}}");
    let overloaded = toll.message(&pass).await;
    assert_eq!((overloaded.status, overloaded.header("retry-after")), (529, Some("7")));
    assert_eq!(toll.spent(&pass).await, []);
    toll.maker.answers(200, "", "{\"model\":\"nobody-knows\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}");
    assert_eq!(toll.message(&pass).await.status, 200);
    let expected = Spent { calls: 1, input_tokens: 9, cached_tokens: 0, output_tokens: 1, cost_micros: 0 };
    assert_eq!(toll.spent(&pass).await, [("nobody-knows".to_owned(), expected)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_looks_away_in_time_pays_all_the_same() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let start = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-sonnet-4-5\",\"usage\":{\"input_tokens\":50}}}\n\n";
    let piece = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"x\"}}\n\n";
    toll.maker.will(vec![FakeMaker::stream_head(), Step::Say(format!("{start}{piece}{piece}").into()), Step::Hang]);
    let mut agent = Connection::open(toll.door.address).await;
    agent.write(&message(&pass).wire()).await;
    agent.head().await.expect("a head");
    agent.chunk().await.expect("a piece");
    drop(agent);
    let (model, spent) = toll.soon_spent(&pass).await;
    assert_eq!((model.as_str(), spent.input_tokens, spent.output_tokens), ("claude-sonnet-4-5", 50, 2));
}
