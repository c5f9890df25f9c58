//! Simulated payment processor as seen by ledgers.

use std::collections::BTreeMap;

use super::super::super::*;
use crate::ledger::{CheckoutResult, DisputeState, LedgerOwner, PaymentUpdate, RefundResult};

/// Refund: its key, its amount, and whether it failed later.
type RefundMade = (Id, i64, bool);

/// Simulated processor: the amount of each session, and the payments and refunds of each intent.
#[derive(Default)]
pub(super) struct Processor {
    /// Session created by the first request with each idempotency key.
    pub(super) keys: BTreeMap<String, String>,
    /// Amount of each session, and whether the session is open, paid or closed.
    pub(super) sessions: BTreeMap<String, (i64, char)>,
    /// Refunded amount of each session's payment, with the individual refunds.
    pub(super) back: BTreeMap<String, (i64, Vec<RefundMade>)>,
    /// Amount of each session's payment lost to disputes or refunded by other means.
    pub(super) lost: BTreeMap<String, i64>,
    pub(super) otherwise: BTreeMap<String, i64>,
    /// Events from the processor, each of which may be delivered at any time and repeatedly.
    pub(super) events: Vec<PaymentUpdate>,
}

impl Processor {
    pub(super) fn paid(&self, session: &str) -> PaymentUpdate {
        PaymentUpdate::Paid {
            amount_cents: Some(self.sessions[session].0),
            currency: Some("usd".into()),
            session: Some(session.to_owned()),
            intent: Some(format!("pi_of_{session}")),
        }
    }

    pub(super) fn in_state(&self, state: char, which: usize) -> Option<String> {
        let fit: Vec<&String> =
            self.sessions.iter().filter(|(_, (_, is))| *is == state).map(|(name, _)| name).collect();
        fit.get(which % fit.len().max(1)).map(|name| (*name).clone())
    }

    /// Simulates a customer who pays an open session, or whose card is declined.
    pub(super) fn pay(&mut self, which: usize) {
        let Some(session) = self.in_state('o', which) else { return };
        if which.is_multiple_of(5) {
            let intent = Some(format!("pi_of_{session}"));
            return self.events.push(PaymentUpdate::Failed { reason: None, intent, session: None });
        }
        self.sessions.get_mut(&session).unwrap().1 = 'p';
        let paid = self.paid(&session);
        self.events.push(paid);
    }

    /// Simulates the expiry of an open session.
    pub(super) fn expire(&mut self, which: usize) {
        let Some(session) = self.in_state('o', which) else { return };
        self.sessions.get_mut(&session).unwrap().1 = 'c';
        self.events.push(PaymentUpdate::SessionExpired { session: Some(session) });
    }

    /// Makes one refund per key; returns the total refunded, and whether this call made the refund.
    pub(super) fn give_back(&mut self, session: &str, cents: i64, key: Id) -> (i64, bool) {
        let (left, amount) = (self.left(session), self.sessions[session].0);
        let (sum, keys) = self.back.entry(session.to_owned()).or_default();
        if keys.iter().any(|(refund_key, ..)| *refund_key == key) {
            return (*sum, true);
        }
        if cents > left {
            return (*sum, false);
        }
        keys.push((key, cents, false));
        *sum += cents;
        let (amount_cents, whole) = (*sum, *sum == amount);
        let intent = Some(format!("pi_of_{session}"));
        self.events.push(PaymentUpdate::Refunded { amount_cents, whole, currency: None, intent });
        (amount_cents, true)
    }

    /// Simulates a refund that fails after it was accepted; several events report the failure.
    pub(super) fn fail_back(&mut self, which: usize) {
        let standing = self.back.iter().flat_map(|(session, (_, refunds))| {
            let stands = refunds.iter().enumerate().filter(|(_, (.., failed))| !*failed);
            stands.map(move |(at, (_, cents, _))| (session.clone(), at, *cents))
        });
        let standing: Vec<(String, usize, i64)> = standing.collect();
        let Some((session, at, cents)) = standing.get(which % standing.len().max(1)).cloned() else { return };
        let (sum, refunds) = self.back.get_mut(&session).unwrap();
        *sum -= cents;
        refunds[at].2 = true;
        let (intent, refund) = (Some(format!("pi_of_{session}")), Some(format!("re_{at}_of_{session}")));
        let failed = PaymentUpdate::RefundFailed { amount_cents: cents, reason: "expired".into(), intent, refund };
        self.events.extend([failed.clone(), failed]);
    }

