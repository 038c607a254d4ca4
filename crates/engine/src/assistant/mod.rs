//! The assistants there are, by name, and which of them answers.
//!
//! Each kind of assistant is a driver behind core's `Assistant`: its own file beside `script.rs`. What they share is how
//! a program is started in a place (`start.rs`) and how all of it is ended again (`supervisor.rs`, `processes.rs`).

mod live;
pub mod processes;
mod protocol;
mod script;
mod start;
pub mod supervisor;
mod surroundings;
mod words;

use std::fmt;
use std::sync::Arc;

use hedgerow_core::assistant::Assistant;
use hedgerow_core::{Kind, RunId, UserError};

use crate::settings::Runs;
use live::Live;
use script::Script;

/// Every assistant of this machine.
#[derive(Clone)]
pub struct Assistants {
    all: Vec<Arc<dyn Assistant>>,
    /// Who works where nobody chose.
    usual: Option<String>,
    live: Arc<Live>,
}

impl fmt::Debug for Assistants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assistants").field("names", &self.names()).field("usual", &self.usual).finish_non_exhaustive()
    }
}

impl Assistants {
    pub fn new(runs: &Runs) -> Self {
        let live = Arc::<Live>::default();
        let all = runs.assistants.iter().map(|program| -> Arc<dyn Assistant> {
            Arc::new(Script::new(program.clone(), runs.supervisor.clone(), Arc::clone(&live)))
        });
        Self { all: all.collect(), usual: runs.assistant.clone(), live }
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

    /// Returns once nothing is at work any more of a run that this process started. Whoever drops the updates of a run
    /// waits here before its place goes to someone else.
    pub async fn gone(&self, run: RunId) {
        self.live.gone(run).await;
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

fn how_to_configure(error: UserError) -> UserError {
    error.hint(
        "name a program in `hedgerow.toml`: `[assistants.<name>]` with `command = [\"program\", \"arg\"]`; \
         docs/assistants.md tells how it is spoken to",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Program;

    fn assistants(names: &[&str], usual: Option<&str>) -> Assistants {
        let program = |name: &&str| Program { name: (*name).to_owned(), command: vec!["true".into()] };
        let assistants = names.iter().map(program).collect();
        Assistants::new(&Runs { assistants, assistant: usual.map(str::to_owned), ..Runs::default() })
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
