//! Overview of the settings: their pages in groups, each with its purpose and, if held in memory, its current state.
//! Settings that await a restart come first.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{
    SettingsPageHandles, account, audit, backup, integrations, keys, password, restore, second_factor, sessions,
    system, users,
};
use crate::frame::{SLOT, with_parts};
use crate::setup::PATH as SETUP_PATH;
use crate::setup::fields::name_of;
use crate::staff::design_page;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::undelivered::EMAILS_PATH;
use actors::app::service_tests::Service;
use config::{Config, listing};
use domain::principal::Role;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::auth::{SessionHandles, list_sessions};
use http_api::production::integrations::{IntegrationHandles, IntegrationView, views};
use http_api::production::keys::{KeyHandles, newest_keys};
use http_api::production::second_factor::own_factor;
use http_api::production::settings::waiting_settings;
use http_api::production::users::{UserHandles, newest_users};
use words::Language;
use words::staff::settings as texts;

handles! {
    /// Dependencies of the settings overview.
    pub(crate) struct OverviewHandles {
        settings: SettingsPageHandles,
        users: UserHandles,
        keys: KeyHandles,
        sessions: SessionHandles,
        integrations: IntegrationHandles,
    }
}

/// Text in the language of the page.
type TileText = fn(Language) -> String;
/// Function that returns the current state for a page, with its severity.
type TileState = fn(&OverviewHandles, &Caller) -> Result<(Tone, String), ApiError>;

/// Link to a page of the settings.
struct SettingsTile {
    path: &'static str,
    name: TileText,
    /// Purpose of the page, in one line.
    about: TileText,
    /// `None` for a page whose state is not in memory, or that has none.
    state: Option<TileState>,
    /// `true` if the page is for admins only.
    of_admins: bool,
}

impl SettingsTile {
    const fn new(path: &'static str, name: TileText, about: TileText) -> Self {
        Self { path, name, about, state: None, of_admins: false }
    }

    const fn of_admins(mut self) -> Self {
        self.of_admins = true;
        self
    }

    const fn with_state(mut self, state: TileState) -> Self {
        self.state = Some(state);
        self
    }
}

/// HTML ID and heading of each group, and its pages.
const GROUPS: [(&str, TileText, &[SettingsTile]); 4] = [
    (
        "own",
        texts::group_own,
        &[
            SettingsTile::new(account::PATH, texts::account, texts::account_about),
            SettingsTile::new(password::PATH, texts::password, texts::password_about),
            SettingsTile::new(second_factor::PATH, texts::second_factor, texts::second_factor_about)
                .with_state(factor_state),
            SettingsTile::new(sessions::PATH, texts::sessions, texts::sessions_about).with_state(session_state),
        ],
    ),
    (
        "people",
        texts::group_people,
        &[
            SettingsTile::new(users::PATH, texts::users, texts::users_about).of_admins().with_state(user_state),
            SettingsTile::new(keys::PATH, texts::keys, texts::keys_about).of_admins().with_state(key_state),
            SettingsTile::new(audit::PATH, texts::audit, texts::audit_about).of_admins(),
        ],
    ),
    (
        "shop",
        texts::group_shop,
        &[
            SettingsTile::new(SETUP_PATH, texts::setup, texts::setup_about).of_admins(),
            SettingsTile::new(integrations::PATH, texts::integrations, texts::integrations_about)
                .of_admins()
                .with_state(|app, who| Ok(state_of(who.language, &views(&app.integrations)))),
        ],
    ),
    (
        "server",
        texts::group_server,
        &[
            SettingsTile::new(system::PATH, texts::system, texts::system_about),
            SettingsTile::new(EMAILS_PATH, texts::emails, texts::emails_about),
            SettingsTile::new(backup::PATH, texts::backup, texts::backup_about).of_admins(),
            SettingsTile::new(restore::PATH, texts::restores, texts::restores_about).of_admins(),
            SettingsTile::new(design_page::PATH, texts::design, texts::design_about).of_admins(),
        ],
    ),
];

