//! What must hold after every creation and after every failure, looked at with a person's own git.

use hedgerow_core::{Codebase, CommitSha, Environment, State};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::{TestRepo, World};

/// A repository as it was before something was asked for.
pub(crate) struct Witness<'a> {
    repo: &'a TestRepo,
    fingerprint: String,
    upstreams: Vec<String>,
    branches: Vec<String>,
    worktrees: Vec<std::path::PathBuf>,
}

impl<'a> Witness<'a> {
    pub(crate) fn of(repo: &'a TestRepo) -> Self {
        // Something a person fetched, which nobody may overwrite.
        std::fs::write(repo.git_dir().join("FETCH_HEAD"), "what a person fetched\n").expect("FETCH_HEAD");
        Self {
            repo,
            fingerprint: repo.fingerprint(),
            upstreams: repo.upstreams(),
            branches: repo.branches(),
            worktrees: repo.worktrees(),
        }
    }

    /// The environment is whole, ours and clean, at this commit, with no upstream; the main checkout is as it was.
    pub(crate) fn finds(&self, environment: &Environment, at: &CommitSha) {
        self.finds_with_upstream(environment, at, &[]);
    }

    /// The same, for a branch that pulls and pushes.
    pub(crate) fn finds_with_upstream(&self, environment: &Environment, at: &CommitSha, upstream: &[&str]) {
        assert_eq!(environment.state, State::Active);
        let status = git(&environment.path, &["status", "--porcelain"]);
        assert_eq!(status, "", "`git status` in the environment");
        let on = git(&environment.path, &["symbolic-ref", "--short", "HEAD"]);
        assert_eq!(on, environment.branch.as_str());
        assert_eq!(git(&environment.path, &["rev-parse", "HEAD"]), at.as_str());
        assert!(environment.base_sha.is_some(), "the base sha is recorded");

        let listed = self.repo.git(&["worktree", "list", "--porcelain"]);
        let entry =
            listed.split("\n\n").find(|entry| entry.contains(&format!("worktree {}\n", environment.path.display())));
        let locked = format!("locked hedgerow:{}", environment.id);
        assert!(entry.is_some_and(|entry| entry.lines().any(|line| line == locked)), "{listed}");
        let admin = git(&environment.path, &["rev-parse", "--absolute-git-dir"]);
        let marker = std::fs::read_to_string(std::path::Path::new(&admin).join("hedgerow")).expect("the marker");
        assert!(marker.starts_with(&environment.id.to_string()), "{marker}");

        self.sees_the_checkout_untouched();
        let mut expected = self.upstreams.clone();
        expected.extend(upstream.iter().map(|line| (*line).to_owned()));
        assert_eq!(self.repo.upstreams(), expected, "where branches pull from");
    }

    pub(crate) fn sees_the_checkout_untouched(&self) {
        assert_eq!(self.repo.fingerprint(), self.fingerprint, "the main checkout");
    }

    /// No folder, no registration, no branch, no live row.
    pub(crate) async fn sees_nothing_left(&self, world: &World, codebase: &Codebase) {
        self.sees_the_checkout_untouched();
        assert_eq!(self.repo.upstreams(), self.upstreams, "where branches pull from");
        assert_eq!(self.repo.branches(), self.branches, "branches");
        assert_eq!(self.repo.worktrees(), self.worktrees, "git's worktrees");
        let admin = self.repo.git_dir().join("worktrees");
        let entries = std::fs::read_dir(admin).map_or(0, Iterator::count);
        assert_eq!(entries, self.worktrees.len(), "git's own folders of worktrees");
        let live = world.engine.store().live(codebase.id).await.expect("the store answers");
        assert!(live.is_empty(), "{live:#?}");
        let below = world.settings().worktrees.join(&codebase.folder);
        let folders = std::fs::read_dir(below).map_or(0, Iterator::count);
        assert_eq!(folders, 0, "folders of environments");
        let locks = std::fs::read_dir(world.settings().home.join("locks")).map_or(0, Iterator::count);
        assert_eq!(locks, 0, "lock files");
    }
}

/// Plain `git push` in a folder, as a person types it.
pub(crate) fn push(environment: &Environment) -> std::process::Output {
    try_git(&environment.path, &["push"])
}
