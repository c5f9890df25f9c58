//! The production API: the shop's half, for staff and programs. Every route and who may use it.

pub mod agent;
pub mod audit;
pub mod auth;
pub mod dashboard;
pub mod deliveries;
pub mod endpoints;
pub mod events;
pub mod files;
pub mod health;
pub mod jobs;
pub mod keys;
pub mod materials;
pub mod metrics;
pub mod orders;
pub mod payments;
pub mod place;
pub mod printers;
pub mod skus;
pub mod users;

use crate::config::Config;
use crate::http::openapi;
use crate::http::routes::Routes;

/// All routes with these settings. Each is described in [`openapi`].
pub fn routes(config: &Config) -> Routes {
    Routes::new()
        // People, keys, sessions
        .resource(auth::routes())
        .resource(keys::routes())
        .resource(users::routes())
        .resource(audit::routes())
        // Inventory and catalogue
        .resource(materials::routes())
        .resource(skus::routes())
        .resource(files::routes())
        // Orders and jobs
        .resource(orders::routes())
        .resource(jobs::routes())
        // Printers
        .resource(printers::routes())
        // Outbound webhooks
        .resource(endpoints::routes())
        .resource(deliveries::routes())
        // What happens
        .resource(events::routes())
        .resource(dashboard::routes())
        .resource(health::routes())
        .resource(metrics::routes(config.metrics.public))
        // Messages of other programs
        .resource(agent::routes())
        .resource(payments::routes())
        // This description
        .resource(openapi::routes())
}
