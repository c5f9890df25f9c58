//! A database of the test's own.

use std::process::id;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use migrations::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};

use super::App;

/// Superuser address of a PostgreSQL server for tests; `scripts/test` starts one.
const SERVER: &str = "PRINTFLOOR_TEST_POSTGRES";
/// Set by `scripts/test`: what is missing then is a failure, not a skip.
pub const SERVICES: &str = "PRINTFLOOR_TEST_SERVICES";

/// Where a test's server keeps its data.
pub struct Db {
    /// (server, name) of a database that is dropped at the end.
    postgres: Option<(String, String)>,
}

static MADE: AtomicU32 = AtomicU32::new(0);

async fn open(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.expect("the database answers")
}

async fn run(url: &str, sql: &str) {
    let db = open(url).await;
    db.execute_unprepared(sql).await.expect(sql);
    db.close().await.unwrap();
}

impl Db {
    /// The embedded default, in the test's own folder.
    pub fn sqlite() -> Self {
        Self { postgres: None }
    }

    /// A fresh database on the tests' server; `None` when there is no server and nobody asked for services.
    pub async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {SERVER} is not");
            eprintln!("left out: no {SERVER}");
            return None;
        };
        let name = format!("printfloor_{}_{}", id(), MADE.fetch_add(1, Relaxed));
        run(&server, &format!("CREATE DATABASE {name}")).await;
        Some(Self { postgres: Some((server, name)) })
    }

    /// Its `DATABASE_URL`; `None` is the embedded default.
    pub fn url(&self) -> Option<String> {
        let (server, name) = self.postgres.as_ref()?;
        let base = server.rsplit_once('/').map_or(server.as_str(), |(base, _)| base);
        Some(format!("{base}/{name}"))
    }

    fn address(&self, app: &App) -> String {
        self.url().unwrap_or_else(|| format!("sqlite:{}", app.data().join("printfloor.db").display()))
    }

    /// Changes a server's database behind its back.
    pub async fn execute(&self, app: &App, sql: &str) {
        run(&self.address(app), sql).await;
    }

    /// Makes a server's database one of an older release: with so many migrations, and these rows.
    pub async fn become_release(&self, app: &App, release: usize, rows: &[String]) {
        let url = match self.url() {
            Some(url) => {
                run(&url, "DROP SCHEMA public CASCADE").await;
                run(&url, "CREATE SCHEMA public").await;
                url
            }
            None => {
                for file in ["printfloor.db", "printfloor.db-wal", "printfloor.db-shm"] {
                    let _ = std::fs::remove_file(app.data().join(file));
                }
                format!("{}?mode=rwc", self.address(app))
            }
        };
        let db = open(&url).await;
        Migrator::up(&db, Some(release as u32)).await.unwrap();
        for sql in rows {
            db.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
        }
        db.close().await.unwrap();
    }

    /// How many migrations a server's database has seen.
    pub async fn migrations(&self, app: &App) -> i64 {
        self.query_number(app, "SELECT COUNT(*) FROM seaql_migrations").await
    }

    /// Reads one number out of a server's database.
    pub async fn query_number(&self, app: &App, sql: &str) -> i64 {
        let db = open(&self.address(app)).await;
        let asked = Statement::from_string(db.get_database_backend(), sql);
        let row = db.query_one_raw(asked).await.unwrap().expect(sql);
        db.close().await.unwrap();
        row.try_get_by_index(0).unwrap()
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        let Some((server, name)) = self.postgres.take() else { return };
        // A thread of its own: the test's runtime may be on its way out.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")));
        });
        let _ = dropped.join();
    }
}
