//! Tests of checkouts and refunds at the processor: one session at a time, none for a paid order. The tests of invoice
//! rules show, for orders and invoices together, that the books match the processor's despite lost, late or repeated
//! messages.

use super::*;
use crate::time::Timestamp;

const TOTAL: i64 = 500;

fn unpaid(draft: bool) -> OrderDecider {
    OrderDecider::with(NewOrder { draft, ..new_order(vec![line(1, TOTAL, true)]) })
}

fn check_out(desk: &mut OrderDecider, success: &str) -> Result<Decision<Order, OrderAnswer>, Refusal> {
    desk.ask(&OrderCommand::Ledger(LedgerCommand::CheckOut {
        title: "Order ORD-000001".into(),
        success_url: success.into(),
        cancel_url: "/no".into(),
    }))
}

fn answer_checkout(desk: &mut OrderDecider, number: u32) -> Decision<Order, OrderAnswer> {
    let news = CheckoutResult::Made {
        session: format!("cs_{number}"),
        url: format!("https://pay/{number}"),
        expires_at: Timestamp(1_700_000_000_000),
    };
    desk.ask(&OrderCommand::Ledger(LedgerCommand::CheckoutMade { number, news })).unwrap()
}

fn failed(desk: &mut OrderDecider, number: u32, refused: bool) {
    let news = CheckoutResult::Failed { refused, amount: false, reason: "no".into() };
    desk.ask(&OrderCommand::Ledger(LedgerCommand::CheckoutMade { number, news })).unwrap();
}

fn paid(desk: &mut OrderDecider, session: &str, amount: i64) -> Decision<Order, OrderAnswer> {
    desk.news(PaymentUpdate::Paid {
        amount_cents: Some(amount),
        currency: Some("usd".into()),
        session: Some(session.into()),
        intent: Some(format!("pi_of_{session}")),
    })
}

fn mark_paid(desk: &mut OrderDecider, amount_cents: Option<i64>) {
    desk.ask(&OrderCommand::MarkPaid { amount_cents, method: "cash".into(), reference: None }).unwrap();
}

fn cancel(desk: &mut OrderDecider) {
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
}

fn number(desk: &OrderDecider) -> Option<u32> {
    desk.o().ledger.checkout().map(|one| one.number)
}

/// Lists the order's outstanding calls to the processor.
fn calls(desk: &OrderDecider) -> Vec<String> {
    let at_processor = |effect: OrderEffect| match effect {
        OrderEffect::Ledger(LedgerEffect::MakeSession { number }) => Some(format!("make {number}")),
        OrderEffect::Ledger(LedgerEffect::CloseSession { session }) => Some(format!("close {session}")),
        OrderEffect::Ledger(LedgerEffect::Refund { refund }) => {
            let entry = desk.o().ledger.at_processor.refunds.iter().find(|one| one.id == refund).unwrap();
            Some(format!("refund {} of {}", entry.amount_cents, entry.intent))
        }
        _ => None,
    };
    desk.o().effects().into_iter().filter_map(at_processor).collect()
}

#[test]
fn who_asks_together_gets_one_session_and_a_draft_is_placed_by_it() {
    let mut desk = unpaid(true);
    assert!(desk.o().ledger.at_processor.is_idle(), "nobody has asked yet");
    assert!(!check_out(&mut desk, "/a").unwrap().next.unwrap().at_rest(), "a session is to be made");
    assert!(check_out(&mut desk, "/b").unwrap().next.is_none(), "the first one's is");
    assert_eq!((number(&desk), calls(&desk)), (Some(1), vec!["make 1".to_owned()]));
    assert_eq!(desk.o().status, OrderStatus::Draft);
    assert_eq!(names(&answer_checkout(&mut desk, 1)), ["order.created"]);
    assert_eq!((desk.o().status, desk.o().ledger.payment_session.as_deref()), (OrderStatus::Created, Some("cs_1")));
    assert!(answer_checkout(&mut desk, 1).next.is_none(), "told twice");
    assert!(check_out(&mut desk, "/c").unwrap().next.is_none());
    assert!(calls(&desk).is_empty() && desk.o().at_rest());
}

