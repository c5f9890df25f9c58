//! Tests of a new order: its limits, its customer, the records it relies on, and when it is paid immediately.

use super::*;
use crate::aggregate::DecisionContext;
use crate::requirement::{Referenced, Requirement};
use crate::rules::TaxRate;

/// Returns the error paths of a new order, and asserts that the check in advance gives the same result as the creation.
fn faults(new: NewOrder) -> Vec<String> {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let judged = new.judge(&Principal::System, &desk.bench.rules, desk.bench.now);
    let created = desk.ask(&OrderCommand::Create(Box::new(new))).map(drop);
    assert_eq!(judged, created);
    created.map_or_else(|refusal| refusal.faults.into_iter().map(|fault| fault.path).collect(), |()| Vec::new())
}

#[test]
fn a_new_order_is_within_its_limits() {
    let now = Bench::new().now;
    let one = || new_order(vec![line(1, 100, true)]);
    let cases = [
        (one(), vec![]),
        (NewOrder { due_at: Some(now.plus_ms(1)), ..one() }, vec![]),
        (NewOrder { due_at: Some(now), ..one() }, vec!["dueAt"]),
        (new_order(Vec::new()), vec!["lines"]),
        (new_order(vec![line(1, 0, true), line(0, -1, true)]), vec!["lines.1.quantity", "lines.1.unitPriceCents"]),
        (NewOrder { priority: Some(9), ..one() }, vec![]),
        (NewOrder { priority: Some(10), ..one() }, vec!["priority"]),
        (new_order(vec![line(1, 0, true); MAX_LINES]), vec![]),
        (new_order(vec![line(1, 0, true); MAX_LINES + 1]), vec!["lines"]),
        (new_order(vec![line(400, 1, true), line(600, 1, true)]), vec![]),
        (new_order(vec![line(400, 1, true), line(601, 1, true)]), vec!["lines"]),
        (new_order(vec![line(1, i64::MAX, true)]), vec![]),
        (new_order(vec![line(2, i64::MAX, true)]), vec!["lines"]),
        (new_order(vec![line(1, i64::MAX, true), line(1, 1, true)]), vec!["lines"]),
    ];
    for (new, expected) in cases {
        let text =
            format!("{:?}", (new.due_at, new.priority, new.lines.len(), new.lines.first().map(|one| one.quantity)));
        assert_eq!(faults(new), expected, "{text}");
    }
}

#[test]
fn a_customer_orders_for_themselves_only() {
    let own = "ann@example.com";
    let customer = Principal::Customer { id: id(70), email: own.to_owned() };
    let (name, customer_email) = ("shop".to_owned(), Some(own.to_owned()));
    let key = Principal::Key { id: id(77), name, role: Role::Customer, customer_email };
    let bench = Bench::new();
    for by in [&customer, &key] {
        for (requested, email) in
            [(None, Some(own)), (Some(" Ann@Example.com"), Some(own)), (Some("bob@example.com"), None)]
        {
            let new = NewOrder { customer_email: requested.map(str::to_owned), ..new_order(vec![line(1, 100, true)]) };
            assert_eq!(new.judge(by, &bench.rules, bench.now).is_ok(), email.is_some(), "{by:?} {requested:?}");
            let cx = DecisionContext { by, ..bench.cx() };
            match OrderCommand::Create(Box::new(new)).decide(None, id(ORDER_ID), &cx) {
                Ok(decision) => assert_eq!(decision.answer.order.customer_email.as_deref(), email, "{requested:?}"),
                Err(refusal) => assert_eq!((refusal.code.as_str(), email), ("forbidden", None), "{requested:?}"),
            }
        }
    }
    let nobody = NewOrder { customer_email: None, ..new_order(vec![line(1, 100, true)]) };
    assert_eq!(OrderDecider::with(nobody).o().customer_email, None);
}

#[test]
fn only_what_the_shop_makes_for_itself_for_nothing_is_paid_at_once() {
    use OrderStatus as S;
    let table = [
        (true, false, 0, S::Paid, 0),
        (true, true, 0, S::Draft, 0),
        (true, false, 100, S::Created, 0),
        (false, false, 0, S::Created, 0),
        (false, false, 100, S::Created, 700),
    ];
    for (own_use, draft, cents, status, shipping_cents) in table {
        let mut desk = OrderDecider { bench: Bench::new(), order: None };
        desk.bench.rules.shipping_flat_cents = shipping_cents;
        let new = NewOrder { draft, own_use, ..new_order(vec![line(1, cents, true)]) };
        let created = desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        assert_eq!((desk.o().status, desk.o().shipping_cents), (status, shipping_cents), "{own_use} {draft} {cents}");
        assert_eq!(names(&created)[0], if draft { "order.draft" } else { "order.created" });
    }
}

