#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;

use figment::value::Value;

use super::*;
use crate::changes::key_of;
use crate::{Config, ConfigError, LoadOptions, LoadedConfig, listing};

/// Loads the settings from a settings file and variables.
fn try_load(file: &str, env: &[(&str, &str)]) -> Result<LoadedConfig, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("printfloor.toml"), file).unwrap();
    let env = env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Config::load(LoadOptions { file: None, env, cwd: folder.path().to_owned(), overrides: Vec::new() })
}

fn load(file: &str, env: &[(&str, &str)]) -> LoadedConfig {
    try_load(file, env).unwrap()
}

/// Returns a sample value for the setting, both as TOML and in the text form of a variable.
fn sample(known_settings: &KnownSettings, key: &str) -> (String, String) {
    match known_settings.default_of(key).unwrap() {
        Value::String(_, text) if text.is_empty() => ("\"hunter2\"".to_owned(), "hunter2".to_owned()),
        Value::String(_, text) => (format!("\"{text}\""), text.clone()),
        other => (listing::toml(other), listing::toml(other)),
    }
}

#[test]
fn every_former_name_sets_its_setting_and_the_new_one_is_told() {
    let known_settings = KnownSettings::new().unwrap();
    for (name, key) in RENAMED {
        assert!(known_settings.has(key) && !known_settings.has(name), "{name} is {key}");
        let ((toml, text), (section, short)) = (sample(&known_settings, key), name.split_once('.').unwrap());
        let (variable, replacement) = (variable_of(name), variable_of(key));
        let in_file = load(&format!("[{section}]\n{short} = {toml}\n"), &[]);
        let in_env = load("", &[(&*variable, &*text)]);
        let sources = [
            (&in_file, format!("{name} in printfloor.toml, line 2"), key),
            (&in_env, format!("{variable} in the environment"), &*replacement),
        ];
        for (loaded, source, replacement) in sources {
            assert_eq!(loaded.given_settings[key].source, source);
            let words =
                format!("{source} is now named {replacement}; the former name still works, but please use the new one");
            assert!(loaded.warnings.contains(&words), "{words}: {:?}", loaded.warnings);
            assert!(!loaded.warnings.iter().any(|warning| warning.contains("no effect")), "{:?}", loaded.warnings);
        }
        assert_eq!(in_file.config, in_env.config);
        for former in [name, &*variable] {
            assert_eq!(key_of(former).as_deref(), Some(key), "a change may name it so");
        }
    }
}

#[test]
fn a_value_under_a_former_name_takes_effect() {
    let file = "[limits]\nstaff_per_minute = 77\n[server]\nupload_limit = 1234\n";
    let env = [("PRINTFLOOR_WEBHOOKS__SCHEDULE", "1,2"), ("PRINTFLOOR_MAIL__SMTP_PASS", "")];
    let LoadedConfig { config, warnings, .. } = load(file, &env);
    assert_eq!((config.limits.staff_requests_per_minute, config.server.upload_max_bytes), (77, 1234));
    assert_eq!(config.webhooks.retry_schedule_seconds.len(), 2);
    assert!(!warnings.iter().any(|warning| warning.contains("SMTP_PASS")), "empty is not set: {warnings:?}");
}

#[test]
fn the_new_name_wins_wherever_it_stands() {
    let (new, former) = ("staff_requests_per_minute = 100\n", "staff_per_minute = 50\n");
    let variable = [("PRINTFLOOR_LIMITS__STAFF_PER_MINUTE", "60")];
    let none: &[(&str, &str)] = &[];
    let by_file = "is now named PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE and is set by printfloor.toml";
    let by_variable = "is set by PRINTFLOOR_LIMITS__STAFF_PER_MINUTE in the environment";
    for (file, env, limit, words) in [
        (format!("[limits]\n{new}{former}"), none, 100, "requests_per_minute and is set by printfloor.toml"),
        (format!("[limits]\n{former}{new}"), none, 100, "requests_per_minute and is set by printfloor.toml"),
        // Also where the former name stands in a source that would win.
        (format!("[limits]\n{new}"), &variable[..], 100, by_file),
        // Of two former names the later source counts.
        (format!("[limits]\n{former}"), &variable[..], 60, by_variable),
    ] {
        let LoadedConfig { config, warnings, .. } = load(&file, env);
        assert_eq!(config.limits.staff_requests_per_minute, limit, "{file}");
        let is_told = |warning: &String| warning.contains("has no effect") && warning.contains(words);
        assert!(warnings.iter().any(is_told), "{words}: {warnings:?}");
    }
}

#[test]
fn a_wrong_value_is_told_with_the_name_under_which_it_stands() {
    let refusal = try_load("[limits]\nstaff_per_minute = \"many\"\n", &[]).unwrap_err().to_string();
    let words =
        "limits.staff_requests_per_minute (limits.staff_per_minute in printfloor.toml, line 2): must be a whole number";
    assert!(refusal.contains(words), "{refusal}");
}
