//! External shops that sell the demo's parts. Customers order and pay in those shops, and each order arrives as a
//! signed webhook.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api_requests::HttpApi;
use fastrand::Rng;
use serde_json::{Value, json};
use simulator::peers::all::{PEER_TOKEN, SHOP_TOKEN};
use simulator::shops::{OtherShop, ShopSystem};
use tokio::time::sleep;

use super::setup::{Names, id};
use super::tally::{Tally, count};
use crate::error::DemoError;
use crate::time::DemoClock;

/// Interval between orders, which alternate between the shops.
const ORDER_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum number of parts that the external shops sell.
const MAX_SOLD: usize = 3;
/// Price of each part in the external shops, in cents.
const PRICE_CENTS: i64 = 1_900;

/// Simulated customers of external shops.
pub struct DemoShops {
    api: HttpApi,
    /// External shops, each with its platform.
    shops: [(Arc<OtherShop>, ShopSystem); 2],
    names: Names,
    tally: Arc<Tally>,
    random: Rng,
    turn: usize,
    /// Number of product variants that the external shops offer.
    sold: usize,
}

impl DemoShops {
    /// Builds the external shops; their order numbers continue from those of earlier runs.
    pub fn new(
        api: HttpApi,
        shops: [(Arc<OtherShop>, ShopSystem); 2],
        names: Names,
        clock: &DemoClock,
        tally: Arc<Tally>,
    ) -> Self {
        let now = clock().as_millisecond().unsigned_abs();
        // A demo that goes on has orders of these shops already: their numbers go on too.
        shops.iter().for_each(|(shop, _)| shop.number_from(now / 1000));
        Self { api, shops, names, tally, random: Rng::with_seed(now), turn: 0, sold: 0 }
    }

    /// Sets up the sales channels and places orders; returns only on an error.
    pub async fn work(mut self, to: SocketAddr) -> DemoError {
        if let Err(error) = self.open(to).await {
            return error;
        }
        loop {
            sleep(ORDER_INTERVAL).await;
            self.order();
        }
    }

    /// Opens a sales channel for each shop, reusing one from an earlier start or creating it.
    async fn open(&mut self, to: SocketAddr) -> Result<(), DemoError> {
        let channels = self.api.list::<Value>("/api/sales-channels", "salesChannels").await?;
        let mut sold: Vec<&String> =
            self.names.parts.keys().filter(|part| self.names.on_sale.contains(*part)).collect();
        sold.truncate(MAX_SOLD);
        let variants = sold.iter().zip(1..);
        let variants: Vec<Value> =
            variants.map(|(sku, n)| json!({"variant": n.to_string(), "skuId": sku, "quantity": 1})).collect();
        self.sold = variants.len();
        for (shop, system) in &self.shops {
            let kind = system.word();
            let mut channel = json!({
                "name": format!("Shop on {}", system.name()), "secret": PEER_TOKEN, "baseUrl": shop.url(), "accessToken": SHOP_TOKEN,
            });
            let channel = if let Some(existing) = channels.iter().find(|candidate| candidate["kind"] == kind) {
                let channel_id = id(existing)?;
                self.api.patch(&format!("/api/sales-channels/{channel_id}"), &channel).await?;
                channel_id
            } else {
                channel["kind"] = json!(kind);
                id(&self.api.post("/api/sales-channels", &channel).await?)?
            };
            let path = format!("/api/sales-channels/{channel}/variants");
            self.api.post(&path, &json!({"variants": variants})).await?;
            for (sku, variant) in sold.iter().zip(1..) {
                let title = self.names.parts.get(*sku).map_or("Item", String::as_str);
                shop.name_variant(&variant.to_string(), title);
            }
            shop.messages_go_to(to, &format!("/webhooks/sales-channels/{channel}"), PEER_TOKEN);
        }
        Ok(())
    }

    /// Places a paid order for one article in the external shop whose turn it is.
    fn order(&mut self) {
        let (shop, _) = &self.shops[self.turn % 2];
        self.turn += 1;
        let variant = self.random.usize(1..=self.sold.max(1)).to_string();
        let order = shop.place(&[(variant.as_str(), 1, PRICE_CENTS)]);
        shop.pay(order);
        count(&self.tally.ordered);
    }
}
