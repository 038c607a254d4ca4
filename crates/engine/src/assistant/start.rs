//! A program, started in a place and ended with all that it started. The only file that reads how a place wants its
//! programs started.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hedgerow_core::assistant::{AssistantError, Turn};
use hedgerow_core::environment::{Exec, Place};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::dialogue::{Belongings, Launch};
use super::processes::{self, RUN};
use super::supervisor::GRACE;
use super::surroundings;
use crate::cage::{Cage, Fitted, Inmate};
use crate::settings::Program;

/// How much longer than it promises a supervisor may take to end a tree.
const ALLOWANCE: Duration = Duration::from_secs(5);

/// A program at work, with everything it starts. Dropped, it is asked to end.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    run: String,
    is_supervised: bool,
    /// We have seen that nothing is left of it.
    is_over: bool,
    /// A home that goes with it.
    _passing: Option<TempDir>,
}

/// What is started, and how.
#[derive(Debug)]
pub(super) struct Starting<'a> {
    pub(super) program: &'a Program,
    pub(super) belongings: Belongings,
    pub(super) supervisor: &'a [OsString],
    pub(super) cage: &'a Cage,
}

/// A turn's program, found and caged, not yet started.
#[derive(Debug)]
pub(super) struct Ready {
    command: Command,
    variables: Vec<(OsString, OsString)>,
    pub(super) fitted: Fitted,
    /// Where it starts.
    pub(super) folder: PathBuf,
    is_supervised: bool,
}

impl Starting<'_> {
    /// Looks at the disk, and may try what the machine can do: not for an async thread.
    pub(super) fn ready(&self, turn: &Turn) -> Result<Ready, AssistantError> {
        let Exec::Host = turn.place.exec;
        let (root, folder) = folder(&turn.place, turn.subfolder.as_deref())?;
        let (program, arguments) = self.program.command.split_first().ok_or_else(|| missing("its command is empty"))?;
        let program = find(program, &self.cage.around().path)?;
        let own = self.program.belongings.iter().map(String::as_str);
        let inmate = Inmate {
            turn,
            root: &root,
            folder: &folder,
            program: &program,
            login: self.belongings.login.iter().copied().chain(own).collect(),
            settings: self.belongings.settings.to_vec(),
        };
        let fitted = self.cage.fit(&inmate)?;
        let mut words = self.supervisor.iter().map(OsString::as_os_str).chain([program.as_os_str()]);
        let mut command = Command::new(words.next().expect("the program is there at least"));
        command.args(words).args(arguments).current_dir(&folder);
        command.env_clear();
        let text = |(name, value): &(String, String)| (name.into(), value.into());
        let variables = self.cage.around().variables.iter().cloned().chain(self.program.variables.iter().map(text));
        let variables = variables.collect();
        Ok(Ready { command, variables, fitted, folder, is_supervised: !self.supervisor.is_empty() })
    }
}

impl Ready {
    /// Starts it, its streams open to us.
    pub(super) fn start(mut self, launch: &Launch, turn: &Turn) -> Result<Running, AssistantError> {
        let command = &mut self.command;
        command.args(&launch.arguments);
        let is_supervised = self.is_supervised;
        let name = |name: OsString| if is_supervised { surroundings::for_program(name) } else { name };
        let told = turn.variables.iter().chain(&launch.variables).map(|(name, value)| (name.into(), value.into()));
        let told = self.variables.into_iter().chain(self.fitted.variables).chain(told);
        command.envs(told.map(|(as_meant, value)| (name(as_meant), value)));
        command.env(RUN, turn.run.to_string()).env(surroundings::SERVER, getpid().as_raw_pid().to_string());
        if let Some(view) = &self.fitted.view {
            let view = view.written().ok_or_else(|| uncaged("a path of it is not UTF-8"))?;
            command.env(surroundings::CAGE, view);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !is_supervised {
            command.process_group(0).env_remove(surroundings::SERVER);
        }
        let child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::ArgumentListTooLong if self.fitted.view.is_some() => {
                uncaged("there is more to guard and to cover than can be said to a program")
            }
            _ => missing(error),
        })?;
        let passing = self.fitted.passing;
        Ok(Running { child, run: turn.run.to_string(), is_supervised, is_over: false, _passing: passing })
    }
}

