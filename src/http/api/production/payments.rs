//! Payments (listed in `list`), and signed events from the payment processor. Their signatures are verified over the
//! raw bytes, and they are then applied, or stored until they match an order or invoice.

mod list;

use std::sync::Arc;

use api_derive::Response;
use axum::extract::{FromRequest, Request, State};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::agent;
use actors::payment_events::matching::{PaymentMatch, PaymentMatcher};
use config::Config;
use domain::id::Id;
use domain::kept_payment_event::{KeptPaymentEvent, KeptPaymentEventCommand, Unmatched, UnmatchedKind};
use domain::payment_event::{PaymentEvent, parse, verify};
use domain::principal::{Principal, Role};
use domain::time::Timestamp;
use http::AppState;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handler::Argument;
use http::handles::handles;
use http::openapi::shape::{Shape, open_object, text};
use http::operation::{DescribedBody, DescribedOperation};
use http::page::{PageQuery, Query};
use http::reply::{ListPage, Plain};
use http::routes::ResourceRoutes;
use http::wire::{Components, ToSchema, schema_of};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use store::queries::Queries;

/// Part of the API description that explains which events are used and how they are matched to orders.
const MATCHING: &str = "Returns 200 for every correctly signed event, even if it is not used; a 5xx response makes the \
                        processor retry.

The server uses `checkout.session.completed`, `checkout.session.async_payment_succeeded`, \
`checkout.session.async_payment_failed`, `checkout.session.expired`, `payment_intent.payment_failed`, `charge.refunded`, and \
`refund.failed` and `refund.updated` for failed refunds. For subscriptions, it uses `invoice.paid`, which creates one paid \
invoice for each invoice of the processor, `invoice_payment.paid`, and `customer.subscription.*` and the other `invoice.*`, \
which refresh the cached data of the customer. The order or invoice of an event is the first one found through these \
members, in this order:

1. `data.object.client_reference_id`: the `id` of the order or invoice
2. `data.object.metadata.orderId` (or `order_id`): the `id` of the order
3. `data.object.metadata.invoiceId` (or `invoice_id`): the `id` of the invoice; for an order's invoice, the event applies to the order
4. `data.object.id` of a checkout session of the order or invoice
5. `data.object.payment_intent` (or `data.object.id` of a payment intent) of a payment of the order or invoice

Checkouts created outside this server therefore need `client_reference_id` or `metadata.orderId`; also set \
`payment_intent_data[metadata][orderId]`, because refunds and failures contain only that. Events without a match are listed at \
`/api/payments/unmatched` and retried with each new order, invoice and payment and every hour, for 30 days.";

handles! {
    /// Dependencies of the payment event routes.
    pub struct PaymentHandles {
        payments: PaymentMatcher,
        queries: Queries,
        events: Directory<KeptPaymentEvent>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

pub use list::PaymentRecord;

/// Returns the payment routes: the endpoint for the processor's events, and the list of unmatched events. The billing
/// API has a second path for receiving events (`http::billing::webhooks`).
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new(agent::TAG, agent::ABOUT, "event")
        .post(RequiredAccess::Open, "/webhooks/payments", receive, describe_event)
        .get(RequiredAccess::Role(Role::Operator), "/api/payments", list::list, |op| {
            op.named("listPayments", "List payments")
                .about("Payments and refunds of orders and of invoices; newest first.")
        })
        .get(RequiredAccess::Role(Role::Operator), "/api/payments/unmatched", unmatched, |op| {
            op.named("listUnmatchedPayments", "List unmatched payment events")
                .about("Signed events that match no order or invoice yet; kept for 30 days. Newest first.")
        })
}

/// Adds the description of the operation that receives events from the payment processor.
pub fn describe_event(operation: DescribedOperation) -> DescribedOperation {
    operation
        .named("receivePaymentEvent", "Receive a payment processor event")
        .about(MATCHING)
        .header(
            &Config::default().payments.signature_header,
            text(),
            "`t=...,v1=...`: timestamp, and HMAC of `t.body` with the endpoint secret. The settings can change the \
             name of the header.",
        )
        .error(400, "invalid_signature", "The signature is missing, incorrect or too old.")
        .error(400, "malformed_event", "The body is not an event.")
        .error(503, "payments_not_configured", "No secret for verifying signatures is configured.")
}

/// Request body whose signature is verified over the raw bytes before it is parsed.
pub struct SignedEvent(CommandRequest);

impl FromRequest<AppState> for SignedEvent {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        CommandRequest::from_request(request, app).await.map(Self)
    }
}

impl Argument for SignedEvent {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<PaymentEventBody>();
        operation.body = Some(DescribedBody {
            media: "application/json",
            shape: schema_of::<PaymentEventBody>(),
            example: Some(PaymentEventBody::example()),
            optional: false,
        });
    }
}

/// Schema for the payment processor's events in the API description.
struct PaymentEventBody;

impl ToSchema for PaymentEventBody {
    const NAME: Option<&'static str> = Some("PaymentEvent");
    fn schema() -> Shape {
        open_object().about("Event in the payment processor's format.")
    }
    fn example() -> Value {
        json!({
            "id": "evt_1", "type": "checkout.session.completed", "created": 1_793_613_600,
            "data": {"object": {"id": "cs_1"}},
        })
    }
}

/// Acknowledgement of an event from the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentEventReceived", example = json!({"received": true}))]
struct Received {
    /// Always `true`: the event has been stored and does not need to be sent again.
    received: bool,
}

