//! Changes to settings. They are written to `.env` if the settings as a whole remain valid, and take effect at the next
//! start.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::configured_setting::ConfiguredSetting;
use super::dotenv::{self, DotenvError};
use super::layers::{KnownSettings, VARIABLES, variable_of};
use super::listing;
use super::{Config, ConfigError, DOTENV, LoadOptions, LoadedConfig, Origin, renames};

/// Suffix of the backup copy of the previous `.env`.
const FORMER: &str = ".bak";
/// Settings that cannot be changed here, because existing data depends on them.
const BOUND_TO_DATA: [&str; 4] = ["auth.api_key_salt", "auth.secrets_key", "auth.secrets_key_old", "server.data_dir"];

/// Settings that specify a program that the server runs. A client that could change such a setting could run any
/// program on the server.
const PROGRAMS: [&str; 1] = ["slicing.program"];

/// Change to a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Name of the setting (`section.key`).
    pub key: String,
    /// New value, as the text of a variable; empty to fall back to the other sources or the default.
    pub text: String,
}

/// Reason that the settings cannot be changed. Messages never reveal the value of a secret.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Invalid changes: the name of each setting, as the caller wrote it, with a description of the error.
    #[error("some of the changes are invalid")]
    Faults(Vec<(String, String)>),
    /// The settings as a whole are invalid with the changes.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The current `.env` contains an invalid line.
    #[error(".env: {0}")]
    Dotenv(#[from] DotenvError),
    /// A file cannot be read or written.
    #[error(".env cannot be read or written")]
    Io(#[from] io::Error),
    /// The settings were not loaded from sources, so there is no `.env` to change.
    #[error("this server's settings cannot be changed through the API")]
    NoOrigin,
}

/// Value that has no effect because a different source overrides `.env`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShadowedValue {
    /// Name of the setting.
    pub key: String,
    /// Source that overrides the value in `.env`.
    pub by: String,
}

/// Valid changes that have not been written yet.
pub struct PlannedChanges {
    /// Settings as the next start would load them.
    pub config: Config,
    /// Variables to write, in the order of the changes.
    pub variables: Vec<String>,
    /// Changes that have no effect.
    pub shadowed: Vec<ShadowedValue>,
    /// Names of the settings whose new value differs from the one in effect; they take effect after a restart.
    pub restart: Vec<String>,
    file: PathBuf,
    former: Option<String>,
    text: String,
}

impl PlannedChanges {
    /// Replaces `.env` atomically and keeps the previous version next to it as a backup. Only the owner can access the
    /// two files.
    pub fn write(&self) -> io::Result<()> {
        if let Some(former) = &self.former {
            let mut name = self.file.clone().into_os_string();
            name.push(FORMER);
            dotenv::write(Path::new(&name), former)?;
        }
        dotenv::write(&self.file, &self.text)
    }
}

/// Resolves a name to a setting. The name can be `section.key` or a current or former variable of the setting. Returns
/// `None` if there is no such setting.
pub fn key_of(name: &str) -> Option<String> {
    let known_settings = KnownSettings::new().ok()?;
    if known_settings.has(name) {
        return Some(name.to_owned());
    }
    known_settings
        .key_of(name)
        .or_else(|| renames::new_name(name).or_else(|| renames::of_variable(name)).map(str::to_owned))
}

/// Converts a JSON value to the text of a variable; null stands for the default. The error message is a predicate: the
/// setting's name precedes it.
pub fn text_of(key: &str, value: &Value) -> Result<String, &'static str> {
    use figment::value::Value as Kind;
    let known_settings = KnownSettings::new().map_err(|_| "is not a setting")?;
    let listed = |item: &Value| match item {
        Value::String(text) if text.chars().any(|c| matches!(c, '"' | '\\') || c.is_control()) => None,
        Value::String(text) => Some(format!("\"{text}\"")),
        Value::Bool(_) | Value::Number(_) => Some(item.to_string()),
        _ => None,
    };
    match (known_settings.default_of(key), value) {
        (None, _) => Err("is not a setting"),
        (_, Value::Null) => Ok(String::new()),
        (Some(Kind::String(..)), Value::String(text)) if text.contains('\0') => Err("must not contain a NUL character"),
        (Some(Kind::String(..)), Value::String(text)) => Ok(text.clone()),
        (Some(Kind::String(..)), _) => Err("must be a string or null"),
        (Some(Kind::Bool(..)), Value::Bool(yes)) => Ok(yes.to_string()),
        (Some(Kind::Bool(..)), _) => Err("must be true, false or null"),
        (Some(Kind::Num(..)), Value::Number(number)) => Ok(number.to_string()),
        (Some(Kind::Num(..)), _) => Err("must be a number or null"),
        (Some(Kind::Array(..)), Value::Array(items)) => {
            let items: Option<Vec<String>> = items
                .iter()
                .map(|item| match item {
                    Value::Object(members) => {
                        let members: Option<Vec<String>> =
                            members.iter().map(|(name, value)| Some(format!("{name} = {}", listed(value)?))).collect();
                        Some(format!("{{ {} }}", members?.join(", ")))
                    }
                    other => listed(other),
                })
                .collect();
            items.map(|items| format!("[{}]", items.join(", "))).ok_or("contains a value that is not allowed in a list")
        }
        _ => Err("must be a list or null"),
    }
}

