//! Calls to the books: organisations, contacts, invoices and credit notes.
//!
//! Requests that create something carry an idempotency key. If a request is retried with the same key, the system
//! returns its original response instead of acting again.

use reqwest::{Method, RequestBuilder};
use serde_json::{Map, Number, Value, json};

use super::read::{self, PostedDocument};
use super::{AccountingClient, AccountingError, Organisation, WHO};
use crate::peer_client::{PeerClient, PeerHttp, TokenForm, whole};
use crate::peer_fault::PeerFault;
use domain::accounting::paper::{AccountingDocument, AccountingDocumentLine};
use domain::invoice::DocumentKind;

/// Maximum size of a response in bytes.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Maximum delay, in seconds, that the system may request.
const MAX_BUSY_SECONDS: u64 = 3_600;
/// Delay, in seconds, if the system requests one without a duration.
const UNTOLD_BUSY_SECONDS: u64 = 60;

/// Path of the accounting API below the base address.
const API: &str = "api.xro/2.0";

/// Client for one organisation's books, usable as long as the access token is valid.
pub struct OrganisationClient<'a> {
    of: &'a AccountingClient,
    peer: PeerClient,
    tenant: String,
}

impl AccountingClient {
    /// Opens the books of the organisation `tenant` with the given access token.
    pub fn books(&self, tenant: &str, access: &str) -> Result<OrganisationClient<'_>, AccountingError> {
        Ok(OrganisationClient {
            of: self,
            peer: peer(&self.http, self.api.url().as_str(), access)?,
            tenant: tenant.to_owned(),
        })
    }

    /// Returns the organisations to which an admin has granted access.
    pub async fn organisations(&self, access: &str) -> Result<Vec<Organisation>, AccountingError> {
        let peer = peer(&self.http, self.api.url().as_str(), access)?;
        read::organisations(&answer(&peer, peer.below(Method::GET, "connections")).await?)
    }
}

fn peer(http: &PeerHttp, url: &str, access: &str) -> Result<PeerClient, AccountingError> {
    PeerClient::new(http.clone(), url, TokenForm::Bearer, access).map_err(|error| PeerFault::from(error).into())
}

