//! Queries for custom requests.

use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

use super::orders::json;
use super::{Page, Queries};
use crate::rows::{LoadError, word};
use domain::aggregate::Versioned;
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use entities::custom_requests;

/// Filter for custom requests; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomRequestFilter {
    /// Status of the custom request.
    pub status: Option<CustomRequestStatus>,
    /// Site that the request was submitted on.
    pub site: Option<String>,
    /// Customer's email address, in lowercase.
    pub customer_email: Option<String>,
    /// Text contained in the customer's email address or name.
    pub q: Option<String>,
}

impl Queries {
    /// Returns a page of custom requests, newest first, and their total number.
    pub async fn custom_requests(
        &self,
        filter: &CustomRequestFilter,
        page: Page,
    ) -> Result<(Vec<Versioned<CustomRequest>>, u64), LoadError> {
        use custom_requests::Column as C;
        let status = filter.status.as_ref().map(word).transpose().map_err(json)?;
        let select = custom_requests::Entity::find()
            .apply_if(status, |all, status| all.filter(C::Status.eq(status)))
            .apply_if(filter.site.as_deref(), |all, site| all.filter(C::Site.eq(site)))
            .apply_if(filter.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
            .apply_if(filter.q.as_deref(), |all, q| {
                all.filter(self.contains(C::CustomerEmail, q).or(self.contains(C::CustomerName, q)))
            })
            .order_by_desc(C::CreatedAt)
            .order_by_desc(C::Id);
        self.snapshots(select, page).await
    }
}
