//! What differs from agent to agent: how it is configured, and how its tools are called.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Names the folder with the agents' programs.
const VARIABLE: &str = "HEDGEROW_TEST_AGENTS";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Opencode,
}

impl Agent {
    /// Whether a session can be taken up in another folder. opencode wants the one it began in, which is not in the new
    /// environment's cage.
    pub(super) const fn remembers_elsewhere(self) -> bool {
        !matches!(self, Self::Opencode)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "acp",
        }
    }

    /// Where its program is.
    ///
    /// # Panics
    /// When nobody says where the agents are.
    pub(super) fn program(self) -> PathBuf {
        let folder = std::env::var_os(VARIABLE);
        let folder =
            folder.unwrap_or_else(|| panic!("{VARIABLE} names no folder with the agents; run ./test --agents"));
        let program = PathBuf::from(folder).join(self.name());
        program.canonicalize().unwrap_or_else(|error| panic!("{}: {error}; run ./test --agents", program.display()))
    }

    pub(super) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Opencode => &["acp"],
            Self::Claude | Self::Codex => &[],
        }
    }

    /// The model it is told to use. Claude Code and Codex know the names of theirs, and what each can hold.
    pub(super) const fn model(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("claude-sonnet-4-5"),
            Self::Codex => Some("gpt-5-codex"),
            Self::Opencode => None,
        }
    }

    /// opencode takes its models from a file, or from this variable; the address and the key in it are those of the
    /// run. It brings a list of models and servers for languages from outside unless it is told not to.
    pub(super) fn variables(self) -> Vec<(&'static str, String)> {
        if self != Self::Opencode {
            return Vec::new();
        }
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {"fake-model": {"tool_call": true, "limit": {"context": 100_000, "output": 8000}}},
        });
        let config = json!({
            "autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
            "provider": {"fake": provider},
        });
        let off = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        let off = off.into_iter().map(|name| (name, "1".to_owned()));
        off.chain([("OPENCODE_CONFIG_CONTENT", config.to_string())]).collect()
    }

    /// The instruction to run a command.
    pub(super) fn runs(self, command: &str) -> String {
        let (tool, input) = match self {
            Self::Claude => ("Bash", json!({"command": command, "description": "as it was told"})),
            Self::Codex => ("exec_command", json!({"cmd": command})),
            Self::Opencode => ("bash", json!({"command": command, "description": "as it was told"})),
        };
        instruction(tool, &input)
    }

    /// The instruction to write a file. Codex has no tool for it: it edits with a command of its own in the shell.
    pub(super) fn writes(self, file: &str, line: &str) -> String {
        let content = format!("{line}\n");
        match self {
            Self::Claude => instruction("Write", &json!({"file_path": file, "content": content})),
            Self::Opencode => instruction("write", &json!({"filePath": file, "content": content})),
            Self::Codex => {
                let patch = format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch");
                self.runs(&format!("apply_patch <<'EOF'\n{patch}\nEOF"))
            }
        }
    }
}

fn instruction(tool: &str, input: &Value) -> String {
    format!("model: tool {tool} {input}")
}
