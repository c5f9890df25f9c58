//! Server-rendered pages for customers, for the staff (`staff`) and for setting up a new shop. They share one frame and
//! one design (`design`), and their forms are submitted to this server. They are not part of the API but use the same
//! commands, and every page works without its script.
//!
//! Pages are protected in the same way as API routes: by access control, rate limits and a maximum body size. Errors
//! are shown as pages too (`refused`), and users who are not signed in are redirected to the sign-in page.

mod account;
mod brand;
mod design;
mod faults;
mod form;
mod frame;
mod invoices;
mod models;
mod orders;
mod part_query;
mod paths;
mod pay;
mod pictures;
mod printer_fields;
mod printer_search;
mod quotes;
mod refused;
mod sentences;
mod setup;
mod sign_in;
mod staff;
pub mod standby;
mod times;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef as _;
use axum::http::Method;
use axum::middleware::from_fn_with_state;

use http::AppState;
use http::access::RequiredAccess;
use http::openapi;
use http::openapi::half::Half;
use http::routes::{PageBounds, Routes};
use http_api::billing::session::CONFIRM_PATH;
use http_api::{billing, production};
use kernel::environment::Environment;
use paths::{INVOICES, MODELS, ORDERS, PROFILE, QUOTES};
use refused::PageRewriter;

/// Builds the router of the entire server: both halves of the API, and the pages.
pub fn router(state: AppState) -> Router {
    let (of_shop, of_customers) = (production::routes(&state.config), billing::routes());
    let (of_server, url) = ([of_shop.served(), of_customers.served()], state.config.public_url());
    state.describe_with(Box::new(move |half| {
        let [shop, customers] = &of_server;
        let served = if half == Half::Production { shop } else { customers };
        openapi::json(half, &http_api::resources(half), served, &url)
    }));
    let routes = of_shop.into_router(&state).merge(of_customers.into_router(&state));
    let routes = routes.merge(self::routes(&state)).merge(design::assets::routes());
    let rewriter = Box::new(PageRewriter(state.clone()));
    http::with_edge(routes, state, rewriter)
}

/// Returns the routes of the pages, each with its required access.
pub fn routes(app: &AppState) -> Router<AppState> {
    use RequiredAccess::{Customer, Open};
    let (get, post, form, live) = (Method::GET, Method::POST, PageBounds::Form, PageBounds::Stream);
    setup::routes(Routes::new())
        .page(get.clone(), Open, CONFIRM_PATH, sign_in::confirm, form)
        .page(get.clone(), Open, brand::STYLE_PATH, brand::style, form)
        .page(get.clone(), Open, brand::LOGO_PATH, brand::logo, form)
        .page(get.clone(), Open, sign_in::PATH, sign_in::show, form)
        .page(post.clone(), Open, sign_in::PATH, sign_in::ask, form)
        .page(post.clone(), Customer, "/sign-out", account::sign_out, form)
        .page(get.clone(), Customer, ORDERS, orders::list, form)
        .page(get.clone(), Customer, "/orders/{id}", orders::one, form)
        .page(get.clone(), Customer, "/orders/{id}/live", orders::live, live)
        .page(get.clone(), Customer, "/orders/{id}/pictures/{number}", pictures::of_order, form)
        .page(post.clone(), Customer, "/orders/{id}/pay", orders::pay, form)
        .page(get.clone(), Customer, INVOICES, invoices::list, form)
        .page(get.clone(), Customer, "/invoices/{id}", invoices::one, form)
        .page(get.clone(), Customer, "/invoices/{id}/pdf", invoices::pdf, form)
        .page(post.clone(), Customer, "/invoices/{id}/pay", invoices::pay, form)
        .page(get.clone(), Customer, QUOTES, quotes::list, form)
        .page(get.clone(), Customer, "/quotes/{id}", quotes::one, form)
        .page(get.clone(), Customer, "/quotes/{id}/pictures/{number}", pictures::of_quote, form)
        .page(post.clone(), Customer, "/quotes/{id}/accept", quotes::accept, form)
        .page(post.clone(), Customer, "/quotes/{id}/decline", quotes::decline, form)
        .page(get.clone(), Customer, MODELS, models::show, form)
        .page(post.clone(), Customer, MODELS, models::upload, PageBounds::Upload)
        .page(get.clone(), Customer, "/models/{id}", models::one, form)
        .page(get.clone(), Customer, "/models/{id}/picture", pictures::of_model, form)
        .page(get.clone(), Open, "/pay/{token}", pay::show, form)
        .page(post.clone(), Open, "/pay/{token}", pay::pay, form)
        .page(get, Customer, PROFILE, account::show, form)
        .page(post, Customer, PROFILE, account::change, form)
        .into_router(app)
        .merge(staff::routes(app))
        .route_layer(from_fn_with_state(Arc::<Environment>::from_ref(app), times::filled))
}
