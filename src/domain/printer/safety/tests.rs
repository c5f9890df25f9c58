#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, refused, take};
use crate::printer::{Attention, PrinterCommand, PrinterFields, PrinterUpload};
use crate::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::testing::id;

impl PrinterFixture {
    fn auto_clear(mut self) -> Self {
        let fields = PrinterFields { auto_clear: true, ..self.p().fields.clone() };
        self.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
        self
    }

    /// Reports that the connection to the firmware is closed, by an error or by a user.
    fn closed(&mut self, error: bool) {
        let status = self.status(if error { Activity::Error } else { Activity::Offline }, None, None);
        self.tell(Status { connection: Connection::FirmwareDisconnected, ..status });
    }

    fn has(&self, attention: Attention) -> bool {
        self.p().attention().contains(&attention)
    }
}

#[test]
fn a_firmware_fault_holds_the_printer_until_a_person_clears_it() {
    let mut shop = PrinterFixture::printing().auto_clear();
    let status = shop.status(Activity::Error, Some(OURS), Some(PrintEnd::Failed));
    let decision = shop.tell(Status { message: Some("Thermal Runaway, system stopped!".into()), ..status });
    assert_eq!(decision.events[0].event, "printer.firmware_error");
    assert_eq!(decision.events[0].data["error"], "Thermal Runaway, system stopped!");
    let mails: Vec<&str> = decision.created.iter().map(|mail| mail.text.as_str()).collect();
    assert!(matches!(mails[..], [text] if text.contains("Thermal Runaway, system stopped!")), "{mails:?}");
    assert!(shop.has(Attention::FirmwareError) && shop.has(Attention::NeedsHome) && shop.has(Attention::BedNotCleared));
    assert_eq!(shop.ask(PrinterCommand::ClearAttention(None)).unwrap_err().code, "printer_in_error");
    shop.acknowledge(false);
    shop.sees(Activity::Idle, None, None);
    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
    shop.ask(PrinterCommand::Homed).unwrap();
    assert_eq!(shop.p().attention(), [Attention::FirmwareError], "neither the bed nor homing clears it");
    assert!(refused(&shop.ask(take(ATTEMPT + 1)).unwrap()));
    let cleared = shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    assert_eq!(cleared.events[0].event, "printer.attention_cleared");
    assert_eq!(shop.p().takes_jobs(shop.now()), Ok(()));
    assert!(shop.ask(PrinterCommand::ClearAttention(None)).unwrap().next.is_none(), "nothing is left to clear");
}

#[test]
fn a_fault_without_a_job_is_told_once_and_another_asks_for_homing_again() {
    let mut shop = PrinterFixture::idle();
    assert_eq!(shop.sees(Activity::Error, None, None).events.len(), 1);
    assert!(shop.has(Attention::FirmwareError) && shop.has(Attention::NeedsHome));
    assert!(shop.sees(Activity::Error, None, None).events.is_empty());
    shop.sees(Activity::Idle, None, None);
    shop.ask(PrinterCommand::Homed).unwrap();
    assert!(shop.sees(Activity::Error, None, None).events.is_empty(), "nobody has cleared the first yet");
    assert!(shop.has(Attention::NeedsHome));
}

#[test]
fn the_error_after_our_own_stop_is_the_stop() {
    let mut shop = PrinterFixture::printing();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(shop.sees(Activity::Error, None, None).events.is_empty());
    assert!(!shop.has(Attention::FirmwareError));
    shop.sees(Activity::Idle, None, None);
    shop.ask(PrinterCommand::Homed).unwrap();
    assert_eq!(shop.sees(Activity::Error, None, None).events.len(), 1, "a later one is not");
}

#[test]
fn only_a_print_that_finished_is_cleared_by_the_printer_itself() {
    for (end, cleared) in [(PrintEnd::Finished, true), (PrintEnd::Cancelled, false), (PrintEnd::Failed, false)] {
        let mut shop = PrinterFixture::printing().auto_clear();
        shop.sees(Activity::Idle, Some(OURS), Some(end));
        assert_eq!(!shop.p().bed_not_cleared, cleared, "{end:?}");
        let mut shop = PrinterFixture::idle().auto_clear();
        shop.sees(Activity::Printing, Some("theirs.gcode"), None);
        shop.sees(Activity::Idle, Some("theirs.gcode"), Some(end));
        assert_eq!(!shop.p().bed_not_cleared, cleared, "a print that is no job, {end:?}");
    }
}

