//! Clearing times of the most recent prints, from which the forecaster learns how long beds stay occupied. Every change
//! in the bed's state is recorded here, regardless of which rule caused it.

use serde::{Deserialize, Serialize};

use super::Printer;
use crate::aggregate::Decision;
use crate::time::Timestamp;

/// Number of clearings stored per printer.
const MAX_CLEARINGS: usize = 8;

/// Period from when a bed became occupied until it was cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clearing {
    /// Time at which the bed became occupied, or at which a print ended that was started at the printer meanwhile.
    pub from: Timestamp,
    /// Time at which an operator reported that the bed is clear.
    pub to: Timestamp,
}

/// Returns the decision with the bed times updated, if it changes whether the bed is clear.
pub(super) fn noted<A>(
    before: Option<&Printer>,
    mut decision: Decision<Printer, A>,
    now: Timestamp,
) -> Decision<Printer, A> {
    if let Some(next) = &mut decision.next {
        if !next.bed_not_cleared {
            next.unseen_print = None;
        }
        match (before.is_some_and(|before| before.bed_not_cleared), next.bed_not_cleared) {
            (false, true) => next.bed_since = Some(now),
            (true, false) => {
                if let Some(from) = next.bed_since.take().filter(|from| *from <= now) {
                    next.clearings.push(Clearing { from, to: now });
                    let many = next.clearings.len().saturating_sub(MAX_CLEARINGS);
                    next.clearings.drain(..many);
                }
            }
            _ => {}
        }
    }
    decision
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::super::tests::PrinterFixture;
    use super::*;
    use crate::printer::PrinterCommand;
    use crate::printer_status::{Activity, PrintEnd};

    impl PrinterFixture {
        /// Prints something on a clear bed, and clears it the given number of milliseconds later.
        fn occupies_the_bed(&mut self, ms: i64) -> Clearing {
            self.sees(Activity::Printing, Some("vase.gcode"), None);
            self.sees(Activity::Idle, None, Some(PrintEnd::Finished));
            let from = self.now();
            assert_eq!(self.p().bed_since, Some(from));
            self.bench.now = from.plus_ms(ms);
            self.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
            assert_eq!(self.p().bed_since, None);
            Clearing { from, to: self.now() }
        }
    }

    #[test]
    fn the_last_times_that_it_took_to_clear_the_bed_are_kept_oldest_first() {
        let mut shop = PrinterFixture::idle();
        let clearings: Vec<Clearing> = (0..9).map(|minutes| shop.occupies_the_bed(minutes * 60_000)).collect();
        assert_eq!(shop.p().clearings[..], clearings[1..]);
    }

    #[test]
    fn a_clock_that_was_set_back_leaves_no_clearing() {
        let mut shop = PrinterFixture::idle();
        shop.occupies_the_bed(-1);
        assert_eq!(shop.p().clearings, []);
    }
}
