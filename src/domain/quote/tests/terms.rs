//! Limits and exact outcomes of each act on a quote.

use super::*;
use crate::aggregate::{DecisionContext, NewAggregate as _};
use crate::bounds::{MAX_CENTS, MAX_QUANTITY};
use crate::mail::part::MailTopic;
use crate::principal::Principal;
use crate::requirement::{Referenced, Requirement};
use crate::testing::orders::order_to;

fn send() -> QuoteCommand {
    QuoteCommand::Send(Language::English)
}

fn decline(reason: &str) -> QuoteCommand {
    QuoteCommand::Decline { reason: Some(reason.to_owned()) }
}

/// Returns the error paths of a new draft with the given lines.
fn faults(lines: Vec<DraftLine>) -> Vec<String> {
    let mut desk = Desk { bench: Bench::new(), quote: None };
    match desk.ask(&QuoteCommand::Create(Box::new(draft(lines)))) {
        Ok(_) => Vec::new(),
        Err(refusal) => refusal.faults.into_iter().map(|fault| fault.path).collect(),
    }
}

#[test]
fn each_status_has_its_name() {
    use QuoteStatus as S;
    let names = [
        (S::Draft, "draft"),
        (S::Sent, "sent"),
        (S::Accepted, "accepted"),
        (S::Declined, "declined"),
        (S::Expired, "expired"),
    ];
    for (status, name) in names {
        assert_eq!(status.to_string(), name);
        assert_eq!(serde_json::to_value(status).unwrap(), name, "as it is stored");
    }
}

#[test]
fn a_quote_has_up_to_fifty_lines_each_within_its_limits() {
    assert_eq!(faults(vec![line(1, 1); 50]), [""; 0]);
    assert_eq!(faults(vec![line(1, 1); 51]), ["lines"]);
    assert_eq!(faults(vec![line(MAX_QUANTITY, MAX_CENTS), line(1, 0)]), [""; 0]);
    let beyond = vec![line(MAX_QUANTITY + 1, 1), line(1, MAX_CENTS + 1)];
    assert_eq!(faults(beyond), ["lines.0.quantity", "lines.1.unitPriceCents"]);
    let unpriced = DraftLine { unit_price_cents: None, ..line(1, 1) };
    assert_eq!(faults(vec![unpriced]), ["lines.0.unitPriceCents"]);
    let service = DraftLine { sku_id: None, printed: false, ..line(1, 1) };
    assert_eq!(faults(vec![DraftLine { model: cube(1, None).model, ..service.clone() }]), ["lines.0.printed"]);
    assert_eq!(faults(vec![service]), [""; 0]);
    let mut huge = cube(MAX_QUANTITY, None);
    huge.model.as_mut().unwrap().material_cents_per_kg = Some(MAX_CENTS);
    assert_eq!(faults(vec![huge]), ["lines.0"], "it is too large to be priced");
    let mut desk = Desk::with(vec![line(1, 1)]);
    desk.bench.rules.shipping_flat_cents = i64::MAX;
    assert_eq!(paths(desk.change(QuotePatch::default())), ["lines"], "the total is too large");
}

#[test]
fn a_model_stays_measured_and_an_unknown_one_is_refused() {
    let unmeasured = |file: u32| {
        let mut line = cube(2, None);
        let model = line.model.as_mut().unwrap();
        (model.file_id, model.facts) = (id(file), None);
        QuotePatch { lines: Some(vec![line]), ..QuotePatch::default() }
    };
    let mut desk = Desk::with(vec![cube(1, None)]);
    let before = desk.q().lines[0].model.clone().unwrap();
    desk.change(unmeasured(FILE)).unwrap();
    let model = desk.q().lines[0].model.clone().unwrap();
    assert_eq!((model.size, model.volume_mm3), (before.size, 10_000));
    assert_eq!(paths(desk.change(unmeasured(FILE + 1))), ["lines.0.modelFileId"]);
}

#[test]
fn each_model_is_sliced_once_and_only_what_was_asked_for_is_taken() {
    let mut desk = Desk::with(vec![cube(1, Some("b")), cube(2, Some("a")), cube(3, Some("b")), cube(4, None)]);
    let source = |profile: &str| SliceSource { model_file_id: id(FILE), profile: profile.to_owned(), copies: 1 };
    assert_eq!(desk.q().effects(), [QuoteEffect::Slice(source("a")), QuoteEffect::Slice(source("b"))]);
    assert!(!desk.q().at_rest());
    let sliced = |profile: &str| {
        let news = SlicedModel { gcode_file_id: id(401), grams: Amount::units(1), seconds: 60 };
        QuoteCommand::Sliced { source: source(profile), news: QuoteSlicingOutcome::Done(news) }
    };
    assert!(desk.ask(&sliced("c")).unwrap().next.is_none());
    desk.ask(&sliced("b")).unwrap();
    let by_g_code = |line: &QuoteLine| line.model.as_ref().is_some_and(|model| model.sliced.is_some());
    assert!(desk.q().lines.iter().map(by_g_code).eq([true, false, true, false]));
    assert_eq!(desk.q().effects(), [QuoteEffect::Slice(source("a"))]);
    desk.quote.as_mut().unwrap().shipping_cents = i64::MAX;
    assert!(desk.ask(&sliced("a")).unwrap().next.is_none(), "its total could not be counted");
}

