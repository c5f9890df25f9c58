//! Checks of settings beyond their types. All errors are collected, so that a single start reports all of them.

mod places;
mod prices;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderName;
use tracing_subscriber::EnvFilter;

use super::sections::CarrierConfig;
use super::{Config, Mode, layers};
use domain::database_address::addresses_of_hosts;
use domain::endpoint::DELIVERY_WINDOW;
use domain::event::{LOW_STOCK, OUTBOUND, OutboundEvent};
use domain::limits::address::Network;
use domain::peer_address::without_login;
use domain::seller::gaps_in_words;
use domain::tracking::NUMBER_PLACE;

/// Names of the shop's five sites.
pub const SITES: [&str; 5] = ["support", "dev", "digital", "tech", "industries"];

/// Minimum length of `SESSION_SECRET`, in characters.
const MIN_SESSION_SECRET_CHARS: usize = 32;

/// Minimum of `slicing.memory_max_bytes`; slicers do not start with less memory.
const MIN_SLICER_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum of `quality.max_reprints`. Each reprint is a job of its order, and orders are kept in memory as a whole.
const MAX_REPRINTS: u32 = 100;
/// Maximum number of reasons for rejecting parts.
const MAX_REASONS: usize = 50;
/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 50;

/// Maximum length of a topic prefix, in bytes.
const MAX_TOPIC_BYTES: usize = 200;

/// Minimum buffer size that the HTTP parser accepts, in bytes.
const MIN_HEADER_BYTES: usize = 8192;

/// Returns descriptions of all errors; empty if the settings are valid.
pub(super) fn problems(config: &Config) -> Vec<String> {
    let mut problems = missing(config);
    secrets(config, &mut problems);
    addresses(config, &mut problems);
    numbers(config, &mut problems);
    words(config, &mut problems);
    integration_words(config, &mut problems);
    log_filter(config, &mut problems);
    papers(config, &mut problems);
    tracking(config, &mut problems);
    places::problems(config, &mut problems);
    prices::problems(&config.intake, &mut problems);
    if !config.backup.every_hours.is_zero() && config.backup.to.is_empty() {
        problems.push("backup.to must be a directory or s3://BUCKET/PATH if backup.every_hours is set".to_owned());
    }
    problems.extend(config.shop.hours().err().map(|error| format!("shop: {error}")));
    problems
}

/// Returns warnings about settings that are valid but have no effect, probably because the operator forgot a related
/// setting.
pub fn doubts(config: &Config) -> Vec<String> {
    let Config { mail, printers, payments, .. } = config;
    let seller_gaps = config.rules().seller_gaps();
    let no_mail = "emails are written to files instead of being sent";
    [
        (
            mail.smtp_host.is_empty() && !mail.smtp_password.is_empty(),
            format!("SMTP_PASS is set without SMTP_HOST: {no_mail}"),
        ),
        (
            mail.smtp_host.is_empty() && !mail.smtp_user.is_empty(),
            format!("SMTP_USER is set without SMTP_HOST: {no_mail}"),
        ),
        (
            !mail.smtp_host.is_empty() && mail.smtp_user.is_empty() && !mail.smtp_password.is_empty(),
            "SMTP_PASS is set without SMTP_USER: the server does not sign in to the mail server".to_owned(),
        ),
        (
            !mail.smtp_host.is_empty() && !mail.api_key.is_empty(),
            "SMTP_HOST and EMAIL_API_KEY are both set: emails are sent through SMTP_HOST".to_owned(),
        ),
        (
            printers.fw_rest_url.is_empty() && !printers.fw_rest_api_key.is_empty(),
            "FW_REST_API_KEY is set without FW_REST_URL: it only applies to printers that were added without a key"
                .to_owned(),
        ),
        (
            payments.webhook_secret.is_empty() && !payments.secret_key.is_empty(),
            "PAYMENT_SECRET_KEY is set without PAYMENT_WEBHOOK_SECRET: the server would not be notified of payments"
                .to_owned(),
        ),
        (!seller_gaps.is_empty(), format!("no invoices can be issued yet: {}", gaps_in_words(&seller_gaps))),
    ]
    .into_iter()
    .filter_map(|(doubtful, words)| doubtful.then_some(words))
    .collect()
}

