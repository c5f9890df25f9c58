//! Alerts: emails that ask the operators to act.
//!
//! Each alert is created in the commit that causes it, so none is lost. Alerts of one kind are batched: the first is
//! sent immediately; those that follow within `mail.alert_interval_seconds` are combined in one email afterwards. Fifty
//! failed jobs therefore cause two emails.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::aggregate::DecisionContext;
use crate::mail::{Channel, Mail};
use crate::time::Timestamp;

pub use crate::mail::part::{MailLink, one_line};

/// Number of alerts shown in full in one email; any others are only counted.
const MAX_TOLD: usize = 50;

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
}

impl AlertKind {
    /// All kinds, for tests and tables.
    pub const ALL: [Self; 12] = [
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
    fn subject(self, count: usize) -> String {
        match self {
            Self::EndpointDisabled => format!("{count} webhook endpoints disabled"),
            Self::JobFailed => format!("{count} jobs failed"),
            Self::LowStock => format!("Low stock: {count} alerts"),
            Self::StockDiscrepancy => format!("Stock discrepancy: {count} alerts"),
            Self::PaymentUnmatched => format!("{count} payments match no order"),
            Self::MoneyDue => format!("{count} orders need a payment or refund settled"),
            Self::Order => format!("{count} orders need attention"),
            Self::OrderLate => format!("{count} orders are late"),
            Self::Printer => format!("{count} printers need attention"),
            Self::CustomRequest => format!("{count} custom requests"),
            Self::Accounting => format!("Accounting: {count} issues need attention"),
            Self::Integration => format!("{count} integrations need attention"),
        }
    }

    /// Returns the label of the alert's link, and the API operation whose page the link opens, given by its tag and ID
    /// in the API description.
    pub const fn page(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::EndpointDisabled => ("Enable the endpoint", "Webhooks", "enableEndpoint"),
            Self::JobFailed => ("Retry or cancel the job", "Jobs", "retryJob"),
            Self::LowStock => ("Add stock", "Materials", "adjustMaterial"),
            Self::StockDiscrepancy => ("Correct the stock", "Materials", "updateMaterial"),
            Self::PaymentUnmatched => ("View the payments", "Inbound webhooks", "listUnmatchedPayments"),
            Self::MoneyDue | Self::Order | Self::OrderLate => ("Open the orders", "Orders", "listOrders"),
            Self::Printer => ("Open the printers", "Printers", "listPrinters"),
            Self::CustomRequest => ("Open the custom requests", "Custom requests", "listCustomRequests"),
            Self::Accounting => ("View the documents that were not posted", "Accounting", "listPostings"),
            Self::Integration => ("View the integrations", "Settings", "listIntegrations"),
        }
    }
}

impl Mail {
    /// Builds an alert to the operators, as one message per channel: an email to `mail.operators` (if that is empty, to
    /// the active admins at the time of sending) and, if an agent gateway is configured, a message to it.
    ///
    /// `subject` is one line with the key figures. `text` consists of plain sentences that describe what happened and
    /// what to do; a link to the relevant page is added.
    pub fn alert(cx: &DecisionContext<'_>, kind: AlertKind, subject: &str, text: &str) -> Vec<Self> {
        let (label, tag, operation) = kind.page();
        let url = format!("{}/docs/#/{tag}/{operation}", cx.rules.public_url);
        let link = Some(MailLink { label: label.to_owned(), url });
        let mail = Self::new(cx, cx.rules.operator_mail.clone(), subject.to_owned(), text.to_owned());
        let mail = Self { alert: Some(kind), link, ..mail };
        let agent = cx.rules.agent_gateway.then(|| Self {
            id: cx.ids.id(),
            channel: Channel::Agent,
            to: Vec::new(),
            ..mail.clone()
        });
        [mail].into_iter().chain(agent).collect()
    }
}

/// Email that reports a set of alerts. Its content is derived from the set alone: the same set yields the same message
/// at each attempt and in each process, and a different set yields a different message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlertDigest {
    /// Idempotency key for mailers and mail services: the alert's own ID if there is only one, otherwise a hash of all
    /// IDs.
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
    pub fn of<'a>(kind: AlertKind, alerts: impl IntoIterator<Item = &'a Mail>) -> Option<Self> {
        let mut alerts: Vec<&Mail> = alerts.into_iter().collect();
        alerts.sort_by_key(|alert| (alert.created_at, alert.id));
        alerts.dedup_by_key(|alert| alert.id);
        let first = *alerts.first()?;
        let (written_at, link) = (first.created_at, first.link.clone());
        if let [only] = alerts[..] {
            let (subject, text) = (only.subject.clone(), only.text.clone());
            return Some(Self { id: only.id.to_string(), written_at, subject, text, link });
        }
        let listed = alerts.iter().take(MAX_TOLD);
        let mut text: Vec<String> =
            listed.map(|alert| format!("{}\n{}", alert.subject, alert.text.trim_end())).collect();
        let unlisted = alerts.len().saturating_sub(MAX_TOLD);
        if unlisted > 0 {
            text.push(format!("{unlisted} more are not listed here."));
        }
        let mut hash = Sha256::new();
        for alert in &alerts {
            hash.update(alert.id.to_string());
            hash.update("\n");
        }
        Some(Self {
            id: format!("alerts-{}", hex::encode(hash.finalize())),
            written_at,
            subject: kind.subject(alerts.len()),
            text: format!("{}\n", text.join("\n\n")),
            link,
        })
    }
}
