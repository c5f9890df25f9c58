//! Page that shows every component of the pages in every state, for people who work on the pages.

mod samples;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::FLOOR_PATH;
use super::board::BoardHandles;
use super::shell::{StaffSection, StaffViewer};
use crate::design::{
    CourseEntry, FilterTab, Icon, KeyFigure, Tone, chip, course, dialog, figures, filters, icon, menu, panel, steps,
    toast,
};
use config::Config;
use domain::principal::Role;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use words::Language;

/// Path of the page.
pub(super) const PATH: &str = "/design";

/// Tones, each with an example text.
const TONES: [(Tone, &str); 5] = [
    (Tone::Running, "Printing"),
    (Tone::Working, "Printed"),
    (Tone::Attention, "Clear the bed"),
    (Tone::Error, "Offline"),
    (Tone::Idle, "Ready"),
];
/// Choices that lead to a further page, each with a description.
const OPTIONS: [(&str, &str); 2] =
    [("Filament", "Spools, in grams and kilograms"), ("Resin", "Bottles, in millilitres and litres")];
/// Amounts in the table, one for each tone.
const TOTALS: [&str; 5] = ["€48.00", "€17.25", "€1,240.50", "€9.90", "€120.00"];
/// Text colours on a panel, as classes.
const TEXTS: [(&str, &str); 4] =
    [("", "Text"), ("muted", "Secondary text"), ("faint", "Tertiary text"), ("bad", "Error")];

handles! {
    /// Dependencies of the page.
    pub(crate) struct DesignPageHandles {
        board: BoardHandles,
        config: Arc<Config>,
    }
}

/// Adds the route of the page.
pub(super) fn routes(routes: Routes) -> Routes {
    routes.page(Method::GET, RequiredAccess::Role(Role::Admin), PATH, show, PageBounds::Form)
}

/// Serves the page, which is in English for everybody: it has examples in place of texts.
async fn show(State(app): State<DesignPageHandles>, who: Caller) -> Result<Response, ApiError> {
    let who = Caller { language: Language::English, ..who };
    let viewer = StaffViewer::new(&who, &app.config)?;
    let content = html! {
        div class="head" {
            h1 { "Design" }
            span class="muted small" { "Every component of the pages" }
        }
        div class="stack" {
            (panel("type", "Type and colours", &type_and_colours()))
            (panel("buttons", "Buttons", &buttons()))
            (panel("states", "States", &states()))
            (panel("fields", "Fields", &fields()))
            (panel("tables", "Rows and tables", &rows()))
            (panel("empty", "Empty lists", &samples::empty_lists()))
            (panel("courses", "Steps and timelines", &courses()))
            (figures(&[
                KeyFigure { label: "Parts printed", value: "1,284", note: "up 12% on the previous week" },
                KeyFigure { label: "Share of good parts", value: "97.4%", note: "same as the previous week" },
                KeyFigure { label: "Revenue", value: "€4,310.00", note: "down 3% on the previous week" },
            ]))
            (panel("cards-of-printers", "Cards", &cards()))
            (panel("navigation", "Tabs, counts, banner", &samples::tabs()))
            (panel("refused", "Form with errors", &samples::refused_form()))
            (panel("uploads", "Uploads", &samples::uploads()))
            (panel("spools", "Spools", &samples::spools()))
            (samples::tasks())
            // Live states are in parts that are refreshed, as on all pages.
            div id="design-live" class="stack" data-fresh="" {
                (panel("live", "Live states", &samples::live_states()))
                (samples::list())
                (panel("floor-cards", "Compact cards, and one alone", &samples::floor_cards()))
            }
            (panel("overlays", "Menus, dialogs, messages", &overlays()))
            (panel("icons", "Icons", &icons()))
        }
    };
    Ok(viewer.page(StaffSection::Settings, "Design", &app.board.view(), &content))
}

fn type_and_colours() -> Markup {
    html! {
        @for (class, text) in TEXTS { p class=(class) { (text) ": 0123456789, Größe, naïve, 220 °C" } }
        p { a href=(FLOOR_PATH) { "A link" } " in a sentence." }
    }
}

fn buttons() -> Markup {
    html! {
        div class="acts" {
            button class="btn primary" type="button" { (icon(Icon::Check)) "Primary action" }
            button class="btn" type="button" { "Other action" }
            button class="btn quiet" type="button" { "Quiet action" }
            button class="btn bad" type="button" { (icon(Icon::Trash2)) "Delete" }
            button class="btn quiet square" type="button" aria-label="Pause" { (icon(Icon::Pause)) }
            button class="btn" type="button" disabled { "Disabled" }
            button class="stop square" type="button" aria-label="Hold to stop" { (icon(Icon::OctagonX)) }
        }
        p class="small muted" { "One primary action per view. Destructive actions stay quiet until they are confirmed." }
    }
}

fn states() -> Markup {
    let tabs = [
        FilterTab { label: "all", count: 60, tone: Tone::Idle, path: "/design", is_current: true },
        FilterTab { label: "printing", count: 41, tone: Tone::Running, path: "/design", is_current: false },
        FilterTab { label: "needing attention", count: 6, tone: Tone::Attention, path: "/design", is_current: false },
        FilterTab { label: "offline", count: 2, tone: Tone::Error, path: "/design", is_current: false },
    ];
    html! {
        p class="acts" { @for (tone, text) in TONES { (chip(tone, text)) } span class="chip info" { "New" } }
        (filters("List filters", &tabs))
    }
}

