//! Restart policy for crashed actors: its settings, and the function that applies them to recent crashes.

use std::collections::VecDeque;
use std::time::Duration;

use domain::schedule::Delays;

/// Policy for restarting, parking and unloading the actors of a kind, and for the commit size.
#[derive(Clone, Copy, Debug)]
pub struct RestartPolicy {
    /// Maximum number of crashes within `window`. An actor that crashes more often is parked, so that it accepts no
    /// commands until a probe succeeds.
    pub max_crashes: usize,
    /// Period over which recent crashes are counted.
    pub window: Duration,
    /// Backoff before a restart, depending on the number of recent crashes.
    pub delays: Delays,
    /// Time after which a parked actor is started again to check whether the problem has been resolved.
    pub probe: Duration,
    /// Maximum number of commands decided together and written in one commit.
    pub max_commands_per_commit: usize,
    /// Idle time after which an aggregate at rest is unloaded.
    pub rest_after: Duration,
}

impl Default for RestartPolicy {
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

/// Action after a child crashes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CrashAction {
    /// Restart after the given delay.
    RestartAfter(Duration),
    /// Park immediately, and probe with a restart after the given delay.
    ParkAndProbeAfter(Duration),
}

impl RestartPolicy {
    /// Decides the action after a crash at `now` (time since any fixed point), given the earlier `crashes`, and adds
    /// the crash to them.
    pub fn after(&self, crashes: &mut VecDeque<Duration>, now: Duration, chance: f64) -> CrashAction {
        crashes.push_back(now);
        while crashes.front().is_some_and(|crash| now.saturating_sub(*crash) > self.window) {
            crashes.pop_front();
        }
        if crashes.len() > self.max_crashes {
            return CrashAction::ParkAndProbeAfter(self.probe);
        }
        let earlier = u32::try_from(crashes.len() - 1).unwrap_or(u32::MAX);
        CrashAction::RestartAfter(self.delays.next(earlier, chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_within_the_window_park_and_old_ones_are_forgotten() {
        let policy = RestartPolicy { max_crashes: 2, ..RestartPolicy::default() };
        let mut crashes = VecDeque::new();
        let at = Duration::from_secs;
        assert!(matches!(policy.after(&mut crashes, at(0), 0.5), CrashAction::RestartAfter(_)));
        assert!(matches!(policy.after(&mut crashes, at(1), 0.5), CrashAction::RestartAfter(_)));
        assert_eq!(policy.after(&mut crashes, at(2), 0.5), CrashAction::ParkAndProbeAfter(policy.probe));
        assert!(matches!(policy.after(&mut crashes, at(120), 0.5), CrashAction::RestartAfter(_)));
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        let policy = RestartPolicy { max_crashes: 100, ..RestartPolicy::default() };
        let mut crashes = VecDeque::new();
        let delays: Vec<_> = (0..20)
            .map(|n| match policy.after(&mut crashes, Duration::from_millis(n), 1.0) {
                CrashAction::RestartAfter(delay) | CrashAction::ParkAndProbeAfter(delay) => delay,
            })
            .collect();
        assert_eq!(delays[1], policy.delays.first * 2);
        assert_eq!(delays[19], policy.delays.longest);
    }

    #[test]
    fn a_crash_counts_until_the_window_is_over() {
        let policy = RestartPolicy { max_crashes: 1, ..RestartPolicy::default() };
        let second_crash_at = |ms| {
            let mut crashes = VecDeque::new();
            let first = policy.after(&mut crashes, Duration::ZERO, 1.0);
            assert_eq!(first, CrashAction::RestartAfter(policy.delays.first));
            policy.after(&mut crashes, Duration::from_millis(ms), 1.0)
        };
        assert_eq!(second_crash_at(60_000), CrashAction::ParkAndProbeAfter(policy.probe));
        assert_eq!(second_crash_at(60_001), CrashAction::RestartAfter(policy.delays.first));
    }
}
