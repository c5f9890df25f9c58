//! Tests of payments and refunds: the books match the processor's whatever the order of events.

use super::*;
use crate::job::ClaimStatus;

pub(super) fn paid(amount: i64, intent: &str) -> PaymentUpdate {
    PaymentUpdate::Paid {
        amount_cents: Some(amount),
        currency: Some("USD".into()),
        session: Some(format!("session-of-{intent}")),
        intent: Some(intent.into()),
    }
}

pub(super) fn refunded(amount: i64, whole: bool, intent: &str) -> PaymentUpdate {
    PaymentUpdate::Refunded { amount_cents: amount, whole, currency: None, intent: Some(intent.into()) }
}

#[test]
fn one_payment_told_by_two_events_pays_once() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    assert!(names(&desk.news(paid(500, "pi_1"))).contains(&"order.paid"));
    let again =
        PaymentUpdate::Paid { amount_cents: Some(500), currency: None, session: None, intent: Some("pi_1".into()) };
    assert!(desk.news(again).next.is_none());
    assert!(desk.o().flags.is_empty());
    let second = desk.news(paid(500, "pi_2"));
    assert_eq!(names(&second), ["order.flagged"]);
    assert!(matches!(second.created[..], [_]));
    assert_eq!(desk.o().flags, ["refund_due"]);
    // The second payment is given back, and the order goes on.
    desk.news(refunded(500, true, "pi_2"));
    assert_eq!((desk.o().status, desk.o().flags.len()), (OrderStatus::Paid, 0));
    assert_eq!(desk.o().jobs.size(), 1);
}

#[test]
fn a_wrong_amount_or_currency_is_flagged_and_not_paid() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(paid(499, "pi_1"));
    assert_eq!((desk.o().status, desk.o().flags.clone()), (OrderStatus::Created, vec!["amount_mismatch".to_owned()]));
    assert!(desk.o().jobs.is_empty());
}

#[test]
fn a_late_failure_never_undoes_and_what_an_early_refund_leaves_is_not_made() {
    let failed = PaymentUpdate::Failed { reason: None, intent: Some("pi_1".into()), session: None };
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.news(failed.clone());
    assert_eq!(desk.o().status, OrderStatus::PaymentFailed);
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(desk.o().status, OrderStatus::PaymentFailed);
    desk.news(paid(500, "pi_1"));
    let refunded = (OrderStatus::Refunded, 1, JobState::Cancelled);
    assert_eq!((desk.o().status, desk.o().jobs.size(), desk.state()), refunded, "as if the payment was heard first");
    let mut desk = OrderDecider::sliced();
    assert!(desk.news(failed).next.is_none());
}

#[test]
fn a_refund_heard_before_its_payment_ends_as_one_heard_after_it() {
    // 50.00 paid and 19.00 of it refunded.
    let mut desk = OrderDecider::with(new_order(vec![line(1, 5000, true)]));
    desk.news(refunded(1900, false, "pi_1"));
    let paid_now = desk.news(paid(5000, "pi_1"));
    assert!(names(&paid_now).contains(&"order.paid"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 3100, vec![], 1));
    assert_eq!((desk.o().due_cents(), desk.state()), (0, JobState::Created), "nothing is asked for again");
    // All of it in two parts, one of them heard first.
    desk.news(refunded(5000, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Refunded, 0, vec![], 1));
    assert_eq!((desk.o().due_cents(), desk.state()), (0, JobState::Cancelled));
}

#[test]
fn what_an_older_release_left_unpaid_is_paid_by_itself() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 5000, true)]));
    desk.news(refunded(1900, false, "pi_1"));
    desk.news(paid(5000, "pi_1"));
    let order = desk.order.as_mut().unwrap();
    (order.status, order.paid_at, order.jobs) = (OrderStatus::Created, None, Default::default());
    assert!(!desk.o().at_rest(), "it is kept in memory until it is paid");
    assert!(desk.o().effects().contains(&OrderEffect::Ledger(LedgerEffect::Recount)));
    desk.ask(&OrderCommand::Ledger(LedgerCommand::Recount)).unwrap();
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 3100, vec![], 1));
    assert!(desk.ask(&OrderCommand::Ledger(LedgerCommand::Recount)).unwrap().next.is_none(), "once");
}

