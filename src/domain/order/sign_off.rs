//! Good parts: how operators judge the parts of finished prints, and which parts are reprinted as a result.
//!
//! The parts of a print are counted when it ends or, if `quality.sign_off` is set, once a user has signed them off. If
//! a sign-off of a COMPLETED job leaves parts missing, additional jobs are created in the same commit, at most
//! `quality.max_reprints` per line; parts that are still missing are flagged. FAILED jobs are left to an operator. Once
//! the order is cancelled or refunded, a sign-off is only recorded. A shipped order returns to production when shipped
//! parts are rejected, because they are owed again. If an older release stored a shipped order with such parts, the
//! order returns to production when they are signed off again.
//!
//! A correction that increases the number of good parts withdraws jobs that were created for parts that are no longer
//! missing. Jobs that a printer already has are not withdrawn; operators are alerted to them.

use super::change::OrderChange;
use super::parts::plate_parts;
use super::{JobAnswer, Order, OrderNewsAnswer, OrderStatus};
use crate::aggregate::Decision;
use crate::event::data::{JobData, JobSignedOffData};
use crate::id::Id;
use crate::job::{Attempt, AttemptState, Job, JobState};
use crate::refusal::Refusal;
use crate::sign_off::{Inspection, SignOff};
use crate::time::Timestamp;

