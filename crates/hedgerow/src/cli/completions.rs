//! `hedgerow completions`: made from the same definition that parses the arguments.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::output::Output;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow completions bash > ~/.local/share/bash-completion/completions/hedgerow
  hedgerow completions zsh > ~/.zfunc/_hedgerow
  hedgerow completions fish > ~/.config/fish/completions/hedgerow.fish")]
pub(super) struct Arguments {
    /// The shell to complete for
    pub(super) shell: Shell,
}

pub(super) fn run(wanted: &Arguments, out: &Output) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(wanted.shell, &mut super::Arguments::command(), "hedgerow", &mut script);
    out.raw(&script);
    ExitCode::SUCCESS
}
