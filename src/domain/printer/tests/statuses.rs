//! Tests of what a single status proves about the attempt in hand, the axes and the bed.

use super::*;
use crate::amount::MAX_AMOUNT;
use crate::job::PrinterRecord;
use crate::printer_status::ReportedSlot;

const THEIRS: &str = "theirs.gcode";
const UNKNOWN: &str = "the printer no longer knows the file";

fn in_hand(shop: &PrinterFixture) -> &CurrentAttempt {
    shop.p().in_hand.as_ref().unwrap()
}

/// Returns the outcome of the print in hand: the reason why it is assumed to be over, or a short form of its report.
fn outcome(shop: &PrinterFixture) -> String {
    if let Some(gone) = &in_hand(shop).gone {
        return gone.clone();
    }
    match shop.report() {
        Report::Ended { end, progress, .. } => format!("{end:?} at {progress}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_status_says_what_has_come_of_a_print_that_was_seen() {
    let cleared = "the printer responded again without the print: it or its server was restarted, or someone cleared \
                   the print";
    for (state, file, progress, expected) in [
        (Activity::Printing, Some(OURS), 5.0, "Printing"),
        (Activity::Paused, Some(OURS), 5.0, "Paused"),
        (Activity::Printing, None, 5.0, "Printing"),
        (Activity::Paused, None, 5.0, "Paused"),
        (Activity::Offline, Some(OURS), 5.0, "Printing"),
        (Activity::Printing, Some(THEIRS), 5.0, UNKNOWN),
        (Activity::Paused, Some(THEIRS), 5.0, UNKNOWN),
        (Activity::Idle, Some(THEIRS), 100.0, UNKNOWN),
        (Activity::Idle, Some(OURS), 100.0, "Finished at 1"),
        (Activity::Idle, Some(OURS), 99.0, "the print stopped early"),
        (Activity::Idle, None, 100.0, cleared),
        (Activity::Error, Some(THEIRS), 5.0, "the printer reports an error"),
        (Activity::Error, Some(OURS), 5.0, "the printer reports an error"),
    ] {
        let mut shop = PrinterFixture::printing();
        let status = shop.status(state, file, None);
        shop.tell(Status { progress, ..status });
        assert_eq!(outcome(&shop), expected, "{state:?} {file:?} {progress}");
    }
}

#[test]
fn only_a_failure_has_a_reason() {
    let message = "Thermal Runaway";
    for (end, expected) in [(PrintEnd::Finished, None), (PrintEnd::Cancelled, None), (PrintEnd::Failed, Some(message))]
    {
        let mut shop = PrinterFixture::printing();
        let status = shop.status(Activity::Idle, Some(OURS), Some(end));
        shop.tell(Status { message: Some(message.to_owned()), ..status });
        let Report::Ended { reason, .. } = shop.report() else { panic!("{:?}", shop.report()) };
        assert_eq!(reason.as_deref(), expected, "{end:?}");
    }
}

#[test]
fn a_firmware_that_was_lost_to_an_error_ends_its_print_and_one_that_is_only_away_does_not() {
    let message = Some("Heater bed shorted".to_owned());
    for (state, connection, is_gone) in [
        (Activity::Error, Connection::FirmwareDisconnected, true),
        (Activity::Idle, Connection::FirmwareDisconnected, false),
        (Activity::Error, Connection::WrongKey, false),
    ] {
        let mut shop = PrinterFixture::printing();
        let status = shop.status(state, None, None);
        shop.tell(Status { connection, message: message.clone(), ..status });
        assert_eq!(in_hand(&shop).gone, message.clone().filter(|_| is_gone), "{state:?} {connection:?}");
    }
    let mut shop = PrinterFixture::started();
    let status = shop.status(Activity::Error, None, None);
    shop.tell(Status { connection: Connection::FirmwareDisconnected, ..status });
    assert_eq!((shop.report(), shop.p().last_start), (Report::StartSent, None), "nothing was seen of the print");
}

#[test]
fn a_status_that_is_as_old_as_the_first_look_at_a_print_proves_its_end() {
    let mut shop = PrinterFixture::printing();
    let began_at = shop.now();
    let status = shop.status(Activity::Idle, Some(THEIRS), None);
    shop.tell(Status { updated_at: began_at, ..status });
    assert_eq!(outcome(&shop), UNKNOWN);
}

#[test]
fn silence_is_no_status_and_a_printer_that_is_gone_has_none() {
    for connection in [Connection::Unreachable, Connection::Connecting, Connection::Disconnected] {
        let mut shop = PrinterFixture::idle();
        let status = shop.status(Activity::Offline, None, None);
        assert!(shop.tell(Status { connection, ..status }).next.is_none(), "{connection:?}");
    }
    let mut shop = PrinterFixture::idle();
    let status = shop.status(Activity::Printing, Some(THEIRS), None);
    assert!(shop.p().matters(&status, shop.now()));
    assert!(!Printer { archived: true, ..shop.p().clone() }.matters(&status, shop.now()));
    assert!(!Printer { disconnected: true, ..shop.p().clone() }.matters(&status, shop.now()));
}

#[test]
fn only_a_ready_printer_that_was_read_after_the_stop_proves_that_it_is_homed() {
    let needs_home = |connection, state, homed, read_ms: i64| {
        let mut shop = PrinterFixture::idle();
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        let updated_at = shop.now().plus_ms(read_ms);
        let status = shop.status(state, None, None);
        shop.tell(Status { connection, homed, updated_at, ..status });
        shop.p().needs_home
    };
    let (connected, idle) = (Connection::Connected, Activity::Idle);
    assert!(!needs_home(connected, idle, Some(true), 1));
    assert!(needs_home(connected, idle, Some(true), 0) && needs_home(connected, idle, Some(true), -1), "read before");
    assert!(needs_home(connected, idle, Some(false), 1) && needs_home(connected, idle, None, 1), "it does not say so");
    for state in [Activity::Printing, Activity::Paused, Activity::Error] {
        assert!(needs_home(connected, state, Some(true), 1), "{state:?}");
    }
    assert!(needs_home(Connection::ReadOnly, idle, Some(true), 1));
}

#[test]
fn a_print_that_is_no_job_leaves_its_part_on_the_bed_however_it_goes_out_of_sight() {
    let mut shop = PrinterFixture::idle();
    shop.sees(Activity::Printing, Some(THEIRS), None);
    shop.sees(Activity::Paused, Some(THEIRS), None);
    assert!(!shop.p().bed_not_cleared, "it goes on");
    let printing = shop.p().clone();
    for (state, connection) in [
        (Activity::Idle, Connection::Connected),
        (Activity::Error, Connection::Connected),
        (Activity::Idle, Connection::ReadOnly),
        (Activity::Offline, Connection::FirmwareDisconnected),
        (Activity::Offline, Connection::WrongKey),
    ] {
        shop.printer = Some(printing.clone());
        let status = shop.status(state, None, None);
        shop.tell(Status { connection, ..status });
        assert!(shop.p().bed_not_cleared, "{state:?} {connection:?}");
    }
}

#[test]
fn a_bed_that_is_not_clear_stays_so_whatever_else_ends_on_it() {
    let mut shop = PrinterFixture::started();
    shop.sees(Activity::Printing, Some(THEIRS), None);
    shop.sees(Activity::Idle, Some(THEIRS), None);
    assert!(shop.p().bed_not_cleared);
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert!(shop.p().bed_not_cleared && shop.p().in_hand.as_ref().unwrap().over());
    shop.acknowledge(true);
    shop.sees(Activity::Printing, Some(THEIRS), None);
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(shop.p().bed_not_cleared);
}

#[test]
fn a_print_that_an_emergency_stop_ended_has_failed() {
    let mut shop = PrinterFixture::printing();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!(shop.p().attention(), [Attention::BedNotCleared, Attention::NeedsHome, Attention::PrintFailed]);
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!(shop.p().attention(), [Attention::NeedsHome], "nothing was on");
}

#[test]
fn the_last_status_of_a_print_says_how_far_it_came() {
    for (last, expected) in [(49.0, 0.49), (12.0, 0.47), (0.0, 0.47)] {
        let mut shop = PrinterFixture::printing();
        for (state, progress, ended) in
            [(Activity::Printing, 47.0, None), (Activity::Idle, last, Some(PrintEnd::Cancelled))]
        {
            let status = shop.status(state, Some(OURS), ended);
            shop.tell(Status { progress, ..status });
        }
        assert_eq!(outcome(&shop), format!("Cancelled at {expected}"));
    }
}

#[test]
fn the_progress_of_a_job_is_that_of_its_own_file_if_it_is_ahead() {
    let mut shop = PrinterFixture::printing();
    let status = shop.status(Activity::Printing, Some(OURS), None);
    shop.tell(Status { progress: 40.0, ..status.clone() });
    let ahead = Status { progress: 55.0, ..status.clone() };
    let progress = |job: u32, status: &Status| shop.p().progress_of(id(job), Some(status));
    assert_eq!(progress(21, &ahead), Some(0.55));
    assert_eq!(progress(21, &Status { progress: 10.0, ..status }), Some(0.4), "behind what was seen");
    assert_eq!(progress(21, &Status { file: Some(THEIRS.into()), ..ahead.clone() }), Some(0.4));
    assert_eq!(progress(21, &Status { runs: Some(2), ..ahead.clone() }), Some(0.4), "it is printed again");
    assert_eq!(progress(99, &ahead), None, "another job");
    let record = PrinterRecord { shown_now: true, began: true, progress: 0.55, booked_on: Vec::new() };
    assert_eq!(shop.p().seen_print_now(id(ATTEMPT), Some(&ahead)), Some(record));
    assert_eq!(shop.p().seen_print_now(id(99), Some(&ahead)), None);
    assert_eq!(shop.p().seen_print(id(99)), PrinterRecord::default());
    let mut shop = PrinterFixture::with_attempt();
    shop.sees(Activity::Printing, Some(THEIRS), None);
    assert_eq!(shop.p().seen_print(id(ATTEMPT)), PrinterRecord::default(), "another print is shown");
}

#[test]
fn a_start_is_awaited_from_its_sending_until_it_is_known_what_came_of_it() {
    assert!(!PrinterFixture::idle().p().awaits_start() && !PrinterFixture::with_attempt().p().awaits_start());
    let mut shop = PrinterFixture::started();
    assert!(shop.p().awaits_start());
    shop.judged(Evidence::Unclear("no answer".into()));
    assert!(shop.p().awaits_start());
    shop.sees(Activity::Printing, Some(OURS), None);
    assert!(!shop.p().awaits_start());
}

#[test]
fn the_expected_end_of_a_print_is_rounded_to_the_minute() {
    let minute = Timestamp(1_700_000_040_000);
    let end_ms = |updated_ms: i64, remaining_seconds: Option<i64>| {
        let status = Status { updated_at: minute.plus_ms(updated_ms), remaining_seconds, ..Status::default() };
        status.ends_at().map(|at| at.since(minute))
    };
    assert_eq!(end_ms(0, Some(600)), Some(600_000));
    assert_eq!([end_ms(0, Some(629)), end_ms(0, Some(630))], [Some(600_000), Some(660_000)]);
    assert_eq!(end_ms(29_999, Some(600)), Some(600_000));
    assert_eq!(end_ms(0, Some(-600)), Some(0), "it should be over");
    assert_eq!(end_ms(0, None), None);
}

#[test]
fn a_print_is_new_until_its_printer_has_an_estimate() {
    let is_new = |state, remaining_seconds, progress| {
        Status { state, progress, remaining_seconds, ..Status::default() }.is_new_print()
    };
    assert!(is_new(Activity::Printing, None, 94.9));
    assert!(!is_new(Activity::Printing, None, 95.0) && !is_new(Activity::Printing, Some(0), 0.0));
    assert!(!is_new(Activity::Paused, None, 0.0));
}

#[test]
fn what_a_printer_says_of_its_spools_is_cut_to_what_is_stored() {
    let text = |text: &str| Some(text.to_owned());
    let slot = |slot| ReportedSlot {
        slot,
        vendor_code: Some("é".repeat(60)),
        kind: text(" "),
        color: text("#FF00aa"),
        remaining: Some(Amount(-1)),
    };
    let bounded = Status { slots: (0..70).map(slot).collect(), ..Status::default() }.bounded();
    assert_eq!(bounded.slots.len(), 64);
    let (vendor_code, color) = (Some("é".repeat(50)), text("#ff00aa"));
    let expected = ReportedSlot { slot: 1, vendor_code, kind: None, color, remaining: Some(Amount::ZERO) };
    assert_eq!(bounded.slots[1], expected);
    let heavy = ReportedSlot { remaining: Some(Amount(i64::MAX)), ..ReportedSlot::default() };
    assert_eq!(heavy.bounded().remaining, Some(MAX_AMOUNT));
}

#[test]
fn only_a_printer_that_can_be_read_answers() {
    let status = Status::unavailable(Connection::WrongKey, "no", Timestamp(7));
    assert_eq!((status.state, status.connection), (Activity::Offline, Connection::WrongKey));
    assert_eq!((status.message.as_deref(), status.updated_at), (Some("no"), Timestamp(7)));
    for (connection, is_answering) in [
        (Connection::Connected, true),
        (Connection::ReadOnly, true),
        (Connection::Connecting, false),
        (Connection::Unreachable, false),
        (Connection::WrongKey, false),
        (Connection::FirmwareDisconnected, false),
        (Connection::Disconnected, false),
    ] {
        assert_eq!(connection.is_answering(), is_answering, "{connection:?}");
    }
}
