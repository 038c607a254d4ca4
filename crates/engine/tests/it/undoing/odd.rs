//! Files that are more than text under a plain name.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use hedgerow_core::Kind;
use hedgerow_core::checkpoint::KeptBecause;
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{TestRepo, World};

use super::kept;
use crate::acts::{Scene, is_there};

impl Scene {
    fn named(&self, name: &[u8]) -> PathBuf {
        self.path().join(OsStr::from_bytes(name))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_modes_and_strange_names_come_back_as_they_were() {
    let scene = Scene::begin().await;
    let strange: [&[u8]; 4] = [b"invalid-\xff\xfe", b"new\nline", b"quote\"back\\slash", b" spaces \ttabs"];
    commit(scene.path(), "tool.sh", "#!/bin/sh\n");
    symlink("README.md", scene.path().join("tracked-link")).expect("a link");
    scene.git(&["add", "tracked-link"]);
    scene.git(&["commit", "--quiet", "-m", "A link"]);
    fs::set_permissions(scene.path().join("tool.sh"), Permissions::from_mode(0o755)).expect("its own file");
    symlink("nowhere", scene.path().join("loose-link")).expect("a link");
    for name in strange {
        fs::write(scene.named(name), b"\0raw\r\n\xff").expect("any name");
    }
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    fs::remove_file(scene.path().join("tracked-link")).expect("it was there");
    fs::remove_file(scene.path().join("loose-link")).expect("it was there");
    scene.write("loose-link", "a file now\n");
    scene.write("tracked-link/inside", "a folder now\n");
    fs::set_permissions(scene.path().join("tool.sh"), Permissions::from_mode(0o644)).expect("its own file");
    for name in strange {
        fs::remove_file(scene.named(name)).expect("it was there");
    }
    fs::write(scene.named(b"new-\xff\n"), "turn\n").expect("any name");
    scene.git(&["add", "--all"]);
    scene.git(&["commit", "--quiet", "-m", "A turn"]);
    scene.checks().await;
    let after = (scene.files(), scene.everything());
    let undone = scene.undoes().await;
    assert_eq!(kept(&undone), []);
    assert_eq!(before.0.differences(&scene.files()), Vec::<String>::new());
    assert_eq!(scene.everything(), before.1);
    scene.undoes_to(undone.before.number).await;
    assert_eq!(after.0.differences(&scene.files()), Vec::<String>::new());
    assert_eq!(scene.everything(), after.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn line_ends_are_what_a_checkout_or_a_person_made_them() {
    let scene = Scene::begin().await;
    commit(scene.path(), ".gitattributes", "*.txt text eol=crlf\n");
    commit(scene.path(), "clean.txt", "one\ntwo\n");
    commit(scene.path(), "mixed.txt", "one\ntwo\n");
    for file in ["clean.txt", "mixed.txt"] {
        fs::remove_file(scene.path().join(file)).expect("it was there");
    }
    scene.git(&["checkout", "--quiet", "--", "."]);
    assert_eq!(scene.read("clean.txt"), "one\r\ntwo\r\n", "the checkout converts");
    scene.write("mixed.txt", "edited\nby\r\na person\n");
    scene.write("loose.txt", "loose\nmixed\r\n");
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    for file in ["clean.txt", "mixed.txt", "loose.txt"] {
        scene.write(file, "a turn\n");
    }
    scene.write(".gitattributes", "*.txt text eol=lf\n");
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(before.0.differences(&scene.files()), Vec::<String>::new());
    assert_eq!(scene.everything(), before.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_the_repository_do_not_run() {
    let scene = Scene::begin().await;
    let canary = scene.world.folder().join("canary");
    commit(scene.path(), "data.bin", "data\n");
    commit(scene.path(), ".gitattributes", "*.bin filter=evil diff=evil\n");
    let evil = format!("touch '{}'; cat", canary.display());
    for key in ["filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv"] {
        scene.repo.git(&["config", key, &evil]);
    }
    scene.repo.git(&["config", "core.fsmonitor", &evil]);
    let hooks = scene.repo.git_dir().join("hooks");
    fs::create_dir_all(&hooks).expect("its folder");
    for hook in ["reference-transaction", "post-index-change", "post-checkout"] {
        let file = hooks.join(hook);
        fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", canary.display())).expect("a hook");
        fs::set_permissions(file, Permissions::from_mode(0o755)).expect("its own file");
    }
    scene.checks().await;
    scene.write("data.bin", "a turn\n");
    scene.write("more.bin", "a turn\n");
    scene.checks().await;
    let undone = scene.undoes().await;
    assert_eq!((scene.read("data.bin"), kept(&undone)), ("data\n".to_owned(), Vec::new()));
    assert!(!is_there(&scene.path().join("more.bin")));
    assert!(!is_there(&canary), "something of the repository ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_git_is_told_not_to_see_are_saved_and_go_back() {
    let scene = Scene::begin().await;
    commit(scene.path(), "assumed", "1\n");
    commit(scene.path(), "skipped", "1\n");
    commit(scene.path(), "sparse", "1\n");
    scene.git(&["update-index", "--assume-unchanged", "assumed"]);
    scene.git(&["update-index", "--skip-worktree", "skipped", "sparse"]);
    fs::remove_file(scene.path().join("sparse")).expect("it was there");
    scene.write("assumed", "mine\n");
    scene.write("skipped", "mine\n");
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    scene.write("assumed", "turn\n");
    scene.write("skipped", "turn\n");
    scene.git(&["update-index", "--no-skip-worktree", "skipped"]);
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(before.0.differences(&scene.files()), Vec::<String>::new());
    assert_eq!(scene.everything(), before.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_inside_are_not_entered() {
    let scene = Scene::begin().await;
    scene.checks().await;
    let inner = scene.path().join("inner");
    fs::create_dir(&inner).expect("a folder");
    git(&inner, &["init", "--quiet"]);
    commit(&inner, "own.txt", "own\n");
    scene.git(&["add", "inner"]);
    scene.write("README.md", "turn\n");
    scene.checks().await;
    commit(&inner, "own.txt", "a person\n");
    let undone = scene.undoes().await;
    assert_eq!(kept(&undone), [("inner".to_owned(), KeptBecause::Repository)]);
    assert_eq!(fs::read_to_string(inner.join("own.txt")).expect("it is there"), "a person\n");
    assert_eq!(scene.git(&["ls-files", "inner"]), "", "it was not in the index before");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_link_leads_out_of_the_environment() {
    let scene = Scene::begin().await;
    let outside = scene.world.folder().join("outside");
    fs::create_dir(&outside).expect("a folder");
    commit(scene.path(), "folder/file", "1\n");
    scene.checks().await;
    fs::remove_dir_all(scene.path().join("folder")).expect("it was there");
    scene.checks().await;
    // The way to the file leads elsewhere by now, and git ignores it.
    fs::write(scene.repo.git_dir().join("info/exclude"), "folder\n").expect("the rules of the repository");
    symlink(&outside, scene.path().join("folder")).expect("a link");
    let undone = scene.undoes().await;
    assert_eq!(kept(&undone), [("folder/file".to_owned(), KeptBecause::InTheWay)]);
    assert_eq!(fs::read_dir(&outside).expect("it is there").count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_not_touched_is_not_read_again() {
    let scene = Scene::begin().await;
    scene.write("large.bin", &"x".repeat(300_000));
    scene.checks().await;
    // Two ticks of the file system's clock later the stamp can be trusted; a checkpoint in between waits that long.
    scene.write("count", "1");
    scene.checks().await;
    scene.write("count", "2");
    let third = scene.checks().await;
    let stamps = scene.repo.git(&["cat-file", "blob", &format!("{}:stamps", third.commit)]);
    assert!(stamps.contains("\tlarge.bin\0"), "{stamps:?}");
    let blob = scene.repo.git(&["rev-parse", &format!("{}:raw/large.bin", third.commit)]);
    assert_eq!(blob, scene.git(&["hash-object", "large.bin"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_that_are_no_files_are_refused_in_words() {
    let world = World::new().await;
    let folder = world.folder().join("shop");
    let made = try_git(world.folder(), &["init", "--quiet", "--ref-format=reftable", &folder.to_string_lossy()]);
    // A git before 2.45 has no such repositories.
    if !made.status.success() {
        return;
    }
    let repo = TestRepo::at(&folder);
    repo.commit("README.md", "Hello\n");
    let codebase = world.register(&repo).await;
    let scene = Scene::of(world, repo, codebase).await;
    let failure = scene.world.engine.checkpoint(&scene.environment, None, &alice()).await.expect_err("a refusal");
    assert_eq!(failure.kind(), Kind::Failed);
    assert!(words(&failure).contains("reftable"), "{failure}");
    assert!(words(&failure).contains("git clone --ref-format=files"), "{failure}");
    assert_eq!(scene.refs(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_undo_left_goes_only_if_it_is_kept_elsewhere() {
    let scene = Scene::begin().await;
    scene.checks().await;
    scene.write("turn.txt", "turn\n");
    scene.checks().await;
    let left = scene.path().join(format!(".hedgerow-undo-{}", scene.environment.id));
    fs::write(&left, "turn\n").expect("the very content of a checkpoint");
    let undone = scene.undoes().await;
    assert!(!is_there(&left));
    fs::write(&left, "written in that very moment\n").expect("a file");
    scene.undoes_to(undone.before.number).await;
    assert!(!is_there(&left));
    let kept = fs::read_dir(scene.path()).expect("a folder").filter_map(Result::ok);
    let kept: Vec<_> = kept.filter(|entry| entry.file_name().to_string_lossy().contains("-kept-")).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(kept[0].path()).expect("a file"), "written in that very moment\n");
}
