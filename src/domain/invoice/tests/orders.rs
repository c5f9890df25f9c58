//! Tests of an order's invoice: created with the first payment, and in line with the order's payments whatever happens.

use proptest::prelude::*;

use super::super::*;
use crate::aggregate::{Aggregate as _, Command};
use crate::order::{Order, OrderCommand, OrderCreated, OrderEffect, OrderNews, OrderStatus, PaymentUpdate};
use crate::testing::{Bench, complete_seller, id};

/// Order with its invoice, managed by the test the way the server would.
struct Shop {
    bench: Bench,
    order: Option<Order>,
    invoices: Vec<Option<Invoice>>,
    issued: Vec<IssuedDocument>,
    /// Number of invoices that the last command created.
    new_invoices: usize,
}

fn news(news: PaymentUpdate) -> OrderCommand {
    OrderCommand::Ledger(LedgerCommand::Payment(news))
}

fn paid(amount: i64, intent: &str) -> OrderCommand {
    let (session, intent) = (Some(format!("cs_{intent}")), Some(intent.to_owned()));
    news(PaymentUpdate::Paid { amount_cents: Some(amount), currency: None, session, intent })
}

fn refunded(amount: i64, whole: bool, intent: &str) -> OrderCommand {
    news(PaymentUpdate::Refunded { amount_cents: amount, whole, currency: None, intent: Some(intent.to_owned()) })
}

impl Shop {
    /// Creates an order for 1190: one line of 1000 at 19 %.
    fn new() -> Self {
        let mut bench = Bench::new();
        let everywhere = crate::rules::TaxRate { country: "DE".to_owned(), region: None, bps: 1900 };
        bench.rules.tax_rates = vec![everywhere];
        let mut shop = Self { bench, order: None, invoices: Vec::new(), issued: Vec::new(), new_invoices: 0 };
        let new = crate::testing::orders::order_to("DE", 1000);
        shop.ask(&OrderCommand::Create(Box::new(new)));
        shop
    }

    fn ask<C: Command<Order>>(&mut self, command: &C) {
        self.new_invoices = 0;
        let Ok(decision) = self.bench.tell(&mut self.order, id(1), command) else { return };
        for created in decision.created {
            if let OrderCreated::Invoice(new) = created {
                self.new_invoices += 1;
                self.issued.extend(super::issued_by(&new.rows));
                self.invoices.push(Some(new.invoice));
            }
        }
    }

    /// Executes the effect that updates the invoice, as often as the order's state requires.
    fn settle(&mut self) {
        for _ in 0..10 {
            let effects = self.o().effects();
            let pending = effects.into_iter().find_map(|effect| match effect {
                OrderEffect::TellInvoice { invoice, money } => Some((invoice, money)),
                _ => None,
            });
            let Some((invoice, money)) = pending else { return };
            let follow = InvoiceCommand::Follow(Box::new(self.o().money_at(1)));
            let mut void = false;
            // Told twice, as after a crash: the second time nothing happens.
            for again in [false, true] {
                let slot = self.invoices.iter_mut().find(|one| one.as_ref().unwrap().id == invoice).unwrap();
                let decision = self.bench.tell(slot, invoice, &follow).unwrap();
                assert!(!again || decision.rows.is_empty() && decision.next.is_none(), "{decision:?}");
                self.issued.extend(super::issued_by(&decision.rows));
                void = decision.answer.invoice.status == InvoiceStatus::Void;
            }
            self.ask(&OrderNews::InvoiceTold { invoice, money, void });
        }
        panic!("the invoice is told for ever");
    }

