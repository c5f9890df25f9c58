//! Changes that a decision makes to a material. Every stock change also writes a ledger entry, so that the sums of the
//! ledger stay equal to `quantity` and `reserved`.

use std::collections::BTreeSet;

use crate::aggregate::{Decision, DecisionContext};
use crate::amount::Amount;
use crate::event::Event;
use crate::id::Id;
use crate::mail::Mail;
use crate::material::alerts::{self, Alert};
use crate::material::reason::{SLICED, excess_reason};
use crate::material::{Claim, ClaimId, ClaimState, Material, MaterialRow, Movement, MovementKind, SettledClaim};
use crate::parts_sync::{StockLink, StockSystem};

/// Changes that a command makes to a material.
pub(super) struct MaterialChange<'a> {
    cx: &'a DecisionContext<'a>,
    pub(super) next: Material,
    /// `true` if the stock on hand covered the reserved amount before the command, so that a discrepancy is reported
    /// only when it arises.
    covered: bool,
    movements: Vec<Movement>,
    touched: BTreeSet<ClaimId>,
    links: Vec<MaterialRow>,
    events: Vec<Event>,
    created: Vec<Mail>,
    /// `true` if a claim needed more than is available, which triggers the low-stock alert.
    fell_short: bool,
    /// Consumption beyond the stock on hand, in the material's unit.
    beyond: Amount,
}

impl<'a> MaterialChange<'a> {
    pub(super) fn of(material: &Material, cx: &'a DecisionContext<'a>) -> Self {
        Self {
            cx,
            next: material.clone(),
            covered: material.quantity >= material.reserved,
            movements: Vec::new(),
            touched: BTreeSet::new(),
            links: Vec::new(),
            events: Vec::new(),
            created: Vec::new(),
            fell_short: false,
            beyond: Amount::ZERO,
        }
    }

    /// Changes stock and writes the ledger entry; writes nothing if both deltas are zero.
    pub(super) fn movement(
        &mut self,
        kind: MovementKind,
        delta_quantity: Amount,
        delta_reserved: Amount,
        job: Option<Id>,
        reason: Option<&str>,
    ) {
        if delta_quantity == Amount::ZERO && delta_reserved == Amount::ZERO {
            return;
        }
        self.next.quantity += delta_quantity;
        self.next.reserved += delta_reserved;
        self.movements.push(Movement {
            id: self.cx.ids.id(),
            material_id: self.next.id,
            kind,
            delta_quantity,
            delta_reserved,
            quantity: self.next.quantity,
            reserved: self.next.reserved,
            job_id: job,
            reason: reason.map(str::to_owned),
            actor: self.cx.by.to_string(),
            created_at: self.cx.now,
        });
    }

    /// Determines the state of a claim that is not held, and reserves its need if it fits. If `unheard` is `true`, the
    /// order will be notified, which is unnecessary when the response to the order's own message contains the state.
    pub(super) fn check(&mut self, mut claim: Claim, unheard: bool) {
        claim.state = self.next.claim_state(self.cx, &claim);
        match claim.state {
            ClaimState::Held => {
                self.movement(MovementKind::Reserve, Amount::ZERO, claim.need, Some(claim.id.job), None);
                claim.unheard = unheard;
                claim.reserved_at = Some(self.cx.now);
            }
            ClaimState::Short => self.fell_short = true,
            ClaimState::BelowReorderPoint => {}
        }
        self.set_claim(claim);
    }

    /// Corrects the reserved amount of a held claim. Stock below the reorder point does not end a reservation. If the
    /// need grows by more than is available, the whole reservation is released and the claim is queued.
    pub(super) fn correct(&mut self, held: Claim, need: Amount) {
        let job = Some(held.id.job);
        let (free, more) = (self.next.quantity - self.next.reserved + held.need, need - held.need);
        if need <= free {
            let kind = if more > Amount::ZERO { MovementKind::Reserve } else { MovementKind::Release };
            self.movement(kind, Amount::ZERO, more, job, Some(SLICED));
            self.set_claim(Claim { need, ..held });
        } else {
            self.movement(MovementKind::Release, Amount::ZERO, -held.need, job, Some(SLICED));
            self.fell_short = true;
            self.set_claim(Claim {
                need,
                state: ClaimState::Short,
                reserved_at: None,
                recalled: false,
                is_retained: false,
                ..held
            });
        }
    }

    /// Stores a claim if it differs from the stored one.
    pub(super) fn set_claim(&mut self, claim: Claim) {
        if self.next.claims.get(&claim.id) != Some(&claim) {
            self.touched.insert(claim.id);
            self.next.set_claim(claim);
        }
    }

