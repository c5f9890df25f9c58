//! Entry of the fuzz target for responses from the accounting system.

use serde_json::Value;

use super::read::{contact, organisations, paper, refusal};
use domain::invoice::DocumentKind;

/// Reads a response as each of those that the client requests, and as a rejection.
pub(crate) fn parse(answer: &Value) {
    let _ = organisations(answer);
    let _ = contact(answer);
    let _ = paper(answer, DocumentKind::Invoice);
    let _ = paper(answer, DocumentKind::CreditNote);
    let _ = refusal(400, answer, answer.to_string().as_bytes());
}
