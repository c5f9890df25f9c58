//! Edits of orders and jobs by people: what may change until when, who may cancel, and what counts as a revision.

use super::*;
use crate::aggregate::DecisionContext;
use crate::job::{Block, ClaimStatus};
use crate::printer_status::PrintEnd;
use crate::refusal::Class;
use crate::rules::TaxRate;
use crate::time::Timestamp;

/// Builds an edit that changes nothing.
fn nothing() -> OrderCommand {
    OrderCommand::Update {
        if_version: Some(7),
        notes: None,
        internal_notes: None,
        priority: None,
        due_at: None,
        shipping_address: None,
    }
}

fn destination(country: Option<&str>) -> OrderCommand {
    let OrderCommand::Update { if_version, notes, internal_notes, priority, due_at, .. } = nothing() else { panic!() };
    let shipping_address = Some(country.and_then(|country| order_to(country, 1).shipping_address));
    OrderCommand::Update { if_version, notes, internal_notes, priority, due_at, shipping_address }
}

fn texts(new_notes: Option<Option<&str>>, new_internal_notes: Option<Option<&str>>) -> OrderCommand {
    let OrderCommand::Update { if_version, priority, due_at, shipping_address, .. } = nothing() else { panic!() };
    let owned = |text: Option<Option<&str>>| text.map(|text| text.map(str::to_owned));
    let (notes, internal_notes) = (owned(new_notes), owned(new_internal_notes));
    OrderCommand::Update { if_version, notes, internal_notes, priority, due_at, shipping_address }
}

fn rank(priority: Option<u8>, due_at: Option<Option<Timestamp>>) -> OrderCommand {
    let OrderCommand::Update { if_version, notes, internal_notes, shipping_address, .. } = nothing() else { panic!() };
    OrderCommand::Update { if_version, notes, internal_notes, priority, due_at, shipping_address }
}

/// Builds an order for 10.00 in a shop that taxes deliveries to Germany and France.
fn taxed(new: NewOrder) -> OrderDecider {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let rate = |country: &str, bps| TaxRate { country: country.to_owned(), region: None, bps };
    desk.bench.rules.tax_rates = vec![rate("DE", 1900), rate("FR", 1900), rate("US", 0)];
    desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
    desk
}

#[test]
fn an_order_goes_elsewhere_only_before_it_is_paid_and_at_the_same_rate() {
    let nowhere = || new_order(vec![line(1, 1000, true)]);
    let draft = |new| NewOrder { draft: true, ..new };
    let table = [
        (order_to("DE", 1000), Some("FR"), "1190"),
        (order_to("DE", 1000), Some("DE"), "1190"),
        (order_to("DE", 1000), Some("US"), "tax_differs"),
        (order_to("DE", 1000), None, "tax_differs"),
        (order_to("US", 1000), None, "1000"),
        (nowhere(), Some("US"), "1000"),
        (nowhere(), Some("DE"), "tax_differs"),
        (draft(nowhere()), Some("DE"), "1190"),
        (draft(nowhere()), Some("US"), "1000"),
        (draft(order_to("DE", 1000)), Some("US"), "tax_differs"),
        (draft(order_to("DE", 1000)), Some("FR"), "1190"),
    ];
    for (new, country, outcome) in table {
        let text = format!("{} {:?} {country:?}", new.draft, new.shipping_address);
        let mut desk = taxed(new);
        let before = desk.o().shipping_address.clone();
        let updated = desk.ask(&destination(country));
        let is_updated = updated.is_ok();
        let total = desk.o().total_cents.to_string();
        assert_eq!(updated.map_or_else(|refusal| refusal.code, |_| total), outcome, "{text}");
        let now = desk.o().shipping_address.clone();
        let expected = if is_updated { country.and_then(|to| order_to(to, 1).shipping_address) } else { before };
        assert_eq!(now, expected, "{text}");
    }
    let mut paid = taxed(order_to("DE", 1000));
    paid.pay();
    assert!(paid.ask(&destination(Some("DE"))).unwrap().next.is_none(), "the same");
    assert_eq!(code(paid.ask(&destination(Some("FR")))), "invalid_transition");
}

