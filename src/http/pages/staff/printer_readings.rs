//! Readings on a printer's page: the temperatures of its heaters, or that there are none yet; the filament that its
//! print has used; and, once there is enough to see, a chart of the last half hour.

use maud::{Markup, html};

use super::card_heat::{LEAST_TOP_TENTHS, class_of, dashes, line};
use domain::notation::decimal;
use domain::printer::Printer;
use domain::printer_status::{Activity, COLD_CELSIUS};
use domain::temperature_history::{HeatSpan, HeaterCourse};
use domain::time::{HOUR_MS, Timestamp};
use http_api::production::printers::{PrinterHandles, activity};
use words::Language;
use words::staff::cards;

const MINUTE_MS: i64 = 60_000;
/// Longest time that the chart shows, in milliseconds: the last half hour.
const MAX_CHART_MS: i64 = HOUR_MS / 2;
/// Shortest time that is worth a chart, in milliseconds: a few points in a corner say less than the figures.
const MIN_CHART_MS: i64 = 5 * MINUTE_MS;
/// Fewest values of a heater that are worth a chart.
const MIN_CHART_POINTS: usize = 20;
/// Temperature below which all heaters are cold and the chart is not worth its place, in tenths of a degree.
const COLD_TENTHS: i64 = (COLD_CELSIUS * 10.0) as i64;
/// Number of stored values per heater over the last half hour, all of which are drawn.
const CHART_POINTS: usize = 180;
/// Width and height of the chart, in SVG units.
const CHART_SIZE: (i64, i64) = (600, 200);
const MM_PER_METRE: f64 = 1_000.0;

/// Renders the readings of a printer that responds. While they change by themselves, the script reloads them
/// repeatedly, because no event in the shop announces the changes.
pub(super) fn readings(language: Language, shop: &PrinterHandles, printer: &Printer) -> Markup {
    let (doing, now) = (activity(shop, printer), shop.environment.now());
    if doing == Activity::Offline {
        return html! {};
    }
    let since = now.plus_ms(-MAX_CHART_MS);
    let courses = shop.printer_connections.temperatures.courses(printer.id, since, now, CHART_POINTS);
    let filament = shop.printer_connections.status(printer.id).and_then(|status| status.filament_mm);
    let is_printing = matches!(doing, Activity::Printing | Activity::Paused);
    panel(language, &courses, filament.filter(|_| is_printing), now, is_printing)
}

/// Returns the latest value of each heater.
fn latest(courses: &[HeaterCourse]) -> impl Iterator<Item = (&str, &HeatSpan)> {
    courses.iter().filter_map(|course| Some((&*course.heater, course.spans.last()?)))
}

fn panel(
    language: Language,
    courses: &[HeaterCourse],
    filament_mm: Option<f64>,
    now: Timestamp,
    is_printing: bool,
) -> Markup {
    let is_heating = latest(courses).any(|(_, span)| span.target.is_some_and(|target| target > 0));
    html! {
        section class="card" aria-labelledby="heat" {
            h2 id="heat" { (cards::readings(language)) }
            @if courses.is_empty() { p class="soft" { (cards::no_temperatures(language)) } }
            @if !courses.is_empty() || filament_mm.is_some() {
                dl class="readings" {
                    @for (heater, span) in latest(courses) {
                        dt class=(class_of(heater)) { (heater_name(language, heater)) }
                        dd {
                            b { (celsius(span.highest)) }
                            @if let Some(target) = span.target.filter(|target| *target > 0) {
                                " " span class="small muted" { (cards::target(language, &celsius(target))) }
                            }
                        }
                    }
                    @if let Some(millimetres) = filament_mm {
                        @let metres = format!("{:.1}", millimetres / MM_PER_METRE);
                        dt { (cards::filament_used(language)) }
                        dd { b { (decimal(language, metres)) " m" } }
                    }
                }
            }
            @if let Some(chart) = chart(language, courses, now) { (chart) }
            @if is_printing || is_heating { span hidden data-goes-on="" {} }
        }
    }
}

/// Returns a heater's display name.
fn heater_name(language: Language, heater: &str) -> String {
    match heater {
        "tool0" => cards::nozzle(language),
        "bed" => cards::bed(language),
        "chamber" => cards::chamber(language),
        other => cards::tool(language, other.trim_start_matches("tool")),
    }
}

fn celsius(tenths: i16) -> String {
    format!("{:.0} °C", f64::from(tenths) / 10.0)
}

