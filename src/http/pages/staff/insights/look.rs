//! Sentences that point out a printer, a SKU and a reason in a time span that deserve attention.

use maud::{Markup, html};

use super::figure::share_words;
use super::figures::reason_words;
use crate::frame::{SLOT, with_parts};
use crate::staff::{FLOOR_PATH, PRODUCTS_PATH};
use domain::insights::comparison::{Finding, FindingBasis, PrinterYield, ReasonCount, SkuScrap, findings};
use domain::notation;
use http_api::production::insights::{InsightTotals, Insights, ReasonQuality};
use words::Language;
use words::staff::insights as texts;

/// Renders the findings for a time span of this number of days; renders nothing if there are none.
pub(super) fn look(
    language: Language,
    insights: &Insights,
    earlier: &InsightTotals,
    days: i64,
    currency: &str,
) -> Markup {
    let basis = basis(insights, earlier);
    let all = findings(&basis);
    html! {
        @if !all.is_empty() {
            section class="panel pad insight-look" aria-labelledby="look" {
                h2 id="look" { (texts::findings_title(language)) }
                ul { @for finding in &all { li { (sentence(language, finding, days, currency)) } } }
            }
        }
    }
}

fn basis<'a>(insights: &'a Insights, earlier: &'a InsightTotals) -> FindingBasis<'a> {
    let quality = &insights.quality;
    let printers = quality.by_printer.iter().filter_map(|one| {
        let (name, first_pass_yield) = (one.name.as_deref()?, one.numbers.first_pass_yield?);
        Some(PrinterYield { id: one.printer_id, name, first_pass_yield, prints: one.numbers.prints })
    });
    let skus = quality.by_sku.iter().filter_map(|one| {
        let (name, cost_cents) = (one.name.as_deref()?, one.numbers.scrap_cost_cents?);
        Some(SkuScrap { id: one.sku_id, name, cost_cents, parts: one.numbers.scrap })
    });
    FindingBasis {
        printers: printers.collect(),
        skus: skus.collect(),
        reasons: reason_counts(&quality.by_reason),
        earlier_reasons: reason_counts(&earlier.by_reason),
    }
}

fn reason_counts(reasons: &[ReasonQuality]) -> Vec<ReasonCount<'_>> {
    let entered = reasons.iter().filter_map(|one| Some((one.reason.as_deref()?, one.numbers.scrap)));
    entered.map(|(reason, parts)| ReasonCount { reason, parts }).collect()
}

fn sentence(language: Language, finding: &Finding<'_>, days: i64, currency: &str) -> Markup {
    let (text, link) = match finding {
        Finding::LowestYield(printer) => {
            let share = share_words(language, Some(printer.first_pass_yield));
            let link = html! { a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (printer.name) } };
            (texts::lowest_yield(language, SLOT, &share, printer.prints), link)
        }
        Finding::CostliestScrap(sku) => {
            let cost = notation::amount(language, sku.cost_cents, currency);
            let link = html! { a href={ (PRODUCTS_PATH) "/" (sku.id) } { (sku.name) } };
            (texts::costliest_scrap(language, SLOT, &cost, sku.parts), link)
        }
        Finding::GrowingReason { now, before } => {
            let reason = texts::quoted(language, &reason_words(language, Some(now.reason)));
            let link = html! { a href="#scrap-reasons" { (reason) } };
            (texts::growing_reason(language, SLOT, now.parts, *before, days), link)
        }
    };
    with_parts(&text, &[&link])
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::id;

    fn words(finding: &Finding<'_>) -> String {
        sentence(Language::English, finding, 30, "usd").into_string()
    }

    #[test]
    fn a_sentence_names_the_thing_and_leads_to_it() {
        let printer = PrinterYield { id: id(7), name: "Joule <1>", first_pass_yield: 0.8333, prints: 12 };
        let text = words(&Finding::LowestYield(printer));
        assert!(text.starts_with(&format!("<a href=\"/floor/printers/{}\">Joule &lt;1&gt;</a>", id(7))), "{text}");
        assert!(text.contains("83.3% of its parts were good the first time, in 12 prints."), "{text}");
        let sku = SkuScrap { id: id(8), name: "Sign", cost_cents: 1_420, parts: 1 };
        let text = words(&Finding::CostliestScrap(sku));
        assert!(text.starts_with(&format!("<a href=\"/shop/products/{}\">Sign</a>", id(8))), "{text}");
        assert!(text.ends_with("$14.20 of material in 1 bad part."), "{text}");
    }

    #[test]
    fn a_reason_is_compared_with_the_span_before() {
        let now = ReasonCount { reason: "layer_shift", parts: 9 };
        let text = words(&Finding::GrowingReason { now, before: 3 });
        assert!(text.contains("“layer shift”") && text.ends_with("9, up from 3 in the previous 30 days."), "{text}");
        let text = words(&Finding::GrowingReason { now, before: 0 });
        assert!(text.ends_with("9, up from none in the previous 30 days."), "{text}");
        let german = |finding| sentence(Language::German, &finding, 365, "eur").into_string();
        let text = german(Finding::GrowingReason { now, before: 3 });
        assert!(text.contains("(<a href=\"#scrap-reasons\">„Schichtversatz“</a>): 9, im Jahr davor 3."), "{text}");
        let text = german(Finding::CostliestScrap(SkuScrap { id: id(8), name: "Schild", cost_cents: 1_420, parts: 2 }));
        assert!(text.ends_with("Material für 14,20\u{a0}€ in 2 Ausschussteilen."), "{text}");
    }
}
