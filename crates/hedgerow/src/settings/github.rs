//! GitHub's settings: where it is, as whom we act there, and who may ask.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::{Kind, Secret, UserError};
use hedgerow_engine::Forges;
use hedgerow_platforms::github::{Allow, Config, GitHub, Identity};

use super::keys::{self, Key};
use super::reader::Reader;
use super::{Given, checks, named};

/// Longer than any private key.
const LONGEST_KEY: u64 = 64 * 1024;

/// What is known of GitHub. All of it is checked, also where it is off.
#[derive(Debug, Clone)]
pub(crate) struct GitHubSettings {
    pub(crate) api_url: String,
    pub(crate) web_url: String,
    pub(crate) webhook_secrets: Vec<Secret>,
    /// Where the App's private key is.
    pub(crate) key_file: Option<PathBuf>,
    /// There is an App as well, which is used instead.
    pub(crate) has_unused_token: bool,
    /// The door itself; `None` when nobody said as whom we act.
    pub(crate) door: Option<Arc<GitHub>>,
}

impl GitHubSettings {
    pub(super) fn forges(&self) -> Forges {
        Forges::new(self.door.iter().map(|door| Arc::clone(door) as Arc<_>).collect())
    }
}

/// Somebody on the list of those who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    Id(u64),
    Any,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Any => f.write_str("*"),
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, bot_name: &str) -> Result<GitHubSettings, UserError> {
    let api_url = reader.text_or_default(&keys::GITHUB_API_URL, checks::github_url)?;
    let web_url = reader.text(&keys::GITHUB_URL, checks::github_url)?.unwrap_or_else(|| Config::web_url_of(&api_url));
    let webhook_secrets = reader.list(&keys::GITHUB_WEBHOOK_SECRETS, checks::token)?;
    let allow = allow(reader, &api_url)?;
    let clones = reader.flag(&keys::GITHUB_CLONE)?;
    let minutes = reader.number(&keys::GITHUB_LOOK_MINUTES)?;
    let look_every = (minutes > 0).then(|| Duration::from_mins(minutes.into()));
    let blamed = blamed(reader);
    let (identity, key_file) = identity(reader)?;
    let has_unused_token = key_file.is_some() && reader.given(&keys::GITHUB_TOKEN).is_some();
    let door = match identity {
        Some(identity) => {
            let (api_url, web_url, bot_name) = (api_url.clone(), web_url.clone(), bot_name.to_owned());
            let webhook_secrets = webhook_secrets.clone();
            let config = Config { api_url, web_url, identity, webhook_secrets, bot_name, allow, clones, look_every };
            let door = GitHub::new(config).map_err(|why| match &blamed {
                Some((key, given)) => unusable(key, given, &format!("cannot be used: {why}")),
                None => UserError::new(Kind::Failed, format!("GitHub cannot be spoken to: {why}")),
            })?;
            Some(Arc::new(door))
        }
        None => None,
    };
    Ok(GitHubSettings { api_url, web_url, webhook_secrets, key_file, has_unused_token, door })
}

/// Who may ask.
fn allow(reader: &mut Reader<'_>, api_url: &str) -> Result<Allow, UserError> {
    let hint = || format!("`curl {api_url}/users/alice` shows the number of `alice` as `id`");
    let accounts = reader.list(&keys::GITHUB_ALLOW, checks::account).map_err(|error| error.hint(hint()))?;
    let ids: BTreeSet<u64> = accounts
        .iter()
        .filter_map(|account| match account {
            Account::Id(id) => Some(*id),
            Account::Any => None,
        })
        .collect();
    match (accounts.as_slice(), ids.len()) {
        ([], _) => Ok(Allow::Writers),
        ([Account::Any], _) => Ok(Allow::Everyone),
        (accounts, _) if accounts.contains(&Account::Any) => {
            let message = "`github.allow` has `*` and numbers; `*` is everybody and stands alone";
            Err(UserError::new(Kind::Usage, message).hint("leave out the one or the others"))
        }
        _ => Ok(Allow::Only(ids)),
    }
}

