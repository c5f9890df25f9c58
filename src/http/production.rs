//! The shop's half of the API (production spec §4, decisions §7): every route and who may use it.

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
use crate::domain::principal::Role;
use crate::http::access::RequiredAccess;
use crate::http::openapi;
use crate::http::routes::Routes;

/// All routes with these settings. Each is described in [`openapi`].
pub fn routes(config: &Config) -> Routes {
    let (open, session) = (RequiredAccess::Open, RequiredAccess::Session);
    let [operator, admin] = [Role::Operator, Role::Admin].map(RequiredAccess::Role);
    let scraper = if config.metrics.public { open } else { operator };
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
        .get(operator, "/api/webhooks/endpoints", endpoints::list)
        .post(admin, "/api/webhooks/endpoints", endpoints::create)
        .get(operator, "/api/webhooks/endpoints/{id}", endpoints::one)
        .patch(admin, "/api/webhooks/endpoints/{id}", endpoints::update)
        .delete(admin, "/api/webhooks/endpoints/{id}", endpoints::remove)
        .post(admin, "/api/webhooks/endpoints/{id}/enable", endpoints::enable)
        .post(admin, "/api/webhooks/endpoints/{id}/rotate-secret", endpoints::rotate)
        .post(admin, "/api/webhooks/endpoints/{id}/test", deliveries::test)
        .post(admin, "/api/webhooks/endpoints/{id}/replay", deliveries::replay)
        .get(operator, "/api/webhooks/endpoints/{id}/deliveries", deliveries::list)
        .post(admin, "/api/webhooks/deliveries/{id}/redeliver", deliveries::redeliver)
        .get(operator, "/api/webhooks/event-types", endpoints::event_types)
        // What happens
        .get(operator, "/api/events", events::list)
        .get_long(operator, "/api/events/stream", events::stream)
        .get(session, "/api/dashboard", dashboard::show)
        .get(operator, "/api/system/actors", health::actors)
        .get(scraper, "/metrics", metrics::show)
        .get(open, "/healthz", health::alive)
        .get(open, "/readyz", health::ready)
        // KeptPaymentEvent
        .post_long(open, "/webhooks/agent", agent::receive)
        .resource(payments::routes())
        // This description
        .get(open, "/api/openapi.json", openapi::show)
}
