//! An order as it is shown (decisions §7): borrowed and serialised at once, since orders are read most.

use crate::domain::id::Id;
use crate::domain::job::JobState;
use crate::domain::order::{Address, Line, Order, OrderKind, OrderStatus, Payment, Shipment};
use crate::domain::time::Timestamp;
use serde::{Serialize, Serializer};

/// An order, with the payments that are to be shown, at a version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderView<'a> {
    id: Id,
    number: String,
    kind: OrderKind,
    status: OrderStatus,
    site: &'a str,
    customer_id: Option<Id>,
    customer_email: Option<&'a str>,
    #[serde(serialize_with = "lines")]
    lines: &'a Order,
    currency: &'a str,
    subtotal_cents: i64,
    shipping_cents: i64,
    tax_cents: i64,
    discount_cents: i64,
    total_cents: i64,
    #[serde(serialize_with = "payments")]
    payments: &'a [Payment],
    shipment: Option<&'a Shipment>,
    flags: &'a [String],
    shipping_address: Option<&'a Address>,
    priority: u8,
    due_at: Option<Timestamp>,
    notes: Option<&'a str>,
    paid_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineView<'a> {
    sku_id: Id,
    quantity: u32,
    unit_price_cents: i64,
    description: &'a str,
    tax_rate_bps: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<Progress>,
}

/// How many plates a line makes and how many are done.
#[derive(Clone, Serialize)]
struct Progress {
    total: usize,
    completed: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentView<'a> {
    id: Id,
    amount_cents: i64,
    currency: &'a str,
    method: &'a str,
    reference: Option<&'a str>,
    created_at: Timestamp,
}

impl<'a> OrderView<'a> {
    /// Of this order.
    pub fn new(order: &'a Order, payments: &'a [Payment], version: i64) -> Self {
        Self {
            id: order.id,
            number: order.number_text(),
            kind: order.kind,
            status: order.status,
            site: &order.site,
            customer_id: order.customer_id,
            customer_email: order.customer_email.as_deref(),
            lines: order,
            currency: &order.currency,
            subtotal_cents: order.subtotal_cents,
            shipping_cents: order.shipping_cents,
            tax_cents: order.tax_cents,
            discount_cents: order.discount_cents,
            total_cents: order.total_cents,
            payments,
            shipment: order.shipment.as_ref(),
            flags: &order.flags,
            shipping_address: order.shipping_address.as_ref(),
            priority: order.priority,
            due_at: order.due_at,
            notes: order.notes.as_deref(),
            paid_at: order.paid_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            version,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to the member")]
fn lines<S: Serializer>(order: &&Order, to: S) -> Result<S::Ok, S::Error> {
    // One pass over the jobs, however many lines there are.
    let mut made = vec![Progress { total: 0, completed: 0 }; order.lines.len()];
    for job in order.jobs.values() {
        if let Some(progress) = made.get_mut(job.line as usize) {
            progress.total += 1;
            progress.completed += usize::from(job.state == JobState::Completed);
        }
    }
    to.collect_seq(order.lines.iter().zip(made).map(|(line, jobs)| LineView::new(line, jobs)))
}

impl<'a> LineView<'a> {
    fn new(line: &'a Line, jobs: Progress) -> Self {
        Self {
            sku_id: line.sku_id,
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            description: &line.description,
            tax_rate_bps: line.tax_rate_bps,
            jobs: (jobs.total > 0).then_some(jobs),
        }
    }
}

fn payments<S: Serializer>(payments: &&[Payment], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(payments.iter().map(|payment| PaymentView {
        id: payment.id,
        amount_cents: payment.amount_cents,
        currency: &payment.currency,
        method: &payment.method,
        reference: payment.reference.as_deref(),
        created_at: payment.created_at,
    }))
}
