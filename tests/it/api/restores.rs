//! Backup and restore on the command line, and a restored shop until its review: the shop does nothing by itself and
//! assigns no number twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::backup::file_of;
use super::{id, one_of};
use crate::billing::invoices::sent;
use crate::support::stream::Stream;
use crate::support::waiting::until_seen;
use crate::support::{App, Client, Db, on_both, on_sqlite, until};

/// Size of a file, in bytes, that makes a restore long enough to be interrupted.
const LONG_RESTORE: usize = 16 * 1024 * 1024;

/// Creates an empty database of the same kind.
async fn another(db: &Db) -> Db {
    if db.url().is_none() { Db::sqlite() } else { Db::postgres().await.unwrap() }
}

/// Prepares a server with the same shop's secrets whose data folder and database are empty, and does not start it.
async fn empty(app: &App) -> App {
    App::on(another(&app.db).await).secrets_of(app).prepare()
}

async fn numbers(client: &Client) -> BTreeSet<String> {
    let list = client.get("/api/invoices?limit=200").await.expect(200);
    let all = list["invoices"].as_array().unwrap().iter();
    all.filter_map(|one| one["number"].as_str().map(str::to_owned)).collect()
}

async fn last_event(client: &Client) -> i64 {
    let page = client.get("/api/events?limit=200").await.expect(200);
    page["events"].as_array().unwrap().last().unwrap()["seq"].as_i64().unwrap()
}

async fn the_restore(client: &Client) -> Value {
    let list = client.get("/api/restores").await.expect(200);
    assert_eq!(list["pagination"]["total"], 1, "{list}");
    list["restores"][0].clone()
}

/// Returns the number within the series: 7 for `INV-2026-000007`.
fn ordinal(number: &str) -> i64 {
    number.rsplit_once('-').unwrap().1.parse().unwrap()
}

fn backup_file(app: &App) -> PathBuf {
    app.folder().join("shop.tar")
}

fn backup(app: &App) -> String {
    app.command(&["backup", backup_file(app).to_str().unwrap()], "")
}

fn restore(app: &App, file: &Path) -> String {
    app.command(&["restore", file.to_str().unwrap()], "")
}

