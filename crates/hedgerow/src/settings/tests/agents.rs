//! The assistants of the file, those of the machine, and what keeps them in.

use std::os::unix::fs::PermissionsExt as _;

use hedgerow_engine::settings::{AgentKind, SandboxMode};

use super::*;

/// A folder with programs of these names.
fn programs(names: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a scratch folder");
    for name in names {
        let file = folder.path().join(name);
        fs::write(&file, "#!/bin/true\n").expect("writes the program");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("can be run");
    }
    folder
}

fn with_path(mut machine: Machine, folders: &[&Path]) -> Machine {
    machine.around.path = Some(std::env::join_paths(folders).expect("folders"));
    machine
}

fn command(program: &Program) -> Vec<String> {
    program.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[test]
fn where_nobody_configured_one_the_known_agents_are_found() {
    let (one, two) = (programs(&["opencode", "codex"]), programs(&["gemini", "claude", "codex"]));
    fs::write(one.path().join("claude"), "not a program").expect("writes");
    let machine = with_path(Machine::new("", &[]), &[Path::new("bin"), one.path(), two.path()]);
    let read = machine.read().expect("good settings");
    let runs = &read.settings.runs;
    let found: Vec<_> = runs.assistants.iter().map(|found| (found.name.as_str(), found.kind, command(found))).collect();
    let expected: [(&str, AgentKind, &[&str]); 4] = [
        ("claude", AgentKind::Claude, &["claude"]),
        ("codex", AgentKind::Codex, &["codex"]),
        ("gemini", AgentKind::Acp, &["gemini", "--acp"]),
        ("opencode", AgentKind::Acp, &["opencode", "acp"]),
    ];
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found, expected.map(|(name, kind, command)| (name, kind, words(command))));
    assert_eq!(runs.assistant.as_deref(), Some("claude"));
    let entry = read.entries.iter().find(|entry| entry.key == "assistants.gemini.command").expect("is shown");
    assert_eq!((&entry.value, &entry.from), (&serde_json::json!(["gemini", "--acp"]), &Origin::Found));

    let chosen = with_path(Machine::new("assistant = \"codex\"\n", &[]), &[one.path(), two.path()]);
    assert_eq!(chosen.settings().runs.assistant.as_deref(), Some("codex"));
    let own = with_path(Machine::new("[assistants.mine]\ncommand = [\"mine\"]\n", &[]), &[two.path()]);
    assert_eq!(own.settings().runs.assistants, [Program::script("mine", ["mine"])], "who configures one has that one");
}

