//! What stands in a mail besides its text: tables and links. Mails are kept as these parts, and written out as text and
//! HTML when they are sent.

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;

/// Most rows of one table of a mail; further ones are only counted.
const MAX_TOLD_ITEMS: usize = 100;

/// A link of a mail.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// What it does, in words for people.
    pub label: String,
    /// The address, made from `server.public_url` or from the tracking pages of the settings.
    pub url: String,
}

/// So many of something, with what they cost where that matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailItem {
    /// How many.
    pub quantity: u32,
    /// What it is, on one line.
    pub what: String,
    /// The amount, written out with its currency; `None` where none is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
}

/// A label and what belongs to it: `Carrier`, `UPS`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailFact {
    /// What is told, without a colon.
    pub label: String,
    /// The value, on one line.
    pub value: String,
}

impl MailFact {
    /// A fact as one line each.
    pub fn new(label: &str, value: impl AsRef<str>) -> Self {
        Self { label: label.to_owned(), value: one_line(value.as_ref()) }
    }
}

/// A part of a mail, in the order in which it is read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailPart {
    /// Sentences; an empty line separates paragraphs.
    Text(String),
    /// What was ordered, sent or paid.
    Items(Vec<MailItem>),
    /// Labels with values, the last of which may be a sum.
    Facts(Vec<MailFact>),
    /// A link beside the main one, which is the mail's own.
    Link(Link),
}

/// An invoice or credit note that a mail brings along as PDF. It is rendered when the mail is sent, and never stored
/// with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedDocument {
    /// What the document was issued for.
    pub invoice: Id,
    /// The document of that invoice.
    pub document: Id,
}

/// The first rows of a table, and in words how many are left out; `None` when all are shown.
pub fn first_items(items: impl IntoIterator<Item = MailItem>) -> (Vec<MailItem>, Option<String>) {
    let mut told: Vec<MailItem> = Vec::new();
    let mut untold = 0usize;
    for item in items {
        if told.len() < MAX_TOLD_ITEMS {
            told.push(MailItem { what: one_line(&item.what), ..item });
        } else {
            untold += 1;
        }
    }
    (told, (untold > 0).then(|| format!("and {untold} lines more")))
}

/// As one line. A subject may contain names that people gave; a control character in it would be refused by every
/// mailer, and in the text of a mail it could pass for a line of the shop's own. Marks that turn the direction of what
/// follows are left out: they could make an address read as another one.
pub fn one_line(text: &str) -> String {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().filter(|c| !turns(c)).map(|c| if breaks(c) { ' ' } else { c }).collect()
}

/// The body of a mail as plain text: the text, the parts, and at last the link.
pub fn plain(text: &str, parts: &[MailPart], link: Option<&Link>) -> String {
    let linked = |link: &Link| format!("{}: {}", link.label, link.url);
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
