//! Effects of stored payment events, which did not match any order or invoice when they arrived: find each event's
//! order or invoice.

pub mod matching;

use async_trait::async_trait;

use crate::payment_events::matching::{PaymentMatch, PaymentMatcher};
use domain::kept_payment_event::{KeptPaymentEvent, KeptPaymentEventCommand, MatchOrder, RETRY_AFTER};
use domain::payment_event::parse;
use kernel::directory::ASK_TIMEOUT;
use kernel::effects::Effects;
use kernel::envelope::CommandOrigin;
use kernel::handle::Handle;
use platform::watch::WatchSender;

/// Effects of stored payment events, which match them with orders and invoices.
pub struct KeptPaymentEventEffects {
    /// Matcher that finds the order or invoice and applies the event to it.
    pub matcher: PaymentMatcher,
    /// Counter that increments with each new order, invoice and accepted payment, any of which may match an event.
    pub new_references: WatchSender<u64>,
}

#[async_trait]
impl Effects<KeptPaymentEvent> for KeptPaymentEventEffects {
    /// Tries to match the event immediately and after each new order, invoice and payment; gives up at the effect's
    /// deadline.
    async fn run(&self, effect: MatchOrder, of: Handle<KeptPaymentEvent>) {
        let state = of.read();
        let Some(record) = &state.state else { return };
        let mut new_references = self.new_references.subscribe();
        let matched = loop {
            new_references.mark_unchanged();
            let event = match parse(record.body.as_bytes()) {
                Ok(event) => event,
                Err(error) => {
                    tracing::error!(event = record.event_id, %error, "cannot parse a stored payment event");
                    break true;
                }
            };
            match self.matcher.apply(&event).await {
                Ok(PaymentMatch::Unmatched) => {}
                // Not told as tried: it is not given up, however long it takes.
                Ok(PaymentMatch::WaitsForSeller) => return std::future::pending().await,
                Ok(PaymentMatch::Applied | PaymentMatch::Ignored) => break true,
                Err(error) => {
                    tracing::warn!(event = record.event_id, %error, "applying a stored payment event failed; retrying");
                    return;
                }
            }
            tokio::select! {
                biased; // the deadline before news, so that the order of branches does not depend on chance
                () = self.matcher.environment.wait_until(effect.at, RETRY_AFTER) => break false,
                _ = new_references.changed() => {}
            }
        };
        let tried = KeptPaymentEventCommand::Tried { matched };
        if let Err(error) = of.ask(CommandOrigin::system(), tried, ASK_TIMEOUT).await {
            tracing::debug!(%error, "recording an attempt failed; retrying");
        }
    }
}
