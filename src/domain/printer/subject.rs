//! Print, or trouble, that a person acts on. A button may be pressed minutes after its page was loaded, when another
//! print is on already, or the printer has reported something else. Each page therefore states what its button is
//! about, and the act is rejected if it would affect something that the person has not seen.

use super::Printer;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Print of a printer that a person acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrintSubject {
    /// Print that the printer is working on.
    Current,
    /// Print whose parts are on the bed.
    OnBed,
}

impl Printer {
    /// Returns the mark of a print, which is unique among the printer's prints; empty if there is no such print.
    pub fn print_mark(&self, subject: PrintSubject) -> String {
        match subject {
            PrintSubject::Current => self.current_mark(),
            PrintSubject::OnBed => self.bed_mark(),
        }
    }

    /// Rejects an act that a person meant for the print with the given mark, if it would affect another one.
    pub fn check_subject(&self, subject: PrintSubject, meant: &str) -> Result<(), Refusal> {
        let mark = self.print_mark(subject);
        match subject {
            _ if mark == meant => Ok(()),
            PrintSubject::Current if self.foreign_print() && is_same_foreign_print(&mark, meant) => Ok(()),
            PrintSubject::Current if mark.is_empty() => Err(Refusal::conflict("print_over", "the print is over")),
            PrintSubject::Current => Err(Refusal::conflict("other_print", "another print is in progress")),
            // Somebody else has cleared it already.
            PrintSubject::OnBed if mark.is_empty() => Ok(()),
            PrintSubject::OnBed => {
                Err(Refusal::conflict("other_print", "another print is on the bed now; check the bed again"))
            }
        }
    }

    /// Returns the mark of the conditions that an operator clears after an inspection: the firmware error and the last
    /// rejected start, each identified by its time, or 0 if there is none.
    pub fn trouble_mark(&self) -> String {
        let [fault, refusal] = self.troubles().map(|at| at.map_or(0, |at| at.0));
        format!("{fault} {refusal}")
    }

    /// Rejects the clearing of an error or of rejected starts that came after those with the given mark. If someone
    /// else has already cleared them, nothing is left to reject.
    pub(super) fn check_troubles(&self, meant: &str) -> Result<(), Refusal> {
        let mut inspected = meant.split(' ');
        let is_inspected = |at: Option<Timestamp>| {
            let stated = inspected.next();
            at.is_none_or(|at| stated == Some(at.0.to_string().as_str()))
        };
        if self.troubles().map(is_inspected) == [true, true] {
            return Ok(());
        }
        Err(Refusal::conflict("other_trouble", "the printer has reported another problem since; check it again"))
    }

    /// Returns the times of the firmware error and of the last rejected start that have not been cleared.
    fn troubles(&self) -> [Option<Timestamp>; 2] {
        [self.fault.as_ref().map(|fault| fault.at), self.refusals.as_ref().map(|refusals| refusals.at)]
    }

    /// Returns the mark of the current print. The same file may be printed twice outside of jobs; the printer was idle
    /// in between.
    fn current_mark(&self) -> String {
        if let Some(manual) = &self.manual {
            return manual.id.to_string();
        }
        if self.foreign_print() {
            return format!("{} {}", self.idle_since.0, self.shows.as_deref().unwrap_or_default());
        }
        let in_hand = self.in_hand.as_ref().filter(|in_hand| !in_hand.over());
        in_hand.map(|in_hand| in_hand.attempt.to_string()).unwrap_or_default()
    }

    fn bed_mark(&self) -> String {
        let since = self.bed_since.map(|since| since.0).unwrap_or_default();
        match self.last_print {
            _ if !self.bed_not_cleared => String::new(),
            Some(last) => format!("{since} {}", last.attempt),
            None => since.to_string(),
        }
    }
}

