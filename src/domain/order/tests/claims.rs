//! Tests of jobs with several materials: their claims are requested in a fixed order, so that no two jobs wait for each
//! other.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::job::{ClaimStatus, Job};
use crate::material::{ClaimNews, ClaimStock, Material, MaterialCommand, MaterialEffect};
use crate::printer_status::PrintEnd;
use crate::testing::samples::pla;

/// Builds a desk with one paid job that needs 100 of [`MATERIAL_ID`] and 30 of the material before it.
fn desk_of_two() -> OrderDecider {
    let mut of_two = line(1, 500, true);
    of_two.make.as_mut().unwrap().further = vec![need(FIRST, 30)];
    let mut desk = OrderDecider::with(new_order(vec![of_two]));
    desk.pay();
    desk
}

/// Material that comes before [`MATERIAL_ID`] in the order of IDs.
const FIRST: u32 = MATERIAL_ID - 1;

fn claim_requests(desk: &OrderDecider) -> Vec<(Id, u32)> {
    let effects = desk.o().effects();
    let asks = effects.into_iter().filter_map(|effect| match effect {
        OrderEffect::Claim { material, asks } => Some((material, asks[0].id.number)),
        _ => None,
    });
    asks.collect()
}

fn settled(desk: &OrderDecider) -> Vec<(Id, Amount)> {
    let effects = desk.o().effects();
    let all = effects.into_iter().filter_map(|effect| match effect {
        OrderEffect::Settle { material, claims } => {
            Some(claims.into_iter().map(move |claim| (material, claim.consumed)))
        }
        _ => None,
    });
    all.flatten().collect()
}

fn answer(desk: &mut OrderDecider, material: u32, state: ClaimState) -> Decision<Order, OrderNewsAnswer> {
    let job = desk.job();
    let number = job.claims().iter().find(|claim| claim.material_id == id(material)).unwrap().number;
    let claim = ClaimId { job: job.id, number };
    desk.ask(&OrderNews::Stock(id(material), vec![(claim, state, Some("words".into()))])).unwrap()
}

#[test]
fn materials_are_asked_for_one_after_the_other_and_held_meanwhile() {
    let mut desk = desk_of_two();
    assert_eq!(claim_requests(&desk).iter().map(|ask| ask.0).collect::<Vec<_>>(), [id(FIRST)]);
    answer(&mut desk, FIRST, ClaimState::Held);
    assert_eq!(desk.state(), JobState::Validated);
    assert_eq!(claim_requests(&desk).iter().map(|ask| ask.0).collect::<Vec<_>>(), [id(MATERIAL_ID)]);
    answer(&mut desk, MATERIAL_ID, ClaimState::Short);
    assert_eq!(desk.state(), JobState::AwaitingManualReview);
    assert_eq!(settled(&desk), [], "what is held stays held");
    assert!(desk.dispatch().is_err());
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    assert_eq!(desk.state(), JobState::Sliced);
    desk.dispatch().unwrap();
    let over = Report::Ended {
        end: PrintEnd::Finished,
        filament_mm: Some(1100.0),
        progress: 1.0,
        reason: None,
        began_at: None,
        unseen: false,
        booked_on: Vec::new(),
    };
    desk.report(over);
    assert_eq!(settled(&desk), [(id(FIRST), Amount::units(33)), (id(MATERIAL_ID), Amount::units(110))]);
    let job = desk.job();
    assert_eq!((job.consumed, job.further[0].consumed), (Amount::units(110), Amount::units(33)));
    assert_eq!(job.attempts[0].used, Amount::units(143), "what a bad print loses is of all materials");
}

#[test]
fn a_job_that_loses_one_material_gives_up_those_after_it() {
    let mut desk = desk_of_two();
    answer(&mut desk, FIRST, ClaimState::Held);
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    let job = desk.job();
    let first = ClaimId { job: job.id, number: job.further[0].claim };
    desk.ask(&RecallClaims(vec![first], "counted".into())).unwrap();
    assert_eq!(desk.state(), JobState::AwaitingManualReview);
    assert_eq!(settled(&desk), [(id(FIRST), Amount::ZERO), (id(MATERIAL_ID), Amount::ZERO)]);
    let again = claim_requests(&desk);
    assert_eq!(again.len(), 1);
    assert!(again[0].0 == id(FIRST) && again[0].1 != first.number, "anew, under another number");
    // The last one alone is lost without the first.
    answer(&mut desk, FIRST, ClaimState::Held);
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    let last = ClaimId { job: desk.job().id, number: desk.job().claim };
    desk.ask(&RecallClaims(vec![last], "counted".into())).unwrap();
    assert_eq!(desk.job().further[0].stock, ClaimStatus::Held);
}

