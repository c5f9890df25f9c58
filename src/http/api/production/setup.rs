//! Setup of a new shop: redeeming the one-time code, creating the first admin, and the values that the wizard collects
//! and writes.
//!
//! Until the setup is complete, the routes are open to the setup session and to admins; afterwards, only to admins.

pub mod discover;
mod save;

pub use save::save_settings;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::auth::{SessionHandles, SignedIn, start_session};
use super::settings::CHANGE_NOS;
use super::settings::changes::{ChangeHandles, planned, read_changes};
use super::users::{UserView, refuse_own_address};
use actors::app::service_tests::{self, Service, ServiceTest};
use config::{Config, Mode};
use domain::access::{Access, StaffCommand};
use domain::id::Id;
use domain::refusal::Faults;
use domain::setup::{SESSION_LIFE_MS, SetupCodeError};
use domain::time::Timestamp;
use http::access::{RequiredAccess, with_access};
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::reply::{NoContent, Plain, WithCookie};
use http::routes::ResourceRoutes;
use http::setup_desk::{COOKIE, SetupService};
use http::wire::{AnyJson, EmailAddress, Filled, JsonObject, MaxChars, NewPassword, ONE_LINE, SecretText, read_body};
use kernel::directory::Directory;
use kernel::environment::Environment;
use platform::secrets::credentials;
use printers::registry::PrinterAddress;

const MAX_CODE_CHARS: usize = 100;
const MAX_NAME_CHARS: usize = 200;

handles! {
    /// Dependencies of the setup routes.
    pub struct SetupHandles {
        access: Directory<Access>,
        config: Arc<Config>,
        environment: Arc<Environment>,
        setup: Arc<SetupService>,
        changes: ChangeHandles,
    }
}

/// Returns the setup routes.
pub fn routes() -> ResourceRoutes {
    let setup = RequiredAccess::Setup;
    let about = "Setup of a new shop: tests services, searches for printers and writes settings. Until the setup is \
                 complete, access requires the one-time code that the server prints at startup; afterwards, only \
                 admins have access.";
    let routes = ResourceRoutes::new("Setup", about, "setup")
        .post(RequiredAccess::Open, "/api/setup/session", enter, |op| {
            op.named("openSetup", "Redeem the one-time setup code")
                .about(
                    "Consumes the code and starts a setup session of two hours, and sets its cookie. A code is valid \
                     for 24 hours and 10 attempts; the server prints a new one each time it starts.",
                )
                .error(401, "wrong_code", "The code does not match the one that the server printed at startup.")
                .error(
                    401,
                    "code_spent",
                    "The code was already used, has expired, or was entered incorrectly too often.",
                )
                .error(409, "setup_completed", "The setup is complete; sign in as an admin instead.")
        })
        .post(setup, "/api/setup/admin", first_admin, |op| {
            op.named("createFirstAdmin", "Create the first admin")
                .about("Also signs the new admin in.")
                .unkeyed()
                .error(409, "admin_exists", "An admin already exists.")
                .error(409, "email_taken", "Another member of staff has this email address.")
        })
        .get(setup, "/api/setup/status", status, |op| {
            op.named("getSetupStatus", "Retrieve the setup state")
                .about("Secrets are never returned, only whether they are set.")
        })
        .post_long(setup, "/api/setup/test-connection", test_connection, |op| {
            op.named("testConnection", "Test a service")
                .about(
                    "Tests the service with the settings in effect, overridden by those in the request; saves nothing. \
                     A printer is tested with `type`, `baseUrl`, `apiKey` and `serial`.",
                )
                .unkeyed()
                .errors(CHANGE_NOS)
        })
        .get_long(setup, "/api/setup/health", health, |op| op.named("getSetupHealth", "Test all configured services"));
    save::routes(discover::routes(routes))
}

/// One-time setup code.
#[derive(Request, Debug)]
#[api(example = json!({"code": "K7QM-2XDP-9RTV"}))]
pub struct SetupCode {
    /// Code as printed by the server; case and hyphens are ignored.
    #[api(Filled, MaxChars(MAX_CODE_CHARS), SecretText)]
    code: String,
}

/// First admin of a shop.
#[derive(Request, Debug)]
#[api(example = json!({"email": "sam@example.org", "name": "Sam", "password": "correct horse battery"}))]
pub struct FirstAdmin {
    #[api(EmailAddress)]
    email: String,
    /// Display name of the admin.
    #[api(Filled, ONE_LINE, MaxChars(MAX_NAME_CHARS))]
    name: String,
    /// Password; at least 10 characters and at most 1024 bytes.
    #[api(NewPassword)]
    password: String,
}

