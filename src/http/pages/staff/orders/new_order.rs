//! Form in which staff enter a new order: lines, customer, due date. The order is placed by the API operation.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::StaffOrderHandles;
use crate::form::{FieldControl, Form, FormBody, PageForm};
use crate::frame::see_other;
use crate::staff::acts::{NOTES_LABEL, STAFF_NOTES_LABEL, WANTED_LABEL};
use crate::staff::address_fields::address_fields;
use crate::staff::products::{CODE_LIST, code_list, with_sku_ids};
use crate::staff::shell::{StaffSection, StaffViewer, hidden_once};
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::id::Id;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::place::place_order;
use store::queries::{Page, SkuFilter};
use words::Language;
use words::staff::orders as texts;

/// Path of the form for a new order.
pub(in crate::staff) const PATH: &str = "/shop/orders/new";
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
    let mut form = Form::submitted(&sent);
    let placed = async {
        let rows = form.close_up("lines", &LINE_MEMBERS);
        // A product that was withdrawn may have the name of its successor.
        let active = SkuFilter { active: Some(true), ..SkuFilter::default() };
        let texts = with_sku_ids(&app.orders.queries, &active, &form, "lines", rows).await?;
        let body = FormBody::new(texts).day("dueAt", sent.call.clock());
        place_order(&app.orders, None, &sent.request_of(body)).await
    };
    let placed = placed.await;
    match placed {
        Ok(order) => Ok(see_other(&format!("{ORDERS_PATH}/{}", order.id))),
        Err(error) => {
            form.refuse(error);
            page(&app, &sent.call.who, form).await
        }
    }
}

async fn page(app: &StaffOrderHandles, who: &Caller, mut form: Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let rows = (form.close_up("lines", &LINE_MEMBERS) + FREE_LINES).min(MAX_FORM_LINES);
    for at in 0..rows {
        form.preset(format!("lines.{at}.quantity"), "1");
    }
    let active = SkuFilter { active: Some(true), ..SkuFilter::default() };
    let (_, offered) = app.orders.queries.skus(&active, Page { limit: 1, offset: 0 }).await?;
    let codes = code_list(&app.orders.queries).await?;
    let title = texts::new_order(language);
    let content = html! {
        p { a href=(ORDERS_PATH) { (texts::all_orders(language)) } }
        h1 { (title) }
        (form.alert())
        @if offered == 0 {
            section class="card" aria-labelledby="begin" {
                h2 id="begin" { (texts::no_skus_heading(language)) }
                p { (texts::no_skus_text(language)) }
                a class="button" href={ (PRODUCTS_PATH) "/new" } { (texts::new_sku(language)) }
            }
        } @else { (fields(language, &form, rows, &codes)) }
    };
    let response = viewer.page(StaffSection::Orders, &title, &app.board.view(), &content);
    Ok(form.answer(response))
}

/// Renders the form: the required fields, and optional ones that are collapsed unless they are filled in or the form
/// was rejected.
fn fields(language: Language, form: &Form, rows: usize, codes: &Markup) -> Markup {
    let several = rows > FREE_LINES + 1;
    let (email, email_hint) = (texts::email_field(language), texts::email_hint(language));
    let (due_date, due_date_hint) = (WANTED_LABEL(language), texts::new_due_date_hint(language));
    html! {
        form class="sheet" method="post" action=(PATH) {
            (hidden_once())
            fieldset class="card" {
                legend { (texts::order_heading(language)) }
                (line(language, form, 0))
                div class="grid" {
                    (form.field("customerEmail", &email, &email_hint, FieldControl::Email))
                    (form.field("dueAt", &due_date, &due_date_hint, FieldControl::Day))
                }
                (codes)
                details open[several] {
                    summary { (texts::more_products(language)) }
                    p class="hint" { (texts::more_products_hint(language)) }
                    @for at in 1..rows { (line(language, form, at)) }
                }
                (optional_fields(language, form))
            }
            p class="acts" {
                button type="submit" { (texts::place_order(language)) }
                a class="button second" href=(ORDERS_PATH) { (texts::discard(language)) }
            }
        }
    }
}

fn optional_fields(language: Language, form: &Form) -> Markup {
    let (notes, internal_notes) = (NOTES_LABEL(language), STAFF_NOTES_LABEL(language));
    let (priority, priority_hint) = (texts::priority(language), texts::new_priority_hint(language));
    html! {
        details open[form.is_refused()] {
            summary { (texts::optional_fields(language)) }
            (address_fields(language, form, &texts::new_address_hint(language)))
            (form.field("notes", &notes, "", FieldControl::Lines(1_000)))
            (form.field("internalNotes", &internal_notes, "", FieldControl::Lines(1_000)))
            (form.field("priority", &priority, &priority_hint, FieldControl::Whole(0, 9)))
        }
    }
}

/// Renders an order line.
fn line(language: Language, form: &Form, at: usize) -> Markup {
    let (product, quantity) = if at == 0 {
        (texts::product_field(language), texts::quantity_field(language))
    } else {
        (texts::next_product_field(language, at + 1), texts::next_quantity_field(language, at + 1))
    };
    let hint = if at == 0 { texts::product_hint(language) } else { String::new() };
    html! {
        div class="grid" {
            (form.field(&format!("lines.{at}.skuId"), &product, &hint, FieldControl::Suggested(CODE_LIST)))
            (form.field(&format!("lines.{at}.quantity"), &quantity, "", FieldControl::Whole(1, 1_000_000)))
        }
    }
}
