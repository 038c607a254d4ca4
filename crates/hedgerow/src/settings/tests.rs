//! Where settings come from, and what is refused.

mod agents;
mod github;

use std::fs;

use hedgerow_engine::settings::Program;
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
    let server = machine.read().expect("good settings").server;
    assert_eq!((server.listen.to_string().as_str(), server.token), ("127.0.0.1:4747", None));
    assert_eq!(format!("{:?}", settings.runs), format!("{:?}", Runs::default()), "the engine has the same defaults");
    assert_eq!((settings.git_name, settings.git_email), (None, None));
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
        listen = "[::1]:0"
        token = "correct-horse-battery"
        bot_name = "hedge-bot"
        admins = ["github:alice", "slack:U123"]
        retention_days = 30
        assistant = "two"
        queue.limit = 5
        [run]
        max_concurrent = 3
        timeout_minutes = 1440
        idle_timeout_minutes = 1
        lease_seconds = 5
        [assistants.two]
        command = ["bin/two", "--flag", "~/not-a-path", ""]
        [assistants.one-1]
        command = ["one"]
        [assistants.Three_3]
        command = ["~/three"]
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
    let server = machine.read().expect("good settings").server;
    assert_eq!(server.listen.to_string(), "[::1]:0");
    assert_eq!(server.token.expect("set").reveal(), "correct-horse-battery");
    let runs = settings.runs;
    assert_eq!((runs.at_once, runs.queue, runs.keep_days), (3, 5, 30));
    let times = [runs.timeout, runs.idle_timeout, runs.lease].map(|time| time.as_secs());
    assert_eq!(times, [24 * 3600, 60, 5]);
    assert_eq!(runs.admins, [Actor::new("github", "alice"), Actor::new("slack", "U123")]);
    assert_eq!((runs.bot_name.as_str(), runs.assistant.as_deref()), ("hedge-bot", Some("two")));
    let two = machine.home.path().join("bin/two").to_string_lossy().into_owned();
    let expected: [(&str, &[&str]); 3] =
        [("Three_3", &["/users/alice/three"]), ("one-1", &["one"]), ("two", &[&two, "--flag", "~/not-a-path", ""])];
    let expected = expected.map(|(name, command)| Program::script(name, command));
    assert_eq!(runs.assistants, expected);
}

#[test]
fn our_own_program_stands_before_every_assistant() {
    let mut machine = Machine::new("", &[]);
    machine.around.program = Some(PathBuf::from("/opt/hedgerow"));
    assert_eq!(machine.settings().runs.supervisor, ["/opt/hedgerow", "supervise", "--"].map(OsString::from));
    assert!(Surroundings::read(None).program.is_some_and(|program| program.is_absolute()));
}

#[test]
fn the_only_assistant_is_the_one_that_works() {
    let one = "[assistants.one]\ncommand = [\"one\"]\n";
    assert_eq!(Machine::new(one, &[]).settings().runs.assistant.as_deref(), Some("one"));
    let two = format!("{one}[assistants.two]\ncommand = [\"two\"]\n");
    assert_eq!(Machine::new(&two, &[]).settings().runs.assistant, None);
    let chosen = Machine::new(&two, &[("HEDGEROW_ASSISTANT", "two")]);
    assert_eq!(chosen.settings().runs.assistant.as_deref(), Some("two"));
    let error = Machine::new(&two, &[("HEDGEROW_ASSISTANT", "three")]).refusal();
    assert_eq!(error.hints, ["the assistants are `one`, `two`"]);
}

