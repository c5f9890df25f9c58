//! Temperature charts of a printer: a sparkline on its card, and each heater's history on its page.

use std::fmt::Write as _;

use maud::{Markup, html};

use domain::id::Id;
use domain::temperature_history::{HeatSpan, HeaterCourse};
use domain::time::{HOUR_MS, Timestamp};
use http_api::production::printers::PrinterHandles;
use words::Language;
use words::staff::cards;

/// Time span of the charts, in milliseconds: the last half hour.
const SHOWN_MS: i64 = HOUR_MS / 2;
/// Time span of each point in the sparkline, in milliseconds. It is long because the sparkline is sent again whenever a
/// point changes.
const SPARK_STEP_MS: i64 = 150_000;
/// Temperature step of the sparkline, in tenths of a degree. It is coarse because the sparkline is sent again whenever
/// a point changes.
const SPARK_STEP_TENTHS: i64 = 50;
/// Heaters shown on a card: the first tool and the bed.
const SPARK_HEATERS: [&str; 2] = ["tool0", "bed"];
/// Number of stored values per heater over the last half hour, all of which are drawn on the printer's page.
const CHART_POINTS: usize = 180;
/// Minimum temperature at the top of a chart, in tenths of a degree.
const LEAST_TOP_TENTHS: i64 = 1_000;
/// Width and height of the sparkline, in SVG units.
const SPARK_SIZE: (i64, i64) = (120, 24);
const CHART_SIZE: (i64, i64) = (600, 160);

/// Returns the maximum temperature in each time step, oldest first. Each entry is the start of the step and the
/// temperature in tenths of a degree.
fn steps(spans: &[HeatSpan]) -> Vec<(i64, i64)> {
    let mut steps: Vec<(i64, i64)> = Vec::new();
    for span in spans {
        let at = span.at.0.div_euclid(SPARK_STEP_MS) * SPARK_STEP_MS;
        let tenths = i64::from(span.highest) / SPARK_STEP_TENTHS * SPARK_STEP_TENTHS;
        match steps.last_mut().filter(|(last, _)| *last == at) {
            Some((_, most)) => *most = tenths.max(*most),
            None => steps.push((at, tenths)),
        }
    }
    steps
}

/// Returns the SVG points for a line in a chart of the given size. The chart starts at `since` and spans [`SHOWN_MS`].
fn line(points: &[(i64, i64)], since: i64, top: i64, (width, height): (i64, i64)) -> String {
    let mut text = String::new();
    for (at, tenths) in points {
        let x = (at - since).clamp(0, SHOWN_MS) * width / SHOWN_MS;
        let y = height - tenths.clamp(&0, &top) * height / top.max(1);
        let _ = write!(text, "{x},{y} ");
    }
    text
}

/// Returns the dash pattern for a heater's line, if any.
fn dashes(heater: &str) -> Option<&'static str> {
    match heater {
        "bed" => Some("6 3"),
        "chamber" => Some("2 3"),
        _ => None,
    }
}

fn class_of(heater: &str) -> &'static str {
    match heater {
        "bed" => "heat-bed",
        "chamber" => "heat-chamber",
        _ => "heat-tool",
    }
}

/// Renders the sparkline on a printer's card; the values are shown next to it as text.
pub(super) fn sparkline(shop: &PrinterHandles, printer: Id) -> Markup {
    let now = shop.environment.now();
    // The last step is not over yet.
    let until = (now.0.div_euclid(SPARK_STEP_MS) + 1) * SPARK_STEP_MS;
    let since = Timestamp(until - SHOWN_MS);
    let courses = shop.printer_connections.temperatures.courses(printer, since, now, CHART_POINTS);
    let drawn: Vec<(&HeaterCourse, Vec<(i64, i64)>)> = courses
        .iter()
        .filter(|course| SPARK_HEATERS.contains(&course.heater.as_str()))
        .map(|course| (course, steps(&course.spans)))
        .collect();
    let top = drawn.iter().flat_map(|(_, points)| points).map(|(_, tenths)| *tenths).max().unwrap_or_default();
    let (width, height) = SPARK_SIZE;
    html! {
        @if drawn.iter().any(|(_, points)| points.len() > 1) {
            svg class="spark" viewBox={ "0 -2 " (width) " " (height + 4) } width=(width) height=(height + 4) aria-hidden="true" {
                @for (course, points) in &drawn {
                    polyline class=(class_of(&course.heater)) fill="none" stroke="currentColor" stroke-width="2"
                        stroke-dasharray=[dashes(&course.heater)]
                        points=(line(points, since.0, top.max(LEAST_TOP_TENTHS), SPARK_SIZE)) {}
                }
            }
        }
    }
}

