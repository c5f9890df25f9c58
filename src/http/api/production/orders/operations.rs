//! Operations on orders, which the API's handlers and the staff's pages call. Orders are placed by `place_order` in
//! `place`.

use super::requests::{ManualPayment, ManualRefund, NewShipment, OrderCancellation, OrderPatch};
use super::{OrderHandles, visible};
use crate::production::jobs;
use domain::id::Id;
use domain::order::{OrderAnswer, OrderCommand, PrinterRecords};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::wire::{EmptyBody, OptionalBody};

/// Outcome of a command to an order, with the order after it.
pub type OrderOutcome = CommandOutcome<OrderAnswer>;

/// Changes an order. Omitted fields are left unchanged.
pub async fn update(app: &OrderHandles, id: Id, call: &CommandRequest<OrderPatch>) -> Result<OrderOutcome, ApiError> {
    let OrderPatch { notes, internal_notes, priority, due_at, shipping_address } = call.read_body()?;
    let change = OrderCommand::Update {
        if_version: call.if_match(),
        notes: notes.present(),
        internal_notes: internal_notes.present(),
        priority: priority.present(),
        due_at: due_at.present(),
        shipping_address: shipping_address.present(),
    };
    call.ask(&app.orders, CommandTarget::Id(id), change).await
}

/// Cancels an order that the caller may see.
pub async fn cancel(
    app: &OrderHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<OrderCancellation>>,
) -> Result<OrderOutcome, ApiError> {
    visible(&app.orders, &call.who, id).await?;
    let command = async {
        let OrderCancellation { force } = call.read_body()?;
        // Only staff know whether a printer may be given up.
        let force = force && !call.who.is_customer();
        let mut prints = PrinterRecords::new();
        if force
            && let Some(state) = app.orders.read(id).await?
            && let Some(order) = &state.state
        {
            let jobs = order.jobs.values().map(|job| &**job);
            prints = jobs::seen_prints(&app.printers, &app.printer_connections, jobs);
        }
        Ok(OrderCommand::Cancel { force, prints })
    };
    call.ask_with(&app.orders, CommandTarget::Id(id), command).await
}

/// Confirms a draft at its prices.
pub async fn confirm(
    app: &OrderHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<OrderOutcome, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| OrderCommand::Confirm) };
    call.ask_with(&app.orders, CommandTarget::Id(id), command).await
}

/// Records a payment that was made outside of the payment processor.
pub async fn mark_paid(
    app: &OrderHandles,
    id: Id,
    call: &CommandRequest<ManualPayment>,
) -> Result<OrderOutcome, ApiError> {
    let command = async { call.read_body().map(ManualPayment::order_command) };
    call.ask_with(&app.orders, CommandTarget::Id(id), command).await
}

/// Refunds a payment for an order.
pub async fn refund(
    app: &OrderHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<OrderOutcome, ApiError> {
    let at_processor = app.checkouts.has_processor();
    let command = async { call.read_body().map(|refund: ManualRefund| refund.order_command(at_processor)) };
    call.ask_with(&app.orders, CommandTarget::Id(id), command).await
}

/// Records a shipment of some or all parts of an order.
pub async fn ship(app: &OrderHandles, id: Id, call: &CommandRequest<NewShipment>) -> Result<OrderOutcome, ApiError> {
    let command = async { call.read_body().map(OrderCommand::from) };
    call.ask_with(&app.orders, CommandTarget::Id(id), command).await
}
