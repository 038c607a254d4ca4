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
mod environments;
mod error;
mod events;
mod find;
mod leases;
mod open;
mod ports;
mod row;
mod save;
mod saved;
mod works;

use sqlx::AnyPool;

pub use chores::Chore;
pub use claim::Inserted;
pub use conversations::Conversation;
pub use error::{StoreError, Taken};
pub use events::{Event, NewEvent};
pub use find::Scope;
pub use open::Database;
pub use save::Change;

/// The open database. Cheap to clone; all clones share a few connections.
#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
}

impl Store {
    /// Opens the database, makes it if it is missing (a SQLite file), and brings it up to date.
    pub async fn open(database: &Database) -> Result<Self, StoreError> {
        Ok(Self { pool: open::open(database).await? })
    }

    /// Waits for what is under way, then closes every connection, those of clones too.
    pub async fn close(self) {
        self.pool.close().await;
    }
}
