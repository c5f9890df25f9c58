//! Actions on jobs from page forms; the last segment of the form's path is the name of the API operation to run.

use axum::extract::State;
use serde_json::Value;

use super::{JobHandles, cancel, pause, release, resolve, resume, retry, sign_off, update};
use domain::dispatch::{SpoolToLoad, Waiting, spools_to_load};
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Runs the action named by `word`; `body` has the same format as the API request body.
pub async fn act_by_page(
    app: JobHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "pause" => pause(shop, at, call.with_body(body)).await.map(|_| ()),
        "resume" => resume(shop, at, call.with_body(body)).await.map(|_| ()),
        "cancel" => cancel(shop, at, call.with_body(body)).await.map(|_| ()),
        "retry" => retry(shop, at, call.with_body(body)).await.map(|_| ()),
        "release" => release(shop, at, call.with_body(body)).await.map(|_| ()),
        "resolve" => resolve(shop, at, call.with_body(body)).await.map(|_| ()),
        "sign-off" => sign_off(shop, at, call.with_body(body)).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

impl JobHandles {
    /// Returns the reason a job is on hold, in plain language, as in the API; `None` if it is not on hold.
    pub fn waiting_reason(&self, job: &super::Job) -> Option<String> {
        self.waiting(job).as_ref().map(Waiting::sentence)
    }

    /// Returns why a job is waiting, with all causes; `None` if it is not waiting.
    pub fn waiting(&self, job: &super::Job) -> Option<Waiting> {
        super::view::waiting(self, job)
    }

    /// Returns the printers that could print a job now, and the obstacles at the remaining ones, as in the API.
    pub fn matched(&self, job: &super::Job) -> super::matching::JobMatch {
        super::matching::of(self, job)
    }

    /// Returns the spools to load so that a job on hold can be printed.
    pub fn spools_to_load(&self, job: &super::Job) -> Vec<SpoolToLoad> {
        self.dispatcher.around(job, None, |around| spools_to_load(job, around))
    }
}
