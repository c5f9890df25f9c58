//! Payment processor of the simulated world. It records every cent, whatever the server knows.
//!
//! `books` contains its sessions, charges and refunds, `events` the events about them for the server, and `port` the
//! server's calls, which the network loses and delays, and whose idempotency keys are remembered (`keys`). Customers
//! act on its pages; `courier` delivers its events.

mod books;
mod events;
mod keys;
mod port;

pub use books::{Charge, PageState};
pub use events::WaitingEvent;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use simulator::payments::{SimPayment, SimPaymentEvent};
use tokio::sync::Notify;

use self::books::Books;
use self::events::EventQueue;
use self::keys::KeyedAnswers;
use self::port::CallRates;
use crate::chance::branch;
use crate::clock::WorldClock;
use crate::faults::FaultPlan;
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::story::Story;
use services::payments::{ProcessorSession, Refund};

/// Act of a customer on a payment page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageAct {
    /// Pays, with immediate confirmation.
    Pay,
    /// Pays with a method whose confirmation comes later, or never.
    PaySlowly,
    /// Tries a card that is declined.
    BeDeclined,
    /// Abandons the page until it expires.
    Leave,
}

/// Payment processor.
pub struct Processor {
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    power: Arc<Power>,
    planter: Arc<Planter>,
    state: Mutex<SimProcessorState>,
    /// Signal that another event has been queued.
    departure: Notify,
}

struct SimProcessorState {
    /// Random generator for call faults.
    chance: Rng,
    rates: CallRates,
    books: Books,
    session_answers: KeyedAnswers<ProcessorSession>,
    refund_answers: KeyedAnswers<Refund>,
    events: EventQueue,
    /// Refunds that a planted fault pretends, by payment intent.
    pretended_refunds: BTreeMap<String, Vec<Refund>>,
}

impl Processor {
    /// Creates a working processor without payments.
    pub fn new(seed: u64, clock: Arc<WorldClock>, story: Arc<Story>, power: Arc<Power>, planter: Arc<Planter>) -> Self {
        let state = SimProcessorState {
            chance: branch(seed, "payment calls"),
            rates: CallRates::default(),
            books: Books::default(),
            session_answers: KeyedAnswers::default(),
            refund_answers: KeyedAnswers::default(),
            events: EventQueue::new(seed),
            pretended_refunds: BTreeMap::new(),
        };
        Self { clock, story, power, planter, state: Mutex::new(state), departure: Notify::new() }
    }