#[test]
fn variables_of_the_server_win_over_the_file() {
    let machine = Machine::new(
        "listen = \"127.0.0.1:1\"\nadmins = [\"github:bob\"]\nnode = \"wren\"\n",
        &[
            ("HEDGEROW_LISTEN", "0.0.0.0:80"),
            ("HEDGEROW_TOKEN", "0123456789abcdef"),
            ("HEDGEROW_BOT_NAME", "robin"),
            ("HEDGEROW_ADMINS", "github:alice, telegram:77"),
            ("HEDGEROW_NODE", "owl"),
            ("MAX_CONCURRENT_RUNS", "1000"),
        ],
    );
    let read = machine.read().expect("good settings");
    assert_eq!(read.server.listen.to_string(), "0.0.0.0:80");
    assert_eq!(read.server.token.expect("set").reveal(), "0123456789abcdef");
    let runs = &read.settings.runs;
    assert_eq!((runs.bot_name.as_str(), runs.at_once, read.settings.node.as_str()), ("robin", 1000, "owl"));
    assert_eq!(runs.admins, [Actor::new("github", "alice"), Actor::new("telegram", "77")]);
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
    let besides = keys::ALL.iter().filter(|key| keys::is_of_an_assistant(key.name)).count() - 1;
    assert_eq!(read.entries.len(), keys::ALL.len() + 1 - besides, "every key is shown once");
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
        ("listen = \"localhost\"\n", "listen", 1),
        ("listen = \"127.0.0.1:65536\"\n", "listen", 1),
        ("listen = 4747\n", "listen", 1),
        ("token = \"fifteen-letters\"\n", "token", 1),
        ("token = \"with spaces in it, long\"\n", "token", 1),
        ("bot_name = \"@hedgerow\"\n", "bot_name", 1),
        ("admins = \"github:alice\"\n", "admins", 1),
        ("admins = [\n\"github:alice\",\n\"alice\"]\n", "admins", 3),
        ("admins = [\"irc:alice\"]\n", "admins", 1),
        ("admins = [\"github:\"]\n", "admins", 1),
        ("admins = [5]\n", "admins", 1),
        ("retention_days = 29\n", "retention_days", 1),
        ("[run]\nmax_concurrent = 0\n", "run.max_concurrent", 2),
        ("[run]\nmax_concurrent = 1001\n", "run.max_concurrent", 2),
        ("[run]\ntimeout_minutes = 1441\n", "run.timeout_minutes", 2),
        ("[run]\nidle_timeout_minutes = -10\n", "run.idle_timeout_minutes", 2),
        ("[run]\nlease_seconds = 4\n", "run.lease_seconds", 2),
        ("[queue]\nlimit = 1000001\n", "queue.limit", 2),
        ("assistant = \"nobody\"\n", "assistant", 1),
        ("assistants = 5\n", "assistants", 1),
        ("[assistants]\na = 5\n", "assistants.a", 2),
        ("[assistants.\"a b\"]\ncommand = [\"x\"]\n", "a b", 1),
        ("[assistants.a]\n", "assistants.a", 1),
        ("[assistants.a]\ncommand = \"x\"\n", "assistants.a.command", 2),
        ("[assistants.a]\ncommand = []\n", "assistants.a.command", 2),
        ("[assistants.a]\ncommand = [\n\"x\",\n5]\n", "assistants.a.command", 4),
        ("[assistants.a]\ncommand = [\"\"]\n", "assistants.a.command", 2),
        ("[assistants.a]\ncommand = [\"x\", \"\\u0000\"]\n", "assistants.a.command", 2),
        ("[assistants.a]\ncommand = [\"x\"]\nenv = 1\n", "assistants.a.env", 3),
        ("[assistants.a]\nkind = \"acp\"\n", "assistants.a", 1),
        ("[assistants.a]\nkind = \"claud\"\n", "assistants.a.kind", 2),
        ("[assistants.a]\nkind = 5\n", "assistants.a.kind", 2),
        ("[assistants.a]\nkind = \"claude\"\nmodel = \"\"\n", "assistants.a.model", 3),
        ("[assistants.a]\nkind = \"claude\"\npermissions = true\n", "assistants.a.permissions", 3),
        ("[assistants.a]\nkind = \"claude\"\nmax_turns = 0\n", "assistants.a.max_turns", 3),
        ("[assistants.a]\nkind = \"claude\"\nmax_turns = \"9\"\n", "assistants.a.max_turns", 3),
        ("[assistants.a]\nkind = \"claude\"\ninstructions = []\n", "assistants.a.instructions", 3),
        ("[assistants.a]\nkind = \"claude\"\nmcp_servers = 5\n", "assistants.a.mcp_servers", 3),
        ("[assistants.a]\nkind = \"claude\"\nmcp_servers.x = 5\n", "assistants.a.mcp_servers", 3),
        ("[assistants.a]\nkind = \"claude\"\nmcp_servers = \"no.json\"\n", "assistants.a.mcp_servers", 3),
        ("[assistants.a]\nkind = \"claude\"\nvariables = \"A=b\"\n", "assistants.a.variables", 3),
        ("[assistants.a]\nkind = \"claude\"\nvariables.A = 5\n", "assistants.a.variables.A", 3),
        ("[assistants.a]\nkind = \"claude\"\nbelongings = [\"/etc\"]\n", "assistants.a.belongings", 3),
        ("[assistants.a]\nkind = \"claude\"\nbelongings = [\"a/../..\"]\n", "assistants.a.belongings", 3),
        ("[sandbox]\nmode = \"loose\"\n", "sandbox.mode", 2),
        ("[sandbox]\nmode = false\n", "sandbox.mode", 2),
        ("[sandbox]\nread = \"/opt\"\n", "sandbox.read", 2),
        ("[sandbox]\nwrite = [\n\"/a\",\n\"\"]\n", "sandbox.write", 4),
        ("[sandbox]\nvariables = [\"A=b\"]\n", "sandbox.variables", 2),
        ("[sandbox]\nuncovered_forks = \"no\"\n", "sandbox.uncovered_forks", 2),
        ("git_name = \"A <b\"\n", "git_name", 1),
        ("git_email = \"nobody\"\n", "git_email", 1),
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
        ("MAX_CONCURRENT_RUNS", "0"),
        ("HEDGEROW_LISTEN", "4747"),
        ("HEDGEROW_TOKEN", "short"),
        ("HEDGEROW_BOT_NAME", "a b"),
        ("HEDGEROW_ADMINS", "github:alice,,"),
        ("HEDGEROW_ASSISTANT", "nobody"),
        ("HEDGEROW_NODE", "a b"),
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
fn the_token_is_never_shown() {
    let hidden = "hunter2-hunter2-hunter2";
    let machine = Machine::new(&format!("\ntoken = \"{hidden}\"\n"), &[]);
    let read = machine.read().expect("good settings");
    let entry = read.entries.iter().find(|entry| entry.key == "token").expect("is shown");
    assert_eq!(entry.value, "***");
    assert!(matches!(entry.from, Origin::File { line: 2, .. }));
    assert!(!format!("{read:?} {}", read.server.token.clone().expect("set")).contains("hunter2"));
    for bad in ["token = \"hunter2\"", "token = [\"hunter2\"]"] {
        let error = Machine::new(bad, &[]).refusal();
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
    let given = file::read(&machine.home.path().join(FILE)).expect("reads").values;
    assert!(!format!("{given:?}").contains("hunter2"), "{given:?}");
}

#[test]
fn a_token_that_is_kept_in_the_home_is_told_of_and_not_read() {
    let machine = Machine::new("", &[]);
    let token = || machine.read().expect("good settings").entries.into_iter().find(|entry| entry.key == "token");
    assert_eq!(token().map(|entry| entry.value), Some(serde_json::Value::Null));
    let kept = machine.home.path().join("token");
    fs::write(&kept, "hunter2-hunter2-hunter2\n").expect("writes");
    let entry = token().expect("is shown");
    assert_eq!((entry.value, entry.from), ("***".into(), Origin::Kept(kept)));
}

#[test]
fn a_secret_of_the_environment_is_not_copied() {
    let around = Surroundings::read(None);
    assert!(matches!(around.secrets, Secrets::Environment));
    let machine = Machine::new("", &[("HEDGEROW_TOKEN", "0123456789abcdef")]);
    let around = Surroundings { secrets: Secrets::Environment, ..machine.around.clone() };
    let read = read(&around, Some(machine.home.path())).expect("good settings");
    assert_eq!(read.server.token, None, "only the environment itself is asked");
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