#[test]
fn only_what_is_due_can_be_checked_out() {
    let mut desk = unpaid(false);
    mark_paid(&mut desk, None);
    assert_eq!(check_out(&mut desk, "/").unwrap_err().code, "already_paid");
    cancel(&mut desk);
    let refused = check_out(&mut desk, "/").unwrap_err();
    assert_eq!((refused.code.as_str(), refused.class), ("not_payable", crate::refusal::Class::Invalid));
    let mut free = OrderDecider::with(new_order(vec![line(1, 0, true)]));
    assert_eq!(check_out(&mut free, "/").unwrap_err().code, "not_payable");
}

#[test]
fn a_session_that_no_longer_fits_is_closed() {
    let fits_not: [fn(&mut OrderDecider); 3] =
        [|desk| mark_paid(desk, None), |desk| mark_paid(desk, Some(100)), cancel];
    for act in fits_not {
        let mut desk = unpaid(false);
        check_out(&mut desk, "/").unwrap();
        answer_checkout(&mut desk, 1);
        act(&mut desk);
        assert_eq!(calls(&desk), ["close cs_1"]);
        desk.ask(&OrderCommand::Ledger(LedgerCommand::SessionClosed("cs_1".into()))).unwrap();
        assert!(calls(&desk).is_empty() && desk.o().ledger.payment_session.is_none());
    }
    // A part was paid by hand: the next session asks for the rest.
    let mut desk = unpaid(false);
    mark_paid(&mut desk, Some(100));
    check_out(&mut desk, "/").unwrap();
    assert_eq!(desk.o().ledger.checkout().unwrap().amount_cents, 400);
    // While it was being made, it was paid otherwise: nobody ever hears of the session.
    mark_paid(&mut desk, None);
    assert!(calls(&desk).is_empty());
    answer_checkout(&mut desk, 1);
    assert_eq!(calls(&desk), ["close cs_1"]);
}

#[test]
fn a_session_that_was_paid_is_not_closed_and_another_one_is() {
    let mut desk = unpaid(false);
    check_out(&mut desk, "/").unwrap();
    answer_checkout(&mut desk, 1);
    paid(&mut desk, "cs_1", TOTAL);
    assert_eq!((desk.o().status, calls(&desk)), (OrderStatus::Paid, vec![]));
    let mut desk = unpaid(false);
    check_out(&mut desk, "/").unwrap();
    answer_checkout(&mut desk, 1);
    paid(&mut desk, "cs_elsewhere", TOTAL);
    assert_eq!((desk.o().status, calls(&desk)), (OrderStatus::Paid, vec!["close cs_1".to_owned()]));
}

#[test]
fn a_request_of_unknown_end_is_repeated_as_it_was_and_a_refused_one_is_a_new_one() {
    let mut desk = unpaid(false);
    check_out(&mut desk, "/a").unwrap();
    failed(&mut desk, 1, false);
    assert!(calls(&desk).is_empty(), "nobody is waiting any more");
    check_out(&mut desk, "/a").unwrap();
    assert_eq!(calls(&desk), ["make 1"]);
    failed(&mut desk, 1, false);
    check_out(&mut desk, "/b").unwrap();
    assert_eq!(calls(&desk), ["make 2"], "another request needs another key");
    failed(&mut desk, 2, true);
    check_out(&mut desk, "/b").unwrap();
    assert_eq!(calls(&desk), ["make 3"], "the processor would repeat its refusal");
    answer_checkout(&mut desk, 2);
    assert_eq!(calls(&desk), ["make 3", "close cs_2"]);
    // An answer that comes after it was given up is as good as any.
    let mut desk = unpaid(false);
    check_out(&mut desk, "/a").unwrap();
    failed(&mut desk, 1, false);
    answer_checkout(&mut desk, 1);
    assert_eq!((desk.o().ledger.checkout().and_then(Checkout::session), calls(&desk)), (Some("cs_1"), vec![]));
}

