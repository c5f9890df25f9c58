//! Books of the simulated organisation: contacts, invoices and credit notes, which are found with a filter and created
//! with the same checks as in the real system.

use axum::http::StatusCode;
use serde_json::{Value, json};
use url::form_urlencoded;
use uuid::Uuid;

use super::AccountingState;

/// Difference below which two amounts are considered equal.
const SAME_AMOUNT: f64 = 0.005;

/// Document kind: the names of its list, ID field, unique field and type.
struct DocumentType {
    list: &'static str,
    id: &'static str,
    unique: &'static str,
    word: Option<&'static str>,
}

fn kind_of(name: &str) -> Option<DocumentType> {
    Some(match name {
        "Contacts" => DocumentType { list: "Contacts", id: "ContactID", unique: "Name", word: None },
        "Invoices" => DocumentType { list: "Invoices", id: "InvoiceID", unique: "InvoiceNumber", word: Some("ACCREC") },
        "CreditNotes" => DocumentType {
            list: "CreditNotes",
            id: "CreditNoteID",
            unique: "CreditNoteNumber",
            word: Some("ACCRECCREDIT"),
        },
        _ => return None,
    })
}

fn list<'a>(inside: &'a mut AccountingState, kind: &DocumentType) -> &'a mut Vec<Value> {
    match kind.list {
        "Contacts" => &mut inside.contacts,
        "Invoices" => &mut inside.invoices,
        _ => &mut inside.credit_notes,
    }
}

/// Finds the documents that match a filter of the form `Member=="value"`.
pub(super) fn find(inside: &mut AccountingState, name: &str, query: &str) -> (StatusCode, Value) {
    let Some(kind) = kind_of(name) else { return (StatusCode::NOT_FOUND, Value::Null) };
    let filter = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "where");
    let filter = filter.map(|(_, filter)| filter).unwrap_or_default();
    let Some((member, value)) = filter.split_once("==").map(|(member, value)| (member, value.trim_matches('"'))) else {
        return (StatusCode::BAD_REQUEST, json!({"Message": "a filter was expected"}));
    };
    let matches: Vec<Value> = list(inside, &kind).iter().filter(|one| one[member] == value).cloned().collect();
    (StatusCode::OK, json!({"Status": "OK", kind.list: matches}))
}

fn refused(words: &str) -> (StatusCode, Value) {
    let body = json!({
        "ErrorNumber": 10, "Type": "ValidationException", "Message": "A validation exception occurred",
        "Elements": [{"ValidationErrors": [{"Message": words}]}],
    });
    (StatusCode::BAD_REQUEST, body)
}

/// Records a payment for an invoice, up to the amount due.
fn pay(inside: &mut AccountingState, body: &str) -> (StatusCode, Value) {
    let Ok(body) = bounded_json::read(body.as_bytes(), bounded_json::REQUEST) else { return refused("no JSON") };
    let payment = &body["Payments"][0];
    let (amount, of) = (payment["Amount"].as_f64().unwrap_or(f64::NAN), &payment["Invoice"]["InvoiceID"]);
    let Some(invoice) = inside.invoices.iter_mut().find(|one| one["InvoiceID"] == *of) else {
        return refused("The invoice does not exist");
    };
    let due = invoice["AmountDue"].as_f64().unwrap_or_default();
    if !(amount > 0.0 && amount < due + SAME_AMOUNT) {
        return refused("Payment amount exceeds the amount outstanding on this document");
    }
    invoice["AmountDue"] = json!(((due - amount) * 100.0).round() / 100.0);
    if due - amount < SAME_AMOUNT {
        invoice["Status"] = json!("PAID");
    }
    (StatusCode::OK, json!({"Status": "OK", "Payments": [payment]}))
}

/// Creates the document contained in the request body.
pub(super) fn create(inside: &mut AccountingState, name: &str, body: &str) -> (StatusCode, Value) {
    if name == "Payments" {
        return pay(inside, body);
    }
    let Some(kind) = kind_of(name) else { return (StatusCode::NOT_FOUND, Value::Null) };
    let Ok(body) = bounded_json::read(body.as_bytes(), bounded_json::REQUEST) else { return refused("no JSON") };
    let Some([one]) = body[kind.list].as_array().map(Vec::as_slice) else { return refused("one was expected") };
    let mut one = one.clone();
    let unique = one[kind.unique].as_str().unwrap_or_default().to_owned();
    if unique.is_empty() || unique.contains(['<', '>']) {
        return refused(&format!("{} is not valid", kind.unique));
    }
    if list(inside, &kind).iter().any(|other| other[kind.unique] == unique.as_str()) {
        return refused(&format!("{} must be unique", kind.unique));
    }
    if let Some(word) = kind.word {
        if let Some(words) = inside.refuses.clone() {
            return refused(&words);
        }
        if one["Type"] != word {
            return refused("Type is not valid");
        }
        if !inside.contacts.iter().any(|contact| contact["ContactID"] == one["Contact"]["ContactID"]) {
            return refused("The contact does not exist");
        }
        let lines = one["LineItems"].as_array().cloned().unwrap_or_default();
        let number = |line: &Value, name: &str| line[name].as_f64().unwrap_or(f64::NAN);
        let fits = |line: &Value| {
            (number(line, "Quantity") * number(line, "UnitAmount") - number(line, "LineAmount")).abs() < SAME_AMOUNT
        };
        if lines.is_empty() || !lines.iter().all(fits) {
            return refused("The line total does not match the expected line total");
        }
        let total: f64 = lines.iter().map(|line| number(line, "LineAmount") + number(line, "TaxAmount")).sum();
        one["Total"] = json!((total * 100.0).round() / 100.0);
        if kind.list == "Invoices" {
            one["AmountDue"] = one["Total"].clone();
        }
    }
    one[kind.id] = json!(Uuid::now_v7().to_string());
    list(inside, &kind).push(one.clone());
    (StatusCode::OK, json!({"Status": "OK", kind.list: [one]}))
}
