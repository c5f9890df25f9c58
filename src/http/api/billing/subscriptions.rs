//! The customer's subscriptions, which the payment processor manages: listing, details, checkout, cancelling and
//! resuming; and the processor's own pages for cards and subscriptions.

mod view;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use self::view::{SubscriptionDetail, SubscriptionView};
use super::checkout::CheckoutReply;
use super::reply::Success;
use actors::checkouts::ReturnPages;
use actors::subscribers::{Subscriber, Subscribers, SubscriptionKey};
use config::Config;
use domain::customer::Customer;
use domain::id::Id;
use domain::refusal::Refusal;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handler::Argument;
use http::handles::handles;
use http::operation::DescribedOperation;
use http::page::{BILLING_MAX_LIMIT, OpenQuery};
use http::reply::Plain;
use http::return_paths::{MAX_PATH_CHARS, RETURN_PATH, return_page, return_pages};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, Filled, MaxChars, ONE_LINE, Optional, OptionalBody, Within};
use kernel::directory::Directory;
use kernel::environment::Environment;

/// Prefix of subscription IDs, and the maximum number of characters after it.
const ID_FORM: (&str, usize) = ("sub_", 124);
/// Default `limit`.
const DEFAULT_LIMIT: u64 = 20;
/// Time, in milliseconds, within which an identical request without an idempotency key is treated as a double click.
/// Otherwise, two open payment pages could lead to two subscriptions.
const DOUBLE_CLICK_MS: i64 = 10 * 60 * 1000;
/// Maximum quantity of a price in a subscription.
const MAX_QUANTITY: u32 = 1000;

handles! {
    /// Dependencies of the subscription routes.
    pub struct SubscriptionHandles {
        subscribers: Subscribers,
        customers: Directory<Customer>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Returns the subscription routes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Subscriptions", "The customer's subscriptions.", "subscription")
        .get(customer, "/api/v1/subscriptions", list, |op| {
            with_processor(op.named("listSubscriptions", "List your subscriptions"))
                .about("Active and past subscriptions, newest first. Empty for customers without any.")
        })
        .post(customer, "/api/v1/subscriptions/portal", portal, |op| {
            with_processor(op.named("openPortal", "Create a customer portal session"))
                .about(
                    "Returns the URL of the payment processor's portal, where the customer manages cards and \
                     subscriptions.",
                )
                .error(404, "subscription_not_found", "The customer has no subscriptions.")
        })
        .post(customer, "/api/v1/subscriptions/checkout", check_out, |op| {
            with_processor(op.named("checkOutSubscription", "Start a subscription"))
        })
        .get(customer, "/api/v1/subscriptions/{subscriptionId}", one, |op| {
            of_one(op.named("getSubscription", "Retrieve one of your subscriptions"))
        })
        .post(customer, "/api/v1/subscriptions/{subscriptionId}/cancel", cancel, |op| {
            of_one(op.named("cancelSubscription", "Cancel a subscription at the end of its period")).unkeyed()
        })
        .post(customer, "/api/v1/subscriptions/{subscriptionId}/resume", resume, |op| {
            of_one(op.named("resumeSubscription", "Undo the cancellation of a subscription")).unkeyed()
        })
}

fn with_processor(op: DescribedOperation) -> DescribedOperation {
    op.error(
        400,
        "subscription_refused",
        "The payment processor rejected the request, for example a change to an ended subscription.",
    )
    .error(503, "payments_not_configured", "No API key for the payment processor is configured.")
    .error(503, "processor_unavailable", "The payment processor does not respond.")
}

fn of_one(op: DescribedOperation) -> DescribedOperation {
    with_processor(op).error(400, "validation_failed", "The ID is not a subscription ID.").error(
        403,
        "forbidden",
        "The subscription belongs to another customer.",
    )
}

/// `{subscriptionId}` path parameter.
struct SubscriptionId(String);

impl Argument for SubscriptionId {}

impl<S: Send + Sync> FromRequestParts<S> for SubscriptionId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let text = params.ok().and_then(|params| Some(params.iter().next()?.1.to_owned())).unwrap_or_default();
        let (begins, most) = ID_FORM;
        let rest = text.strip_prefix(begins).unwrap_or_default();
        let is_one = (1..=most).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let wrong =
            || Refusal::field("subscriptionId", format!("must be {begins} followed by 1 to {most} letters and digits"));
        if is_one { Ok(Self(text)) } else { Err(wrong().into()) }
    }
}

/// Page size of the list of subscriptions.
#[derive(Request, Debug)]
pub struct SubscriptionQuery {
    /// Maximum number of subscriptions to return.
    #[api(Within(1..=BILLING_MAX_LIMIT), default = DEFAULT_LIMIT)]
    limit: u64,
}

/// Checkout that starts a subscription to one of the prices offered by the shop.
#[derive(Request, Debug)]
#[api(name = "SubscriptionCheckoutRequest", example = json!({"priceId": "price_1", "quantity": 1, "successPath": "/thanks"}))]
pub struct SubscriptionCheckout {
    /// Price ID, one of those offered by the shop (`payments.subscription_prices`).
    #[api(Filled, ONE_LINE, MaxChars(255))]
    price_id: String,
    /// Number of units of the price. Defaults to 1.
    #[api(Within(1..=MAX_QUANTITY))]
    quantity: Optional<u32>,
    /// Path in the shop to return to after payment. Defaults to `/`.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    success_path: Option<String>,
    /// Path in the shop to return to if the checkout is cancelled. Defaults to `/`.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    cancel_path: Option<String>,
}

