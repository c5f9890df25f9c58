//! Emails to customers, with one function for each: the caller passes the facts, and gets the email for its commit.
//! Alerts to staff are in [`super::alert`].

use crate::aggregate::DecisionContext;
use crate::id::Id;
use crate::mail::part::{AttachedDocument, MailFact, MailItem, MailLink, MailPart, first_items, one_line};
use crate::mail::{Mail, SealedLink};
use crate::shop_clock::document_date;
use crate::time::Timestamp;

/// Maximum number of characters quoted from a user's message in an email.
const MAX_MESSAGE_CHARS: usize = 2000;

/// Details of a payment, for its confirmation email.
#[derive(Clone, Debug)]
pub struct PaymentReceipt {
    /// The customer's email address.
    pub to: String,
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

/// Invoice that is due for payment.
#[derive(Clone, Debug)]
pub struct InvoiceToPay {
    /// The customer's email address.
    pub to: String,
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
    /// Quote to accept.
    pub quote: Id,
    /// Display number of the quote.
    pub number: String,
    /// Quoted items, with the net amount of each line.
    pub items: Vec<MailItem>,
    /// Net, tax and total, with the currency.
    pub sums: Vec<MailFact>,
    /// Time until which the quote is valid.
    pub valid_until: Option<Timestamp>,
    /// Message from the shop about the quote.
    pub message: Option<String>,
}

/// Completed export.
#[derive(Clone, Debug)]
pub struct ExportReady {
    /// Email address of the user who requested the export.
    pub to: String,
    /// Content of the export, in one or two words: `invoices`.
    pub what: String,
    /// Number of rows.
    pub rows: u64,
    /// Encrypted URL for downloading the export without signing in.
    pub encrypted_url: String,
    /// Time until which the export can be downloaded.
    pub expires_at: Timestamp,
}

/// Builds the email with a sign-in link.
pub fn sign_in(cx: &DecisionContext<'_>, to: &str, encrypted_url: &str, expires_at: Timestamp) -> Mail {
    let minutes = expires_at.since(cx.now) / 60_000;
    let text = format!(
        "Someone, probably you, asked to sign in with this email address.\n\nThe link below works once, within \
         {minutes} minutes. If it was not you, ignore this email: nobody can sign in without the link.\n"
    );
    let mail = Mail::new(cx, vec![to.to_owned()], "Your sign-in link".to_owned(), text);
    let sealed_link = SealedLink { label: "Sign in".to_owned(), encrypted_url: encrypted_url.to_owned() };
    Mail { sealed_link: Some(sealed_link), useless_at: Some(expires_at), ..mail }
}

/// Builds the email that confirms a payment.
pub fn receipt(cx: &DecisionContext<'_>, receipt: PaymentReceipt) -> Mail {
    let (subject, what) = match &receipt.order_number {
        Some(number) => (format!("Receipt for order {number}"), format!("order {number}")),
        None => ("Receipt for your payment".to_owned(), "your invoice".to_owned()),
    };
    let text = format!("Thank you: {what} is paid.\n");
    let attached = receipt.document.map(|document| AttachedDocument { invoice: receipt.invoice, document });
    let link = own_page(cx, "Open the invoice", &format!("invoices/{}", receipt.invoice));
    let parts = priced(receipt.items, receipt.sums);
    Mail { parts, attached, link: Some(link), ..Mail::new(cx, vec![receipt.to], subject, text) }
}

/// Builds the email with an invoice to pay.
pub fn invoice_to_pay(cx: &DecisionContext<'_>, invoice: InvoiceToPay) -> Mail {
    let due = invoice.due_at.map(|at| format!(" It is due by {}.", document_date(at))).unwrap_or_default();
    let text = format!("Here is your invoice.{due}\n");
    let attached = invoice.document.map(|document| AttachedDocument { invoice: invoice.invoice, document });
    let parts = priced(invoice.items, invoice.sums);
    let link = own_page(cx, "Open and pay the invoice", &format!("invoices/{}", invoice.invoice));
    let mail = Mail::new(cx, vec![invoice.to], "Your invoice".to_owned(), text);
    Mail { parts, attached, link: Some(link), ..mail }
}

/// Builds the email with a quote.
pub fn quote_sent(cx: &DecisionContext<'_>, quote: QuoteSent) -> Mail {
    let number = one_line(&quote.number);
    let last_day = quote.valid_until.map(|at| cx.rules.clock.date(at));
    let until = last_day.map(|day| format!(" You can accept it until {day}.")).unwrap_or_default();
    let mut text = format!("Here is quote {number}.{until}\n");
    if let Some(message) = quote.message.filter(|message| !message.trim().is_empty()) {
        let lines = message.trim().lines().map(one_line).collect::<Vec<_>>().join("\n");
        text = format!("{text}\n{}\n", lines.chars().take(MAX_MESSAGE_CHARS).collect::<String>());
    }
    let link = own_page(cx, "View the quote", &format!("quotes/{}", quote.quote));
    let mail = Mail::new(cx, vec![quote.to], format!("Your quote {number}"), text);
    Mail { parts: priced(quote.items, quote.sums), link: Some(link), useless_at: quote.valid_until, ..mail }
}

/// Builds the email that reports a completed export.
pub fn export_ready(cx: &DecisionContext<'_>, export: ExportReady) -> Mail {
    let what = one_line(&export.what);
    let rows = if export.rows == 1 { "1 row".to_owned() } else { format!("{} rows", export.rows) };
    let text = format!(
        "Your export of {what} is ready: {rows}, as a CSV file.\n\nThe link below works until {}. Anyone who has it \
         can download the file, so share it with care.\n",
        cx.rules.clock.date_and_time(export.expires_at)
    );
    let mail = Mail::new(cx, vec![export.to], format!("Your export of {what} is ready"), text);
    let sealed_link = SealedLink { label: "Download the file".to_owned(), encrypted_url: export.encrypted_url };
    Mail { sealed_link: Some(sealed_link), useless_at: Some(export.expires_at), ..mail }
}

/// Builds a link to a page in the customer's own area.
pub fn own_page(cx: &DecisionContext<'_>, label: &str, path: &str) -> MailLink {
    MailLink { label: label.to_owned(), url: format!("{}/{path}", cx.rules.public_url) }
}

fn priced(items: Vec<MailItem>, sums: Vec<MailFact>) -> Vec<MailPart> {
    let (items, more) = first_items(items);
    let more = more.map(MailPart::Text);
    let items = (!items.is_empty()).then_some(MailPart::Items(items));
    let sums = (!sums.is_empty()).then_some(MailPart::Facts(sums));
    items.into_iter().chain(more).chain(sums).collect()
}
