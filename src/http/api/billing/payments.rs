//! The customer's own payments for orders and invoices.

use api_derive::Request;
use axum::extract::State;

use super::list::{ListQuery, OwnList, OwnListItem};
use super::site::RequestSite;
use crate::production::payments::PaymentRecord;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::page::OpenQuery;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use store::queries::{Page, PaymentFilter, Queries};

/// Returns the customer payment routes.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Payments", "The customer's payments and refunds.", "payment").get(
        RequiredAccess::Customer,
        "/api/v1/payments",
        list,
        |op| op.named("listPayments", "List your payments").about("Payments and refunds, newest first."),
    )
}

/// Filter for the customer's payments.
#[derive(Request, Debug)]
pub struct OwnPaymentQuery {
    #[api(flatten)]
    page: ListQuery,
}

impl OwnListItem for PaymentRecord {
    const LIST_NAME: &'static str = "PaymentListResponse";
    const ENTRIES: &'static str = "Payments and refunds, newest first.";
}

async fn list(
    State(queries): State<Queries>,
    who: Caller,
    OpenQuery(query): OpenQuery<OwnPaymentQuery>,
    RequestSite(site): RequestSite,
) -> Result<Plain<OwnList<PaymentRecord>>, ApiError> {
    let (_, email) = who.customer()?;
    let page: Page = query.page.into();
    let filter = PaymentFilter {
        customer_email: Some(email.to_owned()),
        site: site.map(|site| site.0),
        ..PaymentFilter::default()
    };
    let (some, total) = queries.payments(&filter, page).await?;
    Ok(OwnList::reply(page, some.into_iter().map(|one| PaymentRecord::new(one, false)), total))
}
