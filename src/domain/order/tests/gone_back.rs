//! Tests of money that is returned or reclaimed after the payment: refunds that fail later, and chargebacks.

use super::money::{cash, paid, refunded};
use super::*;
use crate::ledger::DisputeState;

/// Delivers the refund total of `pi_1` for the read that is currently required.
fn read(desk: &mut OrderDecider, refunded_cents: i64) -> Decision<Order, OrderAnswer> {
    let number = desk.o().ledger.at_processor.doubted[0].number;
    read_as(desk, number, refunded_cents)
}

fn read_as(desk: &mut OrderDecider, number: u32, cents: i64) -> Decision<Order, OrderAnswer> {
    let read = LedgerCommand::RefundsRead { intent: "pi_1".into(), number, refunded_cents: Some(cents) };
    desk.ask(&OrderCommand::Ledger(read)).unwrap()
}

fn failed(amount_cents: i64) -> PaymentUpdate {
    failed_as(amount_cents, "re_1")
}

/// Builds the event that another refund of `pi_1` failed.
fn failed_as(amount_cents: i64, refund: &str) -> PaymentUpdate {
    let (intent, refund) = (Some("pi_1".to_owned()), Some(refund.to_owned()));
    PaymentUpdate::RefundFailed { amount_cents, reason: "expired_or_canceled_card".into(), intent, refund }
}

/// Delivers a read of `pi_1` in which the processor does not report the refund total.
fn read_nothing(desk: &mut OrderDecider) -> Decision<Order, OrderAnswer> {
    let number = desk.o().ledger.at_processor.doubted[0].number;
    let read = LedgerCommand::RefundsRead { intent: "pi_1".into(), number, refunded_cents: None };
    desk.ask(&OrderCommand::Ledger(read)).unwrap()
}

fn back(amount_cents: i64) -> OrderCommand {
    OrderCommand::Refund { payment: None, amount_cents: Some(amount_cents), at_processor: true }
}

/// Delivers the processor's acceptance of the first requested refund, with this refund total.
fn accept_refund(desk: &mut OrderDecider, refunded_cents: i64) -> Decision<Order, OrderAnswer> {
    let refund = desk.o().ledger.at_processor.refunds[0].id;
    let news = RefundResult::Taken { refunded_cents };
    desk.ask(&OrderCommand::Ledger(LedgerCommand::RefundNews { refund, news })).unwrap()
}

/// Builds an order of 2,500 paid by `pi_1`, of which 1,000 was refunded; the refund failed and was read again.
fn failed_in_part() -> OrderDecider {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 2500, true)]));
    desk.news(paid(2500, "pi_1"));
    desk.news(refunded(1000, false, "pi_1"));
    desk.news(failed(1000));
    read(&mut desk, 0);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.clone()), (2500, vec!["refund_failed".to_owned()]));
    desk
}

#[test]
fn refund_then_failed_is_flagged() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(paid(500, "pi_1"));
    desk.news(refunded(200, false, "pi_1"));
    let decision = desk.news(failed(200));
    assert_eq!((names(&decision), mails(&decision).len()), (vec!["order.flagged"], 1));
    assert_eq!(desk.o().flags, ["refund_failed"]);
    let again = desk.news(failed(200));
    assert_eq!((names(&again).len(), mails(&again).len()), (0, 0), "told once");
    read(&mut desk, 0);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.payments[1].listed()), (500, (-200, "failed")));
    assert_eq!(desk.o().flags, ["refund_failed"]);
    // It is given back once more, and nobody has to look at it any longer.
    desk.ask(&back(200)).unwrap();
    assert!(desk.o().flags.is_empty());
}

