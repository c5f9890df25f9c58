//! Tests of unconfirmed starts, prints that ended unobserved, and operators' resolutions of them.

use proptest::prelude::*;

use super::*;

/// Print observed in progress a moment ago.
const WATCHED: Option<i64> = Some(1_000);

/// Builds a print that was observed but that the printer no longer shows.
fn gone() -> PrinterFixture {
    let mut shop = PrinterFixture::printing();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert_eq!(shop.report(), Report::Printing);
    shop
}

#[test]
fn a_print_that_is_gone_ended_as_the_history_says() {
    for (end, failed) in [(PrintEnd::Finished, false), (PrintEnd::Cancelled, false), (PrintEnd::Failed, true)] {
        let mut shop = gone();
        shop.judged(Evidence::Remembers(PastPrint { filament_mm: Some(980.0), ..past(Some(end)) }));
        let report = shop.report();
        assert!(
            matches!(report, Report::Ended { end: other, filament_mm: Some(980.0), .. } if other == end),
            "{report:?}"
        );
        assert_eq!(shop.p().print_failed, failed);
        assert!(shop.p().bed_not_cleared);
    }
}

#[test]
fn a_history_that_is_a_moment_behind_decides_nothing() {
    let mut shop = gone();
    let decision = shop.judged(Evidence::Remembers(past(None)));
    assert!(decision.next.is_none());
    assert!(shop.judged(Evidence::Unclear("no answer".into())).next.is_none(), "nor does one that cannot be read");
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })), "it is asked again");
}

#[test]
fn a_history_that_breaks_off_is_no_evidence_of_failure() {
    let mut shop = gone();
    shop.judged(Evidence::Remembers(PastPrint { cut_off: true, ..past(None) }));
    assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("restarted")), "{:?}", shop.report());
    assert!(shop.p().attention().contains(&Attention::Unverified));
    assert!(refused(&shop.ask(take(99)).unwrap()), "the printer takes no other");
    // It prints after all, or a person decides; it did start, whatever that person says.
    shop.sees(Activity::Printing, Some(OURS), None);
    assert_eq!(shop.report(), Report::Printing);
    let mut shop = gone();
    shop.judged(Evidence::Remembers(PastPrint { cut_off: true, ..past(None) }));
    shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome: Resolution::NotStarted }).unwrap();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
}

#[test]
fn a_print_that_its_server_lost_by_a_restart_says_so() {
    let failed = |shop: &PrinterFixture, words: &str| {
        let report = shop.report();
        let is_stated =
            matches!(&report, Report::Ended { end: PrintEnd::Failed, reason: Some(why), .. } if why.contains(words));
        assert!(is_stated, "{words} in {report:?}");
    };
    for (file, server, words) in [
        (None, ServerRun::Restarted, "server restarted during the print"),
        (Some("other.gcode"), ServerRun::Restarted, "server restarted during the print"),
        (None, ServerRun::Unknown, "or someone cleared the print"),
        (Some("other.gcode"), ServerRun::Unbroken, "no longer knows the file"),
    ] {
        let mut shop = PrinterFixture::printing();
        shop.sees(Activity::Idle, file, None);
        shop.judged(Evidence::Forgets { server, stopped: false, unseen_ms: WATCHED });
        failed(&shop, words);
    }
    // What the printer itself says of its error is told.
    let mut shop = PrinterFixture::printing();
    shop.sees(Activity::Error, None, None);
    shop.judged(Evidence::Forgets { server: ServerRun::Restarted, stopped: true, unseen_ms: WATCHED });
    failed(&shop, "reports an error");
}

#[test]
fn a_print_whose_end_nobody_saw_is_for_a_person_to_tell_in_one_word() {
    for (outcome, end) in [(Resolution::Finished, PrintEnd::Finished), (Resolution::Failed, PrintEnd::Failed)] {
        let mut shop = PrinterFixture::printing();
        let mut status = shop.status(Activity::Printing, Some(OURS), None);
        status.progress = 16.0;
        shop.tell(status);
        shop.silent();
        shop.sees(Activity::Idle, Some("other.gcode"), Some(PrintEnd::Finished));
        let forgets = || Evidence::Forgets { server: ServerRun::Unknown, stopped: false, unseen_ms: Some(30_000) };
        shop.judged(forgets());
        assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("last seen at 16%")));
        assert!(shop.judged(forgets()).next.is_none(), "told once");
        assert!(!shop.p().print_failed && refused(&shop.ask(take(99)).unwrap()));
        shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome }).unwrap();
        assert!(matches!(shop.report(), Report::Ended { end: other, .. } if other == end), "{:?}", shop.report());
    }
}

