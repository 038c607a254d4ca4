//! Every command as people type it, and as they mistype it.

use hedgerow_core::BranchName;
use hedgerow_core::command::{
    COMMANDS, CleanupWhat, Command, Help, MergeStyle, Parsed, Worktree, can_name_template, help, nearest, nearest_of,
    parse, template_words,
};

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

fn create(name: &str, base: Option<&str>) -> Command {
    Command::Worktree(Worktree::Create { branch: branch(name), base: base.map(branch) })
}

fn remove(name: Option<&str>, force: bool) -> Command {
    Command::Worktree(Worktree::Remove { name: name.map(str::to_owned), force })
}

fn link(work: &str) -> Command {
    Command::Worktree(Worktree::Link { work: work.to_owned() })
}

fn cleanup(what: CleanupWhat, dry_run: bool) -> Command {
    Command::Worktree(Worktree::Cleanup { what, dry_run })
}

/// Each command of the table at least once.
fn every_command() -> Vec<(&'static str, Command)> {
    let text = str::to_owned;
    vec![
        ("/help", Command::Help),
        ("/status", Command::Status),
        ("/clone https://example.org/a.git", Command::Clone { url: text("https://example.org/a.git"), name: None }),
        ("/clone git@h:a/b shop", Command::Clone { url: text("git@h:a/b"), name: Some("shop".into()) }),
        ("/repos", Command::Repos),
        ("/repo shop", Command::Repo { name: text("shop") }),
        ("/repo-remove shop", Command::RepoRemove { name: text("shop") }),
        ("/setcwd \"my app\"", Command::SetCwd { subfolder: text("my app") }),
        ("/getcwd", Command::GetCwd),
        ("/assistant claude", Command::Assistant { name: Some(text("claude")) }),
        ("/assistant", Command::Assistant { name: None }),
        ("/reset", Command::Reset),
        ("/stop", Command::Stop),
        ("/undo", Command::Undo),
        ("/worktree create feature/auth", create("feature/auth", None)),
        ("/worktree create x --base develop", create("x", Some("develop"))),
        ("/worktree list", Command::Worktree(Worktree::List)),
        ("/worktree remove", remove(None, false)),
        ("/worktree remove issue-42 --force", remove(Some("issue-42"), true)),
        ("/worktree restore", Command::Worktree(Worktree::Restore { name: None })),
        ("/worktree restore issue-42", Command::Worktree(Worktree::Restore { name: Some("issue-42".into()) })),
        ("/worktree link issue-42", link("issue-42")),
        ("/worktree cleanup merged", cleanup(CleanupWhat::Merged, false)),
        ("/worktree cleanup stale --dry-run", cleanup(CleanupWhat::Stale, true)),
        ("/worktree cleanup orphans", cleanup(CleanupWhat::Orphans, false)),
        ("/worktree orphans", Command::Worktree(Worktree::Orphans)),
        ("/worktree keep", Command::Worktree(Worktree::Keep)),
        ("/worktree unkeep", Command::Worktree(Worktree::Unkeep)),
        ("/worktree setup", Command::Worktree(Worktree::Setup)),
        ("/worktree diff", Command::Worktree(Worktree::Diff)),
        ("/worktree sync", Command::Worktree(Worktree::Sync)),
        ("/worktree merge", Command::Worktree(Worktree::Merge(MergeStyle::Merge))),
        ("/worktree merge --squash", Command::Worktree(Worktree::Merge(MergeStyle::Squash))),
        ("/worktree merge --rebase", Command::Worktree(Worktree::Merge(MergeStyle::Rebase))),
        ("/worktree abort", Command::Worktree(Worktree::Abort)),
        ("/worktree pr", Command::Worktree(Worktree::Pr)),
        ("/commands", Command::Commands),
        ("/command-set plan a/plan.md", Command::CommandSet { name: text("plan"), path: text("a/plan.md") }),
        ("/load-commands .claude/commands", Command::LoadCommands { folder: text(".claude/commands") }),
    ]
}

#[test]
fn every_command_is_read_and_written_the_same_way() {
    let all = every_command();
    for (text, command) in &all {
        assert_eq!(parse(text), Parsed::Command(command.clone()), "{text}");
        assert_eq!(command.to_string(), *text);
    }
    for help in COMMANDS {
        let typed = format!("/{}", help.name());
        let tried = |text: &str| text.strip_prefix(&typed).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        assert!(all.iter().any(|(text, _)| tried(text)), "{} has a row above", help.usage);
    }
}

