#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, take};
use super::*;
use crate::printer::{PrinterCommand, PrinterFields, PrinterNews, PrinterUpload};
use crate::printer_status::{Activity, PrintEnd};
use crate::testing::id;

const NEXT: u32 = 90;

impl PrinterFixture {
    fn ended(end: PrintEnd) -> Self {
        let mut shop = Self::printing();
        shop.sees(Activity::Idle, Some(OURS), Some(end));
        shop
    }
    fn clears(&mut self, inspection: Inspection) -> Result<Decision<Printer, PrinterAnswer>, Refusal> {
        self.ask(PrinterCommand::BedCleared(inspection))
    }
    fn tells(&self) -> Vec<PrinterEffect> {
        self.p().sign_offs_to_tell().collect()
    }
}

fn good(count: u32) -> Inspection {
    Inspection { good_count: Some(count), ..Inspection::default() }
}

#[test]
fn whoever_clears_the_bed_signs_the_last_print_off_and_the_order_is_told_until_it_has_heard() {
    let mut shop = PrinterFixture::ended(PrintEnd::Finished);
    assert_eq!(shop.p().last_print.map(|last| last.attempt), Some(id(ATTEMPT)));
    shop.clears(good(1)).unwrap();
    assert_eq!(shop.p().last_print, None);
    assert_eq!(shop.tells(), [], "the order has not heard of the print's end");
    shop.acknowledge(false);
    assert_eq!(shop.tells(), [PrinterEffect::TellSignOff { attempt: id(ATTEMPT) }]);
    assert_eq!(shop.ask(PrinterCommand::Archive).unwrap_err().code, "printer_busy", "nobody else would tell it");
    assert_eq!(shop.p().signed_prints[0].inspection, good(1));
    shop.ask(PrinterNews::SignedOff(id(ATTEMPT))).unwrap();
    assert_eq!(shop.tells(), []);
    assert!(shop.ask(PrinterNews::SignedOff(id(ATTEMPT))).unwrap().next.is_none());
    shop.ask(PrinterCommand::Archive).unwrap();
}

#[test]
fn words_about_parts_that_nobody_knows_are_refused_and_the_bed_can_always_be_cleared() {
    let mut shop = PrinterFixture::idle();
    assert_eq!(shop.clears(good(1)).unwrap_err().code, "nothing_to_sign_off");
    assert!(shop.clears(Inspection::default()).unwrap().next.is_none());
    let mut shop = PrinterFixture::ended(PrintEnd::Failed);
    let strange = Inspection { reason: Some("moon phase".to_owned()), ..Inspection::default() };
    assert_eq!(shop.clears(strange).unwrap_err().faults[0].path, "reason");
    shop.clears(Inspection::default()).unwrap();
    assert_eq!(shop.clears(good(1)).unwrap_err().code, "nothing_to_sign_off", "it was signed off");
}

#[test]
fn another_print_in_between_leaves_nothing_to_sign_off() {
    let mut shop = PrinterFixture::ended(PrintEnd::Finished);
    shop.acknowledge(false);
    shop.sees(Activity::Printing, Some("vase.gcode"), None);
    assert_eq!(shop.p().last_print, None, "somebody's own");

    let mut shop = PrinterFixture::ended(PrintEnd::Finished);
    shop.acknowledge(false);
    shop.clears(Inspection::default()).unwrap();
    shop.ask(take(NEXT)).unwrap();
    assert_eq!(shop.p().signed_prints.len(), 1, "the earlier sign-off is still to be told");
    assert_eq!(shop.tells().len(), 1);
}

#[test]
fn what_cannot_have_been_printed_is_not_signed_off() {
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!(shop.p().last_print, None);
    let mut shop = PrinterFixture::started();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(shop.p().last_print.is_some(), "it may have begun");
}

#[test]
fn sign_offs_that_no_order_hears_are_bounded_and_none_that_was_given_is_lost() {
    let mut shop = PrinterFixture::ended(PrintEnd::Finished);
    shop.acknowledge(false);
    for n in 0..=MAX_WAITING_SIGN_OFFS as u32 {
        if n > 0 {
            let print = LastPrint { attempt: id(NEXT + n), job: id(21), order: id(22) };
            shop.printer.as_mut().unwrap().last_print = Some(print);
        }
        if n < MAX_WAITING_SIGN_OFFS as u32 {
            shop.clears(good(1)).unwrap();
        }
    }
    assert_eq!(shop.clears(good(1)).unwrap_err().code, "sign_offs_waiting");
    shop.clears(Inspection::default()).unwrap();
    assert_eq!((shop.p().signed_prints.len(), shop.p().last_print), (MAX_WAITING_SIGN_OFFS, None));
}

#[test]
fn a_print_is_to_be_signed_off_until_the_next_one_begins() {
    let mut shop = PrinterFixture::printing();
    let fields = PrinterFields { auto_clear: true, ..shop.p().fields.clone() };
    shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
    let last = |shop: &PrinterFixture| shop.p().last_print.map(|last| last.attempt);
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    shop.ask(PrinterNews::PhotoOver(id(ATTEMPT))).unwrap();
    assert_eq!(last(&shop), Some(id(ATTEMPT)), "whatever else comes of it");
    shop.acknowledge(false);
    shop.ask(take(NEXT)).unwrap();
    assert_eq!(last(&shop), Some(id(ATTEMPT)), "nothing of the next print is on the bed yet");
    shop.ask(PrinterUpload::Attempt { attempt: id(NEXT), remote_name: OURS.into(), server_mark: None }).unwrap();
    shop.sees(Activity::Printing, Some(OURS), None);
    assert_eq!(last(&shop), None);
}
