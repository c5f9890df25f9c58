#![expect(clippy::unwrap_used, reason = "tests")]

mod cases;
mod totals;

use std::collections::BTreeMap;

use super::*;
use crate::aggregate::Aggregate as _;
use crate::order::{ChannelOrigin, Order, OrderCommand, OrderStatus, ShopOrderChange, SoldOrder};
use crate::testing::orders::order_to;
use crate::testing::{Bench, id};

const CHANNEL: u32 = 7;

fn content(quantity: u32) -> SoldContent {
    SoldContent {
        lines: vec![SoldLine {
            line_id: "1".to_owned(),
            variant: Some("V1".to_owned()),
            code: None,
            title: "Vase".to_owned(),
            quantity,
            unit_price_cents: 1250,
            tax_rate_bps: 800,
        }],
        currency: "usd".to_owned(),
        taxes_included: false,
        shipping_cents: 500,
        shipping_tax_rate_bps: 800,
        discount_cents: 0,
        total_cents: (i64::from(quantity) * 1250 + 500) * 108 / 100,
        customer_email: Some("ann@example.org".to_owned()),
        address: None,
        recipient: None,
        notes: None,
    }
}

/// Returns the successive messages about an order: placed, paid, changed, then cancelled or partly refunded.
fn messages(n: u32) -> Vec<ShopOrderUpdate> {
    let news = |at: i64, quantity: u32| ShopOrderUpdate {
        external_id: n.to_string(),
        number: format!("#{n}"),
        changed_at: Timestamp(at),
        paid: at > 1,
        cancelled: false,
        refunded_cents: 0,
        content: Some(content(quantity)),
        unreadable: None,
    };
    let mut all = vec![news(1, 1), news(2, 1), news(3, 2)];
    if n.is_multiple_of(5) {
        all.push(ShopOrderUpdate { refunded_cents: 700, ..news(4, 2) });
    }
    if n.is_multiple_of(7) {
        all.push(ShopOrderUpdate { cancelled: true, ..news(5, 2) });
    }
    all
}

fn hear(news: ShopOrderUpdate) -> ChannelOrderCommand {
    ChannelOrderCommand::Hear { channel: id(CHANNEL), customer: None, news: Box::new(news) }
}

/// Simulated shop with records and orders: executes effects step by step, with a possible crash between any two steps.
struct World {
    bench: Bench,
    records: BTreeMap<u32, Option<ChannelOrder>>,
    orders: BTreeMap<Id, Option<Order>>,
    creations: BTreeMap<Id, u32>,
    mapped: bool,
}

impl World {
    fn new() -> Self {
        let (records, orders, creations) = Default::default();
        Self { bench: Bench::new(), records, orders, creations, mapped: false }
    }

    fn hear(&mut self, n: u32, news: &ShopOrderUpdate) {
        let record = self.records.entry(n).or_default();
        self.bench.tell(record, id(1000 + n), &hear(news.clone())).unwrap();
    }

    fn tell(&mut self, n: u32, command: &ChannelOrderCommand) {
        self.bench.tell(self.records.get_mut(&n).unwrap(), id(1000 + n), command).unwrap();
    }

    /// Executes one effect of a record; if `lost`, the process crashes before the outcome is recorded.
    fn step(&mut self, n: u32, lost: bool) -> bool {
        let record = self.records[&n].clone().unwrap();
        let Some(effect) = record.effects().into_iter().next() else { return false };
        let command = match effect {
            ChannelOrderEffect::Resolve { .. } if self.mapped => ChannelOrderCommand::Resolved,
            ChannelOrderEffect::Resolve { .. } => {
                let unresolved = ChannelOrderCommand::Unresolved { missing: vec!["V1".to_owned()], problem: None };
                if record.missing.is_empty() {
                    self.tell(n, &unresolved);
                }
                return false;
            }
            ChannelOrderEffect::Make => {
                let order = self.orders.entry(record.order_id).or_default();
                if order.is_none() {
                    let sold = OrderCommand::CreateSold(Box::new(sold(&record)));
                    self.bench.tell(order, record.order_id, &sold).unwrap();
                    *self.creations.entry(record.order_id).or_default() += 1;
                }
                ChannelOrderCommand::Made
            }
            ChannelOrderEffect::TellOrder(reported) => {
                let ShopState { cancelled, refunded_cents } = reported;
                let news = OrderCommand::There(ShopOrderChange { cancelled, refunded_cents });
                let order = self.orders.get_mut(&record.order_id).unwrap();
                self.bench.tell(order, record.order_id, &news).unwrap();
                ChannelOrderCommand::Told { reported, refused: None }
            }
            ChannelOrderEffect::TellShop { .. } => return false,
        };
        if !lost {
            self.tell(n, &command);
        }
        true
    }
}

