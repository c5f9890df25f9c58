//! Faults of a run, drawn from the seed before it begins: when each happens, what it hits, and for how long.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use fastrand::Rng;

/// Milliseconds between the beginnings of two faults.
const GAP_MS: Range<u64> = 150..1_500;
/// Milliseconds for which one system is left alone between two faults of its own.
const REST_MS: u64 = 300;

/// System that a fault hits. Two faults never hit one system at the same time.
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

/// Kind of a fault, which lasts for a while and is healed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// kill -9; the program stays down.
    Kill,
    /// SIGSTOP, and SIGCONT afterwards.
    Freeze,
    /// The program can write to no file.
    Unwritable,
    /// No connection holds, and none is made.
    Cut,
    /// Connections carry nothing, and hold.
    Stall,
}

/// Fault at a time of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Time since the faults began.
    pub at: Duration,
    /// System that is hit.
    pub target: FaultTarget,
    /// What happens to it.
    pub kind: FaultKind,
    /// Time until it is healed.
    pub lasts: Duration,
}

/// Systems that can be hit in this run.
#[derive(Clone, Copy, Debug)]
pub struct FaultTargets {
    /// PostgreSQL runs.
    pub database: bool,
    /// Redis runs.
    pub redis: bool,
    /// Mosquitto runs.
    pub broker: bool,
    /// Files of the server can be kept from being written.
    pub files: bool,
    /// Number of networks.
    pub networks: usize,
}

impl FaultTargets {
    /// Draws a target with a fault that fits it, and the longest time of that fault in milliseconds.
    fn draw(self, rng: &mut Rng) -> (FaultTarget, FaultKind, u64) {
        let network = FaultTarget::Network(rng.usize(..self.networks.max(1)));
        match rng.u8(..20) {
            0..=4 => (FaultTarget::Server, FaultKind::Kill, 1_500),
            5..=6 => (FaultTarget::Server, FaultKind::Freeze, 4_000),
            7..=8 => (FaultTarget::Server, FaultKind::Unwritable, 3_000),
            9..=10 => (FaultTarget::Database, FaultKind::Kill, 2_500),
            11 => (FaultTarget::Redis, FaultKind::Kill, 3_000),
            12 => (FaultTarget::Broker, FaultKind::Kill, 3_000),
            13..=16 => (network, FaultKind::Cut, 3_000),
            _ => (network, FaultKind::Stall, 4_000),
        }
    }

    /// Returns whether a drawn fault is possible in this run.
    fn has(self, target: FaultTarget, kind: FaultKind) -> bool {
        match target {
            FaultTarget::Server => kind != FaultKind::Unwritable || self.files,
            FaultTarget::Database => self.database,
            FaultTarget::Redis => self.redis,
            FaultTarget::Broker => self.broker,
            FaultTarget::Network(number) => number < self.networks,
        }
    }
}

/// Draws all faults of a run that takes this long; all of them are healed by then. The first is always a kill -9 of the
/// server.
pub fn draw(rng: &mut Rng, length: Duration, targets: FaultTargets) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut busy_until: BTreeMap<FaultTarget, u64> = BTreeMap::new();
    let (mut at, end) = (rng.u64(GAP_MS), length.as_millis() as u64);
    while at < end {
        let (mut target, mut kind, longest) = targets.draw(rng);
        if faults.is_empty() {
            (target, kind) = (FaultTarget::Server, FaultKind::Kill);
        }
        let lasts = rng.u64(20..longest).min(end - at);
        let busy = busy_until.entry(target).or_default();
        if targets.has(target, kind) && *busy <= at {
            *busy = at + lasts + REST_MS;
            let [at, lasts] = [at, lasts].map(Duration::from_millis);
            faults.push(Fault { at, target, kind, lasts });
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

    fn of(seed: u64, targets: FaultTargets) -> Vec<Fault> {
        draw(&mut Rng::with_seed(seed), LENGTH, targets)
    }

    #[test]
    fn a_seed_draws_the_same_faults_again_and_another_one_others() {
        assert_eq!(of(1, ALL), of(1, ALL));
        assert_ne!(of(1, ALL), of(2, ALL));
        for kind in [FaultKind::Kill, FaultKind::Freeze, FaultKind::Unwritable, FaultKind::Cut, FaultKind::Stall] {
            assert!(of(1, ALL).iter().any(|fault| fault.kind == kind), "{kind:?}");
        }
        for seed in 0..20 {
            let first = of(seed, ALL)[0];
            assert_eq!((first.target, first.kind), (FaultTarget::Server, FaultKind::Kill));
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
                FaultTarget::Server => fault.kind != FaultKind::Unwritable,
                FaultTarget::Network(number) => number < 2,
                _ => false,
            };
            assert!(is_possible, "{fault:?}");
        }
    }
}
