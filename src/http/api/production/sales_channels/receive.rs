//! Signed messages from other shops: verified over the raw bytes, then passed to the order's record.
//!
//! Repeated messages do not have to be deduplicated by delivery ID, because all messages about an order reach the same
//! record, which recognises content that it already has.

use api_derive::Response;
use axum::extract::{FromRequest, Request, State};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::ChannelHandles;
use crate::production::customers::customer_of;
use domain::channel_order::{ChannelOrderCommand, ShopOrderUpdate};
use domain::id::Id;
use domain::principal::Principal;
use domain::refusal::Refusal;
use http::AppState;
use http::command_request::{CommandRequest, find_present};
use http::error::ApiError;
use http::handler::Argument;
use http::openapi::shape::{Shape, open_object};
use http::operation::{DescribedBody, DescribedOperation};
use http::path_id::PathId;
use http::reply::Plain;
use http::wire::{Components, ToSchema, schema_of};
use kernel::envelope::CommandOrigin;
use services::sales_channels::{MessageError, channel_type};

pub(super) fn words(operation: DescribedOperation) -> DescribedOperation {
    operation
        .named("receiveChannelMessage", "Receive a message from another shop")
        .about(
            "The raw body is signed with the channel's secret, in the signature header of the shop's system. Messages \
             can arrive late, repeatedly and in any order. Returns 200 for every correctly signed message, even if it \
             is not used; a 5xx response makes the shop retry.",
        )
        .error(400, "invalid_signature", "The signature is missing or incorrect.")
        .error(400, "malformed_order", "The body is not an order.")
        .error(503, "channel_not_configured", "The channel has no secret for verifying signatures, or is disabled.")
}

/// Request body whose signature is verified over the raw bytes before it is parsed.
pub(super) struct SignedMessage(CommandRequest);

impl FromRequest<AppState> for SignedMessage {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        CommandRequest::from_request(request, app).await.map(Self)
    }
}

impl Argument for SignedMessage {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<ChannelMessage>();
        operation.body = Some(DescribedBody {
            media: "application/json",
            shape: schema_of::<ChannelMessage>(),
            example: Some(ChannelMessage::example()),
            optional: false,
        });
    }
}

/// Schema for a message from another shop in the API description.
struct ChannelMessage;

impl ToSchema for ChannelMessage {
    const NAME: Option<&'static str> = Some("ChannelMessage");
    fn schema() -> Shape {
        open_object().about("Order in the format of the other shop's system.")
    }
    fn example() -> Value {
        json!({"id": 450_789_469, "name": "#1001", "financial_status": "paid", "line_items": []})
    }
}

/// Acknowledgement of a message from another shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ChannelMessageReceived", example = json!({"received": true}))]
pub(super) struct MessageReceived {
    /// Always `true`: the content has been stored and does not need to be sent again.
    received: bool,
}

/// Handles `POST /webhooks/sales-channels/{id}`: receives a message from another shop.
pub(super) async fn receive(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    SignedMessage(call): SignedMessage,
) -> Result<Plain<MessageReceived>, ApiError> {
    let (_, channel) = find_present(&app.channels, id).await?;
    let messages = channel_type(&channel.kind).and_then(|kind| kind.messages.as_ref());
    let messages = messages.ok_or_else(|| Refusal::not_found("sales_channel"))?;
    if channel.encrypted_secret.is_empty() || !channel.active {
        let words = "the channel has no secret for verifying signatures, or is disabled";
        return Err(ApiError::unavailable("channel_not_configured", words, 300));
    }
    let secret = app.cipher.decrypt(&channel.encrypted_secret).map_err(ApiError::internal)?;
    let news = messages.receive(&call.headers, &call.body, &secret).map_err(|error| match error {
        MessageError::Unsigned(_) => ApiError::bad_request("invalid_signature", error.to_string()),
        MessageError::Malformed(words) => {
            tracing::warn!(channel = %id, words, "a signed message from another shop cannot be parsed");
            ApiError::bad_request("malformed_order", words)
        }
    })?;
    if let Some(news) = news {
        hear(&app, CommandOrigin::new(Principal::Channel { id }), id, news).await?;
    }
    Ok(Plain(MessageReceived { received: true }))
}

/// Passes a message about an order to the order's record. The record's ID is derived from the channel and the order's
/// ID in the other shop, so that all messages about one order reach the same record. Returns whether the content was
/// new.
pub(super) async fn hear(
    app: &ChannelHandles,
    origin: CommandOrigin,
    channel: Id,
    news: ShopOrderUpdate,
) -> Result<bool, ApiError> {
    let id = Id(Uuid::new_v5(&channel.0, news.external_id.as_bytes()));
    let email = news.content.as_ref().and_then(|content| content.customer_email.as_deref()).filter(|_| news.paid);
    let customer = match email {
        Some(email) => Some(customer_of(&app.queries, &app.customers, origin.clone(), email).await?),
        None => None,
    };
    let is_known = app.records.find(id).await?.is_some();
    let command = ChannelOrderCommand::Hear { channel, customer, news: Box::new(news) };
    if is_known {
        app.records.ask(id, origin, command).await?;
    } else {
        app.records.create_as(id, origin, command).await?;
    }
    Ok(!is_known)
}
