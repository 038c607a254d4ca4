//! The assistants there are: those of the file, or else those whose programs are found on this machine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hedgerow_core::{Kind, UserError};
use hedgerow_engine::settings::{AgentKind, Program};
use serde_json::Value;

use super::file::{McpServers, Table};
use super::keys;
use super::reader::Reader;
use super::{Given, Origin, Surroundings, checks};

/// Programs that are known by name: how each is spoken to, and what it needs for that. The first that is found is the
/// usual one.
const KNOWN: [(&str, AgentKind, &[&str]); 4] = [
    ("claude", AgentKind::Claude, &[]),
    ("codex", AgentKind::Codex, &[]),
    ("gemini", AgentKind::Acp, &["--acp"]),
    ("opencode", AgentKind::Acp, &["acp"]),
];

/// Longest file of MCP servers.
const LONGEST_FILE: u64 = 1 << 20;

impl Reader<'_> {
    /// The assistants there are: as they are configured, in the order of their names; else as they are found.
    pub(super) fn assistants(&mut self) -> Result<Vec<Program>, UserError> {
        let tables = std::mem::take(&mut self.file.assistants);
        if tables.is_empty() {
            let found = found(self.around);
            for program in &found {
                self.note_of(&program.name, "kind", program.kind.to_string(), Origin::Found);
                self.note_of(&program.name, "command", shown(&program.command), Origin::Found);
            }
            return Ok(found);
        }
        tables.into_iter().map(|(name, table)| self.assistant_of(&name, table)).collect()
    }

    fn assistant_of(&mut self, name: &str, table: Table) -> Result<Program, UserError> {
        let given = match &table.command {
            Some((parts, _)) => Some(self.command(parts)?),
            None => None,
        };
        let (kind, from) = match (&table.kind, &given) {
            (Some((kind, origin)), _) => (*kind, origin.clone()),
            (None, Some(command)) => (kind_of(&command[0]), Origin::Default),
            (None, None) => (AgentKind::Script, Origin::Default),
        };
        let command = match given {
            Some(command) => with_usual_arguments(command, kind, table.kind.is_some()),
            None => usual_command(kind).ok_or_else(|| {
                let message = format!("`assistants.{name}` has no `command` ({})", table.origin);
                UserError::new(Kind::Usage, message)
                    .hint("`command = [\"program\"]`, or `kind = \"claude\"` or `\"codex\"`, which need none")
            })?,
        };
        let mut program = Program::new(name, kind, command);
        self.note_of(name, "kind", kind.to_string(), from);
        let origin = table.command.as_ref().map_or(Origin::Default, |(_, origin)| origin.clone());
        self.note_of(name, "command", shown(&program.command), origin);
        program.model = self.noted(name, "model", table.model);
        program.permissions = self.noted(name, "permissions", table.permissions);
        program.max_turns = self.noted(name, "max_turns", table.max_turns);
        program.instructions = self.noted(name, "instructions", table.instructions);
        program.mcp_servers = table.mcp_servers.map(|servers| self.mcp_servers(name, servers)).transpose()?;
        for (variable, given) in table.variables {
            self.note_of(name, &format!("variables.{variable}"), "***", given.origin);
            program.variables.push((variable, given.value.to_string_lossy().into_owned()));
        }
        program.belongings = self.noted(name, "belongings", table.belongings).unwrap_or_default();
        Ok(program)
    }

    /// The words of a command line; the first is a program.
    fn command(&self, parts: &[Given]) -> Result<Vec<OsString>, UserError> {
        let mut command: Vec<OsString> = parts.iter().map(|part| part.value.clone()).collect();
        command[0] = checks::program(self.around, &keys::ASSISTANT_COMMAND, &parts[0])?.into();
        Ok(command)
    }

    fn noted<T: Clone + Into<Value>>(&mut self, name: &str, key: &str, given: Option<(T, Origin)>) -> Option<T> {
        let (value, origin) = given?;
        self.note_of(name, key, value.clone(), origin);
        Some(value)
    }

    fn note_of(&mut self, name: &str, key: &str, value: impl Into<Value>, from: Origin) {
        self.note(format!("assistants.{name}.{key}"), value, from);
    }

    /// The servers by name, as JSON. Only their names are shown: what they are given may be secret.
    fn mcp_servers(&mut self, name: &str, servers: McpServers) -> Result<String, UserError> {
        let (servers, origin) = match servers {
            McpServers::Here(servers, origin) => (servers, origin),
            McpServers::File(given) => (self.servers_of_file(name, &given)?, given.origin),
        };
        let names: Vec<String> = servers.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
        self.note_of(name, "mcp_servers", names, origin);
        Ok(servers.to_string())
    }

    /// A file as other tools have it: the servers are below `mcpServers`, or are all there is.
    fn servers_of_file(&self, name: &str, given: &Given) -> Result<Value, UserError> {
        let path = checks::path(self.around, &keys::ASSISTANT_MCP_SERVERS, given)?;
        let key = format!("assistants.{name}.mcp_servers");
        let wrong =
            |why: &str| UserError::new(Kind::Usage, format!("`{key}`: {} {why} ({})", path.display(), given.origin));
        let is_long = fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST_FILE);
        if is_long {
            return Err(wrong("is longer than 1 MiB"));
        }
        let text = fs::read_to_string(&path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        let mut all: Value = serde_json::from_str(&text).map_err(|error| wrong(&format!("is not JSON: {error}")))?;
        let servers = match all.get_mut("mcpServers") {
            Some(servers) => servers.take(),
            None => all,
        };
        let is_good = servers.as_object().is_some_and(|servers| servers.values().all(Value::is_object));
        if is_good { Ok(servers) } else { Err(wrong("must hold an object with an object for each server")) }
    }
}

fn shown(command: &[OsString]) -> Vec<String> {
    command.iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// How a program is spoken to that nobody said it of.
fn kind_of(program: &OsStr) -> AgentKind {
    known(program).map_or(AgentKind::Script, |(_, kind, _)| kind)
}

fn known(program: &OsStr) -> Option<(&'static str, AgentKind, &'static [&'static str])> {
    let name = Path::new(program).file_name()?;
    KNOWN.into_iter().find(|(known, _, _)| name == *known)
}

/// A known program that is named alone gets what it needs to be spoken to as it is.
fn with_usual_arguments(mut command: Vec<OsString>, kind: AgentKind, is_said: bool) -> Vec<OsString> {
    if let ([program], false) = (command.as_slice(), is_said)
        && let Some((_, known, arguments)) = known(program)
        && known == kind
    {
        command.extend(arguments.iter().map(Into::into));
    }
    command
}

fn usual_command(kind: AgentKind) -> Option<Vec<OsString>> {
    match kind {
        AgentKind::Claude => Some(vec!["claude".into()]),
        AgentKind::Codex => Some(vec!["codex".into()]),
        AgentKind::Acp | AgentKind::Script => None,
    }
}

/// The known programs that are in `PATH`.
fn found(around: &Surroundings) -> Vec<Program> {
    let folders: Vec<_> =
        around.path.iter().flat_map(std::env::split_paths).filter(|path| path.is_absolute()).collect();
    let is_there = |name: &str| {
        let is_program = |path: &Path| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        folders.iter().any(|folder| is_program(&folder.join(name)))
    };
    let program = |(name, kind, arguments): (&str, AgentKind, &[&str])| {
        let command = [name].iter().chain(arguments).map(Into::into).collect();
        Program::new(name, kind, command)
    };
    KNOWN.into_iter().filter(|(name, _, _)| is_there(name)).map(program).collect()
}
