//! Webhook endpoints of a story: the staff's actions on them, and the periods in which their receivers fail.

use fastrand::Rng;

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::size::Size;

/// Maximum number of endpoints in a story.
const MOST_ENDPOINTS: usize = 3;
/// Maximum number of changes to an endpoint.
const MOST_CHANGES: u8 = 3;
/// Earliest time of a receiver's fault, in milliseconds.
const FIRST_SPELL_MS: i64 = 60_000;
/// Milliseconds in a minute.
const MINUTE_MS: i64 = 60_000;
/// Event types that endpoints subscribe to. All of them occur in stories.
const EVENTS: [&str; 8] = [
    "order.created",
    "order.paid",
    "order.printing",
    "order.ready",
    "order.cancelled",
    "job.failed",
    "job.completed",
    "printer.offline",
];
/// Temporary faults in receivers, each with its maximum duration in milliseconds. Some last longer than all retries of
/// a delivery.
const SPELLS: [(FaultKind, i64); 5] = [
    (FaultKind::ReceiverDown, 30 * MINUTE_MS),
    (FaultKind::ReceiverHangs, 10 * MINUTE_MS),
    (FaultKind::ReceiverSlow, 10 * MINUTE_MS),
    (FaultKind::ReceiverFails, 10 * MINUTE_MS),
    (FaultKind::ReceiverRedirects, 5 * MINUTE_MS),
];
/// Faults that do not delay the server between an event and its delivery to another receiver.
const HARMLESS: [FaultKind; 53] = [
    FaultKind::LostRequest,
    FaultKind::LostAnswer,
    FaultKind::Delay,
    FaultKind::Offline,
    FaultKind::Hang,
    FaultKind::StartRefused,
    FaultKind::StartIgnored,
    FaultKind::StartLate,
    FaultKind::CutAtStart,
    FaultKind::PowerLoss,
    FaultKind::ServerRestart,
    FaultKind::PrintFails,
    FaultKind::Echo,
    FaultKind::OwnPrint,
    FaultKind::MailRefused,
    FaultKind::PaymentLost,
    FaultKind::PaymentSlow,
    FaultKind::PaymentRefused,
    FaultKind::EventLate,
    FaultKind::EventTwice,
    FaultKind::EventFirst,
    FaultKind::EventLost,
    FaultKind::MailLost,
    FaultKind::MailSlow,
    FaultKind::MailDown,
    FaultKind::ReceiverDown,
    FaultKind::ReceiverHangs,
    FaultKind::ReceiverSlow,
    FaultKind::ReceiverFails,
    FaultKind::ReceiverRedirects,
    FaultKind::ReceiverGone,
    FaultKind::ReceiverAnswerLost,
    FaultKind::ShopDown,
    FaultKind::ShopHangs,
    FaultKind::ShopAnswerLost,
    FaultKind::MessageRepeated,
    FaultKind::MessageLate,
    FaultKind::FirmwareShutdown,
    FaultKind::ControllerLost,
    FaultKind::DiskFull,
    FaultKind::SlowUpload,
    FaultKind::CutUpload,
    FaultKind::KeptBytes,
    FaultKind::DropAfterUpload,
    FaultKind::ErrorAnswers,
    FaultKind::SlowCommands,
    FaultKind::LateAnswers,
    FaultKind::WrongKey,
    FaultKind::MailRejected,
    FaultKind::Dispute,
    FaultKind::SpoolsDown,
    FaultKind::SpoolsHang,
    FaultKind::SpoolsLost,
];

/// Plan of an endpoint and its receiver.
#[derive(Clone)]
pub struct EndpointPlan {
    /// Number of the endpoint in the plan, which is part of its receiver's URL.
    pub number: usize,
    /// Actions of the staff, each with its time in milliseconds since the start of the simulation. The first one
    /// creates the endpoint.
    pub steps: Vec<(i64, EndpointStep)>,
    /// Periods in which the receiver fails, in order of precedence.
    pub spells: Vec<Spell>,
    /// `true` if no fault in the story delays the server's own work.
    pub is_undisturbed: bool,
}

