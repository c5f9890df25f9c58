//! Translations of the API's messages about invoices, quotes and payments.

use crate::messages;

messages! {
    "staff/billing":

    fault_discount;
    fault_total;
    fault_not_future;
    fault_past;
    fault_method;
    fault_above_due;
    fault_above_refundable;
    fault_payment;
    fault_price_of_sku;
    fault_inactive_sku;
    fault_unpriced;

    changed_since;
    not_in_status;
    nothing_to_refund;
    refunds_under_way;
    refund_at_processor;
    payment_unnamed;
    has_payments;
    already_paid;
    belongs_to_order;
    too_many_payments;
    not_issued;
}
