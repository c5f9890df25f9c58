//! Closed loops: callers that each ask again as soon as they have their answer.

use std::future::Future;
use std::time::{Duration, Instant};

/// Not counted: caches and connections come up.
const WARM: Duration = Duration::from_millis(500);
/// Counted.
const COUNTED: Duration = Duration::from_secs(3);
/// Rounds of everything that is compared, in turn, so that a busy moment of the machine does not hit one side alone.
pub const ROUNDS: usize = 3;

/// What came of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Answers per second over all callers.
    pub per_second: f64,
    /// Milliseconds that 95 of 100 answers took at most.
    pub p95: f64,
}

/// Lets each caller act again and again; a caller's state goes from one act to the next.
pub async fn closed_loop<S, F, A>(callers: Vec<S>, act: A) -> (Round, Vec<S>)
where
    S: Send + 'static,
    F: Future<Output = S> + Send,
    A: Fn(S) -> F + Clone + Send + 'static,
{
    let begin = Instant::now() + WARM;
    let end = begin + COUNTED;
    let tasks: Vec<_> = callers
        .into_iter()
        .map(|mut state| {
            let act = act.clone();
            tokio::spawn(async move {
                let mut took = Vec::new();
                loop {
                    let at = Instant::now();
                    if at >= end {
                        return (took, state);
                    }
                    state = act(state).await;
                    let done = Instant::now();
                    if done >= begin && done < end {
                        took.push((done - at).as_secs_f64() * 1000.0);
                    }
                }
            })
        })
        .collect();
    let (mut all, mut states) = (Vec::new(), Vec::new());
    for task in tasks {
        let (took, state) = task.await.unwrap();
        all.extend(took);
        states.push(state);
    }
    let per_second = all.len() as f64 / COUNTED.as_secs_f64();
    (Round { per_second, p95: percentile(&mut all, 0.95) }, states)
}

/// The value that this share of the values does not exceed.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The middle of several rounds, by their rates.
pub fn middle(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    rounds[rounds.len() / 2]
}
