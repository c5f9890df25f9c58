//! Cost of finished aggregates at the next start: each kind is brought to its final state, and none is loaded.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent as E};
use simulator::shops::ShopSystem;

use super::other_shops::{QUICK, printed, ship, wait_for_notice};
use super::{FAST, Floor, PrinterKind};
use crate::api::payments::tell;
use crate::api::sales_channels::shop;
use crate::api::{id, quotes};
use crate::billing::customer;
use crate::support::waiting::until_seen;
use crate::support::{App, on_drawn, until};

/// Kinds that are loaded at start: singletons, and those in use until someone deletes them.
const IN_USE: [&str; 6] = ["access", "accounting", "endpoint", "material", "printer", "sales_channel"];

/// Settings that make the server email alerts immediately, so that none is pending when it stops.
const TOLD: &[(&str, &str)] =
    &[("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org"), ("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", "0")];

/// Creates a SKU without a file: its jobs wait, and no printer begins them.
async fn unprinted_sku(floor: &Floor) -> String {
    let sku = json!({
        "code": "LATER", "name": "Later", "priceCents": 700, "materialId": floor.material, "estimatedConsumption": 10,
        "machineType": "fdm_standard",
    });
    id(&floor.app.post("/api/skus", &sku).await.expect(201))
}

async fn refund_cash(app: &App, path: &str) {
    let payable = app.get(path).await.expect(200);
    app.post(&format!("{path}/refund"), &json!({"paymentId": payable["payments"][0]["id"]})).await.expect(200);
}

async fn own_invoice(app: &App) -> String {
    let line = json!({"description": "Design", "quantity": 1, "unitPriceCents": 900, "taxRateBps": 0});
    let new = json!({"customerName": "Ann", "customerEmail": "ann@example.org", "lineItems": [line]});
    let path = format!("/api/invoices/{}", id(&app.post("/api/invoices", &new).await.expect(201)));
    app.act(&format!("{path}/send")).await.expect(200);
    app.post(&format!("{path}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    path
}

/// Counts the aggregates in memory by kind, without those of [`IN_USE`].
async fn finished_in_memory(app: &App) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    let actors = app.get("/api/system/actors").await.expect(200);
    for actor in actors["actors"].as_array().unwrap() {
        let kind = actor["kind"].as_str().unwrap();
        if !IN_USE.contains(&kind) {
            *all.entry(kind.to_owned()).or_default() += 1;
        }
    }
    all
}

async fn none_left(app: &App, what: &str, sql: &str) {
    until(what, || async { (app.db.query_number(app, sql).await == 0).then_some(()) }).await;
}

on_drawn! {
    async fn nothing_that_is_finished_is_loaded_at_start(db: Db) {
        let settings = [QUICK, TOLD].concat();
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &settings).await;
        // Sold by another shop, printed, shipped, and that shop told.
        let (other, channel) = shop(&floor.app, ShopSystem::Shopify).await;
        let (there, sold) = printed(&floor, &other, &channel).await;
        ship(&floor, &sold, "T-1").await;
        wait_for_notice(&floor, &channel, there).await;
        // Paid in cash, printed and shipped.
        let order = floor.order(1).await;
        floor.app.order_is(&order, "ready").await;
        ship(&floor, &order, "T-2").await;
        // Paid, cancelled and given back; never paid and cancelled.
        let later = unprinted_sku(&floor).await;
        let back = floor.app.paid_order(&later, 2).await;
        floor.app.act(&format!("/api/orders/{back}/cancel")).await.expect(200);
        refund_cash(&floor.app, &format!("/api/orders/{back}")).await;
        floor.app.order_is(&back, "refunded").await;
        let unpaid = floor.app.order(&later, 1).await;
        floor.app.act(&format!("/api/orders/{unpaid}/cancel")).await.expect(200);
        // A payment event that waited for its payment, and the refund that it told of.
        let card = floor.app.order(&later, 1).await;
        let mut payment = SimPayment::new(card.as_str(), 700, "usd");
        payment.intent_metadata = false;
        tell(&floor.app, &payment, E::Refunded { refunded_cents: 700 }, "evt_r").await;
        tell(&floor.app, &payment, E::Completed, "evt_p").await;
        floor.app.order_is(&card, "refunded").await;
        // Invoices without an order: paid, and paid and given back.
        own_invoice(&floor.app).await;
        let given_back = own_invoice(&floor.app).await;
        refund_cash(&floor.app, &given_back).await;
        // Quotes: accepted, whose order is cancelled, and declined.
        let ann = customer(&floor.app, "ann@example.org").await;
        let accepted = quotes::sent(&floor.app, &later).await;
        ann.act(&format!("/api/v1/quotes/{accepted}/accept")).await.expect(200);
        let new_order = until_seen("the quote to be an order", || async {
            let quote: Value = quotes::show(&floor.app, &accepted).await;
            quote["orderId"].as_str().map(str::to_owned).ok_or(quote)
        })
        .await;
        floor.app.order_is(&new_order, "created").await;
        floor.app.act(&format!("/api/orders/{new_order}/cancel")).await.expect(200);
        let declined = quotes::sent(&floor.app, &later).await;
        ann.act(&format!("/api/v1/quotes/{declined}/decline")).await.expect(200);

        none_left(&floor.app, "mails to be sent", "SELECT COUNT(*) FROM mails WHERE state = 'queued'").await;
        none_left(&floor.app, "kept events to be matched", "SELECT COUNT(*) FROM inbound WHERE NOT done").await;
        for table in ["orders", "invoices", "quotes", "channel_orders"] {
            none_left(&floor.app, table, &format!("SELECT COUNT(*) FROM {table} WHERE active")).await;
        }
        floor.app.stop().await;
        floor.app.start().await;
        assert_eq!(finished_in_memory(&floor.app).await, BTreeMap::new());
    }
}