fn sold(record: &ChannelOrder) -> SoldOrder {
    let content = record.content.as_ref().unwrap();
    let costs = amounts(content).unwrap();
    let mut new = order_to("US", costs.unit_prices[0]);
    new.lines[0].quantity = content.lines[0].quantity;
    new.lines[0].tax_rate_bps = content.lines[0].tax_rate_bps;
    SoldOrder {
        new,
        sold: ChannelOrigin {
            channel_order_id: record.id,
            channel_id: record.channel_id,
            number: record.number.clone(),
            lines: 1,
            shipping_tax_rate_bps: content.shipping_tax_rate_bps,
            rounding_cents: costs.rounding_cents,
            tells_customer: true,
            told_shipments: 0,
            told_last: false,
        },
        shipping_cents: costs.shipping_cents,
        discount_cents: costs.discount_cents,
        total_cents: content.total_cents,
    }
}

/// Deterministic random source (`SplitMix64`) for a run of 10,000 messages about 500 orders: each message is sent
/// several times, all are shuffled, the map is completed midway, and the process may crash between any two steps.
struct Chance(u64);

impl Chance {
    /// Returns a number from 0 to `end - 1`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1))]
    #[test]
    fn of_ten_thousand_shuffled_messages_none_makes_a_second_order_and_none_is_lost(seed: u64) {
        hear_ten_thousand_shuffled_messages(seed..=seed);
    }
}

mod long {
    #[test]
    fn of_ten_thousand_shuffled_messages_none_makes_a_second_order_and_none_is_lost() {
        super::hear_ten_thousand_shuffled_messages(1..=3);
    }
}

