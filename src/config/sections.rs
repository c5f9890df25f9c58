//! One struct per section of `config.toml`. Every field has a line there, which gives its default: there is no other.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::values::{Days, Hours, Seconds, Secret};

/// `[server]`: the listener and the limits of requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Where people reach the server, without a trailing slash; empty: see [`super::Config::public_url`].
    pub public_url: String,
    /// Folder of everything the server keeps on disk.
    pub data_dir: PathBuf,
    /// Largest JSON body, in bytes.
    pub json_body_max_bytes: usize,
    /// Largest uploaded file, in bytes.
    pub upload_max_bytes: u64,
    /// How long requests and actors may take to finish at the end.
    pub shutdown_timeout_seconds: Seconds,
    /// Longest a request may take; uploads, downloads and streams are exempt.
    pub request_timeout_seconds: Seconds,
    /// Longest the head of a request may take to arrive.
    pub header_timeout_seconds: Seconds,
    /// Largest head of a request, in bytes.
    pub header_max_bytes: usize,
    /// Most headers of a request.
    pub max_headers: usize,
    /// Longest a connection may be idle between two requests.
    pub keep_alive_timeout_seconds: Seconds,
    /// Longest nothing of a body may arrive.
    pub body_idle_timeout_seconds: Seconds,
    /// Most connections served at a time.
    pub max_connections: usize,
    /// Most requests worked on at a time.
    pub max_concurrent_requests: usize,
    /// Proxies whose `X-Forwarded-For` is believed: addresses and networks.
    pub trusted_proxies: Vec<String>,
}

/// `[database]`: where the shop's records live.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `postgres://` or `sqlite:` address; may hold a password. Empty: see [`super::Config::database_url`].
    pub url: Secret,
    /// Connections of the read pool.
    pub read_connections: u32,
    /// Longest one statement may run.
    pub statement_timeout_seconds: Seconds,
}

/// `[redis]`: optional; never holds anything durable.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    /// `redis://` address; empty: limits, cache and stream stay in the process.
    pub url: Secret,
    /// Longest a request waits for it.
    pub timeout_seconds: Seconds,
    /// About how many events the stream keeps.
    pub stream_max_entries: u32,
}

/// `[auth]`: sessions and the secrets of the server itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// A staff session ends after this much idleness.
    pub session_idle_timeout_hours: Hours,
    /// A staff session ends at the latest after this.
    pub session_max_age_days: Days,
    /// Keys CSRF tokens and signed links; at least 32 characters.
    pub session_secret: Secret,
    /// Keys the stored digests of API keys.
    pub api_key_salt: Secret,
    /// 32 bytes in base64, sealing others' secrets at rest; decoded by [`super::Config::secrets_key`].
    pub secrets_key: Secret,
}

/// `[limits]`: bounds on what may wait, and on how often callers may ask.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Commands that may wait at one thing before further ones are refused as `overloaded`.
    pub max_queued_commands: usize,
    /// Requests per minute of a staff session or an API key.
    pub staff_requests_per_minute: u32,
    /// Requests per minute of a customer's session.
    pub customer_requests_per_minute: u32,
    /// Requests per minute and IP address without credentials, or with wrong ones.
    pub anonymous_requests_per_minute: u32,
    /// Tries to sign in, in 15 minutes, of a pair of e-mail address and IP address.
    pub login_attempts_per_15_minutes: u32,
    /// Most windows kept in memory; beyond them strangers share windows.
    pub rate_limit_max_entries: usize,
}

/// `[inventory]`: rules of stock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// Jobs wait for an operator while stock on hand is below the reorder point.
    pub block_below_reorder_point: bool,
}

/// `[orders]`: what a new order is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// ISO 4217, lower case.
    pub currency: String,
    /// Most jobs that one order may make.
    pub max_jobs_per_order: u32,
    /// Site of a record when the request names none.
    pub default_site: String,
}

/// `[tax]`: rates by destination.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tax {
    /// The rates; a destination without one pays no tax.
    pub rates: Vec<TaxRate>,
}

