//! Settings of the server: every one with its explanation and value, and changes of them, which are written into the
//! settings' file and take effect at the next start.

pub(crate) mod changes;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use self::changes::{ChangeHandles, WrittenSettings, read_changes, write};
use crate::config::Config;
use crate::config::shown::{self, ShownSetting};
use crate::domain::principal::Role;
use crate::domain::refusal::Faults;
use crate::http::access::RequiredAccess;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::openapi::operation::DescribedError;
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{AnyJson, JsonObject};

/// The heading of settings and integrations in the description of the API.
pub(super) const TAG: &str = "Settings";
/// What stands under that heading.
pub(super) const TAG_ABOUT: &str = "Settings of the server and of the systems that it works with. Changes are written into \
    the file `.env` in its working directory, and take effect at its next start.";

/// Errors of whatever changes settings.
pub(super) const CHANGE_NOS: &[DescribedError] = &[
    (
        400,
        "invalid_settings",
        "The server could not start with the settings as they would be, or not with all of its integrations; `errors` says why.",
    ),
    (409, "settings_fixed", "The settings of this server cannot be changed: it was started without a file for them."),
    (409, "unreadable_env", "The present `.env` cannot be read; the message names the line."),
];

handles! {
    /// What the routes of settings use.
    pub(crate) struct SettingsHandles {
        config: Arc<Config>,
        changes: ChangeHandles,
    }
}

/// The routes of settings.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new(TAG, TAG_ABOUT, "setting")
        .get(admin, "/api/settings", list, |op| {
            op.named("getSettings", "Show all settings").about(
                "The values in force since the start of the server, and where each was set. Secrets are never shown.",
            )
        })
        .patch(admin, "/api/settings", change, |op| {
            op.named("changeSettings", "Change settings")
                .about("All or nothing: the settings are checked as at a start. The former file is kept as `.env.bak`.")
                .errors(CHANGE_NOS)
        })
}

/// New values of settings, all of them or none.
#[derive(Request, Debug)]
#[api(example = json!({"settings": {"mail.operators": ["sam@example.org"], "inventory.block_below_reorder_point": null}}))]
pub struct SettingsChange {
    /// New values by the names of the settings, `section.key` or a variable; null is the default again.
    settings: Option<JsonObject>,
}

/// What can be set of the server, and what it is set to.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Setting", example = setting_example())]
struct SettingView {
    /// Its name, as `section.key`.
    name: String,
    /// The variable that sets it, in the environment or in `.env`.
    variable: String,
    /// What it is for, its unit and its bounds.
    about: String,
    /// Whether its value is never shown.
    secret: bool,
    /// Whether some source sets it.
    is_set: bool,
    /// The value in force; null for a secret.
    value: AnyJson,
    /// The value where no source sets it; null for a secret.
    default: AnyJson,
    /// What sets it; null where nothing does.
    source: Option<String>,
}

fn setting_example() -> Value {
    json!({
        "name": "shipping.flat_cents", "variable": "PRINTFLOOR_SHIPPING__FLAT_CENTS",
        "about": "Price of shipping one order, in the smallest unit of its currency (cents). 0: free.", "secret": false,
        "isSet": true, "value": 500, "default": 0, "source": "PRINTFLOOR_SHIPPING__FLAT_CENTS in .env",
    })
}

/// All settings.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Settings", example = json!({"settings": [setting_example()], "restartNeeded": false}))]
struct SettingsView {
    /// Every setting, in the order of `config.toml`.
    settings: Vec<SettingView>,
    /// Whether the files say something else by now than what is in force: a restart takes it over.
    restart_needed: bool,
}

impl From<ShownSetting> for SettingView {
    fn from(setting: ShownSetting) -> Self {
        let ShownSetting { key, variable, short, about, secret, value, default, source } = setting;
        let variable = short.map_or(variable, str::to_owned);
        let (value, default) = (AnyJson(value.unwrap_or_default()), AnyJson(default.unwrap_or_default()));
        Self { name: key, variable, about, secret, is_set: source.is_some(), value, default, source }
    }
}

/// What the files say by now, if that is something else than what is in force: a restart takes it over.
pub(crate) async fn waiting_settings(config: &Arc<Config>) -> Option<Config> {
    let next = changes::planned(config, Vec::new()).await.ok()?;
    (next.config != **config).then_some(next.config)
}

async fn list(State(app): State<SettingsHandles>) -> Result<Plain<SettingsView>, ApiError> {
    let restart_needed = waiting_settings(&app.config).await.is_some();
    let settings = shown::every(&app.config.origin).into_iter().map(Into::into).collect();
    Ok(Plain(SettingsView { settings, restart_needed }))
}

async fn change(
    State(app): State<SettingsHandles>,
    call: CommandRequest<SettingsChange>,
) -> Result<Plain<WrittenSettings>, ApiError> {
    let SettingsChange { settings } = call.read_body()?;
    let mut faults = Faults::default();
    let read = read_changes(settings.unwrap_or_default(), "settings", &mut faults);
    faults.refuse()?;
    let _turn = app.changes.setup.write().await;
    let planned = changes::startable(&app.config, read).await?;
    changes::openable(&app.config, &planned).await?;
    Ok(Plain(write(&app.changes, call.origin(), planned, Vec::new(), false).await?))
}
