//! Payment processor calls for orders and invoices: creating and closing checkout sessions, and issuing refunds. Each
//! request has an idempotency key derived from the owner's state, which lets the processor recognise retries.

use std::sync::Arc;

use async_trait::async_trait;

use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::Invoice;
use domain::ledger::{
    Checkout, CheckoutResult, CheckoutState, Ledger, LedgerCommand, LedgerEffect, LedgerOwner, PaymentUpdate,
    RefundResult, RequestedRefund,
};
use domain::principal::Principal;
use domain::time::HOUR_MS;
use kernel::directory::ASK_TIMEOUT;
use kernel::effects::{Effects, report};
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::Handle;
use platform::watch::WatchSender;
use services::payments::{
    NewPaymentSession, NewRefund, PaymentProcessor, ProcessorError, ProcessorSession, REFUND_ID, Refund, SessionStatus,
};

/// Builds the payment update to report to a session's owner when the processor's session is already paid.
pub fn paid_by(session: &ProcessorSession) -> PaymentUpdate {
    PaymentUpdate::Paid {
        amount_cents: session.amount_cents,
        currency: session.currency.clone(),
        session: Some(session.id.clone()),
        intent: session.intent.clone(),
    }
}

/// Returns the current checkout with its session ID, if the session is open for payment according to the ledger.
pub fn open_session(ledger: &Ledger) -> Option<(&Checkout, &str)> {
    ledger.checkout().and_then(|checkout| match &checkout.state {
        CheckoutState::Open { session, .. } => Some((checkout, session.as_str())),
        _ => None,
    })
}

/// Maximum age, in milliseconds, at which the processor is relied on to recognise an idempotency key; its documentation
/// promises one day. Older requests are looked up by our own ID before they are retried.
const KEY_TRUSTED_MS: i64 = 12 * HOUR_MS;

/// Executor of ledger effects (sessions, refunds) at the payment processor.
#[derive(Clone)]
pub struct LedgerWork {
    /// Payment processor for orders and invoices, if configured.
    pub processor: Option<Arc<dyn PaymentProcessor>>,
    /// Counter that increments when a checkout session has been created or could not be created; callers that wait for
    /// a session subscribe to it.
    pub checkout_news: WatchSender<u64>,
    /// Clock used to determine the age of requests.
    pub environment: Arc<Environment>,
    /// Counter that increments with each new order, invoice and payment, so that unmatched payment events can be
    /// matched again.
    pub new_references: WatchSender<u64>,
}

/// Effects of invoices: the payment processor calls for invoices without an order.
pub struct InvoiceEffects {
    /// Executor of ledger effects, shared with orders.
    pub work: LedgerWork,
}

#[async_trait]
impl Effects<Invoice> for InvoiceEffects {
    async fn run(&self, effect: LedgerEffect, of: Handle<Invoice>) {
        self.work.run(effect, &of).await;
    }

    fn committed(&self, _: &Handle<Invoice>, state: &Arc<Versioned<Invoice>>) {
        self.work.committed(state);
    }
}

impl LedgerWork {
    /// Creates the executor of ledger effects for the given processor, if any.
    pub fn new(processor: Option<Arc<dyn PaymentProcessor>>, environment: Arc<Environment>) -> Self {
        Self { processor, checkout_news: WatchSender::new(0), environment, new_references: WatchSender::new(0) }
    }

    /// Notifies subscribers of the changes that a commit may contain, such as a new owner or a change to a checkout. An
    /// effect cannot announce its own completion, because the commit that completes it aborts its task.
    pub fn committed<T: LedgerOwner>(&self, state: &Versioned<T>) {
        if state.version == 1 {
            self.new_references.send_modify(|count| *count += 1);
        }
        if state.state.as_ref().is_some_and(|owner| owner.ledger().at_processor.checkouts > 0) {
            self.checkout_news.send_modify(|count| *count += 1);
        }
    }

    /// Attempts an effect once and reports the outcome to the owner.
    pub async fn run<T: LedgerOwner>(&self, effect: LedgerEffect, of: &Handle<T>) {
        if effect == LedgerEffect::Recount {
            if let Err(error) = report(of, T::asking(LedgerCommand::Recount)).await {
                tracing::debug!(kind = T::KIND, id = %of.id(), %error, "reading the total refunded failed; retrying");
            }
            return;
        }
        // Without a processor nothing is done until the settings name it again. What went back is then what its events
        // say: they are heard without a key.
        let Some(processor) = &self.processor else {
            if let LedgerEffect::ReadRefunds { intent, number } = effect {
                return tell_read(of, intent, number, None).await;
            }
            return tracing::debug!(kind = T::KIND, id = %of.id(), "no payment processor is configured; the request is \
                 on hold");
        };
        match effect {
            LedgerEffect::MakeSession { number } => {
                // Its answer is heard of also after its owner has given the checkout up, which ends this task: a
                // session that nobody knows would stay open.
                let (processor, of) = (processor.clone(), of.clone());
                let making = tokio::spawn(async move { make_session(&processor, &of, number).await });
                if let Err(error) = making.await
                    && let Ok(panic) = error.try_into_panic()
                {
                    std::panic::resume_unwind(panic);
                }
            }
            LedgerEffect::CloseSession { session } => self.close_session(processor, of, session).await,
            LedgerEffect::Refund { refund } => self.refund(processor, of, refund).await,
            LedgerEffect::ReadRefunds { intent, number } => read_refunds(processor, of, intent, number).await,
            LedgerEffect::Recount => {}
        }
    }

