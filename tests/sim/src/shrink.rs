//! Shortening of a failing story: faults and orders that are not needed for the failure are omitted, which makes the
//! cause easier to find.

use std::fmt;

use crate::error::SimError;
use crate::faults::FaultKind;
use crate::plan::{Cut, Plan};
use crate::plants::Plant;
use crate::run::run_sized;
use crate::size::Size;

/// Number of groups into which the orders of a story are divided first, so that a day is not run once for each order.
const GROUPS: usize = 8;
/// Maximum number of orders that are omitted one by one, once no group can be omitted.
const MOST_SINGLE: usize = 12;

/// Shortest known failing story of a seed.
pub struct ShortStory {
    /// Seed.
    pub seed: u64,
    /// Size of the story.
    pub size: Size,
    /// Omitted parts of the seed's plan.
    pub cut: Cut,
    /// Reason why the story fails.
    pub fault: SimError,
}

impl fmt::Display for ShortStory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = if self.size == Size::Day { "--day " } else { "" };
        write!(f, "{day}--seed {}", self.seed)?;
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

/// Shortens the story of a failing seed, as [`shrink_sized`] does.
///
/// # Errors
///
/// Fails if a world cannot be created.
pub fn shrink(seed: u64, plant: Option<Plant>) -> Result<Option<ShortStory>, SimError> {
    shrink_sized(Size::Story, seed, plant)
}

/// Omits one part of a failing seed's plan after another, unless the story passes without it. `None` if the seed does
/// not fail.
///
/// # Errors
///
/// Fails if a world cannot be created.
pub fn shrink_sized(size: Size, seed: u64, plant: Option<Plant>) -> Result<Option<ShortStory>, SimError> {
    let Some(fault) = run_sized(size, seed, &Cut::default(), plant)?.fault else { return Ok(None) };
    let mut short = ShortStory { seed, size, cut: Cut::default(), fault };
    let plan = Plan::draw_sized(size, seed, &Cut::default());
    for kind in plan.faults.kinds() {
        try_without(&mut short, plant, |cut| cut.faults.extend([kind]))?;
    }
    let orders: Vec<usize> = plan.orders.iter().map(|order| order.number).collect();
    for group in orders.chunks(orders.len().div_ceil(GROUPS).max(1)) {
        try_without(&mut short, plant, |cut| cut.orders.extend(group.iter().copied()))?;
    }
    let left: Vec<usize> = orders.into_iter().filter(|order| !short.cut.orders.contains(order)).collect();
    // Few orders were in groups of their own already.
    if plan.orders.len() > GROUPS && left.len() <= MOST_SINGLE {
        for order in left {
            try_without(&mut short, plant, |cut| cut.orders.extend([order]))?;
        }
    }
    Ok(Some(short))
}

/// Omits a further part, unless the story passes without it.
fn try_without(short: &mut ShortStory, plant: Option<Plant>, leave_out: impl FnOnce(&mut Cut)) -> Result<(), SimError> {
    let mut cut = short.cut.clone();
    leave_out(&mut cut);
    if let Some(fault) = run_sized(short.size, short.seed, &cut, plant)?.fault {
        short.cut = cut;
        short.fault = fault;
    }
    Ok(())
}