/// What is to blame when we cannot act as who we are.
fn blamed(reader: &Reader<'_>) -> Option<(&'static Key, Given)> {
    [&keys::GITHUB_PRIVATE_KEY_FILE, &keys::GITHUB_TOKEN].into_iter().find_map(|key| Some((key, reader.given(key)?)))
}

/// As whom we act, and where the key for that is. An App wins over a token, and both halves of it are needed.
fn identity(reader: &mut Reader<'_>) -> Result<(Option<Identity>, Option<PathBuf>), UserError> {
    let token = reader.text(&keys::GITHUB_TOKEN, checks::llm_key)?;
    let (given_id, given_file) = (reader.given(&keys::GITHUB_APP_ID), reader.given(&keys::GITHUB_PRIVATE_KEY_FILE));
    let id = reader.text(&keys::GITHUB_APP_ID, checks::app_id)?;
    let file = reader.path(&keys::GITHUB_PRIVATE_KEY_FILE)?;
    match (id.zip(given_id), file.zip(given_file)) {
        (None, None) => Ok((token.map(Identity::Token), None)),
        (Some((_, given)), None) => Err(half(&keys::GITHUB_APP_ID, &given, &keys::GITHUB_PRIVATE_KEY_FILE)),
        (None, Some((_, given))) => Err(half(&keys::GITHUB_PRIVATE_KEY_FILE, &given, &keys::GITHUB_APP_ID)),
        (Some((id, _)), Some((file, given))) => {
            let key = private_key(&file, &given)?;
            let unused = reader.entries.iter_mut().find(|entry| entry.key == keys::GITHUB_TOKEN.name);
            if let Some(unused) = unused {
                unused.value = "*** (not used: there is an App)".into();
            }
            Ok((Some(Identity::App { id, key }), Some(file)))
        }
    }
}

/// One half of what an App is without the other.
fn half(has: &Key, given: &Given, lacks: &Key) -> UserError {
    let (name, place) = named(has, given);
    let variable = lacks.variable.unwrap_or_default();
    let message = format!("`{name}` is set, and `{}` is not ({place})", lacks.name);
    UserError::new(Kind::Usage, message)
        .hint(format!("a GitHub App needs both: set `{}` or {variable}, or take `{name}` away", lacks.name))
}

/// The text of the key, if nobody else may read it.
fn private_key(path: &Path, given: &Given) -> Result<Secret, UserError> {
    let key = &keys::GITHUB_PRIVATE_KEY_FILE;
    let shown = path.display();
    let cannot = |error: io::Error| unusable(key, given, &format!("cannot be read: {error}"));
    let facts = fs::metadata(path).map_err(cannot)?;
    if !facts.is_file() {
        return Err(unusable(key, given, "is not a file"));
    }
    if facts.mode() & 0o077 != 0 {
        let why = format!("may be used by others on this machine (mode {:04o})", facts.mode() & 0o7777);
        return Err(unusable(key, given, &why)
            .hint(format!("`chmod 600 {shown}`; if somebody may have read it, make a new key at GitHub")));
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LONGEST_KEY).read_to_string(&mut text)).map_err(cannot)?;
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        Ok(Secret::new(text))
    } else {
        Err(unusable(key, given, "is not a private key in PEM form")
            .hint("it is the `.pem` file that GitHub gives when a key is made in the App's settings"))
    }
}

/// A value that is well-formed, and does not serve.
fn unusable(key: &Key, given: &Given, why: &str) -> UserError {
    let (name, place) = named(key, given);
    let value = if key.is_secret { "it".to_owned() } else { given.value.to_string_lossy().into_owned() };
    UserError::new(Kind::Usage, format!("`{name}`: {value} {why} ({place})"))
}
