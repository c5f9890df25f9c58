//! Components shared by the quote, invoice and customer pages: paginated lists, labelled fields, and forms that are
//! shown again with the user's input and errors.

mod fields;
mod lines;

use std::fmt::Display;

use maud::{Markup, html};
use url::form_urlencoded;

use super::CUSTOMERS_PATH;
use super::filled_form::{turns, ways};
use crate::form::Form;
use domain::address::Address;
use domain::country::country_name_in;
use domain::id::Id;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use store::queries::Page;
use words::Language;
use words::staff::{common, payments};

pub(super) use fields::{FormSheet, decimal_field, line_field};
pub(super) use lines::{DraftLines, LINE_ACTS, edited, line_form};

/// Number of entries on each page of a list.
const ROWS_PER_PAGE: u64 = 50;
/// Page limit for a list embedded in another page.
pub(super) const FEW_ROWS: Page = Page { limit: 20, offset: 0 };

/// Page of a filtered list.
pub(super) struct ListPart<'a> {
    pub(super) path: &'a str,
    /// Active filters, as names and values of query parameters.
    pub(super) narrowed: Vec<(&'static str, Option<&'a str>)>,
    /// Number of entries to skip.
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

    /// Renders the total number of entries, and links to the previous and next pages.
    pub(super) fn links(&self, language: Language, total: u64) -> Markup {
        ways(language, self.from.into(), total, ROWS_PER_PAGE, |from| self.at(from))
    }

    /// Renders the links to the previous and next pages, below a list that names what it counts itself.
    pub(super) fn turns(&self, language: Language, total: u64) -> Markup {
        turns(language, self.from.into(), total, ROWS_PER_PAGE, |from| self.at(from))
    }
}

/// Filter of a list, as a link.
pub(super) struct ListFilter<'a> {
    pub(super) label: &'a str,
    /// URL of the list with this filter.
    pub(super) path: String,
    /// Number of matching entries, if it is known without a search.
    pub(super) count: Option<usize>,
    /// `true` if the filter is currently applied.
    pub(super) is_current: bool,
}

/// Renders a list's filters.
pub(super) fn list_filters(label: &str, filters: &[ListFilter<'_>]) -> Markup {
    html! {
        nav class="filters list-filters" aria-label=(label) {
            @for filter in filters {
                a class="filter" href=(filter.path) aria-current=[filter.is_current.then_some("true")] {
                    @if let Some(count) = filter.count { b { (count) } " " }
                    (filter.label)
                }
            }
        }
    }
}

/// Returns the CSS class for a number in a list; phones omit spare ones, such as zeros.
pub(super) fn number_class(is_spare: bool) -> &'static str {
    if is_spare { "number start spare" } else { "number start" }
}

