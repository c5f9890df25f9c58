//! Readiness of a standby server.

use std::collections::BTreeMap;

use api_derive::Response;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use serde::Serialize;
use serde_json::json;

use super::{DatabaseStatus, Facts, ReadyReply, Unreadiness, UnreadyStatus};
use domain::time::Timestamp;
use http::error::ApiError;
use store::lease::CurrentLeader;

/// Seconds after which clients may ask again: a server that takes over is ready by then.
pub const STANDBY_RETRY_SECONDS: u32 = 5;

/// Active server.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Leader", example = json!({"address": "https://shop.example.com", "since": "2026-11-30T08:00:00.000Z"}))]
pub(super) struct LeaderView {
    /// Public address of the server; empty if it has none, and while a command uses the database.
    address: String,
    /// Time since which it leads.
    since: Timestamp,
}

/// Returns the error that a standby server for `leader` reports.
pub fn standby_error(leader: &CurrentLeader) -> ApiError {
    let message = match (leader.is_server, leader.address.as_str()) {
        (false, _) => "this server is on standby until the database is free".to_owned(),
        (true, "") => "this server is on standby; another server is active".to_owned(),
        (true, address) => format!("this server is on standby; {address} is active"),
    };
    ApiError::unavailable("unavailable", message, STANDBY_RETRY_SECONDS)
}

/// Returns the readiness of a standby server of `leader`.
pub fn standby_readiness(leader: &CurrentLeader) -> HttpResponse {
    let error = standby_error(leader);
    let database = DatabaseStatus::Ok;
    let body = Unreadiness {
        status: UnreadyStatus::Standby,
        success: false,
        message: error.message().to_owned(),
        code: error.code().to_owned(),
        leader: Some(LeaderView { address: leader.address.clone(), since: leader.since }),
        facts: Facts { database, redis: None, components: BTreeMap::new(), degraded: Vec::new() },
    };
    ReadyReply::Not(Box::new((error, body))).into_response()
}
