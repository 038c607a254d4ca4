//! The architecture, held by tests that read the source: who may start programs, name the database, print, grant
//! a lease. The compiler keeps most walls standing; these keep the ones it cannot see.

use std::fs;
use std::path::{Path, PathBuf};

// ---- who may do what: the doors in each wall, and nothing else -------------------------------------------------

/// Where the database's crate may be named.
const MAY_NAME_SQLX: &[&str] = &["crates/engine/src/store/", "crates/testkit/src/database.rs"];
/// Where git is started.
const MAY_SPAWN_GIT: &[&str] = &["crates/engine/src/git/", "crates/testkit/src/git.rs"];
/// Where any program is started.
const MAY_START_PROGRAMS: &[&str] = &[
    "crates/engine/src/git/",
    "crates/engine/src/assistant/checkup.rs",
    "crates/engine/src/assistant/start.rs",
    "crates/engine/src/assistant/supervisor.rs",
    "crates/engine/src/cage/probe.rs",
    "crates/hedgerow/src/cli/env/exec.rs",
    // Ourselves, without the secrets.
    "crates/hedgerow/src/settings/handover.rs",
    "crates/testkit/src/",
];
/// Where a lease comes into being.
const MAY_GRANT_LEASES: &[&str] = &["crates/engine/src/lease.rs"];
/// Where bytes go to stdout and stderr.
const MAY_PRINT: &[&str] = &["crates/hedgerow/src/output.rs", "crates/testkit/src/bin/"];
/// Where environment variables are read.
const MAY_READ_VARIABLES: &[&str] = &[
    "crates/hedgerow/src/settings.rs",
    "crates/hedgerow/src/settings/handover.rs",
    "crates/engine/src/git/",
    // What programs of assistants inherit is a short list of names, read where they are started.
    "crates/engine/src/assistant/surroundings.rs",
    "crates/testkit/src/",
];
/// Which of our crates each crate may depend on. `testkit` is for `[dev-dependencies]` alone.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("engine", &["core"]),
    ("platforms", &["core"]),
    ("web", &["core", "engine"]),
    ("hedgerow", &["core", "engine", "platforms", "web"]),
    ("testkit", &["core", "engine"]),
];
/// Production lines a file may have.
const LONGEST_FILE: usize = 400;

// ---- the guards ------------------------------------------------------------------------------------------------

#[test]
fn core_does_no_input_or_output() {
    let crates = ["tokio", "sqlx", "reqwest", "tracing", "anyhow", "rustix", "tempfile"];
    let modules = ["process", "fs", "env", "net", "thread"];
    let manifest = read("crates/core/Cargo.toml");
    for name in crates {
        let named = section(&manifest, "[dependencies]").any(|line| line.starts_with(name));
        assert!(!named, "crates/core/Cargo.toml depends on {name}; core is words and rules, put the doing into engine");
    }
    nobody(&below("crates/core/src"), "core does no input or output; take the fact as an argument instead", |code| {
        crates.iter().any(|name| code.contains(&format!("{name}::")))
            || modules.iter().any(|name| code.contains(&format!("std::{name}")))
            || (code.starts_with("use std::{") && words(code).any(|word| modules.contains(&word)))
            || ["SystemTime", "Instant::now"].iter().any(|clock| code.contains(clock))
    });
}

#[test]
fn crates_see_only_whom_the_map_allows() {
    for (name, allowed) in MAY_DEPEND_ON {
        let file = format!("crates/{name}/Cargo.toml");
        let manifest = read(&file);
        let ours =
            |header| section(&manifest, header).filter_map(|line| line.strip_prefix("hedgerow-")).map(first_word);
        for other in ours("[dependencies]") {
            assert!(allowed.contains(&other), "{file} depends on {other}; that missing line is the architecture");
        }
        for other in ours("[dev-dependencies]") {
            assert!(
                other == "testkit" || allowed.contains(&other),
                "{file} depends on {other} in its tests; test the seam through core's ports instead"
            );
        }
    }
}

#[test]
fn only_the_store_names_the_database() {
    let elsewhere = outside(MAY_NAME_SQLX);
    nobody(&elsewhere, "only the store names sqlx; ask a question of the store instead", |code| {
        code.contains("sqlx::") || code.contains("use sqlx")
    });
}

#[test]
fn only_the_git_room_starts_git() {
    let elsewhere = outside(MAY_SPAWN_GIT);
    nobody(&elsewhere, "one room starts git; add a typed call to crates/engine/src/git instead", |code| {
        code.contains("Command::new(\"git\"")
    });
}

#[test]
fn programs_are_started_in_few_places() {
    let elsewhere = outside(MAY_START_PROGRAMS);
    nobody(
        &elsewhere,
        "few files start programs; go through one of them, or add a door to MAY_START_PROGRAMS",
        |code| {
            code.contains("process::Command")
                || (code.contains("process::{") && words(code).any(|word| word == "Command"))
        },
    );
}

