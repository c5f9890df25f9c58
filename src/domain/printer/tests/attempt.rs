use proptest::prelude::*;

use super::*;

#[test]
fn the_whole_way_of_an_attempt() {
    let mut shop = PrinterFixture::printing();
    shop.acknowledge(true);
    assert!(!shop.effects(|effect| matches!(effect, PrinterEffect::Report { .. } | PrinterEffect::Run { .. })));
    assert!(shop.sees(Activity::Printing, Some(OURS), None).next.is_none(), "telemetry costs no commit");
    shop.sees(Activity::Paused, Some(OURS), None);
    assert_eq!(shop.report(), Report::Paused);
    let mut status = shop.status(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    status.filament_mm = Some(1200.0);
    shop.tell(status);
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, filament_mm: Some(1200.0), .. }));
    assert_eq!(shop.p().attention(), [Attention::BedNotCleared]);
    shop.acknowledge(false);
    assert!(shop.p().in_hand.is_none());
    assert_eq!(shop.p().free(), Err("waiting for a clear bed".into()));
    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
    assert_eq!(shop.p().free(), Ok(()));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "an attempt that is over is never taken again");
}

#[test]
fn exactly_one_caller_hears_go() {
    let mut shop = PrinterFixture::started();
    assert!(matches!(shop.uploaded().answer, UploadAnswer::Done));
    assert!(matches!(shop.ask(take(ATTEMPT)).unwrap().answer, TakeAnswer::Accepted));
    assert!(matches!(shop.uploaded().answer, UploadAnswer::Done));
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })));
}

#[test]
fn standby_after_the_start_proves_nothing() {
    let mut shop = PrinterFixture::started();
    shop.sees(Activity::Idle, None, None);
    shop.sees(Activity::Idle, Some("other.gcode"), Some(PrintEnd::Finished));
    shop.sees(Activity::Idle, Some(OURS), None);
    assert!(matches!(shop.phase(), AttemptPhase::StartSent { .. }));
}

#[test]
fn the_verdict_goes_by_evidence() {
    let mut shop = PrinterFixture::started();
    shop.judged(REVOKED);
    assert!(matches!(shop.report(), Report::NotStarted { start_sent: true, counts: true, .. }));
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Remembers(past(Some(PrintEnd::Failed))));
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Remembers(past(None)));
    assert_eq!(shop.report(), Report::Printing);
    shop.judged(REVOKED);
    assert_eq!(shop.report(), Report::Printing, "a print that was seen is not revoked");
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Unclear("no answer".into()));
    assert_eq!(shop.p().attention(), [Attention::Unverified]);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })), "it is judged again");
    assert!(refused(&shop.ask(take(99)).unwrap()));
    shop.sees(Activity::Printing, Some(OURS), None);
    assert_eq!(shop.report(), Report::Printing);
}

#[test]
fn a_print_that_is_gone_has_failed() {
    for (state, file) in [(Activity::Idle, None), (Activity::Printing, Some("other.gcode")), (Activity::Error, None)] {
        let mut shop = PrinterFixture::printing();
        let mut late = shop.status(state, file, None);
        late.updated_at = late.updated_at.plus_ms(-60_000);
        shop.tell(late);
        assert_eq!(shop.report(), Report::Printing, "a look from before proves nothing");
        shop.sees(state, file, None);
        assert_eq!(shop.report(), Report::Printing, "its history is asked first");
        assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })));
        shop.judged(Evidence::Forgets { server: ServerRun::Unknown, stopped: false, unseen_ms: Some(1_000) });
        assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, reason: Some(_), .. }));
        assert!(shop.p().print_failed && shop.p().bed_not_cleared);
    }
}

#[test]
fn progress_is_kept_by_tenths_and_never_taken_back() {
    let mut shop = PrinterFixture::printing();
    for (percent, changes) in [(12.0, true), (15.0, false), (47.0, true)] {
        let mut status = shop.status(Activity::Printing, Some(OURS), None);
        status.progress = percent;
        assert_eq!(shop.tell(status).next.is_some(), changes);
    }
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Cancelled));
    assert!(matches!(shop.report(), Report::Ended { progress, .. } if (progress - 0.47).abs() < 1e-9));
}

