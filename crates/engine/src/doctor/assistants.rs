//! Whether the assistants could work, and whether anything keeps them in.

use super::finding::Finding;
use crate::assistant::{Checkup, Login, checkup};
use crate::cage;
use crate::engine::Engine;
use crate::settings::{Program, Runs, SandboxMode};

impl Engine {
    pub(super) async fn check_assistants(&self) -> Vec<Finding> {
        let runs = &self.settings.runs;
        let upstreams = self.settings.gateway.iter().flat_map(|gateway| &gateway.upstreams);
        let makers: Vec<_> = upstreams.map(|upstream| upstream.maker).collect();
        let mut findings = Vec::new();
        for program in &runs.assistants {
            findings.push(told(program, &checkup(program, &makers).await));
        }
        if runs.assistants.is_empty() {
            let detail = "none is found; Claude Code, Codex, Gemini CLI and opencode are when they are installed, \
                          any other is named in hedgerow.toml";
            findings.push(Finding::fine("assistants", detail));
        }
        // It builds the cage: where there is none, nobody is started as the product starts them.
        if !runs.supervisor.is_empty() {
            findings.push(caged(runs));
        }
        findings
    }
}

/// What holds agents in, and what to do where it is little.
fn caged(runs: &Runs) -> Finding {
    let ability = cage::ability(runs);
    let landlock = ability.landlock.map_or_else(|| "no Landlock".to_owned(), |version| format!("Landlock {version}"));
    let detail = format!("{} ({landlock})", cage::strength(runs).sentence());
    match (ability.view, runs.sandbox.mode) {
        (_, SandboxMode::Off) => {
            Finding::warning("cage", detail, "`sandbox.mode = \"on\"` in hedgerow.toml cages them")
        }
        (Err(why), SandboxMode::Required) => {
            Finding::problem("cage", format!("{detail}; no agent runs, because `sandbox.mode` is `required`"), why)
        }
        (Err(why), SandboxMode::On) => Finding::warning("cage", detail, why),
        (Ok(()), SandboxMode::On | SandboxMode::Required) => Finding::fine("cage", detail),
    }
}

fn told(program: &Program, checkup: &Checkup) -> Finding {
    let what = format!("assistant {}", program.name);
    let path = match &checkup.program {
        Ok(path) => path.display(),
        Err(why) => {
            let hint = match checkup.install {
                Some(install) => format!("`{install}`, or `assistants.{}.command` names where it is", program.name),
                None => format!("`assistants.{}.command` in hedgerow.toml names the program", program.name),
            };
            return Finding::problem(what, why, hint);
        }
    };
    let version = match &checkup.version {
        Some(Ok(version)) => format!(", {version}"),
        Some(Err(why)) => {
            return Finding::warning(what, format!("{path}: {why}"), "try it in a terminal, or install it again");
        }
        None => String::new(),
    };
    match &checkup.login {
        Login::Unknown => Finding::fine(what, format!("{path}{version}")),
        Login::There(from) => Finding::fine(what, format!("{path}{version}, logged in by {from}")),
        Login::Missing(log_in) => {
            Finding::warning(what, format!("{path}{version}, but no login is found"), format!("log in: {log_in}"))
        }
    }
}
