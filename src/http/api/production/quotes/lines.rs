//! Looks up the objects that a quote's lines refer to: SKUs with their prices, models with their dimensions, materials
//! with their costs.

use super::QuoteHandles;
use super::requests::NewQuoteLine;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::mesh::MeshFacts;
use domain::quote::{DraftLine, DraftModel, QuoteLine};
use domain::refusal::Faults;
use http::error::ApiError;
use http::model_upload::unmeasured;

/// Returns the lines with everything that the domain rules need. `existing` contains the lines that the quote already
/// has.
pub(super) async fn resolve(
    app: &QuoteHandles,
    wished: &[NewQuoteLine],
    existing: &[QuoteLine],
    currency: Option<&str>,
) -> Result<Vec<DraftLine>, ApiError> {
    let mut faults = Faults::default();
    let mut lines = Vec::with_capacity(wished.len());
    for (at, line) in wished.iter().enumerate() {
        let mut draft = DraftLine {
            description: line.description.clone().unwrap_or_default(),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            sku_id: line.sku_id,
            printed: line.printed,
            model: None,
        };
        let named = line.sku_id.is_some() || line.model_file_id.is_some();
        let described = line.description.is_some() || named;
        faults.check(
            described,
            &format!("lines.{at}.description"),
            "is required unless the line specifies a SKU or a model",
        );
        if let Some(sku) = line.sku_id {
            of_sku(app, sku, at, currency, &mut draft, &mut faults).await?;
        }
        if let Some(file) = line.model_file_id {
            of_model(app, (line, file), at, existing, &mut draft, &mut faults).await?;
        }
        lines.push(draft);
    }
    faults.refuse()?;
    Ok(lines)
}

async fn of_sku(
    app: &QuoteHandles,
    sku: Id,
    at: usize,
    currency: Option<&str>,
    draft: &mut DraftLine,
    faults: &mut Faults,
) -> Result<(), ApiError> {
    let path = format!("lines.{at}.skuId");
    let state = app.skus.read(sku).await?;
    let Some(sku) = state.as_ref().and_then(|state| state.present()) else {
        faults.note(&path, "no such SKU");
        return Ok(());
    };
    faults.check(sku.fields.active, &path, "this SKU is not active");
    faults.check(!sku.fields.is_kit(), &path, "must not be a kit; add a line for each of its components");
    if draft.description.is_empty() {
        draft.description.clone_from(&sku.fields.name);
    }
    if draft.unit_price_cents.is_none() {
        let own = currency.unwrap_or(&app.config.orders.currency);
        let same = sku.fields.currency.eq_ignore_ascii_case(own);
        let words = "is required, because the SKU's price is in another currency";
        faults.check(same, &format!("lines.{at}.unitPriceCents"), words);
        draft.unit_price_cents = Some(sku.fields.price_cents);
    }
    Ok(())
}

async fn of_model(
    app: &QuoteHandles,
    (line, file): (&NewQuoteLine, Id),
    at: usize,
    existing: &[QuoteLine],
    draft: &mut DraftLine,
    faults: &mut Faults,
) -> Result<(), ApiError> {
    let path = format!("lines.{at}.modelFileId");
    let state = app.files.read(file).await?;
    let stored = state.as_ref().and_then(|state| state.present());
    let Some(model_file) = stored.filter(|file| file.kind == FileKind::Model) else {
        faults.note(&path, "is not an uploaded model");
        return Ok(());
    };
    if draft.description.is_empty() {
        draft.description = title(&model_file.name);
    }
    let is_known = existing.iter().any(|line| line.model.as_ref().is_some_and(|model| model.file_id == file));
    let facts = if is_known { None } else { Some(measure(app, model_file, &path).await?) };
    let material_cents_per_kg = cost_of(app, line.material_id, at, faults).await?;
    draft.model = Some(DraftModel {
        file_id: file,
        facts,
        material_id: line.material_id,
        material_cents_per_kg,
        machine_type: line.machine_type.unwrap_or(app.config.pricing.machine_type),
        slicer_profile: line.slicer_profile.clone().or_else(|| app.config.pricing.profile()),
    });
    Ok(())
}

async fn measure(app: &QuoteHandles, file: &File, path: &str) -> Result<MeshFacts, ApiError> {
    app.blobs.measure_stored(&file.sha256).await.map_err(|error| unmeasured(error, path))
}

/// Returns the cost of a material per kilogram, in minor units, if it is measured in grams and its cost is known. The
/// cost per gram, in thousandths, is the same number as the cost per kilogram.
pub(super) async fn cost_of(
    app: &QuoteHandles,
    material: Option<Id>,
    at: usize,
    faults: &mut Faults,
) -> Result<Option<i64>, ApiError> {
    let Some(id) = material else { return Ok(None) };
    let state = app.materials.read(id).await?;
    let material = state.as_ref().and_then(|state| state.present());
    faults.check(material.is_some(), &format!("lines.{at}.materialId"), "no such material");
    let weighed = material.filter(|material| material.fields.kind.unit() == "g");
    Ok(weighed.and_then(|material| material.fields.unit_cost_cents).map(|cost| cost.0))
}

/// Returns a model's title: its file name without the extension.
pub(super) fn title(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let stem: String = stem.chars().filter(|c| !c.is_control()).collect();
    let stem = stem.trim();
    if stem.is_empty() { "Model".to_owned() } else { stem.to_owned() }
}
