//! Placing an order: SKUs, materials and files are looked up and frozen into its lines (decisions §3, §4).

use super::orders::shown;
use super::skus::sold;
use crate::config::checks::SITES;
use crate::domain::access::normal_email;
use crate::domain::id::Id;
use crate::domain::order::{Address, Line, Make, NewOrder, OrderCommand, OrderKind};
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::sku::Sku;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::body::sure;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, site};
use crate::http::reply;
use axum::extract::State;

/// Most lines: a head is small.
pub const LINES_MOST: usize = 50;
/// Most parts of one line.
pub const QUANTITY_MOST: u32 = 1_000_000;

/// What the body of `POST /api/orders` says.
struct Wish {
    lines: Vec<(Id, u32)>,
    customer_email: Option<String>,
    notes: Option<String>,
    priority: Option<u8>,
    due_at: Option<Timestamp>,
    shipping_address: Option<Address>,
    site: Option<String>,
}

fn read(call: &CommandRequest) -> Result<Wish, ApiError> {
    let mut body = call.fields()?;
    let lines = body.objects("lines", |line| {
        let sku = line.need("skuId");
        let quantity: Option<u32> = line.need("quantity");
        let fits = quantity.is_none_or(|quantity| (1..=QUANTITY_MOST).contains(&quantity));
        line.check(fits, "quantity", format!("must be from 1 to {QUANTITY_MOST}"));
        sku.zip(quantity)
    });
    let enough = lines.as_ref().is_some_and(|lines| lines.len() <= LINES_MOST);
    body.check(enough, "lines", format!("is required: 1 to {LINES_MOST} lines"));
    let email: Option<String> = body.nullable("customerEmail").flatten();
    let customer_email = email.and_then(|email| body.judge("customerEmail", normal_email(&email)));
    let notes = body.nullable_text("notes", 1000).flatten();
    let priority: Option<u8> = body.opt("priority");
    body.check(priority.is_none_or(|priority| priority <= 9), "priority", "must be from 0 to 9");
    let due_at = body.nullable("dueAt").flatten();
    let shipping_address = body.nullable("shippingAddress").flatten();
    let site: Option<String> = body.nullable("site").flatten();
    let known = site.as_deref().is_none_or(|site| SITES.contains(&site));
    body.check(known, "site", format!("must be one of {}", SITES.join(", ")));
    body.finish()?;
    Ok(Wish { lines: sure(lines)?, customer_email, notes, priority, due_at, shipping_address, site })
}

/// `POST /api/orders`: 201.
pub async fn place(State(app): State<AppState>, params: Params, call: CommandRequest) -> Answer {
    let command = async {
        let wish = read(&call)?;
        let said = site(&params, &call.headers)?;
        let (lines, currency) = look_up(&app, &call.who, &wish.lines).await?;
        let customer = call.who.is_customer();
        // When and how soon is the shop's to say.
        if customer && (wish.priority.is_some() || wish.due_at.is_some()) {
            return Err(ApiError::forbidden("forbidden", "priority and dueAt are set by the shop"));
        }
        Ok(OrderCommand::Create(Box::new(NewOrder {
            kind: if customer { OrderKind::Catalog } else { OrderKind::Manual },
            site: wish.site.or(said),
            made_by: call.who.maker(),
            customer_email: wish.customer_email,
            lines,
            currency,
            notes: wish.notes,
            shipping_address: wish.shipping_address,
            priority: wish.priority,
            due_at: wish.due_at,
            draft: false,
        })))
    };
    let done = call.ask_with(&app.orders, CommandTarget::New, command).await?;
    if !done.replayed {
        app.new_orders.send_modify(|count| *count += 1);
    }
    reply::created(&done, &format!("/api/orders/{}", done.id), shown(&app, &done).await?)
}

/// The lines with everything that their jobs will need, and the one currency of them all.
async fn look_up(app: &AppState, who: &Caller, wished: &[(Id, u32)]) -> Result<(Vec<Line>, String), ApiError> {
    let mut faults = Faults::default();
    let (mut lines, mut currency) = (Vec::with_capacity(wished.len()), None::<String>);
    for (at, (id, quantity)) in wished.iter().enumerate() {
        let path = format!("lines.{at}.skuId");
        let state = app.skus.read(*id).await?;
        let sku = state.as_ref().and_then(|state| state.state.as_ref());
        let Some(sku) = sku.filter(|sku| !sku.archived && (!who.is_customer() || sold(sku))) else {
            faults.check(false, &path, "no such SKU");
            continue;
        };
        faults.check(sku.fields.active, &path, "this SKU is not active");
        let same = currency.get_or_insert_with(|| sku.fields.currency.clone()) == &sku.fields.currency;
        faults.check(same, &path, "its currency is not that of the other lines");
        lines.push(Line {
            sku_id: *id,
            quantity: *quantity,
            unit_price_cents: sku.fields.price_cents,
            description: sku.fields.name.clone(),
            tax_rate_bps: 0,
            make: make(app, sku).await?,
        });
    }
    faults.refuse()?;
    Ok((lines, currency.ok_or_else(|| Refusal::field("lines", "at least one line is needed"))?))
}

/// What the jobs of a line are made from. The G-code's own words win over the SKU's estimates.
async fn make(app: &AppState, sku: &Sku) -> Result<Make, ApiError> {
    let fields = &sku.fields;
    let state = match fields.gcode_file_id {
        Some(id) => app.files.read(id).await?,
        None => None,
    };
    let said = state.as_ref().and_then(|state| state.state.as_ref()).map(|file| &file.metadata);
    // Grams are what a G-code says; sheets and millilitres are not.
    let in_grams = async {
        let material = app.materials.read(fields.material_id).await?;
        let kind = material.as_ref().and_then(|state| state.state.as_ref()).map(|material| material.fields.kind);
        Ok::<_, ApiError>(kind.is_some_and(|kind| kind.unit() == "g"))
    };
    let grams = said.and_then(|said| said.grams).filter(|grams| grams.0 > 0);
    let need = match grams {
        Some(grams) if in_grams.await? => grams,
        _ => fields.estimated_consumption,
    };
    Ok(Make {
        units_per_plate: fields.units_per_plate,
        material_id: fields.material_id,
        need,
        machine_type: fields.machine_type,
        dimensions: fields.dimensions,
        file_id: fields.gcode_file_id,
        file_form: said.and_then(|said| said.form).unwrap_or_default(),
        file_filament_mm: said.and_then(|said| said.filament_mm),
        estimated_seconds: said.and_then(|said| said.seconds).or(fields.estimated_seconds),
    })
}
