//! `/setcwd`, `/getcwd`, `/assistant`, `/reset`, `/stop`, `/undo`: how a conversation works.

use std::path::{Component, Path, PathBuf};

use hedgerow_core::run::SessionEnd;
use hedgerow_core::{Environment, Kind, UserError};

use super::Asked;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::replies;

impl Engine {
    pub(super) async fn choose_subfolder(&self, asked: &Asked<'_>, subfolder: &str) -> Outcome<String> {
        self.require_chosen(asked).await?;
        let inside = inside(subfolder)?;
        if let (Some(environment), Some(inside)) = (self.current(asked).await?, &inside) {
            require_folder(&environment, inside)?;
        }
        self.store.set_subfolder(asked.conversation.id, inside.as_deref()).await?;
        Ok(replies::starts_in(inside.as_deref()))
    }

    pub(super) async fn tell_subfolder(&self, asked: &Asked<'_>) -> Outcome<String> {
        self.require_chosen(asked).await?;
        Ok(replies::starts_in(asked.conversation.subfolder.as_deref()))
    }

    pub(super) async fn tell_assistants(&self, asked: &Asked<'_>) -> Outcome<String> {
        let of_codebase = match asked.codebase {
            Some(codebase) => self.repository_config(codebase).await?.assistant,
            None => None,
        };
        let usual = self.settings.runs.assistant.clone();
        let present = asked.conversation.assistant.clone().or(of_codebase).or(usual);
        Ok(replies::assistants(asked.assistants, present.as_deref()))
    }

    pub(super) async fn choose_assistant(&self, asked: &Asked<'_>, name: &str) -> Outcome<String> {
        let Some(name) = asked.assistants.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            let error = UserError::new(Kind::NotFound, format!("there is no assistant `{name}`"));
            return Err(match asked.assistants {
                [] => error.hint("whoever runs me names them in hedgerow.toml"),
                names => error.hint(format!("there are: {}", names.join(", "))),
            }
            .into());
        };
        let id = asked.conversation.id;
        self.store.set_assistant(id, name).await?;
        let session = self.store.active_session(id).await?;
        let is_over = session.is_some_and(|session| session.assistant != *name);
        if is_over {
            self.store.end_session(id, SessionEnd::Assistant, self.clock.now()).await?;
        }
        Ok(replies::assistant_chosen(name, is_over))
    }

    pub(super) async fn reset(&self, asked: &Asked<'_>) -> Outcome<String> {
        let had = self.store.end_session(asked.conversation.id, SessionEnd::Reset, self.clock.now()).await?;
        let environment = self.current(asked).await?;
        Ok(replies::reset(had, environment.as_ref().map(Environment::name)))
    }

    /// Asks the run of this conversation, or that in its environment, to end. Whoever runs it hears of it at once.
    pub(super) async fn stop(&self, asked: &Asked<'_>) -> Outcome<String> {
        let own = self.store.running_of(asked.conversation.id).await?;
        let run = match (own, asked.conversation.environment) {
            (None, Some(environment)) => self.store.running_in(environment).await?,
            (own, _) => own,
        };
        let Some(run) = run else { return Ok(replies::nothing_to_stop()) };
        if !self.store.ask_to_stop(run.id, asked.by, self.clock.now()).await? {
            return Ok(replies::nothing_to_stop());
        }
        self.stop_asked.notify_waiters();
        Ok(replies::stopping(&run))
    }

    pub(super) async fn undo_for(&self, asked: &Asked<'_>) -> Outcome<String> {
        let environment = self.require_current(asked).await?;
        let undone = self.undo(&environment, None, asked.by).await;
        let undone = self.or_busy(&environment, undone).await?;
        Ok(replies::undone_in_chat(&environment, &undone))
    }
}

/// The way to a subfolder, plainly written; `None` is the top.
fn inside(text: &str) -> Outcome<Option<PathBuf>> {
    if text == "/" {
        return Ok(None);
    }
    let mut way = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::Normal(name) => way.push(name),
            Component::CurDir => {}
            _ => return Err(outside(text)),
        }
    }
    Ok(Some(way).filter(|way| !way.as_os_str().is_empty()))
}

fn outside(text: &str) -> crate::Failure {
    let error = UserError::new(Kind::Usage, format!("`{}` leads out of the environment", text.escape_debug()));
    error.hint("give a folder inside the repository: `/setcwd services/api`; `/setcwd .` is the top").into()
}

/// The folder must be there, and be inside even when it is a symbolic link.
fn require_folder(environment: &Environment, inside: &Path) -> Outcome<()> {
    let shown = inside.display();
    let name = environment.name();
    let real = std::fs::canonicalize(environment.path.join(inside)).ok().filter(|real| real.is_dir());
    let Some(real) = real else {
        let error = UserError::new(Kind::NotFound, format!("`{name}` has no folder `{shown}`"));
        return Err(error.hint("give a folder that is there: `/setcwd services/api`; `/setcwd .` is the top").into());
    };
    let root = std::fs::canonicalize(&environment.path).unwrap_or_else(|_| environment.path.clone());
    if real.starts_with(&root) { Ok(()) } else { Err(outside(&inside.to_string_lossy())) }
}
