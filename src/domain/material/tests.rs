#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::aggregate::{Aggregate, Command, Decision};
use crate::mail::Channel;
use crate::refusal::{Class, Refusal};
use crate::testing::commands::AnyMaterialCommand;
use crate::testing::{Bench, id};

const IT: u32 = 7;

struct Shelf {
    bench: Bench,
    material: Option<Material>,
}

fn fields(reorder_point: i64) -> MaterialFields {
    MaterialFields {
        name: "PLA black".to_owned(),
        color: Some("#101010".to_owned()),
        reorder_point: Amount::units(reorder_point),
        reorder_quantity: Amount::units(1000),
        ..crate::testing::samples::pla()
    }
}

fn shelf(quantity: i64, reorder_point: i64) -> Shelf {
    let mut shelf = Shelf { bench: Bench::new(), material: None };
    let create = MaterialCommand::Create { fields: Box::new(fields(reorder_point)), quantity: Amount::units(quantity) };
    shelf.tell(&create).unwrap();
    shelf
}

fn claim_id(job: u32) -> ClaimId {
    ClaimId { job: id(job), number: 1 }
}

fn ask(job: u32, need: i64) -> ClaimRequest {
    let since = Timestamp(i64::from(job));
    ClaimRequest { id: claim_id(job), need: Amount::units(need), released: false, priority: 5, due_at: None, since }
}

fn claim(asks: Vec<ClaimRequest>) -> ClaimStock {
    ClaimStock { order: id(100), asks }
}

fn adjust(delta: i64) -> MaterialCommand {
    MaterialCommand::Adjust { delta: Amount::units(delta), reason: "counted".to_owned() }
}

fn settled(job: u32, consumed: Amount) -> SettledClaim {
    SettledClaim { id: claim_id(job), consumed, booked_on: Vec::new() }
}

fn settle(job: u32, consumed: i64) -> ClaimNews {
    ClaimNews::Settle { claims: vec![settled(job, Amount::units(consumed))] }
}

impl Shelf {
    fn tell<C: Command<Material>>(&mut self, command: &C) -> Result<Decision<Material, C::Answer>, Refusal> {
        self.bench.tell(&mut self.material, id(IT), command)
    }
    fn now(&self) -> &Material {
        self.material.as_ref().unwrap()
    }
    fn state(&self, job: u32) -> Option<ClaimState> {
        self.now().claims.get(&claim_id(job)).map(|claim| claim.state)
    }
}

fn happened<A>(decision: &Decision<Material, A>) -> Vec<&str> {
    decision.events.iter().map(|event| event.event.as_str()).collect()
}

#[test]
fn stock_is_reserved_consumed_and_freed() {
    let mut shelf = shelf(1000, 100);
    shelf.tell(&claim(vec![ask(1, 300)])).unwrap();
    assert_eq!((shelf.now().reserved, shelf.now().available()), (Amount::units(300), Amount::units(700)));
    let done = shelf.tell(&settle(1, 250)).unwrap();
    let kinds = done.rows.iter().filter_map(|row| if let MaterialRow::Movement(m) = row { Some(m.kind) } else { None });
    assert_eq!(kinds.collect::<Vec<_>>(), [MovementKind::Consume, MovementKind::Release]);
    assert_eq!((shelf.now().quantity, shelf.now().reserved), (Amount::units(750), Amount::ZERO));
    assert!(shelf.tell(&settle(1, 250)).unwrap().next.is_none(), "a repeat is already done");
}

#[test]
fn a_short_claim_waits_is_held_by_a_delivery_and_told_until_heard() {
    let mut shelf = shelf(100, 0);
    let short = shelf.tell(&claim(vec![ask(1, 120)])).unwrap();
    let words = "needs 120 g of PLA black, 100 g free".to_owned();
    assert_eq!(short.answer, [(claim_id(1), ClaimState::Short, Some(words))]);
    assert!(shelf.now().effects().is_empty());
    shelf.tell(&adjust(20)).unwrap();
    assert_eq!(shelf.state(1), Some(ClaimState::Held));
    assert_eq!(shelf.now().effects(), [MaterialEffect::TellHeld { order: id(100), claims: vec![claim_id(1)] }]);
    shelf.tell(&ClaimNews::Heard { claims: vec![claim_id(1)] }).unwrap();
    assert!(shelf.now().effects().is_empty());
    let again = shelf.tell(&claim(vec![ask(1, 120)])).unwrap();
    assert!(again.next.is_none());
    assert_eq!(again.answer[0].1, ClaimState::Held);
}

