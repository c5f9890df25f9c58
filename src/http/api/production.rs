//! The production API, for staff and programs: all routes, and the access that each requires.

mod accounting;
mod agent;
mod audit;
pub(crate) mod auth;
pub(crate) mod backup;
pub mod custom_requests;
pub(crate) mod customers;
pub(crate) mod dashboard;
pub(crate) mod deliveries;
pub mod endpoints;
pub mod events;
mod exports;
mod farm_ui;
pub(crate) mod files;
mod forecast;
pub mod health;
pub(crate) mod insights;
pub(crate) mod integrations;
pub mod invoices;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod materials;
pub mod metrics;
pub mod orders;
pub mod payments;
pub mod place;
pub(crate) mod printers;
pub(crate) mod quotes;
pub(crate) mod restores;
mod sales_channels;
pub(crate) mod second_factor;
pub(crate) mod settings;
pub(crate) mod setup;
mod sign_off;
pub mod skus;
mod slicer;
pub(crate) mod stock_links;
pub(crate) mod users;

use crate::config::Config;
use crate::http::openapi;
use crate::http::routes::{ResourceRoutes, Routes};

/// Returns every resource in the order of the API description; routes and description both derive from this list. With
/// `public_metrics`, `/metrics` requires no credentials.
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
        // Outbound webhooks
        endpoints::routes(),
        deliveries::routes(),
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

/// Builds all routes for this configuration. Each is described in [`openapi`].
pub fn routes(config: &Config) -> Routes {
    resources(config.metrics.public).into_iter().fold(Routes::new(), Routes::resource)
}
