//! Element of the statistics page: a chart and a table of its numbers, which can also be downloaded.

use maud::{Markup, html};

use crate::times::message_in;
use domain::amount::Amount;
use domain::csv::{Cell, Csv};
use domain::material::{MaterialType, unit};
use domain::notation;
use words::Language;
use words::staff::insights as texts;

/// Material types, whose units are in tables and charts.
const MATERIAL_TYPES: [MaterialType; 4] =
    [MaterialType::Filament, MaterialType::Resin, MaterialType::LaserSheet, MaterialType::LaserConsumable];

/// Value of a table cell.
pub(super) enum Datum {
    /// Untrusted text.
    Words(String),
    /// Message from the server or a printer, in English.
    Message(String),
    /// Day, as the API writes it: `2026-11-28`.
    Day(String),
    /// Number of items or events.
    Count(i64),
    /// Fraction from 0 to 1; `None` if there is no total.
    Share(Option<f64>),
    /// Duration, in seconds; `None` if unknown.
    Span(Option<i64>),
    /// Amount, in minor units of the shop's currency; `None` if unknown.
    Cents(Option<i64>),
    /// Amount of material, in the unit given in another cell.
    Material(Amount),
}

/// Chart with its title and table.
pub(super) struct Figure {
    /// Name of the chart in URLs and HTML IDs.
    pub(super) slug: &'static str,
    pub(super) title: String,
    /// Explanation of the numbers for readers.
    pub(super) about: String,
    /// Column headings on the page and in the download. The first column identifies the row.
    pub(super) heads: Vec<(String, &'static str)>,
    pub(super) rows: Vec<Vec<Datum>>,
    /// Chart; `None` if there is nothing to draw.
    pub(super) chart: Option<Markup>,
}

/// Formats a fraction as a percentage with at most one decimal: `83.3%`, `100%`.
pub(super) fn share_words(language: Language, share: Option<f64>) -> String {
    let text = |share: f64| notation::percentage(language, (share * 1000.0).round() / 10.0);
    share.map_or_else(|| "–".to_owned(), text)
}

/// Returns a type of material with a unit, as [`MaterialType::unit`] names it; `None` if no material has it.
pub(super) fn kind_of_unit(word: &str) -> Option<MaterialType> {
    MATERIAL_TYPES.into_iter().find(|kind| kind.unit() == word)
}

/// Returns a unit of material, as [`MaterialType::unit`] names it, in the language of the page.
pub(super) fn unit_words(language: Language, word: &str) -> &str {
    kind_of_unit(word).map_or(word, |kind| unit(language, kind))
}

/// Formats a day as the API writes it: `2026-11-28` or `28.11.2026`.
fn day_words(language: Language, day: &str) -> String {
    match (language, day.split_once('-').and_then(|(year, rest)| Some((year, rest.split_once('-')?)))) {
        (Language::German, Some((year, (month, day)))) => format!("{day}.{month}.{year}"),
        _ => day.to_owned(),
    }
}

/// Formats a day without its year: `11-28` or `28.11.`
pub(super) fn short_day(language: Language, day: &str) -> String {
    let short = day.get(5..).unwrap_or_default();
    match (language, short.split_once('-')) {
        (Language::German, Some((month, day))) => format!("{day}.{month}."),
        _ => short.to_owned(),
    }
}

/// Formats a duration in its two largest units.
pub(super) fn span_words(language: Language, seconds: Option<i64>) -> String {
    let Some(seconds) = seconds else { return "–".to_owned() };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => texts::seconds(language, seconds),
        (0, 0, _) => texts::minutes(language, minutes, seconds % 60),
        (0, _, 0) => texts::whole_hours(language, hours),
        (0, ..) => texts::hours(language, hours, minutes),
        (_, 0, _) => texts::whole_days(language, days),
        _ => texts::days(language, days, hours),
    }
}

impl Datum {
    /// Formats the value for display on the page.
    pub(super) fn to_text(&self, language: Language, of: &str) -> String {
        match self {
            Self::Words(words) | Self::Message(words) => words.clone(),
            Self::Day(day) => day_words(language, day),
            Self::Count(count) => texts::number(language, *count),
            Self::Share(share) => share_words(language, *share),
            Self::Span(seconds) => span_words(language, *seconds),
            Self::Cents(None) => texts::unknown(language),
            Self::Cents(Some(cents)) => notation::amount(language, *cents, of),
            Self::Material(amount) => notation::decimal(language, amount),
        }
    }

    /// Renders the value for display on the page. A message is marked as English.
    fn html(&self, language: Language, of: &str) -> Markup {
        match self {
            Self::Message(message) => message_in(language, message),
            other => html! { (other.to_text(language, of)) },
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Words(words) | Self::Message(words) | Self::Day(words) => Cell::Text(words),
            Self::Count(count) => Cell::Number(count),
            Self::Share(share) => share.as_ref().map_or(Cell::Empty, |share| Cell::Number(share)),
            Self::Span(seconds) => seconds.as_ref().map_or(Cell::Empty, |seconds| Cell::Number(seconds)),
            Self::Cents(cents) => cents.as_ref().map_or(Cell::Empty, |cents| Cell::Number(cents)),
            Self::Material(amount) => Cell::Number(amount),
        }
    }
}

/// Returns whether a row is of a day on which nothing was counted.
fn is_empty_day(row: &[Datum]) -> bool {
    let is_nothing = |datum: &Datum| matches!(datum, Datum::Count(0) | Datum::Span(Some(0)));
    matches!(row, [Datum::Day(_), rest @ ..] if rest.iter().all(is_nothing))
}

