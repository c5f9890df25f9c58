//! Stock actions on a material: delivery, loss, stock count, removal, and resolving a conflict with an external system
//! that also counts the material.

use axum::extract::State;
use axum::response::Response;

use super::decision::system_of;
use super::{StockHandles, material, material_path};
use crate::form::{Form, PageForm};
use crate::frame::see_other;
use crate::staff::{STOCK_PATH, TO_DO_PATH};
use domain::id::Id;
use domain::material::DELIVERY;
use http::error::ApiError;
use http::path_id::PathId;
use http::wire::typed_number;
use http_api::production::{materials, stock_links};
use words::Language;
use words::staff::stock as texts;

/// Redirects to `to`; an error is shown on the material's page, next to the form named `form`.
async fn respond<T>(
    app: &StockHandles,
    id: Id,
    (form, to): (&str, &str),
    sent: &PageForm,
    outcome: Result<T, ApiError>,
) -> Result<Response, ApiError> {
    match outcome {
        Ok(_) => Ok(see_other(to)),
        Err(error) => {
            let tried = Form::named(form, sent).with_refusal(error)?;
            Ok(tried.answer(material::page(app, &sent.call.who, id, 0, &tried).await?))
        }
    }
}

/// Returns the page to which a form returns: `other` if the form is on it, or else the material's page.
fn return_path(sent: &PageForm, id: Id, other: &str) -> String {
    if sent.text("back") == other { other.to_owned() } else { material_path(id) }
}

/// Returns the reason for received stock. The reason that the form suggests is recorded alike in each language.
fn receipt_reason(language: Language, typed: &str) -> &str {
    if typed == texts::delivery(language) { DELIVERY } else { typed }
}

/// Records a delivery.
pub(super) async fn receive(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let reason = receipt_reason(sent.call.who.language, sent.text("reason"));
    let body = sent.body().with("reason", reason);
    let outcome = materials::adjust_stock(&app.materials, id, &sent.request_of(body)).await;
    respond(&app, id, ("receive", &return_path(&sent, id, STOCK_PATH)), &sent, outcome).await
}

/// Records a loss, as a negative change. Input with a minus sign is invalid.
pub(super) async fn write_off(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = sent.body().with("delta", typed_number(&format!("-{}", sent.text("taken"))));
    let outcome = materials::adjust_stock(&app.materials, id, &sent.request_of(body)).await;
    respond(&app, id, ("write-off", &return_path(&sent, id, STOCK_PATH)), &sent, outcome).await
}

/// Records a stock count.
pub(super) async fn count(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let outcome = materials::change(&app.materials, id, &sent.request_of(sent.change())).await;
    respond(&app, id, ("count", &return_path(&sent, id, STOCK_PATH)), &sent, outcome).await
}

/// Removes a material.
pub(super) async fn remove(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let outcome = materials::archive(&app.materials, id, &sent.call).await;
    respond(&app, id, ("remove", STOCK_PATH), &sent, outcome).await
}

/// Resolves a stock conflict, either from the material's page or from the to-do page.
pub(super) async fn agree(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let system = system_of(sent.text("system"))?;
    let outcome = stock_links::resolve_conflict(&app.links, id, system, &sent.request()).await;
    respond(&app, id, ("agree", &return_path(&sent, id, TO_DO_PATH)), &sent, outcome).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_that_the_form_suggests_is_recorded_alike_in_each_language() {
        for language in Language::ALL {
            assert_eq!(receipt_reason(language, &texts::delivery(language)), DELIVERY);
            assert_eq!(receipt_reason(language, DELIVERY), DELIVERY);
            assert_eq!(receipt_reason(language, "from Sam"), "from Sam");
        }
    }
}
