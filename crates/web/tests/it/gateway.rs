//! Agents reach models through us: with their run's token, for their run only, counted, and never with the true key in
//! sight.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::run::RunState;
use hedgerow_core::{CodebaseId, RunId};
use hedgerow_engine::gateway::money::Money;
use hedgerow_engine::gateway::{Budgets, Pass};
use hedgerow_engine::store::{Run, Spent};
use hedgerow_testkit::World;
use hedgerow_testkit::http::{Answered, Ask, Connection, ask};
use hedgerow_web::{CallLimits, Limits};
use serde_json::json;
use tokio::sync::Notify;

use crate::door::Door;
use crate::models::{FakeMaker, KEY, Step};

mod counting;
mod refusing;

/// A server with a gateway to a fake maker.
struct Toll {
    door: Door,
    maker: FakeMaker,
}

impl Toll {
    async fn new() -> Self {
        Self::with(Budgets::default(), CallLimits::default()).await
    }

    async fn with(budgets: Budgets, calls: CallLimits) -> Self {
        let maker = FakeMaker::new().await;
        let world = World::with(|settings| settings.gateway = Some(Arc::new(maker.settings(budgets)))).await;
        let door = Door::with(world, Limits { calls, ..Limits::default() }).await;
        door.world.engine.gateway().expect("a key is set").listens_at(door.address);
        Self { door, maker }
    }

    /// A run of alice's begins.
    async fn run(&self) -> Pass {
        self.run_of("alice", None).await
    }

    async fn run_of(&self, person: &str, codebase: Option<CodebaseId>) -> Pass {
        let run = RunId::new();
        self.door.says(&format!("conversation of {run}").replace(' ', "-"), "go").await;
        let (message, conversation, _) = self.door.takes().await;
        let author = Actor::new("github", person);
        let engine = &self.door.world.engine;
        let row = Run {
            id: run,
            message: Some(message),
            conversation,
            codebase,
            environment: None,
            session: None,
            assistant: "fake".to_owned(),
            author: author.clone(),
            state: RunState::Running,
            holder: Door::HOLDER.to_owned(),
            epoch: 1,
            started_at: engine.now(),
            ended_at: None,
            stop_asked_at: None,
            stop_asked_by: None,
            usage: hedgerow_core::assistant::Usage::default(),
        };
        assert!(engine.store().begin_run(&row).await.expect("the store answers"));
        engine.gateway().expect("a key is set").open(run, codebase, &author).expect("somebody listens")
    }

    async fn ask(&self, ask_for: &Ask) -> Answered {
        ask(self.door.address, ask_for).await
    }

    /// A message to a model of Anthropic, as Claude Code sends it.
    async fn message(&self, pass: &Pass) -> Answered {
        self.ask(&message(pass)).await
    }

    async fn spent(&self, pass: &Pass) -> Vec<(String, Spent)> {
        let run = run_id(pass).parse().expect("an id");
        self.door.world.engine.store().spent_on(run).await.expect("the store answers")
    }

