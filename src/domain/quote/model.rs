//! Quote lines printed from an uploaded model: pricing, and the private SKU created for each.

use serde::{Deserialize, Serialize};

use super::{Quote, QuoteLine, QuoteSlicingOutcome};
use crate::aggregate::DecisionContext;
use crate::amount::Amount;
use crate::id::Id;
use crate::mesh::MeshFacts;
use crate::pricing::{Costs, Price, PriceRates, PrintWork};
use crate::refusal::{Faults, shortened};
use crate::requirement::{Referenced, Requirement};
use crate::sku::{Dimensions, MachineType, Sku, SkuFields};
use crate::slice_source::SliceSource;

/// Maximum stored length of a slicing error, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// Maximum length of the name of a model's SKU, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Facts from the G-code for one part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlicedModel {
    /// G-code file.
    pub gcode_file_id: Id,
    /// Material in grams.
    pub grams: Amount,
    /// Print time in seconds.
    pub seconds: i64,
}

/// Model for a line: its measurements, print parameters and costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuoteModel {
    /// File of the uploaded model.
    pub file_id: Id,
    /// Bounding box of one part, in millimetres.
    pub size: Dimensions,
    /// Volume of one part, in cubic millimetres.
    pub volume_mm3: i64,
    /// Material that the model is printed in; required to send the quote.
    pub material_id: Option<Id>,
    /// Material cost per kilogram, in minor units; `None` to use the rate from the settings.
    pub material_cents_per_kg: Option<i64>,
    /// Machine type that prints the model.
    pub machine_type: MachineType,
    /// Slicer profile to use; without a profile, the price is based on the volume alone.
    pub slicer_profile: Option<String>,
    /// Slicing result, if there is one yet.
    pub sliced: Option<SlicedModel>,
    /// Reason why slicing failed.
    pub slicing_error: Option<String>,
    /// `true` if the price was set by an operator; otherwise it is derived from the costs.
    pub priced_by_hand: bool,
    /// Work for all parts of the line.
    pub work: PrintWork,
    /// The shop's costs for the work.
    pub costs: Costs,
}

impl QuoteModel {
    /// Returns the measurements of the model. The number of facets is 0, because it is not stored.
    pub(super) fn facts(&self) -> MeshFacts {
        MeshFacts { size: self.size, volume_mm3: self.volume_mm3, facets: 0 }
    }

    /// Returns the model and the parameters used to produce the G-code; `None` if there is no slicer profile.
    pub fn source(&self) -> Option<SliceSource> {
        let profile = self.slicer_profile.clone()?;
        Some(SliceSource { model_file_id: self.file_id, profile, copies: 1 })
    }

    /// Returns the slicing request if it is pending; `None` if slicing has already succeeded or failed.
    pub(super) fn to_slice(&self) -> Option<SliceSource> {
        if self.sliced.is_some() || self.slicing_error.is_some() { None } else { self.source() }
    }

    /// Returns the weight of one part: from the G-code, if any, otherwise estimated.
    fn grams_of_one(&self) -> Amount {
        let estimated = Amount(self.work.grams.0 / i64::from(self.work.parts.max(1)));
        self.sliced.as_ref().map_or(estimated, |sliced| sliced.grams).max(Amount(1))
    }
}

impl QuoteLine {
    /// Returns the net line amount, in minor units.
    pub fn amount_cents(&self) -> i64 {
        self.unit_price_cents.saturating_mul(i64::from(self.quantity))
    }

    /// Returns the line's margin over the model's costs, in minor units; `None` if the line has no model.
    pub fn margin_cents(&self) -> Option<i64> {
        Some(self.amount_cents().saturating_sub(self.model.as_ref()?.costs.sum_cents()))
    }

    /// Prices the line by its model: by the G-code, if any, otherwise by the volume. Adds an error if the result
    /// exceeds the limits.
    pub(super) fn price(&mut self, rates: &PriceRates, path: &str, faults: &mut Faults) {
        let parts = self.quantity;
        let Some(model) = &mut self.model else { return };
        let work = match &model.sliced {
            Some(sliced) => PrintWork::sliced(sliced.grams, sliced.seconds, parts),
            None => PrintWork::estimated(rates, model.volume_mm3, parts),
        };
        let price = work.and_then(|work| Some((work, Price::of(rates, model.material_cents_per_kg, &work)?)));
        let Some((work, price)) = price else {
            faults.note(path, "is too large to be priced; reduce the quantity, or set a price");
            return;
        };
        (model.work, model.costs) = (work, price.costs);
        if !model.priced_by_hand {
            self.unit_price_cents = price.unit_cents;
        }
    }

    /// Builds the private SKU for a model, with the requirements for the commit that creates it. `at` is the index of
    /// the line.
    pub(super) fn private_sku(
        &self,
        cx: &DecisionContext<'_>,
        quote: &Quote,
        at: usize,
    ) -> Option<(Sku, [Requirement; 2])> {
        let model = self.model.as_ref()?;
        let material = model.material_id?;
        let code = format!("{}-{}", quote.number_text(), at + 1);
        let fields = SkuFields {
            slug: code.to_lowercase(),
            code,
            name: shortened(self.description.clone(), MAX_NAME_CHARS),
            description: None,
            kind: None,
            collections: Vec::new(),
            material_id: Some(material),
            estimated_consumption: model.grams_of_one(),
            machine_type: model.machine_type,
            materials: Vec::new(),
            dimensions: Some(model.size),
            price_cents: self.unit_price_cents,
            currency: quote.currency.clone(),
            units_per_plate: 1,
            model_file_id: Some(model.file_id),
            gcode_file_id: None,
            plate: 1,
            slicer_profile: model.slicer_profile.clone(),
            estimated_seconds: Some(model.work.seconds / i64::from(model.work.parts.max(1))).filter(|one| *one > 0),
            components: Vec::new(),
            images: Vec::new(),
            public: false,
            active: true,
        };
        let sku = Sku { id: cx.ids.id(), fields, archived: false, created_at: cx.now, updated_at: cx.now };
        let relies = [
            Requirement::not_deleted(Referenced::File, model.file_id, format!("lines.{at}.modelFileId")),
            Requirement::not_deleted(Referenced::Material, material, format!("lines.{at}.materialId")),
        ];
        Some((sku, relies))
    }
}

impl Quote {
    /// Applies the result of slicing a model. Prices set by an operator remain unchanged.
    pub(super) fn take_sliced(&mut self, source: &SliceSource, news: &QuoteSlicingOutcome) {
        let rates = self.rates;
        let lines = self.lines.iter_mut();
        for line in lines {
            let Some(model) = line.model.as_mut().filter(|model| model.source().as_ref() == Some(source)) else {
                continue;
            };
            match news {
                QuoteSlicingOutcome::Done(sliced) => {
                    (model.sliced, model.slicing_error) = (Some(sliced.clone()), None);
                }
                QuoteSlicingOutcome::Failed(words) => {
                    model.slicing_error = Some(shortened(words.clone(), MAX_ERROR_CHARS));
                }
            }
            // What cannot be priced keeps the price that it had.
            line.price(&rates, "", &mut Faults::default());
        }
    }
}
