//! Codebases: registering, cloning, trusting and forgetting repositories.

use std::path::{Path, PathBuf};

use hedgerow_core::branch::{FolderName, short_hash};
use hedgerow_core::environment::Actor;
use hedgerow_core::provider::{Note, Progress};
use hedgerow_core::{Codebase, CodebaseId, Environment, Kind, UserError};

use crate::engine::{Engine, Registered, Removed, Source};
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::Repo;
use crate::git::hazards::Accepted;
use crate::isolation::make_private;
use crate::remote_url::{Identity, check_clone_url, last_part, without_credentials};
use crate::store::{StoreError, Taken};

impl Engine {
    /// Registers a repository, cloning it first when it is elsewhere.
    pub async fn add_codebase(
        &self,
        source: &Source,
        name: Option<&str>,
        by: &Actor,
        progress: &dyn Progress,
    ) -> Outcome<Registered> {
        if let Some(name) = name {
            check_name(name)?;
        }
        match source {
            Source::Path(path) => self.register(path, name, by).await,
            Source::Url(url) => self.clone_codebase(url, name, by, progress).await,
        }
    }

    /// The codebase that a folder belongs to; registered now if it is new. The folder may be inside an environment.
    pub async fn codebase_at(&self, folder: &Path, by: &Actor) -> Outcome<Registered> {
        self.register(folder, None, by).await
    }

    /// The codebase that a folder belongs to, if it is registered.
    pub async fn known_codebase_at(&self, folder: &Path) -> Outcome<Option<Codebase>> {
        let main = self.git.discover(folder).await?;
        let main = std::fs::canonicalize(&main).map_err(Trouble::folder(&main))?;
        Ok(self.store.codebase_at(&main).await?)
    }

    async fn register(&self, folder: &Path, name: Option<&str>, by: &Actor) -> Outcome<Registered> {
        let shown = folder.display();
        let folder = std::fs::canonicalize(folder).map_err(|error| {
            let missing = UserError::new(Kind::NotFound, format!("there is no folder {shown}: {error}"));
            missing.hint("give a folder inside a git checkout, or a URL to clone")
        })?;
        // From inside a linked worktree the main checkout is found first: that is the codebase.
        let main = self.git.discover(&folder).await?;
        let main = std::fs::canonicalize(&main).map_err(Trouble::folder(&main))?;
        if let Some(codebase) = self.store.codebase_at(&main).await? {
            return match name.filter(|name| *name != codebase.name) {
                None => Ok(Registered { codebase, is_new: false, notes: Vec::new() }),
                Some(_) => Err(UserError::new(
                    Kind::Failed,
                    format!("{} is registered already, as `{}`", main.display(), codebase.name),
                )
                .hint(format!("leave out `--name`, or forget it first: `hedgerow codebase remove {}`", codebase.name))
                .into()),
            };
        }
        self.require_allowed(&main)?;
        let repo = self.git.open_untrusted(&main).await?;
        let codebase = match self.remember(&repo, &main, name, by).await? {
            Some(codebase) => codebase,
            None => self.write_down(&repo, &main, name, by).await?,
        };
        let runnable = repo.config().runnable();
        let notes = if runnable.is_empty() { Vec::new() } else { vec![Note::NotRun { what: runnable }] };
        Ok(Registered { codebase, is_new: true, notes })
    }