#[test]
fn only_the_lease_room_grants_leases() {
    let elsewhere = outside(MAY_GRANT_LEASES);
    nobody(&elsewhere, "leases come from crates/engine/src/lease.rs; take one as an argument instead", |code| {
        code.contains("Lease::granted")
    });
}

#[test]
fn only_the_output_room_prints() {
    let elsewhere = outside(MAY_PRINT);
    nobody(&elsewhere, "return the words and let crates/hedgerow/src/output.rs print them", |code| {
        ["print!(", "println!(", "dbg!("].iter().any(|print| code.contains(print))
    });
}

#[test]
fn only_the_settings_read_environment_variables() {
    let elsewhere = outside(MAY_READ_VARIABLES);
    nobody(&elsewhere, "read it in crates/hedgerow/src/settings.rs and pass it on as a value", |code| {
        code.contains("env::var") || code.contains("env::home_dir") || code.contains("env::set_var")
    });
}

#[test]
fn git_is_never_asked_for_what_loses_work() {
    let engine = below("crates/engine/src");
    nobody(&engine, "prune forgets other people's worktrees; tidy the one registration instead", |code| {
        code.contains("\"prune\"") || code.contains("worktree prune")
    });
    nobody(&engine, "a branch goes by `update-ref -d <ref> <old sha>`, so that a moved branch stays", |code| {
        code.contains("\"-D\"") || code.contains("branch -D")
    });
    nobody(&engine, "no shell: pass each argument on its own", |code| {
        ["\"sh\"", "\"bash\"", "\"/bin/sh\"", "\"/bin/bash\"", "sh -c"].iter().any(|shell| code.contains(shell))
    });
}

#[test]
fn events_are_only_ever_added() {
    for source in below("crates/engine/src/store") {
        let text = source.production().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for change in ["update events ", "delete from events"] {
            assert!(!text.contains(change), "{}: `{change}`; the event log is append-only, add an event", source.path);
        }
    }
}

