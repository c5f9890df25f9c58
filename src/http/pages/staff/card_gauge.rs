//! Live parts of a printer's card: the gauge with progress, times, layers and temperatures, and the line with the jobs
//! waiting for the printer.

use maud::{Markup, html};

use super::board::BoardHandles;
use super::card::{gauge_id, next_id};
use super::card_heat::sparkline;
use super::card_print::plate;
use super::floor_group::FloorGroup;
use super::shell::{compact_time_left, time_left, time_of_day};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, with_parts};
use domain::forecast::QueuedJob;
use domain::notation;
use domain::printer::Printer;
use domain::printer_status::{Activity, Status};
use http_api::production::printers::activity;
use words::Language;
use words::staff::cards;

/// Step, in degrees, in which temperatures are shown, so that a part does not change with every measurement.
const DEGREES_STEP: f64 = 5.0;

/// Returns the progress of the current print, in percent; `None` if nothing is being printed.
pub(super) fn percent(app: &BoardHandles, printer: &Printer) -> Option<u32> {
    if !matches!(activity(&app.shop, printer), Activity::Printing | Activity::Paused) {
        return None;
    }
    let status = app.shop.printer_connections.status(printer.id);
    let in_hand = printer.in_hand.as_ref().and_then(|own| printer.progress_of(own.job, status.as_ref()));
    let share = in_hand.or_else(|| Some(status.as_ref()?.progress / 100.0)).unwrap_or_default();
    Some((share * 100.0).clamp(0.0, 100.0).floor() as u32)
}

/// Renders a printer's fast-changing values: progress, remaining time, layers, temperatures.
pub(super) fn gauge(language: Language, app: &BoardHandles, printer: &Printer) -> Markup {
    let status = app.shop.printer_connections.status(printer.id);
    let doing = activity(&app.shop, printer);
    let on = matches!(doing, Activity::Printing | Activity::Paused);
    let percent = percent(app, printer).unwrap_or_default();
    let percentage = notation::percentage(language, percent);
    let bar = if doing == Activity::Paused { "bar warn" } else { "bar" };
    html! {
        div id=(gauge_id(printer.id)) class="gauge" data-percent=[on.then_some(percent)] {
            @if on {
                div class="pace" {
                    progress class=(bar) max="100" value=(percent)
                        aria-label=(cards::progress_of(language, &printer.fields.name)) { (percentage) }
                    div class="meta" {
                        b class="num" { (percentage) }
                        @if let Some(status) = &status { (end(language, status)) }
                    }
                }
            }
            @if let Some(status) = status.as_ref().filter(|_| doing != Activity::Offline) {
                (heat(language, app, printer, status))
            }
        }
    }
}

/// Renders the current layer and the temperatures.
fn heat(language: Language, app: &BoardHandles, printer: &Printer, status: &Status) -> Markup {
    let step = |celsius: f64| (celsius / DEGREES_STEP).round() * DEGREES_STEP;
    html! {
        div class="meta heat" {
            @if let Some(layer) = status.layer {
                span { (icon(Icon::Layers)) " " span class="hidden-words" { (cards::layer(language)) " " } (layer.number) "/" (layer.of) }
            }
            @if status.nozzle > 0.0 {
                span {
                    (icon(Icon::Thermometer)) " "
                    span class="hidden-words" { (cards::nozzle_and_bed(language)) " " } (step(status.nozzle)) "° · " (step(status.bed)) "°"
                }
                (sparkline(&app.shop, printer.id))
            }
        }
    }
}

/// Renders the time left, also in the form that fits a tile, and the time at which the print ends; nothing if the
/// printer does not expect an end.
fn end(language: Language, status: &Status) -> Markup {
    html! {
        @if let Some(at) = status.ends_at() {
            @let end = time_of_day(language, at);
            span class="long" { (time_left(language, at)) }
            span class="short" {
                span class="hidden-words" { (cards::time_left(language)) " " }
                (compact_time_left(language, at))
            }
            span class="end" { (with_parts(&cards::ends(language, SLOT), &[&end])) }
        }
    }
}

/// Describes the number of jobs waiting for a printer, as the cost of its downtime; `None` if there are none.
pub(super) fn waiting_words(language: Language, count: usize) -> Option<String> {
    (count > 0).then(|| cards::jobs_waiting_for_printer(language, count))
}

