//! Spool page: material, remaining amount, slot, and the available actions. A spool's number comes from the external
//! system that manages spools, or from one of the shop's own labels.
//!
//! The remaining amount is known only while the spool is in a slot or if an external system manages it. For any other
//! spool, even the material is known only from the label.

use api_derive::Request;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::{StockHandles, material_path, materials_by_name, swatch};
use crate::staff::filled_form::field;
use crate::staff::form::Form;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use crate::staff::{FLOOR_PATH, STOCK_PATH, labels};
use domain::amount::Amount;
use domain::id::Id;
use domain::material::Material;
use domain::parts_sync::StockSystem;
use domain::printer::{Printer, Slot};
use domain::refusal::Refusal;
use domain::slot_label::SlotLabel;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::printers::present_all;
use printers::slot_label;

/// Query parameters of a spool's page, as encoded in its label.
#[derive(Request, Debug)]
pub(super) struct SpoolQuery {
    /// Material on the spool.
    pub(super) material: Option<Id>,
}

/// Spool number, from the `{id}` path segment. A value that is not a number results in a 404.
pub(super) struct PathSpool(pub(super) i64);

impl<S: Send + Sync> FromRequestParts<S> for PathSpool {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "id").map(|(_, text)| text.to_owned());
        let number = text.and_then(|text| text.parse::<i64>().ok()).filter(|number| *number > 0);
        number.map(Self).ok_or_else(|| Refusal::not_found("spool").into())
    }
}

/// Returns the path of a spool's page; `material` is the material on its label.
pub(in crate::staff) fn spool_path(number: i64, material: Option<Id>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if let Some(material) = material {
        query.append_pair("material", &material.to_string());
    }
    let query = query.finish();
    let path = format!("{STOCK_PATH}/spools/{number}");
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// Slot of an existing printer.
pub(super) struct PrinterSlot {
    pub(super) printer: Id,
    pub(super) printer_name: String,
    /// `true` while the printer has a job.
    busy: bool,
    pub(super) slot: Slot,
    /// Label of the slot; `None` if the printer has only one slot.
    label: Option<SlotLabel>,
}

impl PrinterSlot {
    fn of(printer: &Printer) -> Vec<Self> {
        let (id, busy) = (printer.id, printer.in_hand.is_some());
        let slots = printer.slots();
        let several = slots.len() > 1;
        let all = slots.into_iter().map(|slot| {
            let label = several.then(|| slot_label(printer, slot.slot));
            Self { printer: id, printer_name: printer.fields.name.clone(), busy, slot, label }
        });
        all.collect()
    }

    /// Returns the printer's ID and the slot's number, as in the API.
    pub(super) fn at(&self) -> (Id, u32) {
        (self.printer, self.slot.slot)
    }

    /// Describes the slot's location: the printer and, if the printer has several slots, the slot's label.
    pub(super) fn words(&self) -> String {
        match self.label {
            Some(SlotLabel::External) => format!("{}, external spool", self.printer_name),
            Some(label) => format!("{}, slot {label}", self.printer_name),
            None => self.printer_name.clone(),
        }
    }
}

/// Returns all slots of the shop.
pub(super) fn all_slots(app: &StockHandles) -> Vec<PrinterSlot> {
    let printers = present_all(&app.board.shop);
    printers.iter().filter_map(|versioned| versioned.state.as_ref()).flat_map(PrinterSlot::of).collect()
}

/// Known facts about a spool.
pub(in crate::staff) struct SpoolFacts {
    pub(super) number: i64,
    /// Material on the spool.
    pub(in crate::staff) material: Option<Material>,
    /// Remaining amount, in the material's unit.
    pub(super) left: Option<Amount>,
    /// Slots recorded as containing the spool; more than one only if that is what operators have entered.
    pub(super) places: Vec<PrinterSlot>,
}

impl SpoolFacts {
    /// Collects the facts about a spool from the slots, the stock links of materials, and the spool's label.
    pub(in crate::staff) fn find(app: &StockHandles, number: i64, on_label: Option<Id>) -> Self {
        let residents = app.materials.materials.all_resident();
        let materials = || residents.iter().filter_map(|(_, versioned)| versioned.present());
        let mut places = all_slots(app);
        places.retain(|place| place.slot.spool == Some(number));
        let counted =
            |material: &Material| counted_spools(material).find(|(own, _)| *own == number).map(|(_, left)| left);
        let linked = materials().find_map(|material| Some((material, counted(material)?)));
        let in_slot = places.iter().find_map(|place| place.slot.material_id);
        let by_id = |id: Id| materials().find(|material| material.id == id);
        let material = in_slot.and_then(by_id).or(linked.map(|(material, _)| material)).or(on_label.and_then(by_id));
        let left = places.iter().find_map(|place| place.slot.remaining).or(linked.map(|(_, left)| left));
        Self { number, material: material.cloned(), left, places }
    }

    /// Returns the title of the spool's page.
    pub(in crate::staff) fn title(&self) -> String {
        format!("Spool {}", self.number)
    }

    pub(super) fn material_id(&self) -> Option<Id> {
        self.material.as_ref().map(|material| material.id)
    }

    pub(super) fn unit(&self) -> &'static str {
        self.material.as_ref().map_or("g", |material| material.fields.kind.unit())
    }

    /// Returns whether the printer itself reports the remaining amount.
    fn is_weighed(&self) -> bool {
        self.places.iter().any(|place| place.slot.weighed)
    }
}

