//! Payload of sign-off events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, JobData};
use crate::id::Id;

/// Data for an event about a print whose parts were signed off.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobSignedOffEventData", example = json!({
    "jobId": super::JOB, "orderId": super::ORDER, "skuId": "01890a5d-ac96-774b-bcce-b302099a8063", "printerId": super::PRINTER,
    "error": null, "attemptId": "01890a5d-ac96-774b-bcce-b302099a8068", "goodCount": 3, "plateParts": 4, "reason": "adhesion",
}))]
pub struct JobSignedOffData {
    #[serde(flatten)]
    pub(crate) job: JobData,
    /// Identifier of the attempt whose parts were inspected.
    pub(crate) attempt_id: Id,
    /// Number of good parts.
    pub(crate) good_count: u32,
    /// Number of parts on the build plate.
    pub(crate) plate_parts: u32,
    /// Reason why the other parts were rejected.
    pub(crate) reason: Option<String>,
}
carried_by! { JobSignedOffData:
    "job.signed_off", "An operator signed off the parts of a print; a later sign-off replaces an earlier one.";
}
