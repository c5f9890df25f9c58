//! An accounting system as Xero's API behaves: a page of consent, tokens that replace each other, and the books of one
//! organisation with contacts, invoices and credit notes.
//!
//! It is as strict as the real one where that matters: a code works once and only with the secret behind its challenge,
//! a token that gives the next ones works once and its reuse ends the whole connection, a number is given once, and a
//! key repeats its first answer.

mod books;
mod page;
mod tokens;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::stock::{Way, Weather, on_the_way};
use crate::wire::Server;

/// Most bytes of a body.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Life of a first token.
const USUAL_LIFE: Duration = Duration::from_secs(1_800);
/// The organisation whose books are kept here.
pub const TENANT: &str = "70784a63-d24b-46a9-a4db-0e70a274b056";

/// A consent that somebody gave.
#[derive(Clone, Debug)]
struct Consent {
    challenge: String,
    redirect: String,
}

/// A second token.
#[derive(Clone, Debug)]
struct Refresh {
    family: u64,
    /// What was given for it.
    next: Option<(String, String)>,
}

#[derive(Debug)]
struct Inside {
    client_id: String,
    client_secret: String,
    consents: BTreeMap<String, Consent>,
    access: BTreeMap<String, (u64, Instant)>,
    refresh: BTreeMap<String, Refresh>,
    /// Connections that ended.
    ended: BTreeSet<u64>,
    /// Second tokens, or first ones of theirs, that were shown: the former pair is then over for good.
    shown: BTreeSet<String>,
    /// A second token that comes twice gives the same pair again, as long as that was not shown.
    lenient: bool,
    life: Duration,
    families: u64,
    renewals: usize,
    contacts: Vec<Value>,
    invoices: Vec<Value>,
    credit_notes: Vec<Value>,
    /// Words with which documents are refused.
    refuses: Option<String>,
    keys: BTreeMap<String, (String, StatusCode, Value)>,
    /// Statuses of the next calls of the books, with how many seconds they ask to be left alone.
    faults: VecDeque<(u16, Option<u64>)>,
    calls: Vec<String>,
}

#[derive(Clone, Debug)]
struct Host(Arc<Mutex<Inside>>);

impl Host {
    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A running accounting system. Stops when dropped.
#[derive(Debug)]
pub struct AccountingSystem {
    host: Host,
    way: Way,
    server: Server,
}

impl AccountingSystem {
    /// Starts on a free loopback port; it knows one program by this name and secret.
    pub async fn start(client_id: &str, client_secret: &str) -> std::io::Result<Self> {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), client_id, client_secret).await
    }

    /// Starts on this address.
    pub async fn start_on(address: SocketAddr, client_id: &str, client_secret: &str) -> std::io::Result<Self> {
        let inside = Inside {
            client_id: client_id.to_owned(),
            client_secret: client_secret.to_owned(),
            consents: BTreeMap::new(),
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            ended: BTreeSet::new(),
            shown: BTreeSet::new(),
            lenient: true,
            life: USUAL_LIFE,
            families: 0,
            renewals: 0,
            contacts: Vec::new(),
            invoices: Vec::new(),
            credit_notes: Vec::new(),
            refuses: None,
            keys: BTreeMap::new(),
            faults: VecDeque::new(),
            calls: Vec::new(),
        };
        let (host, way) = (Host(Arc::new(Mutex::new(inside))), Way::default());
        let router = Router::new()
            .route("/identity/connect/token", post(token))
            .route("/identity/connect/revocation", post(revoke))
            .route("/connections", get(connections))
            .route("/api.xro/2.0/{kind}", any(books))
            .layer(middleware::from_fn_with_state(way.clone(), on_the_way))
            .route("/identity/connect/authorize", get(consent_page).post(consent))
            .with_state(host.clone());
        Ok(Self { host, way, server: Server::start(address, router).await? })
    }

    /// Its base address.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// The variables of the environment that tell a server of it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let (url, known) =
            (self.url(), self.host.with(|inside| (inside.client_id.clone(), inside.client_secret.clone())));
        vec![
            ("ACCOUNTING_CLIENT_ID", known.0),
            ("ACCOUNTING_CLIENT_SECRET", known.1),
            ("PRINTFLOOR_ACCOUNTING__AUTHORIZE_URL", format!("{url}/identity/connect/authorize")),
            ("PRINTFLOOR_ACCOUNTING__TOKEN_URL", format!("{url}/identity/connect/token")),
            ("PRINTFLOOR_ACCOUNTING__REVOCATION_URL", format!("{url}/identity/connect/revocation")),
            ("PRINTFLOOR_ACCOUNTING__URL", url),
        ]
    }

    /// What happens to calls from now on.
    pub fn weather(&self, weather: Weather) {
        self.way.set(weather);
    }

    /// The next calls of the books are answered with these statuses, and do nothing; with how many seconds they ask to
    /// be left alone.
    pub fn answer_next(&self, faults: &[(u16, Option<u64>)]) {
        self.host.with(|inside| inside.faults.extend(faults));
    }

    /// Documents are refused with these words; `None`: no longer.
    pub fn refuse(&self, words: Option<&str>) {
        self.host.with(|inside| inside.refuses = words.map(str::to_owned));
    }

    /// How long first tokens work from now on.
    pub fn tokens_live(&self, life: Duration) {
        self.host.with(|inside| inside.life = life);
    }

    /// Whether a second token that comes twice gives the same pair again, as long as that was not shown; otherwise the
    /// connection ends at once.
    pub fn set_lenient(&self, lenient: bool) {
        self.host.with(|inside| inside.lenient = lenient);
    }

    /// Every connection ends, as when a person there disconnects the program.
    pub fn end_connections(&self) {
        self.host.with(|inside| inside.ended.extend(1..=inside.families));
    }

    /// A person at the page of consent allows or denies; gives where the browser is sent then.
    pub fn decide(&self, page: &str, allow: bool) -> Result<String, String> {
        let query = page.split_once('?').map_or("", |(_, query)| query);
        self.host.with(|inside| tokens::consent(inside, query, allow))
    }

    /// The invoices in the books, in the order of their making.
    pub fn invoices(&self) -> Vec<Value> {
        self.host.with(|inside| inside.invoices.clone())
    }

    /// The credit notes in the books, in the order of their making.
    pub fn credit_notes(&self) -> Vec<Value> {
        self.host.with(|inside| inside.credit_notes.clone())
    }

    /// The contacts in the books, in the order of their making.
    pub fn contacts(&self) -> Vec<Value> {
        self.host.with(|inside| inside.contacts.clone())
    }

    /// How often a second token gave the next pair.
    pub fn renewals(&self) -> usize {
        self.host.with(|inside| inside.renewals)
    }

    /// How many connections stand.
    pub fn connected(&self) -> usize {
        self.host.with(|inside| (1..=inside.families).filter(|family| !inside.ended.contains(family)).count())
    }

    /// Method and path of each call of the books that showed a token that works, in order.
    pub fn calls(&self) -> Vec<String> {
        self.host.with(|inside| inside.calls.clone())
    }
}

