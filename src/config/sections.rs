//! One struct for each section of `config.toml`. Each field has a line there with its explanation and default; Rust
//! code defines no defaults.

mod accounting;
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
use super::values::{Days, Hours, Seconds, Secret};
use domain::rules;
use domain::shop_hours::{ShopHours, ShopHoursError};

pub use self::accounting::AccountingConfig;
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
pub use self::quality::QualityConfig;
pub use self::shipping::{CarrierConfig, ShippingConfig};

/// `[server]`: the listener and limits on connections and requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// IP address and port to listen on; see [`super::listen`] for the accepted forms.
    #[serde(deserialize_with = "super::listen::deserialize")]
    pub listen: SocketAddr,
    /// Address at which clients reach the server, without a trailing slash; empty: see [`super::Config::public_url`].
    pub public_url: String,
    /// Directory of everything the server stores on disk.
    pub data_dir: PathBuf,
    /// Maximum size of a JSON request body, in bytes.
    pub json_body_max_bytes: usize,
    /// Maximum size of an uploaded file, in bytes.
    pub upload_max_bytes: u64,
    /// Maximum time for running requests and actors to complete when the server stops.
    pub shutdown_timeout_seconds: Seconds,
    /// Maximum processing time of a request; uploads, downloads and event streams are exempt.
    pub request_timeout_seconds: Seconds,
    /// Maximum time for the headers of a request to arrive.
    pub header_timeout_seconds: Seconds,
    /// Maximum total size of the headers of a request.
    pub header_max_bytes: usize,
    /// Maximum number of headers of a request.
    pub max_headers: usize,
    /// Time after which a connection without a request is closed.
    pub keep_alive_timeout_seconds: Seconds,
    /// Maximum pause within a request body, and maximum time during which a client reads nothing of a response.
    pub body_idle_timeout_seconds: Seconds,
    /// Maximum number of open connections.
    pub max_connections: usize,
    /// Maximum number of open connections from one address.
    pub max_connections_per_address: usize,
    /// Maximum number of requests of one client whose bodies are incomplete.
    pub max_unfinished_bodies_per_client: usize,
    /// Minimum average rate of request bodies; slower ones are aborted.
    pub body_min_bytes_per_second: u64,
    /// Maximum number of requests processed at the same time.
    pub max_concurrent_requests: usize,
    /// Trusted proxies, whose `X-Forwarded-For` is believed: IP addresses and networks.
    pub trusted_proxies: Vec<String>,
    /// Origins whose pages may use `/api` from a browser.
    pub cors_origins: Vec<String>,
    /// IP addresses and networks that may neither read the catalogue nor send custom requests.
    pub blocked_addresses: Vec<String>,
}

/// `[database]`: database address and connection limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseConfig {
    /// `postgres://` or `sqlite:` address; may hold a password. Empty: see [`super::Config::database_url`].
    pub url: Secret,
    /// Number of connections in the read pool; one more connection is for writing.
    pub read_connections: u32,
    /// Maximum run time of one SQL statement.
    pub statement_timeout_seconds: Seconds,
}

/// `[redis]`: an optional Redis server; it never holds the only copy of anything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisConfig {
    /// `redis://` address; empty: rate limits, cache and stream stay in the process.
    pub url: Secret,
    /// Maximum time that a request waits for Redis.
    pub timeout_seconds: Seconds,
    /// Approximate number of newest events that the Redis stream retains.
    pub stream_max_entries: u32,
}

/// `[auth]`: staff sessions and the server's own secrets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthConfig {
    /// Time without a request after which a staff session ends.
    pub session_idle_timeout_hours: Hours,
    /// Time after the sign-in at which a staff session ends.
    pub session_max_age_days: Days,
    /// Makes the mailed sign-in link open a page with a button, so that a mail scanner that follows links signs nobody
    /// in.
    pub confirm_page: bool,
    /// Secret that signs the URLs of pictures and PDFs, at least 32 characters.
    pub session_secret: Secret,
    /// Key of the HMAC under which API keys are stored.
    pub api_key_salt: Secret,
    /// Base64 of the 32-byte key that encrypts stored secrets; decoded by [`super::Config::secrets_key`].
    pub secrets_key: Secret,
}

