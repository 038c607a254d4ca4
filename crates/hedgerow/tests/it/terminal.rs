//! Colour where a person looks, plain text everywhere else.

use std::process::Command;

use crate::desk::Desk;

/// Whether util-linux's `script`, which makes a pseudo-terminal, is here.
pub(crate) fn has_script() -> bool {
    let version = Command::new("script").arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_colour_unless_it_is_not_wanted() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let plain = desk.run(&["env", "list"]).success().stdout();
    assert!(!plain.contains('\u{1b}'), "a pipe is no terminal: {plain:?}");
    if !has_script() {
        return;
    }
    let on_a_terminal = |settings: &str| {
        let line = format!("{settings} script --quiet --return --command 'hedgerow env list' /dev/null </dev/null");
        desk.cli.type_in(desk.repo.path(), &line).success().stdout().replace("\r\n", "\n")
    };
    let coloured = on_a_terminal("TERM=xterm");
    assert!(coloured.contains("\u{1b}[1mNAME"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[32mactive"), "{coloured:?}");
    for settings in ["TERM=xterm NO_COLOR=1", "TERM=dumb"] {
        assert_eq!(on_a_terminal(settings), plain, "{settings}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_coloured_on_a_terminal_too() {
    let desk = Desk::new().await;
    let said = desk.run(&["env", "show", "nope"]);
    assert!(!said.stderr().contains('\u{1b}'), "{said}");
    if has_script() {
        let line = "TERM=xterm script --quiet --return --command 'hedgerow env show nope' /dev/null </dev/null";
        let said = desk.cli.type_in(desk.repo.path(), line);
        assert_eq!(said.status(), 4);
        assert!(said.stdout().contains("\u{1b}[1m\u{1b}[31merror:"), "{:?}", said.stdout());
    }
}
