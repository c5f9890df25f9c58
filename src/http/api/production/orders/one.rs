//! `GET /api/orders/{id}`: the most frequently read resource. The JSON of an order is written once for each of its
//! states, outlook and kind of reader.

use std::sync::Arc;

use axum::extract::State;

use super::{OrderFor, OrderOutlook, OrderReader, OwnedOrderReply, visible};
use actors::forecaster::Forecaster;
use domain::order::Order;
use http::access::Caller;
use http::command_request::state_of;
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http::reply::Resource;
use http::wire::AsView;
use http::written_answers::WrittenAnswers;
use kernel::directory::Directory;
use kernel::environment::Environment;

handles! {
    /// Dependencies of reading an order: each is copied for each request, so these are the fewest.
    pub struct OrderReadHandles {
        orders: Directory<Order>,
        forecaster: Forecaster,
        environment: Arc<Environment>,
        answers: Arc<WrittenAnswers<Order, OrderReader, OrderOutlook>>,
    }
}

/// Responds with an order that the caller may see.
pub(super) async fn show(
    State(app): State<OrderReadHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let state = visible(&app.orders, &who, id).await?;
    let outlook = OrderOutlook::at_present(state_of(&state)?, &app.forecaster, &app.environment);
    let reader = OrderReader::from(&who);
    let view = || AsView(OrderFor(state.clone(), reader, outlook.clone()));
    let answer = app.answers.get((id, reader), &state, outlook.clone(), view)?;
    Ok(Resource::written(state.revision(), answer))
}
