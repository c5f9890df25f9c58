//! Steps shared by all settings changes: parsing, validation, writing the file, and the audit log entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actors::app::service_tests::{self, Service, ServiceTest};
use actors::app::{rehearse, unopened};
use config::changes::{Change, ChangeError, PlannedChanges, key_of, plan, text_of};
use config::{Config, ConfigError};
use domain::access::{Access, AccessCommand};
use domain::id::Id;
use domain::refusal::{Class, Faults, Refusal};
use http::error::ApiError;
use http::handles::handles;
use http::setup_desk::{SetupService, ShadowedSetting, TestedService, WrittenSettings};
use http::wire::JsonObject;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;

handles! {
    /// Dependencies of settings changes.
    pub struct ChangeHandles {
        access: Directory<Access>,
        setup: Arc<SetupService>,
    }
}

/// Parses new setting values by name. Errors are reported under `path`.
pub fn read_changes(settings: JsonObject, path: &str, faults: &mut Faults) -> Vec<Change> {
    let mut changes = BTreeMap::new();
    for (name, value) in settings.0 {
        let place = format!("{path}.{name}");
        let Some(key) = key_of(&name) else {
            faults.note(&place, "is not a setting");
            continue;
        };
        match text_of(&key, &value) {
            Err(words) => faults.note(&place, words),
            Ok(text) => {
                let first = changes.insert(key.clone(), text).is_none();
                faults.check(first, &place, format!("sets {key}, which another field also sets"));
            }
        }
    }
    changes.into_iter().map(|(key, text)| Change { key, text }).collect()
}

/// Validates changes against all settings; writes nothing.
pub async fn planned(config: &Arc<Config>, changes: Vec<Change>) -> Result<PlannedChanges, ApiError> {
    let config = config.clone();
    let planned = tokio::task::spawn_blocking(move || plan(&config.origin, &changes)).await;
    planned.map_err(ApiError::internal)?.map_err(refused)
}

/// Validates changes that are about to be written: the server must be able to start with them, and each affected
/// integration must work.
pub async fn startable(config: &Arc<Config>, changes: Vec<Change>) -> Result<PlannedChanges, ApiError> {
    let touched: BTreeSet<String> = changes.iter().map(|change| section_of(&change.key).to_owned()).collect();
    let planned = planned(config, changes).await?;
    let rehearsed = tokio::task::spawn_blocking(move || (rehearse(&planned.config), planned)).await;
    let (rehearsed, planned) = rehearsed.map_err(ApiError::internal)?;
    let problems = match rehearsed {
        // What was wrong before does not stand in the way of other changes.
        Ok(off) => off.into_iter().filter(|(section, _)| touched.contains(*section)).collect(),
        Err(error) => vec![("settings", error.to_string())],
    };
    let mut faults = Faults::default();
    problems.iter().for_each(|(section, words)| faults.note("settings", format!("{section}: {words}")));
    if faults.is_empty() { Ok(planned) } else { Err(not_startable(faults).into()) }
}

/// Rejects changes with which the server could not open the configured database, directory or port at the next start.
pub async fn openable(config: &Config, planned: &PlannedChanges) -> Result<(), ApiError> {
    let mut faults = Faults::default();
    for (name, words) in unopened(config, &planned.config).await {
        faults.note(&format!("settings.{name}"), words);
    }
    if faults.is_empty() { Ok(()) } else { Err(not_startable(faults).into()) }
}

fn section_of(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Writes changes; if `completes` is set, the changes also complete the shop's setup. An audit log entry is written
/// before the file, so that no change goes unrecorded if the database does not respond, and another one afterwards.
pub async fn write(
    app: &ChangeHandles,
    origin: CommandOrigin,
    planned: PlannedChanges,
    tests: Vec<ServiceTest>,
    completes: bool,
) -> Result<WrittenSettings, ApiError> {
    let variables = planned.variables.clone();
    // The key of the request belongs to the command that answers it.
    let before = CommandOrigin { key: None, ..origin.clone() };
    app.access.ask(Id::ONLY, before, AccessCommand::Configuring { variables: variables.clone() }).await?;
    let planned = tokio::task::spawn_blocking(move || planned.write().map(|()| planned)).await;
    let PlannedChanges { shadowed, restart, .. } = planned.map_err(ApiError::internal)??;
    let command = AccessCommand::Configured { variables: variables.clone(), completes };
    app.access.ask(Id::ONLY, origin, command).await?;
    let shadowed = shadowed.into_iter().map(|one| ShadowedSetting { name: one.key, by: one.by }).collect();
    let tested = tests.into_iter().map(|test| TestedService { service: test.service, message: test.message }).collect();
    Ok(WrittenSettings { file: ".env", written: variables, shadowed, restart, tested })
}

/// Tests the given services with the settings as they would be after the change; rejects the change if a test fails.
/// Each error is reported under the path that `path_of` returns for the service.
pub async fn tested(
    config: &Config,
    services: Vec<Service>,
    path_of: impl Fn(Service) -> String,
) -> Result<Vec<ServiceTest>, ApiError> {
    let tests = service_tests::test_all(config, services).await;
    let mut faults = Faults::default();
    for test in tests.iter().filter(|test| !test.ok) {
        let detail_text = test.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        faults.note(&path_of(test.service), format!("{}{detail_text}", test.message));
    }
    faults.refuse().map_err(|refusal| Refusal { code: "connection_failed".to_owned(), ..refusal })?;
    Ok(tests)
}

fn not_startable(faults: Faults) -> Refusal {
    Refusal {
        class: Class::Invalid,
        code: "invalid_settings".to_owned(),
        message: "the server or one of its integrations could not start with these settings".to_owned(),
        ..Refusal::faults(faults)
    }
}

fn refused(error: ChangeError) -> ApiError {
    match error {
        ChangeError::Faults(named_faults) => {
            let mut faults = Faults::default();
            named_faults.iter().for_each(|(name, words)| faults.note(&format!("settings.{name}"), words));
            Refusal::faults(faults).into()
        }
        ChangeError::Config(ConfigError::Refused(problems)) => {
            let mut faults = Faults::default();
            problems.iter().for_each(|words| faults.note("settings", words));
            not_startable(faults).into()
        }
        ChangeError::Dotenv(error) => ApiError::conflict("unreadable_env", format!(".env cannot be read: {error}")),
        ChangeError::Io(error) => error.into(),
        ChangeError::NoOrigin => {
            ApiError::conflict("settings_fixed", "this server's settings cannot be changed through the API")
        }
        // Names files of the machine, which are for its owner.
        ChangeError::Config(error) => ApiError::internal(error),
    }
}
