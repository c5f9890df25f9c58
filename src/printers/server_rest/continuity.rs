//! Detects whether `OctoPrint` has run without a restart since a marked moment.
//!
//! `OctoPrint` keeps the temperatures of the last half hour in memory, one measurement every few seconds: measurements
//! that were once there are still there unless it was restarted or they are too old. The mark is the time of the latest
//! measurement with a hash of the last few, which are looked up verbatim. Times alone could recur, because the clock of
//! the printer's host may start at any time after a power loss.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::adapter::PrinterError;
use crate::wire::PrinterHttpClient;
use domain::printer_status::ServerRun;

/// Number of measurements covered by a mark.
const MARKED_MEASUREMENTS: usize = 4;
/// Seconds for which `OctoPrint` keeps measurements by default, with a margin. A longer list may have dropped the
/// marked ones.
const KEPT_SECONDS: i64 = 25 * 60;

/// Returns a mark for this moment; `None` while there are too few measurements.
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
