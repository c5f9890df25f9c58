//! Simulated payment processor that behaves like Stripe's API: checkout sessions with a page on which the customer pays
//! or declines, refunds, customers, subscriptions that renew, and signed events that arrive late, twice and out of
//! order.
//!
//! It records every cent, so that a test can compare its records with the shop's own. Requests are validated as
//! strictly as by the real processor, including keys, unknown parameters and retried requests.

mod acts;
mod books;
mod controls;
mod customers;
mod event;
mod fault;
mod page;
mod params;
mod refunds;
mod sessions;
mod subscriptions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::task::JoinHandle;

pub use self::acts::DisputeVerdict;
pub use self::sessions::Payer;
pub use self::subscriptions::Renewal;
pub use crate::courier::DeliveryConditions;

use self::books::ProcessorObjects;
use self::event::ProcessorEvent;
use self::fault::ErrorResponse;
use self::params::Params;
use crate::courier::Courier;
use crate::stock::{NetworkCondition, SharedCondition, on_the_way};
use crate::wire::SimServer;

/// API version that the simulated processor implements.
const API_VERSION: &str = "2026-06-24.dahlia";
/// Maximum size of a request body in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// Maximum number of stored idempotency keys; beyond that, the oldest are evicted.
const MAX_KEYS: usize = 20_000;
/// Maximum number of calls that are recorded for tests.
const MAX_CALLS: usize = 20_000;

/// First request made with an idempotency key, and its response.
#[derive(Clone, Debug)]
struct IdempotentResponse {
    request: String,
    status: StatusCode,
    body: Value,
}

#[derive(Debug, Default)]
struct ProcessorState {
    books: ProcessorObjects,
    secret_key: String,
    keys: BTreeMap<String, IdempotentResponse>,
    /// Idempotency keys in the order of their first use.
    recent: VecDeque<String>,
    /// Error status codes to return for the next calls instead of executing them.
    faults: VecDeque<u16>,
    /// Method and path of each call with a valid key.
    calls: VecDeque<String>,
}

#[derive(Clone, Debug)]
struct ProcessorHost {
    inside: Arc<Mutex<ProcessorState>>,
    courier: Courier<ProcessorEvent>,
}

impl ProcessorHost {
    /// Runs an action and passes the events that it causes to the courier.
    fn with<T>(&self, act: impl FnOnce(&mut ProcessorState) -> T) -> T {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let done = act(&mut inside);
        let happened = std::mem::take(&mut inside.books.happened);
        drop(inside);
        if !happened.is_empty() {
            self.courier.take(happened.into_iter().map(ProcessorEvent));
        }
        done
    }
}

/// Payments and refunds for one order or invoice, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Total amount of successful payments.
    pub took: i64,
    /// Total amount refunded.
    pub gave_back: i64,
    /// Number of successful payments.
    pub payments: usize,
}

/// Running simulated payment processor; stops when dropped.
#[derive(Debug)]
pub struct SimPaymentProcessor {
    host: ProcessorHost,
    way: SharedCondition,
    server: SimServer,
    courier: JoinHandle<()>,
}

impl Drop for SimPaymentProcessor {
    fn drop(&mut self) {
        self.courier.abort();
    }
}

