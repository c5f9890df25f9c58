//! Plans of customers, generated from the seed: how an order is paid, and what happens to the order and its payment.

use std::time::Duration;

use fastrand::Rng;

/// Payment of an order, and its later course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurchasePlan {
    /// By card.
    Card,
    /// By a card that is declined first.
    Declined,
    /// By a payment that is confirmed later.
    Slow,
    /// By a slow payment that fails, and then by card.
    SlowFails,
    /// In cash.
    Cash,
    /// Half in cash, half by card.
    Halves,
    /// By card; the shop refunds a part.
    PartBack,
    /// By card; a part is refunded at the processor, which sends an event.
    PartBackThere,
    /// Cancelled before it is paid.
    CancelledUnpaid,
    /// By card; cancelled, and refunded by the shop.
    CancelledCard,
    /// In cash; cancelled, and refunded in two parts.
    CancelledCash,
    /// By card; fully refunded by the shop.
    AllBack,
}

impl PurchasePlan {
    /// All plans; those whose orders are produced are repeated, so that they are chosen more often.
    const DRAWN: [Self; 16] = [
        Self::Card,
        Self::Card,
        Self::Card,
        Self::Declined,
        Self::Slow,
        Self::SlowFails,
        Self::Cash,
        Self::Cash,
        Self::Halves,
        Self::Halves,
        Self::PartBack,
        Self::PartBackThere,
        Self::CancelledUnpaid,
        Self::CancelledCard,
        Self::CancelledCash,
        Self::AllBack,
    ];

    /// Chooses a plan at random.
    pub fn draw(rng: &mut Rng) -> Self {
        Self::DRAWN[rng.usize(..Self::DRAWN.len())]
    }

    /// Returns the status that the order has in the end.
    pub fn end_status(self) -> &'static str {
        match self {
            Self::CancelledUnpaid => "cancelled",
            Self::CancelledCard | Self::CancelledCash | Self::AllBack => "refunded",
            _ => "ready",
        }
    }

    /// Returns whether all parts of the order are produced.
    pub fn is_made(self) -> bool {
        self.end_status() == "ready"
    }

    /// Returns whether the order is paid at some point.
    pub fn is_paid(self) -> bool {
        self != Self::CancelledUnpaid
    }
}

/// Returns the random generator of one order, which depends only on the seed and the order's number, whatever happens
/// to other orders.
pub fn chances(seed: u64, number: u64) -> Rng {
    Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number))
}

/// Returns a random duration for something that a customer does.
pub fn moment(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(20..1_500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_plans_again_and_others_for_other_orders() {
        let plans = |seed| (0..200).map(|number| PurchasePlan::draw(&mut chances(seed, number))).collect::<Vec<_>>();
        assert_eq!(plans(7), plans(7));
        assert_ne!(plans(7), plans(8));
        assert!(PurchasePlan::DRAWN.iter().all(|plan| plans(7).contains(plan)), "each comes up");
    }

    #[test]
    fn only_what_is_paid_is_made() {
        assert!(PurchasePlan::DRAWN.iter().all(|plan| plan.is_paid() || !plan.is_made()));
    }
}
