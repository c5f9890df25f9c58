//! Customers who order, pay, pay twice, cancel and get their money back, whatever happens to the server; with what must
//! have become of each order and of its money.

use std::sync::Arc;

use serde_json::{Value, json};
use simulator::payments::{Payment, PaymentEvent as E, signature};

use crate::support::app::PAYMENT_SECRET;
use crate::support::{Client, Clock, until};

/// How an order is paid, and what is done with it afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// By card.
    Card,
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
}

impl Plan {
    /// Every second order is a plain one.
    fn of(n: u64) -> Self {
        const OTHERS: [Plan; 6] = [
            Plan::CancelledCard,
            Plan::CashAndCard,
            Plan::CancelledCash,
            Plan::TwoCards,
            Plan::CancelledOwing,
            Plan::Halves,
        ];
        if n.is_multiple_of(2) { Self::Card } else { OTHERS[(n / 2 % 6) as usize] }
    }

    /// Whether its parts are made.
    pub fn is_made(self) -> bool {
        !matches!(self, Self::CancelledCard | Self::CancelledCash | Self::CancelledOwing)
    }

    /// The order's last status, whether its money is kept, and whether it is due back.
    pub fn end(self) -> (&'static str, bool, bool) {
        match self {
            Self::CancelledCard | Self::CancelledCash => ("refunded", false, false),
            Self::CancelledOwing => ("cancelled", true, true),
            _ => ("ready", true, false),
        }
    }
}

/// An order whose every step was acknowledged.
pub struct Sold {
    /// As it was placed.
    pub order: Value,
    pub plan: Plan,
}

impl Sold {
    pub fn id(&self) -> &str {
        self.order["id"].as_str().unwrap()
    }

    pub fn total(&self) -> i64 {
        self.order["totalCents"].as_i64().unwrap()
    }
}

/// POSTs with one idempotency key until the server says something final; what it acknowledges must be true for ever.
pub async fn insist(client: &Client, path: &str, key: &str, body: &Value) -> Value {
    until(&format!("an answer to {path}"), || async {
        let request = client.request("POST", path).header("Idempotency-Key", key).json(body);
        let answer = client.try_send(request).await?;
        match answer.status {
            200 | 201 => Some(answer.json()),
            // The key is being worked on.
            409 if answer.header("retry-after").is_some() => None,
            429 | 500 | 503 => None,
            other => panic!("{path}: {other} {}", answer.text),
        }
    })
    .await
}

/// GETs until there is an answer.
async fn read(client: &Client, path: &str) -> Value {
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
    pub sku: String,
}

impl Customers {
    /// Tells the server of a payment until it has taken the news, signed by its own clock.
    async fn tell(&self, payment: &Payment, event: E, id: &str) {
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
    pub async fn buy(&self, n: u64) -> Sold {
        let (plan, key) = (Plan::of(n), n.to_string());
        let body = json!({"lines": [{"skuId": self.sku, "quantity": 1 + n % 3}], "customerEmail": "buyer@example.org"});
        let order = insist(&self.client, "/api/orders", &format!("order-{n}"), &body).await;
        let sold = Sold { order, plan };
        let (id, total) = (sold.id(), sold.total());
        let card = |name: &str, cents: i64| {
            let payment = Payment::new(id, cents, "usd");
            let (session_id, payment_intent) = (format!("cs_{name}_{n}"), format!("pi_{name}_{n}"));
            Payment { session_id, payment_intent, ..payment }
        };
        let (one, two) = (card("one", total), card("two", total));
        let back = E::Refunded { refunded_cents: total };
        let event = |what: &str| format!("evt_{n}_{what}");
        match plan {
            Plan::Card => {
                self.tell(&one, E::Completed, &event("paid")).await;
                self.tell(&one, E::Completed, &event("paid")).await;
            }
            Plan::CashAndCard => {
                self.cash(id, total, &key).await;
                self.tell(&one, E::Completed, &event("paid")).await;
                self.tell(&one, back, &event("back")).await;
            }
            Plan::TwoCards => {
                self.tell(&one, back, &event("back")).await;
                self.tell(&two, E::Completed, &event("paid-two")).await;
                self.tell(&one, E::Completed, &event("paid")).await;
            }
            Plan::Halves => {
                self.cash(id, total / 2, &key).await;
                self.tell(&card("half", total - total / 2), E::Completed, &event("paid")).await;
            }
            Plan::CancelledCard | Plan::CancelledOwing => {
                self.tell(&one, E::Completed, &event("paid")).await;
                self.cancel(id, &key).await;
                if plan == Plan::CancelledCard {
                    self.tell(&one, back, &event("back")).await;
                }
            }
            Plan::CancelledCash => {
                self.cash(id, total, &key).await;
                self.cancel(id, &key).await;
                self.cash_back(id, total, &key).await;
            }
        }
        sold
    }
}
