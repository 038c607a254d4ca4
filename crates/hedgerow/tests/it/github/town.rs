//! A town: a GitHub, a real server that it delivers to, an assistant that does what it is told, and a checkout or none.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::store::{Served, Store};
use hedgerow_testkit::brain;
use hedgerow_testkit::outside::github::{APP_KEY, GitHub, GitHubRepository, Role};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::load::server::Server;

/// Longest that anything may take to be answered.
const PATIENCE: Duration = Duration::from_mins(2);
const GLANCE: Duration = Duration::from_millis(50);
pub(crate) const SECRET: &str = "a-secret-between-the-two";
/// Under which account the server acts.
pub(crate) const BOT: &str = "hedgerow";

pub(crate) struct Town {
    pub(crate) github: GitHub,
    pub(crate) desk: Desk,
    pub(crate) server: Server,
    pub(crate) store: Store,
    variables: Vec<(String, String)>,
}

impl Town {
    /// With `acme/shop`, where alice and the bot may write, and nothing cloned yet.
    pub(crate) async fn opens() -> (Self, GitHubRepository) {
        Self::with(&[]).await
    }

    /// The same, the server with more variables.
    pub(crate) async fn with(variables: &[(&str, &str)]) -> (Self, GitHubRepository) {
        let github = GitHub::start().await;
        let more = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let token = [("GITHUB_TOKEN".to_owned(), github.token_of(BOT))];
        Self::with_shop(github, desk().await, token.into_iter().chain(more).collect()).await
    }

    /// The same, the server being an App.
    pub(crate) async fn as_app() -> (Self, GitHubRepository) {
        let (github, desk) = (GitHub::start().await, desk().await);
        let key = desk.folder().join("app.pem");
        fs::write(&key, APP_KEY).expect("it can be written");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
        let key = ("GITHUB_PRIVATE_KEY_FILE".to_owned(), key.to_string_lossy().into_owned());
        let variables = vec![("GITHUB_APP_ID".to_owned(), github.app_id()), key];
        github.delivers_by_app();
        Self::with_shop(github, desk, variables).await
    }

    async fn with_shop(github: GitHub, desk: Desk, variables: Vec<(String, String)>) -> (Self, GitHubRepository) {
        let shop = github.repository("acme/shop").with("alice", Role::Write).with(BOT, Role::Write);
        (Self::around(github, desk, variables).await, shop)
    }

    /// A GitHub that is there already, and a server with these variables.
    pub(crate) async fn around(github: GitHub, desk: Desk, variables: Vec<(String, String)>) -> Self {
        let own = [("GITHUB_WEBHOOK_SECRET", SECRET.to_owned()), ("GITHUB_API_URL", github.api_url())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables: Vec<(String, String)> = own.chain(variables).collect();
        let server = start(&desk, &variables).await;
        let store = desk.store().await;
        let town = Self { github, desk, server, store, variables };
        town.delivers_here();
        town
    }

    fn delivers_here(&self) {
        self.github.delivers_to(&format!("http://{}/webhooks/github", self.server.address()), SECRET);
    }

    /// Every message has had its last word and every reply is on GitHub.
    pub(crate) async fn is_quiet(&self) {
        let served = Served { platform: PlatformKind::Github, only: None };
        let quiet = async {
            loop {
                self.github.settled().await;
                let unfinished = self.store.unfinished(&served).await.expect("counted");
                let unsent = self.store.unsent(&served).await.expect("counted");
                if unfinished + unsent == 0 {
                    return;
                }
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::time::timeout(PATIENCE, quiet).await.expect("everything is answered in time");
        self.github.settled().await;
    }

    /// The server is killed, and another one starts at the same address.
    pub(crate) async fn is_killed_and_starts_again(&mut self) {
        self.is_killed().await;
        self.starts_again().await;
    }

    pub(crate) async fn is_killed(&mut self) {
        self.server.process().kill().await;
    }

    pub(crate) async fn starts_again(&mut self) {
        let address = self.server.address();
        self.server.process().restart(&self.desk, address).await;
    }

    /// The environments of a codebase, as scripts see them.
    pub(crate) fn environments(&self) -> Vec<Value> {
        self.json(&["env", "list", "--codebase", "shop"])
    }

    /// What a command beside the server says as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, args: &[&str]) -> T {
        let variables = self.variables.iter();
        let cli = variables.fold(self.desk.cli.clone(), |cli, (name, value)| cli.env(name, value.clone()));
        let said = cli.run(self.desk.folder(), &[args, &["--json"]].concat()).success();
        serde_json::from_str(&said.stdout()).expect("JSON")
    }

    /// Names and branches of what there is.
    pub(crate) fn works(&self) -> Vec<(Vec<String>, String)> {
        let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let works =
            |row: &Value| row["works"].as_array().map(|all| all.iter().map(words).collect()).unwrap_or_default();
        self.environments().iter().map(|row| (works(row), words(&row["branch"]))).collect()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !is_so(self) {
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("in time: {what}"));
    }

    /// Each run there was: the first line of what was asked.
    pub(crate) fn runs(&self) -> Vec<String> {
        brain::runs(self.desk.folder()).into_iter().map(|(_, prompt)| prompt).collect()
    }
}

async fn start(desk: &Desk, variables: &[(String, String)]) -> Server {
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Server::start_as(desk, &variables).await
}

/// A desk whose server has the fake assistant.
pub(crate) async fn desk() -> Desk {
    let desk = Desk::new().await;
    let program = brain::program(desk.folder());
    let command: Vec<String> = program.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    desk.configure("run.lease_seconds = 5");
    desk.configure(&format!("[assistants.{}]\ncommand = {}", program.name, json!(command)));
    // Where it takes its notes.
    desk.configure(&format!("[sandbox]\nwrite = {}", json!([desk.folder()])));
    desk
}
