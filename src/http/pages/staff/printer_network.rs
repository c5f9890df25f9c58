//! Printers found on the network, which the page for adding a printer begins with. Only admins search the network, as
//! in the setup wizard.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::printer_form::NEW_PRINTER_PATH;
use super::shell::hidden;
use crate::form::PageForm;
use crate::frame::{SLOT, see_other, with_parts};
use crate::printer_search::{SearchHandles, part, status_text};
use http::error::ApiError;
use words::Language;
use words::staff::{printer_form as texts, setup};

/// Path to which the request to start a search is posted.
pub(super) const SEARCH_PATH: &str = "/floor/printers/search";
/// Path to which the request to cancel the search is posted.
pub(super) const CANCEL_PATH: &str = "/floor/printers/search/cancel";

/// Starts a search and redirects to the page that shows its progress.
pub(super) async fn begin(State(search): State<SearchHandles>, _: PageForm) -> Result<Response, ApiError> {
    search.begin()?;
    Ok(see_other(NEW_PRINTER_PATH))
}

/// Cancels the running search and redirects to the page that shows what it has found.
pub(super) async fn cancel(State(search): State<SearchHandles>, _: PageForm) -> Result<Response, ApiError> {
    search.cancel();
    Ok(see_other(NEW_PRINTER_PATH))
}

/// Renders the printers found by the most recent search, and the button that starts one or cancels the running one. The
/// script reloads the marked parts until the search is over.
pub(super) fn section(language: Language, search: &SearchHandles) -> Markup {
    let (is_searching, progress) = search.progress();
    let begun = progress.begun;
    let status = status_text(language, &progress, is_searching);
    let reload = html! { a href=(NEW_PRINTER_PATH) { (setup::reload_link(language)) } };
    html! {
        section class="card" aria-labelledby="network" {
            h2 id="network" {
                @if begun { (texts::found_heading(language)) } @else { (texts::search_heading(language)) }
            }
            p { (texts::search_text(language)) }
            p role="status" { span id="search-status" data-fresh="" { (status) } }
            div id="search-results" data-fresh="" data-goes-on[is_searching] {
                (part(language, search, progress, is_searching, NEW_PRINTER_PATH))
            }
            @if is_searching {
                noscript { p { (with_parts(&setup::reload_text(language, SLOT), &[&reload])) } }
            }
            div id="search-acts" data-fresh="" {
                @if is_searching {
                    form method="post" action=(CANCEL_PATH) {
                        (hidden())
                        button type="submit" class="second" { (setup::cancel_search(language)) }
                    }
                } @else {
                    form method="post" action=(SEARCH_PATH) {
                        (hidden())
                        button type="submit" class=[begun.then_some("second")] { (texts::search(language)) }
                    }
                }
            }
        }
    }
}
