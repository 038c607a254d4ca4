//! Out of the trash into the vault and back, as a person at a terminal meets it.

use std::fs;

use hedgerow_testkit::repo::{commit, write};
use insta::assert_snapshot;

use crate::desk::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn a_purged_environment_can_be_looked_at_checked_and_brought_back() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let place = desk.environment("issue-42");
    commit(&place, "login.rs", "fn login() {}\n");
    commit(&place, ".gitignore", "node_modules/\n");
    write(&place, "notes.txt", "remember\n");
    write(&place, "node_modules/pad/index.js", "pad\n");
    let session = desk.session(&[
        "hedgerow env purge issue-42",
        "hedgerow env remove issue-42 --force",
        "hedgerow env show issue-42 --diff | grep -c '^+'",
        "hedgerow env purge issue-42",
        "hedgerow env trash",
        "hedgerow env show issue-42 --diff | sed -n '/^Bring/,$p'",
        "hedgerow vault verify | sed 's/[0-9]* files, [0-9]* objects/<so many> files and objects/'",
        "hedgerow env create issue 42",
        "hedgerow env remove issue-42",
        "hedgerow env restore issue-42 > /dev/null",
        "hedgerow env purge nothing",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env purge issue-42
    ------- stderr -------
    error: there is no `issue-42` in the trash of `shop`
    hint: `hedgerow env trash` lists what is there
    hint: `hedgerow env remove` moves an environment there
    [exit status: 4]

    $ hedgerow env remove issue-42 --force
    Moved `issue-42` to the trash; its branch `issue-42` stays
    Undo: hedgerow env restore issue-42

    $ hedgerow env show issue-42 --diff | grep -c '^+'
    6

    $ hedgerow env purge issue-42
    Deleted `issue-42` from the trash; <size> saved in the vault
    Undo: hedgerow env restore issue-42
    ------- stderr -------
    note: not saved: node_modules (<size>; a cache, which tools fill again)

    $ hedgerow env trash
    NAME      BRANCH    CODEBASE  WHERE  BECAUSE  SIZE  AGE       ID
    issue-42  issue-42  shop      vault  purged   <size>  just now  <short id>

    $ hedgerow env show issue-42 --diff | sed -n '/^Bring/,$p'
    Bring it back: hedgerow env restore issue-42
    diff --git a/.gitignore b/.gitignore
    new file mode 100644
    index 0000000..c2658d7
    --- /dev/null
    +++ b/.gitignore
    @@ -0,0 +1 @@
    +node_modules/
    diff --git a/login.rs b/login.rs
    new file mode 100644
    index 0000000..a91569f
    --- /dev/null
    +++ b/login.rs
    @@ -0,0 +1 @@
    +fn login() {}
    diff --git a/notes.txt b/notes.txt
    new file mode 100644
    index 0000000..efb0ff8
    --- /dev/null
    +++ b/notes.txt
    @@ -0,0 +1 @@
    +remember

    $ hedgerow vault verify | sed 's/[0-9]* files, [0-9]* objects/<so many> files and objects/'
    ok  issue-42  <size>  <so many> files and objects of git                                   <short id>
                          without node_modules (<size>; a cache, which tools fill again)

    $ hedgerow env create issue 42
    Working in isolated branch `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42
    ------- stderr -------
    note: an earlier one is in the trash; `hedgerow env restore issue-42` brings it back
    note: `issue-42` was there already and is used as it is

    $ hedgerow env remove issue-42
    Moved `issue-42` to the trash; its branch `issue-42` stays
    Undo: hedgerow env restore issue-42

    $ hedgerow env restore issue-42 > /dev/null

    $ hedgerow env purge nothing
    ------- stderr -------
    error: there is no `nothing` in the trash of `shop`
    hint: `hedgerow env trash` lists what is there
    hint: `hedgerow env remove` moves an environment there
    [exit status: 4]
    "#);
    assert_eq!(
        fs::read_to_string(place.join("notes.txt")).ok().as_deref(),
        None,
        "the newest came back, not the saved one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_read_the_same_in_json() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    write(&desk.environment("issue-42"), "notes.txt", "remember\n");
    let _ = desk.run(&["env", "remove", "issue-42", "--force"]).success();
    let purged = desk.json(&["env", "purge", "issue-42"]);
    assert_eq!(purged["undo"], "hedgerow env restore issue-42");
    assert_eq!(purged["skipped"], serde_json::json!([]));
    let trash = desk.json(&["env", "trash"]);
    assert_eq!((&trash[0]["state"], &trash[0]["saved"]["id"]), (&"destroyed".into(), &purged["saved"]));
    let verified = desk.json(&["vault", "verify", "--all"]);
    assert_eq!((&verified[0]["ok"], &verified[0]["name"]), (&true.into(), &"issue-42".into()));
    let shown = desk.json(&["env", "show", "issue-42", "--diff"]);
    assert!(shown["patch"].as_str().is_some_and(|patch| patch.contains("+remember")), "{shown}");
    let restored = desk.json(&["env", "restore", "issue-42"]);
    assert_eq!((&restored["resolution"], &restored["dirty"]), (&"restored".into(), &true.into()));
    // One byte turns: told, with the exit status of a failure.
    let archive =
        fs::read_dir(desk.home().join("vault")).expect("the vault").next().expect("one").expect("reads").path();
    let archive =
        fs::read_dir(archive).expect("reads").next().expect("one").expect("reads").path().join("files.tar.zst");
    let mut bytes = fs::read(&archive).expect("reads");
    bytes[9] ^= 1;
    fs::write(&archive, bytes).expect("writes");
    let said = desk.run(&["vault", "verify", "--json"]);
    assert_eq!(said.status(), 1);
}
