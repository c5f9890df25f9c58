//! Charts and tables on the statistics page, each built from an API result.

use maud::Markup;

use super::chart::{Bar, BarMeaning, Column, bars, columns};
use super::figure::{Datum, Figure, share_words, span_words};
use super::look::count_words;
use http_api::production::insights::{Insights, LostMaterial, PrintNumbers};

/// Maximum number of bars in a chart; the table contains all rows.
const MAX_BARS: usize = 15;

/// Renders the first rows as bars; the longest bar fills the width.
fn ranked<'a, T>(
    slug: &str,
    title: &str,
    of: &'a [T],
    ink: BarMeaning,
    read: impl Fn(&'a T) -> (String, String, f64),
) -> Option<Markup> {
    let read: Vec<(String, String, f64)> = of.iter().take(MAX_BARS).map(read).collect();
    let longest = read.iter().map(|(_, _, value)| *value).fold(0.0, f64::max);
    let drawn: Vec<Bar> = read
        .into_iter()
        .map(|(label, value_text, value)| Bar { label, text: value_text, share: value / longest, ink })
        .collect();
    (longest > 0.0).then(|| bars(&format!("{slug}-chart"), title, &drawn))
}

/// Renders fractions as bars; the full width represents 100 %.
fn shares<'a, T>(
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
            Bar { label, text: share_words(share), share: share.unwrap_or(0.0), ink: BarMeaning::Good }
        })
        .collect();
    (!drawn.is_empty()).then(|| bars(&format!("{slug}-chart"), title, &drawn))
}

fn named(name: Option<&str>) -> String {
    name.unwrap_or("deleted").to_owned()
}

/// Returns a reason as text.
pub(super) fn reason_words(reason: Option<&str>) -> String {
    reason.map_or_else(|| "other or not given".to_owned(), |reason| reason.replace('_', " "))
}

/// Formats amounts of material with their units.
fn material(lost: &[LostMaterial]) -> String {
    let words: Vec<String> = lost.iter().map(|one| format!("{} {}", one.amount, one.unit)).collect();
    words.join(", ")
}

/// Returns all charts on the page, in display order.
pub(super) fn figures(insights: &Insights) -> [Figure; 9] {
    [
        prints_by_day(insights),
        utilisation(insights),
        failures(insights),
        first_pass(insights),
        scrap(insights),
        scrap_reasons(insights),
        material_used(insights),
        lead_time(insights),
        promises(insights),
    ]
}

fn prints_by_day(insights: &Insights) -> Figure {
    let (slug, title) = ("prints", "Prints per day");
    let days = &insights.activity.by_day;
    let bad = |numbers: &PrintNumbers| numbers.failed + numbers.cancelled;
    let most = days.iter().map(|day| day.numbers.prints).max().unwrap_or(0);
    let drawn: Vec<Column> = days
        .iter()
        .map(|day| Column {
            label: day.day.get(5..).unwrap_or_default().to_owned(),
            good: day.numbers.finished as f64,
            bad: bad(&day.numbers) as f64,
        })
        .collect();
    let scale = format!("{most} prints on the busiest day; red: failed or cancelled");
    let rows = days.iter().rev().map(|day| {
        let of = &day.numbers;
        vec![
            Datum::Words(day.day.clone()),
            Datum::Count(of.finished),
            Datum::Count(of.failed),
            Datum::Count(of.cancelled),
            Datum::Span(Some(of.print_seconds)),
        ]
    });
    Figure {
        slug,
        title,
        about: "By the day on which each print was assigned to a printer. The API counts days in UTC.",
        heads: vec![
            ("Day", "day"),
            ("Finished", "finished"),
            ("Failed", "failed"),
            ("Cancelled", "cancelled"),
            ("Printed", "printSeconds"),
        ],
        rows: rows.collect(),
        chart: (most > 0).then(|| columns("prints-chart", title, &scale, &drawn)),
    }
}

