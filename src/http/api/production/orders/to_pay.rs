//! Checks and updates before an order is paid at the payment processor: that the items of a draft are still offered at
//! the same price, the address that the order ships to, and the buyer named on its invoice.

use axum::http::StatusCode;

use super::OrderHandles;
use crate::production::place::{NewOrderLine, buyer_of, look_up};
use domain::customer::Customer;
use domain::id::Id;
use domain::order::{Order, OrderCommand, OrderStatus};
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use kernel::envelope::CommandOrigin;

/// Checks and updates an order that is about to be paid. Only drafts can be rejected, because the prices of a placed
/// order remain valid.
pub async fn before_checkout(app: &OrderHandles, id: Id) -> Result<(), ApiError> {
    let (_, state) = find_existing(&app.orders, id).await?;
    let order = state_of(&state)?;
    if order.status == OrderStatus::Draft {
        still_offered(app, order).await?;
        say_where(app, id, order).await?;
    }
    let buyer = buyer_of(&app.customers, order.customer_id).await?;
    if let Some(buyer) = buyer.filter(|buyer| order.due_cents() > 0 && order.buyer.as_ref() != Some(buyer)) {
        app.orders.ask(id, CommandOrigin::system(), OrderCommand::NameBuyer(Box::new(buyer))).await?;
    }
    Ok(())
}

/// Adds the current address from the customer's profile to a draft without a shipping address, and recalculates the
/// draft's tax.
async fn say_where(app: &OrderHandles, id: Id, order: &Order) -> Result<(), ApiError> {
    let Some(customer) = order.customer_id.filter(|_| order.is_unpriced() && order.shipping_address.is_none()) else {
        return Ok(());
    };
    let state = app.customers.read(customer).await?;
    let Some(address) = state.as_ref().and_then(|state| state.state.as_ref()).and_then(Customer::ships_to) else {
        return Ok(());
    };
    let update = OrderCommand::Update {
        if_version: None,
        notes: None,
        internal_notes: None,
        priority: None,
        due_at: None,
        shipping_address: Some(Some(address)),
    };
    app.orders.ask(id, CommandOrigin::system(), update).await?;
    Ok(())
}

/// Checks that the items of a draft are still offered at the same price. Drafts do not expire, so a SKU may have been
/// removed or its price changed since. Operators can still confirm the draft.
async fn still_offered(app: &OrderHandles, order: &Order) -> Result<(), ApiError> {
    let sold = || order.lines.iter().filter(|line| line.kit_line.is_none());
    let wished: Vec<NewOrderLine> =
        sold().map(|line| NewOrderLine { sku_id: line.sku_id, quantity: line.quantity }).collect();
    let (lines, currency) = look_up(app, true, &wished).await.map_err(|error| match error.status() {
        StatusCode::BAD_REQUEST | StatusCode::CONFLICT => {
            ApiError::bad_request("not_orderable", "an item in this draft is no longer available; create a new draft")
        }
        _ => error,
    })?;
    for (drafted, now) in sold().zip(&lines) {
        if (drafted.unit_price_cents, &order.currency) != (now.unit_price_cents, &currency.to_lowercase()) {
            let words = format!(
                "the price of {} has changed since the draft was created; create a new draft",
                drafted.description
            );
            return Err(ApiError::bad_request("price_changed", words));
        }
    }
    Ok(())
}
