//! Settings. They are read from the embedded `config.toml`, a settings file, `.env`, environment variables and the
//! command line, each of which overrides the previous ones, and validated when the server starts. The server's own
//! secrets can also be in `secrets.env` in the data directory; loading never generates or writes secrets. The
//! environment is passed in, so that tests can control it.
//!
//! A new setting requires a field in [`sections`] and, in `config.toml`, a line with its default and a comment.

pub mod bucket_address;
pub mod changes;
pub mod checks;
pub mod configured_setting;
pub mod dotenv;
mod error;
mod faults;
mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod layers;
pub mod listen;
pub mod listing;
pub mod origin;
mod places;
mod renames;
pub mod sections;
pub mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Format as _, Toml};
use serde::Deserialize;

use self::configured_setting::ConfiguredSetting;
pub use self::error::ConfigError;
use self::error::refused;
use self::file::SettingsFile;
use self::layers::{DEFAULTS, KnownSettings, MODE};
pub use self::origin::{LoadOptions, Origin};
use self::values::Secret;
use domain::dispatch::DispatchRules;
use domain::launch::KnownTypes;
use domain::rules::Rules;

/// Default name of the settings file, which is read from the working directory.
pub const FILE: &str = "printfloor.toml";

/// Name of the file in the data directory with the secrets that the server generated for itself.
const SECRETS_FILE: &str = "secrets.env";

/// Name of the `.env` file in the working directory; also its source name in messages.
pub const DOTENV: &str = ".env";

/// Source name of the environment in messages.
const ENVIRONMENT: &str = "the environment";

/// All settings. [`Config::load`] returns them only if they passed every check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Server mode, from `PRINTFLOOR_ENV` and never from a settings file.
    #[serde(skip)]
    pub mode: Mode,
    /// Sources of the settings, needed for changing settings at their source.
    #[serde(skip)]
    pub origin: Origin,
    /// Listen address, and limits on connections and requests.
    pub server: sections::ServerConfig,
    /// Database address and connection limits.
    pub database: sections::DatabaseConfig,
    /// Optional Redis server.
    pub redis: sections::RedisConfig,
    /// Staff sessions and the server's own secrets.
    pub auth: sections::AuthConfig,
    /// Limits on queued commands, and rate limits.
    pub limits: sections::LimitsConfig,
    /// Rules for putting jobs on hold when stock is low.
    inventory: sections::InventoryConfig,
    /// Defaults and limits for new orders.
    pub orders: sections::OrdersConfig,
    /// Source of the customer catalogue.
    pub catalog: sections::CatalogConfig,
    /// Tax rates by destination.
    pub tax: sections::TaxConfig,
    /// Shipping price per order.
    pub shipping: sections::ShippingConfig,
    /// The shop's opening hours.
    pub shop: sections::ShopConfig,
    /// Defaults that the forecaster uses until it has learned from data.
    pub forecast: sections::ForecastConfig,
    /// Rules for dispatching jobs to printers.
    pub dispatch: sections::DispatchConfig,
    /// Rules for accepting printed parts.
    pub quality: sections::QualityConfig,
    /// Model prices and quote validity.
    pub pricing: sections::PricingConfig,
    /// Seller details printed on invoices.
    pub invoices: sections::InvoicesConfig,
    /// Price tables for custom parts.
    pub intake: sections::IntakeConfig,
    /// Rendering and appearance of invoice PDFs.
    pub pdf: sections::PdfConfig,
    /// Storage for rendered PDFs.
    pub object_storage: sections::ObjectStorageConfig,
    /// Timeouts and intervals of the printer adapters.
    pub printers: sections::PrintersConfig,
    /// Event delivery to webhook endpoints.
    pub webhooks: sections::WebhooksConfig,
    /// Account at the payment processor.
    pub payments: sections::PaymentsConfig,
    /// Email delivery.
    pub mail: sections::MailConfig,
    /// Printer discovery.
    pub discovery: sections::DiscoveryConfig,
    /// Settings for all integrations.
    pub integrations: sections::IntegrationsConfig,
    /// Parts management system to synchronise stock with.
    pub parts: sections::PeerConfig,
    /// Spool management system.
    pub spools: sections::PeerConfig,
    /// Stock synchronisation with the parts and spool management systems.
    pub stock_sync: sections::StockSyncConfig,
    /// Workflow automation system that receives events.
    pub workflow: sections::WorkflowConfig,
    /// Print farm software.
    pub farm_ui: sections::PeerConfig,
    /// Print failure detector.
    pub failure_detection: sections::FailureDetectionConfig,
    /// Home automation system that shows printer states.
    pub smart_home: sections::SmartHomeConfig,
    /// Accounting system.
    pub accounting: sections::AccountingConfig,
    /// Gateway that forwards chat messages.
    pub agent: sections::AgentConfig,
    /// Slicing models to G-code.
    pub slicing: sections::SlicingConfig,
    /// Storage for uploaded files.
    pub files: sections::FilesConfig,
    /// Scheduled backups that the server makes automatically.
    pub backup: sections::BackupConfig,
    /// Access to `/metrics`.
    pub metrics: sections::MetricsConfig,
    /// The server's own log.
    pub log: sections::LogConfig,
}

