//! The works and keywords of environments: lists that queries look into, so tables of their own.

use std::collections::HashMap;

use hedgerow_core::environment::{Environment, NamedWork};
use hedgerow_core::{CodebaseId, EnvironmentId, Work};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::error::{StoreError, Taken};
use super::events::NewEvent;
use super::row::{Row, free_text, stored, wrong};
use super::{Store, codebases, environments};

/// Well below what either database takes as arguments of one statement.
const AT_ONCE: usize = 100;

fn work(row: &AnyRow) -> Result<NamedWork, StoreError> {
    let row = Row(row);
    let work = Work::from_parts(&row.text("kind")?, &row.text("work_id")?).map_err(|error| wrong("work_id", error))?;
    Ok(NamedWork { work, name: row.text("name")? })
}

/// Fills in works and keywords. By id and not by the condition that found the environments, which may no longer
/// hold a statement later.
pub(super) async fn complete(
    connection: &mut AnyConnection,
    environments: &mut [Environment],
) -> Result<(), StoreError> {
    for some in environments.chunks_mut(AT_ONCE) {
        let ids: Vec<String> = some.iter().map(|environment| environment.id.to_string()).collect();
        let places: HashMap<EnvironmentId, usize> =
            some.iter().enumerate().map(|(place, environment)| (environment.id, place)).collect();
        for row in links(connection, "environment_works", "environment_id, kind, work_id, name", &ids).await? {
            some[place(&places, &row)?].works.push(work(&row)?);
        }
        for row in links(connection, "environment_keywords", "environment_id, keyword", &ids).await? {
            some[place(&places, &row)?].keywords.push(Row(&row).text("keyword")?);
        }
    }
    Ok(())
}

fn place(places: &HashMap<EnvironmentId, usize>, row: &AnyRow) -> Result<usize, StoreError> {
    let id = Row(row).parsed("environment_id")?;
    places.get(&id).copied().ok_or_else(|| wrong("environment_id", "not asked for"))
}

async fn links(
    connection: &mut AnyConnection,
    table: &'static str,
    columns: &'static str,
    ids: &[String],
) -> Result<Vec<AnyRow>, StoreError> {
    let places: Vec<String> = (1..=ids.len()).map(|n| format!("${n}")).collect();
    let places = places.join(", ");
    // Safe: made of our own words and numbers; the ids are arguments. Not kept prepared: its length differs.
    let sql = format!("SELECT {columns} FROM {table} WHERE environment_id IN ({places}) ORDER BY position");
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    for id in ids {
        query = query.bind(id.clone());
    }
    Ok(query.fetch_all(connection).await?)
}

pub(super) async fn write_works(connection: &mut AnyConnection, environment: &Environment) -> Result<(), StoreError> {
    for (position, named) in (0..).zip(&environment.works) {
        write_work(connection, environment, named, position).await?;
    }
    Ok(())
}

/// Whether it was written; not when the environment has the work already.
async fn write_work(
    connection: &mut AnyConnection,
    environment: &Environment,
    named: &NamedWork,
    position: u64,
) -> Result<bool, StoreError> {
    let written = sqlx::query(
        "INSERT INTO environment_works (environment_id, codebase_id, position, kind, work_id, name, live)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (environment_id, kind, work_id) DO NOTHING",
    )
    .bind(environment.id.to_string())
    .bind(environment.codebase.to_string())
    .bind(stored(position)?)
    .bind(named.work.kind())
    .bind(named.work.id())
    .bind(named.name.clone())
    .bind(i64::from(environment.state.is_live()))
    .execute(connection)
    .await?;
    Ok(written.rows_affected() == 1)
}

/// Frees the works of an environment that has gone, or claims them for one that is back.
pub(super) async fn set_live(connection: &mut AnyConnection, environment: &Environment) -> Result<(), StoreError> {
    if environment.state.is_live() {
        require_free(connection, environment.id).await?;
    }
    sqlx::query("UPDATE environment_works SET live = $2 WHERE environment_id = $1 AND live <> $2")
        .bind(environment.id.to_string())
        .bind(i64::from(environment.state.is_live()))
        .execute(connection)
        .await?;
    Ok(())
}

