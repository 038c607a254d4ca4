//! What must be known of a GitHub before it is spoken to.

use std::collections::BTreeSet;
use std::time::Duration;

use hedgerow_core::Secret;

/// Checked by whoever read it.
#[derive(Debug, Clone)]
pub struct Config {
    /// `https://api.github.com`, `https://ghe.example/api/v3`; without a slash at its end.
    pub api_url: String,
    /// Where its pages and repositories are: `https://github.com`; without a slash at its end.
    pub web_url: String,
    pub identity: Identity,
    /// Secrets that deliveries may be signed with; two while one replaces the other. Without one, none is taken.
    pub webhook_secrets: Vec<Secret>,
    /// What the bot is called: `@hedgerow` means us.
    pub bot_name: String,
    pub allow: Allow,
    /// Whether a repository is cloned when somebody first asks about it.
    pub clones: bool,
    /// How often to look for what was missed, besides at the start; `None`: never.
    pub look_every: Option<Duration>,
}

/// As whom we act.
#[derive(Debug, Clone)]
pub enum Identity {
    /// A personal (or any other lasting) token.
    Token(Secret),
    /// A GitHub App and its private key, as PEM.
    App { id: String, key: Secret },
}

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allow {
    /// Who may write to the repository. Bots may not.
    Writers,
    /// Of those only these, by their ids; and of bots these.
    Only(BTreeSet<u64>),
    /// Everybody who can comment.
    Everyone,
}

impl Config {
    /// Where the pages of a GitHub are, from where its API is.
    pub fn web_url_of(api_url: &str) -> String {
        match api_url.strip_suffix("/api/v3") {
            Some(web) => web.to_owned(),
            None => api_url.replacen("://api.", "://", 1),
        }
    }

    /// Where GraphQL is answered.
    pub fn graphql_url(&self) -> String {
        match self.api_url.strip_suffix("/v3") {
            Some(api) => format!("{api}/graphql"),
            None => format!("{}/graphql", self.api_url),
        }
    }
}