#[test]
fn a_second_print_of_our_file_is_not_ours() {
    let again = |shop: &mut PrinterFixture, state, ended, runs| {
        let status = shop.status(state, Some(OURS), ended);
        shop.tell(Status { runs: Some(runs), progress: 90.0, ..status });
    };
    for before in [PrinterFixture::started as fn() -> _, PrinterFixture::printing] {
        for (state, end) in [(Activity::Printing, None), (Activity::Idle, Some(PrintEnd::Finished))] {
            let mut shop = before();
            again(&mut shop, state, end, 2);
            assert_eq!(shop.report(), Report::Printing, "it did begin");
            assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })), "its history is asked");
            assert!(shop.p().progress_of(id(21), None).unwrap() < 0.1 && !shop.p().seen_print(id(ATTEMPT)).shown_now);
            shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
            assert!(
                !shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })),
                "theirs is not touched"
            );
            shop.judged(Evidence::Remembers(past(Some(PrintEnd::Failed))));
            assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, reason: None, .. }));
        }
    }
    let mut shop = PrinterFixture::printing();
    again(&mut shop, Activity::Idle, Some(PrintEnd::Finished), 1);
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, .. }), "the only one is ours");
}

#[test]
fn a_second_print_of_our_file_at_a_printer_without_history_leaves_the_first_to_a_person() {
    let mut shop = PrinterFixture::printing();
    let again = |shop: &mut PrinterFixture| {
        let status = shop.status(Activity::Printing, Some(OURS), None);
        shop.tell(Status { runs: Some(2), ..status })
    };
    let on = shop.status(Activity::Printing, Some(OURS), None);
    shop.tell(Status { runs: Some(1), progress: 100.0, ..on });
    again(&mut shop);
    let forgets = || Evidence::Forgets { server: ServerRun::Unknown, stopped: false, unseen_ms: WATCHED };
    shop.judged(forgets());
    assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("printed its file again")));
    assert!(again(&mut shop).next.is_none(), "as long as theirs goes on, a person is asked once");
    assert!(shop.judged(forgets()).next.is_none());
    assert!(shop.p().attention().contains(&Attention::Unverified) && !shop.p().seen_print(id(ATTEMPT)).shown_now);
    shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome: Resolution::Finished }).unwrap();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, .. }));
}

#[test]
fn a_firmware_that_stays_away_leaves_the_end_to_its_history_or_a_person() {
    let judges = |shop: &PrinterFixture| shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. }));
    let away = || {
        let mut shop = PrinterFixture::printing();
        let status = shop.status(Activity::Offline, None, None);
        shop.tell(Status { connection: Connection::FirmwareDisconnected, ..status });
        assert!(!judges(&shop), "it may be back in a moment");
        assert!(shop.judged(Evidence::Away).next.is_none());
        shop.ask(PrinterNews::Silent(Connection::FirmwareDisconnected, "closed".into(), None)).unwrap();
        assert!(judges(&shop));
        shop
    };
    let mut shop = away();
    shop.judged(Evidence::Remembers(past(Some(PrintEnd::Failed))));
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
    let mut shop = away();
    shop.judged(Evidence::Away);
    assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("lost the connection to its firmware")));
    shop.sees(Activity::Idle, None, None);
    assert_eq!(shop.p().in_hand.as_ref().unwrap().gone, None, "a person is asked already");
    shop.sees(Activity::Printing, Some(OURS), None);
    assert_eq!(shop.report(), Report::Printing, "it is back, and prints on");
}

