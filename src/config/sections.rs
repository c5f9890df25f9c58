//! One struct for each section of `config.toml`. Each field has a line there, which explains it and holds its default;
//! no default stands in Rust.

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

use super::values::{Days, Hours, Seconds, Secret};
use crate::domain::rules;
use crate::domain::shop_hours::{ShopHours, ShopHoursError};

pub use self::accounting::Accounting;
pub use self::catalog::Catalog;
pub use self::files::Files;
pub use self::intake::{Intake, IntakePrice};
pub use self::integrations::{FailureDetection, Integrations, SmartHome, StockSync, Workflow};
pub use self::invoices::{Invoices, ObjectStorage, Pdf};
pub use self::limits::Limits;
pub use self::peers::{Discovery, Peer};
pub use self::pricing::Pricing;
pub use self::printers::Printers;
pub use self::quality::Quality;
pub use self::shipping::{Shipping, Tracking};

/// `[server]`: the listener and limits on connections and requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// IP address and port to listen on; see [`super::listen`] for how it may be written.
    #[serde(deserialize_with = "super::listen::deserialize")]
    pub listen: SocketAddr,
    /// Address at which clients reach the server, without a trailing slash; empty: see [`super::Config::public_url`].
    pub public_url: String,
    /// Directory of everything the server stores on disk.
    pub data_dir: PathBuf,
    /// Largest JSON request body, in bytes.
    pub json_body_max_bytes: usize,
    /// Largest uploaded file, in bytes.
    pub upload_max_bytes: u64,
    /// How long running requests and actors may take to complete when the server stops.
    pub shutdown_timeout_seconds: Seconds,
    /// Longest processing time of a request; uploads, downloads and event streams are exempt.
    pub request_timeout_seconds: Seconds,
    /// Longest time for the headers of a request to arrive.
    pub header_timeout_seconds: Seconds,
    /// Largest size of all headers of a request together.
    pub header_max_bytes: usize,
    /// Largest number of headers of a request.
    pub max_headers: usize,
    /// How long a connection may stay open without a request.
    pub keep_alive_timeout_seconds: Seconds,
    /// Longest pause in a request body, and longest time that a client reads nothing of an answer.
    pub body_idle_timeout_seconds: Seconds,
    /// Largest number of open connections.
    pub max_connections: usize,
    /// Largest number of open connections of one address.
    pub max_connections_per_address: usize,
    /// Largest number of requests of one client whose bodies have not come as a whole.
    pub max_unfinished_bodies_per_client: usize,
    /// Bodies that come more slowly on average are ended.
    pub body_min_bytes_per_second: u64,
    /// Largest number of requests processed at the same time.
    pub max_concurrent_requests: usize,
    /// Proxies whose `X-Forwarded-For` is believed: IP addresses and networks.
    pub trusted_proxies: Vec<String>,
    /// Origins whose pages may use `/api` from a browser.
    pub cors_origins: Vec<String>,
    /// IP addresses and networks that may neither read the catalogue nor send custom requests.
    pub blocked_addresses: Vec<String>,
}

/// `[database]`: the database connection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `postgres://` or `sqlite:` address; may hold a password. Empty: see [`super::Config::database_url`].
    pub url: Secret,
    /// Connections of the pool for reading; one more is for writing.
    pub read_connections: u32,
    /// Longest run time of one SQL statement.
    pub statement_timeout_seconds: Seconds,
}

/// `[redis]`: an optional Redis server; it never holds the only copy of anything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    /// `redis://` address; empty: limits, cache and stream stay in the process.
    pub url: Secret,
    /// Longest time a request waits for Redis.
    pub timeout_seconds: Seconds,
    /// Approximate number of newest events that the Redis stream keeps.
    pub stream_max_entries: u32,
}

/// `[auth]`: staff sessions and the server's own secrets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// A staff session ends after this time without a request.
    pub session_idle_timeout_hours: Hours,
    /// A staff session ends this long after the sign-in.
    pub session_max_age_days: Days,
    /// The mailed sign-in link opens a page with a button, so that a mail scanner that follows links signs nobody in.
    pub confirm_page: bool,
    /// Secret that signs the addresses of pictures and of PDFs, at least 32 characters.
    pub session_secret: Secret,
    /// Key of the HMAC that API keys are stored as.
    pub api_key_salt: Secret,
    /// Base64 of the 32-byte key that encrypts stored secrets; decoded by [`super::Config::secrets_key`].
    pub secrets_key: Secret,
}

impl Auth {
    /// The server's own secrets with the names of their variables, to be filled in.
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
pub struct Inventory {
    /// Jobs wait for an operator while the stock on hand is below the reorder point.
    pub block_below_reorder_point: bool,
}

/// `[orders]`: defaults and bounds of new orders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Lower-case ISO 4217 code.
    pub currency: String,
    /// Largest number of print jobs in one order.
    pub max_jobs_per_order: u32,
    /// Site of a record whose request names none.
    pub default_site: String,
}

/// `[tax]`: tax rates by destination.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tax {
    /// The rates; a destination without one pays no tax.
    pub rates: Vec<TaxRate>,
}

impl Tax {
    /// The rates as the rules use them.
    pub fn rules(&self) -> Vec<rules::TaxRate> {
        let rate = |rate: &TaxRate| rules::TaxRate {
            country: rate.country.clone(),
            region: rate.region.clone(),
            bps: rate.bps.into(),
        };
        self.rates.iter().map(rate).collect()
    }
}

