//! Maintenance of printers: their work is counted once, maintenance that is due is reported and blocks them, and the
//! results of their jobs are shown.

use serde_json::{Value, json};

use super::{FAST, Floor, JUDGE_LATE, JUDGE_SOON, PrinterKind, SLOW};
use crate::api::materials::mails;
use crate::support::clock::HOUR;
use crate::support::{Clock, on_drawn, on_sqlite, until};

async fn read_printer(floor: &Floor) -> Value {
    floor.app.get(&floor.path(0, "")).await.expect(200)
}

async fn remind(floor: &Floor, body: &Value) -> String {
    let reminder = floor.app.post(&floor.path(0, "/reminders"), body).await.expect(201);
    reminder["id"].as_str().unwrap().to_owned()
}

/// Checks that an odometer counts the given number of prints, and about the given amount of material.
fn counted(odometer: &Value, prints: u64, grams: f64) {
    assert_eq!(odometer["prints"], prints, "{odometer}");
    assert!((odometer["grams"].as_f64().unwrap() - grams).abs() < 0.5, "{odometer}");
}

async fn totals(floor: &Floor) -> Value {
    floor.app.get(&floor.path(0, "/totals")).await.expect(200)
}

on_drawn! {
    async fn a_print_is_counted_once_wherever_the_server_is_killed(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
        remind(&floor, &json!({"name": "Grease", "everyPrints": 1000, "everyFailures": 1000})).await;
        let order = floor.order(6).await;
        for done in 1..=4 {
            until("another print to be over", || async { (floor.finished(0) >= done).then_some(()) }).await;
            floor.app.kill_9();
            floor.app.start().await;
        }
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
        let totals = totals(&floor).await;
        assert_eq!((&totals["finished"], &totals["successRate"]), (&json!(6), &json!(1.0)), "{totals}");
        counted(&totals["odometer"], 6, 60.0);
        let attempts = floor.app.get(&floor.path(0, "/attempts?state=finished")).await.expect(200);
        assert_eq!(attempts["pagination"]["total"], 6);
        let reminder = &floor.app.get(&floor.path(0, "/reminders")).await.expect(200)["reminders"][0];
        assert_eq!(reminder["sinceDone"]["prints"], 6, "{reminder}");
    }
}

