//! Form fields for each service: names, values, rendering and parsing. Used by the setup wizard and by the staff page
//! for changing integrations.

mod declared;
mod rendering;

use serde_json::{Map, Value};

use self::declared::SMTP;
pub(super) use self::declared::{Field, FieldKind, SELLER, ZONE, fields_of};
pub(crate) use self::rendering::inputs;
pub(super) use self::rendering::inputs_of;
use super::trial::UNUSED;
use crate::form::{Form, PageForm};
use actors::app::service_tests::Service;
use config::Config;
use config::listing;
use domain::refusal::Refusal;
use domain::setup::draft::SetupDraft;
use http::error::ApiError;
use http::wire::JsonObject;
use words::Language;
use words::staff::setup_fields as texts;

/// Maximum length of a form value, in characters; longer than any address or token.
const MAX_VALUE_CHARS: usize = 4_000;
/// Form value of the checkbox that removes a setting.
const NONE: &str = "none";

/// State of a service in the wizard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WizardState {
    /// The shop has chosen not to use the service.
    LeftOut,
    /// Only some of the settings are filled in.
    Begun,
    /// The service has not been set up.
    NotUsed,
    /// New settings passed the test, but are not written yet.
    TestedUnwritten,
    /// The current settings passed the test.
    Tested,
    /// The built-in database is used.
    BuiltIn,
    /// The settings are there, but were not tested in the wizard.
    Configured,
}

impl WizardState {
    /// Returns the state in one or two words.
    pub(super) fn label(self, language: Language) -> String {
        match self {
            Self::LeftOut => texts::left_out(language),
            Self::Begun => texts::begun(language),
            Self::NotUsed => texts::not_used(language),
            Self::TestedUnwritten => texts::tested_unwritten(language),
            Self::Tested => texts::tested(language),
            Self::BuiltIn => texts::built_in(language),
            Self::Configured => texts::configured(language),
        }
    }
}

/// Returns a service's display name.
pub(crate) fn name_of(language: Language, service: Service) -> String {
    match service {
        Service::Database => texts::database(language),
        Service::Redis => texts::redis(language),
        Service::Smtp => texts::smtp(language),
        Service::Email => texts::email(language),
        Service::Workflow => texts::workflow(language),
        Service::FarmUi => texts::farm_ui(language),
        Service::FailureDetection => texts::failure_detection(language),
        Service::SmartHome => texts::smart_home(language),
        Service::Parts => texts::parts(language),
        Service::Spools => texts::spools(language),
        Service::Agent => texts::agent(language),
        Service::Accounting => texts::accounting(language),
        Service::Payments => texts::payments(language),
        Service::Printer => texts::printer(language),
    }
}

/// Returns a service's state.
pub(super) fn state_of(service: Service, config: &Config, draft: &SetupDraft) -> WizardState {
    let changed = fields_of(service).iter().any(|field| draft.value(field.key).is_some());
    match (draft.passed(service.word()), service) {
        (Some(UNUSED), _) => WizardState::LeftOut,
        (Some(_), _) if changed => WizardState::TestedUnwritten,
        (Some(_), _) => WizardState::Tested,
        (None, Service::Database) if config.database.url.is_empty() => WizardState::BuiltIn,
        (None, _) if service.is_configured(config) => WizardState::Configured,
        (None, _) if fields_of(service).iter().any(|field| config.origin.given_setting(field.key).is_some()) => {
            WizardState::Begun
        }
        (None, _) => WizardState::NotUsed,
    }
}

/// Returns the displayed value of a non-secret field: the wizard's stored input or, failing that, the current setting.
fn shown_value(field: &Field, config: &Config, draft: &SetupDraft) -> String {
    draft.value(field.key).map_or_else(|| in_force(field, config), str::to_owned)
}

/// Returns the value of a seller field: from the form, the wizard's stored input or the current settings, in this
/// order.
pub(super) fn typed_or_in_force(key: &str, config: &Config, draft: &SetupDraft, form: Option<&Form>) -> String {
    let Some(field) = SELLER.iter().find(|field| field.key == key) else { return String::new() };
    form.map_or_else(|| shown_value(field, config, draft), |form| form.text(field.variable).to_owned())
}

