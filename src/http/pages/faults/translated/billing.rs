//! Translations of the API's messages about invoices, quotes and payments.

use super::TranslatedText;
use words::staff::billing;

/// Returns the message of a validation error; `None` for messages about anything else.
pub(super) fn fault(message: &str) -> Option<TranslatedText> {
    Some(match message {
        "must not exceed the sum of the lines" => billing::fault_discount,
        "the total is too large; split the invoice" => billing::fault_total,
        "must be in the future" => billing::fault_not_future,
        "must not be in the past" => billing::fault_past,
        "is reserved for what the payment processor reports; use another name" => billing::fault_method,
        message if message.ends_with(", the amount due") => billing::fault_above_due,
        message if message.ends_with(", the amount not yet refunded") => billing::fault_above_refundable,
        "is required for payments outside of the payment processor"
        | "is required for refunds outside of the payment processor" => billing::fault_payment,
        "is required, because the SKU's price is in another currency" => billing::fault_price_of_sku,
        "this SKU is not active" => billing::fault_inactive_sku,
        "is too large to be priced; reduce the quantity, or set a price" => billing::fault_unpriced,
        _ => return None,
    })
}

/// Returns the message of an error with this code; `None` for errors about anything else.
pub(super) fn refusal(code: &str) -> Option<TranslatedText> {
    Some(match code {
        "stale_version" => billing::changed_since,
        "invalid_transition" => billing::not_in_status,
        "nothing_to_refund" => billing::nothing_to_refund,
        "refunds_under_way" => billing::refunds_under_way,
        "refund_at_processor" => billing::refund_at_processor,
        "payment_unnamed" => billing::payment_unnamed,
        "invoice_has_payments" => billing::has_payments,
        "already_paid" => billing::already_paid,
        "belongs_to_order" => billing::belongs_to_order,
        "too_many_payments" => billing::too_many_payments,
        "not_issued" => billing::not_issued,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::Language;

    #[test]
    fn messages_of_rules_are_translated() {
        for (message, german) in [
            ("must not exceed the sum of the lines", "darf die Summe der Positionen nicht übersteigen"),
            ("must be in the future", "muss in der Zukunft liegen"),
            ("must be at most 500, the amount due", "darf den offenen Betrag nicht übersteigen"),
            (
                "must be from 1 to 500, the amount not yet refunded",
                "darf den noch nicht erstatteten Betrag nicht übersteigen",
            ),
        ] {
            assert_eq!(fault(message).map(|text| text(Language::German)).as_deref(), Some(german));
        }
        assert!(fault("must be at most 500").is_none());
        for code in ["stale_version", "invalid_transition", "nothing_to_refund"] {
            assert!(refusal(code).is_some(), "{code}");
        }
        assert!(refusal("wrong_code").is_none());
    }
}
