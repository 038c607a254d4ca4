//! Command lines, and what they are taken for.

use hedgerow_core::{BranchName, CommitSha, Hints, Work};

use super::env::create::Wanted;
use super::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// `env cleanup` without anything else.
const CLEANUP: &str = "Env(Cleanup(Arguments { what: None, dry_run: false, all: false, due: false, watch: false }))";

fn parse(line: &[&str]) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(["hedgerow"].iter().chain(line))
}

/// What a command line was taken for, in the words of the arguments' own `Debug`.
fn verb(line: &[&str]) -> String {
    let arguments = parse(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
    format!("{:?}", arguments.verb.expect("a verb"))
}

fn wanted(line: &[&str]) -> Wanted {
    match parse(line).map(|arguments| arguments.verb) {
        Ok(Some(Verb::Env(env::Verb::Create(verb)))) => verb.wanted(),
        other => panic!("{line:?}: {other:?}"),
    }
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch")
}

#[test]
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn every_verb_explains_itself() {
    fn walk(command: &clap::Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        assert!(command.get_about().is_some(), "{path} has no help");
        for argument in command.get_arguments().filter(|argument| !argument.is_positional()) {
            assert!(argument.get_help().is_some(), "{path} --{} has no help", argument.get_id());
        }
        command.get_subcommands().for_each(|inner| walk(inner, &path));
    }
    walk(&Arguments::command(), "");
}

#[test]
fn every_verb_is_understood() {
    let cases: &[(&[&str], &str)] = &[
        (&["codebase", "add"], r#"Codebase(Add { source: ".", name: None })"#),
        (&["codebase", "add", "../x", "--name", "shop"], r#"Codebase(Add { source: "../x", name: Some("shop") })"#),
        (&["codebase", "list"], "Codebase(List)"),
        (&["codebase", "show"], "Codebase(Show { name: None })"),
        (&["codebase", "remove", "shop"], r#"Codebase(Remove { name: "shop" })"#),
        (&["codebase", "trust", "shop"], r#"Codebase(Trust { name: "shop" })"#),
        (&["env", "list", "--all", "--full"], "Env(List(Arguments { all: true, full: true, names: false }))"),
        (&["env", "list", "--names"], "Env(List(Arguments { all: false, full: false, names: true }))"),
        (&["env", "show"], "Env(Show(Arguments { name: None, full: false, diff: false }))"),
        (&["env", "show", "x", "--full"], r#"Env(Show(Arguments { name: Some("x"), full: true, diff: false }))"#),
        (&["env", "show", "x", "--diff"], r#"Env(Show(Arguments { name: Some("x"), full: false, diff: true }))"#),
        (&["env", "path", "x"], r#"Env(Path(Arguments { name: Some("x") }))"#),
        (&["env", "adopt", "../x"], r#"Env(Adopt(Arguments { worktree: "../x" }))"#),
        (&["env", "remove"], "Env(Remove(Arguments { name: None, force: false }))"),
        (&["env", "remove", "x", "--force"], r#"Env(Remove(Arguments { name: Some("x"), force: true }))"#),
        (&["env", "restore", "x"], r#"Env(Restore(Arguments { name: "x" }))"#),
        (&["env", "checkpoint"], "Env(Checkpoint(Arguments { name: None, label: None }))"),
        (&["env", "checkpoints", "x"], r#"Env(Checkpoints(ListArguments { name: Some("x") }))"#),
        (&["env", "undo", "--to", "3"], "Env(Undo(Arguments { name: None, to: Some(3) }))"),
        (&["env", "purge", "x"], r#"Env(Purge(Arguments { name: "x" }))"#),
        (&["vault", "verify", "--all"], "Vault(Verify(Arguments { all: true }))"),
        (&["env", "keep", "x"], r#"Env(Keep(Arguments { name: Some("x") }))"#),
        (&["env", "unkeep", "x"], r#"Env(Unkeep(Arguments { name: Some("x") }))"#),
        (&["env", "cleanup"], CLEANUP),
        (&["env", "cleanup", "orphans"], &CLEANUP.replace("None", "Some(Orphans)")),
        (
            &["env", "cleanup", "merged", "--dry-run"],
            &CLEANUP.replace("None, dry_run: false", "Some(Merged), dry_run: true"),
        ),
        (&["env", "cleanup", "--all"], &CLEANUP.replace("all: false", "all: true")),
        (&["env", "cleanup", "--due"], &CLEANUP.replace("due: false", "due: true")),
        (&["env", "cleanup", "--watch"], &CLEANUP.replace("watch: false", "watch: true")),
        (&["env", "orphans"], "Env(Orphans)"),
        (&["env", "trash", "--all"], "Env(Trash(Arguments { all: true }))"),
        (&["env", "diff", "x", "--stat"], r#"Env(Diff(Arguments { name: Some("x"), stat: true }))"#),
        (
            &["github", "setup", "--url", "https://h.example/", "--create"],
            r#"Github(Setup(Arguments { url: "https://h.example", org: None, name: None, create: true }))"#,
        ),
        (
            &["github", "replay", "a.json", "b.json", "--event", "issues"],
            r#"Github(Replay(Arguments { files: ["a.json", "b.json"], event: Some("issues"), delivery: None, url: None }))"#,
        ),
        (&["doctor"], "Doctor(Arguments { fix: false })"),
        (&["doctor", "--fix"], "Doctor(Arguments { fix: true })"),
        (&["config"], "Config(Arguments { verb: None })"),
        (&["config", "show"], "Config(Arguments { verb: Some(Show) })"),
        (&["config", "path"], "Config(Arguments { verb: Some(Path) })"),
        (&["completions", "zsh"], "Completions(Arguments { shell: Zsh })"),
        (&["shell-init", "fish"], "ShellInit(Arguments { shell: Fish })"),
        (&["supervise", "--", "a", "--b"], r#"Supervise(Arguments { command: ["a", "--b"] })"#),
    ];
    for (line, taken_for) in cases {
        assert_eq!(verb(line), *taken_for, "{line:?}");
    }
}

#[test]
fn a_program_keeps_all_of_its_arguments() {
    let command = |line: &[&str]| match parse(line) {
        Ok(Arguments { global, verb: Some(Verb::Env(env::Verb::Exec(exec))) }) => {
            (format!("{exec:?}").replace("Arguments ", ""), global.json)
        }
        other => panic!("{line:?}: {other:?}"),
    };
    let whole = r#"{ name: "x", command: ["ls", "--json", "--", "-v"] }"#.to_owned();
    assert_eq!(command(&["env", "exec", "x", "--", "ls", "--json", "--", "-v"]), (whole.clone(), false));
    assert_eq!(command(&["env", "exec", "--json", "x", "--", "ls", "--json", "--", "-v"]), (whole, true));
    let bare = r#"{ name: "x", command: ["ls", "-l"] }"#.to_owned();
    assert_eq!(command(&["env", "exec", "x", "ls", "-l"]), (bare, false));
}

#[test]
fn each_kind_of_work_becomes_a_request() {
    let plain = |work: Work| Wanted {
        hints: Hints { work: Some(work.clone()), ..Hints::default() },
        work,
        branch: None,
        is_quiet: false,
    };
    assert_eq!(wanted(&["env", "create", "issue", "42"]), plain(Work::Issue(42)));
    assert_eq!(wanted(&["env", "create", "issue", "#42"]), plain(Work::Issue(42)));
    assert_eq!(wanted(&["env", "create", "thread", "C1:17.2"]), plain(Work::Thread("C1:17.2".into())));
    let task = plain(Work::Task("add-dark-mode".into()));
    assert_eq!(wanted(&["env", "create", "task", "add dark mode"]), task);
    assert_eq!(wanted(&["env", "create", "task", "add", "dark", "mode"]), task);

    let named = Wanted { branch: Some(branch("feature/x")), ..plain(Work::Task("feature/x".into())) };
    assert_eq!(wanted(&["env", "create", "branch", "feature/x"]), named);

    let line = ["env", "create", "issue", "7", "--base", "dev", "--description", "why", "-q", "--fixed-by", "8,9"];
    let issue = wanted(&line);
    assert!(issue.is_quiet);
    assert_eq!(issue.hints.base_branch, Some(branch("dev")));
    assert_eq!(issue.hints.description.as_deref(), Some("why"));
    assert_eq!(issue.hints.linked_prs, [8, 9]);
}

#[test]
fn a_pull_request_carries_what_is_known_about_it() {
    let flags = ["--branch", "feature/auth", "--sha", SHA, "--fork", "--fixes", "42", "--fixes", "43"];
    for (kind, work) in [("pr", Work::PullRequest(99)), ("review", Work::Review(99))] {
        let line: Vec<&str> = ["env", "create", kind, "99"].iter().chain(&flags).copied().collect();
        let hints = Hints {
            work: Some(work.clone()),
            pr_branch: Some(branch("feature/auth")),
            pr_head: CommitSha::parse(SHA).ok(),
            is_fork: true,
            linked_issues: vec![42, 43],
            ..Hints::default()
        };
        assert_eq!(wanted(&line), Wanted { work, hints, branch: None, is_quiet: false });
    }
}

#[test]
fn global_flags_work_behind_any_verb() {
    let line = ["env", "create", "issue", "42", "--codebase", "shop", "--json", "--home", "/h", "-vv"];
    let global = parse(&line).expect("parses").global;
    assert_eq!((global.codebase.as_deref(), global.json, global.verbose), (Some("shop"), true, 2));
    assert_eq!(global.home.as_deref(), Some(std::path::Path::new("/h")));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let cases: &[&[&str]] = &[
        &["env", "create", "issue", "0"],
        &["env", "create", "issue", "-1"],
        &["env", "create", "issue", "x"],
        &["env", "create", "issue", "99999999999999999999"],
        &["env", "create", "issue", "42", "43"],
        &["env", "create", "pr", "9", "--sha", "abc"],
        &["env", "create", "pr", "9", "--branch", "a..b"],
        &["env", "create", "branch", "--upload-pack=x"],
        &["env", "create", "branch", "--", "-x"],
        &["env", "create", "branch", "HEAD"],
        &["env", "create", "task", "  "],
        &["env", "create", "thread", ""],
        &["env", "create", "workflow", "x"],
        &["env", "cleanup", "old"],
        &["env", "cleanup", "merged", "--all"],
        &["env", "cleanup", "--all", "--due"],
        &["env", "cleanup", "--watch", "--due"],
        &["env", "cleanup", "--watch", "--dry-run"],
        &["env", "exec", "x"],
        &["env", "list", "--names", "--json"],
        &["env"],
        &["github", "setup"],
        &["github", "setup", "--url", "h.example"],
        &["github", "replay"],
        &["github", "replay", "a.json", "--event", "Issues!"],
        &["shell-init", "tcsh"],
    ];
    for line in cases {
        assert_eq!(parse(line).expect_err("must be refused").exit_code(), 2, "{line:?}");
    }
}
