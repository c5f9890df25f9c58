//! Common parts of pages with forms and long lists: labelled fields, secrets shown once, pagination.

use maud::{Markup, html};
use url::form_urlencoded;

use words::Language;
use words::staff::common;

/// Renders a labelled field whose input element has the given ID.
pub(super) fn field(id: &str, label: &str, input: &Markup) -> Markup {
    html! { div class="field" { label for=(id) { (label) } (input) } }
}

/// Renders a labelled field, as [`field`] does, with a hint below it. The input element's `aria-describedby` must be
/// `about-` followed by its ID.
pub(super) fn hinted_field(id: &str, label: &str, hint: &str, input: &Markup) -> Markup {
    field(id, label, &html! { (input) p class="hint" id={ "about-" (id) } { (hint) } })
}

/// Renders a secret shown only once, with a title and a text in the language of the page. Without the script, the user
/// has to select and copy it manually.
pub(super) fn secret(language: Language, title: &str, about: &str, secret: &str) -> Markup {
    html! {
        section class="card" aria-labelledby="secret-title" {
            h2 id="secret-title" { (title) }
            p { (about) }
            div class="tools" {
                div class="field wide" {
                    label for="secret" { (common::shown_once(language)) }
                    input id="secret" class="secret" type="text" readonly value=(secret) autocomplete="off" spellcheck="false";
                }
                button type="button" class="second" id="secret-copy" data-copy="secret" hidden {
                    (common::copy(language))
                }
            }
        }
    }
}

/// Builds the URL of a page with the given filters; empty filters are omitted.
pub(super) fn address(path: &str, filters: &[(&str, &str)]) -> String {
    let non_empty: Vec<&(&str, &str)> = filters.iter().filter(|(_, text)| !text.is_empty()).collect();
    if non_empty.is_empty() {
        return path.to_owned();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, text) in non_empty {
        query.append_pair(name, text);
    }
    format!("{path}?{}", query.finish())
}

/// Renders the total number of entries, and links to the previous and next pages. `to` returns the URL of the page that
/// starts after the given number of entries.
pub(super) fn ways(
    language: Language,
    from: u64,
    total: u64,
    rows_per_page: u64,
    to: impl Fn(u64) -> String,
) -> Markup {
    html! {
        p class="soft" { (common::total(language, total)) }
        (turns(language, from, total, rows_per_page, to))
    }
}

/// Renders the links to the previous and next pages of a list; nothing if it has one page.
pub(super) fn turns(
    language: Language,
    from: u64,
    total: u64,
    rows_per_page: u64,
    to: impl Fn(u64) -> String,
) -> Markup {
    let next = from.saturating_add(rows_per_page);
    html! {
        @if from > 0 || next < total {
            p class="acts" {
                @if from > 0 {
                    a class="button second" href=(to(from.saturating_sub(rows_per_page))) { (common::newer(language)) }
                }
                @if next < total { a class="button second" href=(to(next)) { (common::older(language)) } }
            }
        }
    }
}

/// Renders the options of a selection with their labels.
pub(super) fn options(words: &[(&str, &str)], chosen: &str) -> Markup {
    html! {
        @for (word, label) in words { option value=(word) selected[*word == chosen] { (label) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_what_narrows() {
        assert_eq!(address("/a", &[("state", ""), ("event", "")]), "/a");
        assert_eq!(address("/a", &[("state", "failed"), ("event", ""), ("q", "x&y")]), "/a?state=failed&q=x%26y");
    }

    #[test]
    fn a_long_list_is_paged_in_the_language_of_the_page() {
        let to = |from: u64| format!("/a?from={from}");
        let english = |total| ways(Language::English, 0, total, 50, to).0;
        assert!(english(3).contains(">3 entries</p>") && english(1).contains(">1 entry</p>"), "{}", english(1));
        let german = ways(Language::German, 50, 1_200, 50, to).0;
        for part in [">1.200 Einträge</p>", "href=\"/a?from=0\">Neuere</a>", "href=\"/a?from=100\">Ältere</a>"] {
            assert!(german.contains(part), "{part} in {german}");
        }
    }
}