    /// Closes a session or, if the session has been paid in the meantime, reports the payment to the owner.
    async fn close_session<T: LedgerOwner>(
        &self,
        processor: &Arc<dyn PaymentProcessor>,
        of: &Handle<T>,
        session: String,
    ) {
        let left = match processor.expire_session(&session).await {
            Ok(_) => None,
            Err(error) if error.is_missing() => None,
            // It is not open any more, whatever ended it.
            Err(ProcessorError::Refused { .. }) => match processor.session(&session).await {
                Ok(current) => Some(current),
                Err(error) if error.is_missing() => None,
                Err(error) => return again(of, &error),
            },
            Err(error) => return again(of, &error),
        };
        match left {
            Some(current) if current.status == SessionStatus::Open => return,
            Some(current) if current.status == SessionStatus::Complete && current.paid => {
                let origin = CommandOrigin::new(Principal::Processor);
                let paid = T::asking(LedgerCommand::Payment(paid_by(&current)));
                // Whatever kept it from being heard: the session is not forgotten before its money is known.
                if let Err(error) = of.ask(origin, paid, ASK_TIMEOUT).await {
                    return tracing::warn!(kind = T::KIND, id = %of.id(), %error, "reporting a payment failed; \
                         retrying");
                }
                self.new_references.send_modify(|count| *count += 1);
            }
            _ => {}
        }
        let closed = T::asking(LedgerCommand::SessionClosed(session));
        if let Err(error) = of.ask(CommandOrigin::system(), closed, ASK_TIMEOUT).await {
            tracing::debug!(kind = T::KIND, id = %of.id(), %error, "reporting a closed checkout session failed; retrying");
        }
    }

    /// Issues a refund at the processor and reports the payment's total refunded amount to the owner.
    async fn refund<T: LedgerOwner>(&self, processor: &Arc<dyn PaymentProcessor>, of: &Handle<T>, refund: Id) {
        let state = of.read();
        let Some(owner) = state.state.as_ref() else { return };
        let Some(request) = owner.ledger().at_processor.refunds.iter().find(|one| one.id == refund) else { return };
        let mut done = None;
        if self.environment.now().since(request.asked_at) > KEY_TRUSTED_MS {
            done = match processor.refunds(&request.intent).await {
                Ok(all) => all.into_iter().find(|one| one.our_id.as_deref() == Some(&*refund.to_string())),
                Err(error) => return again(of, &error),
            };
        }
        let outcome = match done {
            Some(done) => Ok(done),
            None => processor.create_refund(&to_refund(owner, request), &format!("refund-{refund}")).await,
        };
        let refused = match outcome {
            Ok(Refund { counts: true, .. }) => None,
            Ok(Refund { id, .. }) => Some(format!("refund {id} failed")),
            Err(ProcessorError::Refused { words, .. }) => Some(words),
            Err(error) => return again(of, &error),
        };
        let refunded_cents = match processor.refunds(&request.intent).await {
            Ok(all) => Some(went_back(&all)),
            Err(ProcessorError::Refused { .. } | ProcessorError::Credentials(_)) if refused.is_some() => None,
            Err(ProcessorError::Refused { .. } | ProcessorError::Credentials(_)) => {
                let recorded = owner.ledger().payments.iter().filter(|one| one.amount_cents < 0);
                let of_it = recorded.filter(|one| one.reference.as_ref() == Some(&request.intent));
                Some(of_it.fold(request.amount_cents, |sum: i64, one| sum.saturating_add(one.went_cents())))
            }
            Err(error) => return again(of, &error),
        };
        let news = match (refused, refunded_cents) {
            (None, Some(refunded_cents)) => RefundResult::Taken { refunded_cents },
            (reason, refunded_cents) => RefundResult::Refused { refunded_cents, reason: reason.unwrap_or_default() },
        };
        if let Err(error) = report(of, T::asking(LedgerCommand::RefundNews { refund, news })).await {
            tracing::debug!(kind = T::KIND, id = %of.id(), %refund, %error, "reporting a refund failed; retrying");
        }
    }
}

