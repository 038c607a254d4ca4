//! The base's news come into an environment, or nothing changes.

use std::fs;

use hedgerow_core::{Environment, Kind, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::{Tree, World};

use super::Room;

fn head(environment: &Environment) -> String {
    git(&environment.path, &["rev-parse", "HEAD"])
}

fn short(sha: &str) -> &str {
    &sha[..7]
}

#[tokio::test(flavor = "multi_thread")]
async fn one_with_nothing_of_its_own_goes_to_where_the_base_is() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    let before = head(&environment);
    assert_eq!(bob.says("/worktree sync").await, "`issue-42` has everything that is on `main`");
    let news = room.repo.commit_on_origin("main", "news.txt", "news\n");
    let main = room.repo.fingerprint();
    assert_eq!(
        bob.says("/worktree sync").await,
        format!("Brought `issue-42` to `main`: from {} to {}", short(&before), news.short())
    );
    assert_eq!(head(&environment), news.as_str());
    assert_eq!(fs::read_to_string(environment.path.join("news.txt")).expect("it is there"), "news\n");
    assert_eq!(git(&environment.path, &["status", "--porcelain"]), "");
    assert_eq!(room.repo.fingerprint(), main, "the person's own checkout");
    // It is new again, and not merged: nobody's work is in the base.
    let admin = room.chat(hedgerow_core::platform::PlatformKind::Terminal, "1", "alice");
    let told = admin.says("/worktree cleanup merged").await;
    assert!(told.starts_with("1 kept\n"), "{told}");
    assert_eq!(room.row("issue-42").await.base_sha.as_ref(), Some(&news));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_with_commits_of_its_own_gets_a_merge_and_no_hook_runs() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    let own = commit(&environment.path, "own.txt", "own\n");
    let news = room.repo.commit_on_origin("main", "news.txt", "news\n");
    let trap = room.world.folder().join("trap");
    for hook in ["pre-merge-commit", "post-merge", "post-checkout", "commit-msg", "prepare-commit-msg"] {
        let path = room.repo.git_dir().join("hooks").join(hook);
        write(path.parent().expect("a folder"), hook, &format!("#!/bin/sh\ntouch {}\n", trap.display()));
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it can be run");
    }
    let told = bob.says("/worktree sync").await;
    let merged = head(&environment);
    assert_eq!(told, format!("Merged `main` into `issue-42`: from {} to {}", own.short(), short(&merged)));
    let parents = git(&environment.path, &["log", "-1", "--format=%P%n%s"]);
    assert_eq!(parents, format!("{own} {news}\nMerge main into issue-42"));
    assert_eq!(git(&environment.path, &["symbolic-ref", "--short", "HEAD"]), "issue-42");
    assert_eq!(git(&environment.path, &["status", "--porcelain"]), "");
    assert!(environment.path.join("news.txt").exists() && environment.path.join("own.txt").exists());
    assert!(!trap.exists(), "a hook ran");
    assert_eq!(bob.says("/worktree sync").await, "`issue-42` has everything that is on `main`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_changes_nothing_and_names_the_files() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    commit(&environment.path, "README.md", "mine\n");
    room.repo.commit_on_origin("main", "README.md", "theirs\n");
    let (before, files) = (head(&environment), Tree::of(&environment.path));
    assert_eq!(
        bob.refused("/worktree sync").await,
        (
            Kind::Protected,
            "`issue-42` and `main` are in conflict; nothing was changed\n• in conflict: `README.md`\n\
             • merge `main` in it and settle them there, or ask the agent to"
                .to_owned()
        )
    );
    assert_eq!(head(&environment), before);
    assert_eq!(Tree::of(&environment.path), files);
    assert_eq!(git(&environment.path, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_committed_is_not_touched() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(bob.refused("/worktree sync").await.0, Kind::NotFound, "there is none yet");
    let environment = bob.works_on(Work::Issue(42)).await;
    room.repo.commit_on_origin("main", "news.txt", "news\n");
    let before = head(&environment);
    write(&environment.path, "news.txt", "mine\n");
    assert_eq!(
        bob.refused("/worktree sync").await,
        (
            Kind::Protected,
            "`issue-42` cannot be brought up to date: it has uncommitted changes\n\
             • commit or discard them, then try again"
                .to_owned()
        )
    );
    // The same file, ignored: git would not say a word about overwriting it.
    let exclude = room.repo.git_dir().join("info");
    write(&exclude, "exclude", "news.txt\n");
    assert_eq!(
        bob.refused("/worktree sync").await,
        (
            Kind::Protected,
            "`issue-42` cannot be brought up to date: a file that git ignores is in the way\n\
             • move away what git ignores and `main` has by now, then try again"
                .to_owned()
        )
    );
    assert_eq!(fs::read_to_string(environment.path.join("news.txt")).expect("it is there"), "mine\n");
    fs::remove_file(environment.path.join("news.txt")).expect("it goes");
    git(&environment.path, &["switch", "--quiet", "--detach"]);
    assert!(bob.refused("/worktree sync").await.1.contains("it is on no branch"));
    assert_eq!(head(&environment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_the_last_known_base_has_to_do() {
    let room = Room::begin().await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    room.repo.goes_offline();
    let told = bob.says("/worktree sync").await;
    assert!(
        told.starts_with("`issue-42` has everything that is on `main`\n• `origin` could not be reached, so its last"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_syncs_under_the_feet_of_a_run() {
    let room = Room::of(World::new().await).await;
    let bob = room.bob();
    bob.works_on(Work::Issue(42)).await;
    bob.has_run().await;
    assert_eq!(bob.refused("/worktree sync").await.0, Kind::Busy);
}
