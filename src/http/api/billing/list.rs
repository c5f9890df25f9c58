//! Pagination of lists in the billing API: `limit` from 1 to 100 (default 20), `offset`, newest first.

use api_schema::{page_example, response_schema};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::reply::Success;
use http::openapi::shape::{Shape, object, required, whole, yes_no};
use http::page::{BILLING_MAX_LIMIT, MAX_OFFSET, Pagination};
use http::reply::Plain;
use http::wire::{Components, ListItem, Response, ToSchema, Within, Worded, response_member};
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

/// Type of the entries in a list of the customer's own objects.
pub trait OwnListItem: ListItem {
    /// Name of the response type in the document, such as `QuoteListResponse`.
    const LIST_NAME: &'static str;
    /// Description of the field that contains the entries.
    const ENTRIES: &'static str;
}

/// Page of a list of the customer's own objects.
pub struct OwnList<T> {
    entries: Vec<T>,
    pagination: BillingPagination,
}

impl<T> OwnList<T> {
    /// Builds the response with the entries of the requested page, out of `total` entries in the whole list.
    pub fn reply(page: Page, entries: impl IntoIterator<Item = T>, total: u64) -> Plain<Self> {
        let entries: Vec<T> = entries.into_iter().collect();
        let pagination = BillingPagination(Pagination::of(page, entries.len(), total));
        Plain(Self { entries, pagination })
    }
}

impl<T: OwnListItem> Serialize for OwnList<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(Some(3))?;
        members.serialize_entry("success", &Success)?;
        members.serialize_entry(T::MEMBER, &self.entries)?;
        members.serialize_entry("pagination", &self.pagination)?;
        members.end()
    }
}

impl<T: OwnListItem> ToSchema for OwnList<T> {
    const NAME: Option<&'static str> = Some(T::LIST_NAME);
    fn schema() -> Shape {
        let members = vec![
            response_member::<Success>("success", ""),
            response_member::<Vec<T>>(T::MEMBER, T::ENTRIES),
            response_member::<BillingPagination>("pagination", ""),
        ];
        response_schema(members, &format!("Page of the customer's {}.", T::MEMBER))
    }
    fn components(components: &mut Components) {
        components.add::<T>();
        components.add::<BillingPagination>();
    }
    fn example() -> Value {
        let pagination = json!({"limit": DEFAULT_LIMIT, "offset": 0, "total": 1, "hasMore": false});
        json!({"success": true, T::MEMBER: [T::example()], "pagination": pagination})
    }
}

impl<T: OwnListItem> Response for OwnList<T> {}

/// `pagination` field of a list response.
#[derive(Serialize)]
#[serde(transparent)]
struct BillingPagination(Pagination);

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
