//! Kills after each statement of each migration: the database opens afterwards, with all tables and everything that
//! older releases had written.

mod expand;
pub mod released;
pub mod schema;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use migrations::{Migrator, MigratorTrait};
use printfloor::store::connect;
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::chaos::from_env;
use crate::cli::SERVE;
use crate::cli::process::Place;
use crate::support::database::{TestDatabase, on_both_databases, on_postgres, until};

/// Seed if `PRINTFLOOR_TEST_SEED` is not set.
const USUAL_SEED: u64 = 1;

type OnStatement = Box<dyn FnMut() + Send>;

/// Calls a callback after each statement that a database has executed, on the thread that executed it.
struct Statements(Arc<Mutex<Option<OnStatement>>>);

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::query"
            && let Some(executed) = self.0.lock().unwrap().as_mut()
        {
            executed();
        }
    }
}

/// Starts watching the statements of connections that log them; returns the place for the callback.
fn watch() -> Arc<Mutex<Option<OnStatement>>> {
    let executed: Arc<Mutex<Option<OnStatement>>> = Arc::default();
    let layer = tracing_subscriber::registry().with(Statements(executed.clone()));
    tracing::subscriber::set_global_default(layer).expect("each test runs in a process of its own");
    executed
}

/// Opens a connection; `is_logged` decides whether its statements can be watched.
pub async fn connection(url: &str, is_logged: bool) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(is_logged);
    options.map_sqlx_sqlite_opts(|options| options.pragma("journal_mode", "WAL"));
    Database::connect(options).await.unwrap()
}

/// Generates a test for each number of migrations that have been applied beforehand: on an empty database, and on the
/// data of releases of that time.
macro_rules! of_each_release {
    ($($name:ident $release:literal),+: $check:path) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            $check($release).await;
        }
    )+};
}

/// Migrates a database to the state of an older release, with a sample shop.
async fn as_released(database: &TestDatabase, release: usize) {
    if release == 0 {
        return;
    }
    let db = connection(&database.settings.url, false).await;
    Migrator::up(&db, Some(release as u32)).await.unwrap();
    for sql in released::shop(release) {
        db.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    db.close().await.unwrap();
}

mod a_file_opens_after_a_kill_at_any_statement {
    of_each_release!(empty 0, of_1 1, of_5 5, of_6 6: super::kill_on_sqlite);
}

/// Tests for each run: they start with no release and with the first one, from which all migrations are applied.
mod a_postgres_database_opens_after_a_kill_at_any_statement {
    of_each_release!(empty 0, of_1 1: super::kill_at_drawn_statements);

    mod long {
        of_each_release!(empty 0, of_1 1, of_5 5, of_6 6: super::super::kill_at_each_statement);
    }
}

async fn kill_on_sqlite(release: usize) {
    let executed = watch();
    let database = TestDatabase::sqlite();
    as_released(&database, release).await;
    let db = connection(&database.settings.url, true).await;
    let copies = tempfile::tempdir().unwrap();
    let (from, to) = (database.folder.path().to_owned(), copies.path().to_owned());
    let (statements, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(BTreeSet::new())));
    // What is in the files at this moment is what a kill would leave. Most statements leave the files as they were,
    // because their transaction is still open: each state is kept once.
    *executed.lock().unwrap() = Some(Box::new({
        let (statements, left) = (statements.clone(), left.clone());
        move || {
            let count = statements.fetch_add(1, Relaxed);
            if left.lock().unwrap().insert(digest(&from)) {
                copy(&from, &to.join(format!("{count:04}")));
            }
        }
    }));
    Migrator::up(&db, None).await.unwrap();
    *executed.lock().unwrap() = None;
    copy(database.folder.path(), &copies.path().join("last"));
    db.close().await.unwrap();

    let mut applied = BTreeSet::new();
    for folder in std::fs::read_dir(copies.path()).unwrap() {
        let killed = TestDatabase::in_folder(folder.unwrap().path());
        applied.insert(opens(&killed, release).await);
    }
    let statements = statements.load(Relaxed);
    assert!(release > 0 || statements > 50, "each table and index is a statement: {statements}");
    assert_eq!(applied, (release as i64..=count()).collect(), "killed before, between and after the migrations");
}

