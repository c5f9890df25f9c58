//! Backups: complete, consistent, and readable with standard tools: `tar`, and `pg_restore` for PostgreSQL.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, Statement};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{id, with_role};
use crate::billing::customer;
use crate::billing::invoices::sent;
use crate::support::{App, Client, Db, on_both, on_sqlite, until};

const PATH: &str = "/api/backup";
/// Size of a file, in bytes, that exceeds all buffers between server and client: a backup with this file stays in
/// progress as long as no one reads it.
const LARGE_BYTES: usize = 48 * 1024 * 1024;

/// Requests a backup without reading the response body.
pub async fn request_backup(client: &Client) -> reqwest::Response {
    client.open(client.request("POST", PATH)).await
}

/// Uploads a file that makes a backup so large that the connection does not take it all at once.
pub async fn large_file(app: &App) -> String {
    file_of(app, LARGE_BYTES).await
}

/// Uploads a G-code file of at least this many bytes; returns its ID.
pub async fn file_of(app: &App, bytes: usize) -> String {
    let mut code = simulator::gcode::gcode("large", 60, 10.0, 3300.0).into_bytes();
    let line = [b"; ".as_slice(), &[b'x'; 1000], b"\n"].concat();
    while code.len() < bytes {
        code.extend_from_slice(&line);
    }
    id(&app.upload("large.gcode", code).await.expect(201))
}

/// Unpacks an archive below this folder; returns the new folder with its files.
pub fn unpacked(archive: &[u8], folder: &Path) -> PathBuf {
    let (file, to) = (folder.join("backup.tar"), folder.join("unpacked"));
    std::fs::write(&file, archive).unwrap();
    std::fs::create_dir(&to).unwrap();
    let done = Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(&to).status().unwrap();
    assert!(done.success(), "{done}");
    to
}

/// Lists the files below a folder, by their paths from it.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    files
}

/// Checks the unpacked files against the manifest, and returns the manifest.
pub fn holds(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let mut named = BTreeSet::from(["manifest.json".to_owned()]);
    for member in manifest["members"].as_array().unwrap() {
        let name = member["name"].as_str().unwrap();
        let content = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(member["bytes"], content.len(), "{name}");
        assert_eq!(member["sha256"], hex::encode(Sha256::digest(&content)), "{name}");
        assert_eq!(folder.join(name).metadata().unwrap().permissions().mode() & 0o077, 0, "{name}");
        assert!(named.insert(name.to_owned()), "{name} stands twice");
    }
    assert_eq!(files_below(folder), named);
    assert_eq!((&manifest["product"], &manifest["version"]), (&json!("Printfloor"), &json!(env!("CARGO_PKG_VERSION"))));
    manifest
}

/// Checks the number of rows in each table of a database against the manifest.
async fn has_rows(url: &str, manifest: &Value) {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let db = Database::connect(options).await.unwrap();
    let number = async |sql: String| {
        let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap().unwrap();
        row.try_get_by_index::<i64>(0).unwrap()
    };
    let rows = manifest["database"]["rows"].as_object().unwrap();
    assert!(rows["orders"] == 2 && rows.len() > 20, "{rows:?}");
    for (table, count) in rows {
        assert_eq!(*count, number(format!("SELECT COUNT(*) FROM \"{table}\"")).await, "{table}");
    }
    let newest = format!(
        "SELECT COUNT(*) FROM seaql_migrations WHERE version = '{}'",
        manifest["schemaVersion"].as_str().unwrap()
    );
    assert_eq!(number(newest).await, 1, "{manifest}");
    db.close().await.unwrap();
}

/// Lists everything that the shop's API shows and that does not change over time.
async fn list_items(client: &Client) -> Vec<Value> {
    let mut all = Vec::new();
    for (path, list, members) in [
        ("/api/orders", "orders", &["id", "number", "status", "totalCents", "customerEmail"][..]),
        ("/api/invoices", "invoices", &["id", "number", "status", "totalCents"][..]),
        ("/api/files", "files", &["id", "name", "sha256", "size"][..]),
        ("/api/skus", "skus", &["id", "code"][..]),
    ] {
        let answer = client.get(path).await.expect(200);
        let items = answer[list].as_array().unwrap_or_else(|| panic!("{path}: {answer}"));
        assert!(!items.is_empty(), "{path}");
        all.extend(items.iter().map(|item| members.iter().map(|name| item[*name].clone()).collect::<Value>()));
    }
    all
}

