//! Effects of quotes: have models sliced to determine their price, and create the orders for accepted quotes.
//!
//! The order ID is chosen in the commit that accepts the quote, so the order is created only once, regardless of
//! retries and crashes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::orders::make::ProductionSources;
use crate::slicing::{SlicingFailure, SlicingPurpose, SlicingService};
use domain::custom_request::{CustomRequest, CustomRequestCommand};
use domain::customer::Customer;
use domain::id::Id;
use domain::mailbox::mailbox;
use domain::order::{AgreedTerms, NO_SKU, NewOrder, Order, OrderCommand, OrderKind, OrderLine};
use domain::party::Party;
use domain::quote::{Quote, QuoteCommand, QuoteEffect, QuoteLine, QuoteSlicingOutcome, QuoteStatus, SlicedModel};
use domain::slice_source::SliceSource;
use kernel::directory::{ASK_TIMEOUT, Directory};
use kernel::effects::{Effects, report};
use kernel::envelope::CommandOrigin;
use kernel::handle::{AskError, Handle};
use store::rows::LoadError;

/// Service that creates orders for accepted quotes.
#[derive(Clone)]
pub struct QuoteOrders {
    /// Directory in which the orders are created.
    pub orders: Directory<Order>,
    /// Customers, who are named as buyers on invoices.
    pub customers: Directory<Customer>,
    /// Sources of the SKUs and files that lines are made from.
    pub sources: ProductionSources,
}

/// Reason that the order for a quote was not created.
#[derive(Debug)]
pub enum QuoteOrderError {
    /// The order cannot be created until the problem that the text describes is fixed.
    Refused(String),
    /// Transient failure; creation is retried.
    Trouble(AskError),
}

impl From<LoadError> for QuoteOrderError {
    fn from(error: LoadError) -> Self {
        tracing::warn!(%error, "cannot read the products of a quote; retrying");
        Self::Trouble(AskError::Unavailable(store::Unavailable::Database))
    }
}

impl QuoteOrders {
    /// Creates the order for an accepted quote, unless it already exists.
    ///
    /// # Errors
    ///
    /// Fails if an item in the quote no longer exists, or if the store does not respond.
    pub async fn make(&self, quote: &Quote, order: Id) -> Result<(), QuoteOrderError> {
        if self.orders.read(order).await?.is_some() {
            return Ok(());
        }
        let mut lines = Vec::with_capacity(quote.lines.len());
        for line in &quote.lines {
            lines.push(self.line(line).await?);
        }
        let new = NewOrder {
            kind: OrderKind::Custom,
            site: Some(quote.site.clone()),
            made_by: None,
            customer_id: quote.customer_id,
            customer_email: quote.customer_email.clone(),
            buyer: self.buyer(quote).await?,
            lines,
            currency: quote.currency.clone(),
            notes: quote.notes.clone(),
            internal_notes: Some(format!("From quote {}.", quote.number_text())),
            shipping_address: quote.shipping_address.clone(),
            priority: None,
            due_at: None,
            draft: false,
            own_use: false,
        };
        let agreed = AgreedTerms { tax_rate_bps: quote.tax_rate_bps, shipping_cents: quote.shipping_cents };
        let create = OrderCommand::CreateAgreed { new: Box::new(new), agreed };
        match self.orders.create_as(order, CommandOrigin::system(), create).await {
            Ok(_) => Ok(()),
            Err(AskError::Refused(refusal)) if refusal.code == "exists" => {
                // Somebody else was quicker; it counts once it is on disk.
                match self.orders.read(order).await? {
                    Some(_) => Ok(()),
                    None => Err(QuoteOrderError::Trouble(AskError::Unavailable(store::Unavailable::Database))),
                }
            }
            Err(AskError::Refused(refusal)) => Err(QuoteOrderError::Refused(refusal.message)),
            Err(error) => Err(QuoteOrderError::Trouble(error)),
        }
    }

    /// Returns the buyer to name on the invoice, from the customer's profile.
    async fn buyer(&self, quote: &Quote) -> Result<Option<Party>, LoadError> {
        let Some(id) = quote.customer_id else { return Ok(None) };
        let state = self.customers.read(id).await?;
        Ok(state.as_ref().and_then(|state| state.state.as_ref()).map(Customer::buyer))
    }

    /// Builds an order line at the quoted price.
    async fn line(&self, line: &QuoteLine) -> Result<OrderLine, QuoteOrderError> {
        let make = match line.sku_id {
            Some(sku) => Some(self.made_of(sku, &line.description).await?),
            None => None,
        };
        Ok(OrderLine {
            sku_id: line.sku_id.unwrap_or(NO_SKU),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            description: line.description.clone(),
            tax_rate_bps: 0,
            make,
            kit_line: None,
            per_set: None,
        })
    }

    async fn made_of(&self, sku: Id, description: &str) -> Result<domain::order::ProductionData, QuoteOrderError> {
        let state = self.sources.skus.read(sku).await?;
        let current_sku = state.as_ref().and_then(|state| state.present());
        let gone = || QuoteOrderError::Refused(format!("the SKU of \"{description}\" was deleted"));
        let make = self.sources.make(current_sku.ok_or_else(gone)?).await?;
        make.ok_or_else(|| QuoteOrderError::Refused(format!("the SKU of \"{description}\" has become a kit")))
    }
}

