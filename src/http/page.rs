//! Query parameters and pagination of lists: `limit` 1-200 (default 50), `offset`, newest first.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;

use crate::error::ApiError;
use crate::wire::{Request, Within, Worded, read_open_query, read_query};
use store::queries::Page;

/// Default `limit`.
pub const DEFAULT_LIMIT: u64 = 50;
/// Maximum `limit`.
pub const MAX_LIMIT: u64 = 200;
/// Maximum `limit` of lists in the billing API.
pub const BILLING_MAX_LIMIT: u64 = 100;
/// Maximum `offset`: the largest integer that the database supports.
pub const MAX_OFFSET: u64 = i64::MAX as u64;

/// Page of a list to return.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub struct PageQuery {
    /// Maximum number of entries to return.
    #[api(Within(1..=MAX_LIMIT), default = DEFAULT_LIMIT)]
    limit: u64,
    /// Number of entries to skip.
    #[api(Worded(Within(0..=MAX_OFFSET), "is too large"), default = 0)]
    offset: u64,
}

impl From<PageQuery> for Page {
    fn from(PageQuery { limit, offset }: PageQuery) -> Self {
        Self { limit, offset }
    }
}

/// Query parameters of an operation. All validation errors are reported together.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: Request, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_query(pairs(parts)?).map(Self)
    }
}

/// Query parameters of a billing operation: like [`Query`], but unknown parameters are ignored.
#[derive(Clone, Copy, Debug)]
pub struct OpenQuery<T>(pub T);

impl<T: Request, S: Sync> FromRequestParts<S> for OpenQuery<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_open_query(pairs(parts)?).map(Self)
    }
}

fn pairs(parts: &Parts) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = axum::extract::Query::try_from_uri(&parts.uri);
    let axum::extract::Query(pairs) =
        pairs.map_err(|_| ApiError::bad_request("malformed_query", "the query string is malformed"))?;
    Ok(pairs)
}

/// Position of a page in its list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    limit: u64,
    offset: u64,
    total: u64,
    has_more: bool,
}

impl Pagination {
    /// Builds the pagination for a page with `items` of a list's `total` entries.
    pub fn of(Page { limit, offset }: Page, items: usize, total: u64) -> Self {
        Self { limit, offset, total, has_more: offset.saturating_add(items as u64) < total }
    }
}

/// Returns the requested page of an in-memory list, and the total number of entries.
pub fn cut<T>(page: Page, all: Vec<T>) -> (Vec<T>, u64) {
    let total = all.len() as u64;
    let (offset, limit) = (usize::try_from(page.offset), usize::try_from(page.limit));
    let (offset, limit) = (offset.unwrap_or(usize::MAX), limit.unwrap_or(usize::MAX));
    (all.into_iter().skip(offset).take(limit).collect(), total)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn page(query: &str) -> Result<Page, ApiError> {
        let uri = format!("/x?{query}").parse().unwrap();
        let pairs = axum::extract::Query::try_from_uri(&uri).unwrap();
        read_query::<PageQuery>(pairs.0).map(Into::into)
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!(page("").unwrap(), Page { limit: 50, offset: 0 });
        assert_eq!(page("limit=200&offset=3").unwrap(), Page { limit: 200, offset: 3 });
        for wrong in [
            "limit=",
            "offset=",
            "limit=0",
            "limit=201",
            "limit=-1",
            "limit=x",
            "offset=-1",
            "offset=1.5",
            "offset=18446744073709551615",
        ] {
            assert_eq!(page(wrong).unwrap_err().status(), 400, "{wrong}");
        }
    }

    #[test]
    fn the_last_page_says_that_there_is_no_more() {
        let page = Page { limit: 2, offset: 2 };
        assert!(!Pagination::of(page, 2, 4).has_more);
        assert!(Pagination::of(page, 2, 5).has_more);
        assert_eq!(cut(page, vec![1, 2, 3]), (vec![3], 3));
        assert!(!Pagination::of(Page { limit: 1, offset: u64::MAX }, 0, 1).has_more);
    }
}
