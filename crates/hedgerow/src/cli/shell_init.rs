//! `hedgerow shell-init`: a program cannot change its shell's folder, a shell function can.
//!
//! Names of environments are untrusted: none of the scripts lets the shell expand one (`compgen -W` would).

use std::process::ExitCode;

use clap::ValueEnum;

use crate::output::Output;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Add one line to your shell's configuration:
  bash   eval \"$(hedgerow shell-init bash)\"      in ~/.bashrc
  zsh    eval \"$(hedgerow shell-init zsh)\"       in ~/.zshrc
  fish   hedgerow shell-init fish | source       in ~/.config/fish/config.fish

Then `hcd issue-42` goes to the environment of issue 42.")]
pub(super) struct Arguments {
    /// The shell to set up
    pub(super) shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(super) fn run(wanted: &Arguments, out: &Output) -> ExitCode {
    let script = match wanted.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    };
    out.raw(script.as_bytes());
    ExitCode::SUCCESS
}

const BASH: &str = r#"# hedgerow: `hcd <environment>` goes to an environment.
hcd() {
    local target
    target="$(command hedgerow env path "$@")" || return
    cd -- "$target"
}

_hcd() {
    local name
    COMPREPLY=()
    while IFS= read -r name; do
        if [[ "$name" == "$2"* ]]; then
            COMPREPLY+=("$(printf '%q' "$name")")
        fi
    done < <(command hedgerow env list --names 2>/dev/null)
}
complete -F _hcd hcd
"#;

const ZSH: &str = r#"# hedgerow: `hcd <environment>` goes to an environment.
hcd() {
    local target
    target="$(command hedgerow env path "$@")" || return
    cd -- "$target"
}

_hcd() {
    local -a names
    names=("${(@f)$(command hedgerow env list --names 2>/dev/null)}")
    compadd -- "${names[@]}"
}
if (( $+functions[compdef] )); then
    compdef _hcd hcd
fi
"#;

const FISH: &str = r"# hedgerow: `hcd <environment>` goes to an environment.
function hcd --description 'Go to an environment'
    set -l target (command hedgerow env path $argv)
    or return
    cd $target
end

complete --command hcd --no-files --arguments '(command hedgerow env list --names 2>/dev/null)'
";