impl SimPaymentProcessor {
    /// Starts the processor on a free loopback port with the given secret key.
    pub async fn start(secret_key: &str) -> std::io::Result<Self> {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), secret_key).await
    }

    /// Starts the processor on the given address.
    pub async fn start_on(address: SocketAddr, secret_key: &str) -> std::io::Result<Self> {
        let inside = ProcessorState { secret_key: secret_key.to_owned(), ..ProcessorState::default() };
        let host = ProcessorHost { inside: Arc::new(Mutex::new(inside)), courier: Courier::new() };
        let way = SharedCondition::default();
        let router = Router::new()
            .route("/v1/{*path}", any(call))
            .layer(middleware::from_fn_with_state(way.clone(), on_the_way))
            .route("/pay/{session}", get(pay_page))
            .route("/pay/{session}/{act}", post(pay))
            .route("/portal/{session}", get(portal_page))
            .merge(controls::routes())
            .with_state(host.clone());
        let server = SimServer::start(address, router).await?;
        host.with(|inside| inside.books.base_url = server.base_url());
        let courier = tokio::spawn(host.courier.clone().work());
        Ok(Self { host, way, server, courier })
    }

    /// Returns the processor's base URL.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// Sets the network condition for all subsequent calls.
    pub fn weather(&self, weather: NetworkCondition) {
        self.way.set(weather);
    }

    /// Makes the next calls fail with the given status codes instead of executing them.
    pub fn answer_next(&self, statuses: &[u16]) {
        self.host.with(|inside| inside.faults.extend(statuses));
    }

    /// Rejects refunds with the given error code; `None` accepts them again.
    pub fn refuse_refunds(&self, code: Option<&str>) {
        self.host.with(|inside| inside.books.refuses_refunds = code.map(str::to_owned));
    }

    /// Sends all subsequent events to `path` on the server at `to`, signed with the given secret.
    pub fn events_go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.host.courier.go_to(to, path, secret);
    }

    /// Sets the conditions under which subsequent events are delivered.
    pub fn events_travel(&self, travel: DeliveryConditions) {
        self.host.courier.travel(travel);
    }

    /// Returns the number of pending, accepted and abandoned events.
    pub fn event_counts(&self) -> (usize, usize, usize) {
        self.host.courier.counts()
    }

    /// Acts as the customer on a checkout page. If that is impossible, the error contains the reason.
    pub fn act(&self, session: &str, payer: Payer) -> Result<(), String> {
        self.done(|books| sessions::act(books, session, payer))
    }

    /// Settles a delayed payment, whose money either arrives or never arrives.
    pub fn settle(&self, session: &str, arrives: bool) -> Result<(), String> {
        self.done(|books| sessions::settle(books, session, arrives))
    }

    /// Expires a session.
    pub fn expire(&self, session: &str) -> Result<(), String> {
        let none = Params::parse("").map_err(|fault| fault.body().to_string())?;
        self.done(|books| sessions::expire(books, session, &none))
    }

    /// Refunds a payment directly at the processor, as opposed to through the shop: the entire remaining amount, or the
    /// given part of it.
    pub fn refund(&self, intent: &str, cents: Option<i64>) -> Result<(), String> {
        let amount = cents.map_or_else(String::new, |cents| format!("&amount={cents}"));
        let params = Params::parse(&format!("payment_intent={intent}{amount}"));
        let params = params.map_err(|fault| fault.body().to_string())?;
        self.done(|books| refunds::create(books, &params))
    }

    /// Creates a monthly recurring price; returns its ID.
    pub fn add_price(&self, product: &str, cents: i64, currency: &str) -> String {
        let price = self.host.with(|inside| subscriptions::add_price(&mut inside.books, product, cents, currency));
        price.unwrap_or_default()
    }

    /// Adds a card to a customer.
    pub fn add_card(&self, customer: &str, last4: &str) -> Result<(), String> {
        self.done(|books| customers::add_card(books, customer, last4))
    }

    /// Ends the current period of a subscription.
    pub fn renew(&self, subscription: &str, how: Renewal) -> Result<(), String> {
        self.done(|books| subscriptions::renew(books, subscription, how))
    }

    fn done(&self, act: impl FnOnce(&mut ProcessorObjects) -> Result<Value, ErrorResponse>) -> Result<(), String> {
        self.host.with(|inside| act(&mut inside.books)).map(drop).map_err(|fault| fault.body().to_string())
    }

    /// Returns all objects of a kind, such as `checkout.session`, newest first.
    pub fn all(&self, kind: &str) -> Vec<Value> {
        self.host.with(|inside| inside.books.all(kind).map(sessions::public_view).collect())
    }

    /// Returns the payments and refunds whose `metadata.orderId` or `metadata.invoiceId` is `owner`.
    pub fn balance(&self, owner: &str) -> Balance {
        let charges = self.all("charge");
        let names = |charge: &Value| ["orderId", "invoiceId"].iter().any(|name| charge["metadata"][name] == owner);
        let of_it = charges.iter().filter(|charge| names(charge));
        of_it.fold(Balance::default(), |sum, charge| Balance {
            took: sum.took + charge["amount"].as_i64().unwrap_or_default(),
            gave_back: sum.gave_back + charge["amount_refunded"].as_i64().unwrap_or_default(),
            payments: sum.payments + 1,
        })
    }

    /// Returns the method and path of each call with a valid key, in order.
    pub fn calls(&self) -> Vec<String> {
        self.host.with(|inside| inside.calls.iter().cloned().collect())
    }
}

/// Returns the API key of a call: a bearer token, or the user name of HTTP Basic.
fn shown_key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("authorization")?.to_str().ok()?;
    if let Some(key) = value.strip_prefix("Bearer ") {
        return Some(key.trim().to_owned());
    }
    let user = STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    Some(String::from_utf8(user).ok()?.split(':').next()?.to_owned())
}

