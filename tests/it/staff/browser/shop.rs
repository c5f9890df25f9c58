//! A shop in which every page has content: orders of each kind, low stock, failed prints, documents, requests, and a
//! webhook receiver that rejects everything.

use serde_json::json;
use simulator::PrinterKind;
use simulator::sink::{Sink, SinkMode};

use super::SAM;
use crate::api::{id, session_of, staff, with_role};
use crate::billing::{cookie_of, intake, invoices};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::{App, Db, StaffMember, until};

/// Email address of the shop's customer.
pub const ANN: &str = "ann@example.org";
/// Settings that prevent unconfirmed starts during a test and limit a failed delivery to one retry.
const ENV: [(&str, &str); 2] = [JUDGE_LATE, ("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "0.1")];

/// The shop, and the cookies of its visitors.
pub struct FilledShop {
    pub floor: Floor,
    /// Session cookie of an admin.
    pub admin: String,
    /// Session cookie of a customer.
    pub customer: String,
    /// Paths linked only from emails.
    pub mailed: Vec<String>,
    _sink: Sink,
}

/// Admin whom a shop may have from the beginning ([`Db::with_staff`]).
pub const ADMIN: StaffMember = StaffMember { email: SAM, role: "admin" };

/// Returns the session cookie of an admin of this server, whom it creates unless the shop has them.
pub async fn admin(app: &App) -> String {
    session_of(app, ADMIN).await
}

/// Places an order of the customer that is still to be paid.
async fn order_of_ann(floor: &Floor, quantity: u32) -> String {
    let lines = json!([{"skuId": floor.sku, "quantity": quantity}]);
    let order = json!({"lines": lines, "customerEmail": ANN, "notes": "In black, please."});
    id(&floor.app.post("/api/orders", &order).await.expect(201))
}

pub async fn filled() -> FilledShop {
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 4, FAST, &ENV).await;
    let app = &floor.app;
    let admin = admin(app).await;
    // Somebody whom the admin may act on.
    staff(app, "kim@example.org", "operator").await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::Status(500));
    let endpoint = crate::api::webhooks::register(app, &sink, &["order.created"]).await;
    products(&floor).await;

    let shipped = floor.order(1).await;
    app.order_is(&shipped, "ready").await;
    let parcel = json!({"carrier": "DHL", "trackingNumber": "JD1", "estimatedDelivery": "2030-01-31"});
    app.post(&format!("/api/orders/{shipped}/ship"), &parcel).await.expect(200);
    // A bed that waits for a person, a print that failed, one that goes on, one that waits for the next printer.
    app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
    // Each of the four gets one of the next.
    for n in 0..floor.printers.len() {
        floor.free(n).await;
    }
    let many = floor.order(4).await;
    floor.attention(0, "bed_not_cleared", true).await;
    app.order_is(&many, "ready").await;
    for n in 0..floor.printers.len() {
        floor.sim(n).handle.set_speed(SLOW);
    }
    app.post(&floor.path(3, "/maintenance"), &json!({"on": true, "note": "new nozzle"})).await.expect(200);
    let failing = floor.one().await.1;
    let on = app.job_is(&failing, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    app.act(&format!("/api/printers/{on}/emergency-stop")).await.expect(200);
    app.job_is(&failing, "FAILED").await;
    let going_on = floor.one().await.1;
    app.job_is(&going_on, "PRINTING").await;
    floor.order(1).await;

    order_of_ann(&floor, 2).await;
    let cancelled = order_of_ann(&floor, 1).await;
    app.act(&format!("/api/orders/{cancelled}/cancel")).await.expect(200);
    let mailed = papers(&floor).await;
    with_role(app, "operator").await;
    until("a delivery to fail", || async {
        let log = crate::api::webhooks::log(app, &endpoint).await;
        log.iter().any(|delivery| delivery["state"] == "failed").then_some(())
    })
    .await;
    let customer = cookie_of(app, ANN).await;
    FilledShop { floor, admin, customer, mailed, _sink: sink }
}

/// Creates stock that runs low, and a set of products.
async fn products(floor: &Floor) {
    let low = json!({
        "name": "PETG orange", "type": "filament", "color": "#d06010", "brand": "Acme", "quantity": 150, "unit": "g",
        "reorderPoint": 1000, "reorderQuantity": 3000,
    });
    floor.app.post("/api/inventory/materials", &low).await.expect(201);
    let parts = json!([{"skuId": floor.sku, "quantity": 2}]);
    let kit = json!({"code": "SET", "name": "Desk set", "priceCents": 4900, "components": parts});
    floor.app.post("/api/skus", &kit).await.expect(201);
}

/// Creates invoices, quotes and a request with photos; returns the paths linked in emails.
async fn papers(floor: &Floor) -> Vec<String> {
    let app = &floor.app;
    invoices::draft(app, ANN).await;
    let open = invoices::sent(app, ANN).await;
    let paid = invoices::sent(app, ANN).await;
    app.post(&format!("/api/invoices/{paid}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    app.post(&format!("/api/invoices/{paid}/refund"), &json!({"amountCents": 333})).await.expect(200);
    crate::api::quotes::draft(app, &floor.sku).await;
    crate::api::quotes::sent(app, &floor.sku).await;
    intake::submit_request(app).await;
    vec![format!("/pay/{}", crate::billing::pay_token_of(app, &open).await)]
}
