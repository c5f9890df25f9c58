//! Client for the payment processor: checkout sessions, refunds, customers and subscriptions, behind the trait
//! [`PaymentProcessor`]. Implements Stripe's API.
//!
//! Requests that create something carry an idempotency key that the caller chose beforehand, so that the processor
//! recognises a request that is retried after a crash or a lost response. Orders and invoices decide what to do with
//! the responses; [`domain::payment_event`] parses the events that the processor sends.

mod calls;
mod form;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
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
    #[error("invalid payment processor settings: {0}")]
    Settings(String),
    /// The processor did not respond or could not be reached; the request may have been carried out.
    #[error("the payment processor is unavailable: {0}")]
    Unavailable(String),
    /// The processor responded with a server error (5xx). It may return the same response for the same idempotency key
    /// for a day.
    #[error("the payment processor failed: {0}")]
    Failing(String),
    /// The processor rejected the API key.
    #[error("the payment processor rejects the secret key (status {0})")]
    Credentials(u16),
    /// The processor rejected the request and would reject a retry as well.
    #[error("the payment processor rejected the request: {words}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Error code, such as `resource_missing`, or an empty string.
        code: String,
        /// Message from the processor, shortened.
        words: String,
    },
}

impl ProcessorError {
    /// Returns whether the requested object does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. }) || self.code() == "resource_missing"
    }

    /// Returns whether the processor rejected the request because of the payment amount.
    pub fn is_about_amount(&self) -> bool {
        matches!(self.code(), "amount_too_small" | "amount_too_large")
    }

    /// Returns the error code, or an empty string if the processor sent none.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused { code, .. } => code,
            _ => "",
        }
    }
}

/// Operations of a payment processor. Operations that create something take an idempotency key.
#[async_trait]
pub trait PaymentProcessor: Send + Sync + 'static {
    /// Checks that the processor responds and accepts the API key, without changing anything. Returns a human-readable
    /// description.
    async fn check(&self) -> Result<String, ProcessorError>;
    /// Describes the processor's current problem, if any; `None` if it has not been called yet.
    fn trouble(&self) -> Option<String>;

    /// Creates a checkout session for a single payment.
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
    /// Expires an open checkout session. Fails if the session is not open.
    async fn expire_session(&self, id: &str) -> Result<ProcessorSession, ProcessorError>;

    /// Refunds a payment, in part or in full.
    async fn create_refund(&self, new: &NewRefund, key: &str) -> Result<Refund, ProcessorError>;
    /// Returns all refunds of a payment, up to 1,000.
    async fn refunds(&self, intent: &str) -> Result<Vec<Refund>, ProcessorError>;

    /// Creates a customer; retrying the call with the same key does not create a duplicate.
    async fn create_customer(&self, new: &NewCustomer, key: &str) -> Result<ProcessorCustomer, ProcessorError>;
    /// Returns the processor's customer that corresponds to this server's given customer ID, if any. A customer created
    /// within the last minute may not be found yet.
    async fn find_customer(&self, our_id: &str) -> Result<Option<ProcessorCustomer>, ProcessorError>;
    /// Creates a link to the portal where a customer manages cards and subscriptions. The portal links back to
    /// `return_url`.
    async fn create_portal(&self, customer: &str, return_url: &str, key: &str) -> Result<String, ProcessorError>;
    /// Returns a customer's stored payment methods, up to 20.
    async fn payment_methods(&self, customer: &str) -> Result<Vec<PaymentMethod>, ProcessorError>;

    /// Returns a customer's subscriptions, both active and past, newest first, up to `limit`.
    async fn subscriptions(&self, customer: &str, limit: usize) -> Result<Vec<Subscription>, ProcessorError>;
    /// Returns a subscription, including its items.
    async fn subscription(&self, id: &str) -> Result<Subscription, ProcessorError>;
    /// Sets whether a subscription is cancelled at the end of its current period.
    async fn set_cancel_at_period_end(&self, id: &str, cancel: bool) -> Result<Subscription, ProcessorError>;
}

/// Parameters of a checkout session for one payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPaymentSession {
    /// This server's reference for the payment, included in events as `client_reference_id`.
    pub reference: String,
    /// Metadata included in events about the session, its payment and its refunds.
    pub metadata: Vec<(String, String)>,
    /// Description of the purchase, which is shown to the customer.
    pub title: String,
    /// Amount in minor units of the currency.
    pub amount_cents: i64,
    /// ISO 4217 currency code in lowercase.
    pub currency: String,
    /// Customer's email address with which the payment page is prefilled, if known.
    pub customer_email: Option<String>,
    /// URL to which the customer is redirected after paying.
    pub success_url: String,
    /// URL to which the customer is redirected after cancelling the checkout.
    pub cancel_url: String,
}

