//! The ledger of an order, or of an invoice without an order: what was paid and paid back, and what is under way at the
//! payment processor. The rules of money are here once for both.
//!
//! Payments and refunds are kept as they come, and `books` adds them up. `received` records what operators and the
//! processor's events report, `checkout` asks for what is due, `refunds` gives money back, `at_processor` says what is
//! under way, `elsewhere` records what another shop took. `failed` brings the books in line with the processor's after
//! a refund that it had taken came back, and `disputes` tells of payments that a bank takes back, and books what it
//! took. What money does to the status of an order or invoice is decided there: an owner tells how it stands
//! ([`Payable`]) and follows what is recorded (`LedgerChange`). Nothing here talks to the processor:
//! `actors/at_processor.rs` does.

mod at_processor;
mod books;
mod checkout;
mod disputes;
mod elsewhere;
mod failed;
mod payment;
mod received;
mod refunds;

pub use at_processor::{
    AtProcessor, Checkout, CheckoutNews, CheckoutState, Dispute, DisputeState, DoubtedRefunds, FailedTry, RefundAsked,
    RefundNews,
};
pub(crate) use books::{books, left_by_hand, refunded_cents};
pub(crate) use elsewhere::{returned_elsewhere, taken_elsewhere};
pub use payment::{Payment, kept_by_currency};
pub(crate) use received::{all_tries_came, flag_money, mark_paid};
pub(crate) use refunds::{refund, refund_otherwise};

use crate::domain::aggregate::{Aggregate, DecisionContext};
use crate::domain::id::Id;
use crate::domain::refusal::{Class, Refusal};

/// The method of payments that the payment processor reports; operators name other words for theirs.
pub const PROCESSOR: &str = "processor";

/// The method of money that the customer's bank took back for good; its reference is the processor's id of the dispute.
const LOST_DISPUTE: &str = "dispute";

/// Currencies whose amounts the payment processor counts in other units than ISO 4217, or takes only rounded.
const UNLIKE_UNITS: [&str; 8] = ["bhd", "isk", "jod", "kwd", "mga", "omr", "tnd", "ugx"];

/// What a signed event of the payment processor says. It is never refused because of the owner's status: the money
/// has moved whatever the owner is.
#[derive(Clone, PartialEq, Debug)]
pub enum PaymentNews {
    /// The processor has taken money, all or a part of what is due.
    Paid {
        /// Amount in minor units; `None` if the event does not say, which counts as the owner's total.
        amount_cents: Option<i64>,
        /// ISO 4217 code; `None` counts as the owner's currency.
        currency: Option<String>,
        /// The checkout session, if named.
        session: Option<String>,
        /// The payment intent, if named.
        intent: Option<String>,
    },
    /// Somebody tried to pay, and the processor got no money.
    Failed {
        /// The processor's reason, if any.
        reason: Option<String>,
        /// The payment intent, if named.
        intent: Option<String>,
        /// The checkout session, if it was completed before the payment failed: it cannot be paid again.
        session: Option<String>,
    },
    /// Money was given back.
    Refunded {
        /// Total refunded of this payment so far, in minor units (cumulative).
        amount_cents: i64,
        /// Whether the processor says that all of it was refunded.
        whole: bool,
        /// ISO 4217 code; `None` counts as that of the payment.
        currency: Option<String>,
        /// The payment intent, if named; it tells which of several payments was refunded.
        intent: Option<String>,
    },
    /// Money that was being given back did not arrive, and is with the shop again.
    RefundFailed {
        /// How much, in minor units.
        amount_cents: i64,
        /// The processor's word for why.
        reason: String,
        /// The payment intent, if named.
        intent: Option<String>,
        /// The processor's id of the refund, `re_...`, if named.
        refund: Option<String>,
    },
    /// The customer's bank takes a payment back, or has decided about it.
    Disputed {
        /// The processor's id of the dispute, `dp_...`.
        id: String,
        /// How much it is about, in minor units.
        amount_cents: i64,
        /// The processor's word for why.
        reason: String,
        /// How it stands.
        state: DisputeState,
        /// The payment intent, if named.
        intent: Option<String>,
    },
    /// A checkout session expired unpaid.
    SessionExpired {
        /// The session; ignored unless it is the owner's current one.
        session: Option<String>,
    },
}

