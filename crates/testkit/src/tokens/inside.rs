//! Tokens in repositories inside an environment.

use std::fs;
use std::path::Path;

use super::fact::{Fact, answer_in, status};
use super::place::{Crop, Place};
use crate::git::git;
use crate::repo::TestRepo;

pub(super) fn submodule(place: &Place) -> Crop {
    let beside = place.repo.path().parent().expect("a repository is in a folder");
    let source = TestRepo::without_remote(&beside.join(format!("library-of-{}", place.branch)), "library");
    let url = source.path().to_string_lossy().into_owned();
    place.git(&["submodule", "--quiet", "add", &url, "library"]);
    place.git(&["commit", "--quiet", "-m", "Add a library"]);
    git(&place.path.join("library"), &["switch", "--quiet", "-c", "work"]);
    let mut facts = furnish(place, Path::new("library"));
    facts.push(status("library", " M"));
    facts.push(answer_in("library", &["symbolic-ref", "HEAD"], "refs/heads/work\n"));
    facts.into()
}

pub(super) fn nested(place: &Place) -> Crop {
    let mut facts = Vec::new();
    for folder in ["nested", "scratch/nested"] {
        let path = place.path.join(folder);
        fs::create_dir_all(&path).expect("a folder");
        git(&path, &["init", "--quiet"]);
        git(&path, &["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
        facts.extend(furnish(place, Path::new(folder)));
    }
    facts.into()
}

/// Everything that a repository of its own can hold: commits, a stash, staged, changed, untracked and ignored files.
fn furnish(place: &Place, folder: &Path) -> Vec<Fact> {
    let at = place.path.join(folder);
    let say = |args: &[&str]| git(&at, args);
    let token = |what: &str| place.token(&format!("{what} in {}", folder.display()));
    let holds = |revision: &str, content: &str| answer_in(folder, &["cat-file", "blob", revision], content);
    let (committed, staged, stashed, branched) =
        (token("committed"), token("staged"), token("stashed"), token("on another branch"));

    place.write(folder.join("file"), &branched);
    place.write(folder.join(".gitignore"), "*.secret\n");
    say(&["add", "--all"]);
    say(&["commit", "--quiet", "-m", "For another branch"]);
    say(&["branch", "another"]);
    place.write(folder.join("file"), &committed);
    say(&["commit", "--quiet", "--all", "-m", "Only here"]);
    let head = say(&["rev-parse", "HEAD"]);
    place.write(folder.join("file"), &stashed);
    say(&["stash", "push", "--quiet"]);
    place.write(folder.join("staged"), &staged);
    say(&["add", "staged"]);
    vec![
        answer_in(folder, &["rev-parse", "HEAD"], format!("{head}\n")),
        holds("HEAD:file", &committed),
        holds("another:file", &branched),
        holds("refs/stash:file", &stashed),
        holds(":staged", &staged),
        place.file(folder.join("staged"), token("over what is staged")),
        place.file(folder.join("file"), token("changed")),
        place.file(folder.join("new"), token("untracked")),
        place.file(folder.join("own.secret"), token("ignored")),
        answer_in(folder, &["status", "--porcelain", "--ignored"], " M file\nAM staged\n?? new\n!! own.secret\n"),
    ]
}