/// Parameters of a checkout session that starts a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubscriptionSession {
    /// This server's reference for the subscription, included in events as `client_reference_id`.
    pub reference: String,
    /// Metadata included in events about the session and the subscription.
    pub metadata: Vec<(String, String)>,
    /// Price ID assigned by the processor.
    pub price: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Customer ID assigned by the processor.
    pub customer: String,
    /// URL to which the customer is redirected after paying.
    pub success_url: String,
    /// URL to which the customer is redirected after cancelling the checkout.
    pub cancel_url: String,
}

/// Checkout session status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionStatus {
    /// The session is open for payment.
    Open,
    /// The customer has completed the checkout; the payment may still be pending.
    Complete,
    /// The session can no longer be paid.
    Expired,
}

/// Checkout session, as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorSession {
    /// Session ID assigned by the processor, `cs_...`.
    pub id: String,
    /// URL of the payment page; `None` if the session is no longer open.
    pub url: Option<String>,
    /// Session status.
    pub status: SessionStatus,
    /// `true` if the money has been received.
    pub paid: bool,
    /// `true` if the customer's payment failed after the checkout, so no money will arrive. Only set if the session was
    /// read individually.
    pub payment_failed: bool,
    /// Total amount in minor units.
    pub amount_cents: Option<i64>,
    /// ISO 4217 currency code in lowercase.
    pub currency: Option<String>,
    /// Payment ID (payment intent); `None` if there is no payment yet.
    pub intent: Option<String>,
    /// Time at which the session expires.
    pub expires_at: Timestamp,
}

/// Key in a refund's metadata whose value is this server's refund ID.
pub const REFUND_ID: &str = "refundId";

/// Refund parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRefund {
    /// Payment (payment intent) to refund.
    pub intent: String,
    /// Amount in minor units of the payment's currency.
    pub amount_cents: i64,
    /// Metadata included in events about the refund.
    pub metadata: Vec<(String, String)>,
}

/// Refund, as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refund {
    /// Refund ID assigned by the processor, `re_...`.
    pub id: String,
    /// Amount in minor units.
    pub amount_cents: i64,
    /// `true` if the refund succeeded or is pending, `false` if it failed.
    pub counts: bool,
    /// This server's refund ID from the metadata key [`REFUND_ID`]; `None` if this server did not request the refund.
    pub our_id: Option<String>,
}

/// Parameters of a new customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCustomer {
    /// This server's customer ID, by which the customer can be found again.
    pub our_id: String,
    /// Email address to which receipts are sent.
    pub email: String,
    /// Customer's name, if known.
    pub name: Option<String>,
}

/// Customer, as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorCustomer {
    /// Customer ID assigned by the processor, `cus_...`.
    pub id: String,
    /// Email address to which receipts are sent.
    pub email: Option<String>,
    /// ID of the default payment method.
    pub default_method: Option<String>,
}

/// Stored payment method of a customer, usually a card.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaymentMethod {
    /// Payment method ID assigned by the processor, `pm_...`.
    pub id: String,
    /// Card brand, such as `visa`; for any other payment method, its type.
    pub brand: String,
    /// Last four digits of the card or account number; empty if there is no number.
    pub last4: String,
    /// Month in which the card expires, 1 to 12.
    pub exp_month: Option<u8>,
    /// Year in which the card expires.
    pub exp_year: Option<u16>,
}

/// Subscription, as reported by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Subscription ID assigned by the processor, `sub_...`.
    pub id: String,
    /// Customer ID assigned by the processor.
    pub customer: String,
    /// Status as reported by the processor.
    pub status: String,
    /// Subscription items, from 1 to 20.
    pub items: Vec<SubscriptionItem>,
    /// ISO 4217 currency code in lowercase.
    pub currency: String,
    /// `true` if the subscription will be cancelled at the end of its current period.
    pub cancel_at_period_end: bool,
    /// Time at which the subscription was created.
    pub created_at: Timestamp,
    /// Invoice for the latest period; only present if the subscription was read individually.
    pub latest_invoice: Option<SubscriptionInvoice>,
    /// Payment method of the subscription; only present if the subscription was read individually.
    pub default_payment_method: Option<PaymentMethod>,
}

/// Priced item of a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionItem {
    /// Item ID assigned by the processor, `si_...`.
    pub id: String,
    /// Price ID assigned by the processor.
    pub price_id: String,
    /// Product name; empty if only the product ID is known.
    pub product_name: String,
    /// Unit price in minor units.
    pub amount_cents: i64,
    /// Number of units billed per period.
    pub quantity: u32,
    /// Billing interval: `day`, `week`, `month` or `year`; empty for a one-time price.
    pub interval: String,
    /// Start and end of the current billing period.
    pub period: Option<(Timestamp, Timestamp)>,
}

/// Invoice for a subscription, issued by the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionInvoice {
    /// Invoice ID assigned by the processor, `in_...`.
    pub id: String,
    /// Invoice number; `None` if not assigned yet.
    pub number: Option<String>,
    /// Status as reported by the processor.
    pub status: String,
    /// Total in minor units.
    pub total_cents: i64,
    /// URL of the invoice page hosted by the processor.
    pub url: Option<String>,
}
