//! Inline SVG charts: horizontal bars and columns.
//!
//! The functions are pure: numbers in, SVG out. A chart fills the available width while its text keeps its size, so it
//! is just as legible on a phone. Colours are style classes for light and dark mode. Screen readers read the chart's
//! title; the numbers are in a table next to it.

use maud::{Markup, html};

/// Height of a bar, including its text, in pixels.
const BAR_STEP_PX: usize = 38;
/// Baseline of a bar's text, in pixels below the top of the bar.
const BAR_TEXT_PX: usize = 14;
const BAR_TOP_PX: usize = 20;
const BAR_HEIGHT_PX: usize = 10;
/// Maximum number of characters in a bar's label; the table contains the full labels.
const MAX_LABEL_CHARS: usize = 28;
/// Least height of the tallest column, in pixels. Beside a high table, the style makes the chart as high.
const COLUMN_HEIGHT_PX: usize = 150;
/// Space above the columns for the scale, and below them for the labels, in pixels; in the style, it is padding.
const SCALE_PX: usize = 20;
const LABELS_PX: usize = 22;
/// Distance of the scale's text from the columns, and of the baseline of the labels, in pixels.
const SCALE_RISE_PX: usize = 7;
const LABEL_DROP_PX: usize = 16;
/// Maximum number of columns with a label.
const MAX_LABELS: usize = 6;
/// Fraction of the available width that a column fills.
const COLUMN_SHARE: f64 = 0.8;

/// Meaning of the colour of a bar or column segment, which the text next to it also conveys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BarMeaning {
    /// Success or neutral value.
    Good,
    /// Failure.
    Bad,
}

impl BarMeaning {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "bar",
            Self::Bad => "bar wrong",
        }
    }
}

/// Label of a bar.
pub(super) struct BarLabel {
    pub(super) text: String,
    /// Language of the text, if it is not that of the page.
    pub(super) lang: Option<&'static str>,
}

impl From<String> for BarLabel {
    fn from(text: String) -> Self {
        Self { text, lang: None }
    }
}

/// Bar with text above it.
pub(super) struct Bar {
    pub(super) label: BarLabel,
    /// Formatted value.
    pub(super) text: String,
    /// Fraction of the width that the bar fills, from 0 to 1.
    pub(super) share: f64,
    pub(super) ink: BarMeaning,
}

/// Column on the baseline of a chart.
pub(super) struct Column {
    /// Short label of the column.
    pub(super) label: String,
    /// Number of successes, stacked with the number of failures in `bad`.
    pub(super) good: f64,
    pub(super) bad: f64,
}

