//! Client of the payment processor: checkout sessions, refunds, customers and subscriptions, behind one port,
//! [`PaymentProcessor`]. Implements Stripe's API.
//!
//! Requests that create something carry an idempotency key that the caller chose beforehand, so a request repeated
//! after a crash or a lost response is recognised. Orders and invoices decide what to do with the responses; events
//! that the processor sends on its own are parsed in [`domain::payment_event`].

mod calls;
mod form;
mod read;
mod send;
#[cfg(test)]
mod tests;

use async_trait::async_trait;

use domain::time::Timestamp;

pub use send::{ClientSettings, ProcessorClient};

/// Reason why a call to the payment processor failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProcessorError {
    /// The settings are invalid.
    #[error("invalid settings of the payment processor: {0}")]
    Settings(String),
    /// The processor did not answer or could not be reached; the request may have been carried out.
    #[error("the payment processor is unavailable: {0}")]
    Unavailable(String),
    /// The processor answered with a server error (5xx). It may repeat the same response under the same key for a day.
    #[error("the payment processor failed: {0}")]
    Failing(String),
    /// The processor rejected the API key.
    #[error("the payment processor rejects the secret key (status {0})")]
    Credentials(u16),
    /// The processor rejected the request; repeating it would be rejected again.
    #[error("the payment processor rejected the request: {words}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Error code, such as `resource_missing`; empty if there is none.
        code: String,
        /// Message of the processor, shortened.
        words: String,
    },
}

impl ProcessorError {
    /// Returns whether the requested object does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. }) || self.code() == "resource_missing"
    }

    /// Returns whether the processor does not accept payments of this amount.
    pub fn is_about_amount(&self) -> bool {
        matches!(self.code(), "amount_too_small" | "amount_too_large")
    }

    /// Returns the error code; empty if there is none.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused { code, .. } => code,
            _ => "",
        }
    }
}

/// Operations of a payment processor. Those that create something take an idempotency key.
#[async_trait]
pub trait PaymentProcessor: Send + Sync + 'static {
    /// Checks that the processor answers and accepts the API key; changes nothing. Returns a human-readable
    /// description.
    async fn check(&self) -> Result<String, ProcessorError>;
    /// Describes what is wrong with the processor; `None` while it works or was not called yet.
    fn trouble(&self) -> Option<String>;

    /// Creates a checkout session for one payment.
    async fn create_payment_session(
        &self,
        new: &NewPaymentSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError>;
    /// Creates a checkout session that starts a subscription.
    async fn create_subscription_session(
        &self,
        new: &NewSubscriptionSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError>;
    /// Returns a checkout session.
    async fn session(&self, id: &str) -> Result<ProcessorSession, ProcessorError>;
    /// Expires an open checkout session. Fails if it is not open.
    async fn expire_session(&self, id: &str) -> Result<ProcessorSession, ProcessorError>;

    /// Refunds a payment in part or in full.
    async fn create_refund(&self, new: &NewRefund, key: &str) -> Result<Refund, ProcessorError>;
    /// Returns all refunds of a payment, at most 1,000.
    async fn refunds(&self, intent: &str) -> Result<Vec<Refund>, ProcessorError>;

    /// Creates a customer; a repeated call with the same key creates none.
    async fn create_customer(&self, new: &NewCustomer, key: &str) -> Result<ProcessorCustomer, ProcessorError>;
    /// Returns the processor's customer for a customer id of this server; `None` if there is none. A customer created
    /// within the last minute may not be found yet.
    async fn find_customer(&self, our_id: &str) -> Result<Option<ProcessorCustomer>, ProcessorError>;
    /// Creates a link to the pages on which a customer manages cards and subscriptions; they lead back to `return_url`.
    async fn create_portal(&self, customer: &str, return_url: &str, key: &str) -> Result<String, ProcessorError>;
    /// Returns a customer's stored payment methods, at most 20.
    async fn payment_methods(&self, customer: &str) -> Result<Vec<PaymentMethod>, ProcessorError>;

    /// Returns a customer's subscriptions, active and past, newest first, at most `limit`.
    async fn subscriptions(&self, customer: &str, limit: usize) -> Result<Vec<Subscription>, ProcessorError>;
    /// Returns a subscription with its items.
    async fn subscription(&self, id: &str) -> Result<Subscription, ProcessorError>;
    /// Sets whether a subscription ends with its current period.
    async fn set_cancel_at_period_end(&self, id: &str, cancel: bool) -> Result<Subscription, ProcessorError>;
}

/// Parameters of a checkout session for one payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPaymentSession {
    /// This server's reference for the payment; returned in events as `client_reference_id`.
    pub reference: String,
    /// Metadata returned in the events of the session, its payment and its refunds.
    pub metadata: Vec<(String, String)>,
    /// Description of the purchase shown to the customer.
    pub title: String,
    /// Amount in minor units of the currency.
    pub amount_cents: i64,
    /// ISO 4217 currency code in lower case.
    pub currency: String,
    /// E-mail address to prefill for the customer, if known.
    pub customer_email: Option<String>,
    /// URL to which the customer is redirected after paying.
    pub success_url: String,
    /// URL to which the customer is redirected after cancelling.
    pub cancel_url: String,
}

