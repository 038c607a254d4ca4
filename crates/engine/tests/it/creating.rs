//! New environments: where they begin, and what is left alone.

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::{branch, words};
use hedgerow_testkit::{TestRepo, World};

use crate::witness::Witness;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_branch_begins_at_the_remotes_freshly_fetched_default_branch() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.write("unsaved.txt", "not committed");
    let news = repo.commit_on_origin("main", "news.txt", "news");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks(&codebase, Work::Issue(42))).await;

    assert_eq!((made.resolution, made.notes), (Resolution::Created, Vec::new()));
    sees.finds(&made.environment, &news);
    assert_eq!(made.environment.base.as_ref().map(ToString::to_string).as_deref(), Some("main"));
    assert_eq!(made.environment.base_sha.as_ref(), Some(&news));
    assert!(made.environment.branch_made);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_asked_base_goes_before_the_configured_and_that_before_the_remotes() {
    let world = World::with(|settings| settings.base_branch = Some(branch("develop"))).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let develop = repo.commit_on_origin("develop", "develop.txt", "d");
    let release = repo.commit_on_origin("release/1", "release.txt", "r");
    let local = {
        repo.git(&["branch", "local-only"]);
        repo.rev("local-only").expect("the branch")
    };
    let sees = Witness::of(&repo);

    let configured = world.environment(&codebase, Work::Issue(1)).await;
    sees.finds(&configured, &develop);
    assert_eq!(configured.base, Some(branch("develop")));
    for (number, base, at) in [(2, "release/1", &release), (3, "local-only", &local)] {
        let mut request = world.asks(&codebase, Work::Issue(number));
        request.hints.base_branch = Some(branch(base));
        let asked = world.gets(&request).await.environment;
        sees.finds(&asked, at);
        assert_eq!((asked.base, asked.base_sha.as_ref()), (Some(branch(base)), Some(at)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_is_not_there_is_named_and_leaves_nothing() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    let mut request = world.asks(&codebase, Work::Issue(1));
    request.hints.base_branch = Some(branch("nope"));

    let (kind, words) = world.fails(&request).await;

    assert_eq!(kind, Kind::NotFound);
    assert!(
        words.starts_with("Failed to create isolated worktree for branch `issue-1`. There is no branch `nope`"),
        "{words}"
    );
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_remote_the_branch_of_head_is_the_base() {
    let world = World::new().await;
    let repo = TestRepo::without_remote(world.folder(), "shop");
    repo.git(&["switch", "--quiet", "-c", "trunk"]);
    let tip = repo.commit("more.txt", "more");
    let codebase = world.register(&repo).await;
    let sees = Witness::of(&repo);

    let made = world.environment(&codebase, Work::Issue(1)).await;

    sees.finds(&made, &tip);
    assert_eq!((made.base, made.base_sha), (Some(branch("trunk")), Some(tip)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_remotes_default_branch_need_not_be_called_main() {
    let world = World::new().await;
    let repo = TestRepo::with_origin(world.folder(), "shop");
    let trunk = repo.commit_on_origin("trunk", "trunk.txt", "t");
    git(repo.origin(), &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let codebase = world.register(&repo).await;
    let sees = Witness::of(&repo);

    let made = world.environment(&codebase, Work::Issue(1)).await;

    sees.finds(&made, &trunk);
    assert_eq!(made.base, Some(branch("trunk")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_only_remote_is_used_whatever_it_is_called() {
    let world = World::new().await;
    let repo = TestRepo::with_origin(world.folder(), "shop");
    repo.git(&["remote", "rename", "origin", "forge"]);
    let news = repo.commit_on_origin("main", "news.txt", "n");
    let codebase = world.register(&repo).await;
    let sees = Witness::of(&repo);

    let made = world.environment(&codebase, Work::Issue(1)).await;

    sees.finds(&made, &news);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_remotes_none_is_guessed() {
    let world = World::new().await;
    let repo = TestRepo::with_origin(world.folder(), "shop");
    repo.git(&["remote", "rename", "origin", "one"]);
    repo.git(&["remote", "add", "two", "/nowhere"]);
    repo.commit_on_origin("main", "news.txt", "n");
    let known = repo.rev("main").expect("main");
    let codebase = world.register(&repo).await;
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks(&codebase, Work::Issue(1))).await;

    sees.finds(&made.environment, &known);
    assert_eq!(made.notes, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_remote_is_used_or_missed_aloud() {
    let world = World::with(|settings| settings.remote = Some("two".to_owned())).await;
    let repo = TestRepo::with_origin(world.folder(), "shop");
    let news = repo.commit_on_origin("main", "news.txt", "n");
    let codebase = world.register(&repo).await;
    let sees = Witness::of(&repo);
    let (kind, words) = world.fails(&world.asks(&codebase, Work::Issue(1))).await;
    assert_eq!(kind, Kind::Failed);
    assert!(words.contains("has no remote `two`"), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;

    repo.git(&["remote", "add", "two", &repo.origin().to_string_lossy()]);
    let made = world.environment(&codebase, Work::Issue(1)).await;
    Witness::of(&repo).finds(&made, &news);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_exists_is_used_as_it_is() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["switch", "--quiet", "-c", "issue-42"]);
    let own = repo.commit("own.txt", "own work");
    repo.git(&["switch", "--quiet", "main"]);
    let main = repo.rev("main").expect("main");
    repo.commit_on_origin("main", "news.txt", "n");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks(&codebase, Work::Issue(42))).await;

    sees.finds(&made.environment, &own);
    assert_eq!(made.notes, [Note::ExistingBranch { branch: branch("issue-42") }]);
    assert!(!made.environment.branch_made, "a branch we did not make is not ours to delete");
    assert_eq!(made.environment.base_sha, Some(main), "where it left the base");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_branch_that_only_the_remote_has_begins_there() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let theirs = repo.commit_on_origin("their/idea", "idea.txt", "i");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_branch(&codebase, "their/idea")).await.environment;

    let upstream = ["branch.their/idea.remote=origin", "branch.their/idea.merge=refs/heads/their/idea"];
    sees.finds_with_upstream(&made, &theirs, &upstream);
    assert_eq!(made.base_sha, repo.rev("main"), "where it left the base");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_branch_of_the_main_checkout_cannot_be_had_and_the_way_out_is_said() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["switch", "--quiet", "-c", "issue-6"]);
    let sees = Witness::of(&repo);

    for request in [world.asks_for_branch(&codebase, "issue-6"), world.asks(&codebase, Work::Issue(6))] {
        let (kind, words) = world.fails(&request).await;
        assert_eq!(kind, Kind::Failed);
        assert!(words.contains("The main checkout is on `issue-6`"), "{words}");
        assert!(words.contains("git switch"), "{words}");
        assert!(!words.contains(&*world.folder().to_string_lossy()), "no path of the host: {words}");
    }
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_head_of_the_main_checkout_does_no_harm() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["switch", "--quiet", "--detach"]);
    let apart = repo.commit("apart.txt", "a");
    let sees = Witness::of(&repo);
    let made = world.environment(&codebase, Work::Issue(1)).await;
    sees.finds(&made, &repo.rev("main").expect("main"));

    let (alone, codebase) = world.given_a_repo_without_remote("alone").await;
    alone.git(&["switch", "--quiet", "--detach"]);
    let here = alone.commit("apart.txt", "a");
    let sees = Witness::of(&alone);
    let made = world.environment(&codebase, Work::Issue(1)).await;
    sees.finds(&made, &here);
    assert_eq!((made.base, made.base_sha), (None, Some(here)));
    drop(apart);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_repository_says_what_it_needs() {
    let world = World::new().await;
    let alone = TestRepo::empty(world.folder(), "alone");
    let cloned = TestRepo::empty(world.folder(), "cloned");
    let origin = TestRepo::empty(world.folder(), "origin");
    cloned.git(&["remote", "add", "origin", &origin.path().to_string_lossy()]);

    for repo in [&alone, &cloned] {
        let codebase = world.register(repo).await;
        let sees = Witness::of(repo);
        for request in [world.asks(&codebase, Work::Issue(1)), world.asks_for_branch(&codebase, "x")] {
            let (kind, words) = world.fails(&request).await;
            assert_eq!(kind, Kind::Failed);
            assert!(words.contains("The repository has no commit yet\nhint: make a first commit"), "{words}");
        }
        sees.sees_nothing_left(&world, &codebase).await;
    }
    alone.commit("README.md", "Hello");
    let codebase = world.register(&alone).await;
    world.environment(&codebase, Work::Issue(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_and_who_asked_are_kept_with_it() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let mut request = world.asks(&codebase, Work::Issue(1));
    request.hints.description = Some("Make it blue".to_owned());
    let made = world.gets(&request).await.environment;
    assert_eq!(made.description.as_deref(), Some("Make it blue"));
    assert_eq!(made.created_by.to_string(), "terminal:alice");
    let events = world.engine.store().events_of(made.id).await.expect("the store answers");
    let what: Vec<&str> = events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(what, ["environment-creating", "environment-created"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_where_the_disk_of_other_environments_should_be() {
    let world = World::new().await;
    let (repo, shop) = world.given_a_repo("shop").await;
    world.environment(&shop, Work::Issue(1)).await;
    let base = world.settings().worktrees.clone();
    let away = base.with_extension("away");
    std::fs::rename(&base, &away).expect("the disk goes away");

    let refused = world.resolve(&world.asks(&shop, Work::Issue(2))).await.expect_err("there is no place for it");

    assert!(words(&refused).contains("mount the disk"), "{}", words(&refused));
    assert_eq!(repo.branches(), ["issue-1", "main"]);
    if base.exists() {
        std::fs::remove_dir_all(&base).expect("at most the folder of locks is there");
    }
    std::fs::rename(&away, &base).expect("the disk comes back");
    world.environment(&shop, Work::Issue(2)).await;
}