#[test]
fn a_connection_that_an_error_or_a_person_closed_is_left_to_a_person() {
    for error in [true, false] {
        let mut shop = PrinterFixture::idle();
        shop.closed(error);
        assert!(!shop.p().may_open_connection());
        shop.silent();
        shop.closed(false);
        assert!(!shop.p().may_open_connection(), "an outage in between changes nothing");
        shop.ask(PrinterCommand::Connect(true)).unwrap();
        assert!(shop.p().may_open_connection());
    }
    let mut shop = PrinterFixture::idle();
    shop.silent();
    shop.closed(false);
    assert!(shop.p().may_open_connection(), "the printer's server was restarted: nobody closed it");
    let mut shop = PrinterFixture::idle();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    shop.closed(false);
    assert!(!shop.p().may_open_connection());
}

#[test]
fn a_connection_that_our_stop_closed_may_be_opened_once_the_printer_answers_after_it() {
    let may_open = |read_ms: i64, now_ms: i64| {
        let mut shop = PrinterFixture::idle();
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        let (stopped_at, state, connection) = (shop.now(), Activity::Idle, Connection::Connected);
        assert!(!shop.p().may_open_connection());
        shop.bench.now = stopped_at.plus_ms(now_ms);
        shop.tell(Status { state, connection, updated_at: stopped_at.plus_ms(read_ms), ..Status::default() });
        shop.p().may_open_connection()
    };
    assert!(may_open(1, 1));
    assert!(!may_open(-1, 1) && !may_open(0, 0), "read before the stop");
    assert!(may_open(-1, -1), "the clock was set back");
}

proptest! {
    /// Checks that, whatever the statuses and other operations, nothing is accepted after a fault or an unfinished
    /// print until an operator has cleared the fault and the bed.
    #[test]
    fn nothing_follows_a_fault_by_itself(script in prop::collection::vec(any::<(u8, u8)>(), 0..60), auto: bool) {
        let mut shop = PrinterFixture::idle();
        if auto {
            shop = shop.auto_clear();
        }
        let (mut fault, mut dirty, mut attempt) = (false, false, ATTEMPT);
        for (what, how) in script {
            let file = [Some(OURS), None, Some("other.gcode")][usize::from(how) % 3];
            match what % 10 {
                0 => {
                    let held = shop.p().in_hand.is_some();
                    let decision = shop.ask(take(attempt)).unwrap();
                    prop_assert!(refused(&decision) || held || !(fault || dirty));
                }
                1 => drop(shop.ask(PrinterUpload::Attempt { attempt: id(attempt), remote_name: OURS.into(), server_mark: None }).unwrap()),
                2 => drop(shop.sees(Activity::Printing, file, None)),
                3 => {
                    let ends = [Some(PrintEnd::Finished), Some(PrintEnd::Cancelled), Some(PrintEnd::Failed), None];
                    let printed = shop.prints_ours();
                    let end = ends[usize::from(how / 3) % 4];
                    shop.sees(Activity::Idle, file, end);
                    let ended = printed && !shop.prints_ours();
                    dirty |= ended && (fault || !(file == Some(OURS) && end == Some(PrintEnd::Finished)));
                }
                4 => {
                    fault = true;
                    let printed = shop.prints_ours();
                    shop.sees(Activity::Error, file, None);
                    dirty |= printed && !shop.prints_ours();
                }
                5 => drop(shop.ask(PrinterCommand::Homed).unwrap()),
                6 => {
                    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
                    dirty = false;
                }
                7 => fault &= shop.ask(PrinterCommand::ClearAttention(None)).is_err(),
                8 => drop(shop.silent()),
                _ if shop.p().in_hand.is_some() => shop.heard_of(attempt),
                _ => {}
            }
            if shop.p().past.contains(&id(attempt)) {
                attempt += 1;
            }
            prop_assert!(!(fault && shop.p().fault.is_none()), "a fault went by itself");
            // Until it is known how a print ended it stays in hand, and nothing else is taken.
            prop_assert!(!dirty || shop.p().bed_not_cleared || shop.prints_ours(), "a bed was cleared by itself");
        }
    }
}
