//! The catalogue: what is sold, and what it is made from and with (decisions §7).

use crate::domain::amount::Amount;
use crate::domain::file::FileKind;
use crate::domain::id::Id;
use crate::domain::material::MaterialType;
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::sku::{Dimensions, MachineType, Sku, SkuCommand, SkuFields};
use crate::http::AppState;
use crate::http::access::Who;
use crate::http::body::{Fields, sure};
use crate::http::call::{Call, Done, To, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::lookup::ThingId;
use crate::http::page::{Params, body};
use crate::http::reply;
use crate::store::queries::SkuFilter;
use axum::extract::State;
use serde_json::{Value, json};

/// Most parts on one plate.
pub const UNITS_MOST: u32 = 10_000;
/// Highest price: a hundred million units of a currency.
pub const PRICE_MOST: i64 = 10_000_000_000;
/// Most collections or pictures of one SKU: a head is small.
pub const LIST_MOST: usize = 20;

/// A SKU as it is shown.
pub fn view(sku: &Sku, version: i64) -> Value {
    let f = &sku.fields;
    json!({
        "id": sku.id, "code": f.code, "slug": f.slug, "name": f.name, "description": f.description, "kind": f.kind,
        "collections": f.collections, "materialId": f.material_id, "estimatedConsumption": f.estimated_consumption,
        "machineType": f.machine_type, "dimensions": f.dimensions, "priceCents": f.price_cents, "currency": f.currency,
        "unitsPerPlate": f.units_per_plate, "modelFileId": f.model_file_id, "gcodeFileId": f.gcode_file_id,
        "slicerProfile": f.slicer_profile, "estimatedSeconds": f.estimated_seconds, "images": f.images,
        "public": f.public, "active": f.active,
        "createdAt": sku.created_at, "updatedAt": sku.updated_at, "version": version,
    })
}

/// Customers see and order what is public and active.
pub fn sold(sku: &Sku) -> bool {
    sku.fields.public && sku.fields.active && !sku.archived
}

/// `GET /api/skus?active=&public=&materialId=&slug=&code=&q=`
pub async fn list(State(app): State<AppState>, who: Who, params: Params) -> Answer {
    let page = params.page()?;
    let text = |name: &str| params.text(name).map(str::to_owned);
    let mut filter = SkuFilter {
        public: params.parsed("public", "true or false")?,
        active: params.parsed("active", "true or false")?,
        material_id: params.id("materialId")?,
        slug: text("slug"),
        code: text("code"),
        q: text("q"),
    };
    if who.is_customer() {
        (filter.public, filter.active) = (Some(true), Some(true));
    }
    let (some, total) = app.queries.skus(&filter, page).await?;
    let items = some.iter().filter_map(|found| Some(view(found.state.as_ref()?, found.version))).collect();
    reply::ok(body(page, "skus", items, total))
}

/// `GET /api/skus/{id}`
pub async fn one(State(app): State<AppState>, ThingId(id): ThingId, who: Who) -> Answer {
    let (version, state) = found(&app.skus, id).await?;
    let sku = state_of(&state)?;
    if sku.archived || (who.is_customer() && !sold(sku)) {
        return Err(Refusal::not_found("sku").into());
    }
    reply::resource(version, &view(sku, version))
}

/// The members that a body said; absent ones stay.
#[derive(Clone, Default)]
struct Said {
    code: Option<String>,
    slug: Option<String>,
    name: Option<String>,
    description: Option<Option<String>>,
    kind: Option<Option<String>>,
    collections: Option<Vec<String>>,
    material_id: Option<Id>,
    estimated_consumption: Option<Amount>,
    machine_type: Option<MachineType>,
    dimensions: Option<Option<Dimensions>>,
    price_cents: Option<i64>,
    currency: Option<String>,
    units_per_plate: Option<u32>,
    model_file_id: Option<Option<Id>>,
    gcode_file_id: Option<Option<Id>>,
    slicer_profile: Option<Option<String>>,
    estimated_seconds: Option<Option<i64>>,
    images: Option<Vec<String>>,
    public: Option<bool>,
    active: Option<bool>,
}

impl Said {
    /// Reads all members; `new`: those without a default must be there.
    fn read(mut body: Fields, new: bool) -> Result<Self, ApiError> {
        let required = ["code", "name", "materialId", "estimatedConsumption", "machineType", "priceCents"];
        for member in required {
            body.check(!new || body.has(member), member, "is required");
        }
        let said = Self {
            code: body.opt_text("code", 64),
            slug: body.opt_text("slug", 100),
            name: body.opt_text("name", 200),
            description: body.nullable_text("description", 1000),
            kind: body.nullable_text("kind", 50),
            collections: body.opt("collections"),
            material_id: body.opt("materialId"),
            estimated_consumption: body.opt("estimatedConsumption"),
            machine_type: body.opt("machineType"),
            dimensions: body.nullable("dimensions"),
            price_cents: body.opt("priceCents"),
            currency: body.opt("currency"),
            units_per_plate: body.opt("unitsPerPlate"),
            model_file_id: body.nullable("modelFileId"),
            gcode_file_id: body.nullable("gcodeFileId"),
            slicer_profile: body.nullable_text("slicerProfile", 100),
            estimated_seconds: body.nullable("estimatedSeconds"),
            images: body.opt("images"),
            public: body.opt("public"),
            active: body.opt("active"),
        };
        said.check(&mut body);
        body.finish()?;
        Ok(said)
    }

    fn check(&self, body: &mut Fields) {
        let not_empty = |text: &Option<String>| text.as_ref().is_none_or(|text| !text.trim().is_empty());
        body.check(not_empty(&self.code), "code", "must not be empty");
        body.check(not_empty(&self.name), "name", "must not be empty");
        let is_slug = |text: &String| !text.is_empty() && slug_of(text) == *text;
        body.check(self.slug.as_ref().is_none_or(is_slug), "slug", "must be lower-case words joined by hyphens");
        let need = self.estimated_consumption;
        body.check(need.is_none_or(|need| need > Amount::ZERO), "estimatedConsumption", "must be above 0");
        let price = self.price_cents;
        let fair = price.is_none_or(|price| (0..=PRICE_MOST).contains(&price));
        body.check(fair, "priceCents", format!("must be from 0 to {PRICE_MOST}"));
        let code = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_lowercase());
        body.check(self.currency.as_ref().is_none_or(code), "currency", "must be a lower-case ISO 4217 code");
        let units = self.units_per_plate.is_none_or(|units| (1..=UNITS_MOST).contains(&units));
        body.check(units, "unitsPerPlate", format!("must be from 1 to {UNITS_MOST}"));
        let seconds = self.estimated_seconds.flatten().is_none_or(|seconds| seconds > 0);
        body.check(seconds, "estimatedSeconds", "must be above 0");
        for (name, list) in [("collections", &self.collections), ("images", &self.images)] {
            let Some(list) = list else { continue };
            let fits = list.len() <= LIST_MOST && list.iter().all(|text| text.len() <= 300);
            body.check(fits, name, format!("must be at most {LIST_MOST} texts of at most 300 bytes"));
        }
    }

    /// A new SKU's fields.
    fn fresh(self, currency: &str) -> Result<SkuFields, ApiError> {
        let code = sure(self.code)?.trim().to_owned();
        Ok(SkuFields {
            slug: self.slug.unwrap_or_else(|| slug_of(&code)),
            code,
            name: sure(self.name)?,
            description: self.description.flatten(),
            kind: self.kind.flatten(),
            collections: self.collections.unwrap_or_default(),
            material_id: sure(self.material_id)?,
            estimated_consumption: sure(self.estimated_consumption)?,
            machine_type: sure(self.machine_type)?,
            dimensions: self.dimensions.flatten(),
            price_cents: sure(self.price_cents)?,
            currency: self.currency.unwrap_or_else(|| currency.to_owned()),
            units_per_plate: self.units_per_plate.unwrap_or(1),
            model_file_id: self.model_file_id.flatten(),
            gcode_file_id: self.gcode_file_id.flatten(),
            slicer_profile: self.slicer_profile.flatten(),
            estimated_seconds: self.estimated_seconds.flatten(),
            images: self.images.unwrap_or_default(),
            public: self.public.unwrap_or(true),
            active: self.active.unwrap_or(true),
        })
    }

    /// The fields after a change.
    fn over(self, old: &SkuFields) -> SkuFields {
        let old = old.clone();
        SkuFields {
            code: self.code.map_or(old.code, |code| code.trim().to_owned()),
            slug: self.slug.unwrap_or(old.slug),
            name: self.name.unwrap_or(old.name),
            description: self.description.unwrap_or(old.description),
            kind: self.kind.unwrap_or(old.kind),
            collections: self.collections.unwrap_or(old.collections),
            material_id: self.material_id.unwrap_or(old.material_id),
            estimated_consumption: self.estimated_consumption.unwrap_or(old.estimated_consumption),
            machine_type: self.machine_type.unwrap_or(old.machine_type),
            dimensions: self.dimensions.unwrap_or(old.dimensions),
            price_cents: self.price_cents.unwrap_or(old.price_cents),
            currency: self.currency.unwrap_or(old.currency),
            units_per_plate: self.units_per_plate.unwrap_or(old.units_per_plate),
            model_file_id: self.model_file_id.unwrap_or(old.model_file_id),
            gcode_file_id: self.gcode_file_id.unwrap_or(old.gcode_file_id),
            slicer_profile: self.slicer_profile.unwrap_or(old.slicer_profile),
            estimated_seconds: self.estimated_seconds.unwrap_or(old.estimated_seconds),
            images: self.images.unwrap_or(old.images),
            public: self.public.unwrap_or(old.public),
            active: self.active.unwrap_or(old.active),
        }
    }

    /// What is named must be there and of the right kind.
    async fn check_named(&self, app: &AppState) -> Result<(), ApiError> {
        let mut faults = Faults::default();
        if let Some(id) = self.material_id {
            let state = app.materials.read(id).await?;
            let material = state.as_ref().and_then(|state| state.state.as_ref()).filter(|material| !material.archived);
            faults.check(material.is_some(), "materialId", "no such material");
            let counted = material.is_some_and(|material| material.fields.kind == MaterialType::LaserConsumable);
            faults.check(!counted, "materialId", "a laser consumable is counted by hand and cannot be required");
        }
        let files = [
            ("modelFileId", self.model_file_id, FileKind::Model, "model"),
            ("gcodeFileId", self.gcode_file_id, FileKind::Gcode, "G-code"),
        ];
        for (member, id, kind, word) in files {
            let Some(id) = id.flatten() else { continue };
            let state = app.files.read(id).await?;
            let file = state.as_ref().and_then(|state| state.state.as_ref()).filter(|file| !file.archived);
            faults.check(file.is_some(), member, "no such file");
            faults.check(file.is_none_or(|file| file.kind == kind), member, format!("must be a {word} file"));
        }
        Ok(faults.refuse()?)
    }
}

