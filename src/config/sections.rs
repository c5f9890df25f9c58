//! Structs for the sections in `config.toml`, one per section. Each field has a line in `config.toml` with its
//! description and default; Rust code defines no defaults.

mod accounting;
mod auth;
mod backup;
mod catalog;
mod files;
mod intake;
mod integrations;
mod invoices;
mod limits;
mod peers;
mod pricing;
mod printers;
mod quality;
mod shipping;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::Mode;
use super::values::{Seconds, Secret};
use domain::rules;
use domain::shop_clock::ShopClock;
use domain::shop_hours::{ShopHours, ShopHoursError};

pub use self::accounting::AccountingConfig;
pub use self::auth::AuthConfig;
pub use self::backup::BackupConfig;
pub use self::catalog::CatalogConfig;
pub use self::files::FilesConfig;
pub use self::intake::{IntakeConfig, IntakePrice};
pub use self::integrations::{
    FailureDetectionConfig, IntegrationsConfig, SmartHomeConfig, StockSyncConfig, WorkflowConfig,
};
pub use self::invoices::{InvoicesConfig, ObjectStorageConfig, PdfConfig};
pub use self::limits::LimitsConfig;
pub use self::peers::{DiscoveryConfig, PeerConfig};
pub use self::pricing::PricingConfig;
pub use self::printers::PrintersConfig;
pub use self::quality::{QualityConfig, SignOffMode};
pub use self::shipping::{CarrierConfig, ShippingConfig};

/// `[server]`: listen address, and limits on connections and requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// IP address and port to listen on; see [`super::listen`] for the accepted forms.
    #[serde(deserialize_with = "super::listen::deserialize")]
    pub listen: SocketAddr,
    /// URL at which clients reach the server, without a trailing slash; if empty, see [`super::Config::public_url`].
    pub public_url: String,
    /// Directory for everything that the server stores on disk.
    pub data_dir: PathBuf,
    /// Maximum size of a JSON request body, in bytes.
    pub json_body_max_bytes: usize,
    /// Maximum size of an uploaded file, in bytes.
    pub upload_max_bytes: u64,
    /// Maximum time for requests and actors to finish when the server stops.
    pub shutdown_timeout_seconds: Seconds,
    /// Maximum processing time of a request; uploads, downloads and event streams are exempt.
    pub request_timeout_seconds: Seconds,
    /// Maximum time for a request's headers to arrive.
    pub header_timeout_seconds: Seconds,
    /// Maximum total size of a request's headers, in bytes.
    pub header_max_bytes: usize,
    /// Maximum number of headers per request.
    pub max_headers: usize,
    /// Time after which a connection without a request is closed.
    pub keep_alive_timeout_seconds: Seconds,
    /// Maximum pause while a request body is being received; also the maximum time during which a client does not read
    /// any of the response.
    pub body_idle_timeout_seconds: Seconds,
    /// Maximum number of open connections.
    pub max_connections: usize,
    /// Maximum number of open connections per IP address.
    pub max_connections_per_address: usize,
    /// Maximum number of requests with incomplete bodies per client.
    pub max_unfinished_bodies_per_client: usize,
    /// Minimum average rate at which request bodies must arrive, in bytes per second; slower requests are aborted.
    pub body_min_bytes_per_second: u64,
    /// Maximum number of requests processed concurrently.
    pub max_concurrent_requests: usize,
    /// IP addresses and networks of trusted proxies, whose `X-Forwarded-For` headers are used.
    pub trusted_proxies: Vec<String>,
    /// Origins whose pages can call `/api` from a browser.
    pub cors_origins: Vec<String>,
    /// IP addresses and networks that can neither read the catalogue nor send custom requests.
    pub blocked_addresses: Vec<String>,
}

/// `[database]`: database address and connection limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseConfig {
    /// `postgres://` or `sqlite:` address; may contain a password. If empty, see [`super::Config::database_url`].
    pub url: Secret,
    /// Number of connections in the read pool; there is an additional connection for writing.
    pub read_connections: u32,
    /// Maximum execution time of an SQL statement.
    pub statement_timeout_seconds: Seconds,
    /// Behaviour while another server uses the same PostgreSQL database.
    pub standby: StandbyMode,
}

