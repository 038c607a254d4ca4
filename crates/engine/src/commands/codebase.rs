//! `/clone`, `/repos`, `/repo`, `/repo-remove`: the codebase of a conversation.

use std::path::{Path, PathBuf};

use hedgerow_core::platform::PlatformKind;
use hedgerow_core::provider::Progress;
use hedgerow_core::run::SessionEnd;
use hedgerow_core::{Codebase, Kind, RepositoryName, UserError};

use super::Asked;
use crate::engine::{Engine, Source};
use crate::failure::Outcome;
use crate::remote_url::{check_clone_url_from_chat, without_credentials};
use crate::replies;

impl Engine {
    pub(super) async fn clone_for(
        &self,
        asked: &Asked<'_>,
        url: &str,
        name: Option<&str>,
        progress: &dyn Progress,
    ) -> Outcome<String> {
        if let Some(repository) = asked.repository {
            self.require_admin(asked.by, &format!("clone something else where `{repository}` is talked about")).await?;
        }
        let source = if asked.conversation.key.platform == PlatformKind::Terminal {
            named_in_terminal(url)
        } else {
            check_clone_url_from_chat(url)?;
            Source::Url(url.to_owned())
        };
        if let Some(known) = self.cloned_before(&source).await? {
            self.use_codebase(asked, &known).await?;
            return Ok(replies::cloned_before(&known.name));
        }
        if let Some(name) = name
            && self.store.codebase_named(name).await?.is_some()
        {
            let error = UserError::new(Kind::Failed, format!("another codebase is called `{name}`"));
            return Err(error.hint("choose another name: `/clone <url> <name>`").into());
        }
        let registered = self.add_codebase(&source, name, asked.by, progress).await?;
        self.use_codebase(asked, &registered.codebase).await?;
        Ok(replies::cloned(&registered))
    }

    /// What was cloned from there into our home. A checkout that a person made elsewhere is another codebase.
    async fn cloned_before(&self, source: &Source) -> Outcome<Option<Codebase>> {
        let Source::Url(url) = source else { return Ok(None) };
        let (url, home) = (without_credentials(url), self.settings.home.join("codebases"));
        let is_it = |codebase: &Codebase| codebase.remote.as_ref() == Some(&url) && codebase.path.starts_with(&home);
        Ok(self.codebases().await?.into_iter().find(is_it))
    }

    /// The codebases that there are for a conversation: one of a forge knows only those of its repository.
    pub(super) async fn choosable(&self, asked: &Asked<'_>) -> Outcome<Vec<Codebase>> {
        match asked.repository {
            Some(repository) => self.codebases_of(asked.conversation.key.platform, repository).await,
            None => self.codebases().await,
        }
    }

    pub(super) async fn tell_codebases(&self, asked: &Asked<'_>) -> Outcome<String> {
        let mut codebases = Vec::new();
        for codebase in self.choosable(asked).await? {
            let live = self.store.count_live(codebase.id).await?;
            codebases.push((codebase.name, live));
        }
        if let Some(repository) = asked.repository {
            return Ok(replies::clones(repository, &codebases, asked.codebase.map(|codebase| codebase.name.as_str())));
        }
        Ok(replies::codebases(&codebases, asked.codebase.map(|codebase| codebase.name.as_str())))
    }

    pub(super) async fn choose_codebase(&self, asked: &Asked<'_>, name: &str) -> Outcome<String> {
        let codebase = match asked.repository {
            Some(repository) => self.require_choosable(asked, repository, name).await?,
            None => self.require_codebase(name).await?,
        };
        self.use_codebase(asked, &codebase).await?;
        Ok(replies::chosen(&codebase.name))
    }

    /// One of the repository's own; for an admin any. What others are called is nobody's business there.
    async fn require_choosable(&self, asked: &Asked<'_>, repository: &RepositoryName, name: &str) -> Outcome<Codebase> {
        let own = self.choosable(asked).await?;
        if let Some(found) = own.iter().find(|codebase| codebase.name == name) {
            return Ok(found.clone());
        }
        if self.is_admin(asked.by).await?
            && let Some(found) = self.store.codebase_named(name).await?
        {
            return Ok(found);
        }
        let error = UserError::new(Kind::NotFound, format!("`{repository}` has no clone `{name}` here"));
        let names: Vec<&str> = own.iter().map(|codebase| codebase.name.as_str()).collect();
        Err(match names.as_slice() {
            [] => error,
            names => error.hint(format!("there are: {}", names.join(", "))),
        }
        .hint("this conversation is about that repository; another one needs an admin")
        .into())
    }

    pub(super) async fn forget_for(&self, asked: &Asked<'_>, name: &str) -> Outcome<String> {
        self.require_admin(asked.by, &format!("forget the codebase `{name}`")).await?;
        let codebase = self.require_codebase(name).await?;
        let removed = self.remove_codebase(&codebase, asked.by).await?;
        if asked.codebase.is_some_and(|own| own.id == codebase.id) {
            self.store.end_session(asked.conversation.id, SessionEnd::Removed, self.clock.now()).await?;
        }
        Ok(replies::forgotten(&codebase.name, &removed))
    }

    /// The conversation is about this codebase from now on. What it talked about before stays with that.
    async fn use_codebase(&self, asked: &Asked<'_>, codebase: &Codebase) -> Outcome<()> {
        let id = asked.conversation.id;
        self.store.set_codebase(id, codebase.id).await?;
        if asked.codebase.is_none_or(|before| before.id != codebase.id) {
            self.store.end_session(id, SessionEnd::Moved, self.clock.now()).await?;
        }
        Ok(())
    }
}

/// What is on this disk is a path, whatever it looks like; otherwise what looks like a URL is one.
fn named_in_terminal(text: &str) -> Source {
    if Source::is_url(text) && !Path::new(text).exists() {
        Source::Url(text.to_owned())
    } else {
        Source::Path(PathBuf::from(text))
    }
}
