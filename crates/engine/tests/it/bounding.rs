//! What a turn may touch, and what of a stranger's pull request an agent does not see as it is.

use std::fs;
use std::path::Path;

use hedgerow_core::assistant::{Bounds, Cover};
use hedgerow_core::{Codebase, CommitSha, Environment, Work};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::write;
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{TestRepo, World};

async fn bounds(world: &World, codebase: &Codebase, environment: &Environment) -> Bounds {
    let bounds = world.engine.bounds(Some(codebase), &environment.place(), Some(environment)).await;
    bounds.expect("they can be worked out")
}

/// The head of pull request 7, with these files on top of `main`.
fn forked(repo: &TestRepo, files: &[(&str, &str)]) -> CommitSha {
    let clone = repo.path().with_file_name("stranger");
    git(repo.path(), &["clone", "--quiet", &repo.origin().to_string_lossy(), &clone.to_string_lossy()]);
    for (file, content) in files {
        write(&clone, file, content);
    }
    git(&clone, &["add", "--force", "."]);
    git(&clone, &["commit", "--quiet", "-m", "A nice fork"]);
    git(&clone, &["push", "--quiet", "origin", "+HEAD:refs/pull/7/head"]);
    CommitSha::parse(&git(&clone, &["rev-parse", "HEAD"])).expect("a commit")
}

