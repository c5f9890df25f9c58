//! Quote forms: a draft can be edited, sent or deleted; a sent quote can be withdrawn.

use maud::{Markup, html};

use super::line::{self, LineChoices};
use crate::form::Form;
use crate::staff::QUOTES_PATH;
use crate::staff::sheet::{FormSheet, day, line_field, page_of};
use domain::quote::{Quote, QuoteStatus};
use domain::shop_clock::ShopClock;
use words::Language;
use words::staff::quotes as texts;

/// Renders the fields common to the forms for a draft and for a new quote.
pub(super) fn head_fields(language: Language, sheet: &FormSheet<'_>, email: &str, until: &str, notes: &str) -> Markup {
    let (valid, hint) = (texts::valid_field(language), texts::valid_hint(language));
    html! {
        div class="tools" {
            (sheet.field(line_field("customerEmail", &texts::email_field(language), 254).of_kind("email"), email))
            (sheet.field(line_field("validUntil", &valid, 10).of_kind("date").hint(&hint), until))
        }
        (sheet.area("notes", &texts::notes_field(language), 1000, notes))
    }
}

/// Renders the forms available for the quote's status, with the errors in the rejected form, if any.
pub(super) fn acts(
    language: Language,
    quote: &Quote,
    status: QuoteStatus,
    choices: Option<&LineChoices>,
    clock: &ShopClock,
    refused: &Form,
) -> Markup {
    html! {
        @if let Some(choices) = choices {
            section class="card" aria-labelledby="edit" {
                h2 id="edit" { (texts::edit_draft(language)) }
                (line::forms(language, quote, choices, refused))
                (head(language, quote, clock, refused))
            }
            section class="card" aria-labelledby="acts" {
                h2 id="acts" { (texts::actions(language)) }
                (send(language, quote, refused))
                (plain(quote, "delete", &texts::delete(language), &texts::delete_text(language), refused))
            }
        } @else {
            section class="card" aria-labelledby="acts" {
                h2 id="acts" { (texts::actions(language)) }
                p { (texts::unchangeable(language)) }
                @if status == QuoteStatus::Sent { (withdraw(language, quote, refused)) }
            }
        }
    }
}

fn head(language: Language, quote: &Quote, clock: &ShopClock, refused: &Form) -> Markup {
    let sheet = FormSheet::new("change", refused);
    let email = quote.customer_email.as_deref().unwrap_or_default();
    let (until, notes) = (day(quote.valid_until, clock), quote.notes.as_deref().unwrap_or_default());
    html! {
        details open[sheet.is_refused()] {
            summary { (texts::edit_head(language)) }
            form method="post" action={ (page_of(QUOTES_PATH, quote.id)) "/change" } {
                (sheet.head(Some(quote.revision)))
                (head_fields(language, &sheet, email, &until, notes))
                (sheet.address(language, ("shippingAddress", &texts::address_legend(language)), quote.shipping_address.as_ref()))
                button class="second" type="submit" { (texts::save(language)) }
            }
        }
    }
}

fn send(language: Language, quote: &Quote, refused: &Form) -> Markup {
    let about = match &quote.customer_email {
        Some(email) => texts::send_text(language, email),
        None => texts::send_needs_email(language),
    };
    plain(quote, "send", &texts::send(language), &about, refused)
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

fn withdraw(language: Language, quote: &Quote, refused: &Form) -> Markup {
    let sheet = FormSheet::new("withdraw", refused);
    html! {
        details open[sheet.is_refused()] {
            summary { (texts::withdraw_heading(language)) }
            p { (texts::withdraw_text(language)) }
            form method="post" action={ (page_of(QUOTES_PATH, quote.id)) "/withdraw" } {
                (sheet.head(None))
                (sheet.field(line_field("reason", &texts::reason_field(language), 500), ""))
                button class="second" type="submit" { (texts::withdraw(language, &quote.number_text())) }
            }
        }
    }
}
