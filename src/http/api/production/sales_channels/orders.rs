//! Channel orders as shown to staff, with the problem that keeps an order on hold, and the shipments reported to the
//! other shop.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::EXAMPLE_ID as ORDER_ID;
use super::EXAMPLE_ID as CHANNEL_ID;
use domain::channel_order::{
    ChannelOrder, ChannelOrderCommand, ChannelOrderStatus, ShipmentTracking, SoldLine, TrackingState,
};
use domain::id::Id;
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Plain};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::directory::Directory;
use store::queries::{ChannelOrderFilter, Queries};

handles! {
    /// Dependencies of the channel order routes.
    pub struct ChannelOrderHandles {
        records: Directory<ChannelOrder>,
        queries: Queries,
    }
}

/// Returns the channel order routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Orders from other shops, starting with the first message about each. An order that cannot be created \
                 yet is stored with the reason.";
    ResourceRoutes::new("Channel orders", about, "channel_order")
        .get(operator, "/api/channel-orders", list, |op| op.named("listChannelOrders", "List channel orders"))
        .get(operator, "/api/channel-orders/{id}", one, |op| op.named("getChannelOrder", "Retrieve a channel order"))
        .post(operator, "/api/channel-orders/{id}/retry", retry, |op| {
            op.named("retryChannelOrder", "Retry a channel order")
                .about("Processes an order on hold again, and retries failed shipment notifications.")
        })
}

/// Query parameters for listing channel orders.
#[derive(Request, Debug)]
pub struct ChannelOrderQuery {
    /// Return only orders from the given sales channel.
    channel_id: Option<Id>,
    /// Return only orders with the given status.
    status: Option<ChannelOrderStatus>,
    /// `true`: return only orders that need an operator's attention. `false`: return only orders that do not.
    attention: Option<bool>,
    /// Return only the channel order from which the given order was created.
    order_id: Option<Id>,
    #[api(flatten)]
    page: PageQuery,
}

/// Line of an order placed in another shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SoldLine")]
struct SoldLineView {
    /// ID of the variant in the other shop.
    variant: Option<String>,
    /// SKU code in the other shop.
    code: Option<String>,
    /// Title in the other shop.
    title: String,
    /// Quantity sold.
    quantity: u32,
    /// Price per item in the other shop, in minor units.
    unit_price_cents: i64,
}

/// Shipment, with the status of reporting it to the other shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ToldShipment")]
struct ReportedShipmentView {
    /// Number of the shipment within the order, starting at 1.
    number: u32,
    /// Name of the carrier.
    carrier: String,
    /// Carrier's tracking number.
    tracking_number: String,
    /// Status of reporting the shipment to the other shop.
    state: TrackingState,
    /// Number of failed attempts to report the shipment.
    tries: u32,
    /// Time of the next attempt, if any.
    next_try_at: Option<Timestamp>,
    /// Error message of the last attempt.
    error: Option<String>,
}

/// Order placed in another shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ChannelOrder", many = "channelOrders", example = example())]
struct ChannelOrderView {
    /// ID of the record.
    id: Id,
    /// ID of the sales channel that the order came from.
    channel_id: Id,
    /// ID of the order in the other shop.
    external_id: String,
    /// Number of the order in the other shop.
    number: String,
    /// Status of the channel order.
    status: ChannelOrderStatus,
    /// `true` if the order needs an operator's attention.
    attention: bool,
    /// ID of the resulting order in this shop; null until it is created.
    order_id: Option<Id>,
    /// `true` if the order was cancelled in the other shop.
    cancelled: bool,
    /// Amount refunded by the other shop, in minor units.
    refunded_cents: i64,
    /// Total amount paid, in minor units.
    total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Customer's email address.
    customer_email: Option<String>,
    /// Items sold.
    lines: Vec<SoldLineView>,
    /// Variants that are not mapped to a SKU.
    missing: Vec<String>,
    /// Human-readable description of any other problem.
    problem: Option<String>,
    /// Shipments of the order, each with the status of reporting it to the other shop.
    shipments: Vec<ReportedShipmentView>,
    /// Time at which the first message about the order arrived.
    created_at: Timestamp,
    /// Time at which the record last changed.
    updated_at: Timestamp,
}

