//! Tests of which prints the parts of each shipment came from, and which parts still have to be made.

use super::departures::print_all;
use super::parts::plates;
use super::shipping::some;
use super::*;
use crate::job::Departure;

fn edit(order: &mut Order, job: Id, change: impl FnOnce(&mut Attempt)) {
    let mut edited = (**order.jobs.get(&job).unwrap()).clone();
    change(&mut edited.attempts[0]);
    order.jobs.insert_mut(job, edited.into());
}

/// Returns the departures of the first print of each job.
fn departures(order: &Order, jobs: &[Id]) -> Vec<Vec<(u32, u32)>> {
    let of_print = |attempt: &Attempt| -> Vec<(u32, u32)> {
        attempt.departures.iter().map(|one| (one.shipment, one.quantity)).collect()
    };
    jobs.iter().map(|job| of_print(&order.jobs.get(job).unwrap().attempts[0])).collect()
}

#[test]
fn parts_are_missing_that_no_job_makes_and_nobody_gave_up() {
    let parts = LineParts { good: 1, running: 2, cancelled: 3, ..LineParts::default() };
    assert_eq!([5, 6, 7, 10].map(|quantity| parts.missing(quantity)), [0, 0, 1, 4]);
}

#[test]
fn a_shipment_takes_the_parts_of_the_oldest_prints_first() {
    let (mut desk, jobs) = plates(5, 2);
    print_all(&mut desk);
    desk.ask(&some(&[(0, 3)], false)).unwrap();
    assert_eq!(departures(desk.o(), &jobs), [vec![(1, 2)], vec![(1, 1)], vec![]]);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!(departures(desk.o(), &jobs), [vec![(1, 2)], vec![(1, 1), (2, 1)], vec![(2, 1)]]);
    let prints_in = |shipment| -> Vec<(Id, u32)> {
        desk.o().prints_in(shipment).into_iter().map(|(job, quantity)| (job.id, quantity)).collect()
    };
    assert_eq!(prints_in(1), [(jobs[0], 2), (jobs[1], 1)]);
    assert_eq!(prints_in(2), [(jobs[1], 1), (jobs[2], 1)]);
    assert_eq!(prints_in(3), []);
    assert_eq!(desk.o().shipments.iter().map(|sent| sent.number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_departure_counts_while_its_shipment_is_recorded() {
    let (mut desk, jobs) = plates(3, 3);
    print_all(&mut desk);
    let order = desk.order.as_mut().unwrap();
    edit(order, jobs[0], |print| print.departures = vec![Departure { shipment: 1, quantity: 2 }]);
    edit(order, jobs[0], |print| print.sign_off.as_mut().unwrap().good = 1);
    assert_eq!(
        (order.rejected_departures(&order.jobs.get(&jobs[0]).unwrap().clone()), order.parts_there()),
        (0, vec![1])
    );
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    let job = desk.o().jobs.get(&jobs[0]).unwrap().clone();
    assert_eq!(
        (desk.o().rejected_departures(&job), desk.o().shipped_parts()),
        (1, vec![0]),
        "two of which one is good"
    );
}

#[test]
fn shipments_of_an_older_release_are_traced_to_good_parts_and_then_to_others() {
    let (mut desk, jobs) = plates(6, 3);
    print_all(&mut desk);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    let whole = vec![Departure { shipment: 1, quantity: 3 }];
    // Parts noted for the shipment, parts sent in it, and parts traced.
    let table = [
        ([vec![], vec![]], 6, [vec![(1, 3)], vec![(1, 3)]], true),
        ([vec![], vec![]], 4, [vec![(1, 2)], vec![(1, 2)]], true),
        ([vec![], whole.clone()], 6, [vec![(1, 3)], vec![(1, 3)]], true),
        ([vec![], whole.clone()], 5, [vec![(1, 2)], vec![(1, 3)]], true),
        ([whole.clone(), whole], 6, [vec![(1, 3)], vec![(1, 3)]], false),
    ];
    for (noted, sent, traced, is_new) in table {
        let mut order = desk.o().clone();
        edit(&mut order, jobs[0], |print| print.sign_off.as_mut().unwrap().good = 2);
        for (job, noted) in jobs.iter().zip(noted) {
            edit(&mut order, *job, |print| print.departures = noted);
        }
        order.shipments[0].lines[0].quantity = sent;
        order.trace_departures();
        assert_eq!((departures(&order, &jobs), order.has_traced_departures), (traced.to_vec(), is_new), "{sent}");
        assert_eq!(order.parts()[0].rejected_after_shipping, u64::from(traced[0] == [(1, 3)]));
    }
    let mut unsent = desk.o().clone();
    unsent.shipments.clear();
    unsent.trace_departures();
    assert!(!unsent.has_traced_departures);
}

#[test]
fn a_shipped_order_waits_for_a_person_only_while_it_is_flagged() {
    let flagged = || vec!["rejected_after_shipping".to_owned()];
    let placed = OrderDecider::with(new_order(vec![line(1, 500, true)])).order.unwrap();
    for (status, flags, waits) in [
        (OrderStatus::Shipped, flagged(), true),
        (OrderStatus::Shipped, vec!["short".to_owned()], false),
        (OrderStatus::Shipped, Vec::new(), false),
        (OrderStatus::Printing, flagged(), false),
    ] {
        assert_eq!(Order { status, flags, ..placed.clone() }.waits_as_shipped(), waits, "{status}");
    }
    let words = |status| Order { status, ..placed.clone() }.rejected_in_words(2);
    let ending = "they are not replaced automatically: sign off their jobs again to continue the order, or refund it";
    assert_eq!(words(OrderStatus::Shipped), format!("2 shipped parts were rejected and must be replaced; {ending}"));
}
