//! Orders from other shops: printed and shipped here, and the other shop is notified of each shipment exactly once,
//! whatever fails.

use serde_json::{Value, json};
use simulator::shops::{OtherShop, ShopSystem};
use simulator::stock::NetworkCondition;

use super::{FAST, Floor, PrinterKind};
use crate::api::sales_channels::{channel, map, record, shop, wait_for_status};
use crate::support::{on_sqlite, until};

/// Sells one part in the other shop and waits until it is printed here; returns the IDs of the order there and of the
/// order here.
pub(super) async fn printed(floor: &Floor, shop: &OtherShop, channel: &str) -> (u64, String) {
    map(&floor.app, channel, "7", &floor.sku, 1).await;
    let there = shop.place(&[("7", 1, 1250)]);
    shop.pay(there);
    let order_record = wait_for_status(&floor.app, channel, there, "made").await;
    let order = order_record["orderId"].as_str().unwrap().to_owned();
    floor.app.order_is(&order, "ready").await;
    (there, order)
}

pub(super) async fn ship(floor: &Floor, order: &str, tracking: &str) {
    let shipment = json!({"carrier": "DHL", "trackingNumber": tracking, "estimatedDelivery": "2027-01-01"});
    floor.app.post(&format!("/api/orders/{order}/ship"), &shipment).await.expect(200);
}

pub(super) async fn wait_for_notice(floor: &Floor, channel: &str, there: u64) -> Value {
    until("the shop to be told", || async {
        let entry = record(&floor.app, channel, there).await?;
        (entry["shipments"][0]["state"] == "told").then_some(entry)
    })
    .await
}

pub(super) const QUICK: &[(&str, &str)] = &[
    ("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", "1"),
    ("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", "0.1"),
    ("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", "0.2"),
];

on_sqlite! {
    async fn tracking_is_told_exactly_once_though_answers_are_lost(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, QUICK).await;
        for system in [ShopSystem::Shopify, ShopSystem::WooCommerce] {
            let (shop, channel) = shop(&floor.app, system).await;
            let (there, order) = printed(&floor, &shop, &channel).await;
            // Each telling gets there, and no answer comes back.
            shop.weather(NetworkCondition::LosesAnswers);
            ship(&floor, &order, "T-1").await;
            until("the shop to have heard", || async {
                let shop_order = shop.order(there)?;
                (shop_order.fulfillments.len() + shop_order.notes.len() > 0).then_some(())
            })
            .await;
            floor.app.kill_9();
            shop.weather(NetworkCondition::Fair);
            floor.app.start().await;
            wait_for_notice(&floor, &channel, there).await;
            let shop_order = shop.order(there).unwrap();
            match system {
                ShopSystem::Shopify => {
                    assert_eq!(shop_order.fulfillments.len(), 1, "{shop_order:?}");
                    assert_eq!(shop_order.fulfillments[0]["tracking_number"], "T-1");
                }
                ShopSystem::WooCommerce => {
                    assert_eq!(shop_order.notes.len(), 1, "{shop_order:?}");
                    assert!(shop_order.notes[0].contains("DHL T-1") && shop_order.completed, "{shop_order:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_shop_that_hangs_slows_no_other_and_hears_of_it_later() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, QUICK).await;
    let (hanging, of_hanging) = shop(&floor.app, ShopSystem::Shopify).await;
    let (well, of_well) = shop(&floor.app, ShopSystem::Shopify).await;
    let (late, slow) = printed(&floor, &hanging, &of_hanging).await;
    let (soon, quick) = printed(&floor, &well, &of_well).await;
    hanging.weather(NetworkCondition::Hangs);
    ship(&floor, &slow, "T-1").await;
    ship(&floor, &quick, "T-2").await;
    wait_for_notice(&floor, &of_well, soon).await;
    until("the hanging shop to be noticed", || async {
        let entry = record(&floor.app, &of_hanging, late).await?;
        entry["shipments"][0]["error"].is_string().then_some(())
    })
    .await;
    assert_eq!(hanging.order(late).unwrap().fulfillments.len(), 0);
    hanging.weather(NetworkCondition::Fair);
    // Nobody has to wait for the next try.
    let entry = record(&floor.app, &of_hanging, late).await.unwrap();
    floor.app.act(&format!("/api/channel-orders/{}/retry", entry["id"].as_str().unwrap())).await.expect(200);
    wait_for_notice(&floor, &of_hanging, late).await;
    assert_eq!((hanging.order(late).unwrap().fulfillments.len(), well.order(soon).unwrap().fulfillments.len()), (1, 1));
}

#[tokio::test]
async fn a_file_has_nobody_to_tell() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, QUICK).await;
    let channel = channel(&floor.app, "csv", None).await;
    map(&floor.app, &channel, "VASE", &floor.sku, 1).await;
    let request = floor.app.request("POST", &format!("/api/sales-channels/{channel}/import"));
    let file = "order,variant,quantity,unit_price\n5,VASE,1,9.00\n";
    floor.app.send(request.header("Content-Type", "text/csv").body(file)).await.expect(200);
    let entry = wait_for_status(&floor.app, &channel, 5, "made").await;
    let order = entry["orderId"].as_str().unwrap();
    floor.app.order_is(order, "ready").await;
    ship(&floor, order, "T-1").await;
    until("it to be noted that nobody is told", || async {
        let entry = record(&floor.app, &channel, 5).await?;
        (entry["shipments"][0]["state"] == "not_wanted").then_some(())
    })
    .await;
}
