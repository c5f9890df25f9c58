//! Slots of all printers: the contents of each, and the form for correcting them after a spool has been swapped.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::spool::{PrinterSlot, all_slots, spool_path};
use super::spool_acts::chosen_slot;
use super::{SLOTS_PATH, StockHandles, material_path, materials_by_name};
use crate::form::{Form, FormBody, PageForm};
use crate::frame::see_other;
use crate::staff::filled_form::{address, field, ways};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use crate::staff::swatch::swatch;
use crate::staff::{FLOOR_PATH, STOCK_PATH, TO_DO_PATH};
use domain::id::Id;
use domain::material::{Material, MaterialType, shown_color, stock_amount};
use domain::notation::field_decimal;
use domain::printer::{Slot, SlotReport, SlotSource};
use http::access::Caller;
use http::error::ApiError;
use http::page::{OpenQuery, cut};
use http::wire::FieldTexts;
use http_api::production::printers::load_slot;
use store::queries::Page;
use words::Language;
use words::staff::spools as texts;

/// Number of slots per page.
const ROWS_PER_PAGE: u64 = 200;
/// Value sent by the button for marking a slot as empty.
const EMPTY_WORD: &str = "true";

/// Hidden field that contains the spool that the form showed.
const SHOWN_FIELD: &str = "shown";

/// Query parameters of the slot list.
#[derive(Request, Debug)]
pub(super) struct SlotListQuery {
    /// Slot for which the form is shown, as `printer/slot`.
    place: Option<String>,
    /// Material that the form suggests, from the to-do page.
    material: Option<String>,
    /// Number of slots to skip.
    #[api(default = 0)]
    from: u32,
}

/// Formats a slot for forms and URLs, as `printer/slot`.
fn place_of(place: &PrinterSlot) -> String {
    let (printer, slot) = place.at();
    format!("{printer}/{slot}")
}

/// Serves the slot list.
pub(super) async fn show(
    State(app): State<StockHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<SlotListQuery>,
) -> Result<Response, ApiError> {
    page(&app, &who, &query, &Form::default())
}

/// Sets the contents of a slot, or serves the list again with the form's errors.
pub(super) async fn say(State(app): State<StockHandles>, sent: PageForm) -> Result<Response, ApiError> {
    match report_slot(&app, &sent).await {
        Ok(()) if sent.text("back") == TO_DO_PATH => Ok(see_other(TO_DO_PATH)),
        Ok(()) => Ok(see_other(SLOTS_PATH)),
        Err(error) => {
            let tried = Form::submitted(&sent).with_refusal(error)?;
            let query = SlotListQuery { place: sent.some("place"), material: None, from: 0 };
            Ok(tried.answer(page(&app, &sent.call.who, &query, &tried)?))
        }
    }
}

/// Renders hidden fields with the spool that the printer reports in a slot. The form is rejected if the printer reports
/// a different spool by the time the form is submitted.
pub(in crate::staff) fn shown_spool(slot: &Slot) -> Markup {
    let SlotReport { vendor_code, kind, color } = SlotReport::of(slot);
    html! {
        input type="hidden" name=(SHOWN_FIELD) value="true";
        input type="hidden" name="shownCode" value=(vendor_code.unwrap_or_default());
        input type="hidden" name="shownKind" value=(kind.unwrap_or_default());
        input type="hidden" name="shownColor" value=(color.unwrap_or_default());
    }
}

/// Returns the spool that the form showed, as a field of the API request body.
fn expected_spool(sent: &PageForm) -> Value {
    if sent.text(SHOWN_FIELD).is_empty() {
        return Value::Null;
    }
    json!({"vendorCode": sent.some("shownCode"), "kind": sent.some("shownKind"), "color": sent.some("shownColor")})
}

/// Sets the contents of a printer's slot. The colour is taken from the material; values reported by the printer itself
/// are not overwritten.
async fn report_slot(app: &StockHandles, sent: &PageForm) -> Result<(), ApiError> {
    let to = chosen_slot(sent)?;
    let body = if sent.text("empty") == EMPTY_WORD {
        FormBody::new(FieldTexts::new())
    } else {
        let residents = materials_by_name(app);
        let material_id = sent.text("materialId").parse::<Id>().ok();
        let mut materials = residents.iter().filter_map(|versioned| versioned.state.as_ref());
        let color = materials.find(|one| Some(one.id) == material_id).and_then(|one| one.fields.color.clone());
        sent.body().with("color", color)
    };
    let body = body.with("expected", expected_spool(sent));
    load_slot(&app.board.shop, to, &sent.request_of(body)).await.map(drop)
}

