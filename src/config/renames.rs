//! Settings that had different names in earlier releases. The old names still work, with a warning that states the new
//! name. If a setting is set under both names, the new name takes precedence, regardless of the sources.

use std::collections::BTreeMap;

use super::configured_setting::ConfiguredSetting;
use super::layers::{KnownSettings, Layer, variable_of};

/// Former names of settings, each with the current name; units are unchanged. The limit on a job's attempts now applies
/// only to rejected starts.
const RENAMED: [(&str, &str); 29] = [
    ("auth.session_days", "auth.session_max_age_days"),
    ("auth.session_idle_hours", "auth.session_idle_timeout_hours"),
    ("dispatch.max_attempts", "dispatch.refusals_until_failed"),
    ("dispatch.max_attempts_per_job", "dispatch.refusals_until_failed"),
    ("dispatch.start_confirm_timeout_seconds", "dispatch.confirm_seconds"),
    ("limits.anonymous_per_minute", "limits.anonymous_requests_per_minute"),
    ("limits.commands_per_thing", "limits.max_queued_commands"),
    ("limits.customer_per_minute", "limits.customer_requests_per_minute"),
    ("limits.login_per_15_minutes", "limits.login_attempts_per_15_minutes"),
    ("limits.staff_per_minute", "limits.staff_requests_per_minute"),
    ("limits.windows", "limits.rate_limit_max_entries"),
    ("mail.smtp_pass", "mail.smtp_password"),
    ("orders.max_jobs", "orders.max_jobs_per_order"),
    ("orders.site", "orders.default_site"),
    ("payments.tolerance_seconds", "payments.signature_tolerance_seconds"),
    ("printers.offline_after_seconds", "printers.offline_seconds"),
    ("printers.poll_seconds", "printers.poll_interval_seconds"),
    ("redis.stream_length", "redis.stream_max_entries"),
    ("server.body_silence_seconds", "server.body_idle_timeout_seconds"),
    ("server.header_limit", "server.header_max_bytes"),
    ("server.json_body_limit", "server.json_body_max_bytes"),
    ("server.keep_alive_seconds", "server.keep_alive_timeout_seconds"),
    ("server.max_requests", "server.max_concurrent_requests"),
    ("server.shutdown_seconds", "server.shutdown_timeout_seconds"),
    ("server.upload_limit", "server.upload_max_bytes"),
    ("webhooks.concurrency_per_endpoint", "webhooks.max_concurrent_per_endpoint"),
    ("webhooks.jitter_seconds", "webhooks.retry_jitter_seconds"),
    ("webhooks.schedule", "webhooks.retry_schedule_seconds"),
    ("webhooks.timeout_seconds", "webhooks.delivery_timeout_seconds"),
];

/// Returns the current name (`section.key`) of the setting with the given former name.
pub(super) fn new_name(former: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(name, _)| *name == former).map(|(_, key)| *key)
}

/// Returns the setting that was formerly set by the given variable.
pub(super) fn of_variable(variable: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(name, _)| variable_of(name) == variable).map(|(_, key)| *key)
}

/// Returns the variables for the former names of a setting.
pub(super) fn former_variables(key: &str) -> impl Iterator<Item = String> {
    RENAMED.iter().filter(move |(_, current_key)| *current_key == key).map(|(name, _)| variable_of(name))
}

/// Setting that a source sets under its former name.
pub(super) struct FormerSetting {
    /// Former name of the setting and its location, as shown in messages.
    source: String,
    /// Name of the setting.
    key: &'static str,
    /// Current name to use instead of the former one: `section.key` or a variable.
    replacement: String,
    /// Layer with the value under the new name.
    pub(super) layer: Layer,
}

impl FormerSetting {
    /// Builds the entry for a former name at the given location in a settings file.
    pub(super) fn in_file(name: &str, place: &str, key: &'static str, value: figment::value::Value) -> Self {
        let source = format!("{name} in {place}");
        let dict = figment::util::nest(key, value).into_dict().unwrap_or_default();
        Self { layer: Layer::new(source.clone(), dict), source, key, replacement: key.to_owned() }
    }

    /// Returns the warning about the former name. `given_settings` contains the settings set by a source other than the
    /// defaults.
    pub(super) fn warning(&self, given_settings: &BTreeMap<String, ConfiguredSetting>) -> String {
        let Self { source, key, replacement, .. } = self;
        match given_settings.get(*key).filter(|setting| setting.source != *source) {
            Some(winner) => format!(
                "{source} has no effect: the setting is now named {replacement} and is set by {}; remove the former name",
                winner.source
            ),
            None => {
                format!("{source} is now named {replacement}; the former name still works, but please use the new one")
            }
        }
    }
}

impl KnownSettings {
    /// Returns the settings that the given variables set under former names. Empty values are treated as not set.
    pub(super) fn former(&self, variables: &[(String, String)], place: &str) -> Vec<FormerSetting> {
        let set_variables = variables.iter().filter(|(_, text)| !text.is_empty());
        let settings = set_variables.filter_map(|(name, text)| {
            let (key, source) = (of_variable(name)?, format!("{name} in {place}"));
            let layer = self.layer(source.clone(), key, text);
            Some(FormerSetting { layer, source, key, replacement: variable_of(key) })
        });
        settings.collect()
    }
}

#[cfg(test)]
mod tests;
