//! Matches a payment event with its order or invoice, and applies the event to it. Signatures are verified in
//! `domain/payment_event`.

mod periods;

use std::sync::Arc;

use crate::subscribers::Subscribers;
use domain::customer::Customer;
use domain::id::Id;
use domain::invoice::Invoice;
use domain::ledger::{LedgerCommand, LedgerOwner, PaymentUpdate};
use domain::order::Order;
use domain::payment_event::{DisputeUpdate, ID_RETENTION_DAYS, OrderLinks, PaymentEffect, PaymentEvent};
use domain::principal::Principal;
use domain::time::DAY_MS;
use kernel::directory::Directory;
use kernel::envelope::{CommandOrigin, IdempotencyKey};
use kernel::environment::Environment;
use kernel::handle::AskError;
use platform::watch::WatchSender;
use store::rows::LoadError;
use store::{Store, StoredAggregate, Unavailable};

/// Result of matching a payment event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentMatch {
    /// The event has been applied to an order or invoice, now or earlier.
    Applied,
    /// The event does not match an order or invoice yet.
    Unmatched,
    /// The invoice is on hold until the settings identify the seller; settings are read only at startup.
    WaitsForSeller,
    /// The event is irrelevant to the shop.
    Ignored,
}

/// Owner of the ledger that an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Order(Id),
    /// Invoice without an order.
    Invoice(Id),
}

/// Matcher that finds the order or invoice for a payment event, and applies the event to it.
#[derive(Clone)]
pub struct PaymentMatcher {
    /// Directory of orders.
    pub orders: Directory<Order>,
    /// Directory of invoices.
    pub invoices: Directory<Invoice>,
    /// Customers whose subscriptions are invoiced.
    pub customers: Directory<Customer>,
    /// Cache of our customers' data at the processor.
    pub subscribers: Subscribers,
    /// Store, for lookups by payment session or payment intent.
    pub store: Store,
    /// Injected clock and settings.
    pub environment: Arc<Environment>,
    /// Counter that increments with each accepted payment, because stored events may be about it.
    pub new_references: WatchSender<u64>,
}

fn unavailable(error: LoadError) -> AskError {
    tracing::warn!(%error, "cannot read the records of a payment event");
    AskError::Unavailable(Unavailable::Database)
}

impl PaymentMatcher {
    /// Finds an event's order or invoice, and applies the event to it. The event ID is stored in the same commit as the
    /// result, so the event is applied at most once.
    pub async fn apply(&self, event: &PaymentEvent) -> Result<PaymentMatch, AskError> {
        match &event.effect {
            PaymentEffect::PeriodPaid(period) => return self.invoice_period(period).await,
            PaymentEffect::SubscriptionChanged { customer: Some(customer), .. } => self.subscribers.forget(customer),
            _ => {}
        }
        let Some(news) = news(event) else { return Ok(PaymentMatch::Ignored) };
        let owner = match &event.effect {
            PaymentEffect::PeriodPaymentNamed { invoice, .. } => self.invoice_of_period(invoice).await?,
            _ => self.find(&event.links).await?,
        };
        match owner {
            Some(Owner::Order(id)) => self.tell(&self.orders, id, event, news).await,
            Some(Owner::Invoice(id)) => self.tell(&self.invoices, id, event, news).await,
            None => Ok(PaymentMatch::Unmatched),
        }
    }

    async fn tell<T: LedgerOwner + StoredAggregate>(
        &self,
        owners: &Directory<T>,
        id: Id,
        event: &PaymentEvent,
        news: PaymentUpdate,
    ) -> Result<PaymentMatch, AskError> {
        let key = IdempotencyKey {
            key: format!("payments:{}", event.id),
            body_hash: String::new(),
            expires_at: self.environment.now().plus_ms(ID_RETENTION_DAYS * DAY_MS),
        };
        let caller = CommandOrigin { by: Arc::new(Principal::Processor), request_id: None, key: Some(key) };
        let names_a_payment = matches!(news, PaymentUpdate::Paid { .. });
        match owners.ask(id, caller, T::asking(LedgerCommand::Payment(news))).await {
            Ok(_) => {
                if names_a_payment {
                    self.new_references.send_modify(|count| *count += 1);
                }
                Ok(PaymentMatch::Applied)
            }
            // The ID is there already: its effect is in the commit that wrote it.
            Err(AskError::KeyTaken) => Ok(PaymentMatch::Applied),
            // A ledger refuses no payment; this is one that is not there.
            Err(AskError::Refused(_)) => Ok(PaymentMatch::Unmatched),
            Err(error) => Err(error),
        }
    }