/// Returns the time zone: the wizard's stored input or, failing that, the current setting.
pub(super) fn zone_shown(config: &Config, draft: &SetupDraft) -> String {
    shown_value(&ZONE, config, draft)
}

/// Returns the current setting of a non-secret field.
fn in_force(field: &Field, config: &Config) -> String {
    let setting = listing::every(&config.origin).into_iter().find(|setting| setting.key == field.key);
    match setting.and_then(|setting| setting.value) {
        Some(Value::String(text)) => text,
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Returns a service's settings in the form that differ from the current ones, by key. An empty secret field leaves the
/// stored secret unchanged.
pub(crate) fn submitted_values(
    service: Service,
    sent: &PageForm,
    config: &Config,
    draft: &SetupDraft,
) -> Result<Vec<(String, String)>, ApiError> {
    given_of(fields_of(service), sent, config, draft)
}

/// Returns the settings in the given fields, as [`submitted_values`] does for a service.
pub(super) fn given_of(
    fields: &[Field],
    sent: &PageForm,
    config: &Config,
    draft: &SetupDraft,
) -> Result<Vec<(String, String)>, ApiError> {
    let mut values = Vec::new();
    for field in fields {
        let typed = sent.text(field.variable);
        if typed.chars().count() > MAX_VALUE_CHARS {
            return Err(Refusal::field(field.variable, "is too long").into());
        }
        let text = match field.kind {
            FieldKind::Secret if sent.text(&without(field)) == NONE => Some(String::new()),
            FieldKind::Secret if typed.is_empty() => draft.value(field.key).map(str::to_owned),
            FieldKind::Secret => Some(typed.to_owned()),
            FieldKind::Text | FieldKind::Number => {
                Some(typed.to_owned()).filter(|text| *text != in_force(field, config))
            }
        };
        values.extend(text.map(|text| (field.key.to_owned(), text)));
    }
    Ok(values)
}

/// Converts setting values to the JSON object that the API expects.
pub(crate) fn as_settings<'a>(values: impl IntoIterator<Item = (&'a String, &'a String)>) -> JsonObject {
    let is_number = |key: &str| SMTP.iter().any(|field| field.key == key && field.kind == FieldKind::Number);
    let of = |key: &str, text: &str| match text {
        "" => Value::Null,
        text if is_number(key) => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
        text => text.into(),
    };
    let members: Map<String, Value> = values.into_iter().map(|(key, text)| (key.clone(), of(key, text))).collect();
    JsonObject(members)
}

/// Returns the name of the checkbox that removes a secret.
fn without(field: &Field) -> String {
    format!("{}.{NONE}", field.variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::changes::key_of;

    #[test]
    fn every_field_names_a_setting_of_its_service() {
        for field in SELLER.iter().chain([&ZONE]) {
            assert_eq!(key_of(field.variable).as_deref(), Some(field.key), "{}", field.variable);
        }
        for service in Service::OF_SETTINGS {
            for field in fields_of(service) {
                assert_eq!(key_of(field.variable).as_deref(), Some(field.key), "{}", field.variable);
                assert!(service.settings().iter().any(|prefix| field.key.starts_with(prefix)), "{}", field.key);
            }
        }
    }

    #[test]
    fn texts_become_what_the_settings_are() {
        let values = [("mail.smtp_port", "465"), ("mail.smtp_host", "465"), ("redis.url", ""), ("mail.smtp_user", "a")];
        let values: Vec<(String, String)> = values.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect();
        let JsonObject(members) = as_settings(values.iter().map(|(key, text)| (key, text)));
        assert_eq!(members["mail.smtp_port"], 465);
        assert_eq!((&members["mail.smtp_host"], &members["mail.smtp_user"]), (&"465".into(), &"a".into()));
        assert!(members["redis.url"].is_null());
        let odd = [("mail.smtp_port".to_owned(), "many".to_owned())];
        let JsonObject(members) = as_settings(odd.iter().map(|(key, text)| (key, text)));
        assert_eq!(members["mail.smtp_port"], "many", "the settings say what is wrong with it");
    }
}
