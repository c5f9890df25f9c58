//! Completion time promised to the customer: set once, by the first forecast that covers all jobs, and never changed.
//! The rules also determine whether the order will be ready in time, and publish an event once if it will not.

use super::change::OrderChange;
use super::{Order, OrderNewsAnswer, OrderStatus};
use crate::aggregate::Decision;
use crate::event::data::late::OrderLateData;
use crate::job::{Job, JobState};
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::mail::kind::own_page;
use crate::notation;
use crate::promise::Promise;
use crate::remedy::OrderRecovery;
use crate::time::Timestamp;
use crate::timing::Timing;
use words::Language;
use words::staff::alerts as texts;

/// Path of the list of late orders for staff, below the server's public URL.
const LATE_ORDERS_PATH: &str = "shop/orders?timing=late";

impl Order {
    /// Returns the promise if it is outstanding, that is, the order is paid and not ready yet.
    fn outstanding_promise(&self) -> Option<&Promise> {
        let is_open = matches!(self.status, OrderStatus::Paid | OrderStatus::Printing);
        self.promise.as_ref().filter(|_| is_open)
    }

    /// Returns whether a promise is outstanding, which is required for the order to have a timing.
    pub fn is_promised(&self) -> bool {
        self.outstanding_promise().is_some()
    }

    /// Returns the time by which the order must be ready: the promised time or the due date, whichever is earlier.
    /// Returns `None` if no promise is outstanding.
    pub fn deadline(&self) -> Option<Timestamp> {
        Some(self.outstanding_promise()?.deadline(self.due_at))
    }

    /// Returns the timing of the order, given when it is expected to be ready. Returns `None` before a promise is made,
    /// and once the order is ready: promise and due date concern the completion of printing, so they no longer matter
    /// afterwards.
    pub fn timing(&self, expected_at: Option<Timestamp>, now: Timestamp) -> Option<Timing> {
        Some(Timing::of(self.outstanding_promise()?, self.due_at, expected_at, now))
    }

    /// Returns whether the order must record that it became late, or that it is on time again. A late order that is
    /// merely at risk is still treated as late, so that a forecast close to the deadline does not publish the event
    /// again.
    pub fn has_new_timing(&self, expected_at: Option<Timestamp>, now: Timestamp) -> bool {
        match self.timing(expected_at, now) {
            Some(Timing::Late) => self.late_since.is_none(),
            Some(Timing::OnTime) => self.late_since.is_some(),
            Some(Timing::AtRisk) | None => false,
        }
    }
}

impl OrderChange<'_> {
    /// Records a promise, unless the order already has one, there is nothing to print, or a job may still turn out to
    /// be short of material.
    pub(super) fn promise(mut self, promise: Promise) -> Decision<Order, OrderNewsAnswer> {
        let open = matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing);
        let sure = self.order.jobs.values().all(|job| has_all_it_needs(job));
        if open && sure && self.order.promise.is_none() && promise.promised_at >= self.cx.now {
            self.head().promise = Some(Promise { met_at: None, ..promise });
        }
        self.acknowledge(true)
    }

    /// Records that the order became late, with an event and an alert, or that it is on time again. `recovery` contains
    /// the ways to get the order ready on time, if they are known.
    pub(super) fn judge_timing(
        mut self,
        expected_at: Option<Timestamp>,
        recovery: Option<&OrderRecovery>,
    ) -> Decision<Order, OrderNewsAnswer> {
        let now = self.cx.now;
        if self.order.has_new_timing(expected_at, now) {
            let is_late = self.order.late_since.is_none();
            self.head().late_since = is_late.then_some(now);
            if let Some(promise) = self.order.promise.filter(|_| is_late) {
                self.tell_late(&promise, expected_at, recovery);
            }
        }
        self.acknowledge(true)
    }

    /// Publishes an event that the order is late, and alerts staff.
    fn tell_late(&mut self, promise: &Promise, expected_at: Option<Timestamp>, recovery: Option<&OrderRecovery>) {
        let clock = &self.cx.rules.clock;
        let (due_at, promised_at) = (self.order.due_at, promise.promised_at);
        let deadline = match due_at {
            Some(due_at) if due_at < promised_at => format!("due {}", clock.date_and_time(due_at)),
            _ => format!("promised for {}", clock.date_and_time(promised_at)),
        };
        let expectation = match expected_at {
            Some(at) => format!("now expected {}", clock.date_and_time(at)),
            None => "no forecast available".to_owned(),
        };
        let message = format!("{deadline}, {expectation}");
        let remedy = recovery.map(|recovery| {
            let time = recovery.stated_at().map(|at| clock.date_and_time(at)).unwrap_or_default();
            recovery.words(Language::English, &time)
        });
        let data = |order| OrderLateData { order, promised_at, due_at, expected_at, message, remedy };
        self.event_with("order.late", data);
        let list = own_page(self.cx, "", LATE_ORDERS_PATH).url;
        let alert = Mail::alert(self.cx, AlertKind::OrderLate, |language| {
            let subject = texts::late_subject(language, &self.order.number_text());
            (subject, self.late_text(language, promised_at, expected_at, recovery))
        });
        for mail in alert {
            self.mail(mail.with_link(texts::late_orders_link, &list));
        }
    }

    /// Returns the text of the alert that the order is late, with the step that would get it ready on time and the URL
    /// of its page.
    fn late_text(
        &self,
        language: Language,
        promised_at: Timestamp,
        expected_at: Option<Timestamp>,
        recovery: Option<&OrderRecovery>,
    ) -> String {
        let time = |at| notation::date_and_time(language, &self.cx.rules.clock, at);
        let number = self.order.number_text();
        let order = match &self.order.customer_email {
            Some(customer) => texts::late_order_of(language, &number, customer),
            None => texts::late_order(language, &number),
        };
        let due_at = self.order.due_at.filter(|due_at| *due_at < promised_at);
        let late = match (due_at, expected_at) {
            (Some(due_at), Some(at)) => texts::due_expected(language, &order, &time(due_at), &time(at)),
            (Some(due_at), None) => texts::due_unknown(language, &order, &time(due_at)),
            (None, Some(at)) => texts::promised_expected(language, &order, &time(promised_at), &time(at)),
            (None, None) => texts::promised_unknown(language, &order, &time(promised_at)),
        };
        let page = own_page(self.cx, "", &format!("shop/orders/{}", self.order.id)).url;
        let remedy = recovery.map(|recovery| {
            let stated_at = recovery.stated_at().map(time).unwrap_or_default();
            format!("\n{}", recovery.words(language, &stated_at))
        });
        format!("{late}{}\n{page}", remedy.unwrap_or_default())
    }
}

/// Returns whether the job needs nothing but time to be printed. The forecast treats a job whose stock check is in
/// progress as if it had passed; a promise is made only once the check has passed.
fn has_all_it_needs(job: &Job) -> bool {
    match job.state {
        JobState::Created | JobState::Validated | JobState::AwaitingManualReview | JobState::Failed => {
            job.cancel_requested_at.is_some()
        }
        JobState::Sliced
        | JobState::Dispatching
        | JobState::Printing
        | JobState::Paused
        | JobState::Completed
        | JobState::Cancelled => true,
    }
}