    /// Returns the amount that remains of a session's payment after all refunds and disputes.
    pub(super) fn left(&self, session: &str) -> i64 {
        let (amount, _) = self.sessions[session];
        let gone = [&self.lost, &self.otherwise].map(|of| of.get(session).copied().unwrap_or_default());
        amount - gone[0] - gone[1] - self.back.get(session).map_or(0, |(sum, _)| *sum)
    }

    /// Simulates a dispute by the customer's bank over the remainder of a payment, and its outcome.
    pub(super) fn dispute(&mut self, which: usize) {
        let Some(session) = self.in_state('p', which) else { return };
        let amount_cents = self.left(&session);
        if amount_cents == 0 {
            return;
        }
        let (id, intent) = (format!("dp_{}", self.events.len()), Some(format!("pi_of_{session}")));
        let disputed = |state| PaymentUpdate::Disputed {
            id: id.clone(),
            amount_cents,
            reason: "fraudulent".into(),
            state,
            intent: intent.clone(),
        };
        self.events.push(disputed(DisputeState::Open));
        if which.is_multiple_of(2) {
            return self.events.push(disputed(DisputeState::Won));
        }
        self.events.push(disputed(DisputeState::Lost));
        *self.lost.entry(session).or_default() += amount_cents;
    }

    /// Executes an effect; the response may be lost.
    pub(super) fn call(&mut self, of: &impl LedgerOwner, effect: &LedgerEffect) -> Option<LedgerCommand> {
        match effect {
            LedgerEffect::MakeSession { number } => {
                let checkout = of.ledger().checkout()?;
                let next = format!("cs_{}", self.sessions.len());
                let session = self.keys.entry(format!("key-{number}")).or_insert(next).clone();
                let entry = self.sessions.entry(session.clone()).or_insert((checkout.amount_cents, 'o'));
                assert_eq!(entry.0, checkout.amount_cents, "one key for two requests");
                let expires_at = Timestamp(1_700_000_000_000);
                let news = CheckoutResult::Made { session, url: "https://pay".into(), expires_at };
                Some(LedgerCommand::CheckoutMade { number: *number, news })
            }
            LedgerEffect::CloseSession { session } => {
                let state = &mut self.sessions.get_mut(session)?.1;
                if *state == 'p' {
                    return Some(LedgerCommand::Payment(self.paid(session)));
                }
                *state = 'c';
                Some(LedgerCommand::SessionClosed(session.clone()))
            }
            LedgerEffect::Refund { refund } => {
                let request = of.ledger().at_processor.refunds.iter().find(|one| one.id == *refund)?;
                let session = request.intent.strip_prefix("pi_of_")?.to_owned();
                let news = match self.give_back(&session, request.amount_cents, *refund) {
                    (refunded_cents, true) => RefundResult::Taken { refunded_cents },
                    (sum, false) => RefundResult::Refused { refunded_cents: Some(sum), reason: "too much".into() },
                };
                Some(LedgerCommand::RefundNews { refund: *refund, news })
            }
            LedgerEffect::ReadRefunds { intent, number } => {
                let refunded_cents = Some(self.back.get(intent.strip_prefix("pi_of_")?).map_or(0, |(sum, _)| *sum));
                Some(LedgerCommand::RefundsRead { intent: intent.clone(), number: *number, refunded_cents })
            }
            LedgerEffect::Recount => panic!("only what an older release left is recounted"),
        }
    }

    pub(super) fn has(&self) -> i64 {
        let took = self.sessions.values().filter(|(_, state)| *state == 'p').map(|(amount, _)| amount).sum::<i64>();
        took - self.back.values().map(|(sum, _)| sum).sum::<i64>() - self.lost.values().sum::<i64>()
    }
}
