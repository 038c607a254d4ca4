//! The programs that docs/assistants.md shows, run.

use std::fs;
use std::path::Path;

use hedgerow_core::assistant::{AssistantError, Turn};
use hedgerow_testkit::git::git;

use super::office::{self, Office, text, tool};

/// The block of code in a language.
fn shown(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/assistants.md");
    let page = fs::read_to_string(page).expect("the page");
    let block = page.split(&format!("```{language}\n")).nth(1).expect("a block of it");
    block.split("```").next().expect("it ends").to_owned()
}

fn written(office: &Office, name: &str, language: &str) -> String {
    let file = office.notes().join(name);
    fs::write(&file, shown(language)).expect("it can be written");
    office.make_executable(&format!("../{name}"));
    file.to_string_lossy().into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_in_bash_works() {
    let office = Office::open().await;
    let place = office.place();
    git(&place, &["init", "--quiet"]);
    git(&place, &["commit", "--quiet", "--allow-empty", "-m", "begin"]);
    fs::write(place.join("new"), "").expect("a file");
    let (updates, ending) = office.program(&[&written(&office, "mine.sh", "bash")], "hi").await;
    assert!(updates.contains(&tool("git log")), "{updates:?}");
    let answer = "The last commits here:\n- begin\nThere are changes that are not committed.";
    assert_eq!(ending.expect("it went well").answer, answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_in_python_works_and_remembers() {
    let office = Office::open().await;
    let memory = office.notes().join("memory");
    let program = written(&office, "mine.py", "python");
    let assistants = office::plain(&[&program, &memory.to_string_lossy()]);
    let asked = async |session: Option<String>| {
        office::all(office.runs(&assistants, Turn { resume: session, ..office.turn("why?") })).await
    };
    let (updates, ending) = asked(None).await;
    let outcome = ending.expect("it went well");
    let session = outcome.session.expect("a session");
    assert_eq!(outcome.answer, "You asked 1 times, last: why?");
    assert_eq!(updates, [tool(&format!("remember {session}")), text("You asked: why?\n")]);
    let (_, ending) = asked(Some(session.clone())).await;
    assert_eq!(ending.expect("it went well").answer, "You asked 2 times, last: why?");
    let (_, ending) = asked(Some("never-heard-of".to_owned())).await;
    assert!(matches!(ending, Err(AssistantError::UnknownSession)), "{ending:?}");
}
