//! Printer card on the floor: the printer's state as a text and tone, its current print, the loaded materials, and the
//! available actions, which are in separate modules.

use maud::{Markup, html};

use super::FLOOR_PATH;
use super::board::{BoardHandles, GAUGE_MARK, STATE_MARK};
use super::card_acts::foot;
use super::card_print::{about, printer_path, view};
use super::card_slots::slots;
use super::floor_group::{FloorGroup, model, place};
use super::printer_print::upload_target;
use super::shell::{Tone, time_of_day};
use domain::id::Id;
use domain::printer::{AttemptPhase, Attention, CurrentAttempt, Printer};
use domain::printer_status::{Activity, Status};
use domain::time::Timestamp;
use http_api::production::dashboard::free_at;
use http_api::production::printers::{PrinterHandles, activity};

/// ID of the HTML element that contains the printer that will be free next.
pub(super) const NEXT_FREE_ID: &str = "next-free";

/// Returns the ID of a printer's HTML element on the floor.
pub(super) fn card_id(printer: Id) -> String {
    format!("printer-{printer}")
}

/// Returns the ID of a printer's state element, which occurs at most once per page.
pub(super) fn state_id(printer: Id) -> String {
    format!("state-{printer}")
}

/// Renders a printer's state as a text and tone. The result is a live part: the event stream updates it on every page
/// that contains it. All pages show the state in this form.
pub(super) fn live_state(shop: &PrinterHandles, printer: &Printer) -> Markup {
    let (tone, words) = standing(shop, printer);
    html! { span id=(state_id(printer.id)) class=(tone.class()) data-of=(printer.id) { (words) } }
}

/// Returns the ID of the HTML element that contains a printer's next job.
pub(super) fn next_id(printer: Id) -> String {
    format!("next-{printer}")
}

/// Returns the ID of the HTML element that contains a printer's fast-changing values.
pub(super) fn gauge_id(printer: Id) -> String {
    format!("gauge-{printer}")
}

/// Returns the path to which the form for an action on a printer is posted.
pub(super) fn act_path(printer: Id, act: &str) -> String {
    format!("{FLOOR_PATH}/printers/{printer}/{act}")
}

/// Returns the reason a printer needs attention, as text for the operator in front of it.
pub(super) fn attention_words(attention: Attention) -> &'static str {
    match attention {
        Attention::BedNotCleared => "Bed not cleared",
        Attention::NeedsHome => "Needs homing",
        Attention::Maintenance => "In maintenance",
        Attention::MaintenanceDue => "Maintenance due",
        Attention::PrintFailed => "Last print failed",
        Attention::FirmwareError => "Firmware error",
        Attention::StartRefused => "Start rejected",
        Attention::DiskFull => "Storage full",
        Attention::Unreachable => "Not responding",
        Attention::WrongKey => "API key rejected",
        Attention::ReadOnly => "Read-only connection",
        Attention::Unverified => "Check the bed: start or end not confirmed",
        Attention::ForeignPrint => "Manual print in progress",
    }
}

/// Returns a printer's state as a tone and text.
pub(super) fn standing(shop: &PrinterHandles, printer: &Printer) -> (Tone, &'static str) {
    let doing = activity(shop, printer);
    if printer.disconnected {
        return (Tone::Idle, "Disconnected");
    }
    if printer.maintenance.is_some() {
        return (Tone::Idle, "In maintenance");
    }
    match doing {
        Activity::Offline => return (Tone::Error, "Offline"),
        Activity::Error => return (Tone::Error, "Error"),
        _ => {}
    }
    let (words, phase) = match printer.in_hand.as_ref().map(|in_hand| &in_hand.phase) {
        Some(AttemptPhase::Unverified { .. }) => return (Tone::Attention, "Check the bed"),
        Some(AttemptPhase::Taken) => ("Uploading", true),
        Some(AttemptPhase::StartSent { .. }) => ("Starting", true),
        _ if printer.manual.is_some() => ("Starting", true),
        _ => match doing {
            Activity::Printing => ("Printing", true),
            Activity::Paused => return (Tone::Attention, "Paused"),
            _ => ("Ready", false),
        },
    };
    let attention = printer.attention();
    if attention.contains(&Attention::FirmwareError) {
        return (Tone::Error, "Stopped by an error");
    }
    match attention.first() {
        Some(Attention::BedNotCleared) if !phase => (Tone::Attention, "Clear the bed"),
        Some(_) if !phase => (Tone::Attention, "Needs attention"),
        Some(_) => (Tone::Attention, words),
        None if phase => (Tone::Working, words),
        None => (Tone::Idle, words),
    }
}

