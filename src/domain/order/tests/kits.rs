//! Tests of kits: sold as one item, produced as parts, counted in complete sets.

use super::*;
use crate::printer_status::PrintEnd;
use crate::sign_off::Inspection;

/// Builds an order for the given number of sets of a kit with one part of the first kind and two of the second, and for
/// one separate part.
fn sets(count: u32) -> OrderDecider {
    let kit = OrderLine { make: None, unit_price_cents: 900, ..line(count, 900, true) };
    let part = |quantity: u32, per_set: u32| OrderLine {
        kit_line: Some(0),
        per_set: Some(per_set),
        ..line(quantity, 0, true)
    };
    let mut desk = OrderDecider::with(new_order(vec![kit, line(1, 100, true), part(count, 1), part(2 * count, 2)]));
    desk.pay();
    let held = desk.o().jobs.keys().map(|job| (ClaimId { job: *job, number: 1 }, ClaimState::Held, None)).collect();
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), held)).unwrap();
    desk
}

fn jobs_of(desk: &OrderDecider, line: u32) -> Vec<Id> {
    desk.o().jobs.values().filter(|job| job.line == line).map(|job| job.id).collect()
}

/// Returns the good, running and missing sets of the kit.
fn complete(desk: &OrderDecider) -> [u64; 3] {
    let parts = desk.o().parts()[0];
    [parts.good, parts.running, parts.missing(desk.o().lines[0].quantity)]
}

#[test]
fn a_kit_costs_its_own_price_and_is_made_as_parts() {
    let desk = sets(2);
    assert_eq!(desk.o().total_cents, 1900);
    assert_eq!([0, 1, 2, 3].map(|line| jobs_of(&desk, line).len()), [0, 1, 2, 4]);
    assert_eq!(complete(&desk), [0, 2, 0]);
}

#[test]
fn as_many_sets_are_complete_as_the_rarest_part_makes_up() {
    let mut desk = sets(2);
    let (one, two) = (jobs_of(&desk, 2), jobs_of(&desk, 3));
    for job in [one[0], one[1], two[0]] {
        print(&mut desk, job, PrintEnd::Finished);
    }
    assert_eq!(complete(&desk), [0, 2, 0], "half a pair is none");
    print(&mut desk, two[1], PrintEnd::Finished);
    assert_eq!(complete(&desk), [1, 1, 0]);
    let inspection = Inspection { good_count: Some(0), ..Inspection::default() };
    desk.bench.rules.quality.reprint_missing = false;
    desk.ask(&JobCommand::SignOff { job: two[0], inspection }).unwrap();
    assert_eq!(complete(&desk), [0, 1, 1]);
    assert_eq!(desk.o().flags, ["needs_attention"], "a part is missing once, not the kit besides");
}

#[test]
fn kits_leave_as_sets_or_as_parts() {
    let mut desk = sets(2);
    for job in jobs_of(&desk, 2).into_iter().chain(jobs_of(&desk, 3)) {
        print(&mut desk, job, PrintEnd::Finished);
    }
    let OrderCommand::Ship { shipment, .. } = ship("pickup", "", "", false) else { unreachable!() };
    let some = |lines: &[(u32, u32)]| OrderCommand::Ship {
        shipment: shipment.clone(),
        lines: Some(lines.iter().map(|(line, quantity)| SentLine { line: *line, quantity: *quantity }).collect()),
        accept_short: false,
    };
    assert_eq!(code(desk.ask(&some(&[(0, 3)]))), "parts_not_there");
    assert_eq!(code(desk.ask(&some(&[(0, 2), (3, 1)]))), "parts_not_there", "sets and parts together");
    desk.ask(&some(&[(0, 1)])).unwrap();
    assert_eq!(
        desk.o().shipments[0].lines.iter().map(|sent| (sent.line, sent.quantity)).collect::<Vec<_>>(),
        [(2, 1), (3, 2)]
    );
    assert_eq!(desk.o().shipped_parts(), [1, 0, 1, 2]);
    desk.ask(&some(&[(2, 1)])).unwrap();
    assert_eq!(desk.o().shipped_parts()[0], 1, "not a whole set");
    let last = jobs_of(&desk, 1)[0];
    print(&mut desk, last, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!((desk.o().status, desk.o().shipped_parts()), (OrderStatus::Shipped, vec![2, 1, 2, 4]));
}

#[test]
fn an_order_has_a_bounded_number_of_lines_with_the_parts_of_its_kits() {
    let many = (0..=MAX_LINES).map(|_| line(1, 0, true)).collect();
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let refused = desk.ask(&OrderCommand::Create(Box::new(new_order(many)))).unwrap_err();
    assert!(refused.faults.iter().any(|fault| fault.path == "lines"), "{refused:?}");
}
