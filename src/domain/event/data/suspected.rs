//! What is told of a print that the failure detection suspects.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, PrinterData, printer_example};

/// What is told of a print that the failure detection suspects.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFailureSuspectedEventData", example = printer_example(json!({"lastSeenAt": null, "percent": 71, "paused": true})))]
pub struct PrinterFailureSuspectedData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// How sure the detector is, over several pictures, 0 to 100.
    pub(crate) percent: u8,
    /// Whether the print was paused; null where it was not to be.
    pub(crate) paused: Option<bool>,
}
carried_by! { PrinterFailureSuspectedData:
    "printer.failure_suspected", "The pictures of a print look like a failure; a person must look.";
}
