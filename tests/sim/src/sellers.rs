//! Sellers: other shops, whose messages arrive late, repeatedly and out of order, and the staff who connect them and
//! ship what they sold. Unacknowledged requests are repeated.

use axum::http::Method;
use serde_json::{Value, json};
use simulator::shops::signature;
use uuid::Uuid;

use crate::acknowledgements::{Errand, ShopReply};
use crate::agenda::Agenda;
use crate::error::SimError;
use crate::other_shops::{SHOP_SECRET, SHOP_TOKEN, address_of, order_of, variant_of};
use crate::people::People;
use crate::plants::Plant;
use crate::rest::{jobs_unrest, read_order};
use crate::shop::Shop;
use crate::size::Size;
use crate::sold::{ChannelLetter, SaleStage, ShopPlan, SoldPlan};
use crate::world::World;

/// Offset from the ID of an order to that of its copy, which a planted fault creates.
const DOUBLED: u64 = 500;

/// Another shop, and the staff who manage it.
pub struct Seller {
    /// Plan of the shop.
    pub plan: ShopPlan,
    /// Orders that it sells, in the order of the plan.
    pub sales: Vec<Sale>,
    /// ID of the sales channel; `None` until its creation is acknowledged.
    channel: Option<String>,
    /// `true` if the staff has mapped the shop's products.
    is_mapped: bool,
    /// Messages not yet accepted, in the order in which they first arrive.
    letters: Vec<ChannelLetter>,
    /// Number of refusals, used in idempotency keys: the server returns the same refusal for a repeated key.
    refusals: u64,
    looks: Agenda,
}

/// Order that another shop sold.
pub struct Sale {
    /// Plan of the order.
    pub plan: SoldPlan,
    /// ID of the order's record; `None` until a message about the order is accepted.
    pub record: Option<String>,
    /// ID of the order here; `None` until it exists.
    pub order: Option<String>,
    /// Number of shipments. There are several if a part was rejected after shipping.
    shipments: u32,
}

impl Seller {
    /// Creates a shop whose messages have not arrived yet.
    pub fn new(plan: ShopPlan, size: Size) -> Self {
        let sale = |plan: &SoldPlan| Sale { plan: plan.clone(), record: None, order: None, shipments: 0 };
        let (sales, letters) = (plan.orders.iter().map(sale).collect(), plan.letters.clone());
        let looks = Agenda::new(size.look_every_ms());
        Self { plan, sales, channel: None, is_mapped: false, letters, refusals: 0, looks }
    }

    /// Returns whether all messages have been accepted, and the staff has connected the shop.
    pub fn is_done(&self) -> bool {
        self.is_mapped && self.letters.is_empty()
    }

    /// Returns the IDs of the orders here.
    pub fn orders(&self) -> impl Iterator<Item = &String> {
        self.sales.iter().filter_map(|sale| sale.order.as_ref())
    }

    /// Performs the due steps.
    pub async fn step(&mut self, world: &World, shop: &Shop, products: &[String]) -> Result<(), SimError> {
        let now = world.clock.elapsed_ms();
        let Some(channel) = self.channel.clone() else { return self.connect(now, shop).await };
        if !self.is_mapped && now >= self.plan.map_ms {
            self.map(shop, &channel, products).await?;
        }
        let due: Vec<ChannelLetter> = self.letters.iter().copied().filter(|letter| letter.at_ms <= now).collect();
        for letter in due {
            self.deliver(world, shop, &channel, letter).await?;
        }
        for at in 0..self.sales.len() {
            self.look_after(world, shop, at).await?;
        }
        Ok(())
    }

    /// Creates the sales channel.
    async fn connect(&mut self, now: i64, shop: &Shop) -> Result<(), SimError> {
        if now < self.plan.create_ms {
            return Ok(());
        }
        let number = self.plan.number;
        let body = json!({
            "kind": "shopify", "name": format!("Other shop {number}"), "secret": SHOP_SECRET,
            "baseUrl": address_of(number), "accessToken": SHOP_TOKEN,
        });
        let errand = Errand { path: "/api/sales-channels".to_owned(), key: format!("channel-{number}"), body };
        if let Some(channel) = outcome(shop.ask(&errand).await?, "a sales channel")? {
            self.channel = channel["id"].as_str().map(str::to_owned);
        }
        Ok(())
    }

    /// Maps the other shop's products to the products here.
    async fn map(&mut self, shop: &Shop, channel: &str, products: &[String]) -> Result<(), SimError> {
        let variant = |(at, sku): (usize, &String)| json!({"variant": variant_of(at), "skuId": sku});
        let variants: Vec<Value> = products.iter().enumerate().map(variant).collect();
        // Without a key: it may be repeated, and its response is no resource with a version.
        let path = format!("/api/sales-channels/{channel}/variants");
        let reply = shop.change(Method::POST, &path, &json!({"variants": variants})).await?;
        self.is_mapped = outcome(reply, "a map of variants")?.is_some();
        Ok(())
    }

    /// Delivers a message. A message that the server does not accept arrives again.
    async fn deliver(
        &mut self,
        world: &World,
        shop: &Shop,
        channel: &str,
        letter: ChannelLetter,
    ) -> Result<(), SimError> {
        let ChannelLetter { order: at, stage, .. } = letter;
        let Some(plan) = self.plan.orders.get(at).cloned() else { return Ok(()) };
        if !tell(shop, channel, &plan, stage).await? {
            return Ok(());
        }
        if stage == SaleStage::Paid && world.planter.has(Plant::DoubledSale) {
            let double = SoldPlan { id: plan.id + DOUBLED, ..plan.clone() };
            if !tell(shop, channel, &double, stage).await? {
                return Ok(());
            }
        }
        world.story.tell(format!("other shop {}: order {} is {stage:?}", self.plan.number, plan.id));
        let same = |one: &ChannelLetter| (one.at_ms, one.order, one.stage) == (letter.at_ms, at, stage);
        if let Some(place) = self.letters.iter().position(same) {
            self.letters.remove(place);
        }
        if let (Some(sale), Ok(channel)) = (self.sales.get_mut(at), channel.parse::<Uuid>()) {
            // All messages about an order reach the record with this ID.
            let record = Uuid::new_v5(&channel, plan.id.to_string().as_bytes());
            sale.record.get_or_insert_with(|| record.to_string());
        }
        Ok(())
    }