/// Path to return to from the payment processor's pages.
#[derive(Request, Debug)]
#[api(name = "PortalRequest", example = json!({"returnPath": "/account"}))]
pub struct PortalBody {
    /// Path in the shop to return to. Defaults to `/`.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    return_path: Option<String>,
}

/// List of the customer's subscriptions.
#[derive(Response, Serialize)]
#[api(name = "SubscriptionListResponse", example = json!({"success": true, "subscriptions": [SubscriptionView::example()]}))]
struct SubscriptionList {
    success: Success,
    /// Active and past subscriptions, newest first.
    subscriptions: Vec<SubscriptionView>,
}

/// One of the customer's subscriptions.
#[derive(Response, Serialize)]
#[api(name = "SubscriptionResponse", example = json!({"success": true, "subscription": SubscriptionDetail::example()}))]
struct SubscriptionReply {
    success: Success,
    subscription: SubscriptionDetail,
}

/// Customer portal of the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PortalResponse", example = json!({"success": true, "portalUrl": "https://pay.example/portal/bps_1"}))]
struct PortalReply {
    success: Success,
    /// URL of the portal, for the customer's browser.
    portal_url: String,
}

async fn list(
    State(app): State<SubscriptionHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<SubscriptionQuery>,
) -> Result<Plain<SubscriptionList>, ApiError> {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let results = app.subscribers.list(who.customer()?.0, limit).await?;
    let subscriptions = results.iter().map(SubscriptionView::new).collect();
    Ok(Plain(SubscriptionList { success: Success, subscriptions }))
}

async fn one(
    State(app): State<SubscriptionHandles>,
    who: Caller,
    SubscriptionId(id): SubscriptionId,
) -> Result<Plain<SubscriptionReply>, ApiError> {
    let subscription = SubscriptionDetail::new(&app.subscribers.one(who.customer()?.0, &id).await?);
    Ok(Plain(SubscriptionReply { success: Success, subscription }))
}

async fn set_cancel(
    app: &SubscriptionHandles,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
    id: &str,
    cancel: bool,
) -> Result<Plain<SubscriptionReply>, ApiError> {
    let EmptyBody {} = call.read_body()?;
    let changed = app.subscribers.set_cancel(call.who.customer()?.0, id, cancel).await?;
    Ok(Plain(SubscriptionReply { success: Success, subscription: SubscriptionDetail::new(&changed) }))
}

async fn cancel(
    State(app): State<SubscriptionHandles>,
    SubscriptionId(id): SubscriptionId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<SubscriptionReply>, ApiError> {
    set_cancel(&app, &call, &id, true).await
}

async fn resume(
    State(app): State<SubscriptionHandles>,
    SubscriptionId(id): SubscriptionId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<SubscriptionReply>, ApiError> {
    set_cancel(&app, &call, &id, false).await
}

/// Returns the idempotency key for creating an object at the processor. It is derived from the customer's own key, if
/// sent, so that a retry uses the same key.
fn creation_key<B>(app: &SubscriptionHandles, call: &CommandRequest<B>, what: &str, customer: Id) -> String {
    match call.key_scope() {
        Some(scope) => format!("{what}-{scope}"),
        None => format!("{what}-{customer}-{}", app.environment.id()),
    }
}

async fn portal(
    State(app): State<SubscriptionHandles>,
    call: CommandRequest<OptionalBody<PortalBody>>,
) -> Result<Plain<PortalReply>, ApiError> {
    let (customer, _) = call.who.customer()?;
    let body = call.read_body()?;
    let back = return_page(body.return_path.as_deref(), &call.headers, &app.config);
    let key = creation_key(&app, &call, "portal", customer);
    let portal_url = app.subscribers.portal(customer, &back, &key).await?;
    Ok(Plain(PortalReply { success: Success, portal_url }))
}

async fn check_out(
    State(app): State<SubscriptionHandles>,
    call: CommandRequest<SubscriptionCheckout>,
) -> Result<Plain<CheckoutReply>, ApiError> {
    let (customer, email) = call.who.customer()?;
    let SubscriptionCheckout { price_id, quantity, success_path, cancel_path } = call.read_body()?;
    if !app.config.payments.subscription_prices.contains(&price_id) {
        return Err(Refusal::field("priceId", "is not a price that the shop offers").into());
    }
    let (_, state) = find_existing(&app.customers, customer).await?;
    let who = Subscriber { id: customer, email, name: state_of(&state)?.name.clone() };
    let pages = return_pages(success_path.as_deref(), cancel_path.as_deref(), &call.headers, &app.config);
    let quantity = quantity.or(1);
    let key = match call.key_scope() {
        Some(scope) => SubscriptionKey { first: format!("subscription-{scope}"), another: None },
        None => {
            let slot = app.environment.now().0.div_euclid(DOUBLE_CLICK_MS);
            let ReturnPages { success_url, cancel_url } = &pages;
            let fingerprint = format!("{customer} {price_id} {quantity} {success_url} {cancel_url} {slot}");
            SubscriptionKey {
                first: format!("subscription-{}", hex::encode(Sha256::digest(fingerprint))),
                another: Some(creation_key(&app, &call, "subscription", customer)),
            }
        }
    };
    let open = app.subscribers.check_out(&who, &price_id, quantity, pages, &key).await?;
    Ok(Plain(open.into()))
}
