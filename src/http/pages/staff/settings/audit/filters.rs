//! Filters of the audit log: by day, person, thing and act. All of them are in the address of the page.

use maud::{Markup, html};

use super::{AuditPageQuery, PATH};
use crate::sentences::capital;
use crate::staff::filled_form::{address, field, options};
use crate::staff::names::{AuditName, StaffNames};
use domain::audit::{AuditedAct, AuditedKind};
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use words::Language;
use words::staff::audit as texts;

/// Maximum number of users and API keys, and of printers, that are offered.
const MAX_CHOICES: usize = 300;
/// Filter for the jobs of orders.
pub(super) const JOB_WORD: &str = "job";
/// Filter for settings changes.
pub(super) const SETTING_WORD: &str = "setting";

/// Names that the filters offer and show.
pub(super) struct FilterNames<'a> {
    /// Names of users and API keys.
    pub(super) staff: &'a StaffNames,
    /// Name of the actor in the current filter.
    pub(super) actor: Option<AuditName>,
    /// Name of the subject in the current filter, if it is a single one.
    pub(super) subject: Option<AuditName>,
    /// IDs and names of the printers.
    pub(super) printers: Vec<(String, String)>,
}

/// Renders the days as chips.
pub(super) fn days(language: Language, query: &AuditPageQuery, (clock, now): (&ShopClock, Timestamp)) -> Markup {
    let date = |days| clock.field_date(clock.day_start_before(now, days));
    let (today, yesterday, week) = (date(0), date(1), date(6));
    let chips = [
        (texts::any_day(language), "", ""),
        (texts::today(language), today.as_str(), today.as_str()),
        (texts::yesterday(language), yesterday.as_str(), yesterday.as_str()),
        (texts::last_week(language), week.as_str(), ""),
    ];
    let current = (query.text("first"), query.text("last"));
    html! {
        nav class="filters" aria-label=(texts::day_filters(language)) {
            @for (label, first, last) in chips {
                @let path = query.address(&[("first", first), ("last", last)]);
                a class="filter" href=(path) aria-current=[(current == (first, last)).then_some("true")] { (label) }
            }
        }
    }
}

/// Renders the filters other than those by day that are in effect, each with a link that removes it.
pub(super) fn current(language: Language, query: &AuditPageQuery, names: &FilterNames<'_>) -> Markup {
    let kind = |word: &str| match word {
        JOB_WORD => Some(texts::jobs(language)),
        SETTING_WORD => Some(texts::settings(language)),
        word => AuditedKind::parse(word).map(|kind| kind.plural(language)),
    };
    let name = |name: &Option<AuditName>| name.as_ref().map(|name| name.text.clone());
    let labels = [
        ("actor", name(&names.actor)),
        ("subject", name(&names.subject).or_else(|| kind(query.text("subject")))),
        ("action", AuditedAct::parse(query.text("action")).map(|act| act.label(language))),
    ];
    let labels: Vec<(&str, String)> = labels
        .into_iter()
        .filter(|(filter, _)| !query.text(filter).is_empty())
        .map(|(filter, label)| (filter, label.unwrap_or_else(|| query.text(filter).to_owned())))
        .collect();
    html! {
        @if !labels.is_empty() {
            nav class="filters" aria-label=(texts::current_filters(language)) {
                @for (filter, label) in &labels {
                    a class="filter" aria-current="true" href=(query.address(&[(filter, "")])) {
                        (label) " " span aria-hidden="true" { "×" } span class="hidden-words" { (texts::remove_filter(language)) }
                    }
                }
                a class="filter" href=(PATH) { (texts::clear_filters(language)) }
            }
        }
    }
}

