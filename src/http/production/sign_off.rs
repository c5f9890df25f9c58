//! What a person says of the parts of a print: read the same for a printer whose bed is cleared and for a job.

use api_derive::{Request, Response};
use serde::Serialize;
use serde_json::json;

use crate::actors::kernel::directory::Directory;
use crate::domain::file::{File, FileKind};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::sign_off::{Inspection, MAX_NOTE_CHARS, SignOff};
use crate::domain::time::Timestamp;
use crate::http::error::ApiError;
use crate::http::production::skus::MAX_UNITS_PER_PLATE;
use crate::http::wire::{MaxChars, ONE_LINE, Optional, Within};

/// Most characters of a reason; the shop's list has none that is longer.
const MAX_REASON_CHARS: usize = 50;

/// The same refusal wherever nothing can be signed off.
pub const NOTHING: &str = "nothing_to_sign_off";

/// How the parts of a print are. What is left out follows from how the print ended.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"goodCount": 3, "reason": "adhesion"}))]
pub struct SignOffRequest {
    /// How many parts of the plate are good. Left out: all of a print that finished, none of any other.
    #[api(Within(0..=MAX_UNITS_PER_PLATE))]
    good_count: Optional<u32>,
    /// Why the other parts are not good: one of the words of the setting `quality.reasons`.
    #[api(ONE_LINE, MaxChars(MAX_REASON_CHARS))]
    reason: Option<String>,
    /// Note for the staff.
    #[api(MaxChars(MAX_NOTE_CHARS))]
    note: Option<String>,
    /// An uploaded picture of the parts.
    photo_file_id: Option<Id>,
}

impl SignOffRequest {
    /// What was said, once the picture is known to be one.
    pub async fn read(self, files: &Directory<File>) -> Result<Inspection, ApiError> {
        if let Some(id) = self.photo_file_id {
            let state = files.read(id).await?;
            let file = state.as_ref().and_then(|state| state.state.as_ref()).filter(|file| !file.archived);
            match file {
                None => return Err(Refusal::field("photoFileId", "no such file").into()),
                Some(file) if file.kind != FileKind::Image => {
                    return Err(Refusal::field("photoFileId", "must be an image").into());
                }
                Some(_) => {}
            }
        }
        Ok(Inspection {
            good_count: self.good_count.present(),
            reason: self.reason,
            note: self.note,
            photo_file_id: self.photo_file_id,
        })
    }
}

/// What was said of the parts of a print.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SignOff", example = json!({
    "goodCount": 3, "plateParts": 4, "reason": "adhesion", "note": null, "photoFileId": null, "by": "user:ann@example.org",
    "at": "2026-11-02T12:00:00.000Z",
}))]
pub struct SignOffView {
    /// How many parts are good.
    good_count: u32,
    /// How many parts were on the plate.
    plate_parts: u32,
    /// Why the others are not.
    reason: Option<String>,
    /// Note for the staff.
    note: Option<String>,
    /// An uploaded picture of the parts.
    photo_file_id: Option<Id>,
    /// Who said it; `system` where nobody has looked, and the end of the print stands for it.
    by: String,
    /// When it was said.
    at: Timestamp,
}

impl From<&SignOff> for SignOffView {
    fn from(sign_off: &SignOff) -> Self {
        let SignOff { good, parts, reason, note, photo_file_id, automatic: _, by, at } = sign_off.clone();
        Self { good_count: good, plate_parts: parts, reason, note, photo_file_id, by, at }
    }
}
