//! Numbers of issued documents: each series starts at 1 and has no gaps.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::StaffInvoiceHandles;
use crate::staff::INVOICES_PATH;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use http::access::Caller;
use http::error::ApiError;
use store::queries::NumberingSeries;

/// Serves the page that lists the document numbers.
pub(super) async fn show(State(app): State<StaffInvoiceHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let all = app.invoices.queries.numbering().await?;
    let gapless = all.iter().all(NumberingSeries::is_gapless);
    let content = html! {
        p { a href=(INVOICES_PATH) { "All invoices" } }
        h1 { "Invoice and credit note numbers" }
        p { "Calculated from the stored documents. Each number is assigned when a document is issued, used once, and never changes." }
        div id="numbering" data-fresh="" {
            @if all.is_empty() { p { "No documents issued yet." } } @else {
                p {
                    @if gapless { span class=(Tone::Working.class()) { "No numbers missing" } }
                    @else { span class=(Tone::Error.class()) { "Numbers missing" } }
                }
                (table(&all))
            }
        }
    };
    Ok(viewer.page(StaffSection::Invoices, "Invoice numbers", &app.board.view(), &content))
}

fn table(all: &[NumberingSeries]) -> Markup {
    html! {
        div class="table" tabindex="0" role="region" aria-label="Number series" {
            table {
                thead {
                    tr {
                        th scope="col" { "Series" } th scope="col" class="number" { "First" }
                        th scope="col" class="number" { "Last" } th scope="col" class="number" { "Documents" }
                        th scope="col" { "Missing" }
                    }
                }
                tbody {
                    @for one in all {
                        tr {
                            th scope="row" { (one.series) }
                            td class="number" { (one.first) } td class="number" { (one.last) } td class="number" { (one.count) }
                            td {
                                @if one.missing.is_empty() && one.gaps.is_empty() { "none" }
                                @for number in &one.missing { (number) " " }
                                @for gap in &one.gaps { p { (gap.first) " to " (gap.last) ": " (gap.reason) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
