//! Databases to measure: SQLite on the disk of the build folder, and PostgreSQL if a server is configured.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, QueryResult, Statement};

const SERVER: &str = "PRINTFLOOR_TEST_POSTGRES";

/// Database system to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Embedded SQLite, the default.
    Sqlite,
    /// PostgreSQL server.
    Postgres,
}

impl Kind {
    /// Returns the kinds that can be measured on this machine.
    pub fn here() -> Vec<Self> {
        let postgres = is_available().then_some(Self::Postgres);
        if postgres.is_none() {
            eprintln!("PostgreSQL is left out: no {SERVER}");
        }
        [Self::Sqlite].into_iter().chain(postgres).collect()
    }

    /// Returns the name of the database system.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// Fresh database on the server, removed by [`BenchDatabase::drop`].
pub struct BenchDatabase {
    server: String,
    name: String,
}

impl BenchDatabase {
    /// Creates the database.
    pub async fn fresh() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var(SERVER).unwrap();
        let name = format!("printfloor_bench_{}_{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        run(&server, &format!("CREATE DATABASE {name}")).await;
        Self { server, name }
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        let base = self.server.rsplit_once('/').map_or(self.server.as_str(), |(base, _)| base);
        format!("{base}/{}", self.name)
    }

    /// Vacuums the database after many writes, as autovacuum would do within a minute or two in the background.
    pub async fn vacuum(&self) {
        run(&self.url(), "VACUUM (ANALYZE)").await;
    }

    /// Drops the database.
    pub async fn drop(self) {
        run(&self.server, &format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }
}

/// Returns whether there is a PostgreSQL server to measure.
pub fn is_available() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// Queries a single number from the database at this URL.
pub async fn count_at(url: &str, sql: &str) -> i64 {
    let db = connect(url).await;
    let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap().unwrap();
    db.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}

/// Queries rows.
pub async fn rows_of(db: &DatabaseConnection, sql: &str) -> Vec<QueryResult> {
    db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap()
}

async fn run(server: &str, sql: &str) {
    let db = connect(server).await;
    db.execute_unprepared(sql).await.unwrap();
    db.close().await.unwrap();
}

/// Opens the database at this URL with a single connection.
pub async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}
