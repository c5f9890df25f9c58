//! Simulated accounting system that behaves like Xero's API: a consent page, rotating tokens, and the books of one
//! organisation with contacts, invoices and credit notes.
//!
//! It is as strict as the real system where it matters. An authorization code works only once, and only with the
//! verifier for its challenge. A refresh token works once, and its reuse ends the entire connection. Document numbers
//! are unique, and a reused idempotency key returns the original response.

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

use crate::stock::{NetworkCondition, SharedCondition, on_the_way};
use crate::wire::SimServer;

/// Maximum size of a request body in bytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Default lifetime of an access token.
const USUAL_LIFE: Duration = Duration::from_secs(1_800);
/// Tenant ID of the only organisation.
pub const TENANT: &str = "70784a63-d24b-46a9-a4db-0e70a274b056";

/// Consent granted on the consent page.
#[derive(Clone, Debug)]
struct Consent {
    challenge: String,
    redirect: String,
}

/// Issued refresh token.
#[derive(Clone, Debug)]
struct Refresh {
    family: u64,
    /// Access and refresh token issued in exchange for this refresh token.
    next: Option<(String, String)>,
}

#[derive(Debug)]
struct AccountingState {
    client_id: String,
    client_secret: String,
    consents: BTreeMap<String, Consent>,
    access: BTreeMap<String, (u64, Instant)>,
    refresh: BTreeMap<String, Refresh>,
    /// Connections that have ended.
    ended: BTreeSet<u64>,
    /// Refresh tokens that were used, or whose access token was used. Once a token is used, the previous pair of tokens
    /// is permanently invalid.
    presented: BTreeSet<String>,
    /// Makes reused refresh tokens return the same pair of tokens as before, as long as that pair has not been used.
    lenient: bool,
    life: Duration,
    families: u64,
    renewals: usize,
    contacts: Vec<Value>,
    invoices: Vec<Value>,
    credit_notes: Vec<Value>,
    /// Error message for rejected documents; `None` accepts documents.
    refuses: Option<String>,
    keys: BTreeMap<String, (String, StatusCode, Value)>,
    /// Error status codes for the next API calls, each with the value for its `Retry-After` header in seconds.
    faults: VecDeque<(u16, Option<u64>)>,
    calls: Vec<String>,
}

#[derive(Clone, Debug)]
struct AccountingHost(Arc<Mutex<AccountingState>>);

impl AccountingHost {
    fn with<T>(&self, act: impl FnOnce(&mut AccountingState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Running simulated accounting system; stops when dropped.
#[derive(Debug)]
pub struct AccountingSystem {
    host: AccountingHost,
    way: SharedCondition,
    server: SimServer,
}

impl AccountingSystem {
    /// Starts the system on a free loopback port; accepts one client, with the given ID and secret.
    pub async fn start(client_id: &str, client_secret: &str) -> std::io::Result<Self> {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), client_id, client_secret).await
    }

    /// Starts the system on the given address.
    pub async fn start_on(address: SocketAddr, client_id: &str, client_secret: &str) -> std::io::Result<Self> {
        let inside = AccountingState {
            client_id: client_id.to_owned(),
            client_secret: client_secret.to_owned(),
            consents: BTreeMap::new(),
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            ended: BTreeSet::new(),
            presented: BTreeSet::new(),
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
        let (host, way) = (AccountingHost(Arc::new(Mutex::new(inside))), SharedCondition::default());
        let router = Router::new()
            .route("/identity/connect/token", post(token))
            .route("/identity/connect/revocation", post(revoke))
            .route("/connections", get(connections))
            .route("/api.xro/2.0/{kind}", any(books))
            .layer(middleware::from_fn_with_state(way.clone(), on_the_way))
            .route("/identity/connect/authorize", get(consent_page).post(consent))
            .with_state(host.clone());
        Ok(Self { host, way, server: SimServer::start(address, router).await? })
    }

    /// Returns the system's base URL.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// Returns the environment variables that configure a server to use this accounting system.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let (url, credentials) =
            (self.url(), self.host.with(|inside| (inside.client_id.clone(), inside.client_secret.clone())));
        vec![
            ("ACCOUNTING_CLIENT_ID", credentials.0),
            ("ACCOUNTING_CLIENT_SECRET", credentials.1),
            ("PRINTFLOOR_ACCOUNTING__AUTHORIZE_URL", format!("{url}/identity/connect/authorize")),
            ("PRINTFLOOR_ACCOUNTING__TOKEN_URL", format!("{url}/identity/connect/token")),
            ("PRINTFLOOR_ACCOUNTING__REVOCATION_URL", format!("{url}/identity/connect/revocation")),
            ("PRINTFLOOR_ACCOUNTING__URL", url),
        ]
    }

    /// Sets the network condition for all subsequent calls.
    pub fn weather(&self, weather: NetworkCondition) {
        self.way.set(weather);
    }

    /// Makes the next API calls fail with the given status codes, each with the value for its `Retry-After` header in
    /// seconds.
    pub fn answer_next(&self, faults: &[(u16, Option<u64>)]) {
        self.host.with(|inside| inside.faults.extend(faults));
    }

    /// Rejects documents with the given error message; `None` accepts them again.
    pub fn refuse(&self, words: Option<&str>) {
        self.host.with(|inside| inside.refuses = words.map(str::to_owned));
    }

    /// Sets the lifetime of access tokens that are issued after the call.
    pub fn tokens_live(&self, life: Duration) {
        self.host.with(|inside| inside.life = life);
    }

    /// Sets whether a reused refresh token returns the same pair of tokens as before, as long as that pair has not been
    /// used; otherwise, reuse ends the connection.
    pub fn set_lenient(&self, lenient: bool) {
        self.host.with(|inside| inside.lenient = lenient);
    }

    /// Ends every connection, as if a user of the accounting system had disconnected the program.
    pub fn end_connections(&self) {
        self.host.with(|inside| inside.ended.extend(1..=inside.families));
    }

    /// Allows or denies access on the consent page; returns the URL to which the browser is redirected.
    pub fn decide(&self, page: &str, allow: bool) -> Result<String, String> {
        let query = page.split_once('?').map_or("", |(_, query)| query);
        self.host.with(|inside| tokens::consent(inside, query, allow))
    }

    /// Returns the invoices in the books, in order of creation.
    pub fn invoices(&self) -> Vec<Value> {
        self.host.with(|inside| inside.invoices.clone())
    }

    /// Returns the credit notes in the books, in order of creation.
    pub fn credit_notes(&self) -> Vec<Value> {
        self.host.with(|inside| inside.credit_notes.clone())
    }

    /// Returns the contacts in the books, in order of creation.
    pub fn contacts(&self) -> Vec<Value> {
        self.host.with(|inside| inside.contacts.clone())
    }

    /// Returns the number of times that a refresh token has been exchanged.
    pub fn renewals(&self) -> usize {
        self.host.with(|inside| inside.renewals)
    }

    /// Returns the number of active connections.
    pub fn connected(&self) -> usize {
        self.host.with(|inside| (1..=inside.families).filter(|family| !inside.ended.contains(family)).count())
    }

    /// Returns the method and path of each API call with a valid token, in order.
    pub fn calls(&self) -> Vec<String> {
        self.host.with(|inside| inside.calls.clone())
    }
}

async fn body_of(request: Request) -> Result<(HeaderMap, String), Response> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE.into_response())?;
    Ok((head.headers, String::from_utf8_lossy(&body).into_owned()))
}

