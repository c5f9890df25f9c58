//! Tests of when each printer on the floor is free again, which jobs have no predicted time, and which paces are
//! learnt.

use super::*;
use crate::job::{Attempt, AttemptState};
use crate::printer::{ManualPhase, ManualPrint};

/// Returns the number of minutes until a printer is free if nothing waits for it; `None` if it cannot be predicted.
fn free_in(printer: &Printer, left_ms: Option<i64>) -> Option<f64> {
    let outlook = [PrinterOutlook { printer, left_ms }];
    let (rules, paces, hours) = (rules(), Paces::default(), always());
    let shop = ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: STARTING_MS };
    let orders: [Order; 0] = [];
    let at = forecast(NOW, &orders, &outlook, shop).printers[&printer.id];
    at.map(|at| at.since(NOW) as f64 / MINUTE as f64)
}

fn changed(auto_clear: bool, change: impl FnOnce(&mut Printer)) -> Printer {
    let mut printer = printer(5, auto_clear, None);
    change(&mut printer);
    printer
}

/// Returns a printer with an attempt at an hour's print in the given phase.
fn in_hand(auto_clear: bool, phase: AttemptPhase, progress: f64) -> Printer {
    let in_hand: CurrentAttempt = serde_json::from_value(serde_json::json!({
        "attempt": id(90), "job": id(71), "order": id(9), "fileId": id(3), "fileName": "a.gcode", "remoteName": null,
        "phase": {"phase": "taken"}, "step": 1, "heard": 1, "cancel": false, "takenAt": NOW, "estimatedSeconds": 3600,
    }))
    .unwrap();
    changed(auto_clear, |printer| printer.in_hand = Some(CurrentAttempt { phase, progress, ..in_hand }))
}

#[test]
fn an_idle_printer_is_free_once_its_bed_is_clear() {
    assert_eq!(free_in(&printer(5, false, None), None), Some(0.0));
    let dirty = |since_ms: Option<i64>| {
        let bed_since = since_ms.map(|ms| NOW.plus_ms(ms));
        let dirty = |printer: &mut Printer| (printer.bed_not_cleared, printer.bed_since) = (true, bed_since);
        free_in(&changed(true, dirty), None)
    };
    assert_eq!([dirty(None), dirty(Some(0)), dirty(Some(HOUR))], [Some(15.0); 3], "somebody comes in a quarter");
    assert_eq!(dirty(Some(-5 * MINUTE)), Some(10.0));
    assert_eq!(dirty(Some(-HOUR)), Some(1.0), "as if somebody were about to");
    assert_eq!(free_in(&changed(true, |printer| printer.needs_home = true), None), None, "a person has to do more");
}

#[test]
fn a_print_that_is_no_job_ends_as_its_printer_says() {
    let foreign = |auto_clear| {
        changed(auto_clear, |printer| {
            (printer.activity, printer.shows) = (Activity::Printing, Some("vase.gcode".to_owned()));
        })
    };
    assert_eq!(free_in(&foreign(true), Some(20 * MINUTE)), Some(20.0));
    assert_eq!(free_in(&foreign(false), Some(20 * MINUTE)), Some(35.0), "and its bed is cleared");
    assert_eq!(free_in(&foreign(true), Some(0)), Some(1.0), "it may still be running");
    assert_eq!(free_in(&foreign(true), None), None);
    let manual = changed(true, |printer| {
        let (id, file_name) = (id(70), "a.gcode".to_owned());
        printer.manual =
            Some(ManualPrint { id, file_id: None, file_name, slots: Vec::new(), phase: ManualPhase::Taken });
    });
    assert_eq!(free_in(&manual, None), None, "it is about to begin");
}

