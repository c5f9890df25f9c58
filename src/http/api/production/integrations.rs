//! The shop's integrations: their addresses, and whether a token is set. A change is tested before it is saved.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::settings::changes::{ChangeHandles, startable, tested, write};
use super::settings::{CHANGE_NOS, TAG, TAG_ABOUT};
use actors::app::service_tests::Service;
use actors::integrations::{Integrations, SystemLineState};
use actors::mails::MailMeter;
use config::Config;
use config::changes::Change;
use domain::mail::{Mail, MailState};
use domain::peer_address::without_login;
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::setup_desk::WrittenSettings;
use http::wire::{MaxChars, ONE_LINE, Optional, SecretText};
use kernel::directory::Directory;
use kernel::environment::Environment;
use services::redis::Redis;

const PATH: &str = "/api/integrations";
const MAX_URL_CHARS: usize = 2_000;
const MAX_TOKEN_CHARS: usize = 4_000;

handles! {
    /// Dependencies of the integration routes.
    pub struct IntegrationHandles {
        config: Arc<Config>,
        integrations: Arc<Integrations>,
        redis: Option<Arc<Redis>>,
        mails: Directory<Mail>,
        mail_meter: Arc<MailMeter>,
        environment: Arc<Environment>,
        changes: ChangeHandles,
    }
}

/// Returns the integration routes.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new(TAG, TAG_ABOUT, "integration")
        .get(admin, PATH, list, |op| {
            op.named("listIntegrations", "List integrations").about(
                "Includes Redis and the mail server, which are configured only in the settings file. Tokens are never \
                 returned.",
            )
        })
        .patch_long(admin, PATH, change, |op| {
            op.named("changeIntegrations", "Update integrations")
                .about("Tests each given system with its new URL and token; saves nothing if a test fails.")
                .errors(CHANGE_NOS)
                .error(400, "connection_failed", "A system does not respond as expected; `errors` gives the details.")
        })
}

/// Changes to an integration. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(example = json!({"url": "http://192.168.1.5:8123", "token": "a long-lived token"}))]
pub struct IntegrationChange {
    /// URL of the system; null removes it.
    #[api(ONE_LINE, MaxChars(MAX_URL_CHARS))]
    url: Optional<Option<String>>,
    /// Token for the system; null removes it.
    #[api(ONE_LINE, MaxChars(MAX_TOKEN_CHARS), SecretText)]
    token: Optional<Option<String>>,
}

/// Changes to integrations. Omitted integrations are left unchanged.
#[derive(Request, Debug)]
#[api(example = json!({"smartHome": IntegrationChange::example()}))]
pub struct IntegrationsChange {
    /// Workflow automation to which events are sent.
    workflow: Optional<IntegrationChange>,
    /// Print farm software, from which printers are imported.
    farm_ui: Optional<IntegrationChange>,
    /// Detector of failing prints.
    failure_detection: Optional<IntegrationChange>,
    /// Home automation that displays printer states.
    smart_home: Optional<IntegrationChange>,
    /// Parts management system, with which stock is synchronised.
    parts: Optional<IntegrationChange>,
    /// Spool management system, which provides the remaining amounts of the spools in printer slots.
    spools: Optional<IntegrationChange>,
    /// Agent gateway.
    agent: Optional<IntegrationChange>,
}

/// Integration of the shop with another system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Integration", example = json!({
    "kind": "smart_home", "url": "http://192.168.1.5:8123", "hasToken": true, "configured": true, "failures": 0,
    "error": null, "lastOkAt": "2026-11-02T11:00:00.000Z", "note": null,
}))]
pub struct IntegrationView {
    /// Type of integration.
    pub kind: Service,
    /// URL of the system; null if none is set.
    pub url: Option<String>,
    /// `true` if a token is set.
    pub has_token: bool,
    /// `true` if the integration is in use: it is configured, and its settings are valid.
    pub configured: bool,
    /// Number of failed calls since the last successful call, or of unusable responses since the last usable one,
    /// whichever is greater.
    pub failures: u32,
    /// Error in the settings or, failing that, from the last failed call; null if there is no problem or no call has
    /// been made yet.
    pub error: Option<String>,
    /// Time of the last successful call since the server started; not updated while responses are unusable. For the
    /// mail server, the time at which it last accepted an email. Null if there has been none.
    pub last_ok_at: Option<Timestamp>,
    /// Additional information, such as the number of unmonitored prints.
    pub note: Option<String>,
}

/// All integrations of the shop.
#[derive(Response, Serialize)]
#[api(name = "Integrations", example = json!({"integrations": [IntegrationView::example()]}))]
struct IntegrationsView {
    /// All integrations that the shop can use, in use or not.
    integrations: Vec<IntegrationView>,
}

