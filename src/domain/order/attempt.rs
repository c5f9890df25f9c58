//! Attempts at an order's jobs: claiming a printer, the printer's reports, and an operator's resolution.
//!
//! Reports are never rejected, because the printer resends each until the order acknowledges it. Duplicate, late and
//! unknown reports change nothing; the response states whether the order still needs the attempt.

use super::change::OrderChange;
use super::{JobAnswer, Order, OrderNewsAnswer, OrderStatus, Report, Resolution};
use crate::aggregate::Decision;
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{Attempt, AttemptState, Job, JobState, PrinterRecord};
use crate::printer_status::PrintEnd;
use crate::refusal::{Refusal, first_sentence};
use crate::time::Timestamp;

/// Outcome of a print, with the same fields as [`Report::Ended`].
struct PrintEnding<'a> {
    end: PrintEnd,
    filament_mm: Option<f64>,
    progress: f64,
    reason: Option<&'a str>,
    began_at: Option<Timestamp>,
    unseen: bool,
    booked_on: &'a [i64],
}

impl<'a> PrintEnding<'a> {
    /// Builds the outcome of a print that produced nothing, from the printer's report.
    fn unprinted(end: PrintEnd, reason: Option<&'a str>) -> Self {
        Self { end, filament_mm: None, progress: 0.0, reason, began_at: None, unseen: false, booked_on: &[] }
    }
}

