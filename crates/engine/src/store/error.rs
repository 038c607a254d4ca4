//! Why the store could not do it. A variant only where someone branches; databases are read here and nowhere else.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteError;

/// Something only one of them can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    CodebaseName,
    CodebasePath,
    CodebaseFolder,
    Work,
    WorkName,
    Branch,
    Path,
    Port,
    /// Another message of the same lane is being answered.
    Lane,
    /// The message has its last word already.
    LastWord,
    Session,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CodebaseName => "another codebase has this name",
            Self::CodebasePath => "this repository is registered already",
            Self::CodebaseFolder => "another codebase has this folder",
            Self::Work => "another environment has this work",
            Self::WorkName => "another environment has a work of this name",
            Self::Branch => "another environment has this branch",
            Self::Path => "another environment has this path",
            Self::Port => "another environment has this port",
            Self::Lane => "another message of this conversation is being answered",
            Self::LastWord => "this message has been answered",
            Self::Session => "the conversation has a session already",
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Taken(Taken),
    /// What the caller read is no longer so; read again and decide anew.
    #[error("it was changed by someone else meanwhile; try again")]
    Stale,
    #[error("the codebase still has environments")]
    InUse,
    #[error("this id is short for {0} environments; give more of it")]
    Ambiguous(usize),
    /// The database cannot be opened, reached, read or written. A sentence for a person; never a password.
    #[error("{0}")]
    Unavailable(String),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl StoreError {
    pub(super) fn not_utf8(path: &Path) -> Self {
        Self::Other(anyhow::anyhow!("the path `{}` is not valid UTF-8; use another name", path.display()))
    }
}

/// The unique indexes, as PostgreSQL names them and as SQLite spells their columns.
const UNIQUE: &[(&str, &str, Taken)] = &[
    ("codebases_name", "codebases.name", Taken::CodebaseName),
    ("codebases_path", "codebases.path", Taken::CodebasePath),
    ("codebases_folder", "codebases.folder", Taken::CodebaseFolder),
    (
        "environment_works_work",
        "environment_works.codebase_id, environment_works.kind, environment_works.work_id",
        Taken::Work,
    ),
    ("environment_works_name", "environment_works.codebase_id, environment_works.name", Taken::WorkName),
    ("environments_branch", "environments.codebase_id, environments.branch", Taken::Branch),
    ("environments_path", "environments.path_key", Taken::Path),
    ("environments_port", "environments.node, environments.port", Taken::Port),
    ("inbox_lane", "inbox.platform, inbox.lane", Taken::Lane),
    ("outbox_last", "outbox.message_id", Taken::LastWord),
    ("sessions_active", "sessions.conversation_id", Taken::Session),
];

fn taken(error: &dyn DatabaseError) -> Option<Taken> {
    if !error.is_unique_violation() {
        return None;
    }
    let columns = error.message().strip_prefix("UNIQUE constraint failed: ");
    UNIQUE
        .iter()
        .find(|(index, spelled, _)| error.constraint() == Some(index) || columns == Some(spelled))
        .map(|(_, _, taken)| *taken)
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if let sqlx::Error::Database(database) = &error {
            if let Some(taken) = taken(database.as_ref()) {
                return Self::Taken(taken);
            }
            if let Some(reason) = unusable(database.as_ref()) {
                return Self::Unavailable(format!("the database cannot be used: {reason}"));
            }
        }
        match error {
            sqlx::Error::PoolTimedOut => {
                Self::Unavailable("the database did not answer within a minute; try again".to_owned())
            }
            sqlx::Error::Io(error) => Self::Unavailable(format!("the connection to the database broke: {error}")),
            other => Self::Other(anyhow::Error::new(other).context("the database refused a statement")),
        }
    }
}

/// Why the database itself (its file, its disk, its server) is of no use now; `None` when the statement was at fault.
fn unusable(error: &dyn DatabaseError) -> Option<&'static str> {
    let code = error.code().unwrap_or(Cow::Borrowed(""));
    if error.try_downcast_ref::<SqliteError>().is_none() {
        return match code.as_ref() {
            "53100" => Some("the server's disk is full"),
            "53300" => Some("the server has too many connections; raise its `max_connections`"),
            "25006" => Some("the server is read-only"),
            "57P01" | "57P02" | "57P03" => Some("the server is shutting down or starting; try again"),
            "28000" | "28P01" => Some("the server did not accept the user name or password"),
            "3D000" => Some("the server has no database of this name; create it"),
            "42501" => Some("the user lacks the rights to it"),
            _ => None,
        };
    }
    // The low byte of SQLite's extended codes is the plain one.
    match code.parse::<u32>().unwrap_or_default() & 0xff {
        5 | 6 => Some("another process has kept it locked for too long; try again"),
        8 => Some("it is read-only"),
        10 => Some("its disk reports errors"),
        11 => Some("the file is damaged; restore it from a backup"),
        13 => Some("the disk is full"),
        14 => Some("the file cannot be opened; check the rights of it and its folder"),
        23 => Some("access to the file is denied"),
        26 => Some("the file is not a database"),
        _ => None,
    }
}

/// The failure to open, with the place it was looked for in front.
pub(super) fn at_open(place: &str, error: &sqlx::Error) -> StoreError {
    let reason = match error {
        sqlx::Error::Database(database) => {
            unusable(database.as_ref()).map_or_else(|| database.message().to_owned(), str::to_owned)
        }
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Tls(error) => format!("TLS failed: {error}"),
        sqlx::Error::PoolTimedOut => "it did not answer in time".to_owned(),
        other => other.to_string(),
    };
    StoreError::Unavailable(format!("cannot open {place}: {reason}"))
}

/// A file or folder of the SQLite database that the system refused.
pub(super) fn no_file(doing: &str, path: PathBuf) -> impl FnOnce(std::io::Error) -> StoreError {
    let doing = doing.to_owned();
    move |error| StoreError::Unavailable(format!("cannot {doing} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use sqlx::Executor as _;

    use super::*;
    use crate::store::{Database, NewEvent, Store};
    use hedgerow_core::Timestamp;
    use hedgerow_core::environment::Actor;

    /// What a person reads when SQLite really fails, once `setting` has made it.
    async fn complaint(setting: &'static str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&Database::Sqlite(folder.path().join("hedgerow.db"))).await.expect("opened");
        let mut connection = store.pool.acquire().await.expect("connected");
        connection.execute(setting).await.expect("set");
        let event = NewEvent::new(Timestamp::from_millis(1), &Actor::automation(), "x").detail("x".repeat(100_000));
        match event.write(&mut connection).await {
            Err(StoreError::Unavailable(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_full_disk_and_a_read_only_one_are_told_plainly() {
        // Too few pages for the event stand in for too small a disk; SQLite reports both alike.
        assert_eq!(complaint("PRAGMA max_page_count = 1").await, "the database cannot be used: the disk is full");
        assert_eq!(complaint("PRAGMA query_only = 1").await, "the database cannot be used: it is read-only");
    }
}
