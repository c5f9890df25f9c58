//! Maintenance of a printer: its reminders and its maintenance log.

mod view;

pub use view::{DueView, OdometerView, due};

use api_derive::Request;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde_json::{Value, json};

use self::view::{MaintenanceEntryView, ReminderView, SuggestionsView};
use super::PrinterHandles;
use domain::amount::Amount;
use domain::bounds::MAX_CENTS;
use domain::id::Id;
use domain::maintenance::{EntryFields, MAX_INTERVAL_COUNT, MAX_REMINDERS, Reminder, ReminderFields};
use domain::principal::Role;
use domain::printer::{LogMaintenance, MaintenanceAnswer, Printer, PrinterCommand, ReminderCommand};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handler::Argument;
use http::operation::DescribedError;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Plain};
use http::routes::ResourceRoutes;
use http::wire::{AboveZero, Filled, ItemsWithin, MaxChars, ONE_LINE, TextList, Within};

const REMINDERS: &str = "/api/printers/{id}/reminders";
const ONE_REMINDER: &str = "/api/printers/{id}/reminders/{reminder}";
const LOG: &str = "/api/printers/{id}/maintenance-log";
const NO_REMINDER: DescribedError = (404, "reminder_not_found", "The printer has no such reminder.");
const EXAMPLE_REMINDER: &str = "01890a5d-ac96-774b-bcce-b302099a8075";

/// Adds the routes for reminders and the maintenance log.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get(operator, REMINDERS, list, |op| {
        op.named("listReminders", "List maintenance reminders")
            .about("Due reminders come first, starting with the longest overdue.")
    })
    .post(operator, REMINDERS, remind, |op| {
        op.named("createReminder", "Add a maintenance reminder")
            .about(
                "The reminder becomes due when the first of its intervals is reached, counted from now on over the \
                 prints of jobs that end on the printer. The operators are notified once, by email and by the event \
                 `printer.maintenance_due`. The reminder stays due until an entry in the maintenance log resets it. \
                 With `blocking`, the printer takes no jobs until then.",
            )
            .error(409, "too_many_reminders", "The printer has the maximum number of reminders.")
    })
    .patch(operator, ONE_REMINDER, change, |op| {
        op.named("updateReminder", "Update a reminder")
            .about("After that, the reminder is due if one of the new intervals has been reached since the last reset.")
            .errors(&[NO_REMINDER])
    })
    .delete(operator, ONE_REMINDER, forget, |op| {
        op.named("deleteReminder", "Remove a reminder").about("The maintenance log is kept.").errors(&[NO_REMINDER])
    })
    .get(operator, "/api/printers/{id}/reminder-suggestions", suggested, |op| {
        op.named("listReminderSuggestions", "List recommended reminders")
            .about("These are only suggestions; add those that apply. The manufacturer's manual takes precedence.")
    })
    .get(operator, LOG, log, |op| op.named("listMaintenance", "List the maintenance log"))
    .post(operator, LOG, write, |op| {
        op.named("logMaintenance", "Log maintenance work")
            .about("Resets each reminder in `resets` so that it is no longer due.")
    })
}

/// Recurring maintenance of a printer. At least one interval is required.
#[derive(Request, Clone, Debug)]
#[api(
    change = ReminderChange, shown = ReminderDetails, fields = ReminderFields, change_example = json!({"everyHours": 150}),
    example = reminder_fields(),
)]
pub struct NewReminder {
    /// Name of the task, one line of text.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    name: String,
    /// Instructions for the operator.
    #[api(MaxChars(2000))]
    note: Option<String>,
    /// Interval in printing hours; at most three decimals.
    #[api(AboveZero)]
    every_hours: Option<Amount>,
    /// Interval as a number of prints.
    #[api(Within(1..=MAX_INTERVAL_COUNT))]
    every_prints: Option<i64>,
    /// Interval in grams of material; in millilitres for resin, and in sheets for sheet material.
    #[api(AboveZero)]
    every_grams: Option<Amount>,
    /// Interval as a number of failed prints.
    #[api(Within(1..=MAX_INTERVAL_COUNT))]
    every_failures: Option<i64>,
    /// `true` if the printer accepts no jobs while the maintenance is due.
    #[api(default = false)]
    blocking: bool,
}

fn reminder_fields() -> Value {
    json!({
        "name": "Clean the nozzle", "note": "Heat it, brush it off.", "everyHours": 100, "everyPrints": null,
        "everyGrams": null, "everyFailures": 3, "blocking": false,
    })
}

