//! Simulated parts management system: `InvenTree`'s API, limited to parts and stock.
//!
//! Paths end with a slash; a request to a path without one is redirected, regardless of its method. Without `limit`, a
//! list is a bare array; with `limit`, it is a page. Stock is changed with `add`, `remove` and `count`, each of which
//! leaves a tracking entry with the caller's notes. A removal of more than the stock leaves no entry, and an item that
//! is set to be deleted when depleted then disappears with all of its entries.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{SimStockSystem, cut, decimal};

/// Part with its name and unit.
#[derive(Clone, Debug)]
struct CatalogPart {
    name: String,
    units: String,
    active: bool,
}

/// Stock item, with amounts in thousandths.
#[derive(Clone, Debug)]
struct Item {
    part: i64,
    quantity: i64,
    in_stock: bool,
    delete_on_deplete: bool,
}

/// Tracking entry for a stock item.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// Entry number.
    pub pk: i64,
    /// ID of the stock item.
    pub item: i64,
    /// Added quantity in thousandths; negative if removed.
    pub delta: i64,
    /// Quantity after the change, in thousandths.
    pub quantity: i64,
    /// Notes about the change.
    pub notes: String,
}

#[derive(Debug, Default)]
struct PartsState {
    parts: BTreeMap<i64, CatalogPart>,
    items: BTreeMap<i64, Item>,
    tracked: Vec<Tracked>,
    /// Parts for which invalid data is returned.
    spoilt: BTreeSet<i64>,
    /// `true` if access to tracking entries is denied.
    hides_tracking: bool,
    next: i64,
}

impl PartsState {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn change(&mut self, pk: i64, delta: i64, notes: &str) -> bool {
        let number = self.number();
        let Some(item) = self.items.get_mut(&pk).filter(|item| item.in_stock) else { return false };
        let before = item.quantity;
        item.quantity = (item.quantity + delta).max(0);
        let quantity = item.quantity;
        let entry = Tracked { pk: number, item: pk, delta: quantity - before, quantity, notes: notes.to_owned() };
        self.tracked.push(entry);
        if quantity == 0 && item.delete_on_deplete {
            self.items.remove(&pk);
            self.tracked.retain(|entry| entry.item != pk);
        }
        true
    }
}

/// State shared by the handlers of a parts management system.
#[derive(Clone)]
pub struct PartsHost {
    inside: Arc<Mutex<PartsState>>,
    token: Arc<str>,
}

