//! Custom request page for the staff: photos, description, estimate, the resulting quotes, and the forms for quoting,
//! annotating and closing the request.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::requests::{STATUSES, request_state};
use super::{NEW_PATH, StaffQuoteHandles, quote_row};
use crate::form::PageForm;
use crate::frame::{money, see_other, time};
use crate::staff::acts::PathAct;
use crate::staff::form::Form;
use crate::staff::sheet::{FEW_ROWS, FormSheet, astray, at_version, few, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use crate::staff::{CUSTOMERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use domain::custom_request::{CustomRequest, CustomRequestStatus, Photo};
use domain::id::Id;
use domain::picture_format::PictureFormat;
use domain::quote::Quote;
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::custom_requests::operations;
use http_api::production::quotes::operations::answer_request;
use store::queries::QuoteFilter;

/// Serves a custom request's page.
pub(super) async fn show(
    State(app): State<StaffQuoteHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    page(&app, &viewer, id, &Form::default()).await
}

/// Performs the action of a custom request's form. Quoting redirects to the new draft.
pub(super) async fn act(
    State(app): State<StaffQuoteHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let typed = Form::named(&word, &sent);
    let body = if word == "change" {
        let mut body = json!({"internalNotes": typed.some("internalNotes")});
        if let Some(status) = typed.some("status") {
            body["status"] = json!(status);
        }
        body
    } else {
        json!({})
    };
    let call = at_version(sent.call, &typed);
    let outcome = match word.as_str() {
        "quote" => {
            let done = answer_request(&app.quotes, id, &call.with_body(&body)).await;
            done.map(|quote| page_of(QUOTES_PATH, quote.id))
        }
        "change" => {
            let done = operations::update(&app.requests, id, &call.with_body(&body)).await;
            done.map(|request| page_of(REQUESTS_PATH, request.id))
        }
        "close" => {
            let done = operations::close(&app.requests, id, &call.with_body(&body)).await;
            done.map(|request| page_of(REQUESTS_PATH, request.id))
        }
        _ => Err(Refusal::not_found("act").into()),
    };
    match outcome {
        Ok(next) => Ok(see_other(&next)),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(page(&app, &viewer, id, &typed).await?))
        }
    }
}

async fn page(app: &StaffQuoteHandles, viewer: &StaffViewer, id: Id, refused: &Form) -> Result<Response, ApiError> {
    let (_, state) = find_existing(&app.requests.custom_requests, id).await?;
    let request = state_of(&state)?;
    let now = app.quotes.environment.now();
    let filter = QuoteFilter { custom_request_id: Some(id), now, ..QuoteFilter::default() };
    let (quotes, _) = app.quotes.queries.quotes(&filter, FEW_ROWS).await?;
    let quotes: Vec<&Quote> = quotes.iter().filter_map(|one| one.state.as_ref()).collect();
    let rows: Vec<Markup> = quotes.iter().map(|quote| quote_row(quote, now)).collect();
    let forms = acts(request, refused);
    let title = format!("Custom request from {}", request.customer_name);
    let content = html! {
        p { a href=(REQUESTS_PATH) { "All custom requests" } }
        (astray(refused, &forms))
        div id="request" data-fresh="" {
            (head(request, &title))
            (photos(request))
            (wishes(request))
            (estimate(request))
            (few("answers", "Quotes", &rows, "None yet."))
        }
        div id="request-acts" data-fresh="" { (forms) }
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

fn head(request: &CustomRequest, title: &str) -> Markup {
    let (tone, words) = request_state(request.status);
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            dl class="left" {
                dt { "Customer" }
                dd { a href=(page_of(CUSTOMERS_PATH, request.customer_id)) { (request.customer_name) } ", " (request.customer_email) }
                @if let Some(phone) = &request.phone { dt { "Phone" } dd { (phone) } }
                dt { "Received" } dd { (time(request.created_at)) ", from the site " (request.site) }
                dt { "Estimate valid until" } dd { (time(request.valid_until)) }
                @if let Some(notes) = &request.internal_notes { dt { "Internal notes" } dd class="as-written" { (notes) } }
            }
        }
    }
}