async fn call(State(host): State<ProcessorHost>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let key = shown_key(&head.headers);
    let text = if head.method == Method::GET {
        head.uri.query().unwrap_or_default().to_owned()
    } else {
        String::from_utf8_lossy(&body).into_owned()
    };
    let once = head.headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let path = head.uri.path().to_owned();
    let (status, body, replayed) = host.with(|inside| {
        if key.as_deref() != Some(inside.secret_key.as_str()) {
            let fault = ErrorResponse::wrong_key(key.as_deref());
            return (fault.status(), fault.body(), false);
        }
        inside.calls.push_back(format!("{} {path}", head.method));
        while inside.calls.len() > MAX_CALLS {
            inside.calls.pop_front();
        }
        let called = format!("{} {path}", head.method);
        if let Some((_, status)) = inside.books.refused_calls.iter().find(|(call, _)| *call == called) {
            let fault = if *status == 403 { ErrorResponse::not_permitted() } else { ErrorResponse::of_status(*status) };
            return (fault.status(), fault.body(), false);
        }
        if let Some(status) = inside.faults.pop_front() {
            let fault = ErrorResponse::of_status(status);
            return (fault.status(), fault.body(), false);
        }
        inside.answer(&head.method, &path, &text, once.filter(|_| head.method == Method::POST))
    });
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert("stripe-version", HeaderValue::from_static(API_VERSION));
    if let Ok(id) = HeaderValue::from_str(&ProcessorObjects::id("req")) {
        headers.insert("request-id", id);
    }
    if replayed {
        headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

impl ProcessorState {
    /// Returns the stored response if the idempotency key is reused; otherwise executes the call.
    fn answer(&mut self, method: &Method, path: &str, text: &str, once: Option<String>) -> (StatusCode, Value, bool) {
        // The same members in another order are the same request.
        let params = Params::parse(text);
        let request =
            format!("{method} {path} {}", params.as_ref().map_or_else(|_| text.to_owned(), Params::canonical));
        if let Some(stored) = once.as_ref().and_then(|key| self.keys.get(key)) {
            if stored.request == request {
                return (stored.status, stored.body.clone(), true);
            }
            let fault = ErrorResponse::other_request(once.as_deref().unwrap_or_default());
            return (fault.status(), fault.body(), false);
        }
        let done = params.and_then(|params| route(&mut self.books, method, path, &params));
        let (status, body) = match done {
            Ok(object) => (StatusCode::OK, sessions::public_view(&object)),
            Err(fault) => (fault.status(), fault.body()),
        };
        if let Some(key) = once {
            self.recent.push_back(key.clone());
            self.keys.insert(key, IdempotentResponse { request, status, body: body.clone() });
            while self.recent.len() > MAX_KEYS {
                if let Some(oldest) = self.recent.pop_front() {
                    self.keys.remove(&oldest);
                }
            }
        }
        (status, body, false)
    }
}

fn route(books: &mut ProcessorObjects, method: &Method, path: &str, params: &Params) -> Result<Value, ErrorResponse> {
    let steps: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
    match (method.as_str(), &steps[..]) {
        ("POST", ["checkout", "sessions"]) => sessions::create(books, params),
        ("GET", ["checkout", "sessions"]) => {
            params.only(&["limit", "starting_after", "ending_before", "payment_intent", "customer", "status"])?;
            let fits = |one: &Value, name: &str| params.text(name).is_none_or(|expected| one[name] == expected);
            let all = |one: &Value| ["payment_intent", "customer", "status"].iter().all(|name| fits(one, name));
            let mut page = books.page("checkout.session", "/v1/checkout/sessions", params, all)?;
            page["data"].as_array_mut().into_iter().flatten().for_each(|one| *one = sessions::public_view(one));
            Ok(page)
        }
        ("GET", ["checkout", "sessions", id]) => {
            params.only(&[])?;
            let session = sessions::look(books, id)?;
            sessions::expanded(books, session, params)
        }
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(books, id, params),
        ("POST", ["refunds"]) => refunds::create(books, params),
        ("GET", ["refunds"]) => refunds::list(books, params),
        ("GET", ["refunds", id]) => books.get("refund", id).cloned(),
        ("GET", ["payment_intents", id]) => books.get("payment_intent", id).cloned(),
        ("POST", ["customers"]) => customers::create(books, params),
        ("GET", ["customers"]) => customers::list(books, params),
        ("GET", ["customers", "search"]) => customers::search(books, params),
        ("GET", ["customers", id]) => books.get("customer", id).cloned(),
        ("GET", ["customers", id, "payment_methods"]) => customers::payment_methods(books, Some(*id), params),
        ("GET", ["payment_methods"]) => customers::payment_methods(books, None, params),
        ("POST", ["billing_portal", "sessions"]) => customers::create_portal(books, params),
        ("GET", ["subscriptions"]) => subscriptions::list(books, params),
        ("GET", ["subscriptions", id]) => subscriptions::show(books, id, params),
        ("POST", ["subscriptions", id]) => subscriptions::update(books, id, params),
        (method, _) => Err(ErrorResponse::no_such_call(method, path)),
    }
}

async fn pay_page(State(host): State<ProcessorHost>, Path(session): Path<String>) -> Response {
    match host.with(|inside| sessions::look(&mut inside.books, &session)) {
        Ok(session) if session["status"] == "open" => page::checkout(&session, None),
        Ok(session) => page::closed(&session),
        Err(fault) => fault.into_response(),
    }
}

async fn pay(State(host): State<ProcessorHost>, Path((session, act)): Path<(String, String)>) -> Response {
    let Some(payer) = page::payer(&act) else { return StatusCode::NOT_FOUND.into_response() };
    match host.with(|inside| sessions::act(&mut inside.books, &session, payer)) {
        Ok(session) if payer == Payer::IsDeclined => page::checkout(&session, Some("Your card was declined.")),
        Ok(session) => page::back(&session),
        Err(fault) => fault.into_response(),
    }
}

async fn portal_page(State(host): State<ProcessorHost>, Path(session): Path<String>) -> Response {
    match host.with(|inside| inside.books.get("billing_portal.session", &session).cloned()) {
        Ok(session) => page::portal(&session),
        Err(fault) => fault.into_response(),
    }
}