/// Effects of quotes, which slice models and create orders.
pub struct QuoteEffects {
    /// Custom requests, which are notified of the status of their quotes.
    pub custom_requests: Directory<CustomRequest>,
    /// Service that creates orders for accepted quotes.
    pub quote_orders: QuoteOrders,
    /// Slicer that produces G-code from models.
    pub slicing: Arc<SlicingService>,
    /// Interval between attempts to slice while slicing cannot proceed.
    pub slicing_recheck: Duration,
}

#[async_trait]
impl Effects<Quote> for QuoteEffects {
    async fn run(&self, effect: QuoteEffect, of: Handle<Quote>) {
        match effect {
            QuoteEffect::Slice(source) => self.slice(&of, source).await,
            QuoteEffect::TellRequest { request, status } => self.tell_request(&of, request, status).await,
            QuoteEffect::MakeOrder(order) => {
                let state = of.read();
                let Some(quote) = &state.state else { return };
                let outcome = match self.quote_orders.make(quote, order).await {
                    Ok(()) => QuoteCommand::Ordered,
                    Err(QuoteOrderError::Refused(words)) => QuoteCommand::NotOrdered(words),
                    Err(QuoteOrderError::Trouble(error)) => {
                        return tracing::warn!(quote = %of.id(), %error, "creating the order failed; retrying");
                    }
                };
                if let Err(error) = of.ask(CommandOrigin::system(), outcome, ASK_TIMEOUT).await {
                    tracing::debug!(quote = %of.id(), %error, "recording an order failed; retrying");
                }
            }
        }
    }
}

impl QuoteEffects {
    /// Reports the quote's status to the custom request that it was made for, if the request still exists.
    async fn tell_request(&self, of: &Handle<Quote>, request: Id, status: QuoteStatus) {
        let quote_id = of.id();
        let news = match status {
            QuoteStatus::Accepted => CustomRequestCommand::QuoteAccepted { quote_id },
            QuoteStatus::Declined => CustomRequestCommand::QuoteDeclined { quote_id },
            QuoteStatus::Draft | QuoteStatus::Sent | QuoteStatus::Expired => CustomRequestCommand::Quoted { quote_id },
        };
        match self.custom_requests.ask(request, CommandOrigin::system(), news).await {
            Ok(_) => {}
            Err(AskError::Refused(refusal)) => {
                tracing::warn!(quote = %quote_id, %request, %refusal, "a custom request rejected the status of its quote");
            }
            Err(error) => {
                return tracing::debug!(quote = %quote_id, %request, %error, "notifying a custom request failed; retrying");
            }
        }
        if let Err(error) = of.ask(CommandOrigin::system(), QuoteCommand::RequestTold(status), ASK_TIMEOUT).await {
            tracing::debug!(quote = %quote_id, %error, "recording a notification failed; retrying");
        }
    }

    /// Reports the result of slicing a model to the quote. If slicing cannot proceed yet, it is retried at intervals.
    async fn slice(&self, of: &Handle<Quote>, source: SliceSource) {
        let email = of.read().state.as_ref().and_then(|quote| quote.customer_email.clone());
        let purpose = SlicingPurpose::Draft { mailbox: email.map(|email| mailbox(&email)).unwrap_or_default() };
        let news = loop {
            match self.sliced(&source, &purpose).await {
                Ok(sliced) => break QuoteSlicingOutcome::Done(sliced),
                Err(SlicingFailure::Failed(words)) => break QuoteSlicingOutcome::Failed(words),
                Err(SlicingFailure::Waits(_) | SlicingFailure::NotNow(_)) => {
                    tokio::time::sleep(self.slicing_recheck).await;
                }
                Err(SlicingFailure::Trouble(error)) => {
                    return tracing::warn!(quote = %of.id(), error, "slicing a model failed; retrying");
                }
            }
        };
        if let Err(error) = report(of, QuoteCommand::Sliced { source, news }).await {
            tracing::debug!(quote = %of.id(), %error, "recording a slicing result failed; retrying");
        }
    }

    async fn sliced(&self, source: &SliceSource, purpose: &SlicingPurpose) -> Result<SlicedModel, SlicingFailure> {
        let files = &self.quote_orders.sources.files;
        let gcode_file_id = self.slicing.gcode(files, source, purpose).await?;
        let state = files.read(gcode_file_id).await?;
        let metadata = state.as_ref().and_then(|state| state.state.as_ref()).map(|file| &file.metadata);
        match metadata.and_then(|metadata| Some((metadata.grams?, metadata.seconds?))) {
            Some((grams, seconds)) => Ok(SlicedModel { gcode_file_id, grams, seconds }),
            None => {
                let words =
                    "the G-code states no weight or no time: set the density of the filament in the slicer profile";
                Err(SlicingFailure::Failed(words.to_owned()))
            }
        }
    }
}
