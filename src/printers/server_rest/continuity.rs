//! Detects whether `OctoPrint` has run without a restart since a mark was taken.
//!
//! `OctoPrint` keeps the temperatures of the last half hour in memory, with one measurement every few seconds. A
//! measurement that was once in memory is therefore still there, unless `OctoPrint` has been restarted or the
//! measurement is too old. The mark consists of the time of the latest measurement and a hash of the last few
//! measurements; the check searches for these measurements. Times alone might recur, because the clock of the printer's
//! host may show any time after a power failure.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::adapter::PrinterError;
use crate::wire::PrinterHttpClient;
use domain::printer_status::ServerRun;

/// Number of measurements covered by a mark.
const MARKED_MEASUREMENTS: usize = 4;
/// Time in seconds for which `OctoPrint` keeps measurements by default, less a margin. If a list covers more time than
/// this, the marked measurements may have been dropped from it.
const KEPT_SECONDS: i64 = 25 * 60;

/// Returns a mark for the current time; `None` if there are too few measurements.
pub(super) async fn mark(wire: &PrinterHttpClient) -> Result<Option<String>, PrinterError> {
    let limit = MARKED_MEASUREMENTS.to_string();
    let latest = measurements(wire, &[("history", "true"), ("limit", &limit), ("exclude", "state,sd")]).await?;
    Ok((latest.len() == MARKED_MEASUREMENTS).then(|| mark_of(&latest)))
}

/// Checks whether the server has run without a restart since the mark was taken.
pub(super) async fn ran_since(wire: &PrinterHttpClient, mark: &str) -> Result<ServerRun, PrinterError> {
    let all = measurements(wire, &[("history", "true"), ("exclude", "state,sd")]).await?;
    let spans = |(first, last): (&Value, &Value)| Some(time(last)? - time(first)?);
    Ok(if all.windows(MARKED_MEASUREMENTS).any(|window| mark_of(window) == mark) {
        ServerRun::Unbroken
    } else if all.first().zip(all.last()).and_then(spans).is_some_and(|seconds| seconds >= KEPT_SECONDS) {
        ServerRun::Unknown
    } else {
        ServerRun::Restarted
    })
}

fn time(measurement: &Value) -> Option<i64> {
    measurement.get("time").and_then(Value::as_i64)
}

fn mark_of(measurements: &[Value]) -> String {
    let mut hash = Sha256::new();
    for measurement in measurements {
        hash.update(measurement.to_string());
    }
    let time = measurements.last().and_then(time).unwrap_or_default();
    format!("{time}-{}", hex::encode(&hash.finalize()[..8]))
}

async fn measurements(wire: &PrinterHttpClient, query: &[(&str, &str)]) -> Result<Vec<Value>, PrinterError> {
    let mut answer = wire.get("api/printer", query).await?;
    match answer.pointer_mut("/temperature/history").map(Value::take) {
        Some(Value::Array(measurements)) => Ok(measurements),
        _ => Ok(Vec::new()),
    }
}
