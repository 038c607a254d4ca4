//! Looking: lists, single views, differences, names, and what `doctor` finds.

use std::fs;

use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{BranchName, Codebase, Kind, State, Work};
use hedgerow_engine::engine::{Detail, Finding, Level};
use hedgerow_engine::store::NewEvent;
use hedgerow_engine::{Clock as _, Engine};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, admin};

#[tokio::test(flavor = "multi_thread")]
async fn the_json_of_an_environment_is_what_scripts_rely_on() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    commit(scene.path(), "a", "2\n");
    write(scene.path(), "notes", "3\n");
    scene.repo.commit("b", "elsewhere\n");
    scene.repo.push("main");
    let mut request = scene.world.asks(&scene.codebase, Work::PullRequest(99));
    request.hints.linked_issues = vec![42];
    scene.world.resolve(&request).await.expect("shared");
    scene.world.talks(PlatformKind::Github, "acme/shop#42", &scene.environment).await;
    let views = scene.world.engine.list(Some(&scene.codebase), Detail::Status).await.expect("a list");
    let json = serde_json::to_string(&views).expect("JSON");
    let json = json.replace(&scene.environment.id.to_string(), "ID");
    let json = json.replace(scene.path().to_str().expect("a plain path"), "PATH");
    let json = json.replace(scene.environment.base_sha.as_ref().expect("a base").as_str(), "SHA");
    assert_eq!(
        json,
        concat!(
            r#"[{"id":"ID","codebase":"shop","works":["issue-42","pr-99"],"provider":"worktree","branch":"issue-42","#,
            r#""base":"main","base_sha":"SHA","path":"PATH","state":"active","adopted":false,"adopted_from":null,"#,
            r#""migrated_at":null,"pinned":false,"dirty":true,"ahead":2,"behind":1,"merged":null,"conflicts":null,"#,
            r#""ports":[4800,4809],"init":{"ran":false,"state":null,"error":null},"pr":null,"description":null,"#,
            r#""keywords":[],"related":{"issues":[42],"prs":[99]},"conversations":["github:acme/shop#42"],"#,
            r#""created_at":"2026-05-03T10:00:00Z","created_by":"terminal:alice","#,
            r#""last_activity_at":"2026-05-03T10:00:00Z","disk_bytes":null,"node":"here"}]"#
        )
    );
    let full = scene.world.engine.view(&scene.row().await, Detail::Full).await.expect("a view");
    assert_eq!((full.merged, full.conflicts), (Some("unmerged"), Some(false)));
    assert!(full.disk_bytes.is_some_and(|bytes| bytes > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_environment_is_compared_with_its_own_base() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["switch", "--quiet", "-c", "release"]);
    repo.commit("r", "1\n");
    repo.commit("r", "2\n");
    repo.push("release");
    repo.git(&["switch", "--quiet", "main"]);
    let on_main = world.environment(&codebase, Work::Issue(1)).await;
    let mut request = world.asks(&codebase, Work::Issue(2));
    request.hints.base_branch = Some(BranchName::parse("release").expect("a name"));
    let on_release = world.resolve(&request).await.expect("made").environment;
    commit(&on_main.path, "a", "1\n");
    commit(&on_release.path, "a", "1\n");
    commit(&on_release.path, "a", "2\n");
    repo.commit_on_origin("release", "r", "3\n");
    repo.git(&["fetch", "--quiet", "origin"]);
    write(&on_release.path, "notes", "x\n");
    let detached = world.environment(&codebase, Work::Issue(3)).await;
    git(&detached.path, &["switch", "--quiet", "--detach"]);
    let views = world.engine.list(Some(&codebase), Detail::Status).await.expect("a list");
    let told: Vec<_> = views.iter().map(|view| (view.dirty, view.ahead, view.behind)).collect();
    assert_eq!(told[0], (Some(false), Some(1), Some(0)));
    assert_eq!(told[1], (Some(true), Some(2), Some(1)));
    assert_eq!(told[2].0, Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_environments_are_listed_in_order_with_what_is_true_of_each() {
    let world = World::with(|settings| settings.limit = 0).await;
    let (_repo, codebase) = world.given_a_repo_without_remote("shop").await;
    for issue in 1..=60 {
        let environment = world.environment(&codebase, Work::Issue(issue)).await;
        if issue % 2 == 0 {
            write(&environment.path, "notes", "x\n");
        }
        if issue % 3 == 0 {
            commit(&environment.path, "a", "1\n");
        }
    }
    let views = world.engine.list(None, Detail::Status).await.expect("a list");
    assert_eq!(views.len(), 60);
    for (issue, view) in (1_u64..).zip(&views) {
        assert_eq!(view.works, [format!("issue-{issue}")]);
        let ahead = u64::from(issue % 3 == 0);
        assert_eq!((view.dirty, view.ahead, view.behind), (Some(issue % 2 == 0), Some(ahead), Some(0)), "{issue}");
    }
    let rows = world.engine.list(None, Detail::Row).await.expect("a list");
    assert!(rows.iter().all(|view| view.dirty.is_none() && view.ahead.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_found_by_work_branch_path_and_the_beginning_of_its_id() {
    let scene = Scene::begin().await;
    let other = scene.world.environment(&scene.codebase, Work::task("Add dark mode")).await;
    let id = other.id.to_string();
    let link = scene.world.folder().join("link");
    std::os::unix::fs::symlink(&other.path, &link).expect("a link");
    let names = [
        "task-add-dark-mode",
        other.branch.as_str(),
        other.path.to_str().expect("a plain path"),
        &format!("{}/", other.path.display()),
        link.to_str().expect("a plain path"),
        &id,
        &id[..id.len() - 2],
        &id.replace('-', ""),
    ];
    for name in names {
        let found = scene.world.engine.require_environment(&scene.codebase, name).await;
        assert_eq!(found.unwrap_or_else(|error| panic!("{name}: {error:?}")).id, other.id, "{name}");
    }
    let inside = other.path.join("sub");
    fs::create_dir(&inside).expect("a folder");
    let found = scene.world.engine.environment_at(&scene.codebase, &inside).await.expect("answers");
    assert_eq!(found.map(|found| found.id), Some(other.id));
    let missing = scene.world.engine.require_environment(&scene.codebase, "issue-7").await.expect_err("no such thing");
    assert_eq!(missing.kind(), Kind::NotFound);
    assert!(words(&missing).contains("there are: issue-42, task-add-dark-mode"), "{}", words(&missing));
    scene.forces().await.expect("into the trash");
    let trashed = scene.world.engine.require_environment(&scene.codebase, "issue-42").await.expect_err("in the trash");
    assert!(words(&trashed).contains("it is in the trash: `hedgerow env restore issue-42`"), "{}", words(&trashed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_is_what_the_environment_did_and_nothing_of_its_base() {
    let scene = Scene::begin().await;
    let engine = &scene.world.engine;
    assert_eq!(engine.diff(&scene.environment, false).await.expect("a patch"), b"");
    commit(scene.path(), "ours", "committed\n");
    write(scene.path(), "README.md", "changed\n");
    scene.repo.commit_on_origin("main", "theirs", "someone else\n");
    scene.repo.git(&["fetch", "--quiet", "origin"]);
    let patch = String::from_utf8(engine.diff(&scene.environment, false).await.expect("a patch")).expect("text");
    assert!(patch.contains("+committed") && patch.contains("+changed") && !patch.contains("someone else"), "{patch}");
    git(scene.path(), &["stash", "--quiet"]);
    git(scene.path(), &["merge", "--quiet", "--no-edit", "origin/main"]);
    let patch = String::from_utf8(engine.diff(&scene.environment, false).await.expect("a patch")).expect("text");
    assert!(patch.contains("+committed") && !patch.contains("someone else"), "{patch}");
    let stat = String::from_utf8(engine.diff(&scene.environment, true).await.expect("numbers")).expect("text");
    assert!(stat.contains("ours"), "{stat}");
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_changes_nothing() {
    let scene = Scene::begin().await;
    write(scene.path(), "README.md", "changed\n");
    let picture = || (Tree::of(scene.path()), Tree::of(&scene.repo.path().join(".git")).without("hedgerow.lock"));
    let before = picture();
    scene.world.engine.list(None, Detail::Full).await.expect("a list");
    scene.world.engine.diff(&scene.environment, false).await.expect("a patch");
    scene.world.engine.doctor().await.expect("findings");
    let after = picture();
    assert_eq!(before.0.differences(&after.0), Vec::<String>::new());
    assert_eq!(before.1.without_times().differences(&after.1.without_times()), Vec::<String>::new());
}

async fn finds(engine: &Engine, level: Level, text: &str) -> Finding {
    let findings = engine.doctor().await.expect("findings");
    let found = findings.iter().find(|finding| finding.level == level && finding.detail.contains(text));
    found.unwrap_or_else(|| panic!("no {level:?} with `{text}` in {findings:#?}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_nothing_where_all_is_well() {
    let scene = Scene::begin().await;
    scene.forces().await.expect("what is in the trash is well, too");
    scene.world.environment(&scene.codebase, Work::Issue(1)).await;
    let findings = scene.world.engine.doctor().await.expect("findings");
    let bad: Vec<_> =
        findings.iter().filter(|finding| finding.level != Level::Fine && finding.what != "disk").collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_what_is_missing_and_what_is_foreign() {
    let scene = Scene::begin().await;
    fs::rename(scene.path(), scene.world.folder().join("aside")).expect("moved away");
    let gone = finds(&scene.world.engine, Level::Problem, "is gone").await;
    assert_eq!(gone.what, "environment shop/issue-42");
    assert!(gone.hint.expect("a way out").contains("hedgerow env remove issue-42"));
    write(scene.path(), "precious", "x\n");
    finds(&scene.world.engine, Level::Problem, "is not this environment: it has no `.git`").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_lost_sentinel_and_a_disk_that_is_away() {
    let scene = Scene::begin().await;
    let base = scene.world.settings().worktrees.clone();
    fs::remove_file(base.join(".hedgerow-base")).expect("it was there");
    let lost = finds(&scene.world.engine, Level::Problem, "has lost its sentinel").await;
    assert!(lost.hint.expect("a way out").contains(".hedgerow-base"));
    fs::rename(&base, scene.world.folder().join("away")).expect("the disk goes");
    finds(&scene.world.engine, Level::Problem, "the folder above it is not there").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_configuration_that_has_changed() {
    let scene = Scene::begin().await;
    scene.repo.git(&["config", "filter.sneaky.smudge", "sh -c evil"]);
    let changed = finds(&scene.world.engine, Level::Problem, "its configuration has changed").await;
    assert!(changed.detail.contains("filter.sneaky"), "{changed:?}");
    assert!(changed.hint.expect("a way out").contains("hedgerow codebase trust shop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_filters_that_are_not_run() {
    let world = World::new().await;
    let repo = hedgerow_testkit::TestRepo::with_origin(&world.folder().join("code"), "shop");
    repo.git(&["config", "filter.lfs.smudge", "git-lfs smudge -- %f"]);
    let codebase: Codebase = world.register(&repo).await;
    let not_run = finds(&world.engine, Level::Warning, "programs that are not run").await;
    assert_eq!(not_run.what, format!("codebase {}", codebase.name));
    assert!(not_run.detail.contains("filter.lfs"), "{not_run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_codebase_that_is_gone() {
    let scene = Scene::begin().await;
    fs::rename(scene.repo.path(), scene.world.folder().join("moved")).expect("moved away");
    let gone = scene.world.engine.doctor().await.expect("findings");
    let problem = gone.iter().find(|finding| finding.what == "codebase shop").expect("a finding");
    assert_eq!(problem.level, Level::Problem);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_worktree_of_ours_that_the_store_does_not_know() {
    let scene = Scene::begin().await;
    assert!(admin(scene.path()).join("hedgerow").is_file());
    let gone = hedgerow_core::Environment { state: State::Destroyed, ..scene.environment.clone() };
    let event = NewEvent::new(scene.world.clock.now(), &alice(), "environment-gone");
    scene.world.engine.store().save(&gone, (State::Active, gone.generation), &event).await.expect("it is history");
    let stray = finds(&scene.world.engine, Level::Warning, "was made by Hedgerow and is not in its store").await;
    assert!(stray.hint.expect("a way out").contains("hedgerow env cleanup orphans"));
}
