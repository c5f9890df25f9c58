//! Invoice actions other than editing: issue, record a payment, refund, void; and the payment link.

use maud::{Markup, html};

use crate::frame::{money, time};
use crate::staff::INVOICES_PATH;
use crate::staff::form::Form;
use crate::staff::sheet::{FormSheet, decimal_field, line_field, page_of};
use domain::currency::format_amount;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::shop_clock::ShopClock;

/// Layout of a collapsed form for an action: explanation, fields and button. Values and errors are the [`FormSheet`]'s.
struct ActForm<'a> {
    invoice: &'a Invoice,
    act: &'a str,
    summary: &'a str,
    about: &'a str,
    button: &'a str,
}

impl ActForm<'_> {
    fn html(&self, refused: &Form, fields: impl FnOnce(&FormSheet<'_>) -> Markup) -> Markup {
        let sheet = FormSheet::new(self.act, refused);
        html! {
            details open[sheet.is_refused()] {
                summary { (self.summary) }
                p { (self.about) }
                form method="post" action={ (page_of(INVOICES_PATH, self.invoice.id)) "/" (self.act) } {
                    (sheet.head(None))
                    (fields(&sheet))
                    button id={ (self.act) "-invoice" } class="second" type="submit" { (self.button) }
                }
            }
        }
    }
}

fn nothing(_: &FormSheet<'_>) -> Markup {
    html! {}
}

/// Renders the actions that are currently available. If the domain rules reject an action, the error is shown next to
/// the form. `cancelled` means that the invoice has an outstanding amount and its order was cancelled.
pub(super) fn acts(
    invoice: &Invoice,
    number: &str,
    link: Option<&str>,
    cancelled: bool,
    clock: &ShopClock,
    refused: &Form,
) -> Markup {
    let (issue, discard) = (format!("Issue to {}", invoice.content.buyer.name), "Discard draft");
    let void = format!("Void {number}");
    let form = |act, summary, about, button| ActForm { invoice, act, summary, about, button };
    let draft = invoice.status == InvoiceStatus::Draft;
    let owing = matches!(invoice.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { "Actions" }
            @if draft {
                (form("send", "Issue invoice", "Assigns the next number and starts the payment term. The customer can see the invoice, and you can no longer change it.", &issue)
                    .html(refused, nothing))
                (form("void", discard, "A discarded draft never gets a number.", discard).html(refused, nothing))
            } @else {
                @if cancelled {
                    p { "The order was cancelled, so nothing is due. The invoice becomes void once all payments are refunded." }
                    @if link.is_some() { (revoke_link(invoice, refused)) }
                } @else if owing { (pay(invoice, refused)) (pay_link(invoice, link, refused)) }
                @if invoice.ledger.kept_cents > 0 { (refund(invoice, clock, refused)) }
                @if invoice.status == InvoiceStatus::Open {
                    (form("void", "Void invoice", "Issues a credit note for the full amount. The invoice number is not used again.", &void)
                        .html(refused, nothing))
                }
                @if !invoice.documents.is_empty() {
                    (form("store-pdf", "Store PDF at a public URL", "Anyone with the URL can read the PDF. The URL can't be guessed.", "Store PDF")
                        .html(refused, nothing))
                } @else { p { "This draft was discarded." } }
            }
        }
    }
}

fn pay(invoice: &Invoice, refused: &Form) -> Markup {
    let due = format_amount(invoice.due_cents(), &invoice.content.currency);
    let about = format!("{due} is due. You can also record a partial payment.");
    let form =
        ActForm { invoice, act: "mark-paid", summary: "Record payment", about: &about, button: "Record payment" };
    form.html(refused, |sheet| {
        html! {
            div class="tools" {
                (sheet.field(line_field("method", "Payment method", 50).required(), "bank transfer"))
                (sheet.field(decimal_field("amount", "Amount").hint("Leave empty for the full amount due."), ""))
                (sheet.field(line_field("reference", "Reference (internal)", 200), ""))
            }
        }
    })
}

fn refund(invoice: &Invoice, clock: &ShopClock, refused: &Form) -> Markup {
    let kept_amount = format_amount(invoice.ledger.kept_cents, &invoice.content.currency);
    let about = format!(
        "{kept_amount} has been paid and not refunded. A refund issues a credit note. Payments made through the payment processor are refunded through it."
    );
    let newest = (String::new(), "Latest payment (payment-processor payments first)".to_owned());
    let payments = invoice.ledger.payments.iter().filter(|payment| payment.amount_cents > 0);
    let payments = payments.map(|payment| {
        let (amount, at) = (format_amount(payment.amount_cents, &payment.currency), clock.date(payment.created_at));
        (payment.id.to_string(), format!("{amount} by {}, {at}", payment.method.replace('_', " ")))
    });
    let payments: Vec<(String, String)> = [newest].into_iter().chain(payments).collect();
    let form = ActForm { invoice, act: "refund", summary: "Refund a payment", about: &about, button: "Refund" };
    form.html(refused, |sheet| {
        html! {
            div class="tools" {
                (sheet.choice("payment", "Payment", "", &payments))
                (sheet.field(decimal_field("amount", "Amount").hint("Leave empty for the full remaining amount of the payment."), ""))
                (sheet.field(line_field("method", "Refund method, if different", 50).hint("Only if you refunded the money another way. The payment processor won't be used."), ""))
            }
        }
    })
}

/// Renders the payment link, with which anyone who has it can pay the invoice.
fn pay_link(invoice: &Invoice, link: Option<&str>, refused: &Form) -> Markup {
    let ends = invoice.pay_link.as_ref().and_then(|link| link.expires_at);
    let (summary, about) = match link {
        Some(_) => ("Replace payment link", "The current link stops working."),
        None => ("Create payment link", "Anyone with the link can view and pay the invoice."),
    };
    let make = ActForm { invoice, act: "pay-link", summary, about, button: "Create link" };
    html! {
        @if let Some(link) = link {
            div class="field" {
                label for="pay-url" { "Payment link for " (money(invoice.due_cents(), &invoice.content.currency)) }
                input id="pay-url" readonly value=(link) aria-describedby="pay-url-ends";
                p class="hint" id="pay-url-ends" {
                    @if let Some(ends) = ends { "Works until " (time(ends)) "." } @else { "Works until you revoke it or the invoice is paid." }
                }
            }
            (revoke_link(invoice, refused))
        }
        (make.html(refused, |sheet| {
            sheet.field(line_field("expiresAt", "Expiry date", 10).of_kind("date").hint("Leave empty for no expiry."), "")
        }))
    }
}

fn revoke_link(invoice: &Invoice, refused: &Form) -> Markup {
    let form = ActForm {
        invoice,
        act: "revoke-link",
        summary: "Revoke payment link",
        about: "The link stops working immediately.",
        button: "Revoke link",
    };
    form.html(refused, nothing)
}
