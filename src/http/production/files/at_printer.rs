//! G-code that is brought to the page of a printer, to be printed there.

use axum::extract;

use super::{FileHandles, FormFields, take_upload};
use crate::domain::id::Id;
use crate::http::access::Caller;
use crate::http::error::ApiError;

/// Takes it off the wire and records it; gives the id of the file.
pub(crate) async fn take_gcode(app: &FileHandles, who: Caller, request: extract::Request) -> Result<Id, ApiError> {
    Ok(take_upload(app, who, request, FormFields::AtPrinter).await?.done.id)
}
