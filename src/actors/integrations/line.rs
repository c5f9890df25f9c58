//! Connection to a system. Every call over it has a time limit, is counted and passes through a circuit breaker.
//!
//! Recorded and logged errors contain no URL queries, because a system may repeat one of our signed links.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::ALL;
use config::sections;
use domain::breaker::{Breaker, BreakerRules};
use domain::peer_address::without_queries;
use domain::schedule::Delays;
use domain::time::Timestamp;
use kernel::environment::Environment;
use platform::observe::meters::{Counter, Histogram};
use services::peer_fault::PeerFault;

/// Number of consecutive failures after which no calls are made for a while.
const FAILURES_UNTIL_OPEN: u32 = 3;
/// Minimum retry delay while the circuit breaker is about to close.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// Metrics of the calls to a system since the process started.
#[derive(Debug)]
pub struct CallMeter {
    /// Number of successful calls.
    pub done: Counter,
    /// Number of calls that failed or timed out.
    pub failed: Counter,
    /// Number of calls not made because the circuit breaker was open.
    pub withheld: Counter,
    /// Durations of the calls that were made.
    pub took: Histogram,
    /// Number of panics in the integration's work.
    pub crashes: Counter,
}

/// State of the connection to a system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SystemLineState {
    /// Number of failures since the last successful call, or number of unusable responses since the last usable one,
    /// whichever is greater.
    pub failures: u32,
    /// Error of the last failed call or, if no call has failed, the problem with the last unusable response.
    pub last_error: Option<String>,
    /// Time of the last successful call while no unusable response was outstanding.
    pub last_ok_at: Option<Timestamp>,
    /// Time until calls are resumed, in milliseconds; 0 while calls are being made.
    pub retry_in_ms: u64,
    /// Note for operators about the system, such as the number of printers or the pictures that are unavailable.
    pub note: Option<String>,
    /// Reason that an operator must act before the system works again; `None` if no action is needed.
    pub needs_person: Option<String>,
}

#[derive(Default)]
struct CallState {
    breaker: Breaker,
    last_error: Option<String>,
    last_ok_at: Option<Timestamp>,
    note: Option<String>,
    needs_person: Option<String>,
    useless: UnusableAnswers,
}

/// Unusable responses received since the task last reported that no operator action was needed. Successful calls of a
/// different type do not clear them.
#[derive(Default)]
struct UnusableAnswers {
    count: u32,
    last_error: Option<String>,
    /// Time of the last success of a different call, if any, since the first unusable response.
    other_ok_at: Option<Timestamp>,
}

/// Connection for all calls to an external system, with a time limit and a circuit breaker.
pub struct SystemLine {
    /// Name of the integration.
    pub name: &'static str,
    /// Call metrics.
    pub meter: CallMeter,
    within: Duration,
    rules: BreakerRules,
    environment: Arc<Environment>,
    /// Time from which the circuit breaker measures time, in milliseconds.
    began: Instant,
    inside: Mutex<CallState>,
}

impl SystemLine {
    /// Creates a connection over which no calls have been made yet.
    pub fn new(name: &'static str, settings: &sections::IntegrationsConfig, environment: Arc<Environment>) -> Self {
        let within = settings.request_timeout_seconds.duration();
        let first = settings.retry_first_seconds.duration();
        let pauses = Delays { first, longest: settings.retry_longest_seconds.duration().max(first) };
        let meter = CallMeter {
            done: Counter::default(),
            failed: Counter::default(),
            withheld: Counter::default(),
            took: Histogram::of_seconds(),
            crashes: Counter::default(),
        };
        Self {
            name,
            meter,
            within,
            rules: BreakerRules { failures_until_open: FAILURES_UNTIL_OPEN, pauses, longest_call: within },
            environment,
            began: Instant::now(),
            inside: Mutex::default(),
        }
    }

    /// Makes a call, unless the circuit breaker is open. A call that times out or is cancelled by its caller is
    /// recorded as failed.
    pub async fn call<T>(&self, call: impl Future<Output = Result<T, PeerFault>>) -> Result<T, PeerFault> {
        self.call_and_judge(call, |_| None).await
    }

    /// Makes a call like [`Self::call`]. `judge` returns the problem with a response, if any. A call with such a
    /// response fails but does not contribute to opening the circuit breaker, because the system responds and other
    /// calls may work. It is recorded as a failure until [`Self::needs_person`] reports that no action is needed.
    pub async fn call_and_judge<T>(
        &self,
        call: impl Future<Output = Result<T, PeerFault>>,
        judge: impl FnOnce(&T) -> Option<PeerFault>,
    ) -> Result<T, PeerFault> {
        if let Err(wait_ms) = self.with(|inside| inside.breaker.admit(&self.rules, self.now_ms())) {
            self.meter.withheld.one();
            let seconds = wait_ms.div_ceil(1000);
            let words = format!("several failures in a row; next try in {seconds} s");
            return Err(PeerFault::new(words));
        }
        let called = Instant::now();
        let late = || PeerFault::new(format!("no response within {} s", self.within.as_secs_f64()));
        let outcome = timeout(self.within, call).await.unwrap_or_else(|_| Err(late()));
        self.meter.took.took(called.elapsed());
        match &outcome {
            Ok(answer) => match judge(answer) {
                None => self.succeeded(),
                Some(fault) => self.answered_wrongly(&fault),
            },
            Err(fault) => self.failed(fault),
        }
        outcome
    }

