//! What is asked of an assistant, and the facts that its programs find in their environment.

use hedgerow_core::message::Message;
use hedgerow_core::{Codebase, Environment};

use super::place::Ground;
use super::{Story, briefing};
use crate::templates::Template;

/// Under which name work is committed when nobody has one.
const NOBODY: (&str, &str) = ("Hedgerow", "hedgerow@localhost");

/// What is asked of an assistant.
pub(super) struct Prompt {
    text: String,
    context: Option<String>,
    /// The template it came from.
    pub(super) template: Option<String>,
    /// Whether it needs an environment of its own.
    pub(super) isolated: bool,
    /// Tools that it must be done without.
    pub(super) disallowed_tools: Vec<String>,
}

impl Prompt {
    pub(super) fn said(said: &Message) -> Self {
        Self {
            text: said.text.clone(),
            context: said.context.clone(),
            template: None,
            isolated: true,
            disallowed_tools: Vec::new(),
        }
    }

    pub(super) fn template(said: &Message, name: &str, template: &Template, args: &str) -> Self {
        Self {
            text: template.fill(args),
            context: said.context.clone(),
            template: Some(name.to_owned()),
            isolated: template.isolated,
            disallowed_tools: template.disallowed_tools.clone(),
        }
    }

    /// The whole text. A new session is told what the last one of the conversation concluded.
    pub(super) fn written(&self, last: Option<&str>) -> String {
        briefing::prompt(&self.text, last, self.context.as_deref())
    }
}

impl Story {
    /// Facts for the assistant's programs.
    pub(super) async fn variables(&self, ground: &Ground, codebase: Option<&Codebase>) -> Vec<(String, String)> {
        let mut variables = vec![
            ("HEDGEROW_CONVERSATION", format!("{}:{}", self.conversation.key.platform, self.conversation.key.id)),
            ("HEDGEROW_AUTHOR", self.by.to_string()),
        ];
        if let Some(environment) = ground.environment() {
            variables.extend(of_environment(environment));
        }
        let (name, email) = self.committer(codebase).await;
        variables.extend([("GIT_AUTHOR_NAME", name.clone()), ("GIT_AUTHOR_EMAIL", email.clone())]);
        variables.extend([("GIT_COMMITTER_NAME", name), ("GIT_COMMITTER_EMAIL", email)]);
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Under which name and address work is committed: as was settled, else as the user of the repository commits.
    /// Variables say so, so that nobody's configuration is changed for it.
    async fn committer(&self, codebase: Option<&Codebase>) -> (String, String) {
        let settings = self.desk.engine.settings();
        let own = match codebase {
            Some(codebase) if settings.git_name.is_none() || settings.git_email.is_none() => {
                self.desk.engine.git.open(codebase).await.ok()
            }
            _ => None,
        };
        let own = |key| own.as_ref().and_then(|repo| repo.config().value(key)).filter(|value| !value.trim().is_empty());
        let chosen = |settled: &Option<String>, key, otherwise: &str| {
            settled.as_deref().or_else(|| own(key)).unwrap_or(otherwise).to_owned()
        };
        (chosen(&settings.git_name, "user.name", NOBODY.0), chosen(&settings.git_email, "user.email", NOBODY.1))
    }
}

fn of_environment(environment: &Environment) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("HEDGEROW_ENVIRONMENT", environment.id.to_string()),
        ("HEDGEROW_WORK", environment.name().to_owned()),
        ("HEDGEROW_BRANCH", environment.branch.to_string()),
        ("HEDGEROW_PATH", environment.path.to_string_lossy().into_owned()),
    ];
    if let Some(base) = &environment.base {
        facts.push(("HEDGEROW_BASE", base.to_string()));
    }
    if let Some(port) = environment.port {
        facts.push(("HEDGEROW_PORT", port.to_string()));
    }
    facts
}
