//! Checkouts. A checkout is the one payment processor session through which an order or an invoice can be paid; all
//! callers that request it get the same session. The invoice for an order is paid by paying the order.
//!
//! The owner records which session is current and initiates its creation (`actors/at_processor.rs`); this module waits
//! for the session on behalf of a caller. An existing session is verified at the processor before a customer is sent to
//! it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::at_processor::{LedgerWork, open_session, paid_by};
use domain::aggregate::{Aggregate as _, Versioned};
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::ledger::{CheckoutState, LedgerCommand, LedgerOwner, PaymentUpdate};
use domain::order::Order;
use domain::principal::Principal;
use domain::refusal::{Class, Refusal};
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use platform::watch::WatchReceiver;
use services::payments::{PaymentProcessor, ProcessorError, ProcessorSession, SessionStatus};
use store::StoredAggregate;
use store::rows::LoadError;

/// Maximum time that a caller waits for a session.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// Maximum number of rounds per call; each change to the owner during a call starts a new round.
const MAX_ROUNDS: usize = 4;

/// Reason that no payable session was returned.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// The order or invoice cannot be paid.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No payment processor is configured.
    #[error("no payment processor is configured")]
    NotConfigured,
    /// The processor does not respond, or rejects a valid request. The cause is logged.
    #[error("the payment processor is currently unavailable")]
    Unavailable,
    /// The owner's actor did not respond.
    #[error(transparent)]
    Ask(AskError),
    /// The owner could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<AskError> for CheckoutError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Refused(refusal) => Self::Refused(refusal),
            error => Self::Ask(error),
        }
    }
}

impl From<ProcessorError> for CheckoutError {
    fn from(error: ProcessorError) -> Self {
        tracing::warn!(%error, "a request to the payment processor failed");
        Self::Unavailable
    }
}

/// Checkout session that can be paid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenSession {
    /// ID of the session at the processor.
    pub id: String,
    /// URL of the processor's payment page.
    pub url: String,
    /// Time at which the processor closes the session automatically.
    pub expires_at: Timestamp,
}

/// URLs to which the processor's payment page redirects the customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReturnPages {
    /// URL after payment.
    pub success_url: String,
    /// URL after cancellation.
    pub cancel_url: String,
}

/// Service that finds or creates checkout sessions for orders and invoices.
#[derive(Clone)]
pub struct Checkouts {
    /// Directory of orders.
    pub orders: Directory<Order>,
    /// Directory of invoices.
    pub invoices: Directory<Invoice>,
    /// Executor of ledger effects, with the counters that signal checkout changes.
    pub work: LedgerWork,
}

impl Checkouts {
    /// Returns whether a payment processor is configured.
    pub const fn has_processor(&self) -> bool {
        self.work.processor.is_some()
    }

    /// Returns the session through which the given order can currently be paid; creates it if needed.
    pub async fn of_order(
        &self,
        id: Id,
        origin: &CommandOrigin,
        pages: &ReturnPages,
    ) -> Result<OpenSession, CheckoutError> {
        self.of(&self.orders, id, None, origin, pages).await
    }

    /// Returns the session through which the given invoice can currently be paid; creates it if needed. If the invoice
    /// belongs to an order, this is the order's session. `number` is the invoice number shown to the customer.
    pub async fn of_invoice(
        &self,
        id: Id,
        number: Option<&str>,
        origin: &CommandOrigin,
        pages: &ReturnPages,
    ) -> Result<OpenSession, CheckoutError> {
        let state = read(&self.invoices, id).await?;
        let invoice = state.state.as_ref().ok_or_else(|| Refusal::not_found(Invoice::KIND))?;
        match invoice.order_id {
            // A void one is paid by nothing; its order may have another one.
            Some(order) if invoice.status != InvoiceStatus::Void => self.of_order(order, origin, pages).await,
            _ => {
                let title = number.map(|number| format!("Invoice {number}"));
                self.of(&self.invoices, id, title, origin, pages).await
            }
        }
    }

    async fn of<T: LedgerOwner + StoredAggregate>(
        &self,
        owners: &Directory<T>,
        id: Id,
        title: Option<String>,
        origin: &CommandOrigin,
        pages: &ReturnPages,
    ) -> Result<OpenSession, CheckoutError> {
        let until = Instant::now() + MAX_WAIT;
        let rounds = self.rounds(owners, id, title, origin, pages);
        timeout_at(until, rounds).await.unwrap_or(Err(CheckoutError::Unavailable))
    }

