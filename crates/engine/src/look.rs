//! Looking at environments: by name, one by one, all together, and what they changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow_core::provider::{Condition, Presence};
use hedgerow_core::{Codebase, Environment, EnvironmentId, Kind, State, UserError};

use crate::engine::{Detail, Engine};
use crate::failure::Outcome;
use crate::merged;
use crate::store::Scope;
use crate::verdicts::Verdicts;
use crate::view::{Look, View};

/// So many names are read at a glance.
const MOST_NAMES: usize = 8;

impl Engine {
    /// A live environment by work, branch, path or id prefix. `NotFound` with the nearest names otherwise.
    pub async fn require_environment(&self, codebase: &Codebase, name: &str) -> Outcome<Environment> {
        // A path is compared as it really is.
        let real = if name.contains('/') { std::fs::canonicalize(name).ok() } else { None };
        if let Some(found) = self.store.find(codebase.id, name, Scope::Live).await? {
            return Ok(found);
        }
        if let Some(path) = real.as_deref().and_then(Path::to_str)
            && let Some(found) = self.store.find(codebase.id, path, Scope::Live).await?
        {
            return Ok(found);
        }
        let live = self.store.live(codebase.id).await?;
        let mut error = UserError::new(Kind::NotFound, format!("`{}` has no environment `{name}`", codebase.name));
        if self.removed(codebase, name).await?.is_some() {
            error = error.hint(format!("it is in the trash: `hedgerow env restore {name}`"));
        }
        let names: Vec<&str> = live.iter().map(Environment::name).take(MOST_NAMES).collect();
        error = match (names.as_slice(), live.len().saturating_sub(MOST_NAMES)) {
            ([], _) => error.hint("`hedgerow env create` makes one"),
            (names, 0) => error.hint(format!("there are: {}", names.join(", "))),
            (names, more) => error.hint(format!("there are: {} and {more} more", names.join(", "))),
        };
        Err(error.into())
    }

    /// The environment that a folder is in, if it is one.
    pub async fn environment_at(&self, codebase: &Codebase, folder: &Path) -> Outcome<Option<Environment>> {
        let Ok(folder) = std::fs::canonicalize(folder) else { return Ok(None) };
        let live = self.store.live(codebase.id).await?;
        Ok(live.into_iter().find(|environment| folder.starts_with(&environment.path)))
    }

    pub async fn view(&self, environment: &Environment, detail: Detail) -> Outcome<View> {
        let codebase = self.codebase_of(environment).await?;
        Ok(self.views(&codebase, std::slice::from_ref(environment), detail).await?.remove(0))
    }

    /// All live environments of a codebase, oldest first; of every codebase with `None`.
    pub async fn list(&self, codebase: Option<&Codebase>, detail: Detail) -> Outcome<Vec<View>> {
        let codebases = match codebase {
            Some(codebase) => vec![codebase.clone()],
            None => self.codebases().await?,
        };
        let mut views = Vec::new();
        for codebase in codebases {
            let environments = self.store.live(codebase.id).await?;
            views.extend(self.views(&codebase, &environments, detail).await?);
        }
        Ok(views)
    }

    async fn views(&self, codebase: &Codebase, environments: &[Environment], detail: Detail) -> Outcome<Vec<View>> {
        let conditions = match detail {
            Detail::Row => vec![None; environments.len()],
            Detail::Status | Detail::Full => {
                self.provider.inspect(codebase, environments).await.into_iter().map(Some).collect()
            }
        };
        let mut conversations: HashMap<EnvironmentId, Vec<String>> = HashMap::new();
        for (environment, key) in self.store.conversations_in(codebase.id).await? {
            conversations.entry(environment).or_default().push(format!("{}:{}", key.platform, key.id));
        }
        let mut verdicts = Verdicts::new(self, codebase);
        let mut views = Vec::with_capacity(environments.len());
        for (environment, condition) in environments.iter().zip(conditions) {
            let mut look = Look {
                condition,
                conversations: conversations.remove(&environment.id).unwrap_or_default(),
                ..Look::default()
            };
            if detail == Detail::Full
                && let Some(condition) = &look.condition
            {
                look.verdict = Some(verdicts.of(environment, condition).await);
                look.conflicts = self.conflicts(codebase, environment, condition).await;
                look.disk_bytes = disk_bytes(&environment.path).await;
            }
            views.push(View::new(environment, &codebase.name, look));
        }
        Ok(views)
    }

