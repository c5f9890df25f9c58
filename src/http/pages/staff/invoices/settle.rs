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
    let (issue, give_up) = (format!("Issue it to {}", invoice.content.buyer.name), "Give the draft up");
    let void = format!("Void {number}");
    let form = |act, summary, about, button| ActForm { invoice, act, summary, about, button };
    let draft = invoice.status == InvoiceStatus::Draft;
    let owing = matches!(invoice.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { "What to do with it" }
            @if draft {
                (form("send", "Issue it", "It takes the next number, is due from now on, and never changes. The customer sees it.", &issue)
                    .html(refused, nothing))
                (form("void", give_up, "It never gets a number.", give_up).html(refused, nothing))
            } @else {
                @if cancelled {
                    p { "Its order was cancelled, so nothing is to be paid any more. Once what was paid is given back it is void." }
                    @if link.is_some() { (revoke_link(invoice, refused)) }
                } @else if owing { (pay(invoice, refused)) (pay_link(invoice, link, refused)) }
                @if invoice.ledger.kept_cents > 0 { (refund(invoice, clock, refused)) }
                @if invoice.status == InvoiceStatus::Open {
                    (form("void", "Void it", "A credit note over the whole takes it back. Its number stays used.", &void)
                        .html(refused, nothing))
                }
                @if !invoice.documents.is_empty() {
                    (form("store-pdf", "Store the PDF at a public address", "Nobody can guess the address; whoever has it can read it.", "Store the PDF")
                        .html(refused, nothing))
                } @else { p { "It was given up as a draft." } }
            }
        }
    }
}

fn pay(invoice: &Invoice, refused: &Form) -> Markup {
    let due = format_amount(invoice.due_cents(), &invoice.content.currency);
    let about = format!("{due} is due. A part of it can be recorded too.");
    let form =
        ActForm { invoice, act: "mark-paid", summary: "Record a payment", about: &about, button: "Record the payment" };
    form.html(refused, |sheet| {
        html! {
            div class="tools" {
                (sheet.field(line_field("method", "How it was paid", 50).required(), "bank transfer"))
                (sheet.field(decimal_field("amount", "Amount").hint("Empty: all that is due."), ""))
                (sheet.field(line_field("reference", "Reference, for the staff", 200), ""))
            }
        }
    })
}

fn refund(invoice: &Invoice, clock: &ShopClock, refused: &Form) -> Markup {
    let kept_amount = format_amount(invoice.ledger.kept_cents, &invoice.content.currency);
    let about = format!(
        "{kept_amount} was kept. A credit note is issued over what goes back; what came through the payment processor is paid back by it."
    );
    let newest = (String::new(), "the newest, of the payment processor first".to_owned());
    let payments = invoice.ledger.payments.iter().filter(|payment| payment.amount_cents > 0);
    let payments = payments.map(|payment| {
        let (amount, at) = (format_amount(payment.amount_cents, &payment.currency), clock.date(payment.created_at));
        (payment.id.to_string(), format!("{amount} by {}, {at}", payment.method.replace('_', " ")))
    });
    let payments: Vec<(String, String)> = [newest].into_iter().chain(payments).collect();
    let form =
        ActForm { invoice, act: "refund", summary: "Give money back", about: &about, button: "Give the money back" };
    form.html(refused, |sheet| {
        html! {
            div class="tools" {
                (sheet.choice("payment", "Payment", "", &payments))
                (sheet.field(decimal_field("amount", "Amount").hint("Empty: all that is left of the payment."), ""))
                (sheet.field(line_field("method", "Given back otherwise, by", 50), ""))
            }
        }
    })
}

/// Renders the payment link, with which anyone who has it can pay the invoice.
fn pay_link(invoice: &Invoice, link: Option<&str>, refused: &Form) -> Markup {
    let ends = invoice.pay_link.as_ref().and_then(|link| link.expires_at);
    let (summary, about) = match link {
        Some(_) => ("Make another pay link", "The link that there is stops working."),
        None => ("Make a pay link", "Whoever has it sees the invoice and can pay it."),
    };
    let make = ActForm { invoice, act: "pay-link", summary, about, button: "Make the link" };
    html! {
        @if let Some(link) = link {
            div class="field" {
                label for="pay-url" { "Pay link over " (money(invoice.due_cents(), &invoice.content.currency)) }
                input id="pay-url" readonly value=(link) aria-describedby="pay-url-ends";
                p class="hint" id="pay-url-ends" {
                    @if let Some(ends) = ends { "Works until " (time(ends)) "." } @else { "Works until it is revoked or the invoice is paid." }
                }
            }
            (revoke_link(invoice, refused))
        }
        (make.html(refused, |sheet| {
            sheet.field(line_field("expiresAt", "Works until", 10).of_kind("date").hint("Empty: until it is revoked."), "")
        }))
    }
}

fn revoke_link(invoice: &Invoice, refused: &Form) -> Markup {
    let form = ActForm {
        invoice,
        act: "revoke-link",
        summary: "Revoke the pay link",
        about: "It stops working at once.",
        button: "Revoke the link",
    };
    form.html(refused, nothing)
}