    /// Stores a link if it differs from the stored one.
    pub(super) fn put_link(&mut self, link: StockLink) {
        if self.next.links.get(&link.system) != Some(&link) {
            self.next.links.insert_mut(link.system, link.clone());
            self.links.push(MaterialRow::Link(Box::new(link)));
        }
    }

    /// Removes a link.
    pub(super) fn remove_link(&mut self, link: &StockLink) {
        self.next.links.remove_mut(&link.system);
        self.links.push(MaterialRow::LinkGone(link.id));
    }

    /// Settles a claim: the consumption is deducted from the stock, and the rest of the reservation becomes available.
    /// Consumption beyond the stock on hand empties the stock and is reported as a discrepancy. Consumption that the
    /// printer itself deducts from a linked spool is not deducted from it again.
    pub(super) fn settle(&mut self, settled: &SettledClaim) {
        let id = settled.id;
        let Some(claim) = self.next.claims.get(&id) else {
            return;
        };
        let held = if claim.waits() { Amount::ZERO } else { claim.need };
        let consumed = settled.consumed.max(Amount::ZERO);
        let from_stock = consumed.min(self.next.quantity);
        let of_reservation = consumed.min(held);
        self.beyond += consumed - from_stock;
        let job = Some(id.job);
        let reason = (from_stock < consumed).then(|| excess_reason(consumed, from_stock));
        self.movement(MovementKind::Consume, -from_stock, -of_reservation, job, reason.as_deref());
        self.movement(MovementKind::Release, Amount::ZERO, of_reservation - held, job, None);
        let link = self.next.links.get(&StockSystem::Spools);
        if let Some(link) = link.and_then(|link| link.used_there(from_stock, &settled.booked_on, self.cx.now)) {
            self.put_link(link);
        }
        self.next.remove_claim(id);
        self.touched.insert(id);
    }

    /// Serves the queue in rank order: claims that fit are held, and the rest stay queued, each with its current
    /// reason.
    ///
    /// Must be called after everything that can make a queued claim fit, so that between two commands no claim that
    /// would fit is queued.
    pub(super) fn walk(&mut self) {
        if !self.next.anybody_waits() {
            return;
        }
        let line: Vec<Claim> = self.next.waiting().cloned().collect();
        for claim in line {
            let state = self.next.claim_state(self.cx, &claim);
            if state == ClaimState::Held {
                self.check(claim, true);
            } else {
                self.set_claim(Claim { state, ..claim });
            }
        }
    }

    /// Completes the decision: recalls reservations and sends alerts as the change requires.
    pub(super) fn decided<A>(mut self, answer: impl FnOnce(&Material) -> A) -> Decision<Material, A> {
        self.recall();
        self.alert();
        self.next.updated_at = self.cx.now;
        self.next.revision = (self.next.revision + i64::from(self.cx.by.is_person())).max(1);
        let claims = self.touched.iter().map(|id| match self.next.claims.get(id) {
            Some(claim) => MaterialRow::Claim(claim.clone()),
            None => MaterialRow::ClaimGone(*id),
        });
        let rows = self.movements.into_iter().map(MaterialRow::Movement).chain(claims);
        let rows: Vec<MaterialRow> = rows.chain(self.links).collect();
        let answer = answer(&self.next);
        Decision::to(self.next, answer).rows(rows).events(self.events).created(self.created)
    }

    /// Returns whether the command left the stock, claims and links unchanged.
    pub(super) fn is_nothing(&self) -> bool {
        self.movements.is_empty() && self.touched.is_empty() && self.links.is_empty()
    }

    /// Sends alerts as emails and events. Each drop below the reorder point is reported once, regardless of the queue.
    /// A claim that needs more than is available, although the stock is not low, is reported once until no claim is
    /// queued. A discrepancy is reported when it arises.
    fn alert(&mut self) {
        let low = self.next.available() < self.next.fields.reorder_point;
        let crossed = low && !self.next.alerted;
        let short = self.fell_short && !low && !self.next.shortage_told;
        self.next.alerted = low;
        self.next.shortage_told = (self.next.shortage_told || self.fell_short) && self.next.anybody_waits();
        if crossed || short {
            self.tell(alerts::low(self.cx, &self.next));
        }
        let uncovered = self.next.quantity < self.next.reserved;
        if self.beyond > Amount::ZERO || (uncovered && self.covered) {
            self.tell(alerts::discrepancy(self.cx, &self.next, self.beyond));
        }
    }

    fn tell(&mut self, alert: Alert) {
        self.events.extend(alert.events);
        self.created.extend(alert.messages);
    }
}
