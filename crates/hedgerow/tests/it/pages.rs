//! The pages tell the truth: what they say to type is understood, what they list is what there is.

use std::fs;
use std::path::Path;

use hedgerow_core::command::{COMMANDS, Parsed, parse, present};
use hedgerow_testkit::{Cli, TestRepo};

use crate::desk::Desk;
use crate::json::fields;

const PAGES: [&str; 9] = [
    "docs/commands.md",
    "README.md",
    "docs/guide.md",
    "docs/safety.md",
    "docs/configuration.md",
    "docs/json.md",
    "docs/exit-codes.md",
    "docs/gateway.md",
    "docs/github.md",
];

fn read(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The fenced blocks of one language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// Lines for a shell that call us, but for those that need the network or another shell, or that stay.
fn commands(page: &str) -> Vec<String> {
    let text = read(page);
    let lines = blocks(&text, "sh").into_iter().flat_map(str::lines).map(str::to_owned);
    let ours = lines.filter(|line| line.contains("hedgerow ") || line.starts_with("hcd "));
    let others = ["https://", "| source", "--watch"];
    ours.filter(|line| !line.starts_with("cargo ") && !others.iter().any(|other| line.contains(other))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_our_pages_is_understood() {
    let desk = Desk::new().await;
    desk.repo.commit_on_origin("feature/auth", "auth.rs", "fn auth() {}\n");
    let mut count = 0;
    for page in PAGES {
        for line in commands(page) {
            let prepare = if line.contains("hcd ") { "eval \"$(hedgerow shell-init bash)\"\n" } else { "" };
            let said = desk.cli.type_in(desk.repo.path(), &format!("{prepare}{line}"));
            let is_usage_error = said.stderr().contains("`--help` explains") || said.stderr().contains("Usage:");
            assert!(!is_usage_error && said.status() != 127, "{page}: `{line}`\n{said}");
            count += 1;
        }
    }
    assert!(count > 40, "only {count} commands found; does this test still read the pages?");
}

#[test]
fn every_command_of_a_chat_is_on_its_page_and_its_examples_work() {
    let page = read("docs/commands.md");
    for help in COMMANDS {
        let is_listed = page.lines().any(|line| line.starts_with(&format!("- `{}` - ", help.usage)));
        assert_eq!(is_listed, help.instead.is_none(), "docs/commands.md and the table differ on `{}`", help.usage);
    }
    let listed = page.lines().filter_map(|line| line.strip_prefix("- `/")).count();
    assert_eq!(listed, present().count() + 1, "all of the table, and templates");
    let examples: Vec<&str> = blocks(&page, "text").into_iter().flat_map(str::lines).collect();
    assert!(examples.len() > 15, "{examples:?}");
    for example in examples {
        assert!(matches!(parse(example), Parsed::Command(_)), "docs/commands.md: `{example}`");
    }
}

#[test]
fn every_example_of_settings_is_good_where_it_belongs() {
    let page = read("docs/configuration.md");
    let (machines, repositories) = page.split_once("## In a repository").expect("a section for repositories");
    let entries_from = |cli: &Cli, at: &Path, line: &[&str], place: &str| {
        let said = cli.run(at, line).success();
        let entries: Vec<serde_json::Value> = serde_json::from_str(&said.stdout()).expect("an array");
        entries.iter().filter(|entry| entry["from"].as_str().is_some_and(|from| from.contains(place))).count()
    };
    let home = tempfile::tempdir().expect("a home");
    let cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), home.path());
    for example in blocks(machines, "toml") {
        fs::write(home.path().join("hedgerow.toml"), example).expect("a configuration");
        let taken = entries_from(&cli, home.path(), &["config", "--json"], "hedgerow.toml, line");
        assert_eq!(taken, example.matches(" = ").count(), "{example}");
    }
    let repo = TestRepo::without_remote(&home.path().join("code"), "shop");
    let _ = cli.run(repo.path(), &["codebase", "add"]).success();
    for example in blocks(repositories, "toml") {
        repo.commit(".hedgerow/config.toml", example);
        let line = ["config", "--json", "--codebase", "shop"];
        let taken = entries_from(&cli, repo.path(), &line, ".hedgerow/config.toml at main");
        assert_eq!(taken, example.matches(" = ").count(), "{example}");
    }
}

#[test]
fn every_field_of_an_environment_is_on_its_page() {
    let page = read("docs/json.md");
    for field in fields() {
        assert!(page.contains(&format!("`{field}`")), "docs/json.md does not explain `{field}`");
    }
    for block in blocks(&page, "json") {
        let parsed = serde_json::from_str::<serde_json::Value>(block);
        assert!(parsed.is_ok(), "docs/json.md shows what is not JSON: {parsed:?}\n{block}");
    }
}