/// Returns an error for each setting that is required in production but missing.
fn missing(config: &Config) -> Vec<String> {
    if config.mode != Mode::Production {
        return Vec::new();
    }
    let needed = [
        ("SESSION_SECRET", config.auth.session_secret.is_empty()),
        ("API_KEY_SALT", config.auth.api_key_salt.is_empty()),
        ("SECRETS_KEY", config.auth.secrets_key.is_empty()),
        ("DATABASE_URL", config.database.url.is_empty()),
        ("PRINTFLOOR_SERVER__PUBLIC_URL", config.server.public_url.is_empty()),
    ];
    let lacking = needed.into_iter().filter(|(_, lacks)| *lacks);
    lacking.map(|(name, _)| format!("{name} is required in production but not set")).collect()
}

/// Checks the settings for invoices and the storage for invoice PDFs.
fn papers(config: &Config, problems: &mut Vec<String>) {
    let Config { invoices, pdf, object_storage, .. } = config;
    let country = &invoices.seller_country;
    let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !country.is_empty() && !is_code {
        problems.push("invoices.seller_country must be a two-letter country code".to_owned());
    }
    if pdf.accent().is_none() {
        problems.push("pdf.accent_color must be a colour such as #1f4e79".to_owned());
    }
    if !object_storage.bucket.is_empty() && !has_scheme(&object_storage.public_url, &["http", "https"]) {
        problems.push(
            "object_storage.public_url must be an http:// or https:// address if object_storage.bucket is set"
                .to_owned(),
        );
    }
    if !object_storage.endpoint.is_empty() && !has_scheme(&object_storage.endpoint, &["http", "https"]) {
        problems.push("object_storage.endpoint must be an http:// or https:// address".to_owned());
    }
}

fn tracking(config: &Config, problems: &mut Vec<String>) {
    for CarrierConfig { carrier, url } in &config.shipping.tracking {
        if carrier.trim().is_empty() || !has_scheme(url, &["http", "https"]) || !url.contains(NUMBER_PLACE) {
            problems.push(format!(
                "shipping.tracking: {carrier:?} must have a name, and an http:// or https:// address that contains {NUMBER_PLACE}"
            ));
        }
    }
}

fn secrets(config: &Config, problems: &mut Vec<String>) {
    let secret = config.auth.session_secret.expose();
    if !secret.is_empty() && secret.chars().count() < MIN_SESSION_SECRET_CHARS {
        problems.push(format!("SESSION_SECRET must be at least {MIN_SESSION_SECRET_CHARS} characters"));
    }
    for (name, key) in [("SECRETS_KEY", &config.auth.secrets_key), ("SECRETS_KEY_OLD", &config.auth.secrets_key_old)] {
        if !key.is_empty() && decode_key(key.expose()).is_none() {
            problems.push(format!("{name} must be 32 bytes in base64 (`openssl rand -base64 32` prints one)"));
        }
    }
}

/// Decodes a `SECRETS_KEY` into the 32-byte key.
pub(super) fn decode_key(text: &str) -> Option<[u8; 32]> {
    STANDARD.decode(text.trim()).ok()?.try_into().ok()
}

fn addresses(config: &Config, problems: &mut Vec<String>) {
    let database = config.database.url.expose();
    let is_postgres = |host: &String| has_scheme(host, &["postgres", "postgresql"]);
    let may_be_list = database.starts_with("postgres");
    let hosts = if may_be_list { addresses_of_hosts(database) } else { Ok(vec![database.to_owned()]) };
    match hosts {
        Err(error) => problems.push(format!("DATABASE_URL {error}")),
        Ok(hosts) if database.is_empty() || hosts.iter().all(is_postgres) => {}
        Ok(_) if config.mode == Mode::Production => {
            problems.push("DATABASE_URL must be a postgres:// address in production".to_owned());
        }
        Ok(_) if database.starts_with("sqlite:") => {}
        Ok(_) => problems.push("DATABASE_URL must be a postgres:// or sqlite: address".to_owned()),
    }
    let redis = config.redis.url.expose();
    if !redis.is_empty() && !has_scheme(redis, &["redis", "rediss"]) {
        problems.push("REDIS_URL must be a redis:// or rediss:// address".to_owned());
    }
    // Those of integrations are judged by what is made of them, which stays off when they are wrong.
    for (key, text) in [
        ("server.public_url", &config.server.public_url),
        ("printers.fw_rest_url", &config.printers.fw_rest_url),
        ("payments.api_base", &config.payments.api_base),
    ] {
        if !text.is_empty() && !has_scheme(text, &["http", "https"]) {
            problems.push(format!("{key} must be an http:// or https:// address, not \"{}\"", without_login(text)));
        }
    }
    if config.server.public_url.ends_with('/') || config.server.public_url.contains(['?', '#']) {
        problems.push("server.public_url must not end with a slash or contain ? or #".to_owned());
    }
}

fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text).is_ok_and(|url| schemes.contains(&url.scheme()) && url.has_host())
}

/// Returns the names of the server and limit settings that must not be 0, each with a flag that indicates whether it is
/// 0.
fn edge_zeros(config: &Config) -> Vec<(&'static str, bool)> {
    let Config { server, database, .. } = config;
    vec![
        ("server.json_body_max_bytes", server.json_body_max_bytes == 0),
        ("server.upload_max_bytes", server.upload_max_bytes == 0),
        ("server.request_timeout_seconds", server.request_timeout_seconds.is_zero()),
        ("database.read_connections", database.read_connections == 0),
        ("database.statement_timeout_seconds", database.statement_timeout_seconds.is_zero()),
        ("auth.session_idle_timeout_hours", config.auth.session_idle_timeout_hours.is_zero()),
        ("auth.session_max_age_days", config.auth.session_max_age_days.is_zero()),
        ("server.header_timeout_seconds", server.header_timeout_seconds.is_zero()),
        ("server.max_headers", server.max_headers == 0),
        ("server.keep_alive_timeout_seconds", server.keep_alive_timeout_seconds.is_zero()),
        ("server.body_idle_timeout_seconds", server.body_idle_timeout_seconds.is_zero()),
        ("server.max_connections", server.max_connections == 0),
        ("server.max_concurrent_requests", server.max_concurrent_requests == 0),
        ("server.max_connections_per_address", server.max_connections_per_address == 0),
        ("server.max_unfinished_bodies_per_client", server.max_unfinished_bodies_per_client == 0),
        ("server.body_min_bytes_per_second", server.body_min_bytes_per_second == 0),
        ("redis.timeout_seconds", config.redis.timeout_seconds.is_zero()),
        ("redis.stream_max_entries", config.redis.stream_max_entries == 0),
        ("limits.max_queued_commands", config.limits.max_queued_commands == 0),
        ("limits.staff_requests_per_minute", config.limits.staff_requests_per_minute == 0),
        ("limits.customer_requests_per_minute", config.limits.customer_requests_per_minute == 0),
        ("limits.anonymous_requests_per_minute", config.limits.anonymous_requests_per_minute == 0),
        ("limits.login_attempts_per_15_minutes", config.limits.login_attempts_per_15_minutes == 0),
        ("limits.account_attempts_per_15_minutes", config.limits.account_attempts_per_15_minutes == 0),
        ("limits.agent_commands_per_minute", config.limits.agent_commands_per_minute == 0),
        ("limits.sign_in_links_of_email_per_15_minutes", config.limits.sign_in_links_of_email_per_15_minutes == 0),
        ("limits.sign_in_links_of_address_per_15_minutes", config.limits.sign_in_links_of_address_per_15_minutes == 0),
        ("limits.draft_orders_per_hour", config.limits.draft_orders_per_hour == 0),
        ("limits.order_checkouts_per_hour", config.limits.order_checkouts_per_hour == 0),
        ("limits.intakes_per_hour", config.limits.intakes_per_hour == 0),
        ("limits.exports_per_hour", config.limits.exports_per_hour == 0),
        ("limits.rate_limit_max_entries", config.limits.rate_limit_max_entries == 0),
    ]
}

