//! What a run does, as it does it: shown, kept in its log, and enough to go on from when it is cut short.

use hedgerow_core::assistant::{Step, StepState, Usage};
use hedgerow_core::platform::Glimpse;
use hedgerow_core::run::{RunState, SessionEnd};
use hedgerow_core::{RunId, SessionId};
use hedgerow_engine::store::{Happened, Session};
use hedgerow_testkit::{Office, Talk};

use super::{at_work, chat, finish, issue, long, until};

async fn newest_run(office: &Office) -> hedgerow_engine::runs::RunView {
    office.engine.runs(None, 1).await.expect("the store answers").remove(0)
}

async fn log(office: &Office, run: RunId) -> Vec<Happened> {
    let events = office.engine.store().run_events(run, 0, 1000).await.expect("the store answers");
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert!(seqs.is_sorted_by(|one, two| one < two), "{seqs:?}");
    events.into_iter().map(|event| event.what).collect()
}

async fn session(office: &Office, talk: &Talk, id: &str) -> Option<Session> {
    let key = hedgerow_core::platform::ConversationKey { platform: talk_kind(talk), id: id.to_owned() };
    let store = office.engine.store();
    let conversation = store.known_conversation(&key).await.expect("the store answers")?;
    store.active_session(conversation.id).await.expect("the store answers")
}

fn talk_kind(talk: &Talk) -> hedgerow_core::platform::PlatformKind {
    hedgerow_core::platform::Platform::kind(talk)
}

fn end(state: RunState) -> Happened {
    Happened::End { state, why: None }
}