#[test]
fn a_try_that_failed_and_was_paid_after_all_leaves_no_trace() {
    let failed = |intent: &str| PaymentUpdate::Failed { reason: None, intent: Some(intent.into()), session: None };
    for failed_first in [true, false] {
        let mut desk = unpaid();
        let mut news = vec![failed("pi_1"), paid(250, "pi_1")];
        if !failed_first {
            news.reverse();
        }
        news.into_iter().for_each(|one| drop(desk.news(one)));
        assert_eq!(desk.o().status, OrderStatus::Created, "{failed_first}");
        desk.news(failed("pi_2"));
        assert_eq!(desk.o().status, OrderStatus::PaymentFailed);
    }
}

#[test]
fn a_partial_refund_moves_nothing_and_a_whole_one_cancels() {
    for named in [true, false] {
        let back = |amount_cents, whole| PaymentUpdate::Refunded {
            amount_cents,
            whole,
            currency: None,
            intent: named.then(|| "pi_1".to_owned()),
        };
        let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
        desk.news(paid(500, "pi_1"));
        desk.prepare();
        desk.stock(ClaimState::Held);
        desk.news(back(200, false));
        assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Paid, 300));
        desk.news(back(500, true));
        assert_eq!(
            (desk.o().status, desk.o().ledger.kept_cents, desk.state()),
            (OrderStatus::Refunded, 0, JobState::Cancelled)
        );
        assert_eq!(desk.job().stock, ClaimStatus::Settling { consumed: Amount::ZERO });
    }
}

#[test]
fn a_payment_for_a_cancelled_order_is_due_back() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    desk.news(paid(500, "pi_1"));
    assert_eq!((desk.o().status, desk.o().flags.clone()), (OrderStatus::Cancelled, vec!["refund_due".to_owned()]));
    assert_eq!((desk.o().ledger.payments.len(), desk.o().jobs.size()), (1, 0));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!((desk.o().status, desk.o().flags.len()), (OrderStatus::Refunded, 0));
}

pub(super) fn unpaid() -> OrderDecider {
    OrderDecider::with(new_order(vec![line(1, 500, true)]))
}

pub(super) fn cash(
    desk: &mut OrderDecider,
    amount_cents: Option<i64>,
) -> Result<Decision<Order, OrderAnswer>, Refusal> {
    desk.ask(&OrderCommand::MarkPaid { amount_cents, method: "cash".into(), reference: None })
}

/// Returns the status, the balance, the flags, and the number of jobs.
fn money_summary(desk: &OrderDecider) -> (OrderStatus, i64, Vec<&str>, usize) {
    let order = desk.o();
    (order.status, order.ledger.kept_cents, order.flags.iter().map(String::as_str).collect(), order.jobs.size())
}

#[test]
fn cash_stays_when_the_card_goes_back() {
    let mut desk = unpaid();
    cash(&mut desk, None).unwrap();
    desk.news(paid(500, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 1000, vec!["refund_due"], 1));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
    assert_eq!(desk.state(), JobState::Created, "what is paid is made");
}

#[test]
fn of_two_cards_either_may_go_back_and_both_end_it() {
    for (first, second) in [("pi_1", "pi_2"), ("pi_2", "pi_1")] {
        let mut desk = unpaid();
        desk.news(paid(500, "pi_1"));
        desk.news(paid(500, "pi_2"));
        desk.news(refunded(500, true, first));
        assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
        desk.news(refunded(500, true, second));
        assert_eq!(money_summary(&desk), (OrderStatus::Refunded, 0, vec![], 1));
    }
}