    /// Waits until a call may be made.
    pub async fn ready(&self) {
        loop {
            match self.with(|inside| inside.breaker.closed_for_ms(self.now_ms())) {
                0 => return,
                wait_ms => sleep(Duration::from_millis(wait_ms).max(MIN_WAIT)).await,
            }
        }
    }

    /// Returns the state of the calls.
    pub fn state(&self) -> SystemLineState {
        let now = self.now_ms();
        self.with(|inside| SystemLineState {
            failures: inside.breaker.failures().max(inside.useless.count),
            last_error: inside.last_error.clone().or_else(|| inside.useless.last_error.clone()),
            last_ok_at: inside.last_ok_at,
            retry_in_ms: inside.breaker.closed_for_ms(now),
            note: inside.note.clone(),
            needs_person: inside.needs_person.clone(),
        })
    }

    /// Sets the reason that an operator must act before the system works again. `None` means that no action is needed,
    /// and clears unusable responses.
    pub fn needs_person(&self, why: Option<String>) {
        let why = why.map(|why| without_queries(&why));
        let fresh = self.with(|inside| {
            if why.is_none() {
                let useless = std::mem::take(&mut inside.useless);
                inside.last_ok_at = useless.other_ok_at.or(inside.last_ok_at);
            }
            std::mem::replace(&mut inside.needs_person, why.clone()) != why
        });
        if let Some(why) = why.filter(|_| fresh) {
            tracing::warn!(integration = self.name, why, "the integration needs attention");
        }
    }

    /// Sets a note for operators about the system; `None` clears it.
    pub fn note(&self, note: Option<String>) {
        let note = note.map(|note| without_queries(&note));
        let fresh = self.with(|inside| std::mem::replace(&mut inside.note, note.clone()) != note);
        if let Some(note) = note.filter(|_| fresh) {
            tracing::info!(integration = self.name, note, "the integration's note changed");
        }
    }

    fn succeeded(&self) {
        self.meter.done.one();
        let now = self.environment.now();
        let failures = self.with(|inside| {
            let failures = inside.breaker.failures();
            inside.breaker.succeeded();
            inside.last_error = None;
            match inside.useless.count {
                0 => inside.last_ok_at = Some(now),
                _ => inside.useless.other_ok_at = Some(now),
            }
            failures
        });
        if failures > 0 {
            tracing::info!(integration = self.name, failures, "the integration responds again");
        }
    }

    fn failed(&self, fault: &PeerFault) {
        self.meter.failed.one();
        let words = without_queries(&fault.in_one_line());
        let (now, random) = (self.now_ms(), self.environment.chance());
        let failures = self.with(|inside| {
            inside.breaker.failed(&self.rules, now, random);
            inside.last_error = Some(words.clone());
            inside.breaker.failures()
        });
        if failures == 1 {
            tracing::warn!(
                integration = self.name,
                error = words,
                "the integration failed; further failures are not logged until it responds"
            );
        } else {
            tracing::debug!(integration = self.name, error = words, failures, "the integration failed again");
        }
    }

