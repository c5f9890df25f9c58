//! Effects of channel orders, which are orders sold by external shops: resolve their lines with the variant map, create
//! our own orders from them, forward cancellations and refunds to our orders, and report shipments to the shop.

mod lines;
mod shops;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use shops::ShopClients;

use crate::orders::make::ProductionSources;
use domain::channel_order::{ChannelOrder, ChannelOrderCommand, ChannelOrderEffect, ShopState, TrackingOutcome};
use domain::order::{Order, OrderCommand, OrderStatus, ShopOrderChange};
use domain::principal::Principal;
use domain::refusal::Refusal;
use domain::sales_channel::SalesChannel;
use domain::time::Timestamp;
use kernel::directory::{ASK_TIMEOUT, Directory};
use kernel::effects::{Effects, report};
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::{AskError, Handle};
use lines::ResolvedLines;
use platform::watch::WatchSender;
use store::rows::LoadError;

/// Interval between attempts to resolve a channel order while its sales channel is unchanged.
const RETRY_AFTER: Duration = Duration::from_hours(1);

/// Effects of channel orders, which create our own orders from them and keep both sides informed.
pub struct ChannelOrderEffects {
    /// Sales channels with their variant maps.
    pub channels: Directory<SalesChannel>,
    /// Our own orders, created from channel orders.
    pub orders: Directory<Order>,
    /// Sources of the SKUs and files that lines are made from.
    pub sources: ProductionSources,
    /// Counter that increments with each sales channel commit.
    pub changes: WatchSender<u64>,
    /// Connections to the shops, which are notified of shipments.
    pub shops: Arc<ShopClients>,
    /// Injected clock and randomness.
    pub environment: Arc<Environment>,
}

#[async_trait]
impl Effects<ChannelOrder> for ChannelOrderEffects {
    async fn run(&self, effect: ChannelOrderEffect, of: Handle<ChannelOrder>) {
        let outcome = match effect {
            ChannelOrderEffect::Resolve { .. } => self.resolve(&of).await,
            ChannelOrderEffect::Make => self.make(&of).await,
            ChannelOrderEffect::TellOrder(changes) => self.tell_order(&of, changes).await,
            ChannelOrderEffect::TellShop { number, at, .. } => return self.tell_shop(&of, number, at).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(channel_order = %of.id(), %error, "processing a channel order failed; retrying");
        }
    }
}

/// Reason that an effect must be retried.
#[derive(Debug, thiserror::Error)]
enum ChannelOrderError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Ask(#[from] AskError),
}

async fn tell(of: &Handle<ChannelOrder>, command: ChannelOrderCommand) -> Result<(), AskError> {
    of.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await.map(drop)
}

/// Formats a rejection and all its errors on one line.
fn in_words(refusal: &Refusal) -> String {
    let faults: Vec<String> = refusal.faults.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
    if faults.is_empty() { refusal.message.clone() } else { faults.join("; ") }
}

impl ChannelOrderEffects {
    /// Tries to resolve the lines immediately, after each change to a sales channel and once per hour, until all are
    /// resolved.
    async fn resolve(&self, of: &Handle<ChannelOrder>) -> Result<(), ChannelOrderError> {
        let mut changes = self.changes.subscribe();
        // What the rules refused a moment ago they would refuse again.
        let mut wait = of.read().state.as_ref().is_some_and(|order| order.refused);
        loop {
            changes.mark_unchanged();
            if !wait {
                let state = of.read();
                let Some(order) = &state.state else { return Ok(()) };
                match self.look_up(order).await? {
                    ResolvedLines::Known(_) => return Ok(tell(of, ChannelOrderCommand::Resolved).await?),
                    ResolvedLines::Lacks { missing, problem } => {
                        if order.missing != missing || order.problem != problem {
                            tell(of, ChannelOrderCommand::Unresolved { missing, problem }).await?;
                        }
                    }
                }
            }
            wait = false;
            tokio::select! {
                biased; // news before the clock, so that the order of branches does not depend on chance
                _ = changes.changed() => {}
                () = tokio::time::sleep(RETRY_AFTER) => {}
            }
        }
    }

    /// Creates the order if it does not exist. Its ID was chosen earlier, so the order is never created twice.
    async fn make(&self, of: &Handle<ChannelOrder>) -> Result<(), ChannelOrderError> {
        let state = of.read();
        let Some(record) = &state.state else { return Ok(()) };
        if self.orders.find(record.order_id).await?.is_some() {
            return Ok(tell(of, ChannelOrderCommand::Made).await?);
        }
        let refused = |words: String| tell(of, ChannelOrderCommand::NotMade(words));
        let sold = match self.look_up(record).await? {
            ResolvedLines::Known(sold) => sold,
            ResolvedLines::Lacks { missing, problem } => {
                let lacking = format!("the product map has no entry for {}", missing.join(", "));
                return Ok(refused(problem.unwrap_or(lacking)).await?);
            }
        };
        let origin = CommandOrigin::new(Principal::Channel { id: record.channel_id });
        match self.orders.create_as(record.order_id, origin, OrderCommand::CreateSold(sold)).await {
            Ok(_) => Ok(tell(of, ChannelOrderCommand::Made).await?),
            Err(AskError::Refused(refusal)) if refusal.code == "exists" => {
                Ok(tell(of, ChannelOrderCommand::Made).await?)
            }
            Err(AskError::Refused(refusal)) => Ok(refused(in_words(&refusal)).await?),
            // Whether it is there is seen at the next try.
            Err(error) => Err(error.into()),
        }
    }

    /// Informs our own order that the external shop has cancelled or refunded it.
    async fn tell_order(&self, of: &Handle<ChannelOrder>, changes: ShopState) -> Result<(), ChannelOrderError> {
        let state = of.read();
        let Some(record) = &state.state else { return Ok(()) };
        let ShopState { cancelled, refunded_cents } = changes;
        let origin = CommandOrigin::new(Principal::Channel { id: record.channel_id });
        let news = OrderCommand::There(ShopOrderChange { cancelled, refunded_cents });
        let refused = match self.orders.ask(record.order_id, origin, news).await {
            Ok(answered) => {
                let is_late = cancelled && answered.answer.order.status == OrderStatus::Shipped;
                is_late.then(|| "it was cancelled in the sales channel after it was shipped".to_owned())
            }
            Err(AskError::Refused(refusal)) => Some(in_words(&refusal)),
            Err(error) => return Err(error.into()),
        };
        Ok(tell(of, ChannelOrderCommand::Told { reported: changes, refused }).await?)
    }

    /// Notifies the shop of a shipment as soon as the notification is due.
    async fn tell_shop(&self, of: &Handle<ChannelOrder>, number: u32, at: Timestamp) {
        self.environment.wait_until(at, RETRY_AFTER).await;
        let outcome = loop {
            let mut changes = self.changes.subscribe();
            changes.mark_unchanged();
            let state = of.read();
            let Some(record) = &state.state else { return };
            let channel = match self.channels.read(record.channel_id).await {
                Ok(Some(channel)) => channel,
                Ok(None) => break TrackingOutcome::NotWanted,
                Err(error) => return tracing::warn!(%error, "cannot read a sales channel"),
            };
            let Some(channel) = channel.state.as_ref() else { return };
            if channel.active || channel.archived {
                break self.shops.tell(channel, record, number, self.environment.chance()).await;
            }
            // It is told as soon as the channel works again.
            if changes.changed().await.is_err() {
                return;
            }
        };
        // What the shop answered is not asked again: only the outcome is told until it is written.
        let _ = report(of, ChannelOrderCommand::Tracked { number, outcome }).await;
    }
}