/// Returns all stored values for a heater, as times and temperatures in tenths of a degree.
fn measured(course: &HeaterCourse) -> Vec<(i64, i64)> {
    course.spans.iter().map(|span| (span.at.0, i64::from(span.highest))).collect()
}

/// Returns a heater's display name.
fn heater_words(language: Language, heater: &str) -> String {
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

/// Renders a chart of all heaters over the last half hour, with their latest values.
pub(super) fn chart(language: Language, shop: &PrinterHandles, printer: Id) -> Markup {
    let now = shop.environment.now();
    let since = now.plus_ms(-SHOWN_MS);
    let courses = shop.printer_connections.temperatures.courses(printer, since, now, CHART_POINTS);
    let highest = courses.iter().flat_map(|course| &course.spans).map(|span| i64::from(span.highest)).max();
    let top = highest.unwrap_or_default().max(LEAST_TOP_TENTHS);
    let (width, height) = CHART_SIZE;
    html! {
        @if !courses.is_empty() {
            section class="card" aria-labelledby="heat" {
                h2 id="heat" { (cards::chart_heading(language)) }
                svg class="chart" viewBox={ "0 -4 " (width) " " (height + 8) } role="img"
                    aria-label=(cards::chart_range(language, &(top / 10).to_string())) {
                    line x1="0" y1=(height) x2=(width) y2=(height) stroke="currentColor" stroke-width="1" {}
                    @for course in &courses {
                        polyline class=(class_of(&course.heater)) fill="none" stroke="currentColor" stroke-width="2"
                            stroke-dasharray=[dashes(&course.heater)] points=(line(&measured(course), since.0, top, CHART_SIZE)) {}
                    }
                }
                dl class="left" {
                    @for course in &courses {
                        @if let Some(last) = course.spans.last() {
                            dt class=(class_of(&course.heater)) { (heater_words(language, &course.heater)) }
                            dd {
                                (celsius(last.highest))
                                @if let Some(target) = last.target.filter(|target| *target > 0) {
                                    ", " (cards::target(language, &celsius(target)))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(at: i64, highest: i16) -> HeatSpan {
        HeatSpan { at: Timestamp(at), lowest: 0, highest, target: None }
    }

    #[test]
    fn a_card_changes_only_when_a_step_of_time_or_of_heat_does() {
        let warm = [span(0, 1999), span(10_000, 2013), span(SPARK_STEP_MS, 600)];
        assert_eq!(steps(&warm), [(0, 2000), (SPARK_STEP_MS, 600)]);
        let same = [span(0, 2001), span(20_000, 2049), span(SPARK_STEP_MS + 10_000, 649)];
        assert_eq!(steps(&same), steps(&warm));
        assert!(steps(&[]).is_empty());
    }

    #[test]
    fn a_line_stays_within_its_drawing() {
        let points = [(-1, -50), (0, 0), (SHOWN_MS / 2, 1_000), (2 * SHOWN_MS, 9_000)];
        assert_eq!(line(&points, 0, 2_000, SPARK_SIZE), "0,24 0,24 60,12 120,0 ");
        assert_eq!(line(&points[..1], 0, 0, SPARK_SIZE), "0,24 ");
    }
}
