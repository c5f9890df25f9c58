//! Alerts: emails that ask the operators to act.
//!
//! Each alert is created in the commit that causes it, so none is lost. Alerts of one kind are batched: the first is
//! sent immediately; those that follow within `mail.alert_interval_seconds` are combined in one email afterwards. Fifty
//! failed jobs therefore cause two emails.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::aggregate::DecisionContext;
use crate::mail::{Channel, Mail};
use crate::time::Timestamp;
use words::Language;
use words::staff::alerts as texts;

pub use crate::mail::part::{MailLink, one_line};

/// Number of alerts shown in full in one email; any others are only counted.
const MAX_TOLD: usize = 50;

/// Label of a link, in each language.
pub type LinkLabel = fn(Language) -> String;

/// Subject area of an alert. Alerts of the same kind are batched into one email.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A webhook endpoint was disabled after all retries of a delivery failed.
    EndpointDisabled,
    /// A job failed and must be retried or cancelled.
    JobFailed,
    /// A material fell below its reorder point, or a job needs more than is available.
    LowStock,
    /// The stock on hand of a material differs from the expected amount.
    StockDiscrepancy,
    /// A payment arrived that does not belong to any known order.
    PaymentUnmatched,
    /// Money must be refunded, or an amount differs from the amount due.
    MoneyDue,
    /// An order needs an operator for any other reason.
    Order,
    /// An order will not be ready by the promised time or its due date.
    OrderLate,
    /// A printer needs an operator.
    Printer,
    /// A customer requested a custom piece.
    CustomRequest,
    /// The accounting system rejected a document, or must be reconnected.
    Accounting,
    /// An outside system responds, but does not work until an operator acts.
    Integration,
    /// A scheduled backup failed.
    Backup,
}

impl AlertKind {
    /// All kinds, for tests and tables.
    pub const ALL: [Self; 13] = [
        Self::EndpointDisabled,
        Self::JobFailed,
        Self::LowStock,
        Self::StockDiscrepancy,
        Self::PaymentUnmatched,
        Self::MoneyDue,
        Self::Order,
        Self::OrderLate,
        Self::Printer,
        Self::CustomRequest,
        Self::Accounting,
        Self::Integration,
        Self::Backup,
    ];

    /// Returns the kind of alert for an order flag.
    pub fn of_flag(flag: &str) -> Self {
        match flag {
            "job_failed" => Self::JobFailed,
            "refund_due" | "amount_mismatch" | "refund_failed" | "disputed" | "dispute_lost" => Self::MoneyDue,
            _ => Self::Order,
        }
    }

    /// Returns the subject of an email that reports `count` alerts of this kind.
    fn subject(self, language: Language, count: usize) -> String {
        let subject = match self {
            Self::EndpointDisabled => texts::endpoints_disabled,
            Self::JobFailed => texts::jobs_failed,
            Self::LowStock => texts::low_stock_alerts,
            Self::StockDiscrepancy => texts::stock_discrepancies,
            Self::PaymentUnmatched => texts::unmatched_payments,
            Self::MoneyDue => texts::unsettled_orders,
            Self::Order => texts::flagged_orders,
            Self::OrderLate => texts::late_orders,
            Self::Printer => texts::flagged_printers,
            Self::CustomRequest => texts::custom_requests,
            Self::Accounting => texts::accounting_issues,
            Self::Integration => texts::flagged_integrations,
            Self::Backup => texts::failed_backups,
        };
        subject(language, count)
    }

    /// Returns the label of the alert's link, and the API operation whose page the link opens, given by its tag and ID
    /// in the API description.
    pub fn page(self) -> (LinkLabel, &'static str, &'static str) {
        match self {
            Self::EndpointDisabled => (texts::endpoint_link, "Webhooks", "enableEndpoint"),
            Self::JobFailed => (texts::job_link, "Jobs", "retryJob"),
            Self::LowStock => (texts::stock_link, "Materials", "adjustMaterial"),
            Self::StockDiscrepancy => (texts::discrepancy_link, "Materials", "updateMaterial"),
            Self::PaymentUnmatched => (texts::payments_link, "Inbound webhooks", "listUnmatchedPayments"),
            Self::MoneyDue | Self::Order | Self::OrderLate => (texts::orders_link, "Orders", "listOrders"),
            Self::Printer => (texts::printers_link, "Printers", "listPrinters"),
            Self::CustomRequest => (texts::requests_link, "Custom requests", "listCustomRequests"),
            Self::Accounting => (texts::postings_link, "Accounting", "listPostings"),
            Self::Integration => (texts::integrations_link, "Settings", "listIntegrations"),
            Self::Backup => (texts::backup_link, "Backup", "makeBackup"),
        }
    }
}

/// Texts of an alert in a language other than English.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlertTranslation {
    /// Language of the texts.
    pub language: Language,
    /// Subject, on one line without control characters.
    pub subject: String,
    /// Text, without the link.
    pub text: String,
    /// Text of the link at the end of the mail.
    pub link_label: String,
}

