//! What is known from the remote of an environment: its pull request as last seen, and what we pushed there.
//!
//! Written on their own, and by no other save of the row: a pull request is looked at while somebody works in the
//! environment.

use hedgerow_core::environment::PullRequestInfo;
use hedgerow_core::{CommitSha, Environment};

use super::Store;
use super::environments::bind_pull_request;
use super::error::StoreError;
use super::events::NewEvent;
use super::row::stored;

const SEE: &str = "UPDATE environments SET (pr_number, pr_url, pr_title, pr_state, pr_created_at, pr_head, pr_checks, \
                   pr_seen_at) = ($1, $2, $3, $4, $5, $6, $7, $8) WHERE id = $9 AND COALESCE(pr_number, 0) = $10";

impl Store {
    /// Writes down how a pull request was seen, with the event if it is news. `false`, and nothing is written, when the
    /// environment has got another pull request than the caller knows of, or is gone: theirs is the newer one.
    pub async fn see_pull_request(
        &self,
        environment: &Environment,
        pr: &PullRequestInfo,
        event: Option<&NewEvent>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        let known = stored(environment.pr.as_ref().map_or(0, |known| known.number))?;
        let query = bind_pull_request(sqlx::query(SEE), Some(pr))?.bind(environment.id.to_string()).bind(known);
        if query.execute(&mut *tx).await?.rows_affected() != 1 {
            return Ok(false);
        }
        if let Some(event) = event {
            event.clone().of(environment.codebase, environment.id).write(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Writes down which commit we pushed last, if all of the branch is ours.
    pub async fn set_pushed(
        &self,
        environment: &Environment,
        sha: Option<&CommitSha>,
        event: &NewEvent,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        let query = sqlx::query("UPDATE environments SET pushed_sha = $2 WHERE id = $1");
        let written =
            query.bind(environment.id.to_string()).bind(sha.map(ToString::to_string)).execute(&mut *tx).await?;
        if written.rows_affected() != 1 {
            return Err(StoreError::Stale);
        }
        event.clone().of(environment.codebase, environment.id).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }
}
