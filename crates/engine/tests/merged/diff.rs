//! The patch of a worktree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::story::{Story, lines};

#[tokio::test]
async fn committed_staged_changed_deleted_and_untracked_files_are_one_patch_that_applies() {
    let story = Story::new();
    story.set("work", "committed", "one\n");
    story.write("staged", "two\n");
    story.git(["add", "staged"]);
    story.write("file", lines(&[(3, "changed")]));
    std::fs::remove_file(story.path().join("dir/other")).expect("removes");
    story.write("new folder/untracked", "three\n");
    story.write("dir/other/inside", "a folder where a file was\n");
    story.write("empty", "");
    story.write("-odd \"name\"\n\t", "four\n");
    story.write("git~1", "five\n");
    story.write("ignored", "six\n");
    story.write(".git/info/exclude", "ignored\n");
    let index = std::fs::read(story.path().join(".git/index")).expect("an index");
    let status = story.git(["--no-optional-locks", "status", "--porcelain=v2"]);

    let repo = story.repo().await;
    let patch = repo.diff(&story.began, false).await.expect("shows");
    assert_eq!(std::fs::read(story.path().join(".git/index")).expect("an index"), index, "the index is untouched");
    assert_eq!(story.git(["--no-optional-locks", "status", "--porcelain=v2"]), status);

    let text = String::from_utf8_lossy(&patch);
    for wanted in ["+one", "+two", "+changed", "+three", "+four", "+five", "b/empty", "+++ /dev/null"] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    assert!(!text.contains("six"));

    let copy = story.beside("copy");
    let target = copy.display().to_string();
    story.git(["worktree", "add", "--quiet", "--detach", &target, story.began.as_str()]);
    let file = story.beside("patch");
    std::fs::write(&file, &patch).expect("writes");
    story.git_at(&copy, ["-c", "core.protectNTFS=false", "apply", &file.display().to_string()]);
    for name in
        ["committed", "staged", "file", "new folder/untracked", "dir/other/inside", "-odd \"name\"\n\t", "empty"]
    {
        let read = |at: &std::path::Path| std::fs::read(at.join(name)).expect("both have it");
        assert_eq!(read(&copy), read(&story.path()), "{name}");
    }
}

#[tokio::test]
async fn the_summary_counts_untracked_files_too() {
    let story = Story::new();
    story.write("file", lines(&[(3, "changed")]));
    story.write("new", "1\n2\n");
    let stat = story.repo().await.diff(&story.began, true).await.expect("shows");
    let text = String::from_utf8_lossy(&stat);
    assert!(text.contains("2 files changed, 3 insertions(+), 1 deletion(-)"), "{text}");
    assert!(story.repo().await.diff(&story.sha("main"), true).await.is_ok());
}

#[tokio::test]
async fn binary_files_links_modes_and_names_that_are_not_text_are_shown() {
    let story = Story::new();
    story.write("binary", b"\0\x01\x02");
    story.write(OsStr::from_bytes(b"bytes \xff"), "x\n");
    story.write("script", "run\n");
    std::os::unix::fs::symlink("/nowhere", story.path().join("link")).expect("links");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(story.path().join("script"), mode).expect("changes");
    let patch = story.repo().await.diff(&story.began, false).await.expect("shows");
    let text = String::from_utf8_lossy(&patch);
    for wanted in
        ["Binary files /dev/null and b/binary differ", "new file mode 120000", "new file mode 100755", "bytes "]
    {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
}

#[tokio::test]
async fn a_clean_worktree_has_no_patch_and_a_linked_one_shows_its_own() {
    let story = Story::new();
    let linked = story.beside("linked");
    story.git(["worktree", "add", "--quiet", &linked.display().to_string(), "work"]);
    std::fs::write(linked.join("new"), "mine\n").expect("writes");
    std::fs::create_dir(linked.join("nested")).expect("makes");
    story.git_at(&linked, ["init", "--quiet", "nested"]);
    let repo = story.repo().await;
    assert!(repo.diff(&story.began, false).await.expect("shows").is_empty());
    let patch = repo.worktree(&linked).await.expect("enters").diff(&story.began, false).await.expect("shows");
    let text = String::from_utf8_lossy(&patch);
    assert!(text.contains("+mine") && !text.contains("nested"), "{text}");
}

#[tokio::test]
async fn a_move_that_was_not_staged_is_a_rename() {
    let story = Story::new();
    std::fs::rename(story.path().join("file"), story.path().join("moved")).expect("moves");
    let patch = story.repo().await.diff(&story.began, false).await.expect("shows");
    assert!(String::from_utf8_lossy(&patch).contains("rename from file\nrename to moved"));
}
