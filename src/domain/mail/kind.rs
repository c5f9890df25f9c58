//! Emails to customers, with one function for each: the caller passes the facts, and gets the email for its commit.
//! Alerts to staff are in [`super::alert`].

use crate::aggregate::DecisionContext;
use crate::id::Id;
use crate::mail::part::{AttachedDocument, MailFact, MailItem, MailLink, MailPart, MailTopic, first_items, one_line};
use crate::mail::{Mail, SealedLink};
use crate::notation;
use crate::time::Timestamp;
use words::{Language, mails};

/// Maximum number of characters quoted from a user's message in an email.
const MAX_MESSAGE_CHARS: usize = 2000;

/// Details of a payment, for its confirmation email.
#[derive(Clone, Debug)]
pub struct PaymentReceipt {
    /// The customer's email address.
    pub to: String,
    /// Customer's language.
    pub language: Language,
    /// Invoice whose PDF is attached.
    pub invoice: Id,
    /// Invoice document to attach, if any.
    pub document: Option<Id>,
    /// Display number of the paid order.
    pub order_number: Option<String>,
    /// Items paid for, with the net amount of each line.
    pub items: Vec<MailItem>,
    /// Net, shipping, tax, total and amount paid, with the currency.
    pub sums: Vec<MailFact>,
}

/// Invoice due for payment.
#[derive(Clone, Debug)]
pub struct InvoiceToPay {
    /// The customer's email address.
    pub to: String,
    /// Customer's language.
    pub language: Language,
    /// Invoice whose PDF is attached.
    pub invoice: Id,
    /// Invoice document to attach, if any.
    pub document: Option<Id>,
    /// Invoiced items, with the net amount of each line.
    pub items: Vec<MailItem>,
    /// Net, shipping, tax, total and amount due, with the currency.
    pub sums: Vec<MailFact>,
    /// Due date.
    pub due_at: Option<Timestamp>,
}

/// Quote that a customer can accept.
#[derive(Clone, Debug)]
pub struct QuoteSent {
    /// The customer's email address.
    pub to: String,
    /// Customer's language.
    pub language: Language,
    /// Quote to accept.
    pub quote: Id,
    /// Display number of the quote.
    pub number: String,
    /// Quoted items, with the net amount of each line.
    pub items: Vec<MailItem>,
    /// Net, tax and total, with the currency.
    pub sums: Vec<MailFact>,
    /// Time at which the quote expires.
    pub valid_until: Option<Timestamp>,
    /// Message from the shop about the quote.
    pub message: Option<String>,
}

/// Completed export.
#[derive(Clone, Debug)]
pub struct ExportReady {
    /// Email address of the user who requested the export.
    pub to: String,
    /// Language of the user who requested the export.
    pub language: Language,
    /// Content of the export in that language, in one or two words: `invoices`.
    pub records: String,
    /// Number of rows.
    pub rows: u64,
    /// Encrypted URL for downloading the export without signing in.
    pub encrypted_url: String,
    /// Time at which the export's download expires.
    pub expires_at: Timestamp,
}

/// Builds the email with a sign-in link.
pub fn sign_in(
    cx: &DecisionContext<'_>,
    language: Language,
    to: &str,
    encrypted_url: &str,
    expires_at: Timestamp,
) -> Mail {
    let minutes = expires_at.since(cx.now).max(0).unsigned_abs() / 60_000;
    let text = format!("{}\n", mails::sign_in_text(language, minutes));
    let mail = Mail::new(cx, vec![to.to_owned()], mails::sign_in_subject(language), text);
    let sealed_link = SealedLink { label: mails::sign_in_link(language), encrypted_url: encrypted_url.to_owned() };
    Mail { language, sealed_link: Some(sealed_link), useless_at: Some(expires_at), ..mail }
}

