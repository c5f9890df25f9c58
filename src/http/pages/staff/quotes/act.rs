//! Actions on a quote, performed by the API operations. A rejected form is shown again with the user's input.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::{StaffQuoteHandles, draft, line, one};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::QUOTES_PATH;
use crate::staff::acts::PathAct;
use crate::staff::form::Form;
use crate::staff::sheet::{LINE_ACTS, at_version, line_form, page_of, without_nulls};
use crate::staff::shell::StaffViewer;
use domain::refusal::Refusal;
use http::command_request::find_present;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::quotes::operations;

/// Performs the action of a quote's form.
pub(super) async fn on_quote(
    State(app): State<StaffQuoteHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let (_, quote) = find_present(&app.quotes.quotes, id).await?;
    let name = if LINE_ACTS.contains(&word.as_str()) { line_form(&sent) } else { word.clone() };
    let typed = Form::named(&name, &sent);
    let (operation, body) = match word.as_str() {
        "change" => ("change", draft::request_body(&typed)),
        "line" => ("change", line::lines(&quote, &typed, Some(line::request_body(&typed, &quote.currency)))),
        "remove-line" => ("change", line::lines(&quote, &typed, None)),
        "withdraw" => ("withdraw", without_nulls(json!({"reason": typed.some("reason")}))),
        other => (other, json!({})),
    };
    let call = at_version(sent.call, &typed);
    let outcome = match operation {
        "change" => operations::update(&app.quotes, id, &call.with_body(&body)).await.map(drop),
        "send" => operations::send(&app.quotes, id, &call.with_body(&body)).await.map(drop),
        "withdraw" => operations::decline(&app.quotes, id, &call.with_body(&body)).await.map(drop),
        "delete" => operations::remove(&app.quotes, id, &call).await,
        _ => Err(Refusal::not_found("act").into()),
    };
    match outcome {
        Ok(()) if word == "delete" => Ok(see_other(QUOTES_PATH)),
        Ok(()) => Ok(see_other(&page_of(QUOTES_PATH, id))),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(one::page(&app, &viewer, id, &typed).await?))
        }
    }
}