/// Returns the spools of a material that an external system manages, each with its remaining amount.
fn counted_spools(material: &Material) -> impl Iterator<Item = (i64, Amount)> {
    let link = material.links.get(&StockSystem::Spools);
    let counted = link.and_then(|link| link.last_amounts.as_ref().or(link.agreed.as_ref()));
    counted.into_iter().flatten().map(|(number, left)| (*number, *left))
}

/// Returns the numbers of all known spools, with their materials.
pub(in crate::staff) fn known_spools(app: &StockHandles) -> Vec<(i64, Option<Id>)> {
    let in_slots = all_slots(app).into_iter().filter_map(|place| Some((place.slot.spool?, place.slot.material_id)));
    let residents = materials_by_name(app);
    let materials = residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let counted = materials.flat_map(|material| {
        let id = Some(material.id);
        counted_spools(material).map(move |(number, _)| (number, id))
    });
    let mut all: Vec<(i64, Option<Id>)> = in_slots.chain(counted).collect();
    all.sort_unstable_by_key(|(number, material)| (*number, material.is_none(), *material));
    all.dedup_by_key(|(number, _)| *number);
    all
}

/// Renders a material's spools: those in slots and, if an external system manages them, those on the shelf.
pub(super) fn of_material(app: &StockHandles, material: &Material) -> Markup {
    let mut places = all_slots(app);
    places.retain(|place| place.slot.material_id == Some(material.id));
    let loaded = |number: i64| places.iter().any(|place| place.slot.spool == Some(number));
    let shelf: Vec<(i64, Amount)> = counted_spools(material).filter(|(number, _)| !loaded(*number)).collect();
    let unit = material.fields.kind.unit();
    let link = |number: i64| html! { a href=(spool_path(number, Some(material.id))) { "Spool " (number) } };
    html! {
        section class="card" aria-labelledby="spools" {
            h2 id="spools" { "Spools" }
            @if places.is_empty() && shelf.is_empty() { p { "No spools are loaded." } }
            ul class="rows" {
                @for place in &places {
                    li {
                        span {
                            @match place.slot.spool {
                                Some(number) => { (link(number)) },
                                None => { span class="soft" { "No number" } },
                            }
                        }
                        span { "in " a href={ (FLOOR_PATH) "/printers/" (place.printer) } { (place.words()) } }
                        span class="soft" { @if let Some(left) = place.slot.remaining { (left) " " (unit) " left" } }
                    }
                }
                @for (number, left) in &shelf {
                    li { span { (link(*number)) } span { "on the shelf" } span class="soft" { (left) " " (unit) " left" } }
                }
            }
            p { a href={ (labels::PATH) "#new-spools" } { "Spool labels" } }
        }
    }
}

