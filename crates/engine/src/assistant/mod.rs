//! The assistants there are, by name, and which of them answers.
//!
//! Each kind of assistant is a driver (`dialogue.rs`): its own file beside `script.rs`. What they share is how a program is
//! run (`agent.rs`), started in a place (`start.rs`), and ended again with all that it started (`supervisor.rs`,
//! `processes.rs`), and what it remembers (`memory.rs`).

mod acp;
mod agent;
mod checkup;
mod claude;
mod codex;
mod dialogue;
mod lines;
mod live;
mod mcp;
pub(crate) mod memory;
pub mod processes;
mod rpc;
mod script;
mod spoken;
mod start;
pub mod supervisor;
pub mod surroundings;
mod words;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hedgerow_core::assistant::Assistant;
use hedgerow_core::{Kind, RunId, UserError};

use crate::cage::{Cage, Strength};
use crate::settings::{AgentKind, Program, Runs};
use acp::Acp;
use agent::Agent;
pub(crate) use checkup::{Checkup, Login, checkup};
use claude::Claude;
use codex::Codex;
use dialogue::Driver;
use live::Live;
use script::Script;
use surroundings::Surroundings;

/// Every assistant of this machine.
#[derive(Clone)]
pub struct Assistants {
    all: Vec<Arc<dyn Assistant>>,
    /// Who works where nobody chose.
    usual: Option<String>,
    live: Arc<Live>,
    cage: Arc<Cage>,
}

impl fmt::Debug for Assistants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assistants").field("names", &self.names()).field("usual", &self.usual).finish_non_exhaustive()
    }
}

impl Assistants {
    /// `home` is where Hedgerow keeps its own things, which no agent sees.
    pub fn new(runs: &Runs, home: &Path) -> Self {
        Self::around(runs, home, Surroundings::of_this_process(&runs.sandbox.variables))
    }

    /// The same for a user who is not the one of this process.
    pub fn around(runs: &Runs, home: &Path, around: Surroundings) -> Self {
        let live = Arc::<Live>::default();
        let cage = Arc::new(Cage::new(runs.sandbox.clone(), runs.supervisor.clone(), around, home.to_owned()));
        let all = runs.assistants.iter().map(|program| -> Arc<dyn Assistant> {
            let supervisor = runs.supervisor.clone();
            Arc::new(Agent::new(program.clone(), driver(program), supervisor, Arc::clone(&cage), Arc::clone(&live)))
        });
        Self { all: all.collect(), usual: runs.assistant.clone(), live, cage }
    }

    /// What holds them in.
    pub fn cage(&self) -> &Cage {
        &self.cage
    }

    pub fn named(&self, name: &str) -> Option<Arc<dyn Assistant>> {
        self.all.iter().find(|assistant| assistant.name() == name).cloned()
    }

    pub fn names(&self) -> Vec<&str> {
        self.all.iter().map(|assistant| assistant.name()).collect()
    }

    /// The one that answers: `chosen` by the conversation or its codebase, else the usual one, else the only one.
    pub fn require(&self, chosen: Option<&str>) -> Result<Arc<dyn Assistant>, UserError> {
        match (chosen.or(self.usual.as_deref()), self.all.as_slice()) {
            (Some(name), _) => self.named(name).ok_or_else(|| self.unknown(name)),
            (None, [only]) => Ok(Arc::clone(only)),
            (None, []) => Err(how_to_configure(UserError::new(Kind::NotFound, "no assistant is configured"))),
            (None, _) => {
                let message = format!("there are several assistants: {}", self.listed());
                Err(UserError::new(Kind::Usage, message).hint("choose one with `/assistant <name>`"))
            }
        }
    }

    /// Whether programs are started in a view of the file system in which guarded paths cannot be written.
    pub fn have_a_view(&self) -> bool {
        matches!(self.cage.strength(), Strength::Whole | Strength::View)
    }

    /// Returns once nothing is at work any more of a run that this process started. Whoever drops the updates of a run
    /// waits here before its place goes to someone else, and gets what the agent remembered at its end.
    pub async fn gone(&self, run: RunId) -> Option<Vec<u8>> {
        self.live.gone(run).await
    }

    fn unknown(&self, name: &str) -> UserError {
        let error = UserError::new(Kind::NotFound, format!("there is no assistant `{name}`"));
        if self.all.is_empty() {
            return how_to_configure(error);
        }
        error.hint(format!("there is {}; choose one with `/assistant <name>`", self.listed()))
    }

    fn listed(&self) -> String {
        self.names().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

/// How to talk to such a program.
fn driver(program: &Program) -> Arc<dyn Driver> {
    match program.kind {
        AgentKind::Claude => Arc::new(Claude::new(program)),
        AgentKind::Script => Arc::new(Script),
        AgentKind::Codex => Arc::new(Codex::new(program)),
        AgentKind::Acp => Arc::new(Acp::new(program)),
    }
}

fn how_to_configure(error: UserError) -> UserError {
    error.hint(
        "install Claude Code, Codex, Gemini CLI or opencode, or name a program in `hedgerow.toml`: `[assistants.<name>]` with `command = [\"program\", \"arg\"]`; \
         docs/assistants.md tells how it is spoken to",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistants(names: &[&str], usual: Option<&str>) -> Assistants {
        let program = |name: &&str| Program::script(*name, ["true"]);
        let assistants = names.iter().map(program).collect();
        let runs = Runs { assistants, assistant: usual.map(str::to_owned), ..Runs::default() };
        Assistants::new(&runs, Path::new("/nonexistent"))
    }

    fn name(assistants: &Assistants, chosen: Option<&str>) -> Result<String, UserError> {
        assistants.require(chosen).map(|assistant| assistant.name().to_owned())
    }

    #[test]
    fn the_chosen_one_answers_else_the_usual_one_else_the_only_one() {
        assert_eq!(name(&assistants(&["a", "b"], Some("a")), Some("b")).as_deref(), Ok("b"));
        assert_eq!(name(&assistants(&["a", "b"], Some("b")), None).as_deref(), Ok("b"));
        assert_eq!(name(&assistants(&["a"], None), None).as_deref(), Ok("a"));
    }

    #[test]
    fn whoever_cannot_be_served_reads_what_to_do() {
        let none = name(&assistants(&[], None), None).expect_err("there is none");
        assert_eq!((none.kind, none.message.as_str()), (Kind::NotFound, "no assistant is configured"));
        assert!(none.hints[0].contains("[assistants.<name>]"), "{none:?}");

        let several = name(&assistants(&["a", "b"], None), None).expect_err("which?");
        assert_eq!((several.kind, several.message.as_str()), (Kind::Usage, "there are several assistants: `a`, `b`"));
        assert_eq!(several.hints, ["choose one with `/assistant <name>`"]);

        let unknown = name(&assistants(&["a", "b"], None), Some("c")).expect_err("no such");
        assert_eq!((unknown.kind, unknown.message.as_str()), (Kind::NotFound, "there is no assistant `c`"));
        assert_eq!(unknown.hints, ["there is `a`, `b`; choose one with `/assistant <name>`"]);

        let usual = name(&assistants(&[], Some("a")), None).expect_err("the usual one is not there");
        assert_eq!((usual.kind, usual.hints), (Kind::NotFound, none.hints));
    }
}
