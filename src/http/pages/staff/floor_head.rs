//! Head of the floor page: filters with counts, the search, the view, and the links to the plan and the wall.

use maud::{Markup, html};
use url::form_urlencoded;

use super::FLOOR_PATH;
use super::floor::FloorQuery;
use super::floor_group::{FloorGroup, FloorGrouping, ViewLabel};
use super::floor_plan::PLAN_WORD;
use super::printer_form::NEW_PRINTER_PATH;
use crate::design::{Icon, icon};
use words::Language;
use words::staff::floor as texts;

/// Densities of the cards with their names in URLs and their labels.
const DENSITIES: [(&str, ViewLabel); 5] = [
    ("", texts::automatic),
    ("large", texts::large),
    ("medium", texts::comfortable),
    ("small", texts::compact),
    ("dense", texts::dense),
];

/// Returns the path of the floor with the filter replaced and everything else unchanged.
fn filtered_path(query: &FloorQuery, state: &str) -> String {
    let own = |text: &Option<String>| text.clone().unwrap_or_default();
    let all = [
        ("q", own(&query.q)),
        ("state", state.to_owned()),
        ("group", own(&query.group)),
        ("size", own(&query.size)),
        ("view", own(&query.view)),
    ];
    let pairs = all.iter().filter(|(_, value)| !value.is_empty());
    let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    if text.is_empty() { FLOOR_PATH.to_owned() } else { format!("{FLOOR_PATH}?{text}") }
}

/// Renders the head of the floor page. `groups` are the groups of all printers; `live` are the parts after the search,
/// which update by themselves; `may_add` if the viewer may add printers.
pub(super) fn head(
    language: Language,
    query: &FloorQuery,
    groups: &[FloorGroup],
    live: &Markup,
    may_add: bool,
) -> Markup {
    let is_plan = query.is_plan();
    html! {
        div class="head" {
            h1 { (texts::title(language)) }
            @if !groups.is_empty() { (filters(language, query, groups)) }
            @if !groups.is_empty() {
                div class="sub" { (find(language, query)) (options(language, query)) (live) }
            }
            span class="push" {}
            @if is_plan {
                a class="btn" href=(FLOOR_PATH) { (icon(Icon::Layers)) (texts::list(language)) }
            } @else {
                a class="btn" href={ (FLOOR_PATH) "?view=" (PLAN_WORD) } { (icon(Icon::Map)) (texts::plan(language)) }
            }
            a class="btn" href={ (FLOOR_PATH) "?wall=1" } { (icon(Icon::Monitor)) (texts::wall(language)) }
            @if may_add {
                a class="btn primary" href=(NEW_PRINTER_PATH) { (icon(Icon::Plus)) (texts::add_printer(language)) }
            }
        }
    }
}

/// Renders the filters with the number of printers in each group. The script recounts them whenever a card changes. A
/// phone shows as many as fit beside the heading: those with printers that a person has to look after stand first.
fn filters(language: Language, query: &FloorQuery, groups: &[FloorGroup]) -> Markup {
    let chosen = query.state_word();
    let filter = |word: &str, class: &str, count: usize, label: &str| {
        html! {
            a class={ "filter " (class) } href=(filtered_path(query, word)) data-narrow=(word)
                aria-current=[(word == chosen).then_some("true")] {
                b data-count=(word) { (count) } " " (label)
            }
        }
    };
    let count = |group: FloorGroup| groups.iter().filter(|one| **one == group).count();
    let of_group = |group: FloorGroup| {
        let class = match group {
            FloorGroup::NeedsYou => "warn",
            FloorGroup::Offline => "bad",
            FloorGroup::Printing | FloorGroup::Ready => "",
        };
        filter(group.word(), class, count(group), &group.label(language))
    };
    let order = [FloorGroup::Printing, FloorGroup::Ready, FloorGroup::NeedsYou, FloorGroup::Offline];
    let is_urgent =
        |group: &FloorGroup| matches!(group, FloorGroup::NeedsYou | FloorGroup::Offline) && count(*group) > 0;
    let (urgent, others): (Vec<FloorGroup>, Vec<FloorGroup>) = order.into_iter().partition(is_urgent);
    html! {
        div class="filters" role="group" aria-label=(texts::filter_label(language)) {
            @for group in urgent { (of_group(group)) }
            (filter("", "", groups.len(), &texts::filter_all(language, groups.len())))
            @for group in others { (of_group(group)) }
        }
    }
}

/// Renders hidden fields with the parts of the query that a form keeps.
fn hidden_fields(fields: &[(&str, &Option<String>)]) -> Markup {
    html! {
        @for (name, value) in fields {
            @if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
                input type="hidden" name=(name) value=(value);
            }
        }
    }
}

