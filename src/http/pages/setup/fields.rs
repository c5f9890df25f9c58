//! Form fields for each service: names, values, rendering and parsing. Used by the setup wizard and by the staff page
//! for changing integrations.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::trial::UNUSED;
use crate::form::PageForm;
use crate::staff::form::Form;
use actors::app::service_tests::Service;
use config::Config;
use config::listing;
use domain::refusal::Refusal;
use domain::setup::draft::SetupDraft;
use http::error::ApiError;
use http::wire::JsonObject;

/// Maximum length of a form value, in characters; longer than any address or token.
const MAX_VALUE_CHARS: usize = 4_000;
/// Form value of the checkbox that removes a setting.
const NONE: &str = "none";

/// State of a service that the shop has chosen not to use.
pub(super) const LEFT_OUT: &str = "Skipped";
/// State of a service for which only some of the settings are filled in.
pub(super) const BEGUN: &str = "Incomplete";
/// State of a service that has not been set up.
pub(super) const NOT_USED: &str = "Not used";

/// Kind of value that a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldKind {
    Text,
    Number,
    /// Secret, never shown once stored.
    Secret,
}

/// Setting that the wizard asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Environment variable, used as the setting's name in the form and in `.env`.
    pub(super) variable: &'static str,
    /// Name of the setting, in the form `section.key`.
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: &'static str,
    pub(super) kind: FieldKind,
}

const fn field(
    variable: &'static str,
    key: &'static str,
    label: &'static str,
    hint: &'static str,
    kind: FieldKind,
) -> Field {
    Field { variable, key, label, hint, kind }
}

/// Builds the fields for an external system's address and token.
const fn place(names: [&'static str; 4], sample: &'static str) -> [Field; 2] {
    let [url, url_key, token, token_key] = names;
    let secret = "From that system's settings. Leave empty if none is required.";
    [
        field(url, url_key, "Address (URL)", sample, FieldKind::Text),
        field(token, token_key, "API key or token", secret, FieldKind::Secret),
    ]
}

const DATABASE: [Field; 1] = [field(
    "DATABASE_URL",
    "database.url",
    "Database",
    "Such as postgres://user:password@localhost:5432/printfloor. Leave empty to use a file in the data directory, which is enough for one small shop.",
    FieldKind::Secret,
)];
const REDIS: [Field; 1] = [field(
    "REDIS_URL",
    "redis.url",
    "Queue and shared store",
    "Such as redis://localhost:6379. Leave empty to keep everything in memory. This is enough for one server.",
    FieldKind::Secret,
)];
const SMTP: [Field; 5] = [
    field("SMTP_HOST", "mail.smtp_host", "Mail server", "Such as mail.example.org.", FieldKind::Text),
    field("SMTP_PORT", "mail.smtp_port", "Port", "Usually 587 or 465.", FieldKind::Number),
    field("SMTP_USER", "mail.smtp_user", "User name", "Leave empty if none is required.", FieldKind::Text),
    field("SMTP_PASS", "mail.smtp_password", "Password", "", FieldKind::Secret),
    field("SMTP_FROM", "mail.from", "Sender", "Such as My Shop <shop@example.org>.", FieldKind::Text),
];
const EMAIL: [Field; 1] = [field("EMAIL_API_KEY", "mail.api_key", "Email service API key", "", FieldKind::Secret)];
const PAYMENTS: [Field; 3] = [
    field("PAYMENT_SECRET_KEY", "payments.secret_key", "Secret key", "Starts with sk_ or rk_.", FieldKind::Secret),
    field(
        "PAYMENT_WEBHOOK_SECRET",
        "payments.webhook_secret",
        "Webhook signing secret",
        "Starts with whsec_. The processor shows it next to the webhook endpoint for this shop.",
        FieldKind::Secret,
    ),
    field(
        "PAYMENT_PUBLISHABLE_KEY",
        "payments.publishable_key",
        "Publishable key",
        "Starts with pk_.",
        FieldKind::Text,
    ),
];
const WORKFLOW: [Field; 2] =
    place(["WORKFLOW_URL", "workflow.url", "WORKFLOW_TOKEN", "workflow.token"], "The URL that receives events.");
const FARM_UI: [Field; 2] =
    place(["FARM_UI_URL", "farm_ui.url", "FARM_UI_TOKEN", "farm_ui.token"], "Such as http://192.168.1.5:8080.");
const FAILURE_DETECTION: [Field; 2] = place(
    ["FAILURE_DETECTION_URL", "failure_detection.url", "FAILURE_DETECTION_TOKEN", "failure_detection.token"],
    "Such as http://192.168.1.5:3333.",
);
const SMART_HOME: [Field; 2] = place(
    ["SMART_HOME_URL", "smart_home.url", "SMART_HOME_TOKEN", "smart_home.token"],
    "Such as http://192.168.1.5:8123.",
);
const PARTS: [Field; 2] =
    place(["PARTS_URL", "parts.url", "PARTS_TOKEN", "parts.token"], "Such as http://192.168.1.5:8000.");
const SPOOLS: [Field; 2] =
    place(["SPOOLS_URL", "spools.url", "SPOOLS_TOKEN", "spools.token"], "Such as http://192.168.1.5:7912.");
const AGENT: [Field; 2] =
    place(["AGENT_URL", "agent.url", "AGENT_TOKEN", "agent.token"], "Such as http://192.168.1.5:18789.");

/// Fields for the shop's own details on invoices.
pub(super) const SELLER: [Field; 8] = [
    field(
        "PRINTFLOOR_INVOICES__SELLER_NAME",
        "invoices.seller_name",
        "Shop name",
        "As in the company register, or your own name.",
        FieldKind::Text,
    ),
    field("PRINTFLOOR_INVOICES__SELLER_LINE1", "invoices.seller_line1", "Street and number", "", FieldKind::Text),
    field("PRINTFLOOR_INVOICES__SELLER_LINE2", "invoices.seller_line2", "Address line 2", "", FieldKind::Text),
    field("PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE", "invoices.seller_postal_code", "Postcode", "", FieldKind::Text),
    field("PRINTFLOOR_INVOICES__SELLER_CITY", "invoices.seller_city", "City", "", FieldKind::Text),
    field(
        "PRINTFLOOR_INVOICES__SELLER_COUNTRY",
        "invoices.seller_country",
        "Country",
        "Two letters, such as DE or US.",
        FieldKind::Text,
    ),
    field(
        "PRINTFLOOR_INVOICES__SELLER_VAT_ID",
        "invoices.seller_vat_id",
        "VAT ID",
        "With its country prefix, such as DE123456789. Leave empty if you have none.",
        FieldKind::Text,
    ),
    field(
        "PRINTFLOOR_INVOICES__SELLER_TAX_NUMBER",
        "invoices.seller_tax_number",
        "Tax number",
        "From your tax office, if you have no VAT ID.",
        FieldKind::Text,
    ),
];

/// Field for the shop's time zone.
pub(super) const ZONE: Field = field(
    "PRINTFLOOR_SHOP__TIME_ZONE",
    "shop.time_zone",
    "Shop time zone",
    "All times on pages and in emails use this time zone.",
    FieldKind::Text,
);

/// Returns a service's form fields; empty if the wizard does not cover the service.
pub(super) const fn fields_of(service: Service) -> &'static [Field] {
    match service {
        Service::Database => &DATABASE,
        Service::Redis => &REDIS,
        Service::Smtp => &SMTP,
        Service::Email => &EMAIL,
        Service::Payments => &PAYMENTS,
        Service::Workflow => &WORKFLOW,
        Service::FarmUi => &FARM_UI,
        Service::FailureDetection => &FAILURE_DETECTION,
        Service::SmartHome => &SMART_HOME,
        Service::Parts => &PARTS,
        Service::Spools => &SPOOLS,
        Service::Agent => &AGENT,
        Service::Accounting | Service::Printer => &[],
    }
}

