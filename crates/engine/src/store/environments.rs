//! Environments: the row, whole, and the ways to read it.

use hedgerow_core::environment::{AdoptedFrom, Environment, Init, InitState, PullRequestInfo, Trash};
use hedgerow_core::platform::Checks;
use hedgerow_core::{BranchName, CodebaseId, EnvironmentId, State, Timestamp, Work};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection};

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text, path_text, stored, wrong};
use super::works;

/// What is written once, and what the store itself keeps (`port`, `last_activity_at`).
macro_rules! fixed_columns {
    () => {
        "id, codebase_id, created_at, created_by, port, last_activity_at"
    };
}

/// What every save writes, in the order of [`bind_changing`].
macro_rules! changing_columns {
    () => {
        "provider, node, path, path_key, branch, branch_made, fork, base, base_sha, state, generation, adopted_from, \
         migrated_at, pinned_at, init_state, init_error, description, last_error, trash_path, trashed_at, \
         trashed_because, trash_head, trash_was_detached, trash_branch_deleted"
    };
}

/// What is known from the remote, in the order of [`bind_remote`]. No save writes it: it is written while others change
/// the rest, and theirs may be older (see [`super::pull_requests`]).
macro_rules! remote_columns {
    () => {
        "pr_number, pr_url, pr_title, pr_state, pr_created_at, pr_head, pr_checks, pr_seen_at, pushed_sha"
    };
}

macro_rules! live {
    () => {
        "state NOT IN ('trashed', 'destroyed')"
    };
}

macro_rules! select {
    ($($rest:expr),+) => {
        concat!(
            "SELECT ",
            crate::store::environments::fixed_columns!(),
            ", ",
            crate::store::environments::changing_columns!(),
            ", ",
            crate::store::environments::remote_columns!(),
            " FROM environments WHERE ",
            $($rest),+
        )
    };
}

pub(super) use {changing_columns, fixed_columns, live, remote_columns, select};

pub(super) const INSERT: &str = concat!(
    "INSERT INTO environments (",
    changing_columns!(),
    ", ",
    fixed_columns!(),
    ", ",
    remote_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
     $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39)"
);

/// Last activity never goes back: a `touch` may have come between the caller's reading and this.
pub(super) const UPDATE: &str = concat!(
    "UPDATE environments SET (",
    changing_columns!(),
    ") = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
     $24), \
     last_activity_at = CASE WHEN last_activity_at > $25 THEN last_activity_at ELSE $25 END \
     WHERE id = $26 AND state = $27 AND generation = $28"
);

type Statement = Query<'static, Any, AnyArguments>;

/// The path in the form in which two that are one folder on a case-blind disk are equal.
pub(super) fn path_key(path: &str) -> String {
    path.to_lowercase()
}

pub(super) fn bind_changing(query: Statement, environment: &Environment) -> Result<Statement, StoreError> {
    let path = path_text(&environment.path)?;
    let query = query
        .bind(environment.provider.as_str())
        .bind(environment.node.clone())
        .bind(path.clone())
        .bind(path_key(&path))
        .bind(environment.branch.to_string())
        .bind(i64::from(environment.branch_made))
        .bind(i64::from(environment.is_fork))
        .bind(environment.base.as_ref().map(ToString::to_string))
        .bind(environment.base_sha.as_ref().map(ToString::to_string))
        .bind(environment.state.as_str())
        .bind(stored(environment.generation)?)
        .bind(environment.adopted_from.map(AdoptedFrom::as_str))
        .bind(environment.migrated_at.map(Timestamp::as_millis))
        .bind(environment.pinned_at.map(Timestamp::as_millis))
        .bind(environment.init.state.map(InitState::as_str))
        .bind(environment.init.error.as_deref().map(free_text))
        .bind(environment.description.as_deref().map(free_text))
        .bind(environment.last_error.as_deref().map(free_text));
    let trash = environment.trash.as_ref();
    Ok(query
        .bind(trash.map(|trash| path_text(&trash.path)).transpose()?)
        .bind(trash.map(|trash| trash.at.as_millis()))
        .bind(trash.map(|trash| trash.because.as_str()))
        .bind(trash.and_then(|trash| trash.head.as_ref()).map(ToString::to_string))
        .bind(trash.map(|trash| i64::from(trash.was_detached)))
        .bind(trash.map(|trash| i64::from(trash.branch_deleted))))
}

pub(super) fn bind_remote(query: Statement, environment: &Environment) -> Result<Statement, StoreError> {
    let query = bind_pull_request(query, environment.pr.as_ref())?;
    Ok(query.bind(environment.pushed_sha.as_ref().map(ToString::to_string)))
}

