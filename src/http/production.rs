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
    let [customer, operator, admin] = [Role::Customer, Role::Operator, Role::Admin].map(RequiredAccess::Role);
    let scraper = if config.metrics.public { open } else { operator };
    Routes::new()
        // People, keys, sessions
        .post(open, "/api/auth/login", auth::login)
        .post(open, "/api/auth/logout", auth::logout)
        .get(customer, "/api/auth/me", auth::me)
        .post(session, "/api/auth/password", auth::password)
        .get(session, "/api/auth/sessions", auth::sessions)
        .delete(session, "/api/auth/sessions", auth::end_sessions)
        .get(admin, "/api/auth/api-keys", keys::list)
        .post(admin, "/api/auth/api-keys", keys::create)
        .delete(admin, "/api/auth/api-keys/{id}", keys::revoke)
        .get(admin, "/api/users", users::list)
        .post(admin, "/api/users", users::create)
        .get(admin, "/api/users/{id}", users::one)
        .patch(admin, "/api/users/{id}", users::update)
        .delete(admin, "/api/users/{id}", users::remove)
        .get(admin, "/api/audit-log", audit::list)
        // Inventory and catalogue
        .resource(materials::routes())
        .resource(skus::routes())
        .get(operator, "/api/files", files::list)
        .post_long(operator, "/api/files", files::upload)
        .get(operator, "/api/files/{id}", files::one)
        .delete(operator, "/api/files/{id}", files::remove)
        .get_long(operator, "/api/files/{id}/content", files::content)
        // Orders and jobs
        .get(customer, "/api/orders", orders::list)
        .post(customer, "/api/orders", place::place)
        .get(customer, "/api/orders/{id}", orders::one)
        .patch(operator, "/api/orders/{id}", orders::update)
        .post(customer, "/api/orders/{id}/cancel", orders::cancel)
        .post(operator, "/api/orders/{id}/confirm", orders::confirm)
        .post(operator, "/api/orders/{id}/mark-paid", orders::mark_paid)
        .post(operator, "/api/orders/{id}/ship", orders::ship)
        .get(customer, "/api/orders/{id}/timeline", orders::timeline)
        .get(operator, "/api/jobs", jobs::list)
        .get(operator, "/api/jobs/{id}", jobs::one)
        .patch(operator, "/api/jobs/{id}", jobs::update)
        .post_long(operator, "/api/jobs/{id}/pause", jobs::pause)
        .post_long(operator, "/api/jobs/{id}/resume", jobs::resume)
        .post(operator, "/api/jobs/{id}/cancel", jobs::cancel)
        .post(operator, "/api/jobs/{id}/retry", jobs::retry)
        .post(operator, "/api/jobs/{id}/release", jobs::release)
        .post(operator, "/api/jobs/{id}/resolve", jobs::resolve)
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
        .post(open, "/webhooks/payments", payments::receive)
        .post(open, "/api/v1/webhooks/payments", payments::receive)
        // This description
        .get(open, "/api/openapi.json", openapi::show)
}
