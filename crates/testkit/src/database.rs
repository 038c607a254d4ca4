//! A fresh database for each test: a SQLite file, or a database of its own on a PostgreSQL server. The same tests
//! run on both; an environment variable says on which (`with-postgres` sets it).

use std::collections::BTreeMap;
use std::env;
use std::str::FromStr;

use anyhow::Context as _;
use hedgerow_core::EventId;
use hedgerow_engine::store::{Database, Store};
use sqlx::any::{AnyRow, install_default_drivers};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AnyConnection, AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, Row as _};
use tempfile::TempDir;

/// Which database tests use: `sqlite` (also when unset) or `postgres`.
pub const WHICH: &str = "HEDGEROW_TEST_DATABASE";
/// A server where tests may create and drop databases.
pub const SERVER: &str = "HEDGEROW_TEST_POSTGRES_URL";

/// A database that goes away with this guard.
#[derive(Debug)]
pub struct TestDatabase {
    database: Database,
    /// Removed after the database in it.
    _folder: Option<TempDir>,
    _dropper: Option<Dropper>,
}

impl TestDatabase {
    /// # Panics
    /// When the database cannot be made: a test without one means nothing.
    pub async fn new() -> Self {
        match env::var(WHICH).as_deref() {
            Ok("postgres") => Self::on_postgres().await.expect("a fresh PostgreSQL database"),
            Ok("sqlite" | "") | Err(_) => Self::in_a_file().expect("a folder for a SQLite database"),
            Ok(other) => panic!("{WHICH} is `{other}`; it must be `sqlite` or `postgres`"),
        }
    }

    fn in_a_file() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let database = Database::Sqlite(folder.path().join("hedgerow.db"));
        Ok(Self { database, _folder: Some(folder), _dropper: None })
    }

    async fn on_postgres() -> anyhow::Result<Self> {
        let server = env::var(SERVER).with_context(|| format!("{SERVER} is not set; run through `with-postgres`"))?;
        let name = format!("hedgerow_{}", EventId::new().to_string().replace('-', ""));
        let url = PgConnectOptions::from_str(&server)?.database(&name).to_url_lossy().to_string();
        run(&server, &format!("CREATE DATABASE {name}")).await?;
        Ok(Self { database: Database::Postgres(url), _folder: None, _dropper: Some(Dropper { server, name }) })
    }

    pub fn database(&self) -> Database {
        self.database.clone()
    }

    /// # Panics
    /// When it cannot be opened.
    pub async fn store(&self) -> Store {
        Store::open(&self.database).await.expect("a fresh database opens")
    }

    /// Runs one statement past the store, for tests of a database that someone else has meddled with.
    pub async fn meddle(&self, statement: &str) -> anyhow::Result<()> {
        run(&url(&self.database), statement).await
    }
}

/// A row as it is: its columns and what stands in them, without those that are empty.
pub type Fields = BTreeMap<String, String>;

/// All of a table, past the store: for tests of what must not have changed.
pub async fn rows(database: &Database, table: &str) -> anyhow::Result<Vec<Fields>> {
    install_default_drivers();
    let mut connection = AnyConnection::connect(&url(database)).await?;
    // Safe: tests name their tables themselves.
    let rows = connection.fetch_all(AssertSqlSafe(format!("SELECT * FROM {table}"))).await?;
    connection.close().await?;
    Ok(rows.iter().map(fields).collect())
}

fn fields(row: &AnyRow) -> Fields {
    let text = |index: usize| -> Option<String> {
        // There are texts and numbers, and nothing else.
        let number = || row.try_get::<Option<i64>, _>(index).ok().flatten().map(|number| number.to_string());
        row.try_get::<Option<String>, _>(index).unwrap_or_else(|_| number())
    };
    row.columns().iter().filter_map(|column| Some((column.name().to_owned(), text(column.ordinal())?))).collect()
}

fn url(database: &Database) -> String {
    match database {
        Database::Sqlite(path) => format!("sqlite://{}?mode=rw", path.display()),
        Database::Postgres(url) => url.clone(),
    }
}

async fn run(url: &str, statement: &str) -> anyhow::Result<()> {
    install_default_drivers();
    let mut connection = AnyConnection::connect(url).await?;
    // Safe: tests write these statements themselves.
    connection.execute(AssertSqlSafe(statement.to_owned())).await?;
    Ok(connection.close().await?)
}

/// Drops a database of the server, even under the feet of a store that still has connections.
#[derive(Debug)]
struct Dropper {
    server: String,
    name: String,
}

impl Drop for Dropper {
    fn drop(&mut self) {
        let server = std::mem::take(&mut self.server);
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A thread, because the runtime of the test cannot be waited for from inside it.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run(&server, &statement))
        });
        // Best effort: `with-postgres` removes the whole server in the end.
        let _ = dropping.join();
    }
}
