//! Operations on custom requests, which the API's handlers and the staff's pages call.

use super::{CustomRequestHandles, CustomRequestPatch};
use domain::custom_request::{CustomRequest, CustomRequestChange, CustomRequestCommand};
use domain::id::Id;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::wire::{EmptyBody, OptionalBody};

/// Outcome of a command to a custom request, with the request after it.
pub type CustomRequestOutcome = CommandOutcome<CustomRequest>;

/// Changes the status or the internal notes of a custom request.
pub async fn update(
    app: &CustomRequestHandles,
    id: Id,
    call: &CommandRequest<CustomRequestPatch>,
) -> Result<CustomRequestOutcome, ApiError> {
    let patch = call.read_body()?;
    let merge = |_: &CustomRequest, version: i64| {
        let CustomRequestPatch { internal_notes, status } = patch.clone();
        let change = CustomRequestChange { internal_notes: internal_notes.present(), status: status.present() };
        Ok(CustomRequestCommand::Update { if_version: Some(version), change })
    };
    call.merge(&app.custom_requests, id, merge).await
}

/// Closes a custom request, after which its photos can be deleted.
pub async fn close(
    app: &CustomRequestHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<CustomRequestOutcome, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        Ok(CustomRequestCommand::Close)
    };
    call.ask_with(&app.custom_requests, CommandTarget::Id(id), command).await
}