impl OrderChange<'_> {
    /// Claims a printer for a job: adds the attempt and moves the job to DISPATCHING. Rejected unless the job is ready
    /// to print; the printer itself is contacted afterwards, by an effect.
    pub(super) fn dispatch(mut self, id: Id, printer: Id) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        let is_open = matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing);
        if !is_open
            || job.state != JobState::Sliced
            || !job.holds_all()
            || job.file_id.is_none()
            || job.live().is_some()
        {
            return Err(Refusal::transition("the job cannot be dispatched", job.state));
        }
        let attempt = Attempt {
            id: self.cx.ids.id(),
            job_id: id,
            order_id: self.order.id,
            number: job.attempts.len() as u32 + 1,
            printer_id: printer,
            state: AttemptState::Claimed,
            unverified: false,
            word: None,
            counts_as_refusal: false,
            pardons: None,
            reason: None,
            started_at: None,
            unseen: false,
            ended_at: None,
            created_at: self.cx.now,
            sign_off: None,
            photo_file_id: None,
            signed_at_printer: false,
            withdrawn: false,
            first_pass: false,
            used: Amount::ZERO,
            used_of: Vec::new(),
            progress: None,
            booked_on: Vec::new(),
            departures: Vec::new(),
        };
        let claimed = attempt.id;
        self.edit(id, |job| {
            job.state = JobState::Dispatching;
            job.attempt_id = Some(claimed);
            job.printer_id = Some(printer);
            job.attempts.push(attempt);
        });
        self.edit_attempt(id, claimed, |_| {});
        self.job_event("job.dispatching", id, None);
        self.job_done(id)
    }

    /// Applies a printer's report on an attempt. A report on a finished attempt only acknowledges an operator's
    /// resolution.
    pub(super) fn report(mut self, id: Id, attempt: Id, report: &Report) -> Decision<Order, OrderNewsAnswer> {
        let Ok(job) = self.job(id) else {
            return self.acknowledge(false);
        };
        let Some(existing) = job.attempts.iter().find(|one| one.id == attempt).cloned() else {
            return self.acknowledge(false);
        };
        if existing.state.over() {
            let last = !matches!(
                report,
                Report::Uploading | Report::StartSent | Report::Printing | Report::Paused | Report::Unverified(_)
            );
            if last && existing.word.is_some() {
                self.edit_attempt(id, attempt, |attempt| attempt.word = None);
            }
            return self.acknowledge(false);
        }
        self.apply_report(&job, &existing, report);
        let is_current = self.job(id).is_ok_and(|job| job.attempt_id == Some(attempt));
        self.acknowledge(is_current)
    }

    /// Updates the job and its attempt according to a report on a live attempt.
    fn apply_report(&mut self, job: &Job, existing: &Attempt, report: &Report) {
        let (id, attempt) = (job.id, existing.id);
        let began = existing.state == AttemptState::Confirmed;
        match report {
            Report::Uploading if existing.state == AttemptState::Claimed => {
                self.edit_attempt(id, attempt, |attempt| attempt.state = AttemptState::Uploading);
            }
            Report::StartSent if !began && existing.state != AttemptState::StartSent => {
                self.edit_attempt(id, attempt, |attempt| attempt.state = AttemptState::StartSent);
            }
            Report::Uploading | Report::StartSent => {}
            Report::Printing => {
                self.confirmed(job, existing);
                if job.state == JobState::Paused {
                    self.edit(id, |job| job.state = JobState::Printing);
                    self.job_event("job.resumed", id, None);
                }
            }
            Report::Paused => {
                self.confirmed(job, existing);
                if job.state != JobState::Paused {
                    self.edit(id, |job| job.state = JobState::Paused);
                    self.job_event("job.paused", id, None);
                }
            }
            Report::Unverified(reason) => {
                // A print that was seen stays confirmed: it is its end that nobody knows.
                let state = if began { AttemptState::Confirmed } else { AttemptState::StartSent };
                if !existing.unverified || existing.reason.as_ref() != Some(reason) {
                    self.edit_attempt(id, attempt, |attempt| {
                        attempt.state = state;
                        attempt.unverified = true;
                        attempt.reason = Some(reason.clone());
                    });
                }
                if !existing.unverified {
                    self.job_event("job.unverified", id, Some(reason));
                }
            }
            Report::Ended { end, filament_mm, progress, reason, began_at, unseen, booked_on } => {
                let ending = PrintEnding {
                    end: *end,
                    filament_mm: *filament_mm,
                    progress: *progress,
                    reason: reason.as_deref(),
                    began_at: *began_at,
                    unseen: *unseen,
                    booked_on,
                };
                self.ended(job, existing, &ending);
            }
            // A print that was seen running cannot have failed to start, so its job ends here and is not printed
            // again without a person.
            Report::NotStarted { reason, .. } | Report::Stopped { reason } if began => {
                self.ended(job, existing, &PrintEnding::unprinted(PrintEnd::Failed, Some(reason)));
            }
            Report::CancelledBeforeStart if began => {
                self.ended(job, existing, &PrintEnding::unprinted(PrintEnd::Cancelled, None));
            }
            Report::NotStarted { start_sent, counts, pardons, reason } => {
                self.edit_attempt(id, attempt, |attempt| attempt.pardons = *pardons);
                let state = if *start_sent { AttemptState::NotStarted } else { AttemptState::Refused };
                self.not_started(job, existing, state, *counts, reason);
            }
            Report::Stopped { reason } => self.stopped(job, existing, reason),
            Report::CancelledBeforeStart => {
                self.not_started(job, existing, AttemptState::Cancelled, false, "cancelled before it started");
            }
        }
    }

    /// Resolves a live attempt according to an operator's decision, even while its printer does not respond: the job
    /// changes state immediately, and the printer is notified until it acknowledges the resolution. Rejected if the
    /// decision would contradict observations or could produce the part twice: while the printer reports the print,
    /// before anything can have started, and, for `not_started`, if the print was observed or its start is still being
    /// verified.
    pub(super) fn resolve(
        mut self,
        id: Id,
        outcome: Resolution,
        observed: &PrinterRecord,
    ) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        let impossible = |why: &str| Err(Refusal::conflict("invalid_transition", why));
        let Some(attempt) = job.live().cloned() else {
            return impossible("a job can be resolved only while it is assigned to a printer");
        };
        if observed.shown_now {
            let words = "the printer is printing this job; cancel the job to end the print";
            return Err(Refusal::conflict("printing", words));
        }
        let began = attempt.state == AttemptState::Confirmed || observed.began;
        if !began && !attempt.unverified {
            if !matches!(attempt.state, AttemptState::StartSent) {
                return impossible("the print was not started yet; cancel the job to remove it from the printer");
            }
            if outcome == Resolution::NotStarted {
                return impossible(
                    "the start is still being verified; resolve the job once it is unverified, or cancel it",
                );
            }
        }
        if began && outcome == Resolution::NotStarted {
            return impossible("the server saw the print start; resolve it as finished or failed");
        }
        self.edit_attempt(id, attempt.id, |attempt| attempt.word = Some(outcome));
        let booked_on = &observed.booked_on[..];
        let ending = |end, progress, reason| PrintEnding {
            end,
            filament_mm: None,
            progress,
            reason,
            began_at: None,
            unseen: true,
            booked_on,
        };
        match outcome {
            Resolution::Finished => self.ended(&job, &attempt, &ending(PrintEnd::Finished, 1.0, None)),
            Resolution::Failed => {
                // How far a print came that was never seen is unknown: the whole need counts as used, so that no
                // material is promised twice.
                let progress = if began { observed.progress } else { 1.0 };
                let reason = Some("an operator stated that the print failed");
                self.ended(&job, &attempt, &ending(PrintEnd::Failed, progress, reason));
            }
            Resolution::NotStarted => {
                let reason = "an operator stated that it did not start";
                self.not_started(&job, &attempt, AttemptState::NotStarted, true, reason);
            }
        }
        self.job_done(id)
    }

    /// Records that the printer was observed printing the file: the job becomes PRINTING and, if it is the first, so
    /// does the order.
    fn confirmed(&mut self, job: &Job, attempt: &Attempt) {
        if attempt.state == AttemptState::Confirmed {
            // It was seen before; whatever was doubted of it since, it is seen again.
            if attempt.unverified {
                self.edit_attempt(job.id, attempt.id, |attempt| {
                    (attempt.unverified, attempt.reason) = (false, None);
                });
            }
            return;
        }
        let now = self.cx.now;
        self.edit_attempt(job.id, attempt.id, |attempt| {
            attempt.state = AttemptState::Confirmed;
            attempt.unverified = false;
            attempt.reason = None;
            attempt.started_at = Some(now);
        });
        self.edit(job.id, |job| job.state = JobState::Printing);
        self.job_event("job.printing", job.id, None);
        if self.order.status == OrderStatus::Paid {
            self.status(OrderStatus::Printing, Some("order.printing"));
        }
    }

    /// Records the end of a print. A finished print completes the job even if a cancellation was pending; any other end
    /// confirms the cancellation.
    fn ended(&mut self, job: &Job, attempt: &Attempt, ending: &PrintEnding<'_>) {
        let began = attempt.started_at.or(ending.began_at);
        self.confirmed(job, attempt);
        let (now, id) = (self.cx.now, job.id);
        let used = job.used(ending.end, ending.filament_mm, ending.progress);
        // The job keeps the rest of the printer's words.
        let reason = ending.reason.map(|text| first_sentence(text).0).filter(|sentence| !sentence.is_empty());
        self.edit_attempt(id, attempt.id, |attempt| {
            attempt.state = match ending.end {
                PrintEnd::Finished => AttemptState::Finished,
                PrintEnd::Cancelled => AttemptState::Cancelled,
                PrintEnd::Failed => AttemptState::Failed,
            };
            attempt.unverified = false;
            attempt.reason.clone_from(&reason);
            attempt.ended_at = Some(now);
            // When it began nobody saw, if it was not seen before.
            attempt.started_at = began;
            attempt.unseen = ending.unseen || began.is_none();
            attempt.used_of = job.claims().iter().map(|claim| (claim.material_id, claim.need.scaled(used))).collect();
            attempt.used = attempt.used_of.iter().map(|(_, amount)| *amount).sum();
            attempt.booked_on = ending.booked_on.to_vec();
            attempt.came_to(if ending.end == PrintEnd::Finished { 1.0 } else { ending.progress });
        });
        self.printed(job, attempt.id, ending.end == PrintEnd::Finished);
        if ending.end == PrintEnd::Finished {
            let unsigned = self.cx.rules.quality.sign_off_required;
            self.edit(id, |job| {
                job.settle(used);
                job.state = JobState::Completed;
                job.unsigned = unsigned;
                job.attempt_id = None;
                job.cancel_requested_at = None;
            });
            self.job_event("job.completed", id, None);
        } else if job.cancel_requested_at.is_some() {
            self.end_cancelled(id, used);
        } else {
            let default =
                if ending.end == PrintEnd::Cancelled { "cancelled at the printer" } else { "the print failed" };
            let error = ending.reason.filter(|_| reason.is_some()).unwrap_or(default);
            self.failed(id, used, error);
        }
        self.withdraw_surplus(job.line, None);
        self.check_ready();
    }

    /// Records an emergency stop before the print was observed: the job becomes FAILED, so that an operator decides
    /// whether to print it again.
    fn stopped(&mut self, job: &Job, attempt: &Attempt, reason: &str) {
        if !self.over(job, attempt, AttemptState::Failed, reason) {
            self.failed(job.id, 0.0, reason);
        }
    }

    /// Ends an attempt that printed nothing. Returns `true` if a cancellation was pending, in which case the job
    /// becomes CANCELLED.
    fn over(&mut self, job: &Job, attempt: &Attempt, state: AttemptState, reason: &str) -> bool {
        let now = self.cx.now;
        self.edit_attempt(job.id, attempt.id, |attempt| {
            attempt.state = state;
            attempt.unverified = false;
            attempt.reason = Some(first_sentence(reason).0);
            attempt.ended_at = Some(now);
        });
        let cancelled = job.cancel_requested_at.is_some();
        if cancelled {
            self.end_cancelled(job.id, 0.0);
            self.check_ready();
        }
        cancelled
    }

    /// Ends an attempt that printed nothing and returns the job to SLICED, so that a different printer can take it.
    /// Once enough printers have rejected the job, the dispatcher, which knows all printers, fails it
    /// ([`OrderChange::fail_refused`]).
    fn not_started(&mut self, job: &Job, attempt: &Attempt, state: AttemptState, counts: bool, reason: &str) {
        if self.over(job, attempt, state, reason) {
            return;
        }
        let id = job.id;
        let printer = attempt.printer_id;
        self.job_event("job.not_started", id, Some(reason));
        self.edit_attempt(id, attempt.id, |attempt| attempt.counts_as_refusal = counts);
        self.edit(id, |job| {
            if counts && !job.tried_on.contains(&printer) {
                job.tried_on.push(printer);
            }
            job.state = JobState::Sliced;
            job.attempt_id = None;
            job.printer_id = None;
        });
        if let Ok(job) = self.job(id)
            && let Some(number) = job.claims().iter().find(|claim| claim.recalled).map(|claim| claim.number)
        {
            self.give_up(&job, number, "its material was counted at less than the reserved amount");
        }
        self.withdraw_surplus(job.line, None);
    }

    /// Marks the job FAILED because the printers that could print it rejected it. The command itself is rejected unless
    /// the job is still waiting and all of the given printers rejected it.
    pub(super) fn fail_refused(mut self, id: Id, printers: &[Id]) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        let refused = !printers.is_empty() && printers.iter().all(|printer| job.tried_on.contains(printer));
        if job.state != JobState::Sliced || job.live().is_some() || !refused {
            return Err(Refusal::transition("the job cannot be marked as failed", job.state));
        }
        let words = job.attempts.last().and_then(|last| last.reason.as_deref()).unwrap_or("no reason was given");
        let count = printers.len();
        let printers = if count == 1 { "1 printer".to_owned() } else { format!("{count} printers") };
        self.failed(id, 0.0, &format!("refused by {printers}; the last reason was: {words}"));
        self.job_done(id)
    }

    fn failed(&mut self, id: Id, used: f64, error: &str) {
        let (error, details) = first_sentence(error);
        self.edit(id, |job| {
            job.settle(used);
            job.state = JobState::Failed;
            job.attempt_id = None;
            job.error = Some(error.clone());
            job.error_details = details;
        });
        self.job_event("job.failed", id, Some(&error));
    }
}