fn example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8092", "channelId": CHANNEL_ID, "externalId": "450789469", "number": "#1001",
        "status": "made", "attention": false, "orderId": ORDER_ID, "cancelled": false, "refundedCents": 0,
        "totalCents": 2700, "currency": "usd", "customerEmail": "ann@example.org",
        "lines": [{"variant": "39072856", "code": "VASE-G", "title": "Vase", "quantity": 2, "unitPriceCents": 1250}],
        "missing": [], "problem": null, "shipments": [{
            "number": 1, "carrier": "DHL", "trackingNumber": "00340434", "state": "told", "tries": 0, "nextTryAt": null,
            "error": null,
        }],
        "createdAt": "2026-11-02T10:00:00.000Z", "updatedAt": "2026-11-02T10:00:01.000Z",
    })
}

impl From<&SoldLine> for SoldLineView {
    fn from(line: &SoldLine) -> Self {
        let SoldLine { variant, code, title, quantity, unit_price_cents, .. } = line.clone();
        Self { variant, code, title, quantity, unit_price_cents }
    }
}

impl From<&ShipmentTracking> for ReportedShipmentView {
    fn from(tracking: &ShipmentTracking) -> Self {
        let shipment = tracking.shipment.clone();
        Self {
            number: shipment.number,
            carrier: shipment.carrier,
            tracking_number: shipment.tracking_number,
            state: tracking.state,
            tries: tracking.tries,
            next_try_at: (tracking.state == TrackingState::Pending).then_some(tracking.next_at),
            error: tracking.error.clone(),
        }
    }
}

impl From<&ChannelOrder> for ChannelOrderView {
    fn from(order: &ChannelOrder) -> Self {
        let content = order.content.as_ref();
        Self {
            id: order.id,
            channel_id: order.channel_id,
            external_id: order.external_id.clone(),
            number: order.number.clone(),
            status: order.status(),
            attention: order.needs_attention(),
            order_id: order.has_order.then_some(order.order_id),
            cancelled: order.there.cancelled,
            refunded_cents: order.there.refunded_cents,
            total_cents: content.map_or(0, |content| content.total_cents),
            currency: content.map(|content| content.currency.clone()).unwrap_or_default(),
            customer_email: content.and_then(|content| content.customer_email.clone()),
            lines: content.iter().flat_map(|content| &content.lines).map(Into::into).collect(),
            missing: order.missing.clone(),
            problem: order.problem.clone(),
            shipments: order.trackings.iter().map(Into::into).collect(),
            created_at: order.created_at,
            updated_at: order.updated_at,
        }
    }
}

async fn list(
    State(app): State<ChannelOrderHandles>,
    Query(query): Query<ChannelOrderQuery>,
) -> Result<ListPage<ChannelOrderView>, ApiError> {
    let ChannelOrderQuery { channel_id, status, attention, order_id, page } = query;
    let page = page.into();
    let filter = ChannelOrderFilter { channel_id, status, attention, order_id };
    let (some, total) = app.queries.channel_orders(&filter, page).await?;
    let items = some.iter().filter_map(|versioned| versioned.state.as_ref()).map(Into::into);
    Ok(ListPage::new(page, items, total))
}

async fn one(State(app): State<ChannelOrderHandles>, PathId(id): PathId) -> Result<Plain<ChannelOrderView>, ApiError> {
    let (_, state) = find_existing(&app.records, id).await?;
    Ok(Plain(state_of(&state)?.into()))
}

async fn retry(
    State(app): State<ChannelOrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<ChannelOrderView>, ApiError> {
    let command = async { call.read_body().map(|_| ChannelOrderCommand::Retry) };
    let done = call.ask_with(&app.records, CommandTarget::Id(id), command).await?;
    Ok(Plain((&*done.answer.order).into()))
}