#[test]
fn columns_are_text_and_bigint_only() {
    let scripts: Vec<_> = files_below(&root().join("migrations")).into_iter().filter(|path| is(path, "sql")).collect();
    assert!(!scripts.is_empty(), "there is no .sql file in migrations/");
    let refused = [
        "BOOLEAN",
        "BOOL",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "DATETIME",
        "UUID",
        "JSON",
        "JSONB",
        "SERIAL",
        "BIGSERIAL",
        "AUTOINCREMENT",
        "REAL",
        "BLOB",
        "BYTEA",
    ];
    for path in scripts {
        let sql = fs::read_to_string(&path).expect("a migration can be read");
        for (number, line) in sql.lines().enumerate() {
            let code = line.split("--").next().unwrap_or_default().to_uppercase();
            let kind = words(&code).find(|word| refused.contains(word));
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(kind.is_none(), "{place}: {kind:?} does not read the same on both databases; use TEXT or BIGINT");
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for source in sources() {
        assert!(
            source.text.starts_with("//!"),
            "{} does not begin with `//!`: say what it is and why it is here",
            source.path
        );
        assert!(!source.text.starts_with("//! placeholder"), "{} still has a stand-in for its first line", source.path);
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    for source in sources() {
        let lines = source.production().lines().count();
        assert!(
            lines <= LONGEST_FILE,
            "{} has {lines} lines of production code; split it by what it is about",
            source.path
        );
    }
}

#[test]
fn the_words_we_avoid_stay_away() {
    let all = sources();
    nobody(&all, "a read is a bare noun, the network is `fetch_`, or-error is `require_`", |code| {
        code.contains("fn get_")
    });
    nobody(&all, "name the thing by what it is, not Manager, Helper, Service or Util", |code| {
        // The line editor's own name of what completes a line.
        let code = code.replace("rustyline::Helper", "");
        ["Manager", "Helper", "Service", "Util"]
            .iter()
            .any(|refused| words(&code).any(|word| word.ends_with(refused) || word.ends_with(&format!("{refused}s"))))
    });
    nobody(&all, "finish it, or leave it out", |code| code.contains("todo!(") || code.contains("unimplemented!("));
    nobody(&all, "use #[expect(…, reason = …)], which goes away when it is no longer needed", |code| {
        code.contains("#[allow(") || code.contains("#![allow(")
    });
    for source in all {
        let stem = Path::new(&source.path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        assert!(
            !["util", "utils", "helper", "helpers", "manager", "common", "misc"].contains(&stem),
            "{}: name the file by what it holds",
            source.path
        );
        for mark in ["TODO", "FIXME", "XXX"] {
            assert!(!words(&source.text).any(|word| word == mark), "{} says {mark}: finish it", source.path);
        }
    }
}

#[test]
fn every_door_in_these_walls_leads_somewhere() {
    let walls =
        [MAY_NAME_SQLX, MAY_SPAWN_GIT, MAY_START_PROGRAMS, MAY_GRANT_LEASES, MAY_PRINT, MAY_READ_VARIABLES].concat();
    for door in walls {
        assert!(root().join(door).exists(), "{door} is excepted at the top of this file and does not exist");
    }
}

#[test]
fn every_path_the_architecture_names_exists() {
    let text = read("ARCHITECTURE.md");
    let named = paths_in_backticks(&text);
    assert!(named.len() > 30, "only {} paths found in ARCHITECTURE.md; does this test still read it?", named.len());
    for path in named {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist; correct the page");
    }
}

#[test]
fn the_architecture_names_the_file_of_every_verb() {
    let text = read("ARCHITECTURE.md");
    let named = paths_in_backticks(&text);
    let verbs: Vec<_> = below("crates/hedgerow/src/cli").into_iter().collect();
    assert!(!verbs.is_empty(), "there are no verbs in crates/hedgerow/src/cli");
    for verb in verbs.iter().filter(|verb| !verb.path.ends_with("/mod.rs") && !verb.path.ends_with("/tests.rs")) {
        assert!(
            named.contains(&verb.path.as_str()),
            "ARCHITECTURE.md does not name {}; add it to the table",
            verb.path
        );
    }
}

#[test]
fn every_link_between_our_pages_leads_somewhere() {
    let pages = files_below(&root().join("docs"));
    let top = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    for page in pages.iter().chain(&top).filter(|path| is(path, "md")) {
        let text = fs::read_to_string(page).expect("a page can be read");
        let folder = page.parent().expect("a page is in a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(target.exists(), "{} links to {link}, which does not exist", page.display());
            let known = anchor.is_empty()
                || anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(&anchor.to_owned());
            assert!(known, "{} links to {link}, and there is no such heading", page.display());
        }
    }
}

// ---- reading the tree ------------------------------------------------------------------------------------------

/// A Rust file below some `src`, by its path from the root.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The text before its tests.
    fn production(&self) -> &str {
        if self.path.ends_with("/tests.rs") || self.path.contains("/tests/") {
            return "";
        }
        let tests = "#[cfg(test)]\nmod tests {";
        self.text.find(tests).map_or(&self.text, |at| &self.text[..at])
    }

    /// Numbered production lines that are not comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.production().lines().enumerate();
        lines.map(|(number, line)| (number + 1, line.trim())).filter(|(_, line)| !line.starts_with("//"))
    }
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate is two folders below the root")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry of a folder can be read").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Every Rust file below the `src` of every crate.
fn sources() -> Vec<Source> {
    let root = root();
    let crates = fs::read_dir(root.join("crates")).expect("there are crates");
    let found: Vec<_> = crates
        .flat_map(|entry| files_below(&entry.expect("a crate can be read").path().join("src")))
        .filter(|path| is(path, "rs"))
        .map(|path| Source {
            text: fs::read_to_string(&path).expect("a source can be read"),
            path: path.strip_prefix(&root).expect("it is below the root").to_string_lossy().replace('\\', "/"),
        })
        .collect();
    assert!(found.len() > 15, "only {} sources found; does this test still read the tree?", found.len());
    found
}

fn below(folder: &str) -> Vec<Source> {
    let folder = format!("{}/", folder.trim_end_matches('/'));
    sources().into_iter().filter(|source| source.path.starts_with(&folder)).collect()
}

fn outside(doors: &[&str]) -> Vec<Source> {
    sources().into_iter().filter(|source| !doors.iter().any(|door| source.path.starts_with(door))).collect()
}

/// Fails with file, line and advice when any code line is caught.
fn nobody(sources: &[Source], advice: &str, caught: impl Fn(&str) -> bool) {
    for source in sources {
        for (number, code) in source.code() {
            assert!(!caught(code), "{}:{number}: `{code}`\n{advice}", source.path);
        }
    }
}

/// The lines of one section of a manifest.
fn section<'a>(manifest: &'a str, header: &str) -> impl Iterator<Item = &'a str> {
    let header = header.to_owned();
    let after = manifest.lines().skip_while(move |line| line.trim() != header).skip(1);
    after.take_while(|line| !line.starts_with('[')).map(str::trim)
}

/// Identifiers and words, without what is between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or_default()
}

/// What a page names as `like/this.rs`, outside of its fenced pictures.
fn paths_in_backticks(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let quoted = prose.flat_map(|part| part.split('`').skip(1).step_by(2));
    let folders = ["crates/", "migrations/", "docs/", ".ci/"];
    let files =
        ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "Cargo.toml", "deny.toml", "justfile"];
    quoted.filter(|text| folders.iter().any(|folder| text.starts_with(folder)) || files.contains(text)).collect()
}

/// The anchors of a page's headings, the way forges make them.
fn anchors(page: &str) -> Vec<String> {
    let heading = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_');
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    page.lines().filter(|line| line.starts_with('#')).map(heading).collect()
}