pub(super) fn bind_pull_request(query: Statement, pr: Option<&PullRequestInfo>) -> Result<Statement, StoreError> {
    Ok(query
        .bind(pr.map(|pr| stored(pr.number)).transpose()?)
        .bind(pr.and_then(|pr| pr.url.as_deref()).map(free_text))
        .bind(pr.and_then(|pr| pr.title.as_deref()).map(free_text))
        .bind(pr.and_then(|pr| pr.state.as_deref()).map(free_text))
        .bind(pr.and_then(|pr| pr.created_at).map(Timestamp::as_millis))
        .bind(pr.and_then(|pr| pr.head.as_ref()).map(ToString::to_string))
        .bind(pr.and_then(|pr| pr.checks).map(Checks::as_str))
        .bind(pr.and_then(|pr| pr.seen_at).map(Timestamp::as_millis)))
}

pub(super) fn bind_fixed(query: Statement, environment: &Environment) -> Statement {
    query
        .bind(environment.id.to_string())
        .bind(environment.codebase.to_string())
        .bind(environment.created_at.as_millis())
        .bind(free_text(&environment.created_by.to_string()))
        .bind(environment.port.map(i64::from))
        .bind(environment.last_activity_at.as_millis())
}

/// The row without its works and keywords, which other tables hold.
fn environment(row: &AnyRow) -> Result<Environment, StoreError> {
    let row = Row(row);
    Ok(Environment {
        id: row.parsed("id")?,
        codebase: row.parsed("codebase_id")?,
        works: Vec::new(),
        provider: row.parsed("provider")?,
        node: row.text("node")?,
        path: row.path("path")?,
        branch: row.branch("branch")?,
        branch_made: row.flag("branch_made")?,
        is_fork: row.flag("fork")?,
        base: row.maybe_branch("base")?,
        base_sha: row.maybe_sha("base_sha")?,
        state: row.parsed("state")?,
        generation: row.number("generation")?,
        adopted_from: row.maybe_parsed("adopted_from")?,
        migrated_at: row.maybe_time("migrated_at")?,
        pinned_at: row.maybe_time("pinned_at")?,
        port: row.maybe_number("port")?,
        init: Init { state: row.maybe_parsed("init_state")?, error: row.maybe_text("init_error")? },
        pr: pull_request(&row)?,
        pushed_sha: row.maybe_sha("pushed_sha")?,
        description: row.maybe_text("description")?,
        keywords: Vec::new(),
        created_at: row.time("created_at")?,
        created_by: row.parsed("created_by")?,
        last_activity_at: row.time("last_activity_at")?,
        trash: trash(&row)?,
        last_error: row.maybe_text("last_error")?,
    })
}

fn pull_request(row: &Row<'_>) -> Result<Option<PullRequestInfo>, StoreError> {
    let Some(number) = row.maybe_number("pr_number")? else { return Ok(None) };
    Ok(Some(PullRequestInfo {
        number,
        url: row.maybe_text("pr_url")?,
        title: row.maybe_text("pr_title")?,
        state: row.maybe_text("pr_state")?,
        created_at: row.maybe_time("pr_created_at")?,
        head: row.maybe_sha("pr_head")?,
        checks: row.maybe_parsed("pr_checks")?,
        seen_at: row.maybe_time("pr_seen_at")?,
    }))
}

fn trash(row: &Row<'_>) -> Result<Option<Trash>, StoreError> {
    let Some(path) = row.maybe_text("trash_path")? else { return Ok(None) };
    Ok(Some(Trash {
        path: path.into(),
        at: row.time("trashed_at")?,
        because: row.maybe_parsed("trashed_because")?.ok_or_else(|| wrong("trashed_because", "value missing"))?,
        head: row.maybe_sha("trash_head")?,
        was_detached: row.flag("trash_was_detached")?,
        branch_deleted: row.flag("trash_branch_deleted")?,
    }))
}

/// Runs a [`select!`] whose arguments are all text, and completes its rows in two more queries however many they are.
pub(super) async fn read(
    connection: &mut AnyConnection,
    select: &'static str,
    arguments: &[&str],
) -> Result<Vec<Environment>, StoreError> {
    let mut query = sqlx::query(select);
    for argument in arguments {
        query = query.bind((*argument).to_owned());
    }
    let rows = query.fetch_all(&mut *connection).await?;
    let mut environments = rows.iter().map(environment).collect::<Result<Vec<_>, _>>()?;
    works::complete(connection, &mut environments).await?;
    Ok(environments)
}

pub(super) async fn first(
    connection: &mut AnyConnection,
    select: &'static str,
    arguments: &[&str],
) -> Result<Option<Environment>, StoreError> {
    Ok(read(connection, select, arguments).await?.into_iter().next())
}

pub(super) async fn by_id(
    connection: &mut AnyConnection,
    id: EnvironmentId,
) -> Result<Option<Environment>, StoreError> {
    first(connection, select!("id = $1"), &[&id.to_string()]).await
}

pub(super) async fn live_by_work(
    connection: &mut AnyConnection,
    codebase: CodebaseId,
    work: &Work,
) -> Result<Option<Environment>, StoreError> {
    const SELECT: &str = select!(
        "id = (SELECT environment_id FROM environment_works \
         WHERE codebase_id = $1 AND kind = $2 AND work_id = $3 AND live = 1)"
    );
    first(connection, SELECT, &[&codebase.to_string(), work.kind(), &work.id()]).await
}

