//! Invoice actions other than editing: issue, record a payment, refund, void; and the payment link.

use maud::{Markup, html};

use crate::form::Form;
use crate::frame::{SLOT, time, with_parts};
use crate::staff::INVOICES_PATH;
use crate::staff::sheet::{FormSheet, decimal_field, line_field, method_name, page_of};
use domain::invoice::{Invoice, InvoiceStatus};
use domain::ledger::{LOST_DISPUTE, PROCESSOR};
use domain::notation::{amount, date};
use domain::order::CHANNEL_METHOD;
use domain::shop_clock::ShopClock;
use words::Language;
use words::staff::invoices as texts;

/// Payment method that the forms suggest, as it is recorded.
const USUAL_METHOD: &str = "bank transfer";
/// Payment methods that have names in the languages of the staff, as they are recorded.
const NAMED_METHODS: [&str; 6] = [USUAL_METHOD, "card", "cash", CHANNEL_METHOD, LOST_DISPUTE, PROCESSOR];

/// Actions that add something each time they are carried out.
const ADDING_ACTS: [&str; 2] = ["mark-paid", "refund"];

/// Texts of a collapsed form for an action: its summary, explanation and button.
struct ActTexts {
    summary: String,
    about: String,
    button: String,
}

/// Actions on an invoice that are currently available. If the domain rules reject an action, the error is shown next to
/// the form.
pub(super) struct InvoiceActions<'a> {
    pub(super) language: Language,
    pub(super) invoice: &'a Invoice,
    /// Number of the invoice, or the text in its place.
    pub(super) number: &'a str,
    /// URL with which the invoice can be paid, if there is one.
    pub(super) link: Option<&'a str>,
    /// `true` if the invoice has an outstanding amount and its order was cancelled.
    pub(super) is_cancelled: bool,
    pub(super) clock: &'a ShopClock,
    /// Rejected form, if any.
    pub(super) refused: &'a Form,
}

fn nothing(_: &FormSheet<'_>) -> Markup {
    html! {}
}

/// Returns the payment method to record for the text in a form. A method that has a name in the language of the form is
/// recorded as in English, so that it can be shown in each language.
pub(in crate::staff) fn method_of(language: Language, typed: &str) -> &str {
    if language == Language::English {
        return typed;
    }
    NAMED_METHODS.into_iter().find(|method| method_name(language, method) == typed).unwrap_or(typed)
}

/// Returns the name of the payment method that the forms suggest.
pub(in crate::staff) fn usual_method(language: Language) -> String {
    method_name(language, USUAL_METHOD)
}