#[test]
fn halves_pay_together_and_a_half_that_goes_back_moves_nothing() {
    let mut desk = unpaid();
    assert_eq!(names(&cash(&mut desk, Some(200)).unwrap()), ["order.payment_recorded"]);
    assert_eq!(cash(&mut desk, Some(301)).unwrap_err().faults[0].path, "amountCents");
    // The processor asks for the rest, which is therefore no other amount than was due.
    desk.news(paid(300, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
    desk.news(refunded(300, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 200, vec![], 1));
    // Two cards, neither of which was asked for just that.
    let mut desk = unpaid();
    desk.news(paid(250, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Created, 250, vec!["amount_mismatch"], 0));
    desk.news(paid(250, "pi_2"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
}

#[test]
fn a_half_that_went_back_whole_leaves_the_other_to_be_looked_at() {
    let [first, back, second] = [paid(250, "pi_1"), refunded(250, true, "pi_1"), paid(250, "pi_2")];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut desk = unpaid();
        let news = [&first, &back, &second];
        order.into_iter().for_each(|n| drop(desk.news(news[n].clone())));
        assert_eq!(money_summary(&desk), (OrderStatus::Paid, 250, vec!["amount_mismatch"], 1), "{order:?}");
        desk.news(paid(250, "pi_3"));
        assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1), "the total is there");
    }
    // Of halves that stand a part may go back, as of a payment in whole.
    let mut desk = unpaid();
    for news in [first, second, refunded(100, false, "pi_1")] {
        desk.news(news);
    }
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 400, vec![], 1));
}

#[test]
fn what_went_back_before_an_operator_recorded_money_is_still_to_be_paid() {
    // All of the card's money, and a part of it; heard after its payment, or before.
    for (back, kept_cents) in [(refunded(250, true, "pi_1"), 250), (refunded(200, false, "pi_1"), 300)] {
        for refund_first in [false, true] {
            let mut desk = unpaid();
            let mut news = vec![paid(250, "pi_1"), back.clone()];
            if refund_first {
                news.reverse();
            }
            news.into_iter().for_each(|one| drop(desk.news(one)));
            cash(&mut desk, Some(250)).unwrap();
            assert_eq!(money_summary(&desk), (OrderStatus::Created, kept_cents, vec![], 0), "{refund_first}");
            assert_eq!(desk.o().due_cents(), 500 - kept_cents);
            let recount = OrderEffect::Ledger(LedgerEffect::Recount);
            assert!(!desk.o().effects().contains(&recount), "nor is it paid by itself");
            assert_eq!(cash(&mut desk, Some(501 - kept_cents)).unwrap_err().faults[0].path, "amountCents");
            assert!(names(&cash(&mut desk, None).unwrap()).contains(&"order.paid"));
            assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1), "{refund_first}");
        }
    }
    // A refund that names no payment.
    let mut desk = unpaid();
    desk.news(paid(250, "pi_1"));
    desk.news(PaymentUpdate::Refunded { amount_cents: 250, whole: true, currency: None, intent: None });
    cash(&mut desk, Some(250)).unwrap();
    assert_eq!((desk.o().status, desk.o().due_cents()), (OrderStatus::Created, 250));
}