#[test]
fn every_line_of_help_is_a_command_and_its_example_works() {
    let text = help();
    for help in COMMANDS {
        let is_shown = text.contains(&format!("`{}` - {}", help.usage, help.about));
        assert_eq!(is_shown, help.instead.is_none(), "{}", help.usage);
        assert!(!matches!(parse(&format!("/{}", help.name())), Parsed::Unknown { .. } | Parsed::Template { .. }));
        if let Some(example) = help.example {
            assert!(matches!(parse(example), Parsed::Command(_)), "{example}");
        }
    }
}

#[test]
fn people_type_loosely() {
    let table = [
        ("  /status  ", Command::Status),
        ("/STATUS", Command::Status),
        ("/status@hedgerow_bot", Command::Status),
        ("/Worktree   Create\t x   --BASE   b", create("x", Some("b"))),
        ("/worktree create --base b x", create("x", Some("b"))),
        ("/worktree create --base=b x", create("x", Some("b"))),
        ("/worktree create x --base \"b\"", create("x", Some("b"))),
        ("/worktree create \"x\"", create("x", None)),
        ("/worktree remove --force issue-42", remove(Some("issue-42"), true)),
        ("/worktree remove \u{2014}force issue-42", remove(Some("issue-42"), true)),
        ("/worktree remove --force --force", remove(None, true)),
        ("/worktree remove \"--force\"", remove(Some("--force"), false)),
        ("/worktree remove \"a \\\"b\\\\\"", remove(Some("a \"b\\"), false)),
        ("/worktree cleanup --dry-run MERGED", cleanup(CleanupWhat::Merged, true)),
        ("/worktree link Issue-42", link("issue-42")),
        ("/repo \u{201c}my shop\u{201d}", Command::Repo { name: "my shop".into() }),
        ("/repo\nshop", Command::Repo { name: "shop".into() }),
    ];
    for (text, command) in table {
        assert_eq!(parse(text), Parsed::Command(command), "{text}");
    }
}

#[test]
fn links_take_the_written_forms_of_works_only() {
    for work in ["issue-42", "pr-99", "review-99", "thread-88ffbdf7", "task-add-dark-mode", "task-feature/auth"] {
        assert_eq!(parse(&format!("/worktree link {work}")), Parsed::Command(link(work)));
    }
    for bad in ["42", "#42", "issue", "issue-", "issue-0", "issue-x", "issue-042", "workflow-1", "thread-", "-issue-1"]
    {
        assert!(matches!(parse(&format!("/worktree link {bad}")), Parsed::Wrong { .. }), "{bad}");
    }
}

#[test]
fn a_wrong_use_says_what_is_wrong_and_what_is_right() {
    let create = "/worktree create <branch> [--base <branch>]";
    let cleanup = "/worktree cleanup merged|stale|orphans [--dry-run]";
    let set = "/command-set <name> <path>";
    let table = [
        ("/clone", "/clone <url> [name]", "it needs a URL"),
        ("/repo a b", "/repo <name>", "`b` is too much"),
        ("/repo \"\"", "/repo <name>", "an argument is empty"),
        ("/repo \"shop", "/repo <name>", "a quote is not closed"),
        ("/status now", "/status", "`now` is too much"),
        ("/status -v", "/status", "it has no option `-v`"),
        ("/worktree create", create, "it needs a branch"),
        ("/worktree create x --from y", create, "it has no option `--from`"),
        ("/worktree create x --base", create, "`--base` needs a value"),
        ("/worktree create --base --force x", create, "`--base` needs a value"),
        ("/worktree create x --base a --base b", create, "it has no option `--base`"),
        ("/worktree remove --frce", "/worktree remove [name] [--force]", "it has no option `--frce`"),
        ("/worktree cleanup", cleanup, "it needs `merged`, `stale` or `orphans`"),
        ("/worktree cleanup all", cleanup, "`all` is none of `merged`, `stale`, `orphans`"),
        (
            "/worktree merge --squash --rebase",
            "/worktree merge [--squash|--rebase]",
            "`--squash` and `--rebase` exclude each other",
        ),
        ("/command-set Help x.md", set, "`/help` is a command already"),
        ("/command-set worktree x.md", set, "`/worktree` is a command already"),
        ("/command-set a/b x.md", set, "`a/b` cannot be the name of a template"),
    ];
    for (text, usage, why) in table {
        assert_eq!(parse(text), Parsed::Wrong { usage, why: why.to_owned() }, "{text}");
    }
    for bad in ["\"a b\"", "a..b", "\"-x\"", "HEAD"] {
        let parsed = parse(&format!("/worktree create {bad}"));
        assert!(matches!(&parsed, Parsed::Wrong { why, .. } if why.contains("cannot be a branch name")), "{parsed:?}");
    }
    let Parsed::Wrong { usage, .. } = parse("/worktree") else { panic!("`/worktree` alone is wrong") };
    for help in COMMANDS {
        let Some(sub) = help.name().strip_prefix("worktree ") else { continue };
        let is_named = usage[10..].split('|').any(|word| word == sub);
        assert_eq!(is_named, help.instead.is_none(), "{usage}: {sub}");
    }
}

