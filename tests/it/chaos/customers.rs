//! Customers who order, pay, pay twice, cancel and receive refunds, whatever happens to the server; with the expected
//! final state of each order and its payments.

use std::sync::{Arc, Mutex};

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent as E, signature};
use tokio::sync::mpsc::UnboundedSender;

use super::catalogue::Catalogue;
use super::money::{self, End, News};
use crate::support::app::PAYMENT_SECRET;
use crate::support::{Client, Clock, until};

/// Payment of an order, and its later course.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// By card.
    Card,
    /// By card; parts are shipped as soon as they are printed.
    Packed,
    /// In cash and by card; the card payment is refunded.
    CashAndCard,
    /// By two cards; the first payment is refunded, and the refund event arrives before the payment event.
    TwoCards,
    /// Half in cash, half by card.
    Halves,
    /// By card; cancelled and refunded.
    CancelledCard,
    /// In cash; cancelled and refunded in two parts.
    CancelledCash,
    /// By card; cancelled but not refunded.
    CancelledOwing,
    /// By card; cancelled, but not refunded, while it is being printed and its printer is disconnected.
    CancelledCutOff,
    /// By several cards, with the events of payments and refunds in any order.
    AnyOrder,
    /// An order from an older release whose balance is paid by card.
    Old,
}

impl Plan {
    fn of(n: u64) -> Self {
        const OTHERS: [Plan; 9] = [
            Plan::CancelledCutOff,
            Plan::AnyOrder,
            Plan::CancelledCard,
            Plan::CashAndCard,
            Plan::AnyOrder,
            Plan::CancelledCash,
            Plan::TwoCards,
            Plan::CancelledOwing,
            Plan::Halves,
        ];
        match n % 4 {
            0 => Self::Card,
            2 => Self::Packed,
            _ => OTHERS[(n / 2 % 9) as usize],
        }
    }
}

/// An order all of whose steps have been acknowledged.
pub struct Sold {
    /// Body of the response when it was placed.
    pub order: Value,
    pub plan: Plan,
    /// Expected final state.
    pub end: End,
}

impl Sold {
    pub fn id(&self) -> &str {
        self.order["id"].as_str().unwrap()
    }
}

/// Sends a POST with one idempotency key until the server gives a final response. Returns the acknowledged body, which
/// must hold forever, or the code of the refusal.
pub async fn ask(client: &Client, path: &str, key: &str, body: &Value) -> Result<Value, String> {
    until(&format!("an answer to {path}"), || async {
        let request = client.request("POST", path).header("Idempotency-Key", key).json(body);
        let answer = client.try_send(request).await?;
        match answer.status {
            200 | 201 => Some(Ok(answer.json())),
            // The key is being worked on.
            409 if answer.header("retry-after").is_some() => None,
            409 => Some(Err(answer.error(409))),
            429 | 500 | 503 => None,
            other => panic!("{path}: {other} {}", answer.text),
        }
    })
    .await
}

/// Sends a POST as [`ask`] does and returns the body; fails if the server refuses.
pub async fn insist(client: &Client, path: &str, key: &str, body: &Value) -> Value {
    ask(client, path, key, body).await.unwrap_or_else(|code| panic!("{path} {body}: {code}"))
}

/// Sends a GET until the server responds with 200; returns the body.
pub async fn read(client: &Client, path: &str) -> Value {
    until(&format!("an answer to {path}"), || async {
        let answer = client.try_send(client.request("GET", path)).await?;
        (answer.status == 200).then(|| answer.json())
    })
    .await
}

/// Customers who place one order after another.
pub struct Customers {
    pub client: Client,
    pub clock: Arc<Clock>,
    pub catalogue: Catalogue,
    pub rng: Rng,
    /// Channel for orders to be cancelled while their printer is disconnected.
    pub cut_off: UnboundedSender<String>,
    /// Orders whose parts are shipped as soon as they are printed.
    pub packed: Arc<Mutex<Vec<String>>>,
}

impl Customers {
    /// Sends a payment event until the server accepts it, signed with the time of the server's clock.
    async fn tell(&self, payment: &SimPayment, event: E, id: &str) {
        until(&format!("{id} to be taken"), || async {
            let now = self.clock.unix_now();
            let body = payment.event(event, id, now);
            let signed = signature(PAYMENT_SECRET, now, body.as_bytes());
            let request = self.client.request("POST", "/webhooks/payments").header("Stripe-Signature", signed);
            let request = request.header("Content-Type", "application/json").body(body);
            let answer = self.client.try_send(request).await?;
            match answer.status {
                200 => Some(()),
                // The clock was set meanwhile.
                400 if answer.json()["code"] == "invalid_signature" => None,
                409 | 429 | 500 | 503 => None,
                other => panic!("{id}: {other} {}", answer.text),
            }
        })
        .await;
    }

    async fn cash(&self, order: &str, cents: i64, key: &str) {
        let body = json!({"method": "cash", "amountCents": cents});
        insist(&self.client, &format!("/api/orders/{order}/mark-paid"), &format!("cash-{key}"), &body).await;
    }

