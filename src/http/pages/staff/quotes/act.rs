//! Actions on a quote, performed by the API operations. A rejected form is shown again with the user's input.

use axum::extract::State;
use axum::response::Response;

use super::{StaffQuoteHandles, line, one};
use crate::form::{Form, PageForm};
use crate::frame::see_other;
use crate::staff::QUOTES_PATH;
use crate::staff::acts::PathAct;
use crate::staff::sheet::{LINE_ACTS, line_form, page_of};
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
    let sent = sent.at_version();
    let typed = Form::named(&name, &sent);
    let body = match word.as_str() {
        "line" => {
            let line = line::line_of(&typed, &quote.currency);
            sent.change().with("lines", line::lines(&quote, &typed, Some(line)))
        }
        "remove-line" => sent.change().with("lines", line::lines(&quote, &typed, None)),
        _ => sent.change().day("validUntil", sent.call.clock()),
    };
    let outcome = match word.as_str() {
        "change" | "line" | "remove-line" => {
            operations::update(&app.quotes, id, &sent.request_of(body)).await.map(drop)
        }
        "send" => operations::send(&app.quotes, id, &sent.request()).await.map(drop),
        "withdraw" => operations::decline(&app.quotes, id, &sent.request()).await.map(drop),
        "delete" => operations::remove(&app.quotes, id, &sent.call).await,
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
