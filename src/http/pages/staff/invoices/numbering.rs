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
    html! {
        div class="table" tabindex="0" role="region" aria-label=(texts::series_label(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::series_column(language)) }
                        th scope="col" class="number" { (texts::first_column(language)) }
                        th scope="col" class="number" { (texts::last_column(language)) }
                        th scope="col" class="number" { (texts::documents_column(language)) }
                        th scope="col" { (texts::missing_column(language)) }
                    }
                }
                tbody {
                    @for one in all {
                        tr {
                            th scope="row" { (one.series) }
                            td class="number" { (one.first) } td class="number" { (one.last) } td class="number" { (one.count) }
                            td {
                                @if one.missing.is_empty() && one.gaps.is_empty() { (texts::none_missing_in_series(language)) }
                                @for number in &one.missing { (number) " " }
                                @for gap in &one.gaps {
                                    p {
                                        (texts::gap(language, &gap.first.to_string(), &gap.last.to_string())) " "
                                        (message_in(language, &gap.reason))
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
