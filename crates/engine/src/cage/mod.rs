//! The cage of an agent: what its program sees of the machine and may do there, enforced by the operating system.
//!
//! Two layers. A **view** (`view.rs`): namespaces of its own with a file tree that has only what is shown in it, so that
//! nothing else exists for the program. Inside it, **rules** (`confine.rs`): Landlock allows the same once more. The server
//! plans a view (`plan.rs`, `furnish.rs`) from the bounds of a turn; the supervisor builds it around itself (`enter.rs`,
//! `mounts.rs`) before it starts the program. What this machine can enforce is tried once (`probe.rs`).

#[cfg(target_os = "linux")]
mod confine;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
pub(crate) mod enter;
mod furnish;
#[cfg(target_os = "linux")]
mod mounts;
mod plan;
mod probe;
mod strength;
pub(crate) mod view;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::{AssistantError, Turn};
use tempfile::TempDir;

use crate::assistant::surroundings::Surroundings;
use crate::settings::{Runs, Sandbox, SandboxMode};
use furnish::Furnishing;
pub use probe::Ability;
pub use strength::Strength;
use view::{Layer, View};

/// Before the reason when a cage cannot be built: whoever started the supervisor reads it on its stderr.
pub(crate) const REFUSED: &str = "the cage cannot be built: ";

/// How agents are kept in on this machine.
#[derive(Debug, Clone)]
pub struct Cage {
    sandbox: Sandbox,
    supervisor: Vec<OsString>,
    around: Surroundings,
    /// Where Hedgerow keeps its own things: no agent ever sees them.
    own: PathBuf,
}

/// Who is to be caged.
#[derive(Debug)]
pub(crate) struct Inmate<'a> {
    pub(crate) turn: &'a Turn,
    /// The place itself, and where in it the program starts; without links.
    pub(crate) root: &'a Path,
    pub(crate) folder: &'a Path,
    /// The program's full path.
    pub(crate) program: &'a Path,
    /// Below the user's home: its login, and what it may only read.
    pub(crate) login: Vec<&'a str>,
    pub(crate) settings: Vec<&'a str>,
}

/// A cage for one turn.
#[derive(Debug, Default)]
pub(crate) struct Fitted {
    /// What the supervisor builds; `None`: nothing is enforced.
    pub(crate) view: Option<View>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Where the program's home is on the machine's disk, if it outlives the turn.
    pub(crate) home: Option<PathBuf>,
    /// A home that does not.
    pub(crate) passing: Option<TempDir>,
}

/// What this machine can enforce. Tried when it is first asked for, which takes a moment.
pub fn ability(runs: &Runs) -> Ability {
    probe::ability(&runs.supervisor)
}

/// What holds agents in, as it is configured and as far as this machine can. Tried when it is first asked for.
pub fn strength(runs: &Runs) -> Strength {
    strength_in(runs.sandbox.mode, &runs.supervisor)
}

fn strength_in(mode: SandboxMode, supervisor: &[OsString]) -> Strength {
    match mode {
        SandboxMode::Off => Strength::Off,
        SandboxMode::On | SandboxMode::Required => Strength::of(&probe::ability(supervisor)),
    }
}

impl Cage {
    pub(crate) fn new(sandbox: Sandbox, supervisor: Vec<OsString>, around: Surroundings, own: PathBuf) -> Self {
        Self { sandbox, supervisor, around, own }
    }

    /// What this machine can enforce. Tried when it is first asked for, which takes a moment.
    pub fn ability(&self) -> Ability {
        probe::ability(&self.supervisor)
    }

    /// What holds agents in, here and as it is configured.
    pub fn strength(&self) -> Strength {
        strength_in(self.sandbox.mode, &self.supervisor)
    }

    pub fn mode(&self) -> SandboxMode {
        self.sandbox.mode
    }

    pub(crate) fn around(&self) -> &Surroundings {
        &self.around
    }

    /// Plans the cage of a turn. Looks at the disk, and makes the home if there is none yet.
    pub(crate) fn fit(&self, inmate: &Inmate<'_>) -> Result<Fitted, AssistantError> {
        let strength = self.strength();
        let layer = match strength {
            Strength::Whole | Strength::View => Layer::Tree,
            Strength::Rules => Layer::Rules,
            Strength::None | Strength::Off => return self.uncaged(inmate, strength),
        };
        if layer == Layer::Rules {
            self.require_view(inmate)?;
        }
        let bounds = &inmate.turn.bounds;
        let lasting = bounds.home.as_deref().filter(|_| !bounds.is_fork);
        if let Some(home) = lasting {
            make_private(home).map_err(|error| uncaged(format!("`{}`: {error}", home.display())))?;
        }
        let passing = match (layer, lasting) {
            (Layer::Rules, None) => Some(tempfile::tempdir().map_err(|error| uncaged(error.to_string()))?),
            _ => None,
        };
        let home = lasting.or_else(|| passing.as_ref().map(TempDir::path));
        let furnishing = Furnishing { cage: self, inmate, layer, home };
        let (view, variables) = furnishing.done()?;
        Ok(Fitted { view: Some(view), variables, home: lasting.map(Path::to_owned), passing })
    }

    /// Nothing is enforced: whoever must not run so does not.
    fn uncaged(&self, inmate: &Inmate<'_>, strength: Strength) -> Result<Fitted, AssistantError> {
        if strength == Strength::None {
            self.require_view(inmate)?;
        }
        Ok(Fitted::default())
    }

    /// Without a view, not all that was asked for can be had.
    fn require_view(&self, inmate: &Inmate<'_>) -> Result<(), AssistantError> {
        let why = self.ability().view.err().unwrap_or_default();
        if self.sandbox.mode == SandboxMode::Required {
            return Err(uncaged(format!("`sandbox.mode` is `required`, and {why}")));
        }
        if inmate.turn.bounds.is_fork && !self.sandbox.uncovered_forks {
            return Err(uncaged(format!(
                "it is a stranger's pull request, whose configuration cannot be covered here: {why}"
            )));
        }
        Ok(())
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn uncaged(why: String) -> AssistantError {
    AssistantError::Uncaged(why)
}
