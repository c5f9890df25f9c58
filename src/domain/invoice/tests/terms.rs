//! Tests of the exact totals, limits and emails of invoices, and of the facts that an invoice states.

use super::super::sums::spread;
use super::*;
use crate::aggregate::{Aggregate as _, DecisionContext};
use crate::bounds::MAX_CENTS;
use crate::ledger::{LedgerStage, PaymentUpdate};
use crate::mail::Mail;
use crate::mail::part::plain;
use crate::principal::Principal;
use crate::testing::invoices::document;

fn update(quantity: u32) -> InvoiceCommand {
    InvoiceCommand::Update { if_version: Some(7), draft: Box::new(draft(vec![line(quantity, 500, 0)])) }
}

fn text(mail: &Mail) -> String {
    plain(&mail.text, &mail.parts, None)
}

#[test]
fn each_status_has_its_name_and_says_whether_money_is_awaited() {
    use InvoiceStatus as S;
    let table = [
        (S::Draft, "draft", LedgerStage::Closed),
        (S::Open, "open", LedgerStage::Payable),
        (S::PartiallyPaid, "partially_paid", LedgerStage::Payable),
        (S::Paid, "paid", LedgerStage::Paid),
        (S::Overdue, "overdue", LedgerStage::Payable),
        (S::Refunded, "refunded", LedgerStage::Closed),
        (S::Void, "void", LedgerStage::Closed),
    ];
    for (status, name, stage) in table {
        let invoice = Invoice { status, ..Desk::sent(vec![line(1, 1000, 0)]).invoice.unwrap() };
        assert_eq!(status.to_string(), name);
        assert_eq!(serde_json::to_value(status).unwrap(), name, "as it is stored");
        let terms = invoice.terms();
        assert_eq!((terms.stage, terms.status.as_str(), terms.total_cents), (stage, name, 1000));
        assert_eq!((terms.owner_id, terms.kind, terms.currency.as_str()), (id(INVOICE), "invoice", "usd"));
        assert_eq!(invoice.due_cents(), if stage == LedgerStage::Payable { 1000 } else { 0 }, "{name}");
    }
}

#[test]
fn only_what_a_person_changes_counts_as_a_revision() {
    let mut desk = Desk::with(draft(vec![line(1, 500, 0)]));
    desk.invoice.as_mut().unwrap().revision = 7;
    assert_eq!((desk.i().revision(), desk.i().at_rest()), (Some(7), true));
    assert_eq!((update(2).if_version(), InvoiceCommand::Send.if_version()), (Some(7), None));
    let later = desk.bench.now.plus_ms(5);
    let decided_by = |by: &Principal, quantity| {
        let cx = DecisionContext { by, now: later, ..desk.bench.cx() };
        update(quantity).decide(desk.invoice.as_ref(), id(INVOICE), &cx).unwrap().next
    };
    for (by, revision) in [(Principal::Machine, 8), (Principal::System, 7)] {
        let next = decided_by(&by, 2).unwrap();
        assert_eq!((next.revision, next.updated_at, next.created_at), (revision, later, desk.bench.now), "{by:?}");
    }
    assert!(decided_by(&Principal::Machine, 1).is_none(), "nothing differs");
    let create = InvoiceCommand::Create(Box::new(draft(vec![line(1, 500, 0)])));
    let cx = DecisionContext { by: &Principal::Machine, ..desk.bench.cx() };
    assert_eq!(create.decide(None, id(INVOICE), &cx).unwrap().next.unwrap().revision, 1);
    assert_eq!(InvoiceCommand::Send.decide(None, id(3), &cx).unwrap_err().code, "invoice_not_found");
    assert_eq!(refused(desk.ask(&create)), "exists");
}

#[test]
fn the_payment_page_names_the_invoice_and_its_customer() {
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    desk.pay(Some(400)).unwrap();
    let invoice = desk.i();
    assert_eq!((invoice.title(), invoice.payer().map(String::as_str)), ("Invoice".to_owned(), Some("ann@example.org")));
    assert_eq!(invoice.metadata(), [("invoiceId".to_owned(), id(INVOICE).to_string())]);
    assert_eq!((invoice.ledger().payments.len(), invoice.ledger().kept_cents), (1, 400));
    assert!(invoice.shown_to("ann@example.org") && !invoice.shown_to("bob@example.org"));
    let draft = Desk::with(draft(vec![line(1, 1000, 0)]));
    assert!(!draft.i().shown_to("ann@example.org"), "it is not issued");
    assert_eq!((draft.i().issued(), invoice.issued().map(|one| one.kind)), (None, Some(DocumentKind::Invoice)));
}

