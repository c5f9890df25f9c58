//! What the forms of an endpoint do: each is carried out by the operation of the API.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::WebhookPageHandles;
use super::form::{said, shown_once};
use super::log::LogQuery;
use super::page::shown;
use crate::domain::id::Id;
use crate::http::error::ApiError;
use crate::http::pages::form::PageForm;
use crate::http::pages::frame::see_other;
use crate::http::pages::staff::WEBHOOKS_PATH;
use crate::http::pages::staff::acts::PathAct;
use crate::http::pages::staff::filled_form::{BEGIN_OF_DAY, is_of_form, moment, refused};
use crate::http::path_id::PathId;
use crate::http::production::{deliveries, endpoints};

/// The page of an endpoint.
fn path_of(id: Id) -> String {
    format!("{WEBHOOKS_PATH}/{id}")
}

/// Leads back to the page of the endpoint, or shows it with what was wrong with the form.
async fn answered(
    app: &WebhookPageHandles,
    id: Id,
    sent: &PageForm,
    done: Result<(), ApiError>,
) -> Result<Response, ApiError> {
    match done {
        Ok(()) => Ok(see_other(&path_of(id))),
        Err(error) if is_of_form(&error) => {
            let page = shown(app, id, &sent.call.who, &LogQuery::default(), Some((sent, &error))).await?;
            Ok(refused(page, error))
        }
        Err(error) => Err(error),
    }
}

/// Changes where it is, or what it is told.
pub(super) async fn change(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let done = endpoints::change_by_page(app.endpoints.clone(), id, &sent.call, &said(&sent)).await;
    answered(&app, id, &sent, done).await
}

/// Sends again what was sent since a moment.
pub(super) async fn replay(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let said = json!({"since": moment(sent.text("since"), BEGIN_OF_DAY)});
    let done = deliveries::replay_by_page(app.endpoints.clone(), id, &sent.call, &said).await.map(|_| ());
    answered(&app, id, &sent, done).await
}

/// Makes another secret, and shows it once.
pub(super) async fn rotate(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let told = endpoints::rotate_by_page(app.endpoints.clone(), id, &sent.call).await?;
    shown_once(&app, &sent.call.who, "The secret is changed", &told)
}

/// Does what the last word of the path names.
pub(super) async fn act_on(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    if word == "test" {
        deliveries::test_by_page(app.endpoints, id, &sent.call).await?;
    } else {
        endpoints::act_by_page(app.endpoints, id, &word, &sent.call).await?;
    }
    Ok(if word == "delete" { see_other(WEBHOOKS_PATH) } else { see_other(&path_of(id)) })
}

/// Sends one delivery again.
pub(super) async fn redeliver(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let endpoint = deliveries::redeliver_by_page(app.endpoints, id, &sent.call).await?;
    Ok(see_other(&path_of(endpoint)))
}