/// Builds the email that confirms a payment.
pub fn receipt(cx: &DecisionContext<'_>, receipt: PaymentReceipt) -> Mail {
    let language = receipt.language;
    let (subject, text) = match &receipt.order_number {
        Some(number) => (mails::order_receipt_subject(language, number), mails::order_receipt_text(language, number)),
        None => (mails::receipt_subject(language), mails::receipt_text(language)),
    };
    let attached = receipt.document.map(|document| AttachedDocument { invoice: receipt.invoice, document });
    let link = own_page(cx, &mails::receipt_link(language), &format!("invoices/{}", receipt.invoice));
    let parts = priced(language, receipt.items, receipt.sums);
    let mail = Mail::new(cx, vec![receipt.to], subject, format!("{text}\n")).about(MailTopic::Invoice(receipt.invoice));
    Mail { language, parts, attached, link: Some(link), ..mail }
}

/// Builds the email with an invoice to pay.
pub fn invoice_to_pay(cx: &DecisionContext<'_>, invoice: InvoiceToPay) -> Mail {
    let language = invoice.language;
    let text = match invoice.due_at {
        Some(due_at) => mails::due_invoice_text(language, &notation::document_date(language, due_at)),
        None => mails::invoice_text(language),
    };
    let attached = invoice.document.map(|document| AttachedDocument { invoice: invoice.invoice, document });
    let parts = priced(language, invoice.items, invoice.sums);
    let link = own_page(cx, &mails::invoice_link(language), &format!("invoices/{}", invoice.invoice));
    let mail = Mail::new(cx, vec![invoice.to], mails::invoice_subject(language), format!("{text}\n"));
    let mail = mail.about(MailTopic::Invoice(invoice.invoice));
    Mail { language, parts, attached, link: Some(link), ..mail }
}

/// Builds the email with a quote.
pub fn quote_sent(cx: &DecisionContext<'_>, quote: QuoteSent) -> Mail {
    let (language, number) = (quote.language, one_line(&quote.number));
    let last_day = quote.valid_until.map(|at| notation::date(language, &cx.rules.clock, at));
    let text = match last_day {
        Some(day) => mails::limited_quote_text(language, &number, &day),
        None => mails::quote_text(language, &number),
    };
    let mut text = format!("{text}\n");
    if let Some(message) = quote.message.filter(|message| !message.trim().is_empty()) {
        let lines = message.trim().lines().map(one_line).collect::<Vec<_>>().join("\n");
        text = format!("{text}\n{}\n", lines.chars().take(MAX_MESSAGE_CHARS).collect::<String>());
    }
    let link = own_page(cx, &mails::quote_link(language), &format!("quotes/{}", quote.quote));
    let mail = Mail::new(cx, vec![quote.to], mails::quote_subject(language, &number), text);
    let mail = mail.about(MailTopic::Quote(quote.quote));
    let parts = priced(language, quote.items, quote.sums);
    Mail { language, parts, link: Some(link), useless_at: quote.valid_until, ..mail }
}

/// Builds the email that reports a completed export.
pub fn export_ready(cx: &DecisionContext<'_>, export: ExportReady) -> Mail {
    let (language, records) = (export.language, one_line(&export.records));
    let until = notation::date_and_time(language, &cx.rules.clock, export.expires_at);
    let text = format!("{}\n", mails::export_text(language, &records, export.rows, &until));
    let mail = Mail::new(cx, vec![export.to], mails::export_subject(language, &records), text);
    let sealed_link = SealedLink { label: mails::export_link(language), encrypted_url: export.encrypted_url };
    Mail { language, sealed_link: Some(sealed_link), useless_at: Some(export.expires_at), ..mail }
}

/// Builds a link to a page in the customer's own area.
pub fn own_page(cx: &DecisionContext<'_>, label: &str, path: &str) -> MailLink {
    MailLink { label: label.to_owned(), url: format!("{}/{path}", cx.rules.public_url) }
}

fn priced(language: Language, items: Vec<MailItem>, sums: Vec<MailFact>) -> Vec<MailPart> {
    let (items, more) = first_items(language, items);
    let more = more.map(MailPart::Text);
    let items = (!items.is_empty()).then_some(MailPart::Items(items));
    let sums = (!sums.is_empty()).then_some(MailPart::Facts(sums));
    items.into_iter().chain(more).chain(sums).collect()
}
