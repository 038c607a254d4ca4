//! How many git processes each verb starts: counted by a git that notes each call and then does it.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hedgerow_testkit::{Cli, TestRepo};

use crate::fixture::{Machine, configure};
use crate::measure::time;

const VERBS: [&[&str]; 6] = [
    &["env", "create", "issue", "1"],
    &["env", "create", "issue", "1"],
    &["env", "list"],
    &["env", "show", "issue-1"],
    &["env", "remove", "--force", "issue-1"],
    &["env", "restore", "issue-1"],
];

pub(crate) fn per_verb(machine: &Machine) -> String {
    let folder = machine.folder("counted");
    let home = folder.join("home");
    let calls = folder.join("calls");
    fs::create_dir_all(&folder).expect("a folder");
    let counting = counting_git(&folder, &calls);
    configure(&home, &format!("git = \"{counting}\""));
    let cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), &home);
    let repo = TestRepo::without_remote(&folder, "repository");
    // Registering is not part of any of them.
    time(cli.command(repo.path(), &["env", "list"]));
    let mut text = String::from("git processes of each verb, in a repository without a remote\n");
    for verb in VERBS {
        fs::write(&calls, "").expect("a fresh list");
        time(cli.command(repo.path(), verb));
        let made = fs::read_to_string(&calls).expect("the list");
        let names: Vec<&str> = made.lines().collect();
        writeln!(text, "  {:<30} {:>3}   {}", verb.join(" "), names.len(), names.join(", ")).expect("into a string");
    }
    text
}

/// A program that writes the subcommand down and hands over to git.
fn counting_git(folder: &Path, calls: &Path) -> String {
    let program = folder.join("counting-git");
    let script = format!(
        "#!/bin/sh\nfor word; do\n  case $skip$word in\n    yes*) skip= ;;\n    -c|-C) skip=yes ;;\n    -*) ;;\n    *) \
         echo \"$word\" >> '{}'; break ;;\n  esac\ndone\nexec git \"$@\"\n",
        calls.display()
    );
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    program.to_string_lossy().into_owned()
}
