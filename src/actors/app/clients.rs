//! Clients for the services configured in the settings: Redis, email, the agent gateway, the payment processor, the
//! receivers of webhooks and printers.

use std::sync::Arc;
use std::time::Duration;

use super::start_error::ShopStartError;
use super::storage::open_documents;
use super::{own_secrets, shops};
use crate::integrations::agent::AgentSender;
use crate::integrations::{PreparedIntegrations, SystemLine};
use config::Config;
use documents::Renderer;
use documents::mail::MailFrame;
use domain::schedule::Delays;
use platform::http::{BuildError, LanSettings, Outbound, OutboundSettings, lan};
use printers::registry::{Registry, Settings};
use services::mail::{ApiSettings, FileOutbox, MailApi, Mailer, Smtp, SmtpSettings};
use services::object_storage::ObjectStorage;
use services::payments::{ClientSettings, PaymentProcessor, ProcessorClient};
use services::peer_client::PeerHttp;
use services::redis::Redis;
use services::webhook::WebhookTransport;
use store::connect;

/// Time for which an idle connection to a printer is kept open: longer than between two polls of a printing printer,
/// and shorter than between those of an idle one, because a connection takes more memory than everything else held for
/// a printer.
const PRINTER_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Clients for outside systems that a shop starts with. Simulations pass their own.
pub struct OutsideClients {
    /// Creates the adapters for printers.
    pub printers: Registry,
    /// Payment processor; `None` if customers cannot pay online.
    pub processor: Option<Arc<dyn PaymentProcessor>>,
    /// Transport for emails.
    pub mailer: Arc<dyn Mailer>,
    /// Storage for rendered documents.
    pub documents: ObjectStorage,
    /// Transport for webhooks.
    pub webhooks: Arc<dyn WebhookTransport>,
    /// Client for the other systems, such as shops whose orders are produced here.
    pub peers: PeerHttp,
}

impl OutsideClients {
    /// Creates the clients that the settings describe. Makes no connections.
    pub(super) fn new(config: &Config) -> Result<Self, ShopStartError> {
        Ok(Self {
            printers: printer_registry(config)?,
            processor: processor(config)?,
            mailer: mailer(config)?,
            documents: open_documents(config)?,
            webhooks: Arc::new(outbound(config)?),
            peers: lan(&LanSettings::default())?.into(),
        })
    }
}

/// Creates the Redis client, if its address is configured.
pub(super) fn redis(config: &Config) -> Result<Option<Arc<Redis>>, ShopStartError> {
    let settings = &config.redis;
    if settings.url.is_empty() {
        return Ok(None);
    }
    Ok(Some(Redis::new(settings.url.expose(), settings.timeout_seconds.duration(), settings.stream_max_entries)?))
}

/// Creates the email sender: SMTP, the HTTP service or, if neither is configured, a local directory.
pub(super) fn mailer(config: &Config) -> Result<Arc<dyn Mailer>, ShopStartError> {
    let mail = &config.mail;
    if let Some(settings) = SmtpSettings::of(config, Duration::from_secs(30)) {
        return Ok(Arc::new(Smtp::new(settings)?));
    }
    if !mail.api_key.is_empty() {
        let client = lan(&LanSettings::default())?;
        let settings = ApiSettings {
            base_url: mail.api_url.clone(),
            key: mail.api_key.expose().to_owned(),
            from: mail.from.clone(),
        };
        return Ok(Arc::new(MailApi::new(client, settings)?));
    }
    Ok(Arc::new(FileOutbox::new(config.outbox_dir(), &mail.from)?))
}

/// Creates the client for webhooks, which dials public addresses only, unless the settings allow private ones.
fn outbound(config: &Config) -> Result<Outbound, BuildError> {
    let webhooks = &config.webhooks;
    Outbound::new(OutboundSettings {
        connect_timeout: webhooks.connect_timeout_seconds.duration(),
        timeout: webhooks.delivery_timeout_seconds.duration(),
        allow_private: webhooks.allow_private_targets,
        idle_per_host: webhooks.max_concurrent_per_endpoint,
    })
}

/// Creates the client that sends messages to the agent gateway, if enabled in the settings.
pub(super) fn agent(config: &Config, http: &PeerHttp, line: Arc<SystemLine>) -> Option<Arc<dyn Mailer>> {
    AgentSender::new(config, http, line).map(|line| Arc::new(line) as Arc<dyn Mailer>)
}

/// Builds everything that depends only on the settings, as at startup, and then discards it. Makes no connections and
/// opens no files, except for reading the system's certificates. Returns the section name and the error of each
/// integration that would stay disabled.
///
/// # Errors
///
/// Fails if the server would not start.
pub fn rehearse(config: &Config) -> Result<Vec<(&'static str, String)>, ShopStartError> {
    connect::readable(&own_secrets::database_settings(config))?;
    if !config.auth.secrets_key.is_empty() {
        own_secrets::cipher(config)?;
    }
    mailer(config)?;
    MailFrame::new(&config.pdf, config.invoices.rules().seller)?;
    if config.pdf.enabled {
        Renderer::new(&config.pdf)?;
    }
    redis(config)?;
    processor(config)?;
    shops::storefront(config)?;
    let prepared = PreparedIntegrations::new(config, &lan(&LanSettings::default())?.into());
    Ok(prepared.faults().map(|fault| (fault.name, fault.reason.to_string())).collect())
}

/// Creates the payment processor client, if its key is configured.
pub(super) fn processor(config: &Config) -> Result<Option<Arc<dyn PaymentProcessor>>, ShopStartError> {
    let payments = &config.payments;
    if payments.secret_key.is_empty() {
        return Ok(None);
    }
    let calls = &config.integrations;
    let first = calls.retry_first_seconds.duration();
    let settings = ClientSettings {
        api_base: payments.api_base.clone(),
        secret_key: payments.secret_key.expose().to_owned(),
        timeout: calls.request_timeout_seconds.duration(),
        pauses: Delays { first, longest: calls.retry_longest_seconds.duration().max(first) },
    };
    Ok(Some(Arc::new(ProcessorClient::new(lan(&LanSettings::default())?, &settings)?)))
}

/// Creates the registry of printer adapters, with the configured timeouts.
pub fn printer_registry(config: &Config) -> Result<Registry, BuildError> {
    let settings = Settings::from(&config.printers);
    let clients = LanSettings {
        connect_timeout: settings.connect_timeout,
        read_timeout: Duration::from_secs(600),
        timeout: Duration::from_secs(24 * 3600),
        idle_timeout: PRINTER_IDLE_TIMEOUT,
    };
    // Two clients: an emergency stop shares no connection with anything that may be queued.
    Ok(Registry::new(settings, lan(&clients)?, lan(&clients)?))
}