impl Mail {
    /// Builds an alert to the operators, as one message per channel: an email to `mail.operators` (if that is empty, to
    /// the active admins at the time of sending) and, if an agent gateway is configured, a message to it in English.
    ///
    /// `content` returns the subject and the text in a language; each recipient gets those in their own. The subject is
    /// one line with the key figures. The text consists of plain sentences that describe what happened and what to do;
    /// a link to the relevant page is added.
    pub fn alert(
        cx: &DecisionContext<'_>,
        kind: AlertKind,
        content: impl Fn(Language) -> (String, String),
    ) -> Vec<Self> {
        let (label, tag, operation) = kind.page();
        let url = format!("{}/docs/#/{tag}/{operation}", cx.rules.public_url);
        let (subject, text) = content(Language::English);
        let mail = Self::new(cx, cx.rules.operator_mail.clone(), subject, end_line(&text));
        let others = Language::ALL.into_iter().filter(|language| !language.is_english()).map(|language| {
            let (subject, text) = content(language);
            let (subject, text) = (one_line(&subject), end_line(&text));
            AlertTranslation { language, subject, text, link_label: label(language) }
        });
        let translations = others.collect();
        let link = Some(MailLink { label: label(Language::English), url });
        let mail = Self { alert: Some(kind), translations, link, ..mail };
        let agent = cx.rules.agent_gateway.then(|| Self {
            id: cx.ids.id(),
            channel: Channel::Agent,
            to: Vec::new(),
            translations: Vec::new(),
            ..mail.clone()
        });
        [mail].into_iter().chain(agent).collect()
    }

    /// Replaces the link of an alert in all languages.
    pub fn with_link(mut self, label: LinkLabel, url: &str) -> Self {
        self.link = Some(MailLink { label: label(Language::English), url: url.to_owned() });
        for translation in &mut self.translations {
            translation.link_label = label(translation.language);
        }
        self
    }

    /// Returns the subject for a reader of the given language, with the subject's own language: alerts are translated,
    /// other emails are in the language of the recipient.
    pub fn subject_for(&self, language: Language) -> (&str, Language) {
        match self.translations.iter().find(|one| one.language == language) {
            Some(texts) => (&texts.subject, language),
            None => (&self.subject, self.language),
        }
    }

    /// Returns the alert with its texts in the given language; texts stored without a translation stay in English.
    fn in_language(&self, language: Language) -> Cow<'_, Self> {
        let Some(texts) = self.translations.iter().find(|one| one.language == language) else {
            return Cow::Borrowed(self);
        };
        let link = self.link.as_ref().map(|link| MailLink { label: texts.link_label.clone(), url: link.url.clone() });
        let (subject, text) = (texts.subject.clone(), texts.text.clone());
        Cow::Owned(Self { language, subject, text, link, ..self.clone() })
    }
}

/// Returns the name of an order or invoice flag, as stated in the subject of its alert.
pub(crate) fn flag_name(language: Language, flag: &str) -> String {
    texts::flag_name(language, flag)
}

/// Ends a text with one line break.
fn end_line(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Email that reports a set of alerts in one language. Its content is derived from the set and the language alone: the
/// same set in the same language yields the same message at each attempt and in each process, whereas a different set
/// or language yields a different message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlertDigest {
    /// Idempotency key for mailers and mail services: the alert's own key if there is only one, otherwise a hash of all
    /// keys; followed by the language unless it is English.
    pub id: String,
    /// Creation time of the earliest alert.
    pub written_at: Timestamp,
    /// Subject, one line.
    pub subject: String,
    /// Text of the alerts in order of creation; the first 50 are shown in full.
    pub text: String,
    /// Link to the page where the recipient can act.
    pub link: Option<MailLink>,
}

impl AlertDigest {
    /// Combines the given alerts, which must be of one kind and for the same recipients, in any order. Returns `None`
    /// if there are none.
    pub fn of<'a>(kind: AlertKind, language: Language, alerts: impl IntoIterator<Item = &'a Mail>) -> Option<Self> {
        let mut alerts: Vec<&Mail> = alerts.into_iter().collect();
        alerts.sort_by_key(|alert| (alert.created_at, alert.id));
        alerts.dedup_by_key(|alert| alert.id);
        let key = |key: String| if language.is_english() { key } else { format!("{key}-{}", language.tag()) };
        let first = alerts.first()?.in_language(language);
        let (written_at, link) = (first.created_at, first.link.clone());
        if let [only] = alerts[..] {
            let (subject, text) = (first.subject.clone(), first.text.clone());
            return Some(Self { id: key(only.key()), written_at, subject, text, link });
        }
        let listed = alerts.iter().take(MAX_TOLD);
        let listed = listed.map(|alert| alert.in_language(language));
        let mut text: Vec<String> =
            listed.map(|alert| format!("{}\n{}", alert.subject, alert.text.trim_end())).collect();
        let unlisted = alerts.len().saturating_sub(MAX_TOLD);
        if unlisted > 0 {
            text.push(texts::not_listed(language, unlisted));
        }
        let mut hash = Sha256::new();
        for alert in &alerts {
            hash.update(alert.key());
            hash.update("\n");
        }
        Some(Self {
            id: key(format!("alerts-{}", hex::encode(hash.finalize()))),
            written_at,
            subject: kind.subject(language, alerts.len()),
            text: format!("{}\n", text.join("\n\n")),
            link,
        })
    }
}