#[test]
fn what_expired_or_failed_makes_way_for_another_session() {
    let ends = [
        PaymentUpdate::SessionExpired { session: Some("cs_1".into()) },
        PaymentUpdate::Failed { reason: None, intent: Some("pi_1".into()), session: Some("cs_1".into()) },
    ];
    for end in ends {
        let mut desk = unpaid(false);
        check_out(&mut desk, "/").unwrap();
        answer_checkout(&mut desk, 1);
        desk.news(end);
        check_out(&mut desk, "/").unwrap();
        assert_eq!(calls(&desk), ["make 2"]);
    }
    // A card that is declined may be tried again in the same session.
    let mut desk = unpaid(false);
    check_out(&mut desk, "/").unwrap();
    answer_checkout(&mut desk, 1);
    desk.news(PaymentUpdate::Failed { reason: None, intent: Some("pi_1".into()), session: None });
    assert_eq!((desk.o().status, number(&desk)), (OrderStatus::PaymentFailed, Some(1)));
}

fn refund(payment: Option<Id>, amount_cents: Option<i64>) -> OrderCommand {
    OrderCommand::Refund { payment, amount_cents, at_processor: true }
}

fn answer(desk: &mut OrderDecider, at: usize, news: RefundResult) -> Decision<Order, OrderAnswer> {
    let refund = desk.o().ledger.at_processor.refunds[at].id;
    desk.ask(&OrderCommand::Ledger(LedgerCommand::RefundNews { refund, news })).unwrap()
}

#[test]
fn refunds_take_the_newest_payment_first_and_never_more_than_is_left() {
    let mut desk = unpaid(false);
    paid(&mut desk, "cs_1", TOTAL);
    paid(&mut desk, "cs_2", TOTAL);
    assert_eq!(desk.ask(&refund(None, Some(1001))).unwrap_err().faults[0].path, "amountCents");
    desk.ask(&refund(None, Some(750))).unwrap();
    assert_eq!(calls(&desk), ["refund 500 of pi_of_cs_2", "refund 250 of pi_of_cs_1"]);
    assert_eq!(desk.ask(&refund(None, Some(251))).unwrap_err().faults[0].path, "amountCents", "what is asked is gone");
    assert_eq!((desk.o().ledger.kept_cents, desk.o().status), (2 * TOTAL, OrderStatus::Paid), "nothing went back yet");
    assert_eq!(names(&answer(&mut desk, 0, RefundResult::Taken { refunded_cents: 500 })), ["order.refund_recorded"]);
    // The event of the same refund says nothing new, before or after.
    let event =
        PaymentUpdate::Refunded { amount_cents: 250, whole: false, currency: None, intent: Some("pi_of_cs_1".into()) };
    desk.news(event.clone());
    assert!(answer(&mut desk, 0, RefundResult::Taken { refunded_cents: 250 }).events.is_empty());
    assert!(desk.news(event).next.is_none());
    assert_eq!((desk.o().ledger.kept_cents, calls(&desk)), (250, vec![]));
    desk.ask(&refund(None, None)).unwrap();
    answer(&mut desk, 0, RefundResult::Taken { refunded_cents: 500 });
    assert_eq!((desk.o().status, desk.o().ledger.kept_cents), (OrderStatus::Refunded, 0));
    assert_eq!(code(desk.ask(&refund(None, None))), "nothing_to_refund");
}

#[test]
fn a_refused_refund_is_flagged_until_somebody_asks_again() {
    let mut desk = unpaid(false);
    paid(&mut desk, "cs_1", TOTAL);
    desk.ask(&refund(None, None)).unwrap();
    let no = RefundResult::Refused { refunded_cents: Some(0), reason: "the balance is too low".into() };
    let refused = answer(&mut desk, 0, no);
    assert_eq!((names(&refused), desk.o().flags.clone()), (vec!["order.flagged"], vec!["refund_failed".to_owned()]));
    assert!(calls(&desk).is_empty(), "it is not tried again by itself");
    desk.ask(&refund(None, None)).unwrap();
    assert_eq!((calls(&desk).len(), desk.o().flags.len()), (1, 0));
}
