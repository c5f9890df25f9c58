//! Books of the payment processor: checkout sessions, and charges with their refunds.

use std::collections::BTreeMap;

use simulator::payments::SimPayment;

use domain::time::{DAY_MS, Timestamp};
use services::payments::{
    NewPaymentSession, NewRefund, ProcessorError, ProcessorSession, REFUND_ID, Refund, SessionStatus,
};

/// A customer's payment with its refunds.
#[derive(Clone, Debug)]
pub struct Charge {
    /// ID of the paid order or invoice.
    pub order: String,
    /// Paid amount in minor units.
    pub cents: i64,
    /// Currency.
    pub currency: String,
    /// Refunds.
    pub refunds: Vec<Refund>,
    /// Claim of the customer's bank, if there is one.
    claim: Option<ChargeClaim>,
}

/// Claim of a bank to money of a charge.
#[derive(Clone, Copy, Debug)]
struct ChargeClaim {
    /// Claimed amount in minor units.
    cents: i64,
    /// The bank has taken it.
    is_lost: bool,
}

impl Charge {
    /// Returns the refunded amount, in minor units.
    pub fn refunded_cents(&self) -> i64 {
        self.refunds.iter().map(|refund| refund.amount_cents).sum()
    }

    /// Returns the amount that the customer's bank has taken, in minor units.
    pub fn lost_cents(&self) -> i64 {
        self.claim.filter(|claim| claim.is_lost).map_or(0, |claim| claim.cents)
    }

    /// Returns the payment with this intent, as events describe it.
    pub fn payment(&self, intent: &str) -> SimPayment {
        SimPayment { payment_intent: intent.to_owned(), ..SimPayment::new(&self.order, self.cents, &self.currency) }
    }
}

/// State of a payment page, as a customer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageState {
    /// Can be paid.
    Open,
    /// Paid by the customer but not confirmed yet.
    Pending,
    /// Paid and confirmed.
    Paid,
    /// Can no longer be paid.
    Over,
}

/// Checkout session.
struct CheckoutPage {
    order: String,
    cents: i64,
    currency: String,
    intent: String,
    state: PageState,
    /// `true` if a slow payment failed.
    has_failed: bool,
    expires_at: Timestamp,
}

/// Sessions and charges.
#[derive(Default)]
pub struct Books {
    pages: BTreeMap<String, CheckoutPage>,
    /// Charges by payment intent.
    charges: BTreeMap<String, Charge>,
    /// Number of IDs that were assigned.
    count: u64,
}

/// Returns the refusal of a request about something that does not exist.
fn missing(what: &str) -> ProcessorError {
    let words = format!("no such {what}");
    ProcessorError::Refused { status: 404, code: "resource_missing".to_owned(), words }
}

