//! Makes a failing story shorter: without the faults and the orders that it does not need to fail. Whoever looks for
//! the root reads less.

use std::fmt;

use crate::error::SimError;
use crate::faults::FaultKind;
use crate::plan::{Cut, Plan};
use crate::plants::Plant;
use crate::run::run_cut;

/// Shortest story of a seed that was found to fail.
pub struct ShortStory {
    /// Seed.
    pub seed: u64,
    /// Parts of the seed's plan that are left out.
    pub cut: Cut,
    /// Reason that it fails.
    pub fault: SimError,
}

impl fmt::Display for ShortStory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--seed {}", self.seed)?;
        let Cut { faults, orders } = &self.cut;
        if !faults.is_empty() {
            let words: Vec<&str> = faults.iter().copied().map(FaultKind::word).collect();
            write!(f, " --without {}", words.join(","))?;
        }
        if !orders.is_empty() {
            let numbers: Vec<String> = orders.iter().map(usize::to_string).collect();
            write!(f, " --without-orders {}", numbers.join(","))?;
        }
        Ok(())
    }
}

/// Leaves one part after the other out of a failing seed's plan, and keeps out those without which it still fails.
/// `None` if it does not fail.
///
/// # Errors
///
/// Fails if no world can be made.
pub fn shrink(seed: u64, plant: Option<Plant>) -> Result<Option<ShortStory>, SimError> {
    let Some(fault) = run_cut(seed, &Cut::default(), plant)?.fault else { return Ok(None) };
    let mut short = ShortStory { seed, cut: Cut::default(), fault };
    let plan = Plan::draw(seed, &Cut::default());
    for kind in plan.faults.kinds() {
        try_without(&mut short, plant, |cut| cut.faults.extend([kind]))?;
    }
    for order in &plan.orders {
        try_without(&mut short, plant, |cut| cut.orders.extend([order.number]))?;
    }
    Ok(Some(short))
}

/// Leaves one more part out, unless the story holds without it.
fn try_without(short: &mut ShortStory, plant: Option<Plant>, leave_out: impl FnOnce(&mut Cut)) -> Result<(), SimError> {
    let mut cut = short.cut.clone();
    leave_out(&mut cut);
    if let Some(fault) = run_cut(short.seed, &cut, plant)?.fault {
        short.cut = cut;
        short.fault = fault;
    }
    Ok(())
}
