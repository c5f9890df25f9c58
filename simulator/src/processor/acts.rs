//! What happens at the processor without the shop: refunds that fail days later, banks that take payments back, keys
//! that may not do everything.

use serde_json::{Value, json};

use super::books::{Books, now};
use super::fault::Fault;
use super::{PaymentProcessor, refunds};

/// How a customer's bank stands to a payment that it takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It asks for the money, and waits for an answer.
    Asks,
    /// The shop keeps the money.
    Won,
    /// The money is gone.
    Lost,
}

impl PaymentProcessor {
    /// A refund that was taken does not arrive: the money is with the shop again.
    pub fn fail_refund(&self, refund: &str) -> Result<(), String> {
        self.done(|books| refunds::fail(books, refund))
    }

    /// The customer's bank takes a payment back, or decides about it.
    pub fn dispute(&self, intent: &str, verdict: Verdict) -> Result<(), String> {
        self.done(|books| dispute(books, intent, verdict))
    }

    /// Such calls, as `GET /v1/refunds`, are answered with this status and do nothing; with 403, because the key may
    /// not make them.
    pub fn refuse_call(&self, call: &str, status: u16) {
        self.host.with(|inside| inside.books.refused_calls.push((call.to_owned(), status)));
    }

    /// Every address of a customer is refused from now on.
    pub fn dislike_addresses(&self) {
        self.host.with(|inside| inside.books.dislikes_addresses = true);
    }

    /// A day is over: keys of requests are new ones again.
    pub fn forget_keys(&self) {
        self.host.with(|inside| {
            inside.keys.clear();
            inside.recent.clear();
        });
    }
}

/// Opens or decides the dispute of a payment; the error says that there is no such payment.
pub(super) fn dispute(books: &mut Books, intent: &str, verdict: Verdict) -> Result<Value, Fault> {
    let intent = books.get("payment_intent", intent)?.clone();
    let known = books.all("dispute").find(|one| one["payment_intent"] == intent["id"]).cloned();
    let (status, kind) = match verdict {
        Verdict::Asks => ("needs_response", "charge.dispute.created"),
        Verdict::Won => ("won", "charge.dispute.closed"),
        Verdict::Lost => ("lost", "charge.dispute.closed"),
    };
    let dispute = match known {
        Some(known) => books.change(known["id"].as_str().unwrap_or_default(), &json!({"status": status})),
        None => books.add(json!({
            "id": Books::id("dp"), "object": "dispute", "amount": intent["amount"], "currency": intent["currency"],
            "charge": intent["latest_charge"], "payment_intent": intent["id"], "created": now(), "metadata": {},
            "reason": "fraudulent", "status": status,
        }))?,
    };
    books.happened(kind, &dispute);
    Ok(dispute)
}
