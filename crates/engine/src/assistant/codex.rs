//! Codex, through its app server: JSON-RPC in lines, with text as it comes.
//!
//! `codex exec --json` would do as well, but tells whole messages only. What the app server understands, Codex writes down
//! itself: `codex app-server generate-json-schema`.

mod errors;
mod items;
mod memory;
mod talk;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::{AssistantError, Maker, Turn};
use serde_json::{Map, Value, json};

use super::dialogue::{Belongings, Dialogue, Driver, Launch};
use super::mcp;
use crate::settings::Program;
use talk::{Opening, Talk};

/// The provider of models that stands for our own gateway, as Codex names it in its sessions.
const PROVIDER: &str = "hedgerow";
/// Holds the token of the run.
const TOKEN: &str = "HEDGEROW_MODEL_TOKEN";
/// Its own sandbox would make `.git` read-only. The cage is around it already.
const UNBOUNDED: &str = "danger-full-access";

#[derive(Debug)]
pub(super) struct Codex {
    program: Program,
}

impl Codex {
    pub(super) fn new(program: &Program) -> Self {
        Self { program: program.clone() }
    }

    fn sandbox(&self) -> &str {
        self.program.permissions.as_deref().unwrap_or(UNBOUNDED)
    }

    /// What a thread is started or resumed with. All of it each time: Codex remembers some of it, and not the rest.
    fn thread(&self, turn: &Turn) -> Result<Value, AssistantError> {
        let told: Vec<_> = turn.briefing.iter().chain(&self.program.instructions).map(String::as_str).collect();
        let folder = turn.subfolder.as_ref().map_or_else(|| turn.place.path.clone(), |sub| turn.place.path.join(sub));
        let mut thread = json!({
            "cwd": folder.to_string_lossy(),
            "approvalPolicy": "never",
            "sandbox": self.sandbox(),
            "config": self.config(turn)?,
        });
        let wanted = [
            ("model", self.program.model.clone()),
            ("modelProvider", reaches(turn).then(|| PROVIDER.to_owned())),
            ("developerInstructions", (!told.is_empty()).then(|| told.join("\n\n"))),
            ("threadId", turn.resume.clone()),
        ];
        for (key, value) in wanted {
            if let Some(value) = value {
                thread[key] = value.into();
            }
        }
        if turn.resume.is_some() {
            // Its past was heard when it happened.
            thread["excludeTurns"] = true.into();
        }
        Ok(thread)
    }

    /// Settings of the thread. They go here and not into the command line: nothing needs to be quoted, and no secret of a
    /// server stands in the list of processes.
    fn config(&self, turn: &Turn) -> Result<Map<String, Value>, AssistantError> {
        let mut servers: Map<String, Value> = mcp::servers(self.program.mcp_servers.as_deref())?
            .into_iter()
            .map(|(name, server)| (name, in_its_words(server)))
            .collect();
        let mut config = Map::new();
        for tool in &turn.disallowed_tools {
            if tool.eq_ignore_ascii_case("web_search") || tool == "WebSearch" {
                config.insert("web_search".to_owned(), "disabled".into());
            } else if let Some((server, tool)) = tool.strip_prefix("mcp__").and_then(|name| name.split_once("__"))
                && let Some(Value::Object(server)) = servers.get_mut(server)
                && let Value::Array(tools) = server.entry("disabled_tools").or_insert_with(|| json!([]))
            {
                tools.push(tool.into());
            }
        }
        if !servers.is_empty() {
            config.insert("mcp_servers".to_owned(), servers.into());
        }
        Ok(config)
    }
}

/// Whether the server opens a way to the models that Codex can use.
fn reaches(turn: &Turn) -> bool {
    turn.models.as_ref().is_some_and(|models| models.makers.contains(&Maker::Openai))
}

/// Codex has no `type`, and another word for headers.
fn in_its_words(mut server: Value) -> Value {
    if let Value::Object(fields) = &mut server {
        fields.remove("type");
        if let Some(headers) = fields.remove("headers") {
            fields.insert("http_headers".to_owned(), headers);
        }
    }
    server
}

impl Driver for Codex {
    fn launch(&self, turn: &Turn) -> Launch {
        let mut arguments = vec![OsString::from("app-server")];
        let mut variables = Vec::new();
        if let Some(models) = turn.models.as_ref().filter(|_| reaches(turn)) {
            // For the process and not the thread only: Codex looks for its models before any thread is started.
            let settings = [
                ("model_provider".to_owned(), PROVIDER),
                (format!("model_providers.{PROVIDER}.name"), "Hedgerow"),
                (format!("model_providers.{PROVIDER}.base_url"), &format!("{}/openai/v1", models.url)),
                (format!("model_providers.{PROVIDER}.wire_api"), "responses"),
                (format!("model_providers.{PROVIDER}.env_key"), TOKEN),
            ];
            for (key, value) in settings {
                arguments.extend(["-c".into(), format!("{key}={}", Value::from(value)).into()]);
            }
            variables.push((TOKEN.to_owned(), models.token.clone()));
        }
        Launch { arguments, variables }
    }

    fn dialogue(&self, turn: &Turn) -> Box<dyn Dialogue> {
        let opening = Opening { thread: self.thread(turn), resume: turn.resume.clone(), prompt: turn.prompt.clone() };
        Box::new(Talk::new(opening, turn.place.path.clone(), self.sandbox() == UNBOUNDED))
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            login: &[".codex/auth.json"],
            settings: &[".codex/config.toml", ".codex/AGENTS.md", ".codex/prompts", ".codex/skills", ".codex/rules"],
        }
    }

    fn memory(&self, home: &Path, session: &str, _: &Path) -> Option<PathBuf> {
        memory::of(home, session)
    }
}
