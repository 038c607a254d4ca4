//! A git that fails, lies, hangs or dies at any of its calls: a typed error, and nothing left.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, World};

use crate::witness::Witness;

/// A git that does as told at one of its calls. Until it is told, it is the real one.
struct Tricky {
    folder: PathBuf,
}

impl Tricky {
    /// Writes the program. It counts its calls in a folder: whoever makes the folder `n` is the `n`th.
    fn new(folder: &Path) -> (Self, PathBuf) {
        let folder = folder.join("tricky");
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("git");
        let script = format!(
            "#!/bin/sh\n\
             cd_to='{at}'\n\
             if [ -f \"$cd_to/plan\" ]; then\n\
               n=1; while ! mkdir \"$cd_to/calls/$n\" 2>/dev/null; do n=$((n+1)); done\n\
               . \"$cd_to/plan\"\n\
             fi\n\
             exec git \"$@\"\n",
            at = folder.display()
        );
        fs::write(&program, script).expect("the program");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        (Self { folder }, program)
    }

    /// From now on: at calls of which the test (of `$n`) holds, do this.
    fn plans(&self, when: &str, does: &str) {
        let calls = self.folder.join("calls");
        let _ = fs::remove_dir_all(&calls);
        fs::create_dir(&calls).expect("a folder");
        let script = format!("if {when}; then touch '{}/struck'; {does}; fi\n", self.folder.display());
        fs::write(self.folder.join("plan"), script).expect("the plan");
        let _ = fs::remove_file(self.folder.join("struck"));
    }

    fn rests(&self) {
        fs::remove_file(self.folder.join("plan")).expect("there was a plan");
    }

    fn has_struck(&self) -> bool {
        self.folder.join("struck").exists()
    }
}

async fn world_with_tricky_git() -> (World, Tricky) {
    let mut tricky = None;
    let world = World::with(|settings| {
        let folder = settings.home.parent().expect("the world's folder");
        let (made, program) = Tricky::new(folder);
        settings.git = program;
        tricky = Some(made);
    })
    .await;
    (world, tricky.expect("made above"))
}

const FAILURES: [(&str, &str); 2] = [
    ("talks nonsense and says no", "head -c 3000 /dev/urandom; head -c 3000 /dev/urandom >&2; exit 1"),
    ("dies", "kill -9 $$"),
];

#[tokio::test(flavor = "multi_thread")]
async fn whichever_call_fails_nothing_is_left() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    for (how, does) in FAILURES {
        let mut failed = 0;
        for call in 1.. {
            tricky.plans(&format!("[ $n -eq {call} ]"), does);
            let outcome = world.resolve(&world.asks(&codebase, Work::Issue(42))).await;
            let struck = tricky.has_struck();
            tricky.rests();
            match outcome {
                Err(failure) => {
                    assert!(struck, "{how} at {call}: {failure:?}");
                    assert!(matches!(failure.kind(), Kind::Failed | Kind::Protected | Kind::Usage), "{failure:?}");
                    sees.sees_nothing_left(&world, &codebase).await;
                    failed += 1;
                }
                Ok(made) => {
                    // A question that git did not answer may still have another way to be answered.
                    sees.finds(&made.environment, &repo.rev("main").expect("main"));
                    world.engine.remove(&made.environment, false, &alice()).await.expect("it goes");
                    empty_the_trash(&repo);
                    if !struck {
                        break;
                    }
                }
            }
        }
        assert!(failed >= 5, "{how}: only {failed} calls matter?");
    }
}

