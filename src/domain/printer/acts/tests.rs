#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::tests::PrinterFixture;
use super::*;
use crate::aggregate::Command as _;
use crate::printer::PrinterNews;
use crate::printer_status::{Connection, Status};
use crate::testing::id;

fn record(error: Option<(&str, &str)>) -> ActRecord {
    ActRecord {
        act: DirectAction::Gcode,
        detail: Some("G28".repeat(1000)),
        of: Some((id(22), id(21))),
        error: error.map(|(code, words)| (code.to_owned(), words.to_owned())),
    }
}

#[test]
fn an_act_is_told_with_what_came_of_it_and_changes_nothing_else() {
    let mut shop = PrinterFixture::printing();
    for (error, outcome) in [(None, "done"), (Some(("printer_refused", "Must home axis first")), "printer_refused")] {
        let before = shop.p().clone();
        let command = PrinterNews::Acted(Box::new(record(error)));
        assert_eq!(command.audited_act().name(), "printer.gcode");
        assert_eq!(command.audit_facts().outcome, outcome);
        let decision = shop.ask(command).unwrap();
        assert_eq!(*shop.p(), before);
        let event = &decision.events[0];
        assert_eq!((event.event.as_str(), event.order_id), ("printer.commanded", Some(id(22))));
        assert_eq!((&event.data["command"], &event.data["outcome"]), (&"gcode".into(), &outcome.into()));
        assert_eq!(event.data["jobId"], serde_json::json!(id(21)));
        assert_eq!(event.data["detail"], "G28".repeat(333) + "G", "of its 3000 characters");
        assert_eq!(event.data["error"], serde_json::json!(error.map(|(_, words)| words)));
    }
}

#[test]
fn a_print_that_is_on_and_one_that_is_about_to_begin_are_in_the_way() {
    let code = |shop: &PrinterFixture| shop.p().print_in_the_way(None).map(|(code, _)| code);
    assert_eq!(code(&PrinterFixture::idle()), None);
    assert_eq!(code(&PrinterFixture::with_attempt()), Some("printer_busy"));
    assert_eq!(code(&PrinterFixture::started()), Some("printer_busy"));
    assert_eq!(code(&PrinterFixture::printing()), Some("printing"));
    let mut shop = PrinterFixture::idle();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert_eq!(code(&shop), Some("printing"));
    shop.sees(Activity::Idle, None, None);
    assert_eq!(code(&shop), None);
}

#[test]
fn a_print_that_the_printer_has_just_reported_is_in_the_way_before_it_is_recorded() {
    let idle = PrinterFixture::idle();
    let code = |activity| idle.p().print_in_the_way(Some(activity)).map(|(code, _)| code);
    assert_eq!([Activity::Printing, Activity::Paused].map(code), [Some("printing"); 2]);
    assert_eq!([Activity::Idle, Activity::Error, Activity::Offline].map(code), [None; 3]);
}

#[test]
fn a_printer_that_states_no_activity_may_be_printing_unless_its_firmware_is_away() {
    let status = |state, connection| Status { state, connection, ..Status::default() };
    for state in [Activity::Idle, Activity::Error, Activity::Printing, Activity::Paused] {
        let status = status(state, Connection::Connected);
        assert_eq!((status.stated_activity(), status.is_firmware_away()), (Some(state), false));
    }
    let unknown = status(Activity::Offline, Connection::Connected);
    assert_eq!((unknown.stated_activity(), unknown.is_firmware_away()), (None, false));
    let away = status(Activity::Offline, Connection::FirmwareDisconnected);
    assert_eq!((away.stated_activity(), away.is_firmware_away()), (None, true));
}
