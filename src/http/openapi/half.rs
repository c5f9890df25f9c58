//! The two halves of the API, each with its own document, and how they differ apart from their resources.

use crate::page::{BILLING_MAX_LIMIT, MAX_LIMIT};
use crate::paths::is_billing;

const OF_SHOP: &str = "The production API of Printfloor: orders and jobs, printers, stock, products, files, \
webhooks, staff and API keys.

Callers send an API key in `X-API-Key` or use a staff session; `x-roles` lists the roles that can use an operation. \
Identifiers are UUIDs, times are RFC 3339 in UTC with milliseconds, money is in minor units (`...Cents`), amounts of \
material have at most three decimals. Unknown members of a body are rejected. Lists are newest first unless stated \
otherwise. Every response has `X-Request-Id`.";

const OF_CUSTOMERS: &str = "The customer API of Printfloor: catalogue, sign-in by email link, profile, orders, \
quotes, invoices and payments.

Customers authenticate with a session cookie, which an emailed link sets. Pages of other origins can use the API if \
the shop allows them. Every success body has `success: true`. Identifiers are UUIDs, times are RFC 3339 in UTC with \
milliseconds, money is \
in minor units (`...Cents`). Unknown members of a body are rejected; unknown query parameters are ignored. Lists are \
newest first. `site` in the query, or else the header `x-service-site`, names the site that a request is about. \
Every response has `X-Request-Id`, `X-RateLimit-Limit` and `X-RateLimit-Remaining`, except responses to signed \
webhooks, which are not rate-limited. Every path responds to OPTIONS with 200 and CORS headers; browsers send these \
requests automatically.";

/// Half of the API, for either the shop or its customers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// API for the shop: `/api`, `/webhooks`, health checks.
    Production,
    /// API for customers: `/api/v1`.
    Billing,
}

impl Half {
    /// Returns the half to which a path belongs.
    pub fn of(path: &str) -> Self {
        if is_billing(path) { Self::Billing } else { Self::Production }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Production => "Printfloor production API",
            Self::Billing => "Printfloor billing API",
        }
    }

    /// Returns the version of the document. The version of the billing API is part of its contract.
    pub(super) const fn version(self) -> &'static str {
        match self {
            Self::Production => env!("CARGO_PKG_VERSION"),
            Self::Billing => "1.0.0",
        }
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Production => OF_SHOP,
            Self::Billing => OF_CUSTOMERS,
        }
    }

    /// Returns the name of the error schema.
    pub(super) const fn error_name(self) -> &'static str {
        match self {
            Self::Production => "Error",
            Self::Billing => "ErrorResponse",
        }
    }

    /// Returns the maximum `limit` of a list.
    pub(super) const fn max_limit(self) -> i64 {
        match self {
            Self::Production => MAX_LIMIT as i64,
            Self::Billing => BILLING_MAX_LIMIT as i64,
        }
    }

    /// Returns the description of the `Set-Cookie` header.
    pub(super) const fn cookie_words(self) -> &'static str {
        match self {
            Self::Production => {
                "The staff cookie: `HttpOnly; SameSite=Strict; Path=/`, `Secure` in production and if \
                 `server.public_url` is an HTTPS URL."
            }
            Self::Billing => {
                "The customer's cookie: `HttpOnly; Secure; SameSite=Lax; Path=/`, for 30 days; empty after sign-out."
            }
        }
    }

    /// Returns the status code with which this half of the API reports an error.
    pub(super) fn status(self, (status, code, _): (u16, &str, &str)) -> u16 {
        match self {
            Self::Production => status,
            Self::Billing => contract_status(status, code),
        }
    }
}

/// Maps a status and error code from the staff API to the status in the billing API. Its contract does not contain 408,
/// 412, 422, 502 or 504, and uses 409 only if the object has already been paid or decided on.
pub fn contract_status(status: u16, code: &str) -> u16 {
    match (status, code) {
        (409, "idempotency_key_in_use") => 429,
        (409, "not_orderable" | "answer_withheld") | (408 | 412 | 422, _) => 400,
        (502 | 504, _) => 503,
        (same, _) => same,
    }
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
                let actual = contract_status(original, code);
                assert!(contract.contains(&actual), "{original} {code}: {actual}");
                // What went wrong on which side stays.
                assert_eq!(actual / 100, original / 100, "{original} {code}: {actual}");
                assert_eq!(contract_status(actual, code), actual, "{original} {code}: the same the second time");
            }
        }
        assert_eq!(
            (contract_status(409, "idempotency_key_in_use"), contract_status(422, "idempotency_key_reused")),
            (429, 400)
        );
        assert_eq!((contract_status(409, "already_paid"), contract_status(502, "processor_unavailable")), (409, 503));
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
            assert_eq!(contract_status(original, code), expected, "{original} {code}");
        }
    }
}
