//! Uploading a model for pricing: a form with the models uploaded so far, and the page with a model's current price.

use axum::extract::{Request, State};
use axum::response::Response;
use maud::{Markup, html};

use super::form::check_token;
use super::frame::{PageLanguage, Section, Viewer, see_other};
use super::paths::{MODELS, QUOTES};
use super::pictures;
use super::quotes::QuotePageHandles;
use crate::design::{Icon, Tone, chip, icon};
use domain::bounds::MAX_QUANTITY;
use domain::notation::{amount, size};
use domain::quote::{Quote, QuoteLine, QuoteModel};
use domain::refusal::Refusal;
use http::access::Caller;
use http::error::ApiError;
use http::limits::LimitedReply;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::quotes::{first_model, take_model};
use http_api::production::quotes::ModelSlicing;
use store::queries::{Page, QuoteFilter};
use words::{Language, pages};

/// Number of the customer's newest quotes in which uploaded models are searched.
const SEARCHED_QUOTES: u64 = 50;
/// Maximum number of uploaded models that are listed.
const MAX_LISTED: usize = 20;

/// Returns the label of the field for an API member in the form of a model, whose errors have a separate page.
pub(super) fn label_of(language: Language, member: &str) -> Option<String> {
    match member {
        "file" => Some(pages::model_field(language)),
        "notes" => Some(pages::notes_field(language)),
        _ => None,
    }
}

/// Query parameters of the URL to which the upload form is submitted. The URL contains the CSRF token because the body
/// is streamed: a token in the body would be read too late.
#[derive(api_derive::Request, Debug)]
pub(super) struct UploadQuery {
    /// CSRF token of the session.
    token: Option<String>,
}

/// Serves the form for uploading a model, and the models uploaded so far.
pub(super) async fn show(
    State(app): State<QuotePageHandles>,
    who: Caller,
    PageLanguage(language): PageLanguage,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let (_, email) = who.customer()?;
    let uploads = uploads(&app, email).await?;
    let title = pages::models_title(language);
    let content = html! {
        h1 { (title) }
        p { (pages::models_text(language)) }
        form class="panel pad" method="post" enctype="multipart/form-data" action={ (MODELS) "?token=" (viewer.token) } {
            div class="field" {
                label for="file" { (pages::model_field(language)) }
                input id="file" name="file" type="file" accept=".stl,.3mf" required aria-describedby="kinds";
                p class="hint" id="kinds" { (pages::model_hint(language)) }
            }
            div class="field" {
                label for="quantity" { (pages::quantity(language)) }
                input id="quantity" name="quantity" type="number" min="1" max=(MAX_QUANTITY) value="1" required;
            }
            div class="field" {
                label for="notes" { (pages::notes_field(language)) }
                textarea id="notes" name="notes" rows="4" maxlength="1000" {}
            }
            button type="submit" { (icon(Icon::Upload)) (pages::upload(language)) }
        }
        @if !uploads.is_empty() {
            section aria-labelledby="uploads" {
                h2 id="uploads" { (pages::uploads(language)) }
                ul class="panel rows" {
                    @for quote in &uploads {
                        @if let Some((line, model)) = first_model(quote) { (row(language, quote, line, model)) }
                    }
                }
            }
        }
    };
    Ok(viewer.page(Section::Quotes, &title, &content))
}

/// Returns the quotes for models uploaded by the customer, newest first. Models that the shop uploaded for the customer
/// are not included.
async fn uploads(app: &QuotePageHandles, email: &str) -> Result<Vec<Quote>, ApiError> {
    let (handles, page) = (&app.own.quotes, Page { limit: SEARCHED_QUOTES, offset: 0 });
    let now = handles.environment.now();
    let filter = QuoteFilter { customer_email: Some(email.to_owned()), now, ..QuoteFilter::default() };
    let (quotes, _) = handles.queries.quotes(&filter, page).await?;
    let mut uploads = Vec::new();
    for quote in quotes.into_iter().filter_map(|quote| quote.state) {
        let Some(file) = first_model(&quote).map(|(_, model)| model.file_id) else { continue };
        let state = handles.files.read(file).await?;
        let is_own = state.is_some_and(|file| file.state.as_ref().is_some_and(|file| file.customer_upload.is_some()));
        if is_own && uploads.len() < MAX_LISTED {
            uploads.push(quote);
        }
    }
    Ok(uploads)
}

/// Renders an uploaded model in the list.
fn row(language: Language, quote: &Quote, line: &QuoteLine, model: &QuoteModel) -> Markup {
    let cents = line.unit_price_cents.saturating_mul(line.quantity.into());
    html! {
        li class="row" {
            (pictures::model("thumb", model.file_id))
            div {
                a class="tall" href={ (MODELS) "/" (model.file_id) } { (line.quantity) " × " (line.description) } " "
                (state_chip(language, quote, model))
                div class="small muted" { (size(language, model.size)) }
            }
            span class="num" { (amount(language, cents, &quote.currency)) }
        }
    }
}

/// Renders the progress of a model's pricing.
fn state_chip(language: Language, quote: &Quote, model: &QuoteModel) -> Markup {
    if quote.is_known_to_customers() {
        return chip(Tone::Working, &pages::model_quoted(language));
    }
    let text = match ModelSlicing::of(model) {
        ModelSlicing::Pending => pages::model_priced(language),
        ModelSlicing::None | ModelSlicing::Done | ModelSlicing::Failed => pages::model_checked(language),
    };
    chip(Tone::Idle, &text)
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
        Ok(see_other(&format!("{MODELS}/{}", model.1.file_id)))
    })
    .await
}

/// Serves the page with the price of a model that the customer uploaded.
pub(super) async fn one(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    who: Caller,
    PageLanguage(language): PageLanguage,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let (_, email) = who.customer()?;
    let quote = app.own.quotes.queries.quote_of_model(id).await?.filter(|quote| quote.is_for(email));
    let quote = quote.ok_or_else(|| Refusal::not_found("quote"))?;
    let (line, model) = first_model(&quote).ok_or_else(|| Refusal::not_found("quote"))?;
    let cents = line.unit_price_cents.saturating_mul(line.quantity.into());
    let money = |cents: i64| amount(language, cents, &quote.currency);
    let content = html! {
        section class="panel hero" {
            (pictures::model("view", id))
            div {
                h1 { (line.description) }
                p { (state_chip(language, &quote, model)) }
            }
        }
        section class="panel pad" aria-labelledby="price" {
            h2 id="price" { (pages::current_price(language)) }
            dl {
                dt { (pages::quantity(language)) } dd { (line.quantity) }
                dt { (pages::size(language)) } dd { (size(language, model.size)) }
                dt { (pages::price_each(language)) } dd { (money(line.unit_price_cents)) }
                dt class="sum" { (pages::net_total(language)) } dd class="sum" { (money(cents)) }
            }
            p class="small muted" {
                @if ModelSlicing::of(model) == ModelSlicing::Pending { (pages::price_pending(language)) }
                @else { (pages::price_text(language)) }
            }
        }
        @if quote.is_known_to_customers() {
            a class="button" href={ (QUOTES) "/" (quote.id) } { (pages::open_quote(language)) }
        } @else {
            p class="acts" {
                a class="btn" href={ (MODELS) "/" (id) } { (icon(Icon::RefreshCw)) (pages::load_again(language)) }
                a class="btn" href=(MODELS) { (pages::all_models(language)) }
            }
        }
    };
    Ok(viewer.page(Section::Quotes, &line.description, &content))
}
