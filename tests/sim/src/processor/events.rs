//! Events from the payment processor on their way to the server. Each is sent again until the server accepts it.

use std::array;

use fastrand::Rng;
use simulator::payments::{SimPayment, SimPaymentEvent};

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};

/// Share of the events affected by a fault of the highest frequency.
const SHARE: f64 = 0.6;
/// Maximum delay of an event, in milliseconds.
const MAX_LATE_MS: i64 = 8 * 60_000;
/// Initial and maximum delay before an event that the server did not accept is sent again, in milliseconds.
const RETRY_MS: (i64, i64) = (5_000, 60_000);

/// Event on its way.
#[derive(Clone)]
pub struct WaitingEvent {
    /// Sequence number of the event. An event that arrives twice has two numbers.
    pub number: u64,
    /// Name of the event type.
    pub name: &'static str,
    /// Body, the same for each transmission.
    pub body: String,
    /// Time of the next transmission, in milliseconds since the start of the simulation.
    pub due_ms: i64,
    retry_ms: i64,
}

/// Events on their way.
pub struct EventQueue {
    chance: Rng,
    late: f64,
    twice: f64,
    lost: f64,
    count: u64,
    waiting: Vec<WaitingEvent>,
}

impl EventQueue {
    /// Creates the queue of a seed, in which all events come at once.
    pub fn new(seed: u64) -> Self {
        let chance = branch(seed, "payment events");
        Self { chance, late: 0.0, twice: 0.0, lost: 0.0, count: 0, waiting: Vec::new() }
    }

    /// Sets the rates of late, repeated and lost events according to a plan.
    pub fn set_rates(&mut self, plan: &FaultPlan) {
        let share = |kind| plan.rate(kind) * SHARE;
        self.late = share(FaultKind::EventLate);
        self.twice = share(FaultKind::EventTwice);
        self.lost = share(FaultKind::EventLost);
    }

    /// Queues an event. `is_learnt` states whether the server can learn the same without the event.
    pub fn push(
        &mut self,
        event: SimPaymentEvent,
        payment: &SimPayment,
        (now_ms, now_seconds): (i64, i64),
        is_learnt: bool,
    ) {
        // Always as many draws, so that the story without one of the faults has the others at the same events.
        let [late, twice, lost]: [f64; 3] = array::from_fn(|_| self.chance.f64());
        let [delay_ms, again_ms]: [i64; 2] = array::from_fn(|_| self.chance.i64(1_000..MAX_LATE_MS));
        self.count += 1;
        if lost < self.lost && is_learnt {
            return;
        }
        let due_ms = now_ms + if late < self.late { delay_ms } else { 0 };
        let body = payment.event(event, &format!("evt_till_{}", self.count), now_seconds);
        let first = WaitingEvent { number: self.count, name: event.name(), body, due_ms, retry_ms: RETRY_MS.0 };
        if twice < self.twice {
            self.count += 1;
            self.waiting.push(WaitingEvent { number: self.count, due_ms: now_ms + again_ms, ..first.clone() });
        }
        self.waiting.push(first);
    }

    /// Returns the next event to be sent; `None` if there is none.
    pub fn first(&self) -> Option<&WaitingEvent> {
        self.waiting.iter().min_by_key(|event| (event.due_ms, event.number))
    }

    /// Returns whether an event with at most this number is due but has not been accepted.
    pub fn holds_due(&self, number: u64, now_ms: i64) -> bool {
        self.waiting.iter().any(|event| event.number <= number && event.due_ms <= now_ms)
    }

    /// Returns the number of the last event.
    pub const fn last_number(&self) -> u64 {
        self.count
    }

    /// Removes an event that the server has accepted, or schedules it to be sent again.
    pub fn settle(&mut self, number: u64, is_taken: bool, now_ms: i64) {
        if is_taken {
            self.waiting.retain(|event| event.number != number);
        } else if let Some(event) = self.waiting.iter_mut().find(|event| event.number == number) {
            event.due_ms = now_ms + event.retry_ms;
            event.retry_ms = (event.retry_ms * 2).min(RETRY_MS.1);
        }
    }
}
