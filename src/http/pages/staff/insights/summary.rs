//! Key figures for a time span, each compared with the preceding time span by an arrow, a word and a number.

use maud::{Markup, html};

use super::figure::{share_words, span_words};
use domain::currency;
use domain::insights::comparison::SpanChange;
use http_api::production::insights::{InsightTotals, Insights};

/// Direction in which a figure improves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BetterWhen {
    Higher,
    Lower,
    /// An increase is neither better nor worse.
    Neither,
}

/// Key figure with its comparison.
struct SpanFigure {
    label: &'static str,
    value: String,
    change: SpanChange,
    better: BetterWhen,
}

/// Renders the key figures for the entire shop. `before` is the name of the earlier time span, as in "the previous 30
/// days".
pub(super) fn summary(insights: &Insights, earlier: &InsightTotals, before: &str, currency: &str) -> Markup {
    html! {
        section aria-labelledby="in-short" {
            h2 id="in-short" class="hidden-words" { "Key figures" }
            div class="kpis" {
                @for figure in &span_figures(insights, earlier, currency) {
                    div class="panel kpi" {
                        span class="muted small" { (figure.label) }
                        b { (figure.value) }
                        (change_line(figure.change, figure.better, before))
                    }
                }
            }
        }
    }
}

fn span_figures(insights: &Insights, earlier: &InsightTotals, currency: &str) -> [SpanFigure; 9] {
    use BetterWhen::{Higher, Lower, Neither};
    let (prints, quality) = (&insights.activity.total, &insights.quality.total);
    let (lead, promises) = (&insights.activity.lead_time, &insights.activity.promises);
    let amount = |label, value: String, now: Option<i64>, before: Option<i64>, better| SpanFigure {
        label,
        value,
        change: SpanChange::between_amounts(now, before),
        better,
    };
    let share = |label, now: Option<f64>, before: Option<f64>, better| SpanFigure {
        label,
        value: share_words(now),
        change: SpanChange::between_shares(now, before),
        better,
    };
    let span =
        |label, now: Option<i64>, before: Option<i64>, better| amount(label, span_words(now), now, before, better);
    let count = |label, now: i64, before: i64, better| amount(label, now.to_string(), Some(now), Some(before), better);
    let cost = quality.scrap_cost_cents;
    let cost_words = cost.map_or_else(|| "unknown".to_owned(), |cents| currency::format_amount(cents, currency));
    [
        count("Prints", prints.prints, earlier.prints.prints, Neither),
        span("Print time", Some(prints.print_seconds), Some(earlier.prints.print_seconds), Neither),
        share("First-pass yield", quality.first_pass_yield, earlier.quality.first_pass_yield, Higher),
        share("Failure rate", prints.failure_rate, earlier.prints.failure_rate, Lower),
        count("Bad parts", quality.scrap, earlier.quality.scrap, Lower),
        amount("Scrap cost", cost_words, cost, earlier.quality.scrap_cost_cents, Lower),
        share("Promises kept", promises.kept_share, earlier.promises.kept_share, Higher),
        span("Lead time, median", lead.median_seconds, earlier.lead_time.median_seconds, Lower),
        span("Lead time, 80th percentile", lead.most_seconds, earlier.lead_time.most_seconds, Lower),
    ]
}

/// Renders a comparison: "▲ Better: +12 % vs. the previous 30 days".
fn change_line(change: SpanChange, better: BetterWhen, before: &str) -> Markup {
    let Some(is_growth) = change.is_growth() else {
        return html! {
            span class="small muted" {
                @if change == SpanChange::Equal { "Same as in " (before) } @else { "No data for " (before) }
            }
        };
    };
    let (class, word) = match (better, is_growth) {
        (BetterWhen::Neither, _) => ("muted", ""),
        (BetterWhen::Higher, true) | (BetterWhen::Lower, false) => ("up", "Better: "),
        (BetterWhen::Higher, false) | (BetterWhen::Lower, true) => ("down", "Worse: "),
    };
    html! {
        span class={ "small " (class) } {
            span aria-hidden="true" { (if is_growth { "▲" } else { "▼" }) } " "
            (word) (change_words(change)) " vs. " (before)
        }
    }
}

/// Formats a change with its sign: `+12 %`, `−0.8 points`.
fn change_words(change: SpanChange) -> String {
    let sign = if change.is_growth() == Some(true) { '+' } else { '−' };
    match change {
        SpanChange::Percent(percent) => format!("{sign}{} %", percent.unsigned_abs()),
        SpanChange::PointTenths(tenths) => {
            let tenths = tenths.unsigned_abs();
            format!("{sign}{}.{} points", tenths / 10, tenths % 10)
        }
        SpanChange::Incomparable | SpanChange::Equal => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(change: SpanChange, better: BetterWhen) -> String {
        change_line(change, better, "the previous 30 days").into_string()
    }

    #[test]
    fn a_change_has_an_arrow_a_word_and_a_number() {
        let better = line(SpanChange::Percent(12), BetterWhen::Higher);
        assert!(better.contains("class=\"small up\"") && better.contains('▲'), "{better}");
        assert!(better.contains("Better: +12 % vs. the previous 30 days"), "{better}");
        let worse = line(SpanChange::PointTenths(-31), BetterWhen::Higher);
        assert!(worse.contains("class=\"small down\"") && worse.contains('▼'), "{worse}");
        assert!(worse.contains("Worse: −3.1 points vs. the previous 30 days"), "{worse}");
    }

    #[test]
    fn less_scrap_is_better_and_more_prints_are_neither_better_nor_worse() {
        assert!(line(SpanChange::Percent(-40), BetterWhen::Lower).contains("Better: −40 %"));
        assert!(line(SpanChange::Percent(40), BetterWhen::Lower).contains("Worse: +40 %"));
        assert!(line(SpanChange::Percent(40), BetterWhen::Neither).contains("</span> +40 % vs."));
        assert!(line(SpanChange::Percent(-4), BetterWhen::Neither).contains("</span> −4 % vs."));
    }

    #[test]
    fn what_cannot_be_compared_says_so() {
        assert!(line(SpanChange::Equal, BetterWhen::Lower).contains("Same as in the previous 30 days"));
        assert!(line(SpanChange::Incomparable, BetterWhen::Lower).contains("No data for the previous 30 days"));
    }
}
