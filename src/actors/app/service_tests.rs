//! Tests of the services configured in the settings: each service must be reachable and accept the credentials. The
//! tests change nothing.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use api_schema::ToSchema;
use api_schema::shape::Shape;
use api_schema::words::word_of;
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::clients::processor;
use super::{own_secrets, printer_registry};
use crate::integrations;
use config::Config;
use config::values::Secret;
use domain::printer_status::Connection;
use domain::time::Timestamp;
use platform::http::{LanSettings, lan};
use printers::registry::PrinterAddress;
use services::mail::{Smtp, SmtpSettings};
use services::peer_fault::PeerFault;
use services::peers::{self, ConnectionTestResult};
use services::redis::Redis;
use store::connect;

/// Timeout for one test.
const TEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Service that the shop may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Database for orders, stock and everything else.
    Database,
    /// Redis, the shared store for rate limits and events; if it is not configured, both are kept in the process.
    Redis,
    /// SMTP server for outgoing emails.
    Smtp,
    /// Email service with an HTTP API.
    Email,
    /// Workflow automation system.
    Workflow,
    /// User interface for print farms.
    FarmUi,
    /// Detector of failed prints.
    FailureDetection,
    /// Home automation system that shows the states of printers.
    SmartHome,
    /// Parts management system.
    Parts,
    /// Spool management system.
    Spools,
    /// Gateway that forwards chat messages.
    Agent,
    /// Accounting system.
    Accounting,
    /// Payment processor.
    Payments,
    /// A single printer, at an address supplied for the test.
    Printer,
}

impl ToSchema for Service {
    const NAME: Option<&'static str> = Some("Service");

    fn schema() -> Shape {
        word_of::<Self>().described("External service that the shop may use.")
    }
}

impl Service {
    /// Services configured in the settings: all except printers, which are registered instead.
    pub const OF_SETTINGS: [Self; 13] = [
        Self::Database,
        Self::Redis,
        Self::Smtp,
        Self::Email,
        Self::Workflow,
        Self::FarmUi,
        Self::FailureDetection,
        Self::SmartHome,
        Self::Parts,
        Self::Spools,
        Self::Agent,
        Self::Accounting,
        Self::Payments,
    ];

    /// External systems of the shop that are configured with an address and a token.
    pub const WITH_TOKEN: [Self; 7] =
        [Self::Workflow, Self::FarmUi, Self::FailureDetection, Self::SmartHome, Self::Parts, Self::Spools, Self::Agent];

    /// External systems of the shop: those with a token, and the accounting system, to which an admin connects.
    pub const INTEGRATIONS: [Self; 8] = [
        Self::Workflow,
        Self::FarmUi,
        Self::FailureDetection,
        Self::SmartHome,
        Self::Parts,
        Self::Spools,
        Self::Agent,
        Self::Accounting,
    ];

