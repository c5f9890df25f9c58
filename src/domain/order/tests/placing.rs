//! Tests of order prices, the number of jobs, and the production data of jobs.

use proptest::prelude::*;

use super::*;
use crate::job::ClaimStatus;
use crate::party::Party;
use crate::refusal::Class;
use crate::rules::TaxRate;

#[test]
fn tax_is_half_up_once_for_each_rate_by_destination_and_exclusive() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.bench.rules.tax_rates = vec![
        TaxRate { country: "US".into(), region: Some("NY".into()), bps: 887 },
        TaxRate { country: "US".into(), region: None, bps: 500 },
    ];
    desk.bench.rules.shipping_flat_cents = 700;
    let mut new = new_order(vec![line(3, 333, true), line(1, 50, true)]);
    new.shipping_address = Some(Address {
        line1: "1 Main St".into(),
        line2: None,
        city: "Albany".into(),
        region: Some("ny".into()),
        postal_code: "12201".into(),
        country: "us".into(),
    });
    let decision = desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
    // (999 + 50 + 700) × 8.87 % = 155.14: shipping is taxed too, and nothing is rounded before the sum.
    let order = desk.o();
    assert_eq!(
        (order.subtotal_cents, order.tax_cents, order.shipping_cents, order.total_cents),
        (1049, 155, 700, 1904)
    );
    assert_eq!(order.customer_email.as_deref(), Some("ann@example.com"));
    assert_eq!(order.shipping_address.as_ref().unwrap().region.as_deref(), Some("NY"));
    assert_eq!(names(&decision), ["order.created"]);
    assert_eq!(decision.events[0].data["number"], format!("ORD-{:06}", order.number));
}

#[test]
fn a_region_is_taxed_however_it_is_written() {
    for (rated, written) in [("CA", "California"), ("California", "ca"), ("US-CA", " california "), ("CA", "US-CA")] {
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.tax_rates = vec![
            TaxRate { country: "US".into(), region: Some(rated.into()), bps: 725 },
            TaxRate { country: "US".into(), region: None, bps: 0 },
        ];
        let mut new = new_order(vec![line(1, 1000, true)]);
        new.shipping_address = Some(Address {
            line1: "1 Main St".into(),
            line2: None,
            city: "Fresno".into(),
            region: Some(written.into()),
            postal_code: "93701".into(),
            country: "US".into(),
        });
        desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        let region = desk.o().shipping_address.as_ref().unwrap().region.as_deref();
        assert_eq!((desk.o().tax_cents, region), (73, Some("CA")), "{rated} {written}");
    }
}

fn germany() -> Vec<TaxRate> {
    vec![TaxRate { country: "DE".into(), region: None, bps: 1900 }]
}

fn check_out(desk: &mut OrderDecider) -> Result<Decision<Order, OrderAnswer>, Refusal> {
    let (title, success_url, cancel_url) = ("It".to_owned(), "/a".to_owned(), "/b".to_owned());
    desk.ask(&OrderCommand::Ledger(LedgerCommand::CheckOut { title, success_url, cancel_url }))
}

#[test]
fn where_taxes_differ_an_order_is_not_paid_before_its_destination_is_known() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.bench.rules.tax_rates = germany();
    let new = NewOrder { draft: true, ..new_order(vec![line(1, 1000, true)]) };
    desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
    assert_eq!(code(check_out(&mut desk)), "address_required");
    // The shop is told where it goes: the draft is taxed as if it had been said at once.
    let to = order_to("DE", 1000).shipping_address;
    let update = OrderCommand::Update {
        if_version: None,
        notes: None,
        internal_notes: None,
        priority: None,
        due_at: None,
        shipping_address: Some(to),
    };
    desk.ask(&update).unwrap();
    assert_eq!((desk.o().tax_cents, desk.o().total_cents, desk.o().lines[0].tax_rate_bps), (190, 1190, 1900));
    check_out(&mut desk).unwrap();
    assert_eq!(desk.o().ledger.at_processor.checkout.as_ref().unwrap().amount_cents, 1190);
    // Without taxes, and for what was agreed on in a quote, nobody asks.
    check_out(&mut OrderDecider::with(new_order(vec![line(1, 1000, true)]))).unwrap();
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.bench.rules.tax_rates = germany();
    let new = Box::new(NewOrder { kind: OrderKind::Custom, ..new_order(vec![line(1, 1000, true)]) });
    let agreed = AgreedTerms { tax_rate_bps: 1900, shipping_cents: 0 };
    desk.ask(&OrderCommand::CreateAgreed { new, agreed }).unwrap();
    check_out(&mut desk).unwrap();
}

