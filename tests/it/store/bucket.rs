//! Files in a bucket, on a real S3-compatible server: no file exists only on the server's disk.

use std::path::Path;

use serde_json::json;
use simulator::PrinterKind;

use crate::billing::invoices::sent;
use crate::machines::files::big_gcode;
use crate::machines::{FAST, Floor};
use crate::support::app::Builder;
use crate::support::moto::Moto;
use crate::support::ports::free_port;
use crate::support::{App, Db, until};

pub const BUCKET: &str = "shop";
/// Folder of the files in the bucket.
pub const FOLDER: &str = "live";
/// Location of the files in a bucket that has exactly that name.
const PLACE: &str = "s3://shop/live";
/// Size of a file uploaded in several parts, in bytes.
const LARGE_BYTES: usize = 20 * 1024 * 1024;

/// Returns the settings of a server whose files are at this location.
pub fn settings(url: &str, place: &str) -> [(&'static str, String); 4] {
    [
        ("PRINTFLOOR_FILES__DIR", place.to_owned()),
        ("PRINTFLOOR_OBJECT_STORAGE__ENDPOINT", url.to_owned()),
        ("PRINTFLOOR_OBJECT_STORAGE__ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("OBJECT_STORAGE_SECRET_KEY", "a secret of the test".to_owned()),
    ]
}

fn with_files(builder: Builder, url: &str, place: &str) -> Builder {
    settings(url, place).iter().fold(builder, |builder, (name, value)| builder.env(name, value))
}

/// Starts a floor whose files are in the bucket.
async fn floor(moto: &Moto) -> Floor {
    let settings = settings(&moto.url, &moto.place(FOLDER));
    let env: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Floor::on(Db::sqlite(), PrinterKind::FwRest, 1, FAST, &env).await
}

/// Returns the object key of the file with this hash.
fn key(sha256: &str) -> String {
    format!("live/files/{}/{sha256}", &sha256[..2])
}

/// Restarts a server as on another machine, without its local copies of files.
async fn restart_without_copies(app: &mut App) {
    app.stop().await;
    std::fs::remove_dir_all(app.data().join("file-cache")).unwrap();
    app.start().await;
}

/// Counts the files below a folder, which may not exist.
fn files_below(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_in_a_bucket_are_printed_and_handed_out_and_stay_while_another_shop_may_use_the_place() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let mut floor = floor(&moto).await;
    let large = floor.big_file("large", LARGE_BYTES).await;
    let (id, sha256) = (large["id"].as_str().unwrap(), large["sha256"].as_str().unwrap());
    assert!(moto.keys().await.contains(&key(sha256)));
    assert!(!floor.app.data().join("files").join(&sha256[..2]).join(sha256).exists());
    let content = big_gcode(LARGE_BYTES);
    restart_without_copies(&mut floor.app).await;
    let answer = floor.app.get(&format!("/api/files/{id}/content")).await;
    assert!(answer.text.as_bytes() == content, "it is as it was sent");
    floor.connection_is(0, "connected").await;
    let order = floor.order(1).await;
    floor.app.order_is(&order, "ready").await;
    assert_eq!(floor.finished(0), 1);
    floor.app.delete(&format!("/api/files/{id}")).await.expect(204);
    assert_eq!(floor.app.get(&format!("/api/files/{id}/content")).await.status, 404);
    // The mark of this server has not stood for hours: the file may be that of a shop which was cloned.
    let keys = moto.keys().await;
    assert!(keys.contains(&key(sha256)), "{keys:?}");
    assert_eq!(files_below(&floor.app.data().join("file-cache/incoming")), 0);
}

#[tokio::test]
async fn documents_are_in_the_bucket_for_files_and_handed_out_by_the_server() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let mut app = with_files(App::on(Db::sqlite()).with_public_url(), &moto.url, &moto.place(FOLDER)).start().await;
    let invoice = sent(&app, "ann@example.org").await;
    let url = app.act(&format!("/api/invoices/{invoice}/pdf")).await.expect(200)["pdfUrl"].clone();
    let path = url.as_str().unwrap().strip_prefix(app.public_url()).unwrap().to_owned();
    let stored = moto.keys().await;
    assert!(stored.contains(&format!("live{path}")), "{path}: {stored:?}");
    restart_without_copies(&mut app).await;
    let pdf = app.nobody().get(&path).await;
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")));
    assert_eq!(files_below(&app.data().join("documents")), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_is_away_stops_only_what_needs_files() {
    let Some(mut moto) = Moto::start(BUCKET).await else { return };
    let mut floor = floor(&moto).await;
    let large = floor.big_file("large", LARGE_BYTES).await;
    restart_without_copies(&mut floor.app).await;
    let app = &floor.app;
    let copied = app.gcode("copied", 60, 1.0).await;
    moto.end();
    for answer in [
        app.upload("other.gcode", simulator::gcode::gcode("other", 60, 1.0, 330.0).into_bytes()).await,
        app.get(&format!("/api/files/{}/content", large["id"].as_str().unwrap())).await,
    ] {
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
        assert_eq!(answer.error(503), "storage_unavailable");
    }
    assert_eq!(app.get(&format!("/api/files/{copied}/content")).await.status, 200, "there is a copy");
    app.material("PETG", 100.0).await;
    app.get("/readyz").await.expect(200);
    // What has a copy is printed as well.
    let sku = app.sku("COPIED", &floor.material, &copied, 900).await;
    let order = app.paid_order(&sku, 1).await;
    app.order_is(&order, "ready").await;
}

/// Starts a server with this object storage, which must fail; returns its log and the error of `printfloor check`.
async fn refusal(url: &str) -> (String, String) {
    let mut app = with_files(App::on(Db::sqlite()), url, PLACE).prepare();
    app.spawn();
    assert!(!app.ended().await, "it is an error");
    (app.log().join("\n"), app.try_command(&["check"], "").unwrap_err())
}

#[tokio::test]
async fn a_bucket_that_cannot_be_used_is_told_at_the_start() {
    let (log, check) = refusal(&format!("http://127.0.0.1:{}", free_port())).await;
    for words in [log, check] {
        assert!(words.contains(&format!("{PLACE}, cannot be used: object storage did not respond")), "{words}");
    }
    let Some(moto) = Moto::start("another").await else { return };
    let (log, check) = refusal(&moto.url).await;
    for words in [log, check] {
        assert!(words.contains(&format!("{PLACE}, cannot be used")) && words.contains("does not exist"), "{words}");
    }
    moto.reject_keys().await;
    let (log, check) = refusal(&moto.url).await;
    for words in [log, check] {
        assert!(words.contains(&format!("{PLACE}, cannot be used: object storage denied access")), "{words}");
    }
}

#[tokio::test]
async fn a_backup_of_files_in_a_bucket_is_restored_into_an_empty_place() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let mut app = with_files(App::on(Db::sqlite()), &moto.url, &moto.place(FOLDER)).start().await;
    let large = app.upload("large.gcode", big_gcode(LARGE_BYTES)).await.expect(201);
    let small = app.gcode("small", 60, 1.0).await;
    let file = app.folder().join("backup.tar").display().to_string();
    app.command(&["backup", &file], "");
    let verified = app.command(&["backup", "verify", &file], "");
    assert!(verified.contains("records can be read"), "{verified}");
    let small_text = app.get(&format!("/api/files/{small}/content")).await.text;
    app.stop().await;

    let prepare = |place: &str| with_files(App::on(Db::sqlite()), &moto.url, place).secrets_of(&app).prepare();
    let place = moto.place(FOLDER);
    let refused = prepare(&place).try_command(&["restore", &file], "").unwrap_err();
    assert!(refused.contains(&format!("{place} is not empty")), "{refused}");
    let mut restored = prepare(&moto.place("restored"));
    let words = restored.command(&["restore", &file], "");
    assert!(words.contains("all verified"), "{words}");
    let keys = moto.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with("restored/restore")), "it is complete: {keys:?}");
    assert_eq!(files_below(&restored.data().join("file-cache")), 0, "the files are in the bucket");
    restored.start().await;
    let back = restored.with_key(app.key.as_deref().unwrap());
    assert_eq!(back.get(&format!("/api/files/{small}/content")).await.text, small_text);
    let content = back.get(&format!("/api/files/{}/content", large["id"].as_str().unwrap())).await;
    assert!(content.text.as_bytes() == big_gcode(LARGE_BYTES));
}

#[tokio::test]
async fn an_export_is_in_the_bucket() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let mut app = with_files(App::on(Db::sqlite()), &moto.url, &moto.place(FOLDER)).start().await;
    app.gcode("small", 60, 1.0).await;
    sent(&app, "ann@example.org").await;
    let export = app.post("/api/exports", &json!({"type": "invoices"})).await.expect(201);
    let path = format!("/api/exports/{}", export["id"].as_str().unwrap());
    until("the export to be ready", || async { (app.get(&path).await.expect(200)["state"] == "ready").then_some(()) })
        .await;
    let table = app.get(&format!("{path}/file")).await.text;
    assert!(table.contains("ann@example.org"), "{table}");
    let keys = moto.keys().await;
    let pieces: Vec<&String> = keys.iter().filter(|key| key.starts_with("live/exports/")).collect();
    assert!(!pieces.is_empty(), "{keys:?}");
    restart_without_copies(&mut app).await;
    assert_eq!(app.get(&format!("{path}/file")).await.text, table);
    assert_eq!(files_below(&app.data().join("exports")), 0);
    for piece in pieces {
        moto.remove(piece).await;
    }
    assert_eq!(app.get(&format!("{path}/file")).await.error(409), "export_not_ready");
}