#[test]
fn a_model_is_sold_as_a_private_sku_with_the_work_of_one_part() {
    let mut desk = Desk::with(vec![line(1, 1000), DraftLine { description: "x".repeat(201), ..cube(3, None) }]);
    let sent = desk.ask(&send()).unwrap();
    let [QuoteCreation::Sku(sku), QuoteCreation::Mail(mail)] = &sent.created[..] else { panic!("{:?}", sent.created) };
    let created: Vec<_> = sent.created.iter().map(|created| (created.kind(), created.id())).collect();
    assert_eq!(created, [("sku", sku.id), ("mail", mail.id)]);
    let number = desk.q().number_text();
    assert_eq!((&sku.fields.code, &sku.fields.slug), (&format!("{number}-2"), &format!("{number}-2").to_lowercase()));
    assert_eq!(sku.fields.name, format!("{}…", "x".repeat(200)));
    assert_eq!((sku.fields.estimated_consumption, sku.fields.estimated_seconds), (Amount(6200), Some(2100)));
    let named = [
        Requirement::not_deleted(Referenced::Sku, id(SKU), "lines.0.skuId"),
        Requirement::not_deleted(Referenced::File, id(FILE), "lines.1.modelFileId"),
        Requirement::not_deleted(Referenced::Material, id(MATERIAL), "lines.1.materialId"),
    ];
    assert_eq!(sent.requirements, named);

    let mut desk = Desk::with(vec![cube(1, Some("PLA"))]);
    let source = desk.q().lines[0].model.as_ref().unwrap().source().unwrap();
    let nothing = SlicedModel { gcode_file_id: id(401), grams: Amount::ZERO, seconds: 0 };
    desk.ask(&QuoteCommand::Sliced { source, news: QuoteSlicingOutcome::Done(nothing) }).unwrap();
    let sent = desk.ask(&send()).unwrap();
    let Some(QuoteCreation::Sku(sku)) = sent.created.first() else { panic!("{:?}", sent.created) };
    assert_eq!((sku.fields.estimated_consumption, sku.fields.estimated_seconds), (Amount(1), None));
}

#[test]
fn a_draft_relies_on_the_skus_of_its_lines() {
    let service = DraftLine { sku_id: None, printed: false, ..line(1, 1) };
    let named = [Requirement::not_deleted(Referenced::Sku, id(SKU), "lines.1.skuId")];
    let mut desk = Desk { bench: Bench::new(), quote: None };
    let create = QuoteCommand::Create(Box::new(draft(vec![service, line(1, 1)])));
    assert_eq!(desk.ask(&create).unwrap().requirements, named);
    assert_eq!(refused(desk.ask(&create)), "exists");
    let noted = QuotePatch { notes: Some(Some("soon".to_owned())), ..QuotePatch::default() };
    assert_eq!(desk.change(noted).unwrap().requirements, named);
}

#[test]
fn a_date_ahead_is_kept_and_one_that_has_come_is_refused() {
    let mut desk = Desk::with(vec![line(1, 1)]);
    let now = desk.bench.now;
    let until = |at| QuotePatch { valid_until: Some(Some(at)), ..QuotePatch::default() };
    desk.change(until(now)).unwrap();
    assert_eq!(paths(desk.ask(&send())), ["validUntil"]);
    desk.change(until(now.plus_ms(1))).unwrap();
    desk.ask(&send()).unwrap();
    assert_eq!(desk.q().valid_until, Some(now.plus_ms(1)));
}

#[test]
fn the_mail_lists_what_costs_something_and_the_total() {
    let mail = |shipping_cents: i64, country: &str| {
        let mut desk = Desk::with(vec![line(2, 1000)]);
        desk.bench.rules.shipping_flat_cents = shipping_cents;
        desk.bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps: 1900 }];
        let shipping_address = Some(order_to(country, 1).shipping_address);
        desk.change(QuotePatch { shipping_address, ..QuotePatch::default() }).unwrap();
        let sent = desk.ask(&send()).unwrap();
        let Some(QuoteCreation::Mail(mail)) = sent.created.last() else { panic!("{:?}", sent.created) };
        plain(&mail.text, &mail.parts, None)
    };
    let text = mail(0, "US");
    assert!(text.contains("2 x Bracket: $20.00\n") && text.contains("Total: $20.00"), "{text}");
    assert!(!text.contains("Shipping:") && !text.contains("Tax:"), "{text}");
    let text = mail(500, "DE");
    for sum in ["Shipping: $5.00", "Tax: $4.75", "Total: $29.75"] {
        assert!(text.contains(sum), "{text}");
    }
}