/// Behaviour of a server that is started while another one uses its PostgreSQL database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StandbyMode {
    /// It is the standby and takes over when the active server ends.
    Wait,
    /// It exits at once.
    Refuse,
}

/// `[redis]`: optional Redis server, which never stores the only copy of any data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisConfig {
    /// `redis://` address; if empty, rate limits, the cache and the event stream are kept in memory.
    pub url: Secret,
    /// Maximum time that a request waits for Redis.
    pub timeout_seconds: Seconds,
    /// Approximate number of events kept in the Redis stream; older ones are dropped.
    pub stream_max_entries: u32,
}

/// `[inventory]`: stock rules.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InventoryConfig {
    /// Puts jobs on hold until an operator acts while the stock on hand is below the reorder point.
    pub block_below_reorder_point: bool,
}

/// `[orders]`: defaults and limits for new orders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdersConfig {
    /// Currency of new orders, as a lowercase ISO 4217 code.
    pub currency: String,
    /// Maximum number of print jobs per order.
    pub max_jobs_per_order: u32,
    /// Default site for records whose request does not specify one.
    pub default_site: String,
}

/// `[tax]`: tax rates by destination.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxConfig {
    /// Tax rates. No tax is charged for a destination without a rate.
    pub rates: Vec<TaxRateConfig>,
}

impl TaxConfig {
    /// Returns the rates in the form used by the domain rules.
    pub fn rules(&self) -> Vec<rules::TaxRate> {
        let rate = |rate: &TaxRateConfig| rules::TaxRate {
            country: rate.country.clone(),
            region: rate.region.clone(),
            bps: rate.bps.into(),
        };
        self.rates.iter().map(rate).collect()
    }
}

/// Tax rate for a destination.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxRateConfig {
    /// Country, as an uppercase ISO 3166-1 alpha-2 code.
    pub country: String,
    /// Region of the country, as an ISO 3166-2 code or by name; `None` for the rate that applies to the rest of the
    /// country.
    #[serde(default)]
    pub region: Option<String>,
    /// Rate in basis points: 1900 is 19 %.
    pub bps: u32,
}

/// `[shop]`: time zone and opening hours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShopConfig {
    /// Opening hours, such as `mon-fri 08:00-18:00`; if empty, the shop is always open.
    pub hours: Vec<String>,
    /// Dates on which the shop is closed, such as `2026-12-25`.
    pub closed_days: Vec<String>,
    /// Clock in the shop's time zone, which is specified by name or as a POSIX rule. Used for all displayed times, and
    /// for the opening hours and closed days.
    pub time_zone: ShopClock,
}

impl ShopConfig {
    /// Parses the hours into the form used by the domain rules.
    pub fn hours(&self) -> Result<ShopHours, ShopHoursError> {
        ShopHours::parse(self.time_zone.clone(), &self.hours, &self.closed_days)
    }
}

/// `[forecast]`: defaults that the forecaster uses until it has learned from data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastConfig {
    /// Time from selecting a printer to the start of the print.
    pub starting_seconds: Seconds,
    /// Minimum margin between the expected completion time and the promised time.
    pub least_margin_seconds: Seconds,
}

/// `[dispatch]`: rules for dispatching jobs to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchConfig {
    /// Maximum time for a printer to report that a print has begun.
    pub confirm_seconds: Seconds,
    /// Number of printers that must reject the start of a job before the job becomes FAILED.
    pub refusals_until_failed: u32,
    /// Maximum number of prints started per minute across all printers; 0 for no limit.
    pub max_starts_per_minute: u32,
    /// Keeps the files of finished prints on the printers.
    pub keep_files: bool,
}

/// `[webhooks]`: event delivery to the webhook endpoints of customers and staff.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhooksConfig {
    /// Delays before retries, each measured from the previous failure.
    pub retry_schedule_seconds: Vec<Seconds>,
    /// Maximum random delay added to each retry.
    pub retry_jitter_seconds: Seconds,
    /// Connection timeout.
    pub connect_timeout_seconds: Seconds,
    /// Maximum time per delivery, including connecting.
    pub delivery_timeout_seconds: Seconds,
    /// Maximum number of concurrent deliveries per endpoint.
    pub max_concurrent_per_endpoint: usize,
    /// Allows endpoints on the server itself and in private networks.
    pub allow_private_targets: bool,
}