    fn answered_wrongly(&self, fault: &PeerFault) {
        self.meter.failed.one();
        let words = without_queries(&fault.in_one_line());
        let fresh = self.with(|inside| {
            inside.breaker.succeeded();
            inside.last_error = None;
            let useless = &mut inside.useless;
            useless.count = useless.count.saturating_add(1);
            useless.last_error.replace(words.clone()).as_ref() != Some(&words)
        });
        if fresh {
            tracing::warn!(integration = self.name, error = words, "the integration returned an unusable response");
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn with<T>(&self, act: impl FnOnce(&mut CallState) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Connections of all integrations, including disabled ones.
pub struct SystemLines(BTreeMap<&'static str, Arc<SystemLine>>);

impl SystemLines {
    /// Creates a connection for each integration in [`ALL`].
    pub fn new(settings: &sections::IntegrationsConfig, environment: &Arc<Environment>) -> Self {
        let line = |name| (name, Arc::new(SystemLine::new(name, settings, environment.clone())));
        Self(ALL.iter().map(|one| line(one.name)).collect())
    }

    /// Returns the connection of an integration in [`ALL`].
    #[expect(clippy::expect_used, reason = "there is a line for each name of the list")]
    pub fn of(&self, name: &'static str) -> Arc<SystemLine> {
        self.0.get(name).expect("it is listed").clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Config;
    use domain::aggregate::LastNumbers;

    /// Time limit for a call.
    const CALL_TIME: Duration = Duration::from_millis(200);
    /// Maximum time in milliseconds for which the circuit stays open after the third failure.
    const OPEN_MS: u64 = 3_000;

    fn line() -> SystemLine {
        let config = Config::default();
        let environment = Arc::new(Environment::of_the_machine(config.rules(), LastNumbers::default()));
        let open = Duration::from_millis(OPEN_MS);
        let rules = BreakerRules {
            failures_until_open: FAILURES_UNTIL_OPEN,
            pauses: Delays { first: open, longest: open },
            longest_call: CALL_TIME,
        };
        SystemLine { within: CALL_TIME, rules, ..SystemLine::new("workflow", &config.integrations, environment) }
    }

    async fn fails(line: &SystemLine) -> PeerFault {
        match line.call(async { Err::<(), _>(PeerFault::new("no").saying("thanks")) }).await {
            Err(fault) => fault,
            Ok(()) => panic!("it went well"),
        }
    }

    #[tokio::test]
    async fn a_system_that_failed_three_times_is_left_alone_and_tried_again() {
        let line = line();
        for _ in 0..3 {
            assert_eq!(fails(&line).await.message, "no");
        }
        assert!(fails(&line).await.message.contains("several failures in a row; next try in"));
        let state = line.state();
        assert_eq!((state.failures, state.last_error.as_deref()), (3, Some("no: thanks")));
        assert!((1..=OPEN_MS).contains(&state.retry_in_ms), "{state:?}");
        line.ready().await;
        assert_eq!(line.call(async { Ok(7) }).await, Ok(7));
        let state = line.state();
        assert_eq!((state.failures, state.last_error, state.retry_in_ms), (0, None, 0));
        assert_eq!((line.meter.done.get(), line.meter.failed.get(), line.meter.withheld.get()), (1, 3, 1));
    }

    #[tokio::test]
    async fn an_answer_of_no_use_is_no_success_and_leaves_the_circuit_closed() {
        let line = line();
        for _ in 0..5 {
            let answered = line.call_and_judge(async { Ok(7) }, |_| Some(PeerFault::new("it makes no sense"))).await;
            assert_eq!(answered, Ok(7), "whoever asked judges for themselves");
        }
        let state = line.state();
        assert_eq!((state.last_ok_at, state.failures, state.retry_in_ms), (None, 5, 0));
        assert_eq!((state.last_error.as_deref(), line.meter.failed.get()), (Some("it makes no sense"), 5));
        line.needs_person(None);
        assert_eq!(line.call(async { Ok(7) }).await, Ok(7));
        let state = line.state();
        assert!(state.last_ok_at.is_some() && state.last_error.is_none() && state.failures == 0, "{state:?}");
    }

    #[tokio::test]
    async fn answers_of_no_use_count_until_nobody_must_act_whatever_else_goes_well() {
        let line = line();
        for _ in 0..3 {
            let useless = line.call_and_judge(async { Ok(7) }, |_| Some(PeerFault::new("status 403"))).await;
            assert_eq!(useless, Ok(7));
            assert_eq!(line.call(async { Ok(8) }).await, Ok(8));
            line.needs_person(Some("PLA: status 403".to_owned()));
        }
        let state = line.state();
        assert_eq!((state.failures, state.last_error.as_deref()), (3, Some("status 403")));
        assert_eq!(state.last_ok_at, None, "it was never well");
        fails(&line).await;
        let state = line.state();
        assert_eq!((state.failures, state.last_error.as_deref()), (3, Some("no: thanks")), "the newest fault is told");
        assert_eq!(line.call(async { Ok(9) }).await, Ok(9));
        assert_eq!(line.state().last_error.as_deref(), Some("status 403"), "that one is still there");
        line.needs_person(None);
        let state = line.state();
        assert_eq!((state.failures, state.last_error), (0, None));
        assert!(state.last_ok_at.is_some(), "the others went well");
    }

    #[tokio::test]
    async fn no_error_of_a_system_repeats_a_signed_link() {
        const LINK: &str = "http://shop.lan/api/printers/1/camera/signed?until=17&signature=0a1b2c3d";
        let (line, cut) = (line(), "http://shop.lan/api/printers/1/camera/signed?…");
        let fault = || PeerFault { message: format!("no picture at {LINK}"), detail: Some(format!("GET {LINK}")) };
        let _ = line.call(async { Err::<(), _>(fault()) }).await;
        let expected = Some(format!("no picture at {cut} GET {cut}"));
        assert_eq!(line.state().last_error, expected);
        let _ = line.call_and_judge(async { Ok(7) }, |_| Some(fault())).await;
        assert_eq!(line.state().last_error, expected, "an unusable response");
        line.note(Some(format!("2 prints are not monitored: {LINK}; Ada")));
        line.needs_person(Some(format!("look at {LINK}")));
        let state = line.state();
        assert_eq!(state.note, Some(format!("2 prints are not monitored: {cut} Ada")));
        assert_eq!(state.needs_person, Some(format!("look at {cut}")));
    }

    #[tokio::test]
    async fn who_hangs_is_given_up_after_the_time_limit() {
        let (line, began) = (line(), Instant::now());
        let hung = line.call(std::future::pending::<Result<(), PeerFault>>()).await;
        assert_eq!(hung, Err(PeerFault::new("no response within 0.2 s")));
        assert!(began.elapsed() >= CALL_TIME);
        assert_eq!(line.state().failures, 1);
    }
}
