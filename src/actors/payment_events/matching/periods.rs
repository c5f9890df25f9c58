//! Paid subscription periods. Each of the processor's invoices results in exactly one of ours, no matter how often its
//! event arrives.

use uuid::Uuid;

use super::{Owner, PaymentMatch, PaymentMatcher, unavailable};
use domain::customer::Customer;
use domain::id::Id;
use domain::invoice::{ChargedLine, ChargedPeriod, InvoiceCommand};
use domain::payment_event::PaidPeriod;
use domain::principal::Principal;
use domain::seller::SELLER_INCOMPLETE;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;

/// Returns the ID of our invoice for one of the processor's invoices. It is deterministic, so that duplicate events map
/// to the same invoice.
fn our_invoice(theirs: &str) -> Id {
    Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("period:{theirs}").as_bytes()))
}

impl PaymentMatcher {
    /// Returns our invoice for one of the processor's invoices, if it has already been created.
    pub(super) async fn invoice_of_period(&self, theirs: &str) -> Result<Option<Owner>, AskError> {
        let id = our_invoice(theirs);
        let is_known = self.invoices.read(id).await.map_err(unavailable)?.is_some();
        Ok(is_known.then_some(Owner::Invoice(id)))
    }

    /// Creates our invoice for a paid period. Ignores subscriptions that were not started in this shop.
    pub(super) async fn invoice_period(&self, period: &PaidPeriod) -> Result<PaymentMatch, AskError> {
        let Some(customer) = &period.our_customer else { return Ok(PaymentMatch::Ignored) };
        let Ok(customer) = customer.parse::<Id>() else { return Ok(PaymentMatch::Ignored) };
        let state = self.customers.read(customer).await.map_err(unavailable)?;
        let Some(customer) = state.as_ref().and_then(|state| state.state.as_ref()) else {
            return Ok(PaymentMatch::Unmatched);
        };
        let id = our_invoice(&period.invoice);
        let command = InvoiceCommand::Charge(Box::new(charged(period, customer)));
        let caller = CommandOrigin::new(Principal::Processor);
        let outcome = match self.invoices.find(id).await.map_err(unavailable)? {
            Some(_) => self.invoices.ask(id, caller, command).await,
            None => self.invoices.create_as(id, caller, command).await,
        };
        match outcome {
            Ok(_) => Ok(PaymentMatch::Applied),
            Err(AskError::Refused(refusal)) if refusal.code == SELLER_INCOMPLETE => {
                tracing::warn!(invoice = period.invoice, %refusal, "cannot invoice a subscription period yet; waiting for the seller details");
                Ok(PaymentMatch::WaitsForSeller)
            }
            Err(AskError::Refused(refusal)) => {
                tracing::error!(invoice = period.invoice, %refusal, "cannot invoice a paid subscription period");
                Ok(PaymentMatch::Unmatched)
            }
            Err(error) => Err(error),
        }
    }
}

/// Builds the charge for our invoice, with its buyer, amount and lines.
fn charged(period: &PaidPeriod, customer: &Customer) -> ChargedPeriod {
    ChargedPeriod {
        buyer: customer.buyer(),
        customer_email: Some(customer.email.clone()),
        amount_cents: period.amount_cents,
        currency: period.currency.clone(),
        lines: period
            .lines
            .iter()
            .map(|line| ChargedLine {
                description: line.description.clone(),
                quantity: line.quantity,
                amount_cents: line.amount_cents,
            })
            .collect(),
        processor_invoice: period.invoice.clone(),
        intent: period.payment_intent.clone(),
        number: period.number.clone().unwrap_or_else(|| period.invoice.clone()),
    }
}