async fn body_of(request: Request) -> Result<(HeaderMap, String), Response> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE.into_response())?;
    Ok((head.headers, String::from_utf8_lossy(&body).into_owned()))
}

async fn consent_page(State(host): State<Host>, RawQuery(query): RawQuery) -> Response {
    page::consent(host.with(|inside| tokens::asked(inside, &query.unwrap_or_default())))
}

async fn consent(State(host): State<Host>, RawQuery(query): RawQuery, request: Request) -> Response {
    let Ok((_, body)) = body_of(request).await else { return StatusCode::BAD_REQUEST.into_response() };
    let allow = body.contains("act=allow");
    page::sent_back(host.with(|inside| tokens::consent(inside, &query.unwrap_or_default(), allow)))
}

async fn token(State(host): State<Host>, request: Request) -> Response {
    match body_of(request).await {
        Ok((headers, form)) => {
            let (status, body) = host.with(|inside| tokens::give(inside, &headers, &form));
            (status, Json(body)).into_response()
        }
        Err(response) => response,
    }
}

async fn revoke(State(host): State<Host>, request: Request) -> Response {
    match body_of(request).await {
        Ok((headers, form)) => host.with(|inside| tokens::revoke(inside, &headers, &form)).into_response(),
        Err(response) => response,
    }
}

async fn connections(State(host): State<Host>, headers: HeaderMap) -> Response {
    let known = host.with(|inside| tokens::shown(inside, &headers));
    if !known {
        return unauthorized();
    }
    let tenant = json!({
        "id": "e1eede29-f875-4a5d-8470-17f6a29a88b1", "tenantId": TENANT, "tenantType": "ORGANISATION",
        "tenantName": "Simulated Shop Ltd",
    });
    Json(json!([tenant])).into_response()
}

fn unauthorized() -> Response {
    let body = json!({"Type": null, "Title": "Unauthorized", "Status": 401, "Detail": "TokenExpired: token expired"});
    (StatusCode::UNAUTHORIZED, Json(body)).into_response()
}

async fn books(State(host): State<Host>, Path(kind): Path<String>, request: Request) -> Response {
    let (method, query) = (request.method().clone(), request.uri().query().unwrap_or_default().to_owned());
    let Ok((headers, body)) = body_of(request).await else { return StatusCode::BAD_REQUEST.into_response() };
    host.with(|inside| {
        if !tokens::shown(inside, &headers) {
            return unauthorized();
        }
        if headers.get("xero-tenant-id").and_then(|value| value.to_str().ok()) != Some(TENANT) {
            let body = json!({"Title": "Forbidden", "Status": 403, "Detail": "AuthenticationUnsuccessful"});
            return (StatusCode::FORBIDDEN, Json(body)).into_response();
        }
        inside.calls.push(format!("{method} {kind}"));
        if let Some((status, pause)) = inside.faults.pop_front() {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = (status, Json(json!({"Message": "a fault of the simulation"}))).into_response();
            if let Some(seconds) = pause {
                response.headers_mut().insert("retry-after", seconds.into());
            }
            return response;
        }
        let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (status, body) = match method {
            Method::GET => books::find(inside, &kind, &query),
            Method::PUT | Method::POST => {
                inside.once(key, &format!("{method} {kind} {body}"), |inside| books::create(inside, &kind, &body))
            }
            _ => (StatusCode::METHOD_NOT_ALLOWED, Value::Null),
        };
        (status, Json(body)).into_response()
    })
}

impl Inside {
    /// The first answer again under a key that was used; else what `act` does.
    fn once(
        &mut self,
        key: Option<String>,
        asked: &str,
        act: impl FnOnce(&mut Self) -> (StatusCode, Value),
    ) -> (StatusCode, Value) {
        if let Some((before, status, body)) = key.as_ref().and_then(|key| self.keys.get(key)) {
            if before == asked {
                return (*status, body.clone());
            }
            let words = json!({"Message": "The Idempotency-Key was used with another request"});
            return (StatusCode::BAD_REQUEST, words);
        }
        let (status, body) = act(self);
        if let Some(key) = key {
            self.keys.insert(key, (asked.to_owned(), status, body.clone()));
        }
        (status, body)
    }
}
