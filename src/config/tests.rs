#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::time::Duration;

use super::layers::{SECRETS, VARIABLES, variable_of};
use super::sections::{LogFormat, TaxRateConfig};
use super::*;

/// Working directory with all files that loading needs.
struct App {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
    file: Option<PathBuf>,
    overrides: Vec<(&'static str, String)>,
}

fn shop() -> App {
    App { folder: tempfile::tempdir().unwrap(), env: Vec::new(), file: None, overrides: Vec::new() }
}

impl App {
    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    fn load(&self) -> Result<LoadedConfig, ConfigError> {
        Config::load(LoadOptions {
            file: self.file.clone(),
            env: self.env.clone(),
            cwd: self.folder.path().to_owned(),
            overrides: self.overrides.clone(),
        })
    }

    fn config(&self) -> Config {
        self.load().unwrap().config
    }

    fn refusal(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    fn in_production(self) -> Self {
        self.env("PRINTFLOOR_ENV", "production")
            .env("SESSION_SECRET", "0123456789abcdef0123456789abcdef")
            .env("API_KEY_SALT", "salt")
            .env("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
            .env("DATABASE_URL", "postgres://shop:hunter2@db.example/shop")
            .env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://print.example")
    }
}

#[test]
fn the_shipped_file_says_what_the_specifications_say() {
    let config = Config::default();
    assert_eq!(config.server.listen, "127.0.0.1:8787".parse().unwrap());
    assert_eq!(config.server.json_body_max_bytes, 1024 * 1024);
    assert_eq!(config.server.upload_max_bytes, 1024 * 1024 * 1024);
    assert_eq!(config.auth.session_idle_timeout_hours.duration(), Duration::from_hours(12));
    assert_eq!(config.auth.session_max_age_days.duration(), Duration::from_hours(7 * 24));
    assert_eq!(config.limits.max_queued_commands, 512);
    assert!(config.inventory.block_below_reorder_point);
    assert_eq!((config.orders.currency.as_str(), config.orders.max_jobs_per_order), ("usd", 1000));
    assert_eq!(
        (config.dispatch.confirm_seconds.duration(), config.dispatch.refusals_until_failed),
        (Duration::from_secs(90), 3)
    );
    let minutes = [1, 5, 25, 120, 600].map(Duration::from_mins);
    assert_eq!(config.webhooks.retry_schedule_seconds.iter().map(|wait| wait.duration()).collect::<Vec<_>>(), minutes);
    assert_eq!(config.webhooks.delivery_timeout_seconds.duration(), Duration::from_secs(15));
    assert!(!config.webhooks.allow_private_targets);
    assert_eq!(config.payments.signature_header, "Stripe-Signature");
    assert_eq!(config.payments.signature_tolerance_seconds.duration(), Duration::from_mins(5));
    assert_eq!(config.log.format, LogFormat::Auto);
    assert_eq!(checks::problems(&config), Vec::<String>::new());
}

#[test]
fn a_load_without_sources_is_the_shipped_file() {
    let config = shop().config();
    assert_eq!(config, Config::default());
    assert!(config.secrets_key().is_none(), "secrets are not made by loading");
    assert_eq!(config.public_url(), "http://127.0.0.1:8787");
    assert_eq!(config.database_url().expose(), "sqlite://data/printfloor.db?mode=rwc");
    assert_eq!((config.files_dir(), config.outbox_dir()), ("data/files".into(), "data/outbox".into()));
}

#[test]
fn the_rules_follow_the_settings() {
    let rules = shop()
        .env("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "0.5")
        .env("PRINTFLOOR_TAX__RATES", "[{country=\"DE\", bps=1900}]");
    let rules = rules.config().rules();
    assert_eq!((rules.confirm_ms, rules.tax_rates[0].bps), (500, 1900));
}

#[test]
fn every_setting_of_the_shipped_file_is_explained() {
    let mut explained = false;
    for line in DEFAULTS.lines() {
        explained = match line {
            line if line.starts_with('#') => true,
            line if line.is_empty() || line.starts_with('[') => false,
            line => {
                assert!(explained, "no comment above {line}");
                true
            }
        };
    }
}

#[test]
fn every_setting_has_a_variable_that_sets_it() {
    let known_settings = KnownSettings::new().unwrap();
    let names: Vec<_> = known_settings.keys().map(|key| (variable_of(key), "x".to_owned())).collect();
    let (layers, unknown) = known_settings.layers(&names, "the environment");
    assert_eq!((layers.len(), unknown), (names.len(), vec![]));
    for (name, key) in VARIABLES {
        assert!(known_settings.keys().any(|candidate| candidate == key), "{name} sets {key}, which does not exist");
    }
}

#[test]
fn later_sources_win() {
    let mut shop = shop().with("printfloor.toml", "[server]\njson_body_max_bytes = 1\nupload_max_bytes = 1\n");
    assert_eq!(shop.config().server.json_body_max_bytes, 1);
    shop = shop.with("other.toml", "[server]\njson_body_max_bytes = 2\n");
    shop.file = Some("other.toml".into());
    let server = shop.config().server;
    assert_eq!(
        (server.json_body_max_bytes, server.upload_max_bytes),
        (2, 1 << 30),
        "--config replaces printfloor.toml"
    );
    shop = shop.with(".env", "PRINTFLOOR_SERVER__JSON_BODY_MAX_BYTES=3\n");
    assert_eq!(shop.config().server.json_body_max_bytes, 3);
    shop = shop.env("PRINTFLOOR_SERVER__JSON_BODY_MAX_BYTES", "4");
    assert_eq!(shop.config().server.json_body_max_bytes, 4);
    shop.overrides.push(("server.json_body_max_bytes", "5".to_owned()));
    assert_eq!(shop.config().server.json_body_max_bytes, 5);
}

#[test]
fn variables_are_read_as_what_the_setting_is() {
    let config = shop()
        .env("SMTP_PASS", "12345")
        .env("SMTP_PORT", "2525")
        .env("SMTP_HOST", "")
        .env("DATABASE_URL", "sqlite:/srv/a.db")
        .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.05")
        .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "1, 0.5")
        .env("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true")
        .env("PRINTFLOOR_MAIL__OPERATORS", "a@b.example,c@d.example")
        .env("PRINTFLOOR_TAX__RATES", "[{country=\"DE\", bps=1900}]")
        .env("PRINTFLOOR_DATABASE__URL", "sqlite:/srv/b.db")
        .config();
    assert_eq!((config.mail.smtp_password.expose(), config.mail.smtp_port), ("12345", 2525));
    assert_eq!(config.database_url().expose(), "sqlite:/srv/b.db");
    assert_eq!(config.printers.poll_interval_seconds.duration(), Duration::from_millis(50));
    assert_eq!(
        config.webhooks.retry_schedule_seconds.iter().map(|wait| wait.duration().as_millis()).collect::<Vec<_>>(),
        [1000, 500]
    );
    assert!(config.webhooks.allow_private_targets);
    assert_eq!(config.mail.operators, ["a@b.example", "c@d.example"]);
    assert_eq!(config.tax.rates, [TaxRateConfig { country: "DE".to_owned(), region: None, bps: 1900 }]);
}

#[test]
fn every_unknown_name_of_a_file_is_told_with_its_line_and_what_was_meant() {
    let text = "mode = \"x\"\nlisten = \"x\"\n\n[server]\nlisen = 1\njson_body_max_bytes = \"many\"\n\n[maill]\n\n\
                [mail]\nsmtp_host = \"a\"\nxyz = 1\noperator = []\n";
    let refusal = shop().with("printfloor.toml", text).refusal();
    for line in [
        "mode (printfloor.toml, line 1) is not a setting",
        "listen (printfloor.toml, line 2) is not a setting; did you mean server.listen?",
        "server.lisen (printfloor.toml, line 5) is not a setting; did you mean server.listen?",
        "server.json_body_max_bytes (printfloor.toml, line 6): must be a whole number, 0 or more, not string \"many\"",
        "maill (printfloor.toml, line 8) is not a section of settings; did you mean mail?",
        "mail.xyz (printfloor.toml, line 12) is not a setting",
        "mail.operator (printfloor.toml, line 13) is not a setting; did you mean mail.operators?",
    ] {
        assert!(refusal.lines().any(|actual| actual.trim_start_matches("  - ") == line), "{line}:\n{refusal}");
    }
    assert_eq!(refusal.lines().count(), 8, "{refusal}");
}

#[test]
fn an_unknown_variable_is_told_with_what_was_meant() {
    let loaded = shop()
        .env("PRINTFLOOR_SERVER__LISSTEN", "x")
        .env("PRINTFLOOR_TEST_POSTGRES", "x")
        .env("printfloor_server__listen", "x")
        .env("OTHER", "x")
        .load()
        .unwrap();
    let warnings: Vec<_> = loaded.warnings.iter().filter(|warning| warning.contains("environment")).collect();
    assert_eq!(
        warnings,
        [
            "PRINTFLOOR_SERVER__LISSTEN in the environment has no effect, because there is no such setting; did you mean \
          PRINTFLOOR_SERVER__LISTEN?"
        ]
    );
}

#[test]
fn the_value_of_a_secret_is_told_nowhere() {
    let text = "[auth]\nsecrets_key = 424242\n[mail]\nsmtp_password = 424242\n";
    let refusal = shop().with("printfloor.toml", text).refusal();
    assert!(refusal.contains("auth.secrets_key (printfloor.toml, line 2)") && !refusal.contains("424242"), "{refusal}");
    // What `printfloor config` hides is what has the type of a secret.
    let known_settings = KnownSettings::new().unwrap();
    let marked: Vec<_> = SECRETS.iter().map(|key| (variable_of(key), format!("sqlite:hidden {key}"))).collect();
    let (layers, _) = known_settings.layers(&marked, "");
    let figment = layers.into_iter().fold(Figment::from(known_settings.shipped()), Figment::merge);
    let config: Config = figment.extract().unwrap();
    let debug = format!("{config:?}");
    assert_eq!((debug.matches("***").count(), debug.contains("hidden")), (SECRETS.len(), false), "{debug}");
    assert!(!debug.contains("unset"), "a secret is missing in the list: {debug}");
}

#[test]
fn what_is_set_is_shown_with_its_source_and_loads_again() {
    let shop = shop()
        .with("printfloor.toml", "[server]\nkeep_alive_timeout_seconds = 0.5\n")
        .with(".env", "SMTP_PASS=hunter2\n")
        .env("PRINTFLOOR_MAIL__OPERATORS", "a@b.example,c@d.example")
        .env("PRINTFLOOR_TAX__RATES", "[{country=\"DE\", bps=1900}]");
    let given_settings = shop.load().unwrap().given_settings;
    let changed = listing::changed(&given_settings);
    let expected = "mail.operators = [\"a@b.example\", \"c@d.example\"]  # PRINTFLOOR_MAIL__OPERATORS in the environment\n\
                    mail.smtp_password = \"***\"  # SMTP_PASS in .env\n\
                    server.keep_alive_timeout_seconds = 0.5  # printfloor.toml\n\
                    tax.rates = [{ bps = 1900, country = \"DE\" }]  # PRINTFLOOR_TAX__RATES in the environment\n";
    assert_eq!(changed, expected);
    let whole = listing::whole(&given_settings);
    assert!(whole.contains("# Set by printfloor.toml; default: 75\nkeep_alive_timeout_seconds = 0.5\n"), "{whole}");
    let again = self::shop().with("printfloor.toml", &whole.replace("***", "hunter2"));
    assert_eq!(again.config(), shop.config());
    assert_eq!(listing::whole(&BTreeMap::new()), DEFAULTS);
}

#[test]
fn settings_without_effect_are_told() {
    let seller = |shop: App| {
        let parts = [("NAME", "Shop"), ("LINE1", "Weg 1"), ("CITY", "Ulm"), ("COUNTRY", "de")];
        parts
            .into_iter()
            .fold(shop, |shop, (part, text)| shop.env(&format!("PRINTFLOOR_INVOICES__SELLER_{part}"), text))
    };
    let doubts = |shop: App| shop.load().unwrap().warnings;
    let nobody = doubts(shop());
    assert!(matches!(&nobody[..], [one] if one.contains("name, street and number, city and country")), "{nobody:?}");
    let shop = || seller(self::shop());
    let warnings = doubts(shop().env("SMTP_PASS", "x"));
    assert_eq!(warnings, ["SMTP_PASS is set without SMTP_HOST: emails are written to files instead of being sent"]);
    assert!(doubts(shop().env("SMTP_HOST", "mail.example").env("SMTP_PASS", "x"))[0].contains("SMTP_USER"));
    assert_eq!(doubts(shop().env("SMTP_HOST", "mail.example")), Vec::<String>::new());
    let taxed = || shop().env("PRINTFLOOR_TAX__RATES", "[{country=\"DE\", bps=1900}]");
    let warnings = doubts(taxed());
    assert!(matches!(&warnings[..], [one] if one.contains("require the shop's VAT ID or tax number;")), "{warnings:?}");
    assert_eq!(doubts(taxed().env("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "de 1")), Vec::<String>::new());
}

#[test]
fn errors_name_the_setting_and_its_source() {
    let refusal = shop().env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "soon").refusal();
    assert_eq!(
        refusal,
        "invalid settings: printers.poll_interval_seconds (PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS in the \
         environment): must be a number, not string \"soon\""
    );
    let mut shop = shop();
    shop.file = Some("absent.toml".into());
    assert!(shop.refusal().ends_with("absent.toml: there is no such file or folder"), "{}", shop.refusal());
    shop = shop.with("absent.toml", "[server");
    assert!(shop.refusal().contains("is not valid TOML: line 1: "), "{}", shop.refusal());
    shop = shop.with("absent.toml", "").with(".env", "A=1\nhunter2\n");
    let refusal = shop.refusal();
    assert!(refusal.contains(".env: line 2: expected NAME=value") && !refusal.contains("hunter2"), "{refusal}");
}

#[test]
fn secrets_beside_the_data_are_used_where_no_other_source_sets_them() {
    let shop = shop().with(".env", "API_KEY_SALT=pepper\n").env("PRINTFLOOR_SERVER__DATA_DIR", "stuff");
    fs::create_dir(shop.folder.path().join("stuff")).unwrap();
    let shop =
        shop.with("stuff/secrets.env", "API_KEY_SALT=salt\nSESSION_SECRET=0123456789abcdef0123456789abcdef\nX=1\n");
    let loaded = shop.load().unwrap();
    let auth = &loaded.config.auth;
    assert_eq!((auth.api_key_salt.expose(), auth.session_secret.expose().len()), ("pepper", 32));
    assert!(auth.secrets_key.is_empty());
    assert!(
        loaded.warnings[0].starts_with("X in ") && loaded.warnings[0].contains("no effect"),
        "{:?}",
        loaded.warnings
    );
    assert!(
        loaded.given_settings["auth.session_secret"].source.ends_with("stuff/secrets.env"),
        "{:?}",
        loaded.given_settings
    );
    assert!(!format!("{loaded:?}").contains("0123456789abcdef"));
}

#[test]
fn loading_writes_nothing() {
    let shop = shop();
    shop.load().unwrap();
    assert_eq!(fs::read_dir(shop.folder.path()).unwrap().count(), 0);
}

#[test]
fn production_starts_with_everything_set_and_writes_no_file() {
    let shop = shop().in_production();
    let loaded = shop.load().unwrap();
    assert_eq!((loaded.config.mode, shop.folder.path().join(".env").exists()), (Mode::Production, false));
    assert_eq!(loaded.config.public_url(), "https://print.example");
    assert!(!format!("{loaded:?}").contains("hunter2"));
}

#[test]
fn production_names_everything_that_is_missing() {
    let refusal = shop().with(".env", "PRINTFLOOR_ENV=production\n").refusal();
    for name in ["SESSION_SECRET", "API_KEY_SALT", "SECRETS_KEY", "DATABASE_URL", "PRINTFLOOR_SERVER__PUBLIC_URL"] {
        assert!(refusal.contains(&format!("{name} is required in production")), "{name}: {refusal}");
    }
    for (name, _) in shop().in_production().env.iter().skip(1) {
        let mut lacking = shop().in_production();
        lacking.env.retain(|(other, _)| other != name);
        assert_eq!(lacking.refusal().lines().count(), 1, "without {name}");
    }
}

#[test]
fn production_wants_postgresql() {
    let refusal = shop().in_production().env("PRINTFLOOR_DATABASE__URL", "sqlite:data/a.db").refusal();
    assert!(refusal.contains("must be a postgres:// address in production"), "{refusal}");
}

#[test]
fn unusable_values_are_refused_together_in_every_mode() {
    let refusal = shop()
        .env("SESSION_SECRET", "0123456789abcdef0123456789abcde")
        .env("SECRETS_KEY", "c2hvcnQ=")
        .env("SECRETS_KEY_OLD", "c2hvcnQ=")
        .env("DATABASE_URL", "mysql://x")
        .env("REDIS_URL", "x")
        .env("PRINTFLOOR_SERVER__PUBLIC_URL", "http://a.example/")
        .env("PRINTFLOOR_ORDERS__DEFAULT_SITE", "moon")
        .env("PRINTFLOOR_ORDERS__CURRENCY", "USD")
        .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0")
        .env("PRINTFLOOR_LOG__FILTER", "a=b=c")
        .refusal();
    assert_eq!(refusal.lines().count(), 11, "{refusal}");
    assert!(refusal.contains("SESSION_SECRET must be at least 32 characters"), "{refusal}");
    assert!(shop().in_production().env("PRINTFLOOR_AUTH__SESSION_SECRET", "short").refusal().contains("32 characters"));
    assert!(shop().env("PRINTFLOOR_ENV", "prod").refusal().contains("development or production"));
}

#[test]
fn a_database_may_have_several_hosts() {
    let url = "postgres://shop:hunter2@a:5432,b:5433/shop?target_session_attrs=read-write";
    assert_eq!(shop().env("DATABASE_URL", url).config().database_url().expose(), url);
    let refusal = shop().env("DATABASE_URL", "postgres://shop:hunter2@a:5432,b:x/shop").refusal();
    assert!(
        refusal.contains("DATABASE_URL has an invalid port for host 2") && !refusal.contains("hunter2"),
        "{refusal}"
    );
}

#[test]
fn an_automatic_log_is_text_for_people_only() {
    assert!(!LogFormat::Auto.is_json(Mode::Development, true));
    assert!(LogFormat::Auto.is_json(Mode::Development, false));
    assert!(LogFormat::Auto.is_json(Mode::Production, true));
    assert!(LogFormat::Json.is_json(Mode::Development, true));
    assert!(!LogFormat::Text.is_json(Mode::Production, false));
}

#[test]
fn keys_of_a_real_shop_can_be_told_by_their_prefix() {
    assert_eq!([Mode::Production, Mode::Development].map(Mode::key_prefix), ["key_live_", "key_test_"]);
}

#[test]
fn a_time_zone_that_this_machine_does_not_have_is_a_fault_in_words() {
    let refusal = shop().env("PRINTFLOOR_SHOP__TIME_ZONE", "Nowhere/At all").refusal();
    assert!(refusal.contains("shop.time_zone") && refusal.contains("is not a time zone of this server"), "{refusal}");
    let tokyo = shop().env("PRINTFLOOR_SHOP__TIME_ZONE", "JST-9").config();
    assert_eq!(tokyo.rules().clock.time(domain::time::Timestamp(0)), "09:00");
}
