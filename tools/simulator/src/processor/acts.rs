//! Events at the processor that are not caused by the shop: refunds that fail days later, disputes, and restricted
//! keys.

use serde_json::{Value, json};

use super::books::{ProcessorObjects, now};
use super::fault::ErrorResponse;
use super::{SimPaymentProcessor, refunds};

/// State of a dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisputeVerdict {
    /// The bank has opened a dispute and is waiting for a response.
    Asks,
    /// The shop has won the dispute and keeps the money.
    Won,
    /// The shop has lost the dispute and the money.
    Lost,
}

impl SimPaymentProcessor {
    /// Makes an accepted refund fail, so that the money returns to the shop.
    pub fn fail_refund(&self, refund: &str) -> Result<(), String> {
        self.done(|books| refunds::fail(books, refund))
    }

    /// Opens a dispute over a payment on behalf of the customer's bank, or decides the dispute.
    pub fn dispute(&self, intent: &str, verdict: DisputeVerdict) -> Result<(), String> {
        self.done(|books| dispute(books, intent, verdict))
    }

    /// Returns the given status for calls such as `GET /v1/refunds` instead of executing them; 403 simulates a
    /// restricted key.
    pub fn refuse_call(&self, call: &str, status: u16) {
        self.host.with(|inside| inside.books.refused_calls.push((call.to_owned(), status)));
    }

    /// Rejects all customer addresses in subsequent calls.
    pub fn dislike_addresses(&self) {
        self.host.with(|inside| inside.books.dislikes_addresses = true);
    }

    /// Discards all idempotency keys, as the real processor does after a day.
    pub fn forget_keys(&self) {
        self.host.with(|inside| {
            inside.keys.clear();
            inside.recent.clear();
        });
    }
}

/// Opens or decides the dispute over a payment; returns an error if there is no such payment.
pub(super) fn dispute(
    books: &mut ProcessorObjects,
    intent: &str,
    verdict: DisputeVerdict,
) -> Result<Value, ErrorResponse> {
    let intent = books.get("payment_intent", intent)?.clone();
    let existing = books.all("dispute").find(|one| one["payment_intent"] == intent["id"]).cloned();
    let (status, kind) = match verdict {
        DisputeVerdict::Asks => ("needs_response", "charge.dispute.created"),
        DisputeVerdict::Won => ("won", "charge.dispute.closed"),
        DisputeVerdict::Lost => ("lost", "charge.dispute.closed"),
    };
    let dispute = match existing {
        Some(existing) => books.change(existing["id"].as_str().unwrap_or_default(), &json!({"status": status})),
        None => books.add(json!({
            "id": ProcessorObjects::id("dp"), "object": "dispute", "amount": intent["amount"], "currency": intent["currency"],
            "charge": intent["latest_charge"], "payment_intent": intent["id"], "created": now(), "metadata": {},
            "reason": "fraudulent", "status": status,
        }))?,
    };
    books.happened(kind, &dispute);
    Ok(dispute)
}
