//! Printer card on the floor: the printer's state as a text and tone, its current print, the loaded materials, and the
//! available actions, which are in separate modules.

use maud::{Markup, html};

use super::FLOOR_PATH;
use super::board::{BoardHandles, GAUGE_MARK, STATE_MARK};
use super::card_acts::{foot, menu};
use super::card_print::{about, printer_path, view};
use super::card_slots::slots;
use super::floor_group::{FloorGroup, model, place};
use super::printer_print::upload_target;
use super::shell::{Tone, time_of_day};
use crate::frame::{NEXT_SLOT, SLOT, with_parts};
use domain::id::Id;
use domain::printer::{AttemptPhase, Attention, CurrentAttempt, Printer};
use domain::printer_status::{Activity, Status};
use domain::time::Timestamp;
use http_api::production::dashboard::free_at;
use http_api::production::printers::{PrinterHandles, activity};
use words::Language;
use words::staff::{cards, floor};

/// Label of a printer's state in the given language.
pub(super) type StateLabel = fn(Language) -> String;

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
pub(super) fn live_state(language: Language, shop: &PrinterHandles, printer: &Printer) -> Markup {
    let (tone, label) = standing(shop, printer);
    state_part(language, printer.id, tone, label)
}

fn state_part(language: Language, printer: Id, tone: Tone, label: StateLabel) -> Markup {
    html! { span id=(state_id(printer)) class=(tone.class()) data-of=(printer) { (label(language)) } }
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
pub(super) fn attention_words(language: Language, attention: Attention) -> String {
    match attention {
        Attention::BedNotCleared => cards::bed_not_cleared(language),
        Attention::NeedsHome => cards::needs_home(language),
        Attention::Maintenance => cards::maintenance(language),
        Attention::MaintenanceDue => cards::maintenance_due(language),
        Attention::PrintFailed => cards::print_failed(language),
        Attention::FirmwareError => cards::firmware_error(language),
        Attention::StartRefused => cards::start_refused(language),
        Attention::DiskFull => cards::disk_full(language),
        Attention::Unreachable => cards::unreachable(language),
        Attention::WrongKey => cards::wrong_key(language),
        Attention::ReadOnly => cards::read_only(language),
        Attention::Unverified => cards::unverified(language),
        Attention::ForeignPrint => cards::foreign_print(language),
    }
}

/// Returns a printer's state as a tone and a label.
pub(super) fn standing(shop: &PrinterHandles, printer: &Printer) -> (Tone, StateLabel) {
    let doing = activity(shop, printer);
    if printer.disconnected {
        return (Tone::Idle, cards::state_disconnected);
    }
    if printer.maintenance.is_some() {
        return (Tone::Idle, cards::state_maintenance);
    }
    match doing {
        Activity::Offline => return (Tone::Error, cards::state_offline),
        Activity::Error => return (Tone::Error, cards::state_error),
        _ => {}
    }
    let (label, phase): (StateLabel, bool) = match printer.in_hand.as_ref().map(|in_hand| &in_hand.phase) {
        Some(AttemptPhase::Unverified { .. }) => return (Tone::Attention, cards::state_check_bed),
        Some(AttemptPhase::Taken) => (cards::state_uploading, true),
        Some(AttemptPhase::StartSent { .. }) => (cards::state_starting, true),
        _ if printer.manual.is_some() => (cards::state_starting, true),
        _ => match doing {
            Activity::Printing => (cards::state_printing, true),
            Activity::Paused => return (Tone::Attention, cards::state_paused),
            _ => (cards::state_ready, false),
        },
    };
    let attention = printer.attention();
    if attention.contains(&Attention::FirmwareError) {
        return (Tone::Error, cards::state_stopped);
    }
    match attention.first() {
        Some(Attention::BedNotCleared) if !phase => (Tone::Attention, cards::state_clear_bed),
        Some(_) if !phase => (Tone::Attention, cards::state_attention),
        Some(_) => (Tone::Attention, label),
        None if phase => (Tone::Running, label),
        None => (Tone::Idle, label),
    }
}

/// Returns a printer's state as it follows the printer's name in a list of choices: `ready`. The script writes it in
/// the same way. German has nouns among the states, which stay as they are.
pub(super) fn state_after_name(language: Language, shop: &PrinterHandles, printer: &Printer) -> String {
    let (_, label) = standing(shop, printer);
    match language {
        Language::English => label(language).to_lowercase(),
        Language::German => label(language),
    }
}

/// Group, tone and label of a printer's state, determined once for all parts of its card.
#[derive(Clone, Copy)]
pub(super) struct CardState {
    /// Group of the printer.
    pub(super) group: FloorGroup,
    tone: Tone,
    label: StateLabel,
}

impl CardState {
    /// Returns the state of a printer.
    pub(super) fn of(shop: &PrinterHandles, printer: &Printer) -> Self {
        let (tone, label) = standing(shop, printer);
        Self { group: FloorGroup::of(shop, printer, tone), tone, label }
    }

    /// Returns the sort key of the printer: by group, problems first; then errors before the rest; then by name.
    pub(super) fn rank(self, printer: &Printer) -> (FloorGroup, Tone, String, Id) {
        (self.group, self.tone, printer.fields.name.to_lowercase(), printer.id)
    }

    /// Renders the live part with the state, as [`live_state`] does.
    pub(super) fn part(self, language: Language, printer: Id) -> Markup {
        state_part(language, printer, self.tone, self.label)
    }
}

/// Returns the number of the printer's current job; the file name starts with it.
pub(super) fn job_number(in_hand: &CurrentAttempt) -> &str {
    in_hand.file_name.split('_').next().unwrap_or_default()
}

/// Returns the job number or the name of the file being printed, for use in action labels.
pub(super) fn printed(language: Language, printer: &Printer) -> String {
    match (&printer.in_hand, &printer.shows) {
        (Some(in_hand), _) => job_number(in_hand).to_owned(),
        (None, Some(file)) => file.clone(),
        (None, None) => cards::some_print(language),
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

/// Renders the card of a printer in the given state, without the parts for its state, gauge and next job.
pub(super) fn card(language: Language, app: &BoardHandles, printer: &Printer, state: CardState) -> Markup {
    let CardState { group, tone, .. } = state;
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
                (menu(language, app, printer))
            }
            div class="body" {
                (view(language, app, printer, tone))
                (about(language, app, printer, group, status.as_ref()))
                (GAUGE_MARK)
                (slots(language, app, printer))
            }
            (foot(language, app, printer, group, tone))
        }
    }
}

