//! Effects of orders: determine what jobs are made from, have models sliced, claim and settle stock, assign attempts to
//! printers, cancel or resolve attempts, and handle payment sessions and refunds at the payment processor
//! ([`crate::at_processor`]).

pub mod make;
mod slice;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::at_processor::LedgerWork;
use crate::dispatcher::Dispatcher;
use crate::forecaster::Forecaster;
use crate::slicing::SlicingService;
use domain::aggregate::Versioned;
use domain::channel_order::{ChannelOrder, ChannelOrderCommand, ReportedShipment};
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceCommand, InvoiceStatus};
use domain::material::{ClaimNews, ClaimStock, Material};
use domain::order::{InvoicedMoney, Order, OrderEffect, OrderNews, ProductionData, Report};
use domain::printer::{AttemptAnswer, AttemptCommand, Printer, TakeAnswer, TakeAttempt};
use kernel::directory::{ASK_TIMEOUT, Directory};
use kernel::effects::Effects;
use kernel::envelope::CommandOrigin;
use kernel::handle::{AskError, Handle};
use make::ProductionSources;
use platform::watch::WatchSender;
use printers::registry::known_types;
use store::rows::LoadError;

/// Effects of orders, which coordinate an order with the materials, printers and other aggregates that it needs.
pub struct OrderEffects {
    /// Sources of the SKUs and files that jobs are made from.
    pub sources: ProductionSources,
    /// Counter that increments with each SKU commit, because the SKU may have received a file that a job needs.
    pub sku_changes: WatchSender<u64>,
    /// Slicer that produces G-code from models.
    pub slicing: Arc<SlicingService>,
    /// Interval between attempts to slice while slicing cannot proceed.
    pub slicing_recheck: Duration,
    /// Materials whose stock is claimed by jobs.
    pub materials: Directory<Material>,
    /// Printers to which attempts are assigned.
    pub printers: Directory<Printer>,
    /// Invoices of orders, which track the orders' payments.
    pub invoices: Directory<Invoice>,
    /// Channel orders, which are informed when the orders created from them are shipped.
    pub channel_orders: Directory<ChannelOrder>,
    /// Dispatcher, which is notified of every commit so that it can propose printers for ready jobs.
    pub dispatcher: Dispatcher,
    /// Forecaster, which is notified of every commit so that it can update the forecast.
    pub forecaster: Forecaster,
    /// Executor of ledger effects at the payment processor.
    pub work: LedgerWork,
}

#[async_trait]
impl Effects<Order> for OrderEffects {
    async fn run(&self, effect: OrderEffect, of: Handle<Order>) {
        match effect {
            OrderEffect::Prepare { sku } => self.prepare(&of, sku).await,
            OrderEffect::Slice { sku, source } => self.slice(&of, sku, source).await,
            OrderEffect::Claim { material, asks } => {
                let claim = ClaimStock { order: of.id(), asks };
                match self.materials.ask(material, CommandOrigin::system(), claim).await {
                    Ok(answered) => tell(&of, OrderNews::Stock(material, answered.answer)).await,
                    Err(error) => {
                        tracing::debug!(order = %of.id(), %material, %error, "requesting stock failed; retrying");
                    }
                }
            }
            OrderEffect::Settle { material, claims } => {
                let ids = claims.iter().map(|claim| claim.id).collect();
                match self.materials.ask(material, CommandOrigin::system(), ClaimNews::Settle { claims }).await {
                    Ok(_) => tell(&of, OrderNews::Settled(ids)).await,
                    Err(error) => {
                        tracing::debug!(order = %of.id(), %material, %error, "settling claims failed; retrying");
                    }
                }
            }
            OrderEffect::Give { job, attempt, printer } => give(&self.printers, &of, job, attempt, printer).await,
            OrderEffect::CancelAt { attempt, printer } => {
                say(&self.printers, &of, printer, attempt, AttemptCommand::Cancel(attempt)).await;
            }
            OrderEffect::TellInvoice { invoice, money } => {
                tell_invoice(&self.invoices, &of, invoice, money).await;
            }
            OrderEffect::IssueInvoice => issue_invoice(&of).await,
            OrderEffect::KeepDepartures => tell(&of, OrderNews::KeepDepartures).await,
            OrderEffect::TellShop { channel_order, shipments, last } => {
                tell_left(&self.channel_orders, &of, channel_order, shipments, last).await;
            }
            OrderEffect::Ledger(effect) => self.work.run(effect, &of).await,
            OrderEffect::TellResolution { attempt, printer, outcome } => {
                say(&self.printers, &of, printer, attempt, AttemptCommand::Resolve { attempt, outcome }).await;
            }
        }
    }

    fn committed(&self, of: &Handle<Order>, state: &Arc<Versioned<Order>>) {
        self.dispatcher.order_changed(of.id(), state);
        self.forecaster.changed();
        self.work.committed(state);
    }
}

impl OrderEffects {
    /// Sends the order the file from which its jobs for a SKU are printed, once the SKU has a file.
    async fn prepare(&self, of: &Handle<Order>, sku: Id) {
        let mut changes = self.sku_changes.subscribe();
        loop {
            changes.mark_unchanged();
            match self.read(sku).await {
                Ok(Some(make)) => {
                    let has_source = make.file_id.is_some() || make.source.is_some();
                    tell(of, OrderNews::Prepared { sku, make: Box::new(make) }).await;
                    // Reading is free of charge for SKUs in memory, and only orders without a file wait here.
                    if has_source || changes.changed().await.is_err() {
                        return;
                    }
                }
                Ok(None) if changes.changed().await.is_ok() => {}
                Ok(None) => return,
                Err(error) => return tracing::warn!(order = %of.id(), %sku, %error, "reading a SKU failed; retrying"),
            }
        }
    }