/// Validates the changes together with all other settings. Writes nothing.
pub fn plan(origin: &Origin, changes: &[Change]) -> Result<PlannedChanges, ChangeError> {
    let options = origin.options().ok_or(ChangeError::NoOrigin)?;
    let bound = changes.iter().filter(|change| BOUND_TO_DATA.contains(&change.key.as_str()));
    let bound =
        bound.map(|change| (change.key.clone(), "cannot be changed, because the data depends on it".to_owned()));
    let programs = changes.iter().filter(|change| PROGRAMS.contains(&change.key.as_str()));
    let words = "names a program that the server runs; change it on the server's machine, in printfloor.toml or .env";
    let programs = programs.map(|change| (change.key.clone(), words.to_owned()));
    let refused: Vec<_> = bound.chain(programs).collect();
    if !refused.is_empty() {
        return Err(ChangeError::Faults(refused));
    }
    let file = options.dotenv();
    let former = match fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let present = dotenv::parse(former.as_deref().unwrap_or_default())?;
    let names: Vec<String> = changes.iter().map(|change| variable(&change.key, &present)).collect();
    // An empty variable counts as not set; one that is not there is not added only to be empty. Whoever takes a value
    // away takes it from both variables of the setting.
    let there = |name: &str| present.iter().any(|(variable, _)| variable == name);
    let mut values: Vec<(&str, &str)> = Vec::new();
    for (name, change) in names.iter().zip(changes) {
        if !change.text.is_empty() || there(name) {
            values.push((name.as_str(), change.text.as_str()));
        }
        let short = short_variable_of(&change.key).filter(|short| change.text.is_empty() && short != name);
        values.extend(short.filter(|short| there(short)).map(|short| (short, "")));
    }
    // The new name wins; a former one that stays beside it would only be warned of.
    let counts = |variable: &str| present.iter().rfind(|(name, text)| name == variable && !text.is_empty());
    let replaced: Vec<String> = changes.iter().flat_map(|change| renames::former_variables(&change.key)).collect();
    values.extend(replaced.iter().filter(|name| counts(name).is_some()).map(|name| (name.as_str(), "")));
    let text = dotenv::with_values(former.as_deref().unwrap_or_default(), &values);
    let assigned = dotenv::parse(&text)?;
    let LoadedConfig { config, .. } = Config::load_with(LoadOptions::clone(options), &assigned)?;
    let known_settings = KnownSettings::new().map_err(io::Error::other)?;
    let mut shadowed: Vec<ShadowedValue> = Vec::new();
    let mut restart = Vec::new();
    for (name, change) in names.iter().zip(changes) {
        let (next, in_force) = (config.origin.given_setting(&change.key), origin.given_setting(&change.key));
        let here = format!("{name} in {DOTENV}");
        let wins = |next: &&ConfiguredSetting| match change.text.as_str() {
            // Nothing is to set it, so that it would have its default.
            "" => known_settings.default_of(&change.key).is_none_or(|default| listing::toml(default) != next.text),
            _ => next.source != here,
        };
        if let Some(next) = next.filter(wins) {
            shadowed.push(ShadowedValue { key: change.key.clone(), by: next.source.clone() });
        }
        // Texts of secrets are all alike: what counted in `.env` is compared, of two variables the long one.
        let short = short_variable_of(&change.key).and_then(counts);
        let replaced = || renames::former_variables(&change.key).find_map(|name| counts(&name));
        let long = counts(&variable_of(&change.key));
        let written = long.or(short).or_else(replaced).map_or("", |(_, text)| text.as_str());
        let changed = if KnownSettings::is_secret(&change.key) {
            written != change.text && shadowed.last().is_none_or(|last| last.key != change.key)
        } else {
            next.map(|setting| &setting.text) != in_force.map(|setting| &setting.text)
        };
        if changed {
            restart.push(change.key.clone());
        }
    }
    let variables = values.iter().map(|(name, _)| (*name).to_owned()).collect();
    Ok(PlannedChanges { config, variables, shadowed, restart, file, former, text })
}