#[test]
fn notes_are_set_kept_and_cleared() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    let notes = |desk: &OrderDecider| (desk.o().notes.clone(), desk.o().internal_notes.clone());
    let both = (Some("soon".to_owned()), Some("regular".to_owned()));
    desk.ask(&texts(Some(Some("soon")), None)).unwrap();
    desk.ask(&texts(None, Some(Some("regular")))).unwrap();
    assert_eq!(notes(&desk), both);
    for same in [nothing(), texts(Some(Some("soon")), None), texts(None, Some(Some("regular")))] {
        assert!(desk.ask(&same).unwrap().next.is_none(), "{same:?}");
    }
    desk.ask(&texts(Some(None), Some(None))).unwrap();
    assert_eq!(notes(&desk), (None, None));
}

#[test]
fn jobs_that_are_not_over_adopt_the_rank_of_their_order() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let ranks = |desk: &OrderDecider| {
        [one, two].map(|job| desk.o().jobs.get(&job).map(|job| (job.priority, job.due_at)).unwrap())
    };
    assert_eq!(desk.ask(&rank(Some(10), None)).unwrap_err().faults[0].path, "priority");
    desk.ask(&rank(Some(9), None)).unwrap();
    assert_eq!((ranks(&desk), desk.o().priority), ([(5, None), (9, None)], 9));
    let due_at = Some(desk.bench.now.plus_ms(1));
    desk.ask(&rank(None, Some(due_at))).unwrap();
    assert_eq!((ranks(&desk), desk.o().due_at), ([(5, None), (9, due_at)], due_at));
    assert!(desk.ask(&rank(Some(9), Some(due_at))).unwrap().next.is_none(), "nothing differs");
    // A job may have its own priority and due date until those of the order are set again.
    let own = JobCommand::Update { job: two, if_version: None, priority: Some(1), due_at: Some(None) };
    desk.ask(&own).unwrap();
    assert_eq!(ranks(&desk)[1], (1, None));
    desk.ask(&nothing()).unwrap();
    assert_eq!(ranks(&desk)[1], (1, None));
    desk.ask(&rank(Some(9), None)).unwrap();
    assert_eq!(ranks(&desk)[1], (9, None));
    let now = desk.bench.now;
    assert_eq!(desk.ask(&rank(None, Some(Some(now)))).unwrap_err().faults[0].path, "dueAt", "it has come");
}

#[test]
fn a_job_is_edited_in_the_version_that_was_read_and_asks_for_its_material_anew() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.pay();
    desk.stock(ClaimState::Short);
    let (job, version) = (desk.job().id, desk.job().version);
    let update = |if_version, priority| JobCommand::Update { job, if_version, priority: Some(priority), due_at: None };
    let stale = desk.ask(&update(Some(version + 1), 6)).unwrap_err();
    assert_eq!((stale.class, stale.code.as_str()), (Class::Stale, "stale_version"));
    assert_eq!(desk.ask(&update(None, 10)).unwrap_err().faults[0].path, "priority");
    assert!(desk.ask(&update(Some(version), 5)).unwrap().next.is_none(), "it has that priority");
    assert_eq!(desk.job().stock, ClaimStatus::InLine);
    desk.ask(&update(Some(version), 9)).unwrap();
    assert_eq!((desk.job().priority, desk.job().stock), (9, ClaimStatus::Asked), "the material learns its rank");
    desk.stock(ClaimState::Held);
    desk.ask(&update(None, 8)).unwrap();
    assert_eq!(desk.job().stock, ClaimStatus::Held);
    desk.ask(&JobCommand::Cancel { job, force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!(code(desk.ask(&update(None, 7))), "invalid_transition");
}

#[test]
fn only_what_a_person_changes_counts_as_a_revision_once_for_each_command() {
    let mut desk = OrderDecider::sliced();
    let job = desk.job();
    desk.order.as_mut().unwrap().revision = 7;
    let update = JobCommand::Update { job: job.id, if_version: None, priority: Some(9), due_at: Some(None) };
    let decided_by = |by: &Principal| {
        let cx = DecisionContext { by, now: desk.bench.now.plus_ms(5), ..desk.bench.cx() };
        update.decide(desk.order.as_ref(), id(ORDER_ID), &cx).unwrap().next.unwrap()
    };
    for (by, more) in [(Principal::Machine, 1), (Principal::System, 0)] {
        let next = decided_by(&by);
        let edited = next.jobs.get(&job.id).unwrap();
        assert_eq!((next.revision, edited.version), (7 + more, job.version + more), "{by:?}");
        assert_eq!((next.updated_at, edited.updated_at), (desk.bench.now.plus_ms(5), desk.bench.now.plus_ms(5)));
    }
    assert_eq!((nothing().if_version(), OrderCommand::Confirm.if_version()), (Some(7), None));
    // A record that an older release stored without a revision has the first one.
    desk.order.as_mut().unwrap().revision = 0;
    desk.ask(&texts(Some(Some("soon")), None)).unwrap();
    assert_eq!(desk.o().revision, 1);
}

#[test]
fn who_cancels_a_paid_order_is_of_the_staff_and_only_staff_gives_up_on_printers() {
    let cancel = |force| OrderCommand::Cancel { force, prints: PrinterRecords::new() };
    let customer = Principal::Customer { id: id(70), email: "ann@example.com".to_owned() };
    let agent = Principal::Agent { user: "telegram:1".to_owned() };
    let (unpaid, paid) = (OrderDecider::with(new_order(vec![line(1, 500, true)])), OrderDecider::sliced());
    let may = |desk: &OrderDecider, by: &Principal| {
        let cx = DecisionContext { by, ..desk.bench.cx() };
        cancel(false).decide(desk.order.as_ref(), id(ORDER_ID), &cx).is_ok()
    };
    for (by, cancels_paid) in [(&customer, false), (&Principal::Anonymous, false), (&agent, true)] {
        assert_eq!((may(&unpaid, by), may(&paid, by)), (true, cancels_paid), "{by:?}");
    }
    for status in [OrderStatus::Cancelled, OrderStatus::Refunded, OrderStatus::Shipped] {
        for (force, open) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut desk = if open { OrderDecider::sliced() } else { OrderDecider::with(order_to("DE", 1)) };
            desk.order.as_mut().unwrap().status = status;
            let may = force && open && status != OrderStatus::Shipped;
            assert_eq!(desk.ask(&cancel(force)).is_ok(), may, "{status} {force} {open}");
            assert_eq!(desk.o().status, status);
        }
    }
}

