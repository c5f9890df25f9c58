//! The clerk, who issues invoices without orders: some are voided, others are paid in cash or through their pay links,
//! and some of those are refunded. Unacknowledged requests are repeated with the same key.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::chance::branch;
use crate::error::SimError;
use crate::shop::Shop;
use crate::size::Size;
use crate::till::{PayWay, Payable, Remainder, Till, TillStep};
use crate::world::World;

/// Time from the beginning to the last draft of a small story, in milliseconds.
const LAST_DRAFT_MS: i64 = 1_500_000;

/// Final state of an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvoiceEnd {
    /// Voided by a credit note.
    Voided,
    /// Paid in cash.
    PaidInCash,
    /// Paid through the pay link.
    PaidByLink,
    /// Paid through the pay link; a third is refunded.
    RefundedInPart,
    /// Paid through the pay link and fully refunded.
    Refunded,
}

impl InvoiceEnd {
    /// Returns the expected status of the invoice.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Voided => "void",
            Self::PaidInCash | Self::PaidByLink | Self::RefundedInPart => "paid",
            Self::Refunded => "refunded",
        }
    }

    /// Returns the share of the payment that the shop keeps.
    pub const fn remainder(self) -> Remainder {
        match self {
            Self::Voided | Self::Refunded => Remainder::Nothing,
            Self::PaidInCash | Self::PaidByLink => Remainder::Total,
            Self::RefundedInPart => Remainder::TwoThirds,
        }
    }
}

/// Plan of an invoice without an order.
#[derive(Clone, Copy)]
pub struct InvoicePlan {
    /// Number in the plan.
    pub number: usize,
    /// Planned final state.
    pub end: InvoiceEnd,
    /// Time at which it is drafted, in milliseconds since the beginning.
    at_ms: i64,
    /// Price of the first item in minor units.
    unit_cents: i64,
}

impl InvoicePlan {
    /// Draws the invoices of a seed.
    pub fn draw_all(seed: u64, size: Size) -> Vec<Self> {
        let mut chance = branch(seed, "own invoices");
        let count = chance.usize(..=size.most_invoices());
        (0..count).map(|number| Self::draw(number, size, &mut chance)).collect()
    }

    fn draw(number: usize, size: Size, chance: &mut Rng) -> Self {
        let end = match chance.u8(..5) {
            0 => InvoiceEnd::Voided,
            1 => InvoiceEnd::PaidInCash,
            2 => InvoiceEnd::PaidByLink,
            3 => InvoiceEnd::RefundedInPart,
            _ => InvoiceEnd::Refunded,
        };
        let at_ms = chance.i64(60_000..LAST_DRAFT_MS) * size.stretch();
        Self { number, end, at_ms, unit_cents: chance.i64(300..=9_000) }
    }
}

/// Invoice without an order.
pub struct OwnInvoice {
    /// Plan of the invoice.
    pub plan: InvoicePlan,
    /// ID; empty until the invoice is drafted.
    pub id: String,
    /// Total in minor units; 0 until the invoice is drafted.
    pub total_cents: i64,
    token: String,
    till: Till,
    /// Number of acknowledged steps.
    acknowledged: usize,
}

/// Step in the life of an invoice.
#[derive(Clone, Copy, Debug)]
enum InvoiceStep {
    Draft,
    Send,
    Void,
    MarkPaid,
    OpenLink,
    Till(TillStep),
}

/// Clerk of the shop.
pub struct Clerk {
    /// Invoices, in the order in which they are drafted.
    pub invoices: Vec<OwnInvoice>,
}

impl Clerk {
    /// Creates the clerk who is to write these invoices.
    pub fn new(plans: &[InvoicePlan]) -> Self {
        let invoice = |plan: &InvoicePlan| OwnInvoice {
            plan: *plan,
            id: String::new(),
            total_cents: 0,
            token: String::new(),
            till: Till::default(),
            acknowledged: 0,
        };
        Self { invoices: plans.iter().map(invoice).collect() }
    }

    /// Returns whether all invoices have come to their ends.
    pub fn is_done(&self) -> bool {
        self.invoices.iter().all(|invoice| invoice.next_step().is_none())
    }

    /// Performs the next step of each due invoice.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        for invoice in &mut self.invoices {
            let Some(step) = invoice.next_step().filter(|_| world.clock.elapsed_ms() >= invoice.plan.at_ms) else {
                continue;
            };
            if invoice.act(world, shop, step).await? {
                world.story.tell(format!("clerk: {step:?} of invoice {}", invoice.plan.number));
                invoice.acknowledged += 1;
            }
        }
        Ok(())
    }
}

impl OwnInvoice {
    /// Returns all steps in order.
    fn steps(&self) -> Vec<InvoiceStep> {
        use InvoiceStep::{Draft, MarkPaid, OpenLink, Send, Till, Void};
        let pay = Till(TillStep::Pay(PayWay::AtOnce));
        match self.plan.end {
            InvoiceEnd::Voided => vec![Draft, Send, Void],
            InvoiceEnd::PaidInCash => vec![Draft, Send, MarkPaid],
            InvoiceEnd::PaidByLink => vec![Draft, Send, OpenLink, pay],
            InvoiceEnd::RefundedInPart | InvoiceEnd::Refunded => {
                vec![Draft, Send, OpenLink, pay, Till(TillStep::Leave(self.plan.end.remainder()))]
            }
        }
    }

    /// Returns the next step; `None` if there is none.
    fn next_step(&self) -> Option<InvoiceStep> {
        self.steps().get(self.acknowledged).copied()
    }

    /// Performs a step. Returns whether it succeeded.
    async fn act(&mut self, world: &World, shop: &Shop, step: InvoiceStep) -> Result<bool, SimError> {
        let (path, body) = match step {
            InvoiceStep::Till(step) => {
                let payable = Payable::invoice(self.plan.number, &self.id, self.total_cents, &self.token);
                return self.till.act(world, shop, &payable, step).await;
            }
            InvoiceStep::Draft => (String::new(), self.draft()),
            InvoiceStep::Send => (format!("/{}/send", self.id), json!({})),
            InvoiceStep::Void => (format!("/{}/void", self.id), json!({})),
            InvoiceStep::MarkPaid => (format!("/{}/mark-paid", self.id), json!({"method": "cash"})),
            InvoiceStep::OpenLink => (format!("/{}/pay-link", self.id), json!({})),
        };
        let key = format!("invoice-{}-{}", self.plan.number, self.acknowledged);
        let errand = Errand { path: format!("/api/invoices{path}"), key, body };
        let invoice = match shop.ask_unversioned(&errand).await? {
            ShopReply::Done(invoice) => invoice,
            ShopReply::Unanswered => return Ok(false),
            ShopReply::Refused(code) => return Err(SimError::Broken(format!("{} was refused: {code}", errand.path))),
        };
        let text = |member: &str| invoice[member].as_str().unwrap_or_default().to_owned();
        self.id = text("id");
        self.total_cents = invoice["totalCents"].as_i64().unwrap_or_default();
        text("payUrl").rsplit('/').next().unwrap_or_default().clone_into(&mut self.token);
        Ok(true)
    }

    /// Returns the request body of the draft.
    fn draft(&self) -> Value {
        json!({
            "customerName": "Bea Buyer", "customerEmail": "bea@example.org",
            "lineItems": [
                {"description": "Design, one hour", "quantity": 2, "unitPriceCents": self.plan.unit_cents},
                {"description": "Travel", "quantity": 1, "unitPriceCents": 100},
            ],
        })
    }
}
