//! Print that a person acts on. A button may be pressed minutes after its page was loaded, when another print is on
//! already. Each page therefore states the print that its button is about, and the act is rejected if it would affect
//! another one.

use super::Printer;
use crate::refusal::Refusal;

/// Print of a printer that a person acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrintSubject {
    /// Print that the printer is working on.
    Current,
    /// Print whose parts are on the bed.
    OnBed,
}

impl Printer {
    /// Returns the mark of a print, which no earlier and no later print of the printer has; empty if there is no such
    /// print.
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
            PrintSubject::Current => Err(Refusal::conflict("other_print", "another print is on now")),
            // Somebody else has cleared it already.
            PrintSubject::OnBed if mark.is_empty() => Ok(()),
            PrintSubject::OnBed => {
                Err(Refusal::conflict("other_print", "another print is on the bed now; check the bed again"))
            }
        }
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
    use crate::printer::PrinterCommand;
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
        let other = Some("another print is on now".to_owned());
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
        assert_eq!(shop.refusal(PrintSubject::Current, &meant).as_deref(), Some("another print is on now"));
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
        let other = Some("another print is on now".to_owned());
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
