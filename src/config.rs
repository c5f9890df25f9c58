//! The settings: the embedded `config.toml`, a settings file, `.env`, environment variables and the command line, each
//! overriding the one before, checked at start. The environment and random bytes are passed in, so that tests control
//! them.
//!
//! A new setting is a field in [`sections`] and a line with a comment and its default in `config.toml`.

pub mod checks;
pub mod dotenv;
pub mod layers;
pub mod sections;
pub mod values;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figment::Figment;
use figment::providers::{Format as _, Toml};
use serde::Deserialize;

use self::dotenv::DotenvError;
use self::layers::{DEFAULTS, Known, Layer, MODE};
use self::values::Secret;
use crate::domain::dispatch::{BoardRules, PrintableForms};
use crate::domain::rules::{Rules, TaxRate};

/// Name of the file that is read from the working directory when no other is named.
pub const FILE: &str = "printfloor.toml";

/// All settings, checked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Development or production; from `PRINTFLOOR_ENV`, never from a settings file.
    #[serde(skip)]
    pub mode: Mode,
    /// The listener and limits on connections and requests.
    pub server: sections::Server,
    /// The database connection.
    pub database: sections::Database,
    /// The optional Redis server.
    pub redis: sections::Redis,
    /// Staff sessions and the server's own secrets.
    pub auth: sections::Auth,
    /// Bounds on queued commands, and rate limits.
    pub limits: sections::Limits,
    /// Rules about stock.
    pub inventory: sections::Inventory,
    /// Defaults and bounds of new orders.
    pub orders: sections::Orders,
    /// Tax rates by destination.
    pub tax: sections::Tax,
    /// Shipping prices.
    pub shipping: sections::Shipping,
    /// How jobs are given to printers.
    pub dispatch: sections::Dispatch,
    /// How the adapters speak to printers.
    pub printers: sections::Printers,
    /// Webhook deliveries.
    pub webhooks: sections::Webhooks,
    /// The payment processor.
    pub payments: sections::Payments,
    /// Outbound e-mail.
    pub mail: sections::Mail,
    /// The parts management system.
    pub parts: sections::PartsManagement,
    /// The agent gateway.
    pub agent: sections::Agent,
    /// Uploaded files.
    pub files: sections::Files,
    /// Access to `/metrics`.
    pub metrics: sections::Metrics,
    /// The server's own log.
    pub log: sections::Log,
}

/// Development or production.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Missing secrets are generated and written to `.env`.
    #[default]
    Development,
    /// Missing secrets are refused, the database is PostgreSQL, cookies are `Secure`, keys begin with `key_live_`.
    Production,
}

/// Where settings come from.
pub struct LoadOptions<'a> {
    /// The file named with `--config`; it must exist. None: [`FILE`] in `cwd`, if it exists.
    pub file: Option<PathBuf>,
    /// The environment, for example [`process_env`].
    pub env: Vec<(String, String)>,
    /// The working directory: where `.env`, and a relative `file`, are looked for.
    pub cwd: PathBuf,
    /// Settings from the command line, as (`section.key`, text); they win over all else.
    pub overrides: Vec<(&'static str, String)>,
    /// Fills a buffer with random bytes fit for keys.
    pub random: &'a mut dyn FnMut(&mut [u8]),
}

/// What [`Config::load`] found.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Warnings for the operator, to be logged once the log has started.
    pub warnings: Vec<String>,
    /// Names of the secrets that were just generated and written to `.env`.
    pub generated: Vec<&'static str>,
}

/// Why the settings cannot be loaded. Texts name files and settings, never the value of a secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The settings file is not TOML.
    #[error("{} is not valid TOML: {problem}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        problem: String,
    },
    /// A line of `.env` is not an assignment.
    #[error("{}: {source}", path.display())]
    Dotenv {
        /// The file.
        path: PathBuf,
        /// The line.
        source: DotenvError,
    },
    /// A setting has no such name, or the wrong type.
    #[error("{0}")]
    Setting(String),
    /// Settings are missing or invalid; the list names all of them.
    #[error("the settings cannot be used:{}", listed(.0))]
    Refused(Vec<String>),
    /// Generated secrets cannot be stored, so the next start would not know them.
    #[error("cannot write {} to store {}: {source}", path.display(), names.join(", "))]
    Keep {
        /// The file.
        path: PathBuf,
        /// The secrets.
        names: Vec<&'static str>,
        /// Why not.
        source: io::Error,
    },
}