#[test]
fn a_print_takes_the_rest_of_its_time_or_what_its_printer_says_once_that_can_be_trusted() {
    let began = |minutes_ago: i64| AttemptPhase::Printing { at: NOW.plus_ms(-minutes_ago * MINUTE) };
    let free = |phase: AttemptPhase, progress: f64, left: Option<i64>| {
        free_in(&in_hand(true, phase, progress), left.map(|minutes| minutes * MINUTE))
    };
    assert_eq!(free(AttemptPhase::Taken, 0.0, None), Some(61.0));
    assert_eq!(free(AttemptPhase::StartSent { at: NOW }, 0.0, None), Some(61.0));
    assert_eq!(free(began(20), 0.5, None), Some(40.0));
    assert_eq!(free(AttemptPhase::Paused { at: NOW }, 0.5, None), Some(60.0));
    assert_eq!(free(began(-20), 0.0, None), Some(60.0), "the clock was set back");
    assert_eq!([free(began(20), 0.09, Some(50)), free(began(20), 0.1, Some(50))], [Some(40.0), Some(50.0)]);
    assert_eq!(free(began(120), 0.9, None), Some(3.0), "a twentieth of an overdue print");
    assert_eq!(free(AttemptPhase::Unverified { reason: String::new() }, 0.5, None), None);
    assert_eq!(free_in(&in_hand(false, began(20), 0.5), None), Some(55.0), "its bed is cleared by a person");
    let over = AttemptPhase::Stopped { reason: String::new() };
    assert_eq!(free(over, 0.5, None), Some(0.0), "its order has still to hear of it");
}

#[test]
fn jobs_that_are_to_be_cancelled_or_have_no_file_have_no_time() {
    let cancelled = Job { cancel_requested_at: Some(NOW), ..job(12, 10) };
    let prediction = forecast_for(&[order(10, [job(11, 10), cancelled])], &[printer(5, true, None)], &always());
    assert_eq!((prediction.jobs.len(), prediction.waiting, prediction.untold), (1, 1, 0));
    assert_eq!(prediction.orders[&id(10)], NOW.plus_ms(STARTING_MS + HOUR), "the order does not wait for it");
    for (job, is_known) in [
        (Job { state: JobState::Validated, ..job(11, 10) }, true),
        (Job { state: JobState::Created, ..job(11, 10) }, false),
        (Job { file_id: None, ..job(11, 10) }, false),
        (Job { attempt_id: Some(id(90)), ..job(11, 10) }, false),
    ] {
        let prediction = forecast_for(&[order(10, [job])], &[printer(5, true, None)], &always());
        assert_eq!((prediction.jobs.len(), prediction.untold), (usize::from(is_known), usize::from(!is_known)));
    }
}

fn attempt(state: AttemptState, printer: u32) -> Attempt {
    serde_json::from_value(serde_json::json!({
        "id": id(900), "jobId": id(11), "orderId": id(10), "number": 1, "printerId": id(printer), "state": state,
        "reason": null, "startedAt": NOW, "endedAt": NOW.plus_ms(HOUR), "createdAt": NOW,
    }))
    .unwrap()
}

#[test]
fn an_attempt_that_its_printer_has_not_heard_of_counts_all_the_same() {
    let of = |unverified| {
        let attempts = vec![Attempt { unverified, ..attempt(AttemptState::Claimed, 5) }];
        let claimed = Job { state: JobState::Dispatching, attempt_id: Some(id(900)), attempts, ..job(11, 10) };
        forecast_for(&[order(10, [claimed])], &[printer(6, true, None), printer(5, false, None)], &always())
    };
    let prediction = of(false);
    let over = NOW.plus_ms(STARTING_MS + HOUR);
    assert_eq!(prediction.jobs[&id(11)], over);
    let clear = over.plus_ms(ASSUMED_CLEARING_MS);
    assert_eq!((prediction.printers[&id(5)], prediction.printers[&id(6)]), (Some(clear), Some(NOW)));
    assert_eq!((of(true).jobs.len(), of(true).untold), (0, 1), "nobody knows whether it began");
}

fn minutes(paces: &Paces, file: Option<u32>, printer: u32) -> f64 {
    (paces.expected_ms(file.map(id), id(printer), Some(3600)) as f64 / MINUTE as f64 * 10.0).round() / 10.0
}

