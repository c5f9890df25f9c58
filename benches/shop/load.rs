//! Closed-loop load: each caller sends its next request as soon as it has its response.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::Client;

/// Warm-up while caches and connections are established; not counted.
const WARM: Duration = Duration::from_millis(500);
/// Duration of the measurement.
const COUNTED: Duration = Duration::from_secs(3);
/// Number of alternating rounds of everything that is compared, so that a busy moment of the machine does not affect
/// one side alone.
pub const ROUNDS: usize = 3;

/// Result of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Responses per second over all callers.
    pub per_second: f64,
    /// 95th percentile of the latency in milliseconds.
    pub p95: f64,
    /// Number of responses, including those of the warm-up.
    pub answers: usize,
}

/// Runs `act` repeatedly for each caller; a caller's state passes from one call to the next.
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
                let (mut took, mut answers) = (Vec::new(), 0);
                loop {
                    let at = Instant::now();
                    if at >= end {
                        return (took, answers, state);
                    }
                    state = act(state).await;
                    answers += 1;
                    let done = Instant::now();
                    if done >= begin && done < end {
                        took.push((done - at).as_secs_f64() * 1000.0);
                    }
                }
            })
        })
        .collect();
    let (mut all, mut answers, mut states) = (Vec::new(), 0, Vec::new());
    for task in tasks {
        let (took, own_answers, state) = task.await.unwrap();
        all.extend(took);
        answers += own_answers;
        states.push(state);
    }
    let per_second = all.len() as f64 / COUNTED.as_secs_f64();
    (Round { per_second, p95: percentile(&mut all, 0.95), answers }, states)
}

/// Sends one request repeatedly over each connection.
pub async fn repeat(clients: Vec<Client>, request: &[u8]) -> Round {
    let request: Arc<[u8]> = request.into();
    let act = move |mut client: Client| {
        let request = request.clone();
        async move {
            client.ask(&request).await;
            client
        }
    };
    closed_loop(clients, act).await.0
}

/// Returns the value that this share of the values does not exceed.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Returns the round with the median rate.
pub fn middle(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    rounds[rounds.len() / 2]
}