/// Renders the form with all filters.
pub(super) fn form(language: Language, query: &AuditPageQuery, names: &FilterNames<'_>) -> Markup {
    html! {
        form class="tools" method="get" action=(PATH) role="search" aria-label=(texts::filter_log(language)) {
            (field("actor", &texts::actor(language), &html! {
                select id="actor" name="actor" {
                    option value="" { (texts::anyone(language)) }
                    (actors(query, names))
                }
            }))
            (field("action", &texts::action_filter(language), &html! {
                select id="action" name="action" {
                    option value="" { (texts::any_action(language)) }
                    (acts(language, query))
                }
            }))
            (field("subject", &texts::resource(language), &html! {
                select id="subject" name="subject" {
                    option value="" { (texts::all_resources(language)) }
                    (subjects(language, query, names))
                }
            }))
            (field("first", &texts::from(language), &html! {
                input id="first" name="first" type="date" value=(query.text("first"));
            }))
            (field("last", &texts::until(language), &html! {
                input id="last" name="last" type="date" value=(query.text("last"));
            }))
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

fn actors(query: &AuditPageQuery, names: &FilterNames<'_>) -> Markup {
    let choices = names.staff.choices(MAX_CHOICES);
    let choices: Vec<(&str, &str)> = choices.iter().map(|(actor, name)| (*actor, name.as_str())).collect();
    let current = query.text("actor");
    let other = names.actor.as_ref().filter(|_| !choices.iter().any(|(actor, _)| *actor == current));
    html! {
        (options(&choices, current))
        @if let Some(name) = other { option value=(current) selected { (name.text) } }
    }
}

fn acts(language: Language, query: &AuditPageQuery) -> Markup {
    let current = query.text("action");
    let is_offered = AuditedAct::OF_PEOPLE.iter().any(|act| act.name() == current);
    let label = AuditedAct::parse(current).map_or_else(|| current.to_owned(), |act| capital(&act.label(language)));
    html! {
        @if !current.is_empty() && !is_offered { option value=(current) selected { (label) } }
        @for kind in AuditedKind::ALL { (acts_of(language, *kind, current)) }
    }
}

/// Renders the acts on subjects of a kind.
fn acts_of(language: Language, kind: AuditedKind, current: &str) -> Markup {
    let acts: Vec<&AuditedAct> = AuditedAct::OF_PEOPLE.iter().filter(|act| act.kind() == kind).collect();
    html! {
        @if !acts.is_empty() {
            optgroup label=(kind.plural(language)) {
                @for act in acts {
                    option value=(act.name()) selected[act.name() == current] { (capital(&act.label(language))) }
                }
            }
        }
    }
}

fn subjects(language: Language, query: &AuditPageQuery, names: &FilterNames<'_>) -> Markup {
    let current = query.text("subject");
    let printers = names.printers.iter().take(MAX_CHOICES).map(|(id, name)| (id.as_str(), name.as_str()));
    let printers: Vec<(&str, &str)> = printers.collect();
    let mut plurals: Vec<(&str, String)> =
        AuditedKind::ALL.iter().map(|kind| (kind.word(), kind.plural(language))).collect();
    plurals.extend([(JOB_WORD, texts::jobs(language)), (SETTING_WORD, texts::settings(language))]);
    plurals.sort_unstable_by(|(_, one), (_, other)| one.cmp(other));
    let kinds: Vec<(&str, &str)> = plurals.iter().map(|(kind, plural)| (*kind, plural.as_str())).collect();
    let is_offered = printers.iter().chain(&kinds).any(|(word, _)| *word == current);
    html! {
        @if !current.is_empty() && !is_offered {
            option value=(current) selected { (names.subject.as_ref().map_or(current, |name| name.text.as_str())) }
        }
        optgroup label=(texts::by_type(language)) { (options(&kinds, current)) }
        @if !printers.is_empty() { optgroup label=(texts::by_printer(language)) { (options(&printers, current)) } }
    }
}

impl AuditPageQuery {
    /// Returns the address of the page with some of the current filters replaced, from its newest entry on.
    fn address(&self, replaced: &[(&str, &str)]) -> String {
        let replacement = |filter: &str| replaced.iter().find(|(name, _)| *name == filter).map(|(_, text)| *text);
        let filters = self.narrowed().map(|(filter, text)| (filter, replacement(filter).unwrap_or(text)));
        address(PATH, &filters)
    }
}