/// Returns a service's display name.
pub(crate) const fn name_of(service: Service) -> &'static str {
    match service {
        Service::Database => "Database",
        Service::Redis => "Queue and shared store",
        Service::Smtp => "Mail server",
        Service::Email => "Email service",
        Service::Workflow => "Workflow automation",
        Service::FarmUi => "Print farm management",
        Service::FailureDetection => "AI failure detection",
        Service::SmartHome => "Smart home",
        Service::Parts => "Parts management",
        Service::Spools => "Spool management",
        Service::Agent => "Agent gateway",
        Service::Accounting => "Accounting",
        Service::Payments => "Payment processor",
        Service::Printer => "Printer",
    }
}

/// Returns a service's state in one or two words.
pub(super) fn state_of(service: Service, config: &Config, draft: &SetupDraft) -> &'static str {
    let changed = fields_of(service).iter().any(|field| draft.value(field.key).is_some());
    match (draft.passed(service.word()), service) {
        (Some(UNUSED), _) => LEFT_OUT,
        (Some(_), _) if changed => "Tested, not written yet",
        (Some(_), _) => "Tested",
        (None, Service::Database) if config.database.url.is_empty() => "Built in",
        (None, _) if service.is_configured(config) => "Configured",
        (None, _) if fields_of(service).iter().any(|field| config.origin.given_setting(field.key).is_some()) => BEGUN,
        (None, _) => NOT_USED,
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

/// Renders a service's fields. `form` is a rejected form, whose values are shown again, except for secrets.
pub(crate) fn inputs(service: Service, config: &Config, draft: &SetupDraft, form: Option<&Form>) -> Markup {
    inputs_of(fields_of(service), config, draft, form, None)
}

/// Renders the given fields, as [`inputs`] does for a service, with a remark next to the first one.
pub(super) fn inputs_of(
    fields: &[Field],
    config: &Config,
    draft: &SetupDraft,
    form: Option<&Form>,
    remark: Option<&str>,
) -> Markup {
    let given_before = |field: &Field| match draft.value(field.key) {
        Some(text) => !text.is_empty(),
        None => config.origin.given_setting(field.key).is_some(),
    };
    html! {
        @for (at, field) in fields.iter().enumerate() {
            @let secret = field.kind == FieldKind::Secret;
            @let typed = || form.map_or_else(|| shown_value(field, config, draft), |form| form.text(field.variable).to_owned());
            @let value = (!secret).then(typed);
            div class="field" {
                label for=(field.variable) { (field.label) }
                input id=(field.variable) name=(field.variable) autocomplete="off" spellcheck="false"
                    type=(if secret { "password" } else { "text" })
                    inputmode=[(field.kind == FieldKind::Number).then_some("numeric")]
                    maxlength=(MAX_VALUE_CHARS) value=[value] aria-describedby={ "about-" (field.variable) };
                p class="hint" id={ "about-" (field.variable) } {
                    @if let Some(remark) = remark.filter(|_| at == 0) { strong { (remark) } " " }
                    code { (field.variable) } ". " (field.hint)
                    @if secret && given_before(field) { " Already set. Leave empty to keep the current value." }
                    @if let Some(setting) = config.origin.given_setting(field.key) { " Set by " (setting.source) "." }
                }
                @if secret && given_before(field) {
                    p class="hint" {
                        input type="checkbox" id=(without(field)) name=(without(field)) value=(NONE);
                        label for=(without(field)) class="inline" { "Remove" }
                    }
                }
            }
        }
    }
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