#[test]
fn a_material_that_comes_out_of_turn_is_given_back_and_asked_for_again() {
    let mut desk = desk_of_two();
    answer(&mut desk, FIRST, ClaimState::Held);
    // The second is asked for; before it answers, the first is taken away.
    let job = desk.job();
    let first = ClaimId { job: job.id, number: job.further[0].claim };
    desk.ask(&RecallClaims(vec![first], "counted".into())).unwrap();
    let number = desk.job().claim;
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    assert_ne!(desk.job().claim, number);
    assert!(settled(&desk).contains(&(id(MATERIAL_ID), Amount::ZERO)));
    answer(&mut desk, FIRST, ClaimState::Held);
    assert!(claim_requests(&desk).iter().any(|ask| ask.0 == id(MATERIAL_ID)));
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    assert_eq!(desk.state(), JobState::Sliced);
}

#[test]
fn what_the_printer_booked_itself_is_told_with_the_settlement_until_it_is_heard() {
    let mut desk = desk_of_two();
    answer(&mut desk, FIRST, ClaimState::Held);
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    desk.dispatch().unwrap();
    let booked_on = vec![7, 8];
    let (end, filament_mm, reason, began_at) = (PrintEnd::Finished, None, None, None);
    desk.report(Report::Ended { end, filament_mm, progress: 1.0, reason, began_at, unseen: false, booked_on });
    let settlements = |desk: &OrderDecider| {
        let effects = desk.o().effects();
        let all = effects.into_iter().filter_map(|effect| match effect {
            OrderEffect::Settle { claims, .. } => Some(claims),
            _ => None,
        });
        all.flatten().collect::<Vec<_>>()
    };
    let claims = settlements(&desk);
    assert!(claims.len() == 2 && claims.iter().all(|claim| claim.booked_on == [7, 8]), "{claims:?}");
    assert_eq!(desk.last().booked_on, [7, 8]);
    // A retry before the materials have heard of it keeps what belongs to the first print.
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    assert_eq!(settlements(&desk), claims);
    desk.ask(&OrderNews::Settled(claims.iter().map(|claim| claim.id).collect())).unwrap();
    assert!(settlements(&desk).is_empty() && desk.job().booked_on.is_empty());
}

#[test]
fn a_retry_claims_all_materials_under_new_numbers() {
    let mut desk = desk_of_two();
    answer(&mut desk, FIRST, ClaimState::Held);
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    desk.dispatch().unwrap();
    desk.report(Report::Ended {
        end: PrintEnd::Failed,
        filament_mm: None,
        progress: 0.5,
        reason: None,
        began_at: None,
        unseen: false,
        booked_on: Vec::new(),
    });
    let before: Vec<u32> = desk.job().claims().iter().map(|claim| claim.number).collect();
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    assert_eq!(settled(&desk), [(id(FIRST), Amount::units(15)), (id(MATERIAL_ID), Amount::units(50))]);
    assert!(desk.job().claims().iter().all(|claim| !before.contains(&claim.number)));
    answer(&mut desk, FIRST, ClaimState::Held);
    answer(&mut desk, MATERIAL_ID, ClaimState::Held);
    assert_eq!(desk.state(), JobState::Sliced);
}

#[test]
fn a_job_kept_before_it_had_several_materials_is_read() {
    let desk = OrderDecider::sliced();
    let mut doc = serde_json::to_value(&*desk.job()).unwrap();
    doc.as_object_mut().unwrap().remove("further");
    doc.as_object_mut().unwrap().remove("slicedFor");
    let job: Job = serde_json::from_value(doc).unwrap();
    assert_eq!(job, *desk.job());
    assert!(job.holds_all() && job.material_needs() == [need(MATERIAL_ID, 100)]);
}

/// Orders of one job each, which compete for three scarce materials.
struct Shop {
    bench: Bench,
    orders: BTreeMap<Id, Option<Order>>,
    materials: BTreeMap<Id, Option<Material>>,
    /// Number of jobs that have held all their materials.
    served: usize,
}

const STOCK: i64 = 10;

impl Shop {
    fn new(jobs: &[[i64; 3]]) -> Self {
        let mut shop = Self { bench: Bench::new(), orders: BTreeMap::new(), materials: BTreeMap::new(), served: 0 };
        for material in [id(1), id(2), id(3)] {
            let create = MaterialCommand::Create { fields: Box::new(pla()), quantity: Amount::units(STOCK) };
            let mut state = None;
            shop.bench.tell(&mut state, material, &create).unwrap();
            shop.materials.insert(material, state);
        }
        for (n, amounts) in jobs.iter().enumerate() {
            let mut needs = amounts.iter().enumerate().map(|(m, units)| need(m as u32 + 1, *units));
            let mut line = line(1, 500, true);
            // Any of them may be the first that the SKU names.
            let make = line.make.as_mut().unwrap();
            make.further = needs.by_ref().collect();
            make.further.rotate_left(n % 3);
            let first = make.further.remove(0);
            (make.material_id, make.need) = (first.material_id, first.need);
            let mut desk = OrderDecider { bench: Bench::new(), order: None };
            std::mem::swap(&mut desk.bench, &mut shop.bench);
            desk.ask(&OrderCommand::Create(Box::new(new_order(vec![line])))).unwrap();
            desk.pay();
            shop.bench = desk.bench;
            shop.orders.insert(id(100 + n as u32), desk.order);
        }
        shop
    }