/// Serves the page of a spool.
pub(super) async fn show(
    State(app): State<StockHandles>,
    PathSpool(number): PathSpool,
    who: Caller,
    OpenQuery(query): OpenQuery<SpoolQuery>,
) -> Result<Response, ApiError> {
    page(&app, &who, &SpoolFacts::find(&app, number, query.material), &Form::default())
}

/// Renders a spool's page; `tried` is the rejected form on it, if any.
pub(super) fn page(app: &StockHandles, who: &Caller, facts: &SpoolFacts, tried: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let (title, loaded) = (facts.title(), !facts.places.is_empty());
    let (tone, words) = if loaded { (Tone::Working, "Loaded") } else { (Tone::Idle, "On the shelf") };
    let content = html! {
        p { a href=(STOCK_PATH) { "All stock" } }
        h1 id="spool-title" data-fresh="" { (title) " " span class=(tone.class()) { (words) } }
        div id="spool" data-fresh="" { (about(facts)) }
        div id="spool-acts" data-fresh="" {
            (load(app, facts, tried))
            @if loaded {
                (weigh(facts, tried))
                (leave(facts, tried))
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

fn about(facts: &SpoolFacts) -> Markup {
    html! {
        section class="card" aria-labelledby="about" {
            h2 id="about" { "Details" }
            dl class="left" {
                dt { "Material" }
                dd {
                    @match &facts.material {
                        Some(material) => {
                            (swatch(material.fields.color.as_deref()))
                            a href=(material_path(material.id)) { (material.fields.name) }
                        },
                        None => { "Unknown. Choose a material when you load the spool." },
                    }
                }
                dt { "Remaining" }
                dd { @match facts.left { Some(left) => { (left) " " (facts.unit()) }, None => { "Unknown" } } }
                @if let Some(words) = facts.material.as_ref().and_then(|one| one.missing_booking(facts.number)) {
                    dt { "Needs a decision" } dd { span class=(Tone::Attention.class()) { "Not recorded" } " " (words) }
                }
                @for place in &facts.places {
                    dt { "Loaded in" } dd { a href={ (FLOOR_PATH) "/printers/" (place.printer) } { (place.words()) } }
                }
            }
            p { a href=(labels::spool_label_path(facts.number, facts.material_id())) { "Print label" } }
        }
    }
}

/// Returns the path to which the spool's form for the action `act` is posted.
fn act_path(facts: &SpoolFacts, act: &str) -> String {
    let path = spool_path(facts.number, facts.material_id());
    match path.split_once('?') {
        Some((path, query)) => format!("{path}/{act}?{query}"),
        None => format!("{path}/{act}"),
    }
}

/// Returns the slots into which the spool could be loaded, starting with empty slots and those of idle printers.
fn slots_to_choose(app: &StockHandles, facts: &SpoolFacts) -> Vec<PrinterSlot> {
    let mut all = all_slots(app);
    all.retain(|place| place.slot.spool != Some(facts.number));
    all.sort_by_cached_key(|place| {
        (place.slot.material_id.is_some(), place.busy, place.printer_name.to_lowercase(), place.slot.slot)
    });
    all
}

fn load(app: &StockHandles, facts: &SpoolFacts, tried: &Form) -> Markup {
    let slots = slots_to_choose(app, facts);
    let residents = materials_by_name(app);
    let materials = || residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let name_of =
        |id: Option<Id>| materials().find(|one| Some(one.id) == id).map_or("empty", |one| one.fields.name.as_str());
    let left = facts.left.map(|left| left.to_string()).unwrap_or_default();
    let sheet = FormSheet::new("load", tried);
    let chosen = sheet.value_of("place", "");
    html! {
        section class="card" id="load" aria-labelledby="load-title" {
            h2 id="load-title" { @if facts.places.is_empty() { "Load" } @else { "Move to another slot" } }
            (sheet.faults())
            @if slots.is_empty() { p { "No other slots. Add a printer first." } } @else {
                form class="tools" method="post" action=(act_path(facts, "load")) {
                    (hidden())
                    @if let Some(id) = facts.material_id() {
                        input type="hidden" name="materialId" value=(id);
                    } @else {
                        (field("load-material", "Material", &html! {
                            select id="load-material" name="materialId" required {
                                option value="" { "Choose a material" }
                                @for one in materials() { option value=(one.id) { (one.fields.name) } }
                            }
                        }))
                    }
                    (field("load-place", "Printer and slot", &html! {
                        select id="load-place" name="place" {
                            @for place in &slots {
                                @let value = format!("{}/{}", place.printer, place.slot.slot);
                                option value=(value) selected[value == chosen] {
                                    (place.words()) " (" (name_of(place.slot.material_id)) ")" @if place.busy { ", busy" }
                                }
                            }
                        }
                    }))
                    (field("load-left", &format!("Remaining ({})", facts.unit()), &html! {
                        input id="load-left" name="remaining" inputmode="decimal" autocomplete="off" maxlength="20"
                            value=(sheet.value_of("remaining", &left));
                    }))
                    button type="submit" { "Load spool" }
                }
            }
        }
    }
}

fn weigh(facts: &SpoolFacts, tried: &Form) -> Markup {
    let sheet = FormSheet::new("weigh", tried);
    let amount = |name: &str, label: &str| {
        let id = format!("weigh-{name}");
        let value = sheet.value_of(name, "");
        let input =
            html! { input id=(id) name=(name) inputmode="decimal" autocomplete="off" maxlength="20" value=(value); };
        field(&id, label, &input)
    };
    html! {
        section class="card" aria-labelledby="weigh" {
            h2 id="weigh" { "Weigh" }
            (sheet.faults())
            @if facts.is_weighed() { p { "The printer reports the remaining amount." } } @else {
                form class="tools" method="post" action=(act_path(facts, "weigh")) {
                    (hidden())
                    (amount("gross", "Scale reading"))
                    (amount("empty", "Empty spool weight"))
                    (amount("remaining", "Or the remaining amount"))
                    button class="second" type="submit" { "Save weight" }
                }
            }
        }
    }
}

fn leave(facts: &SpoolFacts, tried: &Form) -> Markup {
    let left = facts.left.filter(|left| *left > Amount::ZERO && facts.material.is_some());
    html! {
        section class="card" aria-labelledby="leave" {
            h2 id="leave" { "Unload" }
            (FormSheet::new("unload", tried).faults()) (FormSheet::new("retire", tried).faults())
            form method="post" action=(act_path(facts, "unload")) {
                (hidden())
                button class="second" type="submit" { "Mark as unloaded" }
            }
            @if let Some(left) = left {
                p class="soft" { "Write “" (left) " " (facts.unit()) " left” on the spool, unless a spool system tracks it." }
            }
            details open[tried.is_refusal_of("retire")] {
                summary { "Retire spool " (facts.number) }
                p { "This marks its slot as empty." }
                form class="tools" method="post" action=(act_path(facts, "retire")) {
                    (hidden())
                    @if let Some(left) = left {
                        (field("retire-left", &format!("Write off the remaining {left} {}", facts.unit()), &html! {
                            input id="retire-left" name="writeOff" type="checkbox" value="true";
                        }))
                    }
                    button class="second" type="submit" { "Retire spool" }
                }
            }
        }
    }
}
