//! Customers, who order and pay whatever happens to the server, and repeat unacknowledged requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent, signature};

use crate::acknowledgements::{Errand, ShopReply};
use crate::claims::BankClaim;
use crate::clock::WorldClock;
use crate::error::SimError;
use crate::plan::{CustomerStep, OrderPlan, Share};
use crate::plants::Plant;
use crate::settings::PAYMENT_SECRET;
use crate::shop::Shop;
use crate::till::{Payable, Till};
use crate::world::World;

/// Customer with one order.
pub struct SimCustomer {
    /// Plan of the order.
    pub plan: OrderPlan,
    /// Placed order; `None` until it is acknowledged.
    pub order: Option<PlacedOrder>,
    /// State of the checkout.
    till: Till,
    /// Number of acknowledged steps.
    steps: usize,
}

/// Order placed by a customer.
pub struct PlacedOrder {
    /// ID of the order.
    pub id: String,
    /// Total in minor units.
    pub total_cents: i64,
    /// Currency.
    currency: String,
}

impl SimCustomer {
    /// Creates a customer who has not placed an order yet.
    pub fn new(plan: OrderPlan) -> Self {
        Self { plan, order: None, till: Till::default(), steps: 0 }
    }

    /// Returns whether all steps were acknowledged.
    pub fn is_done(&self) -> bool {
        self.steps == self.plan.steps.len()
    }

    /// Returns the money that the acknowledged payments, refunds and claims leave with the shop, without those at the
    /// checkout.
    pub fn kept_cents(&self) -> i64 {
        let total = self.order.as_ref().map_or(0, |order| order.total_cents);
        let (mut paid, mut back, mut lost): (BTreeMap<usize, i64>, BTreeMap<usize, i64>, i64) = <_>::default();
        for (_, step) in &self.plan.steps[..self.steps] {
            match *step {
                CustomerStep::Pay(payment, share) => {
                    paid.insert(payment, share.cents(total));
                }
                CustomerStep::Refund(payment, share, is_whole) => {
                    let cents = refunded(share.cents(total), is_whole);
                    let before = back.entry(payment).or_insert(0);
                    *before = cents.max(*before);
                }
                CustomerStep::Cash => {
                    paid.insert(usize::MAX, total);
                }
                CustomerStep::CashBack => {
                    back.insert(usize::MAX, refunded(total, false));
                }
                CustomerStep::Decide(claim) => lost += total - claim.remainder().cents(total),
                CustomerStep::Place | CustomerStep::Cancel | CustomerStep::Till(_) | CustomerStep::Claim(_) => {}
            }
        }
        paid.values().sum::<i64>() - back.values().sum::<i64>() - lost
    }

    /// Performs the next step if it is due.
    pub async fn step(&mut self, world: &World, shop: &Shop, products: &[String]) -> Result<(), SimError> {
        let Some((at, step)) = self.plan.steps.get(self.steps).copied() else { return Ok(()) };
        if world.clock.elapsed_ms() < at {
            return Ok(());
        }
        let is_acknowledged = match &self.order {
            None => self.place(world, shop, products).await?,
            Some(order) => self.act(world, shop, order, step).await?,
        };
        self.steps += usize::from(is_acknowledged);
        Ok(())
    }

    fn errand(&self, path: String, act: &str, body: Value) -> Errand {
        Errand { path, key: format!("{act}-{}", self.plan.number), body }
    }

    async fn place(&mut self, world: &World, shop: &Shop, products: &[String]) -> Result<bool, SimError> {
        let lines = self.plan.lines.iter().map(|(product, quantity)| {
            let sku = products.get(*product);
            json!({"skuId": sku, "quantity": quantity})
        });
        let lines: Vec<_> = lines.collect();
        let mut body = json!({"lines": lines, "customerEmail": "buyer@example.org"});
        if let Some(priority) = self.plan.priority {
            body["priority"] = json!(priority);
        }
        if let Some(due_ms) = self.plan.due_ms {
            body["dueAt"] = json!(WorldClock::at(due_ms));
        }
        let placed = match shop.ask(&self.errand("/api/orders".to_owned(), "order", body)).await? {
            ShopReply::Done(order) => order,
            ShopReply::Unanswered => return Ok(false),
            ShopReply::Refused(code) => return Err(SimError::Broken(format!("an order was refused: {code}"))),
        };
        let text = |member: &str| placed[member].as_str().unwrap_or_default().to_owned();
        let total_cents = placed["totalCents"].as_i64().unwrap_or_default();
        world.story.tell(format!("customer {} has ordered for {total_cents} cents", self.plan.number));
        self.order = Some(PlacedOrder { id: text("id"), total_cents, currency: text("currency") });
        Ok(true)
    }