/// Asked before the unique indexes are: a taken work has a taken name too, and which of the two a database
/// complains of is its own affair.
async fn require_free(connection: &mut AnyConnection, id: EnvironmentId) -> Result<(), StoreError> {
    let holder = sqlx::query(
        "SELECT other.environment_id FROM environment_works own JOIN environment_works other
         ON other.codebase_id = own.codebase_id AND other.kind = own.kind AND other.work_id = own.work_id
         WHERE own.environment_id = $1 AND other.environment_id <> $1 AND other.live = 1",
    )
    .bind(id.to_string())
    .fetch_optional(connection)
    .await?;
    if holder.is_some() { Err(StoreError::Taken(Taken::Work)) } else { Ok(()) }
}

pub(super) async fn write_keywords(
    connection: &mut AnyConnection,
    environment: &Environment,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM environment_keywords WHERE environment_id = $1")
        .bind(environment.id.to_string())
        .execute(&mut *connection)
        .await?;
    for (position, keyword) in (0_i64..).zip(&environment.keywords) {
        sqlx::query("INSERT INTO environment_keywords (environment_id, position, keyword) VALUES ($1, $2, $3)")
            .bind(environment.id.to_string())
            .bind(position)
            .bind(free_text(keyword))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

impl Store {
    /// Gives a live environment one more work. Nothing happens if it has it already. `Stale` when it is no longer
    /// live, `Taken` when another live environment has the work or its name.
    pub async fn add_work(&self, id: EnvironmentId, named: &NamedWork, event: &NewEvent) -> Result<(), StoreError> {
        let codebase = self.environment(id).await?.ok_or(StoreError::Stale)?.codebase;
        let mut tx = self.pool.begin().await?;
        codebases::lock(&mut tx, codebase, false).await?;
        let environment = environments::by_id(&mut tx, id).await?.ok_or(StoreError::Stale)?;
        if !environment.state.is_live() {
            return Err(StoreError::Stale);
        }
        let holder = environments::live_by_work(&mut tx, codebase, &named.work).await?;
        if holder.is_some_and(|holder| holder.id != id) {
            return Err(StoreError::Taken(Taken::Work));
        }
        let position = u64::try_from(environment.works.len()).unwrap_or(u64::MAX);
        if write_work(&mut tx, &environment, named, position).await? {
            event.clone().of(codebase, id).write(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Replaces the works of an environment; a restore lets go of those that others have taken on meanwhile.
    pub async fn set_works(&self, id: EnvironmentId, works: &[NamedWork], event: &NewEvent) -> Result<(), StoreError> {
        let codebase = self.environment(id).await?.ok_or(StoreError::Stale)?.codebase;
        let mut tx = self.pool.begin().await?;
        codebases::lock(&mut tx, codebase, true).await?;
        let mut environment = environments::by_id(&mut tx, id).await?.ok_or(StoreError::Stale)?;
        sqlx::query("DELETE FROM environment_works WHERE environment_id = $1")
            .bind(id.to_string())
            .execute(&mut *tx)
            .await?;
        environment.works = works.to_vec();
        write_works(&mut tx, &environment).await?;
        event.clone().of(codebase, id).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// Whether a live environment has this name for another work; two threads may share their first eight digits.
    pub async fn work_name_taken(&self, codebase: CodebaseId, name: &str, work: &Work) -> Result<bool, StoreError> {
        let row = sqlx::query(
            "SELECT count(*) AS many FROM environment_works
             WHERE codebase_id = $1 AND name = $2 AND live = 1 AND NOT (kind = $3 AND work_id = $4)",
        )
        .bind(codebase.to_string())
        .bind(name.to_owned())
        .bind(work.kind())
        .bind(work.id())
        .fetch_one(&self.pool)
        .await?;
        Ok(Row(&row).number::<u64>("many")? > 0)
    }
}
