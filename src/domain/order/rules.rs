//! The order as an aggregate: dispatches commands to rules, and derives the effects that the order's state requires.

use std::collections::{BTreeMap, BTreeSet};

use super::change::OrderChange;
use super::channel_sale;
use super::place::{self, OrderFieldsPatch};
use super::{
    JobAnswer, JobCommand, LedgerCommand, Order, OrderAnswer, OrderCommand, OrderCreated, OrderEffect, OrderNews,
    OrderNewsAnswer, OrderRow, RecallClaims,
};
use crate::aggregate::{Aggregate, Command, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::job::{AttemptState, ClaimStatus, JobState};
use crate::ledger::{self, LedgerOwner as _};
use crate::material::{ClaimId, ClaimRequest, SettledClaim};
use crate::refusal::Refusal;

impl Aggregate for Order {
    const KIND: &'static str = "order";
    type Row = OrderRow;
    type Created = OrderCreated;
    type Effect = OrderEffect;

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
        // The forecaster watches promised orders in memory: one with nothing but a failed job can become late as well.
        !self.is_promised() && self.jobs.values().all(|job| job.over()) && self.effects().is_empty()
    }
}

/// Starts a change to an existing order.
fn begin<'a>(this: Option<&Order>, cx: &'a DecisionContext<'a>) -> Result<OrderChange<'a>, Refusal> {
    let order = this.ok_or_else(|| Refusal::not_found(Order::KIND))?;
    Ok(OrderChange::of(cx, order.clone()))
}

impl Command<Order> for OrderCommand {
    type Answer = OrderAnswer;