/// Returns all stored values for a heater, as times and temperatures in tenths of a degree.
fn points_of(course: &HeaterCourse) -> Vec<(i64, i64)> {
    course.spans.iter().map(|span| (span.at.0, i64::from(span.highest))).collect()
}

/// Renders a chart of all heaters from their first value on; `None` if it would be almost empty.
fn chart(language: Language, courses: &[HeaterCourse], now: Timestamp) -> Option<Markup> {
    let spans = || courses.iter().flat_map(|course| &course.spans);
    let first = spans().map(|span| span.at).min()?.max(now.plus_ms(-MAX_CHART_MS));
    let (shown_ms, highest) = (now.since(first), spans().map(|span| i64::from(span.highest)).max()?);
    let points = courses.iter().map(|course| course.spans.len()).max()?;
    if shown_ms < MIN_CHART_MS || points < MIN_CHART_POINTS || highest < COLD_TENTHS {
        return None;
    }
    let (top, minutes) = (highest.max(LEAST_TOP_TENTHS), (shown_ms + MINUTE_MS / 2) / MINUTE_MS);
    let range = cards::chart_range(language, &minutes.to_string(), &(top / 10).to_string());
    let (width, height) = CHART_SIZE;
    Some(html! {
        svg class="chart" viewBox={ "0 -4 " (width) " " (height + 8) } role="img" aria-label=(range) {
            line x1="0" y1=(height) x2=(width) y2=(height) stroke="currentColor" stroke-width="1" {}
            @for course in courses {
                polyline class=(class_of(&course.heater)) fill="none" stroke="currentColor" stroke-width="3"
                    stroke-dasharray=[dashes(&course.heater)]
                    points=(line(&points_of(course), (first.0, shown_ms), top, CHART_SIZE)) {}
            }
        }
        p class="hint" aria-hidden="true" { (range) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time of the latest value.
    const NOW: Timestamp = Timestamp(10 * HOUR_MS);

    /// Returns the course of a heater over the last minutes, with a value for every ten seconds.
    fn course(heater: &str, minutes: i64, highest: i16, target: Option<i16>) -> HeaterCourse {
        let spans =
            (0..=minutes * 6).rev().map(|n| HeatSpan { at: NOW.plus_ms(-n * 10_000), lowest: 0, highest, target });
        HeaterCourse { heater: heater.to_owned(), spans: spans.collect() }
    }

    #[test]
    fn a_chart_is_drawn_once_it_has_enough_to_show() {
        let of = |minutes, highest| {
            let drawn = chart(Language::English, &[course("tool0", minutes, highest, None)], NOW);
            drawn.map(Markup::into_string).unwrap_or_default()
        };
        assert_eq!(of(4, 2_150), "", "too few points");
        assert_eq!(of(20, 250), "", "cold");
        assert!(chart(Language::English, &[], NOW).is_none());
        let drawn = of(5, 2_150);
        assert!(drawn.contains("Last 5 minutes, from 0 to 215 °C"), "{drawn}");
        // What there is takes the whole width.
        assert!(drawn.contains("points=\"0,0 ") && drawn.contains(" 600,0 \""), "{drawn}");
        let whole = of(120, 600);
        assert!(whole.contains("Last 30 minutes, from 0 to 100 °C"), "{whole}");
    }

    #[test]
    fn readings_are_figures_with_their_targets() {
        let warm = [course("tool0", 1, 2_148, Some(2_150)), course("bed", 1, 253, Some(0))];
        let of =
            |courses: &[HeaterCourse], filament| panel(Language::English, courses, filament, NOW, false).into_string();
        let html = of(&warm, Some(3_249.0));
        let target = "<b>215 °C</b> <span class=\"small muted\">target 215 °C</span></dd>";
        let nozzle = format!("<dt class=\"heat-tool\">Nozzle</dt><dd>{target}");
        for part in [&*nozzle, "<dt class=\"heat-bed\">Bed</dt><dd><b>25 °C</b></dd>", "<b>3.2 m</b>", "data-goes-on"]
        {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("class=\"chart\""), "{html}");
        let cold = of(&[course("tool0", 1, 250, Some(0))], None);
        assert!(!cold.contains("data-goes-on") && !cold.contains(" m</b>"), "nothing changes: {cold}");
        let none = of(&[], None);
        assert!(none.contains("<p class=\"soft\">No temperatures yet.</p>") && !none.contains("<dl"), "{none}");
        let length_only = of(&[], Some(3_249.0));
        assert!(length_only.contains("No temperatures yet.") && length_only.contains("<b>3.2 m</b>"), "{length_only}");
    }
}
