//! Payloads of printer maintenance events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, PrinterData, printer_example};
use crate::id::Id;

/// Data for an event about a printer that is due for maintenance.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterMaintenanceDueEventData", example = printer_example(json!({
    "lastSeenAt": null, "reminderId": "01890a5d-ac96-774b-bcce-b302099a8075", "reminder": "Clean the nozzle",
    "reason": "101.5 of 100 hours of printing", "blocking": true,
})))]
pub struct PrinterMaintenanceDueData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    pub(crate) reminder_id: Id,
    /// Maintenance work that is due.
    pub(crate) reminder: String,
    /// Human-readable description of the maintenance interval that was reached.
    pub(crate) reason: String,
    /// `true` if the printer accepts no jobs until the work is done.
    pub(crate) blocking: bool,
}
carried_by! { PrinterMaintenanceDueData:
    "printer.maintenance_due", "Maintenance of a printer became due; sent once until it is done.";
}

/// Data for an event about maintenance work done on a printer.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterMaintenanceLoggedEventData", example = printer_example(json!({
    "lastSeenAt": null, "entryId": "01890a5d-ac96-774b-bcce-b302099a8076", "done": "Nozzle cleaned",
    "resets": ["Clean the nozzle"],
})))]
pub struct PrinterMaintenanceLoggedData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    pub(crate) entry_id: Id,
    /// Maintenance work that was done.
    pub(crate) done: String,
    /// Names of the reminders that the work resets.
    pub(crate) resets: Vec<String>,
}
carried_by! { PrinterMaintenanceLoggedData:
    "printer.maintenance_logged", "Maintenance of a printer was done and logged.";
}
