//! Sign-off of the parts of a print. Jobs and the confirmation that a printer's bed is clear share the format.

use api_derive::{Request, Response};
use serde::Serialize;
use serde_json::json;

use crate::production::skus::MAX_UNITS_PER_PLATE;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::refusal::Refusal;
use domain::sign_off::{Inspection, MAX_NOTE_CHARS, SignOff};
use domain::time::Timestamp;
use http::error::ApiError;
use http::wire::{MaxChars, ONE_LINE, Optional, Within};
use kernel::directory::Directory;

/// Maximum length of a reason, in characters; the shop's configured reasons cannot be longer.
const MAX_REASON_CHARS: usize = 50;

/// Error code returned if there is nothing to sign off.
pub const NOTHING: &str = "nothing_to_sign_off";

/// Verdict on a print's parts. The defaults for omitted fields depend on how the print ended.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"goodCount": 3, "reason": "adhesion"}))]
pub struct SignOffRequest {
    /// Number of good parts on the plate. Defaults to all parts for a finished print, and to none otherwise.
    #[api(Within(0..=MAX_UNITS_PER_PLATE))]
    good_count: Optional<u32>,
    /// Reason the remaining parts were rejected; must be listed in the setting `quality.reasons`. Not recorded if all
    /// parts are good.
    #[api(ONE_LINE, MaxChars(MAX_REASON_CHARS))]
    reason: Option<String>,
    /// Note for staff.
    #[api(MaxChars(MAX_NOTE_CHARS))]
    note: Option<String>,
    /// File ID of an uploaded photo that shows the parts.
    photo_file_id: Option<Id>,
}

impl SignOffRequest {
    /// Converts the request to an inspection after checking that the photo is an image.
    pub async fn read(self, files: &Directory<File>) -> Result<Inspection, ApiError> {
        if let Some(id) = self.photo_file_id {
            let state = files.read(id).await?;
            let file = state.as_ref().and_then(|state| state.present());
            match file {
                None => return Err(Refusal::field("photoFileId", "no such file").into()),
                Some(file) if file.kind != FileKind::Image => {
                    return Err(Refusal::field("photoFileId", "must be a picture").into());
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

/// Sign-off of a print's parts.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SignOff", example = json!({
    "goodCount": 3, "plateParts": 4, "reason": "adhesion", "note": null, "photoFileId": null, "by": "user:ann@example.org",
    "at": "2026-11-02T12:00:00.000Z",
}))]
pub struct SignOffView {
    /// Number of good parts.
    good_count: u32,
    /// Number of parts on the plate.
    plate_parts: u32,
    /// Reason the remaining parts were rejected.
    reason: Option<String>,
    /// Note for staff.
    note: Option<String>,
    /// File ID of the uploaded photo that shows the parts.
    photo_file_id: Option<Id>,
    /// Actor who signed off the parts; `system` if nobody inspected them and the sign-off was derived from the print's
    /// outcome.
    by: String,
    /// Time of the sign-off.
    at: Timestamp,
}

impl From<&SignOff> for SignOffView {
    fn from(sign_off: &SignOff) -> Self {
        let SignOff { good, parts, reason, note, photo_file_id, automatic: _, by, at } = sign_off.clone();
        Self { good_count: good, plate_parts: parts, reason, note, photo_file_id, by, at }
    }
}