/// Selection of the statements after which the process is killed.
#[derive(Clone, Copy)]
struct Kills {
    /// Maximum number of migrations that one process applies, so that no kill skips one; `None` for all of them.
    steps: Option<u32>,
    /// Distance between killed statements; the first one is chosen randomly for each migration.
    distance: usize,
    /// One in this many databases left by a complete migration is opened; databases left by an incomplete one always
    /// are.
    opened_of: usize,
}

async fn kill_at_drawn_statements(release: usize) {
    kill_on_postgres(release, Kills { steps: Some(1), distance: 8, opened_of: 3 }).await;
}

async fn kill_at_each_statement(release: usize) {
    kill_on_postgres(release, Kills { steps: None, distance: 1, opened_of: 1 }).await;
}

/// Kills the process at statements of each migration. The result is opened once for each distinct state of the
/// database, because an interrupted transaction should leave nothing behind, which is checked rather than assumed.
async fn kill_on_postgres(release: usize, which: Kills) {
    let executed = watch();
    let seed = from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED);
    eprintln!("PRINTFLOOR_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let kills = Arc::new(AtomicUsize::new(0));
    let counted = kills.clone();
    on_postgres(|database| async move {
        as_released(&database, release).await;
        let watching = connection(&database.settings.url, false).await;
        let (mut left, mut applied) = (BTreeSet::from([state(&watching).await]), BTreeSet::new());
        applied.insert(opens_a_copy(&database, &watching, release).await);
        // Counted anew whenever a migration took effect, because the next run begins after it.
        let mut kill_at = random.usize(1..=which.distance);
        loop {
            let ended = migrates_until(&database, &watching, &executed, (which.steps, kill_at)).await;
            counted.fetch_add(usize::from(!ended), Relaxed);
            if left.insert(state(&watching).await) {
                let recorded: i64 =
                    texts(&watching, "SELECT COUNT(*)::text FROM seaql_migrations").await[0].parse().unwrap();
                let is_opened = applied.contains(&recorded) || random.usize(..which.opened_of) == 0;
                let opened = if is_opened { opens_a_copy(&database, &watching, release).await } else { recorded };
                applied.insert(opened);
                kill_at = random.usize(1..=which.distance);
            } else if ended {
                break;
            } else {
                kill_at += which.distance;
            }
        }
        watching.close().await.unwrap();
        applied.insert(opens(&database, release).await);
        assert_eq!(applied, (release as i64..=count()).collect(), "killed before, between and after the migrations");
    })
    .await;
    let (kills, least) = (kills.load(Relaxed), 50 / which.distance);
    assert!(kills > least || std::env::var_os("PRINTFLOOR_TEST_POSTGRES").is_none(), "each table and index: {kills}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_database_of_each_release_opens() {
    for release in [1, 5, 6] {
        on_postgres(|database| async move {
            as_released(&database, release).await;
            assert_eq!(opens(&database, release).await, release as i64);
        })
        .await;
    }
}

/// Applies this many migrations, or all of them, and is killed after this many statements; returns whether it finished
/// before. The thread that executed the last statement blocks until the kill is over, so that nothing else is sent
/// meanwhile, however fast the database responds.
async fn migrates_until(
    database: &TestDatabase,
    watching: &DatabaseConnection,
    executed: &Mutex<Option<OnStatement>>,
    (steps, kill_at): (Option<u32>, usize),
) -> bool {
    let db = connection(&database.settings.url, true).await;
    let (kill, mut killed) = mpsc::unbounded_channel();
    let (over, stands) = std::sync::mpsc::channel::<()>();
    let mut count = 0;
    *executed.lock().unwrap() = Some(Box::new(move || {
        count += 1;
        if count == kill_at {
            let _ = kill.send(());
            let _ = tokio::task::block_in_place(|| stands.recv());
        }
    }));
    let migrated = db.clone();
    let mut migrating = tokio::spawn(async move { Migrator::up(&migrated, steps).await });
    let ended = tokio::select! {
        biased; // the kill comes before anything that the migration does next
        Some(()) = killed.recv() => false,
        done = &mut migrating => {
            done.unwrap().unwrap();
            true
        }
    };
    end_sessions(watching).await;
    drop(over);
    if !ended {
        migrating.abort();
        let _ = migrating.await;
    }
    *executed.lock().unwrap() = None;
    let _ = db.close().await;
    ended
}

/// Terminates all other sessions of a database, and waits until they are gone.
async fn end_sessions(watching: &DatabaseConnection) {
    let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    watching.execute_unprepared(&format!("SELECT pg_terminate_backend(pid) {others}")).await.unwrap();
    let left = format!("SELECT COUNT(*)::text {others}");
    until("the sessions to be over", async || texts(watching, &left).await == ["0"]).await;
}

/// Returns the values of a query's only column.
async fn texts(watching: &DatabaseConnection, sql: &str) -> Vec<String> {
    let rows = watching.query_all_raw(Statement::from_string(watching.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Returns a digest of the tables, columns, indexes and rows of a PostgreSQL database. It is computed after each kill,
/// so it reads the system catalogue directly: the views of the SQL standard take several times as long.
async fn state(watching: &DatabaseConnection) -> String {
    let is_public = "c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'f', 'p')";
    let tables = format!("SELECT c.relname::text FROM pg_class AS c WHERE {is_public} ORDER BY 1");
    let tables = texts(watching, &tables).await;
    let rows = tables.iter().map(|table| {
        format!("SELECT '{table} ' || md5(COALESCE(string_agg(one::text, '|' ORDER BY one::text), '')) FROM \"{table}\" AS one")
    });
    let columns = format!(
        "SELECT c.relname::text || ' ' || a.attname::text || ' ' || format_type(a.atttypid, a.atttypmod) \
         FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
         WHERE {is_public} AND a.attnum > 0 AND NOT a.attisdropped"
    );
    let indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'".to_owned();
    let all: Vec<String> = [columns, indexes].into_iter().chain(rows).collect();
    texts(watching, &format!("{} ORDER BY 1", all.join(" UNION ALL "))).await.join("\n")
}

/// Checks a copy of a PostgreSQL database as [`opens`] does; nothing else may use the database meanwhile.
async fn opens_a_copy(database: &TestDatabase, watching: &DatabaseConnection, release: usize) -> i64 {
    let name = database.settings.url.rsplit('/').next().unwrap();
    let url = format!("{}_copy", database.settings.url);
    watching.execute_unprepared(&format!("CREATE DATABASE {name}_copy TEMPLATE {name}")).await.unwrap();
    let settings = connect::DatabaseSettings { url, ..database.settings.clone() };
    let copied = TestDatabase { settings, folder: database.folder.clone() };
    let applied = opens(&copied, release).await;
    watching.execute_unprepared(&format!("DROP DATABASE {name}_copy WITH (FORCE)")).await.unwrap();
    applied
}

fn count() -> i64 {
    Migrator::migrations().len() as i64
}

/// Opens the database as the server does, and checks that no migration is pending and that the release's data is read
/// correctly. Returns the number of migrations that had been applied before.
async fn opens(database: &TestDatabase, release: usize) -> i64 {
    let recorded = if database.is_postgres() {
        "SELECT COUNT(*) FROM pg_tables WHERE tablename = 'seaql_migrations'"
    } else {
        "SELECT COUNT(*) FROM sqlite_master WHERE name = 'seaql_migrations'"
    };
    let recorded = database.number(recorded).await == 1;
    let applied = if recorded { database.number("SELECT COUNT(*) FROM seaql_migrations").await } else { 0 };
    let writing = connect::start(&database.settings).await.unwrap();
    let pending = Migrator::get_pending_migrations(&writing.db).await.unwrap();
    assert!(pending.is_empty());
    writing.db.close().await.unwrap();
    if release == 0 {
        assert_eq!(database.number("SELECT COUNT(*) FROM orders").await, 0);
    } else {
        released::is_read_right(database).await;
    }
    applied
}

/// Number of migrations before the one that lets lists show which jobs are not signed off.
const BEFORE_UNSIGNED: u32 = 21;

/// Checks that parts printed before the update still have to be signed off.
async fn jobs_that_nobody_signed_off_are_listed_after_an_update(database: TestDatabase) {
    let db = connection(&database.settings.url, false).await;
    Migrator::up(&db, Some(BEFORE_UNSIGNED)).await.unwrap();
    for sql in released::printed_jobs() {
        db.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    db.close().await.unwrap();
    connect::start(&database.settings).await.unwrap().db.close().await.unwrap();
    assert_eq!(released::listed_as_unsigned(&database).await, [true, false, false]);
}

on_both_databases!(empty: jobs_that_nobody_signed_off_are_listed_after_an_update);

/// Starts a newer server alongside an older running one: it does not touch the tables until the older one has stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_server_migrates_only_under_the_lock() {
    on_postgres(|database| async move {
        let before = count() as u32 - 1;
        let holder = connection(&database.settings.url, false).await;
        Migrator::up(&holder, Some(before)).await.unwrap();
        // The key of the lock is the same in all releases, or an older server would not keep a newer one off.
        let lock = "SELECT pg_advisory_lock(x'5072696e74666c6f'::bigint)";
        holder.execute_unprepared(lock).await.unwrap();
        let state_before = state(&holder).await;
        let refused = connect::start(&database.settings).await;
        assert!(matches!(refused, Err(connect::OpenError::InUse)), "{:?}", refused.err());
        assert_eq!(state(&holder).await, state_before, "neither tables nor the epoch");
        holder.close().await.unwrap();
        let writing = connect::start(&database.settings).await.unwrap();
        assert!(Migrator::get_pending_migrations(&writing.db).await.unwrap().is_empty());
        writing.db.close().await.unwrap();
    })
    .await;
}

/// Checks that a newer server does not touch a SQLite database while another server holds the lock of its data folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_server_leaves_the_file_alone_while_its_folder_is_locked() {
    let place = Place::new();
    place.done("key create --new --data data --name x --role admin");
    let data = place.path().join("data");
    for file in ["printfloor.db-wal", "printfloor.db-shm", "printfloor.db"] {
        let _ = std::fs::remove_file(data.join(file));
    }
    let url = format!("sqlite://{}?mode=rwc", data.join("printfloor.db").display());
    let db = connection(&url, false).await;
    Migrator::up(&db, Some(count() as u32 - 1)).await.unwrap();
    let lock = std::fs::File::options().read(true).write(true).open(data.join("lock")).unwrap();
    lock.try_lock().expect("whoever made the key has let go of it");
    let ended = place.run(SERVE);
    assert!(ended.err.contains("is in use by another printfloor server"), "{ended:?}");
    assert_eq!(Migrator::get_pending_migrations(&db).await.unwrap().len(), 1);
    lock.unlock().unwrap();
    place.done("key create --data data --name y --role admin");
    assert!(Migrator::get_pending_migrations(&db).await.unwrap().is_empty());
    db.close().await.unwrap();
}

/// Returns a digest of all files in a folder that contain data; the index of the write-ahead log is excluded because it
/// is rebuilt on opening.
fn digest(folder: &Path) -> Vec<u8> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| !file.to_string_lossy().ends_with("-shm"));
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(file.file_name().unwrap().as_encoded_bytes());
        hasher.update(std::fs::read(&file).unwrap());
    }
    hasher.finalize().to_vec()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}
