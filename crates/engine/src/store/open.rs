//! Opening: connect, look at the ledger, migrate if needed. A command opens the store each time it runs, so
//! the usual case is one small read; only a missing migration takes the lock.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row};

use super::error::{StoreError, at_open, no_file};

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// Longer than any crowd of commands needs to get its turn.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a server may take to answer the first knock.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 30000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";

/// Where the store keeps its rows.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// One file, made if missing.
    Sqlite(PathBuf),
    /// A URL, password and all.
    Postgres(String),
}

impl fmt::Display for Database {
    /// For people and logs: everything but the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "the database `{}`", path.display()),
            Self::Postgres(url) => match PgConnectOptions::from_str(url) {
                Ok(server) => write!(
                    f,
                    "the PostgreSQL database `{}` at {}:{} as `{}`",
                    server.get_database().unwrap_or_else(|| server.get_username()),
                    server.get_host(),
                    server.get_port(),
                    server.get_username()
                ),
                Err(_) => f.write_str("the PostgreSQL database"),
            },
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub(super) async fn open(database: &Database) -> Result<AnyPool, StoreError> {
    install_default_drivers();
    match database {
        Database::Sqlite(path) => open_sqlite(database, path).await,
        Database::Postgres(url) => open_postgres(database, url).await,
    }
}

async fn open_sqlite(database: &Database, path: &Path) -> Result<AnyPool, StoreError> {
    let path = std::path::absolute(path).map_err(no_file("find", path.to_owned()))?;
    make_file(&path)?;
    let place = database.to_string();
    let options = AnyConnectOptions::from_str(&sqlite_url(&path)?).map_err(|error| at_open(&place, &error))?;
    let options = options.disable_statement_logging();
    let mut connection = knock(&place, &options).await?;
    connection.execute(SQLITE_SETTINGS).await.map_err(|error| at_open(&place, &error))?;
    if ledger(&mut connection).await? == Ledger::Behind {
        let lock = lock_file(&path).await?;
        // The change to WAL is not patient by itself; under the lock nobody is in its way.
        connection.execute("PRAGMA journal_mode = WAL").await.map_err(|error| at_open(&place, &error))?;
        migrate(&place, &mut connection).await?;
        drop(lock);
    }
    // Writers wait for each other anyway; a few connections let readers pass them.
    let pool = pool_options(4)
        .after_connect(|connection, _| Box::pin(async move { connection.execute(SQLITE_SETTINGS).await.map(|_| ()) }))
        .connect_lazy_with(options);
    // SQLite tidies up when the last connection goes; the first of the pool comes before the knock's goes.
    drop(pool.acquire().await?);
    let _ = connection.close().await;
    Ok(pool)
}

async fn open_postgres(database: &Database, url: &str) -> Result<AnyPool, StoreError> {
    let place = database.to_string();
    let understood = PgConnectOptions::from_str(url).is_ok();
    let options = AnyConnectOptions::from_str(url).ok().filter(|_| understood).ok_or_else(|| {
        StoreError::Unavailable(
            "the address of the database is not one of PostgreSQL (`postgres://user:password@host/database`)"
                .to_owned(),
        )
    })?;
    let options = options.disable_statement_logging();
    let mut connection = knock(&place, &options).await?;
    if ledger(&mut connection).await? == Ledger::Behind {
        migrate(&place, &mut connection).await?;
    }
    let _ = connection.close().await;
    Ok(pool_options(8).connect_lazy_with(options))
}

/// The first connection, outside the pool: a pool takes a failure for a server that is starting and goes on
/// trying; a person wants to know now.
async fn knock(place: &str, options: &AnyConnectOptions) -> Result<AnyConnection, StoreError> {
    tokio::time::timeout(CONNECT_PATIENCE, AnyConnection::connect_with(options))
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
        .map_err(|error| at_open(place, &error))
}

fn pool_options(connections: u32) -> AnyPoolOptions {
    AnyPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE).acquire_slow_threshold(PATIENCE)
}

#[derive(PartialEq, Eq)]
enum Ledger {
    UpToDate,
    Behind,
}

/// Compares the ledger with the migrations this program knows.
async fn ledger(connection: &mut AnyConnection) -> Result<Ledger, StoreError> {
    let rows = connection.fetch_all("SELECT version, checksum FROM _sqlx_migrations").await;
    // No ledger, or none that can be read: migrating finds out which, and says so.
    let Ok(rows) = rows else { return Ok(Ledger::Behind) };
    let applied: BTreeMap<i64, Vec<u8>> = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1).unwrap_or_default())))
        .collect::<Result<_, sqlx::Error>>()?;
    if let Some(unknown) = applied.keys().find(|version| !MIGRATIONS.version_exists(**version)) {
        return Err(newer(*unknown));
    }
    let same = MIGRATIONS.iter().all(|known| applied.get(&known.version).is_some_and(|sum| *sum == *known.checksum));
    Ok(if same { Ledger::UpToDate } else { Ledger::Behind })
}

async fn migrate(place: &str, connection: &mut AnyConnection) -> Result<(), StoreError> {
    MIGRATIONS.run_direct(None, connection, false).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => newer(version),
        MigrateError::VersionMismatch(version) => StoreError::Unavailable(format!(
            "{place} was made by another build of Hedgerow (step {version} differs); use that one"
        )),
        MigrateError::Execute(error) => at_open(place, &error),
        MigrateError::ExecuteMigration(error, version) => {
            at_open(&format!("{place} (step {version} of bringing it up to date failed)"), &error)
        }
        other => StoreError::Unavailable(format!("cannot bring {place} up to date: {other}")),
    })
}

fn newer(version: i64) -> StoreError {
    StoreError::Unavailable(format!(
        "the database was written by a newer version of Hedgerow (step {version} is unknown here); upgrade Hedgerow"
    ))
}

/// Makes the folder and the file, readable by their owner only. What exists keeps its rights.
fn make_file(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(no_file("make the folder", parent.to_owned()))?;
    }
    private_file(path).map_err(no_file("make the database", path.to_owned()))?;
    Ok(())
}

fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Waits for the lock beside the database, which the first migrations of many processes need; freed on drop.
async fn lock_file(path: &Path) -> Result<File, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let locked = path.clone();
    tokio::task::spawn_blocking(move || private_file(&locked).and_then(|file| file.lock().map(|()| file)))
        .await
        .map_err(anyhow::Error::new)?
        .map_err(no_file("lock", path))
}

/// Everything but the plainest bytes escaped: a path may hold `?`, `#`, `%` and spaces.
fn sqlite_url(path: &Path) -> Result<String, StoreError> {
    let text = path.to_str().ok_or_else(|| StoreError::not_utf8(path))?;
    let mut url = String::from("sqlite://");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'~') {
            url.push(char::from(byte));
        } else {
            use fmt::Write as _;
            write!(url, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    url.push_str("?mode=rw");
    Ok(url)
}
