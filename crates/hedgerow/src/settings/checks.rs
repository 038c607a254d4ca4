//! What each kind of value must be. Everything here is pure but for the folders it is given.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{BranchName, Kind, UserError};
use hedgerow_engine::gateway::money::Money;
use hedgerow_engine::settings::SandboxMode;
use hedgerow_engine::store::Database;

use super::github::Account;
use super::keys::Key;
use super::{Given, Origin, Surroundings, refuse};
use hedgerow_core::Secret;

/// The longest name Hedgerow generates: a task with the longest slug.
const LONGEST_GENERATED: &str = "task-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

pub(super) fn number(key: &Key, given: &Given, (least, greatest): (u32, u32)) -> Result<u32, UserError> {
    let number = given.value.to_str().and_then(|text| text.parse::<u32>().ok());
    number
        .filter(|number| (least..=greatest).contains(number))
        .ok_or_else(|| refuse(key, given, &format!("must be a whole number from {least} to {greatest}")))
}

pub(super) fn text<T>(key: &Key, given: &Given, check: fn(&str) -> Result<T, String>) -> Result<T, UserError> {
    let text = given.value.to_str().ok_or_else(|| refuse(key, given, "must be UTF-8"))?;
    check(text).map_err(|must| refuse(key, given, &must))
}

pub(super) fn user_home(around: &Surroundings) -> Result<&Path, UserError> {
    around.user_home.as_deref().ok_or_else(|| {
        UserError::new(Kind::Usage, "cannot find your home folder")
            .hint("set HEDGEROW_HOME to the folder where Hedgerow keeps its things")
    })
}

/// An absolute path: `~` is the user's home; a relative one begins at the file's folder or the current one.
pub(super) fn path(around: &Surroundings, key: &Key, given: &Given) -> Result<PathBuf, UserError> {
    if given.value.is_empty() {
        return Err(refuse(key, given, "must name a folder or file"));
    }
    let path = Path::new(&given.value);
    if let Ok(below) = path.strip_prefix("~") {
        return Ok(user_home(around)?.join(below));
    }
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let from = match &given.origin {
        Origin::File { path, .. } => path.parent().unwrap_or(path),
        _ => around.require_here()?,
    };
    Ok(from.join(path))
}

/// A program: a bare name is looked for in `PATH` when it is started, anything else is a path.
pub(super) fn program(around: &Surroundings, key: &Key, given: &Given) -> Result<PathBuf, UserError> {
    let is_path = given.value.is_empty() || given.value == "~" || given.value.as_encoded_bytes().contains(&b'/');
    if is_path { path(around, key, given) } else { Ok(PathBuf::from(&given.value)) }
}

pub(super) fn database(around: &Surroundings, key: &Key, given: &Given) -> Result<Database, UserError> {
    let must = "must begin with `sqlite:`, `postgres://` or `postgresql://`";
    let url = given.value.to_str().ok_or_else(|| refuse(key, given, "must be UTF-8"))?;
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Database::Postgres(url.to_owned()));
    }
    let path = url.strip_prefix("sqlite:").ok_or_else(|| refuse(key, given, must))?;
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path == ":memory:" || path.contains('?') {
        return Err(refuse(key, given, "must name a file after `sqlite:`, without options"));
    }
    let file = Given { value: path.into(), origin: given.origin.clone() };
    Ok(Database::Sqlite(self::path(around, key, &file)?))
}

/// The database without anything secret in it.
pub(super) fn database_for_people(database: &Database) -> String {
    match database {
        Database::Sqlite(path) => format!("sqlite:{}", path.display()),
        Database::Postgres(url) => without_secrets(url),
    }
}

/// Hides the password and every option that is not known to be harmless. In doubt, hides everything.
fn without_secrets(url: &str) -> String {
    const HARMLESS: [&str; 6] = ["sslmode", "host", "port", "dbname", "user", "application_name"];
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
    let (main, query) = rest.split_once('?').map_or((rest, None), |(main, query)| (main, Some(query)));
    // A `?` or `/` inside a password puts the `@` beyond where it belongs.
    let authority = main.split('/').next().unwrap_or(main);
    if rest.contains('@') && !authority.contains('@') {
        return format!("{scheme}://***");
    }
    let shown = match main.rsplit_once('@') {
        Some((login, place)) => match login.split_once(':') {
            Some((user, _)) => format!("{user}:***@{place}"),
            None => format!("{login}@{place}"),
        },
        None => main.to_owned(),
    };
    let options = query.map(|query| {
        let option = |option: &str| match option.split_once('=') {
            Some((name, _)) if !HARMLESS.contains(&name) => format!("{name}=***"),
            _ => option.to_owned(),
        };
        format!("?{}", query.split('&').map(option).collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{shown}{}", options.unwrap_or_default())
}

pub(super) fn branch_prefix(text: &str) -> Result<String, String> {
    match BranchName::parse(&format!("{text}{LONGEST_GENERATED}")) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("must make valid branch names ({})", error.why)),
    }
}

pub(super) fn pull_ref(text: &str) -> Result<String, String> {
    let is_ref = text.starts_with("refs/") && BranchName::parse(&text.replace("{number}", "1")).is_ok();
    if text.contains("{number}") && is_ref {
        Ok(text.to_owned())
    } else {
        Err("must be a ref such as `refs/pull/{number}/head`, with `{number}` in it".to_owned())
    }
}

pub(super) fn branch(text: &str) -> Result<BranchName, String> {
    BranchName::parse(text).map_err(|error| format!("must be a branch name ({})", error.why))
}

/// A remote's name follows the rules of a ref's component.
pub(super) fn remote(text: &str) -> Result<String, String> {
    match BranchName::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("must be the name of a remote ({})", error.why)),
    }
}