/// Returns a printer's sort key: by group, problems first; then errors before the rest; then by name.
pub(super) fn rank(shop: &PrinterHandles, printer: &Printer) -> (FloorGroup, Tone, String, Id) {
    let (tone, _) = standing(shop, printer);
    (FloorGroup::of(shop, printer), tone, printer.fields.name.to_lowercase(), printer.id)
}

/// Returns the number of the printer's current job; the file name starts with it.
pub(super) fn job_number(in_hand: &CurrentAttempt) -> &str {
    in_hand.file_name.split('_').next().unwrap_or_default()
}

/// Returns the job number or the name of the file being printed, for use in action labels.
pub(super) fn printed(printer: &Printer) -> String {
    match (&printer.in_hand, &printer.shows) {
        (Some(in_hand), _) => job_number(in_hand).to_owned(),
        (None, Some(file)) => file.clone(),
        (None, None) => "the print".to_owned(),
    }
}

/// Returns the name of the file being printed; `None` if unknown.
pub(super) fn file_words(printer: &Printer, status: Option<&Status>) -> Option<String> {
    if let Some(manual) = &printer.manual {
        return Some(manual.file_name.clone());
    }
    let file = printer.shows.clone();
    file.or_else(|| status.filter(|status| status.state == Activity::Printing)?.file.clone())
}

/// Returns the text searched by the floor's filter: name, location and tags.
pub(super) fn searched(printer: &Printer) -> String {
    let fields = &printer.fields;
    let place = fields.location.as_deref().unwrap_or_default();
    format!("{} {place} {}", fields.name, fields.tags.join(" ")).to_lowercase()
}

/// Renders a printer's card without its state, gauge and next job.
pub(super) fn card(app: &BoardHandles, printer: &Printer) -> Markup {
    let (tone, _) = standing(&app.shop, printer);
    let group = FloorGroup::of(&app.shop, printer);
    let status = app.shop.printer_connections.status(printer.id);
    let class = match (group, tone) {
        (_, Tone::Error) => "panel card error",
        (_, Tone::Attention) => "panel card attention",
        (FloorGroup::Printing, _) => "panel card working",
        _ => "panel card",
    };
    html! {
        li id=(card_id(printer.id)) class=(class) data-name=(searched(printer)) data-state=(tone.word())
            data-group=(group.word()) data-place=(place(printer)) data-model=(model(printer))
            data-upload=(upload_target(printer.id)) data-called=(printer.fields.name) {
            div class="title" {
                h3 { a href=(printer_path(printer.id)) title=(printer.fields.name) { (printer.fields.name) } }
                span class="faint small model" { (model(printer)) }
                (STATE_MARK)
            }
            div class="body" {
                (view(app, printer, tone))
                (about(app, printer, group, status.as_ref()))
                (GAUGE_MARK)
            }
            (slots(app, printer))
            (foot(app, printer, group, tone))
        }
    }
}

/// Renders the printer that will be free next, and the time; renders nothing if no printer provides an estimate.
pub(super) fn next_free(app: &BoardHandles, all: &[&Printer], now: Timestamp) -> Markup {
    let free = all.iter().filter_map(|printer| Some((free_at(printer, &app.shop.printer_connections, now)?, *printer)));
    let next = free.min_by_key(|(at, printer)| (*at, printer.fields.name.to_lowercase(), printer.id));
    html! {
        span id=(NEXT_FREE_ID) class="muted small" {
            @match next {
                Some((at, printer)) if at <= now => { "Free now · " (printer.fields.name) },
                Some((at, printer)) => {
                    "Next free " (time_of_day(Timestamp(at.0 / 60_000 * 60_000))) " · " (printer.fields.name)
                },
                None => {},
            }
        }
    }
}
