//! What leaves in which shipment.

use super::flags::{pair, print, ship};
use super::*;
use crate::domain::printer_status::PrintEnd;
use crate::domain::sign_off::Inspection;

fn some(lines: &[(u32, u32)], accept_short: bool) -> OrderCommand {
    let OrderCommand::Ship { shipment, .. } = ship("pickup", "", "", false) else { unreachable!() };
    let lines = lines.iter().map(|(line, quantity)| SentLine { line: *line, quantity: *quantity }).collect();
    OrderCommand::Ship { shipment, lines: Some(lines), accept_short }
}

#[test]
fn parts_leave_as_they_are_made_and_the_last_ships_the_order() {
    let (mut desk, [one, two]) = pair();
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "invalid_transition", "nothing is made yet");
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "invalid_transition", "not all is made");
    assert_eq!(code(desk.ask(&some(&[(0, 2)], false))), "parts_not_there");
    let first = desk.ask(&some(&[(0, 1)], false)).unwrap();
    assert_eq!(names(&first), ["order.part_shipped"]);
    assert_eq!((&first.events[0].data["parts"], desk.o().shipped_parts()), (&1.into(), vec![1]));
    assert_eq!((desk.o().status, &desk.o().shipment), (OrderStatus::Printing, &None));
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "parts_not_there", "it has left");
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!(names(&desk.ask(&ship("pickup", "", "", false)).unwrap()), ["order.shipped"]);
    assert_eq!((desk.o().shipments.len(), desk.o().shipped_parts()), (2, vec![2]));
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "invalid_transition");
}

#[test]
fn a_short_order_is_shipped_once_all_that_is_good_has_left_and_that_is_accepted() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    desk.ask(&OrderCommand::CancelJob { job: two, force: false }).unwrap();
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Ready);
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "order_short");
    let shipped = desk.ask(&ship("pickup", "", "", true)).unwrap();
    assert_eq!((names(&shipped), desk.o().shipments.len()), (vec!["order.shipped"], 1));
}

#[test]
fn what_is_made_too_much_ends_with_the_last_shipment() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    let said = |good| Inspection { good_count: Some(good), ..Inspection::default() };
    desk.ask(&OrderCommand::SignOff { job: one, said: said(0) }).unwrap();
    desk.ask(&OrderCommand::SignOff { job: one, said: said(1) }).unwrap();
    assert_eq!((desk.o().status, desk.o().jobs.size()), (OrderStatus::Printing, 3));
    desk.ask(&some(&[(0, 2)], false)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Shipped);
    let newest = desk.o().jobs.values().max_by_key(|job| job.id).unwrap();
    assert_eq!(newest.state, JobState::Cancelled);
}

#[test]
fn what_a_shipment_names_is_checked_as_a_whole() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let refused = desk.ask(&some(&[(7, 1), (0, 0), (0, 1)], false)).unwrap_err();
    let paths: Vec<&str> = refused.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["lines.0.line", "lines.1.quantity", "lines.2.line"]);
    assert_eq!(desk.ask(&some(&[], false)).unwrap_err().faults[0].path, "lines");
}