/// Maintenance work done on a printer.
#[derive(Request, Clone, Debug)]
#[api(fields = EntryFields, example = json!({
    "done": "Nozzle replaced", "note": "Worn out by glow-in-the-dark filament.", "parts": ["Nozzle 0.4, hardened"],
    "costCents": 1890, "doneAt": "2026-11-02T10:00:00.000Z", "resets": [EXAMPLE_REMINDER],
}))]
pub struct NewMaintenance {
    /// Work that was done, one line of text.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    done: String,
    /// Further notes for the operator.
    #[api(MaxChars(2000))]
    note: Option<String>,
    /// Parts used, as free text.
    #[api(TextList { max_items: 20, max_chars: 100 }, default = Vec::new())]
    parts: Vec<String>,
    /// Cost, in the smallest unit of the shop's currency.
    #[api(Within(0..=MAX_CENTS))]
    cost_cents: Option<i64>,
    /// Time at which the work was done; defaults to now.
    #[api(separate)]
    done_at: Option<Timestamp>,
    /// IDs of the printer's reminders that the work resets.
    #[api(ItemsWithin(0..=MAX_REMINDERS), default = Vec::new(), separate)]
    resets: Vec<Id>,
}

/// The `{reminder}` path parameter. A value that is not an identifier results in a 404 error.
struct PathReminder(Id);

impl<S: Send + Sync> FromRequestParts<S> for PathReminder {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "reminder").map(|(_, text)| text);
        let id = text.and_then(|text| text.parse().ok());
        id.map(Self).ok_or_else(|| Refusal::not_found("reminder").into())
    }
}

impl Argument for PathReminder {}

async fn list(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<ReminderView>, ApiError> {
    let page = page.into();
    let (_, printer) = find_present(&app.printers, id).await?;
    let mut all: Vec<&Reminder> = printer.reminders.values().collect();
    all.sort_by_key(|reminder| (reminder.due_at.is_none(), reminder.due_at, reminder.id));
    let (some, total) = cut(page, all);
    let items = some.into_iter().map(|reminder| ReminderView::new(reminder, &printer.odometer));
    Ok(ListPage::new(page, items, total))
}

async fn remind(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewReminder>,
) -> Result<Created<ReminderView>, ApiError> {
    let command = async { Ok(ReminderCommand::Remind(call.read_body()?.into_fields())) };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    let location = REMINDERS.replace("{id}", &id.to_string());
    Ok(Created::unversioned(location, &done, ReminderView::after(&done)))
}

async fn change(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathReminder(reminder): PathReminder,
    call: CommandRequest<ReminderChange>,
) -> Result<Plain<ReminderView>, ApiError> {
    let change = call.read_body()?;
    let merge = |printer: &Printer, version: i64| {
        let existing = printer.reminders.get(&reminder).ok_or_else(|| Refusal::not_found("reminder"))?;
        let fields = change.clone().merged_into(existing.fields.clone());
        Ok(ReminderCommand::Change { id: reminder, if_version: Some(version), fields })
    };
    let done = call.merge(&app.printers, id, merge).await?;
    Ok(Plain(ReminderView::after(&done)))
}

async fn forget(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathReminder(reminder): PathReminder,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::ForgetReminder(reminder)).await?;
    Ok(NoContent)
}

async fn suggested(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<SuggestionsView>, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    Ok(Plain(SuggestionsView::of(&printer)))
}

async fn log(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<MaintenanceEntryView>, ApiError> {
    let page = page.into();
    find_present(&app.printers, id).await?;
    let (entries, total) = app.queries.maintenance_entries(id, page).await?;
    Ok(ListPage::new(page, entries.into_iter().map(Into::into), total))
}

/// Adds an entry to a printer's maintenance log.
pub async fn log_maintenance(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<NewMaintenance>,
) -> Result<CommandOutcome<MaintenanceAnswer>, ApiError> {
    let command = async {
        let new = call.read_body()?;
        let (done_at, resets) = (new.done_at, new.resets.clone());
        Ok(LogMaintenance { fields: new.into_fields(), done_at, resets })
    };
    call.ask_with(&app.printers, CommandTarget::Id(id), command).await
}

async fn write(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewMaintenance>,
) -> Result<Created<MaintenanceEntryView>, ApiError> {
    let done = log_maintenance(&app, id, &call).await?;
    let location = LOG.replace("{id}", &id.to_string());
    Ok(Created::unversioned(location, &done, MaintenanceEntryView::from((*done.answer.entry).clone())))
}