async fn consent_page(State(host): State<AccountingHost>, RawQuery(query): RawQuery) -> Response {
    page::consent(host.with(|inside| tokens::requested_scope(inside, &query.unwrap_or_default())))
}

async fn consent(State(host): State<AccountingHost>, RawQuery(query): RawQuery, request: Request) -> Response {
    let Ok((_, body)) = body_of(request).await else { return StatusCode::BAD_REQUEST.into_response() };
    let allow = body.contains("act=allow");
    page::sent_back(host.with(|inside| tokens::consent(inside, &query.unwrap_or_default(), allow)))
}

async fn token(State(host): State<AccountingHost>, request: Request) -> Response {
    match body_of(request).await {
        Ok((headers, form)) => {
            let (status, body) = host.with(|inside| tokens::give(inside, &headers, &form));
            (status, Json(body)).into_response()
        }
        Err(response) => response,
    }
}

async fn revoke(State(host): State<AccountingHost>, request: Request) -> Response {
    match body_of(request).await {
        Ok((headers, form)) => host.with(|inside| tokens::revoke(inside, &headers, &form)).into_response(),
        Err(response) => response,
    }
}

async fn connections(State(host): State<AccountingHost>, headers: HeaderMap) -> Response {
    let is_authorised = host.with(|inside| tokens::accept_token(inside, &headers));
    if !is_authorised {
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

async fn books(State(host): State<AccountingHost>, Path(kind): Path<String>, request: Request) -> Response {
    let (method, query) = (request.method().clone(), request.uri().query().unwrap_or_default().to_owned());
    let Ok((headers, body)) = body_of(request).await else { return StatusCode::BAD_REQUEST.into_response() };
    host.with(|inside| {
        if !tokens::accept_token(inside, &headers) {
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

impl AccountingState {
    /// Returns the stored response if the idempotency key is reused with the same request; otherwise runs `act`.
    fn once(
        &mut self,
        key: Option<String>,
        request: &str,
        act: impl FnOnce(&mut Self) -> (StatusCode, Value),
    ) -> (StatusCode, Value) {
        if let Some((before, status, body)) = key.as_ref().and_then(|key| self.keys.get(key)) {
            if before == request {
                return (*status, body.clone());
            }
            let words = json!({"Message": "The Idempotency-Key was used with a different request"});
            return (StatusCode::BAD_REQUEST, words);
        }
        let (status, body) = act(self);
        if let Some(key) = key {
            self.keys.insert(key, (request.to_owned(), status, body.clone()));
        }
        (status, body)
    }
}
