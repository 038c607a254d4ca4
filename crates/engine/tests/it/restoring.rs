//! Into the trash and back: every state that git deletes without a word comes back byte for byte.

mod elsewhere;
mod states;

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_testkit::git::{command, git};
use hedgerow_testkit::{Tree, World};

use crate::acts::{Scene, admin, is_there};
use states::{Room, STATES};

/// An environment, written down: its folder, git's half of it, and what git says about it.
struct Picture {
    folder: Tree,
    admin: Tree,
    reflog: String,
    status: Vec<u8>,
    stages: String,
    objects: Vec<String>,
}

impl Picture {
    fn of(path: &Path) -> Self {
        let admin = admin(path);
        let reflog = fs::read_to_string(admin.join("logs/HEAD")).expect("a worktree has a reflog");
        Self {
            // Taken first: git does not change it, but a look at it might.
            folder: Tree::of(path),
            status: status(path),
            stages: git(path, &["ls-files", "--stage", "-t", "-v"]),
            objects: named_objects(&admin),
            admin: Tree::of(&admin).without_times().without("logs/HEAD"),
            reflog,
        }
    }

    fn assert_same(&self, later: &Self, what: &str) {
        let none = Vec::<String>::new();
        assert_eq!(self.folder.differences(&later.folder), none, "the folder, {what}");
        assert_eq!(self.admin.differences(&later.admin), none, "git's half, {what}");
        assert_eq!(self.status, later.status, "git status, {what}");
        assert_eq!(self.stages, later.stages, "the index, {what}");
        assert_eq!(self.objects, later.objects, "objects that are named, {what}");
    }
}

fn status(path: &Path) -> Vec<u8> {
    let args =
        ["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z", "--ignored", "--untracked-files=all"];
    command(path).args(args).output().expect("git can be started").stdout
}

/// Every object that a file in the admin folder names (a stopped operation, a merge, bisect, the index) and that there is.
fn named_objects(admin: &Path) -> Vec<String> {
    let mut names = git(admin, &["ls-files", "--stage"]);
    let mut folders = vec![admin.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.extend((!entry.ends_with("modules") && !entry.ends_with("logs")).then_some(entry));
            } else {
                names.push('\n');
                names.push_str(&String::from_utf8_lossy(&fs::read(entry).expect("a file")));
            }
        }
    }
    let is_sha = |word: &&str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut names: Vec<&str> = names.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_sha).collect();
    names.sort_unstable();
    names.dedup();
    let list = tempfile::NamedTempFile::new().expect("a file");
    fs::write(list.path(), names.join("\n") + "\n").expect("a list");
    let asked = command(admin).args(["cat-file", "--batch-check"]).stdin(list.reopen().expect("the list")).output();
    let answer = String::from_utf8_lossy(&asked.expect("git can be started").stdout).into_owned();
    answer.lines().filter(|line| !line.ends_with(" missing")).map(str::to_owned).collect()
}

async fn comes_back(prepare: fn(&Room)) {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    states::furnish(&repo);
    let scene = Scene::of(world, repo, codebase).await;
    prepare(&Room { path: scene.path().to_owned() });
    let before = Picture::of(scene.path());
    scene.forces().await.expect("force always may");
    assert!(!is_there(scene.path()));
    let restored = scene.restores().await.expect("it comes back");
    assert_eq!(restored.notes, []);
    let after = Picture::of(scene.path());
    before.assert_same(&after, "as it was");
    assert!(after.reflog.starts_with(&before.reflog), "the reflog only grows");
    let refs = scene.repo.git(&["for-each-ref", "refs/hedgerow"]);
    assert_eq!(refs, "", "nothing of ours is left behind");
}

macro_rules! come_back {
    ($($name:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                comes_back(states::$name).await;
            }
        )+

        #[test]
        fn every_state_has_its_story() {
            let told = [$(stringify!($name)),+];
            let known: Vec<&str> = STATES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, told);
        }
    };
}

