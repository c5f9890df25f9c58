//! List of custom requests.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::StaffQuoteHandles;
use crate::frame::{money, time};
use crate::staff::sheet::{ListPart, non_empty, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, since};
use crate::staff::{QUOTES_PATH, REQUESTS_PATH};
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http::wire::MaxChars;
use store::queries::CustomRequestFilter;

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
pub(super) fn request_state(status: CustomRequestStatus) -> (Tone, &'static str) {
    match status {
        CustomRequestStatus::New => (Tone::Attention, "New"),
        CustomRequestStatus::Quoted => (Tone::Working, "Quoted"),
        CustomRequestStatus::Accepted => (Tone::Working, "Accepted"),
        CustomRequestStatus::Declined => (Tone::Idle, "Declined"),
        CustomRequestStatus::Closed => (Tone::Idle, "Closed"),
    }
}

/// Serves the list of custom requests.
pub(super) async fn list(
    State(app): State<StaffQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<RequestListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
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
    let content = html! {
        p { a href=(QUOTES_PATH) { "All quotes" } }
        h1 { "Custom requests" }
        (tools(status, q))
        div id="requests" data-fresh="" {
            @if !some.is_empty() {
                (table(&some))
            } @else if status.is_some() || q.is_some() {
                p { "No requests match. " a href=(REQUESTS_PATH) { "Show all" } }
            } @else {
                p { "No custom requests yet. Customers submit requests, with photos, through the form on your site." }
            }
            (part.links(total))
        }
    };
    Ok(viewer.page(StaffSection::Quotes, "Custom requests", &app.board.view(), &content))
}

fn tools(chosen: Option<CustomRequestStatus>, q: Option<&str>) -> Markup {
    html! {
        form class="tools" method="get" action=(REQUESTS_PATH) role="search" {
            div class="field" {
                label for="status" { "Status" }
                select id="status" name="status" {
                    option value="" { "All" }
                    @for status in STATUSES {
                        option value=(status) selected[chosen == Some(status)] { (request_state(status).1) }
                    }
                }
            }
            div class="field" {
                label for="q" { "Name or email address" }
                input id="q" name="q" type="search" maxlength="254" value=[q];
            }
            button class="second" type="submit" { "Show" }
        }
    }
}

fn table(requests: &[&CustomRequest]) -> Markup {
    html! {
        div class="table list" tabindex="0" role="region" aria-label="Custom requests" {
            table {
                thead {
                    tr {
                        th scope="col" { "Request" } th scope="col" { "Status" } th scope="col" { "Customer" }
                        th scope="col" { "Received" } th scope="col" class="number" { "Photos" }
                        th scope="col" class="number" { "Estimate" }
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
                                @let (tone, words) = request_state(request.status);
                                span class=(tone.class()) { (words) }
                                @if request.status == CustomRequestStatus::New { " " span class="soft" { (since(request.created_at)) } }
                            }
                            td class="wide" { (request.customer_name) " " span class="soft" { (request.customer_email) } }
                            td class="spare" data-label="Received" { (time(request.created_at)) }
                            td class="number" data-label="Photos" { (request.photos.len()) }
                            td class="number" data-label="Estimate" { (money(request.estimate.total_cents, &request.estimate.currency)) }
                        }
                    }
                }
            }
        }
    }
}
