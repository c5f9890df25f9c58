//! Search of the whole shop: a few orders, jobs, printers, spools, materials, products and customers that match a text,
//! each group with a link to its list. If the text is the number or name of exactly one record, the search redirects to
//! its page.
//!
//! Printers, spools and materials are searched in memory, everything else with the queries of the lists. Jobs are found
//! by number; a search by product or file takes longer, and is left to the job list. A search is not repeated
//! automatically: except for the states of printers, its results do not change.

mod results;

use std::collections::BTreeSet;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use self::results::search;
use super::filled_form::address;
use super::job::JOBS_PATH;
use super::orders::StaffOrderHandles;
use super::sheet::non_empty;
use super::shell::{StaffSection, StaffViewer};
use super::stock::StockHandles;
use crate::design::{Icon, empty_place};
use crate::frame::see_other;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http::wire::MaxChars;
use http_api::production::customers::CustomerHandles;
use http_api::production::skus::SkuHandles;
use words::Language;
use words::staff::search as texts;

/// Path of the page.
pub(super) const SEARCH_PATH: &str = "/shop/search";
/// Maximum number of characters to search for.
pub(super) const MAX_QUERY_CHARS: usize = 200;
/// Maximum number of results of each kind.
const MAX_HITS: usize = 5;

handles! {
    /// Dependencies of the search page.
    pub(crate) struct ShopSearchHandles {
        orders: StaffOrderHandles,
        stock: StockHandles,
        skus: SkuHandles,
        customers: CustomerHandles,
    }
}

/// Adds the route of the search page.
pub(super) fn routes(routes: Routes) -> Routes {
    routes.page(Method::GET, RequiredAccess::Session, SEARCH_PATH, show, PageBounds::Form)
}

/// Query parameters of the page.
#[derive(Request, Debug)]
struct SearchQuery {
    /// Text to search for.
    #[api(MaxChars(MAX_QUERY_CHARS))]
    q: Option<String>,
}

/// Result of a search.
struct SearchHit {
    /// Path of its page.
    path: String,
    picture: Markup,
    title: String,
    /// Status and further facts, below the title.
    detail: Markup,
    /// `true` if the text is its number or its whole name.
    is_exact: bool,
}

/// Results of one kind.
struct SearchGroup {
    id: &'static str,
    title: String,
    hits: Vec<SearchHit>,
    /// Label and path of the list with everything of this kind that matches.
    list: (String, String),
}

impl SearchGroup {
    /// Creates a group of the first results, each of them once.
    fn new(id: &'static str, title: String, hits: impl IntoIterator<Item = SearchHit>, list: (String, String)) -> Self {
        let mut paths = BTreeSet::new();
        let hits = hits.into_iter().filter(|hit| paths.insert(hit.path.clone())).take(MAX_HITS).collect();
        Self { id, title, hits, list }
    }

    fn html(&self) -> Markup {
        let title_id = format!("{}-title", self.id);
        let (label, path) = &self.list;
        html! {
            section class="panel tasks" id=(self.id) aria-labelledby=(title_id) {
                div class="tasks-head" {
                    h2 id=(title_id) { (self.title) }
                    a class="link tall push" href=(path) { (label) }
                }
                ul class="rows" {
                    @for hit in &self.hits {
                        li class="row" {
                            div class="thumb" { (hit.picture) }
                            div class="task" {
                                div class="task-title" { a href=(hit.path) { (hit.title) } }
                                div class="muted small" { (hit.detail) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the path of the only result that the text names exactly; `None` if there is none, or several.
fn only_exact(groups: &[SearchGroup]) -> Option<&str> {
    let mut exact = groups.iter().flat_map(|group| &group.hits).filter(|hit| hit.is_exact);
    let only = exact.next()?;
    exact.next().is_none().then_some(only.path.as_str())
}

/// Serves the search page, or redirects to the page of the only record that the text names exactly.
async fn show(
    State(app): State<ShopSearchHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<SearchQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.orders.config)?;
    let (language, text) = (viewer.language(), non_empty(query.q.as_ref()));
    let groups = match text {
        Some(text) => search(language, &app, text).await?,
        None => Vec::new(),
    };
    if let Some(path) = only_exact(&groups) {
        return Ok(see_other(path));
    }
    let title = texts::title(language);
    let content = html! {
        h1 { (title) }
        form class="tools" method="get" action=(SEARCH_PATH) role="search" aria-label=(texts::field(language)) {
            div class="field" {
                label for="q" { (texts::field(language)) }
                input id="q" name="q" type="search" maxlength=(MAX_QUERY_CHARS) value=[text];
            }
            button class="second" type="submit" { (texts::search(language)) }
        }
        div id="results" class="stack" {
            @for group in &groups { (group.html()) }
            @if groups.is_empty() { (nothing(language, text)) }
            @if let Some(text) = text {
                p { a href=(address(JOBS_PATH, &[("q", text)])) { (texts::search_jobs(language)) } }
            }
        }
    };
    Ok(viewer.page(StaffSection::Search, &title, &app.orders.board.view(), &content))
}

/// Renders a note that explains what can be searched for and, if a text was entered, states that nothing matches it.
fn nothing(language: Language, text: Option<&str>) -> Markup {
    let hint = texts::hint(language);
    match text {
        Some(text) => empty_place(Icon::Search, &texts::none_match(language, text), &html! { p { (hint) } }),
        None => empty_place(Icon::Search, &hint, &html! {}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(path: &str, is_exact: bool) -> SearchHit {
        let (path, title) = (path.to_owned(), path.to_owned());
        SearchHit { path, picture: html! {}, title, detail: html! {}, is_exact }
    }

    fn group(hits: impl IntoIterator<Item = SearchHit>) -> SearchGroup {
        SearchGroup::new("x", String::new(), hits, (String::new(), String::new()))
    }

    #[test]
    fn a_text_leads_to_the_one_thing_that_it_names_and_else_to_the_results() {
        let orders = || group([hit("/order/12", true), hit("/order/7", false)]);
        assert_eq!(only_exact(&[orders(), group([hit("/printer", false)])]), Some("/order/12"));
        assert_eq!(only_exact(&[orders(), group([hit("/job/12", true)])]), None, "an order and a job");
        assert_eq!(only_exact(&[group([hit("/a", false)])]), None);
        assert_eq!(only_exact(&[]), None);
    }

    #[test]
    fn a_group_has_a_few_results_each_of_them_once() {
        let twice = (0..20).map(|n| hit(&format!("/{}", n / 2), n == 0));
        let group = group(twice);
        let paths: Vec<&str> = group.hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["/0", "/1", "/2", "/3", "/4"]);
        assert!(group.hits[0].is_exact, "the first of two is kept");
    }
}
