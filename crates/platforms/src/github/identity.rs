//! As whom we call: with a personal token, or as a GitHub App.
//!
//! An App proves with its key who it is, and is given a token for one repository that lives an hour. Such a token is kept until
//! shortly before its end, in memory only. Of many calls that need a new one at the same time, one fetches it.

mod key;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hedgerow_core::{RepositoryName, Secret};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::Identity;
use super::client::Caller;
use key::Key;

/// A token is not used in its last minutes: what begins with it should end with it.
const BEFORE_ITS_END: Duration = Duration::from_mins(5);
/// GitHub gives none for longer.
const LONGEST_LIFE: Duration = Duration::from_hours(1);
/// Our clock may be ahead of GitHub's by this.
const BACKDATED: i64 = 60;
/// How long a proof holds from now; with what it is backdated by, ten minutes, which is the most that GitHub takes.
const PROOF_HOLDS: i64 = 9 * 60;

/// What goes into the header of a call, and on whose account.
#[derive(Debug, Clone)]
pub(in crate::github) struct Bearer {
    pub(in crate::github) token: Secret,
    pub(in crate::github) caller: Caller,
}

#[derive(Debug)]
pub(in crate::github) enum Keys {
    Token(Secret),
    App(Box<App>),
}

pub(in crate::github) struct App {
    id: String,
    key: Key,
    held: Mutex<HashMap<RepositoryName, Slot>>,
}

/// The token of one repository; locked while it is fetched.
pub(in crate::github) type Slot = Arc<tokio::sync::Mutex<Option<Held>>>;

/// A token of an installation, and until when it is good to begin something with.
#[derive(Debug)]
pub(in crate::github) struct Held {
    bearer: Bearer,
    until: Instant,
}

/// Who we are to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Me {
    /// Of an App: `<slug>[bot]`.
    pub(crate) login: String,
    /// `None` of an App: the number of its account is another than its own.
    pub(crate) id: Option<u64>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a str,
}

impl Keys {
    pub(in crate::github) fn new(identity: &Identity) -> Result<Self, String> {
        match identity {
            Identity::Token(token) if token.reveal().trim().is_empty() => {
                Err("the token of GitHub is empty".to_owned())
            }
            Identity::Token(token) => Ok(Self::Token(Secret::new(token.reveal().trim()))),
            Identity::App { id, key } => App::new(id, key).map(|app| Self::App(Box::new(app))),
        }
    }

    /// What can be said without asking for a token first.
    pub(in crate::github) fn lasting(&self) -> Result<Bearer, String> {
        match self {
            Self::Token(token) => Ok(Bearer { token: token.clone(), caller: Caller::Person }),
            Self::App(app) => app.proof(),
        }
    }
}

impl App {
    fn new(id: &str, key: &Secret) -> Result<Self, String> {
        let unreadable = "the private key of the GitHub App cannot be read: it must be the PEM file that GitHub gave for it, \
                          beginning with -----BEGIN RSA PRIVATE KEY-----";
        let key = Key::read(key.reveal()).ok_or_else(|| unreadable.to_owned())?;
        if id.trim().is_empty() {
            return Err("the id of the GitHub App is empty".to_owned());
        }
        Ok(Self { id: id.trim().to_owned(), key, held: Mutex::default() })
    }

    /// That we are the App.
    fn proof(&self) -> Result<Bearer, String> {
        let now = jiff::Timestamp::now().as_second();
        let claims = Claims { iat: now - BACKDATED, exp: now + PROOF_HOLDS, iss: &self.id };
        let token = self.key.sign(&claims).ok_or("the key of the GitHub App does not sign")?;
        Ok(Bearer { token: Secret::new(token), caller: Caller::App })
    }

    pub(in crate::github) fn slot(&self, repository: &RepositoryName) -> Slot {
        Arc::clone(self.held().entry(repository.clone()).or_default())
    }

    fn held(&self) -> MutexGuard<'_, HashMap<RepositoryName, Slot>> {
        self.held.lock().expect("nobody panics while holding it")
    }
}

impl Held {
    /// One that ends soon, or does not say when in a readable way, serves the call that fetched it and no other.
    pub(in crate::github) fn new(bearer: Bearer, expires_at: &str, now: jiff::Timestamp) -> Self {
        let end: Option<jiff::Timestamp> = expires_at.parse().ok();
        let life = end.map_or(0, |end| end.as_second().saturating_sub(now.as_second()));
        let life = Duration::from_secs(u64::try_from(life).unwrap_or(0)).min(LONGEST_LIFE);
        Self { bearer, until: Instant::now() + life.saturating_sub(BEFORE_ITS_END) }
    }

    pub(in crate::github) fn bearer(&self) -> &Bearer {
        &self.bearer
    }

    pub(in crate::github) fn is_good(&self) -> bool {
        Instant::now() < self.until
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Debug, Deserialize)]
pub(in crate::github) struct Installation {
    pub(in crate::github) id: u64,
}

/// A token as GitHub gives it.
#[derive(Deserialize)]
pub(in crate::github) struct Given {
    pub(in crate::github) token: String,
    #[serde(default)]
    pub(in crate::github) expires_at: String,
}
