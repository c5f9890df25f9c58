//! Restart policy: data, and a pure function of the falls of one child.

use std::collections::VecDeque;
use std::time::Duration;

/// How a kind is kept.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// More falls than this within `window`: parked.
    pub most_falls: usize,
    /// What counts as recent.
    pub window: Duration,
    /// Delay after the first fall; doubles.
    pub first: Duration,
    /// Longest delay.
    pub longest: Duration,
    /// A parked one is tried again after this.
    pub probe: Duration,
    /// Most commands decided for one commit.
    pub most_per_commit: usize,
    /// Most commands waiting for one thing; more are refused with `overloaded`.
    pub most_waiting: usize,
    /// At rest and not asked for this long: leaves memory.
    pub rest_after: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            most_falls: 5,
            window: Duration::from_secs(60),
            first: Duration::from_millis(5),
            longest: Duration::from_secs(5),
            probe: Duration::from_secs(30),
            most_per_commit: 256,
            most_waiting: 512,
            rest_after: Duration::from_secs(30),
        }
    }
}

/// What becomes of a fallen child.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// Starts again after this.
    RestartAfter(Duration),
    /// Out of service; tried again after this.
    ParkAndProbeAfter(Duration),
}

impl Policy {
    /// What becomes of a child that fell at `now` (time since any fixed moment) after these falls.
    pub fn after(&self, falls: &mut VecDeque<Duration>, now: Duration, chance: f64) -> Next {
        falls.push_back(now);
        while falls.front().is_some_and(|fall| now.saturating_sub(*fall) > self.window) {
            falls.pop_front();
        }
        if falls.len() > self.most_falls {
            return Next::ParkAndProbeAfter(self.probe);
        }
        let doubled = self.first.saturating_mul(2u32.saturating_pow(u32::try_from(falls.len()).unwrap_or(1) - 1));
        Next::RestartAfter(doubled.min(self.longest).mul_f64(0.5 + chance / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_within_the_window_park_and_old_ones_are_forgotten() {
        let policy = Policy { most_falls: 2, ..Policy::default() };
        let mut falls = VecDeque::new();
        let at = Duration::from_secs;
        assert!(matches!(policy.after(&mut falls, at(0), 0.5), Next::RestartAfter(_)));
        assert!(matches!(policy.after(&mut falls, at(1), 0.5), Next::RestartAfter(_)));
        assert_eq!(policy.after(&mut falls, at(2), 0.5), Next::ParkAndProbeAfter(policy.probe));
        assert!(matches!(policy.after(&mut falls, at(120), 0.5), Next::RestartAfter(_)));
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        let policy = Policy { most_falls: 100, ..Policy::default() };
        let mut falls = VecDeque::new();
        let delays: Vec<_> = (0..20)
            .map(|n| match policy.after(&mut falls, Duration::from_millis(n), 1.0) {
                Next::RestartAfter(delay) | Next::ParkAndProbeAfter(delay) => delay,
            })
            .collect();
        assert_eq!(delays[1], policy.first * 2);
        assert_eq!(delays[19], policy.longest);
    }
}
