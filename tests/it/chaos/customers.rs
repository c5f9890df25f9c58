//! Customers who order, pay, pay twice, cancel and get their money back, whatever happens to the server; with what must
//! have become of each order and of its money.

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
    /// By card; its parts leave as they are made.
    Packed,
    /// In cash and by card as well; the card goes back.
    CashAndCard,
    /// By two cards; the money of the first goes back, which is heard before it came.
    TwoCards,
    /// Half in cash, half by card.
    Halves,
    /// By card; cancelled, and the money goes back.
    CancelledCard,
    /// In cash; cancelled, and the money goes back in two parts.
    CancelledCash,
    /// By card; cancelled, and the money stays.
    CancelledOwing,
    /// By card; cancelled while it is printed and its printer is cut off. The money stays.
    CancelledCutOff,
    /// By several cards, whose payments and refunds are heard of in any order.
    AnyOrder,
    /// An order of an older release, of which the rest is paid by card.
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

/// An order whose every step was acknowledged.
pub struct Sold {
    /// As it was placed.
    pub order: Value,
    pub plan: Plan,
    /// State that the order must reach in the end.
    pub end: End,
}

impl Sold {
    pub fn id(&self) -> &str {
        self.order["id"].as_str().unwrap()
    }
}

/// POSTs with one idempotency key until the server says something final; what it acknowledges must be true for ever.
/// Gives the code of a refusal.
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

/// Does what [`ask`] does; it must not be refused.
pub async fn insist(client: &Client, path: &str, key: &str, body: &Value) -> Value {
    ask(client, path, key, body).await.unwrap_or_else(|code| panic!("{path} {body}: {code}"))
}

/// GETs until there is an answer.
pub async fn read(client: &Client, path: &str) -> Value {
    until(&format!("an answer to {path}"), || async {
        let answer = client.try_send(client.request("GET", path)).await?;
        (answer.status == 200).then(|| answer.json())
    })
    .await
}

/// Those who buy, one after the other.
pub struct Customers {
    pub client: Client,
    pub clock: Arc<Clock>,
    pub catalogue: Catalogue,
    pub rng: Rng,
    /// Orders that are to be cancelled while their printer is cut off.
    pub cut_off: UnboundedSender<String>,
    /// Orders whose parts leave as they are made.
    pub packed: Arc<Mutex<Vec<String>>>,
}

impl Customers {
    /// Tells the server of a payment until it has taken the news, signed by its own clock.
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

    /// Gives the only cash payment of an order back, in two parts.
    async fn cash_back(&self, order: &str, cents: i64, key: &str) {
        let payments = read(&self.client, &format!("/api/orders/{order}")).await["payments"].clone();
        let payment = payments[0]["id"].clone();
        for (part, cents) in [cents / 3, cents - cents / 3].into_iter().enumerate() {
            let body = json!({"paymentId": payment, "amountCents": cents});
            insist(&self.client, &format!("/api/orders/{order}/refund"), &format!("back-{key}-{part}"), &body).await;
        }
    }

    /// Buys once: every step of its plan is acknowledged.
    pub async fn buy(&mut self, n: u64) -> Sold {
        let plan = Plan::of(n);
        let urgent = if plan == Plan::CancelledCutOff { 9 } else { 5 };
        let body = json!({
            "lines": self.catalogue.lines(n), "customerEmail": "buyer@example.org", "priority": urgent,
        });
        let order = insist(&self.client, "/api/orders", &format!("order-{n}"), &body).await;
        self.pay(order, plan, n).await
    }

    /// Pays the rest of an order that an older release took.
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

/// Builds a payment of this order by card, with a session and an intent of its own.
fn card_payment(order: &str, cents: i64, name: &str) -> SimPayment {
    let (session_id, payment_intent) = (format!("cs_{name}"), format!("pi_{name}"));
    SimPayment { session_id, payment_intent, ..SimPayment::new(order, cents, "usd") }
}
