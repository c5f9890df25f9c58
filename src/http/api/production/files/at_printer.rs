//! G-code uploads from a printer's page, to be printed on that printer.

use axum::extract;

use super::{FileHandles, FormFields, take_upload};
use domain::id::Id;
use http::access::Caller;
use http::error::ApiError;

/// Receives a G-code upload and returns the ID of its file.
pub async fn take_gcode(app: &FileHandles, who: Caller, request: extract::Request) -> Result<Id, ApiError> {
    Ok(take_upload(app, who, request, FormFields::AtPrinter).await?.done.id)
}
