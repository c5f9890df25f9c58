//! Whether this Moonraker has run without a restart since a marked moment.
//!
//! It keeps its G-code console in memory from its start on: a line that was there is there still, unless it was
//! restarted or very many lines came since. The mark is the time of the latest line, which is looked up as it is:
//! neither the clock of the printer's host, which may start anywhere after a loss of power, nor ours is compared with
//! anything.

use serde_json::Value;

use super::FwRest;
use crate::domain::printer_status::ServerRun;
use crate::printers::adapter::PrinterError;

/// Lines that Moonraker keeps unless it is set otherwise. A console with fewer lines has not dropped any.
const CONSOLE_LINES: usize = 1000;

/// The mark of this moment; `None` while the console is empty, or where there is none.
pub(super) async fn mark(printer: &FwRest) -> Result<Option<String>, PrinterError> {
    let times = console(printer, &[("count", "1")]).await?;
    Ok(times.and_then(|times| times.last().map(f64::to_string)))
}

/// Whether the server has run since the mark was made.
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

/// The times of the console's lines, oldest first; `None` for a Moonraker without a console.
async fn console(printer: &FwRest, query: &[(&str, &str)]) -> Result<Option<Vec<f64>>, PrinterError> {
    let answer = match printer.get("server/gcode_store", query).await {
        Err(PrinterError::NotFound(_)) => return Ok(None),
        answer => answer?,
    };
    let lines = answer
        .get("gcode_store")
        .and_then(Value::as_array)
        .ok_or_else(|| PrinterError::BadAnswer("no lines of the console".into()))?;
    Ok(Some(lines.iter().filter_map(|line| line.get("time")?.as_f64()).collect()))
}