    async fn rounds<T: LedgerOwner + StoredAggregate>(
        &self,
        owners: &Directory<T>,
        id: Id,
        title: Option<String>,
        origin: &CommandOrigin,
        pages: &ReturnPages,
    ) -> Result<OpenSession, CheckoutError> {
        for _ in 0..MAX_ROUNDS {
            let state = read(owners, id).await?;
            let owner = state.state.as_ref().ok_or_else(|| Refusal::not_found(T::KIND))?;
            let due = owner.ledger().to_check_out(&owner.terms())?;
            let processor = self.work.processor.as_ref().ok_or(CheckoutError::NotConfigured)?;
            if let Some((_, session)) =
                open_session(owner.ledger()).filter(|(checkout, _)| checkout.amount_cents == due)
                && let Some(open) = self.look(owners, id, processor, session).await?
            {
                return Ok(open);
            }
            let mut news = self.work.checkout_news.subscribe();
            let command = LedgerCommand::CheckOut {
                title: title.clone().unwrap_or_else(|| owner.title()),
                success_url: pages.success_url.clone(),
                cancel_url: pages.cancel_url.clone(),
            };
            let outcome = owners.ask(id, origin.clone(), T::asking(command)).await?;
            let ledger = outcome.answer.as_ref().ledger();
            let Some(number) = ledger.checkout().filter(|one| one.session().is_none()).map(|one| one.number) else {
                continue; // Somebody else's session stands by now: it is looked at.
            };
            if let Some(open) = await_session(owners, id, number, &mut news).await? {
                return Ok(open);
            }
        }
        Err(CheckoutError::Unavailable)
    }

    /// Verifies a session recorded by its owner at the processor. Returns the session if it can be paid; `None` if it
    /// no longer exists. Reports any payment or expiry that the owner has not recorded yet. Fails if the session is
    /// paid or its payment is pending.
    async fn look<T: LedgerOwner + StoredAggregate>(
        &self,
        owners: &Directory<T>,
        id: Id,
        processor: &Arc<dyn PaymentProcessor>,
        session: &str,
    ) -> Result<Option<OpenSession>, CheckoutError> {
        let news = match processor.session(session).await {
            Ok(ProcessorSession { id, url: Some(url), expires_at, status: SessionStatus::Open, .. }) => {
                return Ok(Some(OpenSession { id, url, expires_at }));
            }
            // Its event may be lost for ever.
            Ok(current) if current.payment_failed && !current.paid => {
                PaymentUpdate::Failed { reason: None, intent: current.intent, session: Some(session.to_owned()) }
            }
            Ok(current) if current.status == SessionStatus::Complete && !current.paid => {
                let words = format!("a payment of this {} is pending; wait until it succeeds or fails", T::KIND);
                return Err(Refusal::conflict("payment_pending", words).into());
            }
            Ok(current) if current.status == SessionStatus::Complete => paid_by(&current),
            Ok(_) => PaymentUpdate::SessionExpired { session: Some(session.to_owned()) },
            Err(error) if error.is_missing() => PaymentUpdate::SessionExpired { session: Some(session.to_owned()) },
            Err(error) => return Err(error.into()),
        };
        let paid = matches!(news, PaymentUpdate::Paid { .. });
        let command = T::asking(LedgerCommand::Payment(news));
        owners.ask(id, CommandOrigin::new(Principal::Processor), command).await?;
        if !paid {
            return Ok(None);
        }
        self.work.new_references.send_modify(|count| *count += 1);
        Err(Refusal::conflict("already_paid", format!("the {} is already paid", T::KIND)).into())
    }
}

async fn read<T: LedgerOwner + StoredAggregate>(
    owners: &Directory<T>,
    id: Id,
) -> Result<Arc<Versioned<T>>, CheckoutError> {
    Ok(owners.read(id).await?.ok_or_else(|| Refusal::not_found(T::KIND))?)
}

/// Waits until the session for a checkout has been created; `None` if the owner has started a new checkout meanwhile.
async fn await_session<T: LedgerOwner + StoredAggregate>(
    owners: &Directory<T>,
    id: Id,
    number: u32,
    news: &mut WatchReceiver<u64>,
) -> Result<Option<OpenSession>, CheckoutError> {
    loop {
        news.mark_unchanged();
        let state = read(owners, id).await?;
        let checkout =
            state.state.as_ref().and_then(|owner| owner.ledger().checkout()).filter(|one| one.number == number);
        match checkout.map(|one| &one.state) {
            None => return Ok(None),
            Some(CheckoutState::Open { session, url, expires_at }) => {
                return Ok(Some(OpenSession { id: session.clone(), url: url.clone(), expires_at: *expires_at }));
            }
            Some(CheckoutState::Failed { amount: true, .. }) => {
                let words = "the payment processor does not accept payments of this amount";
                return Err(Refusal::new(Class::Invalid, "not_payable", words).into());
            }
            Some(CheckoutState::Failed { .. }) => return Err(CheckoutError::Unavailable),
            Some(CheckoutState::Wanted) => {}
        }
        if news.changed().await.is_err() {
            return Err(CheckoutError::Unavailable);
        }
    }
}
