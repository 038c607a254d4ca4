//! `doctor` as people meet it: a disk that is away and comes back, what is put right, what is left to them.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_testkit::Tree;
use hedgerow_testkit::repo::write;
use insta::assert_snapshot;
use serde_json::Value;

use crate::desk::Desk;

fn rename(from: &Path, to: &Path) {
    fs::rename(from, to).expect("it can be moved");
}

/// Every verb that could remove something, or make something where a disk should be.
const VERBS: [&[&str]; 9] = [
    &["env", "list"],
    &["env", "remove", "issue-42"],
    &["env", "remove", "issue-42", "--force"],
    &["env", "create", "issue", "42"],
    &["env", "create", "issue", "7"],
    &["env", "cleanup", "merged"],
    &["env", "cleanup", "stale"],
    &["env", "cleanup", "orphans"],
    &["doctor", "--fix"],
];

fn unmount(desk: &Desk) -> PathBuf {
    let away = desk.folder().join("away");
    rename(&desk.home().join("worktrees"), &away);
    fs::create_dir(desk.home().join("worktrees")).expect("a mount point");
    away
}

fn mount(desk: &Desk, away: &Path) {
    fs::remove_dir(desk.home().join("worktrees")).expect("nobody put anything into the mount point");
    rename(away, &desk.home().join("worktrees"));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_disk_is_away_nothing_is_removed_and_when_it_is_back_all_goes_on() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    write(&desk.environment("issue-42"), "notes.txt", "mine\n");
    let away = unmount(&desk);
    let (before, branches) = (Tree::of(&away), desk.repo.branches());
    for verb in VERBS.iter().chain(&VERBS) {
        let _ = desk.run(verb);
    }
    assert_eq!(before.differences(&Tree::of(&away)), Vec::<String>::new());
    assert_eq!(desk.repo.branches(), branches);
    let session = desk.session(&["hedgerow env path issue-42", "hedgerow env remove issue-42", "hedgerow doctor"]);
    let without_disk = |session: String| {
        let kept = session.lines().filter(|line| !line.contains("MiB free") && !line.contains("  git  "));
        let kept = kept.filter(|line| !line.contains("  cage  "));
        kept.filter(|line| !line.starts_with("ok  store")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(without_disk(session), @r#"
    $ hedgerow env path issue-42
    ------- stderr -------
    error: `issue-42` is not where it should be: the folder above it is not there (~/.hedgerow/worktrees/shop)
    hint: `hedgerow env show issue-42` says what is known about it
    [exit status: 4]

    $ hedgerow env remove issue-42
    ------- stderr -------
    error: Cannot remove worktree - it cannot be reached: the folder above it is not there (~/.hedgerow/worktrees/shop).
    hint: try again when its disk is there
    [exit status: 3]

    $ hedgerow doctor
    ok  home  ~/.hedgerow
    problem  worktrees  ~/.hedgerow/worktrees is empty or not there; environments that should be in it: 1
    hint: mount its disk; until then nothing in it is taken for gone
    ok  assistants  none is found; Claude Code, Codex, Gemini CLI and opencode are when they are installed, any other is named in hedgerow.toml
    ok  codebase shop  ~/code/shop
    problem  environment shop/issue-42  the folder above it is not there (~/.hedgerow/worktrees/shop)
    hint: mount the disk that holds it; nothing is taken for gone meanwhile
    [exit status: 1]
    "#);
    assert_eq!(desk.json(&["env", "list"])[0]["state"], "unreachable");

    mount(&desk, &away);
    let list = desk.json(&["env", "list"]);
    assert_eq!((&list[0]["state"], &list[0]["dirty"]), (&Value::from("active"), &Value::from(true)));
    let _ = desk.run(&["doctor"]).success();
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    assert_eq!(fs::read_to_string(desk.environment("issue-42").join("notes.txt")).expect("it is there"), "mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn fix_says_what_it_did_and_what_is_left() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let _ = desk.run(&["env", "create", "issue", "7"]).success();
    desk.repo.git(&["worktree", "unlock", &desk.environment("issue-42").to_string_lossy()]);
    rename(&desk.environment("issue-7"), &desk.folder().join("aside"));
    let about = "grep 'environment shop\\|hint: `hedgerow'";
    let session = desk.session(&[
        &format!("hedgerow doctor | {about}"),
        &format!("hedgerow doctor --fix | {about}"),
        "hedgerow env remove issue-7",
        "hedgerow doctor --fix > /dev/null",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow doctor | grep 'environment shop\|hint: `hedgerow'
    warning  environment shop/issue-42  someone unlocked it; a stray `git worktree remove --force` could take it
    hint: `hedgerow doctor --fix` locks it again
    problem  environment shop/issue-7  its folder ~/.hedgerow/worktrees/shop/issue-7 is gone
    hint: `hedgerow env remove issue-7` forgets it

    $ hedgerow doctor --fix | grep 'environment shop\|hint: `hedgerow'
    fixed  environment shop/issue-42  someone unlocked it; a stray `git worktree remove --force` could take it
    problem  environment shop/issue-7  its folder ~/.hedgerow/worktrees/shop/issue-7 is gone
    hint: `hedgerow env remove issue-7` forgets it

    $ hedgerow env remove issue-7
    `issue-7` was gone from disk already; only the record of it was removed

    $ hedgerow doctor --fix > /dev/null
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_status_of_fix_counts_what_is_left() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let entry = desk.repo.git_dir().join("worktrees/issue-42");
    fs::remove_file(entry.join("hedgerow")).expect("the marker was there");
    assert_eq!(desk.run(&["doctor"]).status(), 1);
    let findings = desk.json(&["doctor", "--fix"]);
    let fixed: Vec<&Value> =
        findings.as_array().expect("an array").iter().filter(|finding| finding["fixed"] == true).collect();
    assert_eq!(fixed.len(), 1, "{findings:#}");
    assert_eq!((&fixed[0]["what"], &fixed[0]["level"]), (&"environment shop/issue-42".into(), &"problem".into()));
    let _ = desk.run(&["doctor"]).success();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_that_died_in_somebodys_worktree_add_stops_nobody() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let place = desk.folder().join("persons");
    desk.repo.git(&["worktree", "add", "--quiet", "--detach", &place.to_string_lossy()]);
    let file = fs::File::create(desk.repo.git_dir().join("worktrees/persons/commondir")).expect("emptied");
    let hour = std::time::Duration::from_hours(1);
    file.set_modified(std::time::SystemTime::now() - hour).expect("its time");
    let _ = desk.run(&["env", "list"]).success();
    let _ = desk.run(&["env", "create", "issue", "7"]).success();
    assert_eq!(desk.repo.worktrees().len(), 3, "git lists them again");
    let store = desk.store().await;
    let codebase = store.codebases().await.expect("codebases").remove(0);
    let events = store.events_in(codebase.id).await.expect("events");
    assert_eq!(events.iter().filter(|event| event.what == "worktree-entry-mended").count(), 1);
}
