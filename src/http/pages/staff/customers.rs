//! Customer pages for the staff: search, and details with orders, payments and requests. Only customers themselves can
//! change their record.

mod one;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::CUSTOMERS_PATH;
use super::board::BoardHandles;
use super::orders::NEW_ORDER_PATH;
use super::sheet::{ListPart, non_empty, page_of};
use super::shell::{StaffSection, StaffViewer};
use crate::design::{Icon, empty_place};
use crate::frame::time;
use config::Config;
use domain::customer::Customer;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http::wire::MaxChars;
use http_api::production::customers::CustomerHandles;
use http_api::production::invoices::InvoiceHandles;
use store::queries::CustomerFilter;
use words::Language;
use words::staff::{customers as texts, orders};

handles! {
    /// Dependencies of the customer pages.
    pub(crate) struct StaffCustomerHandles {
        board: BoardHandles,
        customers: CustomerHandles,
        invoices: InvoiceHandles,
        config: Arc<Config>,
    }
}

/// Adds the customer pages to the routes.
pub(super) fn routes(routes: Routes) -> Routes {
    let session = RequiredAccess::Session;
    routes.page(Method::GET, session, CUSTOMERS_PATH, list, PageBounds::Form).page(
        Method::GET,
        session,
        "/shop/customers/{id}",
        one::show,
        PageBounds::Form,
    )
}

/// Filter for the customer list.
#[derive(Request, Debug)]
struct CustomerListQuery {
    /// Part of the email address or name.
    #[api(MaxChars(254))]
    q: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Serves the list of customers.
async fn list(
    State(app): State<StaffCustomerHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let q = non_empty(query.q.as_ref());
    let part = ListPart { path: CUSTOMERS_PATH, narrowed: vec![("q", q)], from: query.from };
    let filter = CustomerFilter { q: q.map(str::to_owned), ..CustomerFilter::default() };
    let (some, total) = app.customers.queries.customers(&filter, part.page()).await?;
    let some: Vec<&Customer> = some.iter().filter_map(|one| one.state.as_ref()).collect();
    let title = texts::title(language);
    let content = html! {
        h1 { (title) }
        form class="tools" method="get" action=(CUSTOMERS_PATH) role="search" {
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="254" value=[q];
            }
            button class="second" type="submit" { (texts::search(language)) }
        }
        div id="customers" data-fresh="" {
            @if !some.is_empty() {
                (table(language, &some))
            } @else if let Some(q) = q {
                p {
                    (texts::none_match(language, q)) " "
                    a href=(CUSTOMERS_PATH) { (texts::show_all(language)) }
                }
                p class="soft" { (texts::none_match_hint(language)) }
            } @else {
                @let begin = html! { a class="btn primary" href=(NEW_ORDER_PATH) { (orders::new_order(language)) } };
                (empty_place(Icon::Users, &texts::none_yet(language), &begin))
            }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Customers, &title, &app.board.view(), &content))
}

fn table(language: Language, customers: &[&Customer]) -> Markup {
    let since = texts::since_column(language);
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::email_column(language)) } th scope="col" { (texts::name_column(language)) }
                        th scope="col" { (texts::company_column(language)) } th scope="col" { (texts::phone_column(language)) }
                        th scope="col" { (since) }
                    }
                }
                tbody {
                    @for customer in customers {
                        tr {
                            th scope="row" { a class="ellipsis" title=(customer.email) href=(page_of(CUSTOMERS_PATH, customer.id)) { (customer.email) } }
                            td { (customer.name.as_deref().unwrap_or("")) }
                            td { (customer.company.as_deref().unwrap_or("")) }
                            td { (customer.phone.as_deref().unwrap_or("")) }
                            td class="spare" data-label=(since) { (time(language, customer.created_at)) }
                        }
                    }
                }
            }
        }
    }
}
