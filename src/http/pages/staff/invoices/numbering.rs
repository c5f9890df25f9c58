//! Numbers of issued documents: each series starts at 1 and has no gaps.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::StaffInvoiceHandles;
use crate::staff::INVOICES_PATH;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::times::message_in;
use http::access::Caller;
use http::error::ApiError;
use store::queries::NumberingSeries;
use words::Language;
use words::staff::invoices as texts;

/// Serves the page that lists the document numbers.
pub(super) async fn show(State(app): State<StaffInvoiceHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let all = app.invoices.queries.numbering().await?;
    let gapless = all.iter().all(NumberingSeries::is_gapless);
    let content = html! {
        p { a href=(INVOICES_PATH) { (texts::all_invoices(language)) } }
        h1 { (texts::numbering_heading(language)) }
        p { (texts::numbering_text(language)) }
        div id="numbering" data-fresh="" {
            @if all.is_empty() { p { (texts::no_documents(language)) } } @else {
                p {
                    @if gapless { span class=(Tone::Working.class()) { (texts::none_missing(language)) } }
                    @else { span class=(Tone::Error.class()) { (texts::some_missing(language)) } }
                }
                (table(language, &all))
            }
        }
    };
    Ok(viewer.page(StaffSection::Invoices, &texts::numbering_title(language), &app.board.view(), &content))
}

fn table(language: Language, all: &[NumberingSeries]) -> Markup {
    let [first, last, count] =
        [texts::first_column(language), texts::last_column(language), texts::documents_column(language)];
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::series_label(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::series_column(language)) }
                        @for column in [&first, &last, &count] { th scope="col" class="number" { (column) } }
                        th scope="col" { (texts::missing_column(language)) }
                    }
                }
                tbody {
                    @for one in all {
                        tr {
                            th scope="row" { (one.series) }
                            td class="number start" data-label=(first) { (one.first) }
                            td class="number start" data-label=(last) { (one.last) }
                            td class="number start" data-label=(count) { (one.count) }
                            td class="unfolds" { (missing(language, one)) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the numbers missing from a series, and the gaps with their reasons, which are collapsed if there are
/// several.
fn missing(language: Language, series: &NumberingSeries) -> Markup {
    let gaps = html! {
        @for gap in &series.gaps {
            p {
                (texts::gap(language, &gap.first.to_string(), &gap.last.to_string())) " "
                (message_in(language, &gap.reason))
            }
        }
    };
    html! {
        @if series.missing.is_empty() && series.gaps.is_empty() { (texts::none_missing_in_series(language)) }
        @if !series.missing.is_empty() {
            div { @for number in &series.missing { (number) " " } }
        }
        @if series.gaps.len() > 1 {
            details { summary { (texts::gaps(language, series.gaps.len())) } (gaps) }
        } @else { (gaps) }
    }
}
