//! What is done, and to what: the two words that every kill begins with.

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Codebase, Hints, Work};
use hedgerow_engine::Engine;
use hedgerow_engine::engine::{Request, SweptOutcome};
use hedgerow_engine::failure::{Failure, Outcome};
use hedgerow_engine::store::Scope;

use crate::world::{alice, branch};

/// One thing a process is asked to do before it dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    Create,
    Remove,
    RemoveForced,
    Restore,
    /// From the trash into the vault.
    Purge,
    /// Out of the vault.
    RestoreSaved,
    Checkpoint,
    Undo,
    /// A round of cleanup: one goes to the trash, one from there to the vault, one out of it for good.
    Round,
    /// Nothing but the start itself, which settles what was left.
    Settle,
}

/// What an act finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// A new branch from the base; in it, work of every kind.
    Plain,
    /// A branch that a person had made, with a commit of theirs.
    Existing,
    /// The branch of a pull request, behind its head on the remote: it is moved forward.
    PullRequest,
    /// All of it is on the remote: the branch goes with the environment, and comes back with it.
    Pushed,
    /// A rebase that stopped at a conflict.
    Rebase,
    /// HEAD on no branch, with a commit that only it has.
    Detached,
    /// A submodule with a commit of its own.
    Submodule,
    /// Somebody made the branch anew, elsewhere, while the environment was in the trash.
    Taken,
    /// Somebody else's worktree, adopted.
    Adopted,
}

/// The names, for people who repeat one kill.
const ACTS: [(Act, &str); 10] = [
    (Act::Create, "create"),
    (Act::Remove, "remove"),
    (Act::RemoveForced, "remove-forced"),
    (Act::Restore, "restore"),
    (Act::Purge, "purge"),
    (Act::RestoreSaved, "restore-saved"),
    (Act::Checkpoint, "checkpoint"),
    (Act::Undo, "undo"),
    (Act::Round, "round"),
    (Act::Settle, "settle"),
];
const SCENES: [(Scene, &str); 9] = [
    (Scene::Plain, "plain"),
    (Scene::Existing, "existing"),
    (Scene::PullRequest, "pull-request"),
    (Scene::Pushed, "pushed"),
    (Scene::Rebase, "rebase"),
    (Scene::Detached, "detached"),
    (Scene::Submodule, "submodule"),
    (Scene::Taken, "taken"),
    (Scene::Adopted, "adopted"),
];

/// Every act with every scene that makes sense for it.
pub const PAIRS: [(Act, Scene); 33] = [
    (Act::Create, Scene::Plain),
    (Act::Create, Scene::Existing),
    (Act::Create, Scene::PullRequest),
    (Act::Create, Scene::Submodule),
    (Act::Remove, Scene::Pushed),
    (Act::RemoveForced, Scene::Plain),
    (Act::RemoveForced, Scene::Existing),
    (Act::RemoveForced, Scene::Pushed),
    (Act::RemoveForced, Scene::Rebase),
    (Act::RemoveForced, Scene::Submodule),
    (Act::RemoveForced, Scene::Adopted),
    (Act::Restore, Scene::Plain),
    (Act::Restore, Scene::Existing),
    (Act::Restore, Scene::Pushed),
    (Act::Restore, Scene::Rebase),
    (Act::Restore, Scene::Submodule),
    (Act::Restore, Scene::Taken),
    (Act::Restore, Scene::Adopted),
    (Act::Purge, Scene::Plain),
    (Act::Purge, Scene::Rebase),
    (Act::Purge, Scene::Submodule),
    (Act::Purge, Scene::Detached),
    (Act::RestoreSaved, Scene::Plain),
    (Act::RestoreSaved, Scene::Rebase),
    (Act::RestoreSaved, Scene::Submodule),
    (Act::RestoreSaved, Scene::Detached),
    (Act::Checkpoint, Scene::Plain),
    (Act::Checkpoint, Scene::Rebase),
    (Act::Undo, Scene::Plain),
    (Act::Undo, Scene::Rebase),
    (Act::Undo, Scene::Submodule),
    (Act::Undo, Scene::Detached),
    (Act::Round, Scene::Plain),
];

impl Act {
    pub fn name(self) -> &'static str {
        name(&ACTS, self)
    }

    pub fn parse(text: &str) -> Option<Self> {
        parse(&ACTS, text)
    }

    /// Whether what it is about has to come back token by token: the files themselves are deleted on the way.
    pub const fn is_about_the_vault(self) -> bool {
        matches!(self, Self::Purge | Self::RestoreSaved | Self::Round)
    }

    /// Does it, as a caller of the engine would.
    pub async fn perform(self, engine: &Engine, scene: Scene) -> Outcome<()> {
        let Some(codebase) = engine.codebases().await?.into_iter().next() else { return Ok(()) };
        let find = async |scope| {
            let found = engine.store().find(codebase.id, scene.environment(), scope).await?;
            found.ok_or_else(|| Failure::from(anyhow::anyhow!("there is no `{}`", scene.environment())))
        };
        let by = alice();
        match self {
            Self::Create => engine.resolve(&scene.request(&codebase), &NoProgress).await.map(drop),
            Self::Remove | Self::RemoveForced => {
                engine.remove(&find(Scope::Live).await?, self == Self::RemoveForced, &by).await.map(drop)
            }
            Self::Restore | Self::RestoreSaved => engine.restore(&codebase, scene.environment(), &by).await.map(drop),
            Self::Purge => engine.purge(&find(Scope::Trashed).await?, &by).await.map(drop),
            Self::Checkpoint => engine.checkpoint(&find(Scope::Live).await?, None, &by).await.map(drop),
            Self::Undo => engine.undo(&find(Scope::Live).await?, None, &by).await.map(drop),
            Self::Round => {
                let round = engine.tick(false, &by).await?;
                let failed = round.lines().find(|line| line.outcome == SweptOutcome::Failed);
                failed.map_or(Ok(()), |line| Err(anyhow::anyhow!("{}: {}", line.name, line.because).into()))
            }
            Self::Settle => Ok(()),
        }
    }
}

impl Scene {
    pub fn name(self) -> &'static str {
        name(&SCENES, self)
    }

    pub fn parse(text: &str) -> Option<Self> {
        parse(&SCENES, text)
    }

    /// The branch that the act is about.
    pub const fn branch(self) -> &'static str {
        match self {
            Self::Existing | Self::PullRequest => "feature",
            Self::Adopted => "mine",
            _ => "issue-42",
        }
    }

    /// What the environment is found by.
    pub const fn environment(self) -> &'static str {
        self.branch()
    }

    /// The request that makes its environment.
    pub fn request(self, codebase: &Codebase) -> Request {
        let work = match self {
            Self::Existing => Work::Task("feature".to_owned()),
            Self::PullRequest => Work::PullRequest(9),
            _ => Work::Issue(42),
        };
        let hints = Hints {
            work: Some(work.clone()),
            pr_branch: (self == Self::PullRequest).then(|| branch("feature")),
            ..Hints::default()
        };
        let named = (self == Self::Existing).then(|| branch("feature"));
        Request {
            codebase: codebase.clone(),
            work,
            hints,
            branch: named,
            conversation: None,
            by: alice(),
            reopened: false,
        }
    }
}

fn name<T: Copy + PartialEq>(names: &[(T, &'static str)], wanted: T) -> &'static str {
    names.iter().find(|(it, _)| *it == wanted).map_or("?", |(_, name)| name)
}

fn parse<T: Copy>(names: &[(T, &'static str)], text: &str) -> Option<T> {
    names.iter().find(|(_, name)| *name == text).map(|(it, _)| *it)
}
