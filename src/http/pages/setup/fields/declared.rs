//! Settings that the setup wizard asks for, with their labels and hints.

use crate::setup::WizardText;
use actors::app::service_tests::Service;
use words::Language;
use words::staff::setup_fields as texts;

/// Kind of value that a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::setup) enum FieldKind {
    Text,
    Number,
    /// Secret, never shown once stored.
    Secret,
}

/// Hint at a field.
#[derive(Clone, Copy, Debug)]
pub(in crate::setup) enum FieldHint {
    None,
    Text(WizardText),
    /// Value that such a field may have.
    Sample(&'static str),
}

impl FieldHint {
    /// Returns the hint; empty if there is none.
    pub(in crate::setup) fn text(self, language: Language) -> String {
        match self {
            Self::None => String::new(),
            Self::Text(text) => text(language),
            Self::Sample(sample) => texts::sample(language, sample),
        }
    }
}

/// Setting that the wizard asks for.
#[derive(Clone, Copy, Debug)]
pub(in crate::setup) struct Field {
    /// Environment variable, used as the setting's name in the form and in `.env`.
    pub(in crate::setup) variable: &'static str,
    /// Name of the setting, in the form `section.key`.
    pub(in crate::setup) key: &'static str,
    pub(in crate::setup) label: WizardText,
    pub(in crate::setup) hint: FieldHint,
    pub(in crate::setup) kind: FieldKind,
}

const fn field(
    variable: &'static str,
    key: &'static str,
    label: WizardText,
    hint: FieldHint,
    kind: FieldKind,
) -> Field {
    Field { variable, key, label, hint, kind }
}

/// Builds the fields for an external system's address and token.
const fn place(names: [&'static str; 4], hint: FieldHint) -> [Field; 2] {
    let [url, url_key, token, token_key] = names;
    [
        field(url, url_key, texts::url_field, hint, FieldKind::Text),
        field(token, token_key, texts::token_field, FieldHint::Text(texts::token_hint), FieldKind::Secret),
    ]
}

const DATABASE: [Field; 1] =
    [field("DATABASE_URL", "database.url", texts::database, FieldHint::Text(texts::database_hint), FieldKind::Secret)];
const REDIS: [Field; 1] =
    [field("REDIS_URL", "redis.url", texts::redis, FieldHint::Text(texts::redis_hint), FieldKind::Secret)];
pub(super) const SMTP: [Field; 5] = [
    field("SMTP_HOST", "mail.smtp_host", texts::smtp, FieldHint::Sample("mail.example.org"), FieldKind::Text),
    field("SMTP_PORT", "mail.smtp_port", texts::port_field, FieldHint::Text(texts::port_hint), FieldKind::Number),
    field("SMTP_USER", "mail.smtp_user", texts::user_field, FieldHint::Text(texts::user_hint), FieldKind::Text),
    field("SMTP_PASS", "mail.smtp_password", texts::password_field, FieldHint::None, FieldKind::Secret),
    field("SMTP_FROM", "mail.from", texts::sender_field, FieldHint::Text(texts::sender_hint), FieldKind::Text),
];
const EMAIL: [Field; 1] =
    [field("EMAIL_API_KEY", "mail.api_key", texts::email_key_field, FieldHint::None, FieldKind::Secret)];
const PAYMENTS: [Field; 3] = [
    field(
        "PAYMENT_SECRET_KEY",
        "payments.secret_key",
        texts::secret_key_field,
        FieldHint::Text(texts::secret_key_hint),
        FieldKind::Secret,
    ),
    field(
        "PAYMENT_WEBHOOK_SECRET",
        "payments.webhook_secret",
        texts::webhook_secret_field,
        FieldHint::Text(texts::webhook_secret_hint),
        FieldKind::Secret,
    ),
    field(
        "PAYMENT_PUBLISHABLE_KEY",
        "payments.publishable_key",
        texts::publishable_key_field,
        FieldHint::Text(texts::publishable_key_hint),
        FieldKind::Text,
    ),
];
const WORKFLOW: [Field; 2] =
    place(["WORKFLOW_URL", "workflow.url", "WORKFLOW_TOKEN", "workflow.token"], FieldHint::Text(texts::workflow_hint));
const FARM_UI: [Field; 2] = place(
    ["FARM_UI_URL", "farm_ui.url", "FARM_UI_TOKEN", "farm_ui.token"],
    FieldHint::Sample("http://192.168.1.5:8080"),
);
const FAILURE_DETECTION: [Field; 2] = place(
    ["FAILURE_DETECTION_URL", "failure_detection.url", "FAILURE_DETECTION_TOKEN", "failure_detection.token"],
    FieldHint::Sample("http://192.168.1.5:3333"),
);
const SMART_HOME: [Field; 2] = place(
    ["SMART_HOME_URL", "smart_home.url", "SMART_HOME_TOKEN", "smart_home.token"],
    FieldHint::Sample("http://192.168.1.5:8123"),
);
const PARTS: [Field; 2] =
    place(["PARTS_URL", "parts.url", "PARTS_TOKEN", "parts.token"], FieldHint::Sample("http://192.168.1.5:8000"));
const SPOOLS: [Field; 2] =
    place(["SPOOLS_URL", "spools.url", "SPOOLS_TOKEN", "spools.token"], FieldHint::Sample("http://192.168.1.5:7912"));
const AGENT: [Field; 2] =
    place(["AGENT_URL", "agent.url", "AGENT_TOKEN", "agent.token"], FieldHint::Sample("http://192.168.1.5:18789"));

/// Builds a field for a detail of the shop on invoices.
const fn seller(variable: &'static str, key: &'static str, label: WizardText, hint: FieldHint) -> Field {
    field(variable, key, label, hint, FieldKind::Text)
}

/// Fields for the shop's own details on invoices.
pub(in crate::setup) const SELLER: [Field; 8] = [
    seller(
        "PRINTFLOOR_INVOICES__SELLER_NAME",
        "invoices.seller_name",
        texts::seller_name_field,
        FieldHint::Text(texts::seller_name_hint),
    ),
    seller("PRINTFLOOR_INVOICES__SELLER_LINE1", "invoices.seller_line1", texts::line1_field, FieldHint::None),
    seller("PRINTFLOOR_INVOICES__SELLER_LINE2", "invoices.seller_line2", texts::line2_field, FieldHint::None),
    seller(
        "PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE",
        "invoices.seller_postal_code",
        texts::postal_code_field,
        FieldHint::None,
    ),
    seller("PRINTFLOOR_INVOICES__SELLER_CITY", "invoices.seller_city", texts::city_field, FieldHint::None),
    seller(
        "PRINTFLOOR_INVOICES__SELLER_COUNTRY",
        "invoices.seller_country",
        texts::country_field,
        FieldHint::Text(texts::country_hint),
    ),
    seller(
        "PRINTFLOOR_INVOICES__SELLER_VAT_ID",
        "invoices.seller_vat_id",
        texts::vat_id_field,
        FieldHint::Text(texts::vat_id_hint),
    ),
    seller(
        "PRINTFLOOR_INVOICES__SELLER_TAX_NUMBER",
        "invoices.seller_tax_number",
        texts::tax_number_field,
        FieldHint::Text(texts::tax_number_hint),
    ),
];

/// Field for the shop's time zone.
pub(in crate::setup) const ZONE: Field = field(
    "PRINTFLOOR_SHOP__TIME_ZONE",
    "shop.time_zone",
    texts::time_zone_field,
    FieldHint::Text(texts::time_zone_hint),
    FieldKind::Text,
);

/// Returns a service's form fields; empty if the wizard does not cover the service.
pub(in crate::setup) const fn fields_of(service: Service) -> &'static [Field] {
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