impl Running {
    /// Ends all of it, if it has not ended, and returns when nothing is left.
    pub(super) async fn end(mut self) {
        let status = match self.child.try_wait() {
            Ok(Some(status)) => Some(status),
            _ => self.stop().await,
        };
        // A supervisor that ended by itself left nothing. Where there is none, or it was killed, we look ourselves.
        if !self.is_supervised || status.is_none_or(|status| status.code().is_none()) {
            let run = self.run.clone();
            let none_left = tokio::task::spawn_blocking(move || processes::end_run(&run)).await;
            if !none_left.unwrap_or(false) {
                tracing::error!(run = self.run, "processes of a run could not be ended");
            }
        }
        self.is_over = true;
    }

    async fn stop(&mut self) -> Option<ExitStatus> {
        self.ask_to_end();
        let waited = timeout(GRACE + ALLOWANCE, self.child.wait()).await;
        if waited.is_err() {
            let _ = self.child.kill().await;
        }
        waited.ok()?.ok()
    }

    fn ask_to_end(&self) {
        // `None` once it is reaped: its id may be somebody else's by now.
        let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) else { return };
        let _ =
            if self.is_supervised { kill_process(pid, Signal::TERM) } else { kill_process_group(pid, Signal::TERM) };
    }

    /// How it ended, for a person.
    pub(super) fn ending(&self, status: ExitStatus) -> String {
        use std::os::unix::process::ExitStatusExt as _;
        let by_signal = |code: &i32| self.is_supervised && (129..=192).contains(code);
        match (status.code(), status.signal()) {
            (Some(code), _) if by_signal(&code) => format!("it was ended by signal {}", code - 128),
            (Some(code), _) => format!("it ended with exit status {code}"),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "it ended in an unknown way".to_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.ask_to_end();
        }
    }
}

/// The place, and where the program starts: there, or in a folder that is really inside it.
fn folder(place: &Place, subfolder: Option<&Path>) -> Result<(PathBuf, PathBuf), AssistantError> {
    let failed =
        |path: &Path, why: &dyn Display| AssistantError::Failed(format!("cannot work in `{}`: {why}", path.display()));
    let real = |path: &Path| path.canonicalize().map_err(|error| failed(path, &error));
    let root = real(&place.path)?;
    let subfolder = subfolder.unwrap_or(Path::new(""));
    if subfolder.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(failed(subfolder, &"it is not a folder inside the place of work"));
    }
    let folder = real(&root.join(subfolder))?;
    match () {
        () if !folder.starts_with(&root) => Err(failed(subfolder, &"it leads out of the place of work")),
        () if !folder.is_dir() => Err(failed(&folder, &"it is not a folder")),
        () => Ok((root, folder)),
    }
}

/// The program's full path. Never one that depends on the folder it runs in, which holds other people's files.
pub(super) fn find(program: &OsStr, path: &OsStr) -> Result<PathBuf, AssistantError> {
    let name = Path::new(program);
    let can_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    let shown = name.display();
    if name.is_absolute() {
        return if can_run(name) { Ok(name.to_owned()) } else { Err(missing(format!("`{shown}` is no program"))) };
    }
    if name.components().count() != 1 || name.file_name() != Some(program) {
        return Err(missing(format!("`{shown}` must be a name in `PATH`, or begin with `/`")));
    }
    let found = std::env::split_paths(path).map(|folder| folder.join(name)).find(|path| can_run(path));
    found.ok_or_else(|| missing(format!("there is no program `{shown}` in `PATH`")))
}

fn missing(why: impl Display) -> AssistantError {
    AssistantError::Missing(why.to_string())
}

fn uncaged(why: &str) -> AssistantError {
    AssistantError::Uncaged(why.to_owned())
}