/// Returns the number of jobs that the printer is expected to print next.
pub(super) fn waiting(app: &BoardHandles, printer: &Printer) -> usize {
    app.forecaster.latest().queues.get(&printer.id).map_or(0, Vec::len)
}

/// Describes a job that the plan assigns to a printer: `JOB-001042 Bracket ×2, 40 min`; `None` if its order is not in
/// memory.
fn planned_job(language: Language, app: &BoardHandles, planned: &QueuedJob) -> Option<String> {
    let versioned = app.orders.resident(planned.order)?.read();
    let job = versioned.state.as_ref()?.jobs.get(&planned.job)?;
    let part = plate(&job.sku_name, job.plate_parts);
    Some(cards::planned_job(language, &job.number_text(), &part, &print_time(language, planned)))
}

/// Formats the expected print time of a job that the plan assigns to a printer.
pub(super) fn print_time(language: Language, planned: &QueuedJob) -> String {
    notation::compact_duration(language, planned.print_ms)
}

/// Renders the next job on a printer. If the printer cannot take it, also renders the number of jobs waiting for the
/// printer.
pub(super) fn next(language: Language, app: &BoardHandles, printer: &Printer, group: FloorGroup) -> Markup {
    let forecast = app.forecaster.latest();
    let queued = forecast.queues.get(&printer.id).map(Vec::as_slice).unwrap_or_default();
    let first = queued.first().and_then(|first| planned_job(language, app, first));
    let more = queued.len().saturating_sub(1);
    // The line may be cut off.
    let title = match &first {
        Some(first) => Some(format!("{} {first}", cards::next(language))),
        None => (group == FloorGroup::Ready).then(|| cards::no_job(language)),
    };
    html! {
        span id=(next_id(printer.id)) class="next small muted" title=[title] {
            @match (group, first) {
                (FloorGroup::NeedsYou | FloorGroup::Offline, first) => {
                    @if !queued.is_empty() {
                        (cards::jobs_waiting(language, queued.len()))
                        span class="long" { " " (cards::for_this_printer(language)) }
                        @if let Some(first) = first { ": " (first) }
                    }
                },
                (_, Some(first)) => {
                    (icon(Icon::CornerDownRight)) " " span class="hidden-words" { (cards::next(language)) " " } (first)
                    @if more > 0 { " " (cards::more_jobs(language, more)) }
                },
                (FloorGroup::Printing, None) => { (cards::nothing_queued(language)) },
                (FloorGroup::Ready, None) => { (cards::no_job(language)) },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::times::fill;
    use domain::shop_clock::ShopClock;
    use domain::time::Timestamp;

    #[test]
    fn the_time_left_is_told_as_in_the_list_of_jobs_and_changes_only_when_it_is_sent() {
        let status = |at: i64, left: i64| Status {
            remaining_seconds: Some(left),
            updated_at: Timestamp(at),
            ..Status::default()
        };
        let part = end(Language::English, &status(0, 7500)).0;
        assert_eq!(part, end(Language::English, &status(60_000, 7440)).0, "the printer expects the same");
        let sent = |at: i64| fill(&part, &ShopClock::default(), Timestamp(at));
        assert!(sent(0).contains(">2 h 5 min left</time>"), "{}", sent(0));
        assert!(sent(60_000).contains(">2 h 4 min left</time>"), "{}", sent(60_000));
        // Tiles have no room for words.
        for (at, text) in [(0, "2 h 05 min"), (7_500_000, "&lt; 1 min")] {
            let short = "<span class=\"short\"><span class=\"hidden-words\">Time left: </span><time ";
            assert!(sent(at).contains(short) && sent(at).contains(&format!(">{text}</time></span>")), "{}", sent(at));
        }
        assert_eq!(end(Language::English, &Status::default()).0, "");
    }

    #[test]
    fn a_printer_that_stands_still_says_how_many_jobs_wait_for_it() {
        let (english, german) = (Language::English, Language::German);
        assert_eq!(waiting_words(english, 0), None);
        assert_eq!(waiting_words(english, 1).as_deref(), Some("1 job waiting for this printer"));
        assert_eq!(waiting_words(english, 3).as_deref(), Some("3 jobs waiting for this printer"));
        assert_eq!(waiting_words(german, 1).as_deref(), Some("1 Druckauftrag wartet auf diesen Drucker"));
        assert_eq!(waiting_words(german, 3).as_deref(), Some("3 Druckaufträge warten auf diesen Drucker"));
    }
}