#[test]
fn what_was_placed_paid_in_part_or_confirmed_can_be_paid_wherever_it_goes() {
    let placed = |draft| {
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.tax_rates = germany();
        let new = NewOrder { draft, ..new_order(vec![line(1, 1000, true)]) };
        desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        desk
    };
    // Fetched at the shop: it has its price without an address.
    check_out(&mut placed(false)).unwrap();
    let mut desk = placed(true);
    desk.ask(&OrderCommand::Confirm).unwrap();
    check_out(&mut desk).unwrap();
    // Its invoice is issued with the first money, over that price.
    let mut desk = placed(true);
    let half = OrderCommand::MarkPaid { amount_cents: Some(400), method: "cash".into(), reference: None };
    desk.ask(&half).unwrap();
    assert!(desk.o().status == OrderStatus::Draft && desk.o().invoice.is_some());
    check_out(&mut desk).unwrap();
    assert_eq!(desk.o().ledger.at_processor.checkout.as_ref().unwrap().amount_cents, 600);
}

#[test]
fn the_invoice_names_the_buyer_as_the_profile_said_last() {
    let buyer = |name: &str| Party { name: name.into(), vat_id: Some("DE1".into()), ..Party::default() };
    let mut desk = OrderDecider::with(NewOrder { buyer: Some(buyer("Ann")), ..order_to("DE", 1000) });
    desk.ask(&OrderCommand::NameBuyer(Box::new(buyer("Ann GmbH")))).unwrap();
    assert!(desk.ask(&OrderCommand::NameBuyer(Box::new(buyer("Ann GmbH")))).unwrap().next.is_none());
    let decision = desk.pay();
    let invoice = decision.created.iter().find_map(|one| match one {
        OrderCreated::Invoice(new) => Some(&new.invoice),
        OrderCreated::Mail(_) => None,
    });
    let named = &invoice.unwrap().content.buyer;
    assert_eq!((&*named.name, named.vat_id.as_deref()), ("Ann GmbH", Some("DE1")));
    assert_eq!(named.address, desk.o().shipping_address, "no other address is known");
    // What was issued stays.
    assert!(desk.ask(&OrderCommand::NameBuyer(Box::new(buyer("Bob")))).unwrap().next.is_none());
}

#[test]
fn nothing_is_due_in_the_past() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let (past, ahead) = (Some(desk.bench.now.plus_ms(-1)), Some(desk.bench.now.plus_ms(1)));
    let order = |due_at| OrderCommand::Create(Box::new(NewOrder { due_at, ..new_order(vec![line(1, 1, true)]) }));
    assert_eq!(desk.ask(&order(past)).unwrap_err().faults[0].path, "dueAt");
    desk.ask(&order(ahead)).unwrap();
    desk.pay();
    let update = |due_at| OrderCommand::Update {
        if_version: None,
        notes: None,
        internal_notes: None,
        priority: None,
        due_at: Some(due_at),
        shipping_address: None,
    };
    let job = desk.job().id;
    let of_job = |due_at| JobCommand::Update { job, if_version: None, priority: None, due_at: Some(due_at) };
    assert_eq!(desk.ask(&update(past)).unwrap_err().faults[0].path, "dueAt");
    assert_eq!(desk.ask(&of_job(past)).unwrap_err().faults[0].path, "dueAt");
    // What is overdue by now may be said again, and cleared.
    desk.bench.now = desk.bench.now.plus_ms(10);
    desk.ask(&update(ahead)).unwrap();
    desk.ask(&of_job(ahead)).unwrap();
    desk.ask(&of_job(None)).unwrap();
}

