//! Orders from sales channels: messages that are late, repeated, out of order or unknown, and the variant mapping.

pub mod files;

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use simulator::processor::DeliveryConditions;
use simulator::shops::{OtherShop, ShopSystem};

use super::materials::mails;
use super::{NOTHING, count, id, paths, some_sku};
use crate::support::client::Answer;
use crate::support::{App, Db, on_both, on_sqlite, until};

const CHANNELS: &str = "/api/sales-channels";
const RECORDS: &str = "/api/channel-orders";
const SECRET: &str = "hush, a secret of another shop";
const TOKEN: &str = "ck_1:cs_1";

/// Returns the address of a server under test.
pub fn address(app: &App) -> SocketAddr {
    app.base.trim_start_matches("http://").parse().unwrap()
}

/// Creates a sales channel of this kind for the shop at this URL; returns the channel's ID.
pub async fn channel(app: &App, kind: &str, url: Option<&str>) -> String {
    let new = json!({"kind": kind, "name": "Web shop", "secret": SECRET, "baseUrl": url, "accessToken": TOKEN});
    id(&app.post(CHANNELS, &new).await.expect(201))
}

/// Maps a variant of the channel to a quantity of a SKU.
pub async fn map(app: &App, channel: &str, variant: &str, sku: &str, quantity: u32) {
    let variants = json!({"variants": [{"variant": variant, "skuId": sku, "quantity": quantity}]});
    app.post(&format!("{CHANNELS}/{channel}/variants"), &variants).await.expect(200);
}

/// Starts another shop with a sales channel for it and sends the shop's messages to the server; returns both.
pub async fn shop(app: &App, system: ShopSystem) -> (OtherShop, String) {
    let shop = OtherShop::start(system, TOKEN).await.unwrap();
    let kind = match system {
        ShopSystem::Shopify => "shopify",
        ShopSystem::WooCommerce => "woocommerce",
    };
    let channel = channel(app, kind, Some(&shop.url())).await;
    shop.messages_go_to(address(app), &format!("/webhooks/sales-channels/{channel}"), SECRET);
    (shop, channel)
}

/// Waits until the server has accepted every message.
async fn quiet(shop: &OtherShop) {
    until("all messages to be taken", || async { (shop.message_counts().0 == 0).then_some(()) }).await;
    let counts = shop.message_counts();
    assert_eq!(counts.2, 0, "given up: {counts:?}");
}

/// Returns the record of a channel's order, by the id of the order in the shop.
pub async fn record(app: &App, channel: &str, order: u64) -> Option<Value> {
    let all = app.get(&format!("{RECORDS}?channelId={channel}&limit=200")).await.expect(200);
    let all = all["channelOrders"].as_array().unwrap().clone();
    let there = order.to_string();
    all.into_iter().find(|one| one["externalId"] == there.as_str())
}

/// Waits until the record of a channel order has this status; returns the record.
pub async fn wait_for_status(app: &App, channel: &str, order: u64, status: &str) -> Value {
    until(&format!("order {order} there to be {status}"), || async {
        record(app, channel, order).await.filter(|record| record["status"] == status)
    })
    .await
}

