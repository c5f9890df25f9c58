//! Billing API under `/api/v1`, used by customers: its routes and the access they require.
//!
//! It differs from the staff API: success bodies contain `success: true` ([`reply`]), unknown query parameters are
//! ignored (`http::page::OpenQuery`), statuses are those of its contract ([`status`]), every path answers OPTIONS
//! (`preflight`), and the only credential is the customer cookie (`http::access`).

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

use crate::http::error::ErrorMeta;
use crate::http::openapi;
use crate::http::routes::{ResourceRoutes, Routes};

/// Path prefix of the billing API.
const PREFIX: &str = "/api/v1/";

/// `Retry-After` in seconds when an external service did not respond.
const COME_AGAIN_SECONDS: u32 = 5;

/// Returns whether the path belongs to the billing API.
pub fn is_path(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// Returns every resource in the order of the API description; router and description are both built from this list.
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

/// Returns all routes. Each is described in [`openapi`].
pub fn routes() -> Routes {
    resources().into_iter().fold(Routes::new(), Routes::resource)
}

/// Maps a status and error code of the staff API to the status of the billing API. Its contract contains no 408, 412,
/// 422, 502 or 504, and uses 409 only for something already paid or no longer open to a decision.
pub fn status(status: u16, code: &str) -> u16 {
    match (status, code) {
        (409, "idempotency_key_in_use") => 429,
        (409, "not_orderable" | "answer_withheld") | (408 | 412 | 422, _) => 400,
        (502 | 504, _) => 503,
        (same, _) => same,
    }
}

/// Maps every response of the billing API to its contract, including those of the middleware before its routes.
pub async fn answered_by_contract(request: Request, next: Next) -> Response {
    if !is_path(request.uri().path()) {
        return next.run(request).await;
    }
    let mut response = next.run(request).await;
    let code = response.extensions().get::<ErrorMeta>().map(|meta| meta.code.clone());
    if let Some(code) = code
        && let Ok(status) = StatusCode::from_u16(status(response.status().as_u16(), &code))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every status that a handler or a middleware may return, including those that no route test provokes.
    #[test]
    fn every_status_becomes_one_of_the_contract() {
        let contract = [200, 201, 302, 400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 500, 503];
        let ours = [200, 201, 302, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 422, 429, 500, 502, 503, 504];
        let codes =
            ["idempotency_key_in_use", "idempotency_key_reused", "not_orderable", "answer_withheld", "timeout", ""];
        for original in ours {
            for code in codes {
                let actual = status(original, code);
                assert!(contract.contains(&actual), "{original} {code}: {actual}");
                // What went wrong on which side stays.
                assert_eq!(actual / 100, original / 100, "{original} {code}: {actual}");
                assert_eq!(status(actual, code), actual, "{original} {code}: the same the second time");
            }
        }
        assert_eq!((status(409, "idempotency_key_in_use"), status(422, "idempotency_key_reused")), (429, 400));
        assert_eq!((status(409, "already_paid"), status(502, "processor_unavailable")), (409, 503));
    }

    #[test]
    fn paths_are_told_apart() {
        for own in ["/api/v1/me", "/api/v1/nothing", "/api/v1/", "/api/v1/webhooks/payments"] {
            assert!(is_path(own), "{own}");
        }
        for other in ["/api/orders", "/api/v1", "/api/v10/me", "/sign-in/confirm"] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn only_statuses_of_the_contract_remain() {
        for (original, code, expected) in [
            (408, "timeout", 400),
            (409, "idempotency_key_in_use", 429),
            (409, "not_orderable", 400),
            (409, "already_paid", 409),
            (412, "stale_version", 400),
            (422, "idempotency_key_reused", 400),
            (502, "printer_refused", 503),
            (504, "timeout", 503),
            (404, "not_found", 404),
        ] {
            assert_eq!(status(original, code), expected, "{original} {code}");
        }
    }
}