impl Default for Config {
    /// The settings of the embedded `config.toml`, without secrets.
    #[expect(clippy::expect_used, reason = "the file is embedded, and a test reads it")]
    fn default() -> Self {
        Figment::from(Toml::string(DEFAULTS)).extract().expect("the embedded config.toml is complete")
    }
}

impl Config {
    /// Loads and checks the settings from all sources; in development, generates missing secrets and writes them to
    /// `.env`.
    pub fn load(options: LoadOptions<'_>) -> Result<Loaded, ConfigError> {
        let known = Known::new().map_err(|error| setting(*error))?;
        let mut figment = Figment::from(Toml::string(DEFAULTS));
        if let Some(layer) = settings_file(&options)? {
            figment = figment.merge(layer);
        }
        let env_path = options.cwd.join(".env");
        let env_text = read_if_there(&env_path)?.unwrap_or_default();
        let dotenv =
            dotenv::parse(&env_text).map_err(|source| ConfigError::Dotenv { path: env_path.clone(), source })?;
        let mut warnings = Vec::new();
        for (variables, place) in [(&dotenv, ".env"), (&options.env, "the environment")] {
            let (layers, unknown) = known.layers(variables, place);
            figment = layers.into_iter().fold(figment, Figment::merge);
            warnings.extend(
                unknown.iter().map(|name| format!("{name} in {place} is not the name of a setting and has no effect")),
            );
        }
        for (key, text) in &options.overrides {
            figment = figment.merge(known.layer("the command line", key, text));
        }
        let mut config: Config = figment.extract().map_err(setting)?;
        config.mode = mode(&[&options.env, &dotenv])?;
        let generated = config.make_missing_secrets(options.random);
        let problems = checks::problems(&config);
        if !problems.is_empty() {
            return Err(ConfigError::Refused(problems));
        }
        let names: Vec<_> = generated.iter().map(|(name, _)| *name).collect();
        if !generated.is_empty() {
            let values: Vec<_> = generated.iter().map(|(name, value)| (*name, value.expose())).collect();
            let kept = dotenv::write(&env_path, &dotenv::with_values(&env_text, &values));
            kept.map_err(|source| ConfigError::Keep { path: env_path, names: names.clone(), source })?;
        }
        Ok(Loaded { config, warnings, generated: names })
    }

    /// In development, generates the missing ones of the server's own secrets and returns them.
    fn make_missing_secrets(&mut self, random: &mut dyn FnMut(&mut [u8])) -> Vec<(&'static str, Secret)> {
        if self.mode == Mode::Production {
            return Vec::new();
        }
        let auth = &mut self.auth;
        let places = [
            ("SESSION_SECRET", &mut auth.session_secret),
            ("API_KEY_SALT", &mut auth.api_key_salt),
            ("SECRETS_KEY", &mut auth.secrets_key),
        ];
        let mut made = Vec::new();
        for (name, place) in places.into_iter().filter(|(_, place)| place.is_empty()) {
            let mut bytes = [0; 32];
            random(&mut bytes);
            *place = Secret::new(STANDARD.encode(bytes));
            made.push((name, place.clone()));
        }
        made
    }

    /// The address that absolute URLs begin with, without a trailing slash.
    pub fn public_url(&self) -> String {
        if self.server.public_url.is_empty() {
            format!("http://{}", self.server.listen)
        } else {
            self.server.public_url.clone()
        }
    }

    /// The address of the database; may contain a password.
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

