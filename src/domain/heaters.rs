//! Temperatures of a printer: measured and target value for each heater, in tenths of a degree Celsius, because the
//! values of a whole day are held in memory.

use serde::{Deserialize, Serialize};

/// Maximum number of tools whose temperatures are stored.
pub const MAX_TOOLS: usize = 6;
/// Maximum plausible temperature, in degrees Celsius.
const MAX_CELSIUS: f64 = 1000.0;
/// Sentinel for an unknown temperature.
const UNKNOWN_TENTHS: i16 = i16::MIN;

/// Measured and target temperature of one heater.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Heat {
    actual: i16,
    target: i16,
}

impl Default for Heat {
    /// Returns a heater with unknown temperatures.
    fn default() -> Self {
        Self { actual: UNKNOWN_TENTHS, target: UNKNOWN_TENTHS }
    }
}

impl Heat {
    /// Converts temperatures given in degrees Celsius; implausible values become unknown.
    pub fn new(actual: Option<f64>, target: Option<f64>) -> Self {
        Self { actual: tenths(actual), target: tenths(target) }
    }

    /// Returns the measured temperature, in tenths of a degree Celsius.
    pub fn actual(self) -> Option<i16> {
        Some(self.actual).filter(|tenths| *tenths != UNKNOWN_TENTHS)
    }

    /// Returns the target temperature, in tenths of a degree Celsius; 0 while the heater is off.
    pub fn target(self) -> Option<i16> {
        Some(self.target).filter(|tenths| *tenths != UNKNOWN_TENTHS)
    }

    /// Returns the temperatures, overridden by those known in a later report.
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

/// Temperatures of all heaters of a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Heaters {
    /// Temperatures of the tools, by tool number.
    pub tools: [Heat; MAX_TOOLS],
    /// Temperatures of the heated bed.
    pub bed: Heat,
    /// Temperatures of the chamber, which may be heated or only measured.
    pub chamber: Heat,
}

impl Heaters {
    /// Creates the heaters of a printer with one tool.
    pub fn of(tool: Heat, bed: Heat, chamber: Heat) -> Self {
        let mut tools = [Heat::default(); MAX_TOOLS];
        tools[0] = tool;
        Self { tools, bed, chamber }
    }

    /// Returns the temperatures, overridden by those known in a later report.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let mut tools = self.tools;
        tools.iter_mut().zip(later.tools).for_each(|(tool, later)| *tool = tool.then(later));
        Self { tools, bed: self.bed.then(later.bed), chamber: self.chamber.then(later.chamber) }
    }

    /// Returns each heater in display order: the tools, the bed and the chamber.
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
