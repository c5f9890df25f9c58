//! Collector for the changes that a decision makes to an order: the next state, and the jobs, attempts, rows and events
//! that differ from before.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Order, OrderCreated, OrderRow, OrderStatus};
use crate::aggregate::{Decision, DecisionContext};
use crate::attention_flag::AttentionFlag;
use crate::event::Event;
use crate::event::data::{EventData, JobData, OrderData, OrderFlaggedData};
use crate::id::Id;
use crate::invoice::NewInvoice;
use crate::job::{Attempt, Job, JobState};
use crate::mail::Mail;
use crate::mail::alert::{AlertKind, flag_name};
use crate::mail::part::MailTopic;
use crate::order::{JobAnswer, OrderAnswer, OrderNewsAnswer};
use crate::refusal::{Refusal, shortened};
use words::Language;
use words::staff::alerts as texts;

/// Maximum length of an error message in the subject of an email, in characters.
const MAX_SUBJECT_ERROR_CHARS: usize = 80;

/// Flag for an order with a FAILED job.
const JOB_FAILED: &str = AttentionFlag::JobFailed.word();
/// Flag for an order whose jobs were all cancelled.
const ALL_JOBS_CANCELLED: &str = AttentionFlag::AllJobsCancelled.word();
/// Flag for an order that is ready with fewer good parts than ordered.
pub(super) const SHORT: &str = AttentionFlag::Short.word();
/// Flag for an order with rejected parts that are not replaced by any job.
const NEEDS_ATTENTION: &str = AttentionFlag::NeedsAttention.word();
/// Flag for an order whose customer received parts that were rejected later and have no replacement.
pub(super) const REJECTED_AFTER_SHIPPING: &str = AttentionFlag::RejectedAfterShipping.word();
/// Flag for an order for which a printer is producing more parts than needed.
const SURPLUS: &str = AttentionFlag::Surplus.word();

/// Changes that one command makes to an order. Rules modify the order only through this type, so that a commit writes
/// only the rows that changed, and a command that changes nothing writes nothing.
pub(super) struct OrderChange<'a> {
    pub(super) cx: &'a DecisionContext<'a>,
    /// State of the order after the commit.
    pub(super) order: Order,
    dirty: bool,
    jobs: BTreeSet<Id>,
    attempts: BTreeSet<(Id, Id)>,
    rows: Vec<OrderRow>,
    events: Vec<Event>,
    created: Vec<OrderCreated>,
}

impl<'a> OrderChange<'a> {
    /// Starts a change from the current state of the order.
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

    /// Returns the order's own fields for modification, and marks the order as changed.
    pub(super) fn head(&mut self) -> &mut Order {
        self.mark_changed();
        &mut self.order
    }

    /// Marks the order's own fields as changed, so that they are written.
    pub(super) fn mark_changed(&mut self) {
        self.dirty = true;
    }

    /// Returns a job of the order; rejected with 404 if there is no such job.
    pub(super) fn job(&self, id: Id) -> Result<Arc<Job>, Refusal> {
        self.order.jobs.get(&id).cloned().ok_or_else(|| Refusal::not_found("job"))
    }

    /// Adds a new job.
    pub(super) fn add(&mut self, job: Job) {
        self.jobs.insert(job.id);
        self.order.jobs.insert_mut(job.id, Arc::new(job));
    }

