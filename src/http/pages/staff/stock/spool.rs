//! Spool page: material, remaining amount, slot, and the available actions. A spool's number comes from the external
//! system that manages spools, or from one of the shop's own labels.
//!
//! The remaining amount is known only while the spool is in a slot or if an external system manages it. For any other
//! spool, even the material is known only from the label.

mod forms;

use api_derive::Request;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::{SLOTS_PATH, StockHandles, material_path, materials_by_name};
use crate::form::Form;
use crate::frame::{SLOT, with_parts};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::swatch::material_swatch;
use crate::staff::{FLOOR_PATH, STOCK_PATH, labels};
use domain::amount::Amount;
use domain::id::Id;
use domain::material::{Material, MaterialType, stock_amount, unit};
use domain::parts_sync::StockSystem;
use domain::printer::{Printer, Slot};
use domain::refusal::Refusal;
use domain::slot_label::SlotLabel;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::printers::present_all;
use printers::slot_label;
use words::Language;
use words::staff::spools as texts;

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
    pub(super) fn words(&self, language: Language) -> String {
        match self.label {
            Some(SlotLabel::External) => texts::in_external_slot(language, &self.printer_name),
            Some(label) => texts::in_slot(language, &self.printer_name, &label.to_string()),
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
    pub(in crate::staff) fn title(&self, language: Language) -> String {
        texts::spool(language, &self.number.to_string())
    }

    pub(super) fn material_id(&self) -> Option<Id> {
        self.material.as_ref().map(|material| material.id)
    }

    /// Returns the type of the material; filament, which is measured in grams, if the material is unknown.
    fn kind(&self) -> MaterialType {
        self.material.as_ref().map_or(MaterialType::Filament, |material| material.fields.kind)
    }

    /// Returns the unit of the amounts.
    fn unit(&self, language: Language) -> &'static str {
        unit(language, self.kind())
    }

    /// Formats an amount with its unit.
    fn amount(&self, language: Language, amount: Amount) -> String {
        stock_amount(language, amount, self.kind())
    }

    /// Describes the spool in a list: its material, the remaining amount as far as it is known, and its place.
    pub(in crate::staff) fn summary(&self, language: Language) -> String {
        let material = self.material.as_ref().map(|material| material.fields.name.clone());
        let left = self.left.map(|left| texts::left(language, &self.amount(language, left)));
        let place = match self.places.first() {
            Some(place) => texts::in_place(language, &place.words(language)),
            None => texts::on_shelf(language),
        };
        let parts: Vec<String> = material.into_iter().chain(left).chain([place]).collect();
        parts.join(", ")
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
pub(super) fn of_material(language: Language, app: &StockHandles, material: &Material) -> Markup {
    let mut places = all_slots(app);
    places.retain(|place| place.slot.material_id == Some(material.id));
    let loaded = |number: i64| places.iter().any(|place| place.slot.spool == Some(number));
    let shelf: Vec<(i64, Amount)> = counted_spools(material).filter(|(number, _)| !loaded(*number)).collect();
    let left_of = |left: Amount| texts::left(language, &stock_amount(language, left, material.fields.kind));
    let link = |number: i64| {
        html! { a href=(spool_path(number, Some(material.id))) { (texts::spool(language, &number.to_string())) } }
    };
    let in_printer = |place: &PrinterSlot| {
        let link = html! { a href={ (FLOOR_PATH) "/printers/" (place.printer) } { (place.words(language)) } };
        with_parts(&texts::in_place(language, SLOT), &[&link])
    };
    html! {
        section class="card" aria-labelledby="spools" {
            h2 id="spools" { (texts::of_material_heading(language)) }
            @if places.is_empty() && shelf.is_empty() {
                p { (texts::none_loaded(language)) " " a href=(SLOTS_PATH) { (texts::load(language)) } }
            }
            ul class="rows" {
                @for place in &places {
                    li {
                        span {
                            @match place.slot.spool {
                                Some(number) => { (link(number)) },
                                None => { span class="soft" { (texts::no_number(language)) } },
                            }
                        }
                        span { (in_printer(place)) }
                        span class="soft" { @if let Some(left) = place.slot.remaining { (left_of(left)) } }
                    }
                }
                @for (number, left) in &shelf {
                    li {
                        span { (link(*number)) }
                        span { (texts::on_shelf(language)) }
                        span class="soft" { (left_of(*left)) }
                    }
                }
            }
            p { a href={ (labels::PATH) "#new-spools" } { (texts::labels_link(language)) } }
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
    let language = viewer.language();
    let (title, loaded) = (facts.title(language), !facts.places.is_empty());
    let (tone, words) =
        if loaded { (Tone::Working, texts::loaded(language)) } else { (Tone::Idle, texts::shelf_status(language)) };
    let content = html! {
        p { a href=(STOCK_PATH) { (texts::all_stock(language)) } }
        h1 id="spool-title" data-fresh="" { (title) " " span class=(tone.class()) { (words) } }
        div id="spool" data-fresh="" { (about(language, facts)) }
        div id="spool-acts" data-fresh="" {
            (forms::load(language, app, facts, tried))
            @if loaded {
                (forms::weigh(language, facts, tried))
                (forms::leave(language, facts, tried))
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

fn about(language: Language, facts: &SpoolFacts) -> Markup {
    html! {
        section class="card" aria-labelledby="about" {
            h2 id="about" { (texts::details(language)) }
            dl class="left" {
                dt { (texts::material(language)) }
                dd {
                    @match &facts.material {
                        Some(material) => {
                            (material_swatch(&material.fields)) " "
                            a href=(material_path(material.id)) { (material.fields.name) }
                        },
                        None => { (texts::material_unknown(language)) },
                    }
                }
                dt { (texts::remaining(language)) }
                dd { (facts.left.map_or_else(|| texts::unknown(language), |left| facts.amount(language, left))) }
                @if let Some(words) = facts.material.as_ref().and_then(|one| one.missing_booking(language, facts.number)) {
                    dt { (texts::needs_decision(language)) }
                    dd { span class=(Tone::Attention.class()) { (texts::not_recorded(language)) } " " (words) }
                }
                @for place in &facts.places {
                    dt { (texts::loaded_in(language)) }
                    dd { a href={ (FLOOR_PATH) "/printers/" (place.printer) } { (place.words(language)) } }
                }
            }
            p { a href=(labels::spool_label_path(facts.number, facts.material_id())) { (texts::print_label(language)) } }
        }
    }
}
