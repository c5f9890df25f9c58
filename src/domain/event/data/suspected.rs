//! Payload of failure detection events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, PrinterData, printer_example};

/// Data for an event about a print that failure detection suspects is failing.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFailureSuspectedEventData", example = printer_example(json!({"lastSeenAt": null, "percent": 71, "paused": true})))]
pub struct PrinterFailureSuspectedData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// Confidence of the detector averaged over several images, from 0 to 100.
    pub(crate) percent: u8,
    /// `true` if the print was paused; null if no pause was intended.
    pub(crate) paused: Option<bool>,
}
carried_by! { PrinterFailureSuspectedData:
    "printer.failure_suspected", "The camera images of a print indicate a failure; an operator must check it.";
}