impl AuthConfig {
    /// Returns mutable references to the server's own secrets, with the names of their variables, to be filled in.
    pub fn own_secrets_mut(&mut self) -> [(&'static str, &mut Secret); 3] {
        [
            ("SESSION_SECRET", &mut self.session_secret),
            ("API_KEY_SALT", &mut self.api_key_salt),
            ("SECRETS_KEY", &mut self.secrets_key),
        ]
    }
}

/// `[inventory]`: rules about stock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InventoryConfig {
    /// Makes jobs wait for an operator while the stock on hand is below the reorder point.
    pub block_below_reorder_point: bool,
}

/// `[orders]`: defaults and bounds of new orders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdersConfig {
    /// Currency of new orders: lower-case ISO 4217 code.
    pub currency: String,
    /// Maximum number of print jobs in one order.
    pub max_jobs_per_order: u32,
    /// Site of a record whose request specifies none.
    pub default_site: String,
}

/// `[tax]`: tax rates by destination.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxConfig {
    /// Tax rates; a destination without one pays no tax.
    pub rates: Vec<TaxRateConfig>,
}

impl TaxConfig {
    /// Returns the rates in the form that the domain rules use.
    pub fn rules(&self) -> Vec<rules::TaxRate> {
        let rate = |rate: &TaxRateConfig| rules::TaxRate {
            country: rate.country.clone(),
            region: rate.region.clone(),
            bps: rate.bps.into(),
        };
        self.rates.iter().map(rate).collect()
    }
}

/// Tax rate of one destination, in basis points.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxRateConfig {
    /// Country: ISO 3166-1 alpha-2, upper case.
    pub country: String,
    /// Region of the country, by its ISO 3166-2 code or by name; `None` for the rate of the rest of the country.
    #[serde(default)]
    pub region: Option<String>,
    /// Rate in basis points: 1900 is 19 %.
    pub bps: u32,
}

/// `[shop]`: opening hours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShopConfig {
    /// Opening hours, as `mon-fri 08:00-18:00`; empty: always open.
    pub hours: Vec<String>,
    /// Dates on which the shop is closed, as `2026-12-25`.
    pub closed_days: Vec<String>,
    /// Time zone of the opening hours and closed days, by name or as a POSIX rule.
    pub time_zone: String,
}

impl ShopConfig {
    /// Parses the hours into the form that the domain rules use.
    pub fn hours(&self) -> Result<ShopHours, ShopHoursError> {
        ShopHours::parse(&self.time_zone, &self.hours, &self.closed_days)
    }
}

/// `[forecast]`: defaults of the forecaster until it has learned from data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastConfig {
    /// Time from the selection of a printer until it prints.
    pub starting_seconds: Seconds,
    /// Minimum margin added to the expected completion before it is promised.
    pub least_margin_seconds: Seconds,
}

/// `[dispatch]`: rules for dispatching jobs to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchConfig {
    /// Maximum time for a printer to report that a print began.
    pub confirm_seconds: Seconds,
    /// Number of printers that refuse to start a job before the job is FAILED.
    pub refusals_until_failed: u32,
    /// Maximum number of prints started per minute on all printers together; 0: no limit.
    pub max_starts_per_minute: u32,
    /// Keeps the files of finished prints on the printers.
    pub keep_files: bool,
}

/// `[webhooks]`: delivery of events to the endpoints of customers and staff.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhooksConfig {
    /// Delays before the retries, each counted from the failure before it.
    pub retry_schedule_seconds: Vec<Seconds>,
    /// Maximum random delay added to each retry.
    pub retry_jitter_seconds: Seconds,
    /// Maximum time to open a connection.
    pub connect_timeout_seconds: Seconds,
    /// Maximum time of one delivery, including the connection.
    pub delivery_timeout_seconds: Seconds,
    /// Maximum number of concurrent deliveries to one endpoint.
    pub max_concurrent_per_endpoint: usize,
    /// Allows endpoints on this machine and in private networks.
    pub allow_private_targets: bool,
}

