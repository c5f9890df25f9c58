//! Customers, as staff see them. Customers edit their own profile in the billing API.

mod address;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use domain::customer::{Customer, CustomerCommand, EMAIL_TAKEN};
use domain::id::Id;
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Plain};
use http::routes::ResourceRoutes;
use http::wire::MaxChars;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use store::queries::{CustomerFilter, Queries};
use words::Language;

pub use address::AddressView;

/// Customer ID used in examples.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8080";

handles! {
    /// Dependencies of the customer routes.
    pub struct CustomerHandles {
        customers: Directory<Customer>,
        queries: Queries,
    }
}

/// Returns the customer routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Customer records, which are created by the first order or sign-in. Only the customers themselves can \
                 change them.";
    ResourceRoutes::new("Customers", about, "customer")
        .get(operator, "/api/customers", list, |op| op.named("listCustomers", "List customers"))
        .get(operator, "/api/customers/{id}", one, |op| op.named("getCustomer", "Retrieve a customer"))
}

/// Filter for the list of customers.
#[derive(Request, Debug)]
pub struct CustomerQuery {
    /// Return only the customer with the given email address.
    #[api(MaxChars(254))]
    email: Option<String>,
    /// Return only customers whose email address or name contains the given text.
    #[api(MaxChars(254))]
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Fields of a customer that staff and the customer see alike.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomerDetails")]
pub struct CustomerDetails {
    /// ID of the customer.
    id: Id,
    /// Email address that identifies the customer.
    email: String,
    /// Full name.
    name: Option<String>,
    /// Phone number, in free form.
    phone: Option<String>,
    /// Company that the customer buys for.
    company: Option<String>,
    /// Tax ID of the company.
    tax_id: Option<String>,
    /// Language and region, such as `en` or `de-CH`.
    locale: Option<String>,
    /// Billing and shipping addresses.
    addresses: Vec<AddressView>,
}

impl From<&Customer> for CustomerDetails {
    fn from(customer: &Customer) -> Self {
        let Customer { id, email, name, phone, company, tax_id, locale, addresses, .. } = customer.clone();
        let addresses = addresses.iter().map(Into::into).collect();
        Self { id, email, name, phone, company, tax_id, locale, addresses }
    }
}

/// Customer as shown to staff.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Customer", many = "customers", example = json!({
    "id": EXAMPLE_ID, "email": "buyer@example.org", "name": "Sam Baker", "phone": null, "company": null, "taxId": null,
    "locale": null, "addresses": [], "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:05:00.000Z",
}))]
struct CustomerView {
    #[serde(flatten)]
    details: CustomerDetails,
    /// Time at which the customer record was created.
    created_at: Timestamp,
    /// Time at which the profile last changed.
    updated_at: Timestamp,
}

impl From<&Customer> for CustomerView {
    fn from(customer: &Customer) -> Self {
        Self { details: customer.into(), created_at: customer.created_at, updated_at: customer.updated_at }
    }
}

async fn list(
    State(app): State<CustomerHandles>,
    Query(query): Query<CustomerQuery>,
) -> Result<ListPage<CustomerView>, ApiError> {
    let page = query.page.into();
    let filter = CustomerFilter { email: query.email.map(|email| email.trim().to_lowercase()), q: query.q };
    let (some, total) = app.queries.customers(&filter, page).await?;
    let items = some.iter().filter_map(|customer| customer.state.as_ref()).map(Into::into);
    Ok(ListPage::new(page, items, total))
}

async fn one(State(app): State<CustomerHandles>, PathId(id): PathId) -> Result<Plain<CustomerView>, ApiError> {
    let (_, state) = find_existing(&app.customers, id).await?;
    Ok(Plain(state_of(&state)?.into()))
}

/// Returns the language of the customer with the given normalized email address; English if there is no such customer.
pub async fn language_of(
    queries: &Queries,
    customers: &Directory<Customer>,
    email: Option<&str>,
) -> Result<Language, ApiError> {
    let Some(email) = email else { return Ok(Language::default()) };
    let Some(id) = queries.customer_by_email(email).await? else { return Ok(Language::default()) };
    let state = customers.read(id).await?;
    Ok(state.as_ref().and_then(|state| state.state.as_ref()).map(Customer::language).unwrap_or_default())
}

/// Returns the customer with the given normalized email address; creates the customer record if it does not exist.
pub async fn customer_of(
    queries: &Queries,
    customers: &Directory<Customer>,
    origin: CommandOrigin,
    email: &str,
) -> Result<Id, ApiError> {
    if let Some(id) = queries.customer_by_email(email).await? {
        return Ok(id);
    }
    let create = CustomerCommand::Create { email: email.to_owned(), session_hash: None };
    match customers.create(origin, create).await {
        Ok((id, _)) => Ok(id),
        Err(AskError::Refused(refusal)) if refusal.code == EMAIL_TAKEN => {
            let id = queries.customer_by_email(email).await?;
            id.ok_or_else(|| ApiError::internal("a customer's record was neither found nor created"))
        }
        Err(error) => Err(error.into()),
    }
}
