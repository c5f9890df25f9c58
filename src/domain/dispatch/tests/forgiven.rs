//! Tests of rejections that a person forgave by clearing the printer's attention: the printer was at fault, not the
//! file.

use proptest::prelude::*;

use super::*;

/// Time from one claim of a printer to the next, in milliseconds.
const SLOT_MS: i64 = 1000;

/// Attempt that a printer rejected.
#[derive(Clone, Copy, Debug)]
struct Rejection {
    printer: u32,
    /// Slot of time in which the printer was claimed.
    slot: i64,
    /// Time from the claim to the order's hearing of the rejection, in milliseconds.
    lasting_ms: i64,
    counts: bool,
    /// The printer's number of pardons when it accepted the attempt; `None` in an attempt of an older release.
    pardons: Option<u32>,
}

impl Rejection {
    fn counting(printer: u32, slot: i64) -> Self {
        Self { printer, slot, lasting_ms: 10, counts: true, pardons: None }
    }
}

fn at(slot: i64) -> Timestamp {
    NOW.plus_ms(slot * SLOT_MS)
}

/// Builds an order whose only job was rejected in this way.
fn rejected_order(rejections: &[Rejection]) -> Order {
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| {
        for rejection in rejections {
            let (printer, created_at) = (id(rejection.printer), at(rejection.slot));
            let ended_at = Some(created_at.plus_ms(rejection.lasting_ms));
            let blank = attempt(AttemptState::Refused, printer);
            let Rejection { counts: counts_as_refusal, pardons, .. } = *rejection;
            job.attempts.push(Attempt { counts_as_refusal, pardons, ended_at, created_at, ..blank });
            if rejection.counts && !job.tried_on.contains(&printer) {
                job.tried_on.push(printer);
            }
        }
    });
    one
}

/// Builds a printer that was cleared, and that started another job, in the given slots.
fn cleared(number: u32, forgiven: Option<i64>, start: Option<i64>) -> Printer {
    let last_start = start.map(|slot| ConfirmedStart { job: id(77), at: at(slot) });
    Printer { forgiven_at: forgiven.map(at), last_start, ..printer(number) }
}

/// Returns the printers whose rejections make the job FAILED, in the order of their IDs; none if it is not given up.
fn blamed(rejections: &[Rejection], fleet: &[Printer]) -> Vec<Id> {
    let mut board = board(None);
    board.order_changed(&rejected_order(rejections));
    fleet.iter().for_each(|printer| board.printer_changed(printer));
    let mut printers: Vec<Id> = board.refused_jobs().into_iter().flat_map(|refused| refused.printers).collect();
    printers.sort();
    printers
}

#[test]
fn what_a_printer_refused_before_it_was_cleared_fails_no_job() {
    let refused = [Rejection::counting(7, 2)];
    // (slot of the clearing, printers that the job is given up for once another job has started)
    for (forgiven, printers) in [(None, vec![id(7)]), (Some(1), vec![id(7)]), (Some(3), vec![])] {
        assert_eq!(blamed(&refused, &[cleared(7, forgiven, Some(5))]), printers, "cleared in slot {forgiven:?}");
    }
    let mut board = board(None);
    board.order_changed(&rejected_order(&refused));
    board.printer_changed(&cleared(7, Some(3), Some(5)));
    assert_eq!(board.refused_jobs(), []);
    assert_eq!(board.proposals(at(60)).len(), 1, "it gets its turn");
    let again = [Rejection::counting(7, 2), Rejection::counting(7, 4)];
    assert_eq!(blamed(&again, &[cleared(7, Some(3), Some(5))]), [id(7)], "what it refuses after that counts");
}