on_sqlite! {
    async fn maintenance_that_is_due_is_told_once_and_keeps_the_printer_from_jobs_until_it_is_logged(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE, ("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")]).await;
        let reminder = remind(&floor, &json!({"name": "Clean the bed", "everyPrints": 2, "blocking": true})).await;
        let soft = remind(&floor, &json!({"name": "Look at the belts", "everyGrams": 5, "everyHours": 5000})).await;
        let order = floor.order(3).await;
        floor.attention(0, "maintenance_due", true).await;
        let waiting = until("the third job to wait for it", || async {
            let jobs = floor.app.jobs(&order).await;
            let waits = |job: &&Value| job["waitingReason"].as_str().is_some_and(|why| why.contains("is due for maintenance (Clean the bed)"));
            jobs.iter().find(waits).map(|job| job["id"].as_str().unwrap().to_owned())
        })
        .await;
        // It waits as long as nobody does the work, also over a crash.
        floor.app.kill_9();
        floor.app.start().await;
        floor.connection_is(0, "connected").await;
        let matched = floor.app.get(&format!("/api/jobs/{waiting}/match")).await.expect(200);
        let missing = matched["printers"][0]["missing"].to_string();
        assert!(missing.contains("the printer is due for maintenance (Clean the bed)"), "{matched}");
        assert_eq!(floor.started(0), 2);
        let printer = read_printer(&floor).await;
        counted(&printer["odometer"], 2, 20.0);
        let due: Vec<&Value> = printer["maintenanceDue"].as_array().unwrap().iter().map(|due| &due["reminderId"]).collect();
        assert!(due.len() == 2 && due.contains(&&json!(reminder)) && due.contains(&&json!(soft)), "{printer}");
        let status = floor.status(0).await;
        assert_eq!(status["attentionReason"], "due for maintenance (Clean the bed)");
        let events = floor.events("printer.maintenance_due").await;
        assert_eq!(events.len(), 2, "each once: {events:?}");
        until("the mail", || async { mails(&floor.app, "Maintenance due").pop() }).await;

        let listed = floor.app.get(&floor.path(0, "/reminders?limit=1")).await.expect(200);
        assert_eq!(listed["pagination"]["total"], 2);
        assert!(listed["reminders"][0]["dueReason"].is_string(), "what is due comes first: {listed}");
        let done = json!({"done": "Bed washed", "parts": ["dish soap"], "costCents": 20, "resets": [reminder]});
        let entry = floor.app.post(&floor.path(0, "/maintenance-log"), &done).await.expect(201);
        assert_eq!((&entry["resets"][0]["name"], &entry["odometer"]["prints"]), (&json!("Clean the bed"), &json!(2)));
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.events("printer.maintenance_due").await.len(), 2, "the other one is still due, and told");
        let log = floor.app.get(&floor.path(0, "/maintenance-log")).await.expect(200);
        assert_eq!((&log["entries"], &log["pagination"]["total"]), (&json!([entry]), &json!(1)));
        for wrong in ["/maintenance-log?days=3", "/reminders?due=true", "/attempts?printer=1", "/totals?days=3"] {
            floor.app.get(&floor.path(0, wrong)).await.error(400);
        }
        let printer = read_printer(&floor).await;
        assert_eq!(printer["maintenanceDue"].as_array().unwrap().len(), 1, "{printer}");
        floor.truth().await;
    }

    async fn what_a_printer_made_of_its_jobs_is_listed_and_summed_up(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let (first, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        floor.app.job_is(&job, "FAILED").await;
        let listed = floor.app.get(&floor.path(0, "/attempts")).await.expect(200);
        let attempt = &listed["attempts"][0];
        assert_eq!((&attempt["jobId"], &attempt["orderId"]), (&json!(job), &json!(first)), "{listed}");
        assert_eq!((&attempt["state"], &attempt["reason"]), (&json!("failed"), &json!("emergency stop")), "{listed}");
        assert!(attempt["printSeconds"].is_u64() && attempt["jobNumber"].is_string(), "{listed}");
        let summed = totals(&floor).await;
        assert_eq!((&summed["prints"], &summed["failed"], &summed["successRate"]), (&json!(1), &json!(1), &json!(0.0)));
        assert_eq!(summed["failuresByReason"], json!([{"reason": "emergency stop", "count": 1}]), "{summed}");
        assert_eq!((&summed["odometer"]["prints"], &summed["odometer"]["failures"]), (&json!(1), &json!(1)));
        let before = summed["from"].as_str().unwrap();
        let earlier = floor.app.get(&floor.path(0, &format!("/totals?from=2020-01-01T00:00:00Z&to={before}"))).await;
        assert_eq!(earlier.expect(200)["prints"], 0);
        let wrong = floor.app.get(&floor.path(0, &format!("/totals?from={before}&to={before}"))).await;
        assert_eq!(wrong.error(400), "validation_failed");
        let none = floor.app.get(&floor.path(0, "/attempts?state=finished")).await.expect(200);
        assert_eq!(none["pagination"]["total"], 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hours_of_printing_are_those_between_the_beginning_and_the_end() {
    let clock = Clock::new();
    let floor = Floor::at(&clock, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    remind(&floor, &json!({"name": "Oil the rails", "everyHours": 1.5})).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    clock.set(2 * HOUR);
    floor.hurry(0);
    floor.app.order_is(&order, "ready").await;
    let printer = read_printer(&floor).await;
    let hours = printer["odometer"]["hours"].as_f64().unwrap();
    assert!((2.0..2.2).contains(&hours), "{printer}");
    let due = &printer["maintenanceDue"][0];
    assert!(due["reason"].as_str().unwrap().ends_with(" of 1.5 hours of printing"), "{due}");
    assert_eq!(floor.status(0).await["attention"], json!([]), "it is not blocking");
    let (next, _) = floor.one().await;
    floor.app.order_is(&next, "ready").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reminder_is_judged_as_a_whole_and_what_is_usual_can_be_added_as_it_is() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[]).await;
    let path = floor.path(0, "/reminders");
    for (wrong, at) in [
        (json!({"name": "Oil"}), "everyHours"),
        (json!({"name": "", "everyPrints": 1}), "name"),
        (json!({"name": "Oil", "everyPrints": 0}), "everyPrints"),
        (json!({"name": "Oil", "everyGrams": -1}), "everyGrams"),
        (json!({"name": "Oil", "everyHours": 0}), "everyHours"),
        (json!({"name": "Oil", "everyDays": 3}), "everyDays"),
    ] {
        let answer = floor.app.post(&path, &wrong).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text);
        assert_eq!(answer.json()["errors"][0]["path"], at, "{wrong}: {}", answer.text);
    }
    let usual = floor.app.get(&floor.path(0, "/reminder-suggestions")).await.expect(200);
    for one in usual["suggestions"].as_array().unwrap() {
        let reminder = floor.app.post(&path, one).await.expect(201);
        assert_eq!((&reminder["name"], &reminder["dueAt"]), (&one["name"], &Value::Null));
    }
    let first = floor.app.get(&path).await.expect(200)["reminders"][0].clone();
    let one = format!("{path}/{}", first["id"].as_str().unwrap());
    let none = json!({"everyHours": null, "everyPrints": null, "everyGrams": null, "everyFailures": null});
    floor.app.patch(&one, &none).await.error(400);
    let changed = floor.app.patch(&one, &json!({"everyPrints": 7, "blocking": true})).await.expect(200);
    assert_eq!(
        (&changed["everyPrints"], &changed["blocking"], &changed["name"]),
        (&json!(7), &json!(true), &first["name"])
    );
    floor.app.delete(&one).await.expect(204);
    assert_eq!(floor.app.delete(&one).await.error(404), "reminder_not_found");
    let unknown = json!({"done": "Oiled", "resets": [first["id"]]});
    let answer = floor.app.post(&floor.path(0, "/maintenance-log"), &unknown).await;
    assert_eq!(answer.json()["errors"][0]["path"], "resets.0", "{}", answer.text);
}
