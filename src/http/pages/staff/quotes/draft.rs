//! Quote forms: a draft can be edited, sent or deleted; a sent quote can be withdrawn.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::line::{self, LineChoices};
use crate::staff::QUOTES_PATH;
use crate::staff::form::Form;
use crate::staff::sheet::{FormSheet, day, line_field, page_of};
use domain::quote::{Quote, QuoteStatus};
use domain::shop_clock::ShopClock;

/// Builds the API request body for a draft without its lines. Empty fields become null, which clears them.
pub(super) fn request_body(typed: &Form) -> Value {
    json!({
        "customerEmail": typed.some("email"), "validUntil": typed.day("validUntil"),
        "notes": typed.some("notes"), "shippingAddress": typed.address(),
    })
}

/// Renders the fields common to the forms for a draft and for a new quote.
pub(super) fn head_fields(sheet: &FormSheet<'_>, email: &str, until: &str, notes: &str) -> Markup {
    html! {
        div class="tools" {
            (sheet.field(line_field("email", "Customer email", 254).of_kind("email"), email))
            (sheet.field(
                line_field("validUntil", "Valid until", 10).of_kind("date")
                    .hint("Leave empty for the default number of days after sending."),
                until,
            ))
        }
        (sheet.area("notes", "Notes to customer", 1000, notes))
    }
}

/// Renders the forms available for the quote's status, with the errors in the rejected form, if any.
pub(super) fn acts(
    quote: &Quote,
    status: QuoteStatus,
    choices: Option<&LineChoices>,
    clock: &ShopClock,
    refused: &Form,
) -> Markup {
    html! {
        @if let Some(choices) = choices {
            section class="card" aria-labelledby="edit" {
                h2 id="edit" { "Edit draft" }
                (line::forms(quote, choices, refused))
                (head(quote, clock, refused))
            }
            section class="card" aria-labelledby="acts" {
                h2 id="acts" { "Actions" }
                (send(quote, refused))
                (plain(quote, "delete", "Delete draft", "You can't undo this.", refused))
            }
        } @else {
            section class="card" aria-labelledby="acts" {
                h2 id="acts" { "Actions" }
                p { "You can't change a quote after you send it. To change the offer, create another quote." }
                @if status == QuoteStatus::Sent { (withdraw(quote, refused)) }
            }
        }
    }
}

fn head(quote: &Quote, clock: &ShopClock, refused: &Form) -> Markup {
    let sheet = FormSheet::new("change", refused);
    let email = quote.customer_email.as_deref().unwrap_or_default();
    html! {
        details open[sheet.is_refused()] {
            summary { "Edit customer, address, date and notes" }
            form method="post" action={ (page_of(QUOTES_PATH, quote.id)) "/change" } {
                (sheet.head(Some(quote.revision)))
                (head_fields(&sheet, email, &day(quote.valid_until, clock), quote.notes.as_deref().unwrap_or_default()))
                (sheet.address(words::Language::English, "Shipping address (determines tax)", quote.shipping_address.as_ref()))
                button class="second" type="submit" { "Save" }
            }
        }
    }
}

fn send(quote: &Quote, refused: &Form) -> Markup {
    let to = quote.customer_email.as_deref().map_or_else(
        || "Enter the customer's email address first.".to_owned(),
        |email| {
            format!(
                "Emails the quote to {email} so that the customer can accept it. You can't change the quote afterwards."
            )
        },
    );
    plain(quote, "send", "Send to customer", &to, refused)
}

/// Renders a form that consists of an explanation and a single button, whose label includes the quote.
fn plain(quote: &Quote, act: &str, title: &str, about: &str, refused: &Form) -> Markup {
    let sheet = FormSheet::new(act, refused);
    html! {
        details open[sheet.is_refused()] {
            summary { (title) }
            p { (about) }
            form method="post" action={ (page_of(QUOTES_PATH, quote.id)) "/" (act) } {
                (sheet.head(None))
                button id={ (act) "-quote" } class=[(act != "send").then_some("second")] type="submit" {
                    (title) ": " (quote.number_text())
                }
            }
        }
    }
}

fn withdraw(quote: &Quote, refused: &Form) -> Markup {
    let sheet = FormSheet::new("withdraw", refused);
    html! {
        details open[sheet.is_refused()] {
            summary { "Withdraw or mark as declined" }
            form method="post" action={ (page_of(QUOTES_PATH, quote.id)) "/withdraw" } {
                (sheet.head(None))
                (sheet.field(line_field("reason", "Reason (internal)", 500), ""))
                button class="second" type="submit" { "Withdraw " (quote.number_text()) }
            }
        }
    }
}
