//! Tests that apply the same payments, refunds, failed refunds, disputes and failed attempts in every order, with
//! repeats: status, jobs, flags, invoice and credit notes depend only on the set of events.
//!
//! There are exceptions, because issued documents are never changed and a refunded order accepts no further payment. A
//! payment reported after everything before it was refunded must be refunded. If the total was paid twice, a refund
//! reported between the payments is credited. A refund reported before its failure is credited. And if the total was
//! paid twice and a refund failed, the order of events decides whether the order ends as refunded.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use super::ledgers::{Act, Desk, InvoiceDesk, OrderDesk, TOTAL, next};
use crate::ledger::{DisputeState, LedgerOwner, LedgerStage, PaymentUpdate, books, kept_by_currency};
use crate::order::{OrderCommand, OrderStatus};

/// Two parts of the total.
const HALVES: [i64; 2] = [690, 500];
/// Maximum number of events for which all permutations are tried; for more events, only some are.
const MAX_EVENTS_OF_ALL: usize = 5;

/// Result of the events, as far as it must not depend on their order.
#[derive(Clone, PartialEq, Debug)]
struct Outcome {
    status: String,
    paid: bool,
    due_cents: i64,
    flags: Vec<String>,
    balances: BTreeMap<String, i64>,
    jobs: Vec<String>,
    /// Status, total, balance, and number of invoice documents of each invoice.
    invoices: Vec<(InvoiceStatus, i64, i64, usize)>,
    credited_cents: i64,
}

trait Shop: Desk {
    fn status(&self) -> (String, bool);
    fn jobs(&self) -> Vec<String>;

    fn is_refunded(&self) -> bool {
        self.status().0 == "refunded"
    }

    fn outcome(&mut self) -> Outcome {
        let (status, paid) = self.status();
        let mut flags = self.flags().to_vec();
        flags.sort();
        let due_cents = self.of().ledger().to_pay(&self.of().terms());
        let balances = kept_by_currency(&self.of().ledger().payments);
        let balances = balances.into_iter().map(|(currency, cents)| (currency.to_owned(), cents)).collect();
        let jobs = self.jobs();
        let (invoices, documents) = self.issued();
        let of = |invoice: &Invoice, kind| {
            documents.iter().filter(move |one| one.invoice_id == invoice.id && one.kind == kind).collect::<Vec<_>>()
        };
        let credited = |invoice: &Invoice| {
            let notes = of(invoice, DocumentKind::CreditNote);
            notes.iter().map(|one| one.payable_cents()).sum::<i64>()
        };
        let short = |invoice: &Invoice| {
            let issued = of(invoice, DocumentKind::Invoice).len();
            (invoice.status, invoice.content.sums.payable_cents(), invoice.ledger.kept_cents, issued)
        };
        Outcome {
            status,
            paid,
            due_cents,
            flags,
            balances,
            jobs,
            credited_cents: invoices.iter().map(credited).sum(),
            invoices: invoices.iter().map(short).collect(),
        }
    }
}

impl Shop for OrderDesk {
    fn status(&self) -> (String, bool) {
        (self.of().status.to_string(), self.of().paid_at.is_some())
    }
    fn jobs(&self) -> Vec<String> {
        let mut states: Vec<String> = self.of().jobs.values().map(|job| format!("{:?}", job.state)).collect();
        states.sort();
        states
    }
}

impl Shop for InvoiceDesk {
    fn status(&self) -> (String, bool) {
        (self.of().status.to_string(), self.of().paid_at.is_some())
    }
    fn jobs(&self) -> Vec<String> {
        Vec::new()
    }
}

fn paid(n: usize, amount: i64, foreign: bool) -> PaymentUpdate {
    PaymentUpdate::Paid {
        amount_cents: Some(amount),
        currency: Some(if foreign { "eur" } else { "usd" }.to_owned()),
        session: Some(format!("cs_{n}")),
        intent: Some(format!("pi_{n}")),
    }
}

fn refunded(n: usize, amount_cents: i64, whole: bool) -> PaymentUpdate {
    PaymentUpdate::Refunded { amount_cents, whole, currency: None, intent: Some(format!("pi_{n}")) }
}