impl Books {
    fn id(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}_till_{}", self.count)
    }

    /// Opens a session.
    pub fn open(&mut self, new: &NewPaymentSession, now: Timestamp) -> Result<ProcessorSession, ProcessorError> {
        let (id, intent) = (self.id("cs"), self.id("pi"));
        let page = CheckoutPage {
            order: new.reference.clone(),
            cents: new.amount_cents,
            currency: new.currency.clone(),
            intent,
            state: PageState::Open,
            has_failed: false,
            expires_at: now.plus_ms(DAY_MS),
        };
        self.pages.insert(id.clone(), page);
        self.session(&id)
    }

    /// Returns a session as the processor shows it.
    pub fn session(&self, id: &str) -> Result<ProcessorSession, ProcessorError> {
        let page = self.pages.get(id).ok_or_else(|| missing("session"))?;
        let status = match page.state {
            PageState::Open => SessionStatus::Open,
            PageState::Over if !page.has_failed => SessionStatus::Expired,
            PageState::Over | PageState::Pending | PageState::Paid => SessionStatus::Complete,
        };
        let is_open = status == SessionStatus::Open;
        Ok(ProcessorSession {
            id: id.to_owned(),
            url: is_open.then(|| format!("https://pay.example/{id}")),
            status,
            paid: page.state == PageState::Paid,
            payment_failed: page.has_failed,
            amount_cents: Some(page.cents),
            currency: Some(page.currency.clone()),
            intent: (status == SessionStatus::Complete).then(|| page.intent.clone()),
            expires_at: page.expires_at,
        })
    }

    /// Returns the state of a page.
    pub fn page_state(&self, id: &str) -> Option<PageState> {
        self.pages.get(id).map(|page| page.state)
    }

    /// Returns the payment that a page is for, as events describe it.
    pub fn payment(&self, id: &str) -> Option<SimPayment> {
        let page = self.pages.get(id)?;
        Some(SimPayment {
            session_id: id.to_owned(),
            payment_intent: page.intent.clone(),
            ..SimPayment::new(&page.order, page.cents, &page.currency)
        })
    }

    /// Moves a page from one state to another. Returns whether it was in the first one.
    pub fn turn(&mut self, id: &str, from: PageState, to: PageState) -> bool {
        let Some(page) = self.pages.get_mut(id).filter(|page| page.state == from) else { return false };
        page.state = to;
        page.has_failed = from == PageState::Pending && to == PageState::Over;
        true
    }

    /// Returns the ID of an order's page that can be paid; `None` if there is none.
    pub fn open_page(&self, order: &str) -> Option<&String> {
        let is_open = |page: &CheckoutPage| page.order == order && page.state == PageState::Open;
        self.pages.iter().find(|(_, page)| is_open(page)).map(|(id, _)| id)
    }

    /// Records a charge, once per intent.
    pub fn charge(&mut self, payment: &SimPayment) {
        self.charges.entry(payment.payment_intent.clone()).or_insert_with(|| Charge {
            order: payment.order_id.clone(),
            cents: payment.amount_cents,
            currency: payment.currency.clone(),
            refunds: Vec::new(),
            claim: None,
        });
    }

    /// Lets a bank claim so much of an order's first charge. Returns the payment; `None` if there is none.
    pub fn claim(&mut self, order: &str, cents: i64) -> Option<SimPayment> {
        let (intent, charge) = self.charges.iter_mut().find(|(_, charge)| charge.order == order)?;
        charge.claim = Some(ChargeClaim { cents, is_lost: false });
        Some(charge.payment(intent))
    }

    /// Lets a bank decide on its claim to an order's charge. Returns the payment with the claimed amount; `None` if
    /// nothing is claimed.
    pub fn decide(&mut self, order: &str, is_lost: bool) -> Option<(SimPayment, i64)> {
        let is_claimed = |charge: &Charge| charge.order == order && charge.claim.is_some();
        let (intent, charge) = self.charges.iter_mut().find(|(_, charge)| is_claimed(charge))?;
        let claim = charge.claim.as_mut()?;
        claim.is_lost = is_lost;
        let cents = claim.cents;
        Some((charge.payment(intent), cents))
    }

    /// Refunds a charge. Returns the refund.
    pub fn refund(&mut self, new: &NewRefund) -> Result<Refund, ProcessorError> {
        let id = self.id("re");
        let charge = self.charges.get_mut(&new.intent).ok_or_else(|| missing("payment intent"))?;
        if new.amount_cents > charge.cents - charge.refunded_cents() {
            let words = "the amount is greater than what is left of the charge".to_owned();
            return Err(ProcessorError::Refused { status: 400, code: String::new(), words });
        }
        let our_id = new.metadata.iter().find(|(name, _)| name == REFUND_ID).map(|(_, value)| value.clone());
        let refund = Refund { id, amount_cents: new.amount_cents, counts: true, our_id };
        charge.refunds.push(refund.clone());
        Ok(refund)
    }

    /// Raises the total refunded amount of a charge, as if someone had refunded it at the processor, bypassing the
    /// shop.
    pub fn raise_refunds(&mut self, intent: &str, refunded_cents: i64) {
        let id = self.id("re");
        let Some(charge) = self.charges.get_mut(intent) else { return };
        let more = refunded_cents - charge.refunded_cents();
        if more > 0 {
            charge.refunds.push(Refund { id, amount_cents: more, counts: true, our_id: None });
        }
    }

    /// Returns a charge by its intent.
    pub fn charge_of(&self, intent: &str) -> Option<&Charge> {
        self.charges.get(intent)
    }

    /// Returns the charges for an order with their intents.
    pub fn charges_of(&self, order: &str) -> BTreeMap<String, Charge> {
        let charges = self.charges.iter().filter(|(_, charge)| charge.order == order);
        charges.map(|(intent, charge)| (intent.clone(), charge.clone())).collect()
    }
}
