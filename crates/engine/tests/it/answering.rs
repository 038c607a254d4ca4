//! The path of a message, from what was delivered to the last word on it, as its people read it.

mod briefing;
mod delivering;
mod ending;
mod going_down;
mod interrupting;
mod isolating;
mod leasing;
mod letting_go;
mod limiting;
mod losing_the_store;
mod neighbours;
mod ordering;
mod progressing;
mod reading;
mod resuming;
mod taking_back;
mod which_codebase;

use std::fs;
use std::path::Path;

use hedgerow_core::Environment;
use hedgerow_core::message::RawEvent;
use hedgerow_engine::Clock as _;
use hedgerow_testkit::{Office, Talk};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_gets_an_environment_an_introduction_and_an_answer() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write login.txt fixed\ncommit fix the login\nsay done")).await;
    let environment = environment(&office, "issue-42").await;
    assert!(environment.path.join("login.txt").exists());
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write login.txt fixed
          commit fix the login
          say done
        bot… Working in isolated branch `issue-42`
        bot: done
    ",
    );
}

/// What alice says about an issue.
fn issue(office: &Office, number: u64, text: &str) -> RawEvent {
    let conversation = format!("acme/shop#{number}");
    office.forge.says(&conversation, "alice", text).about(&format!("issue-{number}")).raw()
}

/// What bob says about a pull request of the repository itself that closes an issue.
fn pull_request(office: &Office, number: u64, closes: u64, text: &str) -> RawEvent {
    let conversation = format!("acme/shop#{number}");
    let said = office.forge.says(&conversation, "bob", text);
    said.about(&format!("pr-{number}")).linked_issues(&[closes]).raw()
}

/// What alice says in a chat.
fn chat(office: &Office, conversation: &str, text: &str) -> RawEvent {
    office.chat.says(conversation, "alice", text).raw()
}

/// A prompt that is at work from when [`at_work`] returns until [`finish`].
fn long(office: &Office, name: &str) -> String {
    format!("touch {}\nwait-for {}", signal(office, name, "began"), signal(office, name, "may-end"))
}

fn signal(office: &Office, name: &str, what: &str) -> String {
    office.signal(&format!("{name}-{what}")).display().to_string()
}

async fn at_work(office: &Office, name: &str) {
    office.sees(&office.signal(&format!("{name}-began"))).await;
}

fn is_at_work(office: &Office, name: &str) -> bool {
    office.signal(&format!("{name}-began")).exists()
}

fn finish(office: &Office, name: &str) {
    fs::write(office.signal(&format!("{name}-may-end")), "").expect("the signal is given");
}

/// The live environment of this name.
async fn environment(office: &Office, name: &str) -> Environment {
    let codebases = office.engine.codebases().await.expect("the store answers");
    for codebase in codebases {
        let live = office.engine.store().live(codebase.id).await.expect("the store answers");
        if let Some(found) = live.into_iter().find(|environment| environment.name() == name) {
            return found;
        }
    }
    panic!("no environment {name}");
}

/// Time passes; where the store has a clock of its own it passes by itself.
fn seconds_pass(office: &Office, seconds: i64) {
    office.clock.set(office.clock.now().plus_seconds(seconds));
}

/// Waits until something is so.
async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), waiting).await;
    assert!(waited.is_ok(), "{what} does not come");
}

/// Waits until the last run has put its things away, which it does after its last word.
async fn at_rest(office: &Office) {
    let nobody = || async {
        let now = office.engine.store_now().await.expect("a time");
        office.engine.store().leases(now).await.is_ok_and(|leases| leases.is_empty())
    };
    until("rest", nobody).await;
}

/// A conversation reads so. Where the tests' own files are is left out.
#[track_caller]
fn reads(office: &Office, talk: &Talk, conversation: &str, expected: &str) {
    let transcript = talk.transcript(conversation).replace(&format!("{}/", office.notes().display()), "");
    let transcript = transcript.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(transcript, plain(expected), "in {conversation}:\n{transcript}");
}

/// A text as it stands in the code, without the indentation around it.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text).trim_end();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let least = text.lines().filter(|line| !line.is_empty()).map(indentation).min().unwrap_or(0);
    text.lines().map(|line| line.get(least..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Nothing of the machine is in what the bot said.
fn says_nothing_of(talk: &Talk, conversation: &str, path: &Path) {
    let path = path.display().to_string();
    for (text, _) in talk.said_in(conversation) {
        assert!(!text.contains(&path), "{text}");
    }
}
