//! Entry of the fuzz target for responses from the payment processor.

use serde_json::Value;

use super::read::{AnswerReader, customer, page, payment_method, refund, session, subscription};

/// Reads a response as each object that it may be, and each entry of a list as well.
pub(crate) fn parse(answer: &Value) {
    let entries = page(answer).map(|list| list.entries).unwrap_or_default();
    for one in entries.iter().chain([answer]) {
        let reader = AnswerReader::new(one, "a response");
        let _ = session(&reader);
        let _ = refund(&reader);
        let _ = customer(&reader);
        let _ = payment_method(&reader);
        let _ = subscription(&reader);
    }
}
