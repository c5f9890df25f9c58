//! Floor page: all printers in sections, those that need attention first. With `wall`, it is readable from a distance
//! and has no controls for printers.

use std::collections::HashMap;
use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::board::BoardHandles;
use super::card::{searched, standing};
use super::floor_group::{FloorGroup, FloorGrouping};
use super::floor_head::head;
use super::floor_plan::{PLAN_WORD, PrinterCard, rooms};
use super::floor_wall::{bar, turn_seconds};
use super::printer_form::NEW_PRINTER_PATH;
use super::shell::{StaffSection, StaffViewer, Tone};
use super::{FLOOR_PATH, PRODUCTS_PATH, STOCK_PATH};
use crate::frame::{SLOT, with_parts};
use config::Config;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::Printer;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http_api::production::printers::{PrinterHandles, present_all};
use words::Language;
use words::staff::floor as texts;

handles! {
    /// Dependencies of the floor pages.
    pub(crate) struct FloorHandles {
        board: BoardHandles,
        config: Arc<Config>,
    }
}

/// Display options of the floor.
#[derive(Request, Debug, Default)]
pub(super) struct FloorQuery {
    /// Only printers with this text in their name, location or tags.
    pub(super) q: Option<String>,
    /// Only printers of this group, or in a state with this tone; ignored if unknown.
    pub(super) state: Option<String>,
    /// Property by which the sections are formed: `place` or `model`; anything else is the state.
    pub(super) group: Option<String>,
    /// Card size: `small` is a grid of tiles, `dense` one of smaller tiles without pictures, `medium` is comfortable,
    /// `large` has larger pictures; anything else depends on the number of printers.
    pub(super) size: Option<String>,
    /// `plan` shows the printers where they are in their rooms; anything else shows them in sections.
    pub(super) view: Option<String>,
    /// Any value selects the wall display, readable from a distance.
    pub(super) wall: Option<String>,
    /// Seconds for which each page of the wall display is shown; the default if this is not a number.
    pub(super) turn: Option<String>,
}

/// Number of printers up to which the cards are comfortable if no size was chosen. With more printers, the cards are
/// compact on wide screens, so that more of them are visible.
const MAX_COMFORTABLE: usize = 12;
/// Maximum number of printers for which compact cards have pictures if no size is chosen. With more printers, the cards
/// are dense, so that a hundred fit on a screen of 1920 × 1080.
const MAX_COMPACT: usize = 40;
/// Tones by which the floor can be filtered.
const TONES: [Tone; 4] = [Tone::Error, Tone::Attention, Tone::Running, Tone::Idle];

impl FloorQuery {
    /// Returns the name of the group or tone that the floor is narrowed to; empty if it shows all printers.
    pub(super) fn state_word(&self) -> &'static str {
        let word = self.state.as_deref().unwrap_or_default();
        let mut words = FloorGroup::ALL.map(FloorGroup::word).into_iter().chain(TONES.map(Tone::word));
        words.find(|one| *one == word).unwrap_or_default()
    }

    /// Returns whether the floor is shown as a plan of the rooms.
    pub(super) fn is_plan(&self) -> bool {
        self.view.as_deref() == Some(PLAN_WORD)
    }

    /// Returns the property by which the sections are formed.
    pub(super) fn grouping(&self) -> FloorGrouping {
        FloorGrouping::from_word(self.group.as_deref().unwrap_or_default())
    }

    /// Returns whether the filter matches a printer. Printers that do not match are part of the page but hidden, so
    /// that the script can show them.
    fn takes(&self, shop: &PrinterHandles, printer: &Printer, group: FloorGroup) -> bool {
        let search_text = self.q.as_deref().unwrap_or_default().trim().to_lowercase();
        let state = self.state_word();
        let is_named = search_text.is_empty() || searched(printer).contains(&search_text);
        is_named && (state.is_empty() || group.word() == state || standing(shop, printer).0.word() == state)
    }

    /// Returns the class of the cards' container on a floor with this number of printers.
    fn class(&self, printers: usize) -> &'static str {
        // The wall has a size of its own.
        if self.wall.is_some() {
            return "floor";
        }
        match self.size.as_deref() {
            Some("small") => "floor compact",
            Some("dense") => "floor compact dense",
            Some("large") => "floor large",
            Some("medium") => "floor comfortable",
            _ if printers > MAX_COMPACT => "floor auto dense",
            _ if printers > MAX_COMFORTABLE => "floor auto",
            _ => "floor comfortable",
        }
    }
}

