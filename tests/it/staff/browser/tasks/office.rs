//! Tasks in the office of a shop, which need no printer; all of them run on one server.

use serde_json::json;
use simulator::sink::{Sink, SinkMode};

use super::CountedTask;
use crate::api::webhooks::{happen, newest_is, register};
use crate::api::{some_sku, with_cookie};
use crate::staff::browser::shop::{ANN, admin};
use crate::support::browser::{Browser, Tab};
use crate::support::{App, Client, Clock, Db, until};

/// Opens the floor page and starts a task there.
async fn begin(name: &'static str, browser: &mut Browser, tab: &Tab, app: &App) -> CountedTask {
    browser.go(tab, &format!("{}/floor", app.base)).await;
    CountedTask::begin(name, browser)
}

/// Looks up the response of a webhook receiver that rejects everything.
async fn find_answer_of_failing_webhook(browser: &mut Browser, tab: &Tab, app: &App) {
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::Status(500));
    let endpoint = register(app, &sink, &["order.created"]).await;
    happen(app, &some_sku(app).await).await;
    let delivery = newest_is(app, &endpoint, "failed").await;
    let task = begin("find a failing webhook's answer", browser, tab, app).await;
    browser.press(tab, "API and webhooks").await;
    browser.press(tab, &sink.url()).await;
    browser.press(tab, "Request and response").await;
    browser.sees(tab, "Status 500").await;
    task.end(browser, 3, 0);
    assert_eq!(delivery["lastStatus"], 500, "{delivery}");
}

/// Finds out who changed the stock of a material yesterday; the change was made by Sam, whose client is given.
async fn find_who_did_what_yesterday(browser: &mut Browser, tab: &Tab, app: &App, sam: &Client) {
    let material = app.material("ABS white", 500.0).await;
    let delivery = json!({"delta": 100, "reason": "delivery"});
    sam.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
    let entry = until("the delivery in the log", || async {
        let log = app.get("/api/audit-log?action=material.adjust").await.expect(200);
        log["entries"].as_array()?.first().cloned()
    })
    .await;
    app.db.tamper(app, "UPDATE audit SET at = at - 86400000 WHERE action = 'material.adjust'").await;
    let task = begin("who did what yesterday", browser, tab, app).await;
    browser.press(tab, "Settings").await;
    browser.press(tab, "Audit log").await;
    browser.press(tab, "Yesterday").await;
    browser.sees(tab, "Sam adjusted the stock of ABS white").await;
    task.end(browser, 3, 0);
    assert_eq!(entry["subject"], json!({"kind": "material", "id": material}), "{entry}");
}

/// Books the usual delivery of a material that has run out.
async fn receive_stock(browser: &mut Browser, tab: &Tab, app: &App) {
    let material = app.material("PETG used up", 0.0).await;
    let task = begin("receive stock", browser, tab, app).await;
    browser.press(tab, "Stock").await;
    browser.press(tab, "PETG used up").await;
    browser.press(tab, "Receive 1000 g").await;
    until("the delivery to be booked", || async {
        let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
        (stock["quantity"] == 1_000).then_some(())
    })
    .await;
    task.end(browser, 3, 0);
}

/// Creates a product from a file, and places a customer's order for it.
async fn sell_file(browser: &mut Browser, tab: &Tab, app: &App) {
    let file = app.folder().join("vase.gcode");
    std::fs::write(&file, simulator::gcode::gcode("vase", 600, 5.0, 1_650.0)).unwrap();
    let task = begin("product from a file and an order for it", browser, tab, app).await;
    browser.press(tab, "Products").await;
    browser.attach(tab, "Upload files", "", &file).await;
    browser.until(tab, "the price to be asked", "document.activeElement.name === 'priceCents'").await;
    browser.fill(tab, "Price", "12.50").await;
    browser.fill(tab, "Customer email", ANN).await;
    browser.press(tab, "Add and order one").await;
    browser.until(tab, "the order's page", "/^\\/shop\\/orders\\/[0-9a-f-]{36}$/.test(location.pathname)").await;
    task.end(browser, 4, "12.50".len() + ANN.len());
    let path = browser.path(tab).await;
    let order = app.get(&format!("/api/orders/{}", path.rsplit('/').next().unwrap())).await.expect(200);
    assert_eq!(order["customerEmail"], ANN, "{order}");
    let product = order["lines"][0]["skuId"].as_str().unwrap();
    let product = app.get(&format!("/api/skus/{product}")).await.expect(200);
    assert_eq!((&product["name"], &product["priceCents"]), (&json!("vase"), &json!(1250)), "{product}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_does_the_tasks_of_the_office() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let clock = Clock::at_noon();
    let app =
        App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "0.1").clock(&clock).start().await;
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/floor", Some(&cookie)).await;
    find_answer_of_failing_webhook(&mut browser, &tab, &app).await;
    find_who_did_what_yesterday(&mut browser, &tab, &app, &with_cookie(&app, &cookie)).await;
    receive_stock(&mut browser, &tab, &app).await;
    sell_file(&mut browser, &tab, &app).await;
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}
