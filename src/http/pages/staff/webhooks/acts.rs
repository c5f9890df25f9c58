//! Actions on a webhook endpoint, each performed by the API operation.

use axum::extract::State;
use axum::response::Response;

use super::WebhookPageHandles;
use super::form::{body_of, shown_once};
use super::log::LogQuery;
use super::page::render_page;
use crate::form::{Form, PageForm};
use crate::frame::see_other;
use crate::staff::WEBHOOKS_PATH;
use crate::staff::acts::PathAct;
use domain::endpoint::EndpointCommand;
use domain::id::Id;
use domain::refusal::Refusal;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::{deliveries, endpoints};
use words::staff::webhooks as texts;

/// Returns the path of an endpoint's page.
fn path_of(id: Id) -> String {
    format!("{WEBHOOKS_PATH}/{id}")
}

/// Redirects to the endpoint's page, or serves the page with the errors in the form of the given name.
async fn answered(
    app: &WebhookPageHandles,
    id: Id,
    (name, sent): (&str, &PageForm),
    done: Result<(), ApiError>,
) -> Result<Response, ApiError> {
    match done {
        Ok(()) => Ok(see_other(&path_of(id))),
        Err(error) => {
            let form = Form::named(name, sent).with_refusal(error)?;
            Ok(form.answer(render_page(app, id, &sent.call.who, &LogQuery::default(), &form).await?))
        }
    }
}

/// Changes an endpoint's URL or the events sent to it.
pub(super) async fn change(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let done = endpoints::change(&app.endpoints, id, &sent.request_of(body_of(&sent))).await;
    answered(&app, id, ("change", &sent), done.map(drop)).await
}

/// Replays the events sent since a given time.
pub(super) async fn replay(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let body = sent.body().minute("since", sent.call.clock());
    let done = deliveries::start_replay(&app.endpoints, id, &sent.request_of(body)).await;
    answered(&app, id, ("replay", &sent), done.map(drop)).await
}

/// Rotates an endpoint's secret and shows the new one once.
pub(super) async fn rotate(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let disclosure = endpoints::rotate_secret(&app.endpoints, id, &sent.request()).await?;
    let title = texts::rotated_title(sent.call.who.language);
    shown_once(&app, &sent.call.who, &title, &disclosure)
}

/// Performs the action named in the last segment of the path.
pub(super) async fn act_on(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let (app, call) = (&app.endpoints, sent.request());
    let done = match word.as_str() {
        "test" => deliveries::send_test(app, id, &call).await.map(drop),
        "enable" => endpoints::execute(app, id, &call, EndpointCommand::Enable).await.map(drop),
        "disable" => endpoints::execute(app, id, &call, EndpointCommand::Disable).await.map(drop),
        "delete" => endpoints::delete(app, id, &sent.call).await.map(drop),
        _ => Err(Refusal::not_found("act").into()),
    };
    done?;
    Ok(if word == "delete" { see_other(WEBHOOKS_PATH) } else { see_other(&path_of(id)) })
}

/// Redelivers one delivery.
pub(super) async fn redeliver(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let done = deliveries::send_again(&app.endpoints, id, &sent.request()).await?;
    Ok(see_other(&path_of(done.answer.delivery.endpoint_id)))
}