pub(super) async fn live_by_branch(
    connection: &mut AnyConnection,
    codebase: CodebaseId,
    branch: &BranchName,
) -> Result<Option<Environment>, StoreError> {
    const SELECT: &str = select!("codebase_id = $1 AND branch = $2 AND ", live!());
    first(connection, SELECT, &[&codebase.to_string(), branch.as_str()]).await
}

pub(super) async fn count_live(connection: &mut AnyConnection, codebase: CodebaseId) -> Result<u64, StoreError> {
    let row = sqlx::query(concat!("SELECT count(*) AS many FROM environments WHERE codebase_id = $1 AND ", live!()))
        .bind(codebase.to_string())
        .fetch_one(connection)
        .await?;
    Row(&row).number("many")
}

impl Store {
    pub async fn environment(&self, id: EnvironmentId) -> Result<Option<Environment>, StoreError> {
        by_id(&mut *self.pool.acquire().await?, id).await
    }

    pub async fn live_by_work(&self, codebase: CodebaseId, work: &Work) -> Result<Option<Environment>, StoreError> {
        live_by_work(&mut *self.pool.acquire().await?, codebase, work).await
    }

    pub async fn live_by_branch(
        &self,
        codebase: CodebaseId,
        branch: &BranchName,
    ) -> Result<Option<Environment>, StoreError> {
        live_by_branch(&mut *self.pool.acquire().await?, codebase, branch).await
    }

    /// The newest environment of a work that is gone and has a saved state.
    pub async fn saved_by_work(&self, codebase: CodebaseId, work: &Work) -> Result<Option<Environment>, StoreError> {
        const SELECT: &str = select!(
            "state = 'destroyed' AND id IN (SELECT environment_id FROM saved_states WHERE expired_at IS NULL) AND id IN \
             (SELECT environment_id FROM environment_works WHERE codebase_id = $1 AND kind = $2 AND work_id = $3) \
             ORDER BY created_at DESC, id DESC"
        );
        first(&mut *self.pool.acquire().await?, SELECT, &[&codebase.to_string(), work.kind(), &work.id()]).await
    }

    /// The live environments of a codebase, oldest first.
    pub async fn live(&self, codebase: CodebaseId) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str = select!("codebase_id = $1 AND ", live!(), " ORDER BY created_at, id");
        read(&mut *self.pool.acquire().await?, SELECT, &[&codebase.to_string()]).await
    }

    /// The live environments of all codebases, oldest first.
    pub async fn live_everywhere(&self) -> Result<Vec<Environment>, StoreError> {
        read(&mut *self.pool.acquire().await?, select!(live!(), " ORDER BY created_at, id"), &[]).await
    }

    /// What a codebase has in the trash, newest first.
    pub async fn trashed(&self, codebase: CodebaseId) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str = select!("codebase_id = $1 AND state = 'trashed' ORDER BY trashed_at DESC, id DESC");
        read(&mut *self.pool.acquire().await?, SELECT, &[&codebase.to_string()]).await
    }

    /// What is in the trash of all codebases, forgotten ones too, newest first.
    pub async fn trashed_everywhere(&self) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str = select!("state = 'trashed' ORDER BY trashed_at DESC, id DESC");
        read(&mut *self.pool.acquire().await?, SELECT, &[]).await
    }

    /// The environments of one machine in one state, oldest first.
    pub async fn in_state(&self, node: &str, state: State) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str = select!("node = $1 AND state = $2 ORDER BY created_at, id");
        read(&mut *self.pool.acquire().await?, SELECT, &[node, state.as_str()]).await
    }

    /// The live environments of one machine, oldest first.
    pub async fn live_on(&self, node: &str) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str = select!("node = $1 AND ", live!(), " ORDER BY created_at, id");
        read(&mut *self.pool.acquire().await?, SELECT, &[node]).await
    }

    /// The environments of one machine that the next command looks at again, oldest first: unfinished ones, and those
    /// whose disk was away.
    pub async fn unsettled(&self, node: &str) -> Result<Vec<Environment>, StoreError> {
        const SELECT: &str =
            select!("node = $1 AND state IN ('creating', 'removing', 'unreachable') ORDER BY created_at, id");
        read(&mut *self.pool.acquire().await?, SELECT, &[node]).await
    }

    pub async fn count_live(&self, codebase: CodebaseId) -> Result<u64, StoreError> {
        count_live(&mut *self.pool.acquire().await?, codebase).await
    }

    /// Notes that someone was active there now.
    pub async fn touch(&self, id: EnvironmentId, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("UPDATE environments SET last_activity_at = $2 WHERE id = $1 AND last_activity_at < $2")
            .bind(id.to_string())
            .bind(now.as_millis())
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
