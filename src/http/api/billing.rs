//! Billing API under `/api/v1`, used by customers: its routes and the access they require.
//!
//! It differs from the staff API: success bodies contain `success: true` ([`reply`]), unknown query parameters are
//! ignored (`http::page::OpenQuery`), status codes follow its contract ([`contract_status`]), every path supports
//! OPTIONS (`preflight`), and the only credential is the customer cookie (`http::access`).

mod accounting;
mod blocked;
pub mod catalog;
mod checkout;
pub mod exports;
mod intake;
pub mod invoices;
pub mod list;
pub mod orders;
pub mod pay;
mod payments;
mod preflight;
pub mod profile;
pub mod quotes;
pub mod reply;
pub mod session;
mod site;
mod subscriptions;
mod webhooks;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use http::error::ErrorMeta;
use http::openapi;
use http::openapi::half::contract_status;
use http::paths::is_billing;
use http::routes::{ResourceRoutes, Routes};

/// `Retry-After` value, in seconds, sent if an external service did not respond.
const COME_AGAIN_SECONDS: u32 = 5;

/// Returns every resource, in the order of the API description. The routes and the description both derive from the
/// returned list.
pub fn resources() -> Vec<ResourceRoutes> {
    let all = vec![
        // Without a session
        catalog::routes(),
        intake::routes(),
        session::routes(),
        pay::routes(),
        // What is a customer's own
        profile::routes(),
        orders::routes(),
        quotes::routes(),
        invoices::routes(),
        payments::routes(),
        subscriptions::routes(),
        exports::routes(),
        accounting::routes(),
        // Messages of other programs
        webhooks::routes(),
        // The description itself
        openapi::billing_routes(),
    ];
    all.into_iter().map(preflight::added).collect()
}

/// Returns all routes. Each route is described in [`openapi`].
pub fn routes() -> Routes {
    resources().into_iter().fold(Routes::new(), Routes::resource)
}

/// Adapts the response to a request for the billing API to its contract, for servers that have none of its routes.
pub async fn answered_by_contract(request: Request, next: Next) -> Response {
    let of_billing = is_billing(request.uri().path());
    let response = next.run(request).await;
    if of_billing { by_contract(response) } else { response }
}

/// Adapts a response of the billing API to its contract, also one of the middleware that runs before the routes.
pub fn by_contract(mut response: Response) -> Response {
    let code = response.extensions().get::<ErrorMeta>().map(|meta| meta.code.clone());
    if let Some(code) = code
        && let Ok(status) = StatusCode::from_u16(contract_status(response.status().as_u16(), &code))
    {
        *response.status_mut() = status;
    }
    let come_again = matches!(response.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
    let headers = response.headers_mut();
    if come_again {
        headers.entry(header::RETRY_AFTER).or_insert(COME_AGAIN_SECONDS.into());
    }
    headers.append(header::VARY, HeaderValue::from_static(site::HEADER));
    response
}
