//! Entries of the audit log as sentences, by day.

use maud::{Markup, html};
use serde_json::Value;

use crate::design::{Tone, chip};
use crate::frame::day_in;
use crate::staff::names::{AuditName, AuditNames};
use domain::audit::{AuditSentence, hide_secrets, outcome_label};
use domain::id::Id;
use domain::notation;
use domain::shop_clock::ShopClock;
use store::rows::Audit;
use words::Language;
use words::staff::audit as texts;

/// Renders the entries, newest first, with a heading for each day of the shop.
pub(super) fn days(language: Language, entries: &[Audit], names: &AuditNames, clock: &ShopClock) -> Markup {
    html! {
        @for entries in entries.chunk_by(|one, next| clock.day(one.at) == clock.day(next.at)) {
            @if let Some(first) = entries.first() {
                @let id = format!("day-{}", clock.field_date(first.at));
                section aria-labelledby=(id) {
                    h2 class="day" id=(id) { (day_in(language, first.at)) }
                    ol class="panel audit" { @for entry in entries { (row(language, entry, names, clock)) } }
                }
            }
        }
    }
}

fn row(language: Language, entry: &Audit, names: &AuditNames, clock: &ShopClock) -> Markup {
    let facts = facts(entry);
    let count = facts.as_ref().and_then(|facts| facts.get("count")).and_then(Value::as_u64);
    let AuditSentence { before, after } = names.sentence(entry, count);
    html! {
        li {
            time datetime=(entry.at) title=(notation::exact(language, clock, entry.at)) { (clock.time(entry.at)) }
            p {
                b { (named(&names.actor(entry))) } " " (&*before)
                @if let Some(after) = after { (named(&names.subject(entry))) (&*after) }
                @if let Some(outcome) = outcome_label(language, &entry.outcome) {
                    " " (chip(Tone::Attention, &outcome))
                }
            }
            details {
                summary { (texts::details(language)) }
                (details(language, entry, facts))
            }
        }
    }
}

fn named(name: &AuditName) -> Markup {
    match &name.path {
        Some(path) => html! { a href=(path) { (name.text) } },
        None => html! { (name.text) },
    }
}

/// Returns the facts of an entry, without secrets.
fn facts(entry: &Audit) -> Option<Value> {
    let mut facts = bounded_json::read(entry.detail.as_deref()?.as_bytes(), bounded_json::REQUEST).ok()?;
    hide_secrets(&mut facts);
    Some(facts)
}

fn details(language: Language, entry: &Audit, facts: Option<Value>) -> Markup {
    html! {
        dl class="left" {
            dt { (texts::action(language)) } dd { code { (entry.action) } }
            dt { (texts::actor(language)) } dd { code { (entry.actor) } }
            dt { (texts::resource(language)) }
            dd {
                code { (entry.subject_kind) @if entry.subject_id != Id::ONLY { " " (entry.subject_id) } }
            }
            dt { (texts::outcome(language)) } dd { code { (entry.outcome) } }
            @if let Some(request) = &entry.request_id { dt { (texts::request(language)) } dd { code { (request) } } }
        }
        @if let Some(facts) = facts { pre class="raw" { (format!("{facts:#}")) } }
    }
}
