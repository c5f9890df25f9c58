//! A printer's maintenance log: its latest notes, the work due, and a form for adding a note.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::acts::DONE_LABEL;
use super::card::act_path;
use super::log::LogHandles;
use super::names::ActorNames;
use super::shell::{act, hidden_once, once_field};
use crate::frame::time;
use domain::maintenance::{MaintenanceEntry, Reminder};
use domain::printer::Printer;
use http::error::ApiError;
use store::queries::Page;
use words::Language;
use words::staff::printer_page as texts;

/// Number of notes shown.
const NOTES_SHOWN: u64 = 10;

impl LogHandles {
    /// Renders a printer's latest maintenance notes and a form for adding one.
    pub(super) async fn notes(&self, language: Language, printer: &Printer) -> Result<Markup, ApiError> {
        let page = Page { limit: NOTES_SHOWN, offset: 0 };
        let (entries, total) = self.queries.maintenance_entries(printer.id, page).await?;
        let authors: BTreeSet<&str> = entries.iter().map(|entry| entry.by.as_str()).collect();
        let names = self.names.actors(language, &authors).await?;
        let due: Vec<&Reminder> = printer.reminders.values().filter(|reminder| reminder.due_at.is_some()).collect();
        Ok(html! {
            section class="card" aria-labelledby="notes" {
                h2 id="notes" { (texts::notes_heading(language)) }
                @for reminder in &due { (due_now(language, printer, reminder)) }
                form class="tools" method="post" action=(act_path(printer.id, "note")) data-quiet="" {
                    (hidden_once())
                    div class="field wide" {
                        label for="entry" { (DONE_LABEL(language)) }
                        input id="entry" name="done" required maxlength="200" aria-describedby="about-entry";
                        p class="hint" id="about-entry" { (texts::note_hint(language)) }
                    }
                    button id="write-note" class="second" type="submit" { (texts::add_note(language)) }
                }
                @if entries.is_empty() { p class="soft" { (texts::no_notes(language)) } }
                ol class="rows" { @for entry in &entries { li { (note(language, entry, &names)) } } }
                @if total > NOTES_SHOWN { p class="soft" { (texts::older_notes(language, total - NOTES_SHOWN)) } }
            }
        })
    }
}

fn note(language: Language, entry: &MaintenanceEntry, names: &ActorNames) -> Markup {
    let resets: Vec<&str> = entry.resets.iter().map(|(_, name)| name.as_str()).collect();
    html! {
        span { (entry.fields.done) }
        span class="soft" { (names.name(&entry.by).text) ", " (time(language, entry.done_at)) }
        @if let Some(note) = &entry.fields.note { span class="full" { (note) } }
        @if !resets.is_empty() { span class="full soft" { (texts::completed(language, &resets.join(", "))) } }
    }
}

/// Renders work that is due, with a button for marking it as done.
fn due_now(language: Language, printer: &Printer, reminder: &Reminder) -> Markup {
    let more = html! {
        (once_field())
        input type="hidden" name="done" value=(reminder.fields.name);
        input type="hidden" name="resets" value=(reminder.id);
    };
    html! {
        div class="tools" {
            p {
                strong { (texts::due(language, &reminder.fields.name)) }
                @if let Some(note) = &reminder.fields.note { " — " (note) }
            }
            (act(&act_path(printer.id, "note"), &format!("due-{}", reminder.id), "second", &texts::mark_done(language), Some(&more)))
        }
    }
}