/// Replaces negative and non-finite numbers with 0, so that they can be drawn.
fn sane(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// Formats a fraction from 0 to 1 as a percentage of the width.
fn percent(share: f64) -> String {
    format!("{:.2}%", sane(share).min(1.0) * 100.0)
}

fn cut(label: &str) -> String {
    if label.chars().count() <= MAX_LABEL_CHARS {
        return label.to_owned();
    }
    let prefix: String = label.chars().take(MAX_LABEL_CHARS - 1).collect();
    format!("{prefix}…")
}

/// Renders horizontal bars. `id` is the HTML ID of the chart's title.
pub(super) fn bars(id: &str, title: &str, bars: &[Bar]) -> Markup {
    html! {
        svg class="insight-chart" role="img" aria-labelledby=(id) width="100%" height=(bars.len() * BAR_STEP_PX) {
            title id=(id) { (title) }
            @for (n, bar) in bars.iter().enumerate() {
                @let top = n * BAR_STEP_PX;
                text x="0" y=(top + BAR_TEXT_PX) lang=[bar.label.lang] { (cut(&bar.label.text)) }
                text x="100%" y=(top + BAR_TEXT_PX) text-anchor="end" { (bar.text) }
                rect class="track" x="0" y=(top + BAR_TOP_PX) width="100%" height=(BAR_HEIGHT_PX) rx="3" {}
                rect class=(bar.ink.class()) x="0" y=(top + BAR_TOP_PX) width=(percent(bar.share)) height=(BAR_HEIGHT_PX) rx="3" {}
            }
        }
    }
}

/// Renders columns; the tallest has the full height, and `scale` is the label for that height. The columns are drawn in
/// fractions of the height that the style leaves them.
pub(super) fn columns(id: &str, title: &str, scale: &str, columns: &[Column]) -> Markup {
    let tallest = columns.iter().map(|column| sane(column.good) + sane(column.bad)).fold(0.0, f64::max);
    let fraction = |value: f64| if tallest > 0.0 { sane(value) / tallest } else { 0.0 };
    let room = 1.0 / columns.len().max(1) as f64;
    let every = columns.len().div_ceil(MAX_LABELS).max(1);
    html! {
        svg class="insight-chart insight-columns" role="img" aria-labelledby=(id) width="100%"
            height=(SCALE_PX + COLUMN_HEIGHT_PX + LABELS_PX) {
            title id=(id) { (title) }
            text x="0" y={ "-" (SCALE_RISE_PX) } { (scale) }
            line class="axis" x1="0" x2="100%" y1="0" y2="0" {}
            @for (n, column) in columns.iter().enumerate() {
                @let left = percent(n as f64 * room);
                @let width = percent(room * COLUMN_SHARE);
                @let (good, bad) = (fraction(column.good), fraction(column.bad));
                @if good > 0.0 {
                    rect class=(BarMeaning::Good.class()) x=(left) width=(width) y=(percent(1.0 - good)) height=(percent(good)) {}
                }
                @if bad > 0.0 {
                    rect class=(BarMeaning::Bad.class()) x=(left) width=(width) y=(percent(1.0 - good - bad)) height=(percent(bad)) {}
                }
                @if n.is_multiple_of(every) { text x=(left) y="100%" dy=(LABEL_DROP_PX) { (column.label) } }
            }
            line class="axis" x1="0" x2="100%" y1="100%" y2="100%" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, share: f64) -> Bar {
        Bar { label: label.to_owned().into(), text: "12".to_owned(), share, ink: BarMeaning::Good }
    }

    #[test]
    fn a_bar_never_leaves_its_chart() {
        let drawn = bars("t", "Use", &[bar("a", 0.5), bar("b", 7.0), bar("c", -1.0), bar("d", f64::NAN)]).into_string();
        let widths: Vec<&str> = drawn.split("<rect class=\"bar\"").skip(1).collect();
        let of = |n: usize| widths.get(n).and_then(|rest| rest.split("width=\"").nth(1)?.split('"').next());
        assert_eq!([of(0), of(1), of(2), of(3)], [Some("50.00%"), Some("100.00%"), Some("0.00%"), Some("0.00%")]);
        assert!(drawn.contains("height=\"152\""), "{drawn}");
    }

    #[test]
    fn a_chart_is_named_by_its_title_and_runs_nothing() {
        let drawn = bars("use-title", "Use of <printers>", &[bar("<script>alert(1)</script>", 0.1)]).into_string();
        assert!(drawn.contains("role=\"img\" aria-labelledby=\"use-title\""), "{drawn}");
        assert!(drawn.contains("<title id=\"use-title\">Use of &lt;printers&gt;</title>"), "{drawn}");
        assert!(!drawn.contains("<script") && !drawn.contains(" style="), "{drawn}");
    }

    #[test]
    fn long_names_are_cut_in_the_picture() {
        let drawn = bars("t", "Use", &[bar(&"ä".repeat(40), 0.1)]).into_string();
        assert!(drawn.contains(&format!("{}…<", "ä".repeat(27))), "{drawn}");
    }

    #[test]
    fn columns_stand_on_each_other_and_on_the_line() {
        let column = |label: &str, good: f64, bad: f64| Column { label: label.to_owned(), good, bad };
        let drawn = columns("t", "Prints", "4 prints", &[column("a", 3.0, 1.0), column("b", 0.0, 0.0)]).into_string();
        assert!(drawn.contains("x=\"0.00%\" width=\"40.00%\" y=\"25.00%\" height=\"75.00%\""), "{drawn}");
        assert!(drawn.contains("x=\"0.00%\" width=\"40.00%\" y=\"0.00%\" height=\"25.00%\""), "{drawn}");
        assert_eq!(drawn.matches("<rect").count(), 2, "what is nothing is not drawn: {drawn}");
        let year: Vec<Column> = (0..365).map(|n| column(&format!("day {n}"), n as f64, 0.0)).collect();
        let drawn = columns("t", "Prints", "364", &year).into_string();
        assert!(drawn.matches("day ").count() <= MAX_LABELS, "{drawn}");
        assert!(columns("t", "Prints", "", &[]).into_string().contains("</svg>"));
    }
}