    /// Ships an order whenever it is ready.
    async fn look_after(&mut self, world: &World, shop: &Shop, at: usize) -> Result<(), SimError> {
        let (number, refusals, now) = (self.plan.number, self.refusals, world.clock.elapsed_ms());
        let Some(sale) = self.sales.get_mut(at) else { return Ok(()) };
        let Some(record) = &sale.record else { return Ok(()) };
        if sale.order.is_none() && self.looks.is_due(record, now, 0) {
            let Some(state) = shop.read(&format!("/api/channel-orders/{record}")).await? else { return Ok(()) };
            self.looks.look(record, now, 0);
            sale.order = state["orderId"].as_str().map(str::to_owned);
        }
        let Some(order) = &sale.order else { return Ok(()) };
        let mark = world.journal.last_event(order);
        if !self.looks.is_due(order, now, mark) {
            return Ok(());
        }
        let Some(state) = shop.read(&format!("/api/orders/{order}")).await? else { return Ok(()) };
        self.looks.look(order, now, mark);
        if state["status"] != "ready" {
            return Ok(());
        }
        // What comes of the shipment is seen at the next round.
        self.looks.wake(order, now);
        let tracking_number = format!("00340434{number}{}", sale.plan.id);
        let errand = Errand {
            path: format!("/api/orders/{order}/ship"),
            key: format!("ship-{number}-{at}-{}-{refusals}", sale.shipments),
            body: json!({"carrier": "DHL", "trackingNumber": tracking_number, "estimatedDelivery": "2026-11-24"}),
        };
        match shop.ask(&errand).await? {
            ShopReply::Done(_) => {
                world.story.tell(format!("staff: order {} of other shop {number} is shipped", sale.plan.id));
                sale.shipments += 1;
            }
            // A part was rejected, or the order was cancelled, in this moment.
            ShopReply::Refused(_) => self.refusals += 1,
            ShopReply::Unanswered => {}
        }
        Ok(())
    }
}

/// Sold order as the API shows it.
pub struct SaleEnding {
    /// Record of the order in the other shop.
    pub record: Value,
    /// The order here with its jobs; null if there is none.
    pub ours: (Value, Vec<Value>),
}

impl SaleEnding {
    /// Returns a description of something unfinished; `None` if everything is done.
    pub fn unrest(&self) -> Option<String> {
        let Self { record, ours: (order, jobs) } = self;
        let mut shipments = record["shipments"].as_array().into_iter().flatten();
        let is_reported = shipments.all(|shipment| shipment["state"] == "told");
        match (record["status"].as_str(), order["status"].as_str()) {
            (Some("cancelled"), None) => None,
            (Some("made"), Some("cancelled" | "refunded" | "shipped")) if is_reported => jobs_unrest(jobs, true),
            _ => Some(format!("{record}, with order {order} and jobs {}", Value::from(jobs.clone()))),
        }
    }
}

/// Reads the orders from other shops, in the order of the plan.
pub async fn read_sales(world: &World, shop: &Shop, people: &People) -> Result<Vec<SaleEnding>, SimError> {
    world.journal.read(&world.disk.tables());
    let mut sales = Vec::new();
    for sale in people.sellers.iter().flat_map(|seller| &seller.sales) {
        let record = match &sale.record {
            Some(record) => shop.get(&format!("/api/channel-orders/{record}")).await?.expect(200)?,
            None => Value::Null,
        };
        let ours = match record["orderId"].as_str() {
            Some(order) => read_order(world, shop, order).await?,
            None => (Value::Null, Vec::new()),
        };
        sales.push(SaleEnding { record, ours });
    }
    Ok(sales)
}

/// Returns the body of a reply; `None` if there was no conclusive response. Fails if the command was refused.
fn outcome(reply: ShopReply, what: &str) -> Result<Option<Value>, SimError> {
    match reply {
        ShopReply::Done(body) => Ok(Some(body)),
        ShopReply::Unanswered => Ok(None),
        ShopReply::Refused(code) => Err(SimError::Broken(format!("{what} was refused: {code}"))),
    }
}

/// Sends a message about an order. Returns whether the server has accepted it.
async fn tell(shop: &Shop, channel: &str, plan: &SoldPlan, stage: SaleStage) -> Result<bool, SimError> {
    let topic = match stage {
        SaleStage::Placed => "orders/create",
        SaleStage::Paid => "orders/paid",
        SaleStage::Cancelled => "orders/cancelled",
    };
    let body = order_of(plan, stage).of_shopify(|variant| format!("Vase {variant}")).to_string();
    let signature = signature(SHOP_SECRET, body.as_bytes());
    let headers = [("x-shopify-topic", topic), ("x-shopify-hmac-sha256", signature.as_str())];
    match shop.message(&format!("/webhooks/sales-channels/{channel}"), &headers, body).await? {
        200 => Ok(true),
        409 | 429 | 500.. => Ok(false),
        other => Err(SimError::Broken(format!("a message of another shop was answered with {other}"))),
    }
}