    /// Sets the failure rates of calls and events to those of a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let mut state = self.state();
        state.rates = CallRates::of(plan);
        state.events.set_rates(plan);
    }

    /// Returns the state of a payment page; `None` if the page does not exist.
    pub fn page_state(&self, page: &str) -> Option<PageState> {
        self.state().books.page_state(page)
    }

    /// Performs a customer's act on a payment page. It has no effect on a page that can no longer be paid.
    pub fn act(&self, page: &str, act: PageAct) {
        let (to, event) = match act {
            PageAct::Pay => (PageState::Paid, SimPaymentEvent::Completed),
            PageAct::PaySlowly => (PageState::Pending, SimPaymentEvent::CompletedUnpaid),
            PageAct::BeDeclined => (PageState::Open, SimPaymentEvent::PaymentFailed),
            PageAct::Leave => (PageState::Over, SimPaymentEvent::Expired),
        };
        // A declined card is tried again, and is no news that anybody asks for.
        self.turn(page, (PageState::Open, to), event, act != PageAct::BeDeclined);
    }

    /// Lets the money of a slow payment arrive, or fail to.
    pub fn settle(&self, page: &str, arrives: bool) {
        let (to, event) = if arrives {
            (PageState::Paid, SimPaymentEvent::AsyncSucceeded)
        } else {
            (PageState::Over, SimPaymentEvent::AsyncFailed)
        };
        self.turn(page, (PageState::Pending, to), event, true);
    }

    /// Moves a page from one state to another, with all consequences, if it is in the first one.
    fn turn(&self, page: &str, (from, to): (PageState, PageState), event: SimPaymentEvent, is_learnt: bool) {
        let now = self.now();
        let mut state = self.state();
        let SimProcessorState { books, events, .. } = &mut *state;
        let Some(payment) = books.payment(page) else { return };
        if !books.turn(page, from, to) {
            return self.story.tell(format!("processor: the page {page} is not open any more"));
        }
        self.story.tell(format!("processor: {} for {} cents at {page}", event.name(), payment.amount_cents));
        if to == PageState::Paid {
            books.charge(&payment);
            if self.planter.strikes(Plant::UnknownCharge) {
                let payment_intent = format!("{}_again", payment.payment_intent);
                books.charge(&SimPayment { payment_intent, ..payment.clone() });
            }
            if self.planter.strikes(Plant::UnknownClaim) {
                let order = &payment.order_id;
                // Nobody hears of what follows from it.
                drop(books.claim(order, payment.amount_cents / 2).and_then(|_| books.decide(order, true)));
            }
        }
        events.push(event, &payment, now, is_learnt);
        drop(state);
        self.departure.notify_one();
    }

    /// Lets a customer's bank claim so much of an order's payment. Returns whether there is one.
    pub fn claim(&self, order: &str, cents: i64) -> bool {
        let mut state = self.state();
        let Some(payment) = state.books.claim(order, cents) else { return false };
        self.story.tell(format!("a bank claims {cents} cents of {}", payment.payment_intent));
        self.tell(state, SimPaymentEvent::Disputed { cents }, &payment);
        true
    }

    /// Lets a customer's bank decide on its claim. Returns whether there is one.
    pub fn decide(&self, order: &str, is_lost: bool) -> bool {
        let mut state = self.state();
        let Some((payment, cents)) = state.books.decide(order, is_lost) else { return false };
        let word = if is_lost { "takes" } else { "leaves" };
        self.story.tell(format!("a bank {word} {cents} cents of {}", payment.payment_intent));
        self.tell(state, SimPaymentEvent::DisputeClosed { cents, is_lost }, &payment);
        true
    }

    /// Sends an event on its way that the server cannot do without.
    fn tell(&self, mut state: MutexGuard<'_, SimProcessorState>, event: SimPaymentEvent, payment: &SimPayment) {
        state.events.push(event, payment, self.now(), false);
        drop(state);
        self.departure.notify_one();
    }

    /// Records a payment made without a page of the server, or a refund made without the server. The caller sends the
    /// event to the server.
    pub fn record(&self, payment: &SimPayment, event: SimPaymentEvent) {
        let mut state = self.state();
        state.books.charge(payment);
        if let SimPaymentEvent::Refunded { refunded_cents } = event {
            state.books.raise_refunds(&payment.payment_intent, refunded_cents);
        }
    }

    /// Returns the charges for an order by payment intent.
    pub fn charges_of(&self, order: &str) -> BTreeMap<String, Charge> {
        self.state().books.charges_of(order)
    }

    /// Returns the money of an order that neither went back nor was lost, in minor units.
    pub fn balance_cents(&self, order: &str) -> i64 {
        let charges = self.charges_of(order);
        charges.values().map(|charge| charge.cents - charge.refunded_cents() - charge.lost_cents()).sum()
    }

    /// Returns the ID of an order's page that can be paid; `None` if there is none.
    pub fn open_page(&self, order: &str) -> Option<String> {
        self.state().books.open_page(order).cloned()
    }

    /// Returns the next event to be sent; `None` if there is none.
    pub fn first_event(&self) -> Option<WaitingEvent> {
        self.state().events.first().cloned()
    }

    /// Waits until another event has been queued.
    pub async fn departure(&self) {
        self.departure.notified().await;
    }

    /// Ends the way of an event that the server has taken, or has it sent again later.
    pub fn settle_event(&self, number: u64, is_taken: bool) {
        self.state().events.settle(number, is_taken, self.clock.elapsed_ms());
    }

    /// Returns the current time: virtual milliseconds since the start of the simulation, and Unix seconds.
    fn now(&self) -> (i64, i64) {
        (self.clock.elapsed_ms(), self.clock.now().0 / 1000)
    }

    fn state(&self) -> MutexGuard<'_, SimProcessorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
