//! How warm a printer is: each of its heaters with what is measured and what is wanted, in tenths of a degree, because
//! a day of them is kept.

use serde::{Deserialize, Serialize};

/// Most tools of which temperatures are kept.
pub const MAX_TOOLS: usize = 6;
/// Temperatures beyond this, in degrees Celsius, are none.
const MAX_CELSIUS: f64 = 1000.0;
/// Stands for what is not known.
const UNKNOWN_TENTHS: i16 = i16::MIN;

/// One heater: what is measured and what is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Heat {
    actual: i16,
    target: i16,
}

impl Default for Heat {
    /// Nothing is known of it.
    fn default() -> Self {
        Self { actual: UNKNOWN_TENTHS, target: UNKNOWN_TENTHS }
    }
}

impl Heat {
    /// From degrees Celsius; what is absurd is not known.
    pub fn new(actual: Option<f64>, target: Option<f64>) -> Self {
        Self { actual: tenths(actual), target: tenths(target) }
    }

    /// What is measured, in tenths of a degree.
    pub fn actual(self) -> Option<i16> {
        Some(self.actual).filter(|tenths| *tenths != UNKNOWN_TENTHS)
    }

    /// What is wanted, in tenths of a degree; 0 while it is off.
    pub fn target(self) -> Option<i16> {
        Some(self.target).filter(|tenths| *tenths != UNKNOWN_TENTHS)
    }

    /// With what was told later.
    fn then(self, later: Self) -> Self {
        let newer = |old: i16, new: i16| if new == UNKNOWN_TENTHS { old } else { new };
        Self { actual: newer(self.actual, later.actual), target: newer(self.target, later.target) }
    }
}

fn tenths(celsius: Option<f64>) -> i16 {
    match celsius {
        Some(celsius) if (-MAX_CELSIUS..=MAX_CELSIUS).contains(&celsius) => (celsius * 10.0).round() as i16,
        _ => UNKNOWN_TENTHS,
    }
}

/// All heaters of a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Heaters {
    /// The tools, by their numbers.
    pub tools: [Heat; MAX_TOOLS],
    /// The heated bed.
    pub bed: Heat,
    /// The chamber, heated or only measured.
    pub chamber: Heat,
}

impl Heaters {
    /// A printer with one tool.
    pub fn of(tool: Heat, bed: Heat, chamber: Heat) -> Self {
        let mut tools = [Heat::default(); MAX_TOOLS];
        tools[0] = tool;
        Self { tools, bed, chamber }
    }

    /// With what was told later.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let mut tools = self.tools;
        tools.iter_mut().zip(later.tools).for_each(|(tool, later)| *tool = tool.then(later));
        Self { tools, bed: self.bed.then(later.bed), chamber: self.chamber.then(later.chamber) }
    }

    /// Each heater in the order in which they are shown: the tools, the bed, the chamber.
    pub fn each(&self) -> impl Iterator<Item = Heat> + '_ {
        self.tools.iter().copied().chain([self.bed, self.chamber])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_later_replaces_only_what_it_tells() {
        let first = Heaters::of(Heat::new(Some(200.04), Some(210.0)), Heat::new(Some(60.0), None), Heat::default());
        let later = Heaters { bed: Heat::new(None, Some(55.5)), ..Heaters::default() };
        let both = first.then(later);
        assert_eq!((both.tools[0].actual(), both.tools[0].target()), (Some(2000), Some(2100)));
        assert_eq!((both.bed.actual(), both.bed.target()), (Some(600), Some(555)));
        assert_eq!((both.chamber.actual(), both.tools[1].target()), (None, None));
        assert_eq!(Heat::new(Some(1e300), Some(f64::NAN)), Heat::default());
    }
}