impl InvoiceActions<'_> {
    /// Renders the actions.
    pub(super) fn html(&self) -> Markup {
        let (language, invoice) = (self.language, self.invoice);
        let owing = matches!(invoice.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        html! {
            section class="card" aria-labelledby="acts" {
                h2 id="acts" { (texts::actions(language)) }
                @if invoice.status == InvoiceStatus::Draft {
                    (self.issue()) (self.discard())
                } @else {
                    @if self.is_cancelled {
                        p { (texts::order_cancelled_text(language)) }
                        @if self.link.is_some() { (self.revoke_link()) }
                    } @else if owing { (self.pay()) (self.pay_link()) }
                    @if invoice.ledger.kept_cents > 0 { (self.refund()) }
                    @if invoice.status == InvoiceStatus::Open { (self.void()) }
                    @if !invoice.documents.is_empty() { (self.store_pdf()) } @else { p { (texts::discarded(language)) } }
                }
            }
        }
    }

    /// Renders the collapsed form for an action. Values and errors are the [`FormSheet`]'s.
    fn form(&self, act: &str, of: &ActTexts, fields: impl FnOnce(&FormSheet<'_>) -> Markup) -> Markup {
        let sheet = FormSheet::new(act, self.refused);
        html! {
            details open[sheet.is_refused()] {
                summary { (of.summary) }
                p { (of.about) }
                form method="post" action={ (page_of(INVOICES_PATH, self.invoice.id)) "/" (act) } {
                    @if ADDING_ACTS.contains(&act) { (sheet.once_head()) } @else { (sheet.head(None)) }
                    (fields(&sheet))
                    button id={ (act) "-invoice" } class="second" type="submit" { (of.button) }
                }
            }
        }
    }

    fn issue(&self) -> Markup {
        let issue = ActTexts {
            summary: texts::issue(self.language),
            about: texts::issue_text(self.language),
            button: texts::issue_to(self.language, &self.invoice.content.buyer.name),
        };
        self.form("send", &issue, nothing)
    }

    fn discard(&self) -> Markup {
        let summary = texts::discard(self.language);
        let discard = ActTexts { button: summary.clone(), summary, about: texts::discard_text(self.language) };
        self.form("void", &discard, nothing)
    }

    fn void(&self) -> Markup {
        let void = ActTexts {
            summary: texts::void(self.language),
            about: texts::void_text(self.language),
            button: texts::void_number(self.language, self.number),
        };
        self.form("void", &void, nothing)
    }

    fn store_pdf(&self) -> Markup {
        let store = ActTexts {
            summary: texts::store_pdf_heading(self.language),
            about: texts::store_pdf_text(self.language),
            button: texts::store_pdf(self.language),
        };
        self.form("store-pdf", &store, nothing)
    }

    fn pay(&self) -> Markup {
        let language = self.language;
        let due = amount(language, self.invoice.due_cents(), &self.invoice.content.currency);
        let summary = texts::record_payment(language);
        let about = texts::record_payment_text(language, &due);
        let (of_amount, hint) = (texts::amount_field(language), texts::payment_amount_hint(language));
        let (of_method, usual) = (texts::method_field(language), usual_method(language));
        self.form("mark-paid", &ActTexts { button: summary.clone(), summary, about }, |sheet| {
            html! {
                div class="tools" {
                    (sheet.field(line_field("method", &of_method, 50).required(), &usual))
                    (sheet.field(decimal_field("amountCents", &of_amount).hint(&hint), ""))
                    (sheet.field(line_field("reference", &texts::reference_field(language), 200), ""))
                }
            }
        })
    }

    fn refund(&self) -> Markup {
        let (language, ledger) = (self.language, &self.invoice.ledger);
        let kept_amount = amount(language, ledger.kept_cents, &self.invoice.content.currency);
        let newest = (String::new(), texts::latest_payment(language));
        let payments = ledger.payments.iter().filter(|payment| payment.amount_cents > 0);
        let payments = payments.map(|payment| {
            let cents = amount(language, payment.amount_cents, &payment.currency);
            let (method, at) = (method_name(language, &payment.method), date(language, self.clock, payment.created_at));
            (payment.id.to_string(), texts::payment_choice(language, &cents, &method, &at))
        });
        let payments: Vec<(String, String)> = [newest].into_iter().chain(payments).collect();
        let refund = ActTexts {
            summary: texts::refund_heading(language),
            about: texts::refund_text(language, &kept_amount),
            button: texts::refund(language),
        };
        let (of_amount, hint) = (texts::amount_field(language), texts::refund_amount_hint(language));
        let (of_method, method_hint) = (texts::refund_method_field(language), texts::refund_method_hint(language));
        self.form("refund", &refund, |sheet| {
            html! {
                div class="tools" {
                    (sheet.choice("paymentId", &texts::payment_field(language), "", &payments))
                    (sheet.field(decimal_field("amountCents", &of_amount).hint(&hint), ""))
                    (sheet.field(line_field("method", &of_method, 50).hint(&method_hint), ""))
                }
            }
        })
    }

    /// Renders the payment link, with which anyone who has it can pay the invoice.
    fn pay_link(&self) -> Markup {
        let (language, invoice) = (self.language, self.invoice);
        let ends = invoice.pay_link.as_ref().and_then(|link| link.expires_at);
        let (summary, about) = match self.link {
            Some(_) => (texts::replace_link(language), texts::replace_link_text(language)),
            None => (texts::create_link_heading(language), texts::create_link_text(language)),
        };
        let create = ActTexts { summary, about, button: texts::create_link(language) };
        let due = amount(language, invoice.due_cents(), &invoice.content.currency);
        let (expiry, hint) = (texts::link_expiry_field(language), texts::link_expiry_hint(language));
        html! {
            @if let Some(link) = self.link {
                div class="field" {
                    label for="pay-url" { (texts::link_field(language, &due)) }
                    input id="pay-url" readonly value=(link) aria-describedby="pay-url-ends";
                    p class="hint" id="pay-url-ends" {
                        @if let Some(ends) = ends { (with_parts(&texts::link_ends(language, SLOT), &[&time(language, ends)])) }
                        @else { (texts::link_stays(language)) }
                    }
                }
                (self.revoke_link())
            }
            (self.form("pay-link", &create, |sheet| {
                sheet.field(line_field("expiresAt", &expiry, 10).of_kind("date").hint(&hint), "")
            }))
        }
    }

    fn revoke_link(&self) -> Markup {
        let revoke = ActTexts {
            summary: texts::revoke_link_heading(self.language),
            about: texts::revoke_link_text(self.language),
            button: texts::revoke_link(self.language),
        };
        self.form("revoke-link", &revoke, nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payment_methods_are_recorded_alike_in_each_language() {
        assert_eq!(method_of(Language::English, "bank transfer"), "bank transfer");
        assert_eq!(method_of(Language::German, "Überweisung"), "bank transfer");
        assert_eq!(method_of(Language::German, "Barzahlung"), "cash");
        assert_eq!(method_of(Language::English, "Überweisung"), "Überweisung");
        for language in Language::ALL {
            assert_eq!(method_of(language, &usual_method(language)), USUAL_METHOD);
            assert_eq!(method_of(language, "in cash"), "in cash");
        }
        for method in NAMED_METHODS {
            let name = method_name(Language::German, method);
            assert_ne!(name, method, "the method has a German name");
            assert_eq!(method_of(Language::German, &name), method);
        }
    }
}