/// `[payments]`: the payment processor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentsConfig {
    /// Publishable key, which is not secret and is sent to browsers.
    pub publishable_key: String,
    /// Secret key for calls to the processor; if empty, checkouts fail with 503 because payments are not configured.
    pub secret_key: Secret,
    /// Base URL of the processor's API.
    pub api_base: String,
    /// The processor's price IDs that customers can subscribe to.
    pub subscription_prices: Vec<String>,
    /// Signing secret for inbound events; if empty, events are rejected with 503. Unsigned events are never accepted.
    pub webhook_secret: Secret,
    /// Name of the header that contains an inbound event's signature.
    pub signature_header: String,
    /// Maximum difference, in either direction, between a signature's timestamp and the clock.
    pub signature_tolerance_seconds: Seconds,
}

/// `[mail]`: email delivery, and the staff members who are notified.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailConfig {
    /// Addresses that are notified when an operator is needed; if empty, the active admins are notified.
    pub operators: Vec<String>,
    /// Minimum time between emails about the same kind of alert; if 0, each alert is sent as a separate email.
    pub alert_interval_seconds: Seconds,
    /// Sends customers an email about each shipment.
    pub shipment_notices: bool,
    /// Sends customers a receipt by email for each paid invoice.
    pub receipts: bool,
    /// Sends customers their invoices by email.
    pub invoice_notices: bool,
    /// Sender of all emails.
    pub from: String,
    /// Host of the mail server; if it and `api_key` are empty, emails are written to [`super::Config::outbox_dir`].
    pub smtp_host: String,
    /// Port of the mail server.
    pub smtp_port: u16,
    /// User name for the mail server; if empty, no authentication is used.
    pub smtp_user: String,
    /// Password for the mail server.
    pub smtp_password: Secret,
    /// Base URL of the email service that issued `api_key`.
    pub api_url: String,
    /// API key for an email service, used instead of a mail server.
    pub api_key: Secret,
}

/// `[agent]`: gateway that forwards chat messages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Gateway URL; empty if not configured.
    pub url: String,
    /// Shared token by which the gateway and the server authenticate to each other; if empty, inbound commands are
    /// rejected with 503.
    pub token: Secret,
    /// Patterns for the IDs of users who can send commands; `*` matches any text. If empty, all users of the gateway
    /// can send commands.
    pub allowed_users: Vec<String>,
}

/// `[slicing]`: slicing models to G-code.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicingConfig {
    /// Slicer program: a path, or a name to look up in `PATH`.
    pub program: PathBuf,
    /// Directory for slicer profiles; if empty, `slicer-profiles` in the data directory.
    pub profiles_dir: PathBuf,
    /// Maximum number of concurrent slicer runs.
    pub max_parallel: usize,
    /// Maximum duration of a run.
    pub timeout_seconds: Seconds,
    /// Maximum memory per run, in bytes.
    pub memory_max_bytes: u64,
    /// Interval between checks for a missing slicer or profile.
    pub recheck_seconds: Seconds,
}

/// `[metrics]`: access to `/metrics`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// Makes `/metrics` readable without an API key.
    pub public: bool,
}

/// `[log]`: the server's own log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Format of log lines.
    pub format: LogFormat,
    /// Log filter, in `EnvFilter` syntax.
    pub filter: String,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal in development; otherwise JSON.
    Auto,
    /// One JSON object per line.
    Json,
    /// One human-readable line per event.
    Text,
}

impl LogFormat {
    /// Returns whether log lines are JSON. `Auto` means text only on a terminal in development, because in production,
    /// programs read the log.
    pub fn is_json(self, mode: Mode, has_terminal: bool) -> bool {
        match self {
            Self::Json => true,
            Self::Text => false,
            Self::Auto => mode == Mode::Production || !has_terminal,
        }
    }
}