fn page(app: &StockHandles, who: &Caller, query: &SlotListQuery, tried: &Form) -> Result<Response, ApiError> {
    let (from, chosen) = (u64::from(query.from), query.place.as_deref().unwrap_or_default());
    let viewer = StaffViewer::new(who, &app.config)?;
    let (language, title) = (viewer.language(), texts::slots_title(viewer.language()));
    let residents = materials_by_name(app);
    let materials: Vec<&Material> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let mut slots = all_slots(app);
    slots.sort_by_cached_key(|place| (place.printer_name.to_lowercase(), place.at()));
    let suggested = query.material.as_deref().and_then(|id| id.parse::<Id>().ok());
    let suggested = materials.iter().copied().find(|one| Some(one.id) == suggested);
    let place = slots.iter().find(|place| place_of(place) == chosen);
    let of_form = place.map(|place| form(language, place, &materials, suggested, tried));
    let (some, total) = cut(Page { limit: ROWS_PER_PAGE, offset: from }, slots);
    let part = |from: u64| address(SLOTS_PATH, &[("from", &from.to_string())]);
    let content = html! {
        p { a href=(STOCK_PATH) { (texts::all_stock(language)) } }
        h1 { (title) }
        @if let Some(form) = &of_form { (form) } @else { (tried.alert()) }
        div id="slots" data-fresh="" {
            @if some.is_empty() {
                p { (texts::no_printers(language)) " " a href=(FLOOR_PATH) { (texts::open_floor(language)) } }
            } @else {
                section class="panel tasks" aria-label=(texts::slots_table(language)) {
                    ul class="rows" { @for place in &some { (row(language, place, &materials)) } }
                }
                (ways(language, from, total, ROWS_PER_PAGE, part))
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

/// Renders a slot as a row: its place, its contents, and the link for correcting them.
fn row(language: Language, place: &PrinterSlot, materials: &[&Material]) -> Markup {
    let slot = &place.slot;
    let material = materials.iter().find(|one| Some(one.id) == slot.material_id);
    let kind = material.map_or(MaterialType::Filament, |one| one.fields.kind);
    let missing = material.zip(slot.spool).and_then(|(one, spool)| one.missing_booking(language, spool));
    let color = slot.color.as_deref().or_else(|| material.and_then(|one| one.fields.color.as_deref()));
    let color = shown_color(color, material.map_or("", |one| one.fields.name.as_str()));
    let place_words = place.words(language);
    html! {
        li class="row aside" {
            div class="thumb" { (swatch(color)) }
            div class="task" {
                div class="task-title" {
                    a class="ellipsis" title=(place_words) href={ (FLOOR_PATH) "/printers/" (place.printer) } { (place_words) }
                }
                div class="small ellipsis" {
                    @match material {
                        Some(one) => { a href=(material_path(one.id)) { (one.fields.name) } },
                        None => { span class="soft" { (texts::unknown(language)) } },
                    }
                    @if slot.source == SlotSource::Printer {
                        " " span class="soft hide-s" { (texts::reported_by_printer(language)) }
                    }
                }
                div class="small ellipsis" {
                    @if let Some(left) = slot.remaining {
                        span class="soft" { (texts::left(language, &stock_amount(language, left, kind))) }
                    }
                    @if let Some(number) = slot.spool {
                        " " a href=(spool_path(number, slot.material_id)) { (texts::spool(language, &number.to_string())) }
                    }
                }
                @if let Some(words) = missing { div class="bad small ellipsis" title=(words) { (words) } }
            }
            div class="acts" {
                a class="btn" href=(address(SLOTS_PATH, &[("place", &place_of(place))]))
                    aria-label=(texts::change_contents_of(language, &place_words)) { (texts::change(language)) }
            }
        }
    }
}

/// Renders the form for the contents of a slot, which is filled in with the current contents. A form with a suggested
/// material comes from the to-do page and leads back to it; unless that material is already in the slot, it is for a
/// different spool, so that the amount left and the number are empty.
fn form(
    language: Language,
    place: &PrinterSlot,
    materials: &[&Material],
    suggested: Option<&Material>,
    tried: &Form,
) -> Markup {
    let slot = &place.slot;
    let current = Some(slot).filter(|slot| suggested.is_none_or(|one| slot.material_id == Some(one.id)));
    let text = |name: &str, usual: Option<String>| tried.value(name, &usual.unwrap_or_default()).to_owned();
    let chosen = text("materialId", suggested.map(|one| one.id).or(slot.material_id).map(|id| id.to_string()));
    let left = current.and_then(|slot| slot.remaining).map(|left| field_decimal(language, left));
    let is_from_to_do = text("back", suggested.map(|_| TO_DO_PATH.to_owned())) == TO_DO_PATH;
    html! {
        section class="card narrow-form" aria-labelledby="say" {
            h2 id="say" { (texts::contents_of(language, &place.words(language))) }
            (tried.alert())
            @if let Some(words) = SlotReport::of(slot).words() { p { (texts::printer_reports(language, &words)) } }
            form method="post" action=(SLOTS_PATH) {
                (hidden())
                input type="hidden" name="place" value=(place_of(place));
                @if is_from_to_do { input type="hidden" name="back" value=(TO_DO_PATH); }
                (shown_spool(slot))
                (field("say-material", &texts::material(language), &html! {
                    select id="say-material" name="materialId" {
                        option value="" { (texts::unknown(language)) }
                        @for one in materials {
                            @let id = one.id.to_string();
                            option value=(id) selected[id == chosen] { (one.fields.name) }
                        }
                    }
                }))
                (field("say-left", &texts::remaining_in_unit_field(language), &html! {
                    input id="say-left" name="remaining" inputmode="decimal" autocomplete="off" maxlength="20"
                        value=(text("remaining", left));
                }))
                (field("say-spool", &texts::number_field(language), &html! {
                    input id="say-spool" name="spoolId" inputmode="numeric" autocomplete="off" maxlength="18"
                        value=(text("spoolId", current.and_then(|slot| slot.spool).map(|number| number.to_string())));
                }))
                div class="acts" {
                    button type="submit" { (texts::save_contents(language)) }
                    button class="second" type="submit" name="empty" value=(EMPTY_WORD) {
                        (texts::mark_empty(language))
                    }
                    a href=(if is_from_to_do { TO_DO_PATH } else { SLOTS_PATH }) { (texts::cancel(language)) }
                }
            }
        }
    }
}
