//! Any agent that speaks the Agent Client Protocol, version 1: Gemini CLI, opencode, and what stands in front of others.
//!
//! We lend it neither files nor terminals: it works by itself, in its place and its cage. What it asks leave for is
//! answered by policy, since nobody sits in front of it.

mod faults;
mod permission;
mod settling;
mod talk;
#[cfg(test)]
mod tests;
mod updates;

use agent_client_protocol_schema::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use hedgerow_core::assistant::{AssistantError, Maker, Turn};
use serde_json::Value;

use super::dialogue::{Belongings, Dialogue, Driver, Launch};
use super::mcp;
use crate::settings::Program;
use talk::{Opening, Talk};

#[derive(Debug)]
pub(super) struct Acp {
    program: Program,
}

impl Acp {
    pub(super) fn new(program: &Program) -> Self {
        Self { program: program.clone() }
    }

    fn servers(&self) -> Result<Vec<McpServer>, AssistantError> {
        let servers = mcp::servers(self.program.mcp_servers.as_deref())?;
        Ok(servers.iter().map(|(name, server)| in_its_words(name, server)).collect())
    }
}

impl Driver for Acp {
    /// The usual variables for the makers of models there are: an agent takes what it knows.
    fn launch(&self, turn: &Turn) -> Launch {
        let mut variables = Vec::new();
        if let Some(models) = &turn.models {
            for maker in &models.makers {
                let (address, below, key) = match maker {
                    Maker::Anthropic => ("ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY"),
                    Maker::Openai => ("OPENAI_BASE_URL", "/openai/v1", "OPENAI_API_KEY"),
                    Maker::Gemini => ("GOOGLE_GEMINI_BASE_URL", "/gemini", "GEMINI_API_KEY"),
                };
                variables.push((address.to_owned(), format!("{}{below}", models.url)));
                variables.push((key.to_owned(), models.token.clone()));
            }
        }
        Launch { arguments: Vec::new(), variables }
    }

    fn dialogue(&self, turn: &Turn) -> Box<dyn Dialogue> {
        let folder = turn.subfolder.as_ref().map_or_else(|| turn.place.path.clone(), |sub| turn.place.path.join(sub));
        Box::new(Talk::new(Opening {
            place: turn.place.path.clone(),
            folder,
            servers: self.servers(),
            resume: turn.resume.clone(),
            briefing: turn.briefing.iter().chain(&self.program.instructions).cloned().collect(),
            prompt: turn.prompt.clone(),
            model: self.program.model.clone(),
            mode: self.program.permissions.clone(),
            disallowed: turn.disallowed_tools.clone(),
        }))
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            login: &[".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".local/share/opencode/auth.json"],
            settings: &[".gemini/settings.json", ".gemini/GEMINI.md", ".config/opencode"],
        }
    }
}

/// A server as ACP has it. That it has a command or an address was seen when it was read.
fn in_its_words(name: &str, server: &Value) -> McpServer {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let pairs = |key: &str| {
        let pairs = server.get(key).and_then(Value::as_object).into_iter().flatten();
        pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
    };
    let headers = || pairs("headers").map(|(name, value)| HttpHeader::new(name, value)).collect();
    match text("url") {
        Some(url) if text("type") == Some("sse") => McpServer::Sse(McpServerSse::new(name, url).headers(headers())),
        Some(url) => McpServer::Http(McpServerHttp::new(name, url).headers(headers())),
        None => {
            let arguments = server.get("args").and_then(Value::as_array).into_iter().flatten();
            let arguments = arguments.filter_map(|argument| argument.as_str().map(str::to_owned));
            let variables = pairs("env").map(|(name, value)| EnvVariable::new(name, value));
            let stdio = McpServerStdio::new(name, text("command").unwrap_or_default());
            McpServer::Stdio(stdio.args(arguments.collect()).env(variables.collect()))
        }
    }
}
