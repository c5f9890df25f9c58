//! Jobs of an order: created when the order is paid, then prioritised, cancelled, retried and released.

use std::collections::BTreeMap;

use super::change::OrderChange;
use super::parts::plate_parts;
use super::place::{check_due, plates};
use super::{
    CurrentStock, JobAnswer, Order, OrderAnswer, OrderLine, OrderNewsAnswer, OrderStatus, PrinterRecords,
    ProductionData,
};
use crate::aggregate::{Decision, NumberSeries};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{
    AttemptState, BEING_READ_REASON, Block, ClaimStatus, FurtherNeed, Job, JobClaimMut, JobState, NO_FILE_REASON,
};
use crate::ledger::flag_money;
use crate::order::Resolution;
use crate::principal::Role;
use crate::printer_status::PrintEnd;
use crate::refusal::{Class, Refusal};
use crate::requirement::{Referenced, Requirement};
use crate::time::Timestamp;

impl OrderChange<'_> {
    /// Creates the jobs of all lines. They stay CREATED until [`Self::prepared`] sets their production data.
    pub(super) fn make_jobs(&mut self) {
        let lines = self.order.lines.clone();
        for (n, line) in lines.iter().enumerate() {
            for _ in 0..plates(line) {
                self.make_job(n, line, None);
            }
        }
    }

    /// Creates one job for a line. If the job replaces rejected parts, `rejected` is the number of missing parts.
    pub(super) fn make_job(&mut self, n: usize, line: &OrderLine, rejected: Option<u64>) {
        let Some(make) = &line.make else { return };
        let (reprint, plate) = (rejected.is_some(), plate_parts(line));
        let has_source = make.file_id.is_some() || make.source.is_some();
        let spare_parts = rejected.map_or(0, |missing| u64::from(plate).saturating_sub(missing));
        let job = Job {
            id: self.cx.ids.id(),
            number: self.cx.ids.number(NumberSeries::Job),
            version: 1,
            order_id: self.order.id,
            order_number: self.order.number,
            line: n as u32,
            sku_id: line.sku_id,
            sku_name: line.description.clone(),
            material_id: make.material_id,
            need: make.need,
            further: make.further.iter().copied().map(FurtherNeed::new).collect(),
            machine_type: make.machine_type,
            dimensions: make.dimensions,
            file_id: None,
            source: None,
            file_form: make.file_form,
            sliced_for: make.sliced_for.clone(),
            file_filament_mm: make.file_filament_mm,
            estimated_seconds: make.estimated_seconds,
            plate_parts: plate,
            reprint,
            spare_parts: u32::try_from(spare_parts).unwrap_or(plate),
            surplus: false,
            unsigned: false,
            state: JobState::Created,
            blocked_by: None,
            block_reason: Some(if has_source { BEING_READ_REASON } else { NO_FILE_REASON }.to_owned()),
            stock: ClaimStatus::None,
            claim: 1,
            settling: Vec::new(),
            booked_on: BTreeMap::new(),
            recalled: false,
            released: false,
            priority: self.order.priority,
            due_at: self.order.due_at,
            printer_id: None,
            attempt_id: None,
            tried_on: Vec::new(),
            attempts: Vec::new(),
            cancel_requested_at: None,
            error: None,
            error_details: None,
            consumed: Amount::ZERO,
            created_at: self.cx.now,
            updated_at: self.cx.now,
        };
        let id = job.id;
        self.add(job);
        if reprint {
            self.job_event("job.added", id, None);
        }
        if !has_source {
            self.job_event("job.created", id, Some(NO_FILE_REASON));
        }
    }

    /// Applies the production data read from a SKU and its file: the CREATED jobs of that SKU become VALIDATED, and
    /// their production data no longer follows the SKU. If there is neither a file nor a model to slice, the jobs wait
    /// until one is added, and this is reported.
    pub(super) fn prepared(mut self, sku: Id, make: &ProductionData) -> Decision<Order, OrderNewsAnswer> {
        let jobs = self.order.jobs.values().filter(|job| job.state == JobState::Created && job.sku_id == sku);
        let ids: Vec<Id> = jobs.map(|job| job.id).collect();
        let Some(file) = make.file_id.or(make.source.as_ref().map(|source| source.model_file_id)) else {
            for id in ids {
                self.has_no_file(id);
            }
            return self.acknowledge(true);
        };
        for id in ids {
            self.edit(id, |job| {
                job.material_id = make.material_id;
                job.need = make.need;
                job.further = make.further.iter().copied().map(FurtherNeed::new).collect();
                job.machine_type = make.machine_type;
                job.dimensions = make.dimensions;
                job.file_id = make.file_id;
                job.source.clone_from(&make.source);
                job.file_form = make.file_form;
                job.sliced_for = make.sliced_for.clone();
                job.file_filament_mm = make.file_filament_mm;
                job.estimated_seconds = make.estimated_seconds;
                job.state = JobState::Validated;
                job.block_reason = None;
                job.ask_next();
            });
            self.job_event("job.validated", id, None);
        }
        let materials = make.materials().map(|id| Requirement::not_deleted(Referenced::Material, id, "materialId"));
        let named = materials.chain([Requirement::not_deleted(Referenced::File, file, "fileId")]);
        self.acknowledge(true).requires(named)
    }

    /// Records, once, that a CREATED job has nothing to print.
    fn has_no_file(&mut self, id: Id) {
        if self.job(id).is_ok_and(|job| job.block_reason.as_deref() == Some(BEING_READ_REASON)) {
            self.edit(id, |job| job.block_reason = Some(NO_FILE_REASON.to_owned()));
            self.job_event("job.created", id, Some(NO_FILE_REASON));
        }
    }

    /// Changes the priority or due date of a job. A queued claim is sent again, so that the material learns its new
    /// rank.
    pub(super) fn rank(&mut self, id: Id, priority: Option<u8>, due_at: Option<Option<Timestamp>>) {
        self.edit(id, |job| {
            let (priority, due_at) = (priority.unwrap_or(job.priority), due_at.unwrap_or(job.due_at));
            if (priority, due_at) != (job.priority, job.due_at) {
                (job.priority, job.due_at) = (priority, due_at);
                let waiting = |claim: &JobClaimMut<'_>| *claim.stock == ClaimStatus::InLine;
                job.claims_mut().into_iter().filter(waiting).for_each(|claim| *claim.stock = ClaimStatus::Asked);
            }
        });
    }

    /// Edits the priority and due date of an unfinished job.
    pub(super) fn update_job(
        mut self,
        id: Id,
        if_version: Option<i64>,
        priority: Option<u8>,
        due_at: Option<Option<Timestamp>>,
    ) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        if if_version.is_some_and(|version| version != job.version) {
            return Err(Refusal::new(
                Class::Stale,
                "stale_version",
                format!("the job has changed to version {}; reload it and repeat the change", job.version),
            ));
        }
        if priority.is_some_and(|priority| priority > 9) {
            return Err(Refusal::field("priority", "must be from 0 to 9"));
        }
        check_due(self.cx, due_at, job.due_at)?;
        if job.over() {
            return Err(Refusal::transition("the job cannot be changed", job.state));
        }
        self.rank(id, priority, due_at);
        self.job_done(id)
    }

    /// Cancels the order immediately, and its jobs as far as possible: jobs with a live attempt wait for their printers
    /// unless forced.
    pub(super) fn cancel(
        mut self,
        force: bool,
        prints: &PrinterRecords,
    ) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        let status = self.order.status;
        if self.cx.by.role().is_none_or(|role| role == Role::Customer) && !status.payable() {
            return Err(Refusal::forbidden("forbidden", "customers can cancel an order only while it is unpaid"));
        }
        let open = self.order.jobs.values().any(|job| !job.over());
        match status {
            OrderStatus::Shipped => return Err(Refusal::transition("the order cannot be cancelled", status)),
            // With `force` on an order that is over already, an operator gives up on the printers that its jobs still
            // wait for.
            OrderStatus::Cancelled | OrderStatus::Refunded if force && open => {}
            OrderStatus::Cancelled | OrderStatus::Refunded => {
                return Err(Refusal::transition("the order cannot be cancelled", status));
            }
            _ => self.status(OrderStatus::Cancelled, Some("order.cancelled")),
        }
        self.cancel_jobs(force, prints);
        self.edit_ledger(flag_money);
        Ok(self.order_done())
    }

    /// Cancels all unfinished jobs.
    pub(super) fn cancel_jobs(&mut self, force: bool, prints: &PrinterRecords) {
        let open: Vec<Id> = self.order.jobs.values().filter(|job| !job.over()).map(|job| job.id).collect();
        for id in open {
            self.cancel_one(id, force, prints);
        }
    }

    /// Cancels one job, which may be FAILED but not COMPLETED.
    pub(super) fn cancel_job(
        mut self,
        id: Id,
        force: bool,
        prints: &PrinterRecords,
    ) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        if matches!(job.state, JobState::Completed | JobState::Cancelled) {
            return Err(Refusal::transition("the job cannot be cancelled", job.state));
        }
        self.cancel_one(id, force, prints);
        self.check_ready();
        self.job_done(id)
    }

    /// Cancels a job, immediately if it has no live attempt. If it has one, the job waits for its printer's report,
    /// because only the printer knows for certain whether a start was sent; if none was, the printer reports
    /// immediately. With `force`, the attempt is abandoned without waiting, and consumption is based on its latest
    /// progress.
    fn cancel_one(&mut self, id: Id, force: bool, prints: &PrinterRecords) {
        let Ok(job) = self.job(id) else { return };
        let now = self.cx.now;
        match job.live() {
            None => self.end_cancelled(id, 0.0),
            Some(attempt) if force => {
                let print = prints.get(&attempt.id);
                let began = attempt.state == AttemptState::Confirmed || print.is_some_and(|record| record.began);
                let share = match print {
                    _ if !began => 0.0,
                    Some(print) => job.used(PrintEnd::Cancelled, None, print.progress),
                    // Nobody knows how far it came: the whole need counts, so that no material is promised twice.
                    None => 1.0,
                };
                self.edit_attempt(id, attempt.id, |attempt| {
                    attempt.state = AttemptState::Abandoned;
                    attempt.unverified = false;
                    attempt.reason = Some("abandoned by an operator".to_owned());
                    attempt.ended_at = Some(now);
                    attempt.word = Some(Resolution::Failed);
                    print.filter(|_| began).into_iter().for_each(|print| attempt.came_to(print.progress));
                    attempt.booked_on = print.map(|print| print.booked_on.clone()).unwrap_or_default();
                });
                self.end_cancelled(id, share);
            }
            Some(_) => self.edit(id, |job| {
                job.cancel_requested_at.get_or_insert(now);
            }),
        }
    }

    /// Marks the job CANCELLED and settles its claims with the given fraction of its need consumed.
    pub(super) fn end_cancelled(&mut self, id: Id, share: f64) {
        self.edit(id, |job| {
            job.settle(share);
            job.state = JobState::Cancelled;
            job.attempt_id = None;
            job.blocked_by = None;
            job.block_reason = None;
        });
        self.job_event("job.cancelled", id, None);
    }

    /// Rejects the retry of a cancelled job if its line has enough parts without it.
    fn check_missing(&self, job: &Job) -> Result<(), Refusal> {
        let (parts, line) = (self.order.parts(), job.line as usize);
        let (Some(parts), Some(line)) = (parts.get(line), self.order.lines.get(line)) else { return Ok(()) };
        if parts.good + parts.running < u64::from(line.quantity) {
            return Ok(());
        }
        let (good, running) = (parts.good, parts.running);
        let ordered = line.quantity;
        let words = format!("no parts are missing; ordered: {ordered}, good: {good}, in progress: {running}");
        Err(Refusal::conflict("nothing_missing", words))
    }

    /// Prints a finished job again, with a new claim; any earlier claims are still settled. A ready order returns to
    /// printing. A job that was cancelled before its SKU had a file waits for the file again.
    pub(super) fn retry_job(mut self, id: Id) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        if !job.over() {
            return Err(Refusal::transition("the job cannot be retried", job.state));
        }
        if job.state == JobState::Cancelled {
            self.check_missing(&job)?;
        }
        match self.order.status {
            OrderStatus::Ready => self.status(OrderStatus::Printing, None),
            OrderStatus::Paid | OrderStatus::Printing => {}
            status => {
                return Err(Refusal::conflict(
                    "invalid_transition",
                    format!("the job cannot be retried while the status of its order is {status}"),
                ));
            }
        }
        if job.state == JobState::Completed {
            self.withdraw(&job);
        }
        let line = job.line;
        let has_source = job.has_source();
        self.edit(id, |job| {
            if has_source {
                job.claim_anew();
            }
            job.state = if has_source { JobState::Validated } else { JobState::Created };
            job.block_reason = (!has_source).then(|| NO_FILE_REASON.to_owned());
            job.released = false;
            job.printer_id = None;
            job.tried_on.clear();
            job.cancel_requested_at = None;
            (job.error, job.error_details) = (None, None);
            job.unsigned = false;
            job.surplus = false;
        });
        self.job_event("job.retried", id, None);
        if has_source {
            self.job_event("job.validated", id, None);
        }
        self.withdraw_surplus(line, Some(id));
        self.job_done(id)
    }

    /// Releases a job that is past the reorder point. Rejected while material is short, because there is nothing to
    /// reserve. This depends on the current stock, because the reason that originally blocked the job may have changed
    /// since. A job that could not be sliced claims its material again and is then sliced again.
    pub(super) fn release_job(mut self, id: Id, stock: &CurrentStock) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        match (job.state, job.blocked_by) {
            (JobState::AwaitingManualReview, Some(Block::ReorderPoint | Block::Material)) => {}
            (JobState::AwaitingManualReview, Some(Block::Slicing)) => return self.slice_again(id),
            (state, _) => return Err(Refusal::transition("the job cannot be released", state)),
        }
        let need = job.waiting_claim().map_or(job.need, |claim| claim.need);
        if stock.available < need {
            let CurrentStock { available, unit, name } = stock;
            let words = format!("needs {need} {unit} of {name}, {available} {unit} free");
            return Err(Refusal::conflict("insufficient_material", words));
        }
        self.edit(id, |job| {
            job.released = true;
            job.state = JobState::Validated;
            job.blocked_by = None;
            job.block_reason = None;
            if let Some(claim) = job.claims_mut().into_iter().find(|claim| *claim.stock != ClaimStatus::Held) {
                *claim.stock = ClaimStatus::Asked;
            }
        });
        self.job_event("job.released", id, None);
        self.job_event("job.validated", id, None);
        self.job_done(id)
    }
}
