//! Databases for tests: each test gets its own, on SQLite always, on PostgreSQL if `PRINTFLOOR_TEST_POSTGRES` names a
//! server. With `PRINTFLOOR_TEST_SERVICES=1`, a missing server is a failure.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use printfloor::store::connect::{DatabaseSettings, WritingHost};
use printfloor::store::rows::samples::{migrated_postgres, migrated_sqlite, unused_database};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, QueryResult, Statement};
use tempfile::TempDir;
use url::Url;

/// A database of one test.
#[derive(Clone)]
pub struct TestDatabase {
    pub settings: DatabaseSettings,
    /// Folder of the test, which contains the database file on SQLite.
    pub folder: Arc<TempDir>,
}

impl TestDatabase {
    /// Creates a new SQLite file.
    pub fn sqlite() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("test.db").display());
        Self { settings: settings(url), folder }
    }

    /// Uses the file of a test database that has been copied to this folder.
    pub fn in_folder(folder: PathBuf) -> Self {
        let url = format!("sqlite://{}?mode=rwc", folder.join("test.db").display());
        Self { settings: settings(url), folder: Arc::new(tempfile::tempdir().unwrap()) }
    }

    /// Uses the database at this URL, which the test has created by other means.
    pub fn at(url: &str) -> Self {
        Self { settings: settings(url.to_owned()), folder: Arc::new(tempfile::tempdir().unwrap()) }
    }

    pub fn is_postgres(&self) -> bool {
        self.settings.url.starts_with("postgres")
    }

    /// Returns the same database, reached through this port.
    pub fn through(&self, port: u16) -> Self {
        let mut url = Url::parse(&self.settings.url).unwrap();
        url.set_port(Some(port)).unwrap();
        Self { settings: settings(url.to_string()), folder: self.folder.clone() }
    }

    /// Returns the host and port of the database server.
    pub fn address(&self) -> (String, u16) {
        let url = Url::parse(&self.settings.url).unwrap();
        (url.host_str().unwrap().to_owned(), url.port().unwrap_or(5432))
    }

    /// Executes a statement without the server's involvement; returns the number of affected rows.
    pub async fn execute(&self, sql: &str) -> u64 {
        let db = connect(&self.settings.url).await;
        let done = db.execute_unprepared(sql).await.unwrap().rows_affected();
        db.close().await.unwrap();
        done
    }

    /// Opens a connection that is independent of the server.
    pub async fn open(&self) -> DatabaseConnection {
        connect(&self.settings.url).await
    }

    /// Queries a single number without the server's involvement.
    pub async fn number(&self, sql: &str) -> i64 {
        self.rows(sql).await[0].try_get_by_index(0).unwrap()
    }

    /// Rows from outside.
    pub async fn rows(&self, sql: &str) -> Vec<QueryResult> {
        let db = connect(&self.settings.url).await;
        let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
        db.close().await.unwrap();
        rows
    }
}

fn settings(url: String) -> DatabaseSettings {
    let hosts = WritingHost::default();
    DatabaseSettings { url, read_connections: 4, statement_timeout: Duration::from_secs(10), hosts }
}

async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

/// Returns the URL of the PostgreSQL server for tests; `None` if it is not set and services are not required.
fn postgres_server() -> Option<Url> {
    match std::env::var("PRINTFLOOR_TEST_POSTGRES") {
        Ok(url) => Some(Url::parse(&url).unwrap()),
        Err(std::env::VarError::NotPresent) if !services_wanted() => {
            eprintln!("not run: PRINTFLOOR_TEST_POSTGRES names no server");
            None
        }
        Err(error) => panic!("PRINTFLOOR_TEST_POSTGRES: {error}"),
    }
}

/// Returns whether a missing service is a failure.
pub fn services_wanted() -> bool {
    std::env::var("PRINTFLOOR_TEST_SERVICES").is_ok_and(|setting| setting == "1")
}

/// Runs a test on a new SQLite file.
pub async fn on_sqlite<F: Future<Output = ()>>(test: impl FnOnce(TestDatabase) -> F) {
    test(TestDatabase::sqlite()).await;
}

/// Runs a test as [`on_sqlite`] does, on a database that is already migrated.
pub async fn on_migrated_sqlite<F: Future<Output = ()>>(test: impl FnOnce(TestDatabase) -> F) {
    let database = TestDatabase::sqlite();
    std::fs::copy(migrated_sqlite().await, database.folder.path().join("test.db")).unwrap();
    test(database).await;
}

/// Runs a test on a new PostgreSQL database, which is dropped afterwards.
pub async fn on_postgres<F: Future<Output = ()>>(test: impl FnOnce(TestDatabase) -> F) {
    if let Some(server) = postgres_server() {
        on_database(server, "", test).await;
    }
}

/// Runs a test as [`on_postgres`] does, on a database that is already migrated.
pub async fn on_migrated_postgres<F: Future<Output = ()>>(test: impl FnOnce(TestDatabase) -> F) {
    if let Some(server) = postgres_server() {
        let template = migrated_postgres(server.as_str()).await;
        on_database(server, &format!("TEMPLATE {template}"), test).await;
    }
}

async fn on_database<F: Future<Output = ()>>(server: Url, template: &str, test: impl FnOnce(TestDatabase) -> F) {
    let name = unused_database();
    let admin = connect(server.as_str()).await;
    let drop_it = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    admin.execute_unprepared(&format!("CREATE DATABASE {name} {template}")).await.unwrap();
    let mut url = server;
    url.set_path(&name);
    let database = TestDatabase { settings: settings(url.to_string()), folder: Arc::new(tempfile::tempdir().unwrap()) };
    let ended = AssertUnwindSafe(test(database)).catch_unwind().await;
    admin.execute_unprepared(&drop_it).await.unwrap();
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
}

/// Generates a test from each function for each database; those after `empty:` get a database without tables.
macro_rules! on_both_databases {
    (empty: $($name:ident),*) => {
        $crate::support::database::on_both_databases!(@by on_sqlite on_postgres: $($name),*);
    };
    (@by $on_sqlite:ident $on_postgres:ident: $($name:ident),*) => {
        mod sqlite { $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::support::database::$on_sqlite(super::$name).await;
            }
        )* }
        mod postgres { $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::support::database::$on_postgres(super::$name).await;
            }
        )* }
    };
    ($($name:ident),* $(,)?) => {
        $crate::support::database::on_both_databases!(@by on_migrated_sqlite on_migrated_postgres: $($name),*);
    };
}
pub(crate) use on_both_databases;

/// Waits until a condition holds; panics with its description after a minute.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < Duration::from_secs(60), "did not come to be: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