impl PartsHost {
    fn with<T>(&self, act: impl FnOnce(&mut PartsState) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Running simulated parts management system; stops when dropped.
pub type PartsSystem = SimStockSystem<PartsHost>;

impl PartsSystem {
    /// Serves the system on an address; port 0 selects a free port.
    pub async fn start(addr: SocketAddr, token: &str) -> std::io::Result<Self> {
        let host = PartsHost { inside: Arc::default(), token: Arc::from(token) };
        let adjusting =
            |sign: i64| post(move |host: State<PartsHost>, body: Bytes| async move { adjust(&host, &body, sign) });
        let routes = Router::new()
            .route("/api/user/me/", get(me))
            .route("/api/part/", get(parts))
            .route("/api/part/{pk}/", get(part))
            .route("/api/stock/", get(items))
            .route("/api/stock/track/", get(track))
            .route("/api/stock/add/", adjusting(1))
            .route("/api/stock/remove/", adjusting(-1))
            .route("/api/stock/count/", adjusting(0))
            .route("/api/stock/{pk}/", get(item))
            .layer(middleware::from_fn_with_state(host.clone(), authorise))
            // Who it is can be asked by anybody.
            .route("/api/", get(about))
            .fallback(strange);
        Self::serve(addr, host, routes).await
    }

    /// Makes subsequent responses contain invalid data for a part.
    pub fn spoil(&self, part: i64) {
        self.host.with(|inside| inside.spoilt.insert(part));
    }

    /// Denies or allows access to tracking entries.
    pub fn hide_tracking(&self, hides: bool) {
        self.host.with(|inside| inside.hides_tracking = hides);
    }

    /// Creates a part; returns its ID.
    pub fn add_part(&self, name: &str, units: &str) -> i64 {
        let part = CatalogPart { name: name.to_owned(), units: units.to_owned(), active: true };
        self.host.with(|inside| {
            let pk = inside.number();
            inside.parts.insert(pk, part);
            pk
        })
    }

    /// Creates a stock item for a part with the given quantity in thousandths; returns its ID.
    pub fn add_item(&self, part: i64, quantity: i64) -> i64 {
        self.host.with(|inside| {
            let pk = inside.number();
            inside.items.insert(pk, Item { part, quantity, in_stock: true, delete_on_deplete: false });
            pk
        })
    }

    /// Sets an item to be deleted when it is depleted.
    pub fn delete_on_deplete(&self, item: i64) {
        self.host.with(|inside| {
            if let Some(item) = inside.items.get_mut(&item) {
                item.delete_on_deplete = true;
            }
        });
    }

    /// Adds `delta` thousandths to an item, or removes them if negative, as a user of the system would.
    pub fn edit(&self, item: i64, delta: i64) -> bool {
        self.host.with(|inside| inside.change(item, delta, "by hand"))
    }

    /// Deletes an item, as a user of the system would.
    pub fn delete_item(&self, item: i64) {
        self.host.with(|inside| inside.items.remove(&item));
    }

    /// Returns the total stock of a part, in thousandths.
    pub fn total(&self, part: i64) -> i64 {
        self.host.with(|inside| {
            inside.items.values().filter(|item| item.part == part && item.in_stock).map(|item| item.quantity).sum()
        })
    }

    /// Returns all tracking entries, oldest first.
    pub fn tracked(&self) -> Vec<Tracked> {
        self.host.with(|inside| inside.tracked.clone())
    }
}

#[derive(Deserialize)]
struct PartListQuery {
    limit: Option<usize>,
    offset: Option<usize>,
    part: Option<i64>,
    item: Option<i64>,
    active: Option<bool>,
}

/// Returns a list as an array or a page, as requested.
fn listed(all: Vec<Value>, query: &PartListQuery) -> Response {
    if query.limit.is_none() {
        return Json(Value::Array(all)).into_response();
    }
    let count = all.len();
    let some = cut(all, query.limit, query.offset);
    let end = query.offset.unwrap_or(0) + some.len();
    let next = (end < count).then(|| format!("?limit={}&offset={end}", query.limit.unwrap_or(0)));
    let previous = query.offset.filter(|offset| *offset > 0).map(|_| "?offset=0".to_owned());
    Json(json!({"count": count, "next": next, "previous": previous, "results": some})).into_response()
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({"detail": "Not found."}))).into_response()
}

async fn authorise(State(host): State<PartsHost>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if authorization.and_then(|value| value.strip_prefix("Token ")) == Some(&*host.token) {
        return next.run(request).await;
    }
    let words =
        if authorization.is_some() { "Invalid token." } else { "Authentication credentials were not provided." };
    (StatusCode::UNAUTHORIZED, [("www-authenticate", "Token")], Json(json!({"detail": words}))).into_response()
}

/// Redirects a path without a trailing slash, as in the real system; the body of a POST is lost.
async fn strange(request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api") && !path.ends_with('/') {
        return (StatusCode::MOVED_PERMANENTLY, [("location", format!("{path}/"))]).into_response();
    }
    not_found()
}

async fn about() -> Response {
    Json(json!({"server": "InvenTree", "id": 1, "version": "1.2.0", "instance": "InvenTree", "apiVersion": 430, "worker_running": true}))
        .into_response()
}

async fn me() -> Response {
    Json(json!({"pk": 1, "username": "printfloor", "email": "", "is_staff": false})).into_response()
}

fn part_of(pk: i64, part: &CatalogPart) -> Value {
    json!({
        "pk": pk, "name": part.name, "IPN": "", "description": "", "category": null, "active": part.active,
        "units": part.units, "virtual": false, "minimum_stock": 0.0,
    })
}

fn item_of(pk: i64, item: &Item) -> Value {
    json!({
        "pk": pk, "part": item.part, "quantity": decimal(item.quantity), "location": null, "batch": null, "serial": null,
        "status": 10, "status_text": "OK", "in_stock": item.in_stock, "delete_on_deplete": item.delete_on_deplete,
        "notes": null, "purchase_price": null,
    })
}