#[test]
fn everything_else_is_talk_a_template_or_unknown() {
    for talk in ["", "  ", "status", "please /status", "1/2"] {
        assert_eq!(parse(talk), Parsed::NotACommand, "{talk:?}");
    }
    let template = |name: &str, args: &str| Parsed::Template { name: name.to_owned(), args: args.to_owned() };
    assert_eq!(parse("/plan"), template("plan", ""));
    assert_eq!(parse("/Plan@bot  don't  \"stop\n now "), template("Plan", "don't  \"stop\n now"));
    assert_eq!(parse("/team:plan a"), template("team:plan", "a"));
    let unknown = |typed: &str, nearest| Parsed::Unknown { typed: typed.to_owned(), nearest };
    assert_eq!(parse("/"), unknown("", None));
    assert_eq!(parse("/ status"), unknown("", None));
    assert_eq!(parse("//"), unknown("/", None));
    assert_eq!(parse("/etc/hosts is wrong"), unknown("etc/hosts", None));
    assert_eq!(parse("/worktree lits"), unknown("worktree lits", Some("worktree list")));
    assert_eq!(parse("/worktree frobnicate"), unknown("worktree frobnicate", None));
}

#[test]
fn the_nearest_command_is_what_was_probably_meant() {
    let table = [
        ("stauts", Some("status")),
        ("STATS", Some("status")),
        ("hlep", Some("help")),
        ("rest", Some("reset")),
        ("cleanup", Some("worktree cleanup")),
        ("worktree rmove", Some("worktree remove")),
        ("load-command", Some("load-commands")),
        ("workree", Some("worktree")),
        ("deploy", None),
        ("x", None),
        ("", None),
    ];
    for (typed, expected) in table {
        assert_eq!(nearest(typed), expected, "{typed}");
    }
}

#[test]
fn a_template_gets_its_arguments_one_by_one() {
    assert_eq!(template_words("a \"b c\"  d"), ["a", "b c", "d"]);
    assert_eq!(template_words("a 5\" disk"), ["a", "5\"", "disk"]);
    assert!(template_words(" ").is_empty());
}

#[test]
fn what_is_not_there_yet_is_understood_and_never_suggested() {
    let absent: Vec<&str> = COMMANDS.iter().filter(|help| help.instead.is_some()).map(Help::name).collect();
    assert_eq!(absent, ["worktree setup", "worktree merge", "worktree abort"]);
    for name in absent {
        assert!(matches!(parse(&format!("/{name}")), Parsed::Command(_)), "{name}");
        assert_ne!(nearest(name), Some(name));
    }
}

#[test]
fn the_nearest_may_be_a_template() {
    let templates = ["Plan", "team:review", "statis"];
    let table = [
        ("plna", Some("Plan")),
        ("team:reviw", Some("team:review")),
        ("stats", Some("status")),
        ("statis", Some("statis")),
        ("deploy", None),
    ];
    for (typed, expected) in table {
        assert_eq!(nearest_of(typed, templates), expected, "{typed}");
    }
}

#[test]
fn templates_are_not_called_like_commands() {
    for good in ["plan", "team:plan", "Plan-2", "v1.2"] {
        assert!(can_name_template(good), "{good}");
    }
    for bad in ["help", "Help", "worktree", "a/b", "", "-x", ".x", "a b"] {
        assert!(!can_name_template(bad), "{bad}");
    }
}
