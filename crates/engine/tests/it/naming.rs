//! Which branch and which folder a work gets.

use std::fs;
use std::path::Path;

use hedgerow_core::environment::Resolution;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::{TestRepo, World};

use crate::witness::Witness;

#[tokio::test(flavor = "multi_thread")]
async fn every_work_gets_the_branch_of_the_naming_table() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let from_fork = repo.pull_request_from_fork(7, "seven.txt", "seven");
    let reviewed = repo.pull_request_from_fork(8, "eight.txt", "eight");
    let unknown = repo.pull_request_from_fork(9, "nine.txt", "nine");
    let main = repo.rev("main").expect("main");
    let sees = Witness::of(&repo);

    let issue = world.environment(&codebase, Work::Issue(42)).await;
    sees.finds(&issue, &main);
    let fork = world.gets(&world.asks_for_fork(&codebase, 7, Some(&from_fork))).await.environment;
    sees.finds(&fork, &from_fork);
    let review = world.environment(&codebase, Work::Review(8)).await;
    sees.finds(&review, &reviewed);
    let headless = world.environment(&codebase, Work::PullRequest(9)).await;
    sees.finds(&headless, &unknown);
    let thread = world.environment(&codebase, Work::Thread("C1:17.2".to_owned())).await;
    sees.finds(&thread, &main);
    let task = world.environment(&codebase, Work::task("Add dark mode!")).await;
    sees.finds(&task, &main);
    let nameless = world.environment(&codebase, Work::task("日本語")).await;
    sees.finds(&nameless, &main);
    let named = world.gets(&world.asks_for_branch(&codebase, "user/john/task")).await.environment;
    sees.finds(&named, &main);
    let pr = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await.environment;
    let upstream = ["branch.feature/auth.remote=origin", "branch.feature/auth.merge=refs/heads/feature/auth"];
    sees.finds_with_upstream(&pr, &head, &upstream);

    let all = [&issue, &pr, &fork, &review, &headless, &thread, &task, &nameless, &named];
    let got: Vec<_> = all
        .iter()
        .map(|environment| {
            let folder = environment.path.file_name().expect("a folder").to_string_lossy().into_owned();
            (environment.name().to_owned(), environment.branch.to_string(), folder)
        })
        .collect();
    let expected = [
        ("issue-42", "issue-42", "issue-42"),
        ("pr-99", "feature/auth", "feature-auth"),
        ("pr-7", "pr-7-review", "pr-7-review"),
        ("review-8", "pr-8-review", "pr-8-review"),
        ("pr-9", "pr-9", "pr-9"),
        ("thread-88ffbdf7", "thread-88ffbdf7", "thread-88ffbdf7"),
        ("task-add-dark-mode", "task-add-dark-mode", "task-add-dark-mode"),
        ("task-77710aed", "task-77710aed", "task-77710aed"),
        ("task-user/john/task", "user/john/task", "user-john-task"),
    ];
    let expected = expected.map(|(name, branch, folder)| (name.to_owned(), branch.to_owned(), folder.to_owned()));
    assert_eq!(got, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forks_pull_request_and_its_review_are_one_environment() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sha = repo.pull_request_from_fork(7, "seven.txt", "seven");
    let pr = world.gets(&world.asks_for_fork(&codebase, 7, Some(&sha))).await;

    let review = world.gets(&world.asks(&codebase, Work::Review(7))).await;

    assert_eq!((review.resolution, review.environment.id), (Resolution::Reused, pr.environment.id));
    for name in ["pr-7", "review-7", "pr-7-review"] {
        let found = world.engine.require_environment(&codebase, name).await.expect("it is found");
        assert_eq!(found.id, pr.environment.id, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefix_goes_before_generated_names_and_no_others() {
    let world = World::with(|settings| settings.branch_prefix = "agents/".to_owned()).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");

    let issue = world.environment(&codebase, Work::Issue(1)).await;
    assert_eq!((issue.branch.as_str(), issue.name()), ("agents/issue-1", "issue-1"));
    assert_eq!(issue.path.file_name().expect("a folder"), "agents-issue-1");
    let pr = world.gets(&world.asks_for_pr(&codebase, 2, "feature/auth")).await.environment;
    assert_eq!(pr.branch.as_str(), "feature/auth");
    let named = world.gets(&world.asks_for_branch(&codebase, "mine")).await.environment;
    assert_eq!(named.branch.as_str(), "mine");
}

/// Two ids of Slack threads whose hashes begin with the same eight digits.
const TWINS: [&str; 2] = ["C024BE91L:1700093373.000200", "C024BE91L:1700096494.000200"];

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_whose_short_name_is_taken_gets_a_longer_one() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let [first, second] = TWINS.map(|id| Work::Thread(id.to_owned()));

    let one = world.environment(&codebase, first.clone()).await;
    let other = world.environment(&codebase, second.clone()).await;

    assert_eq!((one.name(), one.branch.as_str()), ("thread-3b082bc5", "thread-3b082bc5"));
    assert_eq!((other.name(), other.branch.as_str()), ("thread-3b082bc560d773b9", "thread-3b082bc560d773b9"));
    for (work, environment) in [(first, one), (second, other)] {
        let again = world.gets(&world.asks(&codebase, work)).await;
        assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, environment.id));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_without_an_id_is_refused() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let (kind, _) = world.fails(&world.asks(&codebase, Work::Thread(String::new()))).await;
    assert_eq!(kind, Kind::Usage);
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_whose_folders_would_be_the_same_get_different_ones() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let main = repo.rev("main").expect("main");
    let sees = Witness::of(&repo);

    let mut folders = Vec::new();
    for name in ["fix/login", "fix-login", "Fix-Login", "FIX/login"] {
        let made = world.gets(&world.asks_for_branch(&codebase, name)).await;
        assert_eq!((made.resolution, made.environment.branch.as_str()), (Resolution::Created, name));
        sees.finds(&made.environment, &main);
        folders.push(made.environment.path.to_string_lossy().to_lowercase());
    }
    assert!(folders[0].ends_with("/fix-login"), "{folders:?}");
    folders.sort();
    folders.dedup();
    assert_eq!(folders.len(), 4, "{folders:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_in_the_expected_place_stays_and_another_folder_is_chosen() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let main = repo.rev("main").expect("main");
    let below = world.settings().worktrees.join(&codebase.folder);
    fs::create_dir_all(below.join("issue-1")).expect("a folder");
    fs::write(below.join("issue-1/notes.txt"), "mine").expect("a file in it");
    fs::write(below.join("issue-2"), "a file").expect("a file");
    std::os::unix::fs::symlink("/nowhere", below.join("issue-3")).expect("a link");
    TestRepo::without_remote(&below, "issue-4");
    repo.git(&["worktree", "add", "--quiet", "-b", "other", &below.join("issue-5").to_string_lossy()]);
    let sees = Witness::of(&repo);

    for number in 1..=5 {
        let made = world.gets(&world.asks(&codebase, Work::Issue(number))).await;
        assert_eq!(made.resolution, Resolution::Created);
        sees.finds(&made.environment, &main);
        let folder = made.environment.path.file_name().expect("a folder").to_string_lossy().into_owned();
        assert!(folder.starts_with(&format!("issue-{number}-")), "{folder}");
    }

    let read = |file: &str| fs::read_to_string(below.join(file)).expect("still there");
    assert_eq!(read("issue-1/notes.txt"), "mine");
    assert_eq!(read("issue-2"), "a file");
    assert_eq!(fs::read_link(below.join("issue-3")).expect("still a link"), Path::new("/nowhere"));
    assert_eq!(git(&below.join("issue-4"), &["log", "--format=%s"]), "Change README.md");
    assert_eq!(git(&below.join("issue-5"), &["symbolic-ref", "--short", "HEAD"]), "other");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_blocks_another_is_named() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    repo.git(&["branch", "feature"]);
    repo.git(&["branch", "deep/er/branch"]);
    let sees = Witness::of(&repo);

    for (wanted, blocking) in [("feature/x", "feature"), ("feature/x/y", "feature"), ("deep", "deep/er/branch")] {
        let (kind, words) = world.fails(&world.asks_for_branch(&codebase, wanted)).await;
        assert_eq!(kind, Kind::Failed);
        assert!(words.contains(&format!("cannot be made, because `{blocking}` exists")), "{words}");
    }
    sees.sees_nothing_left(&world, &codebase).await;
}
