//! Components of the pages for daily work, with examples in place of a shop's data: a list, tasks, spools, uploads, a
//! form with errors, and the cards of the floor in their sizes.

use maud::{Markup, html};

use super::PATH;
use crate::design::{Icon, Tone, empty_place, icon};
use crate::staff::sheet::number_class;
use crate::staff::swatch::swatch;
use crate::staff::to_do::TaskRow;

/// Orders in the list: number, tone and text of the state, customer, good and ordered parts.
const ORDERS: [(&str, Tone, &str, &str, u64, u64); 3] = [
    ("ORD-001042", Tone::Error, "Late", "maximilian.mustermann@workshop.example.org", 3, 8),
    ("ORD-001041", Tone::Running, "Printing", "ann@example.org", 1, 2),
    ("ORD-001040", Tone::Idle, "Shipped", "kim@example.org", 0, 0),
];
/// Spools in the slots of a printer: colour, class, label of the slot, material and amount left.
const SPOOLS: [(Option<&str>, &str, &str, &str, &str); 4] = [
    (Some("#f57c1f"), "slot", "A1: ", "PETG orange", "740 g"),
    (Some("#202020"), "slot low", "A2: ", "PLA black", "90 g"),
    (None, "slot", "A3: ", "No spool", ""),
    (Some("#e8e8e8"), "slot", "External spool: ", "TPU clear", "500 g"),
];
/// States of an upload: progress in percent, and the message.
const UPLOADS: [(&str, Option<u8>, &str); 3] = [
    ("idle", None, ""),
    ("running", Some(40), "Sending gear.gcode…"),
    ("failed", None, "gear.gcode: this file is not G-code."),
];
/// Cards of the floor: class and group of the card, tone and text of the state.
const CARDS: [(&str, &str, Tone, &str); 4] = [
    ("panel card working", "printing", Tone::Running, "Printing"),
    ("panel card attention", "need-you", Tone::Attention, "Clear the bed"),
    ("panel card error", "offline", Tone::Error, "Offline"),
    ("panel card", "ready", Tone::Idle, "Ready"),
];

