//! Floor page: all printers, those with problems first. With `wall`, it is readable from a distance and has no
//! controls.

use std::collections::HashMap;
use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::board::BoardHandles;
use super::card::{searched, standing};
use super::floor_plan::{PLAN_WORD, PrinterCard, rooms};
use super::printer_form::NEW_PRINTER_PATH;
use super::shell::{StaffSection, StaffViewer, Tone};
use super::{FLOOR_PATH, PRODUCTS_PATH, STOCK_PATH};
use config::Config;
use domain::id::Id;
use domain::printer::Printer;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http_api::production::printers::{PrinterHandles, present_all};

handles! {
    /// Dependencies of the floor pages.
    pub(crate) struct FloorHandles {
        board: BoardHandles,
        config: Arc<Config>,
    }
}

/// Display options of the floor.
#[derive(Request, Debug)]
pub(super) struct FloorQuery {
    /// Only printers with this text in their name, location or tags.
    q: Option<String>,
    /// Only printers in this state, given as the name of its tone; ignored if unknown.
    state: Option<String>,
    /// Card size: `small` or `large`; anything else is medium.
    size: Option<String>,
    /// `plan` shows the printers where they are in their rooms; anything else shows a single list, problems first.
    view: Option<String>,
    /// Any value selects the wall display, readable from a distance.
    wall: Option<String>,
}

/// States by which the floor can be filtered, with their labels.
const STATES: [(Tone, &str); 4] = [
    (Tone::Error, "In error or offline"),
    (Tone::Attention, "Needs a person"),
    (Tone::Working, "Working"),
    (Tone::Idle, "Idle or out of service"),
];
/// Card sizes with their labels.
const SIZES: [(&str, &str); 3] = [("small", "Small"), ("", "Middle"), ("large", "Large")];
/// Views of the floor with their labels.
const VIEWS: [(&str, &str); 2] = [("", "List, problems first"), (PLAN_WORD, "Plan of the rooms")];

impl FloorQuery {
    fn tone(&self) -> Option<Tone> {
        let tone_word = self.state.as_deref()?;
        STATES.into_iter().map(|(tone, _)| tone).find(|tone| tone.word() == tone_word)
    }

    /// Returns whether the filter matches a printer. Printers that do not match are part of the page but hidden, so
    /// that the script can show them.
    fn takes(&self, shop: &PrinterHandles, printer: &Printer) -> bool {
        let search_text = self.q.as_deref().unwrap_or_default().trim().to_lowercase();
        let named = search_text.is_empty() || searched(printer).contains(&search_text);
        named && self.tone().is_none_or(|tone| standing(shop, printer).0 == tone)
    }

    fn class(&self) -> &'static str {
        match self.size.as_deref() {
            Some("small") => "cards small",
            Some("large") => "cards large",
            _ => "cards",
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
    let view = app.board.view();
    let all = present_all(&app.board.shop);
    let by_id: HashMap<Id, &Printer> =
        all.iter().filter_map(|versioned| versioned.state.as_ref()).map(|printer| (printer.id, printer)).collect();
    // In the order of the board; what was removed a moment ago is left out.
    let shown_cards: Vec<PrinterCard<'_>> = view
        .order
        .iter()
        .filter_map(|id| {
            let printer = *by_id.get(id)?;
            let whole = view.printers.get(id)?.whole();
            let html = if query.takes(&app.board.shop, printer) { whole } else { hidden_card(&whole) };
            Some(PrinterCard { printer, html })
        })
        .collect();
    let (plan, wall) = (query.view.as_deref() == Some(PLAN_WORD), query.wall.is_some());
    let content = html! {
        h1 { "Floor" }
        @if shown_cards.is_empty() { (empty()) } @else { (tools(&query)) }
        @if plan {
            (rooms(&shown_cards))
        } @else {
            ul id="cards" class=(query.class()) aria-label="Printers" {
                @for card in &shown_cards { (PreEscaped(&card.html)) }
            }
        }
        p class="soft" {
            @if wall { a class="tall" href=(FLOOR_PATH) { "Back to the floor" } } @else {
                "Holding the red button cuts motors and heaters as far as the printer allows it. Software is no safety device: "
                "in danger switch the printer off at the mains."
            }
        }
    };
    Ok(if wall {
        viewer.wall(StaffSection::Floor, "Floor", &view, &content)
    } else {
        viewer.page(StaffSection::Floor, "Floor", &view, &content)
    })
}

/// Returns the HTML of a card, marked as hidden.
fn hidden_card(whole: &str) -> String {
    whole.replacen("<li ", "<li hidden ", 1)
}

/// Renders the floor page of a shop without printers.
fn empty() -> Markup {
    html! {
        section class="card" aria-labelledby="begin" {
            h2 id="begin" { "There is no printer yet" }
            p { "A shop begins with three things; the first print follows from them." }
            ol class="steps" {
                li { a href=(NEW_PRINTER_PATH) { "Add a printer" } ", and its card stands here, live." }
                li { a href=(STOCK_PATH) { "Add a material" } ", and receive what you have of it." }
                li { a href=(PRODUCTS_PATH) { "Add a SKU" } " with a G-code file: what can be ordered and made." }
            }
            p {
                "To look around first, run " code { "printfloor demo" } " on this machine: a whole simulated shop, with printers that print. "
                "Programs find the same in " a href="/docs/" { "the API" } "."
            }
        }
    }
}

fn tools(query: &FloorQuery) -> Markup {
    let (size, tone) = (query.size.as_deref().unwrap_or_default(), query.tone());
    let view = query.view.as_deref().unwrap_or_default();
    html! {
        form class="tools" method="get" action=(FLOOR_PATH) role="search" {
            div class="field" {
                label for="q" { "Search printers" }
                input id="q" name="q" type="search" maxlength="100" data-filter="" value=[query.q.as_deref()];
            }
            div class="field" {
                label for="state" { "State" }
                select id="state" name="state" data-states="" {
                    option value="" { "all" }
                    @for (one, words) in STATES { option value=(one.word()) selected[tone == Some(one)] { (words) } }
                }
            }
            div class="field" {
                label for="size" { "Size of the cards" }
                select id="size" name="size" data-sizes="" {
                    @for (word, words) in SIZES { option value=(word) selected[word == size] { (words) } }
                }
            }
            div class="field" {
                label for="view" { "View" }
                select id="view" name="view" {
                    @for (word, words) in VIEWS { option value=(word) selected[word == view] { (words) } }
                }
            }
            button class="second" type="submit" { "Show" }
            a class="button second" href={ (FLOOR_PATH) "?wall=1" } { "Wall" }
            a class="button second" href=(NEW_PRINTER_PATH) { "Add a printer" }
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
    fn a_word_that_means_no_state_narrows_nothing() {
        let of = |state: Option<&str>| {
            let state = state.map(str::to_owned);
            FloorQuery { q: None, state, size: None, view: None, wall: None }.tone()
        };
        assert_eq!((of(Some("error")), of(Some("working"))), (Some(Tone::Error), Some(Tone::Working)));
        assert_eq!((of(Some("purple")), of(Some("")), of(None)), (None, None, None));
    }
}
