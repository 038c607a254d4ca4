//! What people read who asked for something that is not there, or asked it wrongly.

use hedgerow_core::command::{COMMANDS, Command};

use super::{list, shortened, spoken};

/// So much of what was typed is said again.
const ECHO: usize = 60;

/// The answer to `/help`.
pub fn help() -> String {
    hedgerow_core::command::help()
}

/// No command and no template is called so. `typed` and `nearest` are without their slash.
pub fn unknown(typed: &str, nearest: Option<&str>) -> String {
    let typed = shown(typed);
    match nearest {
        Some(nearest) => format!("There is no `/{typed}`. Did you mean `/{nearest}`? `/help` lists all commands."),
        None => format!("There is no `/{typed}`. `/help` lists all commands, `/commands` the templates."),
    }
}

/// One of our commands, wrongly used.
pub fn wrong(usage: &str, why: &str) -> String {
    format!("That does not work: {}.\nIt is used like this: `{usage}`", shortened(why, 400))
}

/// One of our commands that this build does not have. `None` when it has.
pub fn absent(command: &Command) -> Option<String> {
    let typed = command.to_string();
    let name_of = |usage: &str| typed.strip_prefix('/').is_some_and(|typed| is_of(typed, usage));
    let help = COMMANDS.iter().find(|help| name_of(help.name()))?;
    Some(format!("`/{}` is not there yet. Instead: {}.", help.name(), help.instead?))
}

fn is_of(typed: &str, name: &str) -> bool {
    typed.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// There are several codebases, or none, and nobody said which one is meant.
pub fn which_codebase(names: &[String]) -> String {
    if names.is_empty() {
        return "I have no codebase yet. Add one: `/clone <url>`".to_owned();
    }
    let lines: Vec<String> = names.iter().map(|name| format!("• `/repo {}`", spoken(name))).collect();
    list("Which codebase is this about? Choose one:", &lines, "or add another: `/clone <url>`")
}

/// A repository was cloned several times, and nobody said which clone is meant.
pub(crate) fn which_clone(names: &[String]) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("• `/repo {}`", spoken(name))).collect();
    list("I have several clones of this repository. Choose one:", &lines, "This conversation works on it from then on.")
}

/// What somebody typed, on one line and inside backticks.
fn shown(typed: &str) -> String {
    let plain = typed.replace('`', "'");
    shortened(&plain.split_whitespace().collect::<Vec<_>>().join(" "), ECHO)
}