#[test]
fn an_order_is_confirmed_once_or_when_it_costs_nothing() {
    let confirmed = |draft: bool, cents: i64| {
        let mut desk = OrderDecider::with(NewOrder { draft, ..new_order(vec![line(1, cents, true)]) });
        let confirmed = desk.ask(&OrderCommand::Confirm);
        confirmed.map_or_else(|refusal| refusal.code, |_| desk.o().status.to_string())
    };
    assert_eq!(confirmed(true, 100), "created");
    assert_eq!(confirmed(true, 0), "paid");
    assert_eq!(confirmed(false, 0), "paid", "placed by a person");
    assert_eq!(confirmed(false, 100), "invalid_transition");
}

#[test]
fn what_was_agreed_on_replaces_the_rates_of_the_shop() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.bench.rules.shipping_flat_cents = 700;
    desk.bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps: 1900 }];
    let agreed = AgreedTerms { tax_rate_bps: 700, shipping_cents: 300 };
    let new = Box::new(NewOrder { site: Some("parts".to_owned()), ..order_to("DE", 1000) });
    desk.ask(&OrderCommand::CreateAgreed { new, agreed }).unwrap();
    let order = desk.o();
    assert_eq!((order.subtotal_cents, order.shipping_cents, order.tax_cents), (1000, 300, 91));
    assert_eq!((order.total_cents, order.site.as_str(), order.priority), (1391, "parts", 5));
    assert_eq!(OrderDecider::with(order_to("DE", 1000)).o().site, "industries");
}

#[test]
fn an_address_has_the_code_of_its_region_or_none() {
    for (written, region) in [("California", Some("CA")), ("  ", None), ("", None)] {
        let mut new = order_to("US", 100);
        new.shipping_address.as_mut().unwrap().region = Some(written.to_owned());
        let order = OrderDecider::with(new).order.unwrap();
        assert_eq!(order.shipping_address.unwrap().region.as_deref(), region, "{written:?}");
    }
}

#[test]
fn a_new_order_relies_on_all_that_its_lines_are_made_of() {
    let kit = OrderLine { make: None, sku_id: id(12), ..line(1, 900, true) };
    let mut part = OrderLine { kit_line: Some(0), per_set: Some(1), ..line(1, 0, true) };
    part.make.as_mut().unwrap().further = vec![need(5, 1)];
    let service = OrderLine { make: None, sku_id: NO_SKU, ..line(1, 100, false) };
    let mut of_model = line(1, 100, false);
    let source = SliceSource { model_file_id: id(15), profile: "fine".to_owned(), copies: 1 };
    of_model.make.as_mut().unwrap().source = Some(source);
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let new = NewOrder { kind: OrderKind::Custom, ..new_order(vec![kit, part, service, of_model]) };
    let created = desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
    let named = |what, number: u32, n: u32| Requirement::not_deleted(what, id(number), format!("lines.{n}.skuId"));
    let expected = [
        named(Referenced::Sku, 12, 0),
        named(Referenced::Sku, 10, 0),
        named(Referenced::Material, MATERIAL_ID, 0),
        named(Referenced::Material, 5, 0),
        named(Referenced::File, 11, 0),
        named(Referenced::Sku, 10, 3),
        named(Referenced::Material, MATERIAL_ID, 3),
        named(Referenced::File, 15, 3),
    ];
    assert_eq!(created.requirements, expected);
}

#[test]
fn a_service_is_done_with_the_order_and_printed_by_nobody() {
    let service = OrderLine { make: None, sku_id: NO_SKU, ..line(3, 100, false) };
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true), service]));
    desk.pay();
    super::parts::reserve(&mut desk);
    assert_eq!((desk.o().jobs.size(), desk.o().parts()[1].good, desk.o().shipped_parts()), (1, 3, vec![0, 3]));
    assert!(desk.o().lines[1].is_service() && !desk.o().lines[1].is_kit() && !desk.o().lines[0].is_service());
    let job = desk.job().id;
    print(&mut desk, job, crate::printer_status::PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!((desk.o().status, desk.o().shipped_parts()), (OrderStatus::Shipped, vec![1, 3]));
    assert_eq!(desk.o().shipments[0].lines, [SentLine { line: 0, quantity: 1 }]);
}
