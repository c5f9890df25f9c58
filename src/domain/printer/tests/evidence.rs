//! Tests of the conclusions about a print from the evidence about its unconfirmed start.

use super::*;

#[test]
fn a_history_gives_the_reason_of_a_failure_and_the_whole_progress_of_a_finished_print() {
    let unknown = Some("the printer no longer knows the file");
    for (end, reason, progress) in
        [(PrintEnd::Finished, None, 1.0), (PrintEnd::Cancelled, None, 0.16), (PrintEnd::Failed, unknown, 0.16)]
    {
        let mut shop = PrinterFixture::printing();
        let status = shop.status(Activity::Printing, Some(OURS), None);
        shop.tell(Status { progress: 16.0, ..status });
        shop.sees(Activity::Printing, Some("theirs.gcode"), None);
        shop.judged(Evidence::Remembers(past(Some(end))));
        let Report::Ended { reason: why, progress: share, .. } = shop.report() else { panic!("{:?}", shop.report()) };
        assert_eq!((why.as_deref(), share), (reason, progress), "{end:?}");
    }
}

#[test]
fn only_what_shows_that_a_print_began_confirms_its_start() {
    for (evidence, is_confirmed) in [
        (Evidence::Unclear("no answer".into()), false),
        (REVOKED, false),
        (Evidence::NamesLast, false),
        (Evidence::Remembers(past(None)), true),
        (Evidence::Remembers(past(Some(PrintEnd::Failed))), true),
    ] {
        let mut shop = PrinterFixture::started();
        shop.judged(evidence.clone());
        assert_eq!(shop.p().last_start.is_some(), is_confirmed, "{evidence:?}");
    }
    let began_at = |started_ms: Option<i64>| {
        let mut shop = PrinterFixture::started();
        let now = shop.now();
        let started_at = started_ms.map(|ms| now.plus_ms(ms));
        shop.judged(Evidence::Remembers(PastPrint { started_at, ..past(None) }));
        shop.p().in_hand.as_ref().unwrap().began_at.map(|at| at.since(now))
    };
    assert_eq!([Some(-500), Some(0), None].map(began_at), [Some(-500), Some(0), Some(0)]);
    assert_eq!(began_at(Some(1)), Some(0), "its clock is ahead");
}

#[test]
fn a_status_that_is_collected_as_evidence_is_read_like_any_other() {
    let mut shop = PrinterFixture::started();
    let status = shop.status(Activity::Printing, Some(OURS), None);
    shop.judged(Evidence::Shows(status));
    assert_eq!(shop.report(), Report::Printing);
    let mut shop = PrinterFixture::started();
    let status = shop.status(Activity::Idle, Some(OURS), None);
    shop.judged(Evidence::Shows(status));
    assert!(matches!(shop.report(), Report::Unverified(why) if why.contains("not whether it was printed")));
    // Its file is printed again: the first print did begin.
    let status = shop.status(Activity::Printing, Some(OURS), None);
    shop.tell(Status { runs: Some(2), ..status });
    assert_eq!(shop.report(), Report::Printing);
}
