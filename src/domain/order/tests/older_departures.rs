//! Tests of orders shipped by releases that did not record which prints their parts came from, with parts rejected at
//! that time.

use super::departures::{good_sent, of_an_older_release, print_all};
use super::parts::{good, sign};
use super::*;
use crate::printer_status::PrintEnd;

/// Builds a shipped two-part order as an older release left it: one part was rejected after shipping, nothing was done
/// about it, and the order has just been loaded.
fn rejected_in_an_older_release() -> (OrderDecider, Id) {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    let before = (desk.o().jobs.clone(), desk.o().shipment.clone());
    sign(&mut desk, one, good(0)).unwrap();
    let rejected = desk.o().jobs.get(&one).unwrap().clone();
    let order = desk.order.as_mut().unwrap();
    (order.jobs, order.shipment) = before;
    order.jobs.insert_mut(one, rejected);
    (order.status, order.flags) = (OrderStatus::Shipped, Vec::new());
    of_an_older_release(&mut desk);
    (desk, one)
}

#[test]
fn what_an_older_release_did_not_see_rejected_is_stored_and_flagged_once_and_not_printed_by_itself() {
    let (mut desk, one) = rejected_in_an_older_release();
    assert!(desk.o().effects().contains(&OrderEffect::KeepDepartures) && !desk.o().at_rest());
    let decision = desk.ask(&OrderNews::KeepDepartures).unwrap();
    assert_eq!(names(&decision), ["order.flagged"]);
    assert_eq!(desk.o().flags, ["rejected_after_shipping"]);
    let mail = mails(&decision)[0];
    assert!(mail.alert.is_some() && mail.text.contains("sign off their jobs again"), "{}", mail.text);
    let departs = |row: &&OrderRow| matches!(row, OrderRow::Attempt(one) if one.departures.len() == 1);
    assert_eq!(decision.rows.iter().filter(departs).count(), 2, "the prints are stored with their departures");
    assert_eq!((desk.o().status, desk.o().jobs.size()), (OrderStatus::Shipped, 2), "no order of long ago goes on");
    assert!(!desk.o().effects().contains(&OrderEffect::KeepDepartures));
    assert!(desk.ask(&OrderNews::KeepDepartures).unwrap().next.is_none(), "once");
    desk.order.as_mut().unwrap().trace_departures();
    assert!(!desk.o().has_traced_departures, "nothing is left to be traced");
    // Whoever says so once more has it made again.
    sign(&mut desk, one, good(0)).unwrap();
    assert_eq!((desk.o().status, desk.o().jobs.size()), (OrderStatus::Printing, 3));
    print_all(&mut desk);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!((desk.o().status, good_sent(&desk), desk.o().flags.len()), (OrderStatus::Shipped, vec![2], 0));
    // Or it was good after all.
    let (mut desk, one) = rejected_in_an_older_release();
    desk.ask(&OrderNews::KeepDepartures).unwrap();
    sign(&mut desk, one, good(1)).unwrap();
    assert_eq!((desk.o().status, desk.o().flags.len()), (OrderStatus::Shipped, 0));
}

#[test]
fn departures_of_older_releases_are_stored_without_a_flag_where_nothing_is_owed() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    of_an_older_release(&mut desk);
    let decision = desk.ask(&OrderNews::KeepDepartures).unwrap();
    assert_eq!((names(&decision).len(), mails(&decision).len(), decision.rows.len()), (0, 0, 2));
    assert!(desk.o().flags.is_empty());
}