    fn o(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    fn i(&self) -> &Invoice {
        self.invoices.last().unwrap().as_ref().unwrap()
    }
    fn notes(&self) -> Vec<i64> {
        let notes = self.issued.iter().filter(|one| one.kind == DocumentKind::CreditNote);
        notes.map(IssuedDocument::payable_cents).collect()
    }

    /// Checks the invariants of an order and its invoice after all updates.
    fn holds(&self) {
        let order = self.o();
        let valid: Vec<&Invoice> =
            self.invoices.iter().flatten().filter(|one| one.status != InvoiceStatus::Void).collect();
        assert!(valid.len() <= 1, "an order has at most one invoice that is not void");
        for invoice in self.invoices.iter().flatten() {
            let (total, credited) = (invoice.content.sums.total_cents, invoice.credited_cents());
            assert_eq!(total, order.total_cents, "the invoice is over what the order is over");
            assert!((0..=total).contains(&credited), "{invoice:?}");
            assert_eq!(invoice.status == InvoiceStatus::Void, invoice.paid_at.is_none() && credited == total);
        }
        let Some(invoice) = valid.first() else { return };
        assert_eq!((invoice.ledger.kept_cents, invoice.paid_at), (order.ledger.kept_cents, order.paid_at));
        assert_eq!(invoice.ledger.payments.len(), order.ledger.payments.len());
        assert_eq!(invoice.status == InvoiceStatus::Refunded, order.status == OrderStatus::Refunded);
        if invoice.paid_at.is_some() {
            let covered = order.ledger.kept_cents.clamp(0, order.total_cents);
            assert!(invoice.credited_cents() >= order.total_cents - covered, "what is not covered is credited");
        } else {
            assert_eq!(invoice.credited_cents(), 0, "nothing is credited before it was paid");
        }
    }
}

#[test]
fn the_invoice_is_made_in_the_commit_of_the_first_payment() {
    let mut shop = Shop::new();
    shop.ask(&paid(190, "pi_1"));
    assert_eq!((shop.new_invoices, shop.i().status), (1, InvoiceStatus::PartiallyPaid));
    assert_eq!(shop.issued[0].paid_cents, 190, "what was paid at its issue is said on it");
    shop.ask(&paid(1000, "pi_2"));
    assert_eq!(shop.new_invoices, 0, "there is one already");
    shop.settle();
    assert_eq!((shop.i().status, shop.i().due_cents()), (InvoiceStatus::Paid, 0));
    shop.ask(&refunded(190, true, "pi_1"));
    shop.settle();
    shop.ask(&refunded(1000, true, "pi_2"));
    shop.settle();
    assert_eq!((shop.i().status, shop.notes()), (InvoiceStatus::Refunded, vec![190, 1000]));
    shop.holds();
}

#[test]
fn a_surplus_that_goes_back_is_not_credited() {
    let mut shop = Shop::new();
    shop.ask(&paid(1190, "pi_1"));
    shop.ask(&paid(1190, "pi_2"));
    shop.settle();
    shop.ask(&refunded(1190, true, "pi_2"));
    shop.settle();
    assert_eq!((shop.i().status, shop.notes().len()), (InvoiceStatus::Paid, 0));
    shop.holds();
}

#[test]
fn an_order_cancelled_before_it_was_paid_voids_its_invoice() {
    let mut shop = Shop::new();
    shop.ask(&paid(190, "pi_1"));
    shop.ask(&refunded(190, true, "pi_1"));
    shop.ask(&OrderCommand::Cancel { force: false, prints: Default::default() });
    shop.settle();
    assert_eq!((shop.i().status, shop.notes()), (InvoiceStatus::Void, vec![1190]));
    shop.holds();
}

#[test]
fn money_after_the_invoice_was_voided_gets_another_one() {
    let mut shop = Shop::new();
    shop.ask(&paid(190, "pi_1"));
    shop.ask(&refunded(190, true, "pi_1"));
    shop.settle();
    let first = shop.i().id;
    shop.bench.tell(&mut shop.invoices[0], first, &InvoiceCommand::Void).unwrap();
    shop.ask(&paid(1190, "pi_2"));
    shop.settle();
    assert_eq!((shop.invoices.len(), shop.i().status), (2, InvoiceStatus::Paid));
    assert_ne!(shop.i().id, first);
    shop.holds();
}

#[test]
fn what_is_paid_before_it_leaves_is_not_invoiced_as_supplied() {
    let mut shop = Shop::new();
    shop.ask(&paid(1190, "pi_1"));
    shop.ask(&refunded(500, false, "pi_1"));
    shop.settle();
    assert_eq!(shop.issued.len(), 2, "the invoice and a credit note");
    for document in &shop.issued {
        assert_eq!((document.supplied_at, &document.ship_to), (None, &shop.o().shipping_address));
        assert!(document.ship_to.as_ref().is_some_and(|address| address.country == "DE"));
    }
    // Where nobody knows where it goes to, the day of the issue stands for both.
    let mut shop = Shop::new();
    shop.order.as_mut().unwrap().shipping_address = None;
    shop.ask(&paid(1190, "pi_1"));
    let document = &shop.issued[0];
    assert_eq!((document.supplied_at, &document.ship_to), (Some(document.issued_at), &None));
}

/// Removes the seller from the settings, as in a new shop.
fn without_seller(shop: &mut Shop) {
    shop.bench.rules.invoices.seller = Party::default();
}

#[test]
fn an_order_goes_on_and_its_invoice_waits_for_the_seller() {
    let mut shop = Shop::new();
    without_seller(&mut shop);
    shop.ask(&paid(1190, "pi_1"));
    let order = shop.o();
    assert_eq!((order.status, order.jobs.size()), (OrderStatus::Paid, 1), "it is made all the same");
    assert_eq!(
        (shop.new_invoices, order.invoice_waits, &order.flags[..]),
        (0, true, &["seller_incomplete".to_owned()][..])
    );
    assert!(order.effects().contains(&OrderEffect::IssueInvoice) && !order.at_rest());
    shop.ask(&OrderNews::IssueInvoice);
    assert!((shop.new_invoices, shop.o().invoice_waits) == (0, true), "the settings are as they were");
    // Tax is charged: a name and an address are not enough.
    shop.bench.rules.invoices.seller = Party { vat_id: None, ..complete_seller() };
    shop.ask(&OrderNews::IssueInvoice);
    assert_eq!(shop.new_invoices, 0);
    shop.bench.rules.invoices.seller = complete_seller();
    shop.ask(&OrderNews::IssueInvoice);
    assert_eq!((shop.new_invoices, shop.o().invoice_waits, shop.o().flags.len()), (1, false, 0));
    assert_eq!((shop.i().status, &shop.issued[0].seller), (InvoiceStatus::Paid, &complete_seller()));
    shop.ask(&OrderNews::IssueInvoice);
    assert_eq!(shop.new_invoices, 0, "once");
    shop.holds();
}

fn any_command() -> impl Strategy<Value = OrderCommand> {
    let intent = prop_oneof![Just("pi_1"), Just("pi_2"), Just("pi_3")];
    let amount = prop_oneof![Just(1190i64), Just(190), Just(1000), 1i64..1500];
    prop_oneof![
        4 => (amount.clone(), intent.clone()).prop_map(|(amount, intent)| paid(amount, intent)),
        4 => (amount.clone(), any::<bool>(), intent).prop_map(|(amount, whole, intent)| refunded(amount, whole, intent)),
        2 => prop::option::of(amount).prop_map(|amount_cents| OrderCommand::MarkPaid {
            amount_cents, method: "cash".to_owned(), reference: None,
        }),
        1 => Just(OrderCommand::Cancel { force: false, prints: Default::default() }),
    ]
}

#[test]
fn what_an_order_said_earlier_is_not_heard_later() {
    let mut shop = Shop::new();
    shop.ask(&paid(500, "pi_1"));
    let earlier = InvoiceCommand::Follow(Box::new(shop.o().money_at(5)));
    shop.ask(&paid(690, "pi_2"));
    let later = InvoiceCommand::Follow(Box::new(shop.o().money_at(6)));
    let (bench, invoice) = (Bench::new(), shop.invoices[0].as_mut().unwrap().id);
    let slot = &mut shop.invoices[0];
    bench.tell(slot, invoice, &later).unwrap();
    let late = bench.tell(slot, invoice, &earlier).unwrap();
    assert!(late.next.is_none() && late.rows.is_empty(), "no credit note over money that never went back");
    let invoice_after = slot.as_ref().unwrap();
    assert_eq!(
        (invoice_after.status, invoice_after.ledger.kept_cents, invoice_after.documents.len()),
        (InvoiceStatus::Paid, 1190, 1)
    );
}

crate::drawn_cases! {
    300 of 2_000;
    #[test]
    fn an_invoice_that_waited_is_what_the_money_says_when_it_is_issued(
        commands in prop::collection::vec(any_command(), 1..10)
    ) {
        let (mut shop, mut other) = (Shop::new(), Shop::new());
        without_seller(&mut shop);
        for command in &commands {
            shop.ask(command);
            other.ask(command);
            prop_assert!(shop.new_invoices == 0 && shop.o().status == other.o().status, "nothing else waits");
        }
        prop_assert_eq!(shop.o().invoice_waits, other.o().invoice.is_some());
        shop.bench.rules.invoices.seller = complete_seller();
        shop.ask(&OrderNews::IssueInvoice);
        for one in [&mut shop, &mut other] {
            one.settle();
            one.holds();
        }
        prop_assert_eq!(shop.invoices.len(), usize::from(other.o().invoice.is_some()));
        if let (Some(Some(late)), Some(Some(early))) = (shop.invoices.last(), other.invoices.last()) {
            prop_assert_eq!(late.status, early.status);
            prop_assert_eq!(late.ledger.kept_cents, early.ledger.kept_cents);
            // Of what was paid twice, a refund that was heard of between the payments is credited by then, for good.
            let received: i64 = early.ledger.payments.iter().map(|one| one.amount_cents.max(0)).sum();
            let (of_late, of_early) = (late.credited_cents(), early.credited_cents());
            let agree = if received > 1190 { of_late <= of_early } else { of_late == of_early };
            prop_assert!(agree, "{of_late} and {of_early} are credited");
        }
    }

    #[test]
    fn whatever_happens_to_its_money_the_invoice_follows(
        commands in prop::collection::vec((any_command(), any::<bool>()), 1..14)
    ) {
        let mut shop = Shop::new();
        for (command, settles) in commands {
            shop.ask(&command);
            prop_assert!(shop.new_invoices <= 1);
            if settles {
                shop.settle();
                shop.holds();
            }
        }
        shop.settle();
        shop.holds();
    }
}