#[test]
fn an_assistant_is_settled_in_its_table() {
    let machine = Machine::new(
        r#"
        [assistants.deep]
        kind = "claude"
        model = "opus"
        permissions = "plan"
        max_turns = 50
        instructions = "be brief"
        belongings = ["~/.aws", ".config/gcloud"]
        [assistants.deep.variables]
        ANTHROPIC_API_KEY = "hunter2"
        [assistants.deep.mcp_servers.docs]
        command = "docs"
        args = ["-x", 5]
        env.TOKEN = "hunter2"
        "#,
        &[],
    );
    let read = machine.read().expect("good settings");
    let [program] = read.settings.runs.assistants.as_slice() else { panic!("one") };
    assert_eq!((program.kind, command(program)), (AgentKind::Claude, vec!["claude".to_owned()]));
    assert_eq!((program.model.as_deref(), program.permissions.as_deref()), (Some("opus"), Some("plan")));
    assert_eq!((program.max_turns, program.instructions.as_deref()), (Some(50), Some("be brief")));
    assert_eq!(program.belongings, [".aws", ".config/gcloud"]);
    assert_eq!(program.variables, [("ANTHROPIC_API_KEY".to_owned(), "hunter2".to_owned())]);
    let servers: serde_json::Value = serde_json::from_str(program.mcp_servers.as_deref().expect("set")).expect("JSON");
    let docs = serde_json::json!({"docs": {"command": "docs", "args": ["-x", 5], "env": {"TOKEN": "hunter2"}}});
    assert_eq!(servers, docs);
    assert!(!format!("{read:?}").contains("hunter2"), "secrets are not for logs");
    let shown = serde_json::to_string(&read.entries).expect("JSON");
    assert!(shown.contains("assistants.deep.variables.ANTHROPIC_API_KEY") && !shown.contains("hunter2"), "{shown}");
    let error = Machine::new("[assistants.a]\nkind = \"claude\"\nvariables.A = [\"hunter2\"]\n", &[]).refusal();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[test]
fn a_known_program_is_spoken_to_as_it_is_unless_somebody_says_otherwise() {
    let one = |table: &str| {
        let settings = Machine::new(&format!("[assistants.a]\n{table}\n"), &[]).settings();
        (settings.runs.assistants[0].kind, command(&settings.runs.assistants[0]).join(" "))
    };
    for (table, kind, words) in [
        ("command = [\"/opt/bin/codex\"]", AgentKind::Codex, "/opt/bin/codex"),
        ("command = [\"gemini\"]", AgentKind::Acp, "gemini --acp"),
        ("command = [\"gemini\", \"--experimental-acp\"]", AgentKind::Acp, "gemini --experimental-acp"),
        ("kind = \"script\"\ncommand = [\"gemini\"]", AgentKind::Script, "gemini"),
        ("kind = \"acp\"\ncommand = [\"goose\", \"acp\"]", AgentKind::Acp, "goose acp"),
        ("kind = \"codex\"", AgentKind::Codex, "codex"),
        ("command = [\"claude-wrapper\"]", AgentKind::Script, "claude-wrapper"),
    ] {
        assert_eq!(one(table), (kind, words.to_owned()), "{table}");
    }
}

#[test]
fn servers_can_be_in_a_file_of_another_tool() {
    let machine = Machine::new("[assistants.a]\nkind = \"claude\"\nmcp_servers = \"mcp.json\"\n", &[]);
    let file = machine.home.path().join("mcp.json");
    for text in [r#"{"mcpServers": {"x": {"url": "http://y"}}, "other": 1}"#, r#"{"x": {"url": "http://y"}}"#] {
        fs::write(&file, text).expect("writes");
        let servers = machine.settings().runs.assistants[0].mcp_servers.clone();
        assert_eq!(servers.as_deref(), Some(r#"{"x":{"url":"http://y"}}"#));
    }
    for text in ["nonsense", "[]", r#"{"mcpServers": 5}"#, r#"{"x": 5}"#] {
        fs::write(&file, text).expect("writes");
        assert!(machine.refusal().message.contains("line 3"), "{text}");
    }
}

#[test]
fn the_sandbox_is_on_and_hides_what_is_ours_outside_the_home() {
    let machine = Machine::new("", &[]);
    assert_eq!(machine.settings().runs.sandbox, Sandbox::default());
    let machine = Machine::new(
        "[sandbox]\nmode = \"required\"\nread = [\"/opt\", \"~/x\"]\nwrite = [\"w\"]\nvariables = [\"HTTPS_PROXY\"]\n\
         uncovered_forks = true\n",
        &[("DATABASE_URL", "sqlite:/elsewhere/h.db")],
    );
    let sandbox = machine.settings().runs.sandbox;
    assert_eq!((sandbox.mode, sandbox.uncovered_forks), (SandboxMode::Required, true));
    assert_eq!(sandbox.read, ["/opt", "/users/alice/x"].map(PathBuf::from));
    assert_eq!(sandbox.write, [machine.home.path().join("w")]);
    assert_eq!(sandbox.variables, ["HTTPS_PROXY"]);
    let hidden = ["/elsewhere/h.db", "/elsewhere/h.db-wal", "/elsewhere/h.db-shm", "/elsewhere/h.db.lock"];
    assert_eq!(sandbox.hidden, hidden.map(PathBuf::from));

    let elsewhere = TempDir::new().expect("a scratch folder");
    let file = elsewhere.path().join("real.toml");
    fs::write(&file, "").expect("writes");
    let machine = Machine::new("", &[]);
    std::os::unix::fs::symlink(&file, machine.home.path().join(FILE)).expect("links");
    assert_eq!(machine.settings().runs.sandbox.hidden, [file.canonicalize().expect("it is there")]);
}