    /// Finds the owner by `client_reference_id`, `metadata.orderId`, `metadata.invoiceId`, the stored session or the
    /// payment intent, in this order.
    async fn find(&self, links: &OrderLinks) -> Result<Option<Owner>, AskError> {
        for named in [&links.client_reference_id, &links.order_id, &links.invoice_id].into_iter().flatten() {
            if let Ok(id) = named.parse::<Id>()
                && let Some(owner) = self.owner(id).await?
            {
                return Ok(Some(owner));
            }
        }
        let queries = self.store.queries();
        let mut owner_id = None;
        if let Some(session) = &links.session {
            owner_id = queries.owner_of_session(session).await.map_err(unavailable)?;
        }
        if let (None, Some(intent)) = (owner_id, &links.payment_intent) {
            owner_id = queries.owner_of_intent(intent).await.map_err(unavailable)?;
        }
        match owner_id {
            Some(id) => self.owner(id).await,
            None => Ok(None),
        }
    }

    /// Returns the order or invoice with the given ID; for an invoice that belongs to an order, returns the order.
    async fn owner(&self, id: Id) -> Result<Option<Owner>, AskError> {
        if self.orders.read(id).await.map_err(unavailable)?.is_some() {
            return Ok(Some(Owner::Order(id)));
        }
        let state = self.invoices.read(id).await.map_err(unavailable)?;
        let invoice = state.as_ref().and_then(|state| state.state.as_ref());
        Ok(invoice.map(|invoice| invoice.order_id.map_or(Owner::Invoice(id), Owner::Order)))
    }
}

fn news(event: &PaymentEvent) -> Option<PaymentUpdate> {
    let intent = event.links.payment_intent.clone();
    Some(match &event.effect {
        PaymentEffect::Paid { amount_cents, currency, session, payment_intent, .. } => PaymentUpdate::Paid {
            amount_cents: *amount_cents,
            currency: currency.clone(),
            session: Some(session.clone()),
            intent: payment_intent.clone(),
        },
        PaymentEffect::PeriodPaymentNamed { invoice, payment_intent } => PaymentUpdate::Paid {
            amount_cents: None,
            currency: None,
            session: Some(invoice.clone()),
            intent: Some(payment_intent.clone()),
        },
        PaymentEffect::Failed { reason } => {
            PaymentUpdate::Failed { reason: Some(reason.clone()), intent, session: event.links.session.clone() }
        }
        PaymentEffect::Refunded { amount_refunded_cents, full, currency } => PaymentUpdate::Refunded {
            amount_cents: *amount_refunded_cents,
            whole: *full,
            currency: currency.clone(),
            intent,
        },
        PaymentEffect::RefundFailed { amount_cents, reason, refund } => {
            let (reason, refund) = (reason.clone(), refund.clone());
            PaymentUpdate::RefundFailed { amount_cents: *amount_cents, reason, intent, refund }
        }
        PaymentEffect::Disputed(DisputeUpdate { id, amount_cents, reason, state }) => {
            let (id, reason) = (id.clone(), reason.clone());
            PaymentUpdate::Disputed { id, amount_cents: *amount_cents, reason, state: *state, intent }
        }
        PaymentEffect::SessionExpired => PaymentUpdate::SessionExpired { session: event.links.session.clone() },
        PaymentEffect::Unpaid
        | PaymentEffect::SubscriptionChanged { .. }
        | PaymentEffect::PeriodPaid(_)
        | PaymentEffect::Ignored { .. } => return None,
    })
}
