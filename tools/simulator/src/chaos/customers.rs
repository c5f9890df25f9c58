//! Customers who order, pay, cancel and receive refunds, whatever happens to the server: every step of their plans is
//! repeated until it is acknowledged.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::processor::{Payer, SimPaymentProcessor};
use tokio::time::{Instant, sleep};

use crate::catalogue::ChaosCatalogue;
use crate::client::{ApiFault, ChaosClient};
use crate::json::{items, number, text};
use crate::plan::{PurchasePlan, chances, moment};

/// Number of customers, each of whom places one order after another.
pub const CUSTOMER_COUNT: u64 = 4;
/// Maximum time for which a customer waits for an order before placing the next one, so that the queue of a slow shop
/// stays short.
const READY_PATIENCE: Duration = Duration::from_secs(15);
/// Pause before an action that was temporarily refused is retried.
const REFUSED_PAUSE: Duration = Duration::from_millis(250);
/// Codes of refund refusals that only mean that it is too early.
const TOO_EARLY: [&str; 2] = ["payment_unnamed", "refunds_under_way"];

/// Order whose every step was acknowledged.
#[derive(Clone, Debug)]
pub struct ChaosSale {
    /// ID of the order.
    pub order: String,
    /// Course of the order.
    pub plan: PurchasePlan,
    /// Cash that the shop keeps for the order, in cents.
    pub cash_cents: i64,
}

/// Orders of all customers.
pub type Sales = Arc<Mutex<Vec<ChaosSale>>>;

/// One of the customers.
#[derive(Clone, Debug)]
pub struct ChaosCustomer {
    /// Client of the shop.
    pub api: ChaosClient,
    /// Payment processor on whose pages customers pay by card.
    pub processor: Arc<SimPaymentProcessor>,
    /// Products of the shop.
    pub catalogue: Arc<ChaosCatalogue>,
    /// Seed of the run.
    pub seed: u64,
    /// List to which orders with completed plans are added.
    pub sales: Sales,
}

impl ChaosCustomer {
    /// Buys one thing after another until `quiet` is set. `place` is the customer's number.
    pub async fn buy_until(self, place: u64, quiet: Arc<AtomicBool>) -> Result<(), ApiFault> {
        let mut order_place = place;
        while !quiet.load(Relaxed) {
            self.buy(order_place, &quiet).await?;
            order_place += CUSTOMER_COUNT;
        }
        Ok(())
    }

    /// Executes the plan of one order.
    async fn buy(&self, place: u64, quiet: &AtomicBool) -> Result<(), ApiFault> {
        let mut rng = chances(self.seed, place);
        let plan = PurchasePlan::draw(&mut rng);
        let body = json!({"lines": self.catalogue.draw_lines(&mut rng), "customerEmail": "buyer@example.org"});
        let order = self.api.insist("/api/orders", &format!("order-{place}"), &body).await?;
        let cash_cents = self.carry_out(plan, &order, &mut rng).await?;
        let order = text(&order, "id").to_owned();
        let path = format!("/api/orders/{order}");
        self.sales.lock().unwrap_or_else(PoisonError::into_inner).push(ChaosSale { order, plan, cash_cents });
        let since = Instant::now();
        while plan.is_made() && since.elapsed() < READY_PATIENCE && !quiet.load(Relaxed) {
            if self.api.peek(&path).await.is_some_and(|reply| reply.is_ok_and(|order| order["status"] == "ready")) {
                break;
            }
            sleep(REFUSED_PAUSE).await;
        }
        sleep(moment(&mut rng)).await;
        Ok(())
    }