/// `[payments]`: the payment processor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentsConfig {
    /// Publishable key, which browsers may know.
    pub publishable_key: String,
    /// Secret key for calls to the processor; empty: checkouts get 503 as not configured.
    pub secret_key: Secret,
    /// Base address of the processor's API.
    pub api_base: String,
    /// Ids of the processor's prices to which customers may subscribe.
    pub subscription_prices: Vec<String>,
    /// Secret that signs inbound events; empty: they get 503, and are never accepted unsigned.
    pub webhook_secret: Secret,
    /// Name of the header with the signature of an inbound event.
    pub signature_header: String,
    /// Maximum difference between a signature's time and the clock, in both directions.
    pub signature_tolerance_seconds: Seconds,
}

/// `[mail]`: mail delivery, and the staff that is notified.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailConfig {
    /// Addresses that are notified of what needs an operator; empty: the active admins.
    pub operators: Vec<String>,
    /// Minimum time between two mails of one kind of alert; 0: each alert is a separate mail.
    pub alert_interval_seconds: Seconds,
    /// Mails customers a notice of each of their shipments.
    pub shipment_notices: bool,
    /// Mails customers a receipt when one of their invoices is paid.
    pub receipts: bool,
    /// Mails customers their sent invoices.
    pub invoice_notices: bool,
    /// Sender of all mails.
    pub from: String,
    /// Host of the mail server; empty, and no `api_key`: mails go to [`super::Config::outbox_dir`].
    pub smtp_host: String,
    /// Port of the mail server.
    pub smtp_port: u16,
    /// User name at the mail server; empty: no authentication.
    pub smtp_user: String,
    /// Password at the mail server.
    pub smtp_password: Secret,
    /// Base address of the e-mail service to which `api_key` belongs.
    pub api_url: String,
    /// API key of an e-mail service, used instead of a mail server.
    pub api_key: Secret,
}

/// `[agent]`: the agent gateway.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Address of the gateway; empty: none.
    pub url: String,
    /// Shared token that authenticates both sides; empty: inbound commands get 503.
    pub token: Secret,
    /// Patterns of the user ids that may send commands, `*` for any text; empty: all users of the gateway.
    pub allowed_users: Vec<String>,
}

/// `[slicing]`: slicing of models to G-code.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicingConfig {
    /// Slicer program: a path, or a name that is searched for in `PATH`.
    pub program: PathBuf,
    /// Folder of the slicer profiles; empty: `slicer-profiles` in the data folder.
    pub profiles_dir: PathBuf,
    /// Maximum number of concurrent slicer runs.
    pub max_parallel: usize,
    /// Maximum time of one run.
    pub timeout_seconds: Seconds,
    /// Maximum memory of one run, in bytes.
    pub memory_max_bytes: u64,
    /// Interval between two checks for a missing slicer or profile.
    pub recheck_seconds: Seconds,
}

/// `[metrics]`: access to `/metrics`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// Makes `/metrics` readable without a key.
    pub public: bool,
}

/// `[log]`: the server's own log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Format of log lines.
    pub format: LogFormat,
    /// Filter for log lines, in the syntax of `EnvFilter`.
    pub filter: String,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal in development, otherwise JSON.
    Auto,
    /// One JSON object per line.
    Json,
    /// One readable line of text for each event.
    Text,
}

impl LogFormat {
    /// Returns whether lines are JSON. `Auto` is text only at a terminal in development: in production, programs read
    /// the log.
    pub fn is_json(self, mode: Mode, has_terminal: bool) -> bool {
        match self {
            Self::Json => true,
            Self::Text => false,
            Self::Auto => mode == Mode::Production || !has_terminal,
        }
    }
}