/// Serves the floor page.
pub(super) async fn show(
    State(app): State<FloorHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<FloorQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let view = app.board.view_in(language);
    let parts = view.parts(language);
    let all = present_all(&app.board.shop);
    let by_id: HashMap<Id, &Printer> =
        all.iter().filter_map(|versioned| versioned.state.as_ref()).map(|printer| (printer.id, printer)).collect();
    // In the order of the board; what was removed a moment ago is left out.
    let cards: Vec<PrinterCard<'_>> = view
        .order
        .iter()
        .filter_map(|(group, id)| {
            let (group, printer) = (*group, *by_id.get(id)?);
            let whole = parts.printers.get(id)?.whole();
            let is_hidden = !query.takes(&app.board.shop, printer, group);
            Some(PrinterCard { printer, group, is_hidden, html: if is_hidden { hidden_card(&whole) } else { whole } })
        })
        .collect();
    let is_wall = query.wall.is_some();
    let groups: Vec<FloorGroup> = cards.iter().map(|card| card.group).collect();
    let live = PreEscaped([parts.up_next.html.as_str(), parts.next_free.html.as_str()].concat());
    let (title, may_add) = (texts::title(language), who.has(Role::Operator));
    let content = html! {
        @if is_wall { h1 { (title) } } @else { (head(language, &query, &groups, &live, may_add)) }
        @if cards.is_empty() { (empty(language, may_add)) }
        @if query.is_plan() { (rooms(language, &cards, query.state_word())) } @else { (sections(language, &query, &cards)) }
        p id="none-match" class="muted" hidden[cards.is_empty() || cards.iter().any(|card| !card.is_hidden)] {
            (texts::no_match(language)) " " a href=(FLOOR_PATH) { (texts::show_all(language)) }
        }
        @if is_wall { (bar(language)) } @else {
            p class="small muted" { (texts::stop_note(language)) " " (texts::safety_note(language)) }
        }
    };
    Ok(if is_wall {
        viewer.wall(StaffSection::Floor, &title, &view, &content)
    } else {
        viewer.page(StaffSection::Floor, &title, &view, &content)
    })
}