/// Renders the hidden field with the filter, which the script changes together with the filters.
fn narrowed_field(query: &FloorQuery) -> Markup {
    html! { input type="hidden" name="state" value=(query.state_word()) data-narrowed=""; }
}

fn find(language: Language, query: &FloorQuery) -> Markup {
    let fields = [("group", &query.group), ("size", &query.size), ("view", &query.view)];
    html! {
        form class="find" method="get" action=(FLOOR_PATH) role="search" aria-label=(texts::printers(language)) {
            (narrowed_field(query))
            (hidden_fields(&fields))
            label for="floor-q" class="hidden-words" { (texts::search(language)) }
            input id="floor-q" name="q" type="search" maxlength="100" placeholder=(texts::search(language))
                data-filter="" value=[query.q.as_deref()];
        }
    }
}

/// Renders the grouping and the density as a menu, which opens without the script.
fn options(language: Language, query: &FloorQuery) -> Markup {
    let group = query.grouping();
    let size = query.size.as_deref().unwrap_or_default();
    html! {
        button class="btn" type="button" id="view-options" popovertarget="view-menu" {
            (icon(Icon::Eye)) (texts::view(language))
        }
        div id="view-menu" class="menu" popover="" {
            form method="get" action=(FLOOR_PATH) {
                (narrowed_field(query))
                (hidden_fields(&[("q", &query.q)]))
                div class="field" {
                    label for="group" { (texts::group_by(language)) }
                    select id="group" name="group" {
                        @for (one, word, label) in FloorGrouping::ALL {
                            option value=(word) selected[one == group] { (label(language)) }
                        }
                    }
                }
                div class="field" {
                    label for="size" { (texts::density(language)) }
                    select id="size" name="size" {
                        @for (word, label) in DENSITIES {
                            option value=(word) selected[word == size] { (label(language)) }
                        }
                    }
                }
                button class="btn" type="submit" { (texts::apply(language)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_keeps_the_rest_of_the_view() {
        let query = FloorQuery {
            q: Some("cellar & attic".to_owned()),
            size: Some("small".to_owned()),
            group: Some("place".to_owned()),
            ..FloorQuery::default()
        };
        assert_eq!(filtered_path(&query, "ready"), "/floor?q=cellar+%26+attic&state=ready&group=place&size=small");
        assert_eq!(filtered_path(&FloorQuery::default(), ""), "/floor");
    }

    #[test]
    fn the_search_stands_before_the_buttons_as_on_wide_screens() {
        let groups = [FloorGroup::Ready];
        let html = head(Language::English, &FloorQuery::default(), &groups, &html! {}, true).into_string();
        let places = ["class=\"filters\"", "class=\"find\"", "?view=plan", "?wall=1", NEW_PRINTER_PATH];
        let places = places.map(|text| html.find(text));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {html}");
    }

    #[test]
    fn filters_of_printers_that_a_person_has_to_look_after_stand_first() {
        let words = |groups: &[FloorGroup]| {
            let html = filters(Language::English, &FloorQuery::default(), groups).into_string();
            let parts = html.split("data-narrow=\"").skip(1);
            parts.map(|part| part.split('"').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&FloorGroup::ALL), ["need-you", "offline", "", "printing", "ready"]);
        assert_eq!(words(&[FloorGroup::Offline]), ["offline", "", "printing", "ready", "need-you"]);
        assert_eq!(words(&[FloorGroup::Ready]), ["", "printing", "ready", "need-you", "offline"], "none of them");
    }

    #[test]
    fn filters_say_how_many_printers_they_show() {
        let groups = [FloorGroup::Printing, FloorGroup::Ready, FloorGroup::Printing];
        let query = FloorQuery { state: Some("printing".to_owned()), ..FloorQuery::default() };
        let html = filters(Language::English, &query, &groups).into_string();
        for (word, count) in [("", 3), ("printing", 2), ("ready", 1), ("need-you", 0), ("offline", 0)] {
            assert!(html.contains(&format!("<b data-count=\"{word}\">{count}</b>")), "{word}: {html}");
        }
        assert_eq!(html.matches("aria-current=\"true\"").count(), 1, "{html}");
        assert!(html.contains("data-narrow=\"printing\" aria-current=\"true\""), "{html}");
        let german = filters(Language::German, &query, &groups).into_string();
        assert!(german.contains("<b data-count=\"printing\">2</b> im Druck</a>"), "{german}");
        // What is counted has a name: the pages of jobs have numbers of jobs.
        assert!(html.contains("<b data-count=\"\">3</b> printers</a>"), "{html}");
        let one = filters(Language::English, &query, &groups[..1]).into_string();
        assert!(one.contains("<b data-count=\"\">1</b> printer</a>"), "{one}");
    }
}
