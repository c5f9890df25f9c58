//! New quotes, created from an uploaded model, or manually with a first line.

use api_derive::Request;
use axum::extract::{self, State};
use axum::response::Response;
use maud::{Markup, html};

use super::line::{self, LineChoices};
use super::{MODELS_PATH, NEW_PATH, StaffQuoteHandles, draft};
use crate::form::{Form, PageForm, check_token};
use crate::frame::{NEXT_SLOT, SLOT, see_other, with_parts};
use crate::staff::sheet::{FormSheet, customer_link, line_field, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, with_token};
use crate::staff::{QUOTES_PATH, REQUESTS_PATH};
use domain::bounds::MAX_QUANTITY;
use domain::custom_request::CustomRequest;
use domain::id::Id;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::quotes::{operations, quote_model};
use words::Language;
use words::staff::quotes as texts;

/// Form field that contains the custom request that the quote is for.
const REQUEST_FIELD: &str = "customRequestId";

/// Query parameters of the page for a new quote.
#[derive(Request, Debug)]
pub(super) struct NewQuoteQuery {
    /// Custom request that the quote is for.
    request: Option<Id>,
}

/// Query parameters of the URL to which a model is uploaded.
#[derive(Request, Debug)]
pub(super) struct ModelQuery {
    /// CSRF token of the session.
    token: Option<String>,
}

/// Serves the forms for a new quote.
pub(super) async fn show(
    State(app): State<StaffQuoteHandles>,
    OpenQuery(query): OpenQuery<NewQuoteQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    page(&app, &viewer, query.request, &Form::default()).await
}

/// Creates a draft quote from the form.
pub(super) async fn create(State(app): State<StaffQuoteHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let typed = Form::named("new", &sent);
    let currency = typed.some("currency").unwrap_or(&app.config.orders.currency);
    let body = sent.body().day("validUntil", sent.call.clock()).with("lines", vec![line::line_of(&typed, currency)]);
    match operations::create(&app.quotes, None, &sent.request_of(body)).await {
        Ok(quote) => Ok(see_other(&page_of(QUOTES_PATH, quote.id))),
        Err(error) => {
            let request = typed.text(REQUEST_FIELD).parse().ok();
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(page(&app, &viewer, request, &typed).await?))
        }
    }
}

/// Stores an uploaded model and redirects to the draft quote created from it.
pub(super) async fn upload(
    State(app): State<StaffQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<ModelQuery>,
    request: extract::Request,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
    check_token(&app.config, session, query.token.as_deref().unwrap_or_default())?;
    match quote_model(&app.quotes, who, None, request).await {
        Ok(quote) => Ok(see_other(&page_of(QUOTES_PATH, quote.id))),
        Err(error) => {
            let typed = Form::empty(viewer.language()).with_refusal(error)?;
            Ok(typed.answer(page(&app, &viewer, None, &typed).await?))
        }
    }
}

async fn page(
    app: &StaffQuoteHandles,
    viewer: &StaffViewer,
    request: Option<Id>,
    refused: &Form,
) -> Result<Response, ApiError> {
    let state = match request {
        Some(id) => Some(find_existing(&app.requests.custom_requests, id).await?.1),
        None => None,
    };
    let request = state.as_ref().map(|state| state_of(state)).transpose()?;
    let language = viewer.language();
    let choices = LineChoices::read(app, language).await?;
    let materials = line::materials(app).await?;
    let title = texts::new_quote(language);
    let content = html! {
        p { a href=(QUOTES_PATH) { (texts::all_quotes(language)) } }
        h1 { (title) }
        @if let Some(request) = request { p { (responds_to(language, request)) } }
        (model_form(language, request, &materials, refused))
        (hand_form(language, request, &choices, &app.config.orders.currency, refused))
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

/// Renders the sentence about the custom request that the quote is for.
fn responds_to(language: Language, request: &CustomRequest) -> Markup {
    let link = html! { a href=(page_of(REQUESTS_PATH, request.id)) { (texts::a_request(language)) } };
    let customer = customer_link(&request.customer_email);
    with_parts(&texts::responds_to(language, SLOT, NEXT_SLOT), &[&link, &customer])
}

fn model_form(
    language: Language,
    request: Option<&CustomRequest>,
    materials: &[(String, String)],
    refused: &Form,
) -> Markup {
    let sheet = FormSheet::new("", refused);
    html! {
        section class="card" aria-labelledby="from-model" {
            h2 id="from-model" { (texts::by_model(language)) }
            p { (texts::by_model_text(language)) }
            form method="post" enctype="multipart/form-data" action=(with_token(MODELS_PATH)) {
                (sheet.faults())
                @if let Some(request) = request {
                    input type="hidden" name=(REQUEST_FIELD) value=(request.id);
                    input type="hidden" name="customerEmail" value=(request.customer_email);
                }
                div class="tools" {
                    div class="field" {
                        label for="model-file" { (texts::model_file_field(language)) }
                        input id="model-file" name="file" type="file" accept=".stl,.3mf" required;
                    }
                    div class="field narrow" {
                        label for="model-quantity" { (texts::quantity_field(language)) }
                        input id="model-quantity" name="quantity" type="number" min="1" max=(MAX_QUANTITY) value="1" required;
                    }
                    @if !materials.is_empty() {
                        div class="field" {
                            label for="model-material" { (texts::material_field(language)) }
                            select id="model-material" name="materialId" {
                                @for (id, name) in materials { option value=(id) { (name) } }
                            }
                        }
                    }
                    button type="submit" { (texts::create_from_model(language)) }
                }
            }
        }
    }
}

fn hand_form(
    language: Language,
    request: Option<&CustomRequest>,
    choices: &LineChoices,
    currency: &str,
    refused: &Form,
) -> Markup {
    let sheet = FormSheet::new("new", refused);
    let email = request.map_or("", |request| request.customer_email.as_str());
    let (of_currency, currency_hint) = (texts::currency_field(language), texts::currency_hint(language));
    html! {
        section class="card" aria-labelledby="by-hand" {
            h2 id="by-hand" { (texts::by_hand(language)) }
            p { (texts::by_hand_text(language)) }
            form method="post" action=(NEW_PATH) {
                (sheet.once_head())
                @if let Some(request) = request { input type="hidden" name=(REQUEST_FIELD) value=(request.id); }
                (draft::head_fields(language, &sheet, email, "", ""))
                (line::fields(language, &sheet, choices, None, currency))
                (sheet.field(line_field("currency", &of_currency, 3).hint(&currency_hint), ""))
                button type="submit" { (texts::create_draft(language)) }
            }
        }
    }
}