    async fn conflicts(&self, codebase: &Codebase, environment: &Environment, condition: &Condition) -> Option<bool> {
        let Condition::Present(facts) = condition else { return None };
        let repo = self.git.open(codebase).await.ok()?;
        let bases = self.provider.base_tips(codebase, environment).await.ok()?;
        merged::would_conflict(&repo, facts.head.as_ref()?, bases.last()?).await.ok()
    }

    /// What the environment changed since its base, committed or not, as a patch. Also of one that is in the trash, or
    /// of which only a saved state is left.
    pub async fn diff(&self, environment: &Environment, stat: bool) -> Outcome<Vec<u8>> {
        let codebase = self.codebase_of(environment).await?;
        if environment.state == State::Destroyed {
            return self.diff_of_saved(&codebase, environment, stat).await;
        }
        let path = match &environment.trash {
            Some(trash) if environment.state == State::Trashed => &trash.path,
            _ => {
                self.require_present(&codebase, environment)?;
                &environment.path
            }
        };
        let repo = self.git.open(&codebase).await?.worktree(path).await?;
        let from = match &environment.base_sha {
            Some(sha) => Some(sha.clone()),
            None => repo.commit("HEAD").await?,
        };
        let Some(from) = from else { return Ok(Vec::new()) };
        // The base may have been merged in meanwhile; what is ours is what came after the last common commit.
        let bases = self.provider.base_tips(&codebase, environment).await?;
        let head = repo.commit("HEAD").await?;
        let from = match (bases.last(), head) {
            (Some(base), Some(head)) => repo.merge_base(base, &head).await?.unwrap_or(from),
            _ => from,
        };
        Ok(repo.diff(&from, stat).await?)
    }

    /// The folder of an environment, provided that it is there and is it.
    pub async fn require_path(&self, environment: &Environment) -> Outcome<PathBuf> {
        let codebase = self.codebase_of(environment).await?;
        self.require_present(&codebase, environment)?;
        Ok(environment.path.clone())
    }

    fn require_present(&self, codebase: &Codebase, environment: &Environment) -> Outcome<()> {
        let why = match self.provider.presence(codebase, environment) {
            Presence::Here => return Ok(()),
            Presence::Missing => "its folder is gone".to_owned(),
            Presence::Unreachable(why) | Presence::Foreign(why) => why,
        };
        let name = environment.name();
        let error = UserError::new(Kind::NotFound, format!("`{name}` is not where it should be: {why}"));
        Err(error.hint(format!("`hedgerow env show {name}` says what is known about it")).into())
    }

    /// The same, also among those that were removed and can be brought back.
    pub async fn require_environment_ever(&self, codebase: &Codebase, name: &str) -> Outcome<Environment> {
        if self.store.find(codebase.id, name, Scope::Live).await?.is_none()
            && let Some(found) = self.removed(codebase, name).await?
        {
            return Ok(found);
        }
        self.require_environment(codebase, name).await
    }

    /// The newest of that name in the trash, else in the vault.
    async fn removed(&self, codebase: &Codebase, name: &str) -> Outcome<Option<Environment>> {
        match self.store.find(codebase.id, name, Scope::Trashed).await? {
            Some(found) => Ok(Some(found)),
            None => Ok(self.store.find(codebase.id, name, Scope::Saved).await?),
        }
    }

    /// The room a folder takes on disk.
    pub async fn size_of(&self, path: &Path) -> Option<u64> {
        disk_bytes(path).await
    }

    /// What is in the trash, newest first.
    pub async fn trash(&self, codebase: Option<&Codebase>) -> Outcome<Vec<Environment>> {
        let codebases = match codebase {
            Some(codebase) => vec![codebase.clone()],
            None => self.codebases().await?,
        };
        let mut trashed = Vec::new();
        for codebase in codebases {
            trashed.extend(self.store.trashed(codebase.id).await?);
        }
        Ok(trashed)
    }
}

/// The room a folder takes on disk, links counted once, nothing followed.
async fn disk_bytes(path: &Path) -> Option<u64> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || walk(&path, 0)).await.ok()?
}

/// Deeper trees are not worth the wait.
const MAX_DEPTH: usize = 64;

fn walk(path: &Path, depth: usize) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let own = metadata.blocks() * 512;
    if !metadata.is_dir() || depth > MAX_DEPTH {
        return Some(own);
    }
    let entries = std::fs::read_dir(path).ok()?;
    Some(own + entries.filter_map(|entry| walk(&entry.ok()?.path(), depth + 1)).sum::<u64>())
}
