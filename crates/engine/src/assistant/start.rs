//! A program, started in a place and ended with all that it started. The only file that reads how a place wants its
//! programs started.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hedgerow_core::assistant::{AssistantError, Turn};
use hedgerow_core::environment::{Exec, Place};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::processes::{self, RUN};
use super::supervisor::GRACE;
use super::surroundings;

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
}

/// Starts the program of a turn, its streams open to us.
pub(super) fn start(command: &[OsString], supervisor: &[OsString], turn: &Turn) -> Result<Running, AssistantError> {
    let Exec::Host = turn.place.exec;
    let folder = folder(&turn.place, turn.subfolder.as_deref())?;
    let (program, arguments) = command.split_first().ok_or_else(|| missing("its command is empty"))?;
    let program = find(program)?;
    let mut words = supervisor.iter().map(OsString::as_os_str).chain([program.as_os_str()]);
    let mut command = Command::new(words.next().expect("the program is there at least"));
    command.args(words).args(arguments).current_dir(folder);
    command.env_clear().envs(surroundings::passed_on()).envs(turn.variables.iter().map(|(name, value)| (name, value)));
    command.env(RUN, turn.run.to_string()).env(surroundings::SERVER, getpid().as_raw_pid().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if supervisor.is_empty() {
        command.process_group(0).env_remove(surroundings::SERVER);
    }
    let child = command.spawn().map_err(missing)?;
    Ok(Running { child, run: turn.run.to_string(), is_supervised: !supervisor.is_empty(), is_over: false })
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

/// Where the program starts: the place, or a folder that is really inside it.
fn folder(place: &Place, subfolder: Option<&Path>) -> Result<PathBuf, AssistantError> {
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
        () => Ok(folder),
    }
}

/// The program's full path. Never one that depends on the folder it runs in, which holds other people's files.
fn find(program: &OsStr) -> Result<PathBuf, AssistantError> {
    let name = Path::new(program);
    let can_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    let shown = name.display();
    if name.is_absolute() {
        return if can_run(name) { Ok(name.to_owned()) } else { Err(missing(format!("`{shown}` is no program"))) };
    }
    if name.components().count() != 1 || name.file_name() != Some(program) {
        return Err(missing(format!("`{shown}` must be a name in `PATH`, or begin with `/`")));
    }
    let path = surroundings::path();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| can_run(path));
    found.ok_or_else(|| missing(format!("there is no program `{shown}` in `PATH`")))
}

fn missing(why: impl Display) -> AssistantError {
    AssistantError::Missing(why.to_string())
}
