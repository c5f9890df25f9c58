//! Actions on a printer's card. In its footer are the one action that helps, or the next job; the buttons that pause
//! and cancel; and, in its own place at the end, the emergency stop. All other actions are in a menu beside the state.

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
use super::subject::{CHECKED_ACT, subject_field};
use crate::design::{Icon, icon};
use domain::printer::{Attention, Printer};
use domain::printer_status::Activity;
use http_api::production::printers::activity;
use printers::PrinterType;
use printers::adapter::Operation;
use words::Language;
use words::staff::{cards, common};

/// Accessible name of a button.
struct ButtonName {
    text: String,
    /// Text that confirms the action.
    done: String,
}

impl ButtonName {
    fn new(language: Language, text: String) -> Self {
        let done = cards::done_with(language, &text);
        Self { text, done }
    }
}

/// Renders a form with a single button, which the script submits without leaving the page. `name` is the button's
/// accessible name if it differs from its content, with the text that the script shows when the action is done.
fn button(printer: &Printer, word: &str, class: &str, name: Option<&ButtonName>, content: &Markup) -> Markup {
    let (name, done) = (name.map(|name| &*name.text), name.map(|name| &*name.done));
    html! {
        form method="post" action=(act_path(printer.id, word)) data-quiet="" data-done=[done] {
            (hidden())
            (subject_field(printer, word))
            button id={ (word) "-" (printer.id) } class=(class) type="submit" aria-label=[name] title=[name] { (content) }
        }
    }
}

/// Renders the actions that the printer is waiting for; empty if an operator cannot help at the moment.
fn help(language: Language, printer: &Printer, doing: Activity, tone: Tone) -> Vec<Markup> {
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let held = printer.attention();
    let looked_at = [Attention::FirmwareError, Attention::StartRefused, Attention::DiskFull];
    let (name, own_page) = (&printer.fields.name, printer_path(printer.id));
    let mut acts = Vec::new();
    if printer.bed_not_cleared && !on {
        let content = html! { (icon(Icon::Check)) (cards::bed_is_clear(language)) };
        acts.push(button(printer, "bed-cleared", "btn primary", None, &content));
        if printer.last_print.is_some() {
            let bad_parts = common::report_bad_parts(language);
            acts.push(html! { a class="btn" href=(sign_off_path(printer.id)) { (bad_parts) } });
        }
    }
    if held.iter().any(|one| looked_at.contains(one)) {
        let content = html! { (icon(Icon::Check)) (cards::mark_checked(language)) };
        acts.push(button(printer, CHECKED_ACT, "btn", None, &content));
    }
    if held.contains(&Attention::NeedsHome) && doing == Activity::Idle {
        acts.push(button(printer, "home", "btn", None, &html! { (cards::home_axes(language)) }));
    }
    if doing == Activity::Paused {
        let full = ButtonName::new(language, cards::resume_on(language, &printed(language, printer), name));
        let content = html! { (icon(Icon::Play)) (cards::resume(language)) };
        acts.push(button(printer, "resume", "btn primary", Some(&full), &content));
    }
    if printer.disconnected {
        acts.push(button(printer, "connect", "btn", None, &html! { (cards::connect(language)) }));
    }
    if acts.is_empty() && matches!(tone, Tone::Error | Tone::Attention) {
        acts.push(html! { a class="btn" href=(own_page) { (cards::view_details(language)) } });
    }
    acts
}

/// Renders the footer of a printer's card. Actions that need confirmation are on the printer's own page.
pub(super) fn foot(language: Language, app: &BoardHandles, printer: &Printer, group: FloorGroup, tone: Tone) -> Markup {
    let doing = activity(&app.shop, printer);
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let name = &printer.fields.name;
    let acts = help(language, printer, doing, tone);
    html! {
        div class="foot" {
            @for act in &acts { (act) }
            @if printer.free().is_ok() {
                a class="btn" id={ "bring-" (printer.id) } href=(upload_path(printer.id))
                    aria-label=(cards::start_manual_print_on(language, name)) {
                    (icon(Icon::Upload)) (cards::start_manual_print(language))
                }
            }
            @if group == FloorGroup::Printing { (NEXT_MARK) }
            div class="ends" {
                @if doing == Activity::Printing {
                    @let pause = ButtonName::new(language, cards::pause(language, name));
                    @let content = icon_and_label(Icon::Pause, &cards::pause_short(language));
                    (button(printer, "pause", "btn quiet square", Some(&pause), &content))
                }
                @if on { (cancel(language, printer)) }
            }
            @if doing != Activity::Offline { (emergency_stop(language, printer)) }
        }
    }
}

/// Renders the content of a button whose label is shown on the printer's own page only, where there is room for it.
fn icon_and_label(picture: Icon, label: &str) -> Markup {
    html! { (icon(picture)) span class="word" { (label) } }
}

/// Renders the link to the question on the printer's own page whether its print is to be cancelled.
fn cancel(language: Language, printer: &Printer) -> Markup {
    let label = cards::cancel_on(language, &printed(language, printer), &printer.fields.name);
    html! {
        a id={ "cancel-" (printer.id) } class="btn quiet square" href={ (printer_path(printer.id)) "#cancel" }
            aria-label=(label) title=(label) {
            (icon_and_label(Icon::X, &cards::cancel(language)))
        }
    }
}

/// Returns whether the axes of the printer's type can be homed by command.
fn can_home(printer: &Printer) -> bool {
    PrinterType::of_word(&printer.fields.kind).is_some_and(|declared| !declared.lacks.contains(&Operation::Home))
}

/// Renders the menu with less frequently needed actions. The menu opens without the script.
pub(super) fn menu(language: Language, app: &BoardHandles, printer: &Printer) -> Markup {
    let (name, own_page, id) = (&printer.fields.name, printer_path(printer.id), format!("menu-{}", printer.id));
    let is_idle = printer.free().is_ok() && activity(&app.shop, printer) == Activity::Idle;
    html! {
        button id={ "more-" (printer.id) } class="btn quiet square" type="button" popovertarget=(id)
            aria-label=(cards::more_actions(language, name)) {
            (icon(Icon::Ellipsis))
        }
        div id=(id) class="menu" popover="" {
            ul {
                li { a href=(own_page) { (cards::open(language, name)) } }
                @if is_idle && can_home(printer) {
                    li { (button(printer, "home", "plain", None, &html! { (cards::home_axes(language)) })) }
                }
                li { a href={ (own_page) "/edit" } { (cards::edit_or_remove(language)) } }
                li { a href=(printer_label_path(printer.id)) { (cards::print_label(language)) } }
            }
        }
    }
}