/// Returns the variable to write for a setting: the one already in `.env` or, if neither is, the short one if it exists
/// and otherwise the long one, which every setting has.
fn variable(key: &str, present: &[(String, String)]) -> String {
    let long = variable_of(key);
    match short_variable_of(key) {
        // Of two variables of one setting the long one wins.
        Some(short) if !present.iter().any(|(name, _)| *name == long) => short.to_owned(),
        _ => long,
    }
}

fn short_variable_of(key: &str) -> Option<&'static str> {
    VARIABLES.iter().find(|(_, full_key)| *full_key == key).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn loaded(folder: &tempfile::TempDir, env: &[(&str, &str)]) -> Config {
        let env = env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let options = LoadOptions { file: None, env, cwd: folder.path().to_owned(), overrides: Vec::new() };
        Config::load(options).unwrap().config
    }

    fn change(key: &str, text: &str) -> Change {
        Change { key: key.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_value_is_written_as_what_the_setting_is() {
        let text = |name: &str, value: Value| text_of(&key_of(name).unwrap(), &value);
        assert_eq!(text("SMTP_PORT", json!(465)), Ok("465".to_owned()));
        assert_eq!(text("mail.smtp_host", json!("465")), Ok("465".to_owned()), "a text stays one");
        assert_eq!(text("PRINTFLOOR_QUALITY__REPRINT_MISSING", json!(true)), Ok("true".to_owned()));
        assert_eq!(text("mail.operators", json!(["a@b.org", "c@d.org"])), Ok("[\"a@b.org\", \"c@d.org\"]".to_owned()));
        assert_eq!(text("mail.smtp_host", Value::Null), Ok(String::new()));
        for (name, value) in [
            ("SMTP_PORT", json!("many")),
            ("mail.smtp_host", json!(1)),
            ("mail.operators", json!("a@b.org")),
            ("mail.operators", json!([["a"]])),
            ("quality.reprint_missing", json!("yes")),
        ] {
            assert!(text(name, value.clone()).is_err(), "{name} = {value}");
        }
        assert_eq!(key_of("SMTP_HOTS"), None);
    }

    #[test]
    fn what_is_planned_is_what_the_next_start_finds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        fs::write(&file, "PRINTFLOOR_MAIL__SMTP_HOST=old\nAGENT_TOKEN=t\n").unwrap();
        let config = loaded(&folder, &[("SMTP_PORT", "25")]);
        let changes = [change("mail.smtp_host", "new"), change("mail.smtp_port", "465"), change("agent.token", "")];
        let planned = plan(&config.origin, &changes).unwrap();
        assert_eq!(planned.variables, ["PRINTFLOOR_MAIL__SMTP_HOST", "SMTP_PORT", "AGENT_TOKEN"], "the one that wins");
        assert_eq!(planned.restart, ["mail.smtp_host", "agent.token"]);
        let by = "SMTP_PORT in the environment".to_owned();
        assert_eq!(planned.shadowed, [ShadowedValue { key: "mail.smtp_port".to_owned(), by }]);
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2, "nothing is written yet");
        planned.write().unwrap();
        let next = loaded(&folder, &[("SMTP_PORT", "25")]);
        assert!(next == planned.config && next.mail.smtp_host == "new" && next.agent.token.is_empty());
        assert!(fs::read_to_string(folder.path().join(".env.bak")).unwrap().contains("SMTP_HOST=old"));
    }

    #[test]
    fn a_value_that_is_taken_away_is_gone_or_it_is_said_who_sets_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        fs::write(&file, "PARTS_URL=http://a\nPRINTFLOOR_PARTS__URL=http://b\nAGENT_TOKEN=t\n").unwrap();
        let config = loaded(&folder, &[("SPOOLS_URL", "http://c"), ("AGENT_TOKEN", "u"), ("SMTP_PORT", "587")]);
        let cleared = ["parts.url", "spools.url", "agent.token", "mail.smtp_port", "smart_home.url"];
        let changes = cleared.map(|key| change(key, ""));
        let planned = plan(&config.origin, &changes).unwrap();
        assert_eq!(planned.variables, ["PRINTFLOOR_PARTS__URL", "PARTS_URL", "AGENT_TOKEN"], "both of one setting");
        assert!(planned.config.parts.url.is_empty() && planned.config.spools.url == "http://c");
        let by =
            |key: &str, name: &str| ShadowedValue { key: key.to_owned(), by: format!("{name} in the environment") };
        assert_eq!(planned.shadowed, [by("spools.url", "SPOOLS_URL"), by("agent.token", "AGENT_TOKEN")]);
        assert_eq!(planned.restart, ["parts.url"]);
    }

    const KEYS: [&str; 4] = ["parts.url", "agent.token", "mail.smtp_port", "shipping.flat_cents"];

    fn value_of(config: &Config, key: &str) -> String {
        match key {
            "parts.url" => config.parts.url.clone(),
            "agent.token" => config.agent.token.expose().to_owned(),
            "mail.smtp_port" => config.mail.smtp_port.to_string(),
            _ => config.shipping.flat_cents.to_string(),
        }
    }

    /// Generates assignments to settings by their variables, both long and short.
    fn any_assignments() -> impl Strategy<Value = Vec<(String, String)>> {
        let name = |(key, long): (&'static str, bool)| match short_variable_of(key).filter(|_| !long) {
            Some(short) => short.to_owned(),
            None => variable_of(key),
        };
        let one = (prop::sample::select(KEYS.to_vec()), any::<bool>()).prop_map(name);
        let text = prop_oneof![Just(String::new()), "[1-9][0-9]?"];
        prop::collection::vec((one, text), 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn after_a_change_each_setting_is_as_wanted_or_who_wins_is_said(
            env in any_assignments(), dotenv in any_assignments(), changes in prop::collection::btree_map(prop::sample::select(KEYS.to_vec()), "([1-9][0-9]?)?", 0..4),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let lines: Vec<String> = dotenv.iter().map(|(name, text)| format!("{name}={text}\n")).collect();
            let text = lines.concat();
            fs::write(folder.path().join(".env"), text).unwrap();
            let env: Vec<(&str, &str)> = env.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let config = loaded(&folder, &env);
            let changes: Vec<Change> = changes.iter().map(|(key, text)| change(key, text)).collect();
            let planned = plan(&config.origin, &changes).unwrap();
            for Change { key, text } in &changes {
                let expected = if text.is_empty() { value_of(&Config::default(), key) } else { text.clone() };
                let shadowed = planned.shadowed.iter().any(|one| one.key == *key);
                prop_assert!(shadowed || value_of(&planned.config, key) == expected, "{} = {:?}", key, text);
                let changed = value_of(&planned.config, key) != value_of(&config, key);
                prop_assert!(!changed || planned.restart.contains(key), "{} needs a restart", key);
            }
            planned.write().unwrap();
            prop_assert!(loaded(&folder, &env) == planned.config);
        }
    }

    #[test]
    fn a_change_takes_the_place_of_a_former_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = "PRINTFLOOR_LIMITS__STAFF_PER_MINUTE=50\nPRINTFLOOR_MAIL__SMTP_PASS=hunter2\n";
        fs::write(folder.path().join(".env"), file).unwrap();
        let config = loaded(&folder, &[]);
        assert_eq!((config.limits.staff_requests_per_minute, config.mail.smtp_password.expose()), (50, "hunter2"));
        let (limit, password) =
            (key_of("limits.staff_per_minute").unwrap(), key_of("PRINTFLOOR_MAIL__SMTP_PASS").unwrap());
        let usual = Config::default().limits.staff_requests_per_minute;
        for (text, limited) in [("70", 70), ("", usual)] {
            let planned = plan(&config.origin, &[change(&limit, text), change(&password, "")]).unwrap();
            assert_eq!(planned.config.limits.staff_requests_per_minute, limited);
            assert!(planned.shadowed.is_empty(), "{:?}", planned.shadowed);
            assert!(planned.config.mail.smtp_password.is_empty());
            assert_eq!(planned.restart, ["limits.staff_requests_per_minute", "mail.smtp_password"]);
            assert!(!planned.text.contains("STAFF_PER_MINUTE=50") && !planned.text.contains("hunter2"));
        }
        let elsewhere = loaded(&tempfile::tempdir().unwrap(), &[("PRINTFLOOR_LIMITS__STAFF_PER_MINUTE", "50")]);
        let by = "PRINTFLOOR_LIMITS__STAFF_PER_MINUTE in the environment".to_owned();
        let planned = plan(&elsewhere.origin, &[change(&limit, "")]).unwrap();
        assert_eq!(planned.shadowed, [ShadowedValue { key: limit, by }], "it is said who still sets it");
    }

    #[test]
    fn what_no_start_would_take_is_not_planned() {
        let folder = tempfile::tempdir().unwrap();
        let config = loaded(&folder, &[]);
        for (key, text) in [("server.max_headers", "0"), ("mail.smtp_port", "70000"), ("auth.secrets_key", "x")] {
            assert!(plan(&config.origin, &[change(key, text)]).is_err(), "{key} = {text}");
        }
        assert!(matches!(plan(&Origin::default(), &[]), Err(ChangeError::NoOrigin)));
        // Nothing that is not there is made only to be empty.
        assert!(plan(&config.origin, &[change("agent.token", "")]).unwrap().variables.is_empty());
    }
}