/// Returns whether two marks of prints outside of jobs are of the same one, with and without its file: a printer that
/// asks for attention may show none.
fn is_same_foreign_print(one: &str, other: &str) -> bool {
    let (Some((since, file)), Some((other_since, other_file))) = (one.split_once(' '), other.split_once(' ')) else {
        return false;
    };
    since == other_since && (file.is_empty() || other_file.is_empty())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::super::tests::{ATTEMPT, OURS, PrinterFixture, take};
    use super::*;
    use crate::printer::{PrinterCommand, PrinterNews, StartFailure};
    use crate::printer_status::{Activity, PrintEnd};
    use crate::sign_off::Inspection;
    use crate::testing::id;

    impl PrinterFixture {
        fn mark(&self, subject: PrintSubject) -> String {
            self.p().print_mark(subject)
        }
        fn refusal(&self, subject: PrintSubject, meant: &str) -> Option<String> {
            self.p().check_subject(subject, meant).err().map(|refusal| refusal.message)
        }
        /// Lets the upload of a new attempt fail.
        fn rejects_a_start(&mut self, attempt: u32) {
            self.bench.now = self.now().plus_ms(600_000);
            self.ask(take(attempt)).unwrap();
            let why = StartFailure::DiskFull;
            self.ask(PrinterNews::UploadFailed { attempt: id(attempt), why, reason: "full".into() }).unwrap();
            self.heard_of(attempt);
        }
        fn may_clear(&self, meant: &str) -> bool {
            self.p().check_troubles(meant).is_ok()
        }
    }

    #[test]
    fn an_act_on_a_print_does_not_affect_the_next_one() {
        let mut shop = PrinterFixture::printing();
        let meant = shop.mark(PrintSubject::Current);
        assert_eq!(meant, id(ATTEMPT).to_string());
        shop.sees(Activity::Paused, Some(OURS), None);
        assert_eq!(shop.refusal(PrintSubject::Current, &meant), None, "the same print, paused");
        shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
        let over = || Some("the print is over".to_owned());
        assert_eq!(shop.refusal(PrintSubject::Current, &meant), over());
        shop.acknowledge(false);
        assert_eq!(shop.refusal(PrintSubject::Current, &meant), over());
        shop.ask(PrinterCommand::BedCleared(Inspection::default())).unwrap();
        shop.ask(take(90)).unwrap();
        let other = Some("another print is in progress".to_owned());
        assert_eq!(shop.refusal(PrintSubject::Current, &meant), other);
        assert_eq!(shop.refusal(PrintSubject::Current, ""), other, "a page that states no print");
    }

    #[test]
    fn a_file_printed_twice_at_the_printer_is_two_prints() {
        let mut shop = PrinterFixture::idle();
        assert_eq!(shop.mark(PrintSubject::Current), "");
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        let meant = shop.mark(PrintSubject::Current);
        shop.silent();
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        assert_eq!(shop.refusal(PrintSubject::Current, &meant), None, "the printer was only out of reach");
        shop.sees(Activity::Idle, None, Some(PrintEnd::Finished));
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        assert_eq!(shop.refusal(PrintSubject::Current, &meant).as_deref(), Some("another print is in progress"));
    }

    #[test]
    fn a_print_at_the_printer_is_the_same_one_while_the_printer_shows_no_file() {
        let mut shop = PrinterFixture::idle();
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        let with_file = shop.mark(PrintSubject::Current);
        shop.sees(Activity::Paused, None, None);
        let without_file = shop.mark(PrintSubject::Current);
        assert_eq!(shop.refusal(PrintSubject::Current, &with_file), None, "it asks for attention");
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        assert_eq!(shop.refusal(PrintSubject::Current, &without_file), None);
        let other = Some("another print is in progress".to_owned());
        shop.sees(Activity::Printing, Some("lamp.gcode"), None);
        assert_eq!(shop.refusal(PrintSubject::Current, &with_file), other);
        shop.sees(Activity::Idle, None, None);
        shop.sees(Activity::Paused, None, None);
        for meant in [&with_file, &without_file] {
            assert_eq!(shop.refusal(PrintSubject::Current, meant), other);
        }
        assert_eq!(shop.refusal(PrintSubject::Current, ""), other, "a page that states no print");
    }

    #[test]
    fn a_problem_that_came_after_the_page_is_not_cleared_unseen() {
        let mut shop = PrinterFixture::idle();
        let nothing = shop.p().trouble_mark();
        assert!(shop.may_clear(&nothing) && shop.may_clear(""), "there is nothing to clear");
        shop.rejects_a_start(90);
        let first = shop.p().trouble_mark();
        assert!(shop.may_clear(&first) && !shop.may_clear(&nothing) && !shop.may_clear(""));
        shop.rejects_a_start(91);
        let refusal = shop.p().check_troubles(&first).unwrap_err();
        assert_eq!((&*refusal.code, shop.may_clear(&shop.p().trouble_mark())), ("other_trouble", true));
        let refusal = shop.ask(PrinterCommand::ClearAttention(Some(first.clone()))).unwrap_err();
        assert_eq!((&*refusal.code, shop.p().refusals.is_some()), ("other_trouble", true), "in the same decision");
        shop.ask(PrinterCommand::ClearAttention(Some(shop.p().trouble_mark()))).unwrap();
        assert!(shop.p().refusals.is_none() && shop.may_clear(&first), "whoever comes second changes nothing");
        assert!(shop.ask(PrinterCommand::ClearAttention(Some(first.clone()))).unwrap().next.is_none());
        shop.rejects_a_start(92);
        let rejected = shop.p().trouble_mark();
        assert!(!shop.may_clear(&first), "the next problem looks the same and is another one");
        shop.sees(Activity::Error, None, None);
        let both = shop.p().trouble_mark();
        assert!(!shop.may_clear(&rejected) && shop.may_clear(&both));
        shop.sees(Activity::Idle, None, None);
        assert!(shop.may_clear(&both), "the error is still to be cleared");
        shop.sees(Activity::Error, None, None);
        assert!(!shop.may_clear(&both), "it has come again");
    }

    #[test]
    fn a_bed_that_was_printed_on_again_is_not_cleared_unseen() {
        let mut shop = PrinterFixture::printing();
        shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
        shop.acknowledge(false);
        let meant = shop.mark(PrintSubject::OnBed);
        assert_eq!(shop.refusal(PrintSubject::OnBed, &meant), None);
        shop.ask(PrinterCommand::BedCleared(Inspection::default())).unwrap();
        assert_eq!(shop.refusal(PrintSubject::OnBed, &meant), None, "whoever comes second changes nothing");
        shop.sees(Activity::Printing, Some("vase.gcode"), None);
        shop.sees(Activity::Idle, None, Some(PrintEnd::Finished));
        let other = Some("another print is on the bed now; check the bed again".to_owned());
        assert_eq!(shop.refusal(PrintSubject::OnBed, &meant), other);
    }
    #[test]
    fn of_two_prints_on_a_bed_that_nobody_has_cleared_each_is_one_of_its_own() {
        let mut shop = PrinterFixture::idle();
        let prints = |shop: &mut PrinterFixture, file: &str| {
            shop.sees(Activity::Printing, Some(file), None);
            shop.sees(Activity::Idle, None, Some(PrintEnd::Finished));
            shop.mark(PrintSubject::OnBed)
        };
        let meant = prints(&mut shop, "vase.gcode");
        assert_eq!(shop.refusal(PrintSubject::OnBed, &meant), None);
        let next = prints(&mut shop, "lamp.gcode");
        let other = Some("another print is on the bed now; check the bed again".to_owned());
        assert_eq!(shop.refusal(PrintSubject::OnBed, &meant), other);
        assert_eq!(shop.refusal(PrintSubject::OnBed, &next), None);
        shop.sees(Activity::Idle, None, None);
        assert_eq!(shop.mark(PrintSubject::OnBed), next, "the same print, still on the bed");
    }
}
