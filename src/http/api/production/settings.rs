//! Server settings: every setting with its description and value, and changes, which are written to the settings file
//! and take effect at the next start.

pub mod changes;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use self::changes::{ChangeHandles, read_changes, write};
use config::Config;
use config::listing::{self, ShownSetting};
use domain::principal::Role;
use domain::refusal::Faults;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::operation::DescribedError;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::setup_desk::WrittenSettings;
use http::wire::{AnyJson, JsonObject};

/// OpenAPI tag for settings and integrations.
pub(super) const TAG: &str = "Settings";
/// OpenAPI description of [`TAG`].
pub(super) const TAG_ABOUT: &str = "Settings of the server and its integrations. Changes are written to the file \
                                    `.env` in the server's working directory and take effect at the next start.";

/// Errors returned by operations that change settings.
pub(super) const CHANGE_NOS: &[DescribedError] = &[
    (
        400,
        "invalid_settings",
        "The server or one of its integrations could not start with these settings; `errors` gives the reasons.",
    ),
    (
        409,
        "settings_fixed",
        "This server's settings cannot be changed, because it was started without a settings file.",
    ),
    (409, "unreadable_env", "The existing `.env` cannot be read; the message names the line."),
];

handles! {
    /// Dependencies of the settings routes.
    pub struct SettingsHandles {
        config: Arc<Config>,
        changes: ChangeHandles,
    }
}

/// Returns the settings routes.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new(TAG, TAG_ABOUT, "setting")
        .get(admin, "/api/settings", list, |op| {
            op.named("getSettings", "List settings")
                .about("Values in effect since the server was started, with their sources. Secrets are never returned.")
        })
        .patch(admin, "/api/settings", change, |op| {
            op.named("changeSettings", "Update settings")
                .about(
                    "Applies all changes or none, after the same checks as at startup. The previous file is kept as \
                     `.env.bak`.",
                )
                .errors(CHANGE_NOS)
        })
}

/// New values for settings; they are applied together or not at all.
#[derive(Request, Debug)]
#[api(example = json!({"settings": {"mail.operators": ["sam@example.org"], "inventory.block_below_reorder_point": null}}))]
pub struct SettingsChange {
    /// New values by setting name (`section.key`) or variable name; null resets a setting to its default.
    settings: Option<JsonObject>,
}

/// Setting of the server with its value.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Setting", example = setting_example())]
struct SettingView {
    /// Name of the setting, as `section.key`.
    name: String,
    /// Environment variable that sets the value; it can also be set in `.env`.
    variable: String,
    /// Purpose, unit and bounds of the setting.
    about: String,
    /// `true` if the value is never returned.
    secret: bool,
    /// `true` if the value is set by any source.
    is_set: bool,
    /// Value in effect; null for a secret.
    value: AnyJson,
    /// Default value; null for a secret.
    default: AnyJson,
    /// Source of the value; null if it has no value.
    source: Option<String>,
}

fn setting_example() -> Value {
    json!({
        "name": "shipping.flat_cents", "variable": "PRINTFLOOR_SHIPPING__FLAT_CENTS",
        "about": "Price of shipping one order, in the smallest unit of its currency (cents). 0: free.", "secret": false,
        "isSet": true, "value": 500, "default": 0, "source": "PRINTFLOOR_SHIPPING__FLAT_CENTS in .env",
    })
}

/// List of all settings.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Settings", example = json!({"settings": [setting_example()], "restartNeeded": false}))]
struct SettingsView {
    /// Settings, in the order of `config.toml`.
    settings: Vec<SettingView>,
    /// `true` if the settings files differ from the values in effect, so that a restart is required to apply them.
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

/// Returns the configuration in the files if it differs from the one in effect and a restart would apply it.
pub async fn waiting_settings(config: &Arc<Config>) -> Option<Config> {
    let next = changes::planned(config, Vec::new()).await.ok()?;
    (next.config != **config).then_some(next.config)
}

async fn list(State(app): State<SettingsHandles>) -> Result<Plain<SettingsView>, ApiError> {
    let restart_needed = waiting_settings(&app.config).await.is_some();
    let settings = listing::every(&app.config.origin).into_iter().map(Into::into).collect();
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
