//! The weather: faults and people's interventions at times chosen by the seed, independently of the server. At the end
//! of the bad weather all faults end, and from then on the server has a limited time to become idle.

use std::future::pending;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use simulator::faults::{Delay, Echo, FailAt, RebootAt};
use tokio::time::sleep;

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::liars::Lie;
use crate::machine::FloorMachine;
use crate::size::Size;
use crate::world::World;
use store::Unavailable;

/// Earliest time of a weather change, in milliseconds. The shop is set up before.
const FIRST_MS: i64 = 60_000;
/// Maximum delay of a late start, in milliseconds. People inspect a printer only after a longer time.
const MAX_LATE_MS: u64 = 150_000;

/// Future weather changes, with their times.
pub struct Weather(Mutex<Vec<(i64, WeatherTurn)>>);

/// Change of the weather.
#[derive(Clone, Copy, Debug)]
enum WeatherTurn {
    /// A change at the printer with this number.
    Printer(usize, WeatherChange),
    /// The store becomes unavailable, or available again.
    Store(Option<Unavailable>),
    /// All faults end.
    Heal,
}

/// Change at a printer.
#[derive(Clone, Copy, Debug)]
enum WeatherChange {
    Offline(bool),
    Hang(bool),
    StartRefused(bool),
    StartIgnored(bool),
    StartLate(Option<Delay>),
    CutAtStart(bool),
    Echo(bool),
    PowerLoss(RebootAt),
    PrintFails(FailAt),
    ServerRestart { forgets: bool },
    OwnPrint { number: usize, seconds: u64 },
    Lie(Lie, bool),
}

impl Weather {
    /// Creates weather that never changes.
    pub fn still() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Generates the weather for this many printers.
    pub fn draw(seed: u64, size: Size, plan: &FaultPlan, printers: usize) -> Self {
        let (mut turns, healed_at) = (Vec::new(), size.healed_at_ms());
        for kind in FaultKind::ALL {
            let mut chance = branch(seed, kind.word());
            for number in 0..plan.times(kind, size.most_spells()) {
                let at = chance.i64(FIRST_MS..healed_at);
                let until = (at + chance.i64(1_000..size.longest_spell_ms())).min(healed_at);
                let printer = chance.usize(..printers);
                if let Some((begin, end)) = drawn(kind, number as usize, printer, &mut chance) {
                    turns.push((at, begin));
                    turns.extend(end.map(|end| (until, end)));
                }
            }
        }
        turns.push((healed_at, WeatherTurn::Heal));
        // The last one is next; turns of the same time keep the order in which they were drawn.
        turns.sort_by_key(|(at, _)| *at);
        turns.reverse();
        Self(Mutex::new(turns))
    }

    /// Applies weather changes as they become due. Never returns.
    pub async fn pass(&self, world: &World) {
        while let Some(at) = self.next_at() {
            sleep(Duration::from_millis((at - world.clock.elapsed_ms()).max(0).unsigned_abs())).await;
            if let Some(turn) = self.take_next() {
                world.story.tell(format!("weather: {turn:?}"));
                turn.apply(world);
            }
        }
        pending::<()>().await;
    }

    fn next_at(&self) -> Option<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last().map(|(at, _)| *at)
    }

    fn take_next(&self) -> Option<WeatherTurn> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().map(|(_, turn)| turn)
    }
}

/// Returns the change that starts a fault, and the one that ends it if it lasts. `None` for faults that are not part of
/// the weather.
fn drawn(
    kind: FaultKind,
    number: usize,
    printer: usize,
    chance: &mut Rng,
) -> Option<(WeatherTurn, Option<WeatherTurn>)> {
    let at = |change| WeatherTurn::Printer(printer, change);
    let spell = |change: fn(bool) -> WeatherChange| (at(change(true)), Some(at(change(false))));
    let progress = 0.05 + chance.f64() * 0.9;
    let forget = chance.bool();
    let after_ms = chance.u64(1_000..MAX_LATE_MS);
    let reason = if chance.bool() { Unavailable::Database } else { Unavailable::DiskFull };
    Some(match kind {
        FaultKind::Outage => (WeatherTurn::Store(Some(reason)), Some(WeatherTurn::Store(None))),
        FaultKind::Offline => spell(WeatherChange::Offline),
        FaultKind::Hang => spell(WeatherChange::Hang),
        FaultKind::StartRefused => spell(WeatherChange::StartRefused),
        FaultKind::StartIgnored => spell(WeatherChange::StartIgnored),
        FaultKind::CutAtStart => spell(WeatherChange::CutAtStart),
        FaultKind::Echo => spell(WeatherChange::Echo),
        FaultKind::StartLate => {
            (at(WeatherChange::StartLate(Some(Delay { after_ms }))), Some(at(WeatherChange::StartLate(None))))
        }
        FaultKind::PowerLoss => (at(WeatherChange::PowerLoss(RebootAt { progress, forget })), None),
        FaultKind::PrintFails => (at(WeatherChange::PrintFails(FailAt { progress })), None),
        FaultKind::ServerRestart => (at(WeatherChange::ServerRestart { forgets: forget }), None),
        FaultKind::OwnPrint => (at(WeatherChange::OwnPrint { number, seconds: chance.u64(60..600) }), None),
        other => {
            let lie = Lie::draw(other, chance)?;
            (at(WeatherChange::Lie(lie, true)), Some(at(WeatherChange::Lie(lie, false))))
        }
    })
}

impl WeatherTurn {
    fn apply(self, world: &World) {
        match self {
            Self::Printer(number, change) => {
                if let Some(machine) = world.machines.values().nth(number) {
                    change.apply(machine);
                }
            }
            Self::Store(reason) => world.disk.set_unavailable(reason),
            Self::Heal => world.heal(),
        }
    }
}

impl WeatherChange {
    fn apply(self, machine: &FloorMachine) {
        match self {
            Self::ServerRestart { forgets } => machine.with(|machine| machine.restart_server(forgets)),
            Self::OwnPrint { number, seconds } => machine.print_own(number, seconds),
            change => machine.change_faults(|faults| match change {
                // A cut at a start ends with the spell in which it came.
                Self::Offline(is_on) => faults.disconnect = is_on,
                Self::CutAtStart(is_on) => {
                    faults.disconnect_at_start = is_on;
                    faults.disconnect &= is_on;
                }
                Self::Hang(is_on) => faults.hang = is_on,
                Self::StartRefused(is_on) => faults.refuse_start = is_on,
                Self::StartIgnored(is_on) => faults.accept_but_never_start = is_on,
                Self::StartLate(delay) => faults.start_late = delay,
                Self::Echo(is_on) => faults.duplicate_finish = is_on.then(Echo::default),
                Self::PowerLoss(at) => faults.reboot_at = Some(at),
                Self::PrintFails(at) => faults.fail_at = Some(at),
                Self::Lie(lie, is_on) => lie.apply(faults, is_on),
                Self::ServerRestart { .. } | Self::OwnPrint { .. } => {}
            }),
        }
    }
}
