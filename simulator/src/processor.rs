//! A payment processor as Stripe's API behaves: checkout sessions with a page on which a person pays or declines,
//! refunds, customers, subscriptions that renew, and signed events that come late, twice and out of order.
//!
//! It keeps books of every cent, which a test holds against the shop's own. Requests are judged as strictly as the real
//! one does: keys, unknown parameters, repeated requests.

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

pub use self::acts::Verdict;
pub use self::sessions::Payer;
pub use self::subscriptions::Renewal;
pub use crate::courier::Travel;

use self::books::Books;
use self::event::ProcessorEvent;
use self::fault::Fault;
use self::params::Params;
use crate::courier::Courier;
use crate::stock::{Way, Weather, on_the_way};
use crate::wire::Server;

/// The version of the API whose shapes it has.
const API_VERSION: &str = "2026-06-24.dahlia";
/// Most bytes of a body.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// Most keys that are remembered; the oldest are forgotten.
const MAX_KEYS: usize = 20_000;
/// Most calls that are remembered for tests.
const MAX_CALLS: usize = 20_000;

/// A first answer under a key: what was asked, and what was answered.
#[derive(Clone, Debug)]
struct Kept {
    asked: String,
    status: StatusCode,
    body: Value,
}

#[derive(Debug, Default)]
struct Inside {
    books: Books,
    secret_key: String,
    keys: BTreeMap<String, Kept>,
    /// Keys in the order of their coming.
    recent: VecDeque<String>,
    /// Statuses that the next calls are answered with, before they act.
    faults: VecDeque<u16>,
    /// Method and path of each call that was let in.
    calls: VecDeque<String>,
}

#[derive(Clone, Debug)]
struct Host {
    inside: Arc<Mutex<Inside>>,
    courier: Courier<ProcessorEvent>,
}

impl Host {
    /// Acts, and hands what happened to the courier.
    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
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

/// What came in and went back for one reference, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Payments that succeeded.
    pub took: i64,
    /// What was refunded of them.
    pub gave_back: i64,
    /// How many payments succeeded.
    pub payments: usize,
}

/// A running payment processor. Stops when dropped.
#[derive(Debug)]
pub struct PaymentProcessor {
    host: Host,
    way: Way,
    server: Server,
    courier: JoinHandle<()>,
}

impl Drop for PaymentProcessor {
    fn drop(&mut self) {
        self.courier.abort();
    }
}

