//! Oracles of invoices: their numbers, and the invoiced and credited amounts for each order. They read the issued
//! documents and the invoices on the disk.

use std::collections::BTreeMap;

use serde_json::Value;

use super::books::ledgers_are_equal;
use super::demand;
use crate::clerk::Clerk;
use crate::error::SimError;
use crate::world::World;
use domain::id::Id;
use domain::invoice::{DocumentKind, IssuedDocument};
use store::memory::Tables;

/// Table of invoices.
const INVOICES: &str = "invoices";

/// Invoices as they are stored, read once.
pub struct StoredInvoices(BTreeMap<String, Vec<Value>>);

impl StoredInvoices {
    /// Reads all invoices.
    pub fn read(tables: &Tables) -> Result<Self, SimError> {
        let mut invoices: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for doc in tables.snapshot_docs(INVOICES) {
            let invoice = bounded_json::read(doc.as_bytes(), bounded_json::ANSWER)?;
            let order = invoice["orderId"].as_str().unwrap_or_default().to_owned();
            invoices.entry(order).or_default().push(invoice);
        }
        Ok(Self(invoices))
    }

    /// Returns the invoices of an order, oldest first; those without an order if its ID is null.
    pub fn of(&self, order: &Value) -> &[Value] {
        self.0.get(order.as_str().unwrap_or_default()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns the total payable amount of an invoice's documents of the given kind, in minor units.
fn sum_of(invoice: &Value, kind: &str) -> i64 {
    let documents = invoice["documents"].as_array().into_iter().flatten();
    documents.filter(|one| one["kind"] == kind).filter_map(|one| one["payableCents"].as_i64()).sum()
}

/// Returns whether an order was produced and paid for.
pub fn is_paid_for(order: &Value) -> bool {
    ["ready", "shipped"].iter().any(|status| order["status"] == *status)
}

/// Checks that invoices and credit notes are numbered from 1 without gaps or duplicates, and that each document adds
/// up.
pub fn are_numbered(tables: &Tables) -> Result<(), SimError> {
    let mut series: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for document in tables.parts::<IssuedDocument>() {
        let is_note = document.kind == DocumentKind::CreditNote;
        series.entry(if is_note { "credit notes" } else { "invoices" }).or_default().push(document.number);
        let content = &document.content;
        let lines: i64 = content.lines.iter().map(|line| line.unit_price_cents * i64::from(line.quantity)).sum();
        let sum = lines + content.shipping_cents - content.discount_cents + content.sums.tax_cents;
        demand(sum == content.sums.total_cents, || format!("its lines are {sum} cents: {document:?}"))?;
        demand(is_note == document.preceding.is_some(), || format!("of which invoice is {document:?}"))?;
    }
    for (name, mut numbers) in series {
        numbers.sort_unstable();
        let expected: Vec<i64> = (1..).take(numbers.len()).collect();
        demand(numbers == expected, || format!("the {name} have the numbers {numbers:?}"))?;
    }
    Ok(())
}

/// Checks that an order has at most one valid invoice, over its total, and has one if it was produced; that an order
/// whose payment was fully refunded has no active one; and that the credit notes equal the amount that the order does
/// not keep.
pub fn follow(tables: &Tables, invoices: &StoredInvoices, order: &Value) -> Result<(), SimError> {
    let invoices = invoices.of(&order["id"]);
    let words = |what: &str| format!("{what}: {order}, invoices {}", Value::from(invoices.to_vec()));
    let standing: Vec<&Value> = invoices.iter().filter(|one| one["status"] != "void").collect();
    demand(standing.len() <= 1, || words("more than one invoice"))?;
    let total = order["totalCents"].as_i64().unwrap_or_default();
    let rest = order["keptCents"].as_i64().unwrap_or_default().clamp(0, total);
    let status = match order["status"].as_str() {
        Some("refunded") => "refunded",
        Some("cancelled") if order["paidAt"].is_null() => "void",
        _ => "paid",
    };
    demand(!is_paid_for(order) || !standing.is_empty(), || words("no invoice"))?;
    for invoice in invoices {
        demand(invoice["status"] == status, || words(&format!("an invoice is not {status}")))?;
        documents_add_up(tables, invoice, (total, rest))?;
    }
    Ok(())
}

/// Checks that each of the clerk's invoices exists exactly once and has reached its planned final state on the server
/// and at the processor.
pub fn of_clerk(world: &World, tables: &Tables, invoices: &StoredInvoices, clerk: &Clerk) -> Result<(), SimError> {
    let invoices = invoices.of(&Value::Null);
    let (expected, actual) = (clerk.invoices.len(), invoices.len());
    demand(actual == expected, || format!("{actual} invoices without orders instead of {expected}"))?;
    for own in &clerk.invoices {
        let (status, rest) = (own.plan.end.status(), own.plan.end.remainder().cents(own.total_cents));
        let Some(invoice) = invoices.iter().find(|invoice| invoice["id"] == own.id.as_str()) else {
            return Err(SimError::Broken(format!("the invoice {} is gone", own.id)));
        };
        demand(invoice["status"] == status, || format!("an invoice is not {status}: {invoice}"))?;
        demand(invoice["keptCents"] == rest, || format!("an invoice does not keep {rest} cents: {invoice}"))?;
        let refunds = &invoice["atProcessor"]["refunds"];
        demand(refunds.as_array().is_none_or(Vec::is_empty), || format!("refunds are not done: {invoice}"))?;
        documents_add_up(tables, invoice, (own.total_cents, rest))?;
        ledgers_are_equal(world, &own.id, invoice)?;
    }
    Ok(())
}

/// Checks that an invoice is over its total, that its credit notes equal the amount that it does not keep, and that all
/// documents were issued.
fn documents_add_up(tables: &Tables, invoice: &Value, (total, rest): (i64, i64)) -> Result<(), SimError> {
    demand(sum_of(invoice, "invoice") == total, || format!("{total} cents are not invoiced: {invoice}"))?;
    let credit = total - rest;
    demand(sum_of(invoice, "credit_note") == credit, || format!("{credit} cents are not credited: {invoice}"))?;
    documents_are_issued(tables, invoice)
}

/// Checks that each document of an invoice was issued with the content of the invoice.
fn documents_are_issued(tables: &Tables, invoice: &Value) -> Result<(), SimError> {
    for head in invoice["documents"].as_array().into_iter().flatten() {
        let id = head["id"].as_str().and_then(|id| id.parse::<Id>().ok());
        let issued: Vec<&IssuedDocument> = tables.parts::<IssuedDocument>().filter(|one| Some(one.id) == id).collect();
        let payable = issued.iter().map(|one| one.content.sums.total_cents + one.rounding_cents).sum::<i64>();
        let is_right = issued.len() == 1 && head["payableCents"].as_i64() == Some(payable);
        demand(is_right, || format!("{head} was issued as {issued:?}"))?;
    }
    Ok(())
}
