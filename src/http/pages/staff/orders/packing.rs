//! Printable packing list for a shipment, with its contents and address.

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::{StaffOrderHandles, carrier_name};
use crate::frame::{SLOT, time, with_parts};
use crate::staff::ORDERS_PATH;
use crate::staff::order::customer;
use crate::staff::sheet::address_line;
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::id::Id;
use domain::job::Job;
use domain::order::{Order, OrderLine};
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use words::Language;
use words::staff::orders as texts;

/// Shipment number, from the `{number}` path segment. A value that is not a number results in a 404.
pub(super) struct ParcelNumber(u32);

impl<S: Send + Sync> FromRequestParts<S> for ParcelNumber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "number").map(|(_, text)| text.to_owned());
        let number = text.and_then(|text| text.parse().ok());
        number.map(Self).ok_or_else(|| Refusal::not_found("shipment").into())
    }
}

/// Serves a shipment's packing list.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    PathId(id): PathId,
    ParcelNumber(number): ParcelNumber,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let (_, state) = find_existing(&app.orders.orders, id).await?;
    let order = state_of(&state)?;
    let sent = order.shipments.iter().find(|sent| sent.number == number);
    let sent = sent.ok_or_else(|| Refusal::not_found("shipment"))?;
    let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, order.lines.get(one.line as usize)?)));
    let inside: Vec<(u32, &OrderLine)> = inside.collect();
    let title = texts::packing_title(language, number, &order.number_text());
    let shipped_at = with_parts(&texts::shipped_at(language, SLOT), &[&time(language, sent.shipped_at)]);
    let prints = order.prints_in(number);
    let content = html! {
        p class="acts" { a href={ (ORDERS_PATH) "/" (id) } { (texts::back_to_order(language)) } }
        h1 { (title) }
        section class="card" aria-labelledby="goes" {
            h2 id="goes" { (texts::ship_to(language)) }
            p { (customer(language, order)) }
            p {
                @if let Some(address) = &order.shipping_address { (address_line(language, address)) }
                @else { (texts::no_address(language)) }
            }
            p class="soft" { (carrier_name(language, sent)) " " (sent.shipment.tracking_number) ", " (shipped_at) }
            @if let Some(notes) = &order.notes { p { (texts::packing_notes(language, notes)) } }
        }
        section class="card packing" aria-labelledby="inside" {
            h2 id="inside" { (texts::contents(language)) }
            (contents(language, order, &inside))
            @if !prints.is_empty() { p class="soft" { (printed_in(language, id, &prints)) } }
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &app.board.view(), &content))
}

/// Renders the packed lines, each with a box to tick on paper.
fn contents(language: Language, order: &Order, inside: &[(u32, &OrderLine)]) -> Markup {
    html! {
        div class="table" tabindex="0" role="region" aria-label=(texts::packed_items(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::packed_column(language)) }
                        th scope="col" class="number" { (texts::parts_column(language)) }
                        th scope="col" { (texts::item_column(language)) }
                    }
                }
                tbody {
                    @for (quantity, line) in inside {
                        tr {
                            td class="box" { svg viewBox="0 0 16 16" aria-hidden="true" { rect x="1" y="1" width="14" height="14" fill="none" stroke="currentColor" {} } }
                            td class="number" { (quantity) }
                            th scope="row" {
                                (line.description)
                                @if let Some(kit) = line.kit_line.and_then(|kit| order.lines.get(kit as usize)) {
                                    " " (texts::of_kit(language, &kit.description))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the jobs in which the parts of a shipment were printed.
fn printed_in(language: Language, order: Id, prints: &[(&Job, u32)]) -> Markup {
    let jobs = html! {
        @for (n, (job, quantity)) in prints.iter().enumerate() {
            @if n > 0 { ", " }
            @let link = html! { a href={ (ORDERS_PATH) "/" (order) "#job-" (job.id) } { (job.number_text()) } };
            (with_parts(&texts::parts_of_job(language, SLOT, u64::from(*quantity)), &[&link]))
        }
    };
    with_parts(&texts::printed_in(language, SLOT), &[&jobs])
}
