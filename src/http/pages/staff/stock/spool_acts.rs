//! Actions on a spool. Each updates the slots of the affected printers through the API operation.

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::StockHandles;
use super::spool::{PathSpool, PrinterSlot, SpoolFacts, SpoolQuery, page, spool_path};
use crate::form::{Form, FormBody, PageForm};
use crate::frame::see_other;
use domain::amount::Amount;
use domain::id::Id;
use domain::material::retirement_reason;
use domain::refusal::Refusal;
use domain::spool::left_by_scale;
use http::error::ApiError;
use http::page::OpenQuery;
use http::wire::{FieldTexts, typed_number};
use http_api::production::materials;
use http_api::production::printers::load_slot;

/// Redirects to the spool's page, or serves it again with the error. The material on the label stays in the URL,
/// because it is not recorded anywhere else for a spool that is not in a slot.
fn respond(
    app: &StockHandles,
    act: &str,
    sent: &PageForm,
    facts: &SpoolFacts,
    done: Result<(), ApiError>,
) -> Result<Response, ApiError> {
    match done {
        Ok(()) => Ok(see_other(&spool_path(facts.number, facts.material_id()))),
        Err(error) => {
            let tried = Form::named(act, sent).with_refusal(error)?;
            Ok(tried.answer(page(app, &sent.call.who, facts, &tried)?))
        }
    }
}

/// Marks each of the given slots as empty.
async fn emptied(app: &StockHandles, sent: &PageForm, slots: Vec<(Id, u32)>) -> Result<(), ApiError> {
    for slot in slots {
        load_slot(&app.board.shop, slot, &sent.repeatable_request(FormBody::new(FieldTexts::new()))).await?;
    }
    Ok(())
}

/// Parses the slot specified in a form, as `printer/slot`.
pub(super) fn chosen_slot(sent: &PageForm) -> Result<(Id, u32), ApiError> {
    let chosen = sent.text("place").split_once('/');
    let read = chosen.and_then(|(printer, slot)| Some((printer.parse().ok()?, slot.parse().ok()?)));
    read.ok_or_else(|| Refusal::field("place", "choose a printer and a slot").into())
}

/// Loads the spool into a slot and marks the slots that previously contained it as empty, because a spool can only be
/// in one slot.
async fn load_and_clear_others(app: &StockHandles, sent: &PageForm, facts: &SpoolFacts) -> Result<(), ApiError> {
    let to = chosen_slot(sent)?;
    let from = facts.places.first().and_then(|place| place.slot.color.clone());
    let color = from.or_else(|| facts.material.as_ref()?.fields.color.clone());
    let body = sent.body().with("color", color).with("spoolId", facts.number);
    load_slot(&app.board.shop, to, &sent.request_of(body)).await?;
    emptied(app, sent, facts.places.iter().map(PrinterSlot::at).filter(|at| *at != to).collect()).await
}

/// Loads a spool, or moves it to a different slot.
pub(super) async fn load(
    State(app): State<StockHandles>,
    PathSpool(number): PathSpool,
    OpenQuery(query): OpenQuery<SpoolQuery>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let facts = SpoolFacts::find(&app, number, query.material);
    let done = load_and_clear_others(&app, &sent, &facts).await;
    // It may have got its material just now.
    let facts = SpoolFacts::find(&app, number, facts.material_id());
    respond(&app, "load", &sent, &facts, done)
}

/// Returns the remaining amount by weight: either entered directly, or the scale's reading minus the weight of the
/// empty spool.
fn weighed(sent: &PageForm) -> Result<Value, ApiError> {
    if sent.text("gross").is_empty() {
        let missing = || Refusal::field("gross", "enter the scale reading or the remaining amount").into();
        return sent.some("remaining").map(|left| typed_number(&left)).ok_or_else(missing);
    }
    let amount = |name: &str| match typed_number(sent.text(name)) {
        Value::Number(number) => Amount::from_number(&number).map_err(|error| Refusal::field(name, error.to_string())),
        _ => Err(Refusal::field(name, "must be a number")),
    };
    Ok(json!(left_by_scale(amount("gross")?, amount("empty")?)?))
}

async fn record_weight(app: &StockHandles, sent: &PageForm, facts: &SpoolFacts) -> Result<(), ApiError> {
    let left = weighed(sent)?;
    if facts.places.is_empty() {
        return Err(ApiError::conflict(
            "spool_not_loaded",
            "the spool is not in a slot; load it first, then enter the remaining amount",
        ));
    }
    for place in &facts.places {
        let body = FormBody::new(FieldTexts::new())
            .with("materialId", place.slot.material_id.map(|id| id.to_string()))
            .with("color", place.slot.color.clone())
            .with("remaining", left.clone())
            .with("spoolId", facts.number);
        load_slot(&app.board.shop, place.at(), &sent.request_of(body)).await?;
    }
    Ok(())
}

/// Records the weight of a spool.
pub(super) async fn weigh(
    State(app): State<StockHandles>,
    PathSpool(number): PathSpool,
    OpenQuery(query): OpenQuery<SpoolQuery>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let facts = SpoolFacts::find(&app, number, query.material);
    let done = record_weight(&app, &sent, &facts).await;
    respond(&app, "weigh", &sent, &facts, done)
}

/// Unloads a spool from its slot.
pub(super) async fn unload(
    State(app): State<StockHandles>,
    PathSpool(number): PathSpool,
    OpenQuery(query): OpenQuery<SpoolQuery>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let facts = SpoolFacts::find(&app, number, query.material);
    let done = emptied(&app, &sent, facts.places.iter().map(PrinterSlot::at).collect()).await;
    respond(&app, "unload", &sent, &facts, done)
}

/// Empties the spool's slots, then writes off the remaining amount if the form requests it. In this order, the stock
/// stays unchanged if a slot cannot be emptied. Resubmitting the form does not write off the amount twice.
async fn given_up(app: &StockHandles, sent: &PageForm, facts: &SpoolFacts) -> Result<(), ApiError> {
    emptied(app, sent, facts.places.iter().map(PrinterSlot::at).collect()).await?;
    let left = facts.left.filter(|left| *left > Amount::ZERO && sent.text("writeOff") == "true");
    if let (Some(left), Some(material)) = (left, facts.material_id()) {
        let body = FormBody::new(FieldTexts::new())
            .with("delta", json!(-left))
            .with("reason", retirement_reason(facts.number));
        materials::adjust_stock(&app.materials, material, &sent.request_of(body)).await?;
    }
    Ok(())
}

/// Retires a spool.
pub(super) async fn retire(
    State(app): State<StockHandles>,
    PathSpool(number): PathSpool,
    OpenQuery(query): OpenQuery<SpoolQuery>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let facts = SpoolFacts::find(&app, number, query.material);
    let done = given_up(&app, &sent, &facts).await;
    respond(&app, "retire", &sent, &facts, done)
}
