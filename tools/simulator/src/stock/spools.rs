//! Simulated spool management system: Spoolman's API, limited to filaments and spools.
//!
//! It requires no token. Lists are bare arrays, with the total number of entries in `x-total-count`. Fields without a
//! value are omitted. Using filament decreases the remainder, without any reference. If more is used than there was,
//! the remainder is reported as 0; the used amount never falls below 0.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use bytes::Bytes;
use jiff::{Timestamp, Unit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{SimStockSystem, cut, decimal};

/// Weight in grams of one metre of 1.75 mm PLA filament.
const GRAMS_PER_METRE: f64 = 2.98;

/// Spool of a particular filament.
#[derive(Clone, Debug)]
struct StockSpool {
    filament: i64,
    /// Initial weight in thousandths of a gram.
    initial: Option<i64>,
    /// Used weight in grams, as a floating-point number with all its digits, as the real program stores it.
    used: f64,
    /// Time of the last withdrawal, with one-second resolution.
    last_used: Option<Timestamp>,
    archived: bool,
}

impl StockSpool {
    /// Records that an amount was used, or returned if negative; the used amount never falls below 0.
    fn take(&mut self, grams: f64) {
        self.used = (self.used + grams).max(0.0);
        self.last_used = Timestamp::now().round(Unit::Second).ok();
    }

    /// Returns the used amount in thousandths of a gram.
    fn thousandths(&self) -> i64 {
        (self.used * 1000.0).round() as i64
    }
}

#[derive(Debug, Default)]
struct SpoolsState {
    /// Name of each filament, with the net weight of a full spool.
    filaments: BTreeMap<i64, (String, Option<i64>)>,
    spools: BTreeMap<i64, StockSpool>,
    next: i64,
    uses: u64,
}

impl SpoolsState {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn filament(&self, number: i64) -> Option<Value> {
        let (name, weight) = self.filaments.get(&number)?;
        let mut filament = json!({
            "id": number, "registered": "2026-01-01T08:00:00Z", "name": name, "material": "PLA", "density": 1.24,
            "diameter": 1.75, "vendor": {"id": 1, "registered": "2026-01-01T08:00:00Z", "name": "Acme", "extra": {}}, "extra": {},
        });
        if let Some(weight) = weight {
            filament["weight"] = json!(decimal(*weight));
        }
        Some(filament)
    }

    fn spool(&self, number: i64) -> Option<Value> {
        let spool = self.spools.get(&number)?;
        let filament = self.filament(spool.filament)?;
        let full = spool.initial.or(self.filaments.get(&spool.filament)?.1);
        let mut body = json!({
            "id": number, "registered": "2026-01-01T08:00:00Z", "filament": filament, "used_weight": spool.used,
            "used_length": spool.used / GRAMS_PER_METRE * 1000.0, "archived": spool.archived, "extra": {},
        });
        if let Some(initial) = spool.initial {
            body["initial_weight"] = json!(decimal(initial));
        }
        if let Some(full) = full {
            body["remaining_weight"] = json!((decimal(full) - spool.used).max(0.0));
        }
        if let Some(at) = spool.last_used {
            body["last_used"] = json!(at.to_string());
        }
        Some(body)
    }
}

/// State shared by the handlers of a spool management system.
#[derive(Clone, Default)]
pub struct SpoolHost(Arc<Mutex<SpoolsState>>);

impl SpoolHost {
    fn with<T>(&self, act: impl FnOnce(&mut SpoolsState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records that a length of filament in millimetres was used from a spool, as if by a different program.
    pub(crate) fn use_length(&self, spool: i64, length: f64) {
        self.with(|inside| {
            if let Some(spool) = inside.spools.get_mut(&spool) {
                spool.take(length / 1000.0 * GRAMS_PER_METRE);
            }
        });
    }
}

/// Running simulated spool management system; stops when dropped.
pub type SpoolSystem = SimStockSystem<SpoolHost>;

impl SpoolSystem {
    /// Serves the system on an address; port 0 selects a free port.
    pub async fn start(addr: SocketAddr) -> std::io::Result<Self> {
        let routes = Router::new()
            .route("/api/v1/info", get(info))
            .route("/api/v1/health", get(|| async { Json(json!({"status": "healthy"})) }))
            .route("/api/v1/filament", get(filaments))
            .route("/api/v1/filament/{id}", get(filament))
            .route("/api/v1/spool", get(spools))
            .route("/api/v1/spool/{id}", get(spool))
            .route("/api/v1/spool/{id}/use", put(use_spool))
            .fallback(|_: Request| async { not_found("Not Found") });
        Self::serve(addr, SpoolHost::default(), routes).await
    }

    /// Returns the state of the system's handlers, for use by other simulated programs.
    pub(crate) fn host(&self) -> SpoolHost {
        self.host.clone()
    }

    /// Creates a filament; `weight` is that of a full spool, in thousandths of a gram. Returns the filament's ID.
    pub fn add_filament(&self, name: &str, weight: Option<i64>) -> i64 {
        self.host.with(|inside| {
            let number = inside.number();
            inside.filaments.insert(number, (name.to_owned(), weight));
            number
        })
    }

    /// Creates a spool of a filament, with weights in thousandths of a gram. Returns the spool's ID.
    pub fn add_spool(&self, filament: i64, initial: Option<i64>, used: i64) -> i64 {
        self.host.with(|inside| {
            let number = inside.number();
            let spool = StockSpool { filament, initial, used: decimal(used), last_used: None, archived: false };
            inside.spools.insert(number, spool);
            number
        })
    }

    /// Uses filament from a spool, in thousandths of a gram, as a user or another client of the system would; a
    /// negative amount is returned to the spool.
    pub fn use_up(&self, spool: i64, thousandths: i64) {
        self.host.with(|inside| {
            if let Some(spool) = inside.spools.get_mut(&spool) {
                spool.take(decimal(thousandths));
            }
        });
    }

    /// Corrects a spool's used amount by thousandths of a gram, as a user of the system would: the amount is set
    /// directly and is not recorded as a withdrawal.
    pub fn correct(&self, spool: i64, thousandths: i64) {
        self.host.with(|inside| {
            if let Some(spool) = inside.spools.get_mut(&spool) {
                spool.used = decimal(spool.thousandths() + thousandths);
            }
        });
    }

    /// Archives a spool, as a user of the system would.
    pub fn archive(&self, spool: i64) {
        self.host.with(|inside| {
            if let Some(spool) = inside.spools.get_mut(&spool) {
                spool.archived = true;
            }
        });
    }

    /// Deletes a spool, as a user of the system would.
    pub fn delete(&self, spool: i64) {
        self.host.with(|inside| inside.spools.remove(&spool));
    }

    /// Returns a spool's used amount in thousandths of a gram; `None` if there is no such spool.
    pub fn used(&self, spool: i64) -> Option<i64> {
        self.host.with(|inside| inside.spools.get(&spool).map(StockSpool::thousandths))
    }

    /// Returns the total remaining amount of a filament, in thousandths of a gram.
    pub fn total(&self, filament: i64) -> i64 {
        self.host.with(|inside| {
            let weight = inside.filaments.get(&filament).and_then(|(_, weight)| *weight);
            let of_it = inside.spools.values().filter(|spool| spool.filament == filament && !spool.archived);
            of_it.map(|spool| spool.initial.or(weight).unwrap_or(0) - spool.thousandths()).sum()
        })
    }

    /// Returns the number of withdrawals reported through the API.
    pub fn uses(&self) -> u64 {
        self.host.with(|inside| inside.uses)
    }
}

#[derive(Deserialize)]
struct SpoolListQuery {
    limit: Option<usize>,
    offset: Option<usize>,
    #[serde(rename = "filament.id")]
    filament: Option<String>,
    allow_archived: Option<bool>,
}

fn listed(all: Vec<Value>, query: &SpoolListQuery) -> Response {
    let total = all.len().to_string();
    ([("x-total-count", total)], Json(Value::Array(cut(all, query.limit, query.offset)))).into_response()
}

fn not_found(words: &str) -> Response {
    (StatusCode::NOT_FOUND, Json(json!({"message": words}))).into_response()
}

async fn info() -> Response {
    Json(json!({
        "version": "0.22.1", "debug_mode": false, "automatic_backups": true, "data_dir": "/data", "backups_dir": "/data/backups",
        "db_type": "sqlite",
    }))
    .into_response()
}

async fn filaments(State(host): State<SpoolHost>, Query(query): Query<SpoolListQuery>) -> Response {
    let all = host.with(|inside| inside.filaments.keys().filter_map(|number| inside.filament(*number)).collect());
    listed(all, &query)
}

async fn filament(State(host): State<SpoolHost>, Path(number): Path<i64>) -> Response {
    match host.with(|inside| inside.filament(number)) {
        Some(filament) => Json(filament).into_response(),
        None => not_found(&format!("No filament with ID {number} found.")),
    }
}

async fn spools(State(host): State<SpoolHost>, Query(query): Query<SpoolListQuery>) -> Response {
    let filaments: Option<Vec<i64>> =
        query.filament.as_ref().map(|list| list.split(',').filter_map(|number| number.parse().ok()).collect());
    let all = host.with(|inside| {
        let all = inside.spools.iter().filter(|(_, spool)| {
            filaments.as_ref().is_none_or(|filaments| filaments.contains(&spool.filament))
                && (!spool.archived || query.allow_archived == Some(true))
        });
        all.filter_map(|(number, _)| inside.spool(*number)).collect()
    });
    listed(all, &query)
}

async fn spool(State(host): State<SpoolHost>, Path(number): Path<i64>) -> Response {
    match host.with(|inside| inside.spool(number)) {
        Some(spool) => Json(spool).into_response(),
        None => not_found(&format!("No spool with ID {number} found.")),
    }
}

async fn use_spool(State(host): State<SpoolHost>, Path(number): Path<i64>, body: Bytes) -> Response {
    let body = bounded_json::read(&body, bounded_json::REQUEST).unwrap_or_default();
    let (weight, length) = (body["use_weight"].as_f64(), body["use_length"].as_f64());
    let grams = match (weight, length) {
        (Some(weight), None) => weight,
        (None, Some(length)) => length / 1000.0 * GRAMS_PER_METRE,
        _ => {
            let words = "Only one of use_weight or use_length can be specified.";
            return (StatusCode::BAD_REQUEST, Json(json!({"message": words}))).into_response();
        }
    };
    let updated = host.with(|inside| {
        inside.uses += 1;
        let spool = inside.spools.get_mut(&number)?;
        spool.take(grams);
        inside.spool(number)
    });
    match updated {
        Some(spool) => Json(spool).into_response(),
        None => not_found(&format!("No spool with ID {number} found.")),
    }
}
