//! Printer card on the floor: the printer's state as text and tone, its current print, the loaded materials, and the
//! available actions.

use maud::{Markup, html};

use super::board::{BoardHandles, GAUGE_MARK, STATE_MARK};
use super::card_heat::sparkline;
use super::card_picture::{camera, picture};
use super::card_stop::emergency_stop;
use super::printer_print::{upload_path, upload_target};
use super::shell::{Tone, act, clock, hidden, since, time_of_day};
use super::{FLOOR_PATH, ORDERS_PATH};
use domain::id::Id;
use domain::printer::{AttemptPhase, Attention, CurrentAttempt, Printer, Slot};
use domain::printer_status::{Activity, Status};
use domain::time::Timestamp;
use http_api::production::dashboard::free_at;
use http_api::production::printers::{PrinterHandles, activity};

/// Id of the HTML element with the floor's totals.
pub(super) const SUMMARY_ID: &str = "summary";
/// Temperatures are shown in steps of this many degrees, so that a part does not change with every measurement.
const DEGREES_STEP: f64 = 5.0;
/// End times of printer queues are shown in steps of this many milliseconds, so that a part does not change with every
/// forecast.
const FORECAST_STEP_MS: i64 = 300_000;

/// Progress of the most advanced print is shown in the tab title in steps of this many percent, so that the title does
/// not change all the time.
const TITLE_STEP: u32 = 5;

/// Returns the id of a printer's HTML element on the floor.
pub(super) fn card_id(printer: Id) -> String {
    format!("printer-{printer}")
}

/// Returns the id of a printer's state element, which occurs at most once per page.
pub(super) fn state_id(printer: Id) -> String {
    format!("state-{printer}")
}

/// Renders a printer's state as text and tone. The result is a live part: the event stream updates it on every page
/// that contains it, and all pages show the state in this way.
pub(super) fn live_state(shop: &PrinterHandles, printer: &Printer) -> Markup {
    let (tone, words) = standing(shop, printer);
    html! { span id=(state_id(printer.id)) class=(tone.class()) data-of=(printer.id) { (words) } }
}

/// Returns the id of the HTML element with a printer's fast-changing values.
pub(super) fn gauge_id(printer: Id) -> String {
    format!("gauge-{printer}")
}

/// Returns the path to which the form for an action on a printer is posted.
pub(super) fn act_path(printer: Id, act: &str) -> String {
    format!("{FLOOR_PATH}/printers/{printer}/{act}")
}

/// Returns the reason why a printer needs attention, as text for the operator in front of it.
pub(super) fn attention_words(attention: Attention) -> &'static str {
    match attention {
        Attention::BedNotCleared => "Bed not cleared",
        Attention::NeedsHome => "Has to be homed",
        Attention::Maintenance => "In maintenance",
        Attention::MaintenanceDue => "Maintenance is due",
        Attention::PrintFailed => "The last print failed",
        Attention::FirmwareError => "Firmware error",
        Attention::StartRefused => "Refuses to start",
        Attention::DiskFull => "Its storage is full",
        Attention::Unreachable => "Does not answer",
        Attention::WrongKey => "Refuses our key",
        Attention::ReadOnly => "Takes no commands",
        Attention::Unverified => "Nobody knows whether the print began, or how it ended",
        Attention::ForeignPrint => "Prints something that is no job",
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
        Some(AttemptPhase::Unverified { .. }) => return (Tone::Attention, "Unverified"),
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
        return (Tone::Error, "Held after an error");
    }
    match attention.first() {
        Some(Attention::BedNotCleared) if !phase => (Tone::Attention, "Clear the bed"),
        Some(_) if !phase => (Tone::Attention, "Needs attention"),
        Some(_) => (Tone::Attention, words),
        None if phase => (Tone::Working, words),
        None => (Tone::Idle, words),
    }
}

/// Returns the sort key of a printer: problems first, then by name.
pub(super) fn rank(shop: &PrinterHandles, printer: &Printer) -> (bool, Tone, String, Id) {
    let (tone, _) = standing(shop, printer);
    let well = matches!(tone, Tone::Working | Tone::Idle);
    // Printers that begin and end a print keep their place.
    let tone = if well { Tone::Working } else { tone };
    (well, tone, printer.fields.name.to_lowercase(), printer.id)
}

