//! Ledger of an order, or of an invoice without an order: payments, refunds, and pending requests to the payment
//! processor. The same rules apply to both.
//!
//! Payments and refunds are stored as they arrive, and `books` adds them up. `received` records what operators enter
//! and the processor's events report, `checkout` collects what is due, `refunds` returns money, `at_processor` holds
//! the pending requests, and `elsewhere` records payments that a different shop collected. `failed` reconciles the
//! ledger with the processor when a refund fails after the processor had accepted it; `disputes` alerts operators to
//! payments that a bank reclaims, and records lost disputes. The owner decides how money affects the status of its
//! order or invoice: it states its terms ([`LedgerTerms`]), changes its [`Ledger`] through an operation (`edit`), and
//! then applies the list of changes that the operation returns (`LedgerChange`). The calls to the processor are made in
//! `actors/at_processor.rs`.

mod at_processor;
mod books;
mod checkout;
mod disputes;
mod edit;
mod elsewhere;
mod failed;
mod payment;
mod received;
mod refunds;
#[cfg(test)]
mod tests;

pub use at_processor::{
    Checkout, CheckoutResult, CheckoutState, Dispute, DisputeState, FailedPayment, ProcessorRequests, RefundResult,
    RequestedRefund, UncertainRefunds,
};
pub(crate) use books::{books, left_by_hand};
pub(crate) use edit::{LedgerChange, LedgerEdit};
pub(crate) use elsewhere::{returned_elsewhere, taken_elsewhere};
pub use payment::{Payment, kept_by_currency};
pub(crate) use received::{all_tries_came, flag_money, mark_paid};
pub(crate) use refunds::{refund, refund_otherwise};

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command};
use crate::id::Id;
use crate::refusal::{Class, Refusal};

/// Payment method for payments reported by the payment processor; operators use different names for their own methods.
pub const PROCESSOR: &str = "processor";

/// Payment method for money lost in a dispute with the customer's bank; the reference is the processor's dispute ID.
pub const LOST_DISPUTE: &str = "dispute";

/// Currencies for which the payment processor does not use the ISO 4217 minor unit, or accepts only rounded amounts.
const UNLIKE_UNITS: [&str; 8] = ["bhd", "isk", "jod", "kwd", "mga", "omr", "tnd", "ugx"];

/// Content of a signed event from the payment processor. It is never rejected because of the owner's status, because
/// the money has already moved.
#[derive(Clone, PartialEq, Debug)]
pub enum PaymentUpdate {
    /// The processor received money: the full amount due, or part of it.
    Paid {
        /// Amount in minor units; `None` if the event does not state it, in which case the owner's total is assumed.
        amount_cents: Option<i64>,
        /// ISO 4217 code; `None` means the owner's currency.
        currency: Option<String>,
        /// Checkout session, if the event specifies it.
        session: Option<String>,
        /// Payment intent, if the event specifies it.
        intent: Option<String>,
    },
    /// A payment attempt failed: the processor received no money.
    Failed {
        /// The processor's reason, if the event states one.
        reason: Option<String>,
        /// Payment intent, if the event specifies it.
        intent: Option<String>,
        /// Checkout session, if it was completed before the payment failed, in which case it cannot be paid again.
        session: Option<String>,
    },
    /// Money was refunded.
    Refunded {
        /// Total refunded from the payment so far, in minor units.
        amount_cents: i64,
        /// `true` if the processor reports that the payment was fully refunded.
        whole: bool,
        /// ISO 4217 code; `None` means the payment's currency.
        currency: Option<String>,
        /// Payment intent, if the event specifies it; it identifies the payment that was refunded.
        intent: Option<String>,
    },
    /// A refund did not reach the customer: the money has been returned to the shop.
    RefundFailed {
        /// Amount returned to the shop, in minor units.
        amount_cents: i64,
        /// The processor's reason code.
        reason: String,
        /// Payment intent, if the event specifies it.
        intent: Option<String>,
        /// The processor's ID for the refund, such as `re_...`, if the event specifies it.
        refund: Option<String>,
    },
    /// The customer's bank disputes a payment, or the dispute was decided.
    Disputed {
        /// The processor's ID for the dispute, such as `dp_...`.
        id: String,
        /// Disputed amount in minor units.
        amount_cents: i64,
        /// The processor's reason code.
        reason: String,
        /// State of the dispute.
        state: DisputeState,
        /// Payment intent, if the event specifies it.
        intent: Option<String>,
    },
    /// A checkout session expired unpaid.
    SessionExpired {
        /// Expired session; ignored unless it is the owner's current session.
        session: Option<String>,
    },
}