    /// Returns the name of the service in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Redis => "redis",
            Self::Smtp => "smtp",
            Self::Email => "email",
            Self::Workflow => "workflow",
            Self::FarmUi => "farm_ui",
            Self::FailureDetection => "failure_detection",
            Self::SmartHome => "smart_home",
            Self::Parts => "parts",
            Self::Spools => "spools",
            Self::Agent => "agent",
            Self::Accounting => "accounting",
            Self::Payments => "payments",
            Self::Printer => "printer",
        }
    }

    /// Returns the service's name as a field of a request, in camel case.
    pub fn member(self) -> String {
        let mut parts = self.word().split('_');
        let mut name = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (first, rest) = part.split_at(part.len().min(1));
            name.push_str(&first.to_uppercase());
            name.push_str(rest);
        }
        name
    }

    /// Returns the prefixes of the settings that configure the service.
    pub const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Database => &["database."],
            Self::Redis => &["redis."],
            Self::Smtp => &["mail.smtp_", "mail.from"],
            Self::Email => &["mail.api_"],
            Self::Workflow => &["workflow."],
            Self::FarmUi => &["farm_ui."],
            Self::FailureDetection => &["failure_detection."],
            Self::SmartHome => &["smart_home."],
            Self::Parts => &["parts."],
            Self::Spools => &["spools."],
            Self::Agent => &["agent."],
            Self::Accounting => &["accounting."],
            Self::Payments => &["payments."],
            Self::Printer => &[],
        }
    }

    /// Returns whether the given settings configure the service. The database always is configured; another service
    /// that is not configured is either embedded or absent.
    pub fn is_configured(self, config: &Config) -> bool {
        let Config { mail, payments, .. } = config;
        match self {
            Self::Database => true,
            Self::Redis => !config.redis.url.is_empty(),
            Self::Smtp => !mail.smtp_host.is_empty(),
            Self::Email => !mail.api_key.is_empty(),
            Self::Payments => !payments.secret_key.is_empty() || !payments.webhook_secret.is_empty(),
            Self::Printer => false,
            other => integrations::of(other.word()).is_some_and(|one| (one.is_on)(config)),
        }
    }

    /// Returns the address of an integration; `None` for services that are not integrations.
    pub fn address(self, config: &Config) -> Option<&str> {
        self.place(config).map(|(url, _)| url)
    }

    /// Returns whether a token is configured for an integration.
    pub fn has_token(self, config: &Config) -> bool {
        self.place(config).is_some_and(|(_, token)| !token.is_empty())
    }

    /// Returns the address and token for an integration.
    fn place(self, config: &Config) -> Option<(&str, &Secret)> {
        let Config { workflow, farm_ui, failure_detection, smart_home, parts, spools, agent, accounting, .. } = config;
        Some(match self {
            Self::Workflow => (&workflow.url, &workflow.token),
            Self::FarmUi => (&farm_ui.url, &farm_ui.token),
            Self::FailureDetection => (&failure_detection.url, &failure_detection.token),
            Self::SmartHome => (&smart_home.url, &smart_home.token),
            Self::Parts => (&parts.url, &parts.token),
            Self::Spools => (&spools.url, &spools.token),
            Self::Agent => (&agent.url, &agent.token),
            Self::Accounting if !accounting.client_id.is_empty() => (&accounting.url, &accounting.client_secret),
            _ => return None,
        })
    }
}

/// Result of a service test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceTest {
    /// Tested service.
    pub service: Service,
    /// `true` if the service can be used as configured.
    pub ok: bool,
    /// Duration of the test, in milliseconds.
    pub latency_ms: u64,
    /// Human-readable result.
    pub message: String,
    /// Error message from the service or the network; `None` if the test succeeded.
    pub detail: Option<String>,
}

/// Tests one service with the given settings.
pub async fn test(config: &Config, service: Service) -> ServiceTest {
    timed(service, Box::pin(ask(config, service))).await
}

/// Tests the given services concurrently, with the given settings.
pub async fn test_all(config: &Config, services: impl IntoIterator<Item = Service>) -> Vec<ServiceTest> {
    join_all(services.into_iter().map(|service| test(config, service))).await
}

/// Tests a printer of the given type at the given address.
pub async fn test_printer(config: &Config, kind: &str, address: PrinterAddress, now: Timestamp) -> ServiceTest {
    let look = async {
        let registry = printer_registry(config).map_err(|error| PeerFault::new(error.to_string()))?;
        let printer = registry.make(kind, address).map_err(|error| PeerFault::new(error.to_string()))?;
        let status = printer.look(now).await;
        let message = status.message.unwrap_or_default();
        let fault = |words: &str| PeerFault::new(words).saying(message.clone());
        match status.connection {
            Connection::Connected => Ok(format!("the printer is {}", format!("{:?}", status.state).to_lowercase())),
            Connection::WrongKey => Err(fault("the printer rejects the key")),
            Connection::ReadOnly => Err(fault("the printer does not accept commands")),
            Connection::FirmwareDisconnected => Err(fault("its server responds, but the printer's firmware does not")),
            _ => Err(fault("the printer does not respond")),
        }
    };
    timed(Service::Printer, look).await
}

async fn timed(service: Service, asking: impl Future<Output = ConnectionTestResult>) -> ServiceTest {
    let began = Instant::now();
    let late = || PeerFault::new(format!("no response within {} s", TEST_TIMEOUT.as_secs()));
    let outcome = timeout(TEST_TIMEOUT, asking).await.unwrap_or_else(|_| Err(late()));
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Ok(message) => ServiceTest { service, ok: true, latency_ms, message, detail: None },
        Err(PeerFault { message, detail }) => ServiceTest { service, ok: false, latency_ms, message, detail },
    }
}

/// HTTP client shared by all tests.
static CLIENT: LazyLock<Result<reqwest::Client, String>> =
    LazyLock::new(|| lan(&LanSettings { timeout: TEST_TIMEOUT, ..LanSettings::default() }).map_err(|e| e.to_string()));

