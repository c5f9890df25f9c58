//! Databases to measure: SQLite on the disk of the build folder, and PostgreSQL if a server is configured.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sea_orm::{ConnectOptions, ConnectionTrait, Database};

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
        let postgres = std::env::var_os(SERVER).map(|_| Self::Postgres);
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

/// Fresh database on the server, removed by [`Postgres::drop`].
pub struct Postgres {
    server: String,
    name: String,
}

impl Postgres {
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

async fn run(server: &str, sql: &str) {
    let mut options = ConnectOptions::new(server);
    options.max_connections(1).sqlx_logging(false);
    let db = Database::connect(options).await.unwrap();
    db.execute_unprepared(sql).await.unwrap();
    db.close().await.unwrap();
}
