//! Query parameters and pages of lists: `limit` 1-200 (default 50), `offset`, newest first.

use crate::domain::id::Id;
use crate::domain::refusal::{Faults, Refusal};
use crate::http::error::ApiError;
use crate::http::wire::{Request, UnknownParameters, Within, Worded, read_query};
use crate::store::queries::Page;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};

/// `limit` when none is given.
pub const LIMIT_DEFAULT: u64 = 50;
/// Highest `limit`.
pub const LIMIT_MOST: u64 = 200;
/// Highest `offset`: what the database can count.
const MAX_OFFSET: u64 = i64::MAX as u64;

/// Which part of a list a query asks for.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub struct PageQuery {
    /// How many at most.
    #[api(Within(1..=LIMIT_MOST), default = LIMIT_DEFAULT)]
    limit: u64,
    /// How many are passed over.
    #[api(Worded(Within(0..=MAX_OFFSET), "is too large"), default = 0)]
    offset: u64,
}

impl From<PageQuery> for Page {
    fn from(PageQuery { limit, offset }: PageQuery) -> Self {
        Self { limit, offset }
    }
}

/// The query of an operation; all its faults are told at once.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: Request, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_query(pairs(parts)?, UnknownParameters::Refuse).map(Self)
    }
}

fn pairs(parts: &Parts) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = axum::extract::Query::try_from_uri(&parts.uri);
    let axum::extract::Query(pairs) =
        pairs.map_err(|_| ApiError::bad_request("malformed_query", "the query string cannot be read"))?;
    Ok(pairs)
}

/// The query parameters of a request; the first of a repeated one counts.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = pairs(parts)?;
        // A text of PostgreSQL cannot hold NUL: such a parameter would look like a fault of the database.
        if pairs.iter().any(|(_, text)| text.contains('\0')) {
            return Err(ApiError::bad_request("malformed_query", "the query string holds a NUL character"));
        }
        Ok(Self(pairs))
    }
}

impl Params {
    /// The text of a parameter; an empty one counts as absent.
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// A parameter that is read from its text.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, ApiError> {
        let read = |text: &str| text.parse().map_err(|_| Refusal::field(name, format!("must be {expected}")));
        Ok(self.text(name).map(read).transpose()?)
    }

    /// One of an enumeration's words.
    pub fn word<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let read = |text: &str| {
            serde_json::from_value(json!(text)).map_err(|_| Refusal::field(name, format!("does not know {text:?}")))
        };
        Ok(self.text(name).map(read).transpose()?)
    }

    /// An identifier.
    pub fn id(&self, name: &str) -> Result<Option<Id>, ApiError> {
        self.parsed(name, "an identifier")
    }

    /// Which part of the list.
    pub fn page(&self) -> Result<Page, ApiError> {
        let number = |name: &str| self.parsed(name, "a whole number");
        let (limit, offset) = (number("limit")?.unwrap_or(LIMIT_DEFAULT), number("offset")?.unwrap_or(0_u64));
        let mut faults = Faults::default();
        faults.check((1..=LIMIT_MOST).contains(&limit), "limit", format!("must be from 1 to {LIMIT_MOST}"));
        faults.check(i64::try_from(offset).is_ok(), "offset", "is too large");
        faults.refuse()?;
        Ok(Page { limit, offset })
    }
}

/// Where a page of a list stands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    limit: u64,
    offset: u64,
    total: u64,
    has_more: bool,
}

impl Pagination {
    /// Of a page with so many items, of so many in all.
    pub fn of(Page { limit, offset }: Page, items: usize, total: u64) -> Self {
        Self { limit, offset, total, has_more: offset.saturating_add(items as u64) < total }
    }
}

/// The body of a list.
pub fn body(page: Page, name: &str, items: Vec<Value>, total: u64) -> Value {
    let pagination = Pagination::of(page, items.len(), total);
    json!({name: items, "pagination": pagination})
}

/// The part of a list that is in memory as a whole, and how many there are.
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

    fn params(query: &str) -> Params {
        let uri = format!("/x?{query}").parse().unwrap();
        let pairs = axum::extract::Query::try_from_uri(&uri).unwrap();
        Params(pairs.0)
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!(params("").page().unwrap(), Page { limit: 50, offset: 0 });
        assert_eq!(params("limit=200&offset=3").page().unwrap(), Page { limit: 200, offset: 3 });
        for wrong in
            ["limit=0", "limit=201", "limit=-1", "limit=x", "offset=-1", "offset=1.5", "offset=18446744073709551615"]
        {
            assert_eq!(params(wrong).page().unwrap_err().status(), 400, "{wrong}");
        }
    }

    #[test]
    fn the_last_page_says_that_there_is_no_more() {
        let page = Page { limit: 2, offset: 2 };
        let more = |total| body(page, "items", vec![json!(1), json!(2)], total)["pagination"]["hasMore"].clone();
        assert_eq!(more(4), json!(false));
        assert_eq!(more(5), json!(true));
        assert_eq!(cut(page, vec![1, 2, 3]), (vec![3], 3));
        assert_eq!(
            body(Page { limit: 1, offset: u64::MAX }, "items", Vec::new(), 1)["pagination"]["hasMore"],
            json!(false)
        );
    }
}