/// Renders a list, which is a table on a desktop and becomes rows in a narrow window.
pub(super) fn list() -> Markup {
    html! {
        div class="table list pictured" tabindex="0" role="region" aria-label="Example list" {
            table {
                thead {
                    tr {
                        @for column in ["Picture", "Order", "Status", "Customer", "Promised", "Progress"] {
                            th scope="col" { (column) }
                        }
                        th scope="col" class="number" { "Priority" }
                    }
                }
                tbody {
                    @for (n, (number, tone, text, customer, good, ordered)) in ORDERS.into_iter().enumerate() {
                        tr {
                            td class="picture" { span class="mini" { (icon(Icon::Layers)) } }
                            th scope="row" { a href=(PATH) { (number) } span class="below" { "today 09:00" } }
                            td class="states" { span class=(tone.class()) { (text) } }
                            td class="wide" { span class="ellipsis" title=(customer) { (customer) } }
                            td data-label="Promised" { @if ordered > 0 { "tomorrow 09:00" } }
                            td class="progress" { @if ordered > 0 { (progress(number, good, ordered)) } }
                            td class=(number_class(n == 2)) data-label="Priority" { (5 - n) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders what stands in place of a list without entries: the purpose of one that never had any, with the act that
/// begins it, and the way back from a filter that matches nothing.
pub(super) fn empty_lists() -> Markup {
    let begin = html! { a class="btn" href=(PATH) { "New quote" } };
    html! {
        (empty_place(Icon::ScrollText, "No quotes yet. Create a quote from a model or manually, or from a custom request.", &begin))
        p { "No quotes match. " a href=(PATH) { "Show all" } }
    }
}

fn progress(number: &str, good: u64, ordered: u64) -> Markup {
    html! {
        progress class="in-row" max=(ordered) value=(good) aria-label={ "Progress of " (number) } { (good) "/" (ordered) }
        span class="soft" { (good) " of " (ordered) " good" }
    }
}

/// Renders tasks: one with facts, one with a sentence, and one with a picture in place of the icon.
pub(super) fn tasks() -> Markup {
    let act = |class: &str, text: &str| html! { button class=(class) type="button" { (text) } };
    let bed = html! { b { a href=(PATH) { "Ada 7" } " · Cable clip ×4" } };
    let failed = html! { b { a href=(PATH) { "JOB-1042" } " Planetary gear set" } };
    let rows = [
        TaskRow::new(Icon::PackageCheck, bed)
            .facts(html! {
                a href=(PATH) { "ORD-1042" } " · 12 min · 3 jobs waiting for this bed · promised for 17:40"
            })
            .acts(html! { (act("btn primary", "Bed is clear")) (act("btn", "Bad parts…")) }),
        TaskRow::new(Icon::CircleAlert, failed)
            .detail(html! {
                "The printer stopped: the nozzle did not reach its temperature. Check the heater before you try again."
            })
            .acts(html! { (act("btn", "Retry")) (act("btn", "Cancel job")) }),
    ];
    html! {
        section class="panel tasks" aria-labelledby="design-tasks" {
            div class="tasks-head" { h3 id="design-tasks" { "Tasks (3)" } }
            ul class="rows" {
                @for row in &rows { (row.html()) }
                li class="row aside" {
                    div class="thumb" { (swatch(Some("#f57c1f"))) }
                    div class="task" {
                        div class="task-title" { a class="ellipsis" title="Ada 1, slot 2" href=(PATH) { "Ada 1, slot 2" } }
                        div class="small ellipsis" { a href=(PATH) { "PETG orange" } }
                        div class="small ellipsis" { span class="soft" { "740 g left" } }
                    }
                    div class="acts" { button class="btn" type="button" { "Change" } }
                }
            }
        }
    }
}

/// Renders states as they are on pages with live updates: marks with a word, and a sentence with a time.
pub(super) fn live_states() -> Markup {
    html! {
        p class="acts" { @for (_, _, tone, text) in CARDS { span class=(tone.class()) { (text) } " " } }
        p { span class=(Tone::Attention.class()) { span { "No answer from Ada 3 since 10:30" } } }
    }
}

/// Renders the spools of a printer with several slots: loaded, low and empty ones, and the external spool.
pub(super) fn spools() -> Markup {
    html! {
        ul class="slots" aria-label="Loaded spools" {
            @for (color, class, label, name, left) in SPOOLS {
                li class=(class) title={ (name) " " (left) } {
                    svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" {
                        circle cx="6" cy="6" r="5.5" fill=(color.unwrap_or("none")) stroke="currentColor"
                            stroke-opacity="0.4" {}
                    }
                    span class="spool" { (label) (name) " " span class="num" { (left) } }
                }
            }
        }
    }
}

/// Renders uploads that have not begun, are in progress, or have failed.
pub(super) fn uploads() -> Markup {
    html! {
        @for (state, percent, message) in UPLOADS {
            @let id = format!("design-upload-{state}");
            div class="upload" {
                label for=(id) class="btn" { (icon(Icon::Upload)) "Upload files" }
                input id=(id) type="file";
                progress max="100" value=(percent.unwrap_or_default()) aria-label={ "Upload: " (state) }
                    hidden[percent.is_none()] {}
                p role="status" { (message) }
            }
        }
        p class="hint drop-hint" { "You can also drop files anywhere on this page." }
    }
}

/// Renders tabs, the counts of the navigation, and the banner of a lost connection.
pub(super) fn tabs() -> Markup {
    html! {
        nav class="tabs" aria-label="Example tabs" {
            a href=(PATH) aria-current="page" { "Products" }
            a href=(PATH) { "Files" }
        }
        p class="acts" { "To do " span class="count" { "3" } " Floor " span class="count hot" { "2" } }
        p class="banner" { "Connection lost. The page shows what was known at 17:40." }
    }
}

/// Renders a rejected form, with a required field, one that cannot be changed, and one with an error.
pub(super) fn refused_form() -> Markup {
    html! {
        div class="wrong bad" role="alert" { p { "Name: is required" } }
        div class="grid" {
            div class="field" {
                label for="design-required" { "Name" }
                input id="design-required" required aria-invalid="true" aria-describedby="design-required-fault";
                span class="bad fault small" id="design-required-fault" { "is required" }
            }
            div class="field" {
                label for="design-disabled" { "Type" }
                select id="design-disabled" disabled { option { "X1" } }
            }
            div class="field" {
                label for="design-read" { "Key" }
                input id="design-read" readonly value="pf_ab12…cd34";
            }
        }
    }
}

/// Renders the floor's compact cards, and the single card of a printer's page.
pub(super) fn floor_cards() -> Markup {
    html! {
        div class="floor compact" {
            div class="cards small" { @for one in CARDS { (floor_card(one, "compact")) } }
        }
        div class="alone" { (floor_card(CARDS[0], "alone")) }
    }
}

fn floor_card((class, group, tone, text): (&str, &str, Tone, &str), place: &str) -> Markup {
    let is_printing = tone == Tone::Running;
    html! {
        article class=(class) data-group=(group) {
            div class="title" {
                h3 { a href=(PATH) { "Ada 1" } }
                span class="faint small model" { "X1" }
                span class=(tone.class()) { (text) }
            }
            div class="body" {
                div class="view" { (icon(Icon::Printer)) }
                div class="about" {
                    @if is_printing { div class="what" title="Planetary gear set" { "Planetary gear set" } }
                }
                div class="gauge" {
                    @if is_printing {
                        div class="pace" {
                            progress class="bar" max="100" value="31" aria-label={ "Progress, " (place) } { "31%" }
                            div class="meta" { b class="num" { "31%" } span class="long" { "2 h 4 min left" } span class="short" { "2 h 04 min" } }
                        }
                    }
                }
                (spools())
            }
            div class="foot" {
                p class="next" { (icon(Icon::CornerDownRight)) " Plant pot, 17:15" }
                div class="stops" {
                    button class="stop" type="button" aria-label={ "Emergency stop, " (place) ": " (text) } {
                        (icon(Icon::OctagonX)) span class="word" { "Emergency stop" }
                    }
                }
            }
        }
    }
}
