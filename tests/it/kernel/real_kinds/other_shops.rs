//! Panics of the actors of sales channels, their messages and the orders created from them.

use serde_json::json;
use simulator::shops::ShopSystem;

use super::Mined;
use crate::api::sales_channels::{shop, wait_for_status};
use crate::api::some_sku;
use crate::support::{Db, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_of_other_shops_are_made_once_through_panics_at_every_point() {
    let mined = Mined::start(Db::sqlite()).await;
    let app = &mined.app;
    let sku = some_sku(app).await;
    let (shop, channel) = shop(app, ShopSystem::Shopify).await;
    for (n, point) in ["decide", "settle", "effect"].into_iter().enumerate() {
        // Channels have no effects.
        let kinds = if point == "effect" {
            &["channel_order", "order"][..]
        } else {
            &["sales_channel", "channel_order", "order"]
        };
        kinds.iter().for_each(|kind| mined.lay(kind, point));
        let variant = (70 + n).to_string();
        let there = shop.place(&[(variant.as_str(), 2, 1250)]);
        shop.pay(there);
        let entry = json!({"variants": [{"variant": variant, "skuId": sku}]});
        let path = format!("/api/sales-channels/{channel}/variants");
        mined.insist("POST", &path, &format!("map-{point}"), &entry).await;
        wait_for_status(app, &channel, there, "made").await;
        for kind in kinds {
            mined.went_off(kind, point).await;
        }
        shop.tell(there, "updated");
    }
    until("all messages to be taken", || async { (shop.message_counts().0 == 0).then_some(()) }).await;
    let orders = app.get("/api/orders").await.expect(200);
    assert_eq!(orders["pagination"]["total"], 3, "each once: {orders}");
    assert!(orders["orders"].as_array().unwrap().iter().all(|order| order["keptCents"] == 2500), "{orders}");
}
