//! Materials: stock, its ledger, stock-takes and adjustments (production spec §2, decisions §5).

use crate::domain::amount::Amount;
use crate::domain::material::{Material, MaterialAnswer, MaterialCommand, MaterialFields, MaterialType, Movement};
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::body::{Fields, sure};
use crate::http::call::{Call, Done, To, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::lookup::ThingId;
use crate::http::page::{Params, body};
use crate::http::reply;
use crate::store::queries::MaterialFilter;
use axum::extract::State;
use serde_json::{Value, json};

const BASE: &str = "/api/inventory/materials";

fn view(material: &Material, version: i64) -> Value {
    let fields = &material.fields;
    json!({
        "id": material.id, "name": fields.name, "type": fields.kind, "color": fields.color, "brand": fields.brand,
        "quantity": material.quantity, "reserved": material.reserved, "available": material.available(),
        "unit": fields.kind.unit(), "reorderPoint": fields.reorder_point, "reorderQuantity": fields.reorder_quantity,
        "createdAt": material.created_at, "updatedAt": material.updated_at, "version": version,
    })
}

fn shown(done: &Done<MaterialAnswer>) -> Result<Value, ApiError> {
    match &done.answer {
        MaterialAnswer::Material(material) => Ok(view(material, done.version)),
        other => Err(ApiError::internal(format!("a material answered {other:?}"))),
    }
}

fn movement(line: &Movement) -> Value {
    json!({
        "id": line.id, "kind": line.kind, "deltaQuantity": line.delta_quantity, "deltaReserved": line.delta_reserved,
        "quantity": line.quantity, "reserved": line.reserved, "jobId": line.job_id, "reason": line.reason,
        "actor": line.actor, "createdAt": line.created_at,
    })
}

/// `GET /api/inventory/materials?type=&q=`
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let filter = MaterialFilter { kind: params.word("type")?, q: params.text("q").map(str::to_owned) };
    let (some, total) = app.queries.materials(&filter, page).await?;
    let view = |found: &crate::domain::aggregate::Versioned<Material>| Some(view(found.state.as_ref()?, found.version));
    reply::ok(body(page, "materials", some.iter().filter_map(view).collect(), total))
}

/// The unit follows from the type; one that is said must agree.
fn check_unit(fields: &mut Fields, kind: Option<MaterialType>) {
    let unit: Option<String> = fields.opt("unit");
    if let (Some(unit), Some(kind)) = (unit, kind) {
        fields.check(unit == kind.unit(), "unit", format!("must be {} for this type", kind.unit()));
    }
}

fn not_negative(fields: &mut Fields, name: &str, amount: Option<Amount>) -> Option<Amount> {
    fields.check(amount.is_none_or(|amount| amount >= Amount::ZERO), name, "must not be negative");
    amount
}

/// `POST /api/inventory/materials`
pub async fn create(State(app): State<AppState>, call: Call) -> Answer {
    let command = async {
        let mut body = call.fields()?;
        let name = body.need_text("name", 200);
        let kind: Option<MaterialType> = body.need("type");
        check_unit(&mut body, kind);
        let color = body.nullable_text("color", 7).flatten();
        let brand = body.nullable_text("brand", 200).flatten();
        let [quantity, reorder_point, reorder_quantity] =
            ["quantity", "reorderPoint", "reorderQuantity"].map(|member| {
                let amount = body.opt(member);
                not_negative(&mut body, member, amount).unwrap_or_default()
            });
        body.finish()?;
        let (name, kind) = (sure(name)?, sure(kind)?);
        let fields = MaterialFields { name, kind, color, brand, reorder_point, reorder_quantity };
        Ok(MaterialCommand::Create { fields: Box::new(fields), quantity })
    };
    let done = call.ask_with(&app.materials, To::New, command).await?;
    reply::created(&done, &format!("{BASE}/{}", done.id), shown(&done)?)
}

/// `GET /api/inventory/materials/{id}`
pub async fn one(State(app): State<AppState>, ThingId(id): ThingId) -> Answer {
    let (version, state) = found(&app.materials, id).await?;
    let material = state_of(&state)?;
    if material.archived {
        return Err(Refusal::not_found("material").into());
    }
    reply::resource(version, &view(material, version))
}

/// `PATCH /api/inventory/materials/{id}`: `quantity` is a stock-take.
pub async fn update(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    let mut body = call.fields()?;
    let name = body.opt_text("name", 200);
    let kind: Option<MaterialType> = body.opt("type");
    let unit: Option<String> = body.opt("unit");
    let color = body.nullable_text("color", 7);
    let brand = body.nullable_text("brand", 200);
    let [quantity, reorder_point, reorder_quantity] = ["quantity", "reorderPoint", "reorderQuantity"].map(|member| {
        let amount = body.opt(member);
        not_negative(&mut body, member, amount)
    });
    body.finish()?;
    let fields_said = name.is_some()
        || kind.is_some()
        || color.is_some()
        || brand.is_some()
        || reorder_point.is_some()
        || reorder_quantity.is_some();
    let merge = |material: &Material, version: i64| {
        let old = &material.fields;
        let fields = MaterialFields {
            name: name.clone().unwrap_or_else(|| old.name.clone()),
            kind: kind.unwrap_or(old.kind),
            color: color.clone().unwrap_or_else(|| old.color.clone()),
            brand: brand.clone().unwrap_or_else(|| old.brand.clone()),
            reorder_point: reorder_point.unwrap_or(old.reorder_point),
            reorder_quantity: reorder_quantity.unwrap_or(old.reorder_quantity),
        };
        if unit.as_ref().is_some_and(|unit| unit != fields.kind.unit()) {
            return Err(Refusal::field("unit", format!("must be {} for this type", fields.kind.unit())).into());
        }
        // A stock-take alone overwrites nothing that was read: it needs no version of its own.
        let if_version = if fields_said { Some(version) } else { call.if_match() };
        let fields = fields_said.then(|| Box::new(fields));
        Ok(MaterialCommand::Update { if_version, fields, quantity })
    };
    let done = call.merge(&app.materials, id, merge).await?;
    reply::changed(&done, shown(&done)?)
}

/// `DELETE /api/inventory/materials/{id}`: not while a SKU or an unfinished job names it (409).
pub async fn remove(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    if app.queries.material_in_use(id).await? {
        return Err(ApiError::conflict("material_in_use", "a SKU or an unfinished order or job names this material"));
    }
    call.ask(&app.materials, To::Id(id), MaterialCommand::Archive).await?;
    reply::no_content()
}

/// `GET /api/inventory/materials/{id}/movements`: the ledger, newest first.
pub async fn movements(State(app): State<AppState>, ThingId(id): ThingId, params: Params) -> Answer {
    let page = params.page()?;
    found(&app.materials, id).await?;
    let (lines, total) = app.queries.movements(id, page).await?;
    reply::ok(body(page, "movements", lines.iter().map(movement).collect(), total))
}

/// `POST /api/inventory/materials/{id}/adjustments {delta, reason}`: 200 with the material.
pub async fn adjust(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    let command = async {
        let mut body = call.fields()?;
        let delta: Option<Amount> = body.need("delta");
        let reason = body.need_text("reason", 500);
        body.finish()?;
        Ok(MaterialCommand::Adjust { delta: sure(delta)?, reason: sure(reason)? })
    };
    let done = call.ask_with(&app.materials, To::Id(id), command).await?;
    reply::changed(&done, shown(&done)?)
}
