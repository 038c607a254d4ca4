//! Checkpoints and undo: what a turn did goes back, what anyone else did stays.

mod odd;
mod operations;

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_core::checkpoint::{KEPT, KeptBecause};
use hedgerow_core::{Checkpoint, Kind, Work};
use hedgerow_engine::checkpoints::{Checked, Undone};
use hedgerow_engine::{Engine, Failure};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, admin, git_that, is_there};

impl Scene {
    async fn checks(&self) -> Checkpoint {
        self.checked().await.checkpoint
    }

    async fn checked(&self) -> Checked {
        self.world.engine.checkpoint(&self.environment, None, &alice()).await.expect("a checkpoint")
    }

    async fn undoes(&self) -> Undone {
        self.tries_to_undo(None).await.expect("an undo")
    }

    async fn undoes_to(&self, number: u64) -> Undone {
        self.tries_to_undo(Some(number)).await.expect("an undo")
    }

    async fn tries_to_undo(&self, to: Option<u64>) -> Result<Undone, Failure> {
        self.world.engine.undo(&self.environment, to, &alice()).await
    }

    async fn refused(&self, to: Option<u64>) -> (Kind, String) {
        let failure = self.tries_to_undo(to).await.expect_err("a refusal");
        (failure.kind(), words(&failure))
    }

    async fn numbers(&self) -> Vec<u64> {
        let known = self.world.engine.checkpoints(&self.environment).await.expect("the store answers");
        known.into_iter().map(|checkpoint| checkpoint.number).collect()
    }

    fn refs(&self) -> Vec<String> {
        let prefix = format!("refs/hedgerow/checkpoints/{}/", self.environment.id);
        self.repo.git(&["for-each-ref", "--format=%(refname)", &prefix]).lines().map(str::to_owned).collect()
    }

    fn write(&self, file: &str, content: &str) {
        write(self.path(), file, content);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap_or_else(|_| "(not there)".to_owned())
    }

    fn status(&self) -> String {
        self.git(&["status", "--porcelain", "--untracked-files=all"])
    }

