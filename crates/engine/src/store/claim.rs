//! Claiming work, branch, path and ports for a new environment in one atomic step.

use std::path::PathBuf;

use hedgerow_core::Environment;
use sqlx::AnyConnection;

use super::environments::{self, bind_changing, bind_fixed, bind_remote, live, path_key};
use super::error::{StoreError, Taken};
use super::events::NewEvent;
use super::row::path_text;
use super::{Store, codebases, ports, works};

/// What became of a new environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inserted {
    /// The row as it was written, with its path and port.
    Written(Environment),
    /// This live environment has one of the works.
    WorkTaken(Environment),
    /// This live environment has the branch.
    BranchTaken(Environment),
    Full {
        live: u64,
    },
}

impl Store {
    /// Writes a new, live environment with its works and the event, unless a work or the branch is taken or
    /// `limit` live ones are there already (`None` and 0: no limit). It gets the first of `paths` that no live
    /// environment has (`Taken` when there is none) and the lowest free block of ports of its machine; the draft's
    /// own path and port do not matter. All under one lock: however many ask at once, each answer is true. `Stale`
    /// when the codebase is gone.
    pub async fn insert(
        &self,
        draft: &Environment,
        paths: &[PathBuf],
        limit: Option<u32>,
        event: &NewEvent,
    ) -> Result<Inserted, StoreError> {
        let mut tx = self.pool.begin().await?;
        codebases::lock(&mut tx, draft.codebase, false).await?;
        if let Some(refused) = refusal(&mut tx, draft, limit).await? {
            return Ok(refused);
        }
        ports::lock(&mut tx, &draft.node).await?;
        let environment = Environment {
            path: free_path(&mut tx, paths).await?,
            port: ports::choose(&mut tx, &draft.node, None).await?,
            ..draft.clone()
        };
        let query = bind_changing(sqlx::query(environments::INSERT), &environment)?;
        bind_remote(bind_fixed(query, &environment), &environment)?.execute(&mut *tx).await?;
        works::write_works(&mut tx, &environment).await?;
        works::write_keywords(&mut tx, &environment).await?;
        event.clone().of(environment.codebase, environment.id).write(&mut tx).await?;
        tx.commit().await?;
        Ok(Inserted::Written(environment))
    }
}

async fn refusal(
    connection: &mut AnyConnection,
    draft: &Environment,
    limit: Option<u32>,
) -> Result<Option<Inserted>, StoreError> {
    for named in &draft.works {
        if let Some(holder) = environments::live_by_work(connection, draft.codebase, &named.work).await? {
            return Ok(Some(Inserted::WorkTaken(holder)));
        }
    }
    if let Some(holder) = environments::live_by_branch(connection, draft.codebase, &draft.branch).await? {
        return Ok(Some(Inserted::BranchTaken(holder)));
    }
    let Some(limit) = limit.filter(|limit| *limit > 0) else { return Ok(None) };
    let live = environments::count_live(connection, draft.codebase).await?;
    Ok((live >= u64::from(limit)).then_some(Inserted::Full { live }))
}

async fn free_path(connection: &mut AnyConnection, paths: &[PathBuf]) -> Result<PathBuf, StoreError> {
    for path in paths {
        let holder = sqlx::query(concat!("SELECT id FROM environments WHERE path_key = $1 AND ", live!()))
            .bind(path_key(&path_text(path)?))
            .fetch_optional(&mut *connection)
            .await?;
        if holder.is_none() {
            return Ok(path.clone());
        }
    }
    Err(StoreError::Taken(Taken::Path))
}