/// Renders the customer's photos. They are loaded from an API URL that serves them only to staff, and only as images.
fn photos(request: &CustomRequest) -> Markup {
    html! {
        section class="card" aria-labelledby="photos" {
            h2 id="photos" { "Photos" }
            @if request.status == CustomRequestStatus::Closed {
                p class="soft" { "The request is closed. Its photos may have been deleted." }
            }
            ul class="photos" { @for (number, one) in (1_u32..).zip(&request.photos) { li { (photo(request, number, one)) } } }
        }
    }
}

fn photo(request: &CustomRequest, number: u32, photo: &Photo) -> Markup {
    let path = format!("/api/custom-requests/{}/photos/{number}", request.id);
    html! {
        a href=(path) {
            @if photo.format == PictureFormat::Heic {
                "Photo " (number) " (HEIC, which few browsers can show)"
            } @else {
                img src=(path) alt={ "Photo " (number) " from " (request.customer_name) } loading="lazy" width="240" height="180";
            }
        }
    }
}

fn wishes(request: &CustomRequest) -> Markup {
    let wishes = &request.wishes;
    html! {
        section class="card" aria-labelledby="wishes" {
            h2 id="wishes" { "Request details" }
            dl class="left" {
                dt { "Product" } dd { (wishes.product_type) }
                dt { "Subject" } dd { (wishes.subject_type) }
                dt { "Style" } dd { (wishes.style_id) }
                dt { "Size" } dd { (wishes.size_id) }
                dt { "Base" } dd { (wishes.base_option_id) }
                dt { "Colours" } dd { (wishes.color_count) }
                dt { "UV coating" } dd { @if wishes.uv_coating { "yes" } @else { "no" } }
                @if !wishes.addon_ids.is_empty() { dt { "Add-ons" } dd { (wishes.addon_ids.join(", ")) } }
                @if let Some(inscription) = &wishes.inscription { dt { "Inscription" } dd { (inscription) } }
                @if let Some(notes) = &wishes.notes { dt { "Customer notes" } dd class="as-written" { (notes) } }
            }
        }
    }
}

fn estimate(request: &CustomRequest) -> Markup {
    let estimate = &request.estimate;
    html! {
        section class="card" aria-labelledby="estimate" {
            h2 id="estimate" { "Estimate" }
            dl class="sums" {
                @for item in &estimate.items {
                    dt {
                        (item.path)
                        @if !item.is_listed { " " span class=(Tone::Attention.class()) { "not in the price tables" } }
                    }
                    dd { (money(item.cents, &estimate.currency)) }
                }
                dt class="sum" { "Total" } dd class="sum" { (money(estimate.total_cents, &estimate.currency)) }
            }
        }
    }
}

fn acts(request: &CustomRequest, refused: &Form) -> Markup {
    let path = |act: &str| format!("{}/{act}", page_of(REQUESTS_PATH, request.id));
    let (change, close) = (FormSheet::new("change", refused), FormSheet::new("close", refused));
    let statuses = STATUSES.into_iter().filter(|status| *status != CustomRequestStatus::Closed);
    let statuses = statuses.map(|status| (status.to_string(), request_state(status).1.to_owned()));
    let keeps = (String::new(), "No change".to_owned());
    let statuses: Vec<(String, String)> = [keeps].into_iter().chain(statuses).collect();
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { "Actions" }
            @if request.status == CustomRequestStatus::Closed {
                p { "This request is closed." }
            } @else {
                (FormSheet::new("quote", refused).faults())
                div class="acts" {
                    form method="post" action=(path("quote")) {
                        (hidden())
                        button id="answer-request" type="submit" { "Create quote from estimate" }
                    }
                    a class="button second" href={ (NEW_PATH) "?request=" (request.id) } { "Create a different quote" }
                }
            }
            details open[change.is_refused()] {
                summary { "Edit notes and status" }
                form method="post" action=(path("change")) {
                    (change.head(Some(request.revision)))
                    (change.area("internalNotes", "Internal notes", 1000, request.internal_notes.as_deref().unwrap_or_default()))
                    (change.choice("status", "Status", "", &statuses))
                    button class="second" type="submit" { "Save" }
                }
            }
            @if request.status != CustomRequestStatus::Closed {
                details open[close.is_refused()] {
                    summary { "Close request" }
                    p { "Close the request when it needs no more work. Its photos may then be deleted." }
                    form method="post" action=(path("close")) {
                        (close.head(None))
                        button id="close-request" class="second" type="submit" { "Close request from " (request.customer_name) }
                    }
                }
            }
        }
    }
}
