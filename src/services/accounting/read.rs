//! Parses responses from the books.

use serde_json::Value;

use super::{AccountingError, Organisation, WHO};
use crate::peer_fault::PeerFault;
use domain::invoice::DocumentKind;

/// Maximum length of a displayed error message, in characters.
const MAX_WORDS_CHARS: usize = 400;
/// Maximum number of organisations read.
const MAX_ORGANISATIONS: usize = 100;

/// Document stored in the accounting system.
#[derive(Clone, PartialEq, Debug)]
pub struct PostedDocument {
    /// ID assigned by the accounting system.
    pub id: String,
    /// Total in the document's currency; `None` if not reported.
    pub total: Option<f64>,
    /// Amount still due; `None` if not reported.
    pub due: Option<f64>,
}

fn strange(what: &str) -> AccountingError {
    PeerFault::new(format!("{WHO} sent an invalid response: {what}")).into()
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Parses the organisations from a list of connections.
pub(super) fn organisations(answer: &Value) -> Result<Vec<Organisation>, AccountingError> {
    let all = answer.as_array().ok_or_else(|| strange("no list of organisations"))?;
    let read = |one: &Value| {
        let id = text(one, "tenantId")?;
        Some(Organisation { name: text(one, "tenantName").unwrap_or_else(|| id.clone()), id })
    };
    Ok(all.iter().take(MAX_ORGANISATIONS).filter_map(read).collect())
}

/// Returns the ID of the first contact in a response.
pub(super) fn contact(answer: &Value) -> Result<Option<String>, AccountingError> {
    let all = answer["Contacts"].as_array().ok_or_else(|| strange("no list of contacts"))?;
    let counts = |one: &&Value| one["ContactStatus"].as_str().is_none_or(|status| status == "ACTIVE");
    match all.iter().find(counts) {
        Some(one) => Ok(Some(text(one, "ContactID").ok_or_else(|| strange("a contact without an ID"))?)),
        None => Ok(None),
    }
}

/// Returns the first valid document in a response.
pub(super) fn paper(answer: &Value, kind: DocumentKind) -> Result<Option<PostedDocument>, AccountingError> {
    let (list, id) = match kind {
        DocumentKind::Invoice => ("Invoices", "InvoiceID"),
        DocumentKind::CreditNote => ("CreditNotes", "CreditNoteID"),
    };
    let all = answer[list].as_array().ok_or_else(|| strange("no list of documents"))?;
    let counts = |one: &&Value| !matches!(one["Status"].as_str(), Some("DELETED" | "VOIDED"));
    let Some(one) = all.iter().find(counts) else { return Ok(None) };
    if one["HasErrors"] == true || one["StatusAttributeString"] == "ERROR" {
        return Err(AccountingError::Refused(validation(one).unwrap_or_else(|| "no reason given".to_owned())));
    }
    let id = text(one, id).ok_or_else(|| strange("a document without an ID"))?;
    Ok(Some(PostedDocument { id, total: one["Total"].as_f64(), due: one["AmountDue"].as_f64() }))
}

/// Returns the reason that the system gives for rejecting a request.
pub(super) fn refusal(status: u16, answer: &Value, body: &[u8]) -> String {
    let of_elements: Vec<String> = answer["Elements"].as_array().into_iter().flatten().filter_map(validation).collect();
    let words = match (of_elements.join("; "), text(answer, "Detail").or_else(|| text(answer, "Message"))) {
        (words, _) if !words.is_empty() => words,
        (_, Some(words)) => words,
        _ => String::from_utf8_lossy(body).into_owned(),
    };
    let plain = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_WORDS_CHARS);
    format!("status {status}: {}", plain.collect::<String>())
}

fn validation(element: &Value) -> Option<String> {
    let all = element["ValidationErrors"].as_array()?;
    let words: Vec<&str> = all.iter().filter_map(|one| one["Message"].as_str()).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
