//! The two halves of the API, each with its own document, and their differences apart from the resources.

use super::operation::DescribedResource;
use crate::http::billing::{self, list};
use crate::http::page::MAX_LIMIT;
use crate::http::production;
use crate::http::routes::ResourceRoutes;

const OF_SHOP: &str = "The production API of Printfloor: orders and jobs, printers, stock, products, files, \
webhooks, staff and API keys.

Callers send an API key in `X-API-Key` or use a staff session; `x-roles` lists the roles that may use an operation. \
Identifiers are UUIDs, times are RFC 3339 in UTC with milliseconds, money is in minor units (`...Cents`), amounts of \
material have at most three decimals. Unknown members of a body are rejected. Lists are newest first unless stated \
otherwise. Every response has `X-Request-Id`.";

const OF_CUSTOMERS: &str = "The customer API of Printfloor: catalogue, sign-in by e-mail link, profile, orders, \
quotes, invoices and payments.

Customers authenticate with a session cookie, which an e-mailed link sets. Pages of other origins may use the API if \
the shop allows them. Every success body has `success: true`. Identifiers are UUIDs, times are RFC 3339 in UTC with \
milliseconds, money is \
in minor units (`...Cents`). Unknown members of a body are rejected; unknown query parameters are ignored. Lists are \
newest first. `site` in the query, or else the header `x-service-site`, names the site that a request is about. \
Every response has `X-Request-Id`, `X-RateLimit-Limit` and `X-RateLimit-Remaining`, except responses to signed \
webhooks, which are not rate-limited. Every path responds to OPTIONS with 200 and CORS headers; browsers send these \
requests automatically.";

/// Half of the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// API of the shop: `/api`, `/webhooks`, health checks.
    Production,
    /// API of the customers: `/api/v1`.
    Billing,
}

impl Half {
    /// Returns the half that a path belongs to.
    pub fn of(path: &str) -> Self {
        if billing::is_path(path) { Self::Billing } else { Self::Production }
    }

    /// Returns all resources that its document describes, in order.
    pub fn resources(self) -> Vec<DescribedResource> {
        let resources = match self {
            Self::Production => production::resources(false),
            Self::Billing => billing::resources(),
        };
        resources.into_iter().map(ResourceRoutes::resource).collect()
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Production => "Printfloor production API",
            Self::Billing => "Printfloor billing API",
        }
    }

    /// Returns the version of the document. That of the billing API is part of its contract.
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
            Self::Billing => list::MAX_LIMIT as i64,
        }
    }

    /// Returns the description of the `Set-Cookie` header.
    pub(super) const fn cookie_words(self) -> &'static str {
        match self {
            Self::Production => {
                "The staff cookie: `HttpOnly; SameSite=Strict; Path=/`, `Secure` in production and wherever `server.public_url` is one of HTTPS."
            }
            Self::Billing => {
                "The customer's cookie: `HttpOnly; Secure; SameSite=Lax; Path=/`, for 30 days; blank at sign-out."
            }
        }
    }

    /// Returns the status with which this half returns an error.
    pub(super) fn status(self, (status, code, _): (u16, &str, &str)) -> u16 {
        match self {
            Self::Production => status,
            Self::Billing => billing::status(status, code),
        }
    }
}
