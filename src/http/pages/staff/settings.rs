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
use crate::frame::{SLOT, with_parts};
use config::Config;
use config::listing;
use domain::principal::Role;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::settings::waiting_settings;
use kernel::environment::Environment;
use words::Language;
use words::staff::settings as texts;

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
/// Title or description of a page in each language.
type PageName = fn(Language) -> String;

/// Settings pages: path, title, description, and whether the page is for admins only.
const PAGES: [(&str, PageName, PageName, bool); 12] = [
    (keys::PATH, texts::keys, texts::keys_about, true),
    (users::PATH, texts::users, texts::users_about, true),
    (account::PATH, texts::account, texts::account_about, false),
    (password::PATH, texts::password, texts::password_about, false),
    (second_factor::PATH, texts::second_factor, texts::second_factor_about, false),
    (sessions::PATH, texts::sessions, texts::sessions_about, false),
    (audit::PATH, texts::audit, texts::audit_about, true),
    (integrations::PATH, texts::integrations, texts::integrations_about, true),
    (system::PATH, texts::system, texts::system_about, false),
    (backup::PATH, texts::backup, texts::backup_about, true),
    (restore::PATH, texts::restores, texts::restores_about, true),
    (design_page::PATH, texts::design, texts::design_about, true),
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
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let admin = who.has(Role::Admin);
    let restart = if admin {
        restart(language, &app.config).await
    } else {
        html! {}
    };
    let content = html! {
        h1 { (title) }
        div id="restart-now" data-fresh="" { (restart) }
        ul class="cards" {
            @for (path, name, about, for_admins) in PAGES {
                @if admin || !for_admins {
                    li class="card" { h2 { a href=(path) { (name(language)) } } p { (about(language)) } }
                }
            }
            @if admin {
                li class="card" {
                    h2 { a href="/setup" { (texts::setup(language)) } }
                    p { (texts::setup_about(language)) }
                }
            }
        }
        @if !admin { p class="soft" { (texts::only_admins(language)) } }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.board.view(), &content))
}

/// Renders the settings that have been changed since the server started and will take effect only after a restart.
async fn restart(language: Language, config: &Arc<Config>) -> Markup {
    let Some(next) = waiting_settings(config).await else {
        return html! { p class="soft" { (texts::no_restart(language)) } };
    };
    let in_force = listing::every(&config.origin);
    let changed = listing::every(&next.origin).into_iter().zip(in_force);
    let changed = changed.filter(|(next, now)| (&next.value, &next.source) != (&now.value, &now.source));
    let names: Vec<String> = changed.map(|(next, _)| next.key).collect();
    let command = html! { code { "systemctl restart printfloor" } };
    html! {
        section class="card" aria-labelledby="restart" {
            h2 id="restart" {
                (texts::restart(language)) " "
                span class=(Tone::Attention.class()) { (texts::restart_needed(language)) }
            }
            p { (with_parts(&texts::restart_text(language, SLOT), &[&command])) }
            @if names.is_empty() { p { (texts::only_secrets(language)) } }
            ul class="rows" { @for name in &names { li { code { (name) } } } }
        }
    }
}