/// Parameters of a checkout session that starts a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubscriptionSession {
    /// This server's reference for the subscription; returned in events as `client_reference_id`.
    pub reference: String,
    /// Metadata returned in the events of the session and the subscription.
    pub metadata: Vec<(String, String)>,
    /// Price id assigned by the processor.
    pub price: String,
    /// Quantity, at least 1.
    pub quantity: u32,
    /// Customer id assigned by the processor.
    pub customer: String,
    /// URL to which the customer is redirected after paying.
    pub success_url: String,
    /// URL to which the customer is redirected after cancelling.
    pub cancel_url: String,
}

/// Status of a checkout session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionStatus {
    /// The session can be paid.
    Open,
    /// The customer completed the checkout; the money may still be on its way.
    Complete,
    /// The session can no longer be paid.
    Expired,
}

/// A checkout session as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorSession {
    /// Session id assigned by the processor, `cs_...`.
    pub id: String,
    /// URL of the payment page; `None` once the session is not open.
    pub url: Option<String>,
    /// Status of the session.
    pub status: SessionStatus,
    /// `true` if the money was received.
    pub paid: bool,
    /// `true` if a payment that the customer had made failed afterwards, so that it yields no money. Only known for a
    /// session that was read on its own.
    pub payment_failed: bool,
    /// Total amount in minor units.
    pub amount_cents: Option<i64>,
    /// ISO 4217 currency code in lower case.
    pub currency: Option<String>,
    /// Payment id (payment intent), once there is one.
    pub intent: Option<String>,
    /// Time at which the session expires.
    pub expires_at: Timestamp,
}

/// Metadata key of a refund that holds this server's refund id.
pub const REFUND_ID: &str = "refundId";

/// Parameters of a refund.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRefund {
    /// Payment (payment intent) to refund.
    pub intent: String,
    /// Amount in minor units of the payment's currency.
    pub amount_cents: i64,
    /// Metadata returned in the events of the refund.
    pub metadata: Vec<(String, String)>,
}

/// A refund as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refund {
    /// Refund id assigned by the processor, `re_...`.
    pub id: String,
    /// Amount in minor units.
    pub amount_cents: i64,
    /// `true` if the money was returned or is on its way, `false` if the refund failed.
    pub counts: bool,
    /// This server's refund id, if this server requested it: [`REFUND_ID`] in its metadata.
    pub our_id: Option<String>,
}

/// Parameters of a new customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCustomer {
    /// Customer id of this server, by which the customer is found again.
    pub our_id: String,
    /// E-mail address for receipts.
    pub email: String,
    /// Name, if known.
    pub name: Option<String>,
}

/// A customer as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorCustomer {
    /// Customer id assigned by the processor, `cus_...`.
    pub id: String,
    /// E-mail address for receipts.
    pub email: Option<String>,
    /// Id of the default payment method.
    pub default_method: Option<String>,
}

/// A stored payment method of a customer, usually a card.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaymentMethod {
    /// Payment method id assigned by the processor, `pm_...`.
    pub id: String,
    /// Card brand, such as `visa`; the type of any other payment method.
    pub brand: String,
    /// Last digits of the number; empty if there is none.
    pub last4: String,
    /// Expiry month, 1 to 12.
    pub exp_month: Option<u8>,
    /// Expiry year.
    pub exp_year: Option<u16>,
}

/// A subscription as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Subscription id assigned by the processor, `sub_...`.
    pub id: String,
    /// Customer id assigned by the processor.
    pub customer: String,
    /// Status as reported by the processor.
    pub status: String,
    /// Items of the subscription; at least one, at most 20.
    pub items: Vec<SubscriptionItem>,
    /// ISO 4217 currency code in lower case.
    pub currency: String,
    /// `true` if the subscription ends with its current period.
    pub cancel_at_period_end: bool,
    /// Time at which the subscription was created.
    pub created_at: Timestamp,
    /// Invoice of the latest period; only present if the subscription was read on its own.
    pub latest_invoice: Option<SubscriptionInvoice>,
    /// Payment method of the subscription; only present if it was read on its own.
    pub default_payment_method: Option<PaymentMethod>,
}

/// One priced item of a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionItem {
    /// Item id assigned by the processor, `si_...`.
    pub id: String,
    /// Price id assigned by the processor.
    pub price_id: String,
    /// Product name; empty if only the product id is known.
    pub product_name: String,
    /// Unit price in minor units.
    pub amount_cents: i64,
    /// Number of units billed per period.
    pub quantity: u32,
    /// Billing interval: `day`, `week`, `month` or `year`; empty for a price that does not recur.
    pub interval: String,
    /// Start and end of the current billing period.
    pub period: Option<(Timestamp, Timestamp)>,
}

/// An invoice of a subscription, issued by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionInvoice {
    /// Invoice id assigned by the processor, `in_...`.
    pub id: String,
    /// Invoice number, if assigned.
    pub number: Option<String>,
    /// Status as reported by the processor.
    pub status: String,
    /// Total in minor units.
    pub total_cents: i64,
    /// URL of the processor's page for the invoice.
    pub url: Option<String>,
}
