//! Tests of the bounds of a ledger: what can be checked out, and how many requests to the processor are kept.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::testing::{Bench, id};
use crate::time::Timestamp;

/// Ledger of an order over 1,000.
struct Book {
    bench: Bench,
    ledger: Ledger,
    terms: LedgerTerms,
}

impl Book {
    fn new(stage: LedgerStage) -> Self {
        let terms = LedgerTerms {
            owner_id: id(1),
            kind: "order",
            stage,
            status: "created".to_owned(),
            currency: "usd".to_owned(),
            total_cents: 1_000,
        };
        Self { bench: Bench::new(), ledger: Ledger::default(), terms }
    }

    fn apply(&mut self, command: &LedgerCommand) {
        let (outcome, _) = self.ledger.edit(&self.bench.cx(), &self.terms, |on| apply(on, command));
        outcome.unwrap();
    }

    fn payment(&mut self, news: PaymentUpdate) {
        self.apply(&LedgerCommand::Payment(news));
    }

    /// Reports a session that the processor created without a request.
    fn session(&mut self, number: u32) {
        let session = format!("cs_{number}");
        let news = CheckoutResult::Made { session, url: "https://pay.example".to_owned(), expires_at: Timestamp(9) };
        self.apply(&LedgerCommand::CheckoutMade { number, news });
    }
}

fn failed(intent: u32) -> PaymentUpdate {
    PaymentUpdate::Failed { reason: Some("declined".to_owned()), intent: Some(format!("pi_{intent}")), session: None }
}

fn refund_failed(intent: u32, refund: u32) -> PaymentUpdate {
    PaymentUpdate::RefundFailed {
        amount_cents: 5,
        reason: "expired_or_canceled_card".to_owned(),
        intent: Some(format!("pi_{intent}")),
        refund: Some(format!("re_{refund}")),
    }
}

#[test]
fn what_is_due_of_a_payable_order_can_be_checked_out() {
    use LedgerStage::{Closed, Paid, Payable};
    for (stage, currency, kept_cents, expected) in [
        (Payable, "usd", 0, Ok(1_000)),
        (Payable, "jpy", 400, Ok(600)),
        (Payable, "usd", 999, Ok(1)),
        (Payable, "usd", 1_000, Err("nothing is due for this order")),
        (Payable, "usd", 1_001, Err("nothing is due for this order")),
        (Paid, "usd", 0, Err("the order is already paid")),
        (Closed, "usd", 0, Err("the order cannot be paid because its status is created")),
        (
            Payable,
            "kwd",
            0,
            Err("the payment processor uses a different smallest unit of kwd than this shop; pay in another way"),
        ),
    ] {
        let mut book = Book::new(stage);
        book.terms.currency = currency.to_owned();
        book.ledger.kept_cents = kept_cents;
        let due = book.ledger.to_check_out(&book.terms).map_err(|refusal| refusal.message);
        assert_eq!(due, expected.map_err(str::to_owned), "{currency} {kept_cents}");
        let is_payable = stage == Payable;
        assert_eq!(book.ledger.to_pay(&book.terms), if is_payable { (1_000 - kept_cents).max(0) } else { 0 });
    }
}

#[test]
fn the_newest_requests_to_the_processor_are_kept() {
    let mut book = Book::new(LedgerStage::Payable);
    for number in 1..=21 {
        book.session(number);
        book.session(number);
        book.payment(failed(number));
        book.payment(failed(number));
    }
    let closing = &book.ledger.at_processor.closing;
    assert_eq!((closing.len(), closing[0].as_str(), closing[19].as_str()), (20, "cs_2", "cs_21"));
    let tries = &book.ledger.at_processor.failed_tries;
    assert_eq!((tries.len(), tries[0].intent.as_deref()), (20, Some("pi_2")));
    book.apply(&LedgerCommand::SessionClosed("cs_3".to_owned()));
    assert_eq!(book.ledger.at_processor.closing.len(), 19);
    let mut paid = Book::new(LedgerStage::Paid);
    paid.payment(failed(1));
    assert!(paid.ledger.at_processor.failed_tries.is_empty(), "it does not matter any more");
}

#[test]
fn the_newest_failures_of_refunds_are_remembered() {
    let mut book = Book::new(LedgerStage::Paid);
    for refund in 1..=11 {
        book.payment(refund_failed(1, refund));
        book.payment(refund_failed(1, refund));
    }
    let doubt = &book.ledger.at_processor.doubted[0];
    assert_eq!((doubt.failed.len(), doubt.failed[0].as_str(), doubt.waits_cents), (10, "re_2", 55));
    assert_eq!((doubt.number, doubt.read, doubt.unlisted), (11, false, false));
    for intent in 2..=21 {
        book.payment(refund_failed(intent, 1));
    }
    let doubted = &book.ledger.at_processor.doubted;
    assert_eq!((doubted.len(), doubted[0].intent.as_str()), (20, "pi_2"));
}

#[test]
fn at_most_twenty_refunds_are_under_way() {
    for (payments, is_refused) in [(20, false), (21, true)] {
        let mut book = Book::new(LedgerStage::Paid);
        for number in 1..=payments {
            let [session, intent] = ["cs", "pi"].map(|kind| Some(format!("{kind}_{number}")));
            let currency = Some("USD".to_owned());
            book.payment(PaymentUpdate::Paid { amount_cents: Some(50), currency, session, intent });
        }
        let (outcome, _) = book.ledger.edit(&book.bench.cx(), &book.terms, |on| refund(on, None, None, true));
        assert_eq!(outcome.err().map(|refusal| refusal.code), is_refused.then(|| "refunds_under_way".to_owned()));
        let requests = &book.ledger.at_processor.refunds;
        assert_eq!(requests.len(), if is_refused { 0 } else { 20 });
        assert!(requests.iter().all(|one| one.amount_cents == 50 && !one.is_accepted), "{requests:?}");
    }
}
