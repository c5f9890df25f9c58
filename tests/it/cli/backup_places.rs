//! Backups in folders and buckets: created with a timestamp in their names, verified, and restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::api::backup::file_of;
use crate::billing::invoices::sent;
use crate::support::drawing::draw;
use crate::support::moto::Moto;
use crate::support::{App, Db, on_sqlite, until};

pub const BUCKET: &str = "copies";
/// Folder of the backups in the bucket.
const FOLDER: &str = "shop/daily";
const KEY_ID: &str = "PRINTFLOOR_OBJECT_STORAGE__ACCESS_KEY_ID";

/// Configures the commands of a server to use the bucket.
pub fn use_bucket(app: &mut App, moto: &Moto) {
    app.set_env("PRINTFLOOR_OBJECT_STORAGE__ENDPOINT", &moto.url);
    app.set_env(KEY_ID, "AKIATEST");
    app.set_env("OBJECT_STORAGE_SECRET_KEY", "a secret of the test");
}

/// Creates a folder for temporary files, and configures the commands of a server to use it.
pub fn temporary_folder(app: &mut App) -> PathBuf {
    let temporary = app.folder().join("temporary");
    fs::create_dir(&temporary).unwrap();
    app.set_env("TMPDIR", temporary.to_str().unwrap());
    temporary
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Creates a backup at this place in the bucket; returns its address. Names contain the second of creation, and an
/// abandoned backup may still be running, so the command is retried.
async fn backup(app: &App, place: &str) -> String {
    let words = until("a backup", || async { app.try_command(&["backup", "--to", place], "").ok() }).await;
    assert!(words.starts_with(place) && words.contains("all verified"), "{words}");
    words.split_once(": ").unwrap().0.to_owned()
}

#[tokio::test]
async fn a_backup_in_a_folder_has_the_time_in_its_name() {
    let app = App::new(Db::sqlite()).await;
    let folder = app.folder().join("backups");
    fs::create_dir(&folder).unwrap();
    let words = app.command(&["backup", "--to", folder.to_str().unwrap()], "");
    let names = names_in(&folder);
    assert!(names.len() == 1 && words.contains(&names[0]) && words.contains("all verified"), "{names:?}: {words}");
    assert!(names[0].starts_with("printfloor-backup-2") && names[0].ends_with("Z.tar"), "{names:?}");
    let missing = app.try_command(&["backup", "--to", app.folder().join("none").to_str().unwrap()], "").unwrap_err();
    assert!(missing.contains("cannot be written"), "{missing}");
    let place = "s3://copies/shop/daily";
    let unset = app.try_command(&["backup", "--to", place], "").unwrap_err();
    assert!(unset.contains(place) && unset.contains("object_storage.access_key_id"), "{unset}");
}

on_sqlite! {
    async fn a_backup_in_a_bucket_is_verified_and_restored_from_there(db: Db) {
        let Some(moto) = Moto::bucket(BUCKET).await else { return };
        let place = moto.place(FOLDER);
        let mut app = App::new(db).await;
        use_bucket(&mut app, &moto);
        let temporary = temporary_folder(&mut app);
        sent(&app, "ann@example.org").await;
        backup(&app, &place).await;
        sent(&app, "bob@example.org").await;
        let address = backup(&app, &place).await;
        assert!(names_in(&temporary).is_empty(), "nothing is left behind");
        let verified = app.command(&["backup", "verify", &address], "");
        assert!(verified.contains("  invoice: 2\n"), "{verified}");
        app.stop().await;

        let other = if app.db.url().is_some() { Db::postgres().await.unwrap() } else { Db::sqlite() };
        let mut restored = App::on(other).secrets_of(&app).prepare();
        use_bucket(&mut restored, &moto);
        let (empty, unused) = (moto.place("other"), moto.place("shop/none.tar"));
        let none = restored.try_command(&["restore", "--from", &empty], "").unwrap_err();
        assert!(none.contains(&format!("{empty} contains no backup")), "{none}");
        let missing = restored.try_command(&["restore", &unused], "").unwrap_err();
        assert!(missing.contains(&format!("{unused}: the object does not exist")), "{missing}");
        // A folder gives the newest.
        let words = restored.command(&["restore", "--from", &place], "");
        assert!(words.contains("all verified"), "{words}");
        restored.start().await;
        let back = restored.with_key(app.key.as_deref().unwrap());
        let invoices = back.get("/api/invoices").await.expect(200);
        assert_eq!(invoices["pagination"]["total"], 2, "{invoices}");
    }

    async fn a_backup_that_is_killed_on_its_way_is_no_object(db: Db) {
        let Some(moto) = Moto::bucket(BUCKET).await else { return };
        let place = moto.place(FOLDER);
        let mut app = App::new(db).await;
        use_bucket(&mut app, &moto);
        temporary_folder(&mut app);
        // Of several parts.
        file_of(&app, 20 * 1024 * 1024).await;
        for kill in 0..3 {
            let after = Duration::from_millis(draw(("backup on its way", kill), 1500));
            app.command_killed(&["backup", "--to", &place], after);
            match app.try_command(&["backup", "verify", &place], "") {
                Ok(words) => assert!(words.contains("records can be read"), "killed behind its end: {words}"),
                Err(words) => assert!(words.contains("contains no backup"), "{words}"),
            }
        }
        let address = backup(&app, &place).await;
        app.command(&["backup", "verify", &address], "");
    }
}
