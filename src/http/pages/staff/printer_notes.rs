//! A printer's maintenance log: its newest notes, the work that is due, and a form for adding a note.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::acts::DONE_LABEL;
use super::card::act_path;
use super::log::LogHandles;
use super::names::ActorNames;
use super::shell::{act, clock, hidden};
use domain::maintenance::{MaintenanceEntry, Reminder};
use domain::printer::Printer;
use http::error::ApiError;
use store::queries::Page;

/// Number of notes shown.
const NOTES_SHOWN: u64 = 10;

impl LogHandles {
    /// Renders a printer's newest maintenance notes and a form for adding one.
    pub(super) async fn notes(&self, printer: &Printer) -> Result<Markup, ApiError> {
        let page = Page { limit: NOTES_SHOWN, offset: 0 };
        let (entries, total) = self.queries.maintenance_entries(printer.id, page).await?;
        let authors: BTreeSet<&str> = entries.iter().map(|entry| entry.by.as_str()).collect();
        let names = self.names.actors(words::Language::English, &authors).await?;
        let due: Vec<&Reminder> = printer.reminders.values().filter(|reminder| reminder.due_at.is_some()).collect();
        Ok(html! {
            section class="card" aria-labelledby="notes" {
                h2 id="notes" { "Notes and maintenance log" }
                @for reminder in &due { (due_now(printer, reminder)) }
                form class="tools" method="post" action=(act_path(printer.id, "note")) data-quiet="" {
                    (hidden())
                    div class="field wide" {
                        label for="entry" { (DONE_LABEL(words::Language::English)) }
                        input id="entry" name="done" required maxlength="200" aria-describedby="about-entry";
                        p class="hint" id="about-entry" { "For the log or the next shift." }
                    }
                    button id="write-note" class="second" type="submit" { "Add note" }
                }
                @if entries.is_empty() { p class="soft" { "No notes yet." } }
                ol class="rows" { @for entry in &entries { li { (note(entry, &names)) } } }
                @if total > NOTES_SHOWN { p class="soft" { "and " (total - NOTES_SHOWN) " older" } }
            }
        })
    }
}

fn note(entry: &MaintenanceEntry, names: &ActorNames) -> Markup {
    let resets: Vec<&str> = entry.resets.iter().map(|(_, name)| name.as_str()).collect();
    html! {
        span { (entry.fields.done) }
        span class="soft" { (names.name(&entry.by).text) ", " (clock(entry.done_at)) }
        @if let Some(note) = &entry.fields.note { span class="full" { (note) } }
        @if !resets.is_empty() { span class="full soft" { "Completed: " (resets.join(", ")) } }
    }
}

/// Renders work that is due, with a button for marking it as done.
fn due_now(printer: &Printer, reminder: &Reminder) -> Markup {
    let more = html! {
        input type="hidden" name="done" value=(reminder.fields.name);
        input type="hidden" name="resets" value=(reminder.id);
    };
    html! {
        div class="tools" {
            p {
                strong { "Due: " (reminder.fields.name) }
                @if let Some(note) = &reminder.fields.note { " — " (note) }
            }
            (act(&act_path(printer.id, "note"), &format!("due-{}", reminder.id), "second", "Mark as done", Some(&more)))
        }
    }
}
