//! The setup of a new shop: the door that the one-time code opens, the first admin, and what the wizard asks and
//! writes.
//!
//! Until the setup is completed the routes are open to the session of the setup and to admins, afterwards to admins
//! alone.

pub(crate) mod discover;
mod save;

pub(crate) use save::save_settings;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::auth::{SessionHandles, SignedIn, start_session, unexpected};
use super::settings::CHANGE_NOS;
use super::settings::changes::{ChangeHandles, planned, read_changes};
use super::users::{UserView, refuse_own_address};
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::environment::Environment;
use crate::app::service_tests::{self, Service, ServiceTest};
use crate::config::{Config, Mode};
use crate::domain::access::{Access, AccessAnswer, AccessCommand};
use crate::domain::id::Id;
use crate::domain::refusal::Faults;
use crate::domain::setup::{DoorRefusal, SESSION_LIFE_MS};
use crate::domain::time::Timestamp;
use crate::http::access::{RequiredAccess, with_access};
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::reply::{NoContent, Plain, WithCookie};
use crate::http::routes::ResourceRoutes;
use crate::http::setup_desk::{COOKIE, SetupDesk};
use crate::http::wire::{
    AnyJson, EmailAddress, Filled, JsonObject, MaxChars, NewPassword, ONE_LINE, SecretText, enumeration, read_body,
};
use crate::printers::registry::PrinterAddress;
use crate::secrets::credentials;

const MAX_CODE_CHARS: usize = 100;
const MAX_NAME_CHARS: usize = 200;

enumeration! {
    /// A service that the shop may use.
    Service,
}

handles! {
    /// What the routes of the setup use.
    pub(crate) struct SetupHandles {
        access: Directory<Access>,
        config: Arc<Config>,
        environment: Arc<Environment>,
        setup: Arc<SetupDesk>,
        changes: ChangeHandles,
    }
}

/// The routes of the setup.
pub fn routes() -> ResourceRoutes {
    let setup = RequiredAccess::Setup;
    let about = "What the first start of a shop takes: services are tested, printers looked for, settings written. Until it is \
        completed, the one-time code that the server prints at its start opens it; afterwards it is for admins.";
    let routes = ResourceRoutes::new("Setup", about, "setup")
        .post(RequiredAccess::Open, "/api/setup/session", enter, |op| {
            op.named("openSetup", "Show the one-time code")
                .about("Burns the code and sets the cookie of a session of two hours. A code lasts for 24 hours and 10 tries; each start of the server prints a new one.")
                .error(401, "wrong_code", "It is not the code that the server printed at its start.")
                .error(401, "code_spent", "The code was used, has expired, or was tried too often.")
                .error(409, "setup_completed", "The setup is completed: admins sign in.")
        })
        .post(setup, "/api/setup/admin", first_admin, |op| {
            op.named("createFirstAdmin", "Make the first admin")
                .about("Signs the new admin in, too.")
                .unkeyed()
                .error(409, "admin_exists", "There is an admin already.")
                .error(409, "email_taken", "Another member of staff has this e-mail address.")
        })
        .get(setup, "/api/setup/status", status, |op| {
            op.named("getSetupStatus", "Show what is configured").about("Secrets are never shown, only whether they are set.")
        })
        .post_long(setup, "/api/setup/test-connection", test_connection, |op| {
            op.named("testConnection", "Test one service")
                .about("With the settings in force, changed by those that are sent; writes nothing. A printer is tested with `type`, `baseUrl`, `apiKey` and `serial`.")
                .unkeyed()
                .errors(CHANGE_NOS)
        })
        .get_long(setup, "/api/setup/health", health, |op| {
            op.named("getSetupHealth", "Test all configured services")
        });
    save::routes(discover::routes(routes))
}

/// The one-time code.
#[derive(Request, Debug)]
#[api(example = json!({"code": "K7QM-2XDP-9RTV"}))]
pub struct SetupCode {
    /// As the server printed it, in capitals or not, with hyphens or without.
    #[api(Filled, MaxChars(MAX_CODE_CHARS), SecretText)]
    code: String,
}

