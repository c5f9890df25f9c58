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
pub mod operate;
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
        .get(operator, "/api/printers", printers::list)
        .post(operator, "/api/printers", printers::create)
        .get(operator, "/api/printers/{id}", printers::one)
        .patch(operator, "/api/printers/{id}", printers::update)
        .delete(operator, "/api/printers/{id}", printers::remove)
        .get(operator, "/api/printers/{id}/status", printers::status)
        .get_long(operator, "/api/printers/{id}/info", operate::info)
        .get_long(operator, "/api/printers/{id}/history", operate::history)
        .get_long(operator, "/api/printers/{id}/webcams", operate::webcams)
        .get_long(operator, "/api/printers/{id}/system-info", operate::system_info)
        .get_long(operator, "/api/printers/{id}/files", operate::files)
        .post_long(operator, "/api/printers/{id}/files", operate::upload)
        .delete_long(operator, "/api/printers/{id}/files/{*name}", operate::delete_file)
        .post_long(operator, "/api/printers/{id}/connect", operate::connect)
        .post_long(operator, "/api/printers/{id}/disconnect", operate::disconnect)
        .post_long(operator, "/api/printers/{id}/pause", operate::pause)
        .post_long(operator, "/api/printers/{id}/resume", operate::resume)
        .post_long(operator, "/api/printers/{id}/cancel", operate::cancel)
        .post_long(operator, "/api/printers/{id}/emergency-stop", operate::emergency_stop)
        .post_long(operator, "/api/printers/{id}/restart-firmware", operate::restart_firmware)
        .post_long(operator, "/api/printers/{id}/home", operate::home)
        .post_long(operator, "/api/printers/{id}/gcode", operate::gcode)
        .post_long(operator, "/api/printers/{id}/print", operate::print)
        .post(operator, "/api/printers/{id}/bed-cleared", operate::bed_cleared)
        .post(operator, "/api/printers/{id}/maintenance", operate::maintenance)
        // Outbound webhooks
        .resource(endpoints::routes())
        .resource(deliveries::routes())
        // What happens
        .resource(events::routes())
        .resource(dashboard::routes())
        .resource(health::routes())
        .resource(metrics::routes(config.metrics.public))
        // What other programs tell
        .resource(agent::routes())
        .resource(payments::routes())
        // This description
        .resource(openapi::routes())
}
