use super::*;
use crate::heaters::Heat;

#[test]
fn a_print_ends_soon_by_the_time_that_is_left_else_by_its_progress() {
    let print = |state, remaining_seconds, progress| Status { state, progress, remaining_seconds, ..Status::default() };
    let soon = |left, percent| print(Activity::Printing, left, percent).ends_soon();
    assert!(soon(Some(120), 10.0) && soon(Some(0), 100.0) && soon(None, 98.0));
    let left = |left, percent| {
        let mut status = print(Activity::Printing, left, percent);
        status.drop_false_end();
        status.remaining_seconds
    };
    assert_eq!((left(Some(0), 0.4), left(Some(0), 99.0), left(Some(1), 0.4)), (None, Some(0), Some(1)));
    assert!(!soon(Some(121), 99.9) && !soon(None, 97.9));
    assert!(![Activity::Idle, Activity::Paused].iter().any(|state| print(*state, Some(0), 100.0).ends_soon()));
}

#[test]
fn a_printer_is_at_rest_once_it_is_ready_and_cold() {
    let (state, connection) = (Activity::Idle, Connection::Connected);
    let rest = Status { state, connection, nozzle: 22.5, bed: 21.0, ..Status::default() };
    assert!(rest.is_at_rest());
    let bed = |target| Heaters::of(Heat::default(), Heat::new(Some(21.0), Some(target)), Heat::default());
    assert!(Status { heaters: bed(0.0), ..rest.clone() }.is_at_rest());
    for other in [
        Status { state: Activity::Printing, ..rest.clone() },
        Status { state: Activity::Error, ..rest.clone() },
        Status { connection: Connection::ReadOnly, ..rest.clone() },
        Status { nozzle: 180.0, ..rest.clone() },
        Status { bed: 55.0, ..rest.clone() },
        Status { heaters: bed(60.0), ..rest },
    ] {
        assert!(!other.is_at_rest(), "{other:?}");
    }
}

#[test]
fn a_layer_is_told_by_two_numbers_that_go_together() {
    assert_eq!(PrintedLayer::from_numbers(Some(3.0), Some(120.0)), Some(PrintedLayer { number: 3, of: 120 }));
    for (number, of) in [(None, Some(3.0)), (Some(1.0), None), (Some(0.0), Some(0.0)), (Some(4.0), Some(3.0))] {
        assert_eq!(PrintedLayer::from_numbers(number, of), None);
    }
    assert_eq!(PrintedLayer::from_numbers(Some(1.0), Some(1e300)), None);
    assert_eq!(PrintedLayer::from_numbers(Some(f64::NAN), Some(3.0)), None);
}

#[test]
fn absurd_numbers_are_not_known() {
    let absurd = Status {
        progress: 1e300,
        remaining_seconds: Some(i64::MAX),
        filament_mm: Some(1e300),
        nozzle: -1e300,
        bed: f64::NAN,
        ..Status::default()
    };
    let bounded = Status { progress: 100.0, ..Status::default() };
    assert_eq!(absurd.bounded(), bounded);
    let usual = Status { progress: 12.5, nozzle: 214.9, bed: 60.0, filament_mm: Some(12.345), ..Status::default() };
    assert_eq!(usual.clone().bounded(), usual);
}

#[test]
fn a_status_tells_what_is_stated_reachable_and_away() {
    use Connection as C;
    let all = [
        (C::Connected, true),
        (C::ReadOnly, true),
        (C::Connecting, false),
        (C::Unreachable, false),
        (C::WrongKey, false),
        (C::FirmwareDisconnected, false),
        (C::Disconnected, false),
    ];
    for (connection, is_answering) in all {
        assert_eq!(connection.is_answering(), is_answering, "{connection:?}");
        let status = |state| Status { state, connection, ..Status::default() };
        let is_away = connection == C::FirmwareDisconnected;
        assert_eq!(status(Activity::Offline).is_firmware_away(), is_away, "{connection:?}");
        assert!(!status(Activity::Idle).is_firmware_away());
        assert_eq!(status(Activity::Offline).stated_activity(), None);
        assert_eq!(status(Activity::Error).stated_activity(), Some(Activity::Error));
    }
    let status = Status::unavailable(C::WrongKey, "wrong key", Timestamp(7));
    let facts = (status.connection, status.message.as_deref(), status.updated_at, status.state);
    assert_eq!(facts, (C::WrongKey, Some("wrong key"), Timestamp(7), Activity::Offline));
}

#[test]
fn the_end_of_a_print_is_expected_to_the_minute() {
    let ends_at = |left: Option<i64>| {
        Status { updated_at: Timestamp(60_000), remaining_seconds: left, ..Status::default() }.ends_at()
    };
    assert_eq!(
        [None, Some(-5), Some(29), Some(30), Some(89), Some(90)].map(ends_at),
        [None, Some(1), Some(1), Some(2), Some(2), Some(3)].map(|at| at.map(|minutes| Timestamp(minutes * 60_000)))
    );
}

#[test]
fn a_print_is_new_far_from_its_end_and_without_an_estimate() {
    let is_new = |state, remaining_seconds, progress| {
        Status { state, progress, remaining_seconds, ..Status::default() }.is_new_print()
    };
    assert!(is_new(Activity::Printing, None, 94.9));
    assert!(!is_new(Activity::Printing, None, 95.0));
    assert!(!is_new(Activity::Printing, Some(9), 1.0) && !is_new(Activity::Paused, None, 1.0));
    let left = |progress| {
        let mut status = Status { progress, remaining_seconds: Some(0), ..Status::default() };
        status.drop_false_end();
        status.remaining_seconds
    };
    assert_eq!([94.9, 95.0].map(left), [None, Some(0)]);
    let again = |runs| Status { runs, ..Status::default() }.prints_again();
    assert_eq!([None, Some(0), Some(1), Some(2)].map(again), [false, false, false, true]);
    let cold = |nozzle, bed| {
        let (state, connection) = (Activity::Idle, Connection::Connected);
        Status { state, connection, nozzle, bed, ..Status::default() }.is_at_rest()
    };
    assert!(cold(49.9, 49.9) && !cold(50.0, 49.9) && !cold(49.9, 50.0));
}

#[test]
fn what_a_printer_says_of_a_spool_is_bounded() {
    let slot = ReportedSlot {
        slot: 3,
        vendor_code: Some("x".repeat(51)),
        kind: Some(" ".to_owned()),
        color: Some("#FFAA00".to_owned()),
        remaining: Some(Amount(-1)),
    };
    let bounded = ReportedSlot {
        slot: 3,
        vendor_code: Some("x".repeat(50)),
        kind: None,
        color: Some("#ffaa00".to_owned()),
        remaining: Some(Amount::ZERO),
    };
    assert_eq!(slot.bounded(), bounded);
    let status = Status { slots: vec![slot; 65], ..Status::default() };
    assert_eq!(status.bounded().slots, vec![bounded; 64]);
    let past = |filament_mm| PastPrint {
        file: "vase.gcode".to_owned(),
        ended: Some(PrintEnd::Finished),
        cut_off: false,
        filament_mm,
        started_at: None,
        ended_at: None,
        booked_on: vec![4],
    };
    assert_eq!((past(Some(1e300)).bounded(), past(Some(1.5)).bounded()), (past(None), past(Some(1.5))));
}