    /// Pays for an order and performs the other steps of its plan. Returns the cash that the shop keeps at the end, in
    /// cents.
    async fn carry_out(&self, plan: PurchasePlan, order: &Value, rng: &mut Rng) -> Result<i64, ApiFault> {
        let (id, total) = (text(order, "id"), number(order, "totalCents"));
        let part = rng.i64(1..total);
        let pause = moment(rng);
        match plan {
            PurchasePlan::Card
            | PurchasePlan::PartBack
            | PurchasePlan::PartBackThere
            | PurchasePlan::CancelledCard
            | PurchasePlan::AllBack => {
                self.pay(id, Payer::Pays).await?;
            }
            PurchasePlan::Declined => {
                self.pay(id, Payer::IsDeclined).await?;
                self.pay(id, Payer::Pays).await?;
            }
            PurchasePlan::Slow | PurchasePlan::SlowFails => {
                let session = self.pay(id, Payer::PaysSlowly).await?;
                sleep(pause).await;
                let arrives = plan == PurchasePlan::Slow;
                self.processor.settle(&session, arrives).map_err(ApiFault)?;
                if !arrives {
                    self.pay(id, Payer::Pays).await?;
                }
            }
            PurchasePlan::Cash | PurchasePlan::CancelledCash => self.pay_cash(id, total).await?,
            PurchasePlan::Halves => {
                self.pay_cash(id, total / 2).await?;
                self.pay(id, Payer::Pays).await?;
            }
            PurchasePlan::CancelledUnpaid => self.cancel(id).await?,
        }
        if plan.is_paid() {
            let is_paid = |order: &Value| order["paidAt"].is_string().then_some(());
            self.api.wait("an order to be paid", &format!("/api/orders/{id}"), is_paid).await?;
        }
        sleep(moment(rng)).await;
        match plan {
            PurchasePlan::PartBack => self.give_back(id, "part", &json!({"amountCents": part})).await?,
            PurchasePlan::PartBackThere => self.give_back_there(id, part)?,
            PurchasePlan::CancelledCard => {
                self.cancel(id).await?;
                self.give_back(id, "all", &json!({})).await?;
            }
            PurchasePlan::AllBack => self.give_back(id, "all", &json!({})).await?,
            PurchasePlan::CancelledCash => {
                self.cancel(id).await?;
                let payment = self.api.get(&format!("/api/orders/{id}")).await?;
                let payment = items(&payment, "payments").first().map(|payment| payment["id"].clone());
                for (name, cents) in [("first", part), ("second", total - part)] {
                    self.give_back(id, name, &json!({"paymentId": payment, "amountCents": cents})).await?;
                }
            }
            _ => {}
        }
        Ok(match plan {
            PurchasePlan::Cash => total,
            PurchasePlan::Halves => total / 2,
            _ => 0,
        })
    }

    /// Acts on the payment page of an order. Returns the ID of the page's session.
    async fn pay(&self, order: &str, payer: Payer) -> Result<String, ApiFault> {
        loop {
            match self.api.ask_unkeyed(&format!("/api/orders/{order}/checkout"), &json!({})).await? {
                Ok(page) => {
                    let session = text(&page, "sessionId");
                    // A page that has just closed is another one at the next try.
                    if self.processor.act(session, payer).is_ok() {
                        return Ok(session.to_owned());
                    }
                }
                Err(refusal) if refusal.code == "payment_pending" => {}
                Err(refusal) => return Err(ApiFault(format!("no payment page for the order {order}: {refusal}"))),
            }
            if self.api.is_late() {
                return Err(ApiFault(format!("the order {order} could not be paid")));
            }
            sleep(REFUSED_PAUSE).await;
        }
    }

    async fn pay_cash(&self, order: &str, cents: i64) -> Result<(), ApiFault> {
        let body = json!({"method": "cash", "amountCents": cents});
        self.api.insist(&format!("/api/orders/{order}/mark-paid"), &format!("cash-{order}"), &body).await.map(drop)
    }

    async fn cancel(&self, order: &str) -> Result<(), ApiFault> {
        self.api.insist(&format!("/api/orders/{order}/cancel"), &format!("cancel-{order}"), &json!({})).await.map(drop)
    }

    /// Makes the shop refund a payment. A repetition after a refusal that was too early is a new command with a new
    /// key.
    async fn give_back(&self, order: &str, name: &str, body: &Value) -> Result<(), ApiFault> {
        let mut attempt = 0;
        loop {
            let key = format!("back-{name}-{attempt}");
            match self.api.ask(&format!("/api/orders/{order}/refund"), &key, body).await? {
                Ok(_) => return Ok(()),
                Err(refusal) if TOO_EARLY.contains(&refusal.code.as_str()) && !self.api.is_late() => {
                    attempt += 1;
                    sleep(REFUSED_PAUSE).await;
                }
                Err(refusal) => return Err(ApiFault(format!("a refund of {order} ({body}) was refused: {refusal}"))),
            }
        }
    }

    /// Refunds part of a payment at the processor, without the shop.
    fn give_back_there(&self, order: &str, cents: i64) -> Result<(), ApiFault> {
        let charges = self.processor.all("charge");
        let charge = charges.iter().find(|charge| charge["metadata"]["orderId"] == order);
        let payment = charge.map(|charge| text(charge, "payment_intent")).unwrap_or_default();
        self.processor.refund(payment, Some(cents)).map_err(ApiFault)
    }
}