/// Lower-case letters and digits, words joined by hyphens.
fn slug_of(code: &str) -> String {
    let lower = code.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn shown(done: &Done<Sku>) -> Value {
    view(&done.answer, done.version)
}

/// `POST /api/skus`
pub async fn create(State(app): State<AppState>, call: Call) -> Answer {
    let command = async {
        let said = Said::read(call.fields()?, true)?;
        said.check_named(&app).await?;
        Ok(SkuCommand::Create(Box::new(said.fresh(&app.config.orders.currency)?)))
    };
    let done = call.ask_with(&app.skus, To::New, command).await?;
    reply::created(&done, &format!("/api/skus/{}", done.id), shown(&done))
}

/// `PATCH /api/skus/{id}`: what was ordered before keeps what it was ordered with.
pub async fn update(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    let said = Said::read(call.fields()?, false)?;
    said.check_named(&app).await?;
    let merge = |sku: &Sku, if_version: i64| {
        Ok(SkuCommand::Update { if_version, fields: Box::new(said.clone().over(&sku.fields)) })
    };
    let done = call.merge(&app.skus, id, merge).await?;
    reply::changed(&done, shown(&done))
}

/// `DELETE /api/skus/{id}`: not while an unfinished order names it (409).
pub async fn remove(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    if app.queries.sku_in_use(id).await? {
        return Err(ApiError::conflict("sku_in_use", "an unfinished order or job names this SKU"));
    }
    call.ask(&app.skus, To::Id(id), SkuCommand::Archive).await?;
    reply::no_content()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_made_of_the_code() {
        assert_eq!(slug_of("Vase_01 / Blue"), "vase-01-blue");
        assert_eq!(slug_of("vase-01"), "vase-01");
    }
}
