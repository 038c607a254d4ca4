//! An agent of the Agent Client Protocol, from its first word to its end.

use std::fs;

use hedgerow_core::assistant::{AssistantError, Step, StepState, Turn, Update, Usage};
use hedgerow_engine::assistant::Assistants;
use hedgerow_testkit::{brain, git};

use super::office::{self, Office, is_alive, tool};

fn agent(office: &Office, comes_back: &str) -> Assistants {
    office::of(brain::acp(office.notes(), comes_back), true)
}

/// Without what every run tells: its session, and what it has used.
fn told(updates: Vec<Update>) -> Vec<Update> {
    updates.into_iter().filter(|update| !matches!(update, Update::Session(_) | Update::Usage(_))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_edits_and_commits_and_tells_what_it_does() {
    let office = Office::open().await;
    git::git(&office.place(), &["init", "--quiet"]);
    let prompt =
        "plan x look, > edit, commit\nsay looking\ntool edit a.txt\nwrite a.txt two words\ncommit add a\nsay done";
    let (updates, ending) = office::all(office.starts(&agent(&office, "resume"), prompt)).await;
    let outcome = ending.expect("it went well");
    assert_eq!(outcome.answer, "done");
    assert_eq!(updates.first(), outcome.session.map(Update::Session).as_ref(), "its name is told before anything else");
    let used = Usage { input_tokens: 30, cached_tokens: 10, output_tokens: 5, cost_micros: None };
    assert_eq!(updates.last(), Some(&Update::Usage(used)));
    let step = |text: &str, state| Step { text: text.to_owned(), state };
    let plan = [step("look", StepState::Done), step("edit", StepState::Active), step("commit", StepState::Pending)];
    let expected =
        [Update::Plan(plan.to_vec()), office::text("looking\n"), tool("edit a.txt"), office::text("\ndone\n")];
    assert_eq!(told(updates), expected);
    assert_eq!(git::git(&office.place(), &["log", "--format=%s"]).trim(), "add a");
}

#[tokio::test(flavor = "multi_thread")]
async fn leave_is_given_unless_the_tool_is_disallowed() {
    let office = Office::open().await;
    let turn = Turn { disallowed_tools: vec!["push".to_owned()], ..office.turn("ask-for build\nask-for push") };
    let (_, ending) = office::all(office.runs(&agent(&office, "resume"), turn)).await;
    let answer = ending.expect("it went well").answer;
    assert!(answer.contains("push: denied"), "{answer}");
    let (_, ending) = office::all(office.starts(&agent(&office, "resume"), "ask-for build")).await;
    assert_eq!(ending.expect("it went well").answer, "build: allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_or_loaded_without_its_past_being_said_again() {
    for comes_back in ["resume", "load"] {
        let office = Office::open().await;
        let agent = agent(&office, comes_back);
        let session = office::all(office.starts(&agent, "remember apples")).await.1.expect("it went well").session;
        assert!(session.is_some(), "{comes_back}");
        let turn = Turn { resume: session.clone(), ..office.turn("recall") };
        let (updates, ending) = office::all(office.runs(&agent, turn)).await;
        let outcome = ending.expect("it went well");
        assert_eq!((outcome.answer.as_str(), outcome.session), ("apples", session), "{comes_back}");
        assert_eq!(told(updates), [office::text("apples\n")], "{comes_back}");
        let turn = Turn { resume: Some("nobody-s".to_owned()), ..office.turn("recall") };
        let (_, ending) = office::all(office.runs(&agent, turn)).await;
        assert!(matches!(ending, Err(AssistantError::UnknownSession)), "{comes_back}: {ending:?}");
    }
    let office = Office::open().await;
    let outcome = office::all(office.starts(&agent(&office, "never"), "say hi")).await.1.expect("it went well");
    assert_eq!((outcome.answer.as_str(), outcome.session), ("hi", None));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_stopped_leaves_nothing_and_can_be_resumed() {
    let office = Office::open().await;
    let agent = agent(&office, "resume");
    let turn = office.turn("remember pears\nspawn-daemon daemon\nsay up\nhang");
    let run = turn.run;
    let mut updates = office.runs(&agent, turn);
    let Some(Ok(Update::Session(session))) = office::next(&mut updates).await else {
        panic!("its session comes first")
    };
    assert_eq!(office::next(&mut updates).await.expect("an update").expect("it is up"), office::text("up\n"));
    let daemon = office.pid_in("daemon");
    drop(updates);
    agent.gone(run).await;
    assert!(!is_alive(daemon));
    let turn = Turn { resume: Some(session), ..office.turn("recall") };
    let (_, ending) = office::all(office.runs(&agent, turn)).await;
    assert_eq!(ending.expect("it went well").answer, "pears");
    assert_eq!(brain::overlaps(office.notes()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_trouble_of_an_agent_is_its_own() {
    let office = Office::open().await;
    let ending = async |prompt: &str| {
        let (_, ending) = office::all(office.starts(&agent(&office, "resume"), prompt)).await;
        ending.expect_err(prompt)
    };
    let crashed = ending("say half\nexit 3").await;
    assert!(matches!(&crashed, AssistantError::Crashed(why) if why == "it ended with exit status 3"), "{crashed:?}");
    let failed = ending("fail no more disk").await;
    assert!(matches!(&failed, AssistantError::Failed(why) if why == "no more disk"), "{failed:?}");
    let limited = ending("fail rate limit exceeded").await;
    assert!(matches!(limited, AssistantError::Limited(_)), "{limited:?}");
    let logged_out = ending("log-out").await;
    assert!(matches!(logged_out, AssistantError::LoggedOut(_)), "{logged_out:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_is_kept_for_the_log_and_only_garbage_is_no_agent() {
    let office = Office::open().await;
    let (updates, ending) = office::all(office.starts(&agent(&office, "resume"), "garbage\nsay still here")).await;
    assert_eq!(ending.expect("it went well").answer, "still here");
    let garbage = updates.iter().filter(|update| matches!(update, Update::Other(_))).count();
    assert_eq!(garbage, 5, "{updates:?}");
    let mut cat = brain::acp(office.notes(), "resume");
    cat.command = ["echo", "Usage: agent"].map(Into::into).to_vec();
    let (_, ending) = office::all(office.starts(&office::of(cat, true), "go")).await;
    assert!(matches!(&ending, Err(AssistantError::Garbled(why)) if why.contains("Usage: agent")), "{ending:?}");
    fs::remove_dir_all(office.place()).expect("nothing is left in it that cannot go");
}
