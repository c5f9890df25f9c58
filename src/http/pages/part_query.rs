//! Pages of the customers' lists: which entries a page shows, and the links to its neighbours.

use maud::{Markup, html};

use store::queries::Page;
use words::{Language, pages};

/// Number of entries on each page of a list.
const ROWS_PER_PAGE: u64 = 20;

/// Query parameter that selects a page of a list.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub(super) struct PartQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl PartQuery {
    /// Returns the limit and offset of the selected page.
    pub(super) fn page(self) -> Page {
        Page { limit: ROWS_PER_PAGE, offset: self.from.into() }
    }

    /// Renders links to the previous and next page of a list.
    pub(super) fn links(self, language: Language, path: &str, total: u64) -> Markup {
        let (from, next) = (u64::from(self.from), u64::from(self.from).saturating_add(ROWS_PER_PAGE));
        html! {
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 { a class="button second" href={ (path) "?from=" (from.saturating_sub(ROWS_PER_PAGE)) } { (pages::newer(language)) } }
                    @if next < total { a class="button second" href={ (path) "?from=" (next) } { (pages::older(language)) } }
                }
            }
        }
    }
}