come_back!(
    ignored_files,
    files_hidden_by_info_exclude,
    files_hidden_by_configuration,
    edits_under_assume_unchanged,
    edits_under_skip_worktree,
    commits_on_a_detached_head,
    a_stopped_interactive_rebase_with_an_autostash,
    a_rebase_of_the_old_kind,
    a_resolved_merge,
    a_conflicted_merge,
    a_bisect,
    a_cherry_pick_of_several,
    a_revert,
    repositories_in_ignored_and_untracked_folders,
    staged_content_that_the_file_no_longer_has,
    an_intent_to_add,
    empty_folders,
    symbolic_links,
    modes_and_times,
    names_that_are_not_utf8,
    names_with_newlines_and_dashes,
    line_endings_by_attributes,
    pipes_and_sockets,
    hard_links,
    a_big_file,
    a_read_only_folder,
    an_unborn_branch,
    a_branch_of_its_own,
);

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_in_the_trash_survives_gits_own_cleaning() {
    let world = World::with(|settings| settings.limit = 0).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    states::furnish(&repo);
    let mut kept = Vec::new();
    for (number, (name, prepare)) in (100..).zip(STATES) {
        let environment = world.environment(&codebase, hedgerow_core::Work::Issue(number)).await;
        prepare(&Room { path: environment.path.clone() });
        let before = Picture::of(&environment.path);
        world.engine.remove(&environment, true, &hedgerow_testkit::world::alice()).await.expect(name);
        kept.push((name, environment, before));
    }
    // What only a trashed environment needs must not be kept by its neighbours.
    let branches = repo.git(&["for-each-ref", "--format=%(refname)", "refs/heads/"]);
    for branch in branches.lines().filter(|branch| branch.contains("side")) {
        repo.git(&["update-ref", "-d", branch]);
    }
    repo.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    for (name, environment, before) in kept {
        let name_of_it = environment.name().to_owned();
        world
            .engine
            .restore(&codebase, &name_of_it, &hedgerow_testkit::world::alice())
            .await
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        before.assert_same(&Picture::of(&environment.path), name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_rebase_can_be_finished_and_moves_its_branch() {
    let scene = furnished().await;
    states::a_stopped_interactive_rebase_with_an_autostash(&Room { path: scene.path().to_owned() });
    let amended = scene.git(&["rev-parse", "HEAD"]);
    scene.forces().await.expect("force always may");
    scene.restores().await.expect("it comes back");
    scene.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(scene.git(&["branch", "--show-current"]), "issue-42");
    assert_eq!(scene.git(&["log", "--format=%s", "-3"]), "two\namended\nFurnish");
    assert_eq!(scene.git(&["rev-parse", "HEAD~1"]), amended);
    assert_eq!(scene.git(&["status", "--porcelain"]), " M README.md", "the autostash is applied");
    assert_eq!(fs::read_to_string(scene.path().join("README.md")).expect("a file"), "stashed away\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_merge_can_be_committed() {
    let scene = furnished().await;
    states::a_resolved_merge(&Room { path: scene.path().to_owned() });
    scene.forces().await.expect("force always may");
    scene.restores().await.expect("it comes back");
    scene.git(&["commit", "--quiet", "--no-edit"]);
    assert_eq!(scene.git(&["log", "-1", "--format=%P"]).split(' ').count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_bisect_goes_on() {
    let scene = furnished().await;
    states::a_bisect(&Room { path: scene.path().to_owned() });
    scene.forces().await.expect("force always may");
    scene.restores().await.expect("it comes back");
    scene.git(&["bisect", "good"]);
    scene.git(&["bisect", "reset"]);
    assert_eq!(scene.git(&["branch", "--show-current"]), "issue-42");
}

#[tokio::test(flavor = "multi_thread")]
async fn submodules_come_back_with_commits_that_are_nowhere_else() {
    let world = World::new().await;
    let (repo, codebase, environment) = crate::removing::with_submodules(&world).await;
    let scene = Scene { world, repo, codebase, environment };
    let lib = scene.path().join("lib");
    let deep = lib.join("deep");
    for folder in [&lib, &deep] {
        git(folder, &["switch", "--quiet", "-c", "work"]);
        hedgerow_testkit::repo::commit(folder, "only-here", "1\n");
        hedgerow_testkit::repo::write(folder, "untracked", "2\n");
    }
    let before =
        (Picture::of(scene.path()), status(&lib), status(&deep), git(&deep, &["log", "--format=%H%n%B", "work"]));
    scene.forces().await.expect("force always may");
    let trash = scene.row().await.trash.expect("in the trash").path;
    assert_eq!(status(&trash.join("lib/deep")), before.2, "it works in the trash, too");
    scene.repo.git(&["gc", "--quiet", "--prune=now"]);
    scene.restores().await.expect("it comes back");
    before.0.assert_same(&Picture::of(scene.path()), "with submodules");
    assert_eq!(
        (status(&lib), status(&deep), git(&deep, &["log", "--format=%H%n%B", "work"])),
        (before.1, before.2, before.3)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_of_a_deleted_branch_comes_back_with_it() {
    let scene = furnished().await;
    hedgerow_testkit::repo::commit(scene.path(), "a", "1\n");
    scene.git(&["push", "--quiet", "--set-upstream", "origin", "issue-42"]);
    scene.forces().await.expect("force always may");
    assert_eq!(scene.repo.rev("refs/heads/issue-42"), None);
    scene.restores().await.expect("it comes back");
    assert_eq!(scene.git(&["rev-parse", "--abbrev-ref", "issue-42@{upstream}"]), "origin/issue-42");
}

async fn furnished() -> Scene {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    states::furnish(&repo);
    Scene::of(world, repo, codebase).await
}

/// A file with its folder; the path it got.
fn file(folder: &Path, name: &str, content: &str) -> PathBuf {
    hedgerow_testkit::repo::write(folder, name, content);
    folder.join(name)
}
