//! Calls, made over real sockets to a server that answers from a script.

mod calls;
mod limits;
pub(in crate::github) mod server;
mod tokens;

use hedgerow_core::Secret;
use hedgerow_testkit::outside::github::APP_KEY;

use super::*;
use crate::github::{Allow, Identity};

pub(in crate::github) fn config(url: &str, identity: Identity) -> Config {
    Config {
        api_url: url.to_owned(),
        web_url: url.to_owned(),
        identity,
        webhook_secrets: Vec::new(),
        bot_name: "hedgerow".to_owned(),
        allow: Allow::Writers,
        clones: true,
        look_every: None,
    }
}

pub(in crate::github) fn person() -> Identity {
    Identity::Token(Secret::new("ghp_of_a_person"))
}

pub(in crate::github) fn app() -> Identity {
    Identity::App { id: "4711".to_owned(), key: Secret::new(APP_KEY) }
}

/// One that does not wait for long.
pub(in crate::github) fn client(url: &str, identity: Identity) -> Client {
    let mut client = Client::new(Arc::new(config(url, identity))).expect("a good configuration");
    client.patience.pause = Duration::from_millis(1);
    client
}

pub(in crate::github) fn shop() -> RepositoryName {
    RepositoryName::new("acme", "shop").expect("a name")
}