fn signed(body: &str, secret: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

async fn send(app: &App, channel: &str, body: &str, signature: Option<&str>) -> Answer {
    let request = app.nobody().request("POST", &format!("/webhooks/sales-channels/{channel}"));
    let request = request.header("Content-Type", "application/json").header("X-Shopify-Topic", "orders/paid");
    let request = request.body(body.to_owned());
    let request = match signature {
        Some(signature) => request.header("X-Shopify-Hmac-Sha256", signature),
        None => request,
    };
    app.send(request).await
}

fn order_there(number: u64, variant: u64) -> String {
    json!({
        "id": number, "name": format!("#{number}"), "email": "ann@example.org", "currency": "USD",
        "updated_at": "2026-11-02T10:00:00Z", "taxes_included": false, "total_price": "25.00", "financial_status": "paid",
        "line_items": [{"id": 1, "variant_id": variant, "name": "Vase", "quantity": 2, "price": "12.50"}],
    })
    .to_string()
}

#[tokio::test]
async fn only_what_the_shop_signed_is_believed() {
    let app = App::new(Db::sqlite()).await;
    let channel = channel(&app, "shopify", None).await;
    let body = order_there(1, 7);
    let good = signed(&body, SECRET);
    for (signature, what) in [
        (None, "no signature"),
        (Some(String::new()), "an empty one"),
        (Some("nonsense".to_owned()), "nonsense"),
        (Some(signed(&body, "another")), "another secret"),
        (Some(signed(&order_there(2, 7), SECRET)), "another body"),
        (Some(signed(&body, "")), "no secret"),
    ] {
        let answer = send(&app, &channel, &body, signature.as_deref()).await;
        assert_eq!(answer.error(400), "invalid_signature", "{what}");
    }
    assert_eq!(count(&app, RECORDS).await, 0);
    assert_eq!(send(&app, NOTHING, &body, Some(&good)).await.error(404), "sales_channel_not_found");
    assert_eq!(send(&app, &channel, &body, Some(&good)).await.status, 200);
    assert_eq!(count(&app, RECORDS).await, 1);
    let nonsense = r#"{"id": 3, "line_items": []}"#;
    let answer = send(&app, &channel, nonsense, Some(&signed(nonsense, SECRET))).await;
    assert_eq!(answer.error(400), "malformed_order");
    let path = format!("{CHANNELS}/{channel}");
    app.patch(&path, &json!({"secret": null})).await.expect(200);
    assert_eq!(send(&app, &channel, &body, Some(&good)).await.error(503), "channel_not_configured");
    app.delete(&path).await.expect(204);
    assert_eq!(send(&app, &channel, &body, Some(&good)).await.error(404), "sales_channel_not_found");
}

#[tokio::test]
async fn a_channel_shows_no_secret_and_its_faults_at_once() {
    let app = App::new(Db::sqlite()).await;
    let wrong = json!({"kind": "bazaar", "name": "", "currency": "dollars", "baseUrl": "ftp://x"});
    assert_eq!(paths(&app.post(CHANNELS, &wrong).await.expect(400)), ["baseUrl", "currency", "kind", "name"]);
    let channel = channel(&app, "shopify", Some("http://127.0.0.1:9")).await;
    let answer = app.get(&format!("{CHANNELS}/{channel}")).await;
    assert!(!answer.text.contains(SECRET) && !answer.text.contains("cs_1"), "{}", answer.text);
    let answer = answer.expect(200);
    assert_eq!((&answer["hasSecret"], &answer["hasAccessToken"]), (&json!(true), &json!(true)));
    assert!(answer["messagesUrl"].as_str().unwrap().ends_with(&format!("/webhooks/sales-channels/{channel}")));
    let moved = json!({"baseUrl": "http://127.0.0.1:8"});
    let moved = app.patch(&format!("{CHANNELS}/{channel}"), &moved).await.expect(200);
    assert_eq!(moved["hasAccessToken"], false, "a token is not shown to another address");
    let gone = json!({"variants": [{"variant": "V", "skuId": NOTHING}]});
    let refused = app.post(&format!("{CHANNELS}/{channel}/variants"), &gone).await.expect(400);
    assert_eq!(paths(&refused), ["variants.0.skuId"]);
}

on_both! {
    async fn what_is_not_mapped_is_kept_and_made_once_it_is(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
        let sku = some_sku(&app).await;
        let channel = channel(&app, "shopify", None).await;
        let body = order_there(41, 7);
        let good = signed(&body, SECRET);
        assert_eq!(send(&app, &channel, &body, Some(&good)).await.status, 200);
        let waits = until("the record to say what is missing", || async {
            record(&app, &channel, 41).await.filter(|record| record["missing"] == json!(["7"]))
        })
        .await;
        assert_eq!((&waits["status"], &waits["attention"], &waits["orderId"]), (&json!("waiting"), &json!(true), &Value::Null));
        until("the operators to be told", || async { (mails(&app, "on hold").len() == 1).then_some(()) }).await;
        app.kill_9();
        app.start().await;
        assert_eq!(count(&app, "/api/orders").await, 0);
        // Two parts of ours are one of theirs.
        map(&app, &channel, "7", &sku, 2).await;
        let entry = wait_for_status(&app, &channel, 41, "made").await;
        let order = app.get(&format!("/api/orders/{}", entry["orderId"].as_str().unwrap())).await.expect(200);
        assert_eq!((&order["kind"], &order["status"], &order["totalCents"]), (&json!("catalog"), &json!("paid"), &json!(2500)));
        assert_eq!(order["customerEmail"], "ann@example.org");
        let customer = app.get("/api/customers?email=ann@example.org").await.expect(200);
        assert_eq!(customer["customers"][0]["id"], order["customerId"], "{customer}");
        let payment = &order["payments"][0];
        assert_eq!((&payment["method"], &payment["reference"], &payment["amountCents"]), (&json!("channel"), &json!("#41"), &json!(2500)));
        assert_eq!((&order["lines"][0]["quantity"], &order["lines"][1]["quantity"]), (&json!(2), &json!(4)));
        assert_eq!(app.jobs(&id(&order)).await.len(), 4);
        let invoices = app.get(&format!("/api/invoices?orderId={}", id(&order))).await.expect(200);
        let invoice = &invoices["invoices"][0];
        assert_eq!((&invoice["status"], &invoice["totalCents"]), (&json!("paid"), &json!(2500)));
        assert_eq!(send(&app, &channel, &body, Some(&good)).await.status, 200);
        assert_eq!(count(&app, "/api/orders").await, 1);
    }
}

on_sqlite! {
    async fn a_line_by_hand_with_a_long_name_is_mapped_as_it_is_told(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let channel = channel(&app, "shopify", None).await;
        let mut order: Value = serde_json::from_str(&order_there(51, 7)).unwrap();
        order["line_items"][0]["variant_id"] = Value::Null;
        order["line_items"][0]["name"] = json!(format!("Vase\nby\u{2028}hand {}", "é".repeat(300)));
        let body = order.to_string();
        assert_eq!(send(&app, &channel, &body, Some(&signed(&body, SECRET))).await.status, 200);
        let waits = until("the record to say what is missing", || async {
            record(&app, &channel, 51).await.filter(|record| record["missing"][0].is_string())
        })
        .await;
        assert_eq!(waits["missing"][0], waits["lines"][0]["title"], "{waits}");
        map(&app, &channel, waits["missing"][0].as_str().unwrap(), &sku, 1).await;
        let entry = wait_for_status(&app, &channel, 51, "made").await;
        assert!(entry["orderId"].is_string(), "{entry}");
    }

    async fn hundreds_of_shuffled_repeated_messages_make_each_order_once(db: Db) {
        let mut app = App::on(db).start().await;
        let sku = some_sku(&app).await;
        for system in [ShopSystem::Shopify, ShopSystem::WooCommerce] {
            let before = count(&app, "/api/orders").await;
            let (shop, channel) = shop(&app, system).await;
            map(&app, &channel, "7", &sku, 1).await;
            shop.messages_travel(DeliveryConditions { held: true, twice: true, shuffled: true, ..DeliveryConditions::default() });
            let orders: Vec<u64> = (0..40)
                .map(|n| {
                    let order = shop.place(&[("7", 1 + n % 3, 1250)]);
                    shop.pay(order);
                    if n % 5 == 0 {
                        shop.refund(order, 250);
                    }
                    if n % 8 == 0 {
                        shop.cancel(order);
                    }
                    shop.tell(order, "updated");
                    order
                })
                .collect();
            shop.messages_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
            until("some messages to be taken", || async { (shop.message_counts().1 > 60).then_some(()) }).await;
            app.kill_9();
            app.start().await;
            quiet(&shop).await;
            let mut order_count = 0;
            for (n, order) in orders.iter().enumerate() {
                let cancelled = n % 8 == 0;
                let record = until("the record to be settled", || async {
                    let record = record(&app, &channel, *order).await?;
                    let settled = record["status"] == "made" || (cancelled && record["status"] == "cancelled");
                    settled.then_some(record)
                })
                .await;
                let Some(ours) = record["orderId"].as_str() else { continue };
                order_count += 1;
                let total = shop.order(*order).unwrap().total_cents();
                let net_cents = if n % 5 == 0 { total - 250 } else { total };
                until("our order to follow", || async {
                    let body = app.get(&format!("/api/orders/{ours}")).await.expect(200);
                    let follows = body["keptCents"] == net_cents && (body["status"] == "cancelled") == cancelled;
                    follows.then_some(())
                })
                .await;
            }
            // A cancelled one may have been paid for before its cancellation was heard of.
            assert_eq!(count(&app, "/api/orders").await, before + order_count);
            assert!(order_count >= 35, "{order_count}");
        }
    }
}

#[tokio::test]
async fn orders_of_another_currency_and_refused_ones_wait_for_a_person() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_ORDERS__MAX_JOBS_PER_ORDER", 1).start().await;
    let sku = some_sku(&app).await;
    let channel = channel(&app, "shopify", None).await;
    map(&app, &channel, "7", &sku, 1).await;
    let tell = async |body: &str| assert_eq!(send(&app, &channel, body, Some(&signed(body, SECRET))).await.status, 200);
    tell(&order_there(1, 7).replace("USD", "EUR")).await;
    tell(&order_there(2, 7)).await;
    let problem = async |order: u64, words: &str| {
        until(&format!("order {order} to say {words}"), || async {
            let entry = record(&app, &channel, order).await?;
            entry["problem"].as_str().filter(|problem| problem.contains(words)).map(|_| entry.clone())
        })
        .await
    };
    problem(1, "EUR").await;
    let refused = problem(2, "2 jobs").await;
    assert_eq!(refused["status"], "waiting");
    let attention = app.get(&format!("{RECORDS}?attention=true")).await.expect(200);
    assert_eq!(attention["pagination"]["total"], 2);
    app.patch(&format!("{CHANNELS}/{channel}"), &json!({"currency": "EUR"})).await.expect(200);
    // Two jobs are too many for it as well; nothing was lost by trying.
    problem(1, "2 jobs").await;
    app.act(&format!("{RECORDS}/{}/retry", id(&refused))).await.expect(200);
    assert_eq!(count(&app, "/api/orders").await, 0);
}
