//! Stock actions on a material: delivery, loss, stock count, removal, and resolving a conflict with an external system
//! that also counts the material.

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::decision::system_of;
use super::{StockHandles, material, material_path, number};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::form::Form;
use crate::staff::{STOCK_PATH, TO_DO_PATH};
use domain::id::Id;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::materials::act_by_page;
use http_api::production::stock_links::agree_by_page;

/// Performs the API operation and redirects to the material's page, or to the list if the form is on it; an error is
/// shown on the material's page, next to the form.
async fn done(
    app: &StockHandles,
    id: Id,
    (form, operation): (&str, &str),
    body: &Value,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let (tried, who) = (Form::named(form, &sent), sent.call.who.clone());
    let to = if sent.text("back") == STOCK_PATH { STOCK_PATH.to_owned() } else { material_path(id) };
    match act_by_page(app.materials.clone(), id, operation, sent.call, body).await {
        Ok(()) if operation == "remove" => Ok(see_other(STOCK_PATH)),
        Ok(()) => Ok(see_other(&to)),
        Err(error) => {
            let tried = tried.with_refusal(error)?;
            Ok(tried.answer(material::page(app, &who, id, 0, &tried).await?))
        }
    }
}

/// Records a delivery.
pub(super) async fn receive(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = json!({"delta": number(sent.text("delta")), "reason": sent.text("reason")});
    done(&app, id, ("receive", "adjust"), &body, sent).await
}

/// Records a loss, as a negative change. Input with a minus sign is invalid.
pub(super) async fn write_off(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let delta = number(&format!("-{}", sent.text("taken")));
    let body = json!({"delta": delta, "reason": sent.text("reason")});
    done(&app, id, ("write-off", "adjust"), &body, sent).await
}

/// Records a stock count.
pub(super) async fn count(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = json!({"quantity": number(sent.text("quantity"))});
    done(&app, id, ("count", "change"), &body, sent).await
}

/// Removes a material.
pub(super) async fn remove(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    done(&app, id, ("remove", "remove"), &json!({}), sent).await
}

/// Resolves a stock conflict, either from the material's page or from the to-do page.
pub(super) async fn agree(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let (tried, who) = (Form::named("agree", &sent), sent.call.who.clone());
    let to = if sent.text("back") == TO_DO_PATH { TO_DO_PATH.to_owned() } else { material_path(id) };
    let system = system_of(sent.text("system"))?;
    let body = json!({"right": sent.text("right"), "theirs": number(sent.text("theirs"))});
    match agree_by_page(app.links.clone(), (id, system), sent.call, &body).await {
        Ok(()) => Ok(see_other(&to)),
        Err(error) => {
            let tried = tried.with_refusal(error)?;
            Ok(tried.answer(material::page(&app, &who, id, 0, &tried).await?))
        }
    }
}
