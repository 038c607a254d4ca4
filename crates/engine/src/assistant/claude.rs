//! Claude Code, spoken to both ways: lines of JSON go in and come out for as long as the turn lasts.
//!
//! This file is how it is started and where it keeps its things. `claude/talk.rs` is the talk; what a `result` comes to is
//! in `claude/verdict.rs`, what was used in `claude/usage.rs`, how tool calls and plans read in `claude/tools.rs` and
//! `claude/plan.rs`.

mod plan;
mod talk;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod verdict;

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hedgerow_core::assistant::{Maker, Turn};

use super::dialogue::{Belongings, Dialogue, Driver, Launch};
use crate::settings::Program;
use talk::Talk;

/// It may do all that it wants: the cage is what keeps it in.
const UNASKED: &str = "bypassPermissions";

/// Tools that make no sense here. Nobody sits there to be asked, a question belongs into the answer. Worktrees are ours to
/// make. Nothing is left of a turn that could wake it up again.
const SENSELESS: [&str; 6] =
    ["AskUserQuestion", "EnterWorktree", "ExitWorktree", "CronCreate", "ScheduleWakeup", "Monitor"];

/// No call home, no update in the middle of a turn. A model that refuses is asked again for 9 seconds and not for minutes.
/// Plans are made and made whole each time (of the two tools for it, the one that keeps no tasks of its own). What it
/// starts ends before its answer, because the answer ends the turn.
const VARIABLES: [(&str, &str); 9] = [
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_BUG_COMMAND", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1"),
    ("CLAUDE_CODE_ENABLE_TASKS", "0"),
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
];

/// Longest name it gives to a folder of sessions; the rest of a longer one is a hash.
const LONGEST_SLUG: usize = 200;

#[derive(Debug)]
pub(super) struct Claude {
    program: Program,
}

impl Claude {
    pub(super) fn new(program: &Program) -> Self {
        Self { program: program.clone() }
    }

    fn permissions(&self) -> &str {
        self.program.permissions.as_deref().unwrap_or(UNASKED)
    }

    fn arguments(&self, turn: &Turn) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = [
            "-p",
            "--output-format=stream-json",
            "--input-format=stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-prompt-tool=stdio",
        ]
        .map(OsString::from)
        .to_vec();
        // One word each: a value that begins with a dash is no option.
        let mut option = |name: &str, value: &str| arguments.push(format!("--{name}={value}").into());
        option("permission-mode", self.permissions());
        option("disallowedTools", &disallowed(turn).join(","));
        if let Some(model) = &self.program.model {
            option("model", model);
        }
        if let Some(max_turns) = self.program.max_turns {
            option("max-turns", &max_turns.to_string());
        }
        let told: Vec<_> = turn.briefing.as_deref().into_iter().chain(self.program.instructions.as_deref()).collect();
        if !told.is_empty() {
            option("append-system-prompt", &told.join("\n\n"));
        }
        match &turn.resume {
            Some(session) => option("resume", session),
            // Ours to choose: then it is known before the first word, and nobody else has it.
            None => option("session-id", &turn.run.to_string()),
        }
        if let Some(servers) = &self.program.mcp_servers {
            option("mcp-config", &format!("{{\"mcpServers\":{servers}}}"));
            arguments.push("--strict-mcp-config".into());
        }
        arguments
    }

    fn variables(&self, turn: &Turn) -> Vec<(String, String)> {
        let mut variables: Vec<_> = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        if self.permissions() == UNASKED {
            // As root it wants to hear that somebody keeps it in before it does what it is not asked about.
            variables.push(("IS_SANDBOX".to_owned(), "1".to_owned()));
        }
        if let Some(models) = turn.models.as_ref().filter(|models| models.makers.contains(&Maker::Anthropic)) {
            variables.push(("ANTHROPIC_BASE_URL".to_owned(), models.url.clone()));
            variables.push(("ANTHROPIC_AUTH_TOKEN".to_owned(), models.token.clone()));
        }
        variables
    }
}

impl Driver for Claude {
    fn launch(&self, turn: &Turn) -> Launch {
        Launch { arguments: self.arguments(turn), variables: self.variables(turn) }
    }

    fn dialogue(&self, turn: &Turn) -> Box<dyn Dialogue> {
        Box::new(Talk::new(turn, disallowed(turn), self.permissions() == UNASKED))
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            login: &[".claude/.credentials.json"],
            settings: &[
                ".claude/settings.json",
                ".claude/CLAUDE.md",
                ".claude/agents",
                ".claude/commands",
                ".claude/skills",
            ],
        }
    }

    /// It looks for a session in the folders of all places, and goes on writing where it found it. So the one that is
    /// there counts wherever it is, the newest if there are several.
    fn memory(&self, home: &Path, session: &str, folder: &Path) -> Option<PathBuf> {
        if !is_session(session) {
            return None;
        }
        let (projects, file) = (home.join(".claude/projects"), format!("{session}.jsonl"));
        let folders = projects.read_dir().into_iter().flatten().flatten().map(|entry| entry.path().join(&file));
        let changed = |path: &PathBuf| path.symlink_metadata().ok().filter(Metadata::is_file)?.modified().ok();
        let found = folders.filter_map(|path| Some((changed(&path)?, path)));
        let newest = found.max_by_key(|(at, _): &(SystemTime, PathBuf)| *at);
        Some(newest.map_or_else(|| projects.join(slug(folder)).join(&file), |(_, path)| path))
    }
}

/// Tools that it must not use in this turn.
fn disallowed(turn: &Turn) -> Vec<String> {
    let senseless = SENSELESS.iter().map(|tool| (*tool).to_owned());
    senseless.chain(turn.disallowed_tools.iter().cloned()).collect()
}

/// What it calls the folder of the sessions of a place.
fn slug(folder: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    folder.to_string_lossy().chars().map(plain).take(LONGEST_SLUG).collect()
}

/// Its sessions have ids for names. Anything else must not become a path.
fn is_session(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}
