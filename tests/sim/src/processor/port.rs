//! Server's calls to the payment processor. The network loses and delays calls and responses, the processor refuses
//! some calls, and events caused by a call may arrive before its response.

use std::array;
use std::time::Duration;

use async_trait::async_trait;
use simulator::payments::SimPaymentEvent;
use tokio::time::sleep;

use super::books::PageState;
use super::{Processor, SimProcessorState};
use crate::faults::{FaultKind, FaultPlan};
use crate::plants::Plant;
use services::payments::{
    NewCustomer, NewPaymentSession, NewRefund, NewSubscriptionSession, PaymentMethod, PaymentProcessor,
    ProcessorCustomer, ProcessorError, ProcessorSession, REFUND_ID, Refund, Subscription,
};

/// Share of the calls affected by a fault of the highest frequency.
const SHARE: f64 = 0.5;
/// Latency of a call in each direction.
const WAY: Duration = Duration::from_millis(20);
/// Maximum additional latency, in milliseconds.
const MAX_DELAY_MS: u64 = 30_000;
/// Timeout for a call.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval at which a call checks whether its events have been delivered, and maximum number of checks.
const LOOKS: (Duration, u32) = (Duration::from_millis(50), 100);

/// Frequencies of call faults.
#[derive(Default)]
pub struct CallRates {
    lost: f64,
    slow: f64,
    refused: f64,
    first: f64,
}

impl CallRates {
    /// Derives the rates from a plan.
    pub fn of(plan: &FaultPlan) -> Self {
        let share = |kind| plan.rate(kind) * SHARE;
        Self {
            lost: share(FaultKind::PaymentLost),
            slow: share(FaultKind::PaymentSlow),
            refused: share(FaultKind::PaymentRefused),
            first: plan.rate(FaultKind::EventFirst),
        }
    }
}

/// Fate of a call.
struct CallFate {
    delay: Duration,
    loses_request: bool,
    loses_answer: bool,
    is_refused: bool,
    waits_for_events: bool,
}

impl SimProcessorState {
    fn draw_fate(&mut self) -> CallFate {
        // Always as many draws, so that the story without one of the faults has the others at the same calls.
        let [lost, slow, refused, first]: [f64; 4] = array::from_fn(|_| self.chance.f64());
        let (is_request, ms) = (self.chance.bool(), self.chance.u64(..MAX_DELAY_MS));
        let is_lost = lost < self.rates.lost;
        CallFate {
            delay: Duration::from_millis(if slow < self.rates.slow { ms } else { 0 }),
            loses_request: is_lost && is_request,
            loses_answer: is_lost && !is_request,
            is_refused: refused < self.rates.refused,
            waits_for_events: first < self.rates.first,
        }
    }
}

/// Returns the error for a call without a response.
fn unanswered<T>() -> Result<T, ProcessorError> {
    Err(ProcessorError::Unavailable(format!("no response within {} s", PATIENCE.as_secs())))
}

/// Returns the error for a call that does not occur in any story.
fn unused<T>() -> Result<T, ProcessorError> {
    Err(ProcessorError::Unavailable("not part of the simulation".to_owned()))
}

/// Returns the error for a call that the processor temporarily refuses.
fn busy<T>() -> Result<T, ProcessorError> {
    Err(ProcessorError::Unavailable("status 429: too many requests".to_owned()))
}

impl Processor {
    /// Executes a call with network latency; `act` is told whether to refuse it. The call or its response may be lost.
    async fn call<T: Send>(
        &self,
        act: impl FnOnce(&mut SimProcessorState, bool) -> Result<T, ProcessorError> + Send,
    ) -> Result<T, ProcessorError> {
        self.power.hold().await;
        let fate = self.state().draw_fate();
        sleep(WAY + fate.delay).await;
        self.power.hold().await;
        if fate.loses_request {
            sleep(PATIENCE).await;
            return unanswered();
        }
        let (result, last_event) = self.carry_out(act, fate.is_refused);
        self.departure.notify_one();
        if fate.waits_for_events {
            self.let_events_pass(last_event).await;
        }
        if fate.loses_answer {
            sleep(PATIENCE).await;
            return unanswered();
        }
        sleep(WAY).await;
        result
    }

    fn carry_out<T>(
        &self,
        act: impl FnOnce(&mut SimProcessorState, bool) -> Result<T, ProcessorError>,
        is_refused: bool,
    ) -> (Result<T, ProcessorError>, u64) {
        let mut state = self.state();
        let result = act(&mut state, is_refused);
        (result, state.events.last_number())
    }

    /// Waits until all due events up to this number have been accepted, for a limited time.
    async fn let_events_pass(&self, number: u64) {
        let (interval, count) = LOOKS;
        for _ in 0..count {
            if !self.state().events.holds_due(number, self.clock.elapsed_ms()) {
                return;
            }
            sleep(interval).await;
        }
    }

    /// Executes a call that changes something; each direction counts as a step at which the server may crash.
    async fn change<T: Send>(
        &self,
        act: impl FnOnce(&mut SimProcessorState, bool) -> Result<T, ProcessorError> + Send,
    ) -> Result<T, ProcessorError> {
        self.power.pass().await;
        let result = self.call(act).await;
        self.power.pass().await;
        result
    }