    /// A codebase that was forgotten comes back with its trash, unless another name is wanted or its own is taken.
    async fn remember(&self, repo: &Repo, main: &Path, name: Option<&str>, by: &Actor) -> Outcome<Option<Codebase>> {
        if name.is_some() {
            return Ok(None);
        }
        let now = self.clock.now();
        let mut codebase = match self.store.revive_codebase(main, by, now).await {
            Ok(Some(codebase)) => codebase,
            Ok(None) | Err(StoreError::Taken(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Nobody has looked at its configuration since.
        codebase.fingerprint = Accepted::seen(repo.config()).to_text();
        self.store.set_fingerprint(codebase.id, &codebase.fingerprint, by, now).await?;
        Ok(Some(codebase))
    }

    /// Writes the row, under the first free name and folder.
    async fn write_down(&self, repo: &Repo, main: &Path, name: Option<&str>, by: &Actor) -> Outcome<Codebase> {
        let remote = repo.remote(self.settings.remote.as_deref()).and_then(|remote| repo.remote_url(remote));
        let identity = remote.and_then(Identity::of);
        let own_name =
            main.file_name().map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into_owned());
        let own_name = own_name.strip_suffix(".git").unwrap_or(&own_name).to_owned();
        let folder = identity.as_ref().map_or_else(|| own_name.clone(), Identity::folder);
        let folder = FolderName::of(&folder);
        let hashed_folder = folder.with_hash(&main.to_string_lossy());
        let short_name = identity.map_or(own_name, |identity| identity.repository);
        let short_name = FolderName::of(&short_name).to_string();
        let hashed_name = format!("{short_name}-{}", short_hash(&main.to_string_lossy(), 6));
        let names = name.map_or_else(|| vec![short_name, hashed_name], |name| vec![name.to_owned()]);
        let mut codebase = Codebase {
            id: CodebaseId::new(),
            name: names[0].clone(),
            path: main.to_owned(),
            folder: folder.to_string(),
            remote: remote.map(without_credentials),
            remote_name: None,
            base_branch: self.settings.base_branch.clone(),
            fingerprint: Accepted::seen(repo.config()).to_text(),
            created_at: self.clock.now(),
        };
        for _ in 0..4 {
            match self.store.add_codebase(&codebase, by).await {
                Ok(()) => return Ok(codebase),
                Err(StoreError::Taken(Taken::CodebaseName))
                    if codebase.name != *names.last().unwrap_or(&codebase.name) =>
                {
                    codebase.name.clone_from(names.last().unwrap_or(&names[0]));
                }
                Err(StoreError::Taken(Taken::CodebaseFolder)) if codebase.folder != hashed_folder.as_str() => {
                    codebase.folder = hashed_folder.to_string();
                }
                Err(StoreError::Taken(Taken::CodebasePath)) => {
                    // A neighbour registered the same repository just now.
                    if let Some(known) = self.store.codebase_at(main).await? {
                        return Ok(known);
                    }
                }
                Err(StoreError::Taken(Taken::CodebaseName)) => {
                    let error = UserError::new(Kind::Failed, format!("another codebase is called `{}`", codebase.name));
                    return Err(error.hint("choose another name with `--name`").into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(anyhow::anyhow!("no free name for the codebase at {}", main.display()).into())
    }

    /// Clones beside the other codebases of the home. The folder appears whole or not at all.
    async fn clone_codebase(
        &self,
        url: &str,
        name: Option<&str>,
        by: &Actor,
        progress: &dyn Progress,
    ) -> Outcome<Registered> {
        check_clone_url(url)?;
        let home = self.settings.home.join("codebases");
        make_private(&home).map_err(Trouble::folder(&home))?;
        let place = self.place_of_clone(url);
        if place.exists() {
            let error = UserError::new(Kind::Failed, format!("{} exists already", place.display()));
            let hint = format!("register it as it is: `hedgerow codebase add {}`", place.display());
            return Err(error.hint(hint).into());
        }
        let staged = tempfile::Builder::new().prefix(".cloning-").tempdir_in(&home).map_err(Trouble::folder(&home))?;
        let into = staged.path().join("repository");
        progress.step(&format!("Cloning {}", without_credentials(url)));
        self.git.clone_repository(url, &into, progress).await?;
        std::fs::rename(&into, &place).map_err(Trouble::folder(&place))?;
        match self.register(&place, name, by).await {
            Ok(registered) => Ok(registered),
            Err(error) => {
                // Made a moment ago by this very call, and nobody was told of it.
                let _ = std::fs::remove_dir_all(&place);
                Err(error)
            }
        }
    }

    /// Where a clone of this URL goes.
    pub(crate) fn place_of_clone(&self, url: &str) -> PathBuf {
        let folder = Identity::of(url).map_or_else(|| last_part(url).to_owned(), |identity| identity.folder());
        self.settings.home.join("codebases").join(FolderName::of(&folder).as_str())
    }

    fn require_allowed(&self, path: &Path) -> Outcome<()> {
        let Some(root) = &self.settings.allowed_root else { return Ok(()) };
        let real: PathBuf = std::fs::canonicalize(root).map_err(Trouble::folder(root))?;
        if path.starts_with(&real) || path.starts_with(self.settings.home.join("codebases")) {
            return Ok(());
        }
        let error = UserError::new(Kind::Protected, format!("{} is outside {}", path.display(), real.display()));
        Err(error.hint("ALLOWED_ROOT_DIRECTORY limits where codebases may be").into())
    }

    /// `NotFound`, naming those there are, when there is none.
    pub async fn require_codebase(&self, name: &str) -> Outcome<Codebase> {
        if let Some(codebase) = self.store.codebase_named(name).await? {
            return Ok(codebase);
        }
        let names: Vec<String> = self.codebases().await?.into_iter().map(|codebase| codebase.name).collect();
        let error = UserError::new(Kind::NotFound, format!("there is no codebase `{name}`"));
        Err(match names.as_slice() {
            [] => error.hint("add one with `hedgerow codebase add <path or url>`"),
            names => error.hint(format!("there are: {}", names.join(", "))),
        }
        .into())
    }

    pub async fn codebases(&self) -> Outcome<Vec<Codebase>> {
        Ok(self.store.codebases().await?)
    }

    /// Forgets a codebase: its clean environments go to the trash, any with work refuse. The repository stays.
    pub async fn remove_codebase(&self, codebase: &Codebase, by: &Actor) -> Outcome<Vec<Removed>> {
        let environments = self.store.live(codebase.id).await?;
        if std::fs::symlink_metadata(&codebase.path).is_err() {
            return self.forget_vanished(codebase, &environments, by).await;
        }
        let conditions = self.provider.inspect(codebase, &environments).await;
        for (environment, condition) in environments.iter().zip(&conditions) {
            let usage = self.usage(environment).await?;
            if let Err(refusal) = hedgerow_core::cleanup::may_remove(condition, &usage, false) {
                let why =
                    format!("`{}` cannot be forgotten: `{}`: {}", codebase.name, environment.name(), refusal.phrase());
                let error = UserError::new(Kind::Protected, why);
                return Err(error.hint(format!("`hedgerow env remove {}` says what to do", environment.name())).into());
            }
        }
        let mut removed = Vec::new();
        for environment in &environments {
            removed.push(self.remove(environment, false, by).await?);
        }
        self.store.forget_codebase(codebase.id, by, self.clock.now()).await?;
        Ok(removed)
    }

    /// The repository itself is not there any more: nothing can be asked or moved, so every folder stays where it is and
    /// only our record goes. Should the repository come back, so does the codebase when it is added again.
    async fn forget_vanished(
        &self,
        codebase: &Codebase,
        environments: &[Environment],
        by: &Actor,
    ) -> Outcome<Vec<Removed>> {
        let mut let_go = Vec::new();
        for environment in environments {
            let_go.push(self.let_go(environment, by).await?);
        }
        self.store.forget_codebase(codebase.id, by, self.clock.now()).await?;
        Ok(let_go)
    }

    /// Accepts the repository's present configuration; answers with what in it can run programs.
    pub async fn trust_codebase(&self, codebase: &Codebase, by: &Actor) -> Outcome<Vec<String>> {
        let repo = self.git.open_untrusted(&codebase.path).await?;
        let accepted = Accepted::trusted(repo.config());
        self.store.set_fingerprint(codebase.id, &accepted.to_text(), by, self.clock.now()).await?;
        Ok(repo.config().runnable())
    }
}

/// Names appear in paths, tables and commands.
fn check_name(name: &str) -> Outcome<()> {
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let good_part = |part: &str| !part.is_empty() && !part.starts_with(['-', '.']);
    if name.len() <= 100 && name.chars().all(plain) && name.split('/').all(good_part) {
        return Ok(());
    }
    let error = UserError::new(Kind::Usage, format!("`{}` cannot be a codebase's name", name.escape_debug()));
    Err(error.hint("use letters, digits, `-`, `_`, `.` and `/`, at most 100").into())
}
