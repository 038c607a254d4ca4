//! A world prepared for a kill: the scene of the act, and beside it everything that must not change.

use std::path::PathBuf;

use hedgerow_core::{Codebase, Environment, Work};
use hedgerow_engine::Settings;
use tempfile::TempDir;

use super::act::{Act, Scene};
use super::kept::Holding;
use super::scenery::{self, Bystanders};
use crate::repo::{TestRepo, commit, write};
use crate::tree::Tree;
use crate::world::World;

/// One world, about to be hit.
#[derive(Debug)]
pub struct Stage {
    pub world: World,
    pub repo: TestRepo,
    pub codebase: Codebase,
    pub scene: Scene,
    /// What the act is about, and the work in it; a creation has none yet.
    pub environment: Option<(Environment, Holding)>,
    /// Whom a round of cleanup meets besides.
    pub bystanders: Option<Bystanders>,
    pub foreign: Foreign,
    /// Orders, logs and stand-ins for git.
    pub desk: TempDir,
}

impl Stage {
    /// Prepares a world in which `act` can be done.
    pub async fn prepare(act: Act, scene: Scene) -> Self {
        let world = World::with(allow_folders).await;
        let repo = TestRepo::with_origin(&world.folder().join("code"), "shop");
        write(&repo.path().join(".git"), "info/exclude", "ignored/\n");
        if scene == Scene::Submodule && !act.is_about_the_vault() {
            scenery::with_submodule(&world, &repo);
        }
        if matches!(scene, Scene::Existing | Scene::PullRequest) {
            repo.git(&["switch", "--quiet", "-c", "feature"]);
            repo.commit("feature.txt", "token: somebody's branch\n");
            repo.push("feature");
            repo.git(&["switch", "--quiet", "main"]);
        }
        if scene == Scene::PullRequest {
            repo.commit_on_origin("feature", "more.txt", "more\n");
        }
        let codebase = world.register(&repo).await;
        let neighbours = neighbours(&world, &repo, &codebase).await;
        let environment = Box::pin(scenery::inhabited(&world, &repo, &codebase, scene, act)).await;
        let bystanders = if act == Act::Round { Some(Box::pin(Bystanders::of(&world, &codebase)).await) } else { None };
        let foreign = Foreign::of(&repo, scene, neighbours);
        // The child must be alone with the store, as after a restart.
        world.engine.clone().close().await;
        let desk = tempfile::Builder::new().prefix("hedgerow-desk-").tempdir().expect("a temporary folder");
        Self { world, repo, codebase, scene, environment, bystanders, foreign, desk }
    }
}

/// Submodules come from a folder next door, which git has to be told to allow.
pub fn allow_folders(settings: &mut Settings) {
    settings.git_env.push(("GIT_ALLOW_PROTOCOL".into(), "file".into()));
}

/// Things of others beside the environment: another one with work in it, and a worktree that is not ours.
async fn neighbours(world: &World, repo: &TestRepo, codebase: &Codebase) -> Vec<PathBuf> {
    let neighbour = world.environment(codebase, Work::Issue(7)).await;
    commit(&neighbour.path, "theirs.txt", "a neighbour's commit\n");
    write(&neighbour.path, "untracked.txt", "a neighbour's file\n");
    let theirs = world.folder().join("theirs");
    repo.git(&["worktree", "add", "--quiet", "-b", "theirs", theirs.to_str().expect("a plain path")]);
    write(&theirs, "untracked.txt", "not ours\n");
    // A stash of the main checkout is shared by all worktrees.
    repo.write("README.md", "stashed\n");
    repo.git(&["stash", "--quiet"]);
    repo.write("main.txt", "in the main checkout\n");
    vec![neighbour.path, theirs]
}

/// What belongs to others, at one moment.
#[derive(Debug)]
pub struct Foreign {
    scene: Scene,
    folders: Vec<(PathBuf, Tree)>,
    main: (String, Tree),
    refs: Vec<String>,
    upstreams: Vec<String>,
    worktrees: Vec<PathBuf>,
}

impl Foreign {
    fn of(repo: &TestRepo, scene: Scene, folders: Vec<PathBuf>) -> Self {
        let folders = folders.into_iter().map(|path| (path.clone(), Tree::of(&path))).collect();
        let mut foreign = Self {
            scene,
            folders,
            main: (repo.fingerprint(), Tree::of(repo.path()).without_below(".git").without("")),
            refs: Vec::new(),
            upstreams: Vec::new(),
            worktrees: Vec::new(),
        };
        foreign.refs = foreign.refs_of_others(repo);
        foreign.upstreams = foreign.upstreams_of_others(repo);
        foreign.worktrees = foreign.folders.iter().map(|(path, _)| path.clone()).collect();
        foreign
    }

    /// Everything but the branch of the act, what it fetches, and our own scaffolding.
    fn refs_of_others(&self, repo: &TestRepo) -> Vec<String> {
        let ours = format!("refs/heads/{}", self.scene.branch());
        let refs = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let mut refs: Vec<String> = refs
            .lines()
            .filter(|line| !line.starts_with("refs/hedgerow/") && !line.starts_with("refs/remotes/"))
            .filter(|line| !line.starts_with(&format!("refs/heads/{} ", scenery::STALE)))
            .filter(|line| self.is_taken_branch(line) || !line.starts_with(&ours))
            .map(str::to_owned)
            .collect();
        refs.sort();
        refs
    }

    /// In that scene the old branch is somebody else's by now.
    fn is_taken_branch(&self, line: &str) -> bool {
        self.scene == Scene::Taken && line.starts_with("refs/heads/issue-42 ")
    }

    fn upstreams_of_others(&self, repo: &TestRepo) -> Vec<String> {
        let ours = format!("branch.{}", self.scene.branch());
        repo.upstreams().into_iter().filter(|line| !line.starts_with(&ours)).collect()
    }

    /// What changed since, one line each.
    pub fn changes(&self, repo: &TestRepo) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, before) in &self.folders {
            let now = if path.is_dir() { before.differences(&Tree::of(path)) } else { vec!["it is gone".to_owned()] };
            changes.extend(now.into_iter().map(|change| format!("in {}: {change}", path.display())));
        }
        let main = Tree::of(repo.path()).without_below(".git").without("");
        changes.extend(self.main.1.differences(&main).into_iter().map(|change| format!("main checkout: {change}")));
        let mut same = |what: &str, before: String, after: String| {
            if before != after {
                changes.push(format!("{what} of others: was {before}, is {after}"));
            }
        };
        same("main checkout", self.main.0.clone(), repo.fingerprint());
        same("refs", self.refs.join("\n"), self.refs_of_others(repo).join("\n"));
        same("upstreams", self.upstreams.join("\n"), self.upstreams_of_others(repo).join("\n"));
        let listed = repo.worktrees();
        changes.extend(
            self.worktrees
                .iter()
                .filter(|path| !listed.contains(path))
                .map(|path| format!("{} is not listed", path.display())),
        );
        changes
    }
}