#[test]
fn the_flag_of_a_failed_refund_stands_until_as_much_went_back() {
    let mut desk = failed_in_part();
    desk.ask(&back(100)).unwrap();
    assert_eq!(desk.o().flags, ["refund_failed"], "900 wait");
    accept_refund(&mut desk, 100);
    read(&mut desk, 100);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (2400, 1));
    // What the processor refuses was given to nobody.
    desk.ask(&back(900)).unwrap();
    assert!(desk.o().flags.is_empty());
    let refund = desk.o().ledger.at_processor.refunds[0].id;
    let news = RefundResult::Refused { refunded_cents: Some(100), reason: "the balance is too low".into() };
    desk.ask(&OrderCommand::Ledger(LedgerCommand::RefundNews { refund, news })).unwrap();
    read(&mut desk, 100);
    desk.ask(&back(50)).unwrap();
    assert_eq!(desk.o().flags, ["refund_failed"], "850 wait");

    // Given back at the processor itself, before or after the failure was read.
    let mut desk = failed_in_part();
    desk.news(refunded(1000, false, "pi_1"));
    read(&mut desk, 1000);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1500, 0));
    let mut desk = OrderDecider::with(new_order(vec![line(1, 2500, true)]));
    desk.news(paid(2500, "pi_1"));
    desk.news(refunded(1000, false, "pi_1"));
    desk.news(failed(1000));
    read(&mut desk, 1000);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1500, 0));
}

#[test]
fn a_refund_that_fails_twice_waits_once_however_it_is_told() {
    let mut desk = failed_in_part();
    for told_first in [true, false] {
        let again = if told_first { "re_2" } else { "re_3" };
        desk.ask(&back(1000)).unwrap();
        accept_refund(&mut desk, 1000);
        if told_first {
            desk.news(failed_as(1000, again));
            read(&mut desk, 0);
        } else {
            read(&mut desk, 0);
            assert_eq!(desk.o().ledger.at_processor.doubted[0].waits_cents, 1000);
            desk.news(failed_as(1000, again));
            read(&mut desk, 0);
        }
        desk.news(failed_as(1000, again));
        assert!(desk.o().ledger.at_processor.doubted[0].read, "it is told by several events");
        let waits = desk.o().ledger.at_processor.doubted[0].waits_cents;
        assert_eq!((waits, desk.o().ledger.kept_cents, desk.o().flags.len()), (1000, 2500, 1), "{told_first}");
    }
}

#[test]
fn a_refund_is_under_way_until_it_is_in_the_books() {
    let mut desk = failed_in_part();
    desk.ask(&back(1000)).unwrap();
    accept_refund(&mut desk, 1000);
    let refunds = &desk.o().ledger.at_processor.refunds[..];
    assert!(matches!(refunds, [one] if one.is_accepted && one.amount_cents == 1000), "{refunds:?}");
    assert_eq!(code(desk.ask(&back(1000))), "refunds_under_way");
    assert!(accept_refund(&mut desk, 1000).next.is_none(), "told again");
    let calls = desk.o().effects();
    let reads = |one: &OrderEffect| matches!(one, OrderEffect::Ledger(LedgerEffect::ReadRefunds { .. }));
    let asks = |one: &OrderEffect| matches!(one, OrderEffect::Ledger(LedgerEffect::Refund { .. }));
    assert!(calls.iter().any(reads) && !calls.iter().any(asks), "{calls:?}");
    read(&mut desk, 1000);
    assert!(desk.o().ledger.at_processor.refunds.is_empty());
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1500, 0));
    // Its event may come before its answer.
    let mut desk = failed_in_part();
    desk.ask(&back(800)).unwrap();
    desk.news(refunded(800, false, "pi_1"));
    read(&mut desk, 800);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1700, 1), "200 wait");
    accept_refund(&mut desk, 800);
    read(&mut desk, 800);
    let requests = &desk.o().ledger.at_processor;
    assert_eq!((requests.refunds.len(), requests.doubted[0].waits_cents), (0, 200));
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1700, 1));
}

