//! Stages of an order, from placement to shipping, as shown on the order's page.

use domain::event::NumberedEvent;
use domain::order::{Order, OrderStatus, PICKUP};
use domain::time::Timestamp;
use words::{Language, pages};

/// Progress of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StageState {
    /// The order has completed the stage.
    Done,
    /// The order is in this stage.
    Current,
    /// The order has not reached the stage.
    Ahead,
}

/// Stage that an order passes through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OrderStage {
    /// Name shown to customers.
    pub(super) label: String,
    pub(super) state: StageState,
    /// Time at which the order reached the stage; `None` if it has not, or if the time was not recorded.
    pub(super) reached_at: Option<Timestamp>,
}

/// Number of stages.
const STAGE_COUNT: usize = 5;
/// Index of the stage in which the parts are printed.
pub(super) const PRINTING_STAGE: usize = 2;
/// Index of the stage in which all parts are made.
pub(super) const READY_STAGE: usize = 3;

/// Returns the stages of an order with the given history; `None` if it was cancelled or refunded.
pub(super) fn stages(language: Language, order: &Order, steps: &[NumberedEvent]) -> Option<[OrderStage; STAGE_COUNT]> {
    // An order may go back, for example if a part is rejected: the last time counts, except for the start of printing.
    let last = |event: &str| steps.iter().rev().find(|step| step.event.event == event).map(|step| step.event.timestamp);
    let first = |event: &str| steps.iter().find(|step| step.event.event == event).map(|step| step.event.timestamp);
    let times = [
        Some(last("order.created").unwrap_or(order.created_at)),
        order.paid_at,
        first("order.printing"),
        last("order.ready"),
        last("order.shipped"),
    ];
    let is_pickup = order.shipment.as_ref().is_some_and(|shipment| shipment.carrier == PICKUP);
    stages_at(language, order.status, is_pickup, times)
}

/// Returns the stages of an order with the given status, with the time at which it reached each stage.
fn stages_at(
    language: Language,
    status: OrderStatus,
    is_pickup: bool,
    times: [Option<Timestamp>; STAGE_COUNT],
) -> Option<[OrderStage; STAGE_COUNT]> {
    let done = match status {
        OrderStatus::Draft => 0,
        OrderStatus::Created | OrderStatus::PaymentFailed => 1,
        OrderStatus::Paid | OrderStatus::Printing => PRINTING_STAGE,
        OrderStatus::Ready => READY_STAGE + 1,
        OrderStatus::Shipped => STAGE_COUNT,
        OrderStatus::Cancelled | OrderStatus::Refunded => return None,
    };
    let last = if is_pickup { pages::stage_picked_up(language) } else { pages::stage_shipped(language) };
    let labels = [
        pages::stage_ordered(language),
        pages::stage_paid(language),
        pages::stage_printing(language),
        pages::stage_ready(language),
        last,
    ];
    let mut index = 0;
    Some(labels.map(|label| {
        let n = index;
        index += 1;
        let state = match n.cmp(&done) {
            std::cmp::Ordering::Less => StageState::Done,
            std::cmp::Ordering::Equal => StageState::Current,
            std::cmp::Ordering::Greater => StageState::Ahead,
        };
        let is_reached = state == StageState::Done || (n == PRINTING_STAGE && status == OrderStatus::Printing);
        OrderStage { label, state, reached_at: times.get(n).copied().flatten().filter(|_| is_reached) }
    }))
}

#[cfg(test)]
mod tests {
    use super::StageState::{Ahead, Current, Done};
    use super::*;

    const TIMES: [Option<Timestamp>; STAGE_COUNT] =
        [Some(Timestamp(1)), Some(Timestamp(2)), Some(Timestamp(3)), Some(Timestamp(4)), Some(Timestamp(5))];

    #[test]
    fn an_order_is_in_one_stage_until_it_has_left() {
        for (status, states) in [
            (OrderStatus::Draft, Some([Current, Ahead, Ahead, Ahead, Ahead])),
            (OrderStatus::Created, Some([Done, Current, Ahead, Ahead, Ahead])),
            (OrderStatus::PaymentFailed, Some([Done, Current, Ahead, Ahead, Ahead])),
            (OrderStatus::Paid, Some([Done, Done, Current, Ahead, Ahead])),
            (OrderStatus::Printing, Some([Done, Done, Current, Ahead, Ahead])),
            (OrderStatus::Ready, Some([Done, Done, Done, Done, Current])),
            (OrderStatus::Shipped, Some([Done, Done, Done, Done, Done])),
            (OrderStatus::Cancelled, None),
            (OrderStatus::Refunded, None),
        ] {
            let stages = stages_at(Language::English, status, false, TIMES);
            assert_eq!(stages.map(|stages| stages.map(|stage| stage.state)), states, "{status}");
        }
    }

    #[test]
    fn only_stages_that_are_reached_have_a_time() {
        let reached = |status| {
            let stages = stages_at(Language::English, status, false, TIMES);
            stages.into_iter().flatten().filter(|stage| stage.reached_at.is_some()).count()
        };
        let counts = [OrderStatus::Draft, OrderStatus::Paid, OrderStatus::Printing, OrderStatus::Shipped].map(reached);
        assert_eq!(counts, [0, 2, 3, 5]);
        // An order whose printing failed again after it was ready was ready at no time that counts.
        let again = stages_at(Language::English, OrderStatus::Printing, false, TIMES);
        assert_eq!(again.and_then(|stages| stages[READY_STAGE].reached_at), None);
    }

    #[test]
    fn an_order_that_is_fetched_is_not_shipped() {
        let last = |is_pickup| {
            let stages = stages_at(Language::English, OrderStatus::Shipped, is_pickup, TIMES);
            stages.map(|stages| stages[4].label.clone())
        };
        assert_eq!((last(false).as_deref(), last(true).as_deref()), (Some("Shipped"), Some("Picked up")));
        let german = stages_at(Language::German, OrderStatus::Paid, false, TIMES);
        let labels = german.map(|stages| stages.map(|stage| stage.label));
        assert_eq!(labels, Some(["Bestellt", "Bezahlt", "Im Druck", "Fertig", "Versendet"].map(str::to_owned)));
    }
}