#[test]
fn a_print_teaches_its_file_and_its_printer_a_third_at_first() {
    let mut paces = Paces::default();
    paces.learn(&observed_print(1, 1, 7, 1.6));
    let all = |paces: &Paces| [(Some(1), 8), (Some(2), 7), (None, 7), (Some(1), 7)].map(|(f, p)| minutes(paces, f, p));
    assert_eq!(format!("{:?}", all(&paces)), "[72.0, 72.0, 72.0, 86.4]");
    // A deviation explained by the printer's pace teaches nothing about the file, and vice versa.
    paces.learn(&observed_print(2, 2, 7, 1.2));
    paces.learn(&observed_print(3, 1, 8, 1.2));
    assert_eq!(
        format!("{:?}", [(2, 9), (1, 9), (9, 8)].map(|(f, p)| minutes(&paces, Some(f), p))),
        "[60.0, 72.0, 60.0]"
    );
    let mut absurd = Paces::default();
    absurd.learn(&observed_print(1, 1, 7, 100.0));
    absurd.learn(&observed_print(2, 2, 8, 0.001));
    let bounded = [minutes(&absurd, Some(1), 9), minutes(&absurd, Some(2), 9)];
    assert_eq!(format!("{bounded:?}"), "[140.0, 44.0]", "as of five times and of a fifth");
}

#[test]
fn a_print_of_no_duration_teaches_nothing_and_a_file_without_a_time_takes_an_hour() {
    let mut paces = Paces::default();
    for took_ms in [0, -1] {
        paces.learn(&ObservedPrint { took_ms, ..observed_print(1, 1, 7, 1.0) });
        assert_eq!(paces, Paces::default());
    }
    let expected = |stated| paces.expected_ms(None, id(7), stated);
    assert_eq!([expected(None), expected(Some(0)), expected(Some(-5)), expected(Some(1))], [HOUR, HOUR, HOUR, 1000]);
    assert_eq!(expected(Some(i64::MAX)), 100 * 24 * HOUR);
}

#[test]
fn what_is_remembered_of_prints_files_and_printers_is_bounded() {
    let mut paces = Paces::default();
    (0..100_000).for_each(|n| paces.learn(&observed_print(n, 1, 7, 1.0)));
    paces.learn(&observed_print(0, 1, 7, 5.0));
    assert_eq!(format!("{}", minutes(&paces, Some(1), 9)), "60", "the first is still known");
    paces.learn(&observed_print(100_000, 1, 7, 1.0));
    paces.learn(&observed_print(0, 1, 7, 5.0));
    assert_eq!(format!("{}", minutes(&paces, Some(1), 9)), "72", "and is the oldest of too many");
    let mut paces = Paces::default();
    (0..=20_000).for_each(|n| paces.learn(&observed_print(n, 100_000 + n, 200_000 + n, 1.6)));
    let of = |paces: &Paces, n: u32| [minutes(paces, Some(100_000 + n), 9), minutes(paces, None, 200_000 + n)];
    assert_eq!(format!("{:?} {:?}", of(&paces, 19_999), of(&paces, 20_000)), "[72.0, 72.0] [60.0, 60.0]");
    paces.learn(&observed_print(30_000, 100_000, 200_000, 5.0));
    assert!(of(&paces, 0).iter().all(|minutes| *minutes > 80.0), "what is known goes on learning");
}

#[test]
fn only_an_attempt_whose_duration_was_seen_is_an_observation() {
    let finished = attempt(AttemptState::Finished, 5);
    let observed = ObservedPrint::of(&finished, Some(id(3)), Some(3000));
    let expected =
        ObservedPrint { attempt: id(900), file: id(3), printer: id(5), stated_seconds: Some(3000), took_ms: HOUR };
    assert_eq!(observed, Some(expected));
    assert_eq!(ObservedPrint::of(&finished, None, Some(3000)), None);
    assert_eq!(ObservedPrint::of(&Attempt { unseen: true, ..finished }, Some(id(3)), None), None);
}