/// Renders the sections with their cards. A section without a visible card is hidden, so that the script can show it
/// when a card moves there.
fn sections(language: Language, query: &FloorQuery, cards: &[PrinterCard<'_>]) -> Markup {
    let grouping = query.grouping();
    let keys = grouping.sections(cards.iter().map(|card| grouping.key(card.printer, card.group)));
    let seconds = query.wall.is_some().then(|| turn_seconds(query.turn.as_deref()));
    html! {
        div id="cards" class=(query.class(cards.len())) data-by=(grouping.member()) data-narrow-to=(query.state_word())
            data-turn-seconds=[seconds] {
            @for (n, key) in keys.into_iter().enumerate() {
                @let id = format!("section-{n}");
                @let own: Vec<&PrinterCard<'_>> =
                    cards.iter().filter(|card| grouping.key(card.printer, card.group) == key).collect();
                section aria-labelledby=(id) hidden[own.iter().all(|card| card.is_hidden)] {
                    div class="section" {
                        h2 id=(id) { (grouping.title(language, key)) }
                        span class="faint num" data-count-here="" { (own.iter().filter(|card| !card.is_hidden).count()) }
                    }
                    ul class="cards" data-key=(key) aria-labelledby=(id) {
                        @for card in own { (PreEscaped(&card.html)) }
                    }
                }
            }
        }
    }
}

/// Returns the HTML of a card, marked as hidden.
fn hidden_card(whole: &str) -> String {
    whole.replacen("<li ", "<li hidden ", 1)
}

/// Renders the floor page of a shop without printers.
fn empty(language: Language, may_add: bool) -> Markup {
    let with_part = |sentence: &str, part: &Markup| with_parts(sentence, &[part]);
    let link = |path: &str, text: &str| html! { a href=(path) { (text) } };
    let add = texts::first_printer_link(language);
    let add = if may_add {
        link(NEW_PRINTER_PATH, &add)
    } else {
        html! { (add) }
    };
    let stock = link(STOCK_PATH, &texts::first_material_link(language));
    let products = link(PRODUCTS_PATH, &texts::first_product_link(language));
    html! {
        section class="panel pad" aria-labelledby="begin" {
            h2 id="begin" { (texts::empty_title(language)) }
            p { (texts::empty_text(language)) }
            ol class="steps" {
                li { (with_part(&texts::first_printer(language, SLOT), &add)) }
                li { (with_part(&texts::first_material(language, SLOT), &stock)) }
                li { (with_part(&texts::first_product(language, SLOT), &products)) }
            }
            p {
                (with_part(&texts::demo_note(language, SLOT), &html! { code { "printfloor demo" } })) " "
                (with_part(&texts::api_note(language, SLOT), &link("/docs/", &texts::api_link(language))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_is_not_wanted_stays_on_the_page_unseen() {
        let card = "<li id=\"printer-1\" class=\"card\"><ul><li>PLA</li></ul></li>";
        assert_eq!(hidden_card(card), "<li hidden id=\"printer-1\" class=\"card\"><ul><li>PLA</li></ul></li>");
    }

    #[test]
    fn many_printers_are_compact_on_wide_screens_unless_somebody_chose_a_size() {
        let class = |size: Option<&str>, printers| {
            FloorQuery { size: size.map(str::to_owned), ..FloorQuery::default() }.class(printers)
        };
        assert_eq!(
            [0, 12, 13, 40, 41, 200].map(|printers| class(None, printers)),
            [
                "floor comfortable",
                "floor comfortable",
                "floor auto",
                "floor auto",
                "floor auto dense",
                "floor auto dense"
            ]
        );
        assert_eq!(class(Some(""), 13), "floor auto", "the form sends the automatic choice as an empty word");
        let chosen = [
            ("small", "floor compact"),
            ("dense", "floor compact dense"),
            ("medium", "floor comfortable"),
            ("large", "floor large"),
        ];
        for (word, expected) in chosen {
            assert_eq!([1, 200].map(|printers| class(Some(word), printers)), [expected; 2]);
        }
        let wall = FloorQuery { wall: Some(String::new()), size: Some("small".to_owned()), ..FloorQuery::default() };
        assert_eq!(wall.class(200), "floor");
    }

    #[test]
    fn a_word_that_means_no_state_narrows_nothing() {
        let of = |state: &str| FloorQuery { state: Some(state.to_owned()), ..FloorQuery::default() }.state_word();
        // Tones are older than groups, and links with them work on.
        assert_eq!(["error", "working", "ready", "need-you"].map(of), ["error", "working", "ready", "need-you"]);
        assert_eq!(["purple", ""].map(of), ["", ""]);
        assert_eq!(FloorQuery::default().state_word(), "");
    }

    #[test]
    fn a_shop_without_printers_reads_where_to_begin() {
        let page = |language, may_add| empty(language, may_add).into_string();
        let english = page(Language::English, true);
        let text = ". Its card appears here and updates live.</li>";
        let first = format!("<li><a href=\"{NEW_PRINTER_PATH}\">Add a printer</a>{text}");
        assert!(english.contains(&first), "{english}");
        let demo = "<p>To explore first, run <code>printfloor demo</code> on this server.";
        assert!(english.contains(demo) && english.contains("through <a href=\"/docs/\">the API</a>.</p>"), "{english}");
        let german = page(Language::German, false);
        for text in ["Noch keine Drucker</h2>", "<li>Drucker hinzufügen. Seine Karte", ">Material anlegen</a> und den"]
        {
            assert!(german.contains(text), "{text} in {german}");
        }
    }
}
