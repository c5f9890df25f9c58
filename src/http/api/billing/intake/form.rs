//! Form of a request for a custom piece: its texts and photos are received as a stream, then validated together.

use axum::extract::Request;

use super::fields::{FormTexts, IntakeFields};
use actors::app::customer_space::SpaceShare;
use domain::custom_request::MAX_PHOTOS;
use files::blobs::Blobs;
use http::error::ApiError;
use http::photo_form::{self, PhotoForm, ReceivedPhoto};

/// Valid form with its fields and photos.
pub(super) struct IntakeSubmission<'a> {
    pub(super) fields: IntakeFields,
    pub(super) photos: Vec<ReceivedPhoto<'a>>,
}

/// Reads and validates the whole form. `share` accounts for the disk space of the photos.
pub(super) async fn receive<'a>(
    blobs: &'a Blobs,
    request: Request,
    share: Option<&mut SpaceShare>,
) -> Result<IntakeSubmission<'a>, ApiError> {
    let PhotoForm { texts, photos, faults } = photo_form::receive(blobs, request, MAX_PHOTOS, share).await?;
    let mut fields = FormTexts::with(faults);
    for (name, text) in texts {
        fields.add(&name, text);
    }
    Ok(IntakeSubmission { fields: fields.read()?, photos })
}