/// Returns the number of the printer's current job, with which its file name starts.
pub(super) fn job_number(in_hand: &CurrentAttempt) -> &str {
    in_hand.file_name.split('_').next().unwrap_or_default()
}

/// Returns the product name of the printer's current job, as it was when ordered.
fn sku_name(app: &BoardHandles, in_hand: &CurrentAttempt) -> Option<String> {
    let order = app.orders.resident(in_hand.order)?.read();
    Some(order.state.as_ref()?.jobs.get(&in_hand.job)?.sku_name.clone())
}

/// Returns the job number or the name of the file being printed, for labels of actions.
pub(super) fn printed(printer: &Printer) -> String {
    match (&printer.in_hand, &printer.shows) {
        (Some(in_hand), _) => job_number(in_hand).to_owned(),
        (None, Some(file)) => file.clone(),
        (None, None) => "its print".to_owned(),
    }
}

/// Returns the name of the file being printed; `None` if unknown.
fn file_words(printer: &Printer, status: Option<&Status>) -> Option<String> {
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

/// Renders a printer's card without its state and gauge.
pub(super) fn card(app: &BoardHandles, printer: &Printer) -> Markup {
    let (tone, _) = standing(&app.shop, printer);
    let status = app.shop.printer_connections.status(printer.id);
    let tone_class = match tone {
        Tone::Error => "card tone-error",
        Tone::Attention => "card tone-attention",
        Tone::Working => "card tone-working",
        Tone::Idle => "card tone-idle",
    };
    html! {
        li id=(card_id(printer.id)) class=(tone_class) data-name=(searched(printer)) data-state=(tone.word())
            data-upload=(upload_target(printer.id)) data-called=(printer.fields.name) {
            h2 {
                a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (printer.fields.name) }
                (STATE_MARK)
            }
            @if let Some(in_hand) = &printer.in_hand {
                p class="made" {
                    (picture(in_hand.file_id, "more"))
                    span {
                        a href={ (ORDERS_PATH) "/" (in_hand.order) "#job-" (in_hand.job) } { (job_number(in_hand)) }
                        @if let Some(sku) = sku_name(app, in_hand) { " " (sku) }
                    }
                }
            } @else if let Some(file) = file_words(printer, status.as_ref()) {
                p { (file) }
            }
            (troubles(printer))
            (GAUGE_MARK)
            (camera(printer))
            div class="more" { (slots(app, printer)) }
            (acts(app, printer))
        }
    }
}

fn troubles(printer: &Printer) -> Markup {
    let attention = printer.attention();
    let spoken = printer.attention_words();
    let unverified = printer.in_hand.as_ref().and_then(|in_hand| match &in_hand.phase {
        AttemptPhase::Unverified { reason } => Some(reason),
        _ => None,
    });
    html! {
        @if !attention.is_empty() {
            ul class="troubles" {
                @for one in &attention {
                    li {
                        (attention_words(*one))
                        @if *one == Attention::BedNotCleared {
                            @if let Some(at) = printer.bed_since { " " (since(at)) }
                        }
                    }
                }
            }
        }
        @if let Some(words) = spoken { p class="bad" { (words) } }
        @if let Some(reason) = unverified { p class="bad" { (reason) } }
        @if let Some(note) = printer.maintenance.as_ref().filter(|note| !note.is_empty()) { p class="soft" { (note) } }
    }
}

/// Returns the progress of the current print in percent; `None` if nothing is being printed.
fn percent(app: &BoardHandles, printer: &Printer) -> Option<u32> {
    if !matches!(activity(&app.shop, printer), Activity::Printing | Activity::Paused) {
        return None;
    }
    let status = app.shop.printer_connections.status(printer.id);
    let in_hand = printer.in_hand.as_ref().and_then(|own| printer.progress_of(own.job, status.as_ref()));
    let share = in_hand.or_else(|| Some(status.as_ref()?.progress / 100.0)).unwrap_or_default();
    Some((share * 100.0).clamp(0.0, 100.0).floor() as u32)
}