#[test]
fn a_document_is_numbered_in_the_series_of_its_kind_and_year() {
    let invoice = document(&[(100, 1, 0)], 0, 0);
    assert_eq!((invoice.series(), invoice.number_text()), ("INV-2023".to_owned(), "INV-2023-000012".to_owned()));
    let note = IssuedDocument { kind: DocumentKind::CreditNote, rounding_cents: 3, ..invoice };
    assert_eq!((note.number_text(), note.payable_cents()), ("CN-2023-000012".to_owned(), 103));
    assert_eq!(series_of(DocumentKind::CreditNote, "2030"), "CN-2030");
}

#[test]
fn the_sums_of_an_invoice_by_hand() {
    let lines = [line(1, 1000, 1900), line(2, 500, 700)];
    let category = |rate_bps, shipping_cents, net_cents, tax_cents| Category {
        rate_bps,
        lines_cents: 1000,
        shipping_cents,
        discount_cents: 100,
        net_cents,
        tax_cents,
    };
    let sums = Sums {
        subtotal_cents: 2000,
        shipping_cents: 300,
        discount_cents: 200,
        tax_cents: 291,
        total_cents: 2391,
        categories: vec![category(700, 0, 900, 63), category(1900, 300, 1200, 228)],
        rounding_cents: 0,
    };
    assert_eq!(Sums::of(&lines, (300, 1900), 200).as_ref(), Some(&sums));
    assert_eq!(Sums::of(&lines, (0, 500), 0).unwrap().categories.len(), 2, "what is not shipped has no rate");
    assert_eq!(Sums::of(&lines, (1, 500), 0).unwrap().categories.len(), 3);
    assert_eq!(Sums::of(&lines, (0, 0), 2000).map(|sums| sums.total_cents), Some(0));
    assert_eq!((Sums::of(&lines, (0, 0), 2001), Sums::of(&lines, (0, 0), -1)), (None, None));
    assert_eq!(Sums::of(&[line(2, i64::MAX, 0)], (0, 0), 0), None);
    let rounded = Sums { rounding_cents: 3, ..sums.clone() };
    assert_eq!((sums.payable_cents(), rounded.payable_cents()), (2391, 2394));
    let stored = |sums: &Sums| serde_json::to_value(sums).unwrap().get("roundingCents").cloned();
    assert_eq!((stored(&sums), stored(&rounded)), (None, Some(3.into())));
    let spreads =
        [(100, vec![1, 1, 1], vec![34, 33, 33]), (100, vec![1, 2], vec![33, 67]), (5, vec![0, 0], vec![5, 0])];
    for (amount, shares, parts) in spreads {
        assert_eq!(spread(amount, &shares), parts);
    }
    assert_eq!(spread(5, &[]), [0; 0]);
}

#[test]
fn a_draft_is_within_its_limits() {
    let of = |line: InvoiceLine| draft(vec![line]);
    let cases = [
        (draft(vec![line(1, 1, 0); 300]), vec![]),
        (draft(vec![line(1, 1, 0); 301]), vec!["lineItems"]),
        (of(line(1, MAX_CENTS, 10_000)), vec![]),
        (of(line(1, MAX_CENTS + 1, -1)), vec!["lineItems.0.unitPriceCents", "lineItems.0.taxRateBps"]),
        (
            DraftInvoice { shipping_cents: -1, discount_cents: -1, ..of(line(1, 1, 0)) },
            vec!["shippingCents", "discountCents"],
        ),
        (DraftInvoice { discount_cents: 1, ..of(line(1, 1, 0)) }, vec![]),
        (DraftInvoice { discount_cents: 2, ..of(line(1, 1, 0)) }, vec!["discountCents"]),
        (of(line(u32::MAX, MAX_CENTS, 0)), vec!["lineItems"]),
    ];
    for (new, expected) in cases {
        let name = format!("{:?}", (new.lines.len(), new.lines.first(), new.shipping_cents, new.discount_cents));
        let mut desk = Desk { bench: Bench::new(), invoice: None, issued: Vec::new() };
        let paths: Vec<String> = match desk.ask(&InvoiceCommand::Create(Box::new(new))) {
            Ok(_) => Vec::new(),
            Err(refusal) => refusal.faults.into_iter().map(|fault| fault.path).collect(),
        };
        assert_eq!(paths, expected, "{name}");
    }
}

