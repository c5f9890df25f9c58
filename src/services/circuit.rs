//! Circuit breaker with a time limit, for calls to one external system: after several consecutive failures, no calls
//! are made for a while, so that a hanging system does not affect anything else.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::peer_fault::PeerFault;
use domain::breaker::{Breaker, BreakerRules};
use domain::schedule::Delays;

/// Number of consecutive failures that open the circuit breaker.
const FAILURES_UNTIL_OPEN: u32 = 3;
/// Minimum retry delay while the circuit breaker is about to close.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// Time limit for a call, and delays while the circuit breaker is open.
#[derive(Clone, Copy, Debug)]
pub struct CircuitSettings {
    /// Time limit for one call.
    pub timeout: Duration,
    /// Delays after the failure that opens the circuit breaker and after each subsequent failure.
    pub pauses: Delays,
}

/// Circuit breaker for one system.
pub struct Circuit {
    within: Duration,
    rules: BreakerRules,
    /// Reference time from which the breaker counts milliseconds.
    began: Instant,
    breaker: Mutex<Breaker>,
}

impl Circuit {
    /// Creates a closed circuit breaker.
    pub fn new(settings: CircuitSettings) -> Self {
        let CircuitSettings { timeout: within, pauses } = settings;
        let rules = BreakerRules { failures_until_open: FAILURES_UNTIL_OPEN, pauses, longest_call: within };
        Self { within, rules, began: Instant::now(), breaker: Mutex::default() }
    }

    /// Makes a call, unless the circuit breaker is open. A call that exceeds the time limit fails. `chance`, from 0 to
    /// 1, adds jitter to the delays.
    pub async fn call<T>(&self, chance: f64, call: impl Future<Output = Result<T, PeerFault>>) -> Result<T, PeerFault> {
        if let Err(wait_ms) = self.with(|breaker| breaker.admit(&self.rules, self.now_ms())) {
            let seconds = wait_ms.div_ceil(1000);
            return Err(PeerFault::new(format!("several failures in a row; next try in {seconds} s")));
        }
        let late = || Err(PeerFault::new(format!("no response within {} s", self.within.as_secs_f64())));
        let outcome = timeout(self.within, call).await.unwrap_or_else(|_| late());
        match &outcome {
            Ok(_) => self.with(Breaker::succeeded),
            Err(_) => self.with(|breaker| breaker.failed(&self.rules, self.now_ms(), chance)),
        }
        outcome
    }

    /// Waits until a call may be made.
    pub async fn ready(&self) {
        loop {
            match self.with(|breaker| breaker.closed_for_ms(self.now_ms())) {
                0 => return,
                wait_ms => sleep(Duration::from_millis(wait_ms).max(MIN_WAIT)).await,
            }
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Breaker) -> T) -> T {
        act(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_hangs_is_left_alone_and_tried_again() {
        let pause = Duration::from_secs(2);
        let settings =
            CircuitSettings { timeout: Duration::from_millis(20), pauses: Delays { first: pause, longest: pause } };
        let circuit = Circuit::new(settings);
        for _ in 0..3 {
            let hung = circuit.call(1.0, std::future::pending::<Result<(), PeerFault>>()).await;
            assert_eq!(hung, Err(PeerFault::new("no response within 0.02 s")));
        }
        let held = circuit.call(1.0, async { Ok(1) }).await;
        assert!(held.is_err_and(|fault| fault.message.contains("several failures in a row; next try in")));
        circuit.ready().await;
        assert_eq!(circuit.call(1.0, async { Ok(2) }).await, Ok(2));
        assert_eq!(circuit.call(1.0, async { Ok(3) }).await, Ok(3));
    }
}