#[test]
fn a_reservation_that_is_asked_for_with_another_need_is_corrected_and_lets_others_in() {
    let mut shelf = shelf(100, 90);
    shelf.tell(&claim(vec![ask(1, 80), ask(2, 60)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(2)), (Some(ClaimState::Held), Some(ClaimState::Short)));
    shelf.tell(&claim(vec![ask(1, 40)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(2)), (Some(ClaimState::Held), Some(ClaimState::Held)));
    assert_eq!(shelf.now().reserved, Amount::units(100));
    // More than is free: the whole reservation is given up, and it waits in line.
    shelf.tell(&claim(vec![ask(1, 41)])).unwrap();
    assert_eq!((shelf.state(1), shelf.now().reserved), (Some(ClaimState::Short), Amount::units(60)));
    shelf.tell(&settle(2, 0)).unwrap();
    assert_eq!((shelf.state(1), shelf.now().reserved), (Some(ClaimState::Held), Amount::units(41)));
}

#[test]
fn a_correction_comes_before_new_claims_of_the_same_message() {
    let mut shelf = shelf(80, 0);
    shelf.tell(&claim(vec![ask(7, 1)])).unwrap();
    // Of a later job, asked for in the same message: it does not take what the correction needs.
    let later = ClaimRequest { since: Timestamp(0), ..ask(1, 43) };
    shelf.tell(&claim(vec![later, ask(7, 73)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(7)), (Some(ClaimState::Short), Some(ClaimState::Held)));
    assert_eq!(shelf.now().reserved, Amount::units(73));
    // What a correction frees goes to the more urgent one that asks just now, not to the one that waits already.
    let urgent = ClaimRequest { priority: 9, ..ask(2, 60) };
    shelf.tell(&claim(vec![urgent, ask(7, 5)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(2)), (Some(ClaimState::Short), Some(ClaimState::Held)));
}

#[test]
fn a_release_passes_the_reorder_point_and_not_a_shortage() {
    let mut shelf = shelf(90, 100);
    shelf.tell(&claim(vec![ask(1, 50), ask(2, 200)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(2)), (Some(ClaimState::BelowReorderPoint), Some(ClaimState::Short)));
    let released = |job, need| ClaimRequest { released: true, ..ask(job, need) };
    shelf.tell(&claim(vec![released(1, 50), released(2, 200)])).unwrap();
    assert_eq!((shelf.state(1), shelf.state(2)), (Some(ClaimState::Held), Some(ClaimState::Short)));
}

#[test]
fn lowering_the_reorder_point_walks_the_line() {
    let mut shelf = shelf(90, 100);
    shelf.tell(&claim(vec![ask(1, 50)])).unwrap();
    shelf
        .tell(&MaterialCommand::Update { if_version: None, fields: Some(Box::new(fields(80))), quantity: None })
        .unwrap();
    assert_eq!(shelf.state(1), Some(ClaimState::Held));
}

#[test]
fn the_line_goes_by_priority_then_due_then_age() {
    let mut shelf = shelf(0, 0);
    let due = Some(Timestamp(5));
    let asks = vec![
        ask(1, 10),
        ask(2, 10),
        ClaimRequest { due_at: due, ..ask(3, 10) },
        ClaimRequest { priority: 9, ..ask(4, 10) },
        ClaimRequest { priority: 9, ..ask(5, 15) },
    ];
    shelf.tell(&claim(asks)).unwrap();
    let order: Vec<_> = shelf.now().waiting().map(|claim| claim.id).collect();
    assert_eq!(order, [4, 5, 3, 1, 2].map(claim_id));
    shelf.tell(&adjust(20)).unwrap();
    let held: Vec<_> = (1..=5).filter(|job| shelf.state(*job) == Some(ClaimState::Held)).collect();
    assert_eq!(held, [3, 4], "5 does not fit and is passed; 1 and 2 find nothing left");
}

#[test]
fn low_stock_is_told_once_and_armed_again() {
    let mut shelf = shelf(200, 100);
    let crossing = shelf.tell(&claim(vec![ask(1, 150)])).unwrap();
    assert_eq!(happened(&crossing), ["inventory.low", "LOW_STOCK"]);
    let data = &crossing.events[0].data;
    let expected = serde_json::json!({"materialId": id(IT), "name": "PLA black", "available": 50, "reorderPoint": 100,
        "reorderQuantity": 1000, "unit": "g"});
    assert_eq!(data, &expected);
    assert!(matches!(&crossing.created[..], [mail] if mail.to == ["floor@example.com"]));
    assert!(happened(&shelf.tell(&adjust(-10)).unwrap()).is_empty(), "told already");
    assert!(happened(&shelf.tell(&adjust(500)).unwrap()).is_empty());
    assert_eq!(happened(&shelf.tell(&adjust(-500)).unwrap()), ["inventory.low", "LOW_STOCK"]);
}

#[test]
fn low_stock_is_told_at_creation_on_a_raised_level_and_on_a_need_above_it() {
    let mut bench = Shelf { bench: Bench::new(), material: None };
    let create = MaterialCommand::Create { fields: Box::new(fields(100)), quantity: Amount::units(99) };
    assert_eq!(happened(&bench.tell(&create).unwrap()), ["inventory.low", "LOW_STOCK"]);
    let mut raised = shelf(200, 100);
    let update = MaterialCommand::Update { if_version: None, fields: Some(Box::new(fields(201))), quantity: None };
    assert_eq!(happened(&raised.tell(&update).unwrap()), ["inventory.low", "LOW_STOCK"]);
    let mut needed = shelf(200, 100);
    assert_eq!(happened(&needed.tell(&claim(vec![ask(1, 201)])).unwrap()), ["inventory.low", "LOW_STOCK"]);
    assert!(happened(&needed.tell(&claim(vec![ask(2, 300)])).unwrap()).is_empty(), "told already");
    needed.bench.rules.operator_mail.clear();
    needed.tell(&ClaimNews::Settle { claims: vec![settled(1, Amount::ZERO), settled(2, Amount::ZERO)] }).unwrap();
    let again = needed.tell(&claim(vec![ask(3, 201)])).unwrap();
    assert_eq!(happened(&again).len(), 2);
    assert!(matches!(&again.created[..], [mail] if mail.to.is_empty()), "goes to whoever is an admin when it is sent");
    bench.bench.rules.agent_gateway = true;
    bench.material = None;
    let both = bench.tell(&create).unwrap().created;
    let ways = both.iter().map(|mail| mail.channel);
    assert_eq!(ways.collect::<Vec<_>>(), [Channel::Mail, Channel::Agent]);
}

#[test]
fn a_crossing_is_told_though_somebody_waits_in_line() {
    let mut shelf = shelf(200, 100);
    // A need that cannot be served is told at once, and stays in line.
    assert_eq!(happened(&shelf.tell(&claim(vec![ask(1, 500)])).unwrap()), ["inventory.low", "LOW_STOCK"]);
    assert!(happened(&shelf.tell(&claim(vec![ask(2, 50)])).unwrap()).is_empty(), "150 g are free");
    let low = shelf.tell(&claim(vec![ask(3, 60)])).unwrap();
    assert_eq!(happened(&low), ["inventory.low", "LOW_STOCK"], "90 g are free");
    assert!(happened(&shelf.tell(&adjust(-10)).unwrap()).is_empty(), "told already");
    assert!(happened(&shelf.tell(&adjust(50)).unwrap()).is_empty(), "the level is back, and armed again");
    assert_eq!(happened(&shelf.tell(&adjust(-50)).unwrap()), ["inventory.low", "LOW_STOCK"]);
    assert_eq!(shelf.state(1), Some(ClaimState::Short), "it waited all the time");
}

#[test]
fn consumption_beyond_stock_takes_what_exists_and_says_so() {
    let mut shelf = shelf(100, 0);
    shelf.tell(&claim(vec![ask(1, 80)])).unwrap();
    let beyond = shelf.tell(&settle(1, 130)).unwrap();
    assert_eq!(happened(&beyond), ["inventory.discrepancy"]);
    assert_eq!(beyond.events[0].data["consumedBeyondStock"], 30);
    assert_eq!((shelf.now().quantity, shelf.now().reserved), (Amount::ZERO, Amount::ZERO));
}

#[test]
fn a_count_below_what_is_reserved_is_taken_and_flagged_once() {
    let mut shelf = shelf(100, 0);
    shelf.tell(&claim(vec![ask(1, 80)])).unwrap();
    let count =
        |units| MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(units)) };
    assert_eq!(happened(&shelf.tell(&count(50)).unwrap()), ["inventory.discrepancy"]);
    assert_eq!((shelf.now().available(), shelf.state(1)), (Amount::ZERO, Some(ClaimState::Held)));
    assert!(happened(&shelf.tell(&count(40)).unwrap()).is_empty());
    assert!(shelf.tell(&count(40)).unwrap().next.is_none());
}

#[test]
fn the_latest_reservations_are_asked_back_and_a_print_keeps_its_own() {
    let mut shelf = shelf(100, 0);
    for job in 1..=4 {
        shelf.bench.now = shelf.bench.now.plus_ms(1000);
        shelf.tell(&claim(vec![ask(job, 20)])).unwrap();
    }
    let recalled = |shelf: &Shelf| {
        let effects = shelf.now().effects().into_iter();
        effects
            .flat_map(|effect| if let MaterialEffect::AskBack { claims, .. } = effect { claims } else { Vec::new() })
            .collect::<Vec<_>>()
    };
    let count =
        |units| MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(units)) };
    shelf.tell(&count(50)).unwrap();
    assert_eq!(recalled(&shelf), [claim_id(3), claim_id(4)]);
    shelf.tell(&ClaimNews::Kept { claims: vec![claim_id(4)] }).unwrap();
    assert_eq!(recalled(&shelf), [claim_id(2), claim_id(3)], "the next one is asked");
    shelf.tell(&settle(3, 0)).unwrap();
    assert_eq!(recalled(&shelf), [claim_id(2)]);
    shelf.tell(&adjust(10)).unwrap();
    assert!(recalled(&shelf).is_empty(), "what is there covers the rest");
    shelf.tell(&count(30)).unwrap();
    assert_eq!(recalled(&shelf), [claim_id(2), claim_id(4)], "counted anew, asked anew");
}

#[test]
fn wrong_changes_are_refused() {
    let mut shelf = shelf(100, 0);
    assert_eq!(shelf.tell(&adjust(-101)).unwrap_err().code, "insufficient_stock");
    assert_eq!(shelf.tell(&adjust(0)).unwrap_err().class, Class::Invalid);
    let bad = MaterialFields { name: " ".into(), color: Some("red".into()), reorder_point: Amount(-1), ..fields(0) };
    let update = MaterialCommand::Update { if_version: None, fields: Some(Box::new(bad)), quantity: Some(Amount(-1)) };
    assert_eq!(shelf.tell(&update).unwrap_err().faults.len(), 4);
    shelf.tell(&claim(vec![ask(1, 10)])).unwrap();
    assert_eq!(shelf.tell(&MaterialCommand::Archive).unwrap_err().code, "material_in_use");
    shelf.tell(&settle(1, 0)).unwrap();
    shelf.tell(&MaterialCommand::Archive).unwrap();
    assert_eq!(shelf.tell(&adjust(1)).unwrap_err().class, Class::NotFound);
    let after = shelf.tell(&claim(vec![ask(2, 10)])).unwrap();
    assert_eq!(after.answer[0].1, ClaimState::Short);
    assert!(after.next.is_none());
}

fn any_command() -> impl Strategy<Value = AnyMaterialCommand> {
    let asks = (0u32..12, 1i64..80, any::<bool>(), 4u8..7, proptest::option::of(0i64..5)).prop_map(
        |(job, need, released, priority, due)| ClaimRequest {
            released,
            priority,
            due_at: due.map(Timestamp),
            ..ask(job, need)
        },
    );
    let claims = || proptest::collection::vec((0u32..12).prop_map(claim_id), 1..6);
    prop_oneof![
        3 => (0u32..3, proptest::collection::vec(asks, 1..4))
            .prop_map(|(order, asks)| AnyMaterialCommand::from(ClaimStock { order: id(100 + order), asks })),
        3 => proptest::collection::vec((0u32..12, 0i64..120), 1..4).prop_map(|claims| {
            let claims = claims.into_iter().map(|(job, used)| settled(job, Amount::units(used))).collect();
            AnyMaterialCommand::from(ClaimNews::Settle { claims })
        }),
        2 => (-60i64..90).prop_map(|delta| AnyMaterialCommand::from(adjust(delta))),
        1 => (proptest::option::of(0i64..100), proptest::option::of(0i64..200)).prop_map(|(point, counted)| {
            AnyMaterialCommand::from(MaterialCommand::Update {
                if_version: None,
                fields: point.map(|point| Box::new(fields(point))),
                quantity: counted.map(Amount::units),
            })
        }),
        1 => claims().prop_map(|claims| AnyMaterialCommand::from(ClaimNews::Heard { claims })),
        1 => claims().prop_map(|claims| AnyMaterialCommand::from(ClaimNews::Kept { claims })),
    ]
}

/// Computes the rank in the waiting line, as a reference implementation.
fn rank(claim: &Claim) -> (i16, bool, Option<Timestamp>, Timestamp, ClaimId) {
    (-i16::from(claim.priority), claim.due_at.is_none(), claim.due_at, claim.since, claim.id)
}

proptest! {
    #[test]
    fn whatever_happens_the_ledger_adds_up_and_nobody_who_fits_is_passed(
        commands in proptest::collection::vec(any_command(), 1..60), first in 0i64..200, point in 0i64..60,
    ) {
        let mut shelf = Shelf { bench: Bench::new(), material: None };
        let create = MaterialCommand::Create { fields: Box::new(fields(point)), quantity: Amount::units(first) };
        let mut sums = (Amount::ZERO, Amount::ZERO);
        let mut rows = BTreeMap::<ClaimId, Claim>::new();
        for command in std::iter::once(AnyMaterialCommand::from(create)).chain(commands) {
            let held_before: BTreeSet<_> = rows.values().filter(|c| !c.waits()).map(|c| c.id).collect();
            shelf.bench.now = shelf.bench.now.plus_ms(1000);
            let Ok(decision) = shelf.tell(&command) else { continue };
            for row in &decision.rows {
                match row {
                    MaterialRow::Movement(m) => {
                        sums = (sums.0 + m.delta_quantity, sums.1 + m.delta_reserved);
                        prop_assert_eq!((m.quantity, m.reserved), sums);
                    }
                    MaterialRow::Claim(claim) => { rows.insert(claim.id, claim.clone()); }
                    MaterialRow::ClaimGone(id) => prop_assert!(rows.remove(id).is_some()),
                    MaterialRow::Link(_) | MaterialRow::LinkGone(_) => {}
                }
            }
            let now = shelf.now();
            prop_assert_eq!((now.quantity, now.reserved), sums);
            prop_assert!(now.quantity >= Amount::ZERO);
            let (held, waiting): (Vec<&Claim>, Vec<&Claim>) = rows.values().partition(|c| !c.waits());
            prop_assert_eq!(held.iter().map(|c| c.need).sum::<Amount>(), now.reserved);
            // A load from the rows gives what is in memory, indexes included.
            let head: Material = serde_json::from_str(&serde_json::to_string(now).unwrap()).unwrap();
            prop_assert_eq!(&head.hydrate(rows.values().cloned(), []), now);
            let (mut notices, mut requested) = (0, BTreeSet::new());
            for effect in now.effects() {
                match effect {
                    MaterialEffect::TellHeld { order, claims } => {
                        prop_assert!(claims.iter().all(|c| rows[c].order_id == order && rows[c].unheard));
                        notices += claims.len();
                    }
                    MaterialEffect::AskBack { order, claims } => {
                        prop_assert!(claims.iter().all(|c| rows[c].order_id == order));
                        requested.extend(claims);
                    }
                }
            }
            prop_assert_eq!(notices, held.iter().filter(|c| c.unheard && !c.recalled).count());
            // As many reservations are asked back as needed, the latest first, and no more.
            let back: Amount = requested.iter().map(|c| rows[c].need).sum();
            let all_kept = held.iter().all(|c| c.is_retained || c.recalled || c.need == Amount::ZERO);
            prop_assert!(now.reserved - back <= now.quantity || all_kept);
            for one in &requested {
                let age = |c: &Claim| (c.reserved_at, c.since, c.id);
                let earliest = held.iter().filter(|c| c.recalled).all(|c| age(c) >= age(&rows[one]));
                prop_assert!(now.reserved - back + rows[one].need > now.quantity || !earliest, "{one} need not be asked");
                let passed =
                    |c: &&&Claim| !c.recalled && !c.is_retained && c.need > Amount::ZERO && age(c) > age(&rows[one]);
                prop_assert!(held.iter().find(passed).is_none(), "a later one is not asked");
            }
            for waits in &waiting {
                let blocked = !waits.released && now.quantity < now.fields.reorder_point;
                prop_assert!(blocked || waits.need > now.available(), "{waits:?} fits and waits");
                for new in held.iter().filter(|c| !held_before.contains(&c.id) && rank(waits) < rank(c)) {
                    let free = now.available() + new.need;
                    prop_assert!(blocked || waits.need > free, "{new:?} passed {waits:?}");
                }
            }
        }
    }
}
