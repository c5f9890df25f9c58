//! Footer of a printer's card: the one action that helps, or the next job; the pause button; a menu with all further
//! actions; and, set apart, the emergency stop.

use maud::{Markup, html};

use super::board::{BoardHandles, NEXT_MARK};
use super::card::{act_path, printed};
use super::card_print::printer_path;
use super::card_stop::emergency_stop;
use super::floor_group::FloorGroup;
use super::labels::printer_label_path;
use super::printer::sign_off_path;
use super::printer_print::upload_path;
use super::shell::{Tone, hidden};
use crate::design::{Icon, icon};
use domain::printer::{Attention, Printer};
use domain::printer_status::Activity;
use http_api::production::printers::activity;

/// Renders a form with a single button, which the script submits without leaving the page. `name` is the button's
/// accessible name if it differs from its content.
fn button(printer: &Printer, word: &str, class: &str, name: Option<&str>, content: &Markup) -> Markup {
    let done = name.map(|name| format!("{name}: done."));
    html! {
        form method="post" action=(act_path(printer.id, word)) data-quiet="" data-done=[done] {
            (hidden())
            button id={ (word) "-" (printer.id) } class=(class) type="submit" aria-label=[name] title=[name] { (content) }
        }
    }
}

/// Renders the actions that the printer is waiting for; empty if an operator cannot help at the moment.
fn help(printer: &Printer, doing: Activity, tone: Tone) -> Vec<Markup> {
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let held = printer.attention();
    let looked_at = [Attention::FirmwareError, Attention::StartRefused, Attention::DiskFull];
    let (name, own_page) = (&printer.fields.name, printer_path(printer.id));
    let mut acts = Vec::new();
    if printer.bed_not_cleared && !on {
        acts.push(button(printer, "bed-cleared", "btn primary", None, &html! { (icon(Icon::Check)) "Bed is clear" }));
        if printer.last_print.is_some() {
            acts.push(html! { a class="btn" href=(sign_off_path(printer.id)) { "Bad parts…" } });
        }
    }
    if held.iter().any(|one| looked_at.contains(one)) {
        let words = html! { (icon(Icon::Check)) "Mark as checked" };
        acts.push(button(printer, "clear-attention", "btn", None, &words));
    }
    if held.contains(&Attention::NeedsHome) && doing == Activity::Idle {
        acts.push(button(printer, "home", "btn", None, &html! { "Home axes" }));
    }
    if doing == Activity::Paused {
        let full = format!("Resume {} on {name}", printed(printer));
        acts.push(button(printer, "resume", "btn primary", Some(&full), &html! { (icon(Icon::Play)) "Resume" }));
    }
    if printer.disconnected {
        acts.push(button(printer, "connect", "btn", None, &html! { "Connect" }));
    }
    if acts.is_empty() && matches!(tone, Tone::Error | Tone::Attention) {
        acts.push(html! { a class="btn" href=(own_page) { "View details" } });
    }
    acts
}

/// Renders the footer of a printer's card. Actions that need confirmation are on the printer's own page.
pub(super) fn foot(app: &BoardHandles, printer: &Printer, group: FloorGroup, tone: Tone) -> Markup {
    let doing = activity(&app.shop, printer);
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let (name, is_free) = (&printer.fields.name, printer.free().is_ok());
    let acts = help(printer, doing, tone);
    html! {
        div class="foot" {
            @for act in &acts { (act) }
            @if is_free {
                a class="btn" id={ "bring-" (printer.id) } href=(upload_path(printer.id)) aria-label={ "Manual print… on " (name) } {
                    (icon(Icon::Upload)) "Manual print…"
                }
            }
            @if matches!(group, FloorGroup::Printing | FloorGroup::Ready) { (NEXT_MARK) }
            div class="ends" {
                @if doing == Activity::Printing {
                    (button(printer, "pause", "btn quiet square", Some(&format!("Pause {name}")), &icon(Icon::Pause)))
                }
                (menu(printer, on))
                @if doing != Activity::Offline { (emergency_stop(words::Language::English, printer)) }
            }
        }
    }
}

/// Renders the menu with actions that are needed less often. The menu opens without the script.
fn menu(printer: &Printer, on: bool) -> Markup {
    let (name, own_page, id) = (&printer.fields.name, printer_path(printer.id), format!("menu-{}", printer.id));
    html! {
        button id={ "more-" (printer.id) } class="btn quiet square" type="button" popovertarget=(id) aria-label={ "More actions for " (name) } {
            (icon(Icon::Ellipsis))
        }
        div id=(id) class="menu" popover="" {
            ul {
                li { a href=(own_page) { "Open " (name) } }
                @if on {
                    li {
                        a id={ "cancel-" (printer.id) } href={ (own_page) "#cancel" } aria-label={ "Cancel… " (printed(printer)) " on " (name) } {
                            "Cancel…"
                        }
                    }
                }
                li { a href={ (own_page) "/edit" } { "Edit or remove" } }
                li { a href=(printer_label_path(printer.id)) { "Print label" } }
            }
        }
    }
}
