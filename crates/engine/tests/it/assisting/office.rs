//! A place to work in, and programs that work there.

use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use hedgerow_core::ConversationId;
use hedgerow_core::assistant::{AssistantError, Outcome, Turn, Update, Updates};
use hedgerow_core::environment::{Exec, Place, Tenant};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::settings::{Program, Runs, Sandbox, SandboxMode};
use hedgerow_testkit::{World, brain};

/// A scratch folder of a conversation.
pub(super) struct Office {
    world: World,
    conversation: ConversationId,
}

/// What was heard, and how it ended.
pub(super) type Heard = (Vec<Update>, Result<Outcome, AssistantError>);

impl Office {
    pub(super) async fn open() -> Self {
        let office = Self { world: World::new().await, conversation: ConversationId::new() };
        for folder in [office.place(), office.notes().to_owned()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        office
    }

    pub(super) fn place(&self) -> PathBuf {
        self.world.folder().join("place")
    }

    /// Where the fake assistant takes notes.
    pub(super) fn notes(&self) -> &Path {
        self.world.folder()
    }

    pub(super) fn turn(&self, prompt: &str) -> Turn {
        let of = Tenant::Scratch(self.conversation);
        let place = Place { of, generation: 0, path: self.place(), branch: None, exec: Exec::Host };
        brain::turn(place, prompt)
    }

    /// The fake assistant, as the product would start it.
    pub(super) fn supervised(&self) -> Assistants {
        of(brain::program(self.notes()), true)
    }

    pub(super) fn unsupervised_fake(&self) -> Assistants {
        of(brain::program(self.notes()), false)
    }

    pub(super) fn runs(&self, assistants: &Assistants, turn: Turn) -> Updates {
        let assistant = assistants.require(None).expect("the only one");
        assistant.run(&self.world.engine.scratch_lease(self.conversation), turn)
    }

    pub(super) fn starts(&self, assistants: &Assistants, prompt: &str) -> Updates {
        self.runs(assistants, self.turn(prompt))
    }

    pub(super) async fn fake(&self, prompt: &str) -> Heard {
        all(self.starts(&self.supervised(), prompt)).await
    }

    pub(super) async fn program(&self, command: &[&str], prompt: &str) -> Heard {
        all(self.starts(&plain(command), prompt)).await
    }

    /// A bash script, under the supervisor.
    pub(super) async fn script(&self, script: &str) -> Heard {
        self.program(&["bash", "-c", script], "go").await
    }

    pub(super) fn make_executable(&self, file: &str) {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.place().join(file), mode).expect("its mode can be set");
    }

    /// The process whose id is in a file of the place, once it is there.
    pub(super) fn pid_in(&self, file: &str) -> u32 {
        let path = self.place().join(file);
        eventually(|| fs::read_to_string(&path).is_ok_and(|text| text.trim().parse::<u32>().is_ok()));
        fs::read_to_string(&path).expect("it is there").trim().parse().expect("a number")
    }
}

/// Any program, under the supervisor.
pub(super) fn plain(command: &[&str]) -> Assistants {
    of(named(command), true)
}

/// Any program, by itself.
pub(super) fn unsupervised(command: &[&str]) -> Assistants {
    of(named(command), false)
}

fn named(command: &[&str]) -> Program {
    Program::script("plain", command)
}

pub(super) fn of(program: Program, is_supervised: bool) -> Assistants {
    let supervisor = if is_supervised { brain::supervisor() } else { Vec::new() };
    // What is told of the cage has its own stories.
    let sandbox = Sandbox { mode: SandboxMode::Off, ..Sandbox::default() };
    let runs = Runs { assistants: vec![program], supervisor, sandbox, ..Runs::default() };
    Assistants::new(&runs, Path::new("/nonexistent"))
}

pub(super) async fn next(updates: &mut Updates) -> Option<Result<Update, AssistantError>> {
    poll_fn(|context| updates.as_mut().poll_next(context)).await
}

/// Everything up to the end, which must be one.
pub(super) async fn all(mut updates: Updates) -> Heard {
    let mut heard = Vec::new();
    loop {
        let ending = match next(&mut updates).await.expect("it ends with a last update") {
            Ok(Update::Finished(outcome)) => Ok(outcome),
            Ok(update) => {
                heard.push(update);
                continue;
            }
            Err(error) => Err(error),
        };
        assert!(next(&mut updates).await.is_none(), "nothing comes after the end");
        return (heard, ending);
    }
}

pub(super) fn text(text: &str) -> Update {
    Update::Text(text.to_owned())
}

pub(super) fn tool(text: &str) -> Update {
    Update::Tool(text.to_owned())
}

/// At work, or about to be; not one that has ended and waits to be reaped.
pub(super) fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z' && state != 'X')
}

/// `None` when there is no such process.
pub(super) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub(super) fn eventually(is_so: impl FnMut() -> bool) {
    assert!(becomes(Duration::from_secs(20), is_so), "it never came to be");
}

pub(super) fn becomes(within: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while !is_so() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}
