//! The process is killed after each statement of each migration: the database opens afterwards, with all tables.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use migrations::{Migrator, MigratorTrait};
use printfloor::store::connect;
use sea_orm::{ConnectOptions, Database, DatabaseConnection};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::support::database::{TestDatabase, on_postgres};

type OnStatement = Box<dyn FnMut() + Send>;

/// Calls back after each statement that a database has executed, on the thread that executed it.
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

/// From now on statements of [`logged`] connections are told.
fn watch() -> Arc<Mutex<Option<OnStatement>>> {
    let executed: Arc<Mutex<Option<OnStatement>>> = Arc::default();
    let layer = tracing_subscriber::registry().with(Statements(executed.clone()));
    tracing::subscriber::set_global_default(layer).expect("each test runs in a process of its own");
    executed
}

/// A connection whose statements are told.
async fn logged(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(true);
    options.map_sqlx_sqlite_opts(|options| options.pragma("journal_mode", "WAL"));
    Database::connect(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_opens_after_a_kill_at_any_statement() {
    let executed = watch();
    let database = TestDatabase::sqlite();
    let db = logged(&database.settings.url).await;
    let copies = tempfile::tempdir().unwrap();
    let (from, to) = (database.folder.path().to_owned(), copies.path().to_owned());
    let (statements, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(BTreeSet::new())));
    // What is in the files at this moment is what a kill would leave. Most statements leave the files as they were, because
    // their transaction is still open: each state is kept once.
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
        let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'seaql_migrations'";
        if killed.number(tables).await == 1 {
            applied.insert(killed.number("SELECT COUNT(*) FROM seaql_migrations").await);
        }
        opens(&killed).await;
    }
    let statements = statements.load(Relaxed);
    assert!(statements > 50, "each table and index is a statement: {statements}");
    let all = Migrator::migrations().len() as i64;
    assert_eq!(applied, (0..=all).collect(), "killed before, between and after the migrations");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_database_opens_after_a_kill_at_any_statement() {
    on_postgres(|database| async move {
        let executed = watch();
        let mut killed_at = 0;
        loop {
            killed_at += 1;
            let db = logged(&database.settings.url).await;
            let (kill, mut killed) = mpsc::unbounded_channel();
            let mut count = 0;
            *executed.lock().unwrap() = Some(Box::new(move || {
                count += 1;
                if count == killed_at {
                    let _ = kill.send(());
                }
            }));
            let ended = tokio::select! {
                biased; // the kill comes before anything that the migration does next
                Some(()) = killed.recv() => false,
                done = Migrator::up(&db, None) => {
                    done.unwrap();
                    true
                }
            };
            *executed.lock().unwrap() = None;
            let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
            database.execute(&format!("SELECT pg_terminate_backend(pid) {others}")).await;
            let _ = db.close().await;
            opens(&database).await;
            if ended {
                break;
            }
            database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await;
        }
        assert!(killed_at > 50, "each table and index is a statement: {killed_at}");
    })
    .await;
}

/// The server's own opening succeeds, and leaves nothing to do.
async fn opens(database: &TestDatabase) {
    let writing = connect::start(&database.settings).await.unwrap();
    let pending = Migrator::get_pending_migrations(&writing.db).await.unwrap();
    assert!(pending.is_empty());
    writing.db.close().await.unwrap();
    assert_eq!(database.number("SELECT COUNT(*) FROM orders").await, 0);
}

/// A digest of all files of a folder that hold data; the index of the write-ahead log is made anew on opening.
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