    /// Changes a job. The job's version is incremented once per user command, no matter how many edits the command
    /// makes, and only if something differs.
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
            job.version += i64::from(self.cx.by.is_person());
            job.updated_at = self.cx.now;
        }
        self.order.jobs.insert_mut(id, Arc::new(job));
    }

    /// Changes an attempt of a job and marks its row to be written.
    pub(super) fn edit_attempt(&mut self, job: Id, attempt: Id, change: impl FnOnce(&mut Attempt)) {
        self.edit(job, |job| {
            if let Some(one) = job.attempts.iter_mut().find(|one| one.id == attempt) {
                change(one);
            }
        });
        self.attempts.insert((job, attempt));
    }

    /// Adds a row that is neither a job nor an attempt, such as a payment.
    pub(super) fn row(&mut self, row: OrderRow) {
        self.rows.push(row);
    }

    /// Sends an email, which is about the order.
    pub(super) fn mail(&mut self, mail: Mail) {
        self.created.push(mail.about(MailTopic::Order(self.order.id)).into());
    }

    /// Creates an invoice in the order's commit.
    pub(super) fn make(&mut self, new: NewInvoice) {
        self.events.extend(new.events.iter().cloned());
        self.created.push(OrderCreated::Invoice(Box::new(new)));
    }

    /// Publishes an event about the order.
    pub(super) fn event(&mut self, name: &str) {
        self.event_with(name, |order| order);
    }

    /// Publishes an event about the order with additional data fields.
    pub(super) fn event_with<D: EventData>(&mut self, name: &str, data: impl FnOnce(OrderData) -> D) {
        let order = &self.order;
        let data = data(OrderData::from(order));
        self.events.push(Event::new(self.cx, name, ("order", order.id), Some(order.id), &data));
    }

    /// Publishes an event about a job, on the order's timeline.
    pub(super) fn job_event(&mut self, name: &str, id: Id, error: Option<&str>) {
        self.job_event_with(name, id, error, |job| job);
    }

    /// Publishes an event about a job with additional data fields, on the order's timeline.
    pub(super) fn job_event_with<D: EventData>(
        &mut self,
        name: &str,
        id: Id,
        error: Option<&str>,
        more: impl FnOnce(JobData) -> D,
    ) {
        let Some(job) = self.order.jobs.get(&id) else {
            return;
        };
        let data = JobData {
            job_id: id,
            order_id: self.order.id,
            sku_id: job.sku_id,
            printer_id: job.printer_id,
            error: error.map(str::to_owned),
        };
        self.events.push(Event::new(self.cx, name, ("job", id), Some(self.order.id), &more(data)));
        if name == "job.failed" {
            let (job, order) = (job.clone(), self.order.number_text());
            self.mail_failure(&job, &order, error.unwrap_or("no reason was given"));
        }
    }

    /// Attributes the last event to a person on whose behalf the server sent the command.
    pub(super) fn attribute_event(&mut self, by: &str) {
        if let Some(event) = self.events.last_mut() {
            by.clone_into(&mut event.actor);
        }
    }

    /// Alerts the operators to a failed job; each failure is reported, even if other jobs of the order have failed
    /// before.
    fn mail_failure(&mut self, job: &Job, order: &str, error: &str) {
        let number = job.number_text();
        let details = job.error_details.as_deref().map(|details| format!("{details}\n")).unwrap_or_default();
        let in_subject = shortened(error.to_owned(), MAX_SUBJECT_ERROR_CHARS);
        self.alert(AlertKind::JobFailed, |language| {
            let failed = texts::job_failed(language, &number, &job.sku_name, order, error);
            let text = format!("{failed}\n{details}{}", texts::job_failed_advice(language));
            (texts::job_failed_subject(language, &number, &in_subject), text)
        });
    }

    /// Alerts the operators to a problem, with the subject and text that `content` returns in a language.
    pub(super) fn alert(&mut self, kind: AlertKind, content: impl Fn(Language) -> (String, String)) {
        Mail::alert(self.cx, kind, content).into_iter().for_each(|mail| self.mail(mail));
    }

    /// Sets the order's status, and publishes the given event, if any. A promise is met only if no parts are reprinted
    /// afterwards: an order that returns to printing was not ready yet, whereas a completely shipped order was.
    pub(super) fn status(&mut self, status: OrderStatus, event: Option<&str>) {
        let now = self.cx.now;
        let order = self.head();
        order.status = status;
        // Nothing is owed any more; an order that is reopened can become late once more.
        if !matches!(status, OrderStatus::Paid | OrderStatus::Printing) {
            order.late_since = None;
        }
        if let Some(promise) = &mut order.promise {
            promise.met_at = match status {
                OrderStatus::Printing => None,
                OrderStatus::Ready => Some(now),
                OrderStatus::Shipped => promise.met_at.or(Some(now)),
                _ => promise.met_at,
            };
        }
        if let Some(event) = event {
            self.event(event);
        }
    }

    /// Sets a flag for an operator: on the order, as an event, and in an email to the operators. Does nothing if the
    /// flag is already set, so that each problem causes only one email.
    pub(super) fn flag(&mut self, flag: &str, words: &str) {
        debug_assert!(AttentionFlag::parse(flag).is_some(), "{flag} has no name for people");
        if self.order.flags.iter().any(|one| one == flag) {
            return;
        }
        self.head().flags.push(flag.to_owned());
        let (flag_word, message) = (flag.to_owned(), words.to_owned());
        self.event_with("order.flagged", |order| OrderFlaggedData { order, flag: flag_word, message });
        if flag == JOB_FAILED {
            return; // The job's own mail says more.
        }
        let number = self.order.number_text();
        self.alert(AlertKind::of_flag(flag), |language| {
            let subject = texts::order_flag_subject(language, &number, &flag_name(language, flag));
            (subject, texts::order_flag(language, &number, words))
        });
    }

    /// Sets the flag while `holds` is `true`, and removes it otherwise.
    pub(super) fn flag_while(&mut self, flag: &str, holds: bool, words: &str) {
        if holds {
            self.flag(flag, words);
        } else if self.order.flags.iter().any(|one| one == flag) {
            self.head().flags.retain(|one| one != flag);
        }
    }

    /// Updates the flags that depend on the jobs. A FAILED job must be retried or cancelled; an order that is ready
    /// with fewer parts than ordered, or for which nothing will be produced, must be discussed with the customer.
    fn flag_jobs(&mut self) {
        let order = &self.order;
        let states = || order.jobs.values().map(|job| job.state);
        let over = matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
        let failed = !over && states().any(|state| state == JobState::Failed);
        let cancelled = states().filter(|state| *state == JobState::Cancelled).count();
        let none = !over && cancelled > 0 && cancelled == order.jobs.size();
        let was_short = order.flags.iter().any(|one| one == SHORT);
        // Nothing is counted before anything is made.
        let in_production = matches!(order.status, OrderStatus::Printing | OrderStatus::Ready);
        // A shipped order that was flagged stays so until a person goes on with it; others are reopened.
        let counted = in_production || order.waits_as_shipped();
        let parts = if counted { order.parts() } else { Vec::new() };
        // What a kit lacks, its parts lack.
        let lines = order.lines.iter().zip(&parts).filter(|(line, _)| in_production && !line.is_kit());
        let (lacks, missing) = lines.fold((0, 0), |(lacks, missing), (line, parts)| {
            let lack = u64::from(line.quantity).saturating_sub(parts.good);
            (lacks + lack, missing + parts.missing(line.quantity))
        });
        let rejected = if counted { order.owed_again(&parts) } else { 0 };
        let rejected_words = order.rejected_in_words(rejected);
        let on_printer = |job: &&Job| !over && job.live().is_some();
        let surplus: Vec<String> = order.surplus_jobs(on_printer).iter().map(|job| job.number_text()).collect();
        let short = (order.status == OrderStatus::Ready && lacks > 0) || (over && was_short);
        let short_words = format!("{lacks} good parts are missing; ship the order with acceptShort, or have them made");
        let missing_words = format!(
            "{missing} rejected parts are not replaced automatically; retry a job or ship the order with acceptShort"
        );
        self.flag_while(JOB_FAILED, failed, "a job failed; retry or cancel it");
        self.flag_while(ALL_JOBS_CANCELLED, none, "all of its jobs were cancelled, so nothing will be produced");
        self.flag_while(SHORT, short, &short_words);
        let surplus_words = format!(
            "{} prints replacements for rejected parts that are good after all; cancel it unless you want spares",
            surplus.join(", ")
        );
        self.flag_while(NEEDS_ATTENTION, missing > 0, &missing_words);
        self.flag_while(REJECTED_AFTER_SHIPPING, rejected > 0, &rejected_words);
        self.flag_while(SURPLUS, !surplus.is_empty(), &surplus_words);
    }

    /// Checks, after jobs have ended, whether the order is ready: none of its jobs is unfinished, FAILED or awaiting
    /// sign-off, and at least one is COMPLETED.
    pub(super) fn check_ready(&mut self) {
        if !matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing) || self.order.jobs.is_empty() {
            return;
        }
        let mut completed = false;
        for job in self.order.jobs.values() {
            match job.state {
                JobState::Completed if !job.unsigned => completed = true,
                JobState::Cancelled => {}
                _ => return,
            }
        }
        if completed && self.order.status == OrderStatus::Printing {
            self.status(OrderStatus::Ready, Some("order.ready"));
        }
    }

    /// Completes the decision with the given response; leaves the order unchanged if nothing differs.
    pub(super) fn done<A>(mut self, answer: impl FnOnce(&Order) -> A) -> Decision<Order, A> {
        self.flag_jobs();
        let changed = self.dirty || !self.jobs.is_empty() || !self.rows.is_empty() || !self.events.is_empty();
        if !changed {
            return Decision::unchanged(answer(&self.order));
        }
        self.order.updated_at = self.cx.now;
        self.order.revision = (self.order.revision + i64::from(self.cx.by.is_person())).max(1);
        let (order, attempts) = (&self.order, &self.attempts);
        let jobs = self.jobs.iter().filter_map(|id| order.jobs.get(id)).map(|job| OrderRow::Job(job.clone()));
        let attempts = attempts.iter().filter_map(|(job, attempt)| {
            order.jobs.get(job)?.attempts.iter().find(|one| one.id == *attempt).cloned().map(OrderRow::Attempt)
        });
        let rows: Vec<OrderRow> = jobs.chain(attempts).chain(self.rows).collect();
        let answer = answer(&self.order);
        Decision::to(self.order, answer).rows(rows).events(self.events).created(self.created)
    }

    /// Completes the decision with the order as the response.
    pub(super) fn order_done(self) -> Decision<Order, OrderAnswer> {
        self.done(|order| OrderAnswer { order: Box::new(order.clone()) })
    }

    /// Completes the decision with one of the order's jobs as the response.
    pub(super) fn job_done(self, id: Id) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job(id)?;
        Ok(self.done(|_| JobAnswer { job }))
    }

    /// Completes the decision with a response to a printer or a material; `is_wanted` is `true` if the attempt is still
    /// needed.
    pub(super) fn acknowledge(self, is_wanted: bool) -> Decision<Order, OrderNewsAnswer> {
        self.done(|_| OrderNewsAnswer { is_wanted })
    }
}

impl From<&Order> for OrderData {
    fn from(order: &Order) -> Self {
        Self {
            order_id: order.id,
            number: order.number_text(),
            status: order.status,
            total_cents: order.total_cents,
            currency: order.currency.clone(),
            customer_email: order.customer_email.clone(),
        }
    }
}
