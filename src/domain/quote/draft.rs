//! Drafting and editing quotes. The HTTP layer has already looked up SKUs and materials and measured models, because
//! the rules perform no lookups.

use super::{MAX_LINES, Quote, QuoteLine, QuoteModel, QuoteStatus};
use crate::access::normal_email;
use crate::address::Address;
use crate::aggregate::{DecisionContext, NumberSeries};
use crate::amount::Amount;
use crate::bounds::{MAX_CENTS, MAX_QUANTITY};
use crate::id::Id;
use crate::mesh::MeshFacts;
use crate::pricing::{Costs, PrintWork};
use crate::refusal::{Faults, Refusal};
use crate::sku::MachineType;
use crate::tax::{tax_bps, tax_of};
use crate::time::Timestamp;

/// Model for a requested line.
#[derive(Clone, PartialEq, Debug)]
pub struct DraftModel {
    /// File of the uploaded model.
    pub file_id: Id,
    /// Measurements of the model; `None` if the quote already contains the model.
    pub facts: Option<MeshFacts>,
    /// Material that the model is printed in.
    pub material_id: Option<Id>,
    /// Material cost per kilogram, in minor units; `None` to use the rate from the settings.
    pub material_cents_per_kg: Option<i64>,
    /// Machine type that prints the model.
    pub machine_type: MachineType,
    /// Slicer profile to use.
    pub slicer_profile: Option<String>,
}

/// Requested line of a quote.
#[derive(Clone, PartialEq, Debug)]
pub struct DraftLine {
    /// Description of the quoted item.
    pub description: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Net unit price, in minor units; `None` only for a model, which is then priced at the rates.
    pub unit_price_cents: Option<i64>,
    /// SKU to print.
    pub sku_id: Option<Id>,
    /// `true` if the line is printed.
    pub printed: bool,
    /// Model that the line is printed from.
    pub model: Option<DraftModel>,
}

/// Requested content of a new quote.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DraftQuote {
    /// Site; `None` for the configured default.
    pub site: Option<String>,
    /// The customer's email address.
    pub customer_email: Option<String>,
    /// Custom request that the quote responds to.
    pub custom_request_id: Option<Id>,
    /// Requested lines, at least one.
    pub lines: Vec<DraftLine>,
    /// Currency; `None` for the configured default.
    pub currency: Option<String>,
    /// Address that the parts are shipped to.
    pub shipping_address: Option<Address>,
    /// Time at which the quote expires; if `None`, it is calculated when the quote is sent, from the validity period in
    /// the settings.
    pub valid_until: Option<Timestamp>,
    /// Free-text notes for the customer.
    pub notes: Option<String>,
}

/// Changes to a draft: `None` leaves a field unchanged, an inner `None` clears it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QuotePatch {
    /// The customer's email address.
    pub customer_email: Option<Option<String>>,
    /// Custom request that the quote responds to.
    pub custom_request_id: Option<Option<Id>>,
    /// Complete new list of lines, which replaces the current list.
    pub lines: Option<Vec<DraftLine>>,
    /// Address that the parts are shipped to.
    pub shipping_address: Option<Option<Address>>,
    /// Time at which the quote expires.
    pub valid_until: Option<Option<Timestamp>>,
    /// Free-text notes for the customer.
    pub notes: Option<Option<String>>,
}

fn email(address: Option<&String>) -> Result<Option<String>, Refusal> {
    address.map(|email| normal_email(email)).transpose()
}

/// Builds the lines of a quote and collects all errors. `before` contains the quote's current lines.
fn lines(wished: &[DraftLine], before: &[QuoteLine], faults: &mut Faults) -> Vec<QuoteLine> {
    faults.check(!wished.is_empty(), "lines", "must have at least one line");
    let many = format!("has {} lines; a quote can have at most {MAX_LINES}", wished.len());
    faults.check(wished.len() <= MAX_LINES, "lines", many);
    let mut quote_lines = Vec::with_capacity(wished.len().min(MAX_LINES));
    for (at, line) in wished.iter().take(MAX_LINES).enumerate() {
        let path = |member: &str| format!("lines.{at}.{member}");
        faults.check(!line.description.trim().is_empty(), &path("description"), "must not be empty");
        let quantity = (1..=MAX_QUANTITY).contains(&line.quantity);
        faults.check(quantity, &path("quantity"), format!("must be from 1 to {MAX_QUANTITY}"));
        let priced = line.unit_price_cents.is_some() || line.model.is_some();
        faults.check(priced, &path("unitPriceCents"), "is required unless a model is priced");
        let price = line.unit_price_cents.unwrap_or(0);
        faults.check((0..=MAX_CENTS).contains(&price), &path("unitPriceCents"), "must not be negative or too large");
        let both = line.sku_id.is_some() && line.model.is_some();
        faults.check(
            !both,
            &path("modelFileId"),
            "must be omitted if a SKU is given, because the SKU has its own model",
        );
        let made_of = line.sku_id.is_some() || line.model.is_some();
        faults.check(line.printed || !made_of, &path("printed"), "must be true for a line with a SKU or a model");
        let model = line.model.as_ref().and_then(|wished| {
            let previous =
                before.iter().filter_map(|line| line.model.as_ref()).find(|one| one.file_id == wished.file_id);
            let facts = wished.facts.or_else(|| previous.map(QuoteModel::facts));
            faults.check(facts.is_some(), &path("modelFileId"), "must be a measured model");
            Some(model(wished, facts?, previous, line.unit_price_cents.is_some()))
        });
        quote_lines.push(QuoteLine {
            description: line.description.clone(),
            quantity: line.quantity,
            unit_price_cents: price,
            sku_id: line.sku_id,
            printed: line.printed,
            model,
        });
    }
    quote_lines
}