#[test]
fn where_the_processor_does_not_say_what_went_back_its_events_count() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 2500, true)]));
    desk.news(paid(2500, "pi_1"));
    desk.news(refunded(1000, false, "pi_1"));
    desk.news(failed(1000));
    read_nothing(&mut desk);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.clone()), (2500, vec!["refund_failed".to_owned()]));
    assert!(desk.news(failed(1000)).next.is_none(), "it is told by several events");
    // What goes back afterwards is booked, by the shop's own refund and by events.
    desk.ask(&back(400)).unwrap();
    accept_refund(&mut desk, 400);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (2100, 1));
    assert!(desk.o().ledger.at_processor.refunds.is_empty());
    desk.news(refunded(1000, false, "pi_1"));
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1500, 0));
    // Another failure is asked about anew, and booked as it was told; so is what was taken meanwhile.
    desk.ask(&back(200)).unwrap();
    desk.news(failed_as(600, "re_2"));
    accept_refund(&mut desk, 1200);
    assert!(desk.o().ledger.at_processor.refunds[0].is_accepted);
    read_nothing(&mut desk);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.at_processor.refunds.len()), (1900, 0));
    assert_eq!(desk.o().ledger.at_processor.doubted[0].waits_cents, 400);
    assert_eq!(desk.o().flags, ["refund_failed"]);
}

#[test]
fn what_came_back_is_given_back_otherwise_and_settles_the_flag() {
    let mut desk = failed_in_part();
    let payment = Some(desk.o().ledger.payments[0].id);
    let by = |payment, amount_cents, method: &str| OrderCommand::RefundOtherwise {
        payment,
        amount_cents,
        method: method.to_owned(),
    };
    for (refused, path) in [
        (by(payment, None, "Processor"), "method"),
        (by(payment, None, " "), "method"),
        (by(None, None, "bank_transfer"), "paymentId"),
        (by(Some(id(7)), None, "bank_transfer"), "paymentId"),
        (by(payment, Some(1001), "bank_transfer"), "amountCents"),
    ] {
        assert_eq!(desk.ask(&refused).unwrap_err().faults[0].path, path);
    }
    desk.ask(&by(payment, Some(400), "bank_transfer")).unwrap();
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (2100, 1), "600 wait");
    let decision = desk.ask(&by(payment, None, "bank_transfer")).unwrap();
    assert_eq!(names(&decision), ["order.refund_recorded"]);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().flags.len()), (1500, 0));
    let last = desk.o().ledger.payments.last().unwrap();
    let entry = (last.amount_cents, &*last.method, last.refund_of, &last.reference);
    assert_eq!(entry, (-600, "bank_transfer", payment, &None));
    assert_eq!(code(desk.ask(&by(payment, None, "bank_transfer"))), "nothing_to_refund");
    // The processor is asked for what is left, and for no more.
    assert_eq!(desk.ask(&back(1501)).unwrap_err().faults[0].path, "amountCents");
    desk.ask(&back(1500)).unwrap();
    // What did not fail goes back at the processor.
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(paid(500, "pi_1"));
    let payment = Some(desk.o().ledger.payments[0].id);
    assert_eq!(code(desk.ask(&by(payment, None, "cash"))), "nothing_to_refund");
    // What the processor refuses may be given back otherwise too.
    desk.ask(&back(300)).unwrap();
    let refund = desk.o().ledger.at_processor.refunds[0].id;
    let news = RefundResult::Refused { refunded_cents: Some(0), reason: "charge_expired".into() };
    desk.ask(&OrderCommand::Ledger(LedgerCommand::RefundNews { refund, news })).unwrap();
    desk.ask(&by(payment, Some(100), "cash")).unwrap();
    assert_eq!((desk.o().flags.len(), desk.o().ledger.at_processor.refunds[0].amount_cents), (1, 200));
    desk.ask(&by(payment, None, "cash")).unwrap();
    let ledger = &desk.o().ledger;
    assert_eq!((desk.o().flags.len(), ledger.at_processor.refunds.len(), ledger.kept_cents), (0, 0, 200));
}