/// One tax rate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxRate {
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
    /// A region of the country, as addresses name it; none: the rate of the rest of the country.
    #[serde(default)]
    pub region: Option<String>,
    /// Basis points: 1900 is 19 %.
    pub bps: u32,
}

/// `[shipping]`: prices of shipping.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shipping {
    /// Price for one order, in minor units.
    pub flat_cents: i64,
}

/// `[dispatch]`: how jobs get to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// How long a printer has to show that it started a print.
    pub start_confirm_timeout_seconds: Seconds,
    /// Attempts on a job before it has failed.
    pub max_attempts_per_job: u32,
    /// Most prints started per minute over all printers; 0: no limit.
    pub max_starts_per_minute: u32,
}

/// `[printers]`: how the adapters talk to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printers {
    /// Time between two polls of a printer that does not report by itself.
    pub poll_interval_seconds: Seconds,
    /// Silence after which a printer is offline.
    pub offline_after_seconds: Seconds,
    /// Longest a connection may take to open.
    pub connect_timeout_seconds: Seconds,
    /// Longest a request may take, uploads excepted.
    pub request_timeout_seconds: Seconds,
    /// Slowest upload that is not given up.
    pub upload_min_bytes_per_second: u64,
    /// Address for `fw_rest` printers registered without one.
    pub fw_rest_url: String,
    /// Key for `fw_rest` printers registered without one.
    pub fw_rest_api_key: Secret,
}

/// `[webhooks]`: outbound deliveries.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Waits before the retries, counted from the failure before.
    pub retry_schedule_seconds: Vec<Seconds>,
    /// A retry comes up to this much later than its wait.
    pub retry_jitter_seconds: Seconds,
    /// Longest a connection may take to open.
    pub connect_timeout_seconds: Seconds,
    /// Longest one delivery may take in all.
    pub delivery_timeout_seconds: Seconds,
    /// Most deliveries under way at one endpoint.
    pub max_concurrent_per_endpoint: usize,
    /// Allow targets on this machine and in private networks.
    pub allow_private_targets: bool,
}

/// `[payments]`: the payment processor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payments {
    /// Key for calls to the processor; empty: checkouts are refused as not configured.
    pub secret_key: Secret,
    /// Secret of inbound events; empty: they are answered 503, never accepted unsigned.
    pub webhook_secret: Secret,
    /// Key that pages may show.
    pub publishable_key: String,
    /// Header with the signature of an inbound event.
    pub signature_header: String,
    /// Oldest signature that is accepted.
    pub signature_tolerance_seconds: Seconds,
}

/// `[mail]`: outbound e-mail.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Addresses that hear of matters of the shop.
    pub operators: Vec<String>,
    /// Sender of all mail.
    pub from: String,
    /// Mail server; empty, and no `api_key`: messages go to [`super::Config::outbox_dir`].
    pub smtp_host: String,
    /// Port of the mail server.
    pub smtp_port: u16,
    /// User at the mail server; empty: none.
    pub smtp_user: String,
    /// Password at the mail server.
    pub smtp_password: Secret,
    /// Base address of the e-mail service that `api_key` is for.
    pub api_url: String,
    /// Key of an e-mail service, instead of a mail server.
    pub api_key: Secret,
}

/// `[parts]`: the parts management system that stock is synchronised with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Its address; empty: none.
    pub url: String,
    /// Token for it.
    pub token: Secret,
}

/// `[agent]`: the agent gateway.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its address; empty: none.
    pub url: String,
    /// Token that both sides show; empty: inbound commands are answered 503.
    pub token: Secret,
    /// Who may give commands: patterns of user ids, `*` for any text; empty: everybody behind the gateway.
    pub allowed_users: Vec<String>,
}

/// `[files]`: uploaded files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Their folder; empty: see [`super::Config::files_dir`].
    pub dir: PathBuf,
}

/// `[metrics]`: the numbers at `/metrics`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Shown to anybody who asks.
    pub public: bool,
}

/// `[log]`: the server's own log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// What is logged, as a `tracing` filter.
    pub filter: String,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal, else JSON.
    Auto,
    /// One JSON object per line.
    Json,
    /// Lines for people.
    Text,
}
