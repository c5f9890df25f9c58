//! Entries of the audit log as sentences, by day.

use maud::{Markup, html};
use serde_json::Value;

use crate::design::{Tone, chip};
use crate::frame::day;
use crate::staff::names::{AuditName, AuditNames};
use domain::audit::{AuditSentence, DONE, hide_secrets};
use domain::id::Id;
use domain::shop_clock::ShopClock;
use store::rows::Audit;

/// Outcome of an entry that sums up rejected requests.
const COUNTED: &str = "counted";

/// Renders the entries, newest first, with a heading for each day of the shop.
pub(super) fn days(entries: &[Audit], names: &AuditNames, clock: &ShopClock) -> Markup {
    html! {
        @for entries in entries.chunk_by(|one, next| clock.day(one.at) == clock.day(next.at)) {
            @if let Some(first) = entries.first() {
                @let id = format!("day-{}", clock.field_date(first.at));
                section aria-labelledby=(id) {
                    h2 class="day" id=(id) { (day(first.at)) }
                    ol class="panel audit" { @for entry in entries { (row(entry, names, clock)) } }
                }
            }
        }
    }
}

fn row(entry: &Audit, names: &AuditNames, clock: &ShopClock) -> Markup {
    let facts = facts(entry);
    let count = facts.as_ref().and_then(|facts| facts.get("count")).and_then(Value::as_u64);
    let AuditSentence { before, after } = names.sentence(entry, count);
    html! {
        li {
            time datetime=(entry.at) title=(clock.exact(entry.at)) { (clock.time(entry.at)) }
            p {
                b { (named(&names.actor(entry))) } " " (&*before)
                @if let Some(after) = after { (named(&names.subject(entry))) (&*after) }
                @if entry.outcome != DONE && entry.outcome != COUNTED {
                    " " (chip(Tone::Attention, &entry.outcome.replace('_', " ")))
                }
            }
            details {
                summary { "Details" }
                (details(entry, facts))
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

fn details(entry: &Audit, facts: Option<Value>) -> Markup {
    html! {
        dl class="left" {
            dt { "Action" } dd { code { (entry.action) } }
            dt { "Actor" } dd { code { (entry.actor) } }
            dt { "Resource" }
            dd {
                code { (entry.subject_kind) @if entry.subject_id != Id::ONLY { " " (entry.subject_id) } }
            }
            dt { "Outcome" } dd { code { (entry.outcome) } }
            @if let Some(request) = &entry.request_id { dt { "Request" } dd { code { (request) } } }
        }
        @if let Some(facts) = facts { pre class="raw" { (format!("{facts:#}")) } }
    }
}