fn utilisation(insights: &Insights) -> Figure {
    let (slug, title) = ("utilisation", "Printer utilisation");
    let printers = &insights.activity.by_printer;
    let rows = printers.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(one.name.as_deref())),
            Datum::Share(one.utilisation),
            Datum::Span(Some(of.print_seconds)),
            Datum::Count(of.prints),
            Datum::Count(of.failed),
            Datum::Share(of.failure_rate),
        ]
    });
    Figure {
        slug,
        title,
        about: "Share of the period that each printer spent printing, counted from when it was added.",
        heads: vec![
            ("Printer", "printer"),
            ("Utilisation", "utilisation"),
            ("Printed", "printSeconds"),
            ("Prints", "prints"),
            ("Failed", "failed"),
            ("Failure rate", "failureRate"),
        ],
        rows: rows.collect(),
        chart: shares(slug, title, printers, |one| (named(one.name.as_deref()), one.utilisation)),
    }
}

fn failures(insights: &Insights) -> Figure {
    let (slug, title) = ("failures", "Failed prints by reason");
    let reasons = &insights.activity.failures_by_reason;
    let rows =
        reasons.iter().map(|one| vec![Datum::Words(reason_words(one.reason.as_deref())), Datum::Count(one.count)]);
    Figure {
        slug,
        title,
        about: "As reported by printers or staff, for the last 1,000 failed prints.",
        heads: vec![("Reason", "reason"), ("Prints", "prints")],
        rows: rows.collect(),
        chart: ranked(slug, title, reasons, BarMeaning::Bad, |one| {
            (reason_words(one.reason.as_deref()), one.count.to_string(), one.count as f64)
        }),
    }
}

fn first_pass(insights: &Insights) -> Figure {
    let (slug, title) = ("first-pass-yield", "First-pass yield by SKU");
    let skus = &insights.quality.by_sku;
    let rows = skus.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(one.name.as_deref())),
            Datum::Share(of.first_pass_yield),
            Datum::Count(of.prints),
            Datum::Count(of.parts),
            Datum::Count(of.good),
        ]
    });
    Figure {
        slug,
        title,
        about: "Share of good parts in first prints, excluding reprints.",
        heads: vec![
            ("SKU", "sku"),
            ("First-pass yield", "firstPassYield"),
            ("Prints", "prints"),
            ("Parts", "parts"),
            ("Good", "good"),
        ],
        rows: rows.collect(),
        chart: shares(slug, title, skus, |one| (named(one.name.as_deref()), one.numbers.first_pass_yield)),
    }
}

fn scrap(insights: &Insights) -> Figure {
    let (slug, title) = ("scrap", "Scrap and cost by SKU");
    let all = &insights.quality.by_sku;
    let end = all.partition_point(|one| one.numbers.scrap > 0);
    let skus = all.get(..end).unwrap_or_default();
    let rows = skus.iter().map(|one| {
        let of = &one.numbers;
        vec![
            Datum::Words(named(one.name.as_deref())),
            Datum::Count(of.scrap),
            Datum::Span(Some(of.scrap_seconds)),
            Datum::Words(material(&of.scrap_material)),
            Datum::Cents(of.scrap_cost_cents),
        ]
    });
    Figure {
        slug,
        title,
        about: "Bad parts with their print time, their material and its cost at today's prices.",
        heads: vec![
            ("SKU", "sku"),
            ("Bad parts", "scrap"),
            ("Time", "scrapSeconds"),
            ("Material", "scrapMaterial"),
            ("Cost", "scrapCostCents"),
        ],
        rows: rows.collect(),
        chart: ranked(slug, title, skus, BarMeaning::Bad, |one| {
            (named(one.name.as_deref()), count_words(one.numbers.scrap, "part"), one.numbers.scrap as f64)
        }),
    }
}

