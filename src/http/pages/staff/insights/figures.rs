//! Charts and tables on the statistics page, each built from an API result.

use maud::Markup;

use super::chart::{Bar, BarLabel, BarMeaning, Column, bars, columns};
use super::figure::{Datum, Figure, kind_of_unit, share_words, short_day, span_words, unit_words};
use crate::staff::sign_off::{defect_label, defect_name};
use domain::amount::Amount;
use domain::material::exact_stock_amount;
use domain::notation;
use http_api::production::insights::{Insights, LostMaterial, PrintNumbers};
use words::Language;
use words::staff::insights as texts;

/// Maximum number of bars in a chart; the table contains all rows.
const MAX_BARS: usize = 15;

/// Renders the first rows as bars; the longest bar fills the width.
fn ranked<'a, T, L: Into<BarLabel>>(
    slug: &str,
    title: &str,
    of: &'a [T],
    ink: BarMeaning,
    read: impl Fn(&'a T) -> (L, String, f64),
) -> Option<Markup> {
    let read: Vec<(L, String, f64)> = of.iter().take(MAX_BARS).map(read).collect();
    let longest = read.iter().map(|(_, _, value)| *value).fold(0.0, f64::max);
    let drawn: Vec<Bar> = read
        .into_iter()
        .map(|(label, value_text, value)| Bar { label: label.into(), text: value_text, share: value / longest, ink })
        .collect();
    (longest > 0.0).then(|| bars(&format!("{slug}-chart"), title, &drawn))
}

/// Renders fractions as bars; the full width represents 100 %.
fn shares<'a, T>(
    language: Language,
    slug: &str,
    title: &str,
    of: &'a [T],
    read: impl Fn(&'a T) -> (String, Option<f64>),
) -> Option<Markup> {
    let drawn: Vec<Bar> = of
        .iter()
        .take(MAX_BARS)
        .map(|one| {
            let (label, share) = read(one);
            Bar {
                label: label.into(),
                text: share_words(language, share),
                share: share.unwrap_or(0.0),
                ink: BarMeaning::Good,
            }
        })
        .collect();
    (!drawn.is_empty()).then(|| bars(&format!("{slug}-chart"), title, &drawn))
}

fn named(language: Language, name: Option<&str>) -> String {
    name.map_or_else(|| texts::deleted(language), str::to_owned)
}

/// Returns a reason as text.
pub(super) fn reason_words(language: Language, reason: Option<&str>) -> String {
    reason.map_or_else(|| texts::no_reason(language), |reason| defect_name(language, reason))
}

/// Returns the reason why prints failed. A reason that is not a defect is a message from the server or a printer.
fn failure_words(language: Language, reason: Option<&str>) -> Datum {
    let Some(reason) = reason else { return Datum::Words(texts::no_reason(language)) };
    defect_label(language, reason).map_or_else(|| Datum::Message(reason.to_owned()), Datum::Words)
}

/// Returns the label of the bar for a reason why prints failed.
fn failure_label(language: Language, reason: Datum) -> BarLabel {
    match reason {
        Datum::Message(text) => {
            BarLabel { text, lang: (language != Language::English).then_some(Language::English.tag()) }
        }
        other => other.to_text(language, "").into(),
    }
}

/// Formats amounts of material with their units.
fn material(language: Language, lost: &[LostMaterial]) -> String {
    let words: Vec<String> = lost.iter().map(|one| amount_words(language, one.amount, one.unit)).collect();
    words.join(", ")
}

/// Formats an amount of material with its unit.
fn amount_words(language: Language, amount: Amount, unit: &str) -> String {
    format!("{} {}", notation::decimal(language, amount), unit_words(language, unit))
}

/// Formats an amount of material beside a bar, in kilograms if it is large, as stock is written.
fn bar_amount(language: Language, amount: Amount, unit: &str) -> String {
    let kind = kind_of_unit(unit);
    kind.map_or_else(|| amount_words(language, amount, unit), |kind| exact_stock_amount(language, amount, kind))
}

/// Returns all charts on the page, in display order.
pub(super) fn figures(language: Language, insights: &Insights) -> [Figure; 9] {
    [
        prints_by_day(language, insights),
        utilisation(language, insights),
        failures(language, insights),
        first_pass(language, insights),
        scrap(language, insights),
        scrap_reasons(language, insights),
        material_used(language, insights),
        lead_time(language, insights),
        promises(language, insights),
    ]
}

