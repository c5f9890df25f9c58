//! Parts of an email other than its text: tables, links, and the records that it is about. Emails are stored as these
//! parts, and rendered as text and HTML when they are sent.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use words::{Language, mails};

/// Maximum number of rows per table in an email; any others are only counted.
const MAX_TOLD_ITEMS: usize = 100;

/// Link that the recipient is invited to open, with its label.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailLink {
    /// Human-readable label of the link.
    pub label: String,
    /// URL, built from `server.public_url` or from the tracking pages in the settings.
    pub url: String,
}

/// Item with its quantity and, if it has one, its amount.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailItem {
    /// Number of units.
    pub quantity: u32,
    /// Description of the item, on one line.
    pub what: String,
    /// Amount, formatted with its currency; `None` if no amount is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
}

/// Label and value: `Carrier`, `UPS`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailFact {
    /// Label, without a colon.
    pub label: String,
    /// Value, on one line.
    pub value: String,
}

impl MailFact {
    /// Builds a fact, reducing label and value to one line each.
    pub fn new(label: &str, value: impl AsRef<str>) -> Self {
        Self { label: label.to_owned(), value: one_line(value.as_ref()) }
    }
}

/// Part of an email; parts are rendered in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailPart {
    /// Sentences; an empty line separates paragraphs.
    Text(String),
    /// Items ordered, shipped or paid.
    Items(Vec<MailItem>),
    /// Labelled values, the last of which may be a total.
    Facts(Vec<MailFact>),
    /// Additional link, besides the email's main link.
    Link(MailLink),
}

/// Invoice or credit note attached to an email as a PDF. It is rendered when the email is sent, and never stored with
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedDocument {
    /// Invoice that the document was issued for.
    pub invoice: Id,
    /// Invoice document to attach.
    pub document: Id,
}

/// Order, invoice or quote that an email is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailTopic {
    /// Order with the given ID.
    Order(Id),
    /// Invoice with the given ID.
    Invoice(Id),
    /// Quote with the given ID.
    Quote(Id),
}

impl MailTopic {
    /// Returns the ID of the record.
    pub fn id(self) -> Id {
        match self {
            Self::Order(id) | Self::Invoice(id) | Self::Quote(id) => id,
        }
    }
}

/// Returns the first rows of a table and a sentence that states how many were omitted; the sentence is `None` if all
/// are shown.
pub fn first_items(language: Language, items: impl IntoIterator<Item = MailItem>) -> (Vec<MailItem>, Option<String>) {
    let mut listed: Vec<MailItem> = Vec::new();
    let mut untold = 0usize;
    for item in items {
        if listed.len() < MAX_TOLD_ITEMS {
            listed.push(MailItem { what: one_line(&item.what), ..item });
        } else {
            untold += 1;
        }
    }
    (listed, (untold > 0).then(|| mails::more_items(language, untold)))
}

/// Reduces text to one line. A subject may contain names that users entered; every mailer would reject control
/// characters in it, and a line break in the text of an email could fake a line written by the shop. Bidirectional
/// control characters are removed because they could make one address look like a different one.
pub fn one_line(text: &str) -> String {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().filter(|c| !turns(c)).map(|c| if breaks(c) { ' ' } else { c }).collect()
}

/// Renders the body of an email as plain text: the text, the parts, and finally the link.
pub fn plain(text: &str, parts: &[MailPart], link: Option<&MailLink>) -> String {
    let linked = |link: &MailLink| format!("{}: {}", link.label, link.url);
    let item = |item: &MailItem| match &item.amount {
        Some(amount) => format!("{} x {}: {amount}", item.quantity, item.what),
        None => format!("{} x {}", item.quantity, item.what),
    };
    let fact = |fact: &MailFact| format!("{}: {}", fact.label, fact.value);
    let written = parts.iter().map(|part| match part {
        MailPart::Text(text) => text.trim_end().to_owned(),
        MailPart::Items(items) => items.iter().map(item).collect::<Vec<_>>().join("\n"),
        MailPart::Facts(facts) => facts.iter().map(fact).collect::<Vec<_>>().join("\n"),
        MailPart::Link(link) => linked(link),
    });
    let begins = std::iter::once(text.trim_end().to_owned());
    let all = begins.chain(written).chain(link.map(linked)).filter(|words| !words.is_empty());
    format!("{}\n", all.collect::<Vec<_>>().join("\n\n"))
}
