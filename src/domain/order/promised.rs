//! The moment that a customer is told: promised once, by the first forecast that covers all jobs, and never moved.

use super::change::OrderChange;
use super::{Order, OrderAnswer, OrderStatus};
use crate::domain::aggregate::Decision;
use crate::domain::promise::Promise;

impl OrderChange<'_> {
    /// Keeps a promise, unless one is kept already or there is nothing to be printed.
    pub(super) fn promise(mut self, promise: Promise) -> Decision<Order> {
        let open = matches!(self.order.status, OrderStatus::Paid | OrderStatus::Printing);
        if open && self.order.promise.is_none() && promise.promised_at >= self.cx.now {
            self.head().promise = Some(Promise { met_at: None, ..promise });
        }
        self.done(|_| OrderAnswer::Heard { wanted: true })
    }
}