    /// Refunds a charge, and queues the event about the refund.
    fn give_back(
        &self,
        state: &mut SimProcessorState,
        new: &NewRefund,
        now: (i64, i64),
    ) -> Result<Refund, ProcessorError> {
        if self.planter.has(Plant::LostRefund) {
            let our_id = new.metadata.iter().find(|(name, _)| name == REFUND_ID).map(|(_, value)| value.clone());
            let id = format!("re_lost_{}", our_id.as_deref().unwrap_or_default());
            let refund = Refund { id, amount_cents: new.amount_cents, counts: true, our_id };
            state.pretended_refunds.entry(new.intent.clone()).or_default().push(refund.clone());
            return Ok(refund);
        }
        let refund = state.books.refund(new)?;
        if self.planter.has(Plant::DoubledRefund) {
            // Nothing is left for another one where all went back.
            drop(state.books.refund(new));
        }
        self.story.tell(format!("processor: {} cents of {} go back", new.amount_cents, new.intent));
        if let Some(charge) = state.books.charge_of(&new.intent) {
            let payment = charge.payment(&new.intent);
            let event = SimPaymentEvent::Refunded { refunded_cents: charge.refunded_cents() };
            state.events.push(event, &payment, now, true);
        }
        Ok(refund)
    }
}

#[async_trait]
impl PaymentProcessor for Processor {
    async fn check(&self) -> Result<String, ProcessorError> {
        unused()
    }

    fn trouble(&self) -> Option<String> {
        None
    }

    async fn create_payment_session(
        &self,
        new: &NewPaymentSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError> {
        self.change(|state, is_refused| {
            let (now_ms, now) = (self.clock.elapsed_ms(), self.clock.now());
            let SimProcessorState { books, session_answers, .. } = state;
            session_answers.answer(key, new, now_ms, || {
                if is_refused {
                    return Err(ProcessorError::Failing("status 500: something went wrong".to_owned()));
                }
                self.story.tell(format!("processor: a page for {} cents", new.amount_cents));
                books.open(new, now)
            })
        })
        .await
    }

    async fn create_subscription_session(
        &self,
        _: &NewSubscriptionSession,
        _: &str,
    ) -> Result<ProcessorSession, ProcessorError> {
        unused()
    }

    async fn session(&self, id: &str) -> Result<ProcessorSession, ProcessorError> {
        self.call(|state, is_refused| if is_refused { busy() } else { state.books.session(id) }).await
    }

    async fn expire_session(&self, id: &str) -> Result<ProcessorSession, ProcessorError> {
        self.change(|state, is_refused| {
            if is_refused {
                return busy();
            }
            let session = state.books.session(id)?;
            if !state.books.turn(id, PageState::Open, PageState::Over) {
                let words = format!("only open sessions can be expired, and this one is {:?}", session.status);
                return Err(ProcessorError::Refused { status: 400, code: String::new(), words });
            }
            if let Some(payment) = state.books.payment(id) {
                state.events.push(SimPaymentEvent::Expired, &payment, self.now(), true);
            }
            state.books.session(id)
        })
        .await
    }

    async fn create_refund(&self, new: &NewRefund, key: &str) -> Result<Refund, ProcessorError> {
        self.change(|state, is_refused| {
            let now = self.now();
            // The answers are lent out while the rest of the state changes.
            let mut answers = std::mem::take(&mut state.refund_answers);
            let result = answers.answer(key, new, now.0, || {
                if is_refused {
                    let words = "insufficient funds in your account to refund".to_owned();
                    let code = "balance_insufficient".to_owned();
                    return Err(ProcessorError::Refused { status: 400, code, words });
                }
                self.give_back(state, new, now)
            });
            state.refund_answers = answers;
            result
        })
        .await
    }

    async fn refunds(&self, intent: &str) -> Result<Vec<Refund>, ProcessorError> {
        self.call(|state, is_refused| {
            if is_refused {
                return busy();
            }
            let pretended = state.pretended_refunds.get(intent).cloned().unwrap_or_default();
            let real = state.books.charge_of(intent).map(|charge| charge.refunds.clone()).unwrap_or_default();
            Ok(real.into_iter().chain(pretended).collect())
        })
        .await
    }

    async fn create_customer(&self, _: &NewCustomer, _: &str) -> Result<ProcessorCustomer, ProcessorError> {
        unused()
    }

    async fn find_customer(&self, _: &str) -> Result<Option<ProcessorCustomer>, ProcessorError> {
        unused()
    }

    async fn create_portal(&self, _: &str, _: &str, _: &str) -> Result<String, ProcessorError> {
        unused()
    }

    async fn payment_methods(&self, _: &str) -> Result<Vec<PaymentMethod>, ProcessorError> {
        unused()
    }

    async fn subscriptions(&self, _: &str, _: usize) -> Result<Vec<Subscription>, ProcessorError> {
        unused()
    }

    async fn subscription(&self, _: &str) -> Result<Subscription, ProcessorError> {
        unused()
    }

    async fn set_cancel_at_period_end(&self, _: &str, _: bool) -> Result<Subscription, ProcessorError> {
        unused()
    }
}