#[test]
fn a_start_whose_record_breaks_off_did_begin() {
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Remembers(PastPrint { cut_off: true, ..past(None) }));
    assert_eq!(shop.report(), Report::Printing);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })));
    shop.judged(Evidence::Remembers(PastPrint { cut_off: true, ..past(None) }));
    assert!(matches!(shop.report(), Report::Unverified(_)));
    shop.judged(REVOKED);
    assert!(matches!(shop.report(), Report::Unverified(_)), "it is not made again by itself");
}

#[test]
fn deleting_proves_nothing_of_a_print_that_may_have_ended_unseen() {
    let half = 300_000;
    for (server, unwatched_ms, not_started) in [
        (ServerRun::Unbroken, None, true),
        (ServerRun::Unbroken, Some(i64::MAX), true),
        (ServerRun::Unknown, Some(half - 1), true),
        (ServerRun::Unknown, Some(half), false),
        (ServerRun::Unknown, None, false),
        (ServerRun::Restarted, Some(0), false),
    ] {
        for doubted in [false, true] {
            let mut shop = PrinterFixture::started();
            if doubted {
                shop.judged(Evidence::Unclear("no answer".into()));
            }
            shop.judged(Evidence::Revoked { server, unwatched_ms });
            let report = shop.report();
            let is = matches!(report, Report::NotStarted { start_sent: true, .. });
            assert_eq!(is, not_started, "{server:?}, {unwatched_ms:?}: {report:?}");
            assert!(is || matches!(&report, Report::Unverified(why) if why != "no answer"), "{report:?}");
        }
    }
}

#[test]
fn a_last_print_of_that_name_is_a_doubt_until_it_was_seen() {
    for doubted in [false, true] {
        let mut shop = PrinterFixture::started();
        if doubted {
            shop.judged(Evidence::Unclear("no answer".into()));
        }
        shop.judged(Evidence::NamesLast);
        assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("last print")));
        assert!(shop.judged(Evidence::NamesLast).next.is_none(), "told once");
        shop.sees(Activity::Printing, Some(OURS), None);
        assert_eq!(shop.report(), Report::Printing);
        assert!(shop.judged(Evidence::NamesLast).next.is_none(), "a print that was seen ends by its status");
    }
}

#[test]
fn a_print_without_a_stated_time_is_taken_to_be_short() {
    for (unwatched_ms, not_started) in [(4_999, true), (5_000, false)] {
        let mut shop = PrinterFixture::idle();
        shop.ask(TakeAttempt { estimated_seconds: None, ..take(ATTEMPT) }).unwrap();
        shop.uploaded();
        shop.judged(Evidence::Revoked { server: ServerRun::Unknown, unwatched_ms: Some(unwatched_ms) });
        assert_eq!(matches!(shop.report(), Report::NotStarted { .. }), not_started);
    }
}

#[test]
fn a_cancel_is_called_for_only_while_our_print_is_shown() {
    let cancels = |shop: &PrinterFixture| shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. }));
    let mut shop = PrinterFixture::printing();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert!(cancels(&shop));
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert!(!cancels(&shop), "a person's own print is never touched");
    shop.judged(Evidence::Remembers(past(Some(PrintEnd::Finished))));
    assert!(!cancels(&shop));
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, .. }));
    let in_hand = PrinterFixture::printing().p().in_hand.clone().unwrap();
    let mut shop = PrinterFixture::idle();
    for (state, file, ours) in [
        (Activity::Printing, Some(OURS), true),
        (Activity::Paused, Some("sub/JOB-000001_x.gcode"), true),
        (Activity::Printing, Some("theirs.gcode"), false),
        (Activity::Printing, None, false),
        (Activity::Idle, Some(OURS), false),
    ] {
        let status = shop.status(state, file, None);
        assert_eq!(Printer::shows_attempt(&in_hand, &status), ours, "{state:?} {file:?}");
    }
}

