//! Custom request page for the staff: photos, description, estimate, the resulting quotes, and the forms for quoting,
//! annotating and closing the request.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::requests::{STATUSES, request_state};
use super::{NEW_PATH, StaffQuoteHandles, quote_row};
use crate::form::{Form, PageForm};
use crate::frame::{SLOT, see_other, time, with_parts};
use crate::staff::acts::PathAct;
use crate::staff::sheet::{FEW_ROWS, FormSheet, astray, few, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden_once};
use crate::staff::{CUSTOMERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use domain::custom_request::{CustomRequest, CustomRequestStatus, Photo};
use domain::id::Id;
use domain::notation::amount;
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
use words::Language;
use words::staff::requests as texts;

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
    let sent = sent.at_version();
    let outcome = match word.as_str() {
        "quote" => {
            let done = answer_request(&app.quotes, id, &sent.request()).await;
            done.map(|quote| page_of(QUOTES_PATH, quote.id))
        }
        "change" => {
            let change = sent.change().unless_empty(&["status"]);
            let done = operations::update(&app.requests, id, &sent.request_of(change)).await;
            done.map(|request| page_of(REQUESTS_PATH, request.id))
        }
        "close" => {
            let done = operations::close(&app.requests, id, &sent.request()).await;
            done.map(|request| page_of(REQUESTS_PATH, request.id))
        }
        _ => Err(Refusal::not_found("act").into()),
    };
    match outcome {
        Ok(next) => Ok(see_other(&next)),
        Err(error) => {
            let typed = Form::named(&word, &sent).with_refusal(error)?;
            Ok(typed.answer(page(&app, &viewer, id, &typed).await?))
        }
    }
}

async fn page(app: &StaffQuoteHandles, viewer: &StaffViewer, id: Id, refused: &Form) -> Result<Response, ApiError> {
    let language = viewer.language();
    let (_, state) = find_existing(&app.requests.custom_requests, id).await?;
    let request = state_of(&state)?;
    let now = app.quotes.environment.now();
    let filter = QuoteFilter { custom_request_id: Some(id), now, ..QuoteFilter::default() };
    let (quotes, _) = app.quotes.queries.quotes(&filter, FEW_ROWS).await?;
    let quotes: Vec<&Quote> = quotes.iter().filter_map(|one| one.state.as_ref()).collect();
    let rows: Vec<Markup> = quotes.iter().map(|quote| quote_row(language, quote, now)).collect();
    let forms = acts(language, request, refused);
    let title = texts::request_title(language, &request.customer_name);
    let content = html! {
        p { a href=(REQUESTS_PATH) { (texts::all_requests(language)) } }
        (astray(refused, &forms))
        div id="request" data-fresh="" {
            (head(language, request, &title))
            (photos(language, request))
            (wishes(language, request))
            (estimate(language, request))
            (few("answers", &texts::quotes(language), &rows, &texts::no_quotes(language)))
        }
        div id="request-acts" data-fresh="" { (forms) }
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

fn head(language: Language, request: &CustomRequest, title: &str) -> Markup {
    let (tone, words) = request_state(language, request.status);
    let received = texts::received_at(language, SLOT, &request.site);
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            dl class="left" {
                dt { (texts::customer(language)) }
                dd { a href=(page_of(CUSTOMERS_PATH, request.customer_id)) { (request.customer_name) } ", " (request.customer_email) }
                @if let Some(phone) = &request.phone { dt { (texts::phone(language)) } dd { (phone) } }
                dt { (texts::received(language)) } dd { (with_parts(&received, &[&time(language, request.created_at)])) }
                dt { (texts::estimate_valid(language)) } dd { (time(language, request.valid_until)) }
                @if let Some(notes) = &request.internal_notes { dt { (texts::internal_notes(language)) } dd class="as-written" { (notes) } }
            }
        }
    }
}

/// Renders the customer's photos. They are loaded from an API URL that serves them only to staff, and only as images.
fn photos(language: Language, request: &CustomRequest) -> Markup {
    html! {
        section class="card" aria-labelledby="photos" {
            h2 id="photos" { (texts::photos(language)) }
            @if request.status == CustomRequestStatus::Closed {
                p class="soft" { (texts::photos_of_closed(language)) }
            }
            ul class="photos" {
                @for (number, one) in (1_u32..).zip(&request.photos) { li { (photo(language, request, number, one)) } }
            }
        }
    }
}

