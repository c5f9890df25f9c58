//! Detects whether Moonraker has run without a restart since a mark was taken.
//!
//! Moonraker keeps its G-code console in memory from its start. A line that it once contained is therefore still there,
//! unless Moonraker has been restarted or many lines have been added since. The mark is the time of the latest line,
//! and the check searches the console for exactly that time. The time is never compared with a clock, because the clock
//! of the printer's host may show any time after a power failure, and this server's clock may differ.

use serde_json::Value;

use super::FwRest;
use crate::adapter::PrinterError;
use domain::printer_status::ServerRun;

/// Number of console lines that Moonraker keeps by default. A console with fewer lines has not dropped any.
const CONSOLE_LINES: usize = 1000;

/// Returns a mark for the current time; `None` if the console is empty or missing.
pub(super) async fn mark(printer: &FwRest) -> Result<Option<String>, PrinterError> {
    let times = console(printer, &[("count", "1")]).await?;
    Ok(times.and_then(|times| times.last().map(f64::to_string)))
}

/// Checks whether the server has run without a restart since the mark was taken.
pub(super) async fn ran_since(printer: &FwRest, mark: &str) -> Result<ServerRun, PrinterError> {
    let (Ok(mark), Some(times)) = (mark.parse::<f64>(), console(printer, &[]).await?) else {
        return Ok(ServerRun::Unknown);
    };
    Ok(if times.iter().any(|at| at.to_bits() == mark.to_bits()) {
        ServerRun::Unbroken
    } else if times.len() >= CONSOLE_LINES {
        ServerRun::Unknown
    } else {
        ServerRun::Restarted
    })
}

/// Returns the times of the console's lines, oldest first; `None` if this Moonraker has no console.
async fn console(printer: &FwRest, query: &[(&str, &str)]) -> Result<Option<Vec<f64>>, PrinterError> {
    let answer = match printer.get("server/gcode_store", query).await {
        Err(PrinterError::NotFound(_)) => return Ok(None),
        answer => answer?,
    };
    let lines = answer
        .get("gcode_store")
        .and_then(Value::as_array)
        .ok_or_else(|| PrinterError::BadAnswer("no console lines".into()))?;
    Ok(Some(lines.iter().filter_map(|line| line.get("time")?.as_f64()).collect()))
}