impl PaymentProcessor {
    /// Starts on a free loopback port, with this secret key.
    pub async fn start(secret_key: &str) -> std::io::Result<Self> {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), secret_key).await
    }

    /// Starts on this address.
    pub async fn start_on(address: SocketAddr, secret_key: &str) -> std::io::Result<Self> {
        let inside = Inside { secret_key: secret_key.to_owned(), ..Inside::default() };
        let host = Host { inside: Arc::new(Mutex::new(inside)), courier: Courier::new() };
        let way = Way::default();
        let router = Router::new()
            .route("/v1/{*path}", any(call))
            .layer(middleware::from_fn_with_state(way.clone(), on_the_way))
            .route("/pay/{session}", get(pay_page))
            .route("/pay/{session}/{act}", post(pay))
            .route("/portal/{session}", get(portal_page))
            .merge(controls::routes())
            .with_state(host.clone());
        let server = Server::start(address, router).await?;
        host.with(|inside| inside.books.base_url = server.base_url());
        let courier = tokio::spawn(host.courier.clone().work());
        Ok(Self { host, way, server, courier })
    }

    /// Its base address.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// What happens to calls from now on.
    pub fn weather(&self, weather: Weather) {
        self.way.set(weather);
    }

    /// The next calls are answered with these statuses, and do nothing.
    pub fn answer_next(&self, statuses: &[u16]) {
        self.host.with(|inside| inside.faults.extend(statuses));
    }

    /// Refunds are refused with this word; `None`: no longer.
    pub fn refuse_refunds(&self, code: Option<&str>) {
        self.host.with(|inside| inside.books.refuses_refunds = code.map(str::to_owned));
    }

    /// Events go to `path` of the server at `to` from now on, signed with this secret.
    pub fn events_go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.host.courier.go_to(to, path, secret);
    }

    /// How events travel from now on.
    pub fn events_travel(&self, travel: Travel) {
        self.host.courier.travel(travel);
    }

    /// How many events wait to be sent, were taken, and were given up.
    pub fn event_counts(&self) -> (usize, usize, usize) {
        self.host.courier.counts()
    }

    /// A person acts on the page of a session. The error says why they cannot.
    pub fn act(&self, session: &str, payer: Payer) -> Result<(), String> {
        self.done(|books| sessions::act(books, session, payer))
    }

    /// The money of a slow payment arrives, or it never will.
    pub fn settle(&self, session: &str, arrives: bool) -> Result<(), String> {
        self.done(|books| sessions::settle(books, session, arrives))
    }

    /// The time of a session is over.
    pub fn expire(&self, session: &str) -> Result<(), String> {
        let none = Params::parse("").map_err(|fault| fault.body().to_string())?;
        self.done(|books| sessions::expire(books, session, &none))
    }

    /// Somebody refunds at the processor itself, all that is left or a part.
    pub fn refund(&self, intent: &str, cents: Option<i64>) -> Result<(), String> {
        let amount = cents.map_or_else(String::new, |cents| format!("&amount={cents}"));
        let params = Params::parse(&format!("payment_intent={intent}{amount}"));
        let params = params.map_err(|fault| fault.body().to_string())?;
        self.done(|books| refunds::create(books, &params))
    }

    /// Makes a price that recurs each month; gives its id.
    pub fn add_price(&self, product: &str, cents: i64, currency: &str) -> String {
        let made = self.host.with(|inside| subscriptions::add_price(&mut inside.books, product, cents, currency));
        made.unwrap_or_default()
    }

    /// Stores a card with a customer.
    pub fn add_card(&self, customer: &str, last4: &str) -> Result<(), String> {
        self.done(|books| customers::add_card(books, customer, last4))
    }

    /// The period of a subscription is over.
    pub fn renew(&self, subscription: &str, how: Renewal) -> Result<(), String> {
        self.done(|books| subscriptions::renew(books, subscription, how))
    }

    fn done(&self, act: impl FnOnce(&mut Books) -> Result<Value, Fault>) -> Result<(), String> {
        self.host.with(|inside| act(&mut inside.books)).map(drop).map_err(|fault| fault.body().to_string())
    }

    /// All objects of a kind, such as `checkout.session`, newest first.
    pub fn all(&self, kind: &str) -> Vec<Value> {
        self.host.with(|inside| inside.books.all(kind).map(sessions::shown).collect())
    }

    /// What came in and went back under `metadata.orderId`, or `metadata.invoiceId`.
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

    /// Method and path of each call that showed the right key, in order.
    pub fn calls(&self) -> Vec<String> {
        self.host.with(|inside| inside.calls.iter().cloned().collect())
    }
}

/// The key that a call shows: as a bearer, or as the name of a user.
fn shown_key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("authorization")?.to_str().ok()?;
    if let Some(key) = value.strip_prefix("Bearer ") {
        return Some(key.trim().to_owned());
    }
    let user = STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    Some(String::from_utf8(user).ok()?.split(':').next()?.to_owned())
}

