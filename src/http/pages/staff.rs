//! Pages for the staff: the floor, what is to be done, orders and their jobs. They are admitted as the API admits a
//! session: by the cookie `service_session`, with the role of whoever signed in.
//!
//! What changes on the floor is read where it is kept in memory ([`board`]), made once for all who look, and sent by
//! one stream for each browser ([`live`]). Forms are carried out by the handlers of the API ([`acts`]): nothing is
//! decided here.

mod acts;
mod address_fields;
mod board;
mod card;
mod card_heat;
mod card_picture;
mod card_stop;
mod customers;
mod entry;
mod filled_form;
mod first_steps;
mod floor;
mod floor_plan;
mod insights;
mod invoices;
mod job;
mod labels;
mod live;
mod log;
mod once;
mod order;
mod orders;
mod printer;
mod printer_form;
mod printer_notes;
mod printer_print;
mod printer_settings;
mod products;
mod quotes;
mod settings;
mod sheet;
mod shell;
mod sign_in;
mod sign_off;
mod stock;
mod to_do;
mod webhooks;

use axum::Router;
use axum::http::Method;
use url::form_urlencoded;

use crate::http::AppState;
use crate::http::access::RequiredAccess;
use crate::http::local_sign_in;
use crate::http::routes::{PageBounds, Routes};

pub(crate) use board::Board;

/// The floor: where whoever signs in begins.
pub(super) const FLOOR_PATH: &str = "/floor";
/// What people are to do now.
const TO_DO_PATH: &str = "/to-do";
/// The orders of all customers. Theirs, for customers, are at `/orders`.
const ORDERS_PATH: &str = "/shop/orders";
/// Materials, spools and their movements.
const STOCK_PATH: &str = "/shop/stock";
/// SKUs, kits and files.
const PRODUCTS_PATH: &str = "/shop/products";
/// Custom requests and quotes.
const QUOTES_PATH: &str = "/shop/quotes";
/// What customers want made.
const REQUESTS_PATH: &str = "/shop/requests";
/// Invoices and credit notes of all customers.
const INVOICES_PATH: &str = "/shop/invoices";
/// Who buys here.
const CUSTOMERS_PATH: &str = "/shop/customers";
/// Endpoints of webhooks and what was sent to them.
const WEBHOOKS_PATH: &str = "/shop/webhooks";
/// What the shop did, in numbers and pictures.
const INSIGHTS_PATH: &str = "/shop/insights";
/// API keys, users, integrations and the state of the server.
const SETTINGS_PATH: &str = "/shop/settings";
/// How the paths of these pages begin.
const ROOTS: [&str; 5] = ["login", "logout", "floor", "to-do", "shop"];

/// Whether a path is that of a page for the staff.
pub(super) fn is_path(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|rest| rest.split(['/', '?']).next());
    first.is_some_and(|first| ROOTS.contains(&first))
}

/// The sign-in page, from which the browser is led back to the page that was wanted.
pub(super) fn sign_in_path(wanted: Option<&str>) -> String {
    let Some(wanted) = wanted else { return sign_in::PATH.to_owned() };
    let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", wanted).finish();
    format!("{}?{next}", sign_in::PATH)
}

/// The routes of the pages, each with who may use it.
pub(super) fn routes(app: &AppState) -> Router<AppState> {
    use RequiredAccess::{Open, Session};
    let (get, post, form, live) = (Method::GET, Method::POST, PageBounds::Form, PageBounds::Stream);
    let routes = Routes::new()
        .page(get.clone(), Open, sign_in::PATH, sign_in::show, form)
        .page(post.clone(), Open, sign_in::PATH, sign_in::enter, form)
        .page(get.clone(), Open, local_sign_in::PATH, once::enter, form)
        .page(post.clone(), Session, "/logout", sign_in::leave, form)
        .page(get.clone(), Session, FLOOR_PATH, floor::show, form)
        .page(get.clone(), Session, "/floor/live", live::live, live)
        .page(get.clone(), Session, "/floor/pictures/{id}", card_picture::show, form)
        .page(get.clone(), Session, printer_form::NEW_PRINTER_PATH, printer_form::show_new, form)
        .page(post.clone(), Session, printer_form::NEW_PRINTER_PATH, printer_form::add, PageBounds::Long)
        .page(get.clone(), Session, "/floor/printers/{id}", printer::show, form)
        .page(get.clone(), Session, "/floor/printers/{id}/edit", printer_form::show_edit, form)
        .page(post.clone(), Session, "/floor/printers/{id}/edit", printer_form::change, form)
        .page(get.clone(), Session, "/floor/printers/{id}/upload", printer_print::show, form)
        .page(post.clone(), Session, "/floor/printers/{id}/upload", printer_print::upload, PageBounds::Upload)
        .page(post.clone(), Session, "/floor/printers/{id}/emergency-stop", acts::stop, PageBounds::Long)
        // What is done at a printer takes as long as the printer takes.
        .page(post.clone(), Session, "/floor/printers/{id}/{act}", acts::at_printer, PageBounds::Long)
        .page(get.clone(), Session, TO_DO_PATH, to_do::show, form)
        .page(post.clone(), Session, "/to-do/beds", acts::clear_beds, form)
        .page(get.clone(), Session, ORDERS_PATH, orders::list, form)
        .page(get, Session, "/shop/orders/{id}", order::show, form)
        .page(post.clone(), Session, "/shop/orders/{id}/{act}", acts::on_order, form)
        .page(post, Session, "/shop/jobs/{id}/{act}", acts::on_job, PageBounds::Long);
    let more = [
        orders::routes,
        job::routes,
        sign_off::routes,
        stock::routes,
        labels::routes,
        products::routes,
        quotes::routes,
        invoices::routes,
        customers::routes,
        webhooks::routes,
        insights::routes,
        settings::routes,
    ];
    more.into_iter().fold(routes, |routes, add| add(routes)).into_router(app)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_staff_are_told_from_all_else() {
        for page in ["/floor", "/floor/live", "/login", "/to-do", "/shop/orders/1", "/login?next=%2Ffloor"] {
            assert!(is_path(page), "{page}");
        }
        for other in ["/", "/orders", "/floors", "//floor", "floor", "/api/dashboard", "/sign-in"] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn whoever_signs_in_comes_back_to_what_they_wanted() {
        assert_eq!(sign_in_path(None), "/login");
        assert_eq!(sign_in_path(Some("/floor?q=a b")), "/login?next=%2Ffloor%3Fq%3Da+b");
    }
}
