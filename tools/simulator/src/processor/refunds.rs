//! Refunds of payments.

use serde_json::{Value, json};

use super::books::{ProcessorObjects, now};
use super::fault::ErrorResponse;
use super::params::Params;

pub(super) fn create(books: &mut ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["payment_intent", "charge", "amount", "reason", "metadata"])?;
    let charge = match (params.text("payment_intent"), params.text("charge")) {
        (Some(intent), None) => {
            let intent = books.named("payment_intent", intent, "payment_intent")?;
            intent["latest_charge"].as_str().map(str::to_owned).ok_or_else(|| {
                let message = "This PaymentIntent does not have a successful charge to refund.";
                ErrorResponse::invalid(message.to_owned(), "payment_intent")
            })?
        }
        (None, Some(charge)) => charge.to_owned(),
        _ => return Err(ErrorResponse::missing("payment_intent")),
    };
    let charge = books.named("charge", &charge, "charge")?.clone();
    let number = |name: &str| charge[name].as_i64().unwrap_or_default();
    let left = number("amount") - number("amount_refunded");
    let id = charge["id"].as_str().unwrap_or_default();
    if left == 0 {
        let fault = ErrorResponse::invalid(format!("Charge {id} has already been refunded."), "");
        return Err(fault.code("charge_already_refunded"));
    }
    let amount = params.integer("amount")?.unwrap_or(left);
    if amount < 1 {
        let fault = ErrorResponse::invalid("This value must be greater than or equal to 1.".to_owned(), "amount");
        return Err(fault.code("parameter_invalid_integer"));
    }
    if amount > left {
        let message = format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left})");
        return Err(ErrorResponse::invalid(message, "amount"));
    }
    if let Some(code) = &books.refuses_refunds {
        return Err(ErrorResponse::invalid("Insufficient funds in your account to refund.".to_owned(), "").code(code));
    }
    let refund = books.add(json!({
        "id": ProcessorObjects::id("re"), "object": "refund", "amount": amount, "charge": id, "created": now(),
        "currency": charge["currency"], "metadata": params.metadata("metadata")?, "reason": params.text("reason"),
        "payment_intent": charge["payment_intent"], "status": "succeeded",
    }))?;
    let refunded = json!({"amount_refunded": number("amount_refunded") + amount, "refunded": amount == left});
    let charge = books.change(id, &refunded);
    books.happened("charge.refunded", &charge);
    books.happened("refund.created", &refund);
    Ok(refund)
}

/// Makes a refund fail, so that its charge is no longer marked as refunded.
pub(super) fn fail(books: &mut ProcessorObjects, id: &str) -> Result<Value, ErrorResponse> {
    let refund = books.get("refund", id)?.clone();
    if refund["status"] != "succeeded" {
        return Err(ErrorResponse::invalid("This refund has already failed.".to_owned(), "refund"));
    }
    let charge = refund["charge"].as_str().unwrap_or_default();
    let went = books.get("charge", charge)?["amount_refunded"].as_i64().unwrap_or_default();
    let left = went - refund["amount"].as_i64().unwrap_or_default();
    books.change(charge, &json!({"amount_refunded": left, "refunded": false}));
    let failed = json!({"status": "failed", "failure_reason": "expired_or_canceled_card"});
    let failed = books.change(id, &failed);
    books.happened("refund.failed", &failed);
    books.happened("refund.updated", &failed);
    Ok(failed)
}

pub(super) fn list(books: &ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["payment_intent", "charge", "limit", "starting_after", "ending_before"])?;
    let fits = |refund: &Value, name: &str| params.text(name).is_none_or(|expected| refund[name] == expected);
    if let Some(intent) = params.text("payment_intent") {
        books.named("payment_intent", intent, "payment_intent")?;
    }
    books.page("refund", "/v1/refunds", params, |refund| fits(refund, "payment_intent") && fits(refund, "charge"))
}