on_both! {
    async fn a_shop_comes_back_from_its_backup(db: Db) {
        let of_file = db.url().is_none();
        let app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("vase", 240, 14.5).await;
        let sku = app.sku("VASE", &material, &file, 2500).await;
        app.paid_order(&sku, 1).await;
        app.paid_order(&sku, 2).await;
        let ann = customer(&app, "ann@example.org").await;
        let invoice = sent(&app, "ann@example.org").await;
        ann.act(&format!("/api/v1/invoices/{invoice}/pdf")).await.expect(200);

        let answer = request_backup(&app).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "application/x-tar");
        let disposition = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
        assert!(disposition.starts_with("attachment; filename=\"printfloor-backup-2"), "{disposition}");
        assert!(disposition.ends_with(".tar\""), "{disposition}");
        let archive = answer.bytes().await.unwrap();
        assert!(!app.data().join("backup.unfinished").exists(), "something of the backup is left");
        until("the audit log to tell of it", || async {
            let log = app.get("/api/audit-log?action=backup.make").await.expect(200);
            (log["pagination"]["total"] == 1 && log["entries"][0]["outcome"] == "done").then_some(())
        })
        .await;

        let scratch = tempfile::tempdir().unwrap();
        let folder = unpacked(&archive, scratch.path());
        let manifest = holds(&folder);
        let names = files_below(&folder);
        assert!(names.iter().any(|name| name.starts_with("documents/") && name.contains(".pdf")), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("env")), "{names:?}");
        for line in std::fs::read_to_string(app.data().join("secrets.env")).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            let value = value.trim_matches('"').as_bytes();
            assert!(!archive.windows(value.len()).any(|part| part == value), "{name} is in the backup");
        }

        let restored = if of_file {
            assert_eq!(manifest["database"]["kind"], "sqlite");
            has_rows(&format!("sqlite:{}", folder.join("printfloor.db").display()), &manifest).await;
            Db::sqlite()
        } else {
            assert_eq!(manifest["database"]["kind"], "postgresql");
            let dump = folder.join("printfloor.pgdump");
            let listed = Command::new("pg_restore").arg("--list").arg(&dump).output().unwrap();
            let listed = String::from_utf8(listed.stdout).unwrap();
            assert!(listed.contains("TABLE DATA public orders"), "{listed}");
            let empty = Db::postgres().await.unwrap();
            let url = empty.url().unwrap();
            let mut restore = Command::new("pg_restore");
            restore.args(["--no-owner", "--exit-on-error", "--dbname", &url]).arg(&dump);
            let done = restore.output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            has_rows(&url, &manifest).await;
            empty
        };
        let mut other = App::on(restored).secrets_of(&app).prepare();
        std::fs::rename(&folder, other.data()).unwrap();
        other.start().await;
        // The keys of the shop come back with it.
        let back = other.with_key(app.key.as_deref().unwrap());
        assert_eq!(list_items(&back).await, list_items(&app).await);
        let content = format!("/api/files/{file}/content");
        assert_eq!(back.get(&content).await.text, app.get(&content).await.text);
        // And the shop goes on: the next number follows from what was restored.
        let next = back.act(&format!("/api/invoices/{}/send", draft(&back).await)).await.expect(200);
        let existing = app.get(&format!("/api/invoices/{invoice}")).await.expect(200);
        assert_ne!(next["number"], existing["number"], "{next}");
    }
}

on_sqlite! {
    async fn backups_are_for_admins_and_one_at_a_time(db: Db) {
        let mut app = App::new(db).await;
        large_file(&app).await;
        assert_eq!(app.nobody().act(PATH).await.status, 401);
        for role in ["customer", "operator"] {
            assert_eq!(with_role(&app, role).await.act(PATH).await.error(403), "insufficient_role");
        }
        let admin = with_role(&app, "admin").await;
        let first = request_backup(&admin).await;
        assert_eq!(first.status(), 200);
        assert_eq!(app.act(PATH).await.error(409), "backup_under_way");
        // The shop goes on meanwhile.
        let file = app.gcode("meanwhile", 60, 10.0).await;
        app.delete(&format!("/api/files/{file}")).await.expect(204);
        let folder = app.data().join("backup.unfinished");
        assert!(folder.exists());
        // The client goes away: nothing of the backup stays, and the next may begin.
        drop(first);
        until("the folder of the backup to go", || async { (!folder.exists()).then_some(()) }).await;
        let second = until("the next backup to begin", || async {
            let answer = request_backup(&app).await;
            (answer.status() == 200).then_some(answer)
        })
        .await;
        assert!(second.bytes().await.unwrap().len() > LARGE_BYTES);

        // A crash in the middle: the next start cleans up.
        let third = request_backup(&app).await;
        assert_eq!(third.status(), 200);
        assert!(folder.exists());
        app.kill_9();
        assert!(third.bytes().await.is_err(), "what broke off looks whole");
        assert!(folder.exists());
        app.start().await;
        assert!(!folder.exists());
        assert!(request_backup(&app).await.bytes().await.unwrap().len() > LARGE_BYTES);
    }
}

/// Drafts an invoice after the restore; returns its ID.
async fn draft(client: &Client) -> String {
    let new = json!({
        "customerName": "Bob", "customerEmail": "bob@example.org",
        "lineItems": [{"description": "Design", "quantity": 1, "unitPriceCents": 6000}],
    });
    id(&client.post("/api/invoices", &new).await.expect(201))
}

#[tokio::test]
async fn a_missing_or_old_program_of_postgresql_is_named() {
    let Some(db) = Db::postgres().await else { return };
    let programs = tempfile::tempdir().unwrap();
    let mut app = App::on(db).env("PATH", programs.path().display()).start().await;
    let missing = app.act(PATH).await;
    assert!(missing.text.contains("apt install postgresql-client"), "{}", missing.text);
    assert_eq!(missing.error(503), "pg_dump_missing");
    assert!(!app.data().join("backup.unfinished").exists());

    let old = programs.path().join("pg_dump");
    let mut script = std::fs::File::create(&old).unwrap();
    script.write_all(b"#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n").unwrap();
    script.set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
    drop(script);
    let outdated = app.act(PATH).await;
    assert!(outdated.text.contains("is from PostgreSQL 9, but the database is PostgreSQL 1"), "{}", outdated.text);
    assert_eq!(outdated.error(503), "pg_dump_too_old");
    // It has not become worse for the next.
    app.set_env("PATH", &std::env::var("PATH").unwrap());
    app.stop().await;
    app.start().await;
    assert!(request_backup(&app).await.bytes().await.unwrap().len() > 1024);
}
