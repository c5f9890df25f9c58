//! Payments for an order: amounts due and retained, payments, refunds, and the forms for recording them.

use maud::{Markup, html};

use super::order_path;
use crate::frame::{SLOT, time, with_parts};
use crate::staff::acts::REFERENCE_LABEL;
use crate::staff::invoices::usual_method;
use crate::staff::job::currency_field;
use crate::staff::sheet::method_name;
use crate::staff::shell::{Tone, hidden_once};
use crate::times::message_in;
use domain::notation;
use domain::order::{Order, Payment};
use words::Language;
use words::staff::orders as texts;

/// Renders the payments and refunds of an order.
pub(super) fn payments(language: Language, order: &Order) -> Markup {
    let money = |cents| notation::amount(language, cents, &order.currency);
    let pending = &order.ledger.at_processor.refunds;
    html! {
        section class="panel pad" aria-labelledby="money" {
            h2 id="money" { (texts::payments(language)) }
            dl class="left" {
                @if order.shipping_cents != 0 { dt { (texts::shipping(language)) } dd { (money(order.shipping_cents)) } }
                @if order.tax_cents != 0 { dt { (texts::tax(language)) } dd { (money(order.tax_cents)) } }
                dt { (texts::total(language)) } dd { (money(order.total_cents)) }
                dt { (texts::net_paid(language)) } dd { (money(order.ledger.kept_cents)) }
                dt { (texts::due(language)) } dd { (money(order.due_cents())) }
            }
            @if !order.ledger.payments.is_empty() {
                ul class="rows" { @for payment in &order.ledger.payments { li { (entry(language, payment)) } } }
            }
            @if !pending.is_empty() {
                h3 { (texts::pending_refunds(language)) }
                ul class="rows" {
                    @for refund in pending {
                        li {
                            span { (money(refund.amount_cents)) }
                            span class="soft" {
                                (with_parts(&texts::refund_requested(language, SLOT), &[&time(language, refund.asked_at)]))
                            }
                            @match &refund.error {
                                Some(error) => { span class="full bad" { (with_parts(&texts::refund_rejected(language, SLOT), &[&message_in(language, error)])) } },
                                None => { span class=(Tone::Working.class()) { (texts::refund_waiting(language)) } },
                            }
                        }
                    }
                }
            }
        }
    }
}

fn entry(language: Language, payment: &Payment) -> Markup {
    let (amount, status) = payment.listed();
    html! {
        span { (method_name(language, &payment.method)) @if let Some(reference) = &payment.reference { " " span class="soft" { (reference) } } }
        span class="soft" { (time(language, payment.created_at)) }
        span {
            (notation::amount(language, amount, &payment.currency))
            @if status == "refunded" { " " (texts::payment_refunded(language)) }
            @if status == "failed" { " " span class=(Tone::Error.class()) { (texts::payment_failed(language)) } }
        }
    }
}

/// Renders the form for recording a payment for all or part of the amount due. `class` is the CSS class of the button
/// that opens the form.
pub(super) fn pay(language: Language, order: &Order, class: Option<&str>) -> Markup {
    let due = notation::amount(language, order.due_cents(), &order.currency);
    html! {
        details {
            summary class=[class] { (texts::record_payment(language)) }
            form class="panel pad tools" method="post" action=(order_path(order.id, "mark-paid")) data-quiet="" {
                (hidden_once()) (currency_field(&order.currency))
                div class="field" {
                    label for="f-method" { (texts::method_field(language)) }
                    input id="f-method" name="method" maxlength="50" required value=(usual_method(language));
                }
                div class="field" {
                    label for="f-paid" { (texts::amount_field(language, &order.currency.to_uppercase())) }
                    input id="f-paid" name="amountCents" inputmode="decimal" maxlength="20" aria-describedby="about-paid";
                    p class="hint" id="about-paid" { (texts::payment_hint(language, &due)) }
                }
                div class="field" {
                    label for="f-reference" { (REFERENCE_LABEL(language)) }
                    input id="f-reference" name="reference" maxlength="200";
                }
                button class="second" type="submit" { (texts::record_payment(language)) }
            }
        }
    }
}

/// Renders a form for each payment, with which it can be refunded in full or in part.
pub(super) fn refunds(language: Language, order: &Order) -> Markup {
    let received = order.ledger.payments.iter().filter(|payment| payment.amount_cents > 0);
    html! {
        @for payment in received {
            details {
                summary { (refund_title(language, payment)) }
                p { (texts::refund_text(language)) }
                (refund_form(language, order, payment))
            }
        }
    }
}

fn refund_title(language: Language, payment: &Payment) -> Markup {
    let amount = notation::amount(language, payment.amount_cents, &payment.currency);
    let title = texts::refund_payment(language, &amount, &method_name(language, &payment.method), SLOT);
    with_parts(&title, &[&time(language, payment.created_at)])
}

fn refund_form(language: Language, order: &Order, payment: &Payment) -> Markup {
    let button = match &order.customer_email {
        Some(email) => texts::refund_to(language, email),
        None => texts::refund_to_customer(language),
    };
    html! {
        form class="tools" method="post" action=(order_path(order.id, "refund")) data-quiet="" {
            (hidden_once()) (currency_field(&payment.currency))
            input type="hidden" name="paymentId" value=(payment.id);
            div class="field" {
                label for={ "f-refund-" (payment.id) } {
                    (texts::amount_field(language, &payment.currency.to_uppercase()))
                }
                input id={ "f-refund-" (payment.id) } name="amountCents" inputmode="decimal" maxlength="20"
                    aria-describedby={ "about-refund-" (payment.id) };
                p class="hint" id={ "about-refund-" (payment.id) } { (texts::refund_hint(language)) }
            }
            div class="field" {
                label for={ "f-otherwise-" (payment.id) } { (texts::other_method_field(language)) }
                input id={ "f-otherwise-" (payment.id) } name="method" maxlength="50";
            }
            button class="second" type="submit" { (button) }
        }
    }
}