    async fn cancel(&self, order: &str, key: &str) {
        insist(&self.client, &format!("/api/orders/{order}/cancel"), &format!("cancel-{key}"), &json!({})).await;
    }

    /// Refunds the only cash payment of an order in two parts.
    async fn cash_back(&self, order: &str, cents: i64, key: &str) {
        let payments = read(&self.client, &format!("/api/orders/{order}")).await["payments"].clone();
        let payment = payments[0]["id"].clone();
        for (part, cents) in [cents / 3, cents - cents / 3].into_iter().enumerate() {
            let body = json!({"paymentId": payment, "amountCents": cents});
            insist(&self.client, &format!("/api/orders/{order}/refund"), &format!("back-{key}-{part}"), &body).await;
        }
    }

    /// Places an order and executes its plan until every step is acknowledged.
    pub async fn buy(&mut self, n: u64) -> Sold {
        let plan = Plan::of(n);
        let urgent = if plan == Plan::CancelledCutOff { 9 } else { 5 };
        let body = json!({
            "lines": self.catalogue.lines(n), "customerEmail": "buyer@example.org", "priority": urgent,
        });
        let order = insist(&self.client, "/api/orders", &format!("order-{n}"), &body).await;
        self.pay(order, plan, n).await
    }

    /// Pays the balance of an order from an older release.
    pub async fn pay_old(&mut self, order: Value) -> Sold {
        self.pay(order, Plan::Old, 1_000_000).await
    }

    async fn pay(&mut self, order: Value, plan: Plan, n: u64) -> Sold {
        let id = order["id"].as_str().unwrap().to_owned();
        let (total, key) = (order["totalCents"].as_i64().unwrap(), n.to_string());
        let card = |name: &str, cents: i64| card_payment(&id, cents, &format!("{name}_{n}"));
        let (one, two) = (card("one", total), card("two", total));
        let back = E::Refunded { refunded_cents: total };
        let event = |what: &str| format!("evt_{n}_{what}");
        let mut end = End::of("ready", total, false);
        match plan {
            Plan::Card | Plan::Packed => {
                // Told twice, at once.
                let paid = event("paid");
                tokio::join!(self.tell(&one, E::Completed, &paid), self.tell(&one, E::Completed, &paid));
                self.packed.lock().unwrap().extend((plan == Plan::Packed).then(|| id.clone()));
            }
            Plan::CashAndCard => {
                self.cash(&id, total, &key).await;
                self.tell(&one, E::Completed, &event("paid")).await;
                self.tell(&one, back, &event("back")).await;
            }
            Plan::TwoCards => {
                self.tell(&one, back, &event("back")).await;
                self.tell(&two, E::Completed, &event("paid-two")).await;
                self.tell(&one, E::Completed, &event("paid")).await;
            }
            Plan::Halves => {
                self.cash(&id, total / 2, &key).await;
                self.tell(&card("half", total - total / 2), E::Completed, &event("paid")).await;
            }
            Plan::CancelledCard | Plan::CancelledOwing | Plan::CancelledCutOff => {
                self.tell(&one, E::Completed, &event("paid")).await;
                end = End::of("cancelled", total, true);
                match plan {
                    Plan::CancelledCutOff => self.cut_off.send(id.clone()).unwrap(),
                    _ => self.cancel(&id, &key).await,
                }
                if plan == Plan::CancelledCard {
                    self.tell(&one, back, &event("back")).await;
                    end = End::of("refunded", 0, false);
                }
            }
            Plan::CancelledCash => {
                self.cash(&id, total, &key).await;
                self.cancel(&id, &key).await;
                self.cash_back(&id, total, &key).await;
                end = End::of("refunded", 0, false);
            }
            Plan::AnyOrder => {
                let steps = money::script(&mut self.rng, total);
                for (payment, news) in &steps {
                    // An event that comes twice has the same id.
                    let (name, of) = (format!("{payment}-{news:?}"), format!("any{payment}"));
                    match *news {
                        News::Paid(cents) => self.tell(&card(&of, cents), E::Completed, &event(&name)).await,
                        News::Back { of: cents, all } => {
                            let back = E::Refunded { refunded_cents: all };
                            self.tell(&card(&of, cents), back, &event(&name)).await;
                        }
                    }
                }
                end = money::end(total, &steps);
            }
            Plan::Old => {
                let rest = total - order["keptCents"].as_i64().unwrap();
                self.tell(&card("rest", rest), E::Completed, &event("paid")).await;
            }
        }
        Sold { order, plan, end }
    }
}

/// Creates a card payment for this order with its own session and payment intent.
fn card_payment(order: &str, cents: i64, name: &str) -> SimPayment {
    let (session_id, payment_intent) = (format!("cs_{name}"), format!("pi_{name}"));
    SimPayment { session_id, payment_intent, ..SimPayment::new(order, cents, "usd") }
}
