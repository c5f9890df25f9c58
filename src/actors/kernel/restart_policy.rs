//! When a crashed actor is started again: settings, and a pure function of its recent crashes.

use std::collections::VecDeque;
use std::time::Duration;

use crate::domain::schedule::Delays;

/// When the actors of a kind are restarted, parked and unloaded, and how much they take into one commit.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// An actor that crashes more often than this within `window` is parked: it takes no commands until a probe
    /// succeeds.
    pub max_crashes: usize,
    /// Crashes longer ago than this are forgotten.
    pub window: Duration,
    /// Delays before a restart, by the number of recent crashes.
    pub delays: Delays,
    /// A parked actor is started again after this time, to find out whether the cause is gone.
    pub probe: Duration,
    /// Most commands that are decided together and written as one commit.
    pub max_commands_per_commit: usize,
    /// An aggregate at rest that is not asked for this long leaves memory.
    pub rest_after: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_crashes: 5,
            window: Duration::from_secs(60),
            delays: Delays { first: Duration::from_millis(5), longest: Duration::from_secs(5) },
            probe: Duration::from_secs(30),
            max_commands_per_commit: 256,
            rest_after: Duration::from_secs(30),
        }
    }
}

/// What becomes of a crashed child.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// Starts again after this.
    RestartAfter(Duration),
    /// Out of service; tried again after this.
    ParkAndProbeAfter(Duration),
}

impl Policy {
    /// What becomes of a child that crashed at `now` (time since any fixed moment) after these crashes.
    pub fn after(&self, crashes: &mut VecDeque<Duration>, now: Duration, chance: f64) -> Next {
        crashes.push_back(now);
        while crashes.front().is_some_and(|crash| now.saturating_sub(*crash) > self.window) {
            crashes.pop_front();
        }
        if crashes.len() > self.max_crashes {
            return Next::ParkAndProbeAfter(self.probe);
        }
        let earlier = u32::try_from(crashes.len() - 1).unwrap_or(u32::MAX);
        Next::RestartAfter(self.delays.next(earlier, chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_within_the_window_park_and_old_ones_are_forgotten() {
        let policy = Policy { max_crashes: 2, ..Policy::default() };
        let mut crashes = VecDeque::new();
        let at = Duration::from_secs;
        assert!(matches!(policy.after(&mut crashes, at(0), 0.5), Next::RestartAfter(_)));
        assert!(matches!(policy.after(&mut crashes, at(1), 0.5), Next::RestartAfter(_)));
        assert_eq!(policy.after(&mut crashes, at(2), 0.5), Next::ParkAndProbeAfter(policy.probe));
        assert!(matches!(policy.after(&mut crashes, at(120), 0.5), Next::RestartAfter(_)));
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        let policy = Policy { max_crashes: 100, ..Policy::default() };
        let mut crashes = VecDeque::new();
        let delays: Vec<_> = (0..20)
            .map(|n| match policy.after(&mut crashes, Duration::from_millis(n), 1.0) {
                Next::RestartAfter(delay) | Next::ParkAndProbeAfter(delay) => delay,
            })
            .collect();
        assert_eq!(delays[1], policy.delays.first * 2);
        assert_eq!(delays[19], policy.delays.longest);
    }
}
