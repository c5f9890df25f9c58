//! Parts that prints outside of jobs leave on the bed, including prints whose end was not seen: once a status no longer
//! shows such a print, nothing else records that it existed.
//!
//! A print that has only gone out of sight may still be running. If its file is seen again and finishes on a printer
//! that clears its own bed, the bed is clear, just as if the print had been in sight all along. If the printer
//! has counted another print of the file meanwhile, the end of the first one is unknown, and the bed stays occupied;
//! the same holds if the printer did not respond in the meantime. Printers that do not count prints, stop counting, or
//! start over when the server restarts cannot tell the two apart.

use super::Printer;
use crate::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::time::Timestamp;

impl Printer {
    /// Marks the bed as occupied by something that an operator has to inspect, no matter what happens to a print that
    /// is out of sight.
    pub(super) fn occupy_bed(&mut self) {
        (self.bed_not_cleared, self.unseen_print) = (true, None);
    }

    /// Records what a status shows about a print outside of jobs. Its connection and activity must already be recorded.
    pub(super) fn foreign_print_seen(&mut self, before: &Self, status: &Status, now: Timestamp) {
        let unseen = self.unseen_print.clone();
        // Some printers count a print late, so that a lower number says nothing.
        let is_another = status.runs.zip(before.foreign_runs).is_some_and(|(runs, before)| runs > before);
        // While the printer did not respond, the print that it had shown ended in an unknown way.
        if is_another && before.outage && status.file.is_some() && status.file == before.shows {
            self.occupy_bed();
        }
        let is_unseen = |file: Option<&str>| file.is_some() && file == unseen.as_deref() && !is_another;
        if matches!(status.state, Activity::Printing | Activity::Paused) {
            // A printer that asks for attention may show no file.
            if status.file.is_some() {
                if !is_unseen(status.file.as_deref()) {
                    self.unseen_print = None;
                }
                self.foreign_runs = status.runs.filter(|_| self.foreign_print());
            }
            return;
        }
        let was_shown = before.foreign_print();
        if is_out_of_sight(status) {
            if was_shown {
                self.bed_since = before.bed_not_cleared.then_some(now);
                if !self.bed_not_cleared {
                    (self.bed_not_cleared, self.unseen_print) = (true, before.shows.clone());
                }
            }
            return;
        }
        self.foreign_runs = None;
        if !was_shown && unseen.is_none() {
            return;
        }
        let clears = self.fields.auto_clear && self.fault.is_none() && status.ended == Some(PrintEnd::Finished);
        let last_file = status.file.as_deref().or(before.shows.as_deref());
        let is_same_print = is_unseen(last_file) || (last_file.is_none() && was_shown);
        if clears && unseen.is_some() && is_same_print {
            // Nobody had to clear it, so the time it took teaches nothing.
            (self.bed_not_cleared, self.bed_since, self.unseen_print) = (false, None, None);
            return;
        }
        self.unseen_print = None;
        if was_shown {
            // No two prints on a bed that nobody has cleared have the same mark.
            self.bed_since = before.bed_not_cleared.then_some(now);
            if !clears {
                self.occupy_bed();
            }
        }
    }
}

