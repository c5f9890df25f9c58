//! Plans of customers, drawn from the seed: how an order is paid, and what becomes of it and of its money.

use std::time::Duration;

use fastrand::Rng;

/// Payment of an order, and its later course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// By card.
    Card,
    /// By a card that is declined first.
    Declined,
    /// By a payment that takes a while.
    Slow,
    /// By a payment that fails after a while, and then by card.
    SlowFails,
    /// In cash.
    Cash,
    /// Half in cash, half by card.
    Halves,
    /// By card; the shop gives a part back.
    PartBack,
    /// By card; a part is given back at the processor, which tells of it.
    PartBackThere,
    /// Cancelled before it is paid.
    CancelledUnpaid,
    /// By card; cancelled, and given back by the shop.
    CancelledCard,
    /// In cash; cancelled, and given back in two parts.
    CancelledCash,
    /// By card; given back as a whole by the shop.
    AllBack,
}

impl Plan {
    /// All plans, of which those that are made come more often.
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

    /// Draws a plan.
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

    /// Returns whether all of its parts are made.
    pub fn is_made(self) -> bool {
        self.end_status() == "ready"
    }

    /// Returns whether the order is paid at some time.
    pub fn is_paid(self) -> bool {
        self != Self::CancelledUnpaid
    }
}

/// Chances of one order, which depend on the seed and its number alone, whatever happens to the others.
pub fn chances(seed: u64, number: u64) -> Rng {
    Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number))
}

/// Draws how long a customer takes for something.
pub fn moment(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(20..1_500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_plans_again_and_others_for_other_orders() {
        let plans = |seed| (0..200).map(|number| Plan::draw(&mut chances(seed, number))).collect::<Vec<_>>();
        assert_eq!(plans(7), plans(7));
        assert_ne!(plans(7), plans(8));
        assert!(Plan::DRAWN.iter().all(|plan| plans(7).contains(plan)), "each comes up");
    }

    #[test]
    fn only_what_is_paid_is_made() {
        assert!(Plan::DRAWN.iter().all(|plan| plan.is_paid() || !plan.is_made()));
    }
}
