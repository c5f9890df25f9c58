//! Printable packing list for a shipment, with its contents and address.

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use maud::html;

use super::StaffOrderHandles;
use crate::frame::time;
use crate::staff::ORDERS_PATH;
use crate::staff::sheet::address_line;
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;

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
    let (_, state) = find_existing(&app.orders.orders, id).await?;
    let order = state_of(&state)?;
    let sent = order.shipments.iter().find(|sent| sent.number == number);
    let sent = sent.ok_or_else(|| Refusal::not_found("shipment"))?;
    let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, order.lines.get(one.line as usize)?)));
    let title = format!("Packing list {} for order {}", number, order.number_text());
    let content = html! {
        p class="acts" { a href={ (ORDERS_PATH) "/" (id) } { "Back to the order" } }
        h1 { (title) }
        section class="card" aria-labelledby="goes" {
            h2 id="goes" { "Ship to" }
            p { (order.customer_email.as_deref().unwrap_or("No customer")) }
            p { @if let Some(address) = &order.shipping_address { (address_line(viewer.language(), address)) } @else { "No address" } }
            p class="soft" { (sent.shipment.carrier) " " (sent.shipment.tracking_number) ", shipped " (time(sent.shipped_at)) }
            @if let Some(notes) = &order.notes { p { "Notes: " (notes) } }
        }
        section class="card packing" aria-labelledby="inside" {
            h2 id="inside" { "Contents" }
            div class="table" tabindex="0" role="region" aria-label="Packed items" {
                table {
                    thead { tr { th scope="col" { "Packed" } th scope="col" class="number" { "Parts" } th scope="col" { "Item" } } }
                    tbody {
                        @for (quantity, line) in inside {
                            tr {
                                td class="box" { svg viewBox="0 0 16 16" aria-hidden="true" { rect x="1" y="1" width="14" height="14" fill="none" stroke="currentColor" {} } }
                                td class="number" { (quantity) }
                                th scope="row" {
                                    (line.description)
                                    @if let Some(kit) = line.kit_line.and_then(|kit| order.lines.get(kit as usize)) { " (of " (kit.description) ")" }
                                }
                            }
                        }
                    }
                }
            }
            @let prints = order.prints_in(number);
            @if !prints.is_empty() {
                p class="soft" {
                    "Printed in "
                    @for (n, (job, quantity)) in prints.iter().enumerate() {
                        @if n > 0 { ", " }
                        a href={ (ORDERS_PATH) "/" (id) "#job-" (job.id) } { (job.number_text()) }
                        " (" (quantity) @if *quantity == 1 { " part)" } @else { " parts)" }
                    }
                    ". If a part turns out to be bad, reject it in its job. It then counts as missing again."
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &app.board.view(), &content))
}