/// Returns whether a status cannot show what is printing, so that a print may still be running unseen. After a firmware
/// error, any print is over. A read-only printer still shows its print, unless it shows nothing at all.
fn is_out_of_sight(status: &Status) -> bool {
    let is_hidden = match status.connection {
        Connection::FirmwareDisconnected | Connection::WrongKey => status.state != Activity::Error,
        Connection::ReadOnly => status.state == Activity::Offline,
        _ => false,
    };
    is_hidden && status.ended.is_none()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::super::tests::PrinterFixture;
    use super::*;
    use crate::printer::{PrinterCommand, PrinterFields};
    use crate::sign_off::Inspection;

    const BELT: &str = "belt.gcode";

    impl PrinterFixture {
        /// Returns a printer on which a print outside of jobs went out of sight.
        fn out_of_sight(auto_clear: bool, connection: Connection) -> Self {
            Self::out_of_sight_in_run(None, auto_clear, connection)
        }
        /// Returns such a printer, which had counted the prints of the file.
        fn out_of_sight_in_run(runs: Option<u32>, auto_clear: bool, connection: Connection) -> Self {
            let mut shop = Self::in_run(runs, auto_clear);
            shop.hides(connection);
            shop
        }
        /// Returns a printer that shows a print outside of jobs.
        fn in_run(runs: Option<u32>, auto_clear: bool) -> Self {
            let mut shop = Self::idle();
            let fields = PrinterFields { auto_clear, ..shop.p().fields.clone() };
            shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
            shop.shows_run(runs, Activity::Printing, None);
            shop
        }
        fn shows_run(&mut self, runs: Option<u32>, state: Activity, ended: Option<PrintEnd>) {
            let status = self.status(state, Some(BELT), ended);
            self.tell(Status { runs, ..status });
        }
        fn hides(&mut self, connection: Connection) {
            let status = self.status(Activity::Offline, None, None);
            self.tell(Status { connection, ..status });
            assert!(self.p().bed_not_cleared);
        }
    }

    #[test]
    fn a_print_that_comes_back_into_sight_and_finishes_leaves_a_bed_that_clears_itself() {
        for connection in [Connection::FirmwareDisconnected, Connection::WrongKey, Connection::ReadOnly] {
            for (is_auto, end, is_clear) in [
                (true, Some(PrintEnd::Finished), true),
                (false, Some(PrintEnd::Finished), false),
                (true, Some(PrintEnd::Failed), false),
                (true, Some(PrintEnd::Cancelled), false),
                (true, None, false),
            ] {
                for file in [Some(BELT), None] {
                    let mut shop = PrinterFixture::out_of_sight(is_auto, connection);
                    shop.sees(Activity::Printing, Some(BELT), None);
                    shop.sees(Activity::Paused, None, None);
                    shop.sees(Activity::Printing, Some(BELT), None);
                    shop.hides(connection);
                    shop.sees(Activity::Printing, Some(BELT), None);
                    assert!(shop.p().bed_not_cleared, "it goes on");
                    shop.sees(Activity::Idle, file, end);
                    assert_eq!(!shop.p().bed_not_cleared, is_clear, "{connection:?} {is_auto} {end:?} {file:?}");
                    assert_eq!((shop.p().bed_since.is_none(), &shop.p().unseen_print), (is_clear, &None));
                    assert!(shop.p().clearings.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_print_may_finish_out_of_sight() {
        let mut shop = PrinterFixture::out_of_sight(true, Connection::WrongKey);
        shop.sees(Activity::Idle, Some(BELT), Some(PrintEnd::Finished));
        assert!(!shop.p().bed_not_cleared);
        let finished = Some(PrintEnd::Finished);
        for (file, end) in [(None, None), (None, finished), (Some("vase.gcode"), finished)] {
            let mut shop = PrinterFixture::out_of_sight(true, Connection::WrongKey);
            shop.sees(Activity::Idle, file, end);
            shop.sees(Activity::Printing, Some(BELT), None);
            shop.sees(Activity::Idle, Some(BELT), Some(PrintEnd::Finished));
            assert!(shop.p().bed_not_cleared, "it is not known how the first one ended: {file:?} {end:?}");
        }
    }

    #[test]
    fn another_print_of_the_same_file_tells_nothing_about_the_first() {
        let finished = Some(PrintEnd::Finished);
        for (before, after, is_clear) in [
            (Some(1), Some(2), false),
            (Some(1), Some(1), true),
            (Some(2), Some(1), true),
            (None, Some(2), true),
            (Some(2), None, true),
        ] {
            let mut responding = PrinterFixture::in_run(before, true);
            responding.silent();
            let mut silent = PrinterFixture::in_run(before, true);
            silent.silent();
            responding.shows_run(after, Activity::Printing, None);
            for (mut shop, name) in [(responding, "responding again"), (silent, "silent until it was over")] {
                shop.shows_run(after, Activity::Idle, finished);
                let printer = shop.p();
                assert_eq!(!printer.bed_not_cleared, is_clear, "{before:?} {after:?} {name}");
                assert_eq!((&printer.unseen_print, printer.foreign_runs), (&None, None));
            }
            for connection in [Connection::FirmwareDisconnected, Connection::WrongKey, Connection::ReadOnly] {
                let begin = || PrinterFixture::out_of_sight_in_run(before, true, connection);
                let mut seen_again = begin();
                seen_again.shows_run(after, Activity::Printing, None);
                seen_again.hides(connection);
                seen_again.shows_run(after, Activity::Paused, None);
                seen_again.shows_run(after, Activity::Idle, finished);
                let mut unseen = begin();
                unseen.shows_run(after, Activity::Idle, finished);
                for (shop, name) in [(seen_again, "seen again"), (unseen, "over before it was seen again")] {
                    let printer = shop.p();
                    assert_eq!(!printer.bed_not_cleared, is_clear, "{connection:?} {before:?} {after:?} {name}");
                    assert_eq!((&printer.unseen_print, printer.foreign_runs), (&None, None));
                }
            }
        }
    }

    #[test]
    fn a_print_out_of_sight_is_stored_and_earlier_printers_are_read() {
        let shop = PrinterFixture::out_of_sight(true, Connection::WrongKey);
        let mut stored = serde_json::to_value(shop.p()).unwrap();
        assert_eq!(serde_json::from_value::<Printer>(stored.clone()).unwrap(), *shop.p());
        assert_eq!(stored.as_object_mut().unwrap().remove("unseenPrint"), Some(BELT.into()));
        let earlier: Printer = serde_json::from_value(stored).unwrap();
        assert_eq!((earlier.bed_not_cleared, earlier.unseen_print), (true, None));
    }

    #[test]
    fn a_bed_that_is_occupied_for_another_reason_stays_so() {
        type Trouble = fn(&mut PrinterFixture);
        let troubles: [Trouble; 6] = [
            |shop| {
                let idle = shop.status(Activity::Idle, None, None);
                shop.tell(Status { connection: Connection::ReadOnly, ..idle });
            },
            |shop| drop(shop.ask(PrinterCommand::EmergencyStopped).unwrap()),
            |shop| drop(shop.sees(Activity::Printing, Some("vase.gcode"), None)),
            |shop| drop(shop.sees(Activity::Error, None, None)),
            |shop| {
                shop.sees(Activity::Printing, Some(BELT), None);
                shop.ask(PrinterCommand::EmergencyStopped).unwrap();
            },
            |shop| {
                shop.ask(PrinterCommand::BedCleared(Inspection::default())).unwrap();
                shop.sees(Activity::Printing, Some(BELT), None);
                shop.sees(Activity::Idle, Some(BELT), Some(PrintEnd::Failed));
            },
        ];
        for trouble in troubles {
            let mut shop = PrinterFixture::out_of_sight(true, Connection::FirmwareDisconnected);
            trouble(&mut shop);
            shop.sees(Activity::Printing, Some(BELT), None);
            shop.sees(Activity::Idle, Some(BELT), Some(PrintEnd::Finished));
            assert!(shop.p().bed_not_cleared);
        }
    }
}