#[test]
fn a_dead_printer_gives_its_part_back_and_wants_its_bed_cleared() {
    for (outcome, end) in [(Resolution::Finished, PrintEnd::Finished), (Resolution::Failed, PrintEnd::Failed)] {
        let mut shop = PrinterFixture::printing();
        let fields = PrinterFields { auto_clear: true, ..fields() };
        shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
        assert!(shop.p().seen_print(id(ATTEMPT)).shown_now);
        shop.silent();
        let print = shop.p().seen_print(id(ATTEMPT));
        assert_eq!((print.shown_now, print.began), (false, true));
        shop.ask(AttemptCommand::Resolve { attempt: id(ATTEMPT), outcome }).unwrap();
        assert!(matches!(shop.report(), Report::Ended { end: other, .. } if other == end), "{:?}", shop.report());
        shop.acknowledge(false);
        assert!(shop.p().in_hand.is_none());
        shop.sees(Activity::Idle, None, None);
        assert_eq!(
            shop.p().free(),
            Err("waiting for a clear bed".into()),
            "also of a printer that clears its bed by itself"
        );
    }
}

#[test]
fn a_firmware_that_is_away_is_an_outage_and_keeps_the_progress() {
    let mut shop = PrinterFixture::printing();
    let mut status = shop.status(Activity::Printing, Some(OURS), None);
    status.progress = 42.0;
    let heard_at = status.updated_at;
    shop.tell(status);
    let away = |shop: &mut PrinterFixture| Status {
        connection: Connection::FirmwareDisconnected,
        ..shop.status(Activity::Offline, None, None)
    };
    for _ in 0..3 {
        let status = away(&mut shop);
        shop.tell(status);
    }
    let gone_since = shop.p().last_seen_at.unwrap();
    assert!(gone_since.since(heard_at) <= 1000, "only the server was heard since");
    let silent = |shop: &mut PrinterFixture| {
        let silent =
            PrinterNews::Silent(Connection::FirmwareDisconnected, "the firmware is away".into(), Some(heard_at));
        shop.ask(silent).unwrap()
    };
    assert_eq!(silent(&mut shop).events[0].event, "printer.offline");
    assert!(silent(&mut shop).next.is_none(), "once");
    let status = away(&mut shop);
    assert!(shop.tell(status).next.is_none());
    assert_eq!(shop.p().last_seen_at, Some(heard_at));
    assert_eq!(shop.report(), Report::Printing);
    assert!((shop.p().progress_of(id(21), None).unwrap() - 0.42).abs() < 1e-9);
    assert_eq!(shop.sees(Activity::Printing, Some(OURS), None).events[0].event, "printer.online");
}

#[test]
fn what_ends_a_print_uses_the_latest_progress_seen() {
    let mut shop = PrinterFixture::printing();
    let mut status = shop.status(Activity::Printing, Some(OURS), None);
    status.progress = 42.0;
    shop.tell(status);
    shop.ask(PrinterNews::Progressed { attempt: id(ATTEMPT), progress: 0.478 }).unwrap();
    assert!(shop.ask(PrinterNews::Progressed { attempt: id(ATTEMPT), progress: 0.3 }).unwrap().next.is_none());
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(matches!(shop.report(), Report::Ended { progress, .. } if (progress - 0.478).abs() < 1e-9));
    let mut shop = PrinterFixture::started();
    let early = PrinterNews::Progressed { attempt: id(ATTEMPT), progress: 0.5 };
    assert!(shop.ask(early).unwrap().next.is_none(), "nothing was seen of it");
}

proptest! {
    // A machine may print up to twice as fast as its file says.
    #[test]
    fn a_print_that_may_have_run_while_nobody_looked_never_counts_as_not_started(
        estimated in 1i64..200_000,
        unwatched_ms in 0i64..200_000_000,
    ) {
        let mut shop = PrinterFixture::idle();
        shop.ask(TakeAttempt { estimated_seconds: Some(estimated), ..take(ATTEMPT) }).unwrap();
        shop.uploaded();
        shop.judged(Evidence::Revoked { server: ServerRun::Unknown, unwatched_ms: Some(unwatched_ms) });
        let may_have_run = unwatched_ms * 2 >= estimated * 1000;
        prop_assert_eq!(matches!(shop.report(), Report::Unverified(_)), may_have_run);
        prop_assert_eq!(matches!(shop.report(), Report::NotStarted { .. }), !may_have_run);
    }
}