/// Server mode: development for evaluation, production for a real shop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Missing secrets are generated at the first start and stored in `SECRETS_FILE`.
    #[default]
    Development,
    /// Secrets must be configured, the database must be PostgreSQL, cookies are `Secure`, and API keys begin with
    /// `key_live_`.
    Production,
}

impl Mode {
    /// Returns the prefix of API keys, which distinguishes production keys from development keys.
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Self::Production => "key_live_",
            Self::Development => "key_test_",
        }
    }
}

/// Result of [`Config::load`]: the settings, with their sources and warnings.
#[derive(Debug)]
pub struct LoadedConfig {
    /// Settings in effect.
    pub config: Config,
    /// Warnings for the operator, to log once the log has started.
    pub warnings: Vec<String>,
    /// Settings set by a source other than the defaults, by name (`section.key`).
    pub given_settings: BTreeMap<String, ConfiguredSetting>,
}

impl Default for Config {
    /// Returns the settings from the embedded `config.toml`, without secrets.
    #[expect(clippy::expect_used, reason = "the file is embedded, and a test reads it")]
    fn default() -> Self {
        Figment::from(Toml::string(DEFAULTS)).extract().expect("the embedded config.toml is complete")
    }
}

impl Config {
    /// Loads and checks the settings from all sources. Writes nothing. Secrets that no source sets stay empty, except
    /// in production, where all secrets are required.
    pub fn load(options: LoadOptions) -> Result<LoadedConfig, ConfigError> {
        let dotenv = assignments(&options.dotenv())?;
        Self::load_with(options, &dotenv)
    }

    /// Loads settings like [`Self::load`], with the given assignments in place of those in `.env`.
    fn load_with(options: LoadOptions, dotenv: &[(String, String)]) -> Result<LoadedConfig, ConfigError> {
        let known_settings = KnownSettings::new().map_err(|error| ConfigError::Refused(vec![error]))?;
        let SettingsFile { layer: file, mut former, faults } = settings_file(&options, &known_settings)?;
        let variables = [(dotenv, DOTENV), (&options.env[..], ENVIRONMENT)];
        former.extend(variables.iter().flat_map(|(variables, place)| known_settings.former(variables, place)));
        let shipped = Figment::from(known_settings.shipped());
        let mut figment = former.iter().fold(shipped, |all, one| all.merge(&one.layer)).merge(&file);
        let mut warnings = Vec::new();
        for (variables, place) in variables {
            let (layers, unknown) = known_settings.layers(variables, place);
            figment = layers.into_iter().fold(figment, Figment::merge);
            warnings.extend(unknown.iter().filter(|name| renames::of_variable(name).is_none()).map(|name| {
                let meant = known_settings.nearest_variable(name);
                let meant = file::did_you_mean(meant.as_deref());
                format!("{name} in {place} has no effect, because there is no such setting{meant}")
            }));
        }
        for (key, text) in &options.overrides {
            figment = figment.merge(known_settings.layer("the command line", key, text));
        }
        let mut config =
            faults::extract(figment.clone(), &known_settings, &file).map_err(|more| refused(faults.clone(), more))?;
        config.mode = mode(&[&options.env, dotenv]).map_err(|fault| refused(faults.clone(), vec![fault]))?;
        let mut given_settings = listing::given_settings(&figment, &known_settings);
        warnings.extend(former.iter().map(|one| one.warning(&given_settings)));
        let secrets_file = options.cwd.join(config.secrets_file());
        for (name, text) in assignments(&secrets_file)? {
            match config.auth.secret_of_file_mut(&name) {
                Some(place) if place.is_empty() => {
                    *place = Secret::new(text);
                    if let Some((_, key)) = layers::VARIABLES.iter().find(|(variable, _)| *variable == name) {
                        given_settings
                            .insert((*key).to_owned(), ConfiguredSetting::secret(secrets_file.display().to_string()));
                    }
                }
                Some(_) => {}
                None => warnings.push(format!(
                    "{name} in {} has no effect, because that file can contain only the server's secrets",
                    secrets_file.display()
                )),
            }
        }
        let problems = checks::problems(&config);
        if !faults.is_empty() || !problems.is_empty() {
            return Err(refused(faults, problems));
        }
        warnings.extend(checks::doubts(&config));
        config.origin = Origin::new(options, given_settings.clone());
        Ok(LoadedConfig { config, warnings, given_settings })
    }

    /// Returns the path of the file in the data directory with the secrets that the server generated for itself.
    pub fn secrets_file(&self) -> PathBuf {
        self.server.data_dir.join(SECRETS_FILE)
    }

    /// Returns the base URL for absolute URLs, without a trailing slash.
    pub fn public_url(&self) -> String {
        if self.server.public_url.is_empty() {
            format!("http://{}", self.server.listen)
        } else {
            self.server.public_url.clone()
        }
    }

