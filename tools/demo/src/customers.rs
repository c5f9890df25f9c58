//! Simulated customers, who order parts every few seconds for as long as the printers keep up.

use std::sync::Arc;
use std::time::Duration;

use api_requests::HttpApi;
use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::catalogue::CUSTOMERS;
use super::setup::Names;
use super::tally::{Tally, count};
use crate::error::DemoError;
use crate::time::DemoClock;

/// Interval between orders.
const ORDER_INTERVAL: Duration = Duration::from_secs(4);

/// Simulated customers, who keep placing orders.
pub struct Customers {
    api: HttpApi,
    names: Names,
    clock: DemoClock,
    tally: Arc<Tally>,
    random: Rng,
    /// `true` until the first order since startup, which is for the kit, so that the kit appears early.
    first: bool,
    /// Queue of articles to order, the next one last. When empty, it is refilled with all articles on sale, shuffled,
    /// so that every printer is given work regardless of the random choices.
    queue: Vec<String>,
}

impl Customers {
    /// Builds customers whose choices differ from run to run.
    pub fn new(api: HttpApi, names: Names, clock: DemoClock, tally: Arc<Tally>) -> Self {
        let random = Rng::with_seed(clock().as_millisecond().unsigned_abs());
        Self { api, names, clock, tally, random, first: true, queue: Vec::new() }
    }

    /// Places orders; returns only on an error.
    pub async fn work(mut self) -> DemoError {
        loop {
            if let Err(error) = self.visit().await {
                return error;
            }
            sleep(ORDER_INTERVAL).await;
        }
    }

    async fn visit(&mut self) -> Result<(), DemoError> {
        // While jobs wait, more orders would only make the queue grow.
        if self.waiting().await? > self.names.printers.len() as u64 + 2 {
            return Ok(());
        }
        let Some(order) = self.wish() else { return Ok(()) };
        let key = format!("demo-order-{}", (self.clock)());
        self.api.post_once("/api/orders", &key, &order).await?;
        count(&self.tally.ordered);
        Ok(())
    }

    /// Returns the number of orders that are not ready yet.
    async fn waiting(&self) -> Result<u64, DemoError> {
        let mut waiting = 0;
        for status in ["created", "paid", "printing"] {
            let page = self.api.get(&format!("/api/orders?status={status}&limit=1")).await?;
            waiting += page["pagination"]["total"].as_u64().unwrap_or_default();
        }
        Ok(waiting)
    }

    /// Builds an order with one to three lines; `None` if nothing is on sale.
    fn wish(&mut self) -> Option<Value> {
        let customer = self.random.choice(CUSTOMERS)?;
        if std::mem::take(&mut self.first) {
            let kit = json!([{"skuId": self.names.on_sale.last()?, "quantity": 1}]);
            return Some(json!({"lines": kit, "customerEmail": customer}));
        }
        let mut lines: Vec<Value> = Vec::new();
        for _ in 0..self.random.usize(1..=2) {
            let sku = self.next_article()?;
            if lines.iter().all(|line| line["skuId"] != sku.as_str()) {
                lines.push(json!({"skuId": sku, "quantity": self.random.u32(1..=3)}));
            }
        }
        // Few are in a hurry, so that nobody waits for ever.
        let priority = if self.random.u8(..) < 32 { 7 } else { 5 };
        Some(json!({"lines": lines, "customerEmail": customer, "priority": priority}))
    }

    /// Returns the next article to order; `None` if nothing is on sale.
    fn next_article(&mut self) -> Option<String> {
        if self.queue.is_empty() {
            self.queue.clone_from(&self.names.on_sale);
            self.random.shuffle(&mut self.queue);
        }
        self.queue.pop()
    }
}