#[test]
fn what_older_releases_kept_of_failed_refunds_and_disputes_is_read() {
    let older = serde_json::json!({
        "refunds": [{"id": id(1), "paymentId": id(2), "intent": "pi_1", "amountCents": 5, "askedAt": "2026-11-02T10:00:00.000Z", "error": null}],
        "doubted": [
            {"intent": "pi_1", "number": 3, "read": true, "waits": true},
            {"intent": "pi_2", "number": 1, "read": false, "waits": false},
        ],
        "disputes": [{"id": "dp_1", "state": "lost"}],
    });
    let read: ProcessorRequests = serde_json::from_str(&older.to_string()).unwrap();
    let waits: Vec<i64> = read.doubted.iter().map(|one| one.waits_cents).collect();
    assert_eq!((waits, read.doubted[0].number), (vec![1, 0], 3));
    assert!(!read.refunds[0].is_accepted && read.disputes[0].amount_cents == 0);
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<ProcessorRequests>(&written).unwrap(), read);
}

#[test]
fn an_order_whose_refund_failed_keeps_money_that_is_due_back() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(paid(500, "pi_1"));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Refunded, 0));
    desk.news(failed(500));
    let decision = read(&mut desk, 0);
    assert_eq!(mails(&decision).len(), 1, "an alert");
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Refunded, 500));
    assert_eq!(desk.o().flags, ["refund_failed", "refund_due"]);
    // An event of before the failure comes late: what is read counts, and an old reading does not.
    let before = desk.o().ledger.at_processor.doubted[0].number;
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(desk.o().ledger.kept_cents, 500);
    assert!(read_as(&mut desk, before, 500).next.is_none());
    read(&mut desk, 0);
    assert_eq!(desk.o().ledger.kept_cents, 500);
    // The money goes back at last.
    desk.news(refunded(500, true, "pi_1"));
    read(&mut desk, 500);
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.payments.len()), (0, 3));
    assert!(desk.o().flags.is_empty(), "nobody has to look at it any longer");
}

#[test]
fn a_refund_in_whole_that_failed_ends_an_order_in_whichever_order_it_is_heard() {
    let news = [paid(500, "pi_1"), refunded(500, true, "pi_1"), failed(500)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for reads_at_once in [true, false] {
            let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
            for n in order {
                desk.news(news[n].clone());
                if reads_at_once && !desk.o().ledger.at_processor.doubted.is_empty() {
                    read(&mut desk, 0);
                }
            }
            read(&mut desk, 0);
            let variant = (order, reads_at_once);
            assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Refunded, 500), "{variant:?}");
            let mut flags = desk.o().flags.clone();
            flags.sort();
            assert_eq!(flags, ["refund_due", "refund_failed"], "{variant:?}");
            assert_eq!((desk.o().jobs.size(), desk.state()), (1, JobState::Cancelled), "{variant:?}");
        }
    }
    // What failed of a part goes on being paid.
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let news = [paid(500, "pi_1"), refunded(200, false, "pi_1"), failed(200)];
        let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
        order.into_iter().for_each(|n| drop(desk.news(news[n].clone())));
        read(&mut desk, 0);
        assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Paid, 500), "{order:?}");
        assert_eq!(desk.o().flags, ["refund_failed"], "{order:?}");
    }
}

#[test]
fn of_what_was_paid_twice_a_failed_refund_and_another_leave_it_paid() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    for news in [paid(500, "pi_1"), paid(500, "pi_2"), refunded(500, true, "pi_1"), failed(500)] {
        desk.news(news);
    }
    read(&mut desk, 0);
    desk.news(refunded(500, true, "pi_2"));
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Paid, 500), "one of them is kept");
    assert_eq!(desk.state(), JobState::Created);
}

#[test]
fn a_refund_that_fails_may_be_what_was_still_to_be_paid() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(paid(250, "pi_1"));
    desk.news(refunded(250, true, "pi_1"));
    cash(&mut desk, Some(250)).unwrap();
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Created, 250));
    desk.news(failed(250));
    read(&mut desk, 0);
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents, desk.o().jobs.size()), (OrderStatus::Paid, 500, 1));
}

/// Builds the event that a dispute over `pi_1` is in the given state.
fn disputed(amount_cents: i64, state: DisputeState) -> PaymentUpdate {
    let (id, intent) = ("dp_1".to_owned(), Some("pi_1".to_owned()));
    PaymentUpdate::Disputed { id, amount_cents, reason: "fraudulent".into(), state, intent }
}