/// Forgets what was removed, so that the next attempt starts from where the first did.
fn empty_the_trash(repo: &TestRepo) {
    for path in repo.worktrees() {
        let path = path.to_string_lossy().into_owned();
        repo.git(&["worktree", "remove", "--force", "--force", &path]);
    }
    let _ = fs::remove_dir(repo.git_dir().join("worktrees"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_requests_local_branch_is_put_back_where_it_was() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let old = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.git(&["branch", "--no-track", "feature/auth", "origin/feature/auth"]);
    let new = repo.commit_on_origin("feature/auth", "auth.txt", "two");
    let sees = Witness::of(&repo);
    let request = world.asks_for_pr(&codebase, 99, "feature/auth");
    // Each step that changes something fails, the first time it is tried.
    let steps = ["update-ref", "worktree add", "checkout", "auth.remote", "auth.merge"];
    for step in steps {
        let when = format!("case \"$*\" in *'{step}'*) mkdir \"$cd_to/calls/struck\" 2>/dev/null;; *) false;; esac");
        tricky.plans(&when, "exit 128");
        world.resolve(&request).await.expect_err(step);
        assert!(tricky.has_struck(), "{step}");
        tricky.rests();
        sees.sees_nothing_left(&world, &codebase).await;
        assert_eq!(repo.rev("feature/auth").as_ref(), Some(&old), "{step}");
    }
    let made = world.gets(&request).await.environment;
    assert_eq!(hedgerow_testkit::git::git(&made.path, &["rev-parse", "HEAD"]), new.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_that_lies_does_not_make_us_panic() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let nonsense = ["head -c 3000 /dev/urandom; exit 0", "exit 0"];
    for does in nonsense {
        for call in 1.. {
            let sees = Witness::of(&repo);
            tricky.plans(&format!("[ $n -eq {call} ]"), does);
            let outcome = world.resolve(&world.asks(&codebase, Work::Issue(42))).await;
            let struck = tricky.has_struck();
            tricky.rests();
            match outcome {
                Err(_) => sees.sees_nothing_left(&world, &codebase).await,
                Ok(made) => {
                    world.engine.remove(&made.environment, true, &alice()).await.expect("it goes");
                    empty_the_trash(&repo);
                }
            }
            if !struck {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_git_stops_working_for_good_the_next_start_clears_up() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    for call in 1.. {
        tricky.plans(&format!("[ $n -ge {call} ]"), "exit 128");
        let outcome = world.resolve(&world.asks(&codebase, Work::Issue(42))).await;
        let struck = tricky.has_struck();
        tricky.rests();
        if outcome.is_ok() && !struck {
            assert!(call > 5, "so few calls?");
            break;
        }
        world.another_engine().await;
        sees.sees_nothing_left(&world, &codebase).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_git_comes_back_the_same_request_succeeds() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    // The worktree is registered, then nothing works any more: not even taking it back.
    tricky.plans(
        "case \"$*\" in *' checkout '*) touch \"$cd_to/from-here\";; esac; [ -f \"$cd_to/from-here\" ]",
        "exit 128",
    );
    world.resolve(&world.asks(&codebase, Work::Issue(42))).await.expect_err("git does not work");
    tricky.rests();
    let sees_main = repo.rev("main").expect("main");

    let made = world.gets(&world.asks(&codebase, Work::Issue(42))).await.environment;

    Witness::of(&repo).finds(&made, &sees_main);
    assert_eq!(repo.worktrees(), [made.path]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_dropped_at_any_call_is_taken_back() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    for call in 1.. {
        tricky.plans(&format!("[ $n -eq {call} ]"), "sleep 600");
        let (engine, request) = (world.engine.clone(), world.asks(&codebase, Work::Issue(42)));
        let mut asking = tokio::spawn(async move { engine.resolve(&request, &NoProgress).await });
        let mut finished = false;
        while !tricky.has_struck() && !finished {
            finished = tokio::time::timeout(Duration::from_millis(5), &mut asking).await.is_ok();
        }
        asking.abort();
        let _ = if finished { Ok(()) } else { (&mut asking).await.map(drop) };
        tricky.rests();
        if finished {
            assert!(call > 5, "so few calls?");
            break;
        }
        world.another_engine().await;
        sees.sees_nothing_left(&world, &codebase).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_that_hangs_is_given_up_on() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    tricky.plans("case \"$*\" in *' worktree add '*) true;; *) false;; esac", "sleep 600");

    let (kind, words) = world.fails(&world.asks(&codebase, Work::Issue(42))).await;

    tricky.rests();
    assert_eq!(kind, Kind::Failed);
    assert!(words.contains("`git worktree add` gave no sign of life for 30 s"), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_called_by_its_name() {
    let (world, tricky) = world_with_tricky_git().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sees = Witness::of(&repo);
    let does = "echo 'fatal: cannot write README.md: No space left on device' >&2; exit 128";
    tricky.plans("case \"$*\" in *' checkout '*) true;; *) false;; esac", does);

    let (kind, words) = world.fails(&world.asks(&codebase, Work::Issue(42))).await;

    tricky.rests();
    assert_eq!(kind, Kind::Failed);
    assert!(words.contains("The disk cannot be written: cannot write README.md: No space left on device"), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_where_a_folder_should_be_is_left_alone() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let base = &world.settings().worktrees;
    for in_the_way in [base.join(&codebase.folder), base.clone()] {
        let _ = fs::remove_dir_all(base);
        fs::create_dir_all(in_the_way.parent().expect("a folder")).expect("its folder");
        fs::write(&in_the_way, "a file").expect("a file in the way");
        let sees = Witness::of(&repo);

        let (kind, words) = world.fails(&world.asks(&codebase, Work::Issue(42))).await;

        assert_eq!(kind, Kind::Failed);
        assert!(words.to_lowercase().contains("cannot use "), "{words}");
        assert_eq!(fs::read_to_string(&in_the_way).expect("still there"), "a file");
        sees.sees_nothing_left(&world, &codebase).await;
        fs::remove_file(&in_the_way).expect("it goes");
    }
    let made = world.environment(&codebase, Work::Issue(42)).await;
    Witness::of(&repo).finds(&made, &repo.rev("main").expect("main"));
}
