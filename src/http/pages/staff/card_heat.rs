//! Sparkline of a printer's temperatures on its card.

use std::fmt::Write as _;

use maud::{Markup, html};

use domain::id::Id;
use domain::temperature_history::{HeatSpan, HeaterCourse};
use domain::time::{HOUR_MS, Timestamp};
use http_api::production::printers::PrinterHandles;

/// Time span of the sparkline, in milliseconds: the last half hour.
const SHOWN_MS: i64 = HOUR_MS / 2;
/// Time span of each point in the sparkline, in milliseconds. It is long because the sparkline is sent again whenever a
/// point changes.
const SPARK_STEP_MS: i64 = 150_000;
/// Temperature step of the sparkline, in tenths of a degree. It is coarse because the sparkline is sent again whenever
/// a point changes.
const SPARK_STEP_TENTHS: i64 = 50;
/// Heaters shown on a card: the first tool and the bed.
const SPARK_HEATERS: [&str; 2] = ["tool0", "bed"];
/// Number of stored values per heater over the last half hour.
const MAX_POINTS: usize = 180;
/// Minimum temperature at the top of a chart, in tenths of a degree.
pub(super) const LEAST_TOP_TENTHS: i64 = 1_000;
/// Width and height of the sparkline, in SVG units.
const SPARK_SIZE: (i64, i64) = (120, 24);

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

/// Returns the SVG points for a line in a chart of the given size, which begins at a point in time and has a span, both
/// in milliseconds.
pub(super) fn line(points: &[(i64, i64)], (begin, span): (i64, i64), top: i64, (width, height): (i64, i64)) -> String {
    let mut text = String::new();
    for (at, tenths) in points {
        let x = (at - begin).clamp(0, span) * width / span.max(1);
        let y = height - tenths.clamp(&0, &top) * height / top.max(1);
        let _ = write!(text, "{x},{y} ");
    }
    text
}

/// Returns the dash pattern for a heater's line, if any.
pub(super) fn dashes(heater: &str) -> Option<&'static str> {
    match heater {
        "bed" => Some("6 3"),
        "chamber" => Some("2 3"),
        _ => None,
    }
}

/// Returns the CSS class for a heater's colour.
pub(super) fn class_of(heater: &str) -> &'static str {
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
    let courses = shop.printer_connections.temperatures.courses(printer, since, now, MAX_POINTS);
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
                        points=(line(points, (since.0, SHOWN_MS), top.max(LEAST_TOP_TENTHS), SPARK_SIZE)) {}
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
        assert_eq!(line(&points, (0, SHOWN_MS), 2_000, SPARK_SIZE), "0,24 0,24 60,12 120,0 ");
        assert_eq!(line(&points[..1], (0, SHOWN_MS), 0, SPARK_SIZE), "0,24 ");
    }
}
