//! Uploading and deleting files from pages.

use axum::extract::{self, State};

use super::{FileHandles, FormFields, remove, take_upload};
use domain::id::Id;
use http::access::Caller;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Receives an upload and returns the ID of its file.
pub async fn take_by_page(app: &FileHandles, who: Caller, request: extract::Request) -> Result<Id, ApiError> {
    Ok(take_upload(app, who, request, FormFields::Ours).await?.done.id)
}

/// Deletes a file that is not in use.
pub async fn remove_by_page(app: FileHandles, id: Id, call: CommandRequest) -> Result<(), ApiError> {
    remove(State(app), PathId(id), call).await.map(|_| ())
}