/// Returns the names of the shop and connection settings that must not be 0, each with a flag that indicates whether it
/// is 0.
fn shop_zeros(config: &Config) -> Vec<(&'static str, bool)> {
    let Config { dispatch, printers, webhooks, .. } = config;
    vec![
        ("slicing.max_parallel", config.slicing.max_parallel == 0),
        ("pricing.model_max_bytes", config.pricing.model_max_bytes == 0),
        ("pricing.print_mm3_per_hour", config.pricing.print_mm3_per_hour == 0),
        ("pricing.quote_valid_days", config.pricing.quote_valid_days == 0),
        ("slicing.timeout_seconds", config.slicing.timeout_seconds.is_zero()),
        ("slicing.recheck_seconds", config.slicing.recheck_seconds.is_zero()),
        ("orders.max_jobs_per_order", config.orders.max_jobs_per_order == 0),
        ("dispatch.confirm_seconds", dispatch.confirm_seconds.is_zero()),
        ("dispatch.refusals_until_failed", dispatch.refusals_until_failed == 0),
        ("printers.poll_interval_seconds", printers.poll_interval_seconds.is_zero()),
        ("printers.offline_seconds", printers.offline_seconds.is_zero()),
        ("printers.connect_timeout_seconds", printers.connect_timeout_seconds.is_zero()),
        ("printers.request_timeout_seconds", printers.request_timeout_seconds.is_zero()),
        ("printers.camera_timeout_seconds", printers.camera_timeout_seconds.is_zero()),
        ("printers.upload_min_bytes_per_second", printers.upload_min_bytes_per_second == 0),
        ("webhooks.connect_timeout_seconds", webhooks.connect_timeout_seconds.is_zero()),
        ("webhooks.delivery_timeout_seconds", webhooks.delivery_timeout_seconds.is_zero()),
        ("integrations.request_timeout_seconds", config.integrations.request_timeout_seconds.is_zero()),
        ("integrations.retry_first_seconds", config.integrations.retry_first_seconds.is_zero()),
        ("stock_sync.interval_seconds", config.stock_sync.interval_seconds.is_zero()),
        ("integrations.check_interval_seconds", config.integrations.check_interval_seconds.is_zero()),
        ("smart_home.push_interval_seconds", config.smart_home.push_interval_seconds.is_zero()),
        ("failure_detection.look_interval_seconds", config.failure_detection.look_interval_seconds.is_zero()),
        ("failure_detection.frames_in_a_row", config.failure_detection.frames_in_a_row == 0),
        ("accounting.interval_seconds", config.accounting.interval_seconds.is_zero()),
        ("payments.signature_tolerance_seconds", config.payments.signature_tolerance_seconds.is_zero()),
    ]
}

fn numbers(config: &Config, problems: &mut Vec<String>) {
    let Config { server, webhooks, .. } = config;
    for (key, zero) in edge_zeros(config).into_iter().chain(shop_zeros(config)) {
        if zero {
            problems.push(format!("{key} must be greater than 0"));
        }
    }
    if server.header_max_bytes < MIN_HEADER_BYTES {
        problems.push(format!("server.header_max_bytes must be at least {MIN_HEADER_BYTES} bytes"));
    }
    if config.slicing.memory_max_bytes < MIN_SLICER_BYTES {
        problems.push(format!("slicing.memory_max_bytes must be at least {MIN_SLICER_BYTES}"));
    }
    if config.quality.max_reprints > MAX_REPRINTS {
        problems.push(format!("quality.max_reprints must be at most {MAX_REPRINTS}"));
    }
    if config.shipping.flat_cents < 0 {
        problems.push("shipping.flat_cents must not be negative".to_owned());
    }
    if !(1..=DELIVERY_WINDOW).contains(&webhooks.max_concurrent_per_endpoint) {
        problems.push(format!("webhooks.max_concurrent_per_endpoint must be from 1 to {DELIVERY_WINDOW}"));
    }
    if config.webhooks.retry_schedule_seconds.is_empty() {
        problems.push("webhooks.retry_schedule_seconds must contain at least one delay".to_owned());
    }
}

