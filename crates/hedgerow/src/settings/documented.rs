//! The table in `docs/configuration.md` and the list of keys say the same.

use hedgerow_engine::repository_config;

use super::keys::{self, Form, Key, Unset};

const PAGE: &str = include_str!("../../../../docs/configuration.md");
const TEST: &str = include_str!("../../../../test");

/// Key, variable, default, range, and what a repository may do with it.
type Row = [String; 5];

/// The rows of the one table whose head names the keys.
fn documented() -> Vec<Row> {
    let table = PAGE.lines().skip_while(|line| !line.starts_with("| key | variable | default | range |"));
    let rows = table.skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [key, variable, default, range, meaning, repository] = cells[..] else { panic!("cells of {line}") };
        assert!(!meaning.is_empty(), "{key} has no meaning");
        [key, variable, default, range, repository].map(str::to_owned)
    };
    rows.map(row).collect()
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

fn in_code(key: &Key) -> Row {
    let (default, range) = match key.form {
        Form::Number { least, greatest, default } => (default.to_string(), format!("{least} to {greatest}")),
        Form::Flag(default) => (default.to_string(), String::new()),
        Form::Text(Unset::Is(text)) | Form::List(Unset::Is(text)) | Form::Table(Unset::Is(text)) => {
            (quoted(text), String::new())
        }
        Form::Text(Unset::Means(words)) | Form::List(Unset::Means(words)) | Form::Table(Unset::Means(words)) => {
            (words.to_owned(), String::new())
        }
    };
    let repository = match key.name {
        repository_config::ASSISTANT => "yes",
        repository_config::RUN_TIMEOUT | repository_config::IDLE_TIMEOUT => "shorter only",
        _ => "",
    };
    [quoted(key.name), key.variable.map(quoted).unwrap_or_default(), default, range, repository.to_owned()]
}

#[test]
fn the_table_in_the_documentation_is_the_list_of_keys() {
    let mut expected: Vec<Row> = keys::all().map(in_code).collect();
    expected.push([&quoted(repository_config::COMMANDS), "", "none", "", "only there"].map(ToString::to_string));
    let documented = documented();
    for (written, expected) in documented.iter().zip(&expected) {
        assert_eq!(written, expected);
    }
    assert_eq!(documented.len(), expected.len());
}

#[test]
fn every_key_of_a_repository_is_marked_in_the_table() {
    let marked: Vec<String> =
        documented().into_iter().filter(|row| !row[4].is_empty()).map(|row| row[0].clone()).collect();
    assert_eq!(marked, repository_config::KEYS.map(quoted));
}

#[test]
fn the_test_command_unsets_every_variable() {
    let unset: Vec<&str> =
        TEST.lines().filter_map(|line| line.strip_prefix("unset ")).flat_map(str::split_whitespace).collect();
    for variable in keys::all().filter_map(|key| key.variable) {
        assert!(unset.contains(&variable), "./test does not unset {variable}");
    }
}
