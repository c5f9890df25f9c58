//! Tests of what keeps a printer from its next job, and of the work that its state requires.

use super::*;
use crate::printer_status::ReportedSlot;
use words::Language;

/// Returns an idle printer after a change.
fn idle(change: fn(&mut Printer)) -> Printer {
    let mut printer = PrinterFixture::idle().p().clone();
    change(&mut printer);
    printer
}

fn fault() -> FirmwareFault {
    FirmwareFault { at: Timestamp(0), words: "Thermal Runaway".to_owned() }
}

fn manual() -> ManualPrint {
    let (id, file_name) = (id(70), "a.gcode".to_owned());
    ManualPrint { id, file_id: None, file_name, slots: Vec::new(), phase: ManualPhase::Taken }
}

#[test]
fn an_idle_printer_says_what_keeps_it_from_a_job() {
    for (printer, why) in vec![
        (idle(|one| one.archived = true), "deleted"),
        (idle(|one| one.disconnected = true), "disconnected"),
        (idle(|one| one.connection = Connection::WrongKey), "rejecting the API key"),
        (idle(|one| one.connection = Connection::ReadOnly), "read-only"),
        (idle(|one| one.connection = Connection::Connecting), "connecting"),
        (idle(|one| one.connection = Connection::Unreachable), "offline"),
        (idle(|one| one.connection = Connection::FirmwareDisconnected), "offline"),
        (idle(|one| one.maintenance = Some(String::new())), "out of service"),
        (idle(|one| one.activity = Activity::Printing), "printing something else"),
        (idle(|one| one.activity = Activity::Paused), "paused"),
        (idle(|one| one.activity = Activity::Error), "reporting an error"),
        (idle(|one| one.activity = Activity::Offline), "offline"),
        (idle(|one| one.fault = Some(fault())), "on hold after a firmware error"),
        (idle(|one| one.needs_home = true), "not homed"),
        (idle(|one| one.bed_not_cleared = true), "waiting for a clear bed"),
        (idle(|one| one.manual = Some(manual())), "starting a manual print"),
    ] {
        assert_eq!((printer.free(), printer.is_free()), (Err(why.to_owned()), false));
        assert_eq!(printer.free_in(Language::English), Err(why.to_owned()));
    }
    let german = idle(|one| one.needs_home = true).free_in(Language::German);
    assert_eq!(german, Err("nicht referenziert".to_owned()));
}

#[test]
fn a_printer_with_a_job_in_hand_says_how_far_it_is() {
    let phase = |phase: AttemptPhase| {
        let mut shop = PrinterFixture::printing();
        shop.printer.as_mut().unwrap().in_hand.as_mut().unwrap().phase = phase;
        shop
    };
    let at = Timestamp(0);
    let mut cancelled = PrinterFixture::with_attempt();
    cancelled.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    let mut away = PrinterFixture::printing();
    away.silent();
    let reason = |shop: PrinterFixture| shop.p().free().unwrap_err();
    assert_eq!(reason(PrinterFixture::with_attempt()), "starting");
    assert_eq!(reason(PrinterFixture::started()), "starting");
    assert_eq!(reason(PrinterFixture::printing()), "printing");
    assert_eq!(reason(phase(AttemptPhase::Paused { at })), "paused");
    assert_eq!(reason(phase(AttemptPhase::Unverified { reason: String::new() })), "waiting to be checked");
    assert_eq!(reason(cancelled), "finishing");
    assert_eq!(reason(away), "offline");
    assert_eq!(PrinterFixture::printing().p().could_start(), Err("printing".to_owned()));
    assert_eq!(PrinterFixture::with_attempt().p().could_start(), Ok(()));
}

#[test]
fn a_printer_goes_on_by_itself_unless_a_person_has_to_do_more_than_clear_its_bed() {
    for (printer, goes_on) in vec![
        (idle(|_| {}), true),
        (idle(|one| one.bed_not_cleared = true), true),
        (idle(|one| one.activity = Activity::Printing), true),
        (idle(|one| one.activity = Activity::Paused), true),
        (idle(|one| one.activity = Activity::Error), false),
        (idle(|one| one.activity = Activity::Offline), false),
        (idle(|one| one.fault = Some(fault())), false),
        (idle(|one| one.needs_home = true), false),
        (idle(|one| one.maintenance = Some(String::new())), false),
        (idle(|one| one.disconnected = true), false),
        (idle(|one| one.connection = Connection::ReadOnly), false),
    ] {
        assert_eq!(printer.goes_on(), goes_on, "{:?}", printer.free());
    }
}