/// Returns the sum of the given refunds that have been paid out or are in progress, in minor units.
fn went_back(refunds: &[Refund]) -> i64 {
    let went = refunds.iter().filter(|one| one.counts);
    went.fold(0, |sum: i64, one| sum.saturating_add(one.amount_cents))
}

/// Reads a payment's total refunded amount from the processor and reports it to the owner.
async fn read_refunds<T: LedgerOwner>(
    processor: &Arc<dyn PaymentProcessor>,
    of: &Handle<T>,
    intent: String,
    number: u32,
) {
    let refunded_cents = match processor.refunds(&intent).await {
        Ok(all) => Some(went_back(&all)),
        // A key that may not list refunds never will: what events say of them counts.
        Err(ProcessorError::Refused { .. }) => None,
        Err(error) => return again(of, &error),
    };
    tell_read(of, intent, number, refunded_cents).await;
}

/// Reports a payment's total refunded amount to the owner; `None` means that the processor cannot be queried for it.
async fn tell_read<T: LedgerOwner>(of: &Handle<T>, intent: String, number: u32, refunded_cents: Option<i64>) {
    let read = LedgerCommand::RefundsRead { intent, number, refunded_cents };
    if let Err(error) = report(of, T::asking(read)).await {
        tracing::debug!(kind = T::KIND, id = %of.id(), %error, "reporting refunds failed; retrying");
    }
}

/// Creates a processor session for a checkout and reports it to the owner.
async fn make_session<T: LedgerOwner>(processor: &Arc<dyn PaymentProcessor>, of: &Handle<T>, number: u32) {
    let state = of.read();
    let Some(owner) = state.state.as_ref() else { return };
    let Some(checkout) = owner.ledger().checkout().filter(|one| one.number == number) else { return };
    let key = format!("{}-{}-{number}", T::KIND, owner.terms().owner_id);
    let request = asked_for(owner, checkout);
    let mut outcome = processor.create_payment_session(&request, &key).await;
    if outcome.as_ref().is_err_and(|error| error.code() == "email_invalid") {
        // The customer fills in an address that the processor likes better.
        let without = NewPaymentSession { customer_email: None, ..request };
        outcome = processor.create_payment_session(&without, &format!("{key}-without-address")).await;
    }
    let news = match outcome {
        Ok(ProcessorSession { id: session, url: Some(url), expires_at, status: SessionStatus::Open, .. }) => {
            CheckoutResult::Made { session, url, expires_at }
        }
        Ok(session) => not_made(of, true, false, format!("session {} is not open", session.id)),
        Err(error) => {
            // What it answered it may answer again under the same key: the next try is a new request.
            let refused = matches!(error, ProcessorError::Refused { .. } | ProcessorError::Failing(_));
            not_made(of, refused, error.is_about_amount(), error.to_string())
        }
    };
    // Those who wait hear of it by the commit.
    if let Err(error) = report(of, T::asking(LedgerCommand::CheckoutMade { number, news })).await {
        tracing::debug!(kind = T::KIND, id = %of.id(), %error, "reporting a checkout session failed; retrying");
    }
}

fn again<T: LedgerOwner>(of: &Handle<T>, error: &ProcessorError) {
    tracing::debug!(kind = T::KIND, id = %of.id(), %error, "retrying the request to the payment processor");
}

fn not_made<T: LedgerOwner>(of: &Handle<T>, refused: bool, amount: bool, reason: String) -> CheckoutResult {
    tracing::warn!(kind = T::KIND, id = %of.id(), reason, "no checkout session was created");
    CheckoutResult::Failed { refused, amount, reason }
}

/// Builds the session request for a checkout. Retries must be byte-for-byte identical, so all values come from the
/// owner's frozen state.
fn asked_for<T: LedgerOwner>(owner: &T, checkout: &Checkout) -> NewPaymentSession {
    let terms = owner.terms();
    NewPaymentSession {
        reference: terms.owner_id.to_string(),
        metadata: owner.metadata(),
        title: checkout.title.clone().unwrap_or_else(|| owner.title()),
        amount_cents: checkout.amount_cents,
        currency: terms.currency,
        customer_email: owner.payer().cloned(),
        success_url: checkout.success_url.clone(),
        cancel_url: checkout.cancel_url.clone(),
    }
}

fn to_refund<T: LedgerOwner>(owner: &T, request: &RequestedRefund) -> NewRefund {
    let mut metadata = owner.metadata();
    metadata.push((REFUND_ID.to_owned(), request.id.to_string()));
    NewRefund { intent: request.intent.clone(), amount_cents: request.amount_cents, metadata }
}
