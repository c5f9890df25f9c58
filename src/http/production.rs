//! The production API: the shop's half, for staff and programs. Every route and who may use it.

mod agent;
mod audit;
mod auth;
mod dashboard;
mod deliveries;
pub mod endpoints;
pub mod events;
mod farm_ui;
mod files;
mod forecast;
pub mod health;
mod insights;
mod integrations;
mod jobs;
mod keys;
mod materials;
pub mod metrics;
pub mod orders;
mod payments;
mod place;
mod printers;
mod settings;
mod setup;
mod sign_off;
mod skus;
mod slicer;
mod stock_links;
mod users;

use crate::config::Config;
use crate::http::openapi;
use crate::http::routes::{ResourceRoutes, Routes};

/// Every resource, in the order of the description: the one list that routes and description follow from.
/// `public_metrics`: `/metrics` asks for no credentials.
pub fn resources(public_metrics: bool) -> Vec<ResourceRoutes> {
    vec![
        // People, keys, sessions
        auth::routes(),
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
        // The description itself
        openapi::routes(),
        // Messages of other programs
        agent::routes(),
        payments::routes(),
    ]
}

/// All routes with these settings. Each is described in [`openapi`].
pub fn routes(config: &Config) -> Routes {
    resources(config.metrics.public).into_iter().fold(Routes::new(), Routes::resource)
}
