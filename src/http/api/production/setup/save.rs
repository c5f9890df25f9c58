//! Final step of the wizard: tests all values again, writes them and completes the setup.

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use super::{SetupHandles, SetupValue};
use crate::production::settings::CHANGE_NOS;
use crate::production::settings::changes::{openable, read_changes, startable, tested, write};
use actors::app::service_tests::Service;
use config::Config;
use config::listing::{self, ShownSetting};
use domain::refusal::Faults;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::setup_desk::WrittenSettings;
use http::wire::{AnyJson, JsonObject};
use kernel::envelope::CommandOrigin;

/// Adds the route that saves the wizard's values.
pub(super) fn routes(routes: ResourceRoutes) -> ResourceRoutes {
    routes.post_long(RequiredAccess::Setup, "/api/setup/save", save, |op| {
        op.named("saveSetup", "Save the configuration and complete the setup")
            .about(
                "Tests the database, the shared store and every specified service again. If a test fails, nothing is \
                 written; otherwise, `.env` in the server's working directory is written. The previous file is kept as \
                 `.env.bak`; comments and other variables are preserved. From then on, only admins have access to the \
                 setup. A different database starts empty, with its own setup.",
            )
            .unkeyed()
            .errors(CHANGE_NOS)
            .error(400, "connection_failed", "A service does not respond as expected; `errors` gives the details.")
    })
}

/// Values collected by the wizard.
#[derive(Request, Debug)]
#[api(example = json!({"settings": {"DATABASE_URL": "postgres://shop:secret@localhost/shop", "REDIS_URL": ""}}))]
pub struct SetupConfiguration {
    /// Values by variable or setting name. If a value is empty or null, the embedded service is used or, if there is
    /// none, no service.
    settings: JsonObject,
}

/// Returns the values that the wizard asks for and that are already set.
pub(super) fn asked_values(config: &Config) -> Vec<SetupValue> {
    let settings = listing::every(&config.origin).into_iter().filter(|setting| {
        let of_service = |service: &Service| service.settings().iter().any(|prefix| setting.key.starts_with(prefix));
        Service::OF_SETTINGS.iter().any(of_service)
    });
    settings
        .map(|ShownSetting { variable, short, secret, value, source, .. }| SetupValue {
            variable: short.map_or(variable, str::to_owned),
            secret,
            is_set: source.is_some(),
            value: AnyJson(value.unwrap_or_default()),
            source,
        })
        .collect()
}

async fn save(
    State(app): State<SetupHandles>,
    call: CommandRequest<SetupConfiguration>,
) -> Result<Plain<WrittenSettings>, ApiError> {
    let SetupConfiguration { settings } = call.read_body()?;
    Ok(Plain(save_settings(&app, call.origin(), settings).await?))
}

/// Tests the collected values again, writes them and completes the setup.
pub async fn save_settings(
    app: &SetupHandles,
    origin: CommandOrigin,
    settings: JsonObject,
) -> Result<WrittenSettings, ApiError> {
    let mut faults = Faults::default();
    let read = read_changes(settings, "settings", &mut faults);
    faults.refuse()?;
    let is_changed = |service: &Service| {
        read.iter().any(|change| service.settings().iter().any(|prefix| change.key.starts_with(prefix)))
    };
    let mut services: Vec<_> = Service::OF_SETTINGS.into_iter().filter(is_changed).collect();
    for always in [Service::Database, Service::Redis] {
        if !services.contains(&always) {
            services.push(always);
        }
    }
    let _turn = app.setup.write().await;
    let planned = startable(&app.config, read).await?;
    // "Embedded" and "none" are choices as good as any other.
    services.retain(|service| service.is_configured(&planned.config));
    let tests = tested(&planned.config, services, |service| service.word().to_owned()).await?;
    openable(&app.config, &planned).await?;
    write(&app.changes, origin, planned, tests, true).await
}
