//! What Hedgerow remembers: SQLite by default, PostgreSQL by its URL, one set of queries for both.
//!
//! Nobody else names the database library. Each table has one file with its columns, one checked way from a row
//! to its type, and its queries. What must hold under any number of processes (one environment per work, branch
//! and path; never more than the limit) is held by unique indexes and by the lock of the codebase's row, not by care.

mod checkpoints;
mod chores;
mod claim;
mod codebases;
mod conversations;
mod deliveries;
mod environments;
mod error;
mod events;
mod find;
mod inbox;
mod leases;
mod memories;
mod open;
mod outbox;
mod people;
mod ports;
mod pull_requests;
mod refusals;
mod row;
mod run_events;
mod runs;
mod save;
mod saved;
mod sessions;
mod spending;
mod talk;
mod templates;
mod works;

use hedgerow_core::Timestamp;
use hedgerow_core::platform::PlatformKind;
use sqlx::AnyPool;

pub use chores::Chore;
pub use claim::Inserted;
pub use conversations::Conversation;
pub use error::{StoreError, Taken};
pub use events::{Event, NewEvent};
pub use find::Scope;
pub use inbox::{Delivered, Understood, Which};
pub use memories::LONGEST_MEMORY;
pub use open::Database;
pub use outbox::{NewReply, Outgoing, Sent};
pub use refusals::Refusing;
pub use run_events::{Happened, RunEvent};
pub use runs::{Conclusion, Run, RunEnd};
pub use save::Change;
pub use sessions::{Session, SessionNews};
pub use spending::{Spender, Spent, SpentBy};
pub use talk::Spoken;

/// The open database. Cheap to clone; all clones share a few connections.
#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
    is_postgres: bool,
}

/// Which messages and replies a process serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    pub platform: PlatformKind,
    /// Only this conversation (whose lane has the same name). `None`: all of the platform.
    pub only: Option<String>,
}

/// Who takes something, when, and until when it is theirs unless they renew it. Times are the store's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    pub holder: &'a str,
    pub now: Timestamp,
    pub until: Timestamp,
}

impl Store {
    /// Opens the database, makes it if it is missing (a SQLite file), and brings it up to date.
    pub async fn open(database: &Database) -> Result<Self, StoreError> {
        Ok(Self { pool: open::open(database).await?, is_postgres: matches!(database, Database::Postgres(_)) })
    }

    /// What time it is for everyone who shares this store: a server's own, so that machines whose clocks differ agree on
    /// when a lease ends. A file is shared by one machine only, whose clock the caller has read.
    pub async fn time(&self, own: Timestamp) -> Result<Timestamp, StoreError> {
        if !self.is_postgres {
            return Ok(own);
        }
        let row = sqlx::query("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now")
            .fetch_one(&self.pool)
            .await?;
        row::Row(&row).time("now")
    }

    /// Waits for what is under way, then closes every connection, those of clones too.
    pub async fn close(self) {
        self.pool.close().await;
    }
}