/// Commands that change a ledger.
#[derive(Clone, PartialEq, Debug)]
pub enum LedgerCommand {
    /// Starts a checkout at the processor, or reuses the current one: a session is created unless one is open.
    CheckOut {
        /// Description of the purchase, shown to the customer on the payment page.
        title: String,
        /// URL that the customer is redirected to after paying.
        success_url: String,
        /// URL that the customer is redirected to after cancelling.
        cancel_url: String,
    },
    /// Records the outcome of creating a session for a checkout.
    CheckoutMade {
        /// Number that distinguishes the checkout from the owner's other checkouts.
        number: u32,
        /// Created session, or the error.
        news: CheckoutResult,
    },
    /// Records that the processor has closed a session, which can no longer be paid.
    SessionClosed(String),
    /// Records the processor's response to a refund.
    RefundNews {
        /// Requested refund.
        refund: Id,
        /// The processor's response.
        news: RefundResult,
    },
    /// Records the refund total of a payment with a failed refund, as read from the processor.
    RefundsRead {
        /// The processor's payment intent for the payment.
        intent: String,
        /// Sequence number of the read; the result of an outdated read is ignored.
        number: u32,
        /// Total refunded, in minor units; `None` if the processor does not report it.
        refunded_cents: Option<i64>,
    },
    /// Applies an event from the payment processor, whose signature was verified.
    Payment(PaymentUpdate),
    /// Recalculates the status from the payments.
    Recount,
}

/// External work required by the state of a ledger.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LedgerEffect {
    /// Creates a session for a checkout at the payment processor, until [`LedgerCommand::CheckoutMade`] is recorded.
    MakeSession {
        /// Number that distinguishes the checkout from the owner's other checkouts.
        number: u32,
    },
    /// Closes a session at the payment processor, until [`LedgerCommand::SessionClosed`] is recorded.
    CloseSession {
        /// The processor's ID for the session.
        session: String,
    },
    /// Requests a refund from the payment processor, until [`LedgerCommand::RefundNews`] is recorded.
    Refund {
        /// Refund to request.
        refund: Id,
    },
    /// Reads the refund total of a payment from the processor, until [`LedgerCommand::RefundsRead`] is recorded.
    ReadRefunds {
        /// The processor's payment intent for the payment.
        intent: String,
        /// Sequence number of the read.
        number: u32,
    },
    /// Recalculates the status from the payments, through [`LedgerCommand::Recount`]. In releases before 2026-11-24, an
    /// owner whose total had been received in full stayed unpaid if a refund was reported before its payment.
    Recount,
}

/// Payment stage of the order or invoice that owns a ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerStage {
    /// A payment is expected.
    Payable,
    /// The full amount due has been paid.
    Paid,
    /// No payment is accepted and nothing is owed, because the owner has not been issued yet, or is cancelled, refunded
    /// or void.
    Closed,
}

/// Current payment terms of a ledger's owner. The ledger knows nothing else about its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LedgerTerms {
    /// ID by which payments refer to the owner.
    pub owner_id: Id,
    /// Human-readable name of the owner's kind: `order` or `invoice`.
    pub kind: &'static str,
    /// Payment stage.
    pub stage: LedgerStage,
    /// Human-readable status of the owner.
    pub status: String,
    /// Currency of the owner's amounts as a lowercase ISO 4217 code.
    pub currency: String,
    /// Total price, in minor units.
    pub total_cents: i64,
}

/// Aggregate with a ledger, as seen by the code that sends its requests to the payment processor.
pub trait LedgerOwner: Aggregate {
    /// Type of the aggregate's commands that includes the ledger's commands; their response is the owner.
    type LedgerCarrier: Command<Self, Answer: AsRef<Self>>;

    /// Returns the aggregate's ledger.
    fn ledger(&self) -> &Ledger;
    /// Returns the current payment terms of the aggregate.
    fn terms(&self) -> LedgerTerms;
    /// Wraps a ledger command in a command of the aggregate.
    fn asking(command: LedgerCommand) -> Self::LedgerCarrier;
    /// Returns the metadata that links events about sessions, payments and refunds to the aggregate.
    fn metadata(&self) -> Vec<(String, String)>;
    /// Returns the default description of the purchase for the payment page.
    fn title(&self) -> String;
    /// Returns the customer's email address, used to prefill the payment page.
    fn payer(&self) -> Option<&String>;
}

