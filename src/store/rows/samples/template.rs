//! Databases of tests: one of each kind with all tables, which the tests of a run copy, so that only the first ones
//! wait for the migrations; and the names of all of them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs};

use migrations::{Migrator, MigratorTrait};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, Statement, TransactionTrait,
};

use super::{address, connect};
use platform::secrets::random::secret_bytes;

/// Prefix of the names of databases with all tables; the name of the run follows.
const TABLES_PREFIX: &str = "printfloor_tables_";
/// Prefix of the names of databases with a whole shop; the name of the run follows.
pub const SHOP_PREFIX: &str = "printfloor_template_";
/// Prefix of the names of databases of single tests.
const TEST_PREFIX: &str = "printfloor_test_";
/// Prefix of the names of SQLite files with all tables, in the directory for temporary files; the name of the run
/// follows.
const TABLES_FILE_PREFIX: &str = "printfloor-tables-";
/// Longest time between the start of a run and its last test.
const LONGEST_RUN: Duration = Duration::from_hours(6);
/// Key of the advisory lock that a test holds while it looks for the database and creates it.
const TEMPLATE_LOCK_KEY: i64 = 0x5072_696e_7454_6162;
/// Condition for databases of runs that are long over, or that ended in the middle.
const STALE: &str = "NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datid = pg_database.oid) \
     AND (pg_stat_file('base/' || oid::text || '/PG_VERSION', true)).modification < now() - interval '6 hours'";

/// Name of the run that this process belongs to: the runner's, or one of this process where all tests share it.
static RUN: LazyLock<String> =
    LazyLock::new(|| std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| format!("process-{}", unique_word())));

/// Returns the name of the run that this process belongs to. No other run has it, not even a past one.
pub fn test_run() -> &'static str {
    &RUN
}

/// Returns a name for the database of a single test. No other database has it, not even one that a
/// test left behind.
pub fn unused_database() -> String {
    format!("{TEST_PREFIX}{}", unique_word())
}

/// Returns letters and digits that are random: IDs of processes come again, on this machine and on others.
fn unique_word() -> String {
    format!("{:032x}", u128::from_be_bytes(secret_bytes()))
}

/// Returns the name of a database on this server that has all tables, and accepts no connections. The first test of a
/// run creates it, and removes what earlier runs left behind.
pub async fn migrated_postgres(admin: &str) -> String {
    let name = format!("{TABLES_PREFIX}{}", test_run().replace('-', "_"));
    let server = connect(admin).await;
    // Other processes wait for the end of this transaction.
    let lock = server.begin().await.unwrap();
    lock.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({TEMPLATE_LOCK_KEY})")).await.unwrap();
    if databases(&server, &format!("datname = '{name}' AND NOT datallowconn")).await.is_empty() {
        let of_tests = [TABLES_PREFIX, SHOP_PREFIX, TEST_PREFIX].map(|prefix| format!("datname LIKE '{prefix}%'"));
        let stale = databases(&server, &format!("({}) AND {STALE}", of_tests.join(" OR "))).await;
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

/// Returns an SQLite file that has all tables, which is meant to be copied and never open. The first tests of a run
/// create it, each as a whole, and remove what earlier runs left behind.
pub async fn migrated_sqlite() -> PathBuf {
    let folder = env::temp_dir();
    let file = folder.join(format!("{TABLES_FILE_PREFIX}{}", test_run()));
    if !file.exists() {
        let unfinished = folder.join(format!("{TABLES_FILE_PREFIX}{}", unique_word()));
        let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", unfinished.display()));
        options.max_connections(1).sqlx_logging(false);
        options.map_sqlx_sqlite_opts(|options| options.pragma("synchronous", "OFF"));
        let db = Database::connect(options).await.unwrap();
        Migrator::up(&db, None).await.unwrap();
        db.close().await.unwrap();
        remove_stale_files(TABLES_FILE_PREFIX, &unfinished);
        fs::rename(&unfinished, &file).unwrap();
    }
    file
}

/// Removes the files with this prefix that are in the directory of `newest` and whose runs were long over when that was
/// written.
pub fn remove_stale_files(prefix: &str, newest: &Path) {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let (Some(folder), Some(now)) = (newest.parent(), modified(newest)) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_of_tests = entry.file_name().to_string_lossy().starts_with(prefix);
        let age = modified(&entry.path()).and_then(|time| now.duration_since(time).ok());
        if is_of_tests && age.is_some_and(|age| age > LONGEST_RUN) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Lists the names of the databases for which a condition holds.
async fn databases(server: &DatabaseConnection, condition: &str) -> Vec<String> {
    let sql = format!("SELECT datname::text AS name FROM pg_database WHERE {condition}");
    let rows = server.query_all_raw(Statement::from_string(DatabaseBackend::Postgres, sql)).await.unwrap();
    rows.iter().map(|row| row.try_get("", "name").unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Longest name that PostgreSQL keeps whole, in bytes.
    const MAX_NAME_BYTES: usize = 63;

    #[test]
    fn no_two_databases_of_tests_have_the_same_name() {
        let names: BTreeSet<String> = (0..100).map(|_| unused_database()).collect();
        assert_eq!(names.len(), 100);
        assert_eq!(test_run(), test_run(), "all tests of a process are of one run");
        let of_process = format!("{SHOP_PREFIX}process_{}", unique_word());
        assert!(names.iter().chain([&of_process]).all(|name| name.len() <= MAX_NAME_BYTES), "{names:?} {of_process}");
    }
}
