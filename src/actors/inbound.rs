//! What kept payment events want of the outside: an order that they belong to.

use crate::actors::envelope::Caller;
use crate::actors::handle::Handle;
use crate::actors::things::WITHIN;
use crate::actors::world::World;
use crate::domain::inbound::parse;
use crate::domain::inbox::{Inbound, InboundCommand, Match};
use crate::payments::{self, Outcome};
use crate::shop::ShopRef;
use async_trait::async_trait;

/// The outside of kept payment events.
pub struct InboundWorld(pub ShopRef);

#[async_trait]
impl World<Inbound> for InboundWorld {
    /// At once, at each new order, and when its time has come.
    async fn pursue(&self, want: Match, of: Handle<Inbound>) {
        let Some(shop) = self.0.get() else { return };
        let state = of.read();
        let Some(kept) = &state.state else { return };
        let mut new_orders = shop.new_orders.subscribe();
        let matched = loop {
            new_orders.mark_unchanged();
            let event = match parse(kept.body.as_bytes()) {
                Ok(event) => event,
                Err(error) => {
                    tracing::error!(event = kept.event_id, %error, "kept payment event cannot be read");
                    break true;
                }
            };
            match payments::apply(&shop, &event).await {
                Ok(Outcome::Unmatched) => {}
                Ok(Outcome::Applied | Outcome::Ignored) => break true,
                Err(error) => {
                    tracing::warn!(event = kept.event_id, %error, "kept payment event not applied, is tried again");
                    return;
                }
            }
            tokio::select! {
                () = shop.environment.wait_until(want.at) => break false,
                _ = new_orders.changed() => {}
            }
        };
        let tried = InboundCommand::Tried { matched };
        if let Err(error) = of.ask(Caller::system(), tried, WITHIN).await {
            tracing::debug!(%error, "try not noted");
        }
    }
}