/// Builds the model for a line. Earlier slicing results remain valid as long as the slicer profile is the same.
fn model(wished: &DraftModel, facts: MeshFacts, previous: Option<&QuoteModel>, priced_by_hand: bool) -> QuoteModel {
    let same = previous.filter(|previous| previous.slicer_profile == wished.slicer_profile);
    QuoteModel {
        file_id: wished.file_id,
        size: facts.size,
        volume_mm3: facts.volume_mm3,
        material_id: wished.material_id,
        material_cents_per_kg: wished.material_cents_per_kg,
        machine_type: wished.machine_type,
        slicer_profile: wished.slicer_profile.clone(),
        sliced: same.and_then(|previous| previous.sliced.clone()),
        // What failed before is tried anew whenever somebody edits the quote.
        slicing_error: None,
        priced_by_hand,
        work: PrintWork { grams: Amount::ZERO, seconds: 0, parts: 0 },
        costs: Costs::default(),
    }
}

impl Quote {
    /// Creates a draft from the request, or rejects the request with all its errors together.
    pub(super) fn draft(cx: &DecisionContext<'_>, id: Id, wished: &DraftQuote) -> Result<Self, Refusal> {
        let mut faults = Faults::default();
        let mut quote = Self {
            id,
            number: 0,
            revision: 1,
            status: QuoteStatus::Draft,
            site: wished.site.clone().unwrap_or_else(|| cx.rules.site.clone()),
            customer_email: email(wished.customer_email.as_ref())?,
            customer_id: None,
            custom_request_id: wished.custom_request_id,
            request_told: None,
            lines: lines(&wished.lines, &[], &mut faults),
            currency: wished.currency.as_ref().unwrap_or(&cx.rules.currency).to_lowercase(),
            subtotal_cents: 0,
            shipping_cents: 0,
            tax_rate_bps: 0,
            tax_cents: 0,
            total_cents: 0,
            shipping_address: wished.shipping_address.clone(),
            valid_until: wished.valid_until,
            notes: wished.notes.clone(),
            rates: cx.rules.pricing.rates,
            order_id: None,
            order_made: false,
            order_error: None,
            declined_reason: None,
            sent_at: None,
            answered_at: None,
            archived: false,
            created_at: cx.now,
            updated_at: cx.now,
        };
        quote.reckon(cx, &mut faults);
        faults.refuse()?;
        quote.number = cx.ids.number(NumberSeries::Quote);
        Ok(quote)
    }

    /// Applies a patch to a draft.
    pub(super) fn redraft(&mut self, cx: &DecisionContext<'_>, patch: &QuotePatch) -> Result<(), Refusal> {
        if self.status != QuoteStatus::Draft {
            return Err(Refusal::transition("the quote cannot be changed", self.status));
        }
        let mut faults = Faults::default();
        if let Some(customer_email) = &patch.customer_email {
            self.customer_email = email(customer_email.as_ref())?;
        }
        self.custom_request_id = patch.custom_request_id.unwrap_or(self.custom_request_id);
        if let Some(wished) = &patch.lines {
            self.lines = lines(wished, &self.lines, &mut faults);
        }
        if let Some(address) = &patch.shipping_address {
            self.shipping_address.clone_from(address);
        }
        self.valid_until = patch.valid_until.unwrap_or(self.valid_until);
        if let Some(notes) = &patch.notes {
            self.notes.clone_from(notes);
        }
        self.reckon(cx, &mut faults);
        faults.refuse()
    }

    /// Prices the models at the current rates and calculates all totals.
    pub(super) fn reckon(&mut self, cx: &DecisionContext<'_>, faults: &mut Faults) {
        self.rates = cx.rules.pricing.rates;
        let rates = self.rates;
        for (at, line) in self.lines.iter_mut().enumerate() {
            line.price(&rates, &format!("lines.{at}"), faults);
        }
        self.shipping_cents = cx.rules.shipping_flat_cents;
        self.tax_rate_bps = tax_bps(cx.rules, self.shipping_address.as_ref());
        faults.check(self.sum_up(), "lines", "the total is too large; split the quote");
    }

    /// Calculates all totals: lines and shipping are taxed at the destination's rate, and the tax is rounded once.
    /// Returns `false` on overflow.
    pub(super) fn sum_up(&mut self) -> bool {
        let mut lines = self.lines.iter();
        let subtotal = lines
            .try_fold(0_i64, |sum, line| sum.checked_add(line.unit_price_cents.checked_mul(i64::from(line.quantity))?));
        let sums = subtotal.and_then(|subtotal| {
            let net = subtotal.checked_add(self.shipping_cents)?;
            let tax = tax_of(net, self.tax_rate_bps)?;
            Some((subtotal, tax, net.checked_add(tax)?))
        });
        let Some((subtotal, tax, total)) = sums else { return false };
        (self.subtotal_cents, self.tax_cents, self.total_cents) = (subtotal, tax, total);
        true
    }
}