/// Receives an event. Responds with 200 to every event signed by the processor; a 5xx response makes the processor send
/// the event again.
async fn receive(State(app): State<PaymentHandles>, event: SignedEvent) -> Result<Plain<Received>, ApiError> {
    take(&app, event).await?;
    Ok(Plain(Received { received: true }))
}

/// Applies a signed event, or stores it if it cannot be matched yet. Fails with `payments_not_configured`,
/// `invalid_signature` or `malformed_event`.
pub async fn take(app: &PaymentHandles, SignedEvent(call): SignedEvent) -> Result<(), ApiError> {
    let settings = &app.config.payments;
    if settings.webhook_secret.is_empty() {
        return Err(ApiError::unavailable("payments_not_configured", "PAYMENT_WEBHOOK_SECRET is not set", 300));
    }
    let unsigned = |why: String| ApiError::bad_request("invalid_signature", why);
    let header = call.headers.get(settings.signature_header.as_str()).and_then(|value| value.to_str().ok());
    let header = header.ok_or_else(|| unsigned(format!("the header {} is missing", settings.signature_header)))?;
    let (now, tolerance) = (app.environment.now().0 / 1000, settings.signature_tolerance_seconds.duration().as_secs());
    verify(header, &call.body, settings.webhook_secret.expose(), now, tolerance)
        .map_err(|error| unsigned(error.to_string()))?;
    let event = parse(&call.body).map_err(|error| ApiError::bad_request("malformed_event", error.to_string()))?;
    if matches!(app.payments.apply(&event).await?, PaymentMatch::Unmatched | PaymentMatch::WaitsForSeller) {
        let body = String::from_utf8(call.body.to_vec()).map_err(ApiError::internal)?;
        keep(app, &event, body).await?;
    }
    Ok(())
}

/// Stores an event that has not been matched to an order yet. The ID is derived from the processor's event ID, so that
/// a repeated delivery is stored only once.
async fn keep(app: &PaymentHandles, event: &PaymentEvent, body: String) -> Result<(), ApiError> {
    let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, event.id.as_bytes()));
    let about = Unmatched::of(event);
    let command = KeptPaymentEventCommand::Keep { event_id: event.id.clone(), body, about: about.map(Box::new) };
    let (events, caller) = (&app.events, CommandOrigin::new(Principal::Processor));
    if events.find(id).await?.is_some() {
        events.ask(id, caller, command).await?;
    } else {
        events.create_as(id, caller, command).await?;
    }
    Ok(())
}

/// Lists events that have not been matched to an order yet, newest first.
async fn unmatched(
    State(app): State<PaymentHandles>,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<UnmatchedPayment>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.unmatched_payments(page).await?;
    Ok(ListPage::new(page, some.into_iter().filter_map(|versioned| versioned.state).map(Into::into), total))
}

/// Event from the payment processor that has not been matched to an order yet.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "UnmatchedPayment", many = "payments", example = json!({
    "id": "01890a5d-ac96-574b-bcce-b302099a8073", "eventId": "evt_1", "kind": "payment", "amountCents": 2500,
    "currency": "usd", "clientReferenceId": "01890a5d-ac96-774b-bcce-b302099a8065", "orderId": null, "invoiceId": null,
    "paymentIntent": "pi_1", "session": "cs_1", "nextTryAt": "2026-11-02T11:00:00.000Z",
    "createdAt": "2026-11-02T10:00:00.000Z",
}))]
struct UnmatchedPayment {
    /// ID of the stored event.
    id: Id,
    /// ID of the event at the payment processor.
    event_id: String,
    /// Type of the event; null if the event does not specify it.
    kind: Option<UnmatchedKind>,
    /// Amount paid, or total amount refunded so far, in minor units of the currency.
    amount_cents: Option<i64>,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: Option<String>,
    /// Value of `client_reference_id` in the event.
    client_reference_id: Option<String>,
    /// Value of `metadata.orderId` in the event.
    order_id: Option<String>,
    /// Value of `metadata.invoiceId` in the event.
    invoice_id: Option<String>,
    /// ID of the payment at the payment processor, `pi_...`.
    payment_intent: Option<String>,
    /// ID of the checkout session at the payment processor.
    session: Option<String>,
    /// Time by which the server will next try to match the event to an order.
    next_try_at: Timestamp,
    /// Time at which the server received the event.
    created_at: Timestamp,
}

impl From<KeptPaymentEvent> for UnmatchedPayment {
    fn from(event: KeptPaymentEvent) -> Self {
        let KeptPaymentEvent { id, event_id, about, next_at: next_try_at, created_at, .. } = event;
        let text = |of: fn(&Unmatched) -> Option<&str>| about.as_ref().and_then(of).map(str::to_owned);
        Self {
            id,
            event_id,
            kind: about.as_ref().map(|about| about.kind),
            amount_cents: about.as_ref().and_then(|about| about.amount_cents),
            currency: text(|about| about.currency.as_deref()),
            client_reference_id: text(|about| about.client_reference_id.as_deref()),
            order_id: text(|about| about.order_id.as_deref()),
            invoice_id: text(|about| about.invoice_id.as_deref()),
            payment_intent: text(|about| about.payment_intent.as_deref()),
            session: text(|about| about.session.as_deref()),
            next_try_at,
            created_at,
        }
    }
}