fn last_said(talk: &Talk, conversation: &str) -> String {
    talk.said_in(conversation).pop().expect("something was said").0
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_does_is_shown_and_kept_in_its_log() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let text = "tell-session\nplan x read, > fix, test\ntool cargo test\nnote it waits for its model\n\
                usage 1200 1000 80 40000\nusage 1200 1000 80 40000\nsay one\nsay two";
    office.hears(issue(&office, 42, text)).await;
    let step = |text: &str, state| Step { text: text.to_owned(), state };
    let plan = vec![step("read", StepState::Done), step("fix", StepState::Active), step("test", StepState::Pending)];
    let usage = Usage { input_tokens: 1200, cached_tokens: 1000, output_tokens: 80, cost_micros: Some(40_000) };
    let mut shown = office.forge.shown_in("acme/shop#42");
    // How the words come in pieces is the program's affair.
    shown.retain(|what| !matches!(what, Glimpse::Text(_)));
    let expected = [
        Glimpse::Started,
        Glimpse::Plan(plan.clone()),
        Glimpse::Tool("cargo test".to_owned()),
        Glimpse::Note("it waits for its model".to_owned()),
        Glimpse::Usage(usage),
        Glimpse::Ended,
    ];
    assert_eq!(shown, expected);
    assert_eq!(last_said(&office.forge, "acme/shop#42"), "one\ntwo", "the answer stays the answer");

    let run = newest_run(&office).await;
    assert_eq!((run.state, run.usage, run.author.as_str()), (RunState::Done, usage, "github:alice"));
    assert_eq!((run.environment.as_deref(), run.codebase.as_deref()), (Some("issue-42"), Some("shop")));
    let log = log(&office, run.id).await;
    let name = session(&office, &office.forge, "acme/shop#42").await.and_then(|it| it.assistant_session);
    let words: String = log
        .iter()
        .filter_map(|what| match what {
            Happened::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(words, "one\ntwo\n");
    let others: Vec<Happened> = log.into_iter().filter(|what| !matches!(what, Happened::Text(_))).collect();
    let expected = [
        Happened::Session(name.expect("it has a name")),
        Happened::Plan(plan),
        Happened::Tool("cargo test".to_owned()),
        Happened::Note("it waits for its model".to_owned()),
        Happened::Usage(usage),
        end(RunState::Done),
    ];
    assert_eq!(others, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn status_tells_what_a_run_does_now() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let text = format!("tool edit src/login.rs\nusage 12300 10100 800 40000\n{}", long(&office, "run"));
    office.gets(issue(&office, 42, &text)).await;
    at_work(&office, "run").await;
    let run = newest_run(&office).await.id;
    until("the log", || async { office.engine.store().last_tool(run).await.expect("read").is_some() }).await;
    office.gets(issue(&office, 42, "/status")).await;
    office.forge.answers("acme/shop#42", 1).await;
    let status = last_said(&office.forge, "acme/shop#42");
    assert!(
        status.contains("\n• last: edit src/login.rs\n• so far: 12.3k in (10.1k cached), 0.8k out, $0.04, "),
        "{status}"
    );
    assert!(!status.contains("sandbox"), "{status}");
    finish(&office, "run");
    office.is_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_stopped_or_killed_is_resumed_by_the_next_message() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    for (name, is_killed) in [("stopped", false), ("killed", true)] {
        let id = format!("C1:{name}");
        let text = format!("remember {name}\ntell-session\n{}", long(&office, name));
        office.gets(chat(&office, &id, &text)).await;
        at_work(&office, name).await;
        let is_named = || async {
            session(&office, &office.chat, &id).await.is_some_and(|session| session.assistant_session.is_some())
        };
        until("the name of the session", is_named).await;
        let run = newest_run(&office).await.id;
        if is_killed {
            office.crashes().await;
            office.starts_again().await;
        } else {
            office.gets(chat(&office, &id, "/stop")).await;
        }
        office.is_idle().await;
        let log = log(&office, run).await;
        let state = match log.last() {
            Some(Happened::End { state, .. }) => *state,
            other => panic!("{other:?}"),
        };
        assert_eq!(state, if is_killed { RunState::Interrupted } else { RunState::Stopped });
        office.hears(chat(&office, &id, "recall")).await;
        assert_eq!(last_said(&office.chat, &id), name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_of_a_session_goes_along_with_it_and_ends_with_it() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let mut answers = Vec::new();
    for text in [
        "keep blue\nsay noted",
        "kept",
        "/worktree create feature/one",
        "kept",
        "keep red\nfail now",
        "kept",
        "/reset",
        "kept",
    ] {
        office.hears(chat(&office, "C1:1", text)).await;
        answers.push(last_said(&office.chat, "C1:1"));
    }
    assert_eq!([&answers[1], &answers[3], &answers[5]], ["blue", "blue", "red"], "{answers:?}");
    assert!(answers[7].ends_with("nothing is kept"), "{}", answers[7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_moves_with_its_conversation_out_of_the_scratch_folder() {
    let office = Office::opens().await;
    office.hears(chat(&office, "C1:1", "remember blue\nsay noted")).await;
    let before = session(&office, &office.chat, "C1:1").await.expect("it has one");
    let (_repo, _) = office.given_a_repo("shop").await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    assert_eq!(last_said(&office.chat, "C1:1"), "blue");
    let after = session(&office, &office.chat, "C1:1").await.expect("it has one");
    assert_eq!((before.id, before.environment.is_none(), after.environment.is_some()), (after.id, true, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_grew_too_long_ends_and_the_next_is_told_what_it_said() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", "remember blue\nsay noted")).await;
    let first: SessionId = session(&office, &office.chat, "C1:1").await.expect("it has one").id;
    office.hears(chat(&office, "C1:1", "say half is done\nout-of-context")).await;
    assert!(session(&office, &office.chat, "C1:1").await.is_none());
    let key = hedgerow_core::platform::ConversationKey { platform: talk_kind(&office.chat), id: "C1:1".to_owned() };
    let store = office.engine.store();
    let talk = store.known_conversation(&key).await.expect("read").expect("it is known").id;
    let last = store.last_session(talk).await.expect("read").expect("there was one");
    assert_eq!((last.id, last.ended.map(|(_, why)| why)), (first, Some(SessionEnd::Unknown)));
    office.hears(chat(&office, "C1:1", "recall")).await;
    let said = last_said(&office.chat, "C1:1");
    assert!(said.contains("echo: half is done") && said.ends_with("nothing"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_off_is_said_where_work_begins_and_in_the_status() {
    let office =
        Office::with(|settings| settings.runs.sandbox.mode = hedgerow_engine::settings::SandboxMode::Off).await;
    office.given_a_repo("shop").await;
    for text in ["say one", "say two", "/status", "/assistant"] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    let said: Vec<String> = office.chat.said_in("C1:1").into_iter().map(|(text, _)| text).collect();
    let warned: Vec<bool> =
        said.iter().map(|text| text.contains("Agents are not caged: `sandbox.mode` is `off`")).collect();
    assert_eq!(warned, [true, false, false, true, false], "{said:?}");
    assert_eq!(said[4], "Assistants:\n• `fake`\n`/assistant <name>` chooses one.");
}
