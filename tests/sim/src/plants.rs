//! Planted faults: each deliberately breaks a promise of the server, in the wrappers of the simulation and never in the
//! server itself. They show that the oracles work: a planted fault that no seed detects is a promise that nothing
//! checks.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use fastrand::Rng;
use serde_json::json;

use crate::acknowledgements::Errand;
use crate::chance::branch;
use store::Submission;
use store::rows::StoredRow;

/// A planted fault strikes at one in this many opportunities.
const OPPORTUNITIES: u8 = 3;
/// Events that a planted fault drops or doubles.
const STEPS_OF_ORDERS: [&str; 4] = ["order.created", "order.paid", "order.ready", "job.completed"];

/// Planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plant {
    /// A commit with an acknowledged command is reported as durable but not made.
    LostCommit,
    /// A crash reverts the last commit with an acknowledged command, and all commits after it.
    ForgottenCommit,
    /// A row of the outbox is not written.
    DroppedEvent,
    /// A row of the outbox is written twice.
    DoubledEvent,
    /// A start is sent twice.
    RepeatedStart,
    /// A payment event that was already processed is applied again, because its IDs are altered.
    RepeatedPayment,
    /// A payment event is acknowledged but lost.
    LostPayment,
    /// A file of the shop stays on the printer, which reports it as deleted.
    KeptFile,
    /// A sign-off is acknowledged but lost.
    LostSignOff,
    /// A cancellation is acknowledged but lost.
    LostCancel,
    /// Each request leaks a task.
    LeakedTask,
    /// The end of prints is never reported.
    DeafPrinter,
    /// The processor executes a refund twice.
    DoubledRefund,
    /// The processor acknowledges refunds without executing them.
    LostRefund,
    /// The processor charges a customer once more without sending an event.
    UnknownCharge,
    /// A bank takes back the money for a charge, and no one informs the shop.
    UnknownClaim,
    /// The number before an invoice's is skipped.
    SkippedNumber,
    /// An email is not written in the commit that causes it.
    UnwrittenMail,
    /// An email is accepted but lost.
    LostMail,
    /// An email is delivered twice, with two keys.
    DoubledMail,
    /// An email is rejected permanently, and the server is told that it was accepted.
    HiddenRejection,
    /// A delivery is reported as accepted but does not arrive.
    LostDelivery,
    /// A delivery arrives with another event ID.
    RenamedDelivery,
    /// A delivery arrives with a wrong signature.
    ForgedSignature,
    /// After a failure, deliveries to the same receiver never complete.
    StoppedEndpoint,
    /// A paid order of another shop arrives as two orders.
    DoubledSale,
    /// Another shop confirms a fulfillment that it has not stored.
    LostFulfillment,
    /// An entry of a stock ledger is not written.
    LostMovement,
    /// The spool manager acknowledges a use that it does not record.
    LostUse,
    /// Rejected parts are recorded as good.
    RejectedCounted,
    /// A shipment is acknowledged but lost.
    LostParcel,
    /// A shipment is recorded twice.
    DoubledParcel,
    /// A change to a printer's maintenance state is acknowledged but lost.
    LostMaintenance,
    /// Servers keep using the house rules that applied to the first one.
    DeafSettings,
}

impl Plant {
    /// All planted faults.
    pub const ALL: [Self; 34] = [
        Self::LostCommit,
        Self::ForgottenCommit,
        Self::DroppedEvent,
        Self::DoubledEvent,
        Self::RepeatedStart,
        Self::RepeatedPayment,
        Self::LostPayment,
        Self::KeptFile,
        Self::LostSignOff,
        Self::LostCancel,
        Self::LeakedTask,
        Self::DeafPrinter,
        Self::DoubledRefund,
        Self::LostRefund,
        Self::UnknownCharge,
        Self::UnknownClaim,
        Self::SkippedNumber,
        Self::UnwrittenMail,
        Self::LostMail,
        Self::DoubledMail,
        Self::HiddenRejection,
        Self::LostDelivery,
        Self::RenamedDelivery,
        Self::ForgedSignature,
        Self::StoppedEndpoint,
        Self::DoubledSale,
        Self::LostFulfillment,
        Self::LostMovement,
        Self::LostUse,
        Self::RejectedCounted,
        Self::LostParcel,
        Self::DoubledParcel,
        Self::LostMaintenance,
        Self::DeafSettings,
    ];
}

impl fmt::Display for Plant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Switch for the fault planted in a run; there is at most one.
pub struct Planter {
    seed: u64,
    plant: Option<Plant>,
    chance: Mutex<Rng>,
}

impl Planter {
    /// Creates the switch for a seed's run.
    pub fn new(plant: Option<Plant>, seed: u64) -> Self {
        Self { seed, plant, chance: Mutex::new(branch(seed, "plant")) }
    }

    /// Returns whether this run has the given planted fault.
    pub fn has(&self, plant: Plant) -> bool {
        self.plant == Some(plant)
    }

    /// Decides at random whether a planted fault strikes at this opportunity.
    pub fn strikes(&self, plant: Plant) -> bool {
        self.has(plant) && self.chance.lock().unwrap_or_else(PoisonError::into_inner).u8(..OPPORTUNITIES) == 0
    }

    /// Alters the request for a command, in the same way for every repetition, or returns it unchanged.
    pub fn alter_errand(&self, errand: &Errand) -> Errand {
        let is_rejection = errand.body["goodCount"].is_u64() && errand.body["reason"].is_string();
        let is_hit = self.has(Plant::RejectedCounted) && is_rejection;
        if is_hit && branch(self.seed, &errand.key).u8(..OPPORTUNITIES) == 0 {
            // Without a number, all parts of a finished print are good.
            return Errand { body: json!({}), ..errand.clone() };
        }
        errand.clone()
    }

    /// Alters a submission. Returns whether the submission is lost.
    pub fn alter(&self, submission: &mut Submission) -> bool {
        for command in &mut submission.commands {
            if self.has(Plant::LostMovement) {
                command.rows.retain(|row| !is_movement(&**row) || !self.strikes(Plant::LostMovement));
            }
            let Some(at) = command.events.iter().position(|event| STEPS_OF_ORDERS.contains(&event.event.as_str()))
            else {
                continue;
            };
            if self.strikes(Plant::DroppedEvent) {
                command.events.remove(at);
            } else if self.strikes(Plant::DoubledEvent) {
                command.events.push(command.events[at].clone());
            }
        }
        has_acknowledged_command(submission) && self.strikes(Plant::LostCommit)
    }
}

/// Returns whether a row is an entry of a stock ledger, judging by its debug output because its type is hidden.
fn is_movement(row: &dyn StoredRow) -> bool {
    format!("{row:?}").starts_with("Movement(")
}

/// Returns whether a submission contains a command that is acknowledged to a client.
pub fn has_acknowledged_command(submission: &Submission) -> bool {
    submission.commands.iter().any(|command| command.idempotent_answer.is_some())
}
