//! Order lines as shown in responses: ordered items and their progress.

use api_derive::Response;
use serde::{Serialize, Serializer};

use domain::id::Id;
use domain::job::JobState;
use domain::order::{LineParts, Order, OrderLine};
use http::openapi::shape::{Shape, list};
use http::wire::{Components, ToSchema, schema_of};

/// Ordered item with its quantity, price and progress.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderLine")]
struct OrderLineView<'a> {
    /// ID of the ordered SKU; null for items that are not printed, such as design work.
    sku_id: Option<Id>,
    /// Number of parts ordered.
    quantity: u32,
    /// Price per part at the time of the order, in minor units of the currency.
    unit_price_cents: i64,
    /// Name of the product at the time of the order.
    description: &'a str,
    /// Tax rate, in basis points (1900 is 19 %).
    tax_rate_bps: i64,
    /// For parts of a kit: index of the kit's line, which carries the price. Null for items that were ordered
    /// individually.
    kit_line: Option<u32>,
    /// Number of complete kits in which every part is good. Present whenever `jobs` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete_sets: Option<u64>,
    /// Number of parts shipped, excluding parts that were rejected afterwards.
    shipped: u64,
    /// Progress of the line's plates. Present only in the response for a single order, once there are jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<LineProgress>,
    /// Number of good parts. Like the fields that follow, present whenever `jobs` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    good: Option<u64>,
    /// Number of parts on plates that are unfinished, await sign-off, or have failed and await an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<u64>,
    /// Number of parts that no job is going to produce although they have not been written off.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
    /// Number of parts on cancelled plates.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<u64>,
    /// Number of parts that were rejected after shipping and must be delivered again. Always 0 for kits, whose parts
    /// have their own lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_after_shipping: Option<u64>,
}

/// Progress of a line: its number of plates, and how many of them are printed.
#[derive(Clone, Response, Serialize)]
#[api(name = "LineProgress")]
struct LineProgress {
    /// Number of plates to print.
    total: u64,
    /// Number of plates printed.
    completed: u64,
}

/// Order lines, with the progress of their jobs.
pub struct OrderLines<'a>(pub &'a Order);

impl Serialize for OrderLines<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(order) = self;
        // One pass over the jobs, however many lines there are.
        let mut progress_by_line = vec![LineProgress { total: 0, completed: 0 }; order.lines.len()];
        for job in order.jobs.values() {
            if let Some(progress) = progress_by_line.get_mut(job.line as usize) {
                progress.total += 1;
                progress.completed += u64::from(job.state == JobState::Completed);
            }
        }
        // A kit's plates are those of its parts.
        for (n, line) in order.lines.iter().enumerate() {
            if let Some(kit) = line.kit_line.map(|kit| kit as usize).filter(|kit| *kit < progress_by_line.len()) {
                let LineProgress { total, completed } = progress_by_line[n].clone();
                progress_by_line[kit].total += total;
                progress_by_line[kit].completed += completed;
            }
        }
        let shows_jobs = !order.jobs.is_empty();
        let (parts, shipped) = (order.parts(), order.shipped_parts());
        let lines = order.lines.iter().zip(progress_by_line).zip(parts).zip(shipped);
        to.collect_seq(
            lines.map(|(((line, jobs), parts), shipped)| OrderLineView::new(line, jobs, parts, shipped, shows_jobs)),
        )
    }
}

impl ToSchema for OrderLines<'_> {
    fn schema() -> Shape {
        list(schema_of::<OrderLineView<'_>>())
    }
    fn components(components: &mut Components) {
        components.add::<OrderLineView<'_>>();
    }
}

impl<'a> OrderLineView<'a> {
    fn new(line: &'a OrderLine, jobs: LineProgress, parts: LineParts, shipped: u64, shows_jobs: bool) -> Self {
        Self {
            sku_id: (!line.is_service()).then_some(line.sku_id),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            description: &line.description,
            tax_rate_bps: line.tax_rate_bps,
            kit_line: line.kit_line,
            complete_sets: (shows_jobs && line.is_kit()).then_some(parts.good),
            shipped,
            jobs: shows_jobs.then_some(jobs),
            good: shows_jobs.then_some(parts.good),
            running: shows_jobs.then_some(parts.running),
            missing: shows_jobs.then(|| parts.missing(line.quantity)),
            cancelled: shows_jobs.then_some(parts.cancelled),
            rejected_after_shipping: shows_jobs.then_some(parts.rejected_after_shipping),
        }
    }
}