/// Builds the events that all refunds of a payment failed; `sums` are the successive refund totals.
fn refunds_failed(n: usize, sums: &[i64]) -> Vec<PaymentUpdate> {
    let steps = std::iter::once(&0).chain(sums).zip(sums).map(|(before, sum)| sum - before).enumerate();
    let comes_back = |(at, amount_cents): (usize, i64)| {
        let (intent, refund) = (Some(format!("pi_{n}")), Some(format!("re_{n}_{at}")));
        PaymentUpdate::RefundFailed { amount_cents, reason: "expired_or_canceled_card".into(), intent, refund }
    };
    steps.filter(|(_, cents)| *cents > 0).map(comes_back).collect()
}

fn disputed(n: usize, amount_cents: i64, state: DisputeState) -> PaymentUpdate {
    let (id, intent) = (format!("dp_{n}"), Some(format!("pi_{n}")));
    PaymentUpdate::Disputed { id, amount_cents, reason: "fraudulent".into(), state, intent }
}

fn failed(n: usize) -> PaymentUpdate {
    PaymentUpdate::Failed { reason: None, intent: Some(format!("pi_{n}")), session: None }
}

/// Generates an amount that a customer may pay in one payment.
fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(TOTAL), 2 => Just(HALVES[0]), 2 => Just(HALVES[1]), 1 => 1i64..1500]
}

