//! Entry of the fuzz target for text from outsiders in emails.

use jiff::Timestamp;

use super::{Message, compose, sender};

/// Sender of the emails.
const FROM: &str = "Shop <shop@example.org>";

/// Composes an email with text from an outsider. It must not have any headers that an email with text from the shop
/// would not have.
pub(crate) fn compose_with(subject: &str, text: &str, html: &str) {
    let shops_own = header_names("Your order", "Thanks.", "<p>Thanks.</p>");
    if let Some(names) = header_names(subject, text, html) {
        assert_eq!(Some(names), shops_own);
    }
}

/// Returns the names of an email's headers; `None` if it was rejected.
fn header_names(subject: &str, text: &str, html: &str) -> Option<Vec<String>> {
    let message = Message {
        id: "a".to_owned(),
        written_at: Timestamp::UNIX_EPOCH,
        to: vec!["ann@example.org".to_owned()],
        subject: subject.to_owned(),
        text: text.to_owned(),
        html: Some(html.to_owned()),
        files: Vec::new(),
    };
    let raw = compose(&message, &sender(FROM).ok()?).ok()?.formatted();
    let raw = String::from_utf8_lossy(&raw);
    let head = raw.split("\r\n\r\n").next().unwrap_or_default();
    let begun = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    Some(begun.map(|line| line.split(':').next().unwrap_or_default().to_lowercase()).collect())
}