    fn decide(&self, this: Option<&Order>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<Order, Self::Answer> {
        match (this, self) {
            (None, OrderCommand::Create(new)) => return place::create(id, cx, new, None),
            (None, OrderCommand::CreateAgreed { new, agreed }) => return place::create(id, cx, new, Some(agreed)),
            (None, OrderCommand::CreateSold(order)) => return channel_sale::create(id, cx, order),
            _ => {}
        }
        let change = begin(this, cx)?;
        match self {
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
            OrderCommand::NameBuyer(buyer) => Ok(change.name_buyer(buyer)),
            OrderCommand::Confirm => change.confirm(),
            OrderCommand::MarkPaid { amount_cents, method, reference } => {
                change.mark_paid(*amount_cents, method, reference.as_ref())
            }
            OrderCommand::Refund { payment, amount_cents, at_processor } => {
                change.on_ledger(|change| ledger::refund(change, *payment, *amount_cents, *at_processor))
            }
            OrderCommand::RefundOtherwise { payment, amount_cents, method } => {
                change.on_ledger(|change| ledger::refund_otherwise(change, *payment, *amount_cents, method))
            }
            OrderCommand::Ledger(command) => {
                if matches!(command, LedgerCommand::CheckOut { .. }) {
                    change.check_destination()?;
                }
                change.on_ledger(|change| ledger::apply(change, command))
            }
            OrderCommand::Cancel { force, prints } => change.cancel(*force, prints),
            OrderCommand::Ship { shipment, lines, accept_short } => {
                change.ship(shipment, lines.as_deref(), *accept_short)
            }
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            OrderCommand::Create(_) | OrderCommand::CreateAgreed { .. } => AuditedAct::OrderCreate,
            OrderCommand::CreateSold(_) => AuditedAct::OrderCreateSold,
            OrderCommand::There(_) => AuditedAct::OrderThere,
            OrderCommand::Update { .. } => AuditedAct::OrderUpdate,
            OrderCommand::NameBuyer(_) => AuditedAct::OrderNameBuyer,
            OrderCommand::Confirm => AuditedAct::OrderConfirm,
            OrderCommand::MarkPaid { .. } => AuditedAct::OrderMarkPaid,
            OrderCommand::Refund { .. } => AuditedAct::OrderRefund,
            OrderCommand::RefundOtherwise { .. } => AuditedAct::OrderRefundOtherwise,
            OrderCommand::Ledger(LedgerCommand::CheckOut { .. }) => AuditedAct::OrderCheckOut,
            OrderCommand::Ledger(LedgerCommand::CheckoutMade { .. }) => AuditedAct::OrderCheckoutMade,
            OrderCommand::Ledger(LedgerCommand::SessionClosed(_)) => AuditedAct::OrderSessionClosed,
            OrderCommand::Ledger(LedgerCommand::RefundNews { .. }) => AuditedAct::OrderRefundNews,
            OrderCommand::Ledger(LedgerCommand::RefundsRead { .. }) => AuditedAct::OrderRefundsRead,
            OrderCommand::Ledger(LedgerCommand::Payment(_)) => AuditedAct::OrderPayment,
            OrderCommand::Ledger(LedgerCommand::Recount) => AuditedAct::OrderRecount,
            OrderCommand::Cancel { .. } => AuditedAct::OrderCancel,
            OrderCommand::Ship { .. } => AuditedAct::OrderShip,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            OrderCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

impl Command<Order> for JobCommand {
    type Answer = JobAnswer;

    fn decide(&self, this: Option<&Order>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Order, Self::Answer> {
        let change = begin(this, cx)?;
        match self {
            JobCommand::Dispatch { job, printer } => change.dispatch(*job, *printer),
            JobCommand::FailRefused { job, printers } => change.fail_refused(*job, printers),
            // The version is the job's own, so it is not compared with that of the order.
            JobCommand::Update { job, if_version, priority, due_at } => {
                change.update_job(*job, *if_version, *priority, *due_at)
            }
            JobCommand::Cancel { job, force, prints } => change.cancel_job(*job, *force, prints),
            JobCommand::Retry(job) => change.retry_job(*job),
            JobCommand::SignOff { job, inspection } => change.sign_off(*job, inspection),
            JobCommand::Release { job, stock } => change.release_job(*job, stock),
            JobCommand::Resolve { job, outcome, print } => change.resolve(*job, *outcome, print),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            JobCommand::Dispatch { .. } => AuditedAct::JobDispatch,
            JobCommand::FailRefused { .. } => AuditedAct::JobFailRefused,
            JobCommand::Update { .. } => AuditedAct::JobUpdate,
            JobCommand::Cancel { .. } => AuditedAct::JobCancel,
            JobCommand::Retry(_) => AuditedAct::JobRetry,
            JobCommand::SignOff { .. } => AuditedAct::JobSignOff,
            JobCommand::Release { .. } => AuditedAct::JobRelease,
            JobCommand::Resolve { .. } => AuditedAct::JobResolve,
        }
    }
}

impl Command<Order> for OrderNews {
    type Answer = OrderNewsAnswer;

    fn decide(&self, this: Option<&Order>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Order, Self::Answer> {
        let change = begin(this, cx)?;
        Ok(match self {
            OrderNews::ShopTold { shipments, last } => change.shop_told(*shipments, *last),
            OrderNews::Prepared { sku, make } => change.prepared(*sku, make),
            OrderNews::Slicing { sku, source, news } => change.slicing(*sku, source, news),
            OrderNews::Stock(material, answers) => change.stock(*material, answers),
            OrderNews::Settled(claims) => change.settled(claims),
            OrderNews::Attempt { job, attempt, report } => change.report(*job, *attempt, report),
            OrderNews::Promise(promise) => change.promise(*promise),
            OrderNews::Timing { expected_at, recovery } => change.judge_timing(*expected_at, recovery.as_deref()),
            OrderNews::SignedAtPrinter { job, attempt, inspection, by, at } => {
                change.signed_at_printer(*job, *attempt, inspection, by, *at)
            }
            OrderNews::Photographed { job, attempt, file } => change.photographed(*job, *attempt, *file)?,
            OrderNews::InvoiceTold { invoice, money, void } => change.invoice_told(*invoice, *money, *void),
            OrderNews::IssueInvoice => change.issue_invoice(),
            OrderNews::KeepDepartures => change.keep_departures(),
        })
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            OrderNews::ShopTold { .. } => AuditedAct::OrderShopTold,
            OrderNews::Prepared { .. } => AuditedAct::OrderPrepared,
            OrderNews::Slicing { .. } => AuditedAct::OrderSlicing,
            OrderNews::Stock(..) => AuditedAct::OrderStock,
            OrderNews::Settled(_) => AuditedAct::OrderSettled,
            OrderNews::Attempt { .. } => AuditedAct::JobAttempt,
            OrderNews::Promise(_) => AuditedAct::OrderPromise,
            OrderNews::Timing { .. } => AuditedAct::OrderTiming,
            OrderNews::SignedAtPrinter { .. } => AuditedAct::JobSignedAtPrinter,
            OrderNews::Photographed { .. } => AuditedAct::JobPhotographed,
            OrderNews::InvoiceTold { .. } => AuditedAct::OrderInvoiceTold,
            OrderNews::IssueInvoice => AuditedAct::OrderIssueInvoice,
            OrderNews::KeepDepartures => AuditedAct::OrderKeepDepartures,
        }
    }
}

impl Command<Order> for RecallClaims {
    type Answer = Vec<ClaimId>;

    fn decide(&self, this: Option<&Order>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Order, Self::Answer> {
        let Self(claims, reason) = self;
        Ok(begin(this, cx)?.recall(claims, reason))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::OrderRecall
    }
}
