//! Faults in a run, generated from the seed in advance: when each occurs, which system it affects, and for how long.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use fastrand::Rng;

/// Time between the starts of two faults, in milliseconds.
const GAP_MS: Range<u64> = 150..1_500;
/// Minimum time between two faults in the same system, in milliseconds.
const REST_MS: u64 = 300;

/// System affected by a fault. Two faults never affect the same system at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultTarget {
    /// Server under test.
    Server,
    /// PostgreSQL.
    Database,
    /// Redis.
    Redis,
    /// MQTT broker.
    Broker,
    /// Network with this number.
    Network(usize),
}

/// Kind of a fault, which is temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChaosFaultKind {
    /// `kill -9`; the program stays down.
    Kill,
    /// `SIGSTOP`, followed by `SIGCONT` at the end.
    Freeze,
    /// The program cannot write to any file.
    Unwritable,
    /// All connections are closed, and no new ones are accepted.
    Cut,
    /// Connections stay open but transfer nothing.
    Stall,
}

/// Fault at a given time of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChaosFault {
    /// Time since the start of the faults.
    pub at: Duration,
    /// Affected system.
    pub target: FaultTarget,
    /// Effect on the system.
    pub kind: ChaosFaultKind,
    /// Duration.
    pub lasts: Duration,
}

/// Systems that can be affected in this run.
#[derive(Clone, Copy, Debug)]
pub struct FaultTargets {
    /// `true` if PostgreSQL is running.
    pub database: bool,
    /// `true` if Redis is running.
    pub redis: bool,
    /// `true` if Mosquitto is running.
    pub broker: bool,
    /// `true` if the server can be prevented from writing files.
    pub files: bool,
    /// Number of networks.
    pub networks: usize,
}

impl FaultTargets {
    /// Chooses a target, a suitable fault, and the fault's maximum duration in milliseconds.
    fn draw(self, rng: &mut Rng) -> (FaultTarget, ChaosFaultKind, u64) {
        let network = FaultTarget::Network(rng.usize(..self.networks.max(1)));
        match rng.u8(..20) {
            0..=4 => (FaultTarget::Server, ChaosFaultKind::Kill, 1_500),
            5..=6 => (FaultTarget::Server, ChaosFaultKind::Freeze, 4_000),
            7..=8 => (FaultTarget::Server, ChaosFaultKind::Unwritable, 3_000),
            9..=10 => (FaultTarget::Database, ChaosFaultKind::Kill, 2_500),
            11 => (FaultTarget::Redis, ChaosFaultKind::Kill, 3_000),
            12 => (FaultTarget::Broker, ChaosFaultKind::Kill, 3_000),
            13..=16 => (network, ChaosFaultKind::Cut, 3_000),
            _ => (network, ChaosFaultKind::Stall, 4_000),
        }
    }

    /// Returns whether a fault is possible in this run.
    fn has(self, target: FaultTarget, kind: ChaosFaultKind) -> bool {
        match target {
            FaultTarget::Server => kind != ChaosFaultKind::Unwritable || self.files,
            FaultTarget::Database => self.database,
            FaultTarget::Redis => self.redis,
            FaultTarget::Broker => self.broker,
            FaultTarget::Network(number) => number < self.networks,
        }
    }
}

/// Generates all faults for a run of this duration, all of which end before the run does. The first one always kills
/// the server with `kill -9`.
pub fn draw(rng: &mut Rng, length: Duration, targets: FaultTargets) -> Vec<ChaosFault> {
    let mut faults = Vec::new();
    let mut busy_until: BTreeMap<FaultTarget, u64> = BTreeMap::new();
    let (mut at, end) = (rng.u64(GAP_MS), length.as_millis() as u64);
    while at < end {
        let (mut target, mut kind, longest) = targets.draw(rng);
        if faults.is_empty() {
            (target, kind) = (FaultTarget::Server, ChaosFaultKind::Kill);
        }
        let lasts = rng.u64(20..longest).min(end - at);
        let busy = busy_until.entry(target).or_default();
        if targets.has(target, kind) && *busy <= at {
            *busy = at + lasts + REST_MS;
            let [at, lasts] = [at, lasts].map(Duration::from_millis);
            faults.push(ChaosFault { at, target, kind, lasts });
        }
        at += rng.u64(GAP_MS);
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: FaultTargets = FaultTargets { database: true, redis: true, broker: true, files: true, networks: 13 };
    const LENGTH: Duration = Duration::from_secs(600);

    fn of(seed: u64, targets: FaultTargets) -> Vec<ChaosFault> {
        draw(&mut Rng::with_seed(seed), LENGTH, targets)
    }

    #[test]
    fn a_seed_draws_the_same_faults_again_and_another_one_others() {
        assert_eq!(of(1, ALL), of(1, ALL));
        assert_ne!(of(1, ALL), of(2, ALL));
        for kind in [
            ChaosFaultKind::Kill,
            ChaosFaultKind::Freeze,
            ChaosFaultKind::Unwritable,
            ChaosFaultKind::Cut,
            ChaosFaultKind::Stall,
        ] {
            assert!(of(1, ALL).iter().any(|fault| fault.kind == kind), "{kind:?}");
        }
        for seed in 0..20 {
            let first = of(seed, ALL)[0];
            assert_eq!((first.target, first.kind), (FaultTarget::Server, ChaosFaultKind::Kill));
        }
    }

    #[test]
    fn a_system_is_healed_before_it_is_hit_again_and_all_are_in_the_end() {
        for seed in 0..20 {
            let mut healed_at: BTreeMap<FaultTarget, Duration> = BTreeMap::new();
            for fault in of(seed, ALL) {
                let before = healed_at.insert(fault.target, fault.at + fault.lasts).unwrap_or_default();
                assert!(before < fault.at && fault.at + fault.lasts <= LENGTH, "{fault:?} after {before:?}");
            }
        }
    }

    #[test]
    fn what_does_not_run_is_not_hit() {
        let targets = FaultTargets { database: false, redis: false, broker: false, files: false, networks: 2 };
        for fault in of(3, targets) {
            let is_possible = match fault.target {
                FaultTarget::Server => fault.kind != ChaosFaultKind::Unwritable,
                FaultTarget::Network(number) => number < 2,
                _ => false,
            };
            assert!(is_possible, "{fault:?}");
        }
    }
}