    /// Executes one effect of an order and delivers the material's answer unless it is lost.
    fn order_turn(&mut self, order: Id, which: usize, lost: bool) {
        let effects = self.orders[&order].as_ref().unwrap().effects();
        let Some(effect) = effects.get(which % effects.len().max(1)) else { return };
        let answer = match effect {
            OrderEffect::Claim { material, asks } => {
                let claim = ClaimStock { order, asks: asks.clone() };
                OrderNews::Stock(*material, self.material(*material, &claim))
            }
            OrderEffect::Settle { material, claims } => {
                self.material(*material, &ClaimNews::Settle { claims: claims.clone() });
                OrderNews::Settled(claims.iter().map(|claim| claim.id).collect())
            }
            _ => return,
        };
        if !lost {
            self.order(order, &answer);
        }
    }

    fn material_turn(&mut self, material: Id, lost: bool) {
        for effect in self.materials[&material].as_ref().unwrap().effects() {
            let noted = match effect {
                MaterialEffect::TellHeld { order, claims } => {
                    let held = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
                    self.order(order, &OrderNews::Stock(material, held));
                    ClaimNews::Heard { claims }
                }
                MaterialEffect::AskBack { order, claims } => {
                    ClaimNews::Kept { claims: self.order(order, &RecallClaims(claims, "counted".into())) }
                }
            };
            if !lost {
                self.material(material, &noted);
            }
        }
    }

    fn order<C: Command<Order>>(&mut self, order: Id, command: &C) -> C::Answer {
        let state = self.orders.get_mut(&order).unwrap();
        let answer = self.bench.tell(state, order, command).unwrap().answer;
        let job = state.as_ref().unwrap().jobs.values().next().unwrap().clone();
        if job.state == JobState::Sliced {
            assert!(job.holds_all());
            self.holds(&job);
        }
        answer
    }

    fn material<C: Command<Material>>(&mut self, material: Id, command: &C) -> C::Answer {
        self.bench.tell(self.materials.get_mut(&material).unwrap(), material, command).unwrap().answer
    }

    /// Asserts that the material reserves every claim that the job considers held.
    fn holds(&self, job: &Job) {
        for claim in job.claims() {
            let of = ClaimId { job: job.id, number: claim.number };
            let entry = self.materials[&claim.material_id].as_ref().unwrap().claims.get(&of).cloned();
            assert!(entry.is_some_and(|entry| !entry.waits()), "{job:#?}");
        }
    }

    fn count(&mut self, material: Id, units: i64) {
        let quantity = Some(Amount::units(units));
        self.material(material, &MaterialCommand::Update { if_version: None, fields: None, quantity });
    }

    /// Cancels jobs that hold all their materials, which releases the materials.
    fn serve(&mut self) {
        for order in self.orders.keys().copied().collect::<Vec<_>>() {
            let job = self.orders[&order].as_ref().unwrap().jobs.values().next().unwrap().clone();
            if job.state == JobState::Sliced {
                self.served += 1;
                self.order(order, &JobCommand::Cancel { job: job.id, force: false, prints: Default::default() });
            }
        }
    }
}

crate::drawn_cases! {
    60 of 300;
    #[test]
    fn all_jobs_get_their_materials_however_messages_come(
        needs in prop::collection::vec(prop::array::uniform3(1i64..=STOCK), 1..6),
        script in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 0..250),
    ) {
        let mut shop = Shop::new(&needs);
        let orders: Vec<Id> = shop.orders.keys().copied().collect();
        let material = |n: u8| id(1 + u32::from(n) % 3);
        for (what, which, luck) in script {
            let lost = luck.is_multiple_of(5);
            match what % 16 {
                0..=8 => shop.order_turn(orders[usize::from(which) % orders.len()], usize::from(luck), lost),
                9..=12 => shop.material_turn(material(which), lost),
                13 => shop.count(material(which), i64::from(luck) % STOCK),
                14 => shop.count(material(which), STOCK),
                _ => shop.serve(),
            }
        }
        (1..=3).for_each(|n| shop.count(id(n), STOCK));
        for _ in 0..400 {
            for order in &orders {
                (0..4).for_each(|which| shop.order_turn(*order, which, false));
            }
            (1..=3).for_each(|n| shop.material_turn(id(n), false));
            shop.serve();
        }
        prop_assert_eq!(shop.served, needs.len(), "no job waits for ever: {:#?}", shop.orders);
        for material in shop.materials.values().flatten() {
            prop_assert!(material.claims.is_empty() && material.reserved == Amount::ZERO);
            prop_assert_eq!(material.quantity, Amount::units(STOCK));
        }
    }
}
