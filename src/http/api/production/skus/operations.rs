//! Operations on SKUs, called by the API's handlers and by the pages.

use super::{NewSku, SkuChange, SkuHandles};
use domain::amount::Amount;
use domain::file::FileKind;
use domain::id::Id;
use domain::material::MaterialType;
use domain::refusal::Faults;
use domain::sku::{Component, MachineType, Sku, SkuCommand, SkuMaterial, slug_of};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::wire::Optional;

/// Checks that the components of a kit exist and are not kits.
async fn check_components(app: &SkuHandles, components: &[Component]) -> Result<(), ApiError> {
    let mut faults = Faults::default();
    for (at, component) in components.iter().enumerate() {
        let state = app.skus.read(component.sku_id).await?;
        let sku = state.as_ref().and_then(|state| state.present());
        let path = format!("components.{at}.skuId");
        faults.check(sku.is_some(), &path, "no such SKU");
        faults.check(sku.is_none_or(|sku| !sku.fields.is_kit()), &path, "must not be a kit");
    }
    Ok(faults.refuse()?)
}

/// Checks that everything a SKU refers to exists and is of the right kind.
async fn check_named(
    app: &SkuHandles,
    material: Option<Id>,
    further: &[SkuMaterial],
    model_file: Option<Id>,
    gcode_file: Option<Id>,
) -> Result<(), ApiError> {
    let mut faults = Faults::default();
    for (at, one) in further.iter().enumerate() {
        let twice = further[..at].iter().any(|other| other.filament == one.filament);
        faults.check(!twice, &format!("materials.{at}.filament"), "already has another material");
    }
    let further = further.iter().enumerate().map(|(at, one)| (format!("materials.{at}.materialId"), one.material_id));
    let mut first_unit = None;
    for (member, id) in material.map(|id| ("materialId".to_owned(), id)).into_iter().chain(further) {
        let state = app.materials.read(id).await?;
        let material = state.as_ref().and_then(|state| state.present());
        faults.check(material.is_some(), &member, "no such material");
        let counted = material.is_some_and(|material| material.fields.kind == MaterialType::LaserConsumable);
        faults.check(!counted, &member, "must not be a laser consumable, because those are counted manually");
        let Some(unit) = material.map(|material| material.fields.kind.unit()) else { continue };
        let alike = *first_unit.get_or_insert(unit) == unit;
        faults.check(
            alike,
            &member,
            "has a different unit from the preceding materials; all materials for a print must have the same unit",
        );
    }
    let files =
        [("modelFileId", model_file, FileKind::Model, "model"), ("gcodeFileId", gcode_file, FileKind::Gcode, "G-code")];
    for (member, id, kind, word) in files {
        let Some(id) = id else { continue };
        let state = app.files.read(id).await?;
        let file = state.as_ref().and_then(|state| state.present());
        faults.check(file.is_some(), member, "no such file");
        faults.check(file.is_none_or(|file| file.kind == kind), member, format!("must be a {word} file"));
    }
    Ok(faults.refuse()?)
}

/// Adds the SKU described by the request.
pub async fn add(app: &SkuHandles, call: &CommandRequest<NewSku>) -> Result<CommandOutcome<Sku>, ApiError> {
    let command = async {
        let mut new = call.read_body()?;
        check_named(app, new.material_id, &new.materials, new.model_file_id, new.gcode_file_id).await?;
        check_components(app, &new.components).await?;
        new.code = new.code.trim().to_owned();
        let (slug, currency) = (slug_of(&new.code), app.config.orders.currency.clone());
        let fields = new.into_fields(slug, Amount::ZERO, MachineType::FdmStandard, currency);
        Ok(SkuCommand::Create(Box::new(fields)))
    };
    call.ask_with(&app.skus, CommandTarget::New, command).await
}

/// Changes the fields of a SKU that the request contains.
pub async fn change(
    app: &SkuHandles,
    id: Id,
    call: &CommandRequest<SkuChange>,
) -> Result<CommandOutcome<Sku>, ApiError> {
    let mut change = call.read_body()?;
    if let Optional::Present(code) = &mut change.code {
        *code = code.trim().to_owned();
    }
    let [model_file, gcode_file] = [change.model_file_id, change.gcode_file_id].map(|file| file.or(None));
    let further = change.materials.clone().or(Vec::new());
    check_named(app, change.material_id.present().flatten(), &further, model_file, gcode_file).await?;
    let components = change.components.clone().or(Vec::new());
    check_components(app, &components).await?;
    let merge = |sku: &Sku, if_version: i64| {
        let fields = change.clone().merged_into(sku.fields.clone());
        Ok(SkuCommand::Update { if_version, fields: Box::new(fields) })
    };
    call.merge(&app.skus, id, merge).await
}

/// Removes a SKU; orders and jobs keep their copies of its data.
pub async fn archive(app: &SkuHandles, id: Id, call: &CommandRequest) -> Result<CommandOutcome<Sku>, ApiError> {
    call.ask(&app.skus, CommandTarget::Id(id), SkuCommand::Archive).await
}
