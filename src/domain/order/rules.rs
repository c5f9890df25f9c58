//! The order as an aggregate: dispatches commands to rules, and derives the effects that its state requires.

use std::collections::{BTreeMap, BTreeSet};

use super::change::OrderChange;
use super::channel_sale;
use super::place::{self, OrderFieldsPatch};
use super::{LedgerCommand, Order, OrderAnswer, OrderCommand, OrderCreated, OrderEffect, OrderRow};
use crate::aggregate::{Aggregate, Decision, DecisionContext};
use crate::id::Id;
use crate::job::{AttemptState, ClaimStatus, JobState};
use crate::ledger::{self, LedgerOwner as _};
use crate::material::{ClaimId, ClaimRequest, SettledClaim};
use crate::refusal::Refusal;

impl Aggregate for Order {
    const KIND: &'static str = "order";
    type Command = OrderCommand;
    type Answer = OrderAnswer;
    type Row = OrderRow;
    type Created = OrderCreated;
    type Effect = OrderEffect;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &OrderCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let order = match (this, command) {
            (None, OrderCommand::Create(new)) => return place::create(id, cx, new, None),
            (None, OrderCommand::CreateAgreed { new, agreed }) => return place::create(id, cx, new, Some(agreed)),
            (None, OrderCommand::CreateSold(order)) => return channel_sale::create(id, cx, order),
            (None, _) => return Err(Refusal::not_found(Self::KIND)),
            (Some(order), _) => order.clone(),
        };
        let change = OrderChange::of(cx, order);
        match command {
            OrderCommand::Create(_) | OrderCommand::CreateAgreed { .. } | OrderCommand::CreateSold(_) => {
                Err(Refusal::conflict("exists", "this order already exists"))
            }
            OrderCommand::Update { if_version: _, notes, internal_notes, priority, due_at, shipping_address } => change
                .update(&OrderFieldsPatch {
                    notes: notes.as_ref(),
                    internal_notes: internal_notes.as_ref(),
                    priority: *priority,
                    due_at: *due_at,
                    shipping_address: shipping_address.as_ref(),
                }),
            OrderCommand::There(news) => change.there(*news),
            OrderCommand::ShopTold { shipments, last } => Ok(change.shop_told(*shipments, *last)),
            OrderCommand::NameBuyer(buyer) => Ok(change.name_buyer(buyer)),
            OrderCommand::Confirm => change.confirm(),
            OrderCommand::MarkPaid { amount_cents, method, reference } => {
                change.mark_paid(*amount_cents, method, reference.as_ref())
            }
            OrderCommand::Refund { payment, amount_cents, at_processor } => {
                change.on_ledger(|on| ledger::refund(on, *payment, *amount_cents, *at_processor))
            }
            OrderCommand::RefundOtherwise { payment, amount_cents, method } => {
                change.on_ledger(|on| ledger::refund_otherwise(on, *payment, *amount_cents, method))
            }
            OrderCommand::Ledger(command) => {
                if matches!(command, LedgerCommand::CheckOut { .. }) {
                    change.check_destination()?;
                }
                change.on_ledger(|on| ledger::apply(on, command))
            }
            OrderCommand::Cancel { force, prints } => change.cancel(*force, prints),
            OrderCommand::Ship { shipment, lines, accept_short } => {
                change.ship(shipment, lines.as_deref(), *accept_short)
            }
            OrderCommand::Prepared { sku, make } => Ok(change.prepared(*sku, make)),
            OrderCommand::Slicing { sku, source, news } => Ok(change.slicing(*sku, source, news)),
            OrderCommand::Stock(material, answers) => Ok(change.stock(*material, answers)),
            OrderCommand::Recall(claims, words) => Ok(change.recall(claims, words)),
            OrderCommand::Settled(claims) => Ok(change.settled(claims)),
            OrderCommand::Dispatch { job, printer } => change.dispatch(*job, *printer),
            OrderCommand::FailRefused { job, printers } => change.fail_refused(*job, printers),
            OrderCommand::Attempt { job, attempt, report } => Ok(change.report(*job, *attempt, report)),
            OrderCommand::Promise(promise) => Ok(change.promise(*promise)),
            OrderCommand::UpdateJob { job, if_version, priority, due_at } => {
                change.update_job(*job, *if_version, *priority, *due_at)
            }
            OrderCommand::CancelJob { job, force, prints } => change.cancel_job(*job, *force, prints),
            OrderCommand::RetryJob(job) => change.retry_job(*job),
            OrderCommand::SignOff { job, inspection } => change.sign_off(*job, inspection),
            OrderCommand::SignedAtPrinter { job, attempt, inspection, by, at } => {
                Ok(change.signed_at_printer(*job, *attempt, inspection, by, *at))
            }
            OrderCommand::Photographed { job, attempt, file } => change.photographed(*job, *attempt, *file),
            OrderCommand::ReleaseJob { job, stock } => change.release_job(*job, stock),
            OrderCommand::InvoiceTold { invoice, money, void } => Ok(change.invoice_told(*invoice, *money, *void)),
            OrderCommand::IssueInvoice => Ok(change.issue_invoice()),
            OrderCommand::KeepDepartures => Ok(change.keep_departures()),
            OrderCommand::Resolve { job, outcome, print } => change.resolve(*job, *outcome, print),
        }
    }

    fn name(command: &OrderCommand) -> &'static str {
        match command {
            OrderCommand::Create(_) | OrderCommand::CreateAgreed { .. } => "order.create",
            OrderCommand::CreateSold(_) => "order.create_sold",
            OrderCommand::There(_) => "order.there",
            OrderCommand::ShopTold { .. } => "order.shop_told",
            OrderCommand::Update { .. } => "order.update",
            OrderCommand::NameBuyer(_) => "order.name_buyer",
            OrderCommand::Confirm => "order.confirm",
            OrderCommand::MarkPaid { .. } => "order.mark_paid",
            OrderCommand::Refund { .. } => "order.refund",
            OrderCommand::RefundOtherwise { .. } => "order.refund_otherwise",
            OrderCommand::Ledger(LedgerCommand::CheckOut { .. }) => "order.check_out",
            OrderCommand::Ledger(LedgerCommand::CheckoutMade { .. }) => "order.checkout_made",
            OrderCommand::Ledger(LedgerCommand::SessionClosed(_)) => "order.session_closed",
            OrderCommand::Ledger(LedgerCommand::RefundNews { .. }) => "order.refund_news",
            OrderCommand::Ledger(LedgerCommand::RefundsRead { .. }) => "order.refunds_read",
            OrderCommand::Ledger(LedgerCommand::Payment(_)) => "order.payment",
            OrderCommand::Ledger(LedgerCommand::Recount) => "order.recount",
            OrderCommand::Cancel { .. } => "order.cancel",
            OrderCommand::Ship { .. } => "order.ship",
            OrderCommand::Prepared { .. } => "order.prepared",
            OrderCommand::Slicing { .. } => "order.slicing",
            OrderCommand::Stock(..) => "order.stock",
            OrderCommand::Recall(..) => "order.recall",
            OrderCommand::Settled(_) => "order.settled",
            OrderCommand::Dispatch { .. } => "job.dispatch",
            OrderCommand::FailRefused { .. } => "job.fail_refused",
            OrderCommand::Attempt { .. } => "job.attempt",
            OrderCommand::Promise(_) => "order.promise",
            OrderCommand::UpdateJob { .. } => "job.update",
            OrderCommand::CancelJob { .. } => "job.cancel",
            OrderCommand::RetryJob(_) => "job.retry",
            OrderCommand::SignOff { .. } => "job.sign_off",
            OrderCommand::SignedAtPrinter { .. } => "job.signed_at_printer",
            OrderCommand::Photographed { .. } => "job.photographed",
            OrderCommand::ReleaseJob { .. } => "job.release",
            OrderCommand::InvoiceTold { .. } => "order.invoice_told",
            OrderCommand::IssueInvoice => "order.issue_invoice",
            OrderCommand::KeepDepartures => "order.keep_departures",
            OrderCommand::Resolve { .. } => "job.resolve",
        }
    }

    fn if_version(command: &OrderCommand) -> Option<i64> {
        match command {
            OrderCommand::Update { if_version, .. } => *if_version,
            _ => None, // `update_job` compares the job's own version.
        }
    }

    fn revision(&self) -> Option<i64> {
        Some(self.revision)
    }

    fn effects(&self) -> Vec<OrderEffect> {
        let mut effects = Vec::new();
        let mut asks: BTreeMap<Id, Vec<ClaimRequest>> = BTreeMap::new();
        let mut settles: BTreeMap<Id, Vec<SettledClaim>> = BTreeMap::new();
        let created: BTreeSet<Id> =
            self.jobs.values().filter(|job| job.state == JobState::Created).map(|job| job.sku_id).collect();
        effects.extend(created.into_iter().map(|sku| OrderEffect::Prepare { sku }));
        let slices: BTreeSet<_> =
            self.jobs.values().filter_map(|job| Some((job.sku_id, job.to_slice()?.clone()))).collect();
        effects.extend(slices.into_iter().map(|(sku, source)| OrderEffect::Slice { sku, source }));
        for job in self.jobs.values() {
            let claim = |number| ClaimId { job: job.id, number };
            for own in job.claims() {
                if own.stock == ClaimStatus::Asked {
                    asks.entry(own.material_id).or_default().push(ClaimRequest {
                        id: claim(own.number),
                        need: own.need,
                        released: job.released,
                        priority: job.priority,
                        due_at: job.due_at,
                        since: job.created_at,
                    });
                }
                let current = match own.stock {
                    ClaimStatus::Settling { consumed } => Some((own.number, consumed)),
                    _ => None,
                };
                for (number, consumed) in own.settling.iter().copied().chain(current) {
                    let booked_on = job.booked_on.get(&number).cloned().unwrap_or_default();
                    let one = SettledClaim { id: claim(number), consumed, booked_on };
                    settles.entry(own.material_id).or_default().push(one);
                }
            }
            if let Some(attempt) = job.live() {
                let (attempt_id, printer) = (attempt.id, attempt.printer_id);
                if job.cancel_requested_at.is_some() {
                    effects.push(OrderEffect::CancelAt { attempt: attempt_id, printer });
                } else if attempt.state == AttemptState::Claimed {
                    effects.push(OrderEffect::Give { job: job.id, attempt: attempt_id, printer });
                }
            }
            for attempt in &job.attempts {
                if let Some(outcome) = attempt.word {
                    effects.push(OrderEffect::TellResolution {
                        attempt: attempt.id,
                        printer: attempt.printer_id,
                        outcome,
                    });
                }
            }
        }
        effects.extend(self.invoice_waits.then_some(OrderEffect::IssueInvoice));
        effects.extend(self.tell_invoice());
        effects.extend(self.tell_shop());
        effects.extend(self.has_traced_departures.then_some(OrderEffect::KeepDepartures));
        effects.extend(asks.into_iter().map(|(material, asks)| OrderEffect::Claim { material, asks }));
        effects.extend(self.ledger.effects(&self.terms()).into_iter().map(OrderEffect::Ledger));
        effects.extend(settles.into_iter().map(|(material, claims)| OrderEffect::Settle { material, claims }));
        effects
    }

    fn at_rest(&self) -> bool {
        self.jobs.values().all(|job| job.over()) && self.effects().is_empty()
    }
}