on_both! {
    async fn numbers_that_customers_hold_are_not_issued_twice_after_a_restore(db: Db) {
        let mut app = App::new(db).await;
        for n in 0..5 {
            sent(&app, &format!("before{n}@example.org")).await;
        }
        let words = backup(&app);
        assert!(words.contains("all verified"), "{words}");
        // The former shop goes on: four customers get invoices, an order is placed, a program reads all events.
        for n in 0..4 {
            sent(&app, &format!("since{n}@example.org")).await;
        }
        let held = numbers(&app).await;
        assert_eq!(held.len(), 9);
        let head = app.command(&["audit", "head"], "");
        let cursor = last_event(&app).await;
        app.stop().await;

        let mut restored = empty(&app).await;
        let words = restore(&restored, &backup_file(&app));
        assert!(words.contains("all verified"), "{words}");
        restored.start().await;
        let back = restored.with_key(app.key.as_deref().unwrap());
        let existing = numbers(&back).await;
        assert_eq!(existing.len(), 5);
        // The audit log goes on with the restore; what was written since the backup is seen to be missing.
        assert!(restored.command(&["audit", "verify"], "").contains(" lines verified, from "));
        let words = restored.try_command(&["audit", "verify", "--head", head.trim()], "").unwrap_err();
        assert!(words.contains("missing") || words.contains("does not match the given head"), "{words}");
        // What is issued before anybody has looked takes no number of the former shop.
        sent_by(&back, "early@example.org").await;
        let early: Vec<String> = numbers(&back).await.difference(&existing).cloned().collect();
        assert!(early.len() == 1 && !held.contains(&early[0]), "{early:?} of {held:?}");

        // A reader of the former shop is told, and not left with nothing for ever.
        let ahead = back.get(&format!("/api/events?after={cursor}")).await;
        assert_eq!(ahead.error(410), "cursor_ahead");
        let beyond = back.get("/api/events?after=9000000000000").await;
        assert_eq!(beyond.error(410), "cursor_ahead");
        let mut stream = Stream::open(&back, &format!("/api/events/stream?after={cursor}"), None).await;
        assert_eq!(stream.next().await.unwrap().event, "reset");
        let page = back.get("/api/events?event=shop.restored").await.expect(200);
        assert_eq!(page["events"][0]["data"]["restoreId"], the_restore(&back).await["id"], "{page}");
        let last = last_event(&back).await;
        assert!(last > cursor, "events go on behind those of the former shop");

        // A person says where the numbers go on; the gap is noted with its reason.
        let review = format!("/api/restores/{}/review", the_restore(&back).await["id"].as_str().unwrap());
        let operator = back.post("/api/auth/api-keys", &json!({"name": "floor", "role": "operator"})).await.expect(201);
        let operator = restored.with_key(operator["key"].as_str().unwrap());
        assert_eq!(operator.act(&review).await.error(403), "insufficient_role");
        let read = operator.get(review.strip_suffix("/review").unwrap()).await.expect(200);
        assert_eq!(read["id"], the_restore(&back).await["id"]);
        let series = early[0].rsplit_once('-').unwrap().0.to_owned();
        let wrong = back.post(&review, &json!({"next": {series.clone(): 5, "NO": 1}})).await.expect(400);
        assert_eq!(wrong["errors"].as_array().map(Vec::len), Some(2), "{wrong}");
        // Neither a hole before what was issued since, nor a number that was issued since.
        sent_by(&back, "soon@example.org").await;
        let newest = ordinal(numbers(&back).await.last().unwrap());
        for number in [10, newest - 2, newest] {
            let refused = back.post(&review, &json!({"next": {series.clone(): number}})).await.expect(400);
            let fault = &refused["errors"][0];
            assert_eq!(fault["path"], format!("next.{series}"), "{refused}");
            assert!(fault["message"].as_str().unwrap().contains("issued since the restore"), "{refused}");
        }
        assert_eq!(the_restore(&back).await["reviewedAt"], Value::Null);
        let next = json!({"next": {series.clone(): 5000}, "note": "asked the customers"});
        let reviewed = back.post(&review, &next).await.expect(200);
        assert!(reviewed["reviewedAt"].is_string() && reviewed["note"] == "asked the customers", "{reviewed}");
        assert_eq!(back.post(&review, &next).await.error(409), "already_reviewed");
        let before = numbers(&back).await;
        sent_by(&back, "later@example.org").await;
        let later: Vec<String> = numbers(&back).await.difference(&before).cloned().collect();
        assert_eq!(later, [format!("{series}-005000")]);
        let numbering = back.get("/api/invoices/numbering").await.expect(200);
        let gap = &numbering["series"][0]["gaps"][0];
        assert_eq!((&gap["first"], &gap["last"], &numbering["gapless"]), (&json!(6), &json!(4999), &json!(true)), "{numbering}");
        assert!(gap["reason"].as_str().unwrap().starts_with("restored on 2"), "{gap}");
    }

    async fn invoices_that_are_issued_while_a_restore_is_reviewed_leave_no_number_out(db: Db) {
        let mut app = App::new(db).await;
        sent(&app, "before@example.org").await;
        backup(&app);
        app.stop().await;
        let mut restored = empty(&app).await;
        restore(&restored, &backup_file(&app));
        restored.start().await;
        let back = restored.with_key(app.key.as_deref().unwrap());
        let before = numbers(&back).await.pop_first().unwrap();
        let series = before.rsplit_once('-').unwrap().0.to_owned();
        let review = format!("/api/restores/{}/review", the_restore(&back).await["id"].as_str().unwrap());
        let mut sends = Vec::new();
        for n in 0..16 {
            sends.push(format!("/api/invoices/{}/send", draft(&back, &format!("since{n}@example.org")).await));
        }
        let (some, others) = sends.split_at(8);
        let body = json!({"next": {series.clone(): 2}});
        // The review goes out between the invoices.
        let (first, reviewed, second) = tokio::join!(
            join_all(some.iter().map(|path| back.act(path))),
            back.post(&review, &body),
            join_all(others.iter().map(|path| back.act(path))),
        );
        assert!(first.iter().chain(&second).all(|answer| answer.status == 200), "{first:?} {second:?}");
        let all: Vec<i64> = numbers(&back).await.iter().map(|number| ordinal(number)).collect();
        let many = all.len() as i64;
        assert_eq!(many, 17, "{all:?}");
        match reviewed.status {
            200 => assert!(all.iter().copied().eq(1..=many), "reviewed before the first: {all:?}"),
            400 => assert!(all.iter().skip(1).copied().eq(102..=100 + many), "refused after the first: {all:?}"),
            _ => panic!("{reviewed:?}"),
        }
        let numbering = back.get("/api/invoices/numbering").await.expect(200);
        assert_eq!(numbering["gapless"], true, "{numbering}");
        // Staying where the series is leaves nothing out either.
        if reviewed.status == 400 {
            back.post(&review, &json!({"next": {series: 102}})).await.expect(200);
        }
    }

    async fn a_restore_wants_empty_places_and_a_whole_backup(db: Db) {
        let mut app = App::new(db).await;
        // Large enough that its restore can be interrupted.
        file_of(&app, LONG_RESTORE).await;
        sent(&app, "ann@example.org").await;
        app.stop().await;
        // No server runs: the command reads data folder and database itself.
        backup(&app);
        let file = backup_file(&app);
        let again = app.try_command(&["backup", file.to_str().unwrap()], "").unwrap_err();
        assert!(again.contains("already exists"), "{again}");
        let used = app.try_command(&["restore", file.to_str().unwrap()], "").unwrap_err();
        assert!(used.contains("is not empty"), "{used}");

        let mut restored = empty(&app).await;
        let whole = fs::read(&file).unwrap();
        let broken = app.folder().join("broken.tar");
        let mut bytes = whole.clone();
        bytes[600] ^= 1;
        for (content, words) in [(&bytes[..], "the backup is damaged"), (&whole[..whole.len() / 2], "the backup is damaged")] {
            fs::write(&broken, content).unwrap();
            let refused = restored.try_command(&["restore", broken.to_str().unwrap()], "").unwrap_err();
            assert!(refused.contains(words) || refused.contains("incomplete download"), "{refused}");
            assert!(!restored.data().join("restore.unfinished").exists(), "nothing was begun");
        }
        restore(&restored, &file);
        restored.start().await;
        let back = restored.with_key(app.key.as_deref().unwrap());
        assert_eq!(numbers(&back).await.len(), 1);
        restored.stop().await;

        // A restore that was interrupted leaves nothing that starts, and starting over.
        let mut interrupted = empty(&app).await;
        let mark = interrupted.data().join("restore.unfinished");
        interrupted.command_killed_when(&["restore", file.to_str().unwrap()], || mark.exists());
        assert!(mark.exists(), "it was interrupted");
        let served = interrupted.try_command(&["serve", "--listen", "127.0.0.1:0"], "").unwrap_err();
        assert!(served.contains("was interrupted") && served.contains("start over"), "{served}");
        restore(&interrupted, &file);
        interrupted.start().await;
        let back = interrupted.with_key(app.key.as_deref().unwrap());
        assert_eq!(numbers(&back).await.len(), 1);
        assert_eq!(the_restore(&back).await["reviewedAt"], Value::Null);
    }
}

