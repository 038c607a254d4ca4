//! Removers as other tools have them. The checker must tell what each of them loses: one that cannot fail proves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_testkit::git::{command, git, try_git};
use hedgerow_testkit::tokens::{Kind, Plan, Planted, nothing_collected};
use hedgerow_testkit::{TestRepo, Tokens};
use tempfile::TempDir;

use super::OPERATIONS;

/// A worktree that a person made, with tokens in it.
struct Ground {
    folder: TempDir,
    repo: TestRepo,
    path: PathBuf,
    planted: Planted,
}

impl Ground {
    fn with(plan: Plan) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let repo = TestRepo::with_origin(folder.path(), "shop");
        let path = folder.path().join("worktree");
        repo.git(&["worktree", "add", "--quiet", "-b", "work", name(&path)]);
        let planted = Tokens::plant(plan, &repo, &path);
        assert_eq!(planted.missing(&path), [], "{}: as planted", plan.name);
        Self { folder, repo, path, planted }
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    fn worktree_is_removed(&self) {
        self.repo.git(&["worktree", "remove", "--force", name(&self.path)]);
    }

    /// What a person can do afterwards: a worktree of what git still has.
    fn is_made_again(&self) {
        nothing_collected(&self.repo);
        if self.repo.rev("work").is_none() {
            self.repo.git(&["branch", "work", "main"]);
        }
        self.repo.git(&["worktree", "add", "--quiet", name(&self.path), "work"]);
    }

    /// The kinds of which something is lost.
    fn losses(&self) -> BTreeSet<Kind> {
        self.planted.missing(&self.path).into_iter().map(|loss| loss.kind).collect()
    }
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn all_but(plan: Plan, kept: &[Kind]) -> BTreeSet<Kind> {
    plan.kinds.iter().copied().filter(|kind| !kept.contains(kind)).collect()
}

#[test]
fn removing_with_force_and_deleting_the_branch_loses_all_but_the_stash() {
    for plan in Plan::ALL {
        let ground = Ground::with(plan);
        ground.worktree_is_removed();
        ground.repo.git(&["branch", "--quiet", "-D", "work"]);
        ground.is_made_again();
        assert_eq!(ground.losses(), all_but(plan, &[Kind::Stash]), "{}", plan.name);
        let stopped = plan.kinds.iter().filter(|kind| OPERATIONS.contains(kind)).count();
        let ended: Vec<Kind> = ground.planted.operation_continues(&ground.path).iter().map(|loss| loss.kind).collect();
        assert_eq!(ended.len(), stopped, "{}: {ended:?}", plan.name);
    }
}

#[test]
fn an_environment_that_is_gone_has_lost_everything() {
    let ground = Ground::with(Plan::MERGING);
    ground.worktree_is_removed();
    assert_eq!(ground.losses(), all_but(Plan::MERGING, &[]));
    assert_eq!(ground.planted.operation_continues(&ground.path).len(), 1);
}

/// A stash takes what `git status` shows, and only where git can hold it.
#[test]
fn stashing_everything_loses_what_git_does_not_see_or_record() {
    let kinds = &[
        Kind::Committed,
        Kind::Reflog,
        Kind::Stash,
        Kind::LineEndings,
        Kind::Submodule,
        Kind::Modes,
        Kind::Hidden,
        Kind::Unstaged,
        Kind::Deleted,
        Kind::Untracked,
        Kind::Ignored,
    ];
    let plan = Plan { name: "what a stash takes", kinds, pushed: false };
    let (ground, popped) = stashed(plan);
    assert!(popped, "git says that all is well");
    let kept = [Kind::Committed, Kind::Unstaged, Kind::Deleted];
    assert_eq!(ground.losses(), all_but(plan, &kept));
}

/// A file that is gone from the index and not from the disk is staged and untracked at once, which a stash takes and
/// does not give back.
#[test]
fn a_stash_of_a_file_that_is_only_on_disk_does_not_come_back() {
    let plan = Plan { name: "staged", kinds: &[Kind::Committed, Kind::Staged], pushed: false };
    let (ground, popped) = stashed(plan);
    assert!(!popped);
    assert_eq!(ground.losses(), BTreeSet::from([Kind::Staged]));
}

fn stashed(plan: Plan) -> (Ground, bool) {
    let ground = Ground::with(plan);
    ground.git(&["stash", "push", "--quiet", "--include-untracked"]);
    ground.worktree_is_removed();
    ground.is_made_again();
    let popped = try_git(&ground.path, &["stash", "pop", "--quiet", "--index"]).status.success();
    (ground, popped)
}

#[test]
fn an_archive_of_what_status_lists_loses_roles_and_what_is_hidden() {
    let ground = Ground::with(Plan::BUSY);
    let listed = command(&ground.path).args(["status", "--porcelain", "-z", "--no-renames", "-uall"]).output();
    let listed = listed.expect("git can be started").stdout;
    let mut names = Vec::new();
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty() && !entry.ends_with(b"/")) {
        names.extend_from_slice(&entry[3..]);
        names.push(0);
    }
    let (list, archive) = (ground.folder.path().join("list"), ground.folder.path().join("archive.tar"));
    fs::write(&list, names).expect("a list");
    let tar = |args: &[&str]| {
        let mut tar = std::process::Command::new("tar");
        tar.arg("-C").arg(&ground.path).args(args).output().expect("tar can be started")
    };
    tar(&["--null", "--ignore-failed-read", "-cf", name(&archive), "--no-recursion", "-T", name(&list)]);
    ground.worktree_is_removed();
    ground.is_made_again();
    assert!(tar(&["-xf", name(&archive)]).status.success());
    let kept = [Kind::Committed, Kind::Stash, Kind::Unstaged, Kind::OddNames];
    assert_eq!(ground.losses(), all_but(Plan::BUSY, &kept));
}

/// One byte, anywhere, is seen.
#[test]
fn a_byte_that_changed_in_any_token_is_told() {
    for plan in [Plan::BUSY, Plan::MERGING, Plan::REBASING] {
        let ground = Ground::with(plan);
        let mut tried = 0;
        for (kind, file) in ground.planted.files() {
            let path = ground.path.join(&file);
            let before = fs::read(&path).expect("a token");
            let mut bytes = before.clone();
            match bytes.last_mut() {
                Some(last) => *last ^= 1,
                None => bytes.push(b'x'),
            }
            fs::write(&path, &bytes).expect("another byte");
            let missing = ground.planted.missing(&ground.path);
            assert!(missing.iter().any(|loss| loss.kind == kind && loss.what.contains("was")), "{file:?}: {missing:?}");
            fs::write(&path, before).expect("as before");
            tried += 1;
        }
        assert!(tried > 5, "{}: only {tried} files", plan.name);
    }
}