async fn call(State(host): State<Host>, request: Request) -> Response {
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
            let fault = Fault::wrong_key(key.as_deref());
            return (fault.status(), fault.body(), false);
        }
        inside.calls.push_back(format!("{} {path}", head.method));
        while inside.calls.len() > MAX_CALLS {
            inside.calls.pop_front();
        }
        let called = format!("{} {path}", head.method);
        if let Some((_, status)) = inside.books.refused_calls.iter().find(|(call, _)| *call == called) {
            let fault = if *status == 403 { Fault::not_permitted() } else { Fault::of_status(*status) };
            return (fault.status(), fault.body(), false);
        }
        if let Some(status) = inside.faults.pop_front() {
            let fault = Fault::of_status(status);
            return (fault.status(), fault.body(), false);
        }
        inside.answer(&head.method, &path, &text, once.filter(|_| head.method == Method::POST))
    });
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert("stripe-version", HeaderValue::from_static(API_VERSION));
    if let Ok(id) = HeaderValue::from_str(&Books::id("req")) {
        headers.insert("request-id", id);
    }
    if replayed {
        headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

impl Inside {
    /// The first answer again under a key that was used; else what the call does.
    fn answer(&mut self, method: &Method, path: &str, text: &str, once: Option<String>) -> (StatusCode, Value, bool) {
        // The same members in another order are the same request.
        let params = Params::parse(text);
        let asked = format!("{method} {path} {}", params.as_ref().map_or_else(|_| text.to_owned(), Params::canonical));
        if let Some(kept) = once.as_ref().and_then(|key| self.keys.get(key)) {
            if kept.asked == asked {
                return (kept.status, kept.body.clone(), true);
            }
            let fault = Fault::other_request(once.as_deref().unwrap_or_default());
            return (fault.status(), fault.body(), false);
        }
        let done = params.and_then(|params| route(&mut self.books, method, path, &params));
        let (status, body) = match done {
            Ok(object) => (StatusCode::OK, sessions::shown(&object)),
            Err(fault) => (fault.status(), fault.body()),
        };
        if let Some(key) = once {
            self.recent.push_back(key.clone());
            self.keys.insert(key, Kept { asked, status, body: body.clone() });
            while self.recent.len() > MAX_KEYS {
                if let Some(oldest) = self.recent.pop_front() {
                    self.keys.remove(&oldest);
                }
            }
        }
        (status, body, false)
    }
}

fn route(books: &mut Books, method: &Method, path: &str, params: &Params) -> Result<Value, Fault> {
    let steps: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
    match (method.as_str(), &steps[..]) {
        ("POST", ["checkout", "sessions"]) => sessions::create(books, params),
        ("GET", ["checkout", "sessions"]) => {
            params.only(&["limit", "starting_after", "ending_before", "payment_intent", "customer", "status"])?;
            let fits = |one: &Value, name: &str| params.text(name).is_none_or(|asked| one[name] == asked);
            let all = |one: &Value| ["payment_intent", "customer", "status"].iter().all(|name| fits(one, name));
            let mut page = books.page("checkout.session", "/v1/checkout/sessions", params, all)?;
            page["data"].as_array_mut().into_iter().flatten().for_each(|one| *one = sessions::shown(one));
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
        (method, _) => Err(Fault::no_such_call(method, path)),
    }
}

async fn pay_page(State(host): State<Host>, Path(session): Path<String>) -> Response {
    match host.with(|inside| sessions::look(&mut inside.books, &session)) {
        Ok(session) if session["status"] == "open" => page::checkout(&session, None),
        Ok(session) => page::closed(&session),
        Err(fault) => fault.into_response(),
    }
}

async fn pay(State(host): State<Host>, Path((session, act)): Path<(String, String)>) -> Response {
    let Some(payer) = page::payer(&act) else { return StatusCode::NOT_FOUND.into_response() };
    match host.with(|inside| sessions::act(&mut inside.books, &session, payer)) {
        Ok(session) if payer == Payer::IsDeclined => page::checkout(&session, Some("Your card was declined.")),
        Ok(session) => page::back(&session),
        Err(fault) => fault.into_response(),
    }
}

async fn portal_page(State(host): State<Host>, Path(session): Path<String>) -> Response {
    match host.with(|inside| inside.books.get("billing_portal.session", &session).cloned()) {
        Ok(session) => page::portal(&session),
        Err(fault) => fault.into_response(),
    }
}
