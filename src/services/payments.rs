//! The payment processor: checkout sessions, refunds, customers and subscriptions, behind one port,
//! [`PaymentProcessor`]. Its client speaks Stripe's API.
//!
//! What is created carries a key that the caller chose before, so that a request that is sent again after a crash, or
//! after an answer that was lost, is the same one. What an order or invoice does with the answers is decided there; the
//! events that the processor sends by itself are read in [`crate::domain::payment_event`].

mod calls;
mod form;
mod read;
mod send;
#[cfg(test)]
mod tests;

use async_trait::async_trait;

use crate::domain::time::Timestamp;

pub use send::{ClientSettings, ProcessorClient};

/// Why the processor did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProcessorError {
    /// The settings cannot be used.
    #[error("the payment processor is set up wrongly: {0}")]
    Settings(String),
    /// It did not answer, or could not; whether anything was done is not known.
    #[error("the payment processor does not answer: {0}")]
    Unavailable(String),
    /// It answered that it could not (5xx). It may give the same answer under the same key for a day.
    #[error("the payment processor cannot do it now: {0}")]
    Failing(String),
    /// It refuses the key.
    #[error("the payment processor refuses the secret key (status {0})")]
    Credentials(u16),
    /// It said no; the same request will be refused again.
    #[error("the payment processor refused: {words}")]
    Refused {
        /// As HTTP has it.
        status: u16,
        /// Its word for the reason, such as `resource_missing`; empty where it gave none.
        code: String,
        /// What it said, shortened.
        words: String,
    },
}

impl ProcessorError {
    /// Whether there is no such thing there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. }) || self.code() == "resource_missing"
    }

    /// Whether it takes no payments of that amount.
    pub fn is_about_amount(&self) -> bool {
        matches!(self.code(), "amount_too_small" | "amount_too_large")
    }

    /// Its word for the reason; empty where there is none.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused { code, .. } => code,
            _ => "",
        }
    }
}

/// What is done at the payment processor. Everything that creates takes the key under which it is created.
#[async_trait]
pub trait PaymentProcessor: Send + Sync + 'static {
    /// Asks whether it is there and takes the key; changes nothing. Its words for people.
    async fn check(&self) -> Result<String, ProcessorError>;
    /// In words what is wrong with it; `None` while it is well, or nobody asked it yet.
    fn trouble(&self) -> Option<String>;

    /// Makes a session by which one amount can be paid.
    async fn create_payment_session(
        &self,
        new: &NewPaymentSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError>;
    /// Makes a session by which a subscription can be begun.
    async fn create_subscription_session(
        &self,
        new: &NewSubscriptionSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError>;
    /// Reads a session.
    async fn session(&self, id: &str) -> Result<ProcessorSession, ProcessorError>;
    /// Closes a session that is open. One that is not is refused.
    async fn expire_session(&self, id: &str) -> Result<ProcessorSession, ProcessorError>;

    /// Pays back a part of a payment, or all of it.
    async fn create_refund(&self, new: &NewRefund, key: &str) -> Result<Refund, ProcessorError>;
    /// All refunds of a payment, at most 1,000.
    async fn refunds(&self, intent: &str) -> Result<Vec<Refund>, ProcessorError>;

    /// Makes a customer.
    async fn create_customer(&self, new: &NewCustomer, key: &str) -> Result<ProcessorCustomer, ProcessorError>;
    /// The customer that was made for ours, by its id here; `None` if there is none. One that was made in the last
    /// minute may not be found yet.
    async fn find_customer(&self, our_id: &str) -> Result<Option<ProcessorCustomer>, ProcessorError>;
    /// Makes a link to the pages where a customer changes cards and subscriptions; they come back to `return_url`.
    async fn create_portal(&self, customer: &str, return_url: &str, key: &str) -> Result<String, ProcessorError>;
    /// The cards that a customer has stored, at most 20.
    async fn payment_methods(&self, customer: &str) -> Result<Vec<PaymentMethod>, ProcessorError>;

    /// A customer's subscriptions, active and past, newest first, at most `limit`.
    async fn subscriptions(&self, customer: &str, limit: usize) -> Result<Vec<Subscription>, ProcessorError>;
    /// Reads a subscription with what it is made of.
    async fn subscription(&self, id: &str) -> Result<Subscription, ProcessorError>;
    /// Ends a subscription at the end of its period, or lets it go on.
    async fn set_cancel_at_period_end(&self, id: &str, cancel: bool) -> Result<Subscription, ProcessorError>;
}

/// One amount to be paid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPaymentSession {
    /// What the payment is for here: comes back in events as `client_reference_id`.
    pub reference: String,
    /// Comes back in the events of the session, of its payment and of its refunds.
    pub metadata: Vec<(String, String)>,
    /// What the customer reads that they pay for.
    pub title: String,
    /// In minor units of the currency.
    pub amount_cents: i64,
    /// ISO 4217 in lower case.
    pub currency: String,
    /// Filled in for the customer, where it is known.
    pub customer_email: Option<String>,
    /// Where the customer is sent after paying.
    pub success_url: String,
    /// Where the customer is sent who gives up.
    pub cancel_url: String,
}