impl Figure {
    /// Returns the number of days in the table on which nothing was counted. The page leaves them out.
    pub(super) fn empty_days(&self) -> usize {
        self.rows.iter().filter(|row| is_empty_day(row)).count()
    }

    /// Renders the numbers as CSV, escaped so that no name can be interpreted as a formula.
    pub(super) fn csv(&self) -> String {
        let heads: Vec<&str> = self.heads.iter().map(|(_, name)| *name).collect();
        let mut csv = Csv::for_spreadsheets(&heads);
        for row in &self.rows {
            csv.row(row.iter().map(Datum::cell));
        }
        csv.into_text()
    }

    /// Renders the numbers as an HTML table, with amounts in the given currency and without days on which nothing was
    /// counted.
    pub(super) fn table(&self, language: Language, of: &str) -> Markup {
        html! {
            div class="table list insight-table" tabindex="0" role="region" aria-label=(texts::table_of(language, &self.title)) {
                table {
                    thead {
                        tr {
                            @for (n, (head, _)) in self.heads.iter().enumerate() {
                                th scope="col" class=[(n > 0).then_some("number")] { (head) }
                            }
                        }
                    }
                    tbody {
                        @for row in self.rows.iter().filter(|row| !is_empty_day(row)) {
                            tr {
                                @for (n, datum) in row.iter().enumerate() {
                                    @if n == 0 { th scope="row" { (datum.html(language, of)) } }
                                    @else {
                                        @let label = self.heads.get(n).map(|(head, _)| head);
                                        td class="number start" data-label=[label] { (datum.html(language, of)) }
                                    }
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

    #[test]
    fn numbers_are_said_in_words() {
        let spans = [None, Some(0), Some(61), Some(3_600), Some(3_660), Some(86_400), Some(90_000)];
        let spans = spans.map(|seconds| span_words(Language::English, seconds));
        assert_eq!(spans, ["–", "0 s", "1 min 1 s", "1 h", "1 h 1 min", "1 d", "1 d 1 h"]);
        let shares = [None, Some(0.5), Some(1.0)].map(|share| share_words(Language::English, share));
        assert_eq!(shares, ["–", "50%", "100%"]);
        assert_eq!(Datum::Cents(Some(1250)).to_text(Language::English, "usd"), "$12.50");
    }

    #[test]
    fn numbers_and_days_are_written_as_in_each_language() {
        let day = Datum::Day("2026-11-28".to_owned());
        let texts = |datum: &Datum| Language::ALL.map(|language| datum.to_text(language, "eur"));
        assert_eq!(texts(&day), ["2026-11-28", "28.11.2026"]);
        assert_eq!(texts(&Datum::Count(1_200)), ["1200", "1.200"]);
        assert_eq!(texts(&Datum::Share(Some(0.833))), ["83.3%", "83,3\u{a0}%"]);
        assert_eq!(texts(&Datum::Span(Some(90_000))), ["1 d 1 h", "1 Tag 1\u{a0}Std."]);
        assert_eq!(Language::ALL.map(|language| short_day(language, "2026-11-28")), ["11-28", "28.11."]);
        for (word, german) in [("unit", "Stück"), ("sheet", "Stück"), ("mL", "ml"), ("g", "g"), ("spools", "spools")]
        {
            assert_eq!(Language::ALL.map(|language| unit_words(language, word)), [word, german]);
        }
    }

    #[test]
    fn a_message_is_marked_as_english() {
        let datum = Datum::Message("file_1.gcode <failed>".to_owned());
        let html = Language::ALL.map(|language| datum.html(language, "eur").into_string());
        let text = "file_1.gcode &lt;failed&gt;";
        assert_eq!(html, [text.to_owned(), format!("<span lang=\"en\">{text}</span>")]);
    }

    #[test]
    fn the_table_on_the_page_has_only_days_with_something() {
        let row = |day: &str, count: i64| {
            vec![Datum::Day(day.to_owned()), Datum::Count(count), Datum::Span(Some(count * 60))]
        };
        let heads = [("Day", "day"), ("Finished", "finished"), ("Print time", "printSeconds")];
        let heads = heads.map(|(head, name)| (head.to_owned(), name)).to_vec();
        let rows = vec![row("2026-11-30", 0), row("2026-11-29", 2), row("2026-11-28", 0)];
        let (title, about) = ("X".to_owned(), String::new());
        let figure = Figure { slug: "x", title, about, heads, rows, chart: None };
        let table = figure.table(Language::English, "usd").into_string();
        assert!(table.matches("<th scope=\"row\">").count() == 1 && table.contains("2026-11-29"), "{table}");
        assert_eq!(figure.empty_days(), 2);
        assert_eq!(figure.csv().lines().count(), 4, "the download has all of them");
    }

    #[test]
    fn the_download_has_what_the_table_has_and_no_formula() {
        let row = vec![Datum::Words("=1+1".to_owned()), Datum::Share(Some(0.25)), Datum::Cents(None)];
        let heads = [("Name", "name"), ("Share", "share"), ("Cost", "cents")];
        let heads = heads.map(|(head, name)| (head.to_owned(), name)).to_vec();
        let (title, about) = ("X".to_owned(), String::new());
        let figure = Figure { slug: "x", title, about, heads, rows: vec![row], chart: None };
        assert_eq!(figure.csv(), "\u{feff}name,share,cents\r\n'=1+1,0.25,\r\n");
        let table = figure.table(Language::English, "usd").into_string();
        assert!(table.contains("<th scope=\"row\">=1+1</th>") && table.contains(">25%<"), "{table}");
    }
}
