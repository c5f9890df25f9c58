//! Tests of invoices: the state machine, payments, credit notes, and the sums of random documents.
#![expect(clippy::unwrap_used, reason = "tests")]

mod ledgers;
mod links;
mod orders;
mod permutations;
mod random;
mod terms;

use super::*;
use crate::address::Address;
use crate::aggregate::{Command as _, Decision};
use crate::refusal::Refusal;
use crate::testing::invoices::{draft, issued_by, line};
use crate::testing::{Bench, id};
use crate::time::DAY_MS;

const INVOICE: u32 = 1;

struct Desk {
    bench: Bench,
    invoice: Option<Invoice>,
    issued: Vec<IssuedDocument>,
}

impl Desk {
    fn with(draft: DraftInvoice) -> Self {
        let mut desk = Self { bench: Bench::new(), invoice: None, issued: Vec::new() };
        desk.ask(&InvoiceCommand::Create(Box::new(draft))).unwrap();
        desk
    }
    fn sent(lines: Vec<InvoiceLine>) -> Self {
        let mut desk = Self::with(draft(lines));
        desk.ask(&InvoiceCommand::Send).unwrap();
        desk
    }
    fn ask(&mut self, command: &InvoiceCommand) -> Result<Decision<Invoice, InvoiceAnswer>, Refusal> {
        let decision = self.bench.tell(&mut self.invoice, id(INVOICE), command)?;
        self.issued.extend(issued_by(&decision.rows));
        Ok(decision)
    }
    fn pay(&mut self, amount_cents: Option<i64>) -> Result<Decision<Invoice, InvoiceAnswer>, Refusal> {
        self.ask(&InvoiceCommand::MarkPaid { amount_cents, method: "cash".to_owned(), reference: None })
    }
    fn refund(&mut self, amount_cents: Option<i64>) -> Result<Decision<Invoice, InvoiceAnswer>, Refusal> {
        self.ask(&InvoiceCommand::Refund { payment: None, amount_cents, at_processor: true })
    }
    fn i(&self) -> &Invoice {
        self.invoice.as_ref().unwrap()
    }
    fn kinds(&self) -> Vec<(DocumentKind, i64)> {
        self.issued.iter().map(|one| (one.kind, one.payable_cents())).collect()
    }
}

fn refused(result: Result<Decision<Invoice, InvoiceAnswer>, Refusal>) -> String {
    result.unwrap_err().code
}

#[test]
fn a_draft_is_edited_sent_paid_and_never_changed_again() {
    let mut desk = Desk::with(draft(vec![line(2, 6000, 1900)]));
    assert_eq!((desk.i().status, desk.i().customer_email.as_deref()), (InvoiceStatus::Draft, Some("ann@example.org")));
    assert!(desk.i().documents.is_empty(), "a draft takes no number");
    let change = DraftInvoice { discount_cents: 2000, ..draft(vec![line(2, 6000, 1900)]) };
    desk.ask(&InvoiceCommand::Update { if_version: None, draft: Box::new(change.clone()) }).unwrap();
    assert_eq!(desk.i().content.sums.total_cents, 11_900);
    desk.ask(&InvoiceCommand::Send).unwrap();
    assert_eq!(desk.i().due_at, Some(desk.bench.now.plus_ms(14 * DAY_MS)));
    let update = InvoiceCommand::Update { if_version: None, draft: Box::new(change) };
    assert_eq!(refused(desk.ask(&update)), "invalid_transition");
    assert_eq!(refused(desk.ask(&InvoiceCommand::Send)), "invalid_transition");
    desk.pay(Some(1900)).unwrap();
    assert_eq!((desk.i().status, desk.i().due_cents()), (InvoiceStatus::PartiallyPaid, 10_000));
    assert_eq!(refused(desk.pay(Some(10_001))), "validation_failed");
    assert_eq!(refused(desk.ask(&InvoiceCommand::Void)), "invoice_has_payments");
    desk.pay(None).unwrap();
    assert_eq!((desk.i().status, desk.i().due_cents()), (InvoiceStatus::Paid, 0));
    assert_eq!(refused(desk.pay(Some(1))), "invalid_transition");
    assert_eq!(desk.kinds(), [(DocumentKind::Invoice, 11_900)], "paying issues nothing");
}

#[test]
fn overdue_is_shown_by_date_while_money_is_due() {
    let mut desk = Desk::sent(vec![line(1, 1000, 0)]);
    let due = desk.i().due_at.unwrap();
    assert_eq!(desk.i().shown_status(due), InvoiceStatus::Open);
    assert_eq!(desk.i().shown_status(due.plus_ms(1)), InvoiceStatus::Overdue);
    desk.pay(Some(400)).unwrap();
    assert_eq!(desk.i().shown_status(due.plus_ms(1)), InvoiceStatus::Overdue);
    assert_eq!(desk.i().status, InvoiceStatus::PartiallyPaid, "it is never stored");
    desk.pay(None).unwrap();
    assert_eq!(desk.i().shown_status(due.plus_ms(1)), InvoiceStatus::Paid);
}

