//! Upload of a model for pricing: a form, and the page with the model's current price.

use axum::extract::{Request, State};
use axum::response::Response;
use maud::html;

use super::form::check_token;
use super::frame::{Section, Viewer, money, see_other};
use super::quotes::{PATH as QUOTES, QuotePageHandles};
use domain::bounds::MAX_QUANTITY;
use domain::refusal::Refusal;
use http::access::Caller;
use http::error::ApiError;
use http::limits::LimitedReply;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::quotes::{first_model, take_model};

/// Path of the model form.
pub(super) const PATH: &str = "/models";

/// Query parameters of the URL to which the upload form is submitted. The token is in the URL because the body is
/// streamed: a token in the body would be read too late.
#[derive(api_derive::Request, Debug)]
pub(super) struct UploadQuery {
    /// Form token of the session.
    token: Option<String>,
}

/// Serves the form for uploading a model.
pub(super) async fn show(State(app): State<QuotePageHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let content = html! {
        h1 { "What does my model cost?" }
        p { "Send us a model, and see a price at once. We look at it, and send you a quote that you can accept." }
        form class="card" method="post" enctype="multipart/form-data" action={ (PATH) "?token=" (viewer.token) } {
            div class="field" {
                label for="file" { "Model" }
                input id="file" name="file" type="file" accept=".stl,.3mf" required aria-describedby="kinds";
                p class="hint" id="kinds" { "An STL or 3MF file." }
            }
            div class="field" {
                label for="quantity" { "How many of it" }
                input id="quantity" name="quantity" type="number" min="1" max=(MAX_QUANTITY) value="1" required;
            }
            div class="field" {
                label for="notes" { "Notes for us" }
                textarea id="notes" name="notes" rows="4" maxlength="1000" {}
            }
            button type="submit" { "Send it" }
        }
    };
    Ok(viewer.page(Section::Quotes, "What does my model cost?", &content))
}

/// Receives a model and redirects to the page with its price.
pub(super) async fn upload(
    State(app): State<QuotePageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<UploadQuery>,
    request: Request,
) -> Result<LimitedReply<Response>, ApiError> {
    let token = query.token.unwrap_or_default();
    let session = who.session.ok_or_else(|| ApiError::internal("a customer without a session"))?;
    check_token(&app.config, session, &token)?;
    take_model(&app.own, who, None, request, |done| {
        let model = first_model(&done.answer).ok_or_else(|| ApiError::internal("a quote without its model"))?;
        Ok(see_other(&format!("{PATH}/{}", model.1.file_id)))
    })
    .await
}

/// Serves the page with the price of one of the customer's own models.
pub(super) async fn one(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let (_, email) = who.customer()?;
    let quote = app.own.quotes.queries.quote_of_model(id).await?.filter(|quote| quote.is_for(email));
    let quote = quote.ok_or_else(|| Refusal::not_found("quote"))?;
    let (line, model) = first_model(&quote).ok_or_else(|| Refusal::not_found("quote"))?;
    let amount = line.unit_price_cents.saturating_mul(line.quantity.into());
    let content = html! {
        h1 { (line.description) }
        section class="card" aria-labelledby="price" {
            h2 id="price" { "The price by now" }
            dl {
                dt { "How many" } dd { (line.quantity) }
                dt { "Size" } dd { (model.size.x) " × " (model.size.y) " × " (model.size.z) " mm" }
                dt { "Each" } dd { (money(line.unit_price_cents, &quote.currency)) }
                dt class="sum" { "Together, without tax and shipping" } dd class="sum" { (money(amount, &quote.currency)) }
            }
            p class="soft" { "It becomes more exact within a minute: load the page again. What counts is the quote that we send you." }
        }
        @if quote.is_known_to_customers() {
            a class="button" href={ (QUOTES) "/" (quote.id) } { "Open the quote" }
        } @else {
            p class="acts" { a class="button second" href={ (PATH) "/" (id) } { "Load again" } a href=(QUOTES) { "Your quotes" } }
        }
    };
    Ok(viewer.page(Section::Quotes, &line.description, &content))
}