/// Serves the settings overview.
pub(super) async fn show(State(app): State<OverviewHandles>, who: Caller) -> Result<Response, ApiError> {
    let config = &app.settings.config;
    let viewer = StaffViewer::new(&who, config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let admin = who.has(Role::Admin);
    let restart = if admin {
        restart(language, config).await
    } else {
        html! {}
    };
    let mut groups = Vec::with_capacity(GROUPS.len());
    for (id, heading, tiles) in GROUPS {
        groups.push(group(&app, &who, (id, &heading(language)), tiles)?);
    }
    let content = html! {
        h1 { (title) }
        div id="restart-now" data-fresh="" { (restart) }
        div id="groups" data-fresh="" { @for group in &groups { (group) } }
        @if !admin { p class="soft" { (texts::only_admins(language)) } }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders a group with the pages that the caller may open; nothing if there are none.
fn group(
    app: &OverviewHandles,
    who: &Caller,
    (id, heading): (&str, &str),
    tiles: &[SettingsTile],
) -> Result<Markup, ApiError> {
    let language = who.language;
    let mut items = Vec::with_capacity(tiles.len());
    for tile in tiles.iter().filter(|tile| !tile.of_admins || who.has(Role::Admin)) {
        let state = tile.state.map(|state| state(app, who)).transpose()?;
        items.push(html! {
            li class="card" {
                h3 { a href=(tile.path) { ((tile.name)(language)) } }
                p { ((tile.about)(language)) }
                @match state {
                    Some((Tone::Idle, text)) => { p class="soft" { (text) } },
                    Some((tone, text)) => { p { span class=(tone.class()) { (text) } } },
                    None => {},
                }
            }
        });
    }
    Ok(html! {
        @if !items.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (heading) }
                ul class="cards" { @for item in &items { (item) } }
            }
        }
    })
}

fn factor_state(app: &OverviewHandles, who: &Caller) -> Result<(Tone, String), ApiError> {
    Ok(if own_factor(&app.sessions, who)?.on {
        (Tone::Working, texts::factor_on(who.language))
    } else {
        (Tone::Idle, texts::factor_off(who.language))
    })
}

fn session_state(app: &OverviewHandles, who: &Caller) -> Result<(Tone, String), ApiError> {
    Ok((Tone::Idle, texts::session_count(who.language, list_sessions(&app.sessions, who)?.len())))
}

fn user_state(app: &OverviewHandles, who: &Caller) -> Result<(Tone, String), ApiError> {
    Ok((Tone::Idle, texts::user_count(who.language, newest_users(&app.users)?.len())))
}

fn key_state(app: &OverviewHandles, who: &Caller) -> Result<(Tone, String), ApiError> {
    let now = app.settings.environment.now();
    let keys = newest_keys(&app.keys)?;
    let active = keys.iter().filter(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now));
    Ok((Tone::Idle, texts::key_count(who.language, active.count())))
}

/// Returns the most serious fact about the integrations: that one fails, that no service sends emails, or else how many
/// there are.
fn state_of(language: Language, views: &[IntegrationView]) -> (Tone, String) {
    let failing = views.iter().find(|view| view.error.is_some());
    // Without a service for emails as well, the mail server has a note.
    let is_mailless = views.iter().any(|view| view.kind == Service::Smtp && !view.configured && view.note.is_some());
    match failing {
        Some(view) => (Tone::Error, texts::integration_failing(language, &name_of(language, view.kind))),
        None if is_mailless => (Tone::Attention, texts::email_missing(language)),
        None => {
            let count = views.iter().filter(|view| view.configured).count();
            (Tone::Idle, texts::integration_count(language, count))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an integration with an error, if any, and a note, if any.
    fn view(kind: Service, configured: bool, error: Option<&str>, note: Option<&str>) -> IntegrationView {
        let [error, note] = [error, note].map(|text| text.map(str::to_owned));
        IntegrationView { kind, url: None, has_token: false, configured, failures: 0, error, last_ok_at: None, note }
    }

    #[test]
    fn the_worst_of_the_integrations_is_told_first() {
        let state = |views: &[IntegrationView]| state_of(Language::English, views);
        let parts = || view(Service::Parts, true, None, None);
        let no_mail = || view(Service::Smtp, false, None, Some("emails are written to files"));
        let failing = view(Service::Spools, true, Some("does not respond"), None);
        assert_eq!(state(&[parts(), view(Service::Smtp, true, None, None)]), (Tone::Idle, "2 set up".to_owned()));
        assert_eq!(state(&[parts(), no_mail()]), (Tone::Attention, "Email is not set up".to_owned()));
        let name = name_of(Language::English, Service::Spools);
        assert_eq!(state(&[parts(), failing, no_mail()]), (Tone::Error, format!("{name} is failing")));
    }
}
