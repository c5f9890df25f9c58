//! Killed restores: no server starts on their remains, and the next restore starts afresh.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::backups::keys_below;
use super::source::{Source, StoredFiles, clear_temporary, hash, stored_files};
use super::{Attempt, Kill, Remains, Round};
use crate::cli::backup_places::{BUCKET, names_in, temporary_folder, use_bucket};
use crate::cli::transfer::origin;
use crate::support::contents::contents_at;
use crate::support::db::query_number_at;
use crate::support::moto::Moto;
use crate::support::{App, Db};

/// Number of tables in a PostgreSQL database.
const TABLES: &str = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'";
/// Number of tables that mark a PostgreSQL database as an unfinished restore.
const UNFINISHED_MARKS: &str =
    "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public' AND tablename = 'printfloor_restore_unfinished'";
/// One in this many complete restores is also started.
const STARTED_SHARE: u64 = 8;

/// Restores a backup into an empty folder and database; the first attempt is killed.
pub async fn restore(source: &Source, place: &str, moto: Option<&Moto>, kill: &Kill) -> Round {
    let target = Target::prepare(source, moto).await;
    attempt_twice(source, target, place, kill).await
}

/// Restores a backup from a file, with the shop's files in the bucket.
pub async fn restore_into_bucket(source: &Source, moto: &Moto, kill: &Kill) -> Round {
    let mut target = Target::prepare(source, Some(moto)).await;
    let folder = format!("restored-{}", kill.round);
    target.app.set_env("PRINTFLOOR_FILES__DIR", &format!("s3://{BUCKET}/{folder}"));
    target.bucket = Some((moto, folder));
    attempt_twice(source, target, source.backup(), kill).await
}

async fn attempt_twice(source: &Source, mut target: Target<'_>, place: &str, kill: &Kill) -> Round {
    let arguments = ["restore", place];
    kill.strike(&target.app, &arguments);
    let remains = target.remains().await;
    let is_marked = fs::read(target.mark()).is_ok_and(|mark| mark.ends_with(b"}"));
    let attempt = Attempt::of(&target.app, &arguments);
    match remains {
        Remains::Whole => attempt.was_refused("is not empty"),
        // The kill may have come while the mark was being written, before anything else.
        Remains::Unfinished if is_marked => {
            attempt.succeeded(&["restored into ", "all verified", "interrupted", "/shop/settings/restore"]);
        }
        _ => attempt.succeeded(&["restored into ", "all verified", "/shop/settings/restore"]),
    }
    target.must_be_whole(source).await;
    if kill.round.is_multiple_of(STARTED_SHARE) {
        target.must_start(source).await;
    }
    target.empty_bucket().await;
    Round { remains, took: attempt.took }
}

/// Place of a shop that is being restored.
struct Target<'a> {
    app: App,
    temporary: PathBuf,
    /// The bucket, and the folder in it for the shop's files.
    bucket: Option<(&'a Moto, String)>,
}

impl<'a> Target<'a> {
    /// Prepares an empty folder and an empty database, with the shop's secrets.
    async fn prepare(source: &Source, moto: Option<&'a Moto>) -> Self {
        let db = if source.is_sqlite() { Db::sqlite() } else { Db::postgres().await.unwrap() };
        let mut app = App::on(db).secrets_of(&source.app).prepare();
        if let Some(moto) = moto {
            use_bucket(&mut app, moto);
        }
        let temporary = temporary_folder(&mut app);
        Self { app, temporary, bucket: None }
    }

    /// Returns the path of the file that marks an unfinished restore.
    fn mark(&self) -> PathBuf {
        self.app.data().join("restore.unfinished")
    }

    /// Returns the state that a killed restore has left, and checks that no server starts on an unfinished one.
    async fn remains(&self) -> Remains {
        clear_temporary(&self.temporary);
        let has_database = match self.app.db.url() {
            Some(url) => query_number_at(&url, TABLES).await > 0,
            None => self.app.data().join("printfloor.db").exists(),
        };
        if !self.mark().exists() {
            if has_database {
                return Remains::Whole;
            }
            let names = if self.app.data().exists() { names_in(&self.app.data()) } else { Vec::new() };
            assert!(names.iter().all(|name| name == "lock"), "{names:?}");
            return Remains::Nothing;
        }
        let is_complete = match self.app.db.url() {
            Some(url) => has_database && query_number_at(&url, UNFINISHED_MARKS).await == 0,
            None => has_database,
        };
        // Only the mark is too much then, which a start would remove.
        if !is_complete {
            // Its input has ended: a server that started all the same would not stay.
            let serve = ["serve", "--end-with-stdin", "--listen", "127.0.0.1:0"];
            let refused = Attempt::of(&self.app, &serve);
            refused.was_refused("was interrupted");
            refused.was_refused("start over");
        }
        Remains::Unfinished
    }

    /// Checks that the restored shop is complete and has no traces of an unfinished restore.
    async fn must_be_whole(&self, source: &Source) {
        assert!(!self.mark().exists());
        if let Some(url) = self.app.db.url() {
            assert_eq!(query_number_at(&url, UNFINISHED_MARKS).await, 0);
        }
        source.must_be_restored(&contents_at(&origin(&self.app)).await);
        assert!(names_in(&self.temporary).is_empty(), "nothing temporary is left");
        let Some((moto, folder)) = &self.bucket else {
            assert_eq!(stored_files(&self.app.data()), source.files);
            return;
        };
        let mut files = StoredFiles::new();
        for key in keys_below(moto, folder).await {
            let content = moto.object(&key).await;
            let name = key.strip_prefix(&format!("{folder}/")).unwrap().to_owned();
            files.insert(name, hash(&content));
        }
        assert_eq!(files, source.files);
        assert!(stored_files(&self.app.data()).is_empty(), "files are in the bucket alone");
    }

    /// Checks that a server starts on the shop and reports the restore.
    async fn must_start(&mut self, source: &Source) {
        self.app.start().await;
        let back = self.app.with_key(source.app.key.as_deref().unwrap());
        assert_eq!(total(&back.get("/api/restores").await.expect(200)), 1);
        assert_eq!(total(&back.get("/api/orders").await.expect(200)), 1);
        self.app.stop().await;
    }

    /// Removes what the shop has in the bucket.
    async fn empty_bucket(&self) {
        let Some((moto, folder)) = &self.bucket else { return };
        for key in keys_below(moto, folder).await {
            moto.remove(&key).await;
        }
    }
}

/// Returns the number of entries of a list of the API.
fn total(list: &Value) -> i64 {
    list["pagination"]["total"].as_i64().unwrap()
}
