//! `hedgerow env exec`: a program in an environment, as if it had been started there.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use hedgerow_core::{Codebase, Environment, Kind};
use hedgerow_engine::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use super::super::context::Context;
use super::super::signals::Signals;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow env exec issue-42 -- cargo test
  hedgerow env exec issue-42 -- sh -c 'echo $HEDGEROW_BRANCH'

The program finds HEDGEROW_ENVIRONMENT, HEDGEROW_CODEBASE, HEDGEROW_WORK, HEDGEROW_BRANCH, \
HEDGEROW_BASE, HEDGEROW_PATH and HEDGEROW_PORT in its environment.

The exit status is the program's; 128 and the signal's number when one ended it.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id
    name: String,
    /// The program and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What git sets for its hooks and aliases. Passed on, these would point the program's git at another repository.
const GITS_OWN: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<ExitCode> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, Some(&arguments.name)).await?;
    let path = context.engine.require_path(&environment).await?;
    context.engine.touch(&environment).await?;
    let (program, rest) = arguments.command.split_first().expect("clap requires a program");
    let mut command = Command::new(program);
    command.args(rest).current_dir(&path).env("PWD", &path);
    for name in GITS_OWN {
        command.env_remove(name);
    }
    for (name, value) in facts(&environment, &codebase) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let signals = Signals::listen()?;
    match command.spawn() {
        Ok(child) => wait(child, signals).await,
        Err(error) => Ok(not_started(context, program, &error)),
    }
}

/// The environment's facts; those it does not have are taken out, or an outer environment's would show through.
fn facts(environment: &Environment, codebase: &Codebase) -> [(&'static str, Option<OsString>); 7] {
    [
        ("HEDGEROW_ENVIRONMENT", Some(environment.id.to_string().into())),
        ("HEDGEROW_CODEBASE", Some(codebase.name.clone().into())),
        ("HEDGEROW_WORK", environment.works.first().map(|work| work.name.clone().into())),
        ("HEDGEROW_BRANCH", Some(environment.branch.as_str().into())),
        ("HEDGEROW_BASE", environment.base.as_ref().map(|base| base.as_str().into())),
        ("HEDGEROW_PATH", Some(environment.path.clone().into())),
        ("HEDGEROW_PORT", environment.port.map(|port| port.to_string().into())),
    ]
}

/// Waits for the program, whatever signals come. A terminal sends Ctrl-C to the program itself; what is sent to us
/// alone is passed on.
async fn wait(mut child: Child, mut signals: Signals) -> Outcome<ExitCode> {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    loop {
        let signal = tokio::select! {
            status = child.wait() => return Ok(ExitCode::from(code(status.map_err(anyhow::Error::from)?))),
            signal = signals.next() => signal,
        };
        if let (Some(pid), Signal::TERM | Signal::HUP) = (pid, signal) {
            // It may have ended this very moment, which the next turn of the loop finds out.
            let _ = kill_process(pid, signal);
        }
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// 127 when there is no such program, 126 when it cannot be run: what shells answer.
fn not_started(context: &Context<'_>, program: &OsString, error: &std::io::Error) -> ExitCode {
    let message = format!("cannot run `{}`: {error}", program.to_string_lossy());
    let (kind, code) = match error.kind() {
        ErrorKind::NotFound => (Kind::NotFound, 127),
        ErrorKind::PermissionDenied => (Kind::Failed, 126),
        _ => (Kind::Failed, 1),
    };
    context.out.error(kind.as_str(), &message, &[]);
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_status_is_the_programs_own_or_128_and_its_signal() {
        for (script, expected) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
            let child = Command::new("sh").args(["-c", script]).spawn().expect("sh starts");
            let signals = Signals::listen().expect("listens");
            let status = wait(child, signals).await.expect("ends");
            assert_eq!(format!("{status:?}"), format!("{:?}", ExitCode::from(expected)), "{script}");
        }
    }
}
