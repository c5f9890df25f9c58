//! Element of the statistics page: a chart and a table of its numbers, which can also be downloaded.

use maud::{Markup, html};

use domain::amount::Amount;
use domain::csv::{Cell, Csv};
use domain::currency;

/// Value of a table cell.
pub(super) enum Datum {
    /// Untrusted text.
    Words(String),
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
    pub(super) title: &'static str,
    /// Explanation of the numbers for readers.
    pub(super) about: &'static str,
    /// Column headings on the page and in the download. The first column identifies the row.
    pub(super) heads: Vec<(&'static str, &'static str)>,
    pub(super) rows: Vec<Vec<Datum>>,
    /// Chart; `None` if there is nothing to draw.
    pub(super) chart: Option<Markup>,
}

/// Formats a fraction as a percentage.
pub(super) fn share_words(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// Formats a duration in its two largest units.
pub(super) fn span_words(seconds: Option<i64>) -> String {
    let Some(seconds) = seconds else { return "–".to_owned() };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, 0) => format!("{hours} h"),
        (0, ..) => format!("{hours} h {minutes} min"),
        (_, 0, _) => format!("{days} d"),
        _ => format!("{days} d {hours} h"),
    }
}

impl Datum {
    /// Formats the value for display on the page.
    fn to_text(&self, of: &str) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Count(count) => count.to_string(),
            Self::Share(share) => share_words(*share),
            Self::Span(seconds) => span_words(*seconds),
            Self::Cents(None) => "unknown".to_owned(),
            Self::Cents(Some(cents)) => currency::format_amount(*cents, of),
            Self::Material(amount) => amount.to_string(),
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Words(words) => Cell::Text(words),
            Self::Count(count) => Cell::Number(count),
            Self::Share(share) => share.as_ref().map_or(Cell::Empty, |share| Cell::Number(share)),
            Self::Span(seconds) => seconds.as_ref().map_or(Cell::Empty, |seconds| Cell::Number(seconds)),
            Self::Cents(cents) => cents.as_ref().map_or(Cell::Empty, |cents| Cell::Number(cents)),
            Self::Material(amount) => Cell::Number(amount),
        }
    }
}

impl Figure {
    /// Renders the numbers as CSV, escaped so that no name can be interpreted as a formula.
    pub(super) fn csv(&self) -> String {
        let heads: Vec<&str> = self.heads.iter().map(|(_, name)| *name).collect();
        let mut csv = Csv::for_spreadsheets(&heads);
        for row in &self.rows {
            csv.row(row.iter().map(Datum::cell));
        }
        csv.into_text()
    }

    /// Renders the numbers as an HTML table, with amounts in the given currency.
    pub(super) fn table(&self, of: &str) -> Markup {
        html! {
            div class="table insight-table" tabindex="0" role="region" aria-label={ (self.title) ": figures" } {
                table {
                    thead {
                        tr {
                            @for (n, (head, _)) in self.heads.iter().enumerate() {
                                th scope="col" class=[(n > 0).then_some("number")] { (head) }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (n, datum) in row.iter().enumerate() {
                                    @if n == 0 { th scope="row" { (datum.to_text(of)) } }
                                    @else { td class="number" { (datum.to_text(of)) } }
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
        let spans = [None, Some(0), Some(61), Some(3_600), Some(3_660), Some(86_400), Some(90_000)].map(span_words);
        assert_eq!(spans, ["–", "0 s", "1 min 1 s", "1 h", "1 h 1 min", "1 d", "1 d 1 h"]);
        assert_eq!([None, Some(0.5), Some(1.0)].map(share_words), ["–", "50.0 %", "100.0 %"]);
        assert_eq!(Datum::Cents(Some(1250)).to_text("usd"), "12.50 USD");
    }

    #[test]
    fn the_download_has_what_the_table_has_and_no_formula() {
        let row = vec![Datum::Words("=1+1".to_owned()), Datum::Share(Some(0.25)), Datum::Cents(None)];
        let (slug, title, about) = ("x", "X", "");
        let heads = vec![("Name", "name"), ("Share", "share"), ("Cost", "cents")];
        let figure = Figure { slug, title, about, heads, rows: vec![row], chart: None };
        assert_eq!(figure.csv(), "\u{feff}name,share,cents\r\n'=1+1,0.25,\r\n");
        let table = figure.table("usd").into_string();
        assert!(table.contains("<th scope=\"row\">=1+1</th>") && table.contains("25.0 %"), "{table}");
    }
}
