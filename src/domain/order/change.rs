//! A decision on an order in the making: the next state, and what differs from the present one.

use super::{Order, OrderRow, OrderStatus};
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job, JobState};
use crate::domain::mail::Mail;
use crate::domain::order::OrderAnswer;
use crate::domain::refusal::Refusal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Collects the changes of one command.
pub(super) struct Change<'a> {
    pub(super) cx: &'a DecisionContext<'a>,
    /// The next state.
    pub(super) order: Order,
    dirty: bool,
    jobs: BTreeSet<Id>,
    attempts: BTreeSet<(Id, Id)>,
    rows: Vec<OrderRow>,
    events: Vec<Event>,
    created: Vec<Mail>,
}

impl<'a> Change<'a> {
    /// Nothing differs yet.
    pub(super) fn of(cx: &'a DecisionContext<'a>, order: Order) -> Self {
        Self {
            cx,
            order,
            dirty: false,
            jobs: BTreeSet::new(),
            attempts: BTreeSet::new(),
            rows: Vec::new(),
            events: Vec::new(),
            created: Vec::new(),
        }
    }

    /// The order's own fields, to be changed.
    pub(super) fn head(&mut self) -> &mut Order {
        self.dirty = true;
        &mut self.order
    }

    /// A job, or 404.
    pub(super) fn job(&self, id: Id) -> Result<Arc<Job>, Refusal> {
        self.order.jobs.get(&id).cloned().ok_or_else(|| Refusal::not_found("job"))
    }

    /// A new job.
    pub(super) fn add(&mut self, job: Job) {
        self.jobs.insert(job.id);
        self.order.jobs.insert_mut(job.id, Arc::new(job));
    }

    /// Changes a job; its version counts once per command.
    pub(super) fn edit(&mut self, id: Id, change: impl FnOnce(&mut Job)) {
        let Some(old) = self.order.jobs.get(&id) else {
            return;
        };
        let mut job = (**old).clone();
        change(&mut job);
        if job == **old {
            return;
        }
        if self.jobs.insert(id) {
            job.version += 1;
            job.updated_at = self.cx.now;
        }
        self.order.jobs.insert_mut(id, Arc::new(job));
    }

    /// Changes an attempt of a job.
    pub(super) fn edit_attempt(&mut self, job: Id, attempt: Id, change: impl FnOnce(&mut Attempt)) {
        self.edit(job, |job| {
            if let Some(one) = job.attempts.iter_mut().find(|one| one.id == attempt) {
                change(one);
            }
        });
        self.attempts.insert((job, attempt));
    }

    /// A row besides jobs and attempts.
    pub(super) fn row(&mut self, row: OrderRow) {
        self.rows.push(row);
    }

    /// Something happened to the order.
    pub(super) fn event(&mut self, name: &str) {
        self.event_with(name, json!({}));
    }

    /// Something happened to the order, with more facts.
    pub(super) fn event_with(&mut self, name: &str, more: Value) {
        let order = &self.order;
        let mut data = json!({
            "orderId": order.id,
            "number": order.number_text(),
            "status": order.status,
            "totalCents": order.total_cents,
            "currency": order.currency,
            "customerEmail": order.customer_email,
        });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        self.events.push(Event::new(self.cx, name, ("order", order.id), Some(order.id), data));
    }

    /// Something happened to a job.
    pub(super) fn job_event(&mut self, name: &str, id: Id, error: Option<&str>) {
        let Some(job) = self.order.jobs.get(&id) else {
            return;
        };
        let data = json!({
            "jobId": id,
            "orderId": self.order.id,
            "skuId": job.sku_id,
            "printerId": job.printer_id,
            "error": error,
        });
        self.events.push(Event::new(self.cx, name, ("job", id), Some(self.order.id), data));
    }

    /// Moves the order, and says so where the table names an event.
    pub(super) fn status(&mut self, status: OrderStatus, event: Option<&str>) {
        self.head().status = status;
        if let Some(event) = event {
            self.event(event);
        }
    }

    /// Something that a person must look at: on the order, in its timeline and by mail; once while the flag stands.
    pub(super) fn flag(&mut self, flag: &str, words: &str) {
        if self.order.flags.iter().any(|one| one == flag) {
            return;
        }
        self.head().flags.push(flag.to_owned());
        self.event_with("order.flagged", json!({ "flag": flag, "message": words }));
        if !self.cx.rules.operator_mail.is_empty() {
            let number = self.order.number_text();
            let subject = format!("{number}: {}", flag.replace('_', " "));
            let text = format!("Order {number} needs a look: {words}.\n");
            self.created.push(Mail::new(self.cx, self.cx.rules.operator_mail.clone(), subject, text));
        }
    }

    /// After jobs have moved: ready when at least one is COMPLETED and none is unfinished or FAILED (decisions §3).
    pub(super) fn check_ready(&mut self) {
        if !matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing) || self.order.jobs.is_empty() {
            return;
        }
        let mut completed = false;
        for job in self.order.jobs.values() {
            match job.state {
                JobState::Completed => completed = true,
                JobState::Cancelled => {}
                _ => return,
            }
        }
        if !completed {
            self.flag("all_jobs_cancelled", "all its jobs were cancelled, so nothing will be made");
        } else if self.order.status == OrderStatus::Printing {
            self.status(OrderStatus::Ready, Some("order.ready"));
        }
    }

    /// The decision, with this answer.
    pub(super) fn done(mut self, answer: impl FnOnce(&Order) -> OrderAnswer) -> Decision<Order> {
        let changed = self.dirty || !self.jobs.is_empty() || !self.rows.is_empty() || !self.events.is_empty();
        if !changed {
            return Decision::unchanged(answer(&self.order));
        }
        self.order.updated_at = self.cx.now;
        let (order, attempts) = (&self.order, &self.attempts);
        let jobs = self.jobs.iter().filter_map(|id| order.jobs.get(id)).map(|job| OrderRow::Job(job.clone()));
        let attempts = attempts.iter().filter_map(|(job, attempt)| {
            order.jobs.get(job)?.attempts.iter().find(|one| one.id == *attempt).cloned().map(OrderRow::Attempt)
        });
        let rows: Vec<OrderRow> = jobs.chain(attempts).chain(self.rows).collect();
        let answer = answer(&self.order);
        Decision::to(self.order, answer).rows(rows).events(self.events).created(self.created)
    }

    /// The decision, answered with the order.
    pub(super) fn order_done(self) -> Decision<Order> {
        self.done(|order| OrderAnswer::Order(Box::new(order.clone())))
    }

    /// The decision, answered with a job.
    pub(super) fn job_done(self, id: Id) -> Result<Decision<Order>, Refusal> {
        let job = self.job(id)?;
        Ok(self.done(|_| OrderAnswer::Job(job)))
    }

    /// The decision, answered to a printer or a material.
    pub(super) fn heard(self, wanted: bool) -> Decision<Order> {
        self.done(|_| OrderAnswer::Heard { wanted })
    }
}
