//! Which order a payment event belongs to, and what the order is told. Signatures are checked in
//! `domain/payment_event`.

use std::sync::Arc;

use tokio::sync::watch;

use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::{CommandOrigin, IdempotencyKey};
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::AskError;
use crate::domain::id::Id;
use crate::domain::order::{Order, OrderCommand, PaymentNews};
use crate::domain::payment_event::{ID_RETENTION_DAYS, OrderLinks, PaymentEffect, PaymentEvent};
use crate::domain::principal::Principal;
use crate::domain::time::DAY_MS;
use crate::store::{Store, Unavailable};

/// What became of a payment event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentMatch {
    /// An order took it, now or before.
    Applied,
    /// It matches no order yet.
    Unmatched,
    /// Nothing that we use.
    Ignored,
}

/// Finds the order of a payment event and tells it.
#[derive(Clone)]
pub struct PaymentMatcher {
    /// Orders to be told.
    pub orders: Directory<Order>,
    /// Finds an order by its payment session or payment intent.
    pub store: Store,
    /// Clock and settings, handed in.
    pub environment: Arc<Environment>,
    /// Told of each payment that an order took, because kept events may be about it.
    pub new_references: watch::Sender<u64>,
}

impl PaymentMatcher {
    /// Finds the order and tells it. The id of the event is kept in the same commit as its effect, so it has at most
    /// one.
    pub async fn apply(&self, event: &PaymentEvent) -> Result<PaymentMatch, AskError> {
        let Some(news) = news(event) else { return Ok(PaymentMatch::Ignored) };
        let Some(order) = self.find(&event.links).await? else { return Ok(PaymentMatch::Unmatched) };
        let key = IdempotencyKey {
            key: format!("payments:{}", event.id),
            body_hash: String::new(),
            expires_at: self.environment.now().plus_ms(ID_RETENTION_DAYS * DAY_MS),
        };
        let caller = CommandOrigin { by: Arc::new(Principal::Processor), request_id: None, key: Some(key) };
        let names_a_payment = matches!(news, PaymentNews::Paid { .. });
        match self.orders.ask(order, caller, OrderCommand::Payment(news)).await {
            Ok(_) => {
                if names_a_payment {
                    self.new_references.send_modify(|count| *count += 1);
                }
                Ok(PaymentMatch::Applied)
            }
            // The id is there already: its effect is in the commit that wrote it.
            Err(AskError::KeyTaken) => Ok(PaymentMatch::Applied),
            // An order refuses no payment; this is one that is not there.
            Err(AskError::Refused(_)) => Ok(PaymentMatch::Unmatched),
            Err(error) => Err(error),
        }
    }

    /// By `client_reference_id`, `metadata.orderId`, the stored session, or the intent of a payment, in this order.
    async fn find(&self, links: &OrderLinks) -> Result<Option<Id>, AskError> {
        let unavailable = |error: crate::store::rows::LoadError| {
            tracing::warn!(%error, "orders cannot be read");
            AskError::Unavailable(Unavailable::Database)
        };
        for named in [&links.client_reference_id, &links.order_id].into_iter().flatten() {
            if let Ok(id) = named.parse::<Id>()
                && self.orders.read(id).await.map_err(unavailable)?.is_some()
            {
                return Ok(Some(id));
            }
        }
        if let Some(session) = &links.session
            && let Some(order) = self.store.queries().order_of_session(session).await.map_err(unavailable)?
        {
            return Ok(Some(order));
        }
        match &links.payment_intent {
            Some(intent) => self.store.queries().order_of_intent(intent).await.map_err(unavailable),
            None => Ok(None),
        }
    }
}

fn news(event: &PaymentEvent) -> Option<PaymentNews> {
    let intent = event.links.payment_intent.clone();
    Some(match &event.effect {
        PaymentEffect::Paid { amount_cents, currency, session, payment_intent, .. } => PaymentNews::Paid {
            amount_cents: *amount_cents,
            currency: currency.clone(),
            session: Some(session.clone()),
            intent: payment_intent.clone(),
        },
        PaymentEffect::Failed { reason } => PaymentNews::Failed { reason: Some(reason.clone()), intent },
        PaymentEffect::Refunded { amount_refunded_cents, full, currency } => PaymentNews::Refunded {
            amount_cents: *amount_refunded_cents,
            whole: *full,
            currency: currency.clone(),
            intent,
        },
        PaymentEffect::SessionExpired => PaymentNews::SessionExpired { session: event.links.session.clone() },
        PaymentEffect::Unpaid | PaymentEffect::SubscriptionChanged { .. } | PaymentEffect::Ignored { .. } => {
            return None;
        }
    })
}
