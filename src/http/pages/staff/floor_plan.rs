//! Floor plan: each location with its printers in rows and columns, as configured. Printers without a position are
//! shown below the others at the same location.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};

use super::floor_group::{FloorGroup, place};
use domain::printer::{Printer, RoomPosition};
use words::Language;
use words::staff::floor as texts;

/// Value of the `view` parameter that selects the floor plan.
pub(super) const PLAN_WORD: &str = "plan";

/// Printer with its card as shown on the page.
pub(super) struct PrinterCard<'a> {
    /// Printer that the card shows.
    pub(super) printer: &'a Printer,
    /// Group of the printer.
    pub(super) group: FloorGroup,
    /// `true` if the filter does not match the printer.
    pub(super) is_hidden: bool,
    /// HTML of the complete card.
    pub(super) html: String,
}

/// Cards of the printers at one location: those with a position, and the others.
#[derive(Default)]
struct Room<'a> {
    placed: BTreeMap<RoomPosition, Vec<&'a str>>,
    loose: Vec<&'a str>,
}

/// Groups the cards by the name of the printer's location. Printers without a location come last.
fn by_place<'a>(cards: &'a [PrinterCard<'_>]) -> BTreeMap<(bool, &'a str), Room<'a>> {
    let mut rooms: BTreeMap<(bool, &str), Room<'_>> = BTreeMap::new();
    for PrinterCard { printer, html, .. } in cards {
        let place = place(printer);
        let room = rooms.entry((place.is_empty(), place)).or_default();
        match printer.fields.position {
            Some(position) => room.placed.entry(position).or_default().push(html),
            None => room.loose.push(html),
        }
    }
    rooms
}

/// Renders all locations with their printers. `state` is the group or tone that the floor is narrowed to.
pub(super) fn rooms(language: Language, cards: &[PrinterCard<'_>], state: &str) -> Markup {
    html! {
        div class="floor compact" data-narrow-to=(state) {
            @for (n, ((nowhere, place), room)) in by_place(cards).iter().enumerate() {
                @let id = format!("room-{n}");
                section class="room" aria-labelledby=(id) {
                    h2 id=(id) { @if *nowhere { (texts::no_place(language)) } @else { (place) } }
                    (placed(language, room, (!nowhere).then_some(*place)))
                    @if !room.loose.is_empty() {
                        ul class="cards" aria-labelledby=(id) { @for card in &room.loose { (PreEscaped(card)) } }
                    }
                }
            }
        }
        p class="small muted" { (texts::position_note(language)) }
    }
}

/// Renders the printers with a position in a room; `place` is the room's name, if it has one.
fn placed(language: Language, room: &Room<'_>, place: Option<&str>) -> Markup {
    let label = place.map_or_else(|| texts::plan_without_place(language), |place| texts::plan_of(language, place));
    // Rows and columns in which nothing stands are left out: a plan of two printers far apart stays small.
    let rows: BTreeSet<u32> = room.placed.keys().map(|place| place.row).collect();
    let columns: BTreeSet<u32> = room.placed.keys().map(|place| place.column).collect();
    let at = |row: u32, column: u32| room.placed.get(&RoomPosition { row, column });
    html! {
        @if !rows.is_empty() {
            div class="table" tabindex="0" role="region" aria-label=(label) {
                table class="plan" {
                    thead {
                        tr {
                            td {}
                            @for column in &columns { th scope="col" { (texts::column(language, *column)) } }
                        }
                    }
                    tbody {
                        @for row in &rows {
                            tr {
                                th scope="row" { (texts::row(language, *row)) }
                                @for column in &columns {
                                    td {
                                        @if let Some(cards) = at(*row, *column) {
                                            ul { @for card in cards { (PreEscaped(card)) } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