/// Action on an endpoint by the staff, or by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointStep {
    /// Creates the endpoint with a subscription to these event types.
    Create(Vec<&'static str>),
    /// Replaces the event types.
    Subscribe(Vec<&'static str>),
    /// Changes the URL to the one with this number.
    Move(usize),
    /// Changes the secret to the one with this number.
    Rotate(usize),
    /// Disabled by the staff.
    Disable,
    /// Enabled by the staff.
    Enable,
    /// Deleted by the staff.
    Delete,
    /// Disabled by the server, because all attempts at a delivery failed. Not part of any plan.
    Fail,
}

/// Period in which a receiver fails.
#[derive(Clone, Copy, Debug)]
pub struct Spell {
    /// Start in milliseconds since the start of the simulation.
    pub from_ms: i64,
    /// End in milliseconds since the start of the simulation; [`i64::MAX`] if the receiver never recovers.
    pub until_ms: i64,
    /// Fault.
    pub fault: FaultKind,
}

impl EndpointPlan {
    /// Generates the endpoints of a seed.
    pub fn draw_all(seed: u64, size: Size, faults: &FaultPlan) -> Vec<Self> {
        let count = branch(seed, "endpoints").usize(..=MOST_ENDPOINTS);
        (0..count).map(|number| Self::draw(seed, size, number, faults)).collect()
    }

    fn draw(seed: u64, size: Size, number: usize, faults: &FaultPlan) -> Self {
        let (steps, healed_at) =
            (draw_steps(size, &mut branch(seed, &format!("endpoint {number}"))), size.healed_at_ms());
        let mut spells = Vec::new();
        let mut chance = branch(seed, &format!("{} {number}", FaultKind::ReceiverGone));
        let (is_gone, from_ms) = (chance.u8(..3) == 0, chance.i64(FIRST_SPELL_MS..healed_at));
        if is_gone && faults.times(FaultKind::ReceiverGone, 1) > 0 {
            spells.push(Spell { from_ms, until_ms: i64::MAX, fault: FaultKind::ReceiverGone });
        }
        for (fault, longest_ms) in SPELLS {
            let mut chance = branch(seed, &format!("{fault} {number}"));
            for _ in 0..faults.times(fault, size.most_outages()) {
                let (hits, from_ms) = (chance.bool(), chance.i64(FIRST_SPELL_MS..healed_at));
                let until_ms = (from_ms + chance.i64(1_000..longest_ms)).min(healed_at);
                spells.extend(hits.then_some(Spell { from_ms, until_ms, fault }));
            }
        }
        let is_undisturbed = faults.kinds().all(|kind| HARMLESS.contains(&kind));
        Self { number, steps, spells, is_undisturbed }
    }
}

/// Draws what the staff does with an endpoint in a story of this size.
fn draw_steps(size: Size, chance: &mut Rng) -> Vec<(i64, EndpointStep)> {
    let mut at_ms = chance.i64(30_000..300_000);
    let mut steps = vec![(at_ms, EndpointStep::Create(draw_events(chance)))];
    for number in 1..=usize::from(chance.u8(..=MOST_CHANGES)) {
        at_ms += chance.i64(30_000..400_000);
        match chance.u8(..4) {
            0 => steps.push((at_ms, EndpointStep::Subscribe(draw_events(chance)))),
            1 => steps.push((at_ms, EndpointStep::Move(number))),
            2 => steps.push((at_ms, EndpointStep::Rotate(number))),
            _ => {
                steps.push((at_ms, EndpointStep::Disable));
                at_ms += chance.i64(30_000..400_000);
                steps.push((at_ms, EndpointStep::Enable));
            }
        }
    }
    at_ms += chance.i64(30_000..400_000);
    match chance.u8(..8) {
        0 => steps.push((at_ms, EndpointStep::Delete)),
        1 => steps.push((at_ms, EndpointStep::Disable)),
        _ => {}
    }
    steps.into_iter().map(|(at_ms, step)| (at_ms * size.stretch(), step)).collect()
}

/// Selects event types at random: on average more than half of them, and at least one.
fn draw_events(chance: &mut Rng) -> Vec<&'static str> {
    let mut events: Vec<_> = EVENTS.into_iter().filter(|_| chance.u8(..5) < 3).collect();
    if events.is_empty() {
        events.push(EVENTS[1]);
    }
    events
}