pub(super) fn node(text: &str) -> Result<String, String> {
    let is_good = !text.is_empty() && text.len() <= 255 && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    if is_good { Ok(text.to_owned()) } else { Err("must be 1 to 255 characters without spaces".to_owned()) }
}

/// Port 0 is any that is free.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an address and a port, such as `127.0.0.1:4747` or `[::1]:4747`".to_owned())
}

pub(super) fn token(text: &str) -> Result<Secret, String> {
    let is_good = (16..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_good { Ok(Secret::new(text)) } else { Err("must be 16 to 1024 visible ASCII characters".to_owned()) }
}

/// What people write behind an `@`.
pub(super) fn bot_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_good = (1..=64).contains(&text.len()) && text.chars().all(is_plain);
    if is_good {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 64 letters, digits, `-`, `_` and `.`, without the `@`".to_owned())
    }
}

/// A person on a platform.
pub(super) fn admin(text: &str) -> Result<Actor, String> {
    let must = || {
        let known: Vec<_> = PlatformKind::ALL.iter().map(ToString::to_string).collect();
        format!("must name people as `platform:person`, with one of the platforms {}", known.join(", "))
    };
    let actor: Actor = text.parse().map_err(|_| must())?;
    let is_person = !actor.person.is_empty() && !actor.person.chars().any(|c| c.is_control() || c.is_whitespace());
    let is_platform = actor.platform.parse::<PlatformKind>().is_ok();
    if is_person && is_platform { Ok(actor) } else { Err(must()) }
}

/// git takes a few characters out of names by itself; a name that has them would come out as another.
pub(super) fn git_name(text: &str) -> Result<String, String> {
    if is_identity(text) {
        Ok(text.to_owned())
    } else {
        Err("must be a name in one line, without `<` and `>`".to_owned())
    }
}

pub(super) fn git_email(text: &str) -> Result<String, String> {
    if is_identity(text) && text.contains('@') && !text.contains(char::is_whitespace) {
        Ok(text.to_owned())
    } else {
        Err("must be an address such as `bot@example.com`".to_owned())
    }
}

fn is_identity(text: &str) -> bool {
    (1..=200).contains(&text.len())
        && text.trim() == text
        && !text.contains(|c: char| c.is_control() || "<>".contains(c))
}

pub(super) fn sandbox_mode(text: &str) -> Result<SandboxMode, String> {
    text.parse().map_err(|_| {
        let known: Vec<_> = SandboxMode::ALL.iter().map(|mode| format!("`{mode}`")).collect();
        format!("must be one of {}", known.join(", "))
    })
}

pub(super) fn variable_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_good = (1..=200).contains(&text.len()) && text.chars().all(is_plain);
    if is_good { Ok(text.to_owned()) } else { Err("must hold names of variables, such as `HTTPS_PROXY`".to_owned()) }
}

/// The key of an account of a maker of models.
pub(super) fn llm_key(text: &str) -> Result<Secret, String> {
    let is_good = (8..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_good { Ok(Secret::new(text)) } else { Err("must be 8 to 1024 visible ASCII characters".to_owned()) }
}

/// Where an API is. A login in it would end up in logs.
pub(super) fn llm_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_good = |rest: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/[]%".contains(&byte);
        !rest.is_empty() && !rest.starts_with(['/', ':']) && rest.bytes().all(is_plain)
    };
    match rest.filter(|rest| is_good(rest)) {
        Some(_) => Ok(text.trim_end_matches('/').to_owned()),
        None => Err("must be a URL such as `https://llm.example/api`, without a login and a query".to_owned()),
    }
}

/// Where a GitHub is. What is sent there is secret, so it goes over TLS, but for one on this very machine.
pub(super) fn github_url(text: &str) -> Result<String, String> {
    let url =
        llm_url(text).map_err(|_| "must be a URL such as `https://ghe.example/api/v3`, without a login and a query")?;
    match url.strip_prefix("http://") {
        Some(rest) if !is_loopback(rest) => Err("must begin with `https://`: tokens are sent there".to_owned()),
        _ => Ok(url),
    }
}

/// Whether what comes after the scheme is on this very machine.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or(rest);
    match authority.parse::<SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => {
            let host = authority.rsplit_once(':').map_or(authority, |(host, port)| {
                if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { authority }
            });
            let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// The id of a GitHub App, or its client id.
pub(super) fn app_id(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_good = (1..=64).contains(&text.len()) && text.chars().all(is_plain);
    if is_good { Ok(text.to_owned()) } else { Err("must be the id of a GitHub App, such as `123456`".to_owned()) }
}

/// An account by its number, or `*` for every account.
pub(super) fn account(text: &str) -> Result<Account, String> {
    match text.parse() {
        Ok(id) if id > 0 => Ok(Account::Id(id)),
        _ if text == "*" => Ok(Account::Any),
        _ => {
            Err("must hold numbers of accounts, which never change hands as names do, or `*` for everybody".to_owned())
        }
    }
}

pub(super) fn money(text: &str) -> Result<Money, String> {
    text.parse().map_err(ToOwned::to_owned)
}
