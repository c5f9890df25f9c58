//! Components of a kit, and the number of complete sets in each order for the kit.

use std::collections::{BTreeSet, HashMap};

use maud::{Markup, html};

use super::{ProductHandles, orderable, sku_path};
use crate::staff::ORDERS_PATH;
use crate::staff::orders::order_state;
use crate::staff::shell::Tone;
use domain::id::Id;
use domain::order::{Order, OrderStatus};
use domain::sku::Sku;
use http::error::ApiError;
use store::queries::{JobFilter, Page};
use words::Language;
use words::staff::products as texts;

/// Page limit for the newest jobs of the kit's first component, which are used to find orders for the kit.
const JOBS_LOOKED_AT: Page = Page { limit: 100, offset: 0 };
/// Maximum number of orders, newest first, whose sets are counted.
const ORDERS_SHOWN: usize = 10;

/// Renders a kit's components and the sets in its orders.
pub(super) async fn parts(language: Language, app: &ProductHandles, kit: &Sku) -> Result<Markup, ApiError> {
    let resolved = super::components(app, &kit.fields, &mut HashMap::new()).await?;
    let sets = sets(language, app, kit).await?;
    let quantity = texts::parts_column(language);
    Ok(html! {
        section class="card" aria-labelledby="contains" {
            h2 id="contains" { (texts::set_contents(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::components(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::product_column(language)) }
                            th scope="col" { (texts::code_column(language)) }
                            th scope="col" class="number" { (quantity) }
                            th scope="col" { (texts::orderable_column(language)) }
                        }
                    }
                    tbody {
                        @for (component, fields) in kit.fields.components.iter().zip(&resolved) {
                            tr {
                                @match fields {
                                    Some(fields) => {
                                        th scope="row" class="grow" { a href=(sku_path(component.sku_id)) { (fields.name) } }
                                        td { (fields.code) }
                                        td class="number" data-label=(quantity) { (component.quantity) }
                                        td { (orderable(language, &fields.obstacles(&[]))) }
                                    },
                                    None => {
                                        th scope="row" class="grow" { (texts::deleted_sku(language)) }
                                        td {}
                                        td class="number" data-label=(quantity) { (component.quantity) }
                                        td { span class=(Tone::Error.class()) { (texts::not_orderable(language)) } }
                                    },
                                }
                            }
                        }
                    }
                }
            }
        }
        (sets)
    })
}

/// Renders the progress of the kit's sets in the newest orders that have jobs.
async fn sets(language: Language, app: &ProductHandles, kit: &Sku) -> Result<Markup, ApiError> {
    let Some(part) = kit.fields.components.first() else { return Ok(html! {}) };
    let filter = JobFilter { sku_id: Some(part.sku_id), ..JobFilter::default() };
    let (jobs, _) = app.jobs.queries.jobs(&filter, JOBS_LOOKED_AT).await?;
    let mut unique = BTreeSet::new();
    let named = jobs.iter().map(|job| job.order_id).filter(|id| unique.insert(*id)).take(ORDERS_SHOWN);
    let named: Vec<Id> = named.collect();
    let mut rows = Vec::new();
    for id in named {
        let state = app.jobs.orders.read(id).await?;
        let Some(order) = state.as_ref().and_then(|state| state.state.as_ref()) else { continue };
        rows.extend(row(language, order, kit.id));
    }
    Ok(html! {
        @if !rows.is_empty() {
            section class="card" aria-labelledby="sets" {
                h2 id="sets" { (texts::complete_sets(language)) }
                ul class="rows" { @for row in &rows { li { (row) } } }
            }
        }
    })
}

/// Renders the kit's sets in an order; `None` if the order does not contain the kit, or is cancelled or refunded.
fn row(language: Language, order: &Order, kit: Id) -> Option<Markup> {
    if matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
        return None;
    }
    let (parts, left) = (order.parts(), order.shipped_parts());
    let of_kit = order.lines.iter().zip(parts).zip(left).find(|((line, _), _)| line.sku_id == kit);
    let ((line, parts), left) = of_kit?;
    let (tone, label) = order_state(language, order.status);
    Some(html! {
        span { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } " " span class=(tone.class()) { (label) } }
        span { (texts::sets_complete(language, parts.good, line.quantity)) }
        span class="soft" { (texts::shipped(language, left)) }
    })
}