#[test]
fn a_printer_is_at_rest_while_it_has_nothing_to_do_and_nothing_to_clear() {
    let rests = |printer: &Printer| {
        let (state, connection) = (Activity::Idle, Connection::Connected);
        printer.is_at_rest(&Status { state, connection, ..Status::default() })
    };
    let held = PrinterFixture::with_attempt();
    let manual = idle(|one| one.manual = Some(manual()));
    assert!(rests(&idle(|_| {})) && !idle(|_| {}).is_at_rest(&Status::default()));
    assert!(!rests(held.p()) && !rests(&manual));
    assert!(!rests(&idle(|one| one.needs_home = true)) && !rests(&idle(|one| one.fault = Some(fault()))));
    let has_work = [&idle(|_| {}), held.p(), &manual].map(Printer::has_work_in_hand);
    assert_eq!(has_work, [false, true, true]);
}

#[test]
fn attention_tells_a_silent_printer_from_one_that_answers_and_does_not_obey() {
    let of = |connection, outage| {
        let mut printer = PrinterFixture::idle().p().clone();
        (printer.connection, printer.outage) = (connection, outage);
        printer.attention()
    };
    assert_eq!(of(Connection::FirmwareDisconnected, false), [Attention::Unreachable], "also before it is an outage");
    assert_eq!(of(Connection::Unreachable, false), [Attention::Unreachable]);
    assert_eq!(of(Connection::Connecting, true), [Attention::Unreachable]);
    assert_eq!(of(Connection::Connecting, false), []);
    assert_eq!(of(Connection::WrongKey, true), [Attention::WrongKey]);
    assert_eq!(of(Connection::ReadOnly, false), [Attention::ReadOnly]);
    assert_eq!(idle(|one| (one.disconnected, one.outage) = (true, true)).attention(), []);
}

#[test]
fn each_phase_calls_for_its_work() {
    let work = |shop: &PrinterFixture| {
        let effects = shop.p().effects();
        assert!(matches!(effects[0], PrinterEffect::Watch { .. }), "{effects:?}");
        effects[1..].to_vec()
    };
    let attempt = id(ATTEMPT);
    let report = |step| PrinterEffect::Report { attempt, step };
    assert_eq!(work(&PrinterFixture::idle()), []);
    assert_eq!(work(&PrinterFixture::with_attempt()), [PrinterEffect::Run { attempt }, report(1)]);
    assert_eq!(work(&PrinterFixture::started()), [PrinterEffect::Run { attempt }, report(2)]);
    let mut shop = PrinterFixture::printing();
    assert_eq!(work(&shop), [report(3)]);
    shop.acknowledge(true);
    assert_eq!(work(&shop), []);
    shop.ask(AttemptCommand::Cancel(attempt)).unwrap();
    assert_eq!(work(&shop), [PrinterEffect::CancelPrint { attempt }]);
    let (in_hand, phase) = shop.p().report(attempt).unwrap();
    assert_eq!((in_hand.attempt, phase), (attempt, Report::Printing));
    assert!(shop.p().report(id(ATTEMPT + 1)).is_none());
}

#[test]
fn a_report_of_slots_matters_as_long_as_it_says_something_new() {
    let slot = |slot, code: &str, left: Option<i64>| ReportedSlot {
        slot,
        vendor_code: Some(code.to_owned()),
        remaining: left.map(Amount::units),
        ..ReportedSlot::default()
    };
    let mut shop = PrinterFixture::idle();
    let both = vec![slot(0, "A", Some(5)), slot(1, "B", None)];
    assert!(shop.p().slots_matter(&both));
    shop.ask(PrinterNews::SlotsReported { slots: both.clone(), bindings: Vec::new() }).unwrap();
    assert!(!shop.p().slots_matter(&both));
    assert!(shop.p().slots_matter(&both[..1]), "one is gone");
    assert!(shop.p().slots_matter(&[slot(0, "A", Some(5)), slot(1, "C", None)]), "another spool");
    assert!(shop.p().slots_matter(&[slot(0, "A", Some(4)), slot(1, "B", None)]), "lighter");
    let spool = Spool { material_id: Some(id(24)), color: None, remaining: Some(Amount::units(7)), spool: None };
    shop.ask(PrinterCommand::LoadSlot { slot: 1, spool, expected: None }).unwrap();
    assert!(!shop.p().slots_matter(&both), "what an operator says of a spool is no report");
}

#[test]
fn a_printer_that_is_deleted_is_archived_and_at_rest() {
    let printer = PrinterFixture::idle().p().clone();
    assert_eq!((printer.is_archived(), printer.at_rest()), (false, false));
    let gone = Printer { archived: true, ..printer };
    assert_eq!((gone.is_archived(), gone.at_rest()), (true, true));
}
