//! The seam between the one way to run a program and the many ways to talk to one.
//!
//! A driver is words only: which arguments, what is said, what is heard. It reads no stream and starts nothing, so all
//! of a protocol can be tested on lines that a real agent once wrote. `agent.rs` does the rest, for all of them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::{AssistantError, Outcome, Turn, Update};

/// One kind of agent.
pub(super) trait Driver: Send + Sync + fmt::Debug {
    /// How the program is started for this turn.
    fn launch(&self, turn: &Turn) -> Launch;

    fn dialogue(&self, turn: &Turn) -> Box<dyn Dialogue>;

    /// What the agent needs of the user's home, by name.
    fn belongings(&self) -> Belongings {
        Belongings::default()
    }

    /// The file below its home in which the agent keeps this session, or, if there is none, where it would look for it
    /// when it is started in `folder`. `None` when it keeps it elsewhere.
    fn memory(&self, home: &Path, session: &str, folder: &Path) -> Option<PathBuf> {
        let _ = (home, session, folder);
        None
    }
}

/// What comes after the program's own command line, and into its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(String, String)>,
}

/// Paths below the user's home.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Belongings {
    /// Its login, which it may renew.
    pub(super) login: &'static [&'static str],
    /// What the user has settled for it, and it may only read.
    pub(super) settings: &'static [&'static str],
}

/// One turn's talk with a program, line by line.
pub(super) trait Dialogue: Send {
    /// The first words to the program.
    fn opening(&mut self) -> Vec<u8>;

    /// Whether there may be more to say after the opening. If not, the program's stdin ends there.
    fn goes_on(&self) -> bool {
        false
    }

    /// A whole line of its stdout, without its end. An error ends the turn.
    fn hear(&mut self, line: &[u8]) -> Result<Heard, AssistantError>;

    /// What the turn came to.
    fn end(self: Box<Self>, parting: &Parting<'_>) -> Result<Outcome, AssistantError>;
}

/// What a line meant.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) updates: Vec<Update>,
    /// What is said to the program in return.
    pub(super) reply: Vec<u8>,
    /// It was the last word: the turn is over, whatever the program still does.
    pub(super) is_over: bool,
}

impl Heard {
    pub(super) fn update(update: Update) -> Self {
        Self { updates: vec![update], ..Self::default() }
    }

    pub(super) fn over() -> Self {
        Self { is_over: true, ..Self::default() }
    }
}

/// How the program went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parting<'a> {
    /// It ended by itself with status 0, or still runs after its last word.
    pub(super) went_well: bool,
    /// How it ended, for a person.
    pub(super) how: &'a str,
    /// The last of what it wrote to stderr.
    pub(super) words: &'a str,
}

impl Parting<'_> {
    /// For a person: how it ended, and below that what it wrote last.
    pub(super) fn told(&self) -> String {
        if self.words.is_empty() { self.how.to_owned() } else { format!("{}\n{}", self.how, self.words) }
    }
}