    async fn act(&self, world: &World, shop: &Shop, order: &PlacedOrder, step: CustomerStep) -> Result<bool, SimError> {
        let path = |act: &str| format!("/api/orders/{}/{act}", order.id);
        let number = self.plan.number;
        let is_acknowledged = match step {
            CustomerStep::Place => true,
            CustomerStep::Pay(payment, share) => {
                self.event(world, shop, order, (payment, share), SimPaymentEvent::Completed).await?
            }
            CustomerStep::Refund(payment, share, is_whole) => {
                let refunded_cents = refunded(share.cents(order.total_cents), is_whole);
                let event = SimPaymentEvent::Refunded { refunded_cents };
                self.event(world, shop, order, (payment, share), event).await?
            }
            CustomerStep::Cash => {
                let body = json!({"method": "cash", "amountCents": order.total_cents});
                is_done(shop.ask(&self.errand(path("mark-paid"), "cash", body)).await?, "a payment in cash")?
            }
            CustomerStep::CashBack => {
                let Some(state) = shop.read(&format!("/api/orders/{}", order.id)).await? else { return Ok(false) };
                let payments = state["payments"].as_array().map(Vec::as_slice).unwrap_or_default();
                let payment = payments.iter().find(|payment| payment["method"] == "cash").map(|cash| &cash["id"]);
                let body = json!({"paymentId": payment, "amountCents": refunded(order.total_cents, false)});
                is_done(shop.ask(&self.errand(path("refund"), "cash-back", body)).await?, "a refund of cash")?
            }
            CustomerStep::Cancel => {
                is_done(shop.ask(&self.errand(path("cancel"), "cancel", json!({}))).await?, "a cancellation")?
            }
            CustomerStep::Till(step) => self.till.act(world, shop, &Payable::order(number, order), step).await?,
            CustomerStep::Claim(claim) => world.processor.claim(&order.id, claim.cents(order.total_cents)),
            CustomerStep::Decide(claim) => world.processor.decide(&order.id, claim != BankClaim::Won),
        };
        if is_acknowledged {
            world.story.tell(format!("customer {number}: {step:?}"));
        }
        Ok(is_acknowledged)
    }

    /// Makes the processor send a payment event. Returns whether the server has accepted it.
    async fn event(
        &self,
        world: &World,
        shop: &Shop,
        order: &PlacedOrder,
        (payment, share): (usize, Share),
        event: SimPaymentEvent,
    ) -> Result<bool, SimError> {
        let cents = share.cents(order.total_cents);
        let name = format!("{}_{payment}", self.plan.number);
        world.processor.record(&payment_of(order, &name, cents), event);
        if world.planter.strikes(Plant::LostPayment) {
            return Ok(true);
        }
        let word = match event {
            SimPaymentEvent::Refunded { refunded_cents } => format!("back_{refunded_cents}"),
            _ => "paid".to_owned(),
        };
        if !tell(world, shop, order, (&name, cents), event, &word).await? {
            return Ok(false);
        }
        if event == SimPaymentEvent::Completed && world.planter.strikes(Plant::RepeatedPayment) {
            return tell(world, shop, order, (&format!("{name}_again"), cents), event, &word).await;
        }
        Ok(true)
    }
}

/// Returns the total refund, in minor units, after a full or partial refund.
fn refunded(cents: i64, is_whole: bool) -> i64 {
    if is_whole { cents } else { (cents / 3).max(1) }
}

/// Returns whether a command was executed; fails if it was refused.
fn is_done(reply: ShopReply, what: &str) -> Result<bool, SimError> {
    match reply {
        ShopReply::Done(_) => Ok(true),
        ShopReply::Unanswered => Ok(false),
        ShopReply::Refused(code) => Err(SimError::Broken(format!("{what} was refused: {code}"))),
    }
}

/// Returns the payment with the given name, as events describe it.
fn payment_of(order: &PlacedOrder, name: &str, cents: i64) -> SimPayment {
    SimPayment {
        session_id: format!("cs_{name}"),
        payment_intent: format!("pi_{name}"),
        ..SimPayment::new(&order.id, cents, &order.currency)
    }
}

/// Sends an event about the payment with the given name. Returns whether the server has accepted it.
async fn tell(
    world: &World,
    shop: &Shop,
    order: &PlacedOrder,
    (name, cents): (&str, i64),
    event: SimPaymentEvent,
    word: &str,
) -> Result<bool, SimError> {
    let payment = payment_of(order, name, cents);
    let seconds = world.clock.now().0 / 1000;
    let body = payment.event(event, &format!("evt_{name}_{word}"), seconds);
    let status = shop.payment_event(&signature(PAYMENT_SECRET, seconds, body.as_bytes()), body).await?;
    match status {
        200 => Ok(true),
        409 | 429 | 500.. => Ok(false),
        other => Err(SimError::Broken(format!("an event of the processor was answered with {other}"))),
    }
}