#[test]
fn a_cancel_acts_at_once_before_the_start_and_at_the_printer_after_it() {
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert_eq!(shop.report(), Report::CancelledBeforeStart);
    assert!(matches!(shop.uploaded().answer, UploadAnswer::Done));
    let mut shop = PrinterFixture::started();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert!(!shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    shop.sees(Activity::Printing, Some(OURS), None);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    let mut shop = PrinterFixture::idle();
    let decision = shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert!(matches!(decision.answer, AttemptAnswer::NotInHand));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "also when it comes later");
}

#[test]
fn an_operators_word_ends_what_nobody_can_verify() {
    for outcome in [Resolution::NotStarted, Resolution::Finished, Resolution::Failed] {
        let mut shop = PrinterFixture::started();
        shop.judged(Evidence::Unclear("no answer".into()));
        shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome }).unwrap();
        assert_eq!(matches!(shop.report(), Report::NotStarted { .. }), outcome == Resolution::NotStarted);
        assert_eq!(shop.p().bed_not_cleared, outcome != Resolution::NotStarted);
        assert_eq!(shop.p().print_failed, outcome == Resolution::Failed);
        shop.acknowledge(false);
        assert!(shop.p().in_hand.is_none());
    }
    // Given up while it is shown: cancelled, and over once the printer is not reachable.
    let mut shop = PrinterFixture::printing();
    shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome: Resolution::Failed }).unwrap();
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    shop.silent();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
}

#[test]
fn what_the_order_does_not_want_is_dropped_before_the_start_and_stopped_after_it() {
    let mut shop = PrinterFixture::with_attempt();
    shop.acknowledge(false);
    assert!(shop.p().in_hand.is_none());
    let mut shop = PrinterFixture::printing();
    shop.acknowledge(false);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
}

#[test]
fn what_is_said_of_another_attempt_changes_nothing() {
    let other = id(ATTEMPT + 1);
    let mut shop = PrinterFixture::printing();
    let before = shop.p().clone();
    let uploaded = PrinterUpload::Attempt { attempt: other, remote_name: OURS.into(), server_mark: None };
    assert_eq!(shop.ask(uploaded).unwrap().answer, UploadAnswer::Done);
    let remembers = || Box::new(Evidence::Remembers(past(Some(PrintEnd::Failed))));
    for news in [
        PrinterNews::UploadFailed { attempt: other, why: StartFailure::Refused, reason: "no".into() },
        PrinterNews::StartRefused { attempt: other, reason: "no".into() },
        PrinterNews::Progressed { attempt: other, progress: 0.9 },
        PrinterNews::Judged { attempt: other, evidence: remembers() },
        PrinterNews::Heard { attempt: other, step: 1, is_wanted: false },
    ] {
        assert!(shop.ask(news.clone()).unwrap().next.is_none(), "{news:?}");
    }
    assert_eq!(*shop.p(), before);
}

#[test]
fn the_mark_of_a_server_is_kept_only_as_a_whole() {
    for (mark, is_kept) in [("run 1".to_owned(), true), ("x".repeat(64), true), ("x".repeat(65), false)] {
        let mut shop = PrinterFixture::with_attempt();
        let (attempt, server_mark) = (id(ATTEMPT), Some(mark.clone()));
        shop.ask(PrinterUpload::Attempt { attempt, remote_name: OURS.into(), server_mark }).unwrap();
        assert_eq!(shop.p().in_hand.as_ref().unwrap().server_mark, Some(mark).filter(|_| is_kept));
    }
}

#[test]
fn an_emergency_stop_stops_only_the_jobs_that_claimed_the_printer_before_it() {
    let answer = |claimed_ms: i64, offered_ms: i64| {
        let mut shop = PrinterFixture::idle();
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        let stopped_at = shop.now();
        shop.bench.now = stopped_at.plus_ms(offered_ms);
        shop.ask(TakeAttempt { claimed_at: stopped_at.plus_ms(claimed_ms), ..take(ATTEMPT) }).unwrap().answer
    };
    let stopped = || TakeAnswer::Stopped("emergency stop".to_owned());
    let not_homed = || TakeAnswer::NotTaken("the printer is not homed".to_owned());
    assert_eq!([answer(-1, 1), answer(0, 0)], [stopped(), stopped()]);
    assert_eq!(answer(1, 2), not_homed(), "claimed after it");
    assert_eq!(answer(-1, -1), not_homed(), "the clock was set back");
}