/// Renders a printer's fast-changing values: progress, remaining time, temperatures.
pub(super) fn gauge(app: &BoardHandles, printer: &Printer) -> Markup {
    let status = app.shop.printer_connections.status(printer.id);
    let doing = activity(&app.shop, printer);
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let percent = percent(app, printer).unwrap_or_default();
    let done_at = status.as_ref().filter(|_| on).and_then(|status| {
        // To the minute, by when it was said: it changes only when the printer changes its mind.
        let at = status.updated_at.plus_ms(status.remaining_seconds?.max(0).saturating_mul(1000));
        Some(Timestamp((at.0 + 30_000) / 60_000 * 60_000))
    });
    let step = |celsius: f64| (celsius / DEGREES_STEP).round() * DEGREES_STEP;
    let forecast = app.forecaster.latest();
    let behind = forecast.queues.get(&printer.id).map_or(0, Vec::len);
    let queue_done = forecast.printers.get(&printer.id).copied().flatten();
    let queue_done = queue_done.map(|at| Timestamp(at.0 / FORECAST_STEP_MS * FORECAST_STEP_MS));
    html! {
        div id=(gauge_id(printer.id)) class="gauge" data-percent=[on.then_some(percent)] {
            @if on {
                progress max="100" value=(percent) aria-label={ "Progress of " (printer.fields.name) } { (percent) " %" }
                p {
                    (percent) " %"
                    @if let Some(at) = done_at {
                        " · " time datetime=(at) data-left="" { (minutes_left(&app.shop, at)) " min left" }
                        " · done " (time_of_day(at))
                    }
                    @if let Some(layer) = status.as_ref().and_then(|status| status.layer) {
                        " · layer " (layer.number) " of " (layer.of)
                    }
                }
            }
            @if let Some(status) = status.as_ref().filter(|status| doing != Activity::Offline && status.nozzle > 0.0) {
                p class="soft more heat" {
                    span { "Nozzle " (step(status.nozzle)) " °C · bed " (step(status.bed)) " °C" }
                    (sparkline(&app.shop, printer.id))
                }
            }
            @if let Some(at) = queue_done.filter(|_| printer.in_hand.is_some() || behind > 0) {
                p class="soft more" {
                    @match behind {
                        0 => {},
                        1 => { "1 job behind it · " },
                        many => { (many) " jobs behind it · " },
                    }
                    "all its work is done by " (clock(at))
                }
            }
        }
    }
}

/// Returns the number of minutes left, rounded down to tens if more than 10, so that the rendered part does not change
/// every minute.
fn minutes_left(shop: &PrinterHandles, at: Timestamp) -> i64 {
    // In steps, so that the part does not change each minute by itself.
    let left = at.since(shop.environment.now()).max(0) / 60_000;
    if left > 10 { left / 10 * 10 } else { left }
}

fn slots(app: &BoardHandles, printer: &Printer) -> Markup {
    let name = |slot: &Slot| {
        let versioned = app.shop.materials.resident(slot.material_id?)?.read();
        Some(versioned.state.as_ref()?.fields.name.clone())
    };
    let color = |slot: &Slot| {
        let own = slot.color.clone();
        own.or_else(|| app.shop.materials.resident(slot.material_id?)?.read().state.as_ref()?.fields.color.clone())
    };
    let all = printer.slots();
    let many = all.len() > 1;
    html! {
        ul class="slots" aria-label="Loaded" {
            @for slot in &all {
                li {
                    @if let Some(color) = color(slot) {
                        svg viewBox="0 0 16 16" aria-hidden="true" {
                            circle cx="8" cy="8" r="7" fill=(color) stroke="currentColor" {}
                        }
                        " "
                    }
                    @if many { (slot.slot + 1) ": " }
                    @match name(slot) {
                        Some(name) => { (name) },
                        None => { span class="soft" { "nothing known" } },
                    }
                    @if let Some(left) = slot.remaining { " " span class="soft" { (left) " left" } }
                }
            }
        }
    }
}

