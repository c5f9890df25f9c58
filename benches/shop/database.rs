//! Which databases are measured: SQLite on the disk of the build folder, and PostgreSQL where a server is named.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sea_orm::{ConnectOptions, ConnectionTrait, Database};

const SERVER: &str = "PRINTFLOOR_TEST_POSTGRES";

/// A kind of database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The embedded default.
    Sqlite,
    /// A server.
    Postgres,
}

impl Kind {
    /// Those that can be measured here.
    pub fn here() -> Vec<Self> {
        let postgres = std::env::var_os(SERVER).map(|_| Self::Postgres);
        if postgres.is_none() {
            eprintln!("PostgreSQL is left out: no {SERVER}");
        }
        [Self::Sqlite].into_iter().chain(postgres).collect()
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A fresh database on the server, dropped by [`Postgres::drop`].
pub struct Postgres {
    server: String,
    name: String,
}

impl Postgres {
    /// Makes it.
    pub async fn fresh() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var(SERVER).unwrap();
        let name = format!("printfloor_bench_{}_{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        run(&server, &format!("CREATE DATABASE {name}")).await;
        Self { server, name }
    }

    /// Its address.
    pub fn url(&self) -> String {
        let base = self.server.rsplit_once('/').map_or(self.server.as_str(), |(base, _)| base);
        format!("{base}/{}", self.name)
    }

    /// Tidies it up after much was written, as its autovacuum does within a minute or two in the background.
    pub async fn vacuum(&self) {
        run(&self.url(), "VACUUM (ANALYZE)").await;
    }

    /// Gives it back.
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
