//! Pace at which connections to printers that no one is waiting for are opened: at the start of the server, and while
//! printers do not respond. Thousands of handshakes at once would delay everybody else.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use domain::pace::{TurnRate, Turns};

/// Rate for all printers of the server: 500 a second, the first 50 at once. A small shop is connected at once, and one
/// with ten thousand printers within 20 s; each attempt takes up to a millisecond of processor time.
const PACE: TurnRate = TurnRate { interval: Duration::from_millis(2), burst: 50 };

/// Pace shared by all printers of the server.
pub struct ConnectionPace {
    began: Instant,
    turns: Mutex<Turns>,
}

impl Default for ConnectionPace {
    /// Returns a pace at which no turn has been taken.
    fn default() -> Self {
        Self { began: Instant::now(), turns: Mutex::new(Turns::new(PACE)) }
    }
}

impl ConnectionPace {
    /// Waits for the next turn. Turns are granted in the order of the calls; the turn of a caller that gives up is
    /// lost.
    pub async fn turn(&self) {
        let wait = self.turns.lock().unwrap_or_else(PoisonError::into_inner).take(self.began.elapsed());
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn some_printers_are_connected_to_at_once_and_more_at_the_pace() {
        let (pace, began) = (ConnectionPace::default(), Instant::now());
        let turns = PACE.burst * 2;
        join_all((0..turns).map(|_| pace.turn())).await;
        assert!(began.elapsed() >= PACE.interval * PACE.burst, "{turns} after {:?}", began.elapsed());
    }
}
