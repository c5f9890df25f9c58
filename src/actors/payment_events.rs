//! What kept payment events want of the outside: an order that they belong to.

pub mod matching;

use crate::actors::kernel::directory::WITHIN;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::Handle;
use crate::actors::payment_events::matching::Outcome;
use crate::app::AppRef;
use crate::domain::kept_payment_event::{InboundCommand, KeptPaymentEvent, Match};
use crate::domain::payment_event::parse;
use async_trait::async_trait;

/// The outside of kept payment events.
pub struct InboundWorld(pub AppRef);

#[async_trait]
impl Effects<KeptPaymentEvent> for InboundWorld {
    /// At once, at each new order, and when its time has come.
    async fn run(&self, want: Match, of: Handle<KeptPaymentEvent>) {
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
            match matching::apply(&shop, &event).await {
                Ok(Outcome::Unmatched) => {}
                Ok(Outcome::Applied | Outcome::Ignored) => break true,
                Err(error) => {
                    tracing::warn!(event = kept.event_id, %error, "kept payment event not applied, is tried again");
                    return;
                }
            }
            tokio::select! {
                biased; // the deadline before a new order, so that the order of branches does not depend on chance
                () = shop.environment.wait_until(want.at) => break false,
                _ = new_orders.changed() => {}
            }
        };
        let tried = InboundCommand::Tried { matched };
        if let Err(error) = of.ask(CommandOrigin::system(), tried, WITHIN).await {
            tracing::debug!(%error, "try not noted");
        }
    }
}
