//! Maintenance of a printer as shown in responses.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::{EXAMPLE_REMINDER, ReminderDetails, reminder_fields};
use domain::amount::Amount;
use domain::id::Id;
use domain::maintenance::{EntryFields, MaintenanceEntry, Odometer, Reminder, suggestions};
use domain::printer::{Printer, ReminderAnswer};
use domain::time::Timestamp;
use http::command_request::CommandOutcome;

/// Usage of a printer, totalled over the prints of jobs that ended on it.
#[derive(Response, Serialize)]
#[api(name = "Odometer", example = json!({"hours": 812.25, "prints": 431, "grams": 20_410.5, "failures": 9}))]
pub struct OdometerView {
    /// Hours of printing, including pauses.
    hours: Amount,
    /// Number of prints that started and ended, regardless of their outcome.
    prints: i64,
    /// Material consumed: filament in grams, resin in millilitres and sheets by number, added up.
    grams: Amount,
    /// Number of failed prints.
    failures: i64,
}

impl From<Odometer> for OdometerView {
    fn from(odometer: Odometer) -> Self {
        let Odometer { printing_ms: _, prints, grams, failures } = odometer;
        Self { hours: odometer.hours(), prints, grams, failures }
    }
}

/// Maintenance reminder, with the printer's usage since the work was last done.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Reminder", many = "reminders", example = reminder_example())]
pub struct ReminderView {
    /// ID of the reminder.
    id: Id,
    #[serde(flatten)]
    details: ReminderDetails,
    /// Time at which the maintenance became due; null while it is not due.
    due_at: Option<Timestamp>,
    /// Description of the interval that was reached, if any.
    due_reason: Option<String>,
    /// Printer usage since the maintenance was last done.
    since_done: OdometerView,
    /// Time at which the work was last done; null if it has not been done since the reminder was created.
    done_at: Option<Timestamp>,
    /// Time at which the reminder was created.
    created_at: Timestamp,
    /// Time at which the reminder last changed or its work was done.
    updated_at: Timestamp,
}

fn reminder_example() -> Value {
    let mut example = reminder_fields();
    let more = json!({
        "id": EXAMPLE_REMINDER, "dueAt": "2026-11-02T10:15:00.000Z", "dueReason": "101.5 of 100 hours of printing",
        "sinceDone": {"hours": 101.5, "prints": 51, "grams": 2510.5, "failures": 1},
        "doneAt": "2026-09-01T08:00:00.000Z", "createdAt": "2026-06-01T08:00:00.000Z",
        "updatedAt": "2026-09-01T08:00:00.000Z",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

impl ReminderView {
    /// Builds the view of a reminder, given its printer's current usage.
    pub fn new(reminder: &Reminder, odometer: &Odometer) -> Self {
        Self {
            id: reminder.id,
            details: reminder.fields.clone().into(),
            due_at: reminder.due_at,
            due_reason: reminder.reason(odometer),
            since_done: reminder.work(odometer).into(),
            done_at: reminder.done_at,
            created_at: reminder.created_at,
            updated_at: reminder.updated_at,
        }
    }

    /// Builds the view of a reminder from the result of a command.
    pub fn after(done: &CommandOutcome<ReminderAnswer>) -> Self {
        let (reminder, odometer) = &done.answer.reminder;
        Self::new(reminder, odometer)
    }
}

/// Due maintenance of a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DueMaintenance", example = due_example())]
pub struct DueView {
    /// ID of the reminder that is due.
    reminder_id: Id,
    /// Name of the task.
    name: String,
    /// Description of the interval that was reached.
    reason: String,
    /// `true` if the printer accepts no jobs until the maintenance is done.
    blocking: bool,
    /// Time at which the maintenance became due.
    due_at: Timestamp,
}

/// Returns an example of due maintenance.
fn due_example() -> Value {
    json!({
        "reminderId": EXAMPLE_REMINDER, "name": "Clean the nozzle", "reason": "101.5 of 100 hours of printing",
        "blocking": false, "dueAt": "2026-11-02T10:15:00.000Z",
    })
}

/// Returns the due maintenance of a printer, longest overdue first.
pub fn due(printer: &Printer) -> Vec<DueView> {
    let view = |reminder: &Reminder| {
        Some(DueView {
            reminder_id: reminder.id,
            name: reminder.fields.name.clone(),
            reason: reminder.reason(&printer.odometer).unwrap_or_default(),
            blocking: reminder.fields.blocking,
            due_at: reminder.due_at?,
        })
    };
    printer.due_reminders().into_iter().filter_map(view).collect()
}

/// Recommended reminder for a machine type.
#[derive(Response, Serialize)]
#[api(name = "ReminderSuggestion", example = reminder_fields())]
pub struct SuggestionView {
    #[serde(flatten)]
    details: ReminderDetails,
}

/// Recommended reminders for a machine type.
#[derive(Response, Serialize)]
#[api(name = "ReminderSuggestions", example = json!({"suggestions": [reminder_fields()]}))]
pub struct SuggestionsView {
    /// Recommended reminders; each can be added unchanged.
    suggestions: Vec<SuggestionView>,
}

impl SuggestionsView {
    /// Returns the recommended reminders for a printer's machine type.
    pub fn of(printer: &Printer) -> Self {
        let usual = suggestions(printer.fields.machine_type).into_iter();
        Self { suggestions: usual.map(|fields| SuggestionView { details: fields.into() }).collect() }
    }
}

/// Reminder that was reset.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ResetReminder", example = json!({"reminderId": EXAMPLE_REMINDER, "name": "Replace the nozzle"}))]
pub struct ResetView {
    /// ID of the reminder, which may have been removed since then.
    reminder_id: Id,
    /// Name of the reminder when it was reset.
    name: String,
}

/// Entry in a printer's maintenance log.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MaintenanceEntry", many = "entries", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8076", "done": "Nozzle replaced", "note": null, "parts": ["Nozzle 0.4, hardened"],
    "costCents": 1890, "doneAt": "2026-11-02T10:00:00.000Z",
    "resets": [{"reminderId": EXAMPLE_REMINDER, "name": "Replace the nozzle"}],
    "odometer": {"hours": 812.25, "prints": 431, "grams": 20_410.5, "failures": 9},
    "by": "user:01890a5d-ac96-774b-bcce-b302099a8001", "createdAt": "2026-11-02T10:15:00.000Z",
}))]
pub struct MaintenanceEntryView {
    /// ID of the entry.
    id: Id,
    /// Work that was done.
    done: String,
    /// Further notes.
    note: Option<String>,
    /// Parts used.
    parts: Vec<String>,
    /// Cost, in the smallest unit of the shop's currency, if specified.
    cost_cents: Option<i64>,
    /// Time at which the work was done.
    done_at: Timestamp,
    /// Reminders that the work reset.
    resets: Vec<ResetView>,
    /// Usage of the printer when the work was done.
    odometer: OdometerView,
    /// Author of the entry: a user, an API key or the server.
    by: String,
    /// Time at which the entry was created.
    created_at: Timestamp,
}

impl From<MaintenanceEntry> for MaintenanceEntryView {
    fn from(entry: MaintenanceEntry) -> Self {
        let MaintenanceEntry { id, printer_id: _, fields, done_at, resets, odometer, by, created_at } = entry;
        let EntryFields { done, note, parts, cost_cents } = fields;
        let resets = resets.into_iter().map(|(reminder_id, name)| ResetView { reminder_id, name }).collect();
        Self { id, done, note, parts, cost_cents, done_at, resets, odometer: odometer.into(), by, created_at }
    }
}