async fn parts(State(host): State<PartsHost>, Query(query): Query<PartListQuery>) -> Response {
    let is_listed = |part: &CatalogPart| query.active.is_none_or(|active| part.active == active);
    let all = host.with(|inside| {
        let all = inside.parts.iter().filter(|(_, part)| is_listed(part));
        all.map(|(pk, part)| part_of(*pk, part)).collect()
    });
    listed(all, &query)
}

async fn part(State(host): State<PartsHost>, Path(pk): Path<i64>) -> Response {
    if host.with(|inside| inside.spoilt.contains(&pk)) {
        return "[{".into_response();
    }
    match host.with(|inside| inside.parts.get(&pk).map(|part| part_of(pk, part))) {
        Some(part) => Json(part).into_response(),
        None => not_found(),
    }
}

async fn items(State(host): State<PartsHost>, Query(query): Query<PartListQuery>) -> Response {
    let all = host.with(|inside| {
        let all = inside.items.iter().filter(|(_, item)| query.part.is_none_or(|part| item.part == part));
        all.map(|(pk, item)| item_of(*pk, item)).collect()
    });
    listed(all, &query)
}

async fn item(State(host): State<PartsHost>, Path(pk): Path<i64>) -> Response {
    match host.with(|inside| inside.items.get(&pk).map(|item| item_of(pk, item))) {
        Some(item) => Json(item).into_response(),
        None => not_found(),
    }
}

async fn track(State(host): State<PartsHost>, Query(query): Query<PartListQuery>) -> Response {
    if host.with(|inside| inside.hides_tracking) {
        let words = "You do not have permission to perform this action.";
        return (StatusCode::FORBIDDEN, Json(json!({"detail": words}))).into_response();
    }
    let of_it = |entry: &&Tracked| query.item.is_none_or(|item| entry.item == item);
    let all = host.with(|inside| {
        // Newest first.
        let all = inside.tracked.iter().rev().filter(of_it);
        let to_row = |entry: &Tracked| {
            let verb = if entry.delta < 0 { "removed" } else { "added" };
            let deltas = json!({verb: decimal(entry.delta.abs()), "quantity": decimal(entry.quantity)});
            json!({"pk": entry.pk, "item": entry.item, "deltas": deltas, "notes": entry.notes, "tracking_type": 11, "user": 1})
        };
        all.map(to_row).collect()
    });
    listed(all, &query)
}

/// Changes stock as requested; a `sign` of 1 adds, −1 removes, and 0 sets the quantity.
fn adjust(host: &PartsHost, body: &[u8], sign: i64) -> Response {
    let bad = |errors: Value| (StatusCode::BAD_REQUEST, Json(errors)).into_response();
    let Ok(body) = bounded_json::read(body, bounded_json::REQUEST) else {
        return bad(json!({"detail": "JSON parse error"}));
    };
    let Some(items) = body["items"].as_array().filter(|items| !items.is_empty()) else {
        return bad(json!({"items": ["A list of stock items must be provided"]}));
    };
    let notes = body["notes"].as_str().unwrap_or_default();
    let mut changes = Vec::new();
    for one in items {
        let quantity = match &one["quantity"] {
            Value::String(text) => text.parse::<f64>().ok(),
            other => other.as_f64(),
        };
        let Some(quantity) = quantity.filter(|quantity| *quantity >= 0.0) else {
            return bad(json!({"items": [{"quantity": ["A valid number is required."]}]}));
        };
        let pk = one["pk"].as_i64().unwrap_or_default();
        let in_stock = host.with(|inside| inside.items.get(&pk).filter(|item| item.in_stock).map(|item| item.quantity));
        let Some(in_stock) = in_stock else {
            return bad(json!({"items": [{"pk": [format!("Invalid pk \"{pk}\" - object does not exist.")]}]}));
        };
        let thousandths = (quantity * 1000.0).round() as i64;
        changes.push((pk, if sign == 0 { thousandths - in_stock } else { sign * thousandths }));
    }
    host.with(|inside| {
        for (pk, delta) in changes {
            inside.change(pk, delta, notes);
        }
    });
    (StatusCode::CREATED, Json(body)).into_response()
}
