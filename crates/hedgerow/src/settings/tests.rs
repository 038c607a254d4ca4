//! Where settings come from, and what is refused.

use std::fs;

use hedgerow_engine::store::Database;
use tempfile::TempDir;

use super::*;

/// A home with this file in it, and these variables around.
struct Machine {
    home: TempDir,
    around: Surroundings,
}

impl Machine {
    fn new(file: &str, variables: &[(&'static str, &str)]) -> Self {
        let home = TempDir::new().expect("a scratch folder");
        if !file.is_empty() {
            fs::write(home.path().join(FILE), file).expect("writes the file");
        }
        let around = Surroundings {
            variables: variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect(),
            here: Some(PathBuf::from("/here")),
            user_home: Some(PathBuf::from("/users/alice")),
            hostname: "heron".to_owned(),
            ..Surroundings::default()
        };
        Self { home, around }
    }

    fn read(&self) -> Result<Configuration, UserError> {
        read(&self.around, Some(self.home.path()))
    }

    fn settings(&self) -> Settings {
        self.read().expect("good settings").settings
    }

    fn refusal(&self) -> UserError {
        let error = self.read().expect_err("must be refused");
        assert_eq!(error.kind, Kind::Usage, "{error}");
        error
    }
}

#[test]
fn without_any_settings_the_defaults_hold() {
    let machine = Machine::new("", &[]);
    let settings = machine.settings();
    assert_eq!(settings.worktrees, machine.home.path().join("worktrees"));
    assert!(matches!(settings.database, Database::Sqlite(path) if path == machine.home.path().join("hedgerow.db")));
    assert_eq!((settings.limit, settings.stale_after_days), (25, 14));
    assert_eq!((settings.branch_prefix.as_str(), settings.pull_ref.as_str()), ("", "refs/pull/{number}/head"));
    assert_eq!((settings.node.as_str(), settings.git.as_path()), ("heron", Path::new("git")));
    assert!(settings.remote.is_none() && settings.base_branch.is_none() && settings.allowed_root.is_none());
}

#[test]
fn every_key_of_the_file_is_read() {
    let machine = Machine::new(
        r#"
        database_url = "postgres://bob@db/hedgerow"
        remote = "upstream"
        base_branch = "develop"
        allowed_root = "~/src"
        node = "wren"
        git = "/opt/git/bin/git"
        [worktrees]
        base = "trees"
        max_per_codebase = 0x10
        branch_prefix = "agents/"
        pull_ref = "refs/merge-requests/{number}/head"
        [cleanup]
        stale_after_days = 3
        "#,
        &[],
    );
    let settings = machine.settings();
    assert!(matches!(settings.database, Database::Postgres(url) if url == "postgres://bob@db/hedgerow"));
    assert_eq!(settings.remote.as_deref(), Some("upstream"));
    assert_eq!(settings.base_branch.expect("set").as_str(), "develop");
    assert_eq!(settings.allowed_root.as_deref(), Some(Path::new("/users/alice/src")));
    assert_eq!((settings.node.as_str(), settings.git.as_path()), ("wren", Path::new("/opt/git/bin/git")));
    assert_eq!(settings.worktrees, machine.home.path().join("trees"));
    assert_eq!((settings.limit, settings.stale_after_days), (16, 3));
    assert_eq!(settings.branch_prefix, "agents/");
    assert_eq!(settings.pull_ref, "refs/merge-requests/{number}/head");
}

#[test]
fn a_variable_wins_over_the_file_and_says_so() {
    let machine = Machine::new(
        "[worktrees]\nmax_per_codebase = 3\n[cleanup]\nstale_after_days = 9\n",
        &[("MAX_WORKTREES_PER_CODEBASE", "7"), ("WORKTREE_BASE", "trees"), ("DATABASE_URL", "sqlite:~/h.db")],
    );
    let read = machine.read().expect("good settings");
    assert_eq!((read.settings.limit, read.settings.stale_after_days), (7, 9));
    assert_eq!(read.settings.worktrees, Path::new("/here/trees"));
    assert!(matches!(read.settings.database, Database::Sqlite(path) if path == Path::new("/users/alice/h.db")));
    let from = |key| read.entries.iter().find(|entry| entry.key == key).map(|entry| entry.from.clone());
    assert_eq!(from("worktrees.max_per_codebase"), Some(Origin::Variable("MAX_WORKTREES_PER_CODEBASE")));
    assert!(matches!(from("cleanup.stale_after_days"), Some(Origin::File { line: 4, .. })));
    assert_eq!(from("home"), Some(Origin::Flag("--home")));
    assert_eq!(read.entries.len(), keys::ALL.len() + 1, "every key is shown once");
}

#[test]
fn a_bad_value_in_the_file_is_refused_with_its_key_and_line() {
    let cases = [
        ("[worktrees]\nmax_per_codebase = -1\n", "worktrees.max_per_codebase", 2),
        ("[worktrees]\nmax_per_codebase = 10001\n", "worktrees.max_per_codebase", 2),
        ("[worktrees]\n\nmax_per_codebase = \"many\"\n", "worktrees.max_per_codebase", 3),
        ("[worktrees]\nmax_per_codebase = 2.5\n", "worktrees.max_per_codebase", 2),
        ("[worktrees]\nmax_per_codebase = 99999999999999999999\n", "worktrees.max_per_codebase", 2),
        ("[cleanup]\nstale_after_days = 0\n", "cleanup.stale_after_days", 2),
        ("[cleanup]\nstale_after_days = 36501\n", "cleanup.stale_after_days", 2),
        ("[worktrees]\nbranch_prefix = \"-x\"\n", "worktrees.branch_prefix", 2),
        ("[worktrees]\nbranch_prefix = \"a b/\"\n", "worktrees.branch_prefix", 2),
        ("[worktrees]\npull_ref = \"refs/pull/head\"\n", "worktrees.pull_ref", 2),
        ("[worktrees]\npull_ref = \"--upload-pack={number}\"\n", "worktrees.pull_ref", 2),
        ("base_branch = \"a..b\"\n", "base_branch", 1),
        ("remote = \"--exec=x\"\n", "remote", 1),
        ("node = \"\"\n", "node", 1),
        ("git = 5\n", "git", 1),
        ("database_url = \"mysql://x\"\n", "database_url", 1),
        ("worktrees = 5\n", "worktrees", 1),
        ("\n[worktrees]\nbsae = \"x\"\n", "worktrees.bsae", 3),
        ("[nonsense]\nx = 1\n", "nonsense", 1),
        ("home = \"/x\"\n", "home", 1),
    ];
    for (file, key, line) in cases {
        let machine = Machine::new(file, &[]);
        let message = machine.refusal().message;
        assert!(message.contains(&format!("`{key}`")), "{file}: {message}");
        let place = format!("{}, line {line}", machine.home.path().join(FILE).display());
        assert!(message.contains(&place), "{file}: {message}");
    }
}

#[test]
fn a_bad_variable_is_refused_by_its_own_name() {
    let cases = [
        ("MAX_WORKTREES_PER_CODEBASE", "many"),
        ("MAX_WORKTREES_PER_CODEBASE", "-1"),
        ("MAX_WORKTREES_PER_CODEBASE", "10001"),
        ("MAX_WORKTREES_PER_CODEBASE", "1e3"),
        ("MAX_WORKTREES_PER_CODEBASE", " 5"),
        ("STALE_THRESHOLD_DAYS", "0"),
        ("STALE_THRESHOLD_DAYS", "soon"),
        ("STALE_THRESHOLD_DAYS", "99999999999999999999"),
        ("DATABASE_URL", "hedgerow.db"),
        ("DATABASE_URL", "sqlite:"),
        ("DATABASE_URL", "sqlite::memory:"),
        ("DATABASE_URL", "sqlite:x.db?mode=ro"),
    ];
    for (name, value) in cases {
        let message = Machine::new("", &[(name, value)]).refusal().message;
        assert!(message.contains(&format!("`{name}`")), "{value}: {message}");
        assert!(message.contains("environment variable"), "{value}: {message}");
    }
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_its_line() {
    let message = Machine::new("node = \"x\"\nremote = = 3\n", &[]).refusal().message;
    assert!(message.contains("hedgerow.toml") && message.contains("line 2"), "{message}");
}

#[test]
fn secrets_of_the_database_are_never_shown() {
    let cases = [
        ("postgres://bob:hunter2@db/x", "postgres://bob:***@db/x"),
        ("postgresql://bob@db:5/x?sslmode=require", "postgresql://bob@db:5/x?sslmode=require"),
        ("postgres://db/x?password=hunter2&user=bob", "postgres://db/x?password=***&user=bob"),
        ("postgres://bob:hun?ter2@db/x", "postgres://***"),
        ("postgres://bob:hun/ter2@db/x", "postgres://***"),
        ("postgres://db/x?password=hun@ter2", "postgres://***"),
    ];
    for (url, shown) in cases {
        let read = Machine::new("", &[("DATABASE_URL", url)]).read().expect("good settings");
        let entry = read.entries.iter().find(|entry| entry.key == "database_url").expect("is shown");
        assert_eq!(entry.value, shown, "{url}");
    }
    let error = Machine::new("", &[("DATABASE_URL", "mysql://bob:hunter2@db")]).refusal();
    assert!(!error.message.contains("hunter2"), "{error}");
    let error = Machine::new("database_url = [\"hunter2\"]\n", &[]).refusal();
    assert!(!error.message.contains("hunter2"), "{error}");
}

#[test]
fn the_home_is_the_flag_then_the_variable_then_the_containers_then_the_users() {
    let mut machine = Machine::new("", &[("HEDGEROW_HOME", "~/h")]);
    let path = |around: &Surroundings, flag: Option<&str>| home(around, flag.map(Path::new)).expect("a home").path;
    assert_eq!(path(&machine.around, Some("rel")), Path::new("/here/rel"));
    assert_eq!(path(&machine.around, None), Path::new("/users/alice/h"));
    machine.around.variables.clear();
    assert_eq!(path(&machine.around, None), Path::new("/users/alice/.hedgerow"));
    machine.around.in_container = true;
    assert_eq!(path(&machine.around, None), Path::new("/.hedgerow"));
    machine.around.in_container = false;
    machine.around.user_home = None;
    assert!(home(&machine.around, None).expect_err("no home").hints[0].contains("HEDGEROW_HOME"));
}