#[test]
fn what_costs_nothing_is_paid_as_it_is_issued_and_nobody_is_mailed() {
    let mut desk = Desk::with(DraftInvoice { discount_cents: 1000, ..draft(vec![line(1, 1000, 1900)]) });
    let sent = desk.ask(&InvoiceCommand::Send).unwrap();
    assert_eq!((desk.i().status, desk.i().paid_at), (InvoiceStatus::Paid, Some(desk.bench.now)));
    assert!(sent.events.iter().map(|event| event.event.as_str()).eq(["invoice.issued", "invoice.paid"]));
    assert!(sent.created.is_empty());
    assert_eq!(desk.kinds(), [(DocumentKind::Invoice, 0)]);
}

#[test]
fn the_customer_is_mailed_what_is_to_be_paid_and_that_it_was_paid() {
    let new = || DraftInvoice { shipping_cents: 500, discount_cents: 2000, ..draft(vec![line(2, 6000, 1900)]) };
    let mut desk = Desk::with(new());
    let sent = desk.ask(&InvoiceCommand::Send).unwrap();
    let [to_pay] = &sent.created[..] else { panic!("{:?}", sent.created) };
    assert_eq!((&to_pay.to[..], to_pay.subject.as_str()), (&["ann@example.org".to_owned()][..], "Your invoice"));
    let written = text(to_pay);
    let sums = ["Discount: -$20.00", "Shipping: $5.00", "Tax: $19.00", "Total: $124.00"];
    for words in ["2 x Design, one hour: $120.00", "Amount due: $124.00"].iter().chain(&sums) {
        assert!(written.contains(words), "{words} in {written}");
    }
    assert!(!written.contains("Paid:"), "{written}");
    assert!(desk.pay(Some(400)).unwrap().created.is_empty(), "a part of it");
    let paid = desk.pay(None).unwrap();
    let [receipt] = &paid.created[..] else { panic!("{:?}", paid.created) };
    assert_eq!(receipt.subject, "Receipt for your payment");
    let written = text(receipt);
    for words in sums.iter().chain(&["Paid: $124.00"]) {
        assert!(written.contains(words), "{words} in {written}");
    }
    assert!(desk.refund(None).unwrap().created.is_empty());

    let mut plain = Desk::with(draft(vec![line(1, 1000, 0)]));
    let written = text(&plain.ask(&InvoiceCommand::Send).unwrap().created[0]);
    let left_out = ["Discount:", "Shipping:", "Tax:"];
    assert!(!left_out.iter().any(|label| written.contains(label)), "{written}");
    for (notices, receipts, email) in [(false, false, true), (true, true, false)] {
        let customer_email = email.then(|| "ann@example.org".to_owned());
        let mut desk = Desk::with(DraftInvoice { customer_email, ..new() });
        (desk.bench.rules.invoice_notices, desk.bench.rules.receipts) = (notices, receipts);
        assert!(desk.ask(&InvoiceCommand::Send).unwrap().created.is_empty());
        assert!(desk.pay(None).unwrap().created.is_empty());
    }
}

#[test]
fn an_invoice_has_at_most_two_hundred_payments_by_hand() {
    let filled = |count: usize| {
        let mut desk = Desk::sent(vec![line(1, 100_000, 0)]);
        desk.pay(Some(1)).unwrap();
        let ledger = &mut desk.invoice.as_mut().unwrap().ledger;
        ledger.payments = vec![ledger.payments[0].clone(); count];
        desk
    };
    filled(199).pay(Some(1)).unwrap();
    assert_eq!(refused(filled(200).pay(Some(1))), "too_many_payments");
    assert_eq!(refused(filled(200).refund(None)), "too_many_payments");
    let otherwise = InvoiceCommand::RefundOtherwise { payment: None, amount_cents: None, method: "cash".to_owned() };
    assert_eq!(refused(filled(200).ask(&otherwise)), "too_many_payments");
}