/// Renders the filters of a list by status. `path` returns the URL of the list for a status name, and of the whole list
/// for the empty name.
pub(super) fn status_filters<S: Copy + PartialEq + Display>(
    label: &str,
    all: &str,
    statuses: &[(S, String)],
    chosen: Option<S>,
    path: impl Fn(&str) -> String,
) -> Markup {
    let every = ListFilter { label: all, path: path(""), count: None, is_current: chosen.is_none() };
    let filters = statuses.iter().map(|(status, label)| ListFilter {
        label,
        path: path(&status.to_string()),
        count: None,
        is_current: chosen == Some(*status),
    });
    list_filters(label, &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

/// Returns a query's filter text; `None` if it is missing or empty.
pub(super) fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Renders a link to the customer list, filtered by the given email address.
pub(super) fn customer_link(email: &str) -> Markup {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", email).finish();
    html! { a href={ (CUSTOMERS_PATH) "?" (query) } { (email) } }
}

/// Renders an address on one line. The country is shown by name; an unknown country code is shown unchanged.
pub(super) fn address_line(language: Language, address: &Address) -> Markup {
    html! {
        (address.line1) ", "
        @if let Some(more) = &address.line2 { (more) ", " }
        (address.postal_code) " " (address.city)
        @if let Some(region) = &address.region { ", " (region) }
        ", " (country_name_in(language, &address.country).unwrap_or(&address.country))
    }
}

/// Formats a duration in hours and minutes: `1 h 05 min`.
pub(super) fn span(language: Language, seconds: i64) -> String {
    let minutes = seconds.max(0).saturating_add(59) / 60;
    if minutes < 60 {
        common::span_minutes(language, &minutes.to_string())
    } else {
        common::span_hours(language, &(minutes / 60).to_string(), &format!("{:02}", minutes % 60))
    }
}

/// Returns the name of a payment method: `bank transfer` or `Überweisung`. Staff enter methods as they like; one
/// without a name is shown as it was entered.
pub(super) fn method_name(language: Language, method: &str) -> String {
    payments::payment_method(language, &method.replace(' ', "_"), &method.replace('_', " "))
}

/// Formats the date of a timestamp for a date field; empty for `None`.
pub(super) fn day(at: Option<Timestamp>, clock: &ShopClock) -> String {
    at.map(|at| clock.field_date(at)).unwrap_or_default()
}

/// Renders a titled list of related rows, or the text `none` if there are no rows.
pub(super) fn few(id: &str, title: &str, rows: &[Markup], none: &str) -> Markup {
    html! {
        section class="card" aria-labelledby=(id) {
            h2 id=(id) { (title) }
            @if rows.is_empty() { p class="soft" { (none) } }
            @else { ul class="rows" { @for row in rows { li { (row) } } } }
        }
    }
}

/// Renders the errors in a rejected form that is no longer on the page, to be shown above the current forms.
pub(super) fn astray(refused: &Form, forms: &Markup) -> Markup {
    let beside = forms.0.contains("role=\"alert\"");
    html! { @if !beside { (refused.alert()) } }
}

/// Returns the path of a record's page, built from the list's path and the record's ID.
pub(super) fn page_of(path: &str, id: Id) -> String {
    format!("{path}/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_rounded_up_to_minutes() {
        assert_eq!(
            [0, 1, 60, 3540, 3541, 7500].map(|seconds| span(Language::English, seconds)),
            ["0 min", "1 min", "1 min", "59 min", "1 h 00 min", "2 h 05 min"]
        );
        assert_eq!(span(Language::German, 7500), "2\u{a0}Std. 05\u{a0}Min.");
    }

    #[test]
    fn an_address_in_one_line_writes_its_country_out() {
        let address = |country: &str| Address {
            line1: "Weg 1".to_owned(),
            line2: None,
            city: "Ulm".to_owned(),
            region: None,
            postal_code: "89073".to_owned(),
            country: country.to_owned(),
        };
        assert_eq!(address_line(Language::English, &address("DE")).0, "Weg 1, 89073 Ulm, Germany");
        assert_eq!(address_line(Language::German, &address("DE")).0, "Weg 1, 89073 Ulm, Deutschland");
        assert_eq!(address_line(Language::English, &address("XX")).0, "Weg 1, 89073 Ulm, XX");
    }

    #[test]
    fn a_payment_method_without_a_name_is_shown_as_it_was_entered() {
        let both = |method: &str| Language::ALL.map(|language| method_name(language, method));
        assert_eq!(both("bank_transfer"), ["bank transfer", "Überweisung"]);
        assert_eq!(both("bank transfer"), ["bank transfer", "Überweisung"]);
        assert_eq!(both("gift_card"), ["gift card", "gift card"]);
        assert_eq!(both("Gift card"), ["Gift card", "Gift card"]);
    }

    #[test]
    fn a_filter_has_its_count_if_there_is_one() {
        let filter = |label, count| ListFilter { label, path: "/x".to_owned(), count, is_current: count.is_some() };
        let html = list_filters("Stock", &[filter("All", None), filter("Low", Some(3))]).0;
        assert!(html.contains("<a class=\"filter\" href=\"/x\">All</a>"), "{html}");
        assert!(html.contains("<a class=\"filter\" href=\"/x\" aria-current=\"true\"><b>3</b> Low</a>"), "{html}");
    }

    #[test]
    fn the_next_part_of_a_list_is_narrowed_in_the_same_way() {
        let part = ListPart { path: "/shop/x", narrowed: vec![("status", Some("a b")), ("q", None)], from: 50 };
        let links = part.links(Language::English, 101).0;
        for link in ["/shop/x?status=a+b&amp;from=0", "/shop/x?status=a+b&amp;from=100"] {
            assert!(links.contains(link), "{links}");
        }
        assert!(!part.links(Language::English, 100).0.contains("Older"));
        assert!(part.links(Language::German, 101).0.contains(">Ältere</a>"));
    }
}