/// A subscription to be begun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubscriptionSession {
    /// What it is for here: comes back in events as `client_reference_id`.
    pub reference: String,
    /// Comes back in the events of the session and of the subscription.
    pub metadata: Vec<(String, String)>,
    /// The processor's id of the price.
    pub price: String,
    /// How many of it, at least 1.
    pub quantity: u32,
    /// The processor's id of the customer.
    pub customer: String,
    /// Where the customer is sent after paying.
    pub success_url: String,
    /// Where the customer is sent who gives up.
    pub cancel_url: String,
}

/// Whether a session can be paid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionStatus {
    /// It can.
    Open,
    /// The customer has done their part; the money may still be on its way.
    Complete,
    /// It can no longer.
    Expired,
}

/// A checkout session as the processor knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorSession {
    /// The processor's id of it, `cs_...`.
    pub id: String,
    /// The page on which it is paid; `None` once it is not open.
    pub url: Option<String>,
    /// Whether it can be paid.
    pub status: SessionStatus,
    /// Whether the money is there.
    pub paid: bool,
    /// Whether a payment that the customer had made failed afterwards, so that no money will come by it. Known of a
    /// session that is read.
    pub payment_failed: bool,
    /// What it asks for in all, in minor units.
    pub amount_cents: Option<i64>,
    /// ISO 4217 in lower case.
    pub currency: Option<String>,
    /// The payment, once there is one.
    pub intent: Option<String>,
    /// When it closes by itself.
    pub expires_at: Timestamp,
}

/// The member of a refund's metadata that says our id of it.
pub const REFUND_ID: &str = "refundId";

/// Money to be paid back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRefund {
    /// The payment of which it goes back.
    pub intent: String,
    /// In minor units of the payment's currency.
    pub amount_cents: i64,
    /// Comes back in the events of the refund.
    pub metadata: Vec<(String, String)>,
}

/// A refund as the processor knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refund {
    /// The processor's id of it, `re_...`.
    pub id: String,
    /// In minor units.
    pub amount_cents: i64,
    /// Whether the money has gone, or is on its way. `false`: it stays.
    pub counts: bool,
    /// Our id of it, if it was asked for here: [`REFUND_ID`] of its metadata.
    pub our_id: Option<String>,
}

/// A customer to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCustomer {
    /// The customer's id here, by which they are found again.
    pub our_id: String,
    /// Where receipts go.
    pub email: String,
    /// How they are called, where it is known.
    pub name: Option<String>,
}

/// A customer as the processor knows them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessorCustomer {
    /// The processor's id of them, `cus_...`.
    pub id: String,
    /// Where receipts go.
    pub email: Option<String>,
    /// The processor's id of what they pay with unless they say otherwise.
    pub default_method: Option<String>,
}

/// A card, or another method that a customer has stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaymentMethod {
    /// The processor's id of it, `pm_...`.
    pub id: String,
    /// `visa`, ...; the type of what is no card.
    pub brand: String,
    /// The last digits of its number; empty where it has none.
    pub last4: String,
    /// Month in which it ends, 1 to 12.
    pub exp_month: Option<u8>,
    /// Year in which it ends.
    pub exp_year: Option<u16>,
}

/// A subscription as the processor knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// The processor's id of it, `sub_...`.
    pub id: String,
    /// The processor's id of its customer.
    pub customer: String,
    /// The processor's own word.
    pub status: String,
    /// What it is made of; at least one, at most 20.
    pub items: Vec<SubscriptionItem>,
    /// ISO 4217 in lower case.
    pub currency: String,
    /// Whether it ends with its period.
    pub cancel_at_period_end: bool,
    /// When it was begun.
    pub created_at: Timestamp,
    /// The invoice of its last period; read with one subscription only.
    pub latest_invoice: Option<SubscriptionInvoice>,
    /// What it is paid with; read with one subscription only.
    pub default_payment_method: Option<PaymentMethod>,
}

/// A part of a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionItem {
    /// The processor's id of it, `si_...`.
    pub id: String,
    /// The processor's id of its price.
    pub price_id: String,
    /// What people call it; empty where only the id of the product is known.
    pub product_name: String,
    /// For one, in minor units.
    pub amount_cents: i64,
    /// How many.
    pub quantity: u32,
    /// `day`, `week`, `month` or `year`; empty for what does not recur.
    pub interval: String,
    /// When the period under way began and ends.
    pub period: Option<(Timestamp, Timestamp)>,
}

/// An invoice of a subscription, which the processor makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriptionInvoice {
    /// The processor's id of it, `in_...`.
    pub id: String,
    /// Its number there, if it has one.
    pub number: Option<String>,
    /// The processor's own word.
    pub status: String,
    /// In minor units.
    pub total_cents: i64,
    /// The processor's page of it.
    pub url: Option<String>,
}