/// What can be asked of whatever has a ledger.
#[derive(Clone, PartialEq, Debug)]
pub enum LedgerCommand {
    /// Somebody wants to pay at the processor: a session is made, unless one stands.
    CheckOut {
        /// What the customer reads that they pay for.
        title: String,
        /// Where the customer is sent after paying.
        success_url: String,
        /// Where the customer is sent who gives up.
        cancel_url: String,
    },
    /// What came of making the session of a checkout.
    CheckoutMade {
        /// Which of the owner's checkouts it is.
        number: u32,
        /// The session, or why there is none.
        news: CheckoutNews,
    },
    /// A session cannot be paid any more, as the processor says.
    SessionClosed(String),
    /// The processor has answered a refund.
    RefundNews {
        /// The refund that was asked for.
        refund: Id,
        /// Its answer.
        news: RefundNews,
    },
    /// What went back of a payment of which a refund had failed.
    RefundsRead {
        /// The processor's payment intent of it.
        intent: String,
        /// Which reading of it this is; an older one than is wanted by now is not heard.
        number: u32,
        /// All that went back, in minor units; `None` where the processor does not say it.
        refunded_cents: Option<i64>,
    },
    /// An event of the payment processor, whose signature was checked.
    Payment(PaymentNews),
    /// The status is to follow from the payments once more.
    Recount,
}

/// Outside work that a ledger calls for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LedgerEffect {
    /// Have the session of a checkout made at the payment processor, until [`LedgerCommand::CheckoutMade`] is recorded.
    MakeSession {
        /// Which of the owner's checkouts it is.
        number: u32,
    },
    /// Close a session at the payment processor, until [`LedgerCommand::SessionClosed`] is recorded.
    CloseSession {
        /// The processor's id of it.
        session: String,
    },
    /// Have the payment processor pay back, until [`LedgerCommand::RefundNews`] is recorded.
    Refund {
        /// The refund that was asked for.
        refund: Id,
    },
    /// Have the processor say what went back of a payment, until [`LedgerCommand::RefundsRead`] is recorded.
    ReadRefunds {
        /// The processor's payment intent of it.
        intent: String,
        /// Which reading of it this is.
        number: u32,
    },
    /// Have the status follow from the payments, by [`LedgerCommand::Recount`]. Releases before 2026-11-24 left unpaid
    /// what was received in whole when a refund was heard of before its payment.
    Recount,
}

/// How the owner of a ledger stands, as far as its money goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerStage {
    /// A payment is still to come.
    Payable,
    /// It was paid.
    Paid,
    /// It takes no payment: it is not issued yet, or cancelled, refunded or void. Nothing is owed for it.
    Closed,
}

/// What is paid: it has a ledger.
pub trait Payable: Sized {
    /// What it is, in a word for people.
    const WORD: &'static str;
    /// By which its payments name it.
    fn owner_id(&self) -> Id;
    /// How it stands.
    fn stage(&self) -> LedgerStage;
    /// Its status in words for people.
    fn status_in_words(&self) -> String;
    /// Currency of its amounts.
    fn ledger_currency(&self) -> &str;
    /// What it costs in all, in minor units.
    fn owed_cents(&self) -> i64;
    /// Payments in its currency less their refunds, in minor units, as they were added up last.
    fn kept(&self) -> i64;
    /// Payments and refunds, oldest first.
    fn ledger_payments(&self) -> &[Payment];
    /// What is under way at the processor.
    fn under_way(&self) -> &AtProcessor;
    /// The processor's session that is known of it.
    fn known_session(&self) -> Option<&str>;

    /// What is still to be paid, in minor units; 0 unless it can be paid.
    fn to_pay(&self) -> i64 {
        if self.stage() == LedgerStage::Payable { self.owed_cents().saturating_sub(self.kept()).max(0) } else { 0 }
    }

    /// What a checkout asks for now, in minor units; refused when it is paid or takes no payment.
    fn to_check_out(&self) -> Result<i64, Refusal> {
        let not_payable = |why: String| Err(Refusal::new(Class::Invalid, "not_payable", why));
        let (word, due) = (Self::WORD, self.to_pay());
        match self.stage() {
            LedgerStage::Closed => {
                not_payable(format!("the {word} is {} and takes no payment", self.status_in_words()))
            }
            LedgerStage::Paid => Err(Refusal::conflict("already_paid", format!("the {word} is already paid"))),
            LedgerStage::Payable if UNLIKE_UNITS.contains(&self.ledger_currency()) => {
                let currency = self.ledger_currency();
                not_payable(format!(
                    "the payment processor counts {currency} in other units than this shop; pay otherwise"
                ))
            }
            LedgerStage::Payable if due == 0 => not_payable(format!("nothing is to be paid for this {word}")),
            LedgerStage::Payable => Ok(due),
        }
    }

