//! A quote as operators see it, with what it costs the shop.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::order::Address;
use crate::domain::pricing::Costs;
use crate::domain::quote::{LineMargin, Quote, QuoteLine, QuoteModel, QuoteStatus};
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use crate::http::wire::{enumeration, readable};

/// The id that examples use for a quote.
pub(crate) const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8084";

readable!(QuoteStatus);

/// How far a model is sliced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelSlicing {
    /// It has no slicer profile; its price follows from its volume.
    None,
    /// The slicer is at work, or waited for.
    Pending,
    /// The price follows from its G-code.
    Done,
    /// The slicer refused it.
    Failed,
}
enumeration! {
    /// How far a model is sliced: `none` without a profile, `pending`, `done` once the price follows from its G-code,
    /// `failed`.
    ModelSlicing = "QuoteSlicing",
}

impl ModelSlicing {
    /// That of a model.
    pub(crate) fn of(model: &QuoteModel) -> Self {
        match (&model.sliced, &model.slicing_error, &model.slicer_profile) {
            (Some(_), ..) => Self::Done,
            (None, Some(_), _) => Self::Failed,
            (None, None, Some(_)) => Self::Pending,
            (None, None, None) => Self::None,
        }
    }
}

fn costs_example() -> Value {
    json!({"materialCents": 16, "energyCents": 2, "wearCents": 35, "labourCents": 350, "failureCents": 20, "totalCents": 423})
}

fn quote_example() -> Value {
    json!({
        "id": EXAMPLE_ID, "number": "QUO-000123", "status": "draft", "site": "industries",
        "customerEmail": "ann@example.org", "customRequestId": null, "lines": [{
            "description": "Bracket", "quantity": 1, "unitPriceCents": 593, "amountCents": 593, "skuId": null, "printed": true,
            "model": {
                "fileId": "01890a5d-ac96-774b-bcce-b302099a8064", "size": {"x": 20, "y": 20, "z": 25}, "volumeMm3": 10000,
                "materialId": null, "machineType": "fdm_standard", "slicerProfile": null, "slicing": "none",
                "slicingError": null, "gcodeFileId": null, "grams": 6.2, "seconds": 2100, "pricedByHand": false,
                "costs": costs_example(), "margin": null,
            },
        }],
        "subtotalCents": 593, "shippingCents": 0, "taxRateBps": 0, "taxCents": 0, "totalCents": 593, "currency": "usd",
        "shippingAddress": null, "validUntil": null, "notes": null, "orderId": null, "orderError": null,
        "declinedReason": null, "sentAt": null, "answeredAt": null, "createdAt": "2026-11-02T10:00:00.000Z",
        "updatedAt": "2026-11-02T10:00:00.000Z", "version": 1,
    })
}

/// A quote with what it costs the shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Quote", many = "quotes", example = quote_example())]
pub struct QuoteView {
    /// Id of the quote.
    id: Id,
    /// The number that people see.
    number: String,
    /// Where it stands now.
    status: QuoteStatus,
    /// The site of the business that it belongs to.
    site: Site<String>,
    /// Address of the customer; null where none was given.
    customer_email: Option<String>,
    /// The custom request that it answers.
    custom_request_id: Option<Id>,
    /// What is offered.
    lines: Vec<QuoteLineView>,
    /// Sum of the lines, in minor units.
    subtotal_cents: i64,
    /// Charge for shipping, in minor units.
    shipping_cents: i64,
    /// Tax rate of the destination, in basis points.
    tax_rate_bps: i64,
    /// Tax on lines and shipping, in minor units.
    tax_cents: i64,
    /// What is to be paid in all.
    total_cents: i64,
    /// Currency of all amounts: ISO 4217, in lower case.
    currency: String,
    /// Where it is shipped to.
    shipping_address: Option<Address>,
    /// Until when it can be accepted; null while it is a draft that takes the settings' days.
    valid_until: Option<Timestamp>,
    /// Notes that the customer reads.
    notes: Option<String>,
    /// The order that it has become.
    order_id: Option<Id>,
    /// Why that order cannot be made; null while nothing is in the way.
    order_error: Option<String>,
    /// Why it was declined, as whoever did it said.
    declined_reason: Option<String>,
    /// When it was sent.
    sent_at: Option<Timestamp>,
    /// When it was accepted or declined.
    answered_at: Option<Timestamp>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// Counts the changes that people made, from 1; also its `ETag`.
    version: i64,
}

/// What is offered at which price; to operators also what it costs the shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteLine")]
struct QuoteLineView {
    /// What is offered.
    description: String,
    /// How many.
    quantity: u32,
    /// Net price of one, in minor units.
    unit_price_cents: i64,
    /// Net amount of the line, in minor units.
    amount_cents: i64,
    /// The SKU that is printed; null for what is not printed, and for a model before the quote is sent.
    sku_id: Option<Id>,
    /// Whether it is printed.
    printed: bool,
    /// The model that it is printed from; null where a SKU was named.
    model: Option<ModelView>,
}