/// Renders the printer that will be free next, and the time, if none is free now: free printers are counted beside it.
/// Renders nothing if no printer provides an estimate.
pub(super) fn next_free(
    language: Language,
    app: &BoardHandles,
    all: &[(CardState, &Printer)],
    now: Timestamp,
) -> Markup {
    let printers = all.iter().map(|(_, printer)| *printer);
    let free = printers.filter_map(|printer| Some((free_at(printer, &app.shop.printer_connections, now)?, printer)));
    let next = free.min_by_key(|(at, printer)| (*at, printer.fields.name.to_lowercase(), printer.id));
    let next = next.filter(|(at, _)| *at > now);
    next_free_part(language, next.map(|(at, printer)| (at, &*printer.fields.name)))
}

fn next_free_part(language: Language, next: Option<(Timestamp, &str)>) -> Markup {
    html! {
        span id=(NEXT_FREE_ID) class="muted small" {
            @if let Some((at, name)) = next {
                @let time = time_of_day(language, Timestamp(at.0 / 60_000 * 60_000));
                (with_parts(&floor::next_free(language, SLOT, NEXT_SLOT), &[&time, &html! { (name) }]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_printer_to_be_free_is_named_only_if_none_is() {
        let of = |next| next_free_part(Language::English, next).into_string();
        assert_eq!(of(None), "<span id=\"next-free\" class=\"muted small\"></span>");
        let later = of(Some((Timestamp(1_795_884_005_000), "Ada <4>")));
        assert!(later.contains(">Next free <shop-time near 1795884000000> · Ada &lt;4&gt;</span>"), "{later}");
    }
}
