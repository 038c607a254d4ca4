//! The binary: arguments in, an exit code out. Everything it does is a verb in `cli`; everything it prints goes
//! through `output`; everything it is told comes through `settings`.

mod cli;
mod output;
mod settings;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&std::env::args_os().collect::<Vec<_>>())
}
