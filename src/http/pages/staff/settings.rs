//! Shop settings: API keys, staff and their sessions, the audit log, integrations, undelivered emails, server status,
//! and backups. Operators can see only their own sessions, the emails and the server status; everything else is
//! restricted to admins.

mod account;
mod audit;
mod backup;
mod emails;
mod integrations;
mod keys;
mod overview;
mod password;
mod person;
pub(super) mod restore;
mod second_factor;
mod sessions;
mod system;
mod users;

pub(super) use self::audit::{PATH as AUDIT_PATH, history_path};

use std::sync::Arc;

use axum::http::Method;

use super::SETTINGS_PATH;
use super::board::BoardHandles;
use super::undelivered::EMAILS_PATH;
use config::Config;
use domain::principal::Role;
use http::access::RequiredAccess;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use kernel::environment::Environment;

handles! {
    /// Dependencies of all settings pages.
    pub(crate) struct SettingsPageHandles {
        board: BoardHandles,
        config: Arc<Config>,
        environment: Arc<Environment>,
    }
}

/// Path of the list of API keys.
pub(super) const KEYS_PATH: &str = keys::PATH;
/// Path of the list of users.
pub(super) const USERS_PATH: &str = users::PATH;

/// Adds the routes of the settings pages.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, post, session) = (Method::GET, Method::POST, RequiredAccess::Session);
    let (admin, form, long) = (RequiredAccess::Role(Role::Admin), PageBounds::Form, PageBounds::Long);
    routes
        .page(get.clone(), session, SETTINGS_PATH, overview::show, form)
        .page(get.clone(), admin, keys::PATH, keys::list, form)
        .page(get.clone(), admin, keys::NEW_PATH, keys::show_form, form)
        .page(post.clone(), admin, keys::NEW_PATH, keys::make, form)
        .page(post.clone(), admin, "/shop/settings/keys/{id}/revoke", keys::revoke, form)
        .page(get.clone(), admin, users::PATH, users::list, form)
        .page(get.clone(), admin, users::NEW_PATH, users::show_form, form)
        .page(post.clone(), admin, users::NEW_PATH, users::add, form)
        .page(get.clone(), admin, "/shop/settings/users/{id}", person::show, form)
        .page(post.clone(), admin, "/shop/settings/users/{id}/{act}", person::act_on, form)
        .page(get.clone(), session, account::PATH, account::show, form)
        .page(post.clone(), session, account::PATH, account::change, form)
        .page(get.clone(), session, password::PATH, password::show, form)
        .page(post.clone(), session, password::PATH, password::change, form)
        .page(get.clone(), session, second_factor::PATH, second_factor::show, form)
        .page(post.clone(), session, second_factor::PATH, second_factor::set_up, form)
        .page(post.clone(), session, second_factor::CONFIRM_PATH, second_factor::turn_on, form)
        .page(post.clone(), session, second_factor::REMOVE_PATH, second_factor::turn_off, form)
        .page(get.clone(), session, sessions::PATH, sessions::list, form)
        .page(post.clone(), session, "/shop/settings/sessions/{id}/end", sessions::end, form)
        .page(get.clone(), admin, audit::PATH, audit::list, form)
        .page(get.clone(), admin, integrations::PATH, integrations::list, form)
        // Other systems are asked, in their own time.
        .page(post.clone(), admin, integrations::PATH, integrations::change, long)
        .page(get.clone(), admin, backup::PATH, backup::show, form)
        .page(get.clone(), admin, restore::PATH, restore::show, form)
        .page(post.clone(), admin, "/shop/settings/restore/{id}", restore::act, form)
        // A large database is copied before the download begins.
        .page(post.clone(), admin, backup::PATH, backup::make, long)
        .page(get.clone(), session, EMAILS_PATH, emails::list, form)
        .page(post.clone(), session, "/shop/settings/emails/all/{act}", emails::act_on_all, form)
        .page(post, session, "/shop/settings/emails/{id}/{act}", emails::act_on_one, form)
        .page(get, session, system::PATH, system::show, form)
}