    /// Returns whether cookies are `Secure`, which is the case in production and if the public URL uses HTTPS.
    pub fn has_secure_cookies(&self) -> bool {
        let begins = |scheme: &str| {
            self.public_url().get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
        };
        self.mode == Mode::Production || begins("https://")
    }

    /// Returns the database address, which may contain a password.
    pub fn database_url(&self) -> Secret {
        if !self.database.url.is_empty() {
            return self.database.url.clone();
        }
        let mut url = String::from("sqlite://");
        for c in self.server.data_dir.join("printfloor.db").to_string_lossy().chars() {
            // These characters would end the path of a URL or begin an escape.
            match c {
                '%' | '?' | '#' => _ = write!(url, "%{:02X}", u32::from(c)),
                c => url.push(c),
            }
        }
        Secret::new(url + "?mode=rwc")
    }

    /// Returns whether a log on standard error is written as JSON lines rather than text.
    pub fn has_json_log(&self) -> bool {
        self.log.format.is_json(self.mode, io::stderr().is_terminal())
    }

    /// Returns the settings for the dispatcher's board.
    pub fn board_rules(&self, types: KnownTypes) -> DispatchRules {
        let most = self.dispatch.max_starts_per_minute;
        DispatchRules {
            max_starts_per_minute: (most > 0).then_some(most),
            refusals_until_failed: self.dispatch.refusals_until_failed as usize,
            types,
        }
    }

    /// Returns the settings for the domain rules.
    pub fn rules(&self) -> Rules {
        Rules {
            block_below_reorder_point: self.inventory.block_below_reorder_point,
            confirm_ms: self.dispatch.confirm_seconds.millis(),
            offline_ms: self.printers.offline_seconds.millis(),
            finish_photos: self.printers.finish_photos,
            max_jobs: self.orders.max_jobs_per_order,
            currency: self.orders.currency.clone(),
            site: self.orders.default_site.clone(),
            shipping_flat_cents: self.shipping.flat_cents,
            tax_rates: self.tax.rules(),
            webhook_schedule_ms: self.webhooks.retry_schedule_seconds.iter().map(|wait| wait.millis()).collect(),
            webhook_jitter_ms: self.webhooks.retry_jitter_seconds.millis(),
            operator_mail: self.mail.operators.clone(),
            public_url: self.public_url(),
            agent_gateway: !self.agent.url.is_empty(),
            shipment_notices: self.mail.shipment_notices,
            receipts: self.mail.receipts,
            invoice_notices: self.mail.invoice_notices,
            tracking_pages: self.shipping.tracking_pages(),
            clock: self.shop.time_zone.clone(),
            quality: self.quality.rules(),
            invoices: self.invoices.rules(),
            intake: self.intake.prices(),
            pricing: self.pricing.rules(),
        }
    }

    /// Returns the key that encrypts stored secrets; `None` until it is generated at the first start.
    pub fn secrets_key(&self) -> Option<[u8; 32]> {
        checks::decode_key(self.auth.secrets_key.expose())
    }
}

/// Returns this process's environment, without variables that are not valid UTF-8.
pub fn process_env() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Reads the specified settings file or, if none is specified, the one in the working directory; returns an empty one
/// if neither exists.
fn settings_file(options: &LoadOptions, known_settings: &KnownSettings) -> Result<SettingsFile, ConfigError> {
    let path = options.cwd.join(options.file.as_deref().unwrap_or(Path::new(FILE)));
    let text = match (read_if_there(&path)?, &options.file) {
        (Some(text), _) => text,
        (None, None) => String::new(),
        (None, Some(_)) => {
            return Err(ConfigError::Read { path, source: io::ErrorKind::NotFound.into() });
        }
    };
    // As it was named on the command line: the working directory is known to whoever reads the message.
    let name = options.file.as_deref().unwrap_or(Path::new(FILE)).display().to_string();
    file::read(&name, &text, known_settings).map_err(|problem| ConfigError::Toml { path, problem })
}

/// Reads the assignments from a file in the `.env` format; returns an empty list if the file does not exist.
fn assignments(path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let text = read_if_there(path)?.unwrap_or_default();
    dotenv::parse(&text).map_err(|source| ConfigError::Dotenv { path: path.to_owned(), source })
}

fn read_if_there(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(source) if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// Returns the mode from the first source that sets one.
fn mode(sources: &[&[(String, String)]]) -> Result<Mode, String> {
    // The last assignment of a source wins, as everywhere.
    let named =
        sources.iter().find_map(|source| source.iter().rev().find(|(name, text)| name == MODE && !text.is_empty()));
    match named.map(|(_, text)| text.as_str()) {
        None | Some("development") => Ok(Mode::Development),
        Some("production") => Ok(Mode::Production),
        Some(other) => Err(format!("{MODE} must be development or production, not \"{other}\"")),
    }
}

#[cfg(test)]
mod tests;
