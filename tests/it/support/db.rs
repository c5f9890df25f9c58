//! Database of a single test.

use migrations::{Migrator, MigratorTrait as _};
use printfloor::store::rows::samples::{unlock_audit_log, unused_database};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};

use super::drawing::{draws_postgres, run_seed};
use super::{App, StaffMember, Template, until};

/// Environment variable with the superuser URL of a PostgreSQL server for tests; `scripts/test` starts one.
const SERVER: &str = "PRINTFLOOR_TEST_POSTGRES";
/// Environment variable set by `scripts/test` to treat a missing service as a failure rather than a skip.
pub const SERVICES: &str = "PRINTFLOOR_TEST_SERVICES";

/// Database in which a test's server keeps its data.
pub struct Db {
    /// Server and name of a database that is dropped at the end; `None` for the embedded database.
    postgres: Option<(String, String)>,
    /// Shop of which the PostgreSQL database is a copy.
    template: Option<Template>,
    /// Staff member whom a shop on the embedded database has from the beginning.
    staff: Option<StaffMember>,
}

pub(super) async fn open(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.expect("the database answers")
}

/// Runs a statement on its own connection.
pub(super) async fn run(url: &str, sql: &str) {
    let db = open(url).await;
    db.execute_unprepared(sql).await.expect(sql);
    db.close().await.unwrap();
}

/// Queries a single number from the database at this URL.
pub async fn query_number_at(url: &str, sql: &str) -> i64 {
    let db = open(url).await;
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await.unwrap().expect(sql);
    db.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}

/// SQL for the number of other sessions in a PostgreSQL database.
const OTHER_SESSIONS: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                              AND pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// Waits until nothing is connected to a PostgreSQL database, so that everything a killed command started there is
/// over.
pub async fn until_unused(url: &str) {
    until("the sessions of the database to end", || async {
        (query_number_at(url, OTHER_SESSIONS).await == 0).then_some(())
    })
    .await;
}

/// Removes all tables of a PostgreSQL database.
async fn remove_tables(url: &str) {
    run(url, "DROP SCHEMA public CASCADE").await;
    run(url, "CREATE SCHEMA public").await;
}

/// Returns the URL of another database on this server.
pub(super) fn address_of(server: &str, database: &str) -> String {
    let base = server.rsplit_once('/').map_or(server, |(base, _)| base);
    format!("{base}/{database}")
}

/// Returns the URL of the PostgreSQL server for tests; `None` if it is not set and services are not required.
fn server() -> Option<String> {
    let server = std::env::var(SERVER).ok();
    if server.is_none() {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {SERVER} is not");
        eprintln!("left out: no {SERVER}");
    }
    server
}

impl Db {
    /// Uses the embedded database in the test's own folder.
    pub fn sqlite() -> Self {
        Self { postgres: None, template: None, staff: None }
    }

    /// Creates an empty database on the PostgreSQL server for tests; `None` if there is none and services are not
    /// required.
    pub async fn postgres() -> Option<Self> {
        let (server, name) = (server()?, unused_database());
        run(&server, &format!("CREATE DATABASE {name}")).await;
        Some(Self { postgres: Some((server, name)), template: None, staff: None })
    }

    /// Creates a database as [`Db::postgres`] does, as a copy of the shared template shop.
    pub async fn postgres_with_shop() -> Option<Self> {
        let (server, name) = (server()?, unused_database());
        let (template, database) = Template::on_postgres(&server).await;
        run(&server, &format!("CREATE DATABASE {name} TEMPLATE {database}")).await;
        Some(Self { postgres: Some((server, name)), template: Some(template), staff: None })
    }

    /// Uses a shop in which this staff member has just signed in; [`App::cookie_of`] has their session. A test that
    /// needs nobody else, and does not depend on when they came, saves their creation. On PostgreSQL nothing changes.
    pub fn with_staff(mut self, member: StaffMember) -> Self {
        self.staff = Some(member);
        self
    }

    /// Returns the staff member whom a shop on the embedded database has from the beginning.
    pub fn staff(&self) -> Option<StaffMember> {
        self.staff
    }

    /// Uses the database that the run's seed selects for a test: the embedded one, or one on PostgreSQL as
    /// [`Db::postgres_with_shop`] creates it. Without a PostgreSQL server for tests, it is always the embedded one.
    pub async fn drawn(test: &str) -> Self {
        let seed = run_seed();
        let postgres = if draws_postgres(seed, test) { Self::postgres_with_shop().await } else { None };
        let name = if postgres.is_some() { "PostgreSQL" } else { "SQLite" };
        eprintln!("on {name} (PRINTFLOOR_TEST_SEED={seed})");
        postgres.unwrap_or_else(Self::sqlite)
    }

    /// Returns the shop that a server on this database starts with; `None` if the server creates one in an empty
    /// database, because the test requires its `own_shop` or the database is not a copy.
    pub(super) async fn template(&mut self, own_shop: bool) -> Option<Template> {
        let Some(url) = self.url() else {
            return match self.staff {
                _ if own_shop => None,
                Some(member) => Some(Box::pin(Template::with_staff(member)).await),
                None => Some(Template::on_sqlite().await),
            };
        };
        let template = self.template.take()?;
        if own_shop {
            remove_tables(&url).await;
            return None;
        }
        Some(template)
    }

    /// Returns the value of `DATABASE_URL`; `None` for the embedded default.
    pub fn url(&self) -> Option<String> {
        let (server, name) = self.postgres.as_ref()?;
        Some(address_of(server, name))
    }

    fn address(&self, app: &App) -> String {
        self.url().unwrap_or_else(|| format!("sqlite:{}", app.data().join("printfloor.db").display()))
    }

    /// Changes a server's database behind its back.
    pub async fn execute(&self, app: &App, sql: &str) {
        run(&self.address(app), sql).await;
    }

    /// Changes the audit log in a server's database, as only the owner of the database can.
    pub async fn tamper(&self, app: &App, sql: &str) {
        let db = open(&self.address(app)).await;
        unlock_audit_log(&db).await;
        db.execute_unprepared(sql).await.expect(sql);
        db.close().await.unwrap();
    }

    /// Replaces the contents of a server's database with those of an older release: this many migrations, and these
    /// rows.
    pub async fn become_release(&self, app: &App, release: usize, rows: &[String]) {
        let url = match self.url() {
            Some(url) => {
                remove_tables(&url).await;
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

    /// Returns the number of migrations applied to a server's database.
    pub async fn migrations(&self, app: &App) -> i64 {
        self.query_number(app, "SELECT COUNT(*) FROM seaql_migrations").await
    }

    /// Queries a single number from a server's database.
    pub async fn query_number(&self, app: &App, sql: &str) -> i64 {
        query_number_at(&self.address(app), sql).await
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
