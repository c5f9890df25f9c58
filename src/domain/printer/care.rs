//! Maintenance of a printer: its odometer, its reminders and its maintenance log.
//!
//! A print is added to the odometer in the commit that ends it, so it is counted exactly once despite crashes.
//! Reminders that become due as a result are recorded in the same commit, with the event and the emails that report
//! them.

use super::{AttemptPhase, MaintenanceAnswer, Printer, PrinterAnswer, PrinterRow, ReminderAnswer};
use crate::aggregate::{Decision, DecisionContext};
use crate::event::Event;
use crate::event::data::{PrinterMaintenanceDueData, PrinterMaintenanceLoggedData};
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::maintenance::{
    EndedPrint, EntryFields, MAX_REMINDERS, MaintenanceEntry, Odometer, Reminder, ReminderFields,
};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use words::Language;
use words::staff::{alerts as texts, cards};

/// Maximum number of reminders listed in the reason why a printer accepts no jobs.
const MAX_REMINDERS_NAMED: usize = 2;

impl Printer {
    /// Restores the reminders from their rows after loading.
    pub fn hydrate(mut self, reminders: impl IntoIterator<Item = Reminder>) -> Self {
        for reminder in reminders {
            self.reminders.insert_mut(reminder.id, reminder);
        }
        self
    }

    /// Deletes a reminder; the log remains.
    pub(super) fn forget_reminder(
        self,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        self.reminder(id)?;
        Ok(self.with_reminder(cx, |printer| {
            printer.reminders.remove_mut(&id);
        }))
    }

    fn reminder(&self, id: Id) -> Result<&Reminder, Refusal> {
        self.reminders.get(&id).ok_or_else(|| Refusal::not_found("reminder"))
    }

    /// Changes the reminders, which is a change to the printer's settings. The rows to write are derived from the
    /// difference.
    fn with_reminder(self, cx: &DecisionContext<'_>, change: impl FnOnce(&mut Self)) -> Decision<Self, PrinterAnswer> {
        self.say(cx, change, Some("printer.updated"))
    }

