//! Quotes as shown to operators, including the shop's costs.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use domain::amount::Amount;
use domain::id::Id;
use domain::order::Address;
use domain::pricing::Costs;
use domain::quote::{LineMargin, Quote, QuoteLine, QuoteModel, QuoteStatus};
use domain::sku::{Dimensions, MachineType};
use domain::time::Timestamp;
use http::wire::enumeration;

/// Quote ID used in examples in the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8084";

/// Slicing state of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSlicing {
    /// No slicer profile; the price is calculated from the volume.
    None,
    /// Slicing is in progress or queued.
    Pending,
    /// Sliced; the price is calculated from the G-code.
    Done,
    /// Rejected by the slicer.
    Failed,
}
enumeration! {
    /// Slicing state of a model: `none` without a profile, `pending`, `done` once the price is calculated from its
    /// G-code, `failed`.
    ModelSlicing = "QuoteSlicing",
}

impl ModelSlicing {
    /// Returns the slicing state of a model.
    pub fn of(model: &QuoteModel) -> Self {
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

/// Quote, including the shop's costs.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Quote", many = "quotes", example = quote_example())]
pub struct QuoteView {
    /// ID of the quote.
    id: Id,
    /// Human-readable number.
    number: String,
    /// Current status.
    status: QuoteStatus,
    /// Site of the shop that the quote belongs to.
    site: Site<String>,
    /// Customer's email address, if known.
    customer_email: Option<String>,
    /// Custom request that the quote is for.
    custom_request_id: Option<Id>,
    /// Items in the quote.
    lines: Vec<QuoteLineView>,
    /// Sum of the line amounts, in minor units.
    subtotal_cents: i64,
    /// Shipping charge, in minor units.
    shipping_cents: i64,
    /// Tax rate at the destination, in basis points.
    tax_rate_bps: i64,
    /// Tax on lines and shipping, in minor units.
    tax_cents: i64,
    /// Total amount, in minor units.
    total_cents: i64,
    /// Three-letter ISO 4217 currency code of all amounts, in lowercase.
    currency: String,
    /// Shipping address; determines the tax rate.
    shipping_address: Option<Address>,
    /// Time until which the quote can be accepted; null for a draft that uses the configured number of days.
    valid_until: Option<Timestamp>,
    /// Notes visible to the customer.
    notes: Option<String>,
    /// ID of the order created from the quote, if any.
    order_id: Option<Id>,
    /// Reason the order cannot be created; null if there is no problem.
    order_error: Option<String>,
    /// Reason for declining, as given by the user or customer who declined the quote.
    declined_reason: Option<String>,
    /// Time at which the quote was sent.
    sent_at: Option<Timestamp>,
    /// Time at which the quote was accepted or declined.
    answered_at: Option<Timestamp>,
    /// Time at which the quote was created.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change by a user; also the `ETag`.
    version: i64,
}

/// Item in a quote, with its price and, for operators, the shop's costs.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteLine")]
struct QuoteLineView {
    /// Description of the item.
    description: String,
    /// Number of items.
    quantity: u32,
    /// Net price per item, in minor units.
    unit_price_cents: i64,
    /// Net amount of the line, in minor units.
    amount_cents: i64,
    /// ID of the SKU to print; null for items that are not printed, and for a model before the quote is sent.
    sku_id: Option<Id>,
    /// `true` if the item is printed.
    printed: bool,
    /// Model from which the item is printed; null if the line specifies a SKU.
    model: Option<ModelView>,
}

/// Model on a quote line: dimensions, print settings and the shop's costs.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteModel")]
struct ModelView {
    /// ID of the uploaded model.
    file_id: Id,
    /// Bounding box of one part, in millimetres.
    size: Dimensions,
    /// Volume of one part, in cubic millimetres.
    volume_mm3: i64,
    /// Material to print with.
    material_id: Option<Id>,
    /// Machine type to print on.
    machine_type: MachineType,
    /// Name of the slicer profile that the model is sliced with.
    slicer_profile: Option<String>,
    /// Slicing state.
    slicing: ModelSlicing,
    /// Reason the slicer rejected the model.
    slicing_error: Option<String>,
    /// ID of the G-code file; null until the model is sliced.
    gcode_file_id: Option<Id>,
    /// Material for all parts of the line, in grams; taken from the G-code if available, otherwise estimated.
    grams: Amount,
    /// Print time for all parts of the line, in seconds.
    seconds: i64,
    /// `true` if an operator set the price; otherwise it is calculated from the costs.
    priced_by_hand: bool,
    /// The shop's costs for the line.
    costs: CostsView,
    /// Actual costs and margin; null before the order is created, and in lists.
    margin: Option<MarginView>,
}

/// The shop's production costs, in minor units of the currency.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteCosts", example = costs_example())]
#[expect(clippy::struct_field_names, reason = "amounts of money are named with their unit")]
struct CostsView {
    /// Cost of the material used.
    material_cents: i64,
    /// Cost of electricity.
    energy_cents: i64,
    /// Cost of machine wear.
    wear_cents: i64,
    /// Cost of labour.
    labour_cents: i64,
    /// Allowance for failed prints.
    failure_cents: i64,
    /// Sum of all costs.
    total_cents: i64,
}

/// Actual costs of a line's parts, compared with the quoted costs.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteMargin")]
struct MarginView {
    /// Net price of the line, in minor units.
    price_cents: i64,
    /// Quoted margin, in minor units.
    quoted_margin_cents: i64,
    /// Material consumed so far, including failed prints, in grams.
    grams: Amount,
    /// Machine time used so far, in seconds.
    seconds: i64,
    /// Actual costs at the quote's rates, including failed prints.
    costs: CostsView,
    /// Actual margin so far, in minor units.
    actual_margin_cents: i64,
    /// `true` if no more parts of the line will be printed.
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
    /// Builds the view of a quote at the given time; `margins` contains the margins of the lines that have one.
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