    /// The checkout that was begun last, if it still stands.
    fn checkout(&self) -> Option<&Checkout> {
        self.under_way().checkout.as_ref()
    }

    /// Whether it still asks for money although all of it was received.
    fn is_behind(&self) -> bool {
        let total = self.owed_cents();
        self.stage() == LedgerStage::Payable && total > 0 && books(self).received >= total
    }

    /// Whether money came by this session.
    fn paid_by_session(&self, session: &str) -> bool {
        self.ledger_payments().iter().any(|one| one.session.as_deref() == Some(session))
    }

    /// What its ledger calls for.
    fn ledger_effects(&self) -> Vec<LedgerEffect> {
        let AtProcessor { checkout, closing, refunds, doubted, .. } = self.under_way();
        let wanted = checkout.iter().filter(|one| matches!(one.state, CheckoutState::Wanted));
        let wanted = wanted.map(|one| LedgerEffect::MakeSession { number: one.number });
        let closing = closing.iter().map(|session| LedgerEffect::CloseSession { session: session.clone() });
        let asked = refunds.iter().filter(|one| one.error.is_none() && !one.taken);
        let asked = asked.map(|one| LedgerEffect::Refund { refund: one.id });
        let unread = doubted.iter().filter(|one| !one.read);
        let unread = unread.map(|one| LedgerEffect::ReadRefunds { intent: one.intent.clone(), number: one.number });
        let behind = self.is_behind().then_some(LedgerEffect::Recount);
        wanted.chain(closing).chain(asked).chain(unread).chain(behind).collect()
    }
}

/// An aggregate that has a ledger, as those see it who carry out its work at the processor.
pub trait LedgerOwner: Aggregate + Payable {
    /// The command of the aggregate that asks this of its ledger.
    fn asking(command: LedgerCommand) -> Self::Command;
    /// The state that an answer to such a command shows.
    fn answered(answer: &Self::Answer) -> Option<&Self>;
    /// What events of its sessions, payments and refunds say it belongs to.
    fn metadata(&self) -> Vec<(String, String)>;
    /// What the customer reads that they pay for, where nobody said more.
    fn title(&self) -> String;
    /// Address of the customer, to be filled in for them.
    fn payer(&self) -> Option<&String>;
}

/// One command's changes to a ledger and its owner.
pub(crate) trait LedgerChange {
    /// What is paid.
    type Of: Payable;
    /// The surroundings of the decision.
    fn context(&self) -> &DecisionContext<'_>;
    /// The owner as it will be.
    fn owner(&self) -> &Self::Of;
    /// What is under way, to be changed.
    fn under_way_mut(&mut self) -> &mut AtProcessor;
    /// The processor's session that is known of it.
    fn know_session(&mut self, session: Option<String>);
    /// Adds a payment or refund.
    fn add_payment(&mut self, payment: Payment);
    /// Replaces a payment by what is known of it now.
    fn replace_payment(&mut self, at: usize, payment: Payment);
    /// Flags the owner while this holds, and takes the flag away when it no longer does.
    fn raise_flag(&mut self, flag: &str, holds: bool, words: &str);
    /// A session by which it can be paid is there.
    fn session_made(&mut self);
    /// Somebody tried to pay, and the processor got no money.
    fn payment_failed(&mut self, reason: Option<&String>);
    /// A refund was just recorded: tells of it.
    fn refund_recorded(&mut self);
    /// Follows up on a payment that was just recorded; `own` says whether it is in the owner's currency. Whether all
    /// was paid follows from what was received, whatever went back of it.
    fn money_came(&mut self, amount_cents: i64, own: bool);
    /// Brings the status and the flags in line with what is kept.
    fn money_went(&mut self);
}

/// Carries out a command of a ledger.
pub(crate) fn apply<L: LedgerChange>(on: &mut L, command: &LedgerCommand) -> Result<(), Refusal> {
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

/// An empty payment of this owner, made now.
fn blank<L: LedgerChange>(on: &L) -> Payment {
    Payment {
        id: on.context().ids.id(),
        owner_id: on.owner().owner_id(),
        amount_cents: 0,
        currency: on.owner().ledger_currency().to_owned(),
        method: String::new(),
        reference: None,
        session: None,
        whole: false,
        refund_of: None,
        failed_cents: 0,
        created_at: on.context().now,
    }
}
