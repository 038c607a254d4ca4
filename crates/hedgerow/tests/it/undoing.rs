//! Checkpoints and undo, as people and scripts meet them.

use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_taken_back_and_brought_back() {
    let desk = Desk::new().await;
    drop(desk.run(&["env", "create", "issue", "42"]).success());
    let room = desk.environment("issue-42");
    let first = desk.session(&[
        "hedgerow env checkpoints issue-42",
        "hedgerow env undo issue-42",
        "hedgerow env checkpoint issue-42 --label 'before the turn'",
        "hedgerow env checkpoint issue-42",
        "hedgerow env undo issue-42",
    ]);
    assert_snapshot!(first, @r"
    $ hedgerow env checkpoints issue-42
    ------- stderr -------
    note: `issue-42` has no checkpoints

    $ hedgerow env undo issue-42
    ------- stderr -------
    error: `issue-42` has no checkpoints
    hint: `hedgerow env checkpoint` makes one; it can be gone back to from then on
    [exit status: 4]

    $ hedgerow env checkpoint issue-42 --label 'before the turn'
    Saved the state of `issue-42` as checkpoint 1

    $ hedgerow env checkpoint issue-42
    Nothing has changed in `issue-42` since checkpoint 1

    $ hedgerow env undo issue-42
    ------- stderr -------
    error: `issue-42` has no earlier checkpoint to go back to
    hint: `hedgerow env undo --to 1` takes back what has changed since
    [exit status: 4]
    ");
    write(&room, "README.md", "A turn was here\n");
    write(&room, "new.txt", "new\n");
    write(&room, "two\nlines.txt", "new\n");
    commit(&room, "done.txt", "done\n");
    drop(desk.run(&["env", "checkpoint", "issue-42"]).success());
    write(&room, "new.txt", "mine now\n");
    let then = desk.session(&[
        "hedgerow env undo issue-42 | sed 's/[0-9a-f]\\{7\\}/<sha>/g'",
        "hedgerow env exec issue-42 -- git status --short",
        "hedgerow env checkpoints issue-42",
        "hedgerow env undo issue-42 --to 3 | sed 's/[0-9a-f]\\{7\\}/<sha>/g'",
        "hedgerow env undo issue-42 --to 99",
    ]);
    assert_snapshot!(then, @r#"
    $ hedgerow env undo issue-42 | sed 's/[0-9a-f]\{7\}/<sha>/g'
    Took `issue-42` back to checkpoint 1
      `issue-42` from <sha> to <sha>
      restored README.md
      deleted done.txt
      deleted "two\nlines.txt"
      1 path in the index
      kept new.txt: it was changed since
    Undo: hedgerow env undo issue-42 --to 3

    $ hedgerow env exec issue-42 -- git status --short
    ?? new.txt

    $ hedgerow env checkpoints issue-42
    NUMBER  AGE       LABEL
    4       just now  after undo to 1
    3       just now  before undo
    2       just now
    1       just now  before the turn

    $ hedgerow env undo issue-42 --to 3 | sed 's/[0-9a-f]\{7\}/<sha>/g'
    Took `issue-42` back to checkpoint 3
      `issue-42` from <sha> to <sha>
      restored README.md
      restored done.txt
      restored "two\nlines.txt"
      1 path in the index
    Undo: hedgerow env undo issue-42 --to 5

    $ hedgerow env undo issue-42 --to 99
    ------- stderr -------
    error: `issue-42` has no checkpoint 99
    hint: `hedgerow env checkpoints` lists those there are
    [exit status: 4]
    "#);
    assert_eq!(git(&room, &["show", "HEAD:done.txt"]), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_read_what_went_back() {
    let desk = Desk::new().await;
    drop(desk.run(&["env", "create", "issue", "42"]).success());
    let room = desk.environment("issue-42");
    let made = desk.json(&["env", "checkpoint", "issue-42", "--label", "one"]);
    assert_eq!((&made["number"], &made["label"], &made["is_new"]), (&json!(1), &json!("one"), &json!(true)));
    assert_eq!(desk.json(&["env", "checkpoint", "issue-42"])["is_new"], json!(false));
    write(&room, "README.md", "A turn was here\n");
    write(&room, "new.txt", "new\n");
    drop(desk.run(&["env", "checkpoint", "issue-42"]).success());
    write(&room, "new.txt", "mine now\n");
    let undone = desk.json(&["env", "undo", "issue-42"]);
    let expected = json!({
        "to": 1,
        "before": 3,
        "restored": ["README.md"],
        "deleted": [],
        "kept": [{"path": "new.txt", "because": "changed"}],
        "staged": 0,
        "head": null,
        "operation": false,
        "undo": "hedgerow env undo issue-42 --to 3",
    });
    assert_eq!(undone, expected);
    let listed = desk.json(&["env", "checkpoints", "issue-42"]);
    let numbers: Vec<_> = listed.as_array().expect("an array").iter().map(|one| one["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(listed[3]["label"], json!("after undo to 1"));
}