#[test]
fn a_job_that_waits_in_line_gives_its_place_back_when_it_is_recalled() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.pay();
    desk.stock(ClaimState::BelowReorderPoint);
    assert_eq!((desk.job().blocked_by, desk.job().stock), (Some(Block::ReorderPoint), ClaimStatus::InLine));
    let claim = ClaimId { job: desk.job().id, number: 1 };
    let recalled = desk.ask(&RecallClaims(vec![claim], "counted".to_owned())).unwrap();
    assert_eq!((names(&recalled), recalled.answer.len()), (vec!["job.blocked"], 0));
    let job = desk.job();
    assert_eq!((job.blocked_by, job.block_reason.as_deref()), (Some(Block::Material), Some("counted")));
    assert_eq!((job.claim, job.stock, &job.settling[..]), (2, ClaimStatus::Asked, &[(1, Amount::ZERO)][..]));
    // The old claim is settled, and only that one.
    desk.ask(&OrderNews::Settled(vec![ClaimId { number: 9, ..claim }])).unwrap();
    assert_eq!(desk.job().settling.len(), 1);
    desk.ask(&OrderNews::Settled(vec![claim])).unwrap();
    assert_eq!((desk.job().settling.len(), desk.job().stock), (0, ClaimStatus::Asked));
}

#[test]
fn an_answer_to_a_claim_that_is_no_longer_wanted_gives_back_what_it_holds_once() {
    let mut desk = OrderDecider::sliced();
    let of = |desk: &OrderDecider, number| {
        let claim = ClaimId { job: desk.job().id, number };
        OrderNews::Stock(id(MATERIAL_ID), vec![(claim, ClaimState::Held, None)])
    };
    let late = of(&desk, 7);
    desk.ask(&late).unwrap();
    assert_eq!(desk.job().settling, [(7, Amount::ZERO)]);
    assert!(desk.ask(&late).unwrap().next.is_none(), "it is being given back");
    assert!(desk.ask(&of(&desk, 1)).unwrap().next.is_none(), "what is held is held");
    let elsewhere = ClaimId { job: desk.job().id, number: 1 };
    let strange = OrderNews::Stock(id(99), vec![(elsewhere, ClaimState::Short, None)]);
    assert!(desk.ask(&strange).unwrap().next.is_none(), "it needs nothing of that");
}
