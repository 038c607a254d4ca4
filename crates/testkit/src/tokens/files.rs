//! Tokens in files and in the index.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::fact::{Fact, answer, blob, status};
use super::place::{Crop, Place};
use crate::repo::write;

pub(super) fn staged(place: &Place) -> Crop {
    let (indexed, new, kept) = (place.token("staged"), place.token("staged, new"), place.token("unstaged from"));
    place.write("tracked/staged", &indexed);
    place.write("staged-new", &new);
    place.git(&["add", "tracked/staged", "staged-new"]);
    fs::remove_file(place.path.join("staged-new")).expect("it was written just now");
    place.git(&["rm", "--quiet", "--cached", "tracked/only-on-disk"]);
    let on_disk = place.file("tracked/staged", place.token("on disk, over what is staged"));
    vec![
        on_disk,
        blob(":tracked/staged", &indexed),
        blob("HEAD:tracked/staged", place.token("staged at first")),
        status("tracked/staged", "MM"),
        blob(":staged-new", &new),
        Fact::Absent { name: "staged-new".into() },
        status("staged-new", "AD"),
        place.file("tracked/only-on-disk", kept),
        answer(&["diff", "--cached", "--name-status", "--", "tracked/only-on-disk"], "D\ttracked/only-on-disk\n"),
    ]
    .into()
}

pub(super) fn unstaged(place: &Place) -> Crop {
    let name = "tracked/unstaged";
    let first = place.token("unstaged at first");
    vec![
        place.file_as(name, place.token("unstaged"), 0o755),
        blob(":tracked/unstaged", first),
        status(name, " M"),
        answer(&["diff-files", "--summary", "--", name], " mode change 100644 => 100755 tracked/unstaged\n"),
    ]
    .into()
}

pub(super) fn untracked(place: &Place) -> Crop {
    let names: [&[u8]; 6] =
        [b"new with space ", b"two\nlines", b"caf\xe9 \xff", b"-rf", b"deep/\xfe\x01/er/file", b"quote\"back\\slash"];
    let mut facts = Vec::new();
    for name in names.map(|name| PathBuf::from(OsStr::from_bytes(name))) {
        facts.push(place.file(&name, place.token(&format!("untracked {}", name.display()))));
        facts.push(status(&name, "??"));
    }
    facts.push(place.file("new-and-empty", ""));
    facts.push(status("new-and-empty", "??"));
    facts.push(place.file_as("new-program", place.token("a program"), 0o755));
    for (name, target) in [("new-link", "two\nlines"), ("new-dangling", "nowhere/at all"), ("new-folder-link", "deep")]
    {
        symlink(target, place.path.join(name)).expect("a link");
        facts.push(Fact::Link { name: name.into(), target: target.into() });
        facts.push(status(name, "??"));
    }
    fs::create_dir_all(place.path.join("new-empty/inside")).expect("folders");
    facts.push(Fact::Folder { name: "new-empty/inside".into() });
    facts.into()
}

pub(super) fn ignored(place: &Place) -> Crop {
    let common = PathBuf::from(place.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]));
    write(&common, "info/exclude", "excluded-*\n");
    let deep = PathBuf::from(OsStr::from_bytes(b"scratch/deep/\xff secret"));
    let mut facts = vec![place.file_as("prod.secret", place.token("ignored by name"), 0o600)];
    facts.push(status("prod.secret", "!!"));
    facts.push(place.file(&deep, place.token("ignored by folder")));
    facts.push(place.file("excluded-notes", place.token("ignored by info/exclude")));
    facts.push(status("excluded-notes", "!!"));
    symlink("../prod.secret", place.path.join("scratch/link")).expect("a link");
    facts.push(Fact::Link { name: "scratch/link".into(), target: "../prod.secret".into() });
    facts.into()
}

pub(super) fn hidden(place: &Place) -> Crop {
    let mut facts = Vec::new();
    for (name, flag, tag) in
        [("tracked/assumed", "--assume-unchanged", "h"), ("tracked/skipped", "--skip-worktree", "S")]
    {
        place.git(&["update-index", flag, name]);
        facts.push(place.file(name, place.token(&format!("hidden by {flag}"))));
        facts.push(answer(&["ls-files", "-v", "--", name], format!("{tag} {name}\n")));
        facts.push(status(name, ""));
    }
    facts.into()
}

/// Clean to git, each of them, and none is what a checkout would write.
pub(super) fn line_endings(place: &Place) -> Crop {
    let token = place.token("line endings");
    let (unix, dos) = (format!("{token}second\n"), format!("{token}second\n").replace('\n', "\r\n"));
    let mixed = format!("{token}second\r\n");
    let mut facts = vec![
        place.file("ends.crlf", &unix),
        place.file("ends.auto", &dos),
        place.file("ends.raw", &dos),
        place.file("mixed.crlf", &mixed),
        status("mixed.crlf", "??"),
        blob(":ends.crlf", &unix),
        blob(":ends.auto", &unix),
        blob(":ends.raw", &dos),
    ];
    let names = ["ends.crlf", "ends.auto", "ends.raw"];
    place.git(&["add", "--", names[0], names[1], names[2]]);
    place.git(&["commit", "--quiet", "-m", "Line endings"]);
    facts.extend(names.map(|name| status(name, "")));
    facts.into()
}

pub(super) fn modes(place: &Place) -> Crop {
    vec![
        place.file_as("modes/shared", place.token("for the group"), 0o664),
        place.file_as("modes/own", place.token("for the owner"), 0o600),
        place.file_as("modes/program", place.token("a program of the owner"), 0o700),
        // Clean to git, which knows only one bit of a mode.
        place.file_as("tracked/private", place.token("private at first"), 0o600),
        status("tracked/private", ""),
    ]
    .into()
}

/// git refuses to take some of these into an index at all.
pub(super) fn odd_names(place: &Place) -> Crop {
    let names = ["git~1", "GIT~2", "nul", "con.txt", "a:b", "ends with dot.", ":(glob)*", "caf\u{e9}", "cafe\u{301}"];
    names.into_iter().map(|name| place.file(name, place.token(&format!("called {name:?}")))).collect::<Vec<_>>().into()
}

pub(super) fn deleted(place: &Place) -> Crop {
    let name = "tracked/deleted";
    fs::remove_file(place.path.join(name)).expect("it is tracked");
    vec![
        Fact::Absent { name: name.into() },
        status(name, " D"),
        blob(":tracked/deleted", place.token("deleted at first")),
    ]
    .into()
}

pub(super) fn intent_to_add(place: &Place) -> Crop {
    let fact = place.file("announced", place.token("announced"));
    place.git(&["add", "--intent-to-add", "announced"]);
    vec![fact, status("announced", " A")].into()
}