#[test]
fn only_the_last_report_frees_the_printer() {
    let mut shop = PrinterFixture::printing();
    let step = shop.p().in_hand.as_ref().unwrap().step;
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    shop.ask(PrinterNews::Heard { attempt: id(ATTEMPT), step, is_wanted: true }).unwrap();
    assert!(shop.p().in_hand.is_some(), "the order has not heard of the end");
    shop.acknowledge(true);
    assert!(shop.p().in_hand.is_none());
}

proptest! {
    /// Checks with reports, statuses, verdicts and acknowledgements in any order that each attempt gets one `Go`, steps
    /// only increase, and an end does not change.
    #[test]
    fn an_attempt_gets_one_go_and_its_end_stays(script in prop::collection::vec(any::<(u8, u8)>(), 0..80)) {
        let mut shop = PrinterFixture::idle();
        let (mut gos, mut attempt) = (0, ATTEMPT);
        for (what, how) in script {
            let before = shop.p().in_hand.clone();
            let file = [Some(OURS), None, Some("other.gcode")][usize::from(how) % 3];
            let state = [Activity::Idle, Activity::Printing, Activity::Paused, Activity::Error][usize::from(how / 3) % 4];
            let ended = [None, Some(PrintEnd::Finished), Some(PrintEnd::Failed)][usize::from(how / 12) % 3];
            let held = id(attempt);
            match what % 12 {
                0 => drop(shop.ask(take(attempt)).unwrap()),
                1 => {
                    let uploaded =
                        PrinterUpload::Attempt { attempt: held, remote_name: OURS.into(), server_mark: None };
                    gos += u32::from(shop.ask(uploaded).unwrap().answer == UploadAnswer::Go);
                }
                2 => drop(shop.ask(PrinterNews::StartRefused { attempt: held, reason: "no".into() }).unwrap()),
                3 => {
                    let why = StartFailure::Refused;
                    shop.ask(PrinterNews::UploadFailed { attempt: held, why, reason: "no".into() }).unwrap();
                }
                4 => drop(shop.judged(match how % 3 {
                    0 => REVOKED,
                    1 => Evidence::NamesLast,
                    _ => Evidence::Unclear("?".into()),
                })),
                5 => drop(shop.ask(AttemptCommand::Cancel(held)).unwrap()),
                6 => {
                    let (step, is_wanted) = (u32::from(how % 6), !how.is_multiple_of(4));
                    shop.ask(PrinterNews::Heard { attempt: held, step, is_wanted }).unwrap();
                }
                7 => drop(shop.silent()),
                8 => {
                    let outcome = Resolution::Finished;
                    shop.ask(AttemptCommand::Resolve { attempt: held, outcome }).unwrap();
                }
                9 if how.is_multiple_of(4) => drop(shop.ask(PrinterCommand::EmergencyStopped).unwrap()),
                9 => {
                    shop.ask(PrinterCommand::Homed).unwrap();
                    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
                }
                _ => drop(shop.sees(state, file, ended)),
            }
            prop_assert!(gos <= 1);
            match (before, &shop.p().in_hand) {
                (Some(before), Some(after)) if before.attempt == after.attempt => {
                    prop_assert!(after.step >= before.step && after.acknowledged_step >= before.acknowledged_step);
                    prop_assert!(after.acknowledged_step <= after.step);
                    prop_assert!(!before.over() || before.phase == after.phase);
                    prop_assert!(before.phase == after.phase || after.step > before.step);
                }
                (Some(_), None) => (attempt, gos) = (attempt + 1, 0),
                _ => {}
            }
            if shop.p().past.contains(&id(attempt)) {
                (attempt, gos) = (attempt + 1, 0);
            }
        }
    }
}
