//! Payments for an order: amounts due and retained, payments, refunds, and the forms for recording them.

use maud::{Markup, html};

use super::order_path;
use crate::frame::{money, time};
use crate::staff::acts::{AMOUNT_LABEL, REFERENCE_LABEL};
use crate::staff::job::currency_field;
use crate::staff::shell::{Tone, hidden};
use domain::order::{Order, Payment};

/// Renders the payments and refunds of an order.
pub(super) fn payments(order: &Order) -> Markup {
    let pending = &order.ledger.at_processor.refunds;
    html! {
        section class="panel pad" aria-labelledby="money" {
            h2 id="money" { "Payments" }
            dl class="left" {
                @if order.shipping_cents != 0 { dt { "Shipping" } dd { (money(order.shipping_cents, &order.currency)) } }
                @if order.tax_cents != 0 { dt { "Tax" } dd { (money(order.tax_cents, &order.currency)) } }
                dt { "Total" } dd { (money(order.total_cents, &order.currency)) }
                dt { "Net paid" } dd { (money(order.ledger.kept_cents, &order.currency)) }
                dt { "Due" } dd { (money(order.due_cents(), &order.currency)) }
            }
            @if !order.ledger.payments.is_empty() {
                ul class="rows" { @for payment in &order.ledger.payments { li { (entry(payment)) } } }
            }
            @if !pending.is_empty() {
                h3 { "Pending refunds" }
                ul class="rows" {
                    @for refund in pending {
                        li {
                            span { (money(refund.amount_cents, &order.currency)) }
                            span class="soft" { "requested " (time(refund.asked_at)) }
                            @match &refund.error {
                                Some(error) => { span class="full bad" { "Rejected by the payment processor: " (error) } },
                                None => { span class=(Tone::Working.class()) { "waiting for the payment processor" } },
                            }
                        }
                    }
                }
            }
        }
    }
}

fn entry(payment: &Payment) -> Markup {
    let (amount, status) = payment.listed();
    html! {
        span { (payment.method) @if let Some(reference) = &payment.reference { " " span class="soft" { (reference) } } }
        span class="soft" { (time(payment.created_at)) }
        span {
            (money(amount, &payment.currency))
            @if status == "refunded" { " refunded" }
            @if status == "failed" { " " span class=(Tone::Error.class()) { "failed" } }
        }
    }
}

/// Renders the form for recording a payment of all or part of the amount due. `class` is the CSS class of the button
/// that opens the form.
pub(super) fn pay(order: &Order, class: Option<&str>) -> Markup {
    let due = money(order.due_cents(), &order.currency);
    html! {
        details {
            summary class=[class] { "Record payment" }
            form class="panel pad tools" method="post" action=(order_path(order.id, "mark-paid")) data-quiet="" {
                (hidden()) (currency_field(&order.currency))
                div class="field" {
                    label for="f-method" { "Payment method" }
                    input id="f-method" name="method" maxlength="50" required value="bank transfer";
                }
                div class="field" {
                    label for="f-paid" { (AMOUNT_LABEL(words::Language::English)) " in " (order.currency.to_uppercase()) }
                    input id="f-paid" name="amount" inputmode="decimal" maxlength="20" aria-describedby="about-paid";
                    p class="hint" id="about-paid" { "Leave empty to record the full amount due (" (due) ")." }
                }
                div class="field" {
                    label for="f-reference" { (REFERENCE_LABEL(words::Language::English)) }
                    input id="f-reference" name="reference" maxlength="200";
                }
                button class="second" type="submit" { "Record payment" }
            }
        }
    }
}

/// Renders a form for each payment, with which it can be refunded in full or in part.
pub(super) fn refunds(order: &Order) -> Markup {
    let received = order.ledger.payments.iter().filter(|payment| payment.amount_cents > 0);
    html! {
        @for payment in received {
            details {
                summary { "Refund " (money(payment.amount_cents, &payment.currency)) " (" (payment.method) ", " (time(payment.created_at)) ")" }
                p { "Refund all or part of this payment. Payments through the payment processor are refunded there. Send any other refund yourself; it is recorded here." }
                form class="tools" method="post" action=(order_path(order.id, "refund")) data-quiet="" {
                    (hidden()) (currency_field(&payment.currency))
                    input type="hidden" name="paymentId" value=(payment.id);
                    div class="field" {
                        label for={ "f-refund-" (payment.id) } { (AMOUNT_LABEL(words::Language::English)) " in " (payment.currency.to_uppercase()) }
                        input id={ "f-refund-" (payment.id) } name="amount" inputmode="decimal" maxlength="20"
                            aria-describedby={ "about-refund-" (payment.id) };
                        p class="hint" id={ "about-refund-" (payment.id) } { "Leave empty to refund the full remaining amount." }
                    }
                    div class="field" {
                        label for={ "f-otherwise-" (payment.id) } { "Other refund method" }
                        input id={ "f-otherwise-" (payment.id) } name="method" maxlength="50";
                    }
                    button class="second" type="submit" { "Refund to " (order.customer_email.as_deref().unwrap_or("the customer")) }
                }
            }
        }
    }
}
