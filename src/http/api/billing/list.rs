//! Pagination of lists in the billing API: `limit` from 1 to 100 (default 20), `offset`, newest first.

use api_schema::page_example;
use serde::Serialize;
use serde_json::Value;

use http::openapi::shape::{Shape, object, required, whole, yes_no};
use http::page::{BILLING_MAX_LIMIT, MAX_OFFSET, Pagination};
use http::wire::{ToSchema, Within, Worded};
use store::queries::Page;

/// Default `limit`.
const DEFAULT_LIMIT: u64 = 20;

/// Page of a list to return.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub struct ListQuery {
    /// Maximum number of entries to return.
    #[api(Within(1..=BILLING_MAX_LIMIT), default = DEFAULT_LIMIT)]
    limit: u64,
    /// Number of entries to skip.
    #[api(Worded(Within(0..=MAX_OFFSET), "is too large"), default = 0)]
    offset: u64,
}

impl From<ListQuery> for Page {
    fn from(ListQuery { limit, offset }: ListQuery) -> Self {
        Self { limit, offset }
    }
}

/// `pagination` field of a list response.
#[derive(Serialize)]
#[serde(transparent)]
pub struct BillingPagination(Pagination);

impl BillingPagination {
    /// Builds the pagination for a page with `entries` entries of a list with `total` entries.
    pub fn of(page: Page, entries: usize, total: u64) -> Self {
        Self(Pagination::of(page, entries, total))
    }
}

impl ToSchema for BillingPagination {
    const NAME: Option<&'static str> = Some("Pagination");
    fn schema() -> Shape {
        object([
            required(
                "limit",
                whole(1..=BILLING_MAX_LIMIT as i64).about("Maximum number of entries on the page, as requested."),
            ),
            required("offset", whole(0..).about("Number of entries before the first one on the page.")),
            required("total", whole(0..).about("Total number of entries.")),
            required("hasMore", yes_no().about("`true` if there are more entries after this page.")),
        ])
        .about("Position of this page in the list.")
    }
    fn example() -> Value {
        page_example()
    }
}