    /// Everything git and a person can tell of the environment.
    fn everything(&self) -> String {
        let say = |args: &[&str]| String::from_utf8_lossy(&try_git(self.path(), args).stdout).into_owned();
        let _ = try_git(self.path(), &["update-index", "-q", "--refresh"]);
        let mut admin_files = Vec::new();
        for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/orig-head", "rebase-merge/autostash", "BISECT_LOG"]
        {
            admin_files.push((name, fs::read_to_string(admin(self.path()).join(name)).ok()));
        }
        let head = say(&["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]);
        let index = say(&["ls-files", "--stage", "-v", "--debug"]);
        let mut index: Vec<&str> = index
            .lines()
            .filter_map(|line| line.rsplit_once("flags: ").map_or(Some(line), |(_, flags)| Some(flags)))
            .collect();
        // Times and sizes are git's own notes.
        index.retain(|line| !line.starts_with("  "));
        format!("{head}{}{index:#?}{admin_files:#?}", say(&["status", "--porcelain=v2", "--ignored"]))
    }

    /// Files as they are, their times aside.
    fn files(&self) -> Tree {
        Tree::of(self.path()).without_times().without(".git")
    }
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

fn kept(undone: &Undone) -> Vec<(String, KeptBecause)> {
    undone.rewound.kept.iter().map(|kept| (kept.path.to_string_lossy().into_owned(), kept.because)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_turn_edited_made_and_deleted_goes_back() {
    let scene = Scene::begin().await;
    commit(scene.path(), "old.txt", "old\n");
    scene.write("mine.txt", "not committed\n");
    scene.checks().await;
    let before = (scene.files(), scene.everything());

    scene.write("README.md", "a turn was here\n");
    scene.write("new/deep/file.txt", "new\n");
    scene.write("mine.txt", "changed\n");
    fs::remove_file(scene.path().join("old.txt")).expect("it was there");
    scene.checks().await;

    let undone = scene.undoes().await;
    assert_eq!((scene.files(), scene.everything()), before);
    assert_eq!(names(&undone.rewound.restored), ["README.md", "mine.txt", "old.txt"]);
    assert_eq!(names(&undone.rewound.deleted), ["new/deep/file.txt"]);
    assert!(undone.rewound.kept.is_empty());
    assert!(!is_there(&scene.path().join("new")), "a folder that is empty now goes too");

    scene.undoes_to(undone.before.number).await;
    assert_eq!(scene.read("new/deep/file.txt"), "new\n");
    assert_eq!((scene.read("README.md"), scene.read("mine.txt")), ("a turn was here\n".into(), "changed\n".into()));
    assert!(!is_there(&scene.path().join("old.txt")));
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_of_a_turn_go_back_and_are_found_again() {
    let scene = Scene::begin().await;
    scene.write("draft.txt", "draft\n");
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    commit(scene.path(), "draft.txt", "draft\n");
    let tip = commit(scene.path(), "README.md", "committed\n");
    scene.checks().await;
    let after = (scene.files(), scene.everything());

    let undone = scene.undoes().await;
    assert_eq!((scene.files(), scene.everything()), before);
    let moved = undone.rewound.head.expect("HEAD moved");
    assert_eq!((moved.from, moved.branch), (Some(tip.clone()), Some(scene.environment.branch.clone())));
    assert!(scene.git(&["reflog", "-1"]).contains("hedgerow: undo"));

    scene.git(&["reflog", "expire", "--expire=now", "--all"]);
    scene.git(&["gc", "--quiet", "--prune=now"]);
    scene.undoes_to(undone.before.number).await;
    assert_eq!((scene.files(), scene.everything()), after);
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), tip.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_changed_since_stays_and_is_listed() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a.txt", "a\n");
    commit(scene.path(), "b.txt", "b\n");
    scene.checks().await;
    for file in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        scene.write(file, "turn\n");
    }
    scene.checks().await;
    scene.write("b.txt", "person\n");
    scene.write("c.txt", "person\n");
    scene.write("README.md", "person\n");
    scene.write("notes.txt", "person\n");
    scene.git(&["add", "README.md"]);

    let undone = scene.undoes().await;
    assert_eq!(kept(&undone), [("b.txt".to_owned(), KeptBecause::Changed), ("c.txt".to_owned(), KeptBecause::Changed)]);
    assert_eq!(scene.read("a.txt"), "a\n");
    assert!(!is_there(&scene.path().join("d.txt")));
    for file in ["b.txt", "c.txt", "README.md", "notes.txt"] {
        assert_eq!(scene.read(file), "person\n", "{file}");
    }
    assert_eq!(scene.status(), "M  README.md\n M b.txt\n?? c.txt\n?? notes.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_of_a_person_since_stop_an_undo() {
    let scene = Scene::begin().await;
    scene.checks().await;
    scene.write("README.md", "turn\n");
    scene.checks().await;
    commit(scene.path(), "mine.txt", "person\n");
    let before = (scene.files(), scene.everything());
    let (kind, said) = scene.refused(None).await;
    assert_eq!(kind, Kind::Protected);
    assert!(said.starts_with("commits were made in `issue-42` since"), "{said}");
    assert_eq!((scene.files(), scene.everything()), before);
    assert_eq!(scene.numbers().await, [1, 2], "nothing looks like an undo that was interrupted");
    scene.undoes_to(1).await;
    assert_eq!((scene.status(), scene.read("README.md")), (String::new(), "Hello\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_files_are_never_touched() {
    let scene = Scene::begin().await;
    commit(scene.path(), ".gitignore", "*.env\nbuild/\n");
    scene.write("secret.env", "1\n");
    scene.write("build/out", "1\n");
    scene.checks().await;
    scene.write("secret.env", "2\n");
    fs::remove_file(scene.path().join("build/out")).expect("it was there");
    scene.write(".gitignore", "build/\n");
    scene.write("build2.env", "3\n");
    scene.checks().await;
    let undone = scene.undoes().await;
    assert_eq!(scene.read(".gitignore"), "*.env\nbuild/\n");
    assert_eq!((scene.read("secret.env"), scene.read("build2.env")), ("2\n".to_owned(), "3\n".to_owned()));
    assert!(!is_there(&scene.path().join("build/out")));
    let ignored = ["build2.env", "secret.env"].map(|name| (name.to_owned(), KeptBecause::Ignored));
    assert_eq!(kept(&undone), ignored);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ignored_file_in_the_way_stays() {
    let scene = Scene::begin().await;
    commit(scene.path(), "data/list", "1\n");
    commit(scene.path(), "local.cfg", "1\n");
    scene.checks().await;
    scene.git(&["rm", "--quiet", "data/list", "local.cfg"]);
    scene.write(".gitignore", "data\n*.cfg\n");
    scene.checks().await;
    scene.write("data", "ignored now\n");
    scene.write("local.cfg", "ignored now\n");
    let undone = scene.undoes().await;
    let in_the_way = ["data/list", "local.cfg"].map(|name| (name.to_owned(), KeptBecause::InTheWay));
    assert_eq!(kept(&undone), in_the_way);
    assert_eq!(scene.read("local.cfg"), "ignored now\n");
    assert_eq!(scene.read("data"), "ignored now\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_after_an_undo_goes_one_turn_further() {
    let scene = Scene::begin().await;
    for turn in 1..=4 {
        scene.write("count", &format!("{turn}\n"));
        scene.checks().await;
    }
    for expected in ["3\n", "2\n", "1\n"] {
        scene.undoes().await;
        assert_eq!(scene.read("count"), expected);
    }
    let (kind, said) = scene.refused(None).await;
    assert_eq!(kind, Kind::NotFound);
    assert!(said.contains("no earlier checkpoint"), "{said}");
    scene.write("count", "5\n");
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(scene.read("count"), "1\n", "the newest state that was not taken back");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_that_was_not_concluded_is_not_taken_for_a_turn() {
    let scene = Scene::begin().await;
    for turn in 1..=2 {
        scene.write("count", &format!("{turn}\n"));
        scene.checks().await;
    }
    scene.undoes().await;
    let newest = format!("refs/hedgerow/checkpoints/{}/4", scene.environment.id);
    scene.repo.git(&["update-ref", "-d", &newest]);
    scene.write("count", "3\n");
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(scene.read("count"), "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_state_makes_no_checkpoint() {
    let scene = Scene::begin().await;
    scene.write("new.txt", "new\n");
    let first = scene.checked().await;
    assert!(first.is_new);
    let again = scene.checked().await;
    assert_eq!((again.is_new, again.checkpoint.number), (false, first.checkpoint.number));
    scene.write("new.txt", "new\n");
    assert!(!scene.checked().await.is_new, "written again with the same content");
    scene.write("new.txt", "NEW\n");
    assert!(scene.checked().await.is_new);
    assert_eq!((scene.numbers().await, scene.refs().len()), (vec![1, 2], 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_twenty_are_kept() {
    let scene = Scene::begin().await;
    for turn in 0..=KEPT {
        scene.write("count", &turn.to_string());
        scene.checks().await;
    }
    let numbers: Vec<u64> = (2..=21).collect();
    assert_eq!(scene.numbers().await, numbers);
    assert_eq!(scene.refs().len(), KEPT);
    // The oldest can still be gone back to, although the undo makes two more.
    scene.undoes_to(2).await;
    assert_eq!(scene.read("count"), "1");
    assert_eq!(scene.numbers().await.len(), KEPT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_changes_nothing_and_an_undo_nothing_else() {
    let scene = Scene::begin().await;
    let neighbour = scene.world.environment(&scene.codebase, Work::Issue(7)).await;
    write(&neighbour.path, "README.md", "the neighbour's\n");
    scene.write("README.md", "stashed\n");
    scene.git(&["stash", "--quiet"]);
    scene.write("README.md", "edited\n");
    scene.write("new.txt", "new\n");
    scene.git(&["add", "new.txt"]);
    let others = || {
        let main = fs::read(scene.repo.path().join("README.md")).expect("a file of the main checkout");
        (main, Tree::of(&neighbour.path), scene.repo.fingerprint(), scene.git(&["stash", "list", "--format=%H"]))
    };
    let (here, elsewhere) = (Tree::of(scene.path()), others());
    let own = |path: &Path| fs::read(admin(path).join("index")).expect("an index");
    let index = own(scene.path());
    scene.checks().await;
    assert_eq!(Tree::of(scene.path()), here, "byte for byte, times too");
    assert_eq!(own(scene.path()), index, "the index is not even refreshed");
    scene.write("README.md", "a turn\n");
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(others(), elsewhere);
    assert_eq!(scene.read("README.md"), "edited\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_checkpoints_at_once_are_one_or_wait_their_turn() {
    let scene = Scene::begin().await;
    scene.write("new.txt", "new\n");
    let other = scene.world.another_engine().await;
    let (by, path) = (alice(), &scene.environment);
    let (one, two) = tokio::join!(scene.world.engine.checkpoint(path, None, &by), other.checkpoint(path, None, &by));
    let made = [&one, &two].into_iter().flatten().filter(|checked| checked.is_new).count();
    assert_eq!(made, 1);
    for busy in [one, two].into_iter().filter_map(Result::err) {
        assert_eq!(busy.kind(), Kind::Busy);
    }
    assert_eq!((scene.numbers().await, scene.refs().len()), (vec![1], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_that_fails_anywhere_is_carried_on_by_the_next() {
    let scene = Scene::begin().await;
    let failing = Failing::beside(&scene.world).await;
    scene.write("draft.txt", "draft\n");
    scene.git(&["add", "draft.txt"]);
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    let mut interrupted = 0;
    // Every other call of git that an undo makes fails once.
    for nth in (1..).step_by(2) {
        scene.git(&["commit", "--quiet", "-m", "A turn"]);
        scene.write("README.md", "turn\n");
        scene.write("more.txt", "turn\n");
        scene.checks().await;
        scene.write("notes.txt", "person\n");
        failing.at(nth);
        let failed = failing.engine.undo(&scene.environment, None, &alice()).await.is_err();
        let was_reached = failing.ends();
        if failed {
            interrupted += 1;
            scene.undoes().await;
        }
        fs::remove_file(scene.path().join("notes.txt")).expect("the person's file stays");
        assert_eq!((scene.files(), scene.everything()), before, "when call {nth} of git fails");
        if !was_reached {
            break;
        }
    }
    assert!(interrupted > 10, "{interrupted} calls failed");
}

/// An engine with a git that can be told to fail.
struct Failing {
    engine: Engine,
    count: PathBuf,
    nth: PathBuf,
}

impl Failing {
    async fn beside(world: &World) -> Self {
        let folder = world.folder().join("failing");
        let (count, nth) = (folder.join("count"), folder.join("nth"));
        let (calls, limit) = (count.display(), nth.display());
        let first = format!(
            "if [ -e '{limit}' ]; then echo >> '{calls}'; [ $(wc -l < '{calls}') -eq $(cat '{limit}') ] && exit 9; fi"
        );
        let settings = hedgerow_engine::Settings { git: git_that(&folder, &first), ..world.settings().clone() };
        let engine = Engine::open(settings, world.clock.clone()).await.expect("the engine opens");
        Self { engine, count, nth }
    }

    /// From now on the nth call fails.
    fn at(&self, nth: usize) {
        fs::write(&self.count, "").expect("a file");
        fs::write(&self.nth, nth.to_string()).expect("a file");
    }

    /// No more calls fail. Whether one did.
    fn ends(&self) -> bool {
        let calls = fs::read_to_string(&self.count).expect("a file").lines().count();
        let nth: usize = fs::read_to_string(&self.nth).expect("a file").parse().expect("a number");
        fs::remove_file(&self.nth).expect("a file");
        calls >= nth
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_without_a_row_and_a_row_without_a_ref_are_set_right() {
    let scene = Scene::begin().await;
    for turn in 1..=3 {
        scene.write("count", &turn.to_string());
        scene.checks().await;
    }
    let store = scene.world.engine.store();
    store.forget_checkpoints(scene.environment.id, Some(&[3])).await.expect("the row goes");
    let gone = format!("refs/hedgerow/checkpoints/{}/1", scene.environment.id);
    scene.repo.git(&["update-ref", "-d", &gone]);
    scene.write("count", "4");
    scene.checks().await;
    assert_eq!(scene.numbers().await, [2, 3, 4]);
    assert_eq!(scene.refs().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_stay_through_the_trash_and_are_forgotten_when_asked() {
    let scene = Scene::begin().await;
    scene.write("count", "1");
    scene.checks().await;
    scene.write("count", "2");
    scene.checks().await;
    scene.forces().await.expect("it goes to the trash");
    let trashed = scene.row().await;
    let failure = scene.world.engine.undo(&trashed, None, &alice()).await.expect_err("it is not live");
    assert_eq!(failure.kind(), Kind::NotFound);
    scene.restores().await.expect("it comes back");
    scene.undoes().await;
    assert_eq!(scene.read("count"), "1");
    scene.world.engine.forget_checkpoints(&scene.codebase, &scene.environment).await.expect("they go");
    assert_eq!((scene.numbers().await, scene.refs()), (Vec::new(), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_named_and_nothing_is_made() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::begin().await;
    scene.write("locked.txt", "x\n");
    let file = scene.path().join("locked.txt");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).expect("its own file");
    if fs::read(&file).is_ok() {
        // Whoever runs this may read everything.
        return;
    }
    let failure = scene.world.engine.checkpoint(&scene.environment, None, &alice()).await.expect_err("no checkpoint");
    assert!(words(&failure).contains("locked.txt"), "{}", words(&failure));
    assert_eq!((scene.numbers().await, scene.refs()), (Vec::new(), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_another_environment_is_not_saved() {
    let scene = Scene::begin().await;
    let neighbour = scene.world.environment(&scene.codebase, Work::Issue(7)).await;
    let swapped = hedgerow_core::Environment { path: neighbour.path.clone(), ..scene.environment.clone() };
    let failure = scene.world.engine.checkpoint(&swapped, None, &alice()).await.expect_err("not ours");
    assert_eq!(failure.kind(), Kind::Protected);
    scene.world.removes(&neighbour, true).await.expect("it can go");
    let _ = git(scene.repo.path(), &["status"]);
}
