//! Invoices of orders: whether they wait for the seller's details, their contents, and whether another one is needed.

use super::*;
use crate::invoice::Invoice;
use crate::printer_status::PrintEnd;
use crate::rules::TaxRate;
use crate::testing::complete_seller;

/// Returns the invoice that a commit creates.
fn new_invoice<A>(decision: &Decision<Order, A>) -> Option<Invoice> {
    decision.created.iter().find_map(|created| match created {
        OrderCreated::Invoice(new) => Some(new.invoice.clone()),
        OrderCreated::Mail(_) => None,
    })
}

#[test]
fn a_seller_needs_a_tax_number_only_where_tax_is_charged() {
    let seller = || Party { vat_id: None, ..complete_seller() };
    for (bps, waits) in [(0, false), (1900, true)] {
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps }];
        desk.bench.rules.invoices.seller = seller();
        desk.ask(&OrderCommand::Create(Box::new(order_to("DE", 1000)))).unwrap();
        let paid = desk.pay();
        assert_eq!((desk.o().invoice_waits, new_invoice(&paid).is_some()), (waits, !waits), "{bps}");
    }
    // In an order that was sold elsewhere, shipping alone may be taxed.
    for (shipping_tax_rate_bps, tax, waits) in [(0, 0, false), (1900, 76, true)] {
        let mut sold = super::channel_sale::sold();
        sold.sold.shipping_tax_rate_bps = shipping_tax_rate_bps;
        sold.total_cents += tax;
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.invoices.seller = seller();
        desk.ask(&OrderCommand::CreateSold(Box::new(sold))).unwrap();
        assert_eq!(desk.o().invoice_waits, waits, "{shipping_tax_rate_bps}");
    }
}

#[test]
fn an_invoice_that_waited_says_when_all_had_left_and_what_was_sold() {
    let kit = OrderLine { make: None, ..line(1, 900, true) };
    let part = OrderLine { kit_line: Some(0), per_set: Some(1), ..line(1, 0, true) };
    for ships in [false, true] {
        let mut desk = OrderDecider::with(new_order(vec![kit.clone(), part.clone()]));
        desk.bench.rules.invoices.seller = Party::default();
        desk.pay();
        super::parts::reserve(&mut desk);
        let job = desk.job().id;
        print(&mut desk, job, PrintEnd::Finished);
        let shipped_at = desk.bench.now.plus_ms(1000);
        desk.bench.now = shipped_at;
        if ships {
            desk.ask(&ship("pickup", "", "", false)).unwrap();
        }
        desk.bench.now = shipped_at.plus_ms(1000);
        let waiting = desk.ask(&OrderNews::IssueInvoice).unwrap();
        assert!(waiting.answer.is_wanted && waiting.next.is_none(), "the seller is still unknown");
        desk.bench.rules.invoices.seller = complete_seller();
        let issued = desk.ask(&OrderNews::IssueInvoice).unwrap();
        assert!(!issued.answer.is_wanted);
        let invoice = new_invoice(&issued).unwrap();
        assert_eq!(invoice.supplied_at, ships.then_some(shipped_at));
        let lines = invoice.content.lines.iter();
        let sold: Vec<_> =
            lines.map(|line| (line.description.as_str(), line.quantity, line.unit_price_cents)).collect();
        assert_eq!(sold, [("bracket", 1, 900)], "the kit has the price");
        let again = desk.ask(&OrderNews::IssueInvoice).unwrap();
        assert!(!again.answer.is_wanted && again.next.is_none(), "once");
    }
}

#[test]
fn only_money_that_is_kept_needs_another_invoice_once_the_first_is_void() {
    let table = [
        (OrderStatus::Paid, 1000, false, false),
        (OrderStatus::Paid, 1000, true, true),
        (OrderStatus::Paid, 0, true, false),
        (OrderStatus::Cancelled, 1000, true, false),
        (OrderStatus::Refunded, 1000, true, false),
    ];
    for (status, kept_cents, void, is_new) in table {
        let mut desk = OrderDecider::with(order_to("DE", 1000));
        desk.pay();
        let order = desk.order.as_mut().unwrap();
        (order.status, order.ledger.kept_cents) = (status, kept_cents);
        let invoice = order.invoice.unwrap().id;
        let money = InvoicedMoney { payments: 9, ..order.money_in_short() };
        let report = |invoice| OrderNews::InvoiceTold { invoice, money, void };
        assert!(desk.ask(&report(id(99))).unwrap().next.is_none(), "that of another order");
        let decision = desk.ask(&report(invoice)).unwrap();
        let now = desk.o().invoice.unwrap();
        assert_eq!(
            (now.id != invoice, new_invoice(&decision).is_some()),
            (is_new, is_new),
            "{status} {kept_cents} {void}"
        );
        assert_eq!(now.last_money == money, !is_new);
    }
}

#[test]
fn the_buyer_is_named_until_the_first_invoice() {
    let buyer = OrderCommand::NameBuyer(Box::new(Party { name: "Ann GmbH".to_owned(), ..Party::default() }));
    let part = OrderCommand::MarkPaid { amount_cents: Some(100), method: "cash".to_owned(), reference: None };
    for pays in [false, true] {
        let mut desk = OrderDecider::with(order_to("DE", 1000));
        if pays {
            desk.ask(&part).unwrap();
        }
        assert_eq!(desk.o().status, OrderStatus::Created, "it is not paid yet");
        assert_eq!(desk.ask(&buyer).unwrap().next.is_some(), !pays);
    }
    let mut cancelled = OrderDecider::with(order_to("DE", 1000));
    cancelled.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    assert!(cancelled.ask(&buyer).unwrap().next.is_none(), "nobody will pay for it");
}
