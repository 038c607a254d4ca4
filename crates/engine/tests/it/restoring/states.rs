//! States an environment can be in, one function each. Every one of them is something `git worktree remove` would
//! destroy, most of them without a word.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hedgerow_testkit::TestRepo;
use hedgerow_testkit::git::{command, git, try_git};
use hedgerow_testkit::repo::{commit, write};

use super::file;

/// The environment that a state is made in.
pub(super) struct Room {
    pub(super) path: PathBuf,
}

impl Room {
    fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    fn fails(&self, args: &[&str]) {
        assert!(!try_git(&self.path, args).status.success(), "git {args:?} should stop");
    }

    fn write(&self, name: &str, content: &str) {
        write(&self.path, name, content);
    }

    fn branch(&self) -> String {
        self.git(&["branch", "--show-current"])
    }

    /// A branch beside the environment's own, with a commit that changes `README.md` in another way.
    fn side(&self) -> String {
        let own = self.branch();
        let side = format!("side-of-{own}");
        self.git(&["switch", "--quiet", "-c", &side]);
        commit(&self.path, "README.md", &format!("{side}\n"));
        self.git(&["switch", "--quiet", &own]);
        commit(&self.path, "README.md", &format!("{own}\n"));
        side
    }
}

/// What all of them begin with: ignored names and attributes in the base.
pub(super) fn furnish(repo: &TestRepo) {
    repo.write(".gitignore", "ign/\n*.env\n");
    repo.write(".gitattributes", "*.bat text eol=crlf\n");
    repo.commit("run.bat", "echo one\necho two\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "Furnish"]);
    repo.push("main");
}

macro_rules! states {
    ($($name:ident),+ $(,)?) => {
        pub(super) const STATES: &[(&str, fn(&Room))] = &[$((stringify!($name), $name)),+];
    };
}

states!(
    ignored_files,
    files_hidden_by_info_exclude,
    files_hidden_by_configuration,
    edits_under_assume_unchanged,
    edits_under_skip_worktree,
    commits_on_a_detached_head,
    a_stopped_interactive_rebase_with_an_autostash,
    a_rebase_of_the_old_kind,
    a_resolved_merge,
    a_conflicted_merge,
    a_bisect,
    a_cherry_pick_of_several,
    a_revert,
    repositories_in_ignored_and_untracked_folders,
    staged_content_that_the_file_no_longer_has,
    an_intent_to_add,
    empty_folders,
    symbolic_links,
    modes_and_times,
    names_that_are_not_utf8,
    names_with_newlines_and_dashes,
    line_endings_by_attributes,
    pipes_and_sockets,
    hard_links,
    a_big_file,
    a_read_only_folder,
    an_unborn_branch,
    a_branch_of_its_own,
);

pub(super) fn ignored_files(room: &Room) {
    room.write("prod.env", "SECRET=1\n");
    room.write("ign/data/deep/file", "kept\n");
}

pub(super) fn files_hidden_by_info_exclude(room: &Room) {
    let common = PathBuf::from(room.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]));
    write(&common, "info/exclude", "hidden*\n");
    room.write("hidden-notes", "kept\n");
}

pub(super) fn files_hidden_by_configuration(room: &Room) {
    room.git(&["config", "status.showUntrackedFiles", "no"]);
    room.write("untracked", "kept\n");
}

pub(super) fn edits_under_assume_unchanged(room: &Room) {
    room.git(&["update-index", "--assume-unchanged", "README.md"]);
    room.write("README.md", "edited in secret\n");
}

pub(super) fn edits_under_skip_worktree(room: &Room) {
    room.git(&["update-index", "--skip-worktree", "README.md"]);
    room.write("README.md", "edited in secret\n");
}

pub(super) fn commits_on_a_detached_head(room: &Room) {
    room.git(&["switch", "--quiet", "--detach"]);
    commit(&room.path, "a", "on no branch\n");
    commit(&room.path, "a", "on no branch, either\n");
}

/// The first of two commits is amended, the second is still to come, and changes wait in the autostash.
pub(super) fn a_stopped_interactive_rebase_with_an_autostash(room: &Room) {
    commit(&room.path, "a", "one\n");
    write(&room.path, "b", "two\n");
    room.git(&["add", "b"]);
    room.git(&["commit", "--quiet", "-m", "two"]);
    room.write("README.md", "stashed away\n");
    let editor = "sed -i 1s/pick/edit/";
    let stopped = command(&room.path)
        .args(["-c", &format!("sequence.editor={editor}"), "rebase", "--interactive", "--autostash", "HEAD~2"])
        .output()
        .expect("git can be started");
    assert!(stopped.status.success(), "{stopped:?}");
    room.git(&["commit", "--quiet", "--amend", "-m", "amended"]);
}

pub(super) fn a_rebase_of_the_old_kind(room: &Room) {
    let side = room.side();
    room.fails(&["rebase", "--apply", &side]);
}

pub(super) fn a_resolved_merge(room: &Room) {
    let side = room.side();
    room.fails(&["merge", &side]);
    room.write("README.md", &format!("{}\n", room.branch()));
    room.git(&["add", "README.md"]);
    assert_eq!(room.git(&["status", "--porcelain"]), "", "git status sees nothing to protect");
}

pub(super) fn a_conflicted_merge(room: &Room) {
    let side = room.side();
    room.fails(&["merge", &side]);
    assert_eq!(room.git(&["ls-files", "--unmerged"]).lines().count(), 3);
}

pub(super) fn a_bisect(room: &Room) {
    for n in 1..=8 {
        commit(&room.path, "a", &format!("{n}\n"));
    }
    room.git(&["bisect", "start", "HEAD", "HEAD~7"]);
}

