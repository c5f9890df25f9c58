//! Shop settings: API keys, staff and their sessions, the audit log, integrations, server status, and backups.
//! Operators can see only their own sessions and the server status; everything else is restricted to admins.

mod account;
mod audit;
mod backup;
mod integrations;
mod keys;
mod password;
mod person;
pub(super) mod restore;
mod second_factor;
mod sessions;
mod system;
mod users;

pub(super) use self::audit::history_path;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::SETTINGS_PATH;
use super::board::BoardHandles;
use super::design_page;
use super::shell::{StaffSection, StaffViewer, Tone};
use config::Config;
use config::listing;
use domain::principal::Role;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::settings::waiting_settings;
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
/// Settings pages: path, title, description, and whether the page is for admins only.
const PAGES: [(&str, &str, &str, bool); 12] = [
    (keys::PATH, "API Keys", "Give programs access to the API.", true),
    (users::PATH, "Users", "Manage staff accounts and their roles.", true),
    (account::PATH, "My account", "Choose the language of these pages.", false),
    (password::PATH, "My password", "Change the password you sign in with.", false),
    (
        second_factor::PATH,
        "Two-step sign-in",
        "Sign in with a code from your phone in addition to your password.",
        false,
    ),
    (sessions::PATH, "Sessions", "View and end sessions in other browsers.", false),
    (audit::PATH, "Audit log", "View changes and sign-ins, by user and time.", true),
    (integrations::PATH, "Integrations", "Connect other systems and check their status.", true),
    (system::PATH, "System", "Check the status of the server, its database and its components.", false),
    (backup::PATH, "Backup", "Download a copy of your shop's data.", true),
    (restore::PATH, "Restores", "Review the shop after restoring a backup.", true),
    (design_page::PATH, "Design", "Components of these pages, for developers.", true),
];

/// Adds the routes of the settings pages.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, post, session) = (Method::GET, Method::POST, RequiredAccess::Session);
    let (admin, form, long) = (RequiredAccess::Role(Role::Admin), PageBounds::Form, PageBounds::Long);
    routes
        .page(get.clone(), session, SETTINGS_PATH, show, form)
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
        .page(post, admin, backup::PATH, backup::make, long)
        .page(get, session, system::PATH, system::show, form)
}

/// Serves the settings overview.
async fn show(State(app): State<SettingsPageHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let admin = who.has(Role::Admin);
    let restart = if admin {
        restart(&app.config).await
    } else {
        html! {}
    };
    let content = html! {
        h1 { "Settings" }
        div id="restart-now" data-fresh="" { (restart) }
        ul class="cards" {
            @for (path, name, about, for_admins) in PAGES {
                @if admin || !for_admins {
                    li class="card" { h2 { a href=(path) { (name) } } p { (about) } }
                }
            }
            @if admin {
                li class="card" {
                    h2 { a href="/setup" { "Setup" } }
                    p { "Set up the database, printers, email and payments step by step." }
                }
            }
        }
        @if !admin { p class="soft" { "Only admins can manage API keys, users and integrations." } }
    };
    Ok(viewer.page(StaffSection::Settings, "Settings", &app.board.view(), &content))
}

/// Renders the settings that have been changed since the server started and will take effect only after a restart.
async fn restart(config: &Arc<Config>) -> Markup {
    let Some(next) = waiting_settings(config).await else {
        return html! { p class="soft" { "All settings are in effect. No restart needed." } };
    };
    let in_force = listing::every(&config.origin);
    let changed = listing::every(&next.origin).into_iter().zip(in_force);
    let changed = changed.filter(|(next, now)| (&next.value, &next.source) != (&now.value, &now.source));
    let names: Vec<String> = changed.map(|(next, _)| next.key).collect();
    html! {
        section class="card" aria-labelledby="restart" {
            h2 id="restart" { "Restart " span class=(Tone::Attention.class()) { "needed" } }
            p { "Settings have changed since the server started. Restart it to apply them, for example with " code { "systemctl restart printfloor" } "." }
            @if names.is_empty() { p { "Only secrets have changed. Their values are not shown." } }
            ul class="rows" { @for name in &names { li { code { (name) } } } }
        }
    }
}