    pub(super) fn remind(
        self,
        fields: &ReminderFields,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, ReminderAnswer>, Refusal> {
        fields.check()?;
        if self.reminders.size() >= MAX_REMINDERS {
            let words = format!("a printer can have at most {MAX_REMINDERS} reminders; remove one first");
            return Err(Refusal::conflict("too_many_reminders", words));
        }
        let new = Reminder {
            id: cx.ids.id(),
            printer_id: self.id,
            fields: fields.clone(),
            since: self.odometer,
            done_at: None,
            due_at: None,
            created_at: cx.now,
            updated_at: cx.now,
        };
        let answer = ReminderAnswer { reminder: (Box::new(new.clone()), self.odometer) };
        let decision = self.with_reminder(cx, |printer| {
            printer.reminders.insert_mut(new.id, new);
        });
        Ok(decision.map_answer(|_| answer))
    }

    pub(super) fn change_reminder(
        self,
        id: Id,
        fields: &ReminderFields,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, ReminderAnswer>, Refusal> {
        let mut changed = self.reminder(id)?.clone();
        fields.check()?;
        changed.change(fields, &self.odometer, cx.now);
        // Due at once where the new interval is reached already; the answer says so, too.
        let mut response = changed.clone();
        response.note_due(&self.odometer, cx.now);
        let answer = ReminderAnswer { reminder: (Box::new(response), self.odometer) };
        let decision = self.with_reminder(cx, |printer| {
            printer.reminders.insert_mut(id, changed);
        });
        Ok(decision.map_answer(|_| answer))
    }

    pub(super) fn log_maintenance(
        self,
        fields: &EntryFields,
        done_at: Option<Timestamp>,
        resets: &[Id],
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, MaintenanceAnswer>, Refusal> {
        if done_at.is_some_and(|at| at > cx.now) {
            return Err(Refusal::field("doneAt", "must not be in the future"));
        }
        let mut named = Vec::new();
        for (at, id) in resets.iter().enumerate() {
            let reminder = self.reminders.get(id);
            let reminder = reminder
                .ok_or_else(|| Refusal::field(&format!("resets.{at}"), "the printer has no reminder with this ID"))?;
            named.push((*id, reminder.fields.name.clone()));
        }
        let entry = MaintenanceEntry {
            id: cx.ids.id(),
            printer_id: self.id,
            fields: fields.clone(),
            done_at: done_at.unwrap_or(cx.now),
            resets: named,
            odometer: self.odometer,
            by: cx.by.to_string(),
            created_at: cx.now,
        };
        let mut next = self;
        for id in resets {
            if let Some(mut reminder) = next.reminders.get(id).cloned() {
                reminder.reset(&next.odometer, cx.now);
                next.reminders.insert_mut(*id, reminder);
            }
        }
        next.changed(cx);
        let event = next.event_with(cx, "printer.maintenance_logged", None, |printer| PrinterMaintenanceLoggedData {
            printer,
            entry_id: entry.id,
            done: entry.fields.done.clone(),
            resets: entry.resets.iter().map(|(_, name)| name.clone()).collect(),
        });
        let answer = MaintenanceAnswer { entry: Box::new(entry.clone()) };
        Ok(Decision::to(next, answer).rows([PrinterRow::Entry(Box::new(entry))]).events([event]))
    }

    /// Completes a decision: adds a print that has just ended to the odometer, records and reports the reminders that
    /// are now due, and writes every reminder that changed.
    pub(super) fn with_care<A>(
        before: Option<&Self>,
        mut decision: Decision<Self, A>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, A> {
        let Some(next) = &mut decision.next else { return decision };
        if let Some(before) = before {
            next.odometer = next.odometer + wear(before, next, cx.now);
        }
        let due = next.newly_due(cx.now);
        for reminder in &due {
            decision.events.push(next.due_event(cx, reminder));
            decision.created.extend(next.due_alert(cx, reminder));
        }
        decision.rows.extend(differing(before, next));
        decision
    }

    /// Marks the reminders that have just become due and returns them.
    fn newly_due(&mut self, now: Timestamp) -> Vec<Reminder> {
        let mut due = Vec::new();
        for reminder in self.reminders.values() {
            let mut noted = reminder.clone();
            if noted.note_due(&self.odometer, now) {
                due.push(noted);
            }
        }
        for reminder in &due {
            self.reminders.insert_mut(reminder.id, reminder.clone());
        }
        due
    }

    /// Returns the due reminders, starting with the one that has been due longest.
    pub fn due_reminders(&self) -> Vec<&Reminder> {
        let mut due: Vec<&Reminder> = self.reminders.values().filter(|reminder| reminder.due_at.is_some()).collect();
        due.sort_by_key(|reminder| (reminder.due_at, reminder.id));
        due
    }

    /// Returns whether due maintenance blocks jobs.
    pub(super) fn is_blocked_by_care(&self) -> bool {
        self.reminders.values().any(|reminder| reminder.due_at.is_some() && reminder.fields.blocking)
    }

    /// Returns the names of the due maintenance that blocks jobs, and the number of further ones; `None` if nothing
    /// blocks them.
    pub(super) fn blocking_care(&self) -> Option<(String, usize)> {
        if !self.is_blocked_by_care() {
            return None;
        }
        let blocking: Vec<&Reminder> =
            self.due_reminders().into_iter().filter(|reminder| reminder.fields.blocking).collect();
        let names = blocking.iter().take(MAX_REMINDERS_NAMED).map(|reminder| reminder.fields.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        Some((names, blocking.len().saturating_sub(MAX_REMINDERS_NAMED)))
    }

    /// Returns the due maintenance that blocks jobs, as a sentence; `None` if nothing blocks them.
    pub(super) fn blocked_by_care(&self, language: Language) -> Option<String> {
        Some(match self.blocking_care()? {
            (names, 0) => cards::maintenance_reason(language, &names),
            (names, more) => cards::maintenance_reason_of_more(language, &names, more),
        })
    }

    fn due_event(&self, cx: &DecisionContext<'_>, reminder: &Reminder) -> Event {
        self.event_with(cx, "printer.maintenance_due", None, |printer| PrinterMaintenanceDueData {
            printer,
            reminder_id: reminder.id,
            reminder: reminder.fields.name.clone(),
            reason: reminder.reason(&self.odometer).unwrap_or_default(),
            blocking: reminder.fields.blocking,
        })
    }

    fn due_alert(&self, cx: &DecisionContext<'_>, reminder: &Reminder) -> Vec<Mail> {
        let (printer, task) = (&self.fields.name, &reminder.fields.name);
        let rest = if reminder.fields.blocking { texts::maintenance_blocks } else { texts::maintenance_can_wait };
        Mail::alert(cx, AlertKind::Printer, |language| {
            let reason = reminder.reason_in(language, &self.odometer).unwrap_or_default();
            let due = texts::maintenance(language, task, printer, &reason);
            (texts::maintenance_subject(language, printer, task), format!("{due} {}", rest(language)))
        })
    }
}

/// Returns the amount that an attempt that has just ended adds to the odometer; zero if no attempt has ended.
fn wear(before: &Printer, next: &Printer, now: Timestamp) -> Odometer {
    let over = |printer: &Printer| printer.in_hand.as_ref().is_some_and(super::CurrentAttempt::over);
    let (Some(in_hand), false) = (&next.in_hand, over(before)) else { return Odometer::ZERO };
    match &in_hand.phase {
        AttemptPhase::Ended { end, filament_mm, progress, unseen, .. } => EndedPrint {
            end: *end,
            began_at: in_hand.began_at.filter(|_| !unseen),
            ended_at: now,
            progress: *progress,
            estimated_seconds: in_hand.estimated_seconds,
            filament_mm: (*filament_mm, in_hand.stated_mm),
            slots: &in_hand.used_slots,
        }
        .wear(),
        // The start may have had an effect, which the stop ended; what it took nobody knows.
        AttemptPhase::Stopped { .. } => {
            let before = before.in_hand.as_ref().map(|in_hand| &in_hand.phase);
            let sent = matches!(before, Some(AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. }));
            Odometer { failures: i64::from(sent), ..Odometer::ZERO }
        }
        _ => Odometer::ZERO,
    }
}

/// Returns the rows of the reminders that changed or were removed.
fn differing(before: Option<&Printer>, next: &Printer) -> Vec<PrinterRow> {
    let previous = |id: &Id| before.and_then(|before| before.reminders.get(id));
    let put = next.reminders.values().filter(|reminder| previous(&reminder.id) != Some(*reminder));
    let put = put.map(|reminder| PrinterRow::Reminder(Box::new(reminder.clone())));
    let gone = before.into_iter().flat_map(|before| before.reminders.keys());
    let gone = gone.filter(|id| !next.reminders.contains_key(id)).map(|id| PrinterRow::ReminderGone(*id));
    put.chain(gone).collect()
}

#[cfg(test)]
mod tests;
