//! The production API for staff and programs: all routes, and the access that each requires.

mod accounting;
mod agent;
mod audit;
pub mod auth;
pub mod backup;
pub mod custom_requests;
pub mod customers;
pub mod dashboard;
pub mod deliveries;
pub mod emails;
pub mod endpoints;
pub mod events;
pub mod exports;
mod farm_ui;
pub mod files;
mod forecast;
pub mod health;
pub mod insights;
pub mod integrations;
pub mod invoices;
pub mod jobs;
pub mod keys;
pub mod materials;
pub mod metrics;
pub mod orders;
pub mod payments;
pub mod place;
pub mod printers;
pub mod quotes;
pub mod restores;
mod sales_channels;
pub mod second_factor;
pub mod settings;
pub mod setup;
mod sign_off;
pub mod skus;
mod slicer;
pub mod stock_links;
pub mod users;

use config::Config;
use http::openapi;
use http::routes::{ResourceRoutes, Routes};

/// Returns every resource, in the order of the API description. The routes and the description both derive from the
/// returned list. If `public_metrics` is set, `/metrics` requires no credentials.
pub fn resources(public_metrics: bool) -> Vec<ResourceRoutes> {
    vec![
        // People, keys, sessions
        auth::routes(),
        second_factor::routes(),
        keys::routes(),
        users::routes(),
        audit::routes(),
        // Inventory and catalogue
        materials::routes(),
        stock_links::routes(),
        skus::routes(),
        files::routes(),
        // Orders and jobs
        orders::routes(),
        jobs::routes(),
        customers::routes(),
        custom_requests::routes(),
        quotes::routes(),
        invoices::routes(),
        sales_channels::routes(),
        sales_channels::orders::routes(),
        exports::routes(),
        accounting::routes(),
        slicer::routes(),
        // Printers
        printers::routes(),
        farm_ui::routes(),
        // Outbound webhooks and emails
        endpoints::routes(),
        deliveries::routes(),
        emails::routes(),
        // What happens
        events::routes(),
        dashboard::routes(),
        forecast::routes(),
        insights::routes(),
        health::routes(),
        metrics::routes(public_metrics),
        // Settings and the setup of a new shop
        setup::routes(),
        settings::routes(),
        integrations::routes(),
        backup::routes(),
        restores::routes(),
        // The description itself
        openapi::routes(),
        // Messages of other programs
        agent::routes(),
        payments::routes(),
    ]
}

/// Builds all routes for the given configuration. Each route is described in [`openapi`].
pub fn routes(config: &Config) -> Routes {
    resources(config.metrics.public).into_iter().fold(Routes::new(), Routes::resource)
}