fn words(config: &Config, problems: &mut Vec<String>) {
    let currency = &config.orders.currency;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_lowercase()) {
        problems.push(format!("orders.currency must be three lowercase letters, not \"{currency}\""));
    }
    if !SITES.contains(&config.orders.default_site.as_str()) {
        problems.push(format!(
            "orders.default_site must be one of {}, not \"{}\"",
            SITES.join(", "),
            config.orders.default_site
        ));
    }
    for rate in &config.tax.rates {
        if rate.country.len() != 2 || !rate.country.bytes().all(|byte| byte.is_ascii_uppercase()) {
            problems.push(format!("tax.rates: country must be two uppercase letters, not \"{}\"", rate.country));
        }
        if rate.bps > 10_000 {
            problems.push(format!("tax.rates: bps must be at most 10000 (100 %), not {}", rate.bps));
        }
    }
    let networks =
        [("trusted_proxies", &config.server.trusted_proxies), ("blocked_addresses", &config.server.blocked_addresses)];
    for (name, network) in networks.into_iter().flat_map(|(name, all)| all.iter().map(move |one| (name, one))) {
        if let Err(error) = network.parse::<Network>() {
            problems.push(format!("server.{name}: \"{network}\" {error}"));
        }
    }
    for origin in &config.server.cors_origins {
        let is_one =
            Url::parse(origin).is_ok_and(|url| url.has_host() && url.origin().ascii_serialization() == *origin);
        if !is_one {
            problems
                .push(format!("server.cors_origins: \"{origin}\" is not an origin such as https://shop.example.com"));
        }
    }
    let reasons = &config.quality.reasons;
    let word = |reason: &String| !reason.trim().is_empty() && reason.chars().count() <= MAX_REASON_CHARS;
    if !(1..=MAX_REASONS).contains(&reasons.len()) || !reasons.iter().all(word) {
        problems.push(format!(
            "quality.reasons must contain 1 to {MAX_REASONS} entries of at most {MAX_REASON_CHARS} characters"
        ));
    }
    for address in &config.mail.operators {
        if !address.contains('@') {
            problems.push(format!("mail.operators: \"{address}\" is not an email address"));
        }
    }
}

fn integration_words(config: &Config, problems: &mut Vec<String>) {
    if HeaderName::from_bytes(config.payments.signature_header.as_bytes()).is_err() {
        problems.push("payments.signature_header is not a valid HTTP header name".to_owned());
    }
    if HeaderName::from_bytes(config.workflow.token_header.as_bytes()).is_err() {
        problems.push("workflow.token_header is not a valid HTTP header name".to_owned());
    }
    for event in &config.workflow.events {
        if event != LOW_STOCK && OutboundEvent::of(event).is_none() {
            problems.push(format!(
                "workflow.events: \"{event}\" is not an event; events are {}, {LOW_STOCK}",
                OUTBOUND.join(", ")
            ));
        }
    }
    for (key, topic) in [
        ("smart_home.mqtt_topic", &config.smart_home.mqtt_topic),
        ("smart_home.mqtt_discovery_prefix", &config.smart_home.mqtt_discovery_prefix),
    ] {
        if topic.is_empty() || topic.len() > MAX_TOPIC_BYTES || topic.contains(['+', '#', '\0', ' ']) {
            problems.push(format!("{key} must be a topic prefix without +, # or spaces"));
        }
    }
    if let Some(entry) = config.accounting.unreadable_tax_type() {
        problems.push(format!(
            "accounting.tax_types: \"{entry}\" must be a rate from 0 to 10000 with its tax type, such as 1900=OUTPUT"
        ));
    }
    let detection = &config.failure_detection;
    let (alert, pause) = (detection.alert_threshold, detection.pause_threshold);
    if !(0.0 < alert && alert <= pause && pause <= 1.0) {
        problems.push(
            "failure_detection: thresholds must be above 0 and at most 1, and pause_threshold must not be below alert_threshold"
                .to_owned(),
        );
    }
}

fn log_filter(config: &Config, problems: &mut Vec<String>) {
    if let Err(error) = EnvFilter::try_new(&config.log.filter) {
        problems.push(format!("log.filter: {error} ({})", layers::variable_of("log.filter")));
    }
}
