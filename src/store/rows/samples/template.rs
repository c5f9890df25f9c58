//! PostgreSQL database with all tables, which the tests of a run copy: only the first one waits for the migrations.

use migrations::{Migrator, MigratorTrait};
use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, Statement, TransactionTrait};

use super::{address, connect};

/// Prefix of the names of these databases; the name of the run follows.
const PREFIX: &str = "printfloor_tables_";
/// Key of the advisory lock that a test holds while it looks for the database and creates it.
const TEMPLATE_LOCK_KEY: i64 = 0x5072_696e_7454_6162;
/// Condition for databases of runs that are long over.
const STALE: &str =
    "(pg_stat_file('base/' || oid::text || '/PG_VERSION', true)).modification < now() - interval '6 hours'";

/// Returns the name of a database on this server that has all tables, and to which nobody can connect. The first test
/// of a run creates it.
pub async fn migrated_postgres(admin: &str) -> String {
    let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
    let name = format!("{PREFIX}{}", run.replace('-', "_"));
    let server = connect(admin).await;
    // Other processes wait for the end of this transaction.
    let lock = server.begin().await.unwrap();
    lock.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({TEMPLATE_LOCK_KEY})")).await.unwrap();
    if databases(&server, &format!("datname = '{name}' AND NOT datallowconn")).await.is_empty() {
        let stale = databases(&server, &format!("datname LIKE '{PREFIX}%' AND {STALE}")).await;
        for old in stale.iter().chain([&name]) {
            server.execute_unprepared(&format!("DROP DATABASE IF EXISTS {old} WITH (FORCE)")).await.unwrap();
        }
        server.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let db = connect(&address(admin, &name)).await;
        Migrator::up(&db, None).await.unwrap();
        db.close().await.unwrap();
        // It could not be copied while somebody is connected to it. This comes last: it says that the database is
        // whole.
        server.execute_unprepared(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    }
    lock.rollback().await.unwrap();
    server.close().await.unwrap();
    name
}

/// Lists the names of the databases for which a condition holds.
async fn databases(server: &DatabaseConnection, condition: &str) -> Vec<String> {
    let sql = format!("SELECT datname::text AS name FROM pg_database WHERE {condition}");
    let rows = server.query_all_raw(Statement::from_string(DatabaseBackend::Postgres, sql)).await.unwrap();
    rows.iter().map(|row| row.try_get("", "name").unwrap()).collect()
}
