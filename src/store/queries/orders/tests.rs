use super::*;
use crate::rows::samples::members;

#[test]
fn jobs_wait_as_long_as_they_are_neither_on_a_printer_nor_ended() {
    let waits = |state: &JobState| match state {
        JobState::Created | JobState::Validated | JobState::AwaitingManualReview | JobState::Sliced => true,
        JobState::Dispatching
        | JobState::Printing
        | JobState::Paused
        | JobState::Completed
        | JobState::Failed
        | JobState::Cancelled => false,
    };
    let waiting: Vec<JobState> = members().into_iter().filter(waits).collect();
    assert_eq!(waiting, WAITING_JOBS);
}

#[test]
fn promises_are_outstanding_as_long_as_an_order_is_produced() {
    let is_produced = |status: &OrderStatus| match status {
        OrderStatus::Paid | OrderStatus::Printing => true,
        OrderStatus::Draft
        | OrderStatus::Created
        | OrderStatus::PaymentFailed
        | OrderStatus::Ready
        | OrderStatus::Shipped
        | OrderStatus::Cancelled
        | OrderStatus::Refunded => false,
    };
    let produced: Vec<OrderStatus> = members().into_iter().filter(is_produced).collect();
    assert_eq!(produced, ORDERS_IN_PRODUCTION);
}
