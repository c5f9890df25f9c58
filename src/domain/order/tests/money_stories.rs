//! Property test: an order's books match the processor's whatever the order of its payment events.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::money::{cash, refunded, unpaid};
use super::*;

/// Payment at the processor: the amount, whether it is in a different currency, and the refunds made in steps.
#[derive(Clone, Debug)]
struct Charge {
    amount: i64,
    foreign: bool,
    refunds: Vec<i64>,
}

/// Event that reaches the order: a payment or refund of one of the charges, a cash movement, or a cancellation.
#[derive(Clone, Debug)]
enum Heard {
    Paid(usize),
    Refunded(usize, i64),
    Cash(i64),
    CashBack(i64),
    Cancelled,
}

fn charge() -> impl Strategy<Value = Charge> {
    let amount = prop_oneof![3 => Just(500i64), 1 => Just(250), 1 => 1i64..900];
    (amount, prop::bool::weighted(0.1), prop::collection::vec(0u8..5, 0..3)).prop_map(|(amount, foreign, quarters)| {
        let mut refunds: Vec<i64> = quarters.iter().map(|quarter| amount * i64::from(*quarter) / 4).collect();
        refunds.retain(|cents| *cents > 0);
        refunds.sort_unstable();
        Charge { amount, foreign, refunds }
    })
}

/// Generates charges and their events in random order with repeats, each event at least once.
fn story() -> impl Strategy<Value = (Vec<Charge>, Vec<Heard>)> {
    let others = prop::collection::vec(
        prop_oneof![6 => (1i64..600).prop_map(Heard::Cash), 2 => (1i64..600).prop_map(Heard::CashBack), 1 => Just(Heard::Cancelled)],
        0..2,
    );
    (prop::collection::vec(charge(), 1..4), others).prop_flat_map(|(charges, others)| {
        let mut all = others;
        for (n, charge) in charges.iter().enumerate() {
            all.push(Heard::Paid(n));
            all.extend(charge.refunds.iter().map(|cents| Heard::Refunded(n, *cents)));
        }
        let repeats = prop::collection::vec(0..all.len(), 0..4);
        (Just(charges), Just(all), repeats)
            .prop_map(|(charges, mut all, repeats)| {
                for again in repeats {
                    if !matches!(all[again], Heard::Cash(_) | Heard::CashBack(_)) {
                        all.push(all[again].clone());
                    }
                }
                (charges, all)
            })
            .prop_flat_map(|(charges, all)| (Just(charges), Just(all).prop_shuffle()))
    })
}

crate::drawn_cases! {
    400 of 2_000;
    #[test]
    fn the_books_are_the_processors_whatever_the_order((charges, messages) in story()) {
        let mut desk = unpaid();
        let total = 500;
        let (mut drawer, mut received, mut back) = (0, BTreeMap::new(), BTreeMap::<usize, i64>::new());
        for one in messages {
            let before = desk.o().clone();
            match one {
                Heard::Paid(n) => {
                    received.insert(n, charges[n].amount);
                    let currency = Some(if charges[n].foreign { "eur" } else { "usd" }.to_owned());
                    let amount_cents = Some(charges[n].amount);
                    let (session, intent) = (Some(format!("cs_{n}")), Some(format!("pi_{n}")));
                    desk.news(PaymentUpdate::Paid { amount_cents, currency, session, intent });
                }
                Heard::Refunded(n, cents) => {
                    let most = back.entry(n).or_default();
                    *most = cents.max(*most);
                    desk.news(refunded(cents, cents == charges[n].amount, &format!("pi_{n}")));
                }
                Heard::Cash(cents) => if cash(&mut desk, Some(cents)).is_ok() {
                    drawer += cents;
                },
                Heard::CashBack(cents) => {
                    let cash = desk.o().ledger.payments.iter().find(|one| one.method == "cash" && one.amount_cents > 0);
                    let payment = cash.map(|one| one.id);
                    let back = OrderCommand::Refund { payment, amount_cents: Some(cents), at_processor: false };
                    if desk.ask(&back).is_ok() {
                        drawer -= cents;
                    }
                }
                Heard::Cancelled => {
                    let _ = desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() });
                }
            }
            let of = |foreign: bool| {
                let left = |(n, amount): (&usize, &i64)| amount - back.get(n).copied().unwrap_or(0);
                received.iter().filter(|(n, _)| charges[**n].foreign == foreign).map(left).sum::<i64>()
            };
            let (balance, euros) = (drawer + of(false), of(true));
            let order = desk.o();
            prop_assert_eq!(order.ledger.kept_cents, balance, "the books");
            prop_assert!(!order.status.payable() || balance < total, "unpaid while it is paid");
            let flagged = |flag: &str| order.flags.iter().any(|one| one == flag);
            if order.status == OrderStatus::Refunded {
                prop_assert!(before.status == OrderStatus::Refunded || balance == 0, "refunded while money is kept");
                // Only money that came after the end of the order can still be there.
                prop_assert_eq!(flagged("refund_due"), balance > 0 || euros > 0);
                prop_assert!(order.jobs.values().all(|job| job.state == JobState::Cancelled));
            }
            let done = matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded);
            let owed = if done { 0 } else { total };
            prop_assert_eq!(flagged("refund_due"), !order.status.payable() && (balance > owed || euros > 0));
            prop_assert!(order.status != OrderStatus::Paid || balance > 0);
            prop_assert_eq!(order.jobs.size(), usize::from(order.jobs.size() > 0), "jobs are made once");
            // What is on disk gives the same sums again.
            let head: Order = serde_json::from_str(&serde_json::to_string(order).unwrap()).unwrap();
            let ledger = Ledger { payments: order.ledger.payments.clone(), ..head.ledger };
            let loaded = Order { ledger, jobs: order.jobs.clone(), ..head };
            prop_assert_eq!(&loaded, order);
        }
    }
}