/// Connection test of a service.
#[derive(Request, Debug)]
#[api(example = json!({"service": "smtp", "settings": {"SMTP_HOST": "mail.example.org", "SMTP_PORT": 587}}))]
pub struct ConnectionTest {
    /// Service to test.
    service: Service,
    /// Settings, by name, that differ from those in effect; for a printer, its `type`, `baseUrl`, `apiKey` and
    /// `serial`.
    settings: Option<JsonObject>,
}

/// Result of testing a service.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ConnectionTestResult", example = json!({
    "ok": false, "latencyMs": 3, "message": "it does not respond; is it running, and can this server reach it?",
    "detail": "connection refused",
}))]
pub struct ConnectionTestView {
    /// `true` if the service is usable with these settings.
    ok: bool,
    /// Duration of the test, in milliseconds.
    latency_ms: u64,
    /// Human-readable result.
    message: String,
    /// Error message from the service or the network, if the test failed.
    detail: Option<String>,
}

impl From<ServiceTest> for ConnectionTestView {
    fn from(test: ServiceTest) -> Self {
        let ServiceTest { ok, latency_ms, message, detail, .. } = test;
        Self { ok, latency_ms, message, detail }
    }
}

/// Health of a configured service.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ServiceHealth", example = json!({
    "service": "database", "ok": true, "latencyMs": 2, "message": "sqlite data/printfloor.db answers", "detail": null,
}))]
struct ServiceHealth {
    /// Service that was tested.
    service: Service,
    /// `true` if the service is usable.
    ok: bool,
    /// Duration of the test, in milliseconds.
    latency_ms: u64,
    /// Human-readable result.
    message: String,
    /// Error message from the service or the network, if the test failed.
    detail: Option<String>,
}

/// Health of all configured services.
#[derive(Response, Serialize)]
#[api(name = "SetupHealth", example = json!({"ok": true, "services": [ServiceHealth::example()]}))]
struct SetupHealth {
    /// `true` if all configured services are usable.
    ok: bool,
    /// Configured services; always includes the database.
    services: Vec<ServiceHealth>,
}

/// Service and whether it is configured.
#[derive(Response, Serialize)]
#[api(name = "ServiceState", example = json!({"service": "smtp", "configured": true}))]
struct ServiceState {
    /// Name of the service.
    service: Service,
    /// `true` if the service is configured in the settings; otherwise, it is embedded or not used.
    configured: bool,
}

/// Setting that the wizard asks for.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SetupValue", example = json!({
    "variable": "SMTP_HOST", "secret": false, "isSet": true, "value": "mail.example.org", "source": "SMTP_HOST in .env",
}))]
struct SetupValue {
    /// Name of the environment variable.
    variable: String,
    /// `true` if the value is never returned.
    secret: bool,
    /// `true` if the value is set by any source.
    is_set: bool,
    /// Value in effect; null for a secret.
    value: AnyJson,
    /// Source of the value; null if it has no value.
    source: Option<String>,
}

/// State of the setup.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SetupStatus", example = json!({
    "completedAt": null, "hasAdmin": false, "production": false, "services": [ServiceState::example()],
    "values": [SetupValue::example()],
}))]
struct SetupStatus {
    /// Time at which the setup was completed; null until then.
    completed_at: Option<Timestamp>,
    /// `true` if there is an admin who can sign in.
    has_admin: bool,
    /// `true` if the server runs in production mode.
    production: bool,
    /// Services and whether they are configured.
    services: Vec<ServiceState>,
    /// Values that the wizard asks for and that are already set.
    values: Vec<SetupValue>,
}

async fn enter(
    State(app): State<SetupHandles>,
    call: CommandRequest<SetupCode>,
) -> Result<WithCookie<NoContent>, ApiError> {
    let SetupCode { code } = call.read_body()?;
    Ok(WithCookie { reply: NoContent, cookie: show_code(&app, &code, "/api/setup")? })
}

/// Consumes the one-time code and returns the cookie of the new setup session, for requests under `path`.
pub fn show_code(app: &SetupHandles, code: &str, path: &str) -> Result<HeaderValue, ApiError> {
    if with_access(&app.access, |access| access.setup_completed_at.is_some())? {
        return Err(ApiError::conflict("setup_completed", "the setup is complete; sign in as an admin"));
    }
    let token = app.setup.enter(code, app.environment.now()).map_err(|refusal| {
        let code = match refusal {
            SetupCodeError::WrongCode => "wrong_code",
            SetupCodeError::CodeSpent => "code_spent",
        };
        ApiError::new(StatusCode::UNAUTHORIZED, code, refusal.to_string())
    })?;
    let secure = if app.config.has_secure_cookies() { "; Secure" } else { "" };
    let seconds = SESSION_LIFE_MS / 1000;
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path={path}{secure}; Max-Age={seconds}");
    HeaderValue::from_str(&cookie).map_err(ApiError::internal)
}

