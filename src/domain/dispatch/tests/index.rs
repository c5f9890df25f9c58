//! Tests of the index itself: which jobs are ready, how starts are counted, and when deferred jobs are tried again.

use super::*;
use crate::job::{ClaimStatus, FurtherNeed};
use crate::launch::MaterialNeed;

/// Makes a job different in one respect.
type JobChange = fn(&mut Job);

#[test]
fn only_a_job_that_waits_for_nothing_but_a_printer_is_ready() {
    let changes: [(&str, JobChange); 6] = [
        ("its stock is not checked", |job| job.state = JobState::Validated),
        ("its material is short", |job| job.stock = ClaimStatus::InLine),
        ("a further material is not held", |job| {
            let needed = MaterialNeed { material_id: id(3), need: job.need };
            job.further = vec![FurtherNeed::new(needed)];
        }),
        ("it has no file", |job| job.file_id = None),
        ("it is taken", |job| job.attempt_id = Some(id(900))),
        ("it is to be cancelled", |job| job.cancel_requested_at = Some(NOW)),
    ];
    for (why, change) in changes {
        let mut board = board(None);
        let mut one = order(1, &[5]);
        board.order_changed(&one);
        assert_eq!(board.waiting(), 1);
        edit(&mut one, 0, change);
        board.order_changed(&one);
        assert_eq!(board.waiting(), 0, "{why}");
    }
}

#[test]
fn a_job_whose_needs_have_changed_goes_to_the_printer_that_suits_it_now() {
    let mut board = board(None);
    let mut one = order(1, &[5]);
    board.order_changed(&one);
    let before = NeedClass::of(one.jobs.get(&id(1000)).unwrap());
    edit(&mut one, 0, |job| job.material_id = id(3));
    board.order_changed(&one);
    for (number, material) in [(7, 2), (8, 3)] {
        let mut loaded = printer(number);
        loaded.fields.loaded_material_id = Some(id(material));
        board.printer_changed(&loaded);
    }
    assert_eq!(pairs(&mut board), [(id(1000), id(8))]);
    let now = NeedClass::of(one.jobs.get(&id(1000)).unwrap());
    assert_eq!((before == now, before.partial_cmp(&now)), (false, Some(std::cmp::Ordering::Less)));
}

#[test]
fn a_start_that_was_claimed_counts_for_a_minute_and_one_that_was_not_is_given_back_once() {
    let mut board = board(Some(2));
    board.order_changed(&order(1, &[5; 5]));
    (10..15).for_each(|n| board.printer_changed(&printer(n)));
    let proposals = board.proposals(NOW);
    proposals.iter().for_each(|one| board.settled(one, true));
    assert_eq!(board.proposals(NOW.plus_ms(START_WINDOW_MS - 1)), []);
    let later = board.proposals(NOW.plus_ms(START_WINDOW_MS));
    assert_eq!(later.len(), 2);
    board.settled(&later[0], false);
    board.settled(&later[0], false);
    assert_eq!(board.proposals(NOW.plus_ms(START_WINDOW_MS + 1)).len(), 1);
}

#[test]
fn deferred_jobs_are_tried_once_each_and_within_the_limit() {
    let proposed = |most: Option<u32>, refused_jobs: &[u32], fleet: &[Printer]| {
        let mut one = order(1, &[9, 5]);
        refused_jobs.iter().for_each(|n| refused(&mut one, *n, &[7, 9]));
        let mut board = board(most);
        board.order_changed(&one);
        fleet.iter().for_each(|printer| board.printer_changed(printer));
        pairs(&mut board)
    };
    let sick = [sick(7, 999, 60_000), sick(9, 999, 60_000)];
    let with_another = [sick[0].clone(), printer(8), sick[1].clone()];
    assert_eq!(proposed(None, &[1], &with_another), [(id(1000), id(8)), (id(1001), id(7))]);
    assert_eq!(proposed(None, &[0, 1], &sick), [(id(1000), id(7)), (id(1001), id(9))]);
    assert_eq!(proposed(Some(1), &[0, 1], &sick), [(id(1000), id(7))]);
}

#[test]
fn a_refused_pair_is_tried_again_when_it_has_cooled_and_not_before() {
    let mut board = board(None);
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| job.attempts = vec![attempt(AttemptState::Refused, id(7))]);
    board.order_changed(&one);
    let cooled = NOW.plus_ms(REFUSAL_COOLDOWN_MS);
    assert_eq!(board.next_at(cooled.plus_ms(-1)), Some(cooled));
    assert_eq!(board.next_at(cooled), None, "it is time");
    one.status = OrderStatus::Cancelled;
    board.order_changed(&one);
    assert_eq!(board.next_at(NOW), None, "nothing waits for it");
}

#[test]
fn different_jobs_wait_for_one_act_together() {
    let mut orders = [order(1, &[5, 5, 5])];
    edit(&mut orders[0], 0, |job| job.dimensions = None);
    let mut other = printer(8);
    other.fields.loaded_material_id = Some(id(3));
    let acts = waiting_acts(&orders, &[&other], &KnownTypes::default(), NOW);
    let load = WaitingAct::Load { materials: vec![id(2)], printer: id(8) };
    assert_eq!(acts, [GatheredAct { act: load, jobs: 3 }]);
}