async fn ask(config: &Config, service: Service) -> ConnectionTestResult {
    let client = CLIENT.as_ref().map_err(|error| PeerFault::new(error.clone()))?;
    if !service.is_configured(config) {
        return not_configured(service);
    }
    match service {
        Service::Database => database(config).await,
        Service::Redis => redis(config).await,
        Service::Smtp => smtp(config).await,
        Service::Email => peers::mail_api(client, &config.mail.api_url, config.mail.api_key.expose()).await,
        Service::Agent if config.agent.token.is_empty() => {
            Err(PeerFault::new("the gateway requires a token; without it, its commands are rejected"))
        }
        Service::Payments => payments(config).await,
        other => match integrations::of(other.word()) {
            Some(integration) => (integration.test)(client, config).await,
            None => Err(PeerFault::new("test a printer with its own address")),
        },
    }
}

fn not_configured(service: Service) -> ConnectionTestResult {
    match service {
        Service::Redis => Ok("not configured: rate limits and the event stream stay in this process".to_owned()),
        Service::Smtp | Service::Email => Err(PeerFault::new("not configured: emails are written to files")),
        _ => Err(PeerFault::new("not configured")),
    }
}

async fn database(config: &Config) -> ConnectionTestResult {
    let url = config.database_url().expose().to_owned();
    let name = connect::display_url(&url);
    if let Some(file) = connect::sqlite_file(&url).filter(|file| !file.exists()) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let there = folder.is_none_or(|folder| folder.exists() || folder == config.server.data_dir);
        if !there {
            return Err(PeerFault::new(format!("the folder of {name} does not exist")));
        }
        return Ok(format!("{name} does not exist yet; the next start creates it"));
    }
    let fault = |error: connect::OpenError| PeerFault::new(format!("{name} cannot be used")).saying(error.to_string());
    connect::reach(&url).await.map_err(fault)?;
    let settings = connect::DatabaseSettings { read_connections: 1, ..own_secrets::database_settings(config) };
    let reading = connect::reading(&settings).await.map_err(fault)?;
    let _ = reading.close().await;
    Ok(format!("{name} responds"))
}

async fn redis(config: &Config) -> ConnectionTestResult {
    let settings = &config.redis;
    let fault = |error: redis::RedisError| PeerFault::new("Redis cannot be used").saying(error.to_string());
    let redis = Redis::new(settings.url.expose(), settings.timeout_seconds.duration(), settings.stream_max_entries);
    redis.map_err(fault)?.check().await.map_err(fault)?;
    Ok("it responds in time and accepts writes".to_owned())
}

async fn smtp(config: &Config) -> ConnectionTestResult {
    let Some(settings) = SmtpSettings::of(config, TEST_TIMEOUT) else { return not_configured(Service::Smtp) };
    let place = format!("{}:{}", settings.host, settings.port);
    let fault = |error: services::mail::MailError| {
        PeerFault::new(format!("cannot send mails through {place}")).saying(error.to_string())
    };
    Smtp::new(settings).map_err(fault)?.check().await.map_err(fault)?;
    Ok(format!("{place} accepts connections and the credentials"))
}

/// Tests the payment processor. A wrong webhook secret is not detected until the first event.
async fn payments(config: &Config) -> ConnectionTestResult {
    let payments = &config.payments;
    let begins = |key: &str, with: &[&str]| key.is_empty() || with.iter().any(|prefix| key.starts_with(prefix));
    if !begins(payments.secret_key.expose(), &["sk_", "rk_"]) {
        return Err(PeerFault::new("the secret key must begin with sk_ or rk_"));
    }
    if !begins(payments.webhook_secret.expose(), &["whsec_"]) {
        return Err(PeerFault::new("the webhook secret must begin with whsec_"));
    }
    if !begins(&payments.publishable_key, &["pk_"]) {
        return Err(PeerFault::new("the publishable key must begin with pk_"));
    }
    if payments.webhook_secret.is_empty() {
        return Err(PeerFault::new(
            "without the webhook secret, customers could pay but the server would not be notified",
        ));
    }
    let fault = |error: &dyn std::fmt::Display| PeerFault::new(error.to_string());
    match processor(config).map_err(|error| fault(&error))? {
        Some(processor) => processor.check().await.map_err(|error| fault(&error)),
        None => Ok("payment events are accepted; without a secret key, customers cannot pay online".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_camel_case() {
        let members = [Service::Parts, Service::SmartHome, Service::FailureDetection].map(Service::member);
        assert_eq!(members, ["parts", "smartHome", "failureDetection"]);
    }
}
