//! Key figures for a time span, each compared with the preceding time span by an arrow, a word and a number.

use maud::{Markup, html};

use super::figure::{share_words, span_words};
use domain::insights::comparison::SpanChange;
use domain::notation;
use http_api::production::insights::{InsightTotals, Insights};
use words::Language;
use words::staff::insights as texts;

/// Direction in which a figure improves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BetterWhen {
    Higher,
    Lower,
    /// An increase is neither better nor worse.
    Neither,
}

/// Key figure with its comparison.
pub(super) struct SpanFigure {
    pub(super) label: String,
    /// Formatted value; `None` if there is no data.
    pub(super) value: Option<String>,
    change: SpanChange,
    better: BetterWhen,
}

/// Label of a key figure in the language of the page.
type KeyFigureLabel = fn(Language) -> String;

/// Renders the key figures that have data, compared with the same number of days before.
pub(super) fn summary(language: Language, figures: &[SpanFigure], days: i64) -> Markup {
    html! {
        @if figures.iter().any(|figure| figure.value.is_some()) {
            section aria-labelledby="in-short" {
                h2 id="in-short" class="hidden-words" { (texts::key_figures(language)) }
                div class="kpis insight-kpis" {
                    @for figure in figures {
                        @if let Some(value) = &figure.value {
                            div class="panel kpi" {
                                span class="muted small" { (figure.label) }
                                b { (value) }
                                @if figure.change != SpanChange::Incomparable {
                                    (change_line(language, figure.change, figure.better, days))
                                }
                            }
                        }
                    }
                }
                (incomparable(language, figures, days))
            }
        }
    }
}

/// Renders the line below the key figures that says which of them have no data for the days before; nothing if all
/// have.
fn incomparable(language: Language, figures: &[SpanFigure], days: i64) -> Markup {
    let with_value = || figures.iter().filter(|figure| figure.value.is_some());
    let without = with_value().filter(|figure| figure.change == SpanChange::Incomparable);
    let names: Vec<&str> = without.map(|figure| figure.label.as_str()).collect();
    let text = if names.len() == with_value().count() {
        texts::no_data_for(language, days)
    } else {
        texts::no_data_among(language, days, &names.join(", "))
    };
    html! { @if !names.is_empty() { p class="soft small" { (text) } } }
}

/// Returns the key figures for the entire shop. Numbers of prints and of parts are data only if something was printed
/// in either span, and are compared only if something was printed, or found to be bad, in the earlier one.
pub(super) fn span_figures(
    language: Language,
    insights: &Insights,
    earlier: &InsightTotals,
    currency: &str,
) -> [SpanFigure; 9] {
    use BetterWhen::{Higher, Lower, Neither};
    let (prints, quality) = (&insights.activity.total, &insights.quality.total);
    let has_prints = prints.prints > 0 || earlier.prints.prints > 0;
    let is_comparable = earlier.prints.prints > 0 || earlier.quality.scrap > 0;
    let (lead, promises) = (&insights.activity.lead_time, &insights.activity.promises);
    let amount = |label: KeyFigureLabel, value: Option<String>, now, before, better| SpanFigure {
        label: label(language),
        value,
        change: SpanChange::between_amounts(now, before),
        better,
    };
    let share = |label: KeyFigureLabel, now: Option<f64>, before: Option<f64>, better| SpanFigure {
        label: label(language),
        value: now.map(|share| share_words(language, Some(share))),
        change: SpanChange::between_shares(now, before),
        better,
    };
    let span = |label: KeyFigureLabel, now: Option<i64>, before: Option<i64>, better| {
        amount(label, now.map(|seconds| span_words(language, Some(seconds))), now, before, better)
    };
    let count = |label: KeyFigureLabel, now: i64, before: i64, better| {
        let words = has_prints.then(|| texts::number(language, now));
        amount(label, words, Some(now), is_comparable.then_some(before), better)
    };
    let print_seconds = has_prints.then_some(prints.print_seconds);
    let cost = quality.scrap_cost_cents.filter(|_| has_prints);
    let earlier_seconds = is_comparable.then_some(earlier.prints.print_seconds);
    let earlier_cost = earlier.quality.scrap_cost_cents.filter(|_| is_comparable);
    let cost_words = cost.map(|cents| notation::amount(language, cents, currency));
    [
        count(texts::prints_column, prints.prints, earlier.prints.prints, Neither),
        span(texts::print_time, print_seconds, earlier_seconds, Neither),
        share(texts::first_pass_yield, quality.first_pass_yield, earlier.quality.first_pass_yield, Higher),
        share(texts::failure_rate, prints.failure_rate, earlier.prints.failure_rate, Lower),
        count(texts::bad_parts_column, quality.scrap, earlier.quality.scrap, Lower),
        amount(texts::scrap_cost, cost_words, cost, earlier_cost, Lower),
        share(texts::promises_title, promises.kept_share, earlier.promises.kept_share, Higher),
        span(texts::lead_time_median, lead.median_seconds, earlier.lead_time.median_seconds, Lower),
        span(texts::lead_time_most, lead.most_seconds, earlier.lead_time.most_seconds, Lower),
    ]
}