fn prints_by_day(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("prints", texts::prints_title(language));
    let days = &insights.activity.by_day;
    let bad = |numbers: &PrintNumbers| numbers.failed + numbers.cancelled;
    let most = days.iter().map(|day| day.numbers.prints).max().unwrap_or(0);
    let drawn: Vec<Column> = days
        .iter()
        .map(|day| Column {
            label: short_day(language, &day.day),
            good: day.numbers.finished as f64,
            bad: bad(&day.numbers) as f64,
        })
        .collect();
    let scale = texts::prints_scale(language, most);
    let rows = days.iter().rev().map(|day| {
        let of = &day.numbers;
        vec![
            Datum::Day(day.day.clone()),
            Datum::Count(of.finished),
            Datum::Count(of.failed),
            Datum::Count(of.cancelled),
            Datum::Span(Some(of.print_seconds)),
        ]
    });
    let chart = (most > 0).then(|| columns("prints-chart", &title, &scale, &drawn));
    Figure {
        slug,
        title,
        about: texts::prints_about(language),
        heads: vec![
            (texts::day_column(language), "day"),
            (texts::finished_column(language), "finished"),
            (texts::failed_column(language), "failed"),
            (texts::cancelled_column(language), "cancelled"),
            (texts::print_time(language), "printSeconds"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn utilisation(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("utilisation", texts::utilisation_title(language));
    let printers = &insights.activity.by_printer;
    let rows = printers.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(language, one.name.as_deref())),
            Datum::Share(one.utilisation),
            Datum::Span(Some(of.print_seconds)),
            Datum::Count(of.prints),
            Datum::Count(of.failed),
            Datum::Share(of.failure_rate),
        ]
    });
    let chart = shares(language, slug, &title, printers, |one| (named(language, one.name.as_deref()), one.utilisation));
    Figure {
        slug,
        title,
        about: texts::utilisation_about(language),
        heads: vec![
            (texts::printer_column(language), "printer"),
            (texts::utilisation_column(language), "utilisation"),
            (texts::print_time(language), "printSeconds"),
            (texts::prints_column(language), "prints"),
            (texts::failed_column(language), "failed"),
            (texts::failure_rate(language), "failureRate"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn failures(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("failures", texts::failures_title(language));
    let reasons = &insights.activity.failures_by_reason;
    let rows = reasons.iter().map(|one| vec![failure_words(language, one.reason.as_deref()), Datum::Count(one.count)]);
    let chart = ranked(slug, &title, reasons, BarMeaning::Bad, |one| {
        let label = failure_label(language, failure_words(language, one.reason.as_deref()));
        (label, texts::number(language, one.count), one.count as f64)
    });
    Figure {
        slug,
        title,
        about: texts::failures_about(language),
        heads: vec![(texts::reason_column(language), "reason"), (texts::prints_column(language), "prints")],
        rows: rows.collect(),
        chart,
    }
}

fn first_pass(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("first-pass-yield", texts::first_pass_title(language));
    let skus = &insights.quality.by_sku;
    let rows = skus.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(language, one.name.as_deref())),
            Datum::Share(of.first_pass_yield),
            Datum::Count(of.prints),
            Datum::Count(of.parts),
            Datum::Count(of.good),
        ]
    });
    let chart = shares(language, slug, &title, skus, |one| {
        (named(language, one.name.as_deref()), one.numbers.first_pass_yield)
    });
    Figure {
        slug,
        title,
        about: texts::first_pass_about(language),
        heads: vec![
            (texts::product_column(language), "sku"),
            (texts::first_pass_yield(language), "firstPassYield"),
            (texts::prints_column(language), "prints"),
            (texts::parts_column(language), "parts"),
            (texts::good_column(language), "good"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn scrap(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("scrap", texts::scrap_title(language));
    let all = &insights.quality.by_sku;
    let end = all.partition_point(|one| one.numbers.scrap > 0);
    let skus = all.get(..end).unwrap_or_default();
    let rows = skus.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(language, one.name.as_deref())),
            Datum::Count(of.scrap),
            Datum::Span(Some(of.scrap_seconds)),
            Datum::Words(material(language, &of.scrap_material)),
            Datum::Cents(of.scrap_cost_cents),
        ]
    });
    let chart = ranked(slug, &title, skus, BarMeaning::Bad, |one| {
        (named(language, one.name.as_deref()), texts::parts(language, one.numbers.scrap), one.numbers.scrap as f64)
    });
    Figure {
        slug,
        title,
        about: texts::scrap_about(language),
        heads: vec![
            (texts::product_column(language), "sku"),
            (texts::bad_parts_column(language), "scrap"),
            (texts::time_column(language), "scrapSeconds"),
            (texts::material_column(language), "scrapMaterial"),
            (texts::cost_column(language), "scrapCostCents"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn scrap_reasons(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("scrap-reasons", texts::scrap_reasons_title(language));
    let reasons = &insights.quality.by_reason;
    let rows = reasons.iter().map(|one| {
        let of = &one.numbers;
        let words = Datum::Words(reason_words(language, one.reason.as_deref()));
        vec![words, Datum::Count(of.scrap), Datum::Cents(of.scrap_cost_cents)]
    });
    let chart = ranked(slug, &title, reasons, BarMeaning::Bad, |one| {
        (
            reason_words(language, one.reason.as_deref()),
            texts::parts(language, one.numbers.scrap),
            one.numbers.scrap as f64,
        )
    });
    Figure {
        slug,
        title,
        about: texts::scrap_reasons_about(language),
        heads: vec![
            (texts::reason_column(language), "reason"),
            (texts::bad_parts_column(language), "scrap"),
            (texts::cost_column(language), "scrapCostCents"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn material_used(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("material", texts::material_title(language));
    let used = &insights.activity.material_used;
    let rows = used.iter().map(|one| {
        let unit = unit_words(language, one.unit).to_owned();
        let [name, unit] = [named(language, one.name.as_deref()), unit].map(Datum::Words);
        vec![name, Datum::Material(one.amount), unit]
    });
    let most = |unit: &str| used.iter().filter(|one| one.unit == unit).map(|one| one.amount.0).max().unwrap_or(0);
    let drawn: Vec<Bar> = used
        .iter()
        .take(MAX_BARS)
        .map(|one| Bar {
            label: named(language, one.name.as_deref()).into(),
            text: bar_amount(language, one.amount, one.unit),
            share: one.amount.0 as f64 / most(one.unit) as f64,
            ink: BarMeaning::Good,
        })
        .collect();
    let chart = (!drawn.is_empty()).then(|| bars("material-chart", &title, &drawn));
    Figure {
        slug,
        title,
        about: texts::material_about(language),
        heads: vec![
            (texts::material_column(language), "material"),
            (texts::used_column(language), "used"),
            (texts::unit_column(language), "unit"),
        ],
        rows: rows.collect(),
        chart,
    }
}

fn lead_time(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("lead-time", texts::lead_time_title(language));
    let groups = &insights.activity.lead_time.spread;
    let words = |seconds: Option<i64>| {
        let up_to = |seconds| texts::up_to(language, &span_words(language, Some(seconds)));
        seconds.map_or_else(|| texts::longer(language), up_to)
    };
    let rows = groups.iter().map(|one| vec![Datum::Words(words(one.at_most_seconds)), Datum::Count(one.orders)]);
    let chart = ranked(slug, &title, groups, BarMeaning::Good, |one| {
        (words(one.at_most_seconds), texts::orders(language, one.orders), one.orders as f64)
    });
    Figure {
        slug,
        title,
        about: texts::lead_time_about(language),
        heads: vec![(texts::time_column(language), "time"), (texts::orders_column(language), "orders")],
        rows: rows.collect(),
        chart,
    }
}

fn promises(language: Language, insights: &Insights) -> Figure {
    let (slug, title) = ("promises", texts::promises_title(language));
    let of = &insights.activity.promises;
    let outcomes = [
        (texts::promise_kept(language), of.on_time, BarMeaning::Good),
        (texts::promise_late(language), of.late, BarMeaning::Bad),
    ];
    let all = of.on_time + of.late;
    let drawn = outcomes.clone().map(|(words, count, ink)| Bar {
        label: words.into(),
        text: texts::orders(language, count),
        share: count as f64 / all.max(1) as f64,
        ink,
    });
    let rows = outcomes.map(|(words, count, _)| vec![Datum::Words(words), Datum::Count(count)]);
    let chart = (all > 0).then(|| bars("promises-chart", &title, &drawn));
    Figure {
        slug,
        title,
        about: texts::promises_about(language),
        heads: vec![(texts::outcome_column(language), "outcome"), (texts::orders_column(language), "orders")],
        rows: rows.into(),
        chart,
    }
}
