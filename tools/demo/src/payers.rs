//! Simulated customers who pay for their orders on the pages of the simulated payment processor; now and then, a card
//! is declined first. Orders from other customers are paid by the user at the screen, for whom the payment page's URL
//! is printed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api_requests::HttpApi;
use serde_json::{Value, json};
use simulator::processor::{Payer, SimPaymentProcessor};
use tokio::time::sleep;

use super::catalogue::CUSTOMERS;
use super::clerk::{digits, done};
use super::screen::{LineTone, Screen};
use super::setup::{id, text};
use crate::error::DemoError;

/// Interval between rounds.
const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// One in this many orders is paid with a card that is declined at first.
const ORDERS_PER_DECLINE: u64 = 8;

/// Simulated customers who pay for their orders.
pub struct Payers {
    api: HttpApi,
    processor: Arc<SimPaymentProcessor>,
    screen: Screen,
    /// Orders whose payment page has already been printed on the screen.
    shown_orders: BTreeSet<String>,
}

impl Payers {
    /// Builds customers who pay on the given payment processor.
    pub fn new(api: HttpApi, processor: Arc<SimPaymentProcessor>, screen: Screen) -> Self {
        Self { api, processor, screen, shown_orders: BTreeSet::new() }
    }

    /// Pays in rounds; returns only on an error.
    pub async fn work(mut self) -> DemoError {
        loop {
            if let Err(error) = self.round().await {
                return error;
            }
            sleep(ROUND_INTERVAL).await;
        }
    }

    async fn round(&mut self) -> Result<(), DemoError> {
        for status in ["created", "payment_failed"] {
            let page = self.api.get(&format!("/api/orders?status={status}")).await?;
            for order in page["orders"].as_array().into_iter().flatten() {
                self.pay(order, status == "created").await?;
            }
        }
        Ok(())
    }

    async fn pay(&mut self, order: &Value, first: bool) -> Result<(), DemoError> {
        let (order_id, number) = (id(order)?, text(order, "number")?);
        let simulated = order["customerEmail"].as_str().is_some_and(|email| CUSTOMERS.contains(&email));
        if !simulated && self.shown_orders.contains(&order_id) {
            return Ok(());
        }
        let checkout = self.api.post(&format!("/api/orders/{order_id}/checkout"), &json!({})).await;
        let open = checkout.as_ref().ok().cloned().unwrap_or_default();
        if !done(checkout)? {
            return Ok(());
        }
        if simulated {
            let declined = first && digits(&number).is_multiple_of(ORDERS_PER_DECLINE);
            let payer = if declined { Payer::IsDeclined } else { Payer::Pays };
            // A page that has just closed is a new one in the next round.
            let _ = self.processor.act(&text(&open, "sessionId")?, payer);
            return Ok(());
        }
        let page = text(&open, "checkoutUrl")?;
        self.screen
            .line(LineTone::Plain, &format!("{number} is not paid yet; pay for it in your browser at {page}"))?;
        self.shown_orders.insert(order_id);
        Ok(())
    }
}
