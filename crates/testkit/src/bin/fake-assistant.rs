//! `fake-assistant` is the assistant of the tests, and with `--supervise -- program …` the supervisor above one.

use std::ffi::OsString;
use std::process::ExitCode;

use hedgerow_engine::assistant::supervisor::supervise;
use hedgerow_testkit::brain;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [first, second, command @ ..] if first == "--supervise" && second == "--" => {
            supervise(command).map_or_else(complain, ExitCode::from)
        }
        _ => {
            let text = |argument: &OsString| argument.to_string_lossy().into_owned();
            brain::think(&arguments.iter().map(text).collect::<Vec<_>>())
        }
    }
}

#[expect(clippy::print_stderr, reason = "this program's words to a person")]
fn complain(error: impl std::fmt::Display) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(127)
}
