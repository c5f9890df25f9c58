#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::tests::{ATTEMPT, PrinterFixture, refused, take};
use super::*;
use crate::aggregate::Aggregate as _;
use crate::printer::{Attention, PrintManually, PrinterCommand, PrinterEffect, PrinterNews, PrinterUpload};
use crate::testing::id;

const PRINT: u32 = 70;

impl PrinterFixture {
    fn by_hand() -> Self {
        let mut shop = Self::idle();
        shop.ask(print(PRINT)).unwrap();
        shop
    }
    fn there(&mut self) -> Decision<Printer, UploadAnswer> {
        self.ask(PrinterUpload::Manual { id: id(PRINT), remote_name: "a.gcode".into() }).unwrap()
    }
    fn end(&self) -> &ManualEnd {
        self.p().last_manual.as_ref().unwrap()
    }
}

fn print(n: u32) -> PrintManually {
    PrintManually { id: id(n), file_id: Some(id(23)), file_name: "a.gcode".into(), slots: Vec::new() }
}

#[test]
fn nothing_else_is_taken_meanwhile_and_one_caller_hears_go() {
    let mut shop = PrinterFixture::by_hand();
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()));
    assert_eq!(shop.ask(print(71)).unwrap_err().code, "printer_busy");
    assert!(shop.ask(print(PRINT)).unwrap().next.is_none(), "a repeat is taken already");
    assert_eq!(shop.ask(PrinterCommand::Archive).unwrap_err().code, "printer_busy");
    assert!(matches!(shop.there().answer, UploadAnswer::Go));
    assert!(matches!(shop.there().answer, UploadAnswer::Done), "once");
    shop.ask(PrinterNews::ManualOver { id: id(PRINT), error: None }).unwrap();
    assert_eq!(shop.p().attention(), [Attention::ForeignPrint], "a print like any other from here on");
    assert!(shop.p().free().is_err());
    shop.sees(Activity::Printing, Some("a.gcode"), None);
    shop.sees(Activity::Idle, Some("a.gcode"), None);
    assert_eq!(shop.p().attention(), [Attention::BedNotCleared], "its part lies on the bed");
    assert!(shop.ask(print(PRINT)).unwrap().next.is_none(), "and is not printed again");
}

#[test]
fn a_printer_that_cannot_start_any_more_is_not_told_to() {
    let mut shop = PrinterFixture::by_hand();
    shop.ask(PrinterCommand::Maintenance { on: true, note: None }).unwrap();
    assert!(matches!(shop.there().answer, UploadAnswer::Done));
    assert!(matches!(&shop.end().error, Some(ManualFailure::Busy(why)) if why.contains("out of service")));
    assert!(!shop.p().effects().iter().any(|effect| matches!(effect, PrinterEffect::Manual { .. })));
}

#[test]
fn a_start_that_nobody_confirms_is_not_sent_again_and_somebody_looks_at_the_bed() {
    let mut shop = PrinterFixture::by_hand();
    shop.ask(PrinterNews::ManualUnclear(id(PRINT))).unwrap();
    assert!(shop.p().manual.is_some(), "nothing was sent yet");
    shop.there();
    assert!(shop.p().effects().contains(&PrinterEffect::Manual { id: id(PRINT) }), "also after a restart");
    shop.ask(PrinterNews::ManualUnclear(id(PRINT))).unwrap();
    assert!(matches!(shop.end().error, Some(ManualFailure::Unclear(_))));
    assert_eq!(shop.p().free(), Err("waiting for a clear bed".into()));
    let mut shop = PrinterFixture::by_hand();
    shop.there();
    shop.sees(Activity::Printing, Some("a.gcode"), None);
    assert_eq!(shop.end().error, None, "a look at it confirms");
}

#[test]
fn an_emergency_stop_ends_it() {
    for started in [false, true] {
        let mut shop = PrinterFixture::by_hand();
        if started {
            shop.there();
        }
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        assert!(matches!(shop.there().answer, UploadAnswer::Done), "no start goes out");
        assert_eq!(shop.p().bed_not_cleared, started);
        assert_eq!(shop.end().error, Some(ManualFailure::Busy("emergency stop".into())));
        assert_eq!(serde_json::from_str::<Printer>(&serde_json::to_string(shop.p()).unwrap()).unwrap(), *shop.p());
    }
}

#[test]
fn only_a_print_that_was_seen_after_the_start_confirms_it() {
    let is_confirmed = |state, connection, read_ms: i64, now_ms: i64| {
        let mut shop = PrinterFixture::by_hand();
        shop.there();
        let sent_at = shop.now();
        shop.bench.now = sent_at.plus_ms(now_ms);
        let (file, updated_at) = (Some("a.gcode".to_owned()), sent_at.plus_ms(read_ms));
        shop.tell(Status { state, connection, file, updated_at, ..Status::default() });
        shop.p().manual.is_none()
    };
    let (printing, connected) = (Activity::Printing, Connection::Connected);
    assert!(is_confirmed(printing, connected, 0, 0) && is_confirmed(Activity::Paused, connected, 1, 1));
    assert!(!is_confirmed(printing, connected, -1, 0) && !is_confirmed(printing, connected, -1, 1), "read before it");
    assert!(is_confirmed(printing, connected, -2, -1), "the clock was set back");
    assert!(!is_confirmed(Activity::Idle, connected, 1, 1), "printers take their time");
    assert!(!is_confirmed(printing, Connection::ReadOnly, 1, 1));
}
