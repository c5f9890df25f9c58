//! What answers show of the care of a printer.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::{EXAMPLE_REMINDER, ReminderDetails, reminder_fields};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::maintenance::{EntryFields, MaintenanceEntry, Odometer, Reminder, suggestions};
use crate::domain::printer::{Printer, PrinterAnswer};
use crate::domain::time::Timestamp;
use crate::http::command_request::CommandOutcome;
use crate::http::error::ApiError;

/// What a printer has done, by the prints of jobs that ended on it.
#[derive(Response, Serialize)]
#[api(name = "Odometer", example = json!({"hours": 812.25, "prints": 431, "grams": 20_410.5, "failures": 9}))]
pub struct OdometerView {
    /// Hours that it printed, pauses included.
    hours: Amount,
    /// Prints that began and are over, however they ended.
    prints: i64,
    /// What they used of all materials together: grams of filament, millilitres of resin, sheets.
    grams: Amount,
    /// Prints that failed.
    failures: i64,
}

impl From<Odometer> for OdometerView {
    fn from(odometer: Odometer) -> Self {
        let Odometer { printing_ms: _, prints, grams, failures } = odometer;
        Self { hours: odometer.hours(), prints, grams, failures }
    }
}

/// A reminder, and how far the printer is since it was last done.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Reminder", many = "reminders", example = reminder_example())]
pub struct ReminderView {
    /// Id of the reminder.
    id: Id,
    #[serde(flatten)]
    details: ReminderDetails,
    /// Since when it is due; null while it is not.
    due_at: Option<Timestamp>,
    /// Which interval is reached, in words; null while none is.
    due_reason: Option<String>,
    /// What the printer has done since the work was last done.
    since_done: OdometerView,
    /// When the work was last done; null if never since the reminder was made.
    done_at: Option<Timestamp>,
    /// When it was made.
    created_at: Timestamp,
    /// When it was last changed, or its work done.
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
    /// A reminder of a printer that has done so much.
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

    /// The reminder as a command left it.
    pub fn after(done: &CommandOutcome<PrinterAnswer>) -> Result<Self, ApiError> {
        match &done.answer {
            PrinterAnswer::Reminder(reminder, odometer) => Ok(Self::new(reminder, odometer)),
            other => Err(ApiError::internal(format!("a printer answered {other:?}"))),
        }
    }
}

/// Maintenance of a printer that is due.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DueMaintenance", example = due_example())]
pub struct DueView {
    /// The reminder that is due.
    reminder_id: Id,
    /// What is to be done.
    name: String,
    /// Which interval is reached, in words.
    reason: String,
    /// Whether the printer takes no job until it is done.
    blocking: bool,
    /// Since when it is due.
    due_at: Timestamp,
}

/// Maintenance that is due, as it may look.
fn due_example() -> Value {
    json!({
        "reminderId": EXAMPLE_REMINDER, "name": "Clean the nozzle", "reason": "101.5 of 100 hours of printing",
        "blocking": false, "dueAt": "2026-11-02T10:15:00.000Z",
    })
}

/// The maintenance of a printer that is due, the one that is due longest first.
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

/// A reminder that is usual for such a machine.
#[derive(Response, Serialize)]
#[api(name = "ReminderSuggestion", example = reminder_fields())]
pub struct SuggestionView {
    #[serde(flatten)]
    details: ReminderDetails,
}

/// Reminders that are usual for such a machine.
#[derive(Response, Serialize)]
#[api(name = "ReminderSuggestions", example = json!({"suggestions": [reminder_fields()]}))]
pub struct SuggestionsView {
    /// Each can be added as it is.
    suggestions: Vec<SuggestionView>,
}

impl SuggestionsView {
    /// What is usual for a printer of this type of machine.
    pub fn of(printer: &Printer) -> Self {
        let usual = suggestions(printer.fields.machine_type).into_iter();
        Self { suggestions: usual.map(|fields| SuggestionView { details: fields.into() }).collect() }
    }
}

/// A reminder that was reset.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ResetReminder", example = json!({"reminderId": EXAMPLE_REMINDER, "name": "Replace the nozzle"}))]
pub struct ResetView {
    /// Id of the reminder, which may have been removed since.
    reminder_id: Id,
    /// Its name at that time.
    name: String,
}

/// An entry of a printer's maintenance log.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MaintenanceEntry", many = "entries", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8076", "done": "Nozzle replaced", "note": null, "parts": ["Nozzle 0.4, hardened"],
    "costCents": 1890, "doneAt": "2026-11-02T10:00:00.000Z",
    "resets": [{"reminderId": EXAMPLE_REMINDER, "name": "Replace the nozzle"}],
    "odometer": {"hours": 812.25, "prints": 431, "grams": 20_410.5, "failures": 9},
    "by": "user:01890a5d-ac96-774b-bcce-b302099a8001", "createdAt": "2026-11-02T10:15:00.000Z",
}))]
pub struct EntryView {
    /// Id of the entry.
    id: Id,
    /// What was done.
    done: String,
    /// More about it.
    note: Option<String>,
    /// The parts that were used.
    parts: Vec<String>,
    /// What it cost, in the smallest unit of the shop's currency; null where nobody said.
    cost_cents: Option<i64>,
    /// When it was done.
    done_at: Timestamp,
    /// The reminders whose work it was.
    resets: Vec<ResetView>,
    /// What the printer had done by then.
    odometer: OdometerView,
    /// Who made the entry: a user, an API key or the server.
    by: String,
    /// When the entry was made.
    created_at: Timestamp,
}

impl From<MaintenanceEntry> for EntryView {
    fn from(entry: MaintenanceEntry) -> Self {
        let MaintenanceEntry { id, printer_id: _, fields, done_at, resets, odometer, by, created_at } = entry;
        let EntryFields { done, note, parts, cost_cents } = fields;
        let resets = resets.into_iter().map(|(reminder_id, name)| ResetView { reminder_id, name }).collect();
        Self { id, done, note, parts, cost_cents, done_at, resets, odometer: odometer.into(), by, created_at }
    }
}
