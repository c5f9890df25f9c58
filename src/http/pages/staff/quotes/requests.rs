//! List of custom requests.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::StaffQuoteHandles;
use crate::frame::time;
use crate::staff::sheet::{ListPart, non_empty, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, since};
use crate::staff::{QUOTES_PATH, REQUESTS_PATH};
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use domain::notation::amount;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http::wire::MaxChars;
use store::queries::CustomRequestFilter;
use words::Language;
use words::staff::requests as texts;

/// Statuses by which the list can be filtered.
pub(super) const STATUSES: [CustomRequestStatus; 5] = [
    CustomRequestStatus::New,
    CustomRequestStatus::Quoted,
    CustomRequestStatus::Accepted,
    CustomRequestStatus::Declined,
    CustomRequestStatus::Closed,
];

/// Query parameters of the list of custom requests. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct RequestListQuery {
    /// Only requests with the given status, as spelled in the API.
    status: Option<String>,
    /// Part of the customer's email address or name.
    #[api(MaxChars(254))]
    q: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns the tone and label for a custom request's status.
pub(super) fn request_state(language: Language, status: CustomRequestStatus) -> (Tone, String) {
    match status {
        CustomRequestStatus::New => (Tone::Attention, texts::status_new(language)),
        CustomRequestStatus::Quoted => (Tone::Working, texts::status_quoted(language)),
        CustomRequestStatus::Accepted => (Tone::Working, texts::status_accepted(language)),
        CustomRequestStatus::Declined => (Tone::Idle, texts::status_declined(language)),
        CustomRequestStatus::Closed => (Tone::Idle, texts::status_closed(language)),
    }
}

/// Serves the list of custom requests.
pub(super) async fn list(
    State(app): State<StaffQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<RequestListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let status = STATUSES.into_iter().find(|status| query.status.as_deref() == Some(status.to_string().as_str()));
    let q = non_empty(query.q.as_ref());
    let part = ListPart {
        path: REQUESTS_PATH,
        narrowed: vec![("status", query.status.as_deref()), ("q", q)],
        from: query.from,
    };
    let filter = CustomRequestFilter { status, q: q.map(str::to_owned), ..CustomRequestFilter::default() };
    let (some, total) = app.requests.queries.custom_requests(&filter, part.page()).await?;
    let some: Vec<&CustomRequest> = some.iter().filter_map(|one| one.state.as_ref()).collect();
    let title = texts::title(language);
    let content = html! {
        p { a href=(QUOTES_PATH) { (texts::all_quotes(language)) } }
        h1 { (title) }
        (tools(language, status, q))
        div id="requests" data-fresh="" {
            @if !some.is_empty() {
                (table(language, &some))
            } @else if status.is_some() || q.is_some() {
                p { (texts::none_match(language)) " " a href=(REQUESTS_PATH) { (texts::show_all(language)) } }
            } @else {
                p { (texts::none_yet(language)) }
            }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

fn tools(language: Language, chosen: Option<CustomRequestStatus>, q: Option<&str>) -> Markup {
    html! {
        form class="tools" method="get" action=(REQUESTS_PATH) role="search" {
            div class="field" {
                label for="status" { (texts::status_field(language)) }
                select id="status" name="status" {
                    option value="" { (texts::all(language)) }
                    @for status in STATUSES {
                        option value=(status) selected[chosen == Some(status)] { (request_state(language, status).1) }
                    }
                }
            }
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="254" value=[q];
            }
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

fn table(language: Language, requests: &[&CustomRequest]) -> Markup {
    let (received, photos) = (texts::received_column(language), texts::photos_column(language));
    let estimate = texts::estimate_column(language);
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::request_column(language)) } th scope="col" { (texts::status_column(language)) }
                        th scope="col" { (texts::customer_column(language)) }
                        th scope="col" { (received) } th scope="col" class="number" { (photos) }
                        th scope="col" class="number" { (estimate) }
                    }
                }
                tbody {
                    @for request in requests {
                        tr {
                            th scope="row" {
                                a href=(page_of(REQUESTS_PATH, request.id)) {
                                    (request.wishes.product_type) ", " (request.wishes.subject_type)
                                }
                            }
                            td class="states" {
                                @let (tone, words) = request_state(language, request.status);
                                span class=(tone.class()) { (words) }
                                @if request.status == CustomRequestStatus::New { " " span class="soft" { (since(language, request.created_at)) } }
                            }
                            td class="wide" { (request.customer_name) " " span class="soft" { (request.customer_email) } }
                            td class="spare" data-label=(received) { (time(language, request.created_at)) }
                            td class="number" data-label=(photos) { (request.photos.len()) }
                            td class="number" data-label=(estimate) { (amount(language, request.estimate.total_cents, &request.estimate.currency)) }
                        }
                    }
                }
            }
        }
    }
}
