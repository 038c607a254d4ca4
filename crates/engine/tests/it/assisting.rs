//! Any program as an assistant: what it is told, what is heard of it, and where it may work.

mod acp;
mod ending;
mod office;
mod pages;
mod supervising;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use hedgerow_core::RunId;
use hedgerow_core::assistant::{AssistantError, Update};
use hedgerow_testkit::brain;

use office::{Office, text, tool};

#[tokio::test(flavor = "multi_thread")]
async fn text_and_tools_come_as_they_are_said_and_the_answer_last() {
    let office = Office::open().await;
    let (updates, ending) = office.fake("say hello\ntool edit README.md\nwrite a.txt two words\nsay bye").await;
    assert_eq!(updates, [text("hello\n"), tool("edit README.md"), text("bye\n")]);
    let outcome = ending.expect("it went well");
    assert_eq!(outcome.answer, "hello\nbye");
    assert!(outcome.session.is_some());
    assert_eq!(fs::read_to_string(office.place().join("a.txt")).expect("it was written"), "two words\n");
    let (_, ending) = office.fake("please do\nwhat you can").await;
    assert_eq!(ending.expect("it went well").answer, "echo: please do\nwhat you can");
    let began: Vec<_> = brain::runs(office.notes()).into_iter().map(|(_, first)| first).collect();
    assert_eq!(began, ["say hello", "please do"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_heard_before_the_program_is_done() {
    let office = Office::open().await;
    let mut updates = office.starts(&office.supervised(), "say first\nwait-for go\nsay second");
    assert_eq!(office::next(&mut updates).await.expect("an update").expect("text"), text("first\n"));
    fs::write(office.place().join("go"), "").expect("it can be written");
    assert_eq!(office::next(&mut updates).await.expect("an update").expect("text"), text("second\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_by_its_name_until_it_is_forgotten() {
    let office = Office::open().await;
    let (_, ending) = office.fake("remember apples").await;
    let session = ending.expect("it went well").session;
    let assistants = office.supervised();
    let turn = |prompt: &str| hedgerow_core::assistant::Turn { resume: session.clone(), ..office.turn(prompt) };
    let (_, ending) = office::all(office.runs(&assistants, turn("recall"))).await;
    let outcome = ending.expect("it went well");
    assert_eq!((outcome.answer.as_str(), &outcome.session), ("apples", &session));
    let (_, ending) = office::all(office.runs(&assistants, turn("forget-session"))).await;
    assert!(matches!(ending, Err(AssistantError::UnknownSession)), "{ending:?}");
    let (_, ending) = office.fake("forget-session\nrecall").await;
    assert_eq!(ending.expect("a new session cannot be forgotten").answer, "nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_program_is_an_assistant() {
    let office = Office::open().await;
    let (updates, ending) = office.program(&["echo", "hello", "there"], "whatever").await;
    assert_eq!(updates, [text("hello there\n")]);
    let outcome = ending.expect("it went well");
    assert_eq!((outcome.answer.as_str(), outcome.session), ("hello there", None));
    // It does not read a prompt that no pipe holds, either.
    let (_, ending) = office.program(&["echo", "-n", "hello"], &"x".repeat(1 << 20)).await;
    assert_eq!(ending.expect("it went well").answer, "hello");
    // All of a prompt arrives.
    let (_, ending) = office.program(&["wc", "-c"], &"x".repeat(1 << 20)).await;
    let count = ending.expect("it went well").answer.parse::<usize>().expect("a number");
    assert!(count > 1 << 20, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_is_text_and_harms_nobody() {
    let office = Office::open().await;
    let (updates, ending) = office.fake("garbage\nsay still here").await;
    let garbage = "\u{fffd}\u{fffd}{\"type\":\n\u{fffd}\u{1b}[2J\n{}\n[]\n{\"type\":7}\n";
    let heard: String = updates.iter().map(|update| if let Update::Text(text) = update { text } else { "" }).collect();
    assert_eq!(heard, format!("{garbage}still here\n"));
    assert_eq!(ending.expect("it went well").answer, "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_missing() {
    let office = Office::open().await;
    fs::write(office.place().join("mine"), "#!/bin/sh\necho evil\n").expect("it can be written");
    office.make_executable("mine");
    for (program, why) in [
        ("no-such-program-here", "there is no program `no-such-program-here` in `PATH`"),
        ("/no/such/program", "`/no/such/program` is no program"),
        ("/etc/passwd", "`/etc/passwd` is no program"),
        ("/etc", "`/etc` is no program"),
        ("./mine", "`./mine` must be a name in `PATH`, or begin with `/`"),
        ("mine", "there is no program `mine` in `PATH`"),
        ("bin/../mine", "`bin/../mine` must be a name in `PATH`, or begin with `/`"),
        ("..", "`..` must be a name in `PATH`, or begin with `/`"),
    ] {
        let (_, ending) = office.program(&[program], "go").await;
        match ending {
            Err(AssistantError::Missing(words)) => assert_eq!(words, why),
            other => panic!("{program}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_in_a_subfolder_that_is_really_inside() {
    let office = Office::open().await;
    let place = office.place();
    fs::create_dir_all(place.join("a/b")).expect("folders");
    fs::write(place.join("file"), "").expect("a file");
    let elsewhere = office.notes().join("elsewhere");
    fs::create_dir_all(elsewhere.join("b")).expect("folders");
    symlink(&elsewhere, place.join("out")).expect("a link");
    symlink("a", place.join("in")).expect("a link");
    let within = async |subfolder: &str| {
        let turn = hedgerow_core::assistant::Turn { subfolder: Some(PathBuf::from(subfolder)), ..office.turn("go") };
        office::all(office.runs(&office::plain(&["pwd"]), turn)).await.1.map(|outcome| outcome.answer)
    };
    let real = place.canonicalize().expect("it is there").join("a/b").display().to_string();
    assert_eq!(within("a/b").await.expect("it is inside"), real);
    assert_eq!(within("in/b").await.expect("the link stays inside"), real);
    let outside = elsewhere.display().to_string();
    for bad in ["out", "out/b", "..", "a/../..", outside.as_str(), "no/such", "file"] {
        let error = within(bad).await.expect_err(bad).to_string();
        assert!(error.starts_with("the assistant failed: cannot work in `"), "{bad}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_without_its_folder_is_said() {
    let office = Office::open().await;
    let turn = office.turn("go");
    fs::remove_dir_all(office.place()).expect("it goes");
    let (_, ending) = office::all(office.runs(&office::plain(&["pwd"]), turn)).await;
    assert!(ending.expect_err("nowhere to work").to_string().contains("cannot work in"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_of_another_place_is_not_good_enough() {
    let office = Office::open().await;
    let other = Office::open().await;
    let (_, ending) = office::all(other.runs(&office::plain(&["touch", "evil"]), office.turn("go"))).await;
    assert!(ending.expect_err("not leased").to_string().contains("the lease is of another place"));
    assert!(!office.place().join("evil").exists());
}

/// What the program may find of the server's own variables, and what we add.
const SEEN: [&str; 19] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
    "RUSTUP_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "VOLTA_HOME",
    "ASDF_DIR",
    "JAVA_HOME",
    "GOROOT",
    "HEDGEROW_RUN",
    "HEDGEROW_BRANCH",
];

/// Starts itself once more as a server with secrets.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_the_server_reaches_the_program() {
    if std::env::var_os("HEDGEROW_TOKEN").is_none() {
        let name = "assisting::no_secret_of_the_server_reaches_the_program";
        let mut server = Command::new(std::env::current_exe().expect("this test"));
        server.args(["--exact", name]).env("HEDGEROW_TOKEN", "s3cret").env("GITHUB_TOKEN", "s3cret");
        server.env("DATABASE_URL", "postgres://u:s3cret@h/d").env("LANG", "C.UTF-8").env("GIT_DIR", "/s3cret");
        let output = server.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        return;
    }
    let office = Office::open().await;
    for assistants in [office::plain(&["env"]), office::unsupervised(&["env"])] {
        let run = RunId::new();
        let mut turn = office.turn("go");
        turn.run = run;
        turn.variables = vec![("HEDGEROW_BRANCH".to_owned(), "issue-42".to_owned())];
        let environment = office::all(office.runs(&assistants, turn)).await.1.expect("it went well").answer;
        assert!(!environment.contains("s3cret"), "{environment}");
        let lines: BTreeSet<_> = environment.lines().collect();
        for expected in [&format!("HEDGEROW_RUN={run}"), "HEDGEROW_BRANCH=issue-42", "LANG=C.UTF-8"] {
            assert!(lines.contains(expected), "{expected} is not in {environment}");
        }
        let strange = lines.iter().find(|line| !SEEN.iter().any(|name| line.starts_with(&format!("{name}="))));
        assert_eq!(strange, None);
    }
}