/// Renders a comparison: "▲ Better: +12% vs. the previous 30 days".
fn change_line(language: Language, change: SpanChange, better: BetterWhen, days: i64) -> Markup {
    let Some(is_growth) = change.is_growth() else {
        return html! { span class="small muted" { (texts::same_as(language, days)) } };
    };
    let change = change_words(language, change);
    let (class, text) = match (better, is_growth) {
        (BetterWhen::Neither, _) => ("muted", texts::changed(language, &change, days)),
        (BetterWhen::Higher, true) | (BetterWhen::Lower, false) => ("up", texts::better(language, &change, days)),
        (BetterWhen::Higher, false) | (BetterWhen::Lower, true) => ("down", texts::worse(language, &change, days)),
    };
    html! {
        span class={ "small " (class) } {
            span aria-hidden="true" { (if is_growth { "▲" } else { "▼" }) } " "
            (text)
        }
    }
}

/// Formats a change with its sign: `+12%`, `−0.8 points`.
fn change_words(language: Language, change: SpanChange) -> String {
    let sign = if change.is_growth() == Some(true) { '+' } else { '−' };
    match change {
        SpanChange::Percent(percent) => notation::percentage(language, format!("{sign}{}", percent.unsigned_abs())),
        SpanChange::PointTenths(tenths) => {
            let (points, tenths) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
            let figure = if tenths == 0 { format!("{sign}{points}") } else { format!("{sign}{points}.{tenths}") };
            texts::points(language, &notation::decimal(language, figure))
        }
        SpanChange::Incomparable | SpanChange::Equal => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(change: SpanChange, better: BetterWhen) -> String {
        change_line(Language::English, change, better, 30).into_string()
    }

    #[test]
    fn a_change_is_written_in_the_language_of_the_page() {
        let german = |change, days| change_line(Language::German, change, BetterWhen::Higher, days).into_string();
        let worse = german(SpanChange::PointTenths(-31), 30);
        assert!(worse.contains("Schlechter: −3,1 Prozentpunkte gegenüber den 30 Tagen davor"), "{worse}");
        assert!(german(SpanChange::Equal, 365).contains("Wie im Jahr davor"));
        assert!(german(SpanChange::Percent(12), 30).contains("Besser: +12\u{a0}% gegenüber"));
        assert!(german(SpanChange::PointTenths(20), 30).contains("Besser: +2 Prozentpunkte gegenüber"));
    }

    #[test]
    fn a_change_has_an_arrow_a_word_and_a_number() {
        let better = line(SpanChange::Percent(12), BetterWhen::Higher);
        assert!(better.contains("class=\"small up\"") && better.contains('▲'), "{better}");
        assert!(better.contains("Better: +12% vs. the previous 30 days"), "{better}");
        let worse = line(SpanChange::PointTenths(-31), BetterWhen::Higher);
        assert!(worse.contains("class=\"small down\"") && worse.contains('▼'), "{worse}");
        assert!(worse.contains("Worse: −3.1 points vs. the previous 30 days"), "{worse}");
    }

    #[test]
    fn what_has_no_data_has_no_tile() {
        let figure = |label: &str, value: Option<&str>| SpanFigure {
            label: label.to_owned(),
            value: value.map(str::to_owned),
            change: SpanChange::Equal,
            better: BetterWhen::Neither,
        };
        let html = summary(Language::English, &[figure("Prints", Some("12")), figure("Scrap cost", None)], 30).0;
        assert!(html.contains("<b>12</b>") && !html.contains("Scrap cost"), "{html}");
        assert_eq!(summary(Language::English, &[figure("Prints", None)], 30).0, "");
    }

    #[test]
    fn less_scrap_is_better_and_more_prints_are_neither_better_nor_worse() {
        assert!(line(SpanChange::Percent(-40), BetterWhen::Lower).contains("Better: −40%"));
        assert!(line(SpanChange::Percent(40), BetterWhen::Lower).contains("Worse: +40%"));
        assert!(line(SpanChange::Percent(40), BetterWhen::Neither).contains("</span> +40% vs."));
        assert!(line(SpanChange::Percent(-4), BetterWhen::Neither).contains("</span> −4% vs."));
    }

    #[test]
    fn what_cannot_be_compared_says_so_once() {
        assert!(line(SpanChange::Equal, BetterWhen::Lower).contains("Same as in the previous 30 days"));
        let figure = |label: &str, change| SpanFigure {
            label: label.to_owned(),
            value: Some("12".to_owned()),
            change,
            better: BetterWhen::Lower,
        };
        let of = |changes: [SpanChange; 3]| {
            let figures = ["Prints", "Bad parts", "Lead time"].into_iter().zip(changes);
            let figures: Vec<SpanFigure> = figures.map(|(label, change)| figure(label, change)).collect();
            summary(Language::English, &figures, 30).0
        };
        let none = of([SpanChange::Incomparable; 3]);
        assert_eq!(none.matches("No data for the previous 30 days").count(), 1, "{none}");
        assert!(none.contains(">No data for the previous 30 days</p>"), "{none}");
        let some = of([SpanChange::Percent(12), SpanChange::Incomparable, SpanChange::Incomparable]);
        assert!(some.contains(">No data for the previous 30 days: Bad parts, Lead time</p>"), "{some}");
        assert!(!of([SpanChange::Percent(12), SpanChange::Equal, SpanChange::Equal]).contains("No data"));
    }
}