async fn forks_environment(world: &World, codebase: &Codebase, head: &CommitSha) -> Environment {
    world.gets(&world.asks_for_fork(codebase, 7, Some(head))).await.environment
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_may_write_the_git_folder_but_for_what_is_everyones() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let environment = world.environment(&codebase, Work::Issue(1)).await;
    let bounds = bounds(&world, &codebase, &environment).await;
    let common = fs::canonicalize(repo.git_dir()).expect("it is there");
    assert_eq!(bounds.write, std::slice::from_ref(&common));
    for name in ["config", "hooks", "info", "modules", "worktrees", "HEAD", "index", "refs/hedgerow", "logs/HEAD"] {
        assert!(bounds.guard.contains(&common.join(name)), "{name} in {:?}", bounds.guard);
    }
    assert!(bounds.guard.iter().all(|path| path.exists() && !path.ends_with("packed-refs")));
    assert_eq!(bounds.own, [common.join("worktrees/issue-1")]);
    assert_eq!(bounds.home, Some(world.settings().home.join("agents").join(environment.id.to_string())));
    assert_eq!((bounds.covers, bounds.is_fork), (Vec::new(), false));
    git(repo.path(), &["status"]);
    git(repo.path(), &["fsck"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_of_every_shape_have_bounds() {
    let world = World::new().await;
    let (repo, _) = world.given_a_repo("shop").await;
    let at = |name: &str| world.folder().join(name);
    let origin = repo.origin().to_string_lossy().into_owned();
    git(world.folder(), &["clone", "--quiet", "--bare", &origin, "bare"]);
    git(world.folder(), &["clone", "--quiet", "--separate-git-dir=apart.git", &origin, "apart"]);
    let outer = TestRepo::without_remote(world.folder(), "outer");
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &origin, "inner"]);
    let shapes =
        [(at("bare"), at("bare")), (at("apart"), at("apart.git")), (at("outer/inner"), at("outer/.git/modules/inner"))];
    for (checkout, git_folder) in shapes {
        let codebase = world.register(&TestRepo::at(&checkout)).await;
        let environment = world.environment(&codebase, Work::Issue(1)).await;
        let bounds = bounds(&world, &codebase, &environment).await;
        let common = fs::canonicalize(git_folder).expect("it is there");
        assert_eq!(bounds.write, std::slice::from_ref(&common));
        assert!(bounds.own[0].starts_with(common.join("worktrees")) && bounds.own[0].is_dir());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_is_another_ones_has_no_bounds() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let environment = world.environment(&codebase, Work::Issue(1)).await;
    fs::write(environment.path.join(".git"), format!("gitdir: {}\n", repo.git_dir().display())).expect("writes");
    let refused = world.engine.bounds(Some(&codebase), &environment.place(), Some(&environment)).await;
    let why = words(&refused.expect_err("it is no environment"));
    assert!(why.contains("is not the environment it should be"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forks_orders_to_agents_are_covered_by_the_bases_or_by_nothing() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.write(".claude/settings.json", "{\"base\": true}");
    repo.git(&["add", "."]);
    repo.commit("CLAUDE.md", "the base's");
    repo.push("main");
    let files = [
        ("CLAUDE.md", "the fork's"),
        (".claude/settings.json", "{\"hooks\": \"evil\"}"),
        (".claude/commands/evil.md", "evil"),
        ("deep/down/AgEnTs.md", "evil"),
        (".env", "EVIL=1"),
        (".github/copilot-instructions.md", "evil"),
        ("src/main.rs", "fn main() {}"),
    ];
    let environment = forks_environment(&world, &codebase, &forked(&repo, &files)).await;
    let bounds = bounds(&world, &codebase, &environment).await;
    assert!(bounds.is_fork && bounds.home.is_none());
    let covered = |name: &str| {
        let cover = bounds.covers.iter().find(|cover| cover.path == environment.path.join(name));
        cover.unwrap_or_else(|| panic!("{name} is not covered: {:?}", bounds.covers)).with.clone()
    };
    let base = covered("CLAUDE.md").expect("the base has one");
    assert_eq!(fs::read_to_string(base).expect("a file"), "the base's");
    let base = covered(".claude").expect("the base has one");
    assert_eq!(fs::read_to_string(base.join("settings.json")).expect("a file"), "{\"base\": true}");
    assert!(!base.join("commands").exists());
    for name in ["deep/down/AgEnTs.md", ".env", ".github/copilot-instructions.md"] {
        assert_eq!(covered(name), None, "{name}");
    }
    assert_eq!(bounds.covers.len(), 5, "{:?}", bounds.covers);
    // What is on disk is what was asked for.
    assert_eq!(git(&environment.path, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(fs::read_to_string(environment.path.join("CLAUDE.md")).expect("a file"), "the fork's");
    // And once more, although the base's versions cannot be written.
    assert_eq!(self::bounds(&world, &codebase, &environment).await, bounds);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_that_wants_to_wear_us_out_is_refused() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let environment = forks_environment(&world, &codebase, &forked(&repo, &[("a.txt", "a")])).await;
    for number in 0..501 {
        write(&environment.path, &format!("{number}/CLAUDE.md"), "evil");
    }
    let refused = world.engine.bounds(Some(&codebase), &environment.place(), Some(&environment)).await;
    let why = words(&refused.expect_err("too many"));
    assert!(why.contains("no agent is started there"), "{why}");
    fs::remove_dir_all(environment.path.join("0")).expect("removes");
    assert_eq!(bounds(&world, &codebase, &environment).await.covers.len(), 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_a_forks_for_as_long_as_it_lives() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = forked(&repo, &[("a.txt", "a")]);
    let environment = forks_environment(&world, &codebase, &head).await;
    assert!(world.row(&environment).await.is_fork);
    world.engine.remove(&environment, true, &alice()).await.expect("it goes");
    world.engine.restore(&codebase, environment.name(), &alice()).await.expect("it comes back");
    assert!(world.row(&environment).await.is_fork);
    assert!(!world.row(&world.environment(&codebase, Work::Issue(1)).await).await.is_fork);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_turns_out_to_be_a_forks_is_one_from_then_on() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = forked(&repo, &[("a.txt", "a")]);
    // Asked for by number alone, nobody knew.
    let before = world.environment(&codebase, Work::Review(7)).await;
    assert!(!before.is_fork);
    let after = forks_environment(&world, &codebase, &head).await;
    assert_eq!((after.id, after.is_fork), (before.id, true));
    assert!(world.row(&before).await.is_fork);
}

#[tokio::test(flavor = "multi_thread")]
async fn git_works_where_empty_folders_were_made() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    for name in ["hooks", "info"] {
        fs::remove_dir_all(repo.git_dir().join(name)).expect("removes");
    }
    let environment = world.environment(&codebase, Work::Issue(1)).await;
    bounds(&world, &codebase, &environment).await;
    for args in [&["gc", "--quiet"][..], &["fsck"], &["submodule", "status"], &["pack-refs", "--all"], &["status"]] {
        let output = try_git(Path::new(repo.path()), args);
        assert!(output.status.success(), "{args:?}");
    }
    let _: Vec<Cover> = bounds(&world, &codebase, &environment).await.covers;
}