#[test]
fn a_refund_heard_first_takes_away_its_own_payment_only() {
    let mut desk = unpaid();
    desk.news(refunded(500, true, "pi_2"));
    assert_eq!(money_summary(&desk), (OrderStatus::Created, 0, vec![], 0));
    desk.news(paid(500, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
    desk.news(paid(500, "pi_2"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
}

#[test]
fn a_wrong_amount_that_went_back_leaves_the_order_payable() {
    let mut desk = unpaid();
    desk.news(paid(499, "pi_1"));
    desk.news(refunded(499, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Created, 0, vec![], 0));
    desk.news(paid(500, "pi_2"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
}

#[test]
fn a_surplus_pays_and_is_due_back() {
    let mut desk = unpaid();
    desk.news(paid(501, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 501, vec!["refund_due", "amount_mismatch"], 1));
    desk.news(refunded(1, false, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
}

#[test]
fn another_currency_never_counts() {
    let euros = |intent: &str| PaymentUpdate::Paid {
        amount_cents: Some(500),
        currency: Some("eur".into()),
        session: None,
        intent: Some(intent.into()),
    };
    let mut desk = unpaid();
    desk.news(euros("pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Created, 0, vec!["amount_mismatch"], 0));
    desk.news(paid(500, "pi_2"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec!["amount_mismatch", "refund_due"], 1));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Paid, 500, vec![], 1));
}

#[test]
fn cancelling_what_was_paid_owes_it_until_it_went_back() {
    let mut desk = unpaid();
    desk.news(paid(500, "pi_1"));
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!(money_summary(&desk), (OrderStatus::Cancelled, 500, vec!["refund_due"], 1));
    desk.news(refunded(200, false, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Cancelled, 300, vec!["refund_due"], 1));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Refunded, 0, vec![], 1));
    // What was paid in part was never paid: given back, it stays cancelled.
    let mut desk = unpaid();
    desk.news(paid(100, "pi_1"));
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    desk.news(refunded(100, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Cancelled, 0, vec![], 0));
}

#[test]
fn a_payment_known_by_its_session_learns_its_intent() {
    let payment = |intent: Option<&str>| PaymentUpdate::Paid {
        amount_cents: Some(500),
        currency: None,
        session: Some("cs_1".into()),
        intent: intent.map(str::to_owned),
    };
    let mut desk = unpaid();
    desk.news(payment(None));
    desk.news(refunded(500, true, "pi_1"));
    assert_eq!(
        money_summary(&desk),
        (OrderStatus::Paid, 500, vec![], 1),
        "a refund of a payment that nobody knows yet"
    );
    let learnt = desk.news(payment(Some("pi_1")));
    let learns = |row: &OrderRow| matches!(row, OrderRow::Payment(one) if one.reference.as_deref() == Some("pi_1"));
    assert!(learnt.rows.iter().any(learns));
    assert_eq!(money_summary(&desk).0, OrderStatus::Refunded);
    assert!(desk.news(payment(Some("pi_1"))).next.is_none());
}

#[test]
fn cash_goes_back_by_hand_and_card_at_the_processor() {
    let mut desk = unpaid();
    let back = |payment, amount_cents| OrderCommand::Refund { payment, amount_cents, at_processor: false };
    assert_eq!(code(desk.ask(&back(None, None))), "nothing_to_refund");
    cash(&mut desk, Some(200)).unwrap();
    desk.news(paid(300, "pi_1"));
    let [drawer, card] = [0, 1].map(|n| desk.o().ledger.payments[n].id);
    assert_eq!(code(desk.ask(&back(Some(card), None))), "refund_at_processor");
    assert_eq!(desk.ask(&back(Some(id(7)), None)).unwrap_err().faults[0].path, "paymentId");
    assert_eq!(desk.ask(&back(Some(drawer), Some(201))).unwrap_err().faults[0].path, "amountCents");
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    desk.ask(&back(Some(drawer), Some(50))).unwrap();
    assert_eq!(money_summary(&desk), (OrderStatus::Cancelled, 450, vec!["refund_due"], 1));
    assert_eq!(names(&desk.ask(&back(Some(drawer), None)).unwrap()), ["order.refund_recorded"]);
    assert_eq!(code(desk.ask(&back(Some(drawer), None))), "nothing_to_refund");
    desk.news(refunded(300, true, "pi_1"));
    assert_eq!(money_summary(&desk), (OrderStatus::Refunded, 0, vec![], 1));
}

#[test]
fn the_processors_own_word_is_no_method_of_an_operator() {
    let mut desk = unpaid();
    let mark =
        OrderCommand::MarkPaid { amount_cents: None, method: "Processor".into(), reference: Some("pi_1".into()) };
    assert_eq!(desk.ask(&mark).unwrap_err().faults[0].path, "method");
}
