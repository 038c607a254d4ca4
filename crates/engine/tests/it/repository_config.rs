//! What a repository itself may say: read from its base commit, and from nowhere else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_core::{Codebase, Kind, UserError};
use hedgerow_engine::Failure;
use hedgerow_engine::repository_config::{FILE, RepositoryConfig};
use hedgerow_testkit::{TestRepo, World};

async fn config(world: &World, codebase: &Codebase) -> RepositoryConfig {
    world.engine.repository_config(codebase).await.expect("it can be read")
}

async fn refusal(world: &World, codebase: &Codebase) -> UserError {
    match world.engine.repository_config(codebase).await {
        Err(Failure::User(error)) => error,
        other => panic!("a refusal was expected, not {other:?}"),
    }
}

fn asks_for(assistant: &str) -> String {
    format!("assistant = \"{assistant}\"\n")
}

fn publish(repo: &TestRepo, file: &str, content: &str) {
    repo.commit(file, content);
    repo.push("main");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_without_the_file_has_the_defaults() {
    let world = World::new().await;
    let (_, codebase) = world.given_a_repo("shop").await;
    assert_eq!(config(&world, &codebase).await, RepositoryConfig::default());
    let empty = TestRepo::empty(&world.folder().join("code"), "empty");
    let codebase = world.register(&empty).await;
    assert_eq!(config(&world, &codebase).await, RepositoryConfig::default());
    assert_eq!(
        world.engine.base_files(&codebase, Path::new("x")).await.expect("no commit, no files"),
        [] as [PathBuf; 0]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_base_branch_wins_over_the_working_tree_and_the_index() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    publish(&repo, FILE, &asks_for("accepted"));
    repo.write(FILE, &asks_for("staged"));
    repo.git(&["add", "."]);
    repo.write(FILE, &asks_for("written"));

    let read = config(&world, &codebase).await;

    assert_eq!(read.assistant.as_deref(), Some("accepted"));
    let from = read.from.expect("there is a file").to_string();
    assert_eq!(from, format!("main ({})", repo.rev("main").expect("a commit").short()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_pushed_or_is_on_a_pull_requests_branch_is_ignored() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    publish(&repo, FILE, &asks_for("accepted"));
    repo.git(&["remote", "set-head", "origin", "main"]);
    repo.commit(FILE, &asks_for("only-here"));
    assert_eq!(config(&world, &codebase).await.assistant.as_deref(), Some("accepted"));

    repo.commit_on_origin("feature/evil", FILE, &asks_for("evil"));
    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/evil")).await;
    assert!(fs::read_to_string(made.environment.path.join(FILE)).expect("it is there").contains("evil"));
    repo.git(&["switch", "--quiet", "--detach", "origin/feature/evil"]);
    assert_eq!(config(&world, &codebase).await.assistant.as_deref(), Some("accepted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_base_branch_is_the_one_that_is_read() {
    let world = World::with(|settings| settings.base_branch = Some(hedgerow_testkit::world::branch("develop"))).await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    repo.commit(FILE, &asks_for("of-main"));
    let error = refusal(&world, &codebase).await;
    assert!(error.kind == Kind::NotFound && error.message.contains("develop"), "{error}");
    repo.git(&["switch", "--quiet", "-c", "develop"]);
    repo.commit(FILE, &asks_for("of-develop"));
    repo.git(&["switch", "--quiet", "main"]);
    assert_eq!(config(&world, &codebase).await.assistant.as_deref(), Some("of-develop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_shortens_timeouts_and_never_lengthens_them() {
    let world = World::with(|settings| settings.runs.timeout = Duration::from_mins(30)).await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    repo.commit(FILE, "[run]\ntimeout_minutes = 1440\nidle_timeout_minutes = 3\n");
    let read = config(&world, &codebase).await;
    assert_eq!(read.run_timeout, Some(Duration::from_mins(30)));
    assert_eq!(read.idle_timeout, Some(Duration::from_mins(3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_right_is_refused_with_branch_and_line() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    repo.commit(FILE, "assistant = \"a\"\n[run]\ntimeout_minutes = \"long\"\n");
    let error = refusal(&world, &codebase).await;
    let short = repo.rev("main").expect("a commit").short().to_owned();
    assert!(error.message.contains("`run.timeout_minutes`"), "{error}");
    assert!(error.message.ends_with(&format!("({FILE} at main ({short}), line 3)")), "{error}");

    fs::write(repo.path().join(FILE), b"assistant = \"\xff\"\n").expect("writes");
    repo.git(&["commit", "--quiet", "-am", "no text"]);
    assert!(refusal(&world, &codebase).await.message.contains("is not UTF-8"));

    repo.commit(FILE, &format!("# {}\n", "x".repeat(64 << 10)));
    let error = refusal(&world, &codebase).await;
    assert!(error.kind == Kind::Usage && error.message.contains("65539 bytes"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_symbolic_link_at_its_place_is_refused_and_not_followed() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    repo.write("elsewhere.toml", &asks_for("evil"));
    fs::create_dir(repo.path().join(".hedgerow")).expect("a folder");
    std::os::unix::fs::symlink("../elsewhere.toml", repo.path().join(FILE)).expect("a link");
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "link"]);
    let error = refusal(&world, &codebase).await;
    assert!(error.message.contains(FILE) && error.message.contains("a symbolic link"), "{error}");

    // A link on the way there leads nowhere either.
    repo.git(&["rm", "--quiet", FILE]);
    repo.write("other/config.toml", &asks_for("evil"));
    std::os::unix::fs::symlink("other", repo.path().join(".hedgerow")).expect("a link");
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "link"]);
    assert_eq!(config(&world, &codebase).await, RepositoryConfig::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_base_are_read_and_listed_as_they_were_committed() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    // git would turn line ends around in a checkout; the committed bytes stay what they are.
    repo.write(".gitattributes", "*.md text eol=crlf\n");
    repo.write("prompts/plan.md", "one\ntwo\n");
    repo.write("prompts/deep/a*b.md", "star");
    repo.write("prompts/deep/axb.md", "letter");
    repo.write("promptsx/not.md", "beside");
    repo.write(":!odd.md", "no magic");
    std::os::unix::fs::symlink("/etc/passwd", repo.path().join("prompts/link.md")).expect("a link");
    repo.git(&["add", "."]);
    let tip = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},prompts/sub", tip.trim())]);
    repo.git(&["commit", "--quiet", "-m", "prompts"]);
    repo.write("prompts/untracked.md", "not committed");

    let listed = world.engine.base_files(&codebase, Path::new("prompts")).await.expect("a list");
    assert_eq!(listed, ["prompts/deep/a*b.md", "prompts/deep/axb.md", "prompts/plan.md"].map(PathBuf::from));
    let one = world.engine.base_files(&codebase, Path::new("prompts/deep/a*b.md")).await.expect("a list");
    assert_eq!(one, [PathBuf::from("prompts/deep/a*b.md")], "a path is only itself");

    let file = async |path: &str, cap| world.engine.base_file(&codebase, Path::new(path), cap).await;
    assert_eq!(file("prompts/plan.md", 8).await.expect("it fits").as_deref(), Some(&b"one\ntwo\n"[..]));
    assert_eq!(file("prompts/deep/a*b.md", 9).await.expect("it fits").as_deref(), Some(&b"star"[..]));
    assert_eq!(file(":!odd.md", 9).await.expect("it fits").as_deref(), Some(&b"no magic"[..]));
    assert!(file("prompts/none.md", 9).await.expect("nothing is no failure").is_none());
    for refused in ["prompts/plan.md", "prompts", "prompts/link.md", "prompts/sub", "../x", "/etc/passwd", ""] {
        assert!(matches!(file(refused, 7).await, Err(Failure::User(_))), "{refused}");
    }
    assert!(world.engine.base_files(&codebase, Path::new("prompts/../..")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_too_many_files_is_refused_and_not_cut_off() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    for number in 0..500 {
        repo.write(&format!("many/{number}.md"), "x");
    }
    repo.git(&["add", "many"]);
    repo.git(&["commit", "--quiet", "-m", "many"]);
    let folder = Path::new("many");
    assert_eq!(world.engine.base_files(&codebase, folder).await.expect("just not too many").len(), 500);
    repo.commit("many/one-more.md", "x");
    let refused = world.engine.base_files(&codebase, folder).await;
    assert!(matches!(&refused, Err(Failure::User(error)) if error.message.contains("more than 500")), "{refused:?}");
}