fn fields() -> Markup {
    html! {
        div class="grid" {
            div class="field" {
                label for="design-text" { "Name" }
                input id="design-text" placeholder="Ada 1" aria-describedby="design-hint";
                p class="hint" id="design-hint" { "As labelled on the machine." }
            }
            div class="field" {
                label for="design-wrong" { "Weight in g" }
                input id="design-wrong" value="much" aria-invalid="true" aria-describedby="design-fault";
                p class="bad small" id="design-fault" { "Enter a number, such as 250." }
            }
            div class="field" {
                label for="design-choice" { "Material" }
                select id="design-choice" { option { "PLA black" } option { "PETG orange" } }
            }
            div class="field" {
                input id="design-tick" type="checkbox" checked;
                label for="design-tick" class="inline" { "Print automatically" }
            }
            div class="field" {
                label for="design-notes" { "Notes" }
                textarea id="design-notes" {}
            }
            div class="field" {
                label for="design-file" { "G-code file" }
                input id="design-file" type="file";
            }
        }
    }
}

fn rows() -> Markup {
    html! {
        ul class="rows" {
            li class="row" {
                span class="thumb" { (icon(Icon::PackageCheck)) }
                span { b { "Clear the bed of Ada 7" } " " span class="below" { "4 cable clips finished, 3 jobs waiting for this printer" } }
                span class="acts" { button class="btn" type="button" { "Bed is clear" } }
            }
            li { span { "A row of two" } span class="num" { "1,000 g" } }
        }
        ul class="options" {
            @for (name, models) in OPTIONS {
                li { a class="option" href=(PATH) { b { (name) } " " span class="soft" { (models) } (icon(Icon::ChevronRight)) } }
            }
        }
        div class="table" tabindex="0" role="region" aria-label="Example table" {
            table {
                thead { tr { th scope="col" { "Order" } th scope="col" { "State" } th scope="col" class="number" { "Total" } } }
                tbody {
                    @for ((tone, text), total) in TONES.into_iter().zip(TOTALS) {
                        tr { th scope="row" { "ORD-1042" } td { (chip(tone, text)) } td class="number" { (total) } }
                    }
                }
            }
        }
    }
}

fn courses() -> Markup {
    let entries = [
        CourseEntry { tone: Tone::Working, text: "Printed on Ada 1", note: "today 16:20" },
        CourseEntry { tone: Tone::Attention, text: "One part was bad", note: "today 15:02, sam@example.org" },
        CourseEntry { tone: Tone::Error, text: "Stopped: heater fault", note: "today 14:40" },
        CourseEntry { tone: Tone::Idle, text: "Ordered", note: "yesterday 09:00" },
    ];
    html! {
        (steps(&["Ordered", "Paid", "Printing", "Packed", "Shipped"], 2))
        progress max="100" value="72" aria-label="Progress of the print" { "72%" }
        (course(&entries))
    }
}

fn cards() -> Markup {
    html! {
        div class="cards" {
            @for (tone, text) in TONES {
                article class={ "panel card tone-" (tone.word()) } {
                    div class="title" { b { "Ada 1" } span class="faint small" { "X1" } (chip(tone, text)) }
                    div class="body" {
                        div class="view" { (icon(Icon::Printer)) }
                        div {
                            div class="what" title="Planetary gear set, plate 2 of 3" { "Planetary gear set, plate 2 of 3" }
                            div class="small muted" { "ORD-1038" }
                        }
                    }
                    div class="meta" { b { "31 %" } span { "2 h 4 min left" } span { "ends 18:58" } }
                    div class="foot" {
                        span class="small muted" { (icon(Icon::CornerDownRight)) " Plant pot, 17:15" }
                        button class="btn quiet square push" type="button" aria-label={ "Pause: " (text) } { (icon(Icon::Pause)) }
                        button class="stop" type="button" aria-label={ "Hold to stop: " (text) } { (icon(Icon::OctagonX)) }
                    }
                }
            }
        }
    }
}

fn overlays() -> Markup {
    let items = html! {
        a href=(FLOOR_PATH) { (icon(Icon::Eye)) "Open" }
        button type="button" { (icon(Icon::Pencil)) "Edit" }
        hr;
        button class="bad" type="button" { (icon(Icon::Trash2)) "Remove" }
    };
    let question = html! {
        p { "This also deletes the history of the file. You can't undo this." }
        form method="dialog" class="acts" {
            button class="btn" { "Keep" }
            button class="btn bad" { "Delete gear.gcode" }
        }
    };
    html! {
        div class="acts" {
            (menu("design-menu", "More", &items))
            (dialog("design-dialog", "Delete…", "Delete gear.gcode?", &question))
            a class="btn bad" href="#design-ask" { (icon(Icon::X)) "Cancel…" }
        }
        section class="ask" id="design-ask" role="alertdialog" aria-labelledby="design-ask-title" tabindex="-1" {
            h2 id="design-ask-title" { "Cancel JOB-1042 on Ada 1?" }
            p { "A question that a link opens, also from another page and without the script." }
            div class="acts" {
                a class="btn" href="#content" { "Keep printing" }
                button class="btn bad" type="button" { "Cancel JOB-1042" }
            }
        }
        (toast("The bed of Ada 7 is clear."))
    }
}

fn icons() -> Markup {
    html! {
        ul class="meta" { @for one in Icon::ALL { li { (icon(*one)) " " (one.name()) } } }
    }
}