/// The first admin of a shop.
#[derive(Request, Debug)]
#[api(example = json!({"email": "sam@example.org", "name": "Sam", "password": "correct horse battery"}))]
pub struct FirstAdmin {
    #[api(EmailAddress)]
    email: String,
    /// The name by which people know the admin.
    #[api(Filled, ONE_LINE, MaxChars(MAX_NAME_CHARS))]
    name: String,
    /// At least 10 characters and at most 1024 bytes.
    #[api(NewPassword)]
    password: String,
}

/// A service to test.
#[derive(Request, Debug)]
#[api(example = json!({"service": "smtp", "settings": {"SMTP_HOST": "mail.example.org", "SMTP_PORT": 587}}))]
pub struct ConnectionTest {
    /// Which service.
    service: Service,
    /// Settings by their names that differ from those in force; of a printer its `type`, `baseUrl`, `apiKey` and
    /// `serial`.
    settings: Option<JsonObject>,
}

/// What a test of a service came to.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ConnectionTestResult", example = json!({
    "ok": false, "latencyMs": 3, "message": "it does not answer; is it running, and reachable from this machine?",
    "detail": "connection refused",
}))]
pub struct ConnectionTestView {
    /// Whether the service can be used so.
    ok: bool,
    /// How long the test took, in milliseconds.
    latency_ms: u64,
    /// What came of it, in words for people.
    message: String,
    /// What the service or the network said, where it failed.
    detail: Option<String>,
}

impl From<ServiceTest> for ConnectionTestView {
    fn from(test: ServiceTest) -> Self {
        let ServiceTest { ok, latency_ms, message, detail, .. } = test;
        Self { ok, latency_ms, message, detail }
    }
}

/// How a configured service fares.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ServiceHealth", example = json!({
    "service": "database", "ok": true, "latencyMs": 2, "message": "sqlite data/printfloor.db answers", "detail": null,
}))]
struct ServiceHealth {
    /// Which service.
    service: Service,
    /// Whether it can be used.
    ok: bool,
    /// How long the test took, in milliseconds.
    latency_ms: u64,
    /// What came of it, in words for people.
    message: String,
    /// What the service or the network said, where it failed.
    detail: Option<String>,
}

/// How all configured services fare.
#[derive(Response, Serialize)]
#[api(name = "SetupHealth", example = json!({"ok": true, "services": [ServiceHealth::example()]}))]
struct SetupHealth {
    /// Whether all of them can be used.
    ok: bool,
    /// Those that are configured; the database always is.
    services: Vec<ServiceHealth>,
}

/// Whether a service is configured.
#[derive(Response, Serialize)]
#[api(name = "ServiceState", example = json!({"service": "smtp", "configured": true}))]
struct ServiceState {
    /// Which service.
    service: Service,
    /// Whether settings name one; what is not configured is embedded or left out.
    configured: bool,
}

/// A value that the wizard asks for.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SetupValue", example = json!({
    "variable": "SMTP_HOST", "secret": false, "isSet": true, "value": "mail.example.org", "source": "SMTP_HOST in .env",
}))]
struct SetupValue {
    /// The variable of the value.
    variable: String,
    /// Whether it is never shown.
    secret: bool,
    /// Whether some source sets it.
    is_set: bool,
    /// The value in force; null for a secret.
    value: AnyJson,
    /// What sets it; null where nothing does.
    source: Option<String>,
}

/// How far the setup is.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SetupStatus", example = json!({
    "completedAt": null, "hasAdmin": false, "production": false, "services": [ServiceState::example()],
    "values": [SetupValue::example()],
}))]
struct SetupStatus {
    /// When it was completed; null while it is not.
    completed_at: Option<Timestamp>,
    /// Whether there is an admin who can sign in.
    has_admin: bool,
    /// Whether the server runs in production.
    production: bool,
    /// Every service, and whether it is configured.
    services: Vec<ServiceState>,
    /// What the wizard asks for, as far as it is known.
    values: Vec<SetupValue>,
}

