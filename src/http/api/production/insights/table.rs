//! The insights as a table: one row for all prints, then one per SKU, printer and reason.

use axum::http::header;

use super::{Insights, QualityNumbers};
use domain::amount::Amount;
use domain::csv::{Cell, Csv};
use http::reply::{Media, MediaType};

/// Units of lost material, each with its own column: grams, millilitres, sheets.
const UNITS: [&str; 3] = ["g", "mL", "sheet"];

/// Media type of the insights table.
pub(super) struct InsightTable;

impl MediaType for InsightTable {
    const MEDIA: &'static str = "text/csv";
    const EXAMPLE: Option<&'static str> = Some(
        "group,id,name,prints,parts,good,scrap,firstPassYield,scrapSeconds,scrapGrams,scrapMillilitres,scrapSheets,scrapCostCents\r\n\
         total,,,40,80,77,3,0.9625,5400,41.5,0,0,104\r\n",
    );
}

/// Renders the insights as a table for download.
pub(super) fn download(insights: &Insights) -> Media<InsightTable> {
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"insights.csv\""),
    ];
    Media::new((headers, table(insights)))
}

fn table(insights: &Insights) -> String {
    let quality = &insights.quality;
    let mut csv = Csv::new(&[
        "group",
        "id",
        "name",
        "prints",
        "parts",
        "good",
        "scrap",
        "firstPassYield",
        "scrapSeconds",
        "scrapGrams",
        "scrapMillilitres",
        "scrapSheets",
        "scrapCostCents",
    ]);
    row(&mut csv, "total", None, None, &quality.total);
    for one in &quality.by_sku {
        row(&mut csv, "sku", Some(&one.sku_id.to_string()), one.name.as_deref(), &one.numbers);
    }
    for one in &quality.by_printer {
        row(&mut csv, "printer", Some(&one.printer_id.to_string()), one.name.as_deref(), &one.numbers);
    }
    for one in &quality.by_reason {
        row(&mut csv, "reason", None, one.reason.as_deref(), &one.numbers);
    }
    csv.into_text()
}

fn row(csv: &mut Csv, group: &str, id: Option<&str>, name: Option<&str>, numbers: &QualityNumbers) {
    let lost = UNITS.map(|unit| {
        let of_it = numbers.scrap_material.iter().filter(|one| one.unit == unit);
        of_it.map(|one| one.amount).sum::<Amount>()
    });
    let counts = [&numbers.prints, &numbers.parts, &numbers.good, &numbers.scrap];
    let words = [Some(group), id, name];
    let words = words.into_iter().map(|text| text.map_or(Cell::Empty, Cell::Text));
    let counts = counts.into_iter().map(|count| Cell::Number(count));
    let share = numbers.first_pass_yield.as_ref().map_or(Cell::Empty, |share| Cell::Number(share));
    let seconds = Cell::Number(&numbers.scrap_seconds);
    let lost = lost.iter().map(|amount| Cell::Number(amount));
    let cost = numbers.scrap_cost_cents.as_ref().map_or(Cell::Empty, |cost| Cell::Number(cost));
    csv.row(words.chain(counts).chain([share, seconds]).chain(lost).chain([cost]));
}
