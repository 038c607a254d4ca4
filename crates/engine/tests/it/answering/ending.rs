//! Every message ends in exactly one last word that says what happened and what to do next.

use std::time::Duration;

use hedgerow_engine::settings::Program;
use hedgerow_testkit::Office;

use super::{chat, environment, issue, long, reads};

#[tokio::test(flavor = "multi_thread")]
async fn commands_need_no_assistant() {
    let office = Office::with(|settings| settings.runs.assistants.clear()).await;
    office.given_a_repo("shop").await;
    for text in ["/getcwd", "/repo", "/wroktree list", "/nope", "/worktree", "/worktree create fix", "hello"] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    assert_eq!(office.runs(), [""; 0]);
    reads(
        &office,
        &office.chat,
        "C1:1",
        r#"
        alice: /getcwd
        bot: The agent starts at the top of the environment. `/setcwd <subfolder>` changes that.
        alice: /repo
        bot: That does not work: it needs the name of a codebase.
          It is used like this: `/repo <name>`
        alice: /wroktree list
        bot: There is no `/wroktree`. Did you mean `/worktree`? `/help` lists all commands.
        alice: /nope
        bot: There is no `/nope`. `/help` lists all commands, `/commands` the templates.
        alice: /worktree
        bot: That does not work: it needs to know what to do.
          It is used like this: `/worktree create|list|remove|restore|link|cleanup|orphans|keep|unkeep|diff|sync|pr`
        alice: /worktree create fix
        bot: Working in isolated branch `fix`
        alice: hello
        bot: No assistant is configured
          • install Claude Code, Codex, Gemini CLI or opencode, or name a program in `hedgerow.toml`: `[assistants.<name>]` with `command = ["program", "arg"]`; docs/assistants.md tells how it is spoken to
    "#,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_an_assistant_does_there_is_one_last_word() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let stories = [
        ("answers", "say all is well"),
        ("says nothing", "write a.txt a"),
        ("fails", "say I tried\nfail no key"),
        ("exits", "write b.txt b\nexit 3"),
        ("garbage", "garbage\nsay and yet"),
        ("flood", "flood"),
    ];
    for (conversation, text) in stories {
        office.gets(chat(&office, conversation, text)).await;
    }
    office.is_idle().await;
    for (conversation, _) in stories {
        let last = office.chat.said_in(conversation).iter().filter(|(_, last)| *last).count();
        assert_eq!(last, 1, "{}", office.chat.transcript(conversation));
    }
    reads(
        &office,
        &office.chat,
        "answers",
        "
        alice: say all is well
        bot… Working in isolated branch `thread-677fe21b`
        bot: all is well
    ",
    );
    reads(
        &office,
        &office.chat,
        "says nothing",
        "
        alice: write a.txt a
        bot… Working in isolated branch `thread-9448c923`
        bot: done
    ",
    );
    reads(
        &office,
        &office.chat,
        "fails",
        "
        alice: say I tried
          fail no key
        bot… Working in isolated branch `thread-c1481e2e`
        bot: I tried

          `fake` failed: no key. Its changes are kept; `/undo` takes them back.
    ",
    );
    reads(
        &office,
        &office.chat,
        "exits",
        "
        alice: write b.txt b
          exit 3
        bot… Working in isolated branch `thread-dc4a6edf`
        bot: `fake` broke off: it ended with exit status 3. Its changes are kept; `/undo` takes them back. Ask again to go on.
    ",
    );
    reads(
        &office,
        &office.chat,
        "garbage",
        "
        alice: garbage
          say and yet
        bot… Working in isolated branch `thread-795b6904`
        bot: and yet
    ",
    );
    reads(
        &office,
        &office.chat,
        "flood",
        "
        alice: flood
        bot… Working in isolated branch `thread-d8864644`
        bot: `fake` cannot be understood: it wrote a line longer than 16 MiB. Its changes are kept; `/undo` takes them back. Is its command the right one? `hedgerow doctor` on the server looks at it.
    ",
    );
    assert_eq!(office.engine.store().running().await.expect("the store answers"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assistant_that_cannot_be_started_is_told_with_the_way_to_another() {
    let office = Office::with(|settings| {
        settings.runs.assistants.push(Program::script("gone", ["/nonexistent/agent"]));
        settings.runs.assistant = Some("fake".to_owned());
    })
    .await;
    office.given_a_repo("shop").await;
    for text in ["/assistant gone", "say hello", "/assistant fake", "say hello"] {
        office.hears(chat(&office, "missing", text)).await;
    }
    reads(
        &office,
        &office.chat,
        "missing",
        "
        alice: /assistant gone
        bot: This conversation works with `gone` now.
        alice: say hello
        bot… Working in isolated branch `thread-ffa63583`
        bot: `gone` cannot be started: `…` is no program. `/assistant <name>` chooses another.
        alice: /assistant fake
        bot: This conversation works with `fake` now. Its session begins with your next message.
        alice: say hello
        bot: hello
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_says_nothing_or_takes_too_long_is_stopped() {
    let office = Office::with(|settings| {
        settings.runs.idle_timeout = Duration::from_secs(3);
        settings.runs.timeout = Duration::from_secs(5);
    })
    .await;
    office.given_a_repo("shop").await;
    office.gets(chat(&office, "hangs", "say wait\nhang")).await;
    office.gets(chat(&office, "takes too long", &["tool still here\nsleep 400"; 30].join("\n"))).await;
    office.is_idle().await;
    reads(
        &office,
        &office.chat,
        "hangs",
        "
        alice: say wait
          hang
        bot… Working in isolated branch `thread-db1f74e6`
        bot: wait

          Stopped: nothing was heard for 3 s. Its changes are kept; `/undo` takes them back. Ask again, after `/reset` if it hangs again.
    ",
    );
    let said = office.chat.said_in("takes too long");
    let last = "Stopped after 5 s, the longest a run may take. Its changes are kept; `/undo` takes them back. Tell it to go \
                on, in smaller steps.";
    assert_eq!(said[1..], [(last.to_owned(), true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_chooses_its_assistant_and_may_shorten_the_runs() {
    let office = Office::with(|settings| {
        settings.runs.timeout = Duration::from_secs(2);
        settings.runs.assistant = Some("fake".to_owned());
    })
    .await;
    let (repo, _) = office.given_a_repo("shop").await;
    // A wish for more than the machine allows is not granted.
    repo.commit(".hedgerow/config.toml", "assistant = \"nobody\"\n[run]\ntimeout_minutes = 5\n");
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:1", "say hello")).await;
    office.hears(chat(&office, "C1:1", "/assistant fake")).await;
    office.hears(chat(&office, "C1:1", &long(&office, "run"))).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say hello
        bot: There is no assistant `nobody`
          • there is `fake`; choose one with `/assistant <name>`
        alice: /assistant fake
        bot: This conversation works with `fake` now.
        alice: touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `thread-1b863934`
        bot: Stopped after 2 s, the longest a run may take. Its changes are kept; `/undo` takes them back. Tell it to go on, in smaller steps.
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_limit_of_the_repository_counts_when_it_is_lower() {
    let office = Office::with(|settings| settings.runs.idle_timeout = Duration::from_hours(2)).await;
    let (repo, codebase) = office.given_a_repo("shop").await;
    repo.commit(".hedgerow/config.toml", "[run]\nidle_timeout_minutes = 3\n");
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    // A branch of its own does not count.
    office.hears(issue(&office, 42, "write .hedgerow/config.toml nonsense\nsay hello")).await;
    let config = office.engine.repository_config(&codebase).await.expect("it can be read");
    assert_eq!(config.idle_timeout, Some(Duration::from_mins(3)));
    assert!(environment(&office, "issue-42").await.path.join(".hedgerow/config.toml").exists());
    office.hears(issue(&office, 42, "say still here")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write .hedgerow/config.toml nonsense
          say hello
        bot… Working in isolated branch `issue-42`
        bot: hello
        alice: say still here
        bot: still here
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_configuration_of_the_repository_is_told_and_commands_still_work() {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.commit(".hedgerow/config.toml", "asistant = \"fake\"\n");
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:1", "say hello")).await;
    office.hears(chat(&office, "C1:1", "/getcwd")).await;
    assert_eq!(office.runs(), [""; 0]);
    reads(&office, &office.chat, "C1:1", "
        alice: say hello
        bot: Unknown key `asistant` (.hedgerow/config.toml at main (fccd8a1), line 1)
          • a repository's keys are `assistant`, `run.timeout_minutes`, `run.idle_timeout_minutes`, `commands`; everything else is in hedgerow.toml
          • correct it on the base branch; it counts as soon as that is fetched
        alice: /getcwd
        bot: The agent starts at the top of the environment. `/setcwd <subfolder>` changes that.
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_the_prompt_with_its_arguments_in_place() {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.commit(".hedgerow/commands/greet.md", "---\ndescription: Greets\n---\nsay Hello $1, $ARGUMENTS!\n");
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:1", "/load-commands .hedgerow/commands")).await;
    office.hears(chat(&office, "C1:1", "/greet Ada and Grace")).await;
    office.hears(chat(&office, "C1:1", "/gret Ada")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: /load-commands .hedgerow/commands
        bot: Loaded 1 template: `/greet`
        alice: /greet Ada and Grace
        bot… Working in isolated branch `thread-1b863934`
        bot: Hello Ada, Ada and Grace!
        alice: /gret Ada
        bot: There is no `/gret`. Did you mean `/greet`? `/help` lists all commands.
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_assistant_left_at_work_is_gone_when_its_last_word_is_said() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let pid = office.signal("daemon.pid");
    office.hears(chat(&office, "C1:1", &format!("spawn-daemon {}\nsay left something", pid.display()))).await;
    assert!(pid.exists(), "it was there");
    // In a cage it has another id than out here; its command line is the same.
    let processes = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    let command_lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let named = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(&*pid.to_string_lossy());
    assert!(!command_lines.into_iter().any(named), "it is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_cannot_show_what_happens_still_gets_the_answer() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.chat.cannot_show();
    office.hears(chat(&office, "C1:1", "say done")).await;
    assert_eq!(office.chat.said_in("C1:1").last(), Some(&("done".to_owned(), true)));
}