async fn first_admin(
    State(app): State<SessionHandles>,
    call: CommandRequest<FirstAdmin>,
) -> Result<WithCookie<Plain<SignedIn>>, ApiError> {
    let admin = call.read_body()?;
    make_first_admin(&app, &call, admin).await
}

/// Creates the first admin from a form with the same fields as the API request body, and signs them in.
pub async fn first_admin_of<B>(
    app: &SessionHandles,
    call: &CommandRequest<B>,
    body: &Value,
) -> Result<HeaderValue, ApiError> {
    let admin = read_body::<FirstAdmin>(body.to_string().as_bytes())?;
    Ok(make_first_admin(app, call, admin).await?.cookie)
}

async fn make_first_admin<B>(
    app: &SessionHandles,
    call: &CommandRequest<B>,
    FirstAdmin { email, name, password }: FirstAdmin,
) -> Result<WithCookie<Plain<SignedIn>>, ApiError> {
    refuse_own_address("password", &password, &email)?;
    let password_hash = app.hashing.run(move || credentials::hash_password(&password)).await?;
    let command = StaffCommand::AddFirstAdmin { email, name, password_hash };
    let user = app.access.ask(Id::ONLY, call.origin(), command).await?.answer.user;
    let cookie = start_session(app, &call.headers, call.who.request_id.clone(), &user, None).await?;
    Ok(WithCookie { reply: Plain(SignedIn { user: UserView::new(&user) }), cookie })
}

async fn status(State(app): State<SetupHandles>) -> Result<Plain<SetupStatus>, ApiError> {
    let (completed_at, has_admin) =
        with_access(&app.access, |access| (access.setup_completed_at, access.admins().next().is_some()))?;
    let services =
        Service::OF_SETTINGS.map(|service| ServiceState { service, configured: service.is_configured(&app.config) });
    let values = save::asked_values(&app.config);
    let production = app.config.mode == Mode::Production;
    Ok(Plain(SetupStatus { completed_at, has_admin, production, services: services.into(), values }))
}

async fn health(State(app): State<SetupHandles>) -> Result<Plain<SetupHealth>, ApiError> {
    let configured = Service::OF_SETTINGS.into_iter().filter(|service| service.is_configured(&app.config));
    let tests = service_tests::test_all(&app.config, configured).await;
    let services: Vec<_> = tests
        .into_iter()
        .map(|test| {
            let ServiceTest { service, ok, latency_ms, message, detail } = test;
            ServiceHealth { service, ok, latency_ms, message, detail }
        })
        .collect();
    Ok(Plain(SetupHealth { ok: services.iter().all(|service| service.ok), services }))
}

async fn test_connection(
    State(app): State<SetupHandles>,
    call: CommandRequest<ConnectionTest>,
) -> Result<Plain<ConnectionTestView>, ApiError> {
    let ConnectionTest { service, settings } = call.read_body()?;
    let settings = settings.unwrap_or_default();
    let mut faults = Faults::default();
    if service == Service::Printer {
        let (kind, address) = printer_of(settings.0, &mut faults);
        faults.refuse()?;
        let test = service_tests::test_printer(&app.config, &kind, address, app.environment.now()).await;
        return Ok(Plain(test.into()));
    }
    Ok(Plain(tested_with(&app.config, service, settings).await?.0.into()))
}

/// Tests a service with the settings in effect and the given changes; writes nothing. Also returns whether the service
/// is used at all with these settings.
pub async fn tested_with(
    config: &Arc<Config>,
    service: Service,
    settings: JsonObject,
) -> Result<(ServiceTest, bool), ApiError> {
    let mut faults = Faults::default();
    let changes = read_changes(settings, "settings", &mut faults);
    for change in &changes {
        let of_service = service.settings().iter().any(|prefix| change.key.starts_with(prefix));
        faults.check(of_service, &format!("settings.{}", change.key), "is not a setting of this service");
    }
    faults.refuse()?;
    let planned = planned(config, changes).await?;
    let used = service.is_configured(&planned.config);
    Ok((service_tests::test(&planned.config, service).await, used))
}

/// Parses the type and address of a printer that is not registered yet.
fn printer_of(mut members: Map<String, Value>, faults: &mut Faults) -> (String, PrinterAddress) {
    let mut text = |name: &str, required: bool| match members.remove(name) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) if !required => String::new(),
        None => {
            faults.note(&format!("settings.{name}"), "is required");
            String::new()
        }
        Some(_) => {
            faults.note(&format!("settings.{name}"), "must be a string");
            String::new()
        }
    };
    let (kind, base_url) = (text("type", true), text("baseUrl", true));
    let (api_key, serial) = (text("apiKey", false), text("serial", false));
    members.keys().for_each(|name| faults.note(&format!("settings.{name}"), "is not a valid field"));
    (kind, PrinterAddress { base_url, api_key, serial, known_key: None })
}