#[test]
fn customers_see_their_quotes_once_they_are_sent() {
    let mut desk = Desk::with(vec![line(1, 1)]);
    assert!(!desk.q().is_known_to_customers());
    assert!(desk.q().is_for("ann@example.org") && !desk.q().is_for("bob@example.org"));
    assert!(!desk.q().is_archived());
    desk.ask(&send()).unwrap();
    assert!(desk.q().is_known_to_customers());
    desk.quote.as_mut().unwrap().archived = true;
    assert!(!desk.q().is_known_to_customers() && desk.q().is_archived());
    desk.quote.as_mut().unwrap().number = 123;
    assert_eq!(desk.q().number_text(), "QUO-000123");
    desk.quote.as_mut().unwrap().customer_email = None;
    assert!(!desk.q().is_for("ann@example.org"));
}

#[test]
fn a_signed_in_customer_owns_what_they_accept() {
    let desk = Desk::sent(vec![line(1, 1)]);
    let customer = Principal::Customer { id: id(70), email: "ann@example.org".to_owned() };
    let accepted_by = |by: &Principal| {
        let cx = DecisionContext { by, ..desk.bench.cx() };
        QuoteCommand::Accept.decide(desk.quote.as_ref(), id(QUOTE), &cx).unwrap().next.unwrap()
    };
    assert_eq!(accepted_by(&customer).customer_id, Some(id(70)));
    assert_eq!(accepted_by(&Principal::Machine).customer_id, None);
    assert_eq!(accepted_by(&Principal::System).status, QuoteStatus::Accepted);
}

#[test]
fn only_what_a_person_changes_counts_as_a_revision() {
    let mut desk = Desk::with(vec![line(1, 1)]);
    desk.quote.as_mut().unwrap().revision = 7;
    assert_eq!(desk.q().revision(), Some(7));
    let noted = QuotePatch { notes: Some(Some("soon".to_owned())), ..QuotePatch::default() };
    let update = QuoteCommand::Update { if_version: Some(7), patch: Box::new(noted) };
    assert_eq!((update.if_version(), send().if_version()), (Some(7), None));
    let by_person = DecisionContext { by: &Principal::Machine, ..desk.bench.cx() };
    let next = update.decide(desk.quote.as_ref(), id(QUOTE), &by_person).unwrap().next.unwrap();
    assert_eq!((next.revision, next.notes.as_deref()), (8, Some("soon")));
    assert_eq!(desk.ask(&update).unwrap().next.unwrap().revision, 7, "the server is no person");
    assert!(desk.ask(&update).unwrap().next.is_none(), "nothing differs any more");
}

#[test]
fn a_reason_is_shortened() {
    let mut desk = Desk::sent(vec![line(1, 1)]);
    let declined = desk.ask(&decline(&"y".repeat(501))).unwrap();
    assert!(declined.events.iter().map(|event| event.event.as_str()).eq(["quote.declined"]));
    assert_eq!(desk.q().declined_reason, Some(format!("{}…", "y".repeat(500))));
    assert_eq!(refused(Desk::with(vec![line(1, 1)]).ask(&decline("no"))), "invalid_transition");
    assert_eq!(refused(Desk::with(vec![line(1, 1)]).ask(&QuoteCommand::Accept)), "invalid_transition");
}

#[test]
fn an_order_that_cannot_be_made_is_told_once_and_only_while_it_is_awaited() {
    let failed = |reason: &str| QuoteCommand::NotOrdered(reason.to_owned());
    let mut desk = Desk::sent(vec![line(1, 1)]);
    for early in [failed("gone"), QuoteCommand::Ordered] {
        assert!(desk.ask(&early).unwrap().next.is_none(), "{early:?}");
    }
    desk.ask(&QuoteCommand::Accept).unwrap();
    let decision = desk.ask(&failed("the SKU was deleted")).unwrap();
    let [QuoteCreation::Mail(mail)] = &decision.created[..] else { panic!("{:?}", decision.created) };
    let number = desk.q().number_text();
    assert_eq!(mail.subject, format!("Quote {number} was accepted, but its order cannot be created"));
    assert!(mail.text.contains("could not be created: the SKU was deleted."), "{}", mail.text);
    assert_eq!(mail.topics, [MailTopic::Quote(id(QUOTE))]);
    assert!(desk.ask(&failed("something else")).unwrap().next.is_none(), "once");
    desk.ask(&QuoteCommand::Accept).unwrap();
    desk.ask(&QuoteCommand::Ordered).unwrap();
    assert!(desk.q().order_made);
    for late in [QuoteCommand::Ordered, failed("too late")] {
        assert!(desk.ask(&late).unwrap().next.is_none(), "{late:?}");
    }
}
