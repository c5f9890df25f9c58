//! Custom requests, as staff see them: requirements, photos and status. Customers submit them through the billing API.

pub mod operations;
mod photos;
mod view;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use self::view::{CustomRequestSummary, CustomRequestView};
use super::orders::site::{Site, SiteHeader};
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use domain::file::File;
use domain::principal::Role;
use files::blobs::Blobs;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, MaxChars, Optional, OptionalBody};
use kernel::directory::Directory;
use store::queries::{CustomRequestFilter, Queries};

/// Example ID of a custom request.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8090";
const STATE: &str = "invalid_transition";

handles! {
    /// Dependencies of the custom request routes.
    pub struct CustomRequestHandles {
        custom_requests: Directory<CustomRequest>,
        files: Directory<File>,
        blobs: Arc<Blobs>,
        queries: Queries,
    }
}

/// Returns the custom request routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Customers' requests for custom products, with photos and an estimate. The shop replies with a quote.";
    let routes = ResourceRoutes::new("Custom requests", about, "custom_request")
        .get(operator, "/api/custom-requests", list, |op| op.named("listCustomRequests", "List custom requests"))
        .get(operator, "/api/custom-requests/{id}", one, |op| op.named("getCustomRequest", "Retrieve a custom request"))
        .patch(operator, "/api/custom-requests/{id}", update, |op| {
            op.named("updateCustomRequest", "Update a custom request")
                .about("Quotes set the status automatically; set `status` only for agreements made elsewhere.")
                .error(409, STATE, "The current status does not allow this change.")
        })
        .post(operator, "/api/custom-requests/{id}/close", close, |op| {
            op.named("closeCustomRequest", "Close a custom request")
                .about("The photos of a closed request can be deleted.")
                .error(409, STATE, "The custom request is closed.")
        });
    photos::routes(routes)
}

/// Filter for the list of custom requests.
#[derive(Request, Debug)]
pub struct CustomRequestQuery {
    /// Return only requests with the given status.
    status: Option<CustomRequestStatus>,
    /// Return only requests made on the given site.
    site: Option<Site>,
    /// Return only requests from the customer with the given email address.
    #[api(MaxChars(254))]
    customer_email: Option<String>,
    /// Return only requests whose customer's email address or name contains the given text.
    #[api(MaxChars(254))]
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Changes to a custom request. Omitted fields are left unchanged.
#[derive(Request, Clone, Debug)]
#[api(name = "CustomRequestChange", example = json!({"internalNotes": "Ask for a photo from the side."}))]
pub struct CustomRequestPatch {
    /// Internal notes, not visible to customers.
    #[api(MaxChars(1000))]
    internal_notes: Optional<Option<String>>,
    /// New status of the request.
    status: Optional<CustomRequestStatus>,
}

async fn list(
    State(app): State<CustomRequestHandles>,
    Query(query): Query<CustomRequestQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<CustomRequestSummary>, ApiError> {
    let page = query.page.into();
    let filter = CustomRequestFilter {
        status: query.status,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.map(|email| email.trim().to_lowercase()),
        q: query.q,
    };
    let (some, total) = app.queries.custom_requests(&filter, page).await?;
    let items = some.iter().filter_map(|one| one.state.as_ref()).map(CustomRequestSummary::new);
    Ok(ListPage::new(page, items, total))
}

async fn one(
    State(app): State<CustomRequestHandles>,
    PathId(id): PathId,
) -> Result<Resource<CustomRequestView>, ApiError> {
    let (version, state) = find_existing(&app.custom_requests, id).await?;
    Ok(Resource::new(version, CustomRequestView::new(state_of(&state)?)))
}

async fn update(
    State(app): State<CustomRequestHandles>,
    PathId(id): PathId,
    call: CommandRequest<CustomRequestPatch>,
) -> Result<Resource<CustomRequestView>, ApiError> {
    let done = operations::update(&app, id, &call).await?;
    Ok(Resource::after(&done, CustomRequestView::new(&done.answer)))
}

async fn close(
    State(app): State<CustomRequestHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<CustomRequestView>, ApiError> {
    let done = operations::close(&app, id, &call).await?;
    Ok(Resource::after(&done, CustomRequestView::new(&done.answer)))
}