on_sqlite! {
    async fn a_restore_that_was_killed_before_it_removed_its_mark_is_complete(db: Db) {
        let mut app = App::new(db).await;
        file_of(&app, LONG_RESTORE).await;
        sent(&app, "ann@example.org").await;
        app.stop().await;
        backup(&app);
        let (file, later) = (backup_file(&app), app.folder().join("later.tar"));
        app.command(&["backup", later.to_str().unwrap()], "");

        let mut restored = empty(&app).await;
        let mark = restored.data().join("restore.unfinished");
        // Killed in the middle of writing the mark, when nothing else was there.
        fs::create_dir_all(restored.data()).unwrap();
        fs::write(&mark, "{").unwrap();
        let is_marked = || fs::read(&mark).is_ok_and(|text| text.ends_with(b"}"));
        restored.command_killed_when(&["restore", file.to_str().unwrap()], is_marked);
        let text = fs::read(&mark).unwrap();
        restore(&restored, &file);
        assert!(!mark.exists());

        // What a kill behind the last write leaves: everything, and the mark. A start removes it.
        fs::write(&mark, &text).unwrap();
        restored.start().await;
        assert!(!mark.exists());
        let back = restored.with_key(app.key.as_deref().unwrap());
        assert_eq!(numbers(&back).await.len(), 1);
        restored.stop().await;
        // So does the command: of the same backup it says that all is done, and nothing is restored over it.
        fs::write(&mark, &text).unwrap();
        let refused = restored.try_command(&["restore", later.to_str().unwrap()], "").unwrap_err();
        assert!(refused.contains("is not empty"), "{refused}");
        fs::write(&mark, &text).unwrap();
        let words = restore(&restored, &file);
        assert!(words.contains("all verified") && !mark.exists(), "{words}");
        restored.start().await;
        let back = restored.with_key(app.key.as_deref().unwrap());
        assert_eq!(numbers(&back).await.len(), 1);
        assert_eq!(the_restore(&back).await["reviewedAt"], Value::Null);
    }

    async fn a_restored_shop_starts_no_job_until_somebody_has_looked(db: Db) {
        let fleet = Fleet::start(FleetOptions { speed: 300.0, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
        let mut app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("vase", 240, 14.5).await;
        let sku = app.sku("VASE", &material, &file, 2500).await;
        let order = app.paid_order(&sku, 1).await;
        let job = id(&app.jobs(&order).await[0]);
        app.job_is(&job, "SLICED").await;
        let number = app.get(&format!("/api/orders/{order}")).await.expect(200)["number"].clone();
        backup(&app);
        app.stop().await;

        let mut restored = empty(&app).await;
        restore(&restored, &backup_file(&app));
        restored.start().await;
        let key = app.key.clone().unwrap();
        let back = restored.with_key(&key);
        printer(&back, &fleet).await;
        // It says so wherever people look, and names the job.
        until_seen("the job to tell of it", || async {
            let waiting = back.get(&format!("/api/jobs/{job}")).await.expect(200);
            let reason = waiting["waitingReason"].as_str().unwrap_or_default();
            if reason.contains("restored from a backup") { Ok(()) } else { Err(waiting) }
        })
        .await;
        until("readiness to tell of it", || async {
            let ready = back.get("/readyz").await.expect(200);
            ready["degraded"].to_string().contains("restored from a backup").then_some(())
        })
        .await;
        let check = restored.command(&["check"], "");
        assert!(check.contains("no jobs start until an admin reviews it"), "{check}");
        let entry = the_restore(&back).await;
        assert_eq!((&entry["openJobs"], &entry["jobs"][0]["id"]), (&json!(1), &json!(job)), "{entry}");
        assert_eq!(entry["reviewedAt"], Value::Null);
        // A second restart does not forget it.
        restored.stop().await;
        restored.start().await;
        let back = restored.with_key(&key);
        let other = back.post("/api/orders", &one_of(&sku)).await.expect(201);
        let of = |number: &Value| ordinal(number.as_str().unwrap());
        assert!(of(&other["number"]) > of(&number) + 99, "{other} after {number}");
        assert_eq!(back.get(&format!("/api/jobs/{job}")).await.expect(200)["state"], "SLICED");

        let review = format!("/api/restores/{}/review", entry["id"].as_str().unwrap());
        back.act(&review).await.expect(200);
        until("the job to be printed", || async {
            let body = back.get(&format!("/api/jobs/{job}")).await.expect(200);
            (body["state"] == "COMPLETED").then_some(())
        })
        .await;
        assert_eq!(the_restore(&back).await["openJobs"], 0);
    }
}

/// Issues an invoice.
async fn sent_by(client: &Client, email: &str) {
    let invoice = draft(client, email).await;
    client.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
}

/// Drafts an invoice; returns its ID.
async fn draft(client: &Client, email: &str) -> String {
    let new = json!({
        "customerName": "Bob", "customerEmail": email,
        "lineItems": [{"description": "Design", "quantity": 1, "unitPriceCents": 6000}],
    });
    id(&client.post("/api/invoices", &new).await.expect(201))
}

/// Registers the fleet's only printer and waits until it is connected.
async fn printer(client: &Client, fleet: &Fleet) {
    let sim = &fleet.printers[0];
    let new = json!({
        "name": sim.serial, "type": sim.kind.as_str(), "baseUrl": sim.base_url, "apiKey": sim.api_key,
        "machineType": "fdm_standard", "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
    });
    let printer = id(&client.post("/api/printers", &new).await.expect(201));
    until("the printer to be connected", || async {
        let status = client.get(&format!("/api/printers/{printer}/status")).await.expect(200);
        (status["connection"] == "connected").then_some(())
    })
    .await;
}