/// Generates all events about one payment. If one refund fails, all of the payment's refunds do: the total read at the
/// processor is then 0, whenever it is read.
fn payment(n: usize, amount: impl Strategy<Value = i64>) -> impl Strategy<Value = Vec<PaymentUpdate>> {
    let quarters = prop::collection::vec(1i64..=4, 0..3);
    let others =
        (prop::bool::weighted(0.15), prop::bool::weighted(0.15), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (amount, quarters, others, prop::bool::weighted(0.1)).prop_map(
        move |(amount, mut quarters, (is_disputed, is_lost, fails, comes_back), foreign)| {
            quarters.sort_unstable();
            quarters.dedup();
            let mut news = vec![paid(n, amount, foreign)];
            news.extend(quarters.iter().map(|quarter| refunded(n, amount * quarter / 4, *quarter == 4)));
            news.retain(|one| !matches!(one, PaymentUpdate::Refunded { amount_cents: 0, .. }));
            if comes_back {
                let sums: Vec<i64> = quarters.iter().map(|quarter| amount * quarter / 4).collect();
                news.extend(refunds_failed(n, &sums));
            }
            if is_disputed {
                news.push(disputed(n, amount / 3 + 1, DisputeState::Open));
                let state = if is_lost { DisputeState::Lost } else { DisputeState::Won };
                news.push(disputed(n, amount / 3 + 1, state));
            }
            if fails {
                news.push(failed(n));
            }
            news
        },
    )
}

/// Generates all events of up to three payments, or of two that add up to the total.
fn payments() -> impl Strategy<Value = Vec<PaymentUpdate>> {
    let some =
        |share: f64, n: usize| prop::option::weighted(share, payment(n, amount())).prop_map(Option::unwrap_or_default);
    let any = (payment(0, amount()), some(0.5, 1), some(0.2, 2));
    let any = any.prop_map(|(first, second, third)| [first, second, third].concat());
    let halves = (payment(0, Just(HALVES[0])), payment(1, Just(HALVES[1])));
    let halves = halves.prop_map(|(first, second)| [first, second].concat());
    prop_oneof![3 => any, 1 => halves]
}

/// Generates a set of events, payments first.
fn events() -> impl Strategy<Value = Vec<PaymentUpdate>> {
    let others = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (payments(), others).prop_map(|(mut all, (declined, expired))| {
        all.extend(declined.then(|| failed(9)));
        all.extend(expired.then(|| PaymentUpdate::SessionExpired { session: Some("cs_9".to_owned()) }));
        all.sort_by_key(|one| !matches!(one, PaymentUpdate::Paid { .. }));
        all
    })
}

/// Returns all permutations of `count` items, or only some of them.
fn permutations(count: usize, mut seed: u64) -> Vec<Vec<usize>> {
    if count <= MAX_EVENTS_OF_ALL {
        let mut all = vec![Vec::new()];
        for n in 0..count {
            let longer = |one: &Vec<usize>| {
                (0..=one.len()).map(|at| [&one[..at], &[n], &one[at..]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        return all;
    }
    let shuffled = |_| {
        let mut one: Vec<usize> = (0..count).collect();
        for n in (1..count).rev() {
            one.swap(n, next(&mut seed) % (n + 1));
        }
        one
    };
    (0..40).map(shuffled).collect()
}

/// Delivers the reads of refund totals that are currently required; each total is 0, as [`payment`] assumes.
fn read_refunds<D: Desk>(desk: &mut D) {
    for effect in desk.of().ledger().effects(&desk.of().terms()) {
        if let LedgerEffect::ReadRefunds { intent, number } = effect {
            assert!(desk.tell(LedgerCommand::RefundsRead { intent, number, refunded_cents: Some(0) }));
        }
    }
}

/// Delivers the events in the given order, and some of them again; returns whether any payment arrived for a refunded
/// order or invoice.
fn tell<D: Shop>(desk: &mut D, events: &[PaymentUpdate], order: &[usize], seed: &mut u64) -> bool {
    let mut came_late = false;
    for (at, n) in order.iter().enumerate() {
        came_late |= matches!(events[*n], PaymentUpdate::Paid { .. }) && desk.is_refunded();
        assert!(desk.tell(LedgerCommand::Payment(events[*n].clone())), "an event is never refused");
        if next(seed).is_multiple_of(3) {
            let again = order[next(seed) % (at + 1)];
            assert!(desk.tell(LedgerCommand::Payment(events[again].clone())));
        }
        if next(seed).is_multiple_of(2) {
            read_refunds(desk);
        }
        if next(seed).is_multiple_of(2) {
            desk.issued(); // The invoice of an order follows at any time.
        }
    }
    read_refunds(desk);
    came_late
}

/// Returns whether the balance differs from what was due in amount or currency, calculated from all the processor's
/// events and the cash recorded.
fn is_mismatch(events: &[PaymentUpdate], cash: i64) -> bool {
    let (mut balance, mut standing, mut is_unlike, mut is_foreign) = (cash, cash, false, false);
    for event in events {
        let PaymentUpdate::Paid { amount_cents: Some(amount), currency, intent: paid, .. } = event else { continue };
        let (mut refunded, mut lost) = (0, 0);
        let is_back = |one: &PaymentUpdate| matches!(one, PaymentUpdate::RefundFailed { intent, .. } if intent == paid);
        let comes_back = events.iter().any(is_back);
        for event in events {
            match event {
                PaymentUpdate::Refunded { amount_cents, intent, .. } if intent == paid && !comes_back => {
                    refunded = refunded.max(*amount_cents);
                }
                PaymentUpdate::Disputed { state: DisputeState::Lost, amount_cents, intent, .. } if intent == paid => {
                    lost = *amount_cents;
                }
                _ => {}
            }
        }
        let left = (amount - refunded - lost).max(0);
        if left == 0 {
            continue;
        }
        if currency.as_deref() == Some("usd") {
            is_unlike |= *amount != TOTAL && *amount != TOTAL - cash;
            (balance, standing) = (balance + left, standing + amount);
        } else {
            is_foreign = true;
        }
    }
    is_foreign || (is_unlike && balance != TOTAL && standing != TOTAL)
}

fn any_order_ends_the_same<D: Shop>(
    new: impl Fn() -> D,
    events: &[PaymentUpdate],
    cash: Option<i64>,
    mut seed: u64,
) -> Result<(), TestCaseError> {
    let mut first = new();
    let sorted: Vec<usize> = (0..events.len()).collect();
    tell(&mut first, events, &sorted, &mut seed);
    let expected = first.outcome();
    let is_flagged = expected.flags.iter().any(|flag| flag == "amount_mismatch");
    prop_assert_eq!(is_flagged, is_mismatch(events, cash.unwrap_or_default()));
    let paid_twice = books(first.of().ledger(), &first.of().terms()).received > TOTAL;
    let is_back = |one: &PaymentUpdate| matches!(one, PaymentUpdate::RefundFailed { .. });
    let comes_back = events.iter().any(is_back);
    for order in permutations(events.len(), seed) {
        let mut desk = new();
        let came_late = tell(&mut desk, events, &order, &mut seed);
        let outcome = desk.outcome();
        let delivered: Vec<&PaymentUpdate> = order.iter().map(|n| &events[*n]).collect();
        prop_assert_eq!(&outcome.balances, &expected.balances, "{:?}", delivered);
        if paid_twice && comes_back {
            continue;
        }
        if came_late && expected.status != "refunded" {
            prop_assert_eq!(desk.of().terms().stage, LedgerStage::Closed);
            prop_assert!(desk.flags().iter().any(|flag| flag == "refund_due"), "{:?}", delivered);
            continue;
        }
        if paid_twice || comes_back {
            prop_assert!(
                outcome.credited_cents >= TOTAL - desk.of().ledger().kept_cents.clamp(0, TOTAL) || !outcome.paid
            );
            let credited_cents = expected.credited_cents;
            prop_assert_eq!(Outcome { credited_cents, ..outcome }, expected.clone(), "{:?}", delivered);
        } else {
            prop_assert_eq!(&outcome, &expected, "{:?}", delivered);
        }
    }
    Ok(())
}

fn order(placed: bool, cash: Option<i64>) -> OrderDesk {
    let mut desk = OrderDesk::new();
    if placed {
        assert!(desk.ask(&OrderCommand::Confirm));
    }
    cash.into_iter().for_each(|cents| assert!(desk.act(Act::Cash(cents))));
    desk
}

fn invoice(cash: Option<i64>) -> InvoiceDesk {
    let mut desk = InvoiceDesk::new();
    cash.into_iter().for_each(|cents| assert!(desk.act(Act::Cash(cents))));
    desk
}

crate::drawn_cases! {
    40 of 150;
    #[test]
    fn status_jobs_flags_invoice_and_credit_notes_follow_from_the_set(
        events in events(), placed in any::<bool>(), cash in prop::option::weighted(0.3, prop_oneof![Just(HALVES[0]), Just(HALVES[1])]),
        seed in any::<u64>(),
    ) {
        any_order_ends_the_same(|| order(placed, cash), &events, cash, seed)?;
        any_order_ends_the_same(|| invoice(cash), &events, cash, seed)?;
    }
}

#[test]
fn a_payment_in_whole_and_a_refund_in_part_pay_in_either_order() {
    for sequence in [[0, 1], [1, 0]] {
        let news = [paid(0, TOTAL, false), refunded(0, 450, false)];
        let mut desk = order(true, None);
        tell(&mut desk, &news, &sequence, &mut 1);
        let outcome = desk.outcome();
        assert_eq!(
            (desk.of().status, outcome.due_cents, outcome.jobs.len()),
            (OrderStatus::Paid, 0, 1),
            "{sequence:?}"
        );
        assert_eq!((outcome.invoices, outcome.credited_cents), (vec![(InvoiceStatus::Paid, TOTAL, 740, 1)], 450));
        let (_, documents) = desk.issued();
        assert_eq!(documents[0].paid_cents, TOTAL, "what was paid when it was issued");
        let mut desk = invoice(None);
        tell(&mut desk, &news, &sequence, &mut 1);
        let outcome = desk.outcome();
        assert_eq!((&*outcome.status, outcome.due_cents, outcome.credited_cents), ("paid", 0, 450), "{sequence:?}");
    }
}

#[test]
fn what_an_older_release_left_unpaid_is_recounted() {
    let mut desk = invoice(None);
    tell(&mut desk, &[refunded(0, 450, false), paid(0, TOTAL, false)], &[0, 1], &mut 1);
    let mut left = desk.of().clone();
    (left.status, left.paid_at) = (InvoiceStatus::PartiallyPaid, None);
    left.documents.truncate(1);
    desk.invoice = Some(left);
    assert_eq!(desk.of().ledger().effects(&desk.of().terms()), [LedgerEffect::Recount]);
    assert!(desk.tell(LedgerCommand::Recount));
    assert_eq!((desk.of().status, desk.of().credited_cents()), (InvoiceStatus::Paid, 450));
}
