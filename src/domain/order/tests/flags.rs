//! Tests of the flags for operators (failed jobs, missing parts) and of shipping flagged orders.

use super::money::paid;
use super::*;
use crate::ledger::DisputeState;
use crate::printer_status::PrintEnd;

#[test]
fn each_failed_job_is_mailed_and_the_order_is_flagged_until_none_is_left() {
    let (mut desk, [one, two]) = pair();
    let failed = print(&mut desk, one, PrintEnd::Failed);
    assert!(names(&failed).contains(&"order.flagged"));
    assert_eq!(mails(&failed).len(), 1, "one mail, which names the job");
    let number = desk.o().jobs.get(&one).unwrap().number_text();
    assert!(mails(&failed)[0].subject.starts_with(&format!("{number} failed: nozzle too hot")));
    assert!(!mails(&failed)[0].subject.contains(['\r', '\n']), "{:?}", mails(&failed)[0].subject);
    assert_eq!(desk.o().flags, ["job_failed"]);
    assert_eq!(mails(&print(&mut desk, two, PrintEnd::Failed)).len(), 1);
    desk.ask(&JobCommand::Retry(one)).unwrap();
    assert_eq!(desk.o().flags, ["job_failed"], "the other one");
    desk.ask(&JobCommand::Cancel { job: two, force: false, prints: PrinterRecords::new() }).unwrap();
    assert!(desk.o().flags.is_empty());
}

#[test]
fn an_order_short_of_parts_is_ready_flagged_and_shipped_only_if_accepted() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let ready = desk.ask(&JobCommand::Cancel { job: two, force: false, prints: PrinterRecords::new() }).unwrap();
    assert!(names(&ready).ends_with(&["order.ready", "order.flagged"]), "{:?}", names(&ready));
    assert_eq!((desk.o().status, &desk.o().flags[..]), (OrderStatus::Ready, &["short".to_owned()][..]));
    assert_eq!(code(desk.ask(&ship("UPS", "1Z", "2026-12-01", false))), "order_short");
    desk.ask(&ship("UPS", "1Z", "2026-12-01", true)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Shipped);
}

#[test]
fn an_order_of_which_nothing_is_made_is_flagged_and_not_ready() {
    let (mut desk, [one, two]) = pair();
    desk.ask(&JobCommand::Cancel { job: one, force: false, prints: PrinterRecords::new() }).unwrap();
    assert!(desk.o().flags.is_empty());
    let last = desk.ask(&JobCommand::Cancel { job: two, force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!((desk.o().status, &desk.o().flags[..]), (OrderStatus::Paid, &["all_jobs_cancelled".to_owned()][..]));
    assert_eq!(mails(&last).len(), 1);
}

#[test]
fn what_is_picked_up_needs_neither_number_nor_date() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    let refused = desk.ask(&ship("UPS", "", "", false)).unwrap_err();
    let paths: Vec<&str> = refused.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["trackingNumber", "estimatedDelivery"]);
    let shipped = desk.ask(&ship(" Pickup ", "ignored", "", false)).unwrap();
    let data = &shipped.events[0].data;
    assert_eq!((&data["carrier"], &data["trackingNumber"]), (&"pickup".into(), &"".into()));
    assert_eq!(data["estimatedDelivery"], "2023-11-14", "today");
}

#[test]
fn the_reason_of_a_flag_states_amounts_as_people_write_them() {
    let reason = |second: PaymentUpdate| {
        let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
        desk.news(paid(500, "pi_1"));
        let flagged = desk.news(second);
        mails(&flagged)[0].text.clone()
    };
    let disputed = reason(PaymentUpdate::Disputed {
        id: "dp_1".to_owned(),
        amount_cents: 500,
        reason: "fraudulent".to_owned(),
        state: DisputeState::Open,
        intent: Some("pi_1".to_owned()),
    });
    assert!(disputed.contains("the customer disputed $5.00 of a payment (fraudulent)"), "{disputed}");
    let twice = reason(paid(700, "pi_2"));
    let due = "money must be refunded: the payments amount to $12.00, but the status of the order is paid and its \
               total $5.00";
    assert!(twice.contains(due), "{twice}");
}
