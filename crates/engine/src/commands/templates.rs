//! `/commands`, `/command-set`, `/load-commands`: the prompt templates of a codebase.

use std::path::Path;

use hedgerow_core::{Kind, UserError};

use super::Asked;
use crate::engine::Engine;
use crate::failure::{Failure, Outcome};
use crate::replies;

/// More than anybody keeps apart; a folder with more is probably not one of templates.
const MOST_LOADED: usize = 100;

impl Engine {
    pub(super) async fn tell_templates(&self, asked: &Asked<'_>) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let templates = self.template_names(codebase).await?;
        Ok(replies::templates(&codebase.name, &templates))
    }

    pub(super) async fn set_template(&self, asked: &Asked<'_>, name: &str, path: &str) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let template = self.require_template(codebase, name, Path::new(path)).await?;
        self.store.set_template(codebase.id, name, Path::new(path), asked.by, self.clock.now()).await?;
        Ok(replies::template_set(name, &template))
    }

    /// Sets every template of a folder. One that cannot be used is told of, and does not keep the others away.
    pub(super) async fn load_templates(&self, asked: &Asked<'_>, folder: &str) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let folder = folder.trim_end_matches('/');
        let files = self.templates_below(codebase, Path::new(folder)).await?;
        if files.is_empty() {
            let what = format!("the base branch of `{}` has no templates in `{folder}`", codebase.name);
            return Err(UserError::new(Kind::NotFound, what).hint("a template is a markdown file, `plan.md`").into());
        }
        if files.len() > MOST_LOADED {
            let what = format!("`{folder}` has more than {MOST_LOADED} markdown files");
            return Err(UserError::new(Kind::Usage, what).hint("name a folder that holds only templates").into());
        }
        let (mut loaded, mut passed) = (Vec::new(), Vec::new());
        for (name, path) in files {
            let Some(name) = name else {
                passed.push(format!("`{}` cannot be called like a command", path.display()));
                continue;
            };
            match self.template_at(codebase, &path).await {
                Ok(_) => {
                    self.store.set_template(codebase.id, &name, &path, asked.by, self.clock.now()).await?;
                    loaded.push(name);
                }
                Err(Failure::User(error)) => passed.push(error.message),
                Err(internal) => return Err(internal),
            }
        }
        Ok(replies::templates_loaded(&loaded, &passed))
    }
}
