//! `hedgerow supervise`: the process between the server and an assistant's program. The server starts it, nobody types it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use hedgerow_core::Kind;
use hedgerow_engine::assistant::supervisor::supervise;

use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The program and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The exit status is the program's; 127 or 126 when it cannot be started, as shells have it.
pub(super) fn run(wanted: &Arguments, out: &Output) -> ExitCode {
    let error = match supervise(&wanted.command) {
        Ok(code) => return ExitCode::from(code),
        Err(error) => error,
    };
    let program = wanted.command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
    out.error(Kind::Failed.as_str(), &format!("cannot run `{program}`: {error}"), &[]);
    ExitCode::from(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
}
