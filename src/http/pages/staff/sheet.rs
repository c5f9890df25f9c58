//! What the pages of quotes, invoices and customers share: lists that are read in parts, fields with their labels, and
//! forms that are shown again with what was typed and what is wrong with it.

mod fields;
mod lines;
mod typed;

use maud::{Markup, html};
use url::form_urlencoded;

use super::CUSTOMERS_PATH;
use crate::domain::address::Address;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::store::queries::Page;

pub(super) use fields::{FormSheet, decimal_field, line_field};
pub(super) use lines::{DraftLines, LINE_ACTS, edited, line_form};
pub(super) use typed::{TypedForm, VERSION_FIELD, at_version, without_nulls};

/// Entries of one page of a list.
const ROWS_PER_PAGE: u64 = 50;
/// The rows of a list that stands on the page of something else.
pub(super) const FEW_ROWS: Page = Page { limit: 20, offset: 0 };

/// A part of a list that its query narrows.
pub(super) struct ListPart<'a> {
    pub(super) path: &'a str,
    /// By what it is narrowed, as names and values of the query.
    pub(super) narrowed: Vec<(&'static str, Option<&'a str>)>,
    /// Entries that are passed over before the first.
    pub(super) from: u32,
}

impl ListPart<'_> {
    pub(super) fn page(&self) -> Page {
        Page { limit: ROWS_PER_PAGE, offset: self.from.into() }
    }

    fn at(&self, from: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.narrowed {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        query.append_pair("from", &from.to_string());
        format!("{}?{}", self.path, query.finish())
    }

    /// How many there are in all, and links to the parts before and after.
    pub(super) fn links(&self, total: u64) -> Markup {
        let (from, next) = (u64::from(self.from), u64::from(self.from) + ROWS_PER_PAGE);
        html! {
            p class="soft" { (total) " in all" }
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 { a class="button second" href=(self.at(from.saturating_sub(ROWS_PER_PAGE))) { "Newer" } }
                    @if next < total { a class="button second" href=(self.at(next)) { "Older" } }
                }
            }
        }
    }
}

/// A text that a query narrows by; nothing when it is empty.
pub(super) fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// The customers with this e-mail address, as a link.
pub(super) fn customer_link(email: &str) -> Markup {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", email).finish();
    html! { a href={ (CUSTOMERS_PATH) "?" (query) } { (email) } }
}

/// An address in one line.
pub(super) fn address_line(address: &Address) -> Markup {
    html! {
        (address.line1) ", "
        @if let Some(more) = &address.line2 { (more) ", " }
        (address.postal_code) " " (address.city)
        @if let Some(region) = &address.region { ", " (region) }
        ", " (address.country)
    }
}

/// A span of time for people: `1 h 05 min`.
pub(super) fn span(seconds: i64) -> String {
    let minutes = seconds.max(0).saturating_add(59) / 60;
    if minutes < 60 { format!("{minutes} min") } else { format!("{} h {:02} min", minutes / 60, minutes % 60) }
}

/// A day as fields of dates have it; empty without one.
pub(super) fn day(at: Option<Timestamp>) -> String {
    at.map(|at| at.to_string().chars().take(10).collect()).unwrap_or_default()
}

/// What belongs to something, one row for each, or words that say that there is nothing.
pub(super) fn few(id: &str, title: &str, rows: &[Markup], none: &str) -> Markup {
    html! {
        section class="card" aria-labelledby=(id) {
            h2 id=(id) { (title) }
            @if rows.is_empty() { p class="soft" { (none) } }
            @else { ul class="rows" { @for row in rows { li { (row) } } } }
        }
    }
}

/// What is wrong with a form that the page does not show any more, to stand above those that it shows.
pub(super) fn astray(refused: Option<&TypedForm>, forms: &Markup) -> Markup {
    let beside = forms.0.contains("role=\"alert\"");
    html! { @if let Some(typed) = refused.filter(|_| !beside) { (typed.told()) } }
}

/// The path of a page of something, by its identifier.
pub(super) fn page_of(path: &str, id: Id) -> String {
    format!("{path}/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_rounded_up_to_minutes() {
        assert_eq!(
            [0, 1, 60, 3540, 3541, 7500].map(span),
            ["0 min", "1 min", "1 min", "59 min", "1 h 00 min", "2 h 05 min"]
        );
    }

    #[test]
    fn the_next_part_of_a_list_is_narrowed_in_the_same_way() {
        let part = ListPart { path: "/shop/x", narrowed: vec![("status", Some("a b")), ("q", None)], from: 50 };
        let links = part.links(101).0;
        for link in ["/shop/x?status=a+b&amp;from=0", "/shop/x?status=a+b&amp;from=100"] {
            assert!(links.contains(link), "{links}");
        }
        assert!(!part.links(100).0.contains("Older"));
    }
}