/// The tax of one destination, in basis points.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxRate {
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
    /// A region of the country, by its ISO 3166-2 code or by name; none: the rate of the rest of the country.
    #[serde(default)]
    pub region: Option<String>,
    /// Basis points: 1900 is 19 %.
    pub bps: u32,
}

/// `[shop]`: when somebody is there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shop {
    /// Periods of opening, as `mon-fri 08:00-18:00`; none: always.
    pub hours: Vec<String>,
    /// Dates on which nobody is there, as `2026-12-25`.
    pub closed_days: Vec<String>,
    /// Time zone of both, by name or as a POSIX rule.
    pub time_zone: String,
}

impl Shop {
    /// The hours as the rules use them.
    pub fn hours(&self) -> Result<ShopHours, ShopHoursError> {
        ShopHours::parse(&self.time_zone, &self.hours, &self.closed_days)
    }
}

/// `[forecast]`: what is expected before anything is known.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    /// Time from the choice of a printer until it prints.
    pub starting_seconds: Seconds,
    /// What is added at least to what is expected, before it is promised.
    pub least_margin_seconds: Seconds,
}

/// `[dispatch]`: how jobs are given to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// How long a printer may take to report that a print began.
    pub confirm_seconds: Seconds,
    /// Number of printers that refuse to start a job before the job is FAILED.
    pub refusals_until_failed: u32,
    /// Prints started per minute on all printers together; 0: no limit.
    pub max_starts_per_minute: u32,
    /// Whether the files of prints that are over stay on the printers.
    pub keep_files: bool,
}

/// `[webhooks]`: delivery of events to the endpoints of customers and staff.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Waiting times before the retries, each counted from the failure before it.
    pub retry_schedule_seconds: Vec<Seconds>,
    /// Largest random delay added to each retry.
    pub retry_jitter_seconds: Seconds,
    /// Longest time to open a connection.
    pub connect_timeout_seconds: Seconds,
    /// Longest time of one delivery, connecting included.
    pub delivery_timeout_seconds: Seconds,
    /// Largest number of deliveries sent to one endpoint at the same time.
    pub max_concurrent_per_endpoint: usize,
    /// Allow endpoints on this machine and in private networks.
    pub allow_private_targets: bool,
}

/// `[payments]`: the payment processor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payments {
    /// Key that browsers may know.
    pub publishable_key: String,
    /// Secret key for calls to the processor; empty: checkouts are answered 503 as not configured.
    pub secret_key: Secret,
    /// Base address of the processor's API.
    pub api_base: String,
    /// The processor's ids of the prices that customers may subscribe to.
    pub subscription_prices: Vec<String>,
    /// Secret that signs inbound events; empty: they are answered 503, never accepted unsigned.
    pub webhook_secret: Secret,
    /// Name of the header with the signature of an inbound event.
    pub signature_header: String,
    /// Largest difference between a signature's time and the clock, in both directions.
    pub signature_tolerance_seconds: Seconds,
}

/// `[mail]`: how mails leave the server, and which staff gets them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Addresses that are told what needs an operator; empty: the active admins.
    pub operators: Vec<String>,
    /// Shortest time between two mails of one kind of alert; 0: each alert is a mail of its own.
    pub alert_interval_seconds: Seconds,
    /// Whether customers are mailed of each shipment of theirs.
    pub shipment_notices: bool,
    /// Whether customers are mailed a receipt when an invoice of theirs is paid.
    pub receipts: bool,
    /// Whether customers are mailed invoices that are sent.
    pub invoice_notices: bool,
    /// Sender of all mail.
    pub from: String,
    /// Mail server; empty, and no `api_key`: messages go to [`super::Config::outbox_dir`].
    pub smtp_host: String,
    /// Port of the mail server.
    pub smtp_port: u16,
    /// User name at the mail server; empty: no sign-in.
    pub smtp_user: String,
    /// Password at the mail server.
    pub smtp_password: Secret,
    /// Base address of the e-mail service that `api_key` is for.
    pub api_url: String,
    /// Key of an e-mail service, instead of a mail server.
    pub api_key: Secret,
}

/// `[agent]`: the agent gateway.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its address; empty: none.
    pub url: String,
    /// Token that both sides show; empty: inbound commands are answered 503.
    pub token: Secret,
    /// Patterns of the user ids that may give commands, `*` for any text; empty: everybody behind the gateway.
    pub allowed_users: Vec<String>,
}

/// `[slicing]`: how models are made into G-code.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slicing {
    /// The slicer: a path, or a name that is looked for in `PATH`.
    pub program: PathBuf,
    /// Folder of the profiles; empty: see [`super::Config::slicer_settings`].
    pub profiles_dir: PathBuf,
    /// Runs of the slicer at the same time.
    pub max_parallel: usize,
    /// Longest time of one run.
    pub timeout_seconds: Seconds,
    /// Most memory of one run, in bytes.
    pub memory_max_bytes: u64,
    /// Time between two looks for a slicer or a profile that is not there.
    pub recheck_seconds: Seconds,
}

/// `[metrics]`: access to `/metrics`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Readable without a key.
    pub public: bool,
}

/// `[log]`: the server's own log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Format of log lines.
    pub format: LogFormat,
    /// Which log lines are written, in the syntax of `EnvFilter`.
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
    /// One line of text for each event, for people.
    Text,
}
