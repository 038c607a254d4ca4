//! What the repository knows of its remotes is not a run's to make up.

use super::*;

const MAIN: &str = "refs/remotes/origin/main";

fn told(found: &[Found]) -> Vec<&What> {
    found.iter().map(|one| &one.what).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_made_up_state_of_a_remote_is_put_right_and_told() {
    let scene = Scene::set().await;
    scene.git(&["fetch", "--quiet", "origin"]);
    scene.git(&["symbolic-ref", "refs/remotes/origin/HEAD", MAIN]);
    let main = scene.repo.rev(MAIN);
    let tripwire = scene.arms(true).await;
    commit(&scene.environment.path, "evil.txt", "evil");
    let evil = scene.git(&["rev-parse", "HEAD"]);
    for name in [MAIN, "refs/remotes/origin/made-up", "refs/remotes/elsewhere/main"] {
        scene.git(&["update-ref", name, evil.trim()]);
    }
    scene.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/made-up"]);

    let found = scene.springs(tripwire).await;
    assert_eq!(put_back(&found).len(), 4, "{found:?}");
    assert_eq!(scene.repo.rev(MAIN), main);
    assert_eq!(scene.git(&["symbolic-ref", "refs/remotes/origin/HEAD"]).trim(), MAIN);
    let all = scene.git(&["for-each-ref", "--format=%(refname)", "refs/remotes/"]);
    assert!(!all.contains("made-up") && !all.contains("elsewhere"), "{all}");
    let kept = scene.git(&["for-each-ref", "--format=%(objectname)", "refs/hedgerow/undone/"]);
    assert!(kept.contains(evil.trim()), "what it had become is kept: {kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_remote_itself_says_is_nobodys_fault() {
    let scene = Scene::set().await;
    scene.git(&["fetch", "--quiet", "origin"]);
    let tripwire = scene.arms(true).await;
    scene.repo.commit("b.txt", "news");
    scene.repo.push("main");
    scene.git(&["fetch", "--quiet", "origin"]);
    scene.git(&["push", "--quiet", "origin", "HEAD:refs/heads/issue-1"]);
    // The remote goes on before anybody looks.
    scene.repo.commit("c.txt", "more news");
    scene.repo.push("main");
    scene.git(&["update-ref", MAIN, &format!("{}~1", scene.repo.rev("main").expect("a commit"))]);
    assert_eq!(told(&scene.springs(tripwire).await), Vec::<&What>::new());
    assert_eq!(scene.repo.rev(MAIN), scene.repo.rev("main"), "it is up to date");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_does_not_answer_is_what_it_was_before() {
    let scene = Scene::set().await;
    scene.git(&["fetch", "--quiet", "origin"]);
    let main = scene.repo.rev(MAIN);
    let tripwire = scene.arms(true).await;
    let url = scene.git(&["config", "remote.origin.url"]);
    let bare = std::path::Path::new(url.trim().trim_start_matches("file://"));
    std::fs::rename(bare, bare.with_extension("away")).expect("it goes away");
    commit(&scene.environment.path, "evil.txt", "evil");
    scene.git(&["update-ref", MAIN, "HEAD"]);
    scene.springs(tripwire).await;
    assert_eq!(scene.repo.rev(MAIN), main);
}
