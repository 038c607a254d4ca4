//! Traps that are set for whoever comes after the run: people's git, and ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use hedgerow_engine::tripwire::{Done, What};
use hedgerow_testkit::repo::commit;

use super::{Scene, put_back};

#[tokio::test(flavor = "multi_thread")]
async fn a_git_folder_that_names_another_one_is_itself_again() {
    let scene = Scene::set().await;
    for is_view in [false, true] {
        let tripwire = scene.arms(is_view).await;
        let planted = scene.repo.path().join(".git/commondir");
        fs::write(&planted, scene.world.folder().join("elsewhere").to_string_lossy().as_bytes()).expect("writes");
        let found = scene.springs(tripwire).await;
        assert_eq!(put_back(&found), [&What::File("commondir".to_owned())], "{found:?}");
        assert!(!planted.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_where_a_planted_log_leads() {
    let scene = Scene::set().await;
    fs::write(scene.repo.path().join("a.txt"), "theirs").expect("writes");
    scene.repo.git(&["stash", "--quiet"]);
    let tripwire = scene.arms(true).await;
    let victim = scene.world.folder().join("victim");
    fs::write(&victim, "mine\n").expect("writes");
    scene.git(&["stash", "drop", "--quiet"]);
    let log = scene.repo.path().join(".git/logs/refs/stash");
    let _ = fs::remove_file(&log);
    symlink(&victim, &log).expect("a link");
    let found = scene.springs(tripwire).await;
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "mine\n");
    assert!(found.iter().any(|one| matches!(&one.what, What::Stash(_)) && matches!(one.done, Done::PutBack { .. })));
    assert!(scene.repo.git(&["stash", "list"]).contains("put back by Hedgerow"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_the_place_of_a_log_holds_nobody_up() {
    let scene = Scene::set().await;
    let tripwire = scene.arms(true).await;
    let admin = std::path::PathBuf::from(scene.git(&["rev-parse", "--absolute-git-dir"]).trim());
    for log in [admin.join("logs/HEAD"), scene.repo.path().join(".git/logs/refs/heads/old")] {
        let _ = fs::remove_file(&log);
        assert!(Command::new("mkfifo").arg(&log).status().expect("it starts").success());
    }
    let sprung = tokio::time::timeout(std::time::Duration::from_secs(20), scene.springs(tripwire)).await;
    assert!(sprung.is_ok_and(|found| put_back(&found).len() == 1), "the shared one is taken away");
    tokio::time::timeout(std::time::Duration::from_secs(20), scene.arms(true)).await.expect("it does not wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_left_its_head_on_somebody_elses_branch_does_not_own_it() {
    let scene = Scene::set().await;
    let main = scene.repo.rev("main");
    let tripwire = scene.arms(true).await;
    scene.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let _ = scene.springs(tripwire).await;
    let tripwire = scene.arms(true).await;
    commit(&scene.environment.path, "b.txt", "evil");
    let found = scene.springs(tripwire).await;
    assert!(put_back(&found).contains(&&What::Moved("refs/heads/main".to_owned())), "{found:?}");
    assert_eq!(scene.repo.rev("main"), main);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_programs_is_put_back_in_a_view_too() {
    let scene = Scene::set().await;
    let tripwire = scene.arms(true).await;
    // As when somebody else's git had replaced the file, and the guard was gone.
    scene.repo.git(&["config", "core.fsmonitor", "evil"]);
    scene.repo.git(&["config", "color.ui", "never"]);
    let found = scene.springs(tripwire).await;
    assert_eq!(put_back(&found), [&What::Settings(vec!["core.fsmonitor".to_owned()])], "{found:?}");
    assert!(!scene.repo.try_git(&["config", "core.fsmonitor"]).status.success());
    assert_eq!(scene.repo.git(&["config", "color.ui"]).trim(), "never");
}