/// Payments and refunds of an order or invoice, and its pending requests to the payment processor. The serialized form
/// is that of an invoice, which stores its payments in its own document; an order stores them as rows.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    /// Payments minus refunds in the owner's currency, in minor units, as last calculated by the owner. Derived from
    /// `payments` and duplicated for lists, which do not read them.
    pub kept_cents: i64,
    /// Payments and refunds, oldest first.
    pub payments: Vec<Payment>,
    /// The processor's checkout session, if known; cleared when the session expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_session: Option<String>,
    /// Pending requests to the payment processor.
    #[serde(default, skip_serializing_if = "ProcessorRequests::is_idle")]
    pub at_processor: ProcessorRequests,
}

impl Ledger {
    /// Returns the amount still due, in minor units; 0 unless a payment is expected.
    pub(crate) fn to_pay(&self, terms: &LedgerTerms) -> i64 {
        if terms.stage == LedgerStage::Payable { terms.total_cents.saturating_sub(self.kept_cents).max(0) } else { 0 }
    }

    /// Returns the amount that a checkout would charge now, in minor units; rejected if the owner is already paid or
    /// accepts no payments.
    pub fn to_check_out(&self, terms: &LedgerTerms) -> Result<i64, Refusal> {
        let not_payable = |why: String| Err(Refusal::new(Class::Invalid, "not_payable", why));
        let LedgerTerms { kind, status, currency, .. } = terms;
        let due = self.to_pay(terms);
        match terms.stage {
            LedgerStage::Closed => not_payable(format!("the {kind} cannot be paid because its status is {status}")),
            LedgerStage::Paid => Err(Refusal::conflict("already_paid", format!("the {kind} is already paid"))),
            LedgerStage::Payable if UNLIKE_UNITS.contains(&currency.as_str()) => not_payable(format!(
                "the payment processor uses a different smallest unit of {currency} than this shop; pay in another way"
            )),
            LedgerStage::Payable if due == 0 => not_payable(format!("nothing is due for this {kind}")),
            LedgerStage::Payable => Ok(due),
        }
    }

    /// Returns the current checkout, if any.
    pub fn checkout(&self) -> Option<&Checkout> {
        self.at_processor.checkout.as_ref()
    }

    /// Returns whether the owner still expects a payment although its total has been received in full.
    fn is_behind(&self, terms: &LedgerTerms) -> bool {
        let total = terms.total_cents;
        terms.stage == LedgerStage::Payable && total > 0 && books(self, terms).received >= total
    }

    /// Returns whether a payment arrived through the given session.
    fn paid_by_session(&self, session: &str) -> bool {
        self.payments.iter().any(|one| one.session.as_deref() == Some(session))
    }

    /// Returns the external work that the ledger requires.
    pub(crate) fn effects(&self, terms: &LedgerTerms) -> Vec<LedgerEffect> {
        let ProcessorRequests { checkout, closing, refunds, doubted, .. } = &self.at_processor;
        let new_sessions = checkout.iter().filter(|one| matches!(one.state, CheckoutState::Wanted));
        let new_sessions = new_sessions.map(|one| LedgerEffect::MakeSession { number: one.number });
        let closing = closing.iter().map(|session| LedgerEffect::CloseSession { session: session.clone() });
        let open_refunds = refunds.iter().filter(|one| one.error.is_none() && !one.is_accepted);
        let open_refunds = open_refunds.map(|one| LedgerEffect::Refund { refund: one.id });
        let unread = doubted.iter().filter(|one| !one.read);
        let unread = unread.map(|one| LedgerEffect::ReadRefunds { intent: one.intent.clone(), number: one.number });
        let behind = self.is_behind(terms).then_some(LedgerEffect::Recount);
        new_sessions.chain(closing).chain(open_refunds).chain(unread).chain(behind).collect()
    }
}

/// Executes a ledger command.
pub(crate) fn apply(on: &mut LedgerEdit<'_>, command: &LedgerCommand) -> Result<(), Refusal> {
    match command {
        LedgerCommand::CheckOut { title, success_url, cancel_url } => {
            return checkout::check_out(on, title, success_url, cancel_url);
        }
        LedgerCommand::CheckoutMade { number, news } => checkout::checkout_made(on, *number, news),
        LedgerCommand::SessionClosed(session) => checkout::forget_session(on, session),
        LedgerCommand::RefundNews { refund, news } => refunds::refund_news(on, *refund, news),
        LedgerCommand::RefundsRead { intent, number, refunded_cents } => {
            failed::refunds_read(on, intent, *number, *refunded_cents);
        }
        LedgerCommand::Payment(news) => received::payment(on, news),
        LedgerCommand::Recount => on.money_came(0, true),
    }
    Ok(())
}