pub(super) fn a_cherry_pick_of_several(room: &Room) {
    let own = room.branch();
    let side = room.side();
    room.git(&["switch", "--quiet", &side]);
    commit(&room.path, "later", "1\n");
    room.git(&["switch", "--quiet", &own]);
    room.fails(&["cherry-pick", &format!("{side}~2..{side}")]);
}

pub(super) fn a_revert(room: &Room) {
    commit(&room.path, "README.md", "two\n");
    commit(&room.path, "README.md", "three\n");
    room.fails(&["revert", "HEAD~1"]);
}

pub(super) fn repositories_in_ignored_and_untracked_folders(room: &Room) {
    for folder in ["ign/tool", "tool"] {
        let inside = room.path.join(folder);
        fs::create_dir_all(&inside).expect("a folder");
        git(&inside, &["init", "--quiet"]);
        commit(&inside, "only-here", "1\n");
        write(&inside, "untracked", "2\n");
    }
}

pub(super) fn staged_content_that_the_file_no_longer_has(room: &Room) {
    room.write("README.md", "only in the index\n");
    room.write("fresh", "only in the index, too\n");
    room.git(&["add", "README.md", "fresh"]);
    room.write("README.md", "on disk\n");
    fs::remove_file(room.path.join("fresh")).expect("it was written");
}

pub(super) fn an_intent_to_add(room: &Room) {
    room.write("planned", "not staged\n");
    room.git(&["add", "--intent-to-add", "planned"]);
}

pub(super) fn empty_folders(room: &Room) {
    fs::create_dir_all(room.path.join("empty/inside/another")).expect("folders");
}

pub(super) fn symbolic_links(room: &Room) {
    fs::create_dir(room.path.join("folder")).expect("a folder");
    for (name, target) in [
        ("dangling", "nowhere/at/all"),
        ("absolute", "/etc/hostname"),
        ("to-folder", "folder"),
        ("to-itself", "to-itself"),
        ("outside", "../../../.."),
    ] {
        symlink(target, room.path.join(name)).expect("a link");
    }
    room.git(&["add", "dangling"]);
}

pub(super) fn modes_and_times(room: &Room) {
    for (name, mode, age) in [("run.sh", 0o755, 10), ("secret", 0o600, 1_000_000), ("odd", 0o4711, 500_000_000)] {
        let path = file(&room.path, name, "content\n");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
        let then = SystemTime::now() - Duration::new(age, 123_456_789);
        let opened = File::options().write(true).open(&path).expect("a file");
        opened.set_times(FileTimes::new().set_modified(then)).expect("a time");
    }
    fs::set_permissions(room.path.join("README.md"), Permissions::from_mode(0o755)).expect("a mode");
}

pub(super) fn names_that_are_not_utf8(room: &Room) {
    let name = OsStr::from_bytes(b"caf\xe9 \xff");
    fs::write(room.path.join(name), "kept\n").expect("a file");
    fs::create_dir(room.path.join(OsStr::from_bytes(b"\xfe"))).expect("a folder");
    fs::write(room.path.join(OsStr::from_bytes(b"\xfe")).join(name), "kept\n").expect("a file");
    assert!(command(&room.path).arg("add").arg(name).output().expect("git can be started").status.success());
}

pub(super) fn names_with_newlines_and_dashes(room: &Room) {
    for name in ["two\nlines", "-rf", "--force", " leading", "trailing ", "tab\there", "quote\"", "\u{1f33f}", "a\\b"] {
        room.write(name, name);
    }
    room.git(&["add", "--", "--force", "two\nlines"]);
}

pub(super) fn line_endings_by_attributes(room: &Room) {
    assert_eq!(fs::read(room.path.join("run.bat")).expect("a file"), b"echo one\r\necho two\r\n");
    fs::write(room.path.join("run.bat"), "echo three\necho four\r\n").expect("a file");
}

pub(super) fn pipes_and_sockets(room: &Room) {
    let pipe = room.path.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    fs::create_dir(room.path.join("run")).expect("a folder");
    // The name stays when the listener goes, as after a crash of its program.
    drop(UnixListener::bind(room.path.join("run/s")).expect("a socket"));
}

pub(super) fn hard_links(room: &Room) {
    let one = file(&room.path, "one", "the same file\n");
    fs::hard_link(&one, room.path.join("two")).expect("a second name");
    fs::create_dir(room.path.join("ign")).expect("a folder");
    fs::hard_link(&one, room.path.join("ign/three")).expect("a third name");
}

pub(super) fn a_big_file(room: &Room) {
    let bytes: Vec<u8> = (0..8_000_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()).collect();
    fs::write(room.path.join("big.bin"), &bytes[..24_000_000]).expect("a big file");
}

pub(super) fn a_read_only_folder(room: &Room) {
    room.write("sealed/inner/file", "kept\n");
    for (name, mode) in [("sealed/inner/file", 0o444), ("sealed/inner", 0o555), ("sealed", 0o555)] {
        fs::set_permissions(room.path.join(name), Permissions::from_mode(mode)).expect("a mode");
    }
}

pub(super) fn an_unborn_branch(room: &Room) {
    let unborn = format!("unborn-{}", room.branch());
    room.git(&["switch", "--quiet", "--orphan", &unborn]);
    room.write("first", "not committed yet\n");
    room.git(&["add", "first"]);
}

/// A plain state: commits that are nowhere else, a clean tree.
pub(super) fn a_branch_of_its_own(room: &Room) {
    commit(&room.path, "a", "1\n");
    commit(&room.path, "a", "2\n");
}