fn scrap_reasons(insights: &Insights) -> Figure {
    let (slug, title) = ("scrap-reasons", "Bad parts by reason");
    let reasons = &insights.quality.by_reason;
    let rows = reasons.iter().map(|one| {
        let of = &one.numbers;
        let words = Datum::Words(reason_words(one.reason.as_deref()));
        vec![words, Datum::Count(of.scrap), Datum::Cents(of.scrap_cost_cents)]
    });
    Figure {
        slug,
        title,
        about: "Reasons given at sign-off.",
        heads: vec![("Reason", "reason"), ("Bad parts", "scrap"), ("Cost", "scrapCostCents")],
        rows: rows.collect(),
        chart: ranked(slug, title, reasons, BarMeaning::Bad, |one| {
            (reason_words(one.reason.as_deref()), count_words(one.numbers.scrap, "part"), one.numbers.scrap as f64)
        }),
    }
}

fn material_used(insights: &Insights) -> Figure {
    let (slug, title) = ("material", "Material used");
    let used = &insights.activity.material_used;
    let rows = used.iter().map(|one| {
        let [name, unit] = [named(one.name.as_deref()), one.unit.to_owned()].map(Datum::Words);
        vec![name, Datum::Material(one.amount), unit]
    });
    let most = |unit: &str| used.iter().filter(|one| one.unit == unit).map(|one| one.amount.0).max().unwrap_or(0);
    let drawn: Vec<Bar> = used
        .iter()
        .take(MAX_BARS)
        .map(|one| Bar {
            label: named(one.name.as_deref()),
            text: format!("{} {}", one.amount, one.unit),
            share: one.amount.0 as f64 / most(one.unit) as f64,
            ink: BarMeaning::Good,
        })
        .collect();
    Figure {
        slug,
        title,
        about: "Material used by all prints, good or bad. Bars compare materials with the same unit.",
        heads: vec![("Material", "material"), ("Used", "used"), ("Unit", "unit")],
        rows: rows.collect(),
        chart: (!drawn.is_empty()).then(|| bars("material-chart", title, &drawn)),
    }
}

fn lead_time(insights: &Insights) -> Figure {
    let (slug, title) = ("lead-time", "Order lead time");
    let groups = &insights.activity.lead_time.spread;
    let words = |seconds: Option<i64>| {
        seconds.map_or_else(|| "longer".to_owned(), |seconds| format!("up to {}", span_words(Some(seconds))))
    };
    let rows = groups.iter().map(|one| vec![Datum::Words(words(one.at_most_seconds)), Datum::Count(one.orders)]);
    Figure {
        slug,
        title,
        about: "Time from payment to ready, for the newest 2,000 orders placed in this period.",
        heads: vec![("Time", "time"), ("Orders", "orders")],
        rows: rows.collect(),
        chart: ranked(slug, title, groups, BarMeaning::Good, |one| {
            (words(one.at_most_seconds), count_words(one.orders, "order"), one.orders as f64)
        }),
    }
}

fn promises(insights: &Insights) -> Figure {
    let (slug, title) = ("promises", "Promises kept");
    let of = &insights.activity.promises;
    let outcomes = [("kept", of.on_time, BarMeaning::Good), ("late", of.late, BarMeaning::Bad)];
    let all = of.on_time + of.late;
    let drawn = outcomes.map(|(words, count, ink)| Bar {
        label: words.to_owned(),
        text: count_words(count, "order"),
        share: count as f64 / all.max(1) as f64,
        ink,
    });
    let rows = outcomes.map(|(words, count, _)| vec![Datum::Words(words.to_owned()), Datum::Count(count)]);
    Figure {
        slug,
        title,
        about: "Orders placed in this period: ready by the promised time, or late.",
        heads: vec![("Outcome", "outcome"), ("Orders", "orders")],
        rows: rows.into(),
        chart: (all > 0).then(|| bars("promises-chart", title, &drawn)),
    }
}