    /// Returns the SKU's production data; `None` if the SKU does not exist or is a kit.
    async fn read(&self, sku: Id) -> Result<Option<ProductionData>, LoadError> {
        let state = self.sources.skus.read(sku).await?;
        let Some(sku) = state.as_ref().and_then(|state| state.state.as_ref()) else { return Ok(None) };
        self.sources.make(sku).await
    }
}

/// Informs the order's invoice of the payments, and then tells the order that the invoice is up to date.
async fn tell_invoice(invoices: &Directory<Invoice>, of: &Handle<Order>, invoice: Id, money: InvoicedMoney) {
    let state = of.read();
    let Some(order) = state.state.as_ref().filter(|order| order.money_in_short() == money) else { return };
    let follow = InvoiceCommand::Follow(Box::new(order.money_at(state.version)));
    match invoices.ask(invoice, CommandOrigin::system(), follow).await {
        Ok(answered) => {
            let void = answered.answer.invoice.status == InvoiceStatus::Void;
            tell(of, OrderNews::InvoiceTold { invoice, money, void }).await;
        }
        Err(error) => tracing::warn!(order = %of.id(), %invoice, %error, "cannot update an invoice; retrying"),
    }
}

/// Asks the order to issue its invoice, which is on hold until the settings contain the seller's name and address.
/// Settings are read only at startup, so an invoice that stays on hold is not retried before the next start.
async fn issue_invoice(of: &Handle<Order>) {
    match of.ask(CommandOrigin::system(), OrderNews::IssueInvoice, ASK_TIMEOUT).await {
        Ok(answered) if answered.answer.is_wanted => std::future::pending().await,
        Ok(_) => {}
        Err(error) => tracing::warn!(order = %of.id(), %error, "issuing an invoice failed; retrying"),
    }
}

/// Informs the channel order of what has been shipped, and then tells the order that the channel order is up to date.
async fn tell_left(records: &Directory<ChannelOrder>, of: &Handle<Order>, record: Id, shipments: u32, last: bool) {
    let state = of.read();
    let Some(order) = state.state.as_ref() else { return };
    let left = order.left_there().into_iter().take(shipments as usize).map(|left| ReportedShipment {
        last: last && left.number == shipments,
        number: left.number,
        carrier: left.carrier,
        tracking_number: left.tracking_number,
        units: left.units,
    });
    match records.ask(record, CommandOrigin::system(), ChannelOrderCommand::Shipped(left.collect())).await {
        Ok(_) => tell(of, OrderNews::ShopTold { shipments, last }).await,
        Err(error) => tracing::warn!(order = %of.id(), %error, "reporting to the other shop failed; retrying"),
    }
}

async fn tell(of: &Handle<Order>, news: OrderNews) {
    if let Err(error) = of.ask(CommandOrigin::system(), news, ASK_TIMEOUT).await {
        tracing::debug!(order = %of.id(), %error, "recording an outcome failed; retrying");
    }
}

/// Assigns a claimed attempt to its printer; if the printer rejects it, the attempt ends before anything has begun.
async fn give(printers: &Directory<Printer>, of: &Handle<Order>, job: Id, attempt: Id, printer: Id) {
    let state = of.read();
    let Some(current_job) = state.state.as_ref().and_then(|order| order.jobs.get(&job)) else { return };
    let claimed = current_job.attempts.iter().find(|one| one.id == attempt);
    let (Some(file_id), Some(claimed)) = (current_job.file_id, claimed) else { return };
    let take = TakeAttempt {
        attempt,
        job,
        order: of.id(),
        file_id,
        file_name: current_job.file_name(attempt),
        claimed_at: claimed.created_at,
        needs: Box::new(current_job.launch_needs()),
        types: known_types(),
        stated_mm: current_job.file_filament_mm,
        estimated_seconds: current_job.estimated_seconds,
    };
    let not_started = |reason| Report::NotStarted { start_sent: false, counts: false, pardons: None, reason };
    let report = match printers.ask(printer, CommandOrigin::system(), take).await {
        Ok(answered) => match answered.answer {
            TakeAnswer::NotTaken(reason) => not_started(reason),
            TakeAnswer::Stopped(reason) => Report::Stopped { reason },
            // The printer reports from here on.
            TakeAnswer::Accepted => return,
        },
        Err(AskError::Refused(refusal)) => not_started(refusal.message),
        Err(error) => {
            return tracing::debug!(order = %of.id(), %printer, %error, "assigning an attempt to the printer failed; \
                 retrying");
        }
    };
    tell(of, OrderNews::Attempt { job, attempt, report }).await;
}

/// Sends a command about an attempt to its printer, which reports the result. If the printer is deleted or never
/// accepted the attempt, the attempt can no longer begin and is treated as cancelled.
async fn say(printers: &Directory<Printer>, of: &Handle<Order>, printer: Id, attempt: Id, decision: AttemptCommand) {
    match printers.ask(printer, CommandOrigin::system(), decision).await.map(|answered| answered.answer) {
        Ok(AttemptAnswer::Done) => return,
        Ok(AttemptAnswer::NotInHand) | Err(AskError::Refused(_)) => {}
        Err(error) => {
            return tracing::debug!(order = %of.id(), %printer, %error, "notifying the printer failed; retrying");
        }
    }
    let state = of.read();
    let jobs = state.state.iter().flat_map(|order| order.jobs.values());
    let job = jobs.into_iter().find(|job| job.attempts.iter().any(|one| one.id == attempt)).map(|job| job.id);
    if let Some(job) = job {
        tell(of, OrderNews::Attempt { job, attempt, report: Report::CancelledBeforeStart }).await;
    }
}