/// Returns the status of every integration, followed by Redis and the mail server.
pub fn views(app: &IntegrationHandles) -> Vec<IntegrationView> {
    let view = |kind: Service| {
        let url = kind.address(&app.config).filter(|url| !url.is_empty()).map(|url| without_login(url).into_owned());
        let summary = app.integrations.summaries().into_iter().find(|one| one.name == kind.word());
        let configured = summary.as_ref().is_some_and(|one| one.on);
        let fault = summary.as_ref().and_then(|one| Some(format!("off: {}", one.fault.as_ref()?)));
        let SystemLineState { failures, last_error, last_ok_at, note, needs_person, .. } =
            summary.map(|one| one.line).unwrap_or_default();
        let (has_token, error) = (kind.has_token(&app.config), fault.or(needs_person).or(last_error));
        IntegrationView { kind, url, has_token, configured, failures, error, last_ok_at, note }
    };
    Service::INTEGRATIONS.into_iter().map(view).chain([redis(app), smtp(app)]).collect()
}

async fn list(State(app): State<IntegrationHandles>) -> Result<Plain<IntegrationsView>, ApiError> {
    Ok(Plain(IntegrationsView { integrations: views(&app) }))
}

/// Returns the status of Redis. Without Redis, this process handles its tasks.
fn redis(app: &IntegrationHandles) -> IntegrationView {
    let url = app.config.redis.url.expose();
    let is_away = app.redis.as_ref().is_some_and(|redis| !redis.is_up());
    let since = app.redis.as_ref().and_then(|redis| redis.since_proof());
    let last_ok_at =
        since.map(|since| app.environment.now().plus_ms(-i64::try_from(since.as_millis()).unwrap_or(i64::MAX)));
    IntegrationView {
        kind: Service::Redis,
        url: (!url.is_empty()).then(|| without_login(url).into_owned()),
        has_token: url.contains('@'),
        configured: app.redis.is_some(),
        failures: u32::from(is_away),
        error: is_away.then(|| "does not respond; rate limits are counted in this process until it does".to_owned()),
        last_ok_at,
        note: None,
    }
}

/// Returns the status of the mail server, inferred from the emails still waiting to be sent.
fn smtp(app: &IntegrationHandles) -> IntegrationView {
    let mail = &app.config.mail;
    let configured = Service::Smtp.is_configured(&app.config);
    let waiting = app.mails.all_resident().into_iter().filter_map(|(_, versioned)| {
        let mail = versioned.state.as_ref().filter(|mail| configured && mail.state == MailState::Queued)?;
        Some((mail.tries, mail.error.clone()?))
    });
    let (failures, error) = waiting.max_by_key(|(tries, _)| *tries).map_or((0, None), |(n, error)| (n, Some(error)));
    IntegrationView {
        kind: Service::Smtp,
        url: configured.then(|| format!("smtp://{}:{}", mail.smtp_host, mail.smtp_port)),
        has_token: !mail.smtp_password.is_empty(),
        configured,
        failures,
        error,
        last_ok_at: app.mail_meter.last_sent_at().filter(|_| configured),
        note: (!configured && mail.api_key.is_empty()).then(|| "emails are written to files".to_owned()),
    }
}

/// Changes integrations as requested. Each system is tested with its new URL and token before anything is saved.
pub async fn save(
    app: &IntegrationHandles,
    call: &CommandRequest<IntegrationsChange>,
) -> Result<WrittenSettings, ApiError> {
    let IntegrationsChange { workflow, farm_ui, failure_detection, smart_home, parts, spools, agent } =
        call.read_body()?;
    let requested = [workflow, farm_ui, failure_detection, smart_home, parts, spools, agent];
    let mut changes = Vec::new();
    let mut changed = Vec::new();
    for (kind, change) in Service::WITH_TOKEN.into_iter().zip(requested) {
        let Some(IntegrationChange { url, token }) = change.present() else { continue };
        let (url, token) = (url.present(), token.present());
        // One that is taken away is not tested, whoever else sets it.
        changed.extend((url != Some(None)).then_some(kind));
        for (name, value) in [("url", url), ("token", token)] {
            let text =
                value.map(|text| Change { key: format!("{}.{name}", kind.word()), text: text.unwrap_or_default() });
            changes.extend(text);
        }
    }
    let _turn = app.changes.setup.write().await;
    let planned = startable(&app.config, changes).await?;
    changed.retain(|kind| kind.is_configured(&planned.config));
    let tests = tested(&planned.config, changed, |kind| kind.word().to_owned()).await?;
    write(&app.changes, call.origin(), planned, tests, false).await
}

async fn change(
    State(app): State<IntegrationHandles>,
    call: CommandRequest<IntegrationsChange>,
) -> Result<Plain<WrittenSettings>, ApiError> {
    Ok(Plain(save(&app, &call).await?))
}
