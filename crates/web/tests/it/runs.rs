//! What assistants did, as callers read it.

use hedgerow_core::RunId;
use hedgerow_core::assistant::{Step, StepState, Usage};
use hedgerow_core::environment::Actor;
use hedgerow_core::run::{MessageEnd, RunState};
use hedgerow_engine::store::{Conclusion, Happened, NewReply, Run, RunEnd, RunEvent};
use serde_json::json;

use crate::door::Door;
use crate::probes::fits;

/// Somebody asked, and an assistant answered.
async fn ran(door: &Door) -> RunId {
    door.says("support-17", "fix it").await;
    let (message, conversation, _) = door.takes().await;
    let (store, now) = (door.world.engine.store(), door.world.engine.now());
    let run = Run {
        id: RunId::new(),
        message: Some(message),
        conversation,
        codebase: None,
        environment: None,
        session: None,
        assistant: "fake".to_owned(),
        author: Actor::new("http", "api"),
        state: RunState::Running,
        holder: Door::HOLDER.to_owned(),
        epoch: 0,
        started_at: now,
        ended_at: None,
        stop_asked_at: None,
        stop_asked_by: None,
        usage: Usage::default(),
    };
    assert!(store.begin_run(&run).await.expect("begun"));
    let usage = Usage { input_tokens: 9, cached_tokens: 5, output_tokens: 2, cost_micros: Some(7) };
    let plan = vec![Step { text: "fix".to_owned(), state: StepState::Active }];
    let all = [Happened::Plan(plan), Happened::Tool("edit a.rs".to_owned()), Happened::Usage(usage)];
    let event = |(seq, what): (usize, Happened)| RunEvent { seq: seq as u64 + 1, at: now, what };
    let events: Vec<RunEvent> = all.into_iter().enumerate().map(event).collect();
    store.log_run(run.id, &events).await.expect("written");
    let why = Some("no key".to_owned());
    let conclusion = Conclusion {
        message,
        holder: Door::HOLDER,
        end: MessageEnd::Failed,
        replies: vec![NewReply { conversation, message: Some(message), words: "it failed".to_owned() }],
        run: Some(RunEnd { run: run.id, state: RunState::Failed, why }),
        fence: None,
        session: None,
    };
    assert!(store.conclude(&conclusion, now.plus_seconds(72)).await.expect("written"));
    run.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_read_with_all_that_happened_in_it() {
    let door = Door::new().await;
    assert_eq!(door.get("/api/v1/runs").await.json(), json!([]));
    let id = ran(&door).await;
    let document = door.get("/api/v1/openapi.json").await.json();
    let all = door.get("/api/v1/runs").await.json();
    let one = door.get(&format!("/api/v1/runs/{}", &id.to_string()[..23])).await.json();
    assert_eq!(all, json!([one]));
    fits(&document, "Run", &one);
    fits(&document, "Usage", &one["usage"]);
    assert_eq!((&one["state"], &one["seconds"], &one["author"]), (&json!("failed"), &json!(72), &json!("http:api")));
    assert_eq!(one["usage"], json!({"input_tokens": 9, "cached_tokens": 5, "output_tokens": 2, "cost_micros": 7}));

    let path = format!("/api/v1/runs/{id}/events");
    let events = door.get(&path).await.json();
    for event in events.as_array().expect("a list") {
        fits(&document, "RunEvent", event);
    }
    assert_eq!(events[0]["steps"], json!([{"text": "fix", "state": "active"}]));
    assert_eq!((&events[1]["kind"], &events[1]["text"]), (&json!("tool"), &json!("edit a.rs")));
    assert_eq!((&events[3]["state"], &events[3]["text"]), (&json!("failed"), &json!("no key")));
    let page = door.get(&format!("{path}?after=1&limit=2")).await.json();
    assert_eq!(page, json!([events[1], events[2]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_a_run_is_refused() {
    let door = Door::new().await;
    let id = ran(&door).await;
    for (path, status) in [
        ("/api/v1/runs?limit=0".to_owned(), 422),
        ("/api/v1/runs?limit=1001".to_owned(), 422),
        ("/api/v1/runs?codebase=nope".to_owned(), 404),
        ("/api/v1/runs?what=1".to_owned(), 422),
        ("/api/v1/runs/nope".to_owned(), 404),
        ("/api/v1/runs/%25".to_owned(), 404),
        (format!("/api/v1/runs/{}", RunId::new()), 404),
        (format!("/api/v1/runs/{id}/events?after=-1"), 422),
        (format!("/api/v1/runs/{id}/events?after=18446744073709551615"), 422),
        (format!("/api/v1/runs/{}/events", RunId::new()), 404),
    ] {
        assert_eq!(door.get(&path).await.status, status, "{path}");
    }
}