    /// What was spent on the only model, once something was: what a cut call used is written down after it.
    async fn soon_spent(&self, pass: &Pass) -> (String, Spent) {
        let written = async {
            loop {
                if let Some(spent) = self.spent(pass).await.pop() {
                    return spent;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), written).await.expect("it is written down")
    }
}

fn path(pass: &Pass, below: &str) -> String {
    format!("/llm/{}/{below}", run_id(pass))
}

fn run_id(pass: &Pass) -> String {
    pass.models().url.rsplit('/').next().expect("a run").to_owned()
}

fn message(pass: &Pass) -> Ask {
    let body = json!({"model": "claude-sonnet-4-5", "messages": []}).to_string();
    Ask::new("POST", &path(pass, "v1/messages?beta=true"))
        .header("x-api-key", &pass.models().token)
        .header("Content-Type", "application/json")
        .bytes(body.as_bytes())
}

/// An answer of Anthropic that is no stream.
fn whole_answer(input: u64, output: u64) -> String {
    json!({"model": "claude-sonnet-4-5", "usage": {"input_tokens": input, "output_tokens": output}}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_passed_on_with_the_true_key_and_nothing_else_of_the_agents_side() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let models = pass.models();
    assert_eq!(models.url, format!("http://{}/llm/{}", toll.door.address, run_id(&pass)));
    toll.maker.answers(200, "request-id: req_1\r\nx-secret: x\r\nset-cookie: a=b\r\n", &whole_answer(1, 2));
    let asked = message(&pass)
        .header("Authorization", &format!("Bearer {}", models.token))
        .header("anthropic-version", "2023-06-01")
        .header("anthropic-beta", "tools-1")
        .header("User-Agent", "claude-cli/2")
        .header("Cookie", "a=b")
        .header("OpenAI-Organization", "somebody-elses")
        .header("X-Forwarded-For", "10.0.0.1");
    let answered = toll.ask(&asked).await;
    assert_eq!((answered.status, answered.text.as_str()), (200, whole_answer(1, 2).as_str()));
    assert_eq!(answered.header("request-id"), Some("req_1"));
    assert_eq!((answered.header("x-secret"), answered.header("set-cookie")), (None, None));
    let seen = &toll.maker.asked()[0];
    assert_eq!(seen.line, "POST /v1/messages?beta=true");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("anthropic-beta"), Some("tools-1"));
    assert_eq!(seen.header("user-agent"), Some("claude-cli/2"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("content-length"), Some(seen.body.len().to_string().as_str()));
    for gone in ["authorization", "cookie", "openai-organization", "x-forwarded-for", "accept-encoding", "referer"] {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
    assert!(!format!("{seen:?}").contains(&models.token), "the token stays here");
    assert_eq!(seen.body, json!({"model": "claude-sonnet-4-5", "messages": []}).to_string().into_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_maker_gets_its_key_where_it_looks_for_it() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let token = pass.models().token;
    for (below, name, value, line, header, key) in [
        ("v1/messages", "Authorization", format!("bearer {token}"), "POST /v1/messages", "x-api-key", KEY.to_owned()),
        (
            "openai/v1/responses",
            "Authorization",
            format!("Bearer {token}"),
            "POST /v1/responses",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            "gemini/v1beta/models/gemini-2.5-pro:generateContent?alt=sse&key=x",
            "x-goog-api-key",
            token.clone(),
            "POST /v1beta/models/gemini-2.5-pro:generateContent?alt=sse",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    ] {
        toll.maker.answers(200, "", "{}");
        let asked = Ask::new("POST", &path(&pass, below)).header(name, &value).bytes(b"{}");
        assert_eq!(toll.ask(&asked).await.status, 200, "{below}");
        let seen = toll.maker.asked().pop().expect("it was asked");
        assert_eq!((seen.line.as_str(), seen.header(header)), (line, Some(key.as_str())), "{below}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_passed_on_as_it_comes() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let more = Arc::new(Notify::new());
    let first =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-haiku-4-5\",\"usa";
    toll.maker.will(vec![
        FakeMaker::stream_head(),
        Step::Say(first.into()),
        Step::Wait(Arc::clone(&more)),
        Step::Say(b"ge\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\nda".to_vec()),
        Step::Say(b"ta: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":5}}\n\n".to_vec()),
    ]);
    let mut agent = Connection::open(toll.door.address).await;
    agent.write(&message(&pass).wire()).await;
    let (status, headers) = agent.head().await.expect("a head, before the model has said anything whole");
    assert_eq!(status, 200);
    assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())), "{headers:?}");
    assert_eq!(agent.chunk().await.as_deref(), Some(first.as_bytes()), "the maker waits, what it said is here");
    more.notify_one();
    let mut rest = Vec::new();
    while let Some(chunk) = agent.chunk().await {
        rest.extend(chunk);
    }
    assert!(rest.ends_with(b"{\"output_tokens\":5}}\n\n"), "{}", String::from_utf8_lossy(&rest));
    let spent = toll.spent(&pass).await;
    let expected = Spent { calls: 1, input_tokens: 7, cached_tokens: 0, output_tokens: 5, cost_micros: 7 + 25 };
    assert_eq!(spent, [("claude-haiku-4-5".to_owned(), expected)], "written down before the end was seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_run_shuts_the_way_at_once_and_cuts_what_is_under_way() {
    let toll = Toll::new().await;
    let pass = toll.run().await;
    let again = message(&pass);
    let start = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-haiku-4-5\",\"usage\":{\"input_tokens\":9}}}\n\n";
    toll.maker.will(vec![FakeMaker::stream_head(), Step::Say(start.into()), Step::Hang]);
    toll.maker.will(vec![Step::Hang]);
    let mut agent = Connection::open(toll.door.address).await;
    agent.write(&again.wire()).await;
    agent.head().await.expect("a head");
    agent.chunk().await.expect("a piece");
    let mut waiting = Connection::open(toll.door.address).await;
    waiting.write(&again.wire()).await;
    while toll.maker.asked().len() < 2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let run: RunId = run_id(&pass).parse().expect("an id");
    drop(pass);
    assert!(agent.chunk().await.is_none(), "cut, and not ended as if it were whole");
    assert_eq!(waiting.answer().await.expect("an answer").status, 401);
    assert_eq!(toll.ask(&again).await.status, 401);
    assert_eq!(toll.maker.asked().len(), 2, "nothing more came through");
    let store = toll.door.world.engine.store();
    let written = async {
        while store.spent_on(run).await.expect("the store answers").is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), written).await.expect("what was used counts");
    assert_eq!(store.spent_on(run).await.expect("the store answers")[0].1.input_tokens, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_is_good_until_the_last_one_of_its_run_is_dropped() {
    let toll = Toll::new().await;
    let first = toll.run().await;
    let gateway = toll.door.world.engine.gateway().expect("a key is set");
    let run = run_id(&first).parse().expect("an id");
    let second = gateway.open(run, None, &Actor::new("github", "alice")).expect("somebody listens");
    assert_ne!(first.models().token, second.models().token);
    let old = message(&first);
    drop(first);
    assert_eq!(toll.ask(&old).await.status, 401);
    toll.maker.answers(200, "", &whole_answer(1, 1));
    assert_eq!(toll.message(&second).await.status, 200, "the end of the one does not shut the other");
}
