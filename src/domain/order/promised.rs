//! Completion time promised to the customer: set once, by the first forecast that covers all jobs, and never moved.

use super::change::OrderChange;
use super::{Order, OrderNewsAnswer, OrderStatus};
use crate::aggregate::Decision;
use crate::job::{Job, JobState};
use crate::promise::Promise;

impl OrderChange<'_> {
    /// Records a promise, unless there is already one, there is nothing to print, or a job may still turn out to be
    /// short of material.
    pub(super) fn promise(mut self, promise: Promise) -> Decision<Order, OrderNewsAnswer> {
        let open = matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing);
        let sure = self.order.jobs.values().all(|job| has_all_it_needs(job));
        if open && sure && self.order.promise.is_none() && promise.promised_at >= self.cx.now {
            self.head().promise = Some(Promise { met_at: None, ..promise });
        }
        self.acknowledge(true)
    }
}

/// Returns whether the job needs nothing but time to be printed. The forecast treats a job whose stock check is in
/// progress as if it had passed; a promise is made only once the result is known.
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