#[test]
fn voiding_takes_back_what_was_issued_and_gives_up_what_was_not() {
    let mut desk = Desk::with(draft(vec![line(1, 1000, 0)]));
    desk.ask(&InvoiceCommand::Void).unwrap();
    assert_eq!((desk.i().status, desk.kinds().len()), (InvoiceStatus::Void, 0));
    assert_eq!(refused(desk.ask(&InvoiceCommand::Send)), "invalid_transition");

    let mut desk = Desk::sent(vec![line(3, 999, 1900), line(1, 50, 700)]);
    let total = desk.i().content.sums.total_cents;
    desk.ask(&InvoiceCommand::Void).unwrap();
    assert_eq!(desk.kinds(), [(DocumentKind::Invoice, total), (DocumentKind::CreditNote, total)]);
    let [invoice, note] = &desk.issued[..] else { panic!("{:?}", desk.issued) };
    assert_eq!((note.preceding, &note.content.lines), (Some(invoice.id), &invoice.content.lines));
    assert_eq!((note.paid_cents, note.rounding_cents), (0, 0));
    assert_eq!(refused(desk.ask(&InvoiceCommand::Void)), "invalid_transition");
    assert_eq!(refused(desk.pay(None)), "invalid_transition");
}

#[test]
fn what_goes_back_once_it_was_paid_is_credited_to_the_cent() {
    let mut desk = Desk::sent(vec![line(1, 10_000, 1900), line(7, 333, 700), line(1, 5, 0)]);
    let total = desk.i().content.sums.total_cents;
    desk.pay(Some(500)).unwrap();
    desk.refund(Some(200)).unwrap();
    assert_eq!(desk.kinds().len(), 1, "a part payment that goes back while it is unpaid makes no credit note");
    desk.refund(None).unwrap();
    assert_eq!(desk.i().status, InvoiceStatus::Open);
    assert_eq!(refused(desk.refund(None)), "nothing_to_refund");
    desk.pay(None).unwrap();
    for amount in [1, 2, 3, 100, 777] {
        desk.refund(Some(amount)).unwrap();
        assert_eq!(desk.i().status, InvoiceStatus::Paid, "only a whole refund changes it");
        let note = desk.issued.last().unwrap();
        assert_eq!((note.kind, note.payable_cents(), note.paid_cents), (DocumentKind::CreditNote, amount, amount));
        assert!(note.rounding_cents.abs() <= 1, "{note:?}");
    }
    desk.refund(None).unwrap();
    assert_eq!((desk.i().status, desk.i().credited_cents()), (InvoiceStatus::Refunded, total));
    assert_eq!(refused(desk.pay(None)), "invalid_transition");
}

#[test]
fn a_draft_with_faults_is_refused_with_all_of_them() {
    let bench = Bench::new();
    let cases = [
        (draft(Vec::new()), "lineItems"),
        (draft(vec![line(0, 1, 0)]), "lineItems.0.quantity"),
        (draft(vec![line(1, -1, 0)]), "lineItems.0.unitPriceCents"),
        (draft(vec![line(1, 1, 10_001)]), "lineItems.0.taxRateBps"),
        (DraftInvoice { discount_cents: 2, ..draft(vec![line(1, 1, 0)]) }, "discountCents"),
    ];
    for (draft, path) in cases {
        let command = InvoiceCommand::Create(Box::new(draft));
        let refusal = command.decide(None, id(INVOICE), &bench.cx()).unwrap_err();
        assert!(refusal.faults.iter().any(|fault| fault.path == path), "{path}: {refusal:?}");
    }
}

#[test]
fn a_line_without_a_rate_has_that_of_the_billing_address() {
    let mut bench = Bench::new();
    bench.rules.tax_rates = vec![crate::rules::TaxRate { country: "DE".to_owned(), region: None, bps: 1900 }];
    let address = Address {
        line1: "Weg 1".to_owned(),
        line2: None,
        city: "Ulm".to_owned(),
        region: None,
        postal_code: "89073".to_owned(),
        country: "DE".to_owned(),
    };
    let buyer = Party { name: "Ann".to_owned(), address: Some(address), ..Party::default() };
    let lines = vec![(line(1, 1000, 0), false), (line(1, 1000, 0), true)];
    let new = DraftInvoice { buyer, lines, shipping_cents: 100, ..DraftInvoice::default() };
    let mut invoice = None::<Invoice>;
    bench.tell(&mut invoice, id(INVOICE), &InvoiceCommand::Create(Box::new(new))).unwrap();
    let invoice = invoice.unwrap();
    assert_eq!(invoice.content.sums.tax_cents, 209);
}
