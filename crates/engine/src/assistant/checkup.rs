//! Whether an assistant could work: its program, its version, its login. For `doctor`, which asks before anybody waits
//! for an answer.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hedgerow_core::assistant::Maker;
use tokio::process::Command;
use tokio::time::timeout;

use super::start::find;
use super::surroundings::Surroundings;
use super::words::one_line;
use crate::settings::Program;

/// A program that starts a whole runtime only to say its version may take a while.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most characters of a version.
const LONGEST: usize = 60;

/// What is known of a program by its name.
struct Known {
    name: &'static str,
    /// How to get it.
    install: &'static str,
    /// Where its login is, below the user's home.
    login: &'static str,
    /// Variables that are a login as well.
    variables: &'static [&'static str],
    /// How to log in.
    log_in: &'static str,
    /// Whose models it can use through the gateway, which needs no login.
    makers: &'static [Maker],
}

const KNOWN: [Known; 4] = [
    Known {
        name: "claude",
        install: "npm install -g @anthropic-ai/claude-code",
        login: ".claude/.credentials.json",
        variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        log_in: "`claude` in a terminal, then `/login`",
        makers: &[Maker::Anthropic],
    },
    Known {
        name: "codex",
        install: "npm install -g @openai/codex",
        login: ".codex/auth.json",
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        log_in: "`codex login`",
        makers: &[Maker::Openai],
    },
    Known {
        name: "gemini",
        install: "npm install -g @google/gemini-cli",
        login: ".gemini/oauth_creds.json",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        log_in: "`gemini` in a terminal, and choose how to sign in",
        makers: &[Maker::Gemini],
    },
    Known {
        name: "opencode",
        install: "npm install -g opencode-ai",
        login: ".local/share/opencode/auth.json",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        log_in: "`opencode auth login`",
        makers: &[Maker::Anthropic, Maker::Openai],
    },
];

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkup {
    /// The program, or why it cannot be started.
    pub(crate) program: Result<PathBuf, String>,
    /// How to get a program that is missing.
    pub(crate) install: Option<&'static str>,
    /// Its version, or why it does not say; `None` for a program that nobody knows: asking it might set it to work.
    pub(crate) version: Option<Result<String, String>>,
    pub(crate) login: Login,
}

/// Whether somebody is logged in, as far as a file or a variable tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Login {
    /// It needs none that we know of.
    Unknown,
    /// What says so.
    There(String),
    /// How to log in.
    Missing(&'static str),
}

/// Looks at an assistant without setting it to work. `makers` are those whose models the gateway leads to.
pub(crate) async fn checkup(program: &Program, makers: &[Maker]) -> Checkup {
    let first = program.command.first().cloned().unwrap_or_default();
    let name = Path::new(&first).file_name().unwrap_or_default();
    let known = KNOWN.iter().find(|known| name == known.name);
    let around = Surroundings::of_this_process(&[]);
    let found = find(&first, &around.path).map_err(|error| match error {
        hedgerow_core::assistant::AssistantError::Missing(why) => why,
        other => other.to_string(),
    });
    let version = match (&found, known) {
        (Ok(path), Some(_)) => Some(version(path, &around).await),
        _ => None,
    };
    let login = known.map_or(Login::Unknown, |known| match known.makers.iter().find(|maker| makers.contains(maker)) {
        Some(maker) => Login::There(format!("the server's key for {maker}")),
        None => login(known, program, Some(around.home.clone())),
    });
    Checkup { program: found, install: known.map(|known| known.install), version, login }
}

async fn version(path: &Path, around: &Surroundings) -> Result<String, String> {
    let mut command = Command::new(path);
    command
        .arg("--version")
        .env_clear()
        .envs(around.variables.iter().map(|(name, value)| (name, value)))
        .current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let output = match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("it cannot be started: {error}")),
        Err(_) => return Err(format!("it did not say its version within {} s", PATIENCE.as_secs())),
    };
    let said = one_line(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default());
    match (output.status.success(), said.is_empty()) {
        (true, false) => Ok(said.chars().take(LONGEST).collect()),
        (true, true) => Err("it does not say its version".to_owned()),
        (false, _) => Err(format!("asked for its version it ended with {}", output.status)),
    }
}

fn login(known: &Known, program: &Program, home: Option<PathBuf>) -> Login {
    let is_set =
        |name: &&&str| program.variables.iter().any(|(variable, value)| variable == **name && !value.is_empty());
    if let Some(variable) = known.variables.iter().find(is_set) {
        return Login::There((*variable).to_owned());
    }
    match home.map(|home| home.join(known.login)) {
        Some(file) if file.exists() => Login::There(format!("~/{}", known.login)),
        _ => Login::Missing(known.log_in),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::AgentKind;

    #[tokio::test]
    async fn a_program_that_nobody_knows_is_not_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let touched = folder.path().join("touched");
        let found =
            checkup(&Program::script("mine", ["/usr/bin/touch".into(), touched.clone().into_os_string()]), &[]).await;
        assert_eq!((found.version, found.login, found.install), (None, Login::Unknown, None));
        assert!(!touched.exists());
        let missing = checkup(&Program::script("mine", ["no-such-program-anywhere"]), &[]).await;
        assert!(missing.program.expect_err("it is not there").contains("no-such-program-anywhere"));
    }

    #[test]
    fn a_variable_or_a_file_is_a_login() {
        let home = tempfile::tempdir().expect("a folder");
        let mut program = Program::new("codex", AgentKind::Codex, vec!["codex".into()]);
        let of = |program: &Program| login(&KNOWN[1], program, Some(home.path().to_owned()));
        assert_eq!(of(&program), Login::Missing("`codex login`"));
        std::fs::create_dir(home.path().join(".codex")).expect("a folder");
        std::fs::write(home.path().join(".codex/auth.json"), "{}").expect("a file");
        assert_eq!(of(&program), Login::There("~/.codex/auth.json".to_owned()));
        program.variables = vec![("OPENAI_API_KEY".to_owned(), "k".to_owned())];
        assert_eq!(of(&program), Login::There("OPENAI_API_KEY".to_owned()));
        program.variables[0].1.clear();
        assert_eq!(of(&program), Login::There("~/.codex/auth.json".to_owned()), "an empty one is none");
    }
}