/// Renders the actions currently available on a printer. Actions that need confirmation are on the printer's own page.
pub(super) fn acts(app: &BoardHandles, printer: &Printer) -> Markup {
    let doing = activity(&app.shop, printer);
    let button = |word: &str, class: &str, words: &str| {
        act(&act_path(printer.id, word), &format!("{word}-{}", printer.id), class, words, None)
    };
    let what = printed(printer);
    let named = |word: &str, class: &str, words: &str| {
        let full = format!("{words} {what} on {}", printer.fields.name);
        html! {
            form method="post" action=(act_path(printer.id, word)) data-quiet="" data-done={ (full) ": done." } {
                (hidden())
                button id={ (word) "-" (printer.id) } class=(class) type="submit" aria-label=(full) { (words) }
            }
        }
    };
    let held = printer.attention();
    let looked_at = [Attention::FirmwareError, Attention::StartRefused, Attention::DiskFull];
    let own_page = format!("{FLOOR_PATH}/printers/{}", printer.id);
    html! {
        div class="acts" {
            @if printer.bed_not_cleared && !matches!(doing, Activity::Printing | Activity::Paused) {
                (button("bed-cleared", "", "Bed is clear"))
            }
            @if doing == Activity::Printing { (named("pause", "second", "Pause")) }
            @if doing == Activity::Paused { (named("resume", "", "Resume")) }
            @if matches!(doing, Activity::Printing | Activity::Paused) {
                a class="button second" id={ "cancel-" (printer.id) } href={ (own_page) "#cancel" }
                    aria-label={ "Cancel… " (what) " on " (printer.fields.name) } { "Cancel…" }
            }
            @if printer.free().is_ok() {
                a class="button second" id={ "bring-" (printer.id) } href=(upload_path(printer.id))
                    aria-label={ "Print a file… on " (printer.fields.name) } { "Print a file…" }
            }
            @if held.iter().any(|one| looked_at.contains(one)) { (button("clear-attention", "", "I have looked at it")) }
            @if held.contains(&Attention::NeedsHome) && doing == Activity::Idle { (button("home", "second", "Home")) }
            @if printer.disconnected { (button("connect", "second", "Connect")) }
        }
        @if doing != Activity::Offline { (emergency_stop(printer)) }
    }
}

/// Renders the totals for the entire floor.
pub(super) fn summary(app: &BoardHandles, all: &[&Printer], now: Timestamp) -> Markup {
    let count = |predicate: &dyn Fn(&Printer) -> bool| all.iter().filter(|printer| predicate(printer)).count();
    let printing = count(&|printer| activity(&app.shop, printer) == Activity::Printing);
    let available = count(&|printer| printer.free().is_ok());
    let attention = count(&|printer| standing(&app.shop, printer).0 == Tone::Attention);
    let wrong = count(&|printer| standing(&app.shop, printer).0 == Tone::Error);
    let next = all.iter().filter_map(|printer| free_at(printer, &app.shop.printer_connections, now)).min();
    let troubled = attention + wrong;
    let furthest =
        all.iter().filter_map(|printer| percent(app, printer)).max().map(|most| most / TITLE_STEP * TITLE_STEP);
    let furthest = furthest.map(|most| format!(", {most} %")).unwrap_or_default();
    let troubles = if troubled > 0 { format!("{troubled}! ") } else { String::new() };
    let title = format!("{troubles}{printing} printing{furthest}");
    html! {
        section id=(SUMMARY_ID) class="summary" aria-label="The floor now" data-title=(title) data-troubled=(troubled) {
            span { b { (printing) } " printing" }
            span { b { (available) } " available" }
            span class=[(attention > 0).then_some("state attention")] { b { (attention) } " need attention" }
            span class=[(wrong > 0).then_some("state error")] { b { (wrong) } " in error or offline" }
            @match next {
                Some(at) if at <= now => {},
                Some(at) => { span { "next free " (time_of_day(Timestamp(at.0 / 60_000 * 60_000))) } },
                None => { @if !all.is_empty() { span class="soft" { "nobody knows when the next is free" } } },
            }
        }
    }
}
