//! Shortens a failing story by leaving out whatever in its plan the failure does not need, so that there is less to
//! read when looking for the root cause.
//!
//! All parts of a kind are left out first, then each half of the needed ones, and so on, so that large groups are
//! removed early. The number of tries is bounded, because each try runs the story once.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use crate::cut::{Cut, PlanPart};
use crate::error::SimError;
use crate::plan::Plan;
use crate::plants::Plant;
use crate::run::run_sized;
use crate::size::Size;

/// Shortest known failing story of a seed.
pub struct ShortStory {
    /// Seed.
    pub seed: u64,
    /// Size of the story.
    pub size: Size,
    /// Parts left out of the seed's plan.
    pub cut: Cut,
    /// Reason why the story fails.
    pub fault: SimError,
    /// Number of stories that were run to find it.
    pub tries: usize,
}

impl fmt::Display for ShortStory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = if self.size == Size::Day { "--day " } else { "" };
        let gap = if self.cut == Cut::default() { "" } else { " " };
        write!(f, "{day}--seed {}{gap}{}", self.seed, self.cut)
    }
}

/// Makes the story of a failing seed shorter, as [`shrink_sized`] does, without reporting its attempts.
///
/// # Errors
///
/// Fails if a world cannot be created.
pub fn shrink(seed: u64, plant: Option<Plant>) -> Result<Option<ShortStory>, SimError> {
    shrink_sized(Size::Story, seed, plant, |_| ())
}

/// Leaves parts out of a failing seed's plan, and keeps those out without which it still fails in the same way. Passes
/// a line about each try to `tell`. `None` if the seed does not fail.
///
/// # Errors
///
/// Fails if a world cannot be created.
pub fn shrink_sized(
    size: Size,
    seed: u64,
    plant: Option<Plant>,
    mut tell: impl FnMut(&str),
) -> Result<Option<ShortStory>, SimError> {
    let Some(fault) = run_sized(size, seed, &Cut::default(), plant)?.fault else { return Ok(None) };
    let mut short = ShortStory { seed, size, cut: Cut::default(), fault, tries: 0 };
    let mut plan = Plan::draw_sized(size, seed, &short.cut);
    let mut open: VecDeque<Vec<PlanPart>> = plan.parts().into();
    while let Some(mut some) = open.pop_front() {
        let present: BTreeSet<PlanPart> = plan.parts().into_iter().flatten().collect();
        some.retain(|part| present.contains(part));
        if some.is_empty() {
            continue;
        }
        if short.tries == size.most_tries() {
            tell("no more is tried");
            break;
        }
        if try_without(&mut short, plant, &some, &mut tell)? {
            plan = Plan::draw_sized(size, seed, &short.cut);
        } else if some.len() > 1 {
            let rest = some.split_off(some.len() / 2);
            open.extend([some, rest]);
        }
    }
    Ok(Some(short))
}

/// Leaves more out, unless the story holds without it or fails otherwise. Returns whether it is left out.
fn try_without(
    short: &mut ShortStory,
    plant: Option<Plant>,
    parts: &[PlanPart],
    tell: &mut impl FnMut(&str),
) -> Result<bool, SimError> {
    short.tries += 1;
    let more = Cut(parts.iter().copied().collect());
    let cut = Cut(short.cut.0.union(&more.0).copied().collect());
    let fault = run_sized(short.size, short.seed, &cut, plant)?.fault;
    let outcome = match &fault {
        None => "holds".to_owned(),
        Some(fault) if fault.is_like(&short.fault) => "fails as well".to_owned(),
        Some(fault) => format!("fails otherwise: {fault}"),
    };
    tell(&format!("try {} of {}: {more}: {outcome}", short.tries, short.size.most_tries()));
    let Some(fault) = fault.filter(|fault| fault.is_like(&short.fault)) else { return Ok(false) };
    (short.cut, short.fault) = (cut, fault);
    Ok(true)
}