fn hear_ten_thousand_shuffled_messages(seeds: std::ops::RangeInclusive<u64>) {
    for seed in seeds {
        let mut random = Chance(seed);
        let mut world = World::new();
        let orders = 500;
        let mut all: Vec<(u32, ShopOrderUpdate)> = Vec::new();
        for n in 1..=orders {
            let of_it = messages(n);
            for k in 0..20 {
                all.push((n, of_it[k % of_it.len()].clone()));
            }
        }
        assert_eq!(all.len(), 10_000);
        for at in (1..all.len()).rev() {
            all.swap(at, random.below(at + 1));
        }
        for (at, (n, news)) in all.iter().enumerate() {
            world.mapped = at > 3_000;
            world.hear(*n, news);
            for _ in 0..random.below(3) {
                world.step(*n, random.below(5) == 0);
            }
        }
        for n in 1..=orders {
            for _ in 0..20 {
                if !world.step(n, false) {
                    break;
                }
            }
        }
        assert!(world.creations.values().all(|count| *count == 1), "seed {seed}");
        for n in 1..=orders {
            let record = world.records[&n].as_ref().unwrap();
            let order = world.orders.get(&record.order_id).and_then(Option::as_ref);
            let cancelled = n.is_multiple_of(7);
            assert!(record.effects().is_empty(), "seed {seed}, order {n}: {record:?}");
            match order {
                None => assert!(cancelled && record.status() == ChannelOrderStatus::Cancelled, "{seed} {n} is lost"),
                Some(order) => {
                    let paid: i64 = order
                        .ledger
                        .payments
                        .iter()
                        .filter(|one| one.amount_cents > 0)
                        .map(|one| one.amount_cents)
                        .sum();
                    let back: i64 = order
                        .ledger
                        .payments
                        .iter()
                        .filter(|one| one.amount_cents < 0)
                        .map(|one| -one.amount_cents)
                        .sum();
                    assert_eq!((paid, order.ledger.payments[0].method.as_str()), (order.total_cents, "channel"));
                    assert_eq!(back, if n.is_multiple_of(5) { 700 } else { 0 }, "seed {seed}, order {n}");
                    assert_eq!(order.status == OrderStatus::Cancelled, cancelled, "seed {seed}, order {n}");
                    assert!(order.invoice.is_some());
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_made_is_kept_and_told_once() {
    let mut world = World::new();
    world.hear(1, &messages(1)[0]);
    assert_eq!(world.records[&1].as_ref().unwrap().status(), ChannelOrderStatus::Unpaid);
    assert!(world.records[&1].as_ref().unwrap().effects().is_empty());
    world.hear(1, &messages(1)[1]);
    let unresolved = ChannelOrderCommand::Unresolved { missing: vec!["V1".to_owned()], problem: None };
    let record = world.records.get_mut(&1).unwrap();
    let first = world.bench.tell(record, id(1001), &unresolved).unwrap();
    assert_eq!(first.created.len(), 1, "the operators are told");
    assert!(world.bench.tell(record, id(1001), &unresolved).unwrap().next.is_none());
    assert!(record.as_ref().unwrap().needs_attention());
    world.mapped = true;
    assert!(world.step(1, false) && world.step(1, true) && world.step(1, false));
    let record = world.records[&1].as_ref().unwrap();
    assert_eq!(record.status(), ChannelOrderStatus::Made);
    assert!(!record.needs_attention());
    assert_eq!(world.creations[&record.order_id], 1);
}

#[test]
fn what_was_paid_and_cannot_be_read_is_kept_and_told_once() {
    let mut world = World::new();
    world.mapped = true;
    let unreadable = |n: usize| ShopOrderUpdate {
        content: None,
        unreadable: Some("line_items is missing or invalid".to_owned()),
        ..messages(1)[n].clone()
    };
    let mut record = None::<ChannelOrder>;
    let unpaid = world.bench.tell(&mut record, id(1001), &hear(unreadable(0))).unwrap();
    assert!(unpaid.created.is_empty() && !record.as_ref().unwrap().needs_attention(), "nobody paid for it");
    let paid = world.bench.tell(&mut record, id(1001), &hear(unreadable(1))).unwrap();
    assert_eq!(paid.created.len(), 1, "the operators are told");
    assert!(world.bench.tell(&mut record, id(1001), &hear(unreadable(1))).unwrap().next.is_none(), "once");
    let waiting = record.clone().unwrap();
    assert_eq!((waiting.status(), waiting.needs_attention()), (ChannelOrderStatus::Waiting, true));
    assert!(waiting.effects().is_empty(), "there is nothing to be looked up");
    // Changed there, it is sent again, and made.
    world.records.insert(1, record);
    world.hear(1, &messages(1)[2]);
    assert_eq!(world.records[&1].as_ref().unwrap().problem, None);
    assert!(world.step(1, false) && world.step(1, false));
    assert_eq!(world.records[&1].as_ref().unwrap().status(), ChannelOrderStatus::Made);
}

#[test]
fn what_is_missing_once_it_can_be_read_is_told_as_well() {
    let (bench, mut record) = (Bench::new(), None::<ChannelOrder>);
    let unreadable =
        ShopOrderUpdate { content: None, unreadable: Some("line_items".to_owned()), ..messages(1)[1].clone() };
    assert_eq!(bench.tell(&mut record, id(1001), &hear(unreadable)).unwrap().created.len(), 1);
    assert!(bench.tell(&mut record, id(1001), &hear(messages(1)[1].clone())).unwrap().created.is_empty());
    let unresolved = |name: &str| ChannelOrderCommand::Unresolved { missing: vec![name.to_owned()], problem: None };
    assert_eq!(bench.tell(&mut record, id(1001), &unresolved("V1")).unwrap().created.len(), 1, "something else");
    assert!(bench.tell(&mut record, id(1001), &hear(messages(1)[2].clone())).unwrap().created.is_empty());
    assert!(bench.tell(&mut record, id(1001), &unresolved("V2")).unwrap().created.is_empty(), "once");
}

#[test]
fn what_the_rules_refuse_waits_for_a_change_or_a_person() {
    let mut world = World::new();
    world.mapped = true;
    world.hear(1, &messages(1)[1]);
    world.step(1, false);
    world.tell(1, &ChannelOrderCommand::NotMade("too many jobs".to_owned()));
    let record = world.records[&1].clone().unwrap();
    assert!(record.refused && !record.making);
    let before = record.effects();
    world.tell(1, &ChannelOrderCommand::Retry);
    let record = world.records[&1].clone().unwrap();
    assert!(!record.refused && record.problem.is_none());
    assert_ne!(record.effects(), before, "it is tried anew");
}

fn shipment(number: u32, last: bool) -> ReportedShipment {
    let (carrier, tracking_number) = ("DHL".to_owned(), format!("T{number}"));
    ReportedShipment { number, carrier, tracking_number, units: vec![1], last }
}

#[test]
fn shipments_are_told_one_after_the_other_until_the_shop_knows_them() {
    let mut world = World::new();
    world.hear(1, &messages(1)[1]);
    world.tell(1, &ChannelOrderCommand::Shipped(vec![shipment(1, false)]));
    world.tell(1, &ChannelOrderCommand::Shipped(vec![shipment(1, false), shipment(2, true)]));
    let due = |world: &World| {
        let effects = world.records[&1].as_ref().unwrap().effects();
        effects.into_iter().find_map(|effect| match effect {
            ChannelOrderEffect::TellShop { number, tries, at } => Some((number, tries, at)),
            _ => None,
        })
    };
    assert_eq!(due(&world).map(|(number, tries, _)| (number, tries)), Some((1, 0)));
    world.tell(1, &ChannelOrderCommand::Tracked { number: 1, outcome: TrackingOutcome::Again("away".to_owned()) });
    let (number, tries, at) = due(&world).unwrap();
    assert_eq!((number, tries), (1, 1));
    assert!(at > world.bench.now, "not at once");
    world.tell(1, &ChannelOrderCommand::Tracked { number: 1, outcome: TrackingOutcome::Told });
    assert_eq!(due(&world).map(|(number, ..)| number), Some(2));
    let record = world.records.get_mut(&1).unwrap();
    let refused = TrackingOutcome::Refused("422 no".to_owned());
    let decision = world.bench.tell(record, id(1001), &ChannelOrderCommand::Tracked { number: 2, outcome: refused });
    assert_eq!(decision.unwrap().created.len(), 1, "a person has to look");
    assert_eq!(due(&world), None);
    world.tell(1, &ChannelOrderCommand::Retry);
    assert_eq!(due(&world).map(|(number, tries, _)| (number, tries)), Some((2, 0)));
}