/// The model of a line: what it measures, how it is printed, and what that costs the shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteModel")]
struct ModelView {
    /// The uploaded model.
    file_id: Id,
    /// Box that one part fills, in millimetres.
    size: Dimensions,
    /// Volume of one part in cubic millimetres.
    volume_mm3: i64,
    /// What it is printed of.
    material_id: Option<Id>,
    /// The type of machine that prints it.
    machine_type: MachineType,
    /// How it is sliced.
    slicer_profile: Option<String>,
    /// How far it is sliced.
    slicing: ModelSlicing,
    /// Why the slicer refused it.
    slicing_error: Option<String>,
    /// Its G-code, once it is sliced.
    gcode_file_id: Option<Id>,
    /// Material of all parts of the line together, in grams: as the G-code says, else estimated.
    grams: Amount,
    /// Time that all parts of the line print, in seconds.
    seconds: i64,
    /// Whether an operator set the price; else it follows from the costs.
    priced_by_hand: bool,
    /// What the line costs the shop.
    costs: CostsView,
    /// What it really took; null before the order is made, and in lists.
    margin: Option<MarginView>,
}

/// What making something costs the shop, in minor units.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteCosts", example = costs_example())]
#[expect(clippy::struct_field_names, reason = "amounts of money are named with their unit")]
struct CostsView {
    /// What is used up of the material.
    material_cents: i64,
    /// Electricity.
    energy_cents: i64,
    /// Wear of machines.
    wear_cents: i64,
    /// Work of people.
    labour_cents: i64,
    /// The share of prints that fail.
    failure_cents: i64,
    /// All of them.
    total_cents: i64,
}

/// What the parts of a line really took, beside what was reckoned with.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteMargin")]
struct MarginView {
    /// What the customer pays for the line without tax, in minor units.
    price_cents: i64,
    /// What was to be left of it.
    quoted_margin_cents: i64,
    /// Material that was used so far, failed prints included, in grams.
    grams: Amount,
    /// Time that machines printed so far, in seconds.
    seconds: i64,
    /// What that cost, at the rates of the quote; failed prints are in it.
    costs: CostsView,
    /// What is left so far.
    actual_margin_cents: i64,
    /// Whether nothing of the line is printed any more.
    #[serde(rename = "final")]
    is_final: bool,
}

impl From<&Costs> for CostsView {
    fn from(costs: &Costs) -> Self {
        let Costs { material_cents, energy_cents, wear_cents, labour_cents, failure_cents } = *costs;
        let total_cents = costs.sum_cents();
        Self { material_cents, energy_cents, wear_cents, labour_cents, failure_cents, total_cents }
    }
}

impl From<&LineMargin> for MarginView {
    fn from(margin: &LineMargin) -> Self {
        Self {
            price_cents: margin.price_cents,
            quoted_margin_cents: margin.quoted_margin_cents(),
            grams: margin.work.grams,
            seconds: margin.work.seconds,
            costs: (&margin.actual).into(),
            actual_margin_cents: margin.actual_margin_cents(),
            is_final: margin.is_final,
        }
    }
}

impl ModelView {
    fn new(model: &QuoteModel, margin: Option<&LineMargin>) -> Self {
        Self {
            file_id: model.file_id,
            size: model.size,
            volume_mm3: model.volume_mm3,
            material_id: model.material_id,
            machine_type: model.machine_type,
            slicer_profile: model.slicer_profile.clone(),
            slicing: ModelSlicing::of(model),
            slicing_error: model.slicing_error.clone(),
            gcode_file_id: model.sliced.as_ref().map(|sliced| sliced.gcode_file_id),
            grams: model.work.grams,
            seconds: model.work.seconds,
            priced_by_hand: model.priced_by_hand,
            costs: (&model.costs).into(),
            margin: margin.map(Into::into),
        }
    }
}

impl QuoteLineView {
    fn new(line: &QuoteLine, margin: Option<&LineMargin>) -> Self {
        Self {
            description: line.description.clone(),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            amount_cents: line.amount_cents(),
            sku_id: line.sku_id,
            printed: line.printed,
            model: line.model.as_ref().map(|model| ModelView::new(model, margin)),
        }
    }
}

impl QuoteView {
    /// As it is at this time, with the margins of the lines that have one.
    pub(super) fn new(quote: &Quote, now: Timestamp, margins: &[LineMargin]) -> Self {
        let line =
            |(at, line): (usize, &QuoteLine)| QuoteLineView::new(line, margins.iter().find(|margin| margin.line == at));
        Self {
            id: quote.id,
            number: quote.number_text(),
            status: quote.shown_status(now),
            site: Site(quote.site.clone()),
            customer_email: quote.customer_email.clone(),
            custom_request_id: quote.custom_request_id,
            lines: quote.lines.iter().enumerate().map(line).collect(),
            subtotal_cents: quote.subtotal_cents,
            shipping_cents: quote.shipping_cents,
            tax_rate_bps: quote.tax_rate_bps,
            tax_cents: quote.tax_cents,
            total_cents: quote.total_cents,
            currency: quote.currency.clone(),
            shipping_address: quote.shipping_address.clone(),
            valid_until: quote.valid_until,
            notes: quote.notes.clone(),
            order_id: quote.order_id,
            order_error: quote.order_error.clone(),
            declined_reason: quote.declined_reason.clone(),
            sent_at: quote.sent_at,
            answered_at: quote.answered_at,
            created_at: quote.created_at,
            updated_at: quote.updated_at,
            version: quote.revision,
        }
    }
}