async fn enter(
    State(app): State<SetupHandles>,
    call: CommandRequest<SetupCode>,
) -> Result<WithCookie<NoContent>, ApiError> {
    let SetupCode { code } = call.read_body()?;
    Ok(WithCookie { reply: NoContent, cookie: show_code(&app, &code, "/api/setup")? })
}

/// Burns the code; the cookie of the session that it opens, for requests under `path`.
pub(crate) fn show_code(app: &SetupHandles, code: &str, path: &str) -> Result<HeaderValue, ApiError> {
    if with_access(&app.access, |access| access.setup_completed_at.is_some())? {
        return Err(ApiError::conflict("setup_completed", "the setup is completed; admins sign in"));
    }
    let token = app.setup.enter(code, app.environment.now()).map_err(|refusal| {
        let code = match refusal {
            DoorRefusal::WrongCode => "wrong_code",
            DoorRefusal::CodeSpent => "code_spent",
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

/// Makes the first admin of a form, which says the same as a body of the API, and signs them in.
pub(crate) async fn first_admin_of<B>(
    app: &SessionHandles,
    call: &CommandRequest<B>,
    said: &Value,
) -> Result<HeaderValue, ApiError> {
    let admin = read_body::<FirstAdmin>(said.to_string().as_bytes())?;
    Ok(make_first_admin(app, call, admin).await?.cookie)
}

async fn make_first_admin<B>(
    app: &SessionHandles,
    call: &CommandRequest<B>,
    FirstAdmin { email, name, password }: FirstAdmin,
) -> Result<WithCookie<Plain<SignedIn>>, ApiError> {
    refuse_own_address("password", &password, &email)?;
    let password_hash = app.hashing.run(move || credentials::hash_password(&password)).await?;
    let command = AccessCommand::AddFirstAdmin { email, name, password_hash };
    let answer = app.access.ask(Id::ONLY, call.origin(), command).await?.answer;
    let AccessAnswer::User(user) = &answer else { return Err(unexpected(&answer)) };
    let cookie = start_session(app, &call.headers, call.who.request_id.clone(), user, None).await?;
    Ok(WithCookie { reply: Plain(SignedIn { user: UserView::new(user) }), cookie })
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

/// Tests a service with the settings in force, changed by these; writes nothing. Says besides whether the service is
/// used with them at all.
pub(crate) async fn tested_with(
    config: &Arc<Config>,
    service: Service,
    settings: JsonObject,
) -> Result<(ServiceTest, bool), ApiError> {
    let mut faults = Faults::default();
    let changes = read_changes(settings, "settings", &mut faults);
    for change in &changes {
        let of_service = service.settings().iter().any(|prefix| change.key.starts_with(prefix));
        faults.check(of_service, &format!("settings.{}", change.key), "is no setting of this service");
    }
    faults.refuse()?;
    let planned = planned(config, changes).await?;
    let used = service.is_configured(&planned.config);
    Ok((service_tests::test(&planned.config, service).await, used))
}

/// Type and address of a printer that is not registered.
fn printer_of(mut members: Map<String, Value>, faults: &mut Faults) -> (String, PrinterAddress) {
    let mut text = |name: &str, required: bool| match members.remove(name) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) if !required => String::new(),
        None => {
            faults.note(&format!("settings.{name}"), "is required");
            String::new()
        }
        Some(_) => {
            faults.note(&format!("settings.{name}"), "must be a text");
            String::new()
        }
    };
    let (kind, base_url) = (text("type", true), text("baseUrl", true));
    let (api_key, serial) = (text("apiKey", false), text("serial", false));
    members.keys().for_each(|name| faults.note(&format!("settings.{name}"), "is not known"));
    (kind, PrinterAddress { base_url, api_key, serial, known_key: None })
}
