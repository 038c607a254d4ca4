//! A person's desk: a home for Hedgerow, a checkout of `shop`, and a shell whose sessions read like a terminal's.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hedgerow_engine::store::{Database, Store};
use hedgerow_testkit::cli::Said;
use hedgerow_testkit::database::{Fields, rows};
use hedgerow_testkit::{Cli, TestDatabase, TestRepo};
use insta::internals::SettingsBindDropGuard;
use tempfile::TempDir;

/// Everything in it goes away with it.
pub(crate) struct Desk {
    pub(crate) cli: Cli,
    /// A checkout of `main` with a remote next door.
    pub(crate) repo: TestRepo,
    database: TestDatabase,
    folder: PathBuf,
    _temporary: TempDir,
    _snapshots: SettingsBindDropGuard,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        let temporary = tempfile::Builder::new().prefix("hedgerow-desk-").tempdir().expect("a temporary folder");
        let folder = temporary.path().canonicalize().expect("it was made just now");
        let home = folder.join(".hedgerow");
        fs::DirBuilder::new().mode(0o700).create(&home).expect("a home");
        fs::write(home.join("hedgerow.toml"), "node = \"workbench\"\n").expect("a configuration");
        let database = TestDatabase::new().await;
        let mut cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), &home);
        if let Database::Postgres(url) = database.database() {
            cli = cli.env("DATABASE_URL", url);
        }
        let repo = TestRepo::with_origin(&folder.join("code"), "shop");
        Self { cli, repo, database, folder, _temporary: temporary, _snapshots: hide_ids_and_times() }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join(".hedgerow")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where an environment of `shop` is.
    pub(crate) fn environment(&self, folder: &str) -> PathBuf {
        self.home().join("worktrees/shop").join(folder)
    }

    /// Adds to `hedgerow.toml`.
    pub(crate) fn configure(&self, line: &str) {
        let file = self.home().join("hedgerow.toml");
        let text = fs::read_to_string(&file).expect("it is there");
        fs::write(file, format!("{text}{line}\n")).expect("it can be written");
    }

    /// The database that the binary uses.
    pub(crate) fn database(&self) -> Database {
        match self.database.database() {
            Database::Sqlite(_) => Database::Sqlite(self.home().join("hedgerow.db")),
            postgres @ Database::Postgres(_) => postgres,
        }
    }

    /// The store in it.
    pub(crate) async fn store(&self) -> Store {
        Store::open(&self.database()).await.expect("the store opens")
    }

    /// All of a table, as it is.
    pub(crate) async fn rows(&self, table: &str) -> Vec<Fields> {
        rows(&self.database(), table).await.expect("a table")
    }

    /// One command in the checkout.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.cli.run(self.repo.path(), args)
    }

    /// One command in the checkout that must succeed, as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let said = self.run(&[args, &["--json"]].concat()).success();
        serde_json::from_str(&said.stdout()).expect("stdout is JSON")
    }

    /// Lines typed one after another in the checkout, each with all that came back.
    pub(crate) fn session(&self, lines: &[&str]) -> String {
        self.session_at(self.repo.path(), lines)
    }

    pub(crate) fn session_at(&self, at: &Path, lines: &[&str]) -> String {
        let turn = |line: &&str| format!("$ {line}\n{}", self.without_places(self.cli.type_in(at, line)));
        lines.iter().map(turn).collect::<Vec<_>>().join("\n")
    }

    /// What was said, with the temporary folder as `~`. Columns beside a path are as wide as the path is long, which
    /// differs from machine to machine.
    fn without_places(&self, said: Said) -> String {
        let text = said.hiding(self.folder.to_string_lossy(), "~").to_string();
        if !text.lines().any(|line| line.contains("~/") && line.contains("  ")) {
            return text;
        }
        let cells =
            |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ");
        text.lines().map(|line| cells(line) + "\n").collect()
    }
}

/// What differs from run to run: ids, times, days.
fn hide_ids_and_times() -> SettingsBindDropGuard {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>");
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>");
    // On a busy machine a session takes its time.
    settings.add_filter(r"\b[1-9] min( ago)?", "just now");
    settings.add_filter(r"as it was on \d+ [A-Z][a-z]+", "as it was on <day>");
    // What a folder takes and a disk has differs from one to the other, and with it the width of a column.
    settings.add_filter(r"\b\d+(\.\d+)? [kMGTP]?B\b {2,}", "<size>  ");
    settings.add_filter(r"\b\d+(\.\d+)? [kMGTP]?B\b", "<size>");
    settings.add_filter(r"\bSIZE +", "SIZE  ");
    settings.add_filter(r"(restored-|  )[0-9a-f]{8}\b", "$1<short id>");
    settings.bind_to_scope()
}