    /// The directory of uploaded files.
    pub fn files_dir(&self) -> PathBuf {
        if self.files.dir.as_os_str().is_empty() { self.server.data_dir.join("files") } else { self.files.dir.clone() }
    }

    /// The directory that mails are written to if no mail server or service is configured.
    pub fn outbox_dir(&self) -> PathBuf {
        self.server.data_dir.join("outbox")
    }

    /// The settings that the dispatcher's board depends on.
    pub fn board_rules(&self, forms: PrintableForms) -> BoardRules {
        let most = self.dispatch.max_starts_per_minute;
        BoardRules {
            max_starts_per_minute: (most > 0).then_some(most),
            refusals_until_failed: self.dispatch.refusals_until_failed as usize,
            forms,
        }
    }

    /// The settings that the rules of the domain depend on.
    pub fn rules(&self) -> Rules {
        let rates = self.tax.rates.iter();
        Rules {
            block_below_reorder_point: self.inventory.block_below_reorder_point,
            confirm_ms: self.dispatch.start_confirm_timeout_seconds.millis(),
            offline_ms: self.printers.offline_after_seconds.millis(),
            max_jobs: self.orders.max_jobs_per_order,
            currency: self.orders.currency.clone(),
            site: self.orders.default_site.clone(),
            shipping_flat_cents: self.shipping.flat_cents,
            tax_rates: rates
                .map(|rate| TaxRate {
                    country: rate.country.clone(),
                    region: rate.region.clone(),
                    bps: rate.bps.into(),
                })
                .collect(),
            webhook_schedule_ms: self.webhooks.retry_schedule_seconds.iter().map(|wait| wait.millis()).collect(),
            webhook_jitter_ms: self.webhooks.retry_jitter_seconds.millis(),
            operator_mail: self.mail.operators.clone(),
            public_url: self.public_url(),
            agent_gateway: !self.agent.url.is_empty(),
        }
    }

    /// The key that encrypts stored secrets. `None` only in [`Config::default`]: [`Config::load`] generates a missing
    /// key or fails.
    pub fn secrets_key(&self) -> Option<[u8; 32]> {
        checks::decode_key(self.auth.secrets_key.expose())
    }
}

/// The environment of this process, without variables that are not UTF-8.
pub fn process_env() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The layer of the given settings file, or of the one in the working directory.
fn settings_file(options: &LoadOptions<'_>) -> Result<Option<Layer>, ConfigError> {
    let path = options.cwd.join(options.file.as_deref().unwrap_or(Path::new(FILE)));
    let text = match (read_if_there(&path)?, &options.file) {
        (Some(text), _) => text,
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(ConfigError::Read { path, source: io::ErrorKind::NotFound.into() });
        }
    };
    let layer = Layer::file(path.display().to_string(), &text);
    layer.map(Some).map_err(|problem| ConfigError::Toml { path, problem })
}

fn read_if_there(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// The mode named by the first source that names one.
fn mode(sources: &[&[(String, String)]]) -> Result<Mode, ConfigError> {
    // The last assignment of a source wins, as everywhere.
    let named =
        sources.iter().find_map(|source| source.iter().rev().find(|(name, text)| name == MODE && !text.is_empty()));
    match named.map(|(_, text)| text.as_str()) {
        None | Some("development") => Ok(Mode::Development),
        Some("production") => Ok(Mode::Production),
        Some(other) => Err(ConfigError::Setting(format!("{MODE} must be development or production, not \"{other}\""))),
    }
}

/// Converts an error of figment: which setting, what is wrong, and where it was set.
fn setting(error: figment::Error) -> ConfigError {
    let key = error.path.join(".");
    let place = error.metadata.as_ref().map(|metadata| format!(" (in {})", metadata.name)).unwrap_or_default();
    let key = if key.is_empty() { key } else { format!("{key}: ") };
    ConfigError::Setting(format!("{key}{}{place}", error.kind))
}

fn listed(problems: &[String]) -> String {
    format!("\n  - {}", problems.join("\n  - "))
}

#[cfg(test)]
mod tests;