impl OrganisationClient<'_> {
    fn call(&self, method: Method, path: &str) -> RequestBuilder {
        let call = self.peer.below(method, &format!("{API}/{path}"));
        call.header("xero-tenant-id", &self.tenant).header("accept", "application/json")
    }

    /// Returns the ID of the contact with the document's email address or, if it has none, with its name; `None` if no
    /// contact matches.
    pub async fn contact(&self, paper: &AccountingDocument) -> Result<Option<String>, AccountingError> {
        let (member, value) = match &paper.contact_email {
            Some(email) => ("EmailAddress", email),
            None => ("Name", &paper.contact_name),
        };
        let filter = format!("{member}==\"{}\"", quoted(value));
        let body = answer(&self.peer, self.call(Method::GET, "Contacts").query(&[("where", filter)])).await?;
        read::contact(&body)
    }

    /// Creates a contact and returns its ID.
    pub async fn create_contact(&self, paper: &AccountingDocument, key: &str) -> Result<String, AccountingError> {
        let mut contact = json!({"Name": paper.contact_name});
        if let Some(email) = &paper.contact_email {
            contact["EmailAddress"] = json!(email);
        }
        let call = self.call(Method::PUT, "Contacts").header("idempotency-key", key);
        let created = answer(&self.peer, call.json(&json!({"Contacts": [contact]}))).await?;
        read::contact(&created)?.ok_or_else(|| PeerFault::new(format!("{WHO} created no contact")).into())
    }

    /// Returns the valid document with the given number; deleted and voided documents are ignored.
    pub async fn paper(&self, kind: DocumentKind, number: &str) -> Result<Option<PostedDocument>, AccountingError> {
        let (path, member) = (words(kind).0, words(kind).2);
        let filter = format!("{member}==\"{}\"", quoted(number));
        let body = answer(&self.peer, self.call(Method::GET, path).query(&[("where", filter)])).await?;
        read::paper(&body, kind)
    }

    /// Creates a document for a contact.
    pub async fn create_paper(
        &self,
        paper: &AccountingDocument,
        contact: &str,
        key: &str,
    ) -> Result<PostedDocument, AccountingError> {
        let (path, kind_word, number) = words(paper.kind);
        let mut body = json!({
            "Type": kind_word,
            number: paper.number,
            "Contact": {"ContactID": contact},
            "Date": day(paper.issued_at.to_string()),
            "LineAmountTypes": "Exclusive",
            "LineItems": paper.lines.iter().map(|line| self.line(paper, line)).collect::<Vec<_>>(),
            "Reference": paper.reference.clone().unwrap_or_default(),
            "CurrencyCode": paper.currency.to_uppercase(),
            "Status": "AUTHORISED",
        });
        if paper.kind == DocumentKind::Invoice {
            body["DueDate"] = json!(day(paper.due_at.unwrap_or(paper.issued_at).to_string()));
        }
        let call = self.call(Method::PUT, path).header("idempotency-key", key);
        let mut all = Map::new();
        all.insert(path.to_owned(), Value::Array(vec![body]));
        let created = answer(&self.peer, call.json(&Value::Object(all))).await?;
        read::paper(&created, paper.kind)?.ok_or_else(|| PeerFault::new(format!("{WHO} created no document")).into())
    }

    /// Returns whether payments are recorded in the accounting system.
    pub fn takes_payments(&self) -> bool {
        !self.of.payment_account.is_empty()
    }

    /// Records the full payment of an invoice.
    pub async fn create_payment(
        &self,
        paper: &AccountingDocument,
        invoice: &str,
        key: &str,
    ) -> Result<(), AccountingError> {
        let amount = paper.amount(paper.total_cents).parse::<Number>().map_or(Value::Null, Value::Number);
        let payment = json!({
            "Invoice": {"InvoiceID": invoice},
            "Account": {"Code": self.of.payment_account},
            "Date": day(paper.issued_at.to_string()),
            "Amount": amount,
            "Reference": paper.number,
        });
        let call = self.call(Method::PUT, "Payments").header("idempotency-key", key);
        answer(&self.peer, call.json(&json!({"Payments": [payment]}))).await.map(drop)
    }

    fn line(&self, paper: &AccountingDocument, line: &AccountingDocumentLine) -> Value {
        let amount = |cents: i64| paper.amount(cents).parse::<Number>().map_or(Value::Null, Value::Number);
        let mut body = json!({
            "Description": line.description,
            "Quantity": line.quantity,
            "UnitAmount": amount(line.unit_cents),
            "LineAmount": amount(line.net_cents),
            "TaxAmount": amount(line.tax_cents),
            "AccountCode": self.of.sales_account,
        });
        if let Some((_, word)) = self.of.tax_words.iter().find(|(rate, _)| *rate == line.rate_bps) {
            body["TaxType"] = json!(word);
        }
        body
    }
}

/// Returns the API's path, document type and number field for a kind of document.
fn words(kind: DocumentKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        DocumentKind::Invoice => ("Invoices", "ACCREC", "InvoiceNumber"),
        DocumentKind::CreditNote => ("CreditNotes", "ACCRECCREDIT", "CreditNoteNumber"),
    }
}

/// Quotes a string for use in a filter.
fn quoted(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect()
}

fn day(time: String) -> String {
    time.get(..10).unwrap_or_default().to_owned()
}

/// Sends a request and converts an unsuccessful response to the matching error.
async fn answer(peer: &PeerClient, call: RequestBuilder) -> Result<Value, AccountingError> {
    let mut answer = peer.send(call, WHO).await?;
    let status = answer.status();
    let pause = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let body = whole(&mut answer, MAX_ANSWER_BYTES, WHO).await?;
    let json = bounded_json::read(&body, bounded_json::ANSWER);
    match status.as_u16() {
        200..=299 => {
            let fault =
                |error| PeerFault::new(format!("{WHO} sent a response that is not JSON")).saying(format!("{error}"));
            json.map_err(|error: serde_json::Error| fault(error).into())
        }
        401 => Err(AccountingError::Token),
        // Said of the connection, not of what was asked.
        403 => {
            let words = read::refusal(status.as_u16(), &json.unwrap_or_default(), &body);
            Err(PeerFault::new(format!("{WHO} no longer grants access")).saying(words).into())
        }
        429 => Err(AccountingError::Busy(pause.unwrap_or(UNTOLD_BUSY_SECONDS).min(MAX_BUSY_SECONDS))),
        500.. | 408 => Err(PeerFault::new(format!("{WHO} responded with status {status}")).into()),
        _ => Err(AccountingError::Refused(read::refusal(status.as_u16(), &json.unwrap_or_default(), &body))),
    }
}