fn photo(language: Language, request: &CustomRequest, number: u32, photo: &Photo) -> Markup {
    let path = format!("/api/custom-requests/{}/photos/{number}", request.id);
    html! {
        a href=(path) {
            @if photo.format == PictureFormat::Heic {
                (texts::photo_heic(language, number))
            } @else {
                img src=(path) alt=(texts::photo_of(language, number, &request.customer_name)) loading="lazy" width="240" height="180";
            }
        }
    }
}

fn wishes(language: Language, request: &CustomRequest) -> Markup {
    let wishes = &request.wishes;
    html! {
        section class="card" aria-labelledby="wishes" {
            h2 id="wishes" { (texts::details(language)) }
            dl class="left" {
                dt { (texts::product(language)) } dd { (wishes.product_type) }
                dt { (texts::subject(language)) } dd { (wishes.subject_type) }
                dt { (texts::style(language)) } dd { (wishes.style_id) }
                dt { (texts::size(language)) } dd { (wishes.size_id) }
                dt { (texts::base(language)) } dd { (wishes.base_option_id) }
                dt { (texts::colours(language)) } dd { (wishes.color_count) }
                dt { (texts::uv_coating(language)) }
                dd { @if wishes.uv_coating { (texts::uv_yes(language)) } @else { (texts::uv_no(language)) } }
                @if !wishes.addon_ids.is_empty() { dt { (texts::addons(language)) } dd { (wishes.addon_ids.join(", ")) } }
                @if let Some(inscription) = &wishes.inscription { dt { (texts::inscription(language)) } dd { (inscription) } }
                @if let Some(notes) = &wishes.notes { dt { (texts::customer_notes(language)) } dd class="as-written" { (notes) } }
            }
        }
    }
}

fn estimate(language: Language, request: &CustomRequest) -> Markup {
    let estimate = &request.estimate;
    html! {
        section class="card" aria-labelledby="estimate" {
            h2 id="estimate" { (texts::estimate(language)) }
            dl class="sums" {
                @for item in &estimate.items {
                    dt {
                        (item.path)
                        @if !item.is_listed { " " span class=(Tone::Attention.class()) { (texts::unlisted(language)) } }
                    }
                    dd { (amount(language, item.cents, &estimate.currency)) }
                }
                dt class="sum" { (texts::total(language)) } dd class="sum" { (amount(language, estimate.total_cents, &estimate.currency)) }
            }
        }
    }
}

fn acts(language: Language, request: &CustomRequest, refused: &Form) -> Markup {
    let path = |act: &str| format!("{}/{act}", page_of(REQUESTS_PATH, request.id));
    let (change, close) = (FormSheet::new("change", refused), FormSheet::new("close", refused));
    let statuses = STATUSES.into_iter().filter(|status| *status != CustomRequestStatus::Closed);
    let statuses = statuses.map(|status| (status.to_string(), request_state(language, status).1));
    let keeps = (String::new(), texts::no_change(language));
    let statuses: Vec<(String, String)> = [keeps].into_iter().chain(statuses).collect();
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { (texts::actions(language)) }
            @if request.status == CustomRequestStatus::Closed {
                p { (texts::is_closed(language)) }
            } @else {
                (FormSheet::new("quote", refused).faults())
                div class="acts" {
                    form method="post" action=(path("quote")) {
                        (hidden_once())
                        button id="answer-request" type="submit" { (texts::create_quote(language)) }
                    }
                    a class="button second" href={ (NEW_PATH) "?request=" (request.id) } { (texts::create_other_quote(language)) }
                }
            }
            details open[change.is_refused()] {
                summary { (texts::edit(language)) }
                form method="post" action=(path("change")) {
                    (change.head(Some(request.revision)))
                    (change.area("internalNotes", &texts::internal_notes(language), 1000, request.internal_notes.as_deref().unwrap_or_default()))
                    (change.choice("status", &texts::status_field(language), "", &statuses))
                    button class="second" type="submit" { (texts::save(language)) }
                }
            }
            @if request.status != CustomRequestStatus::Closed {
                details open[close.is_refused()] {
                    summary { (texts::close_heading(language)) }
                    p { (texts::close_text(language)) }
                    form method="post" action=(path("close")) {
                        (close.head(None))
                        button id="close-request" class="second" type="submit" { (texts::close(language, &request.customer_name)) }
                    }
                }
            }
        }
    }
}
