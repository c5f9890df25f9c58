//! What is told of the care of printers.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, PrinterData, printer_example};
use crate::domain::id::Id;

/// What is told of a printer on which maintenance is due.
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
    /// What is to be done.
    pub(crate) reminder: String,
    /// Which interval was reached, in words for people.
    pub(crate) reason: String,
    /// Whether the printer takes no job until it is done.
    pub(crate) blocking: bool,
}
carried_by! { PrinterMaintenanceDueData: "printer.maintenance_due", "Maintenance of a printer became due; told once until it is done."; }

/// What is told of work that was done to a printer.
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
    /// What was done.
    pub(crate) done: String,
    /// The names of the reminders whose work it was.
    pub(crate) resets: Vec<String>,
}
carried_by! { PrinterMaintenanceLoggedData: "printer.maintenance_logged", "Maintenance of a printer was done and logged."; }