#[test]
fn of_three_printers_those_that_were_cleared_do_not_count() {
    let refused = [7, 8, 9].map(|printer| Rejection::counting(printer, 2));
    let fleet = |forgiven| [7, 8, 9].map(|number| cleared(number, forgiven, None));
    assert_eq!(blamed(&refused, &fleet(None)), [id(7), id(8), id(9)]);
    assert_eq!(blamed(&refused, &fleet(Some(3))), []);
    let two = &fleet(None)[..2];
    assert_eq!(blamed(&refused[..2], two), [id(7), id(8)]);
    assert_eq!(blamed(&refused[..2], &[cleared(7, Some(3), None), two[1].clone()]), []);
}

#[test]
fn a_refusal_that_the_order_hears_of_after_the_clearing_is_forgiven_too() {
    let late = Rejection { lasting_ms: 3 * SLOT_MS, ..Rejection::counting(7, 2) };
    assert_eq!(blamed(&[late], &[cleared(7, Some(3), Some(9))]), []);
}

#[test]
fn what_a_printer_refused_counts_against_no_job_once_the_printer_is_removed() {
    let refused = [7, 8, 9].map(|printer| Rejection::counting(printer, 2));
    let mut board = board(None);
    board.order_changed(&rejected_order(&refused));
    let gone = cleared(7, Some(3), None);
    board.printer_changed(&gone);
    (8..=10).for_each(|number| board.printer_changed(&printer(number)));
    assert_eq!(board.refused_jobs(), []);
    board.printer_changed(&Printer { archived: true, ..gone });
    assert_eq!(board.refused_jobs(), [], "printer 10 has not tried it");
    // After a restart, a removed printer is not read.
    let fleet = [8, 9, 10].map(printer);
    assert_eq!(blamed(&refused, &fleet), []);
    assert_eq!(blamed(&refused, &fleet[..2]), [id(8), id(9)], "all that are left refused it");
}

#[test]
fn what_was_forgiven_is_told_by_the_order_of_events_whatever_the_clock_says() {
    // The clock was set back, or forward, between the attempt and the clearing in slot 9.
    for slot in [2, 20] {
        for (pardons, printers) in [(0, vec![]), (1, vec![id(7)])] {
            let refused = Rejection { pardons: Some(pardons), ..Rejection::counting(7, slot) };
            let printer = Printer { pardons: 1, ..cleared(7, Some(9), Some(30)) };
            assert_eq!(blamed(&[refused], &[printer]), printers, "in slot {slot}, after {pardons} pardons");
        }
    }
}

#[test]
fn what_does_not_count_revives_no_refusal_that_was_forgiven() {
    let out_of_reach = Rejection { counts: false, ..Rejection::counting(7, 4) };
    let rejections = [Rejection::counting(7, 2), out_of_reach];
    assert_eq!(blamed(&rejections, &[cleared(7, Some(3), Some(5))]), []);
}

proptest! {
    /// Checks that a job is judged as if what was forgiven had never happened.
    #[test]
    fn a_job_is_judged_by_what_was_not_forgiven(
        rejections in prop::collection::vec((0u32..4, 0i64..10, 0i64..SLOT_MS), 0..8),
        fleet in prop::collection::vec((prop::option::of(-1i64..12), prop::option::of(-1i64..12)), 0..5),
    ) {
        let rejections: Vec<Rejection> = rejections
            .into_iter()
            .map(|(n, slot, lasting_ms)| Rejection { lasting_ms, ..Rejection::counting(500 + n, slot) })
            .collect();
        let printers = |forgives: bool| -> Vec<Printer> {
            let numbered = (500..).zip(&fleet);
            numbered.map(|(number, (forgiven, start))| cleared(number, forgiven.filter(|_| forgives), *start)).collect()
        };
        let is_forgiven = |rejection: &Rejection| {
            let printer = fleet.get(rejection.printer as usize - 500);
            printer.and_then(|(forgiven, _)| *forgiven).is_some_and(|slot| rejection.slot <= slot)
        };
        let others: Vec<Rejection> = rejections.iter().copied().filter(|one| !is_forgiven(one)).collect();
        prop_assert_eq!(blamed(&rejections, &printers(true)), blamed(&others, &printers(false)));
    }
}
