//! Form in which staff enter a new order: lines, customer, due date. The order is placed by the API operation.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::StaffOrderHandles;
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::address_fields::{address_fields, address_said};
use crate::staff::form::{FieldControl, Form};
use crate::staff::products::{CODE_LIST, code_list, counted_skus};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::id::Id;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::place::place_order;
use store::queries::{Page, SkuFilter};

/// Path of the form for a new order.
pub(super) const PATH: &str = "/shop/orders/new";
/// Fields of an order line.
const LINE_MEMBERS: [&str; 2] = ["skuId", "quantity"];
/// Number of empty order lines offered.
const FREE_LINES: usize = 4;
/// Maximum number of order lines in the form, because the number of form fields is limited. Longer orders have to be
/// placed through the API.
const MAX_FORM_LINES: usize = 35;

/// Query parameters with which the form is filled in.
#[derive(Request, Debug)]
pub(super) struct NewOrderQuery {
    /// SKU for the first line.
    sku: Option<String>,
    /// Email address of the customer.
    customer: Option<String>,
}

/// Serves the form for a new order.
pub(super) async fn begin(
    State(app): State<StaffOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<NewOrderQuery>,
) -> Result<Response, ApiError> {
    let state = match query.sku.as_deref().and_then(|id| id.parse::<Id>().ok()) {
        Some(id) => app.orders.skus.read(id).await?,
        None => None,
    };
    let sku = state.as_ref().and_then(|state| state.present());
    let code = sku.map(|sku| ("lines.0.skuId", sku.fields.code.clone()));
    let customer = query.customer.map(|email| ("customerEmail", email));
    page(&app, &who, Form::prefilled(code.into_iter().chain(customer))).await
}

/// Places the order described by the form, or serves the form again with its errors.
pub(super) async fn place(State(app): State<StaffOrderHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let (mut form, who) = (Form::submitted(&sent), sent.call.who.clone());
    let placed = async {
        let rows = form.close_up("lines", &LINE_MEMBERS);
        // A product that was withdrawn may have the name of its successor.
        let active = SkuFilter { active: Some(true), ..SkuFilter::default() };
        let lines = counted_skus(&app.orders.queries, &active, &form, "lines", rows).await?;
        place_order(&app.orders, None, &sent.call.with_body(&request_body(&form, lines))).await
    };
    let placed = placed.await;
    match placed {
        Ok(order) => Ok(see_other(&format!("{ORDERS_PATH}/{}", order.id))),
        Err(error) => {
            form.refuse(error);
            page(&app, &who, form).await
        }
    }
}

/// Builds the API request body from the form, omitting empty fields.
fn request_body(form: &Form, lines: Vec<Value>) -> Value {
    let members = [
        ("customerEmail", form.json_or_null("customerEmail")),
        ("notes", form.json_or_null("notes")),
        ("internalNotes", form.json_or_null("internalNotes")),
        ("priority", form.whole("priority")),
        ("dueAt", form.day("dueAt")),
        ("shippingAddress", address_said(form)),
    ];
    let filled = members.into_iter().filter(|(_, value)| !value.is_null());
    let mut body: Map<String, Value> = filled.map(|(name, value)| (name.to_owned(), value)).collect();
    body.insert("lines".to_owned(), json!(lines));
    Value::Object(body)
}

async fn page(app: &StaffOrderHandles, who: &Caller, mut form: Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let rows = (form.close_up("lines", &LINE_MEMBERS) + FREE_LINES).min(MAX_FORM_LINES);
    for at in 0..rows {
        form.preset(format!("lines.{at}.quantity"), "1");
    }
    let active = SkuFilter { active: Some(true), ..SkuFilter::default() };
    let (_, offered) = app.orders.queries.skus(&active, Page { limit: 1, offset: 0 }).await?;
    let codes = code_list(&app.orders.queries).await?;
    let content = html! {
        p { a href=(ORDERS_PATH) { "All orders" } }
        h1 { "New order" }
        (form.alert())
        @if offered == 0 {
            section class="card" aria-labelledby="begin" {
                h2 id="begin" { "No SKUs to order yet" }
                p { "Orders consist of SKUs. First add a SKU with its price, material and G-code." }
                a class="button" href={ (PRODUCTS_PATH) "/new" } { "New SKU" }
            }
        } @else { (fields(&form, rows, &codes)) }
    };
    let response = viewer.page(StaffSection::Orders, "New order", &app.board.view(), &content);
    Ok(form.answer(response))
}

/// Renders the form: the required fields, and optional ones that are collapsed unless they are filled in or the form
/// was rejected.
fn fields(form: &Form, rows: usize, codes: &Markup) -> Markup {
    let (refused, several) = (form.is_refused(), rows > FREE_LINES + 1);
    let field = |name: &str, label: &str, hint: &str, control: FieldControl<'_>| form.field(name, label, hint, control);
    html! {
        form class="sheet" method="post" action=(PATH) {
            (hidden())
            fieldset class="card" {
                legend { "Order" }
                (line(form, 0))
                div class="grid" {
                    (field("customerEmail", "Customer email", "For the invoice and order updates. Leave empty to send no emails.", FieldControl::Email))
                    (field("dueAt", "Due date", "End of that day. Leave empty for as soon as possible.", FieldControl::Day))
                }
                (codes)
                details open[several] {
                    summary { "More products" }
                    p class="hint" { "Rows without a product are ignored." }
                    @for at in 1..rows { (line(form, at)) }
                }
                details open[refused] {
                    summary { "Address, notes and priority" }
                    (address_fields(words::Language::English, form, "Optional address. Shipping and tax may depend on it."))
                    (field("notes", "Notes to customer", "", FieldControl::Lines(1_000)))
                    (field("internalNotes", "Internal notes", "", FieldControl::Lines(1_000)))
                    (field("priority", "Priority", "0 to 9; 9 prints first. Defaults to 5.", FieldControl::Whole(0, 9)))
                }
            }
            p class="acts" {
                button type="submit" { "Place order" }
                a class="button second" href=(ORDERS_PATH) { "Cancel" }
            }
        }
    }
}

/// Renders an order line.
fn line(form: &Form, at: usize) -> Markup {
    let (product, quantity) = if at == 0 {
        ("Product".to_owned(), "Quantity".to_owned())
    } else {
        (format!("Product {}", at + 1), format!("Quantity ({})", at + 1))
    };
    let hint = if at == 0 { "Name or code of a SKU or kit. The catalogue price applies." } else { "" };
    html! {
        div class="grid" {
            (form.field(&format!("lines.{at}.skuId"), &product, hint, FieldControl::Suggested(CODE_LIST)))
            (form.field(&format!("lines.{at}.quantity"), &quantity, "", FieldControl::Whole(1, 1_000_000)))
        }
    }
}