#[test]
fn a_payment_that_the_bank_takes_back_is_flagged_until_it_is_decided() {
    let news = |state| disputed(500, state);
    let (open, won, lost) = (news(DisputeState::Open), news(DisputeState::Won), news(DisputeState::Lost));
    let after = |news: &[&PaymentUpdate], kept_cents: i64| {
        let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
        desk.news(paid(500, "pi_1"));
        let alerts = news.iter().map(|one| mails(&desk.news((*one).clone())).len()).sum::<usize>();
        let status = if kept_cents > 0 { OrderStatus::Paid } else { OrderStatus::Refunded };
        assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (status, kept_cents), "it is for people to decide");
        assert_eq!(desk.o().ledger.payments.len(), if kept_cents > 0 { 1 } else { 2 }, "booked once");
        (desk.o().flags.clone(), alerts)
    };
    assert_eq!(after(&[&open], 500), (vec!["disputed".to_owned()], 1));
    assert_eq!(after(&[&open, &open, &won], 500), (Vec::new(), 1));
    assert_eq!(after(&[&open, &lost], 0), (Vec::new(), 2), "told, and settled by the books");
    assert_eq!(after(&[&lost, &lost], 0), (Vec::new(), 1));
    // Heard late, the beginning of what was decided changes nothing.
    assert_eq!(after(&[&won, &open], 500), (Vec::new(), 0));
    assert_eq!(after(&[&lost, &open], 0), (Vec::new(), 1));
}

#[test]
fn what_the_processor_reports_is_said_by_nobody_else() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    let refused =
        |desk: &mut OrderDecider, command: &OrderCommand| desk.ask(command).unwrap_err().faults[0].path.clone();
    for method in ["processor", " Dispute "] {
        let (method, reference) = (method.to_owned(), Some("dp_1".to_owned()));
        let paid = OrderCommand::MarkPaid { amount_cents: None, method, reference };
        assert_eq!(refused(&mut desk, &paid), "method");
    }
    desk.pay();
    let payment = Some(desk.o().ledger.payments[0].id);
    let back = OrderCommand::RefundOtherwise { payment, amount_cents: None, method: "dispute".to_owned() };
    assert_eq!(refused(&mut desk, &back), "method", "it would pass for a lost dispute that is booked");
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.payments.len()), (500, 1));
}

#[test]
fn what_the_bank_took_is_booked_as_money_that_went_back() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 2500, true)]));
    desk.news(paid(2500, "pi_1"));
    let decision = desk.news(disputed(1000, DisputeState::Lost));
    assert_eq!(names(&decision), ["order.flagged", "order.refund_recorded"]);
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents, desk.o().flags.len()), (OrderStatus::Paid, 1500, 0));
    let lost = desk.o().ledger.payments.last().unwrap();
    assert_eq!((&*lost.method, lost.reference.as_deref()), ("dispute", Some("dp_1")));
    assert_eq!((lost.refund_of, lost.listed()), (Some(desk.o().ledger.payments[0].id), (-1000, "refunded")));
    assert_eq!(desk.ask(&back(1501)).unwrap_err().faults[0].path, "amountCents", "the processor has no more");
    // Of what the bank took nothing waits to be given back.
    let mut desk = failed_in_part();
    desk.news(disputed(2500, DisputeState::Lost));
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents, desk.o().flags.len()), (OrderStatus::Refunded, 0, 0));
    // Heard of before the payment: flagged until it is known what it was of.
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(disputed(500, DisputeState::Lost));
    assert_eq!((desk.o().flags.clone(), desk.o().ledger.payments.len()), (vec!["dispute_lost".to_owned()], 0));
    desk.news(paid(500, "pi_1"));
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Refunded, 0));
    assert_eq!((desk.o().flags.len(), desk.o().ledger.payments.len(), desk.state()), (0, 2, JobState::Cancelled));
}