proptest! {
    #[test]
    fn tax_is_within_half_a_cent(net in 0i64..10_000_000, bps in 0i64..10_000) {
        let tax = crate::tax::tax_of(net, bps).unwrap();
        let exact = i128::from(net) * i128::from(bps);
        let off = i128::from(tax) * 10_000 - exact;
        prop_assert!(off > -5_000 && off <= 5_000);
    }
}

#[test]
fn quantity_becomes_full_plates_and_at_most_so_many_jobs() {
    let mut big = line(7, 100, true);
    big.make.as_mut().unwrap().units_per_plate = 3;
    let mut other = line(1, 100, false);
    other.sku_id = id(12);
    let mut desk = OrderDecider::with(new_order(vec![big.clone(), other]));
    let decision = desk.pay();
    assert_eq!(desk.o().jobs.size(), 4);
    assert_eq!(names(&decision), ["order.paid", "job.created"]);
    let states = |state| desk.o().jobs.values().filter(|job| job.state == state).count();
    assert_eq!((states(JobState::Validated), states(JobState::Created)), (3, 1));
    big.quantity = 3001;
    let refused =
        OrderDecider { bench: Bench::new(), order: None }.ask(&OrderCommand::Create(Box::new(new_order(vec![big]))));
    assert_eq!(refused.unwrap_err().class, Class::Invalid);
}

#[test]
fn a_job_without_a_file_goes_on_when_its_sku_gets_one_and_keeps_it() {
    let mut desk = OrderDecider::with(new_order(vec![line(2, 100, false)]));
    desk.pay();
    assert!(desk.job().block_reason.as_ref().unwrap().contains("neither a G-code file"));
    assert_eq!(desk.o().effects(), [OrderEffect::Prepare { sku: id(10) }]);
    let mut make = desk.o().lines[0].make.clone().unwrap();
    let prepared = |make: &ProductionData| OrderNews::Prepared { sku: id(10), make: Box::new(make.clone()) };
    assert!(desk.ask(&prepared(&make)).unwrap().next.is_none(), "still no file");
    // The SKU gets a file, and with it another material and need; the number of jobs stays.
    make = ProductionData {
        file_id: Some(id(21)),
        need: Amount::units(7),
        material_id: id(22),
        units_per_plate: 9,
        ..make
    };
    assert_eq!(names(&desk.ask(&prepared(&make)).unwrap()), ["job.validated", "job.validated"]);
    let job = desk.job();
    assert_eq!(
        (job.file_id, job.need, job.material_id, job.stock),
        (Some(id(21)), Amount::units(7), id(22), ClaimStatus::Asked)
    );
    assert!(matches!(&desk.o().effects()[..], [OrderEffect::Claim { asks, .. }] if asks.len() == 2));
    // Later changes of the SKU are of no concern.
    make.file_id = Some(id(23));
    assert!(desk.ask(&prepared(&make)).unwrap().next.is_none());
}

#[test]
fn a_zero_total_is_paid_on_confirm() {
    let mut new = new_order(vec![line(1, 0, true)]);
    new.draft = true;
    let mut desk = OrderDecider::with(new);
    let decision = desk.ask(&OrderCommand::Confirm).unwrap();
    assert_eq!(names(&decision), ["order.created", "order.paid"]);
    let invoiced = decision.created.iter().any(|one| matches!(one, OrderCreated::Invoice(_)));
    assert!(!invoiced && desk.o().invoice.is_none(), "nothing was sold, nothing is invoiced");
    assert_eq!(code(desk.ask(&OrderCommand::Confirm)), "invalid_transition");
}

#[test]
fn what_the_shop_makes_for_itself_ships_nowhere_and_waits_for_no_money() {
    for (cents, status, shipping) in [(0, OrderStatus::Paid, 0), (100, OrderStatus::Created, 0)] {
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.shipping_flat_cents = 700;
        let new = NewOrder { own_use: true, kind: OrderKind::Manual, ..new_order(vec![line(1, cents, true)]) };
        let decision = desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        let order = desk.o();
        assert_eq!((order.status, order.shipping_cents, order.total_cents), (status, shipping, cents));
        assert_eq!(order.jobs.size(), usize::from(cents == 0));
        assert!(order.invoice.is_none());
        assert_eq!(names(&decision).contains(&"order.paid"), cents == 0);
    }
}
