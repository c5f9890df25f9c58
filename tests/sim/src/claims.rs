//! Claims by customers' banks to payments made by card: the payment processor reports each, and later the bank's
//! decision. People answer them there, and not in the shop.

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::plan::{CustomerStep, OrderPlan, Share};
use crate::size::Size;
use crate::till::{Remainder, TillStep};
use crate::workload::Workload;

/// Longest time until a bank claims money, and again until it decides, in a small story, in milliseconds.
const MAX_WAIT_MS: i64 = 5 * 60_000;

/// Claim of a bank, by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankClaim {
    /// The bank claims all of the payment, and the shop keeps it.
    Won,
    /// The bank takes a third of the payment.
    LostInPart,
    /// The bank takes all of the payment.
    Lost,
}

impl BankClaim {
    /// Returns the claimed amount in minor units.
    pub fn cents(self, total: i64) -> i64 {
        match self {
            Self::Won | Self::Lost => total,
            Self::LostInPart => total - self.remainder().cents(total),
        }
    }

    /// Returns the money that an order keeps after it.
    pub const fn remainder(self) -> Remainder {
        match self {
            Self::Won => Remainder::Total,
            Self::LostInPart => Remainder::TwoThirds,
            Self::Lost => Remainder::Nothing,
        }
    }
}

/// Draws claims for payments that have no other outcome, and adds them to the orders. Payments for orders that the plan
/// ships or remakes lose no more than a part.
pub fn add(seed: u64, size: Size, faults: &FaultPlan, orders: &mut [OrderPlan], work: &Workload) {
    if faults.times(FaultKind::Dispute, 1) == 0 {
        return;
    }
    for order in orders.iter_mut().filter(|order| is_paid_by_card(order)) {
        let mut chance = branch(seed, &format!("claim {}", order.number));
        let (is_claimed, kind) = (chance.bool(), chance.u8(..3));
        let mut wait_ms = || chance.i64(1_000..MAX_WAIT_MS) * size.stretch();
        let (claimed_after_ms, decided_after_ms) = (wait_ms(), wait_ms());
        let is_made_again = work.tasks.iter().any(|task| task.act.is_remake_of(order.number));
        let goes_on = is_made_again || work.parcels.contains_key(&order.number);
        let claim = match kind {
            0 => BankClaim::Won,
            1 if !goes_on => BankClaim::Lost,
            _ => BankClaim::LostInPart,
        };
        let Some((paid_ms, _)) = order.steps.last().copied().filter(|_| is_claimed) else { continue };
        let claimed_ms = paid_ms + claimed_after_ms;
        order.steps.push((claimed_ms, CustomerStep::Claim(claim)));
        order.steps.push((claimed_ms + decided_after_ms, CustomerStep::Decide(claim)));
    }
}

/// Returns whether an order is paid by card, once, and nothing goes back.
fn is_paid_by_card(order: &OrderPlan) -> bool {
    let mut money = order.steps.iter().skip(1).map(|(_, step)| step);
    let is_payment =
        |step: &CustomerStep| matches!(step, CustomerStep::Pay(0, Share::Whole) | CustomerStep::Till(TillStep::Pay(_)));
    order.steps.len() > 1 && money.all(is_payment)
}
