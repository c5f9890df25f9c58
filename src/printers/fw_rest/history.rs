//! Past prints, as recorded by Moonraker.

use serde_json::Value;

use super::FwRest;
use super::read::moment;
use crate::adapter::{Operation, PrinterError};
use crate::wire::file_name;
use domain::printer_status::{PastPrint, PrintEnd};

/// Number of prints per page.
const PAGE_PRINTS: usize = 100;
/// Maximum number of spools read per print.
const MAX_SPOOLS: usize = 64;
/// Maximum number of pages read before a print is considered missing from the history; the files of interest are
/// recent.
const MAX_PAGES: usize = 20;

/// Returns the prints of a file, newest first. Fails as unsupported if this Moonraker keeps no history; an empty
/// history is not an error.
pub(super) async fn of(printer: &FwRest, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
    let name = file_name(name)?;
    let limit = PAGE_PRINTS.to_string();
    for page in 0..MAX_PAGES {
        let start = (page * PAGE_PRINTS).to_string();
        let query = [("limit", limit.as_str()), ("start", start.as_str()), ("order", "desc")];
        let answer = printer.get("server/history/list", &query).await.map_err(|error| match error {
            PrinterError::NotFound(_) => PrinterError::Unsupported(Operation::History),
            other => other,
        })?;
        let jobs = answer
            .get("jobs")
            .and_then(Value::as_array)
            .ok_or_else(|| PrinterError::BadAnswer("no list of past prints".into()))?;
        let ours: Vec<_> = jobs
            .iter()
            .filter(|job| job.get("filename").and_then(Value::as_str) == Some(name))
            .map(|job| past(job, name))
            .collect();
        if !ours.is_empty() || jobs.len() < PAGE_PRINTS {
            return Ok(ours);
        }
    }
    Ok(Vec::new())
}

/// Converts an entry in the history. A running print has the state `in_progress` and no end. If Moonraker closed the
/// entry because it was shut down or restarted, the entry reveals nothing about the outcome, because Klipper continues
/// the print.
fn past(job: &Value, name: &str) -> PastPrint {
    let status = job.get("status").and_then(Value::as_str);
    PastPrint {
        file: name.to_owned(),
        ended: match status {
            Some("completed") => Some(PrintEnd::Finished),
            Some("cancelled") => Some(PrintEnd::Cancelled),
            Some("error" | "klippy_shutdown" | "klippy_disconnect") => Some(PrintEnd::Failed),
            _ => None,
        },
        cut_off: matches!(status, Some("interrupted" | "server_exit")),
        filament_mm: job.get("filament_used").and_then(Value::as_f64),
        started_at: job.get("start_time").and_then(moment),
        ended_at: job.get("end_time").and_then(moment),
        booked_on: spools(job),
    }
}

/// Returns the spools to which Moonraker's component `[spoolman]` attributed the print's filament.
fn spools(job: &Value) -> Vec<i64> {
    let entries = job.get("auxiliary_data").and_then(Value::as_array).into_iter().flatten();
    let of = |one: &&Value| one.get("provider").and_then(Value::as_str) == Some("spoolman");
    let listed = entries.filter(of).filter_map(|one| one.get("value")?.as_array()).flatten();
    listed.filter_map(Value::as_i64).take(MAX_SPOOLS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_print_tells_the_spools_that_it_was_booked_on() {
        let print = |auxiliary: Value| {
            past(&json!({"filename": "a.gcode", "status": "completed", "auxiliary_data": auxiliary}), "a.gcode")
                .booked_on
        };
        let spools = json!([
            {"provider": "sensor hall", "name": "width", "value": [9], "description": "Width", "units": "mm"},
            {"provider": "spoolman", "name": "spool_ids", "value": [3, null, 7], "description": "Spool IDs used", "units": null},
        ]);
        assert_eq!(print(spools), [3, 7]);
        assert!(print(Value::Null).is_empty() && print(json!([{"provider": "spoolman"}])).is_empty());
    }
}
