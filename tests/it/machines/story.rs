//! Log lines about the floor: one per event, however often an action is retried.

use serde_json::json;
use simulator::faults::FailAt;
use simulator::sink::{Sink, SinkMode};

use super::{FAST, Floor, PrinterKind, SLOW};
use crate::api::alerts::decoded;
use crate::api::materials::mails;
use crate::api::webhooks::{endpoint_is, register};
use crate::support::until;

/// Lists the lines of the log that contain these words.
fn lines(floor: &Floor, words: &str) -> Vec<String> {
    floor.app.log().into_iter().filter(|line| line.contains(words)).collect()
}

async fn wait_for_log(floor: &Floor, words: &str) {
    until(&format!("the log to say {words:?}"), || async { (!lines(floor, words).is_empty()).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_tells_the_story_of_the_floor_in_one_line_each() {
    let floor = Floor::new(
        PrinterKind::FwRest,
        1,
        SLOW,
        &[("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "8"), ("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "0.1,0.1")],
    )
    .await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::Status(500));
    let endpoint = register(&floor.app, &sink, &["order.created"]).await;
    let (_, job) = floor.one().await;
    endpoint_is(&floor.app, &endpoint, "disabled").await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.faults(0, |faults| faults.disconnect = true);
    wait_for_log(&floor, "is offline: ").await;
    floor.faults(0, |faults| faults.disconnect = false);
    wait_for_log(&floor, "is back online").await;
    floor.faults(0, |faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
    floor.sim(0).handle.set_speed(FAST);
    floor.app.job_is(&job, "FAILED").await;
    let low = json!({
        "name": "PETG", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1, "unit": "g",
        "reorderPoint": 500, "reorderQuantity": 1000,
    });
    floor.app.post("/api/inventory/materials", &low).await.expect(201);
    wait_for_log(&floor, "low stock of PETG: 1 g available, reorder point 500 g").await;
    assert_eq!(metric(&floor, "printfloor_materials_low").await, Some(1));
    let failed = format!("job {job} failed: ");
    wait_for_log(&floor, &failed).await;
    for words in ["is offline: ", "is back online", "webhook endpoint", "low stock of PETG", failed.as_str(), "serving"]
    {
        assert_eq!(lines(&floor, words).len(), 1, "{words}: {:#?}", lines(&floor, words));
    }
    for (words, level) in [
        ("is offline: ", "WARN"),
        ("is back online", "INFO"),
        ("webhook endpoint", "WARN"),
        ("low stock of PETG", "WARN"),
        (failed.as_str(), "WARN"),
    ] {
        assert!(lines(&floor, words)[0].contains(level), "{words} at {level}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_and_stop_are_one_line_each() {
    let mut floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[]).await;
    let (order, _) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    floor.app.stop().await;
    let ends = |word: &str| lines(&floor, "INFO").into_iter().filter(|line| line.ends_with(word)).count();
    until("the last line", || async { (ends(" stopped") > 0).then_some(()) }).await;
    assert_eq!((lines(&floor, " serving address=").len(), ends(" stopped")), (1, 1), "{:#?}", floor.app.log());
}

/// Returns a value from `/metrics` by its name and labels, as written there; `None` if it is missing.
async fn metric(floor: &Floor, name: &str) -> Option<i64> {
    let page = floor.app.get("/metrics").await;
    assert_eq!(page.status, 200);
    page.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_printer_and_a_failed_job_are_mailed_counted_and_logged() {
    const UNREACHABLE: &str = r#"printfloor_printer_connections{connection="unreachable"}"#;
    const OFFLINE: &str = r#"printfloor_printers{state="offline"}"#;
    const FAILED: &str = r#"printfloor_jobs{state="FAILED"}"#;
    const FLAGGED: &str = r#"printfloor_orders_flagged{flag="job_failed"}"#;
    const ATTENTION: &str = "printfloor_printers_attention";
    let env = [("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org"), ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "8")];
    let floor = Floor::new(PrinterKind::FwRest, 2, SLOW, &env).await;
    assert_eq!(metric(&floor, UNREACHABLE).await.unwrap_or_default(), 0);
    assert_eq!(metric(&floor, ATTENTION).await, Some(0));
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    let name = floor.app.get(&floor.path(0, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
    floor.faults(0, |faults| faults.disconnect = true);
    let mail = until("a mail of the lost printer", || async { mails(&floor.app, "Printer unreachable: ").pop() }).await;
    let mail = decoded(&mail);
    assert!(mail.contains(&format!("Printer unreachable: {name}")) && mail.contains("ops@example.org"), "{mail}");
    assert!(mail.contains("Its current job is on hold"), "{mail}");
    for name in [UNREACHABLE, OFFLINE, ATTENTION] {
        until(&format!("{name} to be 1"), || async { (metric(&floor, name).await == Some(1)).then_some(()) }).await;
    }
    floor.faults(0, |faults| faults.disconnect = false);
    for name in [UNREACHABLE, OFFLINE] {
        let none = || async { (metric(&floor, name).await.unwrap_or_default() == 0).then_some(()) };
        until(&format!("{name} to be none"), none).await;
    }
    assert_eq!(metric(&floor, r#"printfloor_printer_connections{connection="connected"}"#).await, Some(2));
    assert_eq!(mails(&floor.app, "Printer unreachable: ").len(), 1, "once");

    floor.faults(0, |faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
    floor.hurry(0);
    floor.app.job_is(&job, "FAILED").await;
    let order = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
    let flagged = format!("order {} needs review, job_failed: ", order["number"].as_str().unwrap());
    wait_for_log(&floor, &flagged).await;
    let line = &lines(&floor, &flagged)[0];
    assert!(line.contains("WARN") && line.contains("order.flagged"), "{line}");
    assert_eq!(lines(&floor, "needs review").len(), 1);
    // What the database counts is asked now and then. Whoever clears the bed looks at what failed.
    for name in [FAILED, FLAGGED, ATTENTION] {
        until(&format!("{name} to be 1"), || async { (metric(&floor, name).await == Some(1)).then_some(()) }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_cannot_be_decrypted_is_one_line_and_a_failed_delivery() {
    let mut floor = Floor::new(
        PrinterKind::FwRest,
        0,
        FAST,
        &[("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "0.1,0.1,0.1,0.1,0.1")],
    )
    .await;
    let sink = Sink::start().await.unwrap();
    let endpoint = register(&floor.app, &sink, &["order.created"]).await;
    floor.app.stop().await;
    let broken = "UPDATE endpoints SET doc = json_set(doc, '$.encryptedSecret', 'not encrypted by us')";
    floor.app.db.execute(&floor.app, broken).await;
    floor.app.start().await;
    for _ in 0..5 {
        floor.app.order(&floor.sku, 1).await;
    }
    let disabled = endpoint_is(&floor.app, &endpoint, "disabled").await;
    assert!(disabled["disabledReason"].as_str().unwrap().contains("SECRETS_KEY"), "{disabled}");
    assert!(sink.received().is_empty());
    assert_eq!(lines(&floor, "cannot sign a delivery").len(), 1, "{:#?}", lines(&floor, "cannot sign a delivery"));
}
