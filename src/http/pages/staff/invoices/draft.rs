//! Draft invoices: forms for the header and the lines, and their conversion to API request bodies.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::NEW_PATH;
use crate::form::{Form, FormBody};
use crate::staff::INVOICES_PATH;
use crate::staff::sheet::{DraftLines, FormSheet, day, decimal_field, edited, line_field, page_of};
use domain::bounds::MAX_QUANTITY;
use domain::currency::plain;
use domain::invoice::{Invoice, InvoiceLine};
use domain::notation::field_decimal;
use domain::shop_clock::ShopClock;
use domain::tax::{percent_of, percent_text};
use http::wire::with_point;
use http_api::production::invoices::NewInvoiceLine;
use words::Language;
use words::staff::invoices as texts;

/// Amounts in the header form, which are 0 if their fields are empty.
const HEAD_AMOUNTS: [&str; 2] = ["shippingCents", "discountCents"];

/// Completes the body of the API operation for the header form of a draft. The due date is in UTC, as the dates of
/// invoices are.
pub(super) fn head_body(body: FormBody, typed: &Form, currency: &str) -> FormBody {
    let body = body.day("dueAt", &ShopClock::default());
    HEAD_AMOUNTS.into_iter().fold(body, |body, member| {
        if typed.text(member).is_empty() { body.with(member, 0) } else { body.amount(member, currency) }
    })
}

/// Reads the body of the API operation from the form for a new draft and its first line.
pub(super) fn new_body(typed: &Form, currency: &str) -> FormBody {
    head_body(typed.body(), typed, currency).with("lineItems", vec![line_of(typed, currency)])
}

/// Reads an invoice line as the API takes it. An invalid tax rate is passed on as text, so that the API reports the
/// error.
pub(super) fn line_of(typed: &Form, currency: &str) -> Value {
    let body = typed.body().amount("unitPriceCents", currency);
    let body = body.converted("taxRateBps", |rate| percent_of(&with_point(rate)).map(Value::from));
    body.members::<NewInvoiceLine>().into()
}

fn line_json(line: &InvoiceLine) -> Value {
    json!({
        "description": line.description, "quantity": line.quantity, "unitPriceCents": line.unit_price_cents,
        "taxRateBps": line.tax_rate_bps,
    })
}

/// Returns the invoice's lines as edited in the form; if `new_line` is `None`, the edited line is removed.
pub(super) fn lines(invoice: &Invoice, typed: &Form, new_line: Option<Value>) -> Vec<Value> {
    edited(invoice.content.lines.iter().map(line_json).collect(), typed, new_line)
}

fn line_fields(language: Language, sheet: &FormSheet<'_>, line: Option<&InvoiceLine>, currency: &str) -> Markup {
    let description = line.map_or("", |line| line.description.as_str());
    let price = line.map(|line| field_decimal(language, plain(line.unit_price_cents, currency))).unwrap_or_default();
    let rate = line.map(|line| field_decimal(language, percent_text(line.tax_rate_bps))).unwrap_or_default();
    html! {
        div class="tools" {
            (sheet.field(line_field("description", &texts::description_field(language), 500).required(), description))
            (sheet.count("quantity", &texts::quantity_field(language), MAX_QUANTITY, line.map_or(1, |line| line.quantity)))
            (sheet.field(decimal_field("unitPriceCents", &texts::price_field(language)).required(), &price))
            (sheet.field(decimal_field("taxRateBps", &texts::rate_field(language)).hint(&texts::rate_hint(language)), &rate))
        }
    }
}

/// Renders the invoice header fields; empty for a new draft.
fn head_fields(language: Language, sheet: &FormSheet<'_>, invoice: Option<&Invoice>) -> Markup {
    let content = invoice.map(|invoice| &invoice.content);
    let buyer = content.map(|content| &content.buyer);
    let email = invoice.and_then(|invoice| invoice.customer_email.as_deref()).unwrap_or_default();
    let vat_id = buyer.and_then(|buyer| buyer.vat_id.as_deref()).unwrap_or_default();
    let amount = |cents: fn(&Invoice) -> i64| {
        let stated = invoice.filter(|invoice| cents(invoice) != 0);
        let written = |invoice: &Invoice| field_decimal(language, plain(cents(invoice), &invoice.content.currency));
        stated.map(written).unwrap_or_default()
    };
    let notes = content.and_then(|content| content.notes.as_deref()).unwrap_or_default();
    let name = buyer.map_or("", |buyer| buyer.name.as_str());
    let (shipping, discount) = (texts::shipping_field(language), texts::discount_field(language));
    let (due, due_hint) = (texts::due_field(language), texts::due_hint(language));
    let address = buyer.and_then(|buyer| buyer.address.as_ref());
    html! {
        div class="tools" {
            (sheet.field(line_field("customerName", &texts::name_field(language), 200).required(), name))
            (sheet.field(line_field("customerEmail", &texts::buyer_email_field(language), 254).of_kind("email"), email))
            (sheet.field(line_field("customerVatId", &texts::vat_id_field(language), 15), vat_id))
            (sheet.field(decimal_field("shippingCents", &shipping), &amount(|invoice| invoice.content.shipping_cents)))
            (sheet.field(decimal_field("discountCents", &discount), &amount(|invoice| invoice.content.discount_cents)))
            (sheet.field(
                line_field("dueAt", &due, 10).of_kind("date").hint(&due_hint),
                &day(invoice.and_then(|invoice| invoice.due_at), &ShopClock::default()),
            ))
        }
        (sheet.address(language, ("billingAddress", &texts::address_legend(language)), address))
        (sheet.area("notes", &texts::notes_field(language), 1000, notes))
    }
}

/// Renders the form for a new invoice and its first line.
pub(super) fn new_form(language: Language, currency: &str, refused: &Form) -> Markup {
    let sheet = FormSheet::new("new", refused);
    let (of_currency, currency_hint) = (texts::currency_field(language), texts::currency_hint(language));
    html! {
        form class="card" method="post" action=(NEW_PATH) aria-label=(texts::new_invoice(language)) {
            (sheet.once_head())
            (head_fields(language, &sheet, None))
            h2 { (texts::first_line(language)) }
            (line_fields(language, &sheet, None, currency))
            (sheet.field(line_field("currency", &of_currency, 3).hint(&currency_hint), ""))
            button type="submit" { (texts::create_draft(language)) }
        }
    }
}

/// Renders the forms for editing a draft.
pub(super) fn forms(language: Language, invoice: &Invoice, refused: &Form) -> Markup {
    let (lines, currency) = (&invoice.content.lines, &invoice.content.currency);
    let path = page_of(INVOICES_PATH, invoice.id);
    let head = FormSheet::new("change", refused);
    let titles = lines.iter().map(|line| line.description.as_str()).collect();
    let of_lines = DraftLines { path: path.clone(), version: invoice.revision, titles, refused };
    html! {
        section class="card" aria-labelledby="edit" {
            h2 id="edit" { (texts::edit_draft(language)) }
            (of_lines.forms(language, &|sheet, at| line_fields(language, sheet, at.and_then(|at| lines.get(at)), currency)))
            details open[head.is_refused()] {
                summary { (texts::edit_head(language)) }
                form method="post" action={ (path) "/change" } {
                    (head.head(Some(invoice.revision)))
                    (head_fields(language, &head, Some(invoice)))
                    button class="second" type="submit" { (texts::save(language)) }
                }
            }
        }
    }
}
