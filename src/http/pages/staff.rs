//! Staff pages: the floor, the to-do list, orders and their jobs. Access control is the same as for API requests with a
//! session: the `service_session` cookie and the signed-in user's role apply.
//!
//! Live data about the floor is read from memory ([`board`]), rendered once for all viewers, and sent through one
//! stream per browser and language ([`live`]). Forms are handled by the API handlers ([`acts`]), so the pages contain
//! no business rules.

mod acts;
mod address_fields;
mod board;
mod card;
mod card_acts;
mod card_gauge;
mod card_heat;
mod card_picture;
mod card_print;
mod card_slots;
mod card_stop;
mod customers;
mod delay_reasons;
mod design_page;
mod filled_form;
mod first_steps;
mod floor;
mod floor_group;
mod floor_head;
mod floor_next;
mod floor_plan;
mod floor_totals;
mod floor_wall;
mod insights;
mod invoices;
mod job;
mod labels;
mod live;
mod log;
mod memo;
mod names;
mod once;
mod order;
mod orders;
mod outage;
mod printer;
mod printer_form;
mod printer_network;
mod printer_notes;
mod printer_print;
mod printer_readings;
mod printer_settings;
mod products;
mod quotes;
mod remedy;
mod scan;
mod search;
mod settings;
mod sheet;
mod shell;
mod sign_in;
mod sign_off;
mod stock;
mod subject;
mod swatch;
mod task_counter;
mod timing;
mod to_do;
mod undelivered;
mod webhooks;

pub(super) use acts::label_of as act_label;

use axum::Router;
use axum::http::Method;
use url::form_urlencoded;

use super::paths::FLOOR as FLOOR_PATH;
use domain::principal::Role;
use http::AppState;
use http::access::RequiredAccess;
use http::local_sign_in;
use http::routes::{PageBounds, Routes};

/// Path of the staff's to-do list.
const TO_DO_PATH: &str = "/to-do";
/// Path of the list of all customers' orders. The customers' own pages are at `/orders`.
const ORDERS_PATH: &str = "/shop/orders";
/// Path of the list of materials, with their spools and stock movements.
const STOCK_PATH: &str = "/shop/stock";
/// Path of the list of SKUs, kits and files.
const PRODUCTS_PATH: &str = "/shop/products";
/// Path of the list of quotes and custom requests.
const QUOTES_PATH: &str = "/shop/quotes";
/// Path of the list of customers' requests for custom pieces.
const REQUESTS_PATH: &str = "/shop/requests";
/// Path of the list of all customers' invoices and credit notes.
const INVOICES_PATH: &str = "/shop/invoices";
/// Path of the customer list.
const CUSTOMERS_PATH: &str = "/shop/customers";
/// Path of the list of webhook endpoints and their deliveries.
const WEBHOOKS_PATH: &str = "/shop/webhooks";
/// Path of the shop's statistics and charts.
const INSIGHTS_PATH: &str = "/shop/insights";
/// Path of the settings: API keys, users, integrations and server status.
const SETTINGS_PATH: &str = "/shop/settings";
/// Path of the page for one's own account.
const ACCOUNT_PATH: &str = "/shop/settings/account";
/// First path segments of the staff pages.
const ROOTS: [&str; 6] = ["login", "logout", "floor", "to-do", "shop", "design"];

/// Returns whether the path belongs to a staff page.
pub(super) fn is_path(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|rest| rest.split(['/', '?']).next());
    first.is_some_and(|first| ROOTS.contains(&first))
}

/// Returns the path of the sign-in page, with the requested page as the redirect target.
pub(super) fn sign_in_path(target: Option<&str>) -> String {
    let Some(target) = target else { return sign_in::PATH.to_owned() };
    let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", target).finish();
    format!("{}?{next}", sign_in::PATH)
}

/// Returns the routes of the staff pages, each with its required access.
pub(super) fn routes(app: &AppState) -> Router<AppState> {
    use RequiredAccess::{Open, Session};
    let (get, post, form, live) = (Method::GET, Method::POST, PageBounds::Form, PageBounds::Stream);
    let admin = RequiredAccess::Role(Role::Admin);
    let routes = Routes::new()
        .page(get.clone(), Open, sign_in::PATH, sign_in::show, form)
        .page(post.clone(), Open, sign_in::PATH, sign_in::enter, form)
        .page(get.clone(), Open, local_sign_in::PATH, once::enter, form)
        .page(post.clone(), Open, local_sign_in::PATH, once::make, form)
        .page(post.clone(), Session, "/logout", sign_in::leave, form)
        .page(get.clone(), Session, FLOOR_PATH, floor::show, form)
        .page(get.clone(), Session, "/floor/live", live::live, live)
        .page(get.clone(), Session, "/floor/pictures/{id}", card_picture::show, form)
        .page(get.clone(), Session, printer_form::NEW_PRINTER_PATH, printer_form::show_new, form)
        .page(post.clone(), Session, printer_form::NEW_PRINTER_PATH, printer_form::add, PageBounds::Long)
        .page(post.clone(), admin, printer_network::SEARCH_PATH, printer_network::begin, form)
        .page(post.clone(), admin, printer_network::CANCEL_PATH, printer_network::cancel, form)
        .page(get.clone(), Session, "/floor/printers/{id}", printer::show, form)
        .page(get.clone(), Session, "/floor/printers/{id}/edit", printer_form::show_edit, form)
        .page(post.clone(), Session, "/floor/printers/{id}/edit", printer_form::change, form)
        .page(get.clone(), Session, "/floor/printers/{id}/upload", printer_print::show, form)
        .page(post.clone(), Session, "/floor/printers/{id}/upload", printer_print::upload, PageBounds::Upload)
        .page(post.clone(), Session, "/floor/printers/{id}/emergency-stop", acts::stop, PageBounds::Long)
        // What is done at a printer takes as long as the printer takes.
        .page(post.clone(), Session, "/floor/printers/{id}/{act}", acts::at_printer, PageBounds::Long)
        .page(get.clone(), Session, TO_DO_PATH, to_do::show, form)
        .page(get.clone(), Session, to_do::ACTIVITY_PATH, to_do::show_activity, form)
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
        search::routes,
        settings::routes,
        design_page::routes,
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