impl OrderChange<'_> {
    /// Records the parts of a finished print. They are counted according to its outcome, unless a sign-off is required.
    pub(super) fn printed(&mut self, job: &Job, attempt: Id, finished: bool) {
        let (now, plate) = (self.cx.now, self.order.plate_of(job));
        let first_pass = !job.reprint && job.last_print().is_none();
        let automatic = !self.cx.rules.quality.sign_off_required;
        self.edit_attempt(job.id, attempt, |attempt| {
            attempt.first_pass = first_pass;
            attempt.sign_off = automatic.then(|| SignOff::automatic(finished, plate, now));
        });
    }

    /// Signs off the last print of a job, or corrects an earlier sign-off.
    pub(super) fn sign_off(mut self, id: Id, inspection: &Inspection) -> Result<Decision<Order, JobAnswer>, Refusal> {
        inspection.check(&self.cx.rules.quality)?;
        let job = self.job(id)?;
        let Some(attempt) = job.last_print().cloned() else {
            return Err(Refusal::conflict("nothing_to_sign_off", "this job has no finished print to sign off"));
        };
        let plate = self.order.plate_of(&job);
        if inspection.good_count.is_some_and(|good| good > plate) {
            return Err(Refusal::field(
                "goodCount",
                format!("must be at most {plate}, the number of parts on the plate"),
            ));
        }
        let (by, now) = (self.cx.by.to_string(), self.cx.now);
        self.signed(&job, &attempt, inspection, by, now);
        Ok(self.job_done(id)?.requires(inspection.requires()))
    }

    /// Records the inspection that was entered at a printer when its bed was cleared. The later of two inspections
    /// takes precedence; clearing the bed without an inspection overrides neither.
    pub(super) fn signed_at_printer(
        mut self,
        id: Id,
        attempt: Id,
        inspection: &Inspection,
        by: &str,
        at: Timestamp,
    ) -> Decision<Order, OrderNewsAnswer> {
        let Ok(job) = self.job(id) else { return self.acknowledge(false) };
        let existing = job.attempts.iter().find(|one| one.id == attempt && !one.signed_at_printer).cloned();
        let Some(existing) = existing else { return self.acknowledge(false) };
        self.edit_attempt(id, attempt, |attempt| attempt.signed_at_printer = true);
        let said_before = existing.sign_off.as_ref().filter(|before| !before.automatic);
        if said_before.is_none_or(|before| !inspection.says_nothing() && at > before.at) {
            self.signed(&job, &existing, inspection, by.to_owned(), at);
        }
        self.acknowledge(false)
    }

    /// Records the photo of the end of a print, or its deletion; a duplicate changes nothing.
    pub(super) fn photographed(
        mut self,
        id: Id,
        attempt: Id,
        file: Option<Id>,
    ) -> Result<Decision<Order, OrderNewsAnswer>, Refusal> {
        let job = self.job(id)?;
        let existing = job.attempts.iter().find(|one| one.id == attempt);
        let Some(photo) = existing.map(|existing| existing.photo_file_id).filter(|photo| *photo != file) else {
            return Ok(self.acknowledge(false));
        };
        let signed = job.attempts.iter().filter_map(|one| one.sign_off.as_ref()?.photo_file_id);
        if file.is_none() && signed.into_iter().any(|named| Some(named) == photo) {
            return Err(Refusal::conflict("photo_in_use", "the picture is used by a sign-off of this job"));
        }
        self.edit_attempt(id, attempt, |attempt| attempt.photo_file_id = file);
        Ok(self.acknowledge(false))
    }

    /// Records a sign-off, and creates jobs to reprint the parts missing as a result.
    fn signed(&mut self, job: &Job, attempt: &Attempt, inspection: &Inspection, by: String, at: Timestamp) {
        let plate = self.order.plate_of(job);
        let before = match &attempt.sign_off {
            Some(before) => before.clone(),
            None => SignOff::automatic(attempt.state == AttemptState::Finished, plate, at),
        };
        let sign_off = before.and_then(inspection, by, at);
        let rejected = self.order.rejected_departures(job);
        // A person who says it once more goes on with the order.
        let goes_on = self.order.waits_as_shipped() && rejected > 0;
        let previous = attempt.sign_off.as_ref().filter(|_| !goes_on);
        if let Some(previous) = previous.filter(|previous| !previous.automatic && previous.says_the_same(&sign_off)) {
            // Nothing new, but said later than what somebody else may have said meanwhile at the printer.
            if !inspection.says_nothing() && sign_off.at > previous.at {
                self.edit_attempt(job.id, attempt.id, |attempt| attempt.sign_off = Some(sign_off));
            }
            return;
        }
        let data = |job: JobData| JobSignedOffData {
            job,
            attempt_id: attempt.id,
            good_count: sign_off.good,
            plate_parts: sign_off.parts,
            reason: sign_off.reason.clone(),
        };
        self.job_event_with("job.signed_off", job.id, None, data);
        self.attribute_event(&sign_off.by);
        let rejected = if goes_on { 0 } else { rejected };
        self.edit_attempt(job.id, attempt.id, |attempt| attempt.sign_off = Some(sign_off.clone()));
        if job.last_print().is_some_and(|last| last.id == attempt.id) {
            self.edit(job.id, |job| job.unsigned = false);
        }
        let Ok(job) = self.job(job.id) else { return };
        let owed_again = self.order.rejected_departures(&job).saturating_sub(rejected);
        let reopened = self.reopen(&job, owed_again);
        if job.state == JobState::Completed {
            // Of a shipped order the customer took, what was short then stays so.
            self.make_missing(job.line as usize, if reopened { owed_again } else { u64::MAX });
        }
        self.withdraw_surplus(job.line, None);
        if reopened || job.state == JobState::Completed {
            self.check_ready();
        }
    }

    /// Reopens a shipped order when `owed_again` more of its shipped parts are rejected. Returns whether the order was
    /// reopened.
    fn reopen(&mut self, job: &Job, owed_again: u64) -> bool {
        let shipped = self.order.shipped_parts();
        let line = self.order.lines.get(job.line as usize).zip(shipped.get(job.line as usize));
        let is_owed = line.is_some_and(|(line, shipped)| *shipped < u64::from(line.quantity));
        let reopens = self.order.status == OrderStatus::Shipped && owed_again > 0 && is_owed;
        if reopens {
            self.head().shipment = None;
            self.status(OrderStatus::Printing, None);
        }
        reopens
    }

    /// Creates jobs for the missing parts of a line, for at most `at_most` parts and within the configured limits.
    fn make_missing(&mut self, line: usize, at_most: u64) {
        let (rules, status) = (&self.cx.rules.quality, self.order.status);
        let open = matches!(status, OrderStatus::Paid | OrderStatus::Printing | OrderStatus::Ready);
        let (Some(of_line), Some(parts)) = (self.order.lines.get(line).cloned(), self.order.parts().get(line).copied())
        else {
            return;
        };
        let (missing, plate) = (parts.missing(of_line.quantity).min(at_most), u64::from(plate_parts(&of_line)));
        let plates = missing.div_ceil(plate);
        let jobs = plates.min(u64::from(rules.max_reprints.saturating_sub(parts.reprints)));
        if !open || !rules.reprint_missing || jobs == 0 {
            return;
        }
        for n in 0..jobs {
            self.make_job(line, &of_line, Some(missing - n * plate));
        }
        if status == OrderStatus::Ready {
            self.status(OrderStatus::Printing, None);
        }
    }

    /// Cancels jobs of a line that were created for rejected parts and are no longer needed, newest first. Jobs that a
    /// printer already has continue, and the operators are alerted to them ([`Order::surplus_jobs`]); `except` is a job
    /// that an operator has just requested.
    pub(super) fn withdraw_surplus(&mut self, line: u32, except: Option<Id>) {
        if !matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing | OrderStatus::Ready) {
            return;
        }
        let waiting = |job: &&Job| job.line == line && job.live().is_none() && Some(job.id) != except;
        let surplus: Vec<Id> = self.order.surplus_jobs(waiting).iter().map(|job| job.id).collect();
        for id in &surplus {
            self.edit(*id, |job| job.surplus = true);
            self.end_cancelled(*id, 0.0);
        }
        if !surplus.is_empty() {
            // It may have been all that the order still waited for.
            self.check_ready();
        }
    }

    /// Marks all unfinished jobs as surplus, because the order has all its parts without them.
    pub(super) fn mark_surplus(&mut self) {
        let open: Vec<Id> = self.order.jobs.values().filter(|job| !job.over()).map(|job| job.id).collect();
        for id in open {
            self.edit(id, |job| job.surplus = true);
        }
    }

    /// Withdraws the last print of a COMPLETED job that is being reprinted: its parts are no longer counted.
    pub(super) fn withdraw(&mut self, job: &Job) {
        if let Some(last) = job.last_print() {
            self.edit_attempt(job.id, last.id, |attempt| attempt.withdrawn = true);
        }
    }
}