#[test]
fn a_refund_that_names_no_payment_is_of_the_newest_with_something_left() {
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    desk.pay(Some(400)).unwrap();
    desk.pay(Some(600)).unwrap();
    let [first, second] = [0, 1].map(|n| desk.i().ledger.payments[n].id);
    for amount in [500, 100, 400] {
        desk.refund(Some(amount)).unwrap();
    }
    let refunds: Vec<_> = desk.i().ledger.payments[2..].iter().map(|one| (one.refund_of, one.amount_cents)).collect();
    assert_eq!(refunds, [(Some(second), -500), (Some(second), -100), (Some(first), -400)]);
}

#[test]
fn the_money_of_an_orders_invoice_is_recorded_on_the_order() {
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    let (title, success_url, cancel_url) = ("It".to_owned(), "/a".to_owned(), "/b".to_owned());
    let check_out = InvoiceCommand::Ledger(LedgerCommand::CheckOut { title, success_url, cancel_url });
    desk.ask(&check_out).unwrap();
    assert!(!desk.i().at_rest() && desk.i().effects().len() == 1, "a session is to be made");
    desk.invoice.as_mut().unwrap().order_id = Some(id(9));
    assert!(desk.i().at_rest() && desk.i().effects().is_empty());
    assert_eq!(refused(desk.ask(&check_out)), "belongs_to_order");
    assert_eq!(refused(desk.pay(None)), "belongs_to_order");
    assert_eq!(refused(desk.refund(None)), "belongs_to_order");
}

#[test]
fn a_payment_too_many_is_flagged_once_until_it_went_back() {
    let paid = |intent: &str| {
        let (session, intent) = (Some(format!("session-of-{intent}")), Some(intent.to_owned()));
        let update = PaymentUpdate::Paid { amount_cents: Some(1000), currency: None, session, intent };
        InvoiceCommand::Ledger(LedgerCommand::Payment(update))
    };
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    desk.ask(&paid("pi_1")).unwrap();
    let surplus = desk.ask(&paid("pi_2")).unwrap();
    assert_eq!((desk.i().status, &desk.i().flags[..]), (InvoiceStatus::Paid, &["refund_due".to_owned()][..]));
    let flagged = surplus.events.iter().find(|event| event.event == "invoice.flagged").unwrap();
    assert_eq!(flagged.data["flag"], "refund_due");
    assert!(surplus.created.iter().any(|mail| mail.alert.is_some()), "{:?}", surplus.created);
    let more = desk.ask(&paid("pi_3")).unwrap();
    assert!(!more.events.iter().any(|event| event.event == "invoice.flagged") && more.created.is_empty(), "once");
    for intent in ["pi_2", "pi_3"] {
        let (currency, intent) = (None, Some(intent.to_owned()));
        let back = PaymentUpdate::Refunded { amount_cents: 1000, whole: true, currency, intent };
        desk.ask(&InvoiceCommand::Ledger(LedgerCommand::Payment(back))).unwrap();
    }
    assert_eq!((desk.i().status, desk.i().flags.len()), (InvoiceStatus::Paid, 0));
}

#[test]
fn of_the_orders_money_the_latest_state_counts() {
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    let now = desk.bench.now;
    let follow = |version, kept_cents, paid_at: Option<Timestamp>| {
        let (refunded, cancelled, payments) = (false, false, Vec::new());
        let received_cents = kept_cents;
        let money = OrderPaymentSummary { version, kept_cents, received_cents, paid_at, refunded, cancelled, payments };
        InvoiceCommand::Follow(Box::new(money))
    };
    desk.ask(&follow(5, 400, None)).unwrap();
    assert_eq!((desk.i().status, desk.i().followed), (InvoiceStatus::PartiallyPaid, 5));
    assert!(desk.ask(&follow(4, 0, None)).unwrap().next.is_none(), "it was read earlier");
    desk.ask(&follow(5, 1000, Some(now))).unwrap();
    assert_eq!((desk.i().status, desk.i().paid_at), (InvoiceStatus::Paid, Some(now)));
    desk.ask(&follow(6, 700, Some(now))).unwrap();
    assert_eq!((desk.i().status, desk.i().credited_cents()), (InvoiceStatus::Paid, 300), "what went back is credited");
}
