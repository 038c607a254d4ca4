//! Out of the trash into the vault, and back: what git could not bring back comes back byte for byte.

mod hard;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::saved::SkippedBecause;
use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::engine::{Resolved, SweptOutcome};
use hedgerow_engine::purge::Purged;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, admin, is_there};

/// Everything but when it was written, and the link to git's records, which is a new worktree's own.
fn tree(at: &Path) -> Tree {
    Tree::of(at).without_times().without(".git")
}

impl Scene {
    /// Removes the environment whatever is in it, and purges it.
    async fn purges(&self) -> Purged {
        self.forces().await.expect("it goes to the trash");
        self.world.engine.purge(&self.row().await, &alice()).await.expect("it is purged")
    }

    /// Purges it, collects all garbage of the repository, and restores it.
    async fn comes_back(&self) -> Resolved {
        self.purges().await;
        self.collects();
        self.restores().await.expect("it is restored")
    }

    fn collects(&self) {
        git(self.repo.path(), &["reflog", "expire", "--expire=now", "--all"]);
        git(self.repo.path(), &["gc", "--quiet", "--prune=now"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purged_environment_is_gone_from_disk_and_git_and_comes_back_as_a_new_one() {
    let scene = Scene::begin().await;
    write(scene.path(), "README.md", "changed\n");
    write(scene.path(), "new/file.txt", "new\n");
    commit(scene.path(), "src.txt", "committed\n");
    let before = tree(scene.path());
    let status = scene.git(&["status", "--porcelain"]);
    let trash = {
        scene.forces().await.expect("it goes to the trash");
        scene.row().await.trash.expect("a place in the trash").path
    };
    let purged = scene.world.engine.purge(&scene.row().await, &alice()).await.expect("it is purged");
    assert!(!is_there(&trash), "the folder is gone");
    assert!(!git(scene.repo.path(), &["worktree", "list"]).contains(".trash"), "git has forgotten it");
    assert_eq!(scene.row().await.state, State::Destroyed);
    assert_eq!(purged.skipped, []);

    let restored = scene.restores().await.expect("it is restored");
    assert_eq!(restored.resolution, Resolution::Restored);
    assert_ne!(restored.environment.id, scene.environment.id, "a new environment");
    assert_eq!(restored.environment.path, scene.environment.path);
    assert_eq!(restored.environment.works, scene.environment.works);
    assert_eq!(before.differences(&tree(scene.path())), Vec::<String>::new());
    assert_eq!(scene.git(&["status", "--porcelain"]), status);
    assert_eq!(scene.git(&["branch", "--show-current"]).trim(), "issue-42");
    let again = scene.world.environment(&scene.codebase, Work::Issue(42)).await;
    assert_eq!(again.id, restored.environment.id, "it is the environment of issue 42 again");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_mode_and_link_comes_back() {
    let scene = Scene::begin().await;
    let at = scene.path();
    let file = |name: &str| at.join(name);
    write(at, ".gitignore", "ignored/\n*.env\n");
    write(at, ".gitattributes", "*.crlf text eol=crlf\n*.auto text=auto\n");
    write(at, "a.crlf", "one\r\ntwo\r\n");
    write(at, "b.auto", "one\r\ntwo\r\n");
    write(at, "tool.sh", "#!/bin/sh\n");
    fs::set_permissions(file("tool.sh"), fs::Permissions::from_mode(0o755)).expect("its mode");
    symlink("a.crlf", file("link")).expect("a link");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "all kinds"]);
    // On disk not what a checkout would write, and clean all the same for git.
    write(at, "a.crlf", "one\ntwo\n");
    scene.git(&["add", "--renormalize", "a.crlf"]);
    write(at, "staged.txt", "staged\n");
    scene.git(&["add", "staged.txt"]);
    write(at, "staged.txt", "and changed since\n");
    write(at, "prod.env", "SECRET=1\n");
    write(at, "ignored/deep/data", "ignored\n");
    fs::create_dir_all(file("empty/folder")).expect("a folder");
    fs::set_permissions(file("prod.env"), fs::Permissions::from_mode(0o600)).expect("its mode");
    let strange = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"st\xffra nge\n");
    fs::write(at.join(strange), "strange").expect("a file of any name");
    symlink("/nowhere", file("dangling")).expect("a link");
    fs::remove_file(file("README.md")).expect("it is deleted");
    let before = tree(at);
    let status = scene.git(&["status", "--porcelain", "--ignored"]);
    let index = scene.git(&["ls-files", "--stage"]);
    let log = scene.git(&["log", "-g", "--format=%H %gs"]);

    scene.comes_back().await;
    assert_eq!(before.differences(&tree(at)), Vec::<String>::new());
    assert_eq!(scene.git(&["status", "--porcelain", "--ignored"]), status);
    assert_eq!(scene.git(&["ls-files", "--stage"]), index);
    assert!(scene.git(&["log", "-g", "--format=%H %gs"]).ends_with(&log), "its log comes back as well");
    assert_eq!(fs::metadata(file("prod.env")).expect("it is there").permissions().mode() & 0o777, 0o600);
    git(scene.repo.path(), &["fsck", "--connectivity-only"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_skipped_is_listed_and_the_rest_is_not() {
    let scene = Scene::begin().await;
    let at = scene.path();
    write(at, ".gitignore", "node_modules/\nbig.bin\ncache/\n");
    commit(at, ".gitignore", "node_modules/\nbig.bin\ncache/\n");
    write(at, "node_modules/left-pad/index.js", "code\n");
    write(at, "cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    write(at, "cache/x", "x");
    fs::File::create(at.join("big.bin")).and_then(|file| file.set_len(51 << 20)).expect("a large file");
    let _socket = std::os::unix::net::UnixListener::bind(at.join("socket")).expect("a socket");
    // Untracked, not ignored: a person's work, whatever it is called and however large it is.
    write(at, "venv/notes.txt", "mine\n");
    git(&at.join("node_modules"), &["init", "-q", "inner"]);
    let purged = scene.purges().await;
    let mut skipped: Vec<_> = purged.skipped.iter().map(|it| (it.path.as_str(), it.because)).collect();
    skipped.sort_unstable_by_key(|(path, _)| *path);
    assert_eq!(
        skipped,
        [
            ("big.bin", SkippedBecause::TooLarge),
            ("cache", SkippedBecause::Cache),
            ("node_modules", SkippedBecause::Cache),
            ("socket", SkippedBecause::NoFile)
        ]
    );
    let restored = scene.restores().await.expect("it is restored");
    assert!(restored.notes.iter().any(|note| matches!(note, Note::NotSaved { what } if what.len() == 4)));
    assert!(is_there(&at.join("venv/notes.txt")));
    assert!(is_there(&at.join("node_modules/inner/.git/HEAD")), "a repository is never a cache");
    assert!(!is_there(&at.join("node_modules/left-pad")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_state_is_restored_beside_what_took_its_place() {
    let scene = Scene::begin().await;
    commit(scene.path(), "mine.txt", "mine\n");
    scene.purges().await;
    let other = scene.world.environment(&scene.codebase, Work::Issue(42)).await;
    write(&other.path, "other.txt", "other\n");
    let before = tree(&other.path);
    let restored = scene.restores().await.expect("it is restored");
    assert_ne!(restored.environment.path, other.path);
    assert_ne!(restored.environment.branch, other.branch);
    assert_eq!(before.differences(&tree(&other.path)), Vec::<String>::new());
    assert_eq!(fs::read_to_string(restored.environment.path.join("mine.txt")).expect("it is there"), "mine\n");
    // And once more: the saved state stays.
    let third = scene.world.engine.restore(&scene.codebase, &scene.environment.id.to_string(), &alice()).await;
    let third = third.expect("it is restored again").environment;
    assert_ne!(third.path, restored.environment.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_saved_state_is_noticed_and_changes_nothing() {
    let scene = Scene::begin().await;
    write(scene.path(), "new.txt", &"some text\n".repeat(1000));
    let saved = scene.purges().await.saved;
    let vault = scene.world.settings().home.join("vault");
    assert_eq!(fs::metadata(&vault).expect("it is there").permissions().mode() & 0o777, 0o700);
    let archive = vault.join(scene.environment.id.to_string()).join(saved.id.to_string()).join("files.tar.zst");
    let mut bytes = fs::read(&archive).expect("it reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&archive, bytes).expect("it writes");
    let verified = scene.world.engine.verify_saved(None).await.expect("an answer");
    let outcome = verified.into_iter().next().expect("one saved state").outcome;
    assert!(words(&outcome.expect_err("it is damaged")).contains("files.tar.zst is not what was written"));
    let worktrees = git(scene.repo.path(), &["worktree", "list"]);
    words(&scene.restores().await.expect_err("it is damaged"));
    assert!(!is_there(scene.path()));
    assert_eq!(git(scene.repo.path(), &["worktree", "list"]), worktrees);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_rebase_goes_on_after_a_purge() {
    let scene = Scene::begin().await;
    let at = scene.path();
    commit(at, "shared.txt", "mine\n");
    scene.git(&["branch", "theirs", "HEAD~1"]);
    scene.git(&["checkout", "-q", "theirs"]);
    commit(at, "shared.txt", "theirs\n");
    scene.git(&["checkout", "-q", "issue-42"]);
    let rebase = std::process::Command::new("git")
        .args(["rebase", "theirs"])
        .envs(hedgerow_testkit::git::hermetic_env())
        .current_dir(at)
        .output()
        .expect("git runs");
    assert!(!rebase.status.success(), "it stops");
    write(at, "shared.txt", "both\n");
    scene.comes_back().await;
    assert!(admin(at).join("rebase-merge").is_dir());
    scene.git(&["add", "shared.txt"]);
    scene.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(scene.git(&["branch", "--show-current"]).trim(), "issue-42");
    assert_eq!(fs::read_to_string(at.join("shared.txt")).expect("it is there"), "both\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_is_purged_after_seven_days_and_the_vault_after_thirty_that_were_watched() {
    let scene = Scene::begin().await;
    let engine = &scene.world.engine;
    scene.removes().await.expect("it goes to the trash");
    scene.world.clock.days_pass(6);
    assert!(engine.purge_due(false).await.expect("a report").is_empty());
    scene.world.clock.days_pass(1);
    let outcome = |report: Vec<hedgerow_engine::engine::Swept>| report.first().map(|swept| swept.outcome);
    assert_eq!(outcome(engine.purge_due(true).await.expect("a report")), Some(SweptOutcome::WouldPurge));
    assert_eq!(outcome(engine.purge_due(false).await.expect("a report")), Some(SweptOutcome::Purged));
    assert!(engine.purge_due(false).await.expect("a report").is_empty());
    let day = 24 * 60 * 60 * 1000;
    // The clock jumps; nobody has seen the time pass.
    scene.world.clock.days_pass(400);
    assert_eq!(outcome(engine.expire_saved(29 * day, false).await.expect("a report")), None);
    assert!(engine.verify_saved(None).await.expect("an answer")[0].outcome.is_ok());
    assert_eq!(outcome(engine.expire_saved(day, true).await.expect("a report")), None, "a dry run does not count");
    assert_eq!(outcome(engine.expire_saved(day, false).await.expect("a report")), Some(SweptOutcome::Expired));
    assert_eq!(fs::read_dir(scene.world.settings().home.join("vault")).expect("it reads").count(), 0);
    assert_eq!(git(scene.repo.path(), &["for-each-ref", "refs/hedgerow"]), "");
    words(&scene.restores().await.expect_err("nothing is left"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purge_that_died_after_it_was_written_down_is_carried_on() {
    let mut scene = Scene::begin().await;
    write(scene.path(), "new.txt", "new\n");
    let purged = scene.purges().await;
    // As it is when the files were half deleted: put some back where they were.
    let old: Environment = scene.row().await;
    let trash = scene.world.settings().worktrees.join(".trash").join(old.id.to_string());
    fs::create_dir_all(&trash).expect("a folder");
    fs::write(trash.join(".git"), format!("gitdir: {}/.git/worktrees/gone\n", scene.repo.path().display()))
        .expect("a link");
    let statement = format!("UPDATE saved_states SET remains = '{}' WHERE id = '{}'", trash.display(), purged.saved.id);
    scene.world.database().meddle(&statement).await.expect("it is written");
    scene.world.restarts().await;
    assert!(!is_there(&trash));
    assert_eq!(scene.world.engine.store().saved_with_remains("here").await.expect("an answer"), []);
    scene.restores().await.expect("it is restored");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_be_saved_stays_and_does_not_stop_the_rest() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let bad = world.environment(&codebase, Work::Issue(1)).await;
    let good = world.environment(&codebase, Work::Issue(2)).await;
    for environment in [&bad, &good] {
        world.removes(environment, true).await.expect("it goes to the trash");
    }
    let trash = world.row(&bad).await.trash.expect("a place").path;
    fs::write(trash.join(".git"), "gitdir: /elsewhere\n").expect("it is damaged");
    let before = tree(&trash);
    world.clock.days_pass(8);
    let report = world.engine.purge_due(false).await.expect("a report");
    let outcomes: Vec<_> = report.iter().map(|swept| (swept.name.as_str(), swept.outcome)).collect();
    assert_eq!(outcomes, [("issue-1", SweptOutcome::Failed), ("issue-2", SweptOutcome::Purged)]);
    assert!(report[0].because.contains("stays in the trash"), "{}", report[0].because);
    assert_eq!(before.differences(&tree(&trash)), Vec::<String>::new());
    assert_eq!(world.row(&bad).await.state, State::Trashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_notices_when_the_vault_does_not_hold_what_it_should() {
    let scene = Scene::begin().await;
    write(scene.path(), "new.txt", "new\n");
    let saved = scene.purges().await.saved;
    let problems = async || {
        let findings = scene.world.engine.doctor().await.expect("findings");
        let found = findings.into_iter().filter(|finding| finding.what == "vault" && finding.hint.is_some());
        found.map(|finding| finding.detail).collect::<Vec<_>>()
    };
    assert_eq!(problems().await, Vec::<String>::new());
    let vault = scene.world.settings().home.join("vault");
    let place = vault.join(scene.environment.id.to_string()).join(saved.id.to_string());
    fs::rename(place.join("files.tar.zst"), place.join("elsewhere")).expect("it is moved");
    let found = problems().await;
    assert!(found.len() == 1 && found[0].contains("files.tar.zst is not there"), "{found:?}");
    fs::rename(&place, vault.join(scene.environment.id.to_string()).join("copy")).expect("it is moved");
    let found = problems().await;
    assert!(found.len() == 2 && found[1].contains("no row names it"), "{found:?}");
}
