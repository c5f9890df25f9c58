//! Statistics for a period, except those on part quality: printer utilisation, print failure rate, order lead times,
//! and promises met. The caller supplies the records to count.

pub mod comparison;

use crate::job::AttemptState;
use crate::order::{Order, OrderStatus};
use crate::shop_clock::ShopClock;
use crate::time::{DAY_MS, HOUR_MS, Timestamp};

/// Maximum number of days reported: a year, plus a day if the period starts and ends in the middle of a day.
const MAX_DAYS: usize = 367;
/// Upper bounds of the lead time groups, in milliseconds, shortest first; the last group contains all longer lead
/// times.
pub const LEAD_STEPS_MS: [i64; 7] = [HOUR_MS, 4 * HOUR_MS, DAY_MS, 2 * DAY_MS, 4 * DAY_MS, 7 * DAY_MS, 14 * DAY_MS];
/// Fraction of orders covered by the longer of the two reported lead times.
const MOST_SHARE: f64 = 0.8;

/// Outcomes of attempts: for one printer, for one day, or overall.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrintTally {
    /// Number of prints that ran to completion.
    pub finished: i64,
    /// Number of prints that failed or were abandoned.
    pub failed: i64,
    /// Number of prints that were cancelled after they had started.
    pub cancelled: i64,
    /// Number of ended attempts that printed nothing.
    pub not_started: i64,
    /// Total observed print time, in milliseconds.
    pub print_ms: i64,
}

impl PrintTally {
    /// Adds `attempts` in the given state, `prints` of which printed something, for a total of `print_ms` milliseconds.
    /// Attempts that have not ended are not counted.
    pub fn add(&mut self, state: AttemptState, attempts: i64, prints: i64, print_ms: i64) {
        self.print_ms += print_ms;
        match state {
            AttemptState::Finished => self.finished += attempts,
            AttemptState::Failed | AttemptState::Abandoned => self.failed += attempts,
            AttemptState::Cancelled => {
                self.cancelled += prints;
                self.not_started += attempts - prints;
            }
            AttemptState::Refused | AttemptState::NotStarted => self.not_started += attempts,
            AttemptState::Claimed | AttemptState::Uploading | AttemptState::StartSent | AttemptState::Confirmed => {}
        }
    }

    /// Returns the sum of both tallies.
    pub fn with(self, other: Self) -> Self {
        Self {
            finished: self.finished + other.finished,
            failed: self.failed + other.failed,
            cancelled: self.cancelled + other.cancelled,
            not_started: self.not_started + other.not_started,
            print_ms: self.print_ms + other.print_ms,
        }
    }

    /// Returns the number of prints that started and have ended, regardless of their outcome.
    pub fn prints(&self) -> i64 {
        self.finished + self.failed + self.cancelled
    }

    /// Returns the fraction of failed prints among those that finished or failed, from 0 to 1. Returns `None` if there
    /// are no such prints.
    pub fn failure_rate(&self) -> Option<f64> {
        share(self.failed, self.finished + self.failed)
    }

    /// Returns the fraction of a period that a printer has spent printing, from 0 to 1. The printer has existed since
    /// `since`; returns `None` if it did not exist in the period.
    pub fn utilisation(&self, since: Timestamp, from: Timestamp, to: Timestamp) -> Option<f64> {
        let there = to.since(from.max(since));
        // A print that began before the end may have ended behind it.
        (there > 0).then(|| (self.print_ms as f64 / there as f64).clamp(0.0, 1.0))
    }
}

/// Returns the ratio of a part to a whole, from 0 to 1. Returns `None` if the whole is 0.
pub fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the days from one time to another according to a clock, as days since 1970, oldest first; at most the most
/// recent 367.
pub fn days_between(from: Timestamp, to: Timestamp, clock: &ShopClock) -> impl Iterator<Item = i64> + use<> {
    let last = clock.day_number(Timestamp(to.0 - 1));
    let first = clock.day_number(from).max(last - MAX_DAYS as i64 + 1);
    first..=last
}

/// Formats the given day, counted from 1970, as a date such as `2026-11-02`.
pub fn day_text(day: i64) -> String {
    let text = Timestamp(day.saturating_mul(DAY_MS)).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// Returns the lead time of an order in milliseconds: from payment until the order was ready or, if it has no promise
/// that records this, until its last shipment was sent. Returns `None` before that, even if some parts were shipped.
pub fn lead_ms(order: &Order) -> Option<i64> {
    let left = || order.shipment.as_ref().and_then(|_| order.shipments.iter().map(|sent| sent.shipped_at).max());
    let done = order.promise.and_then(|promise| promise.met_at).or_else(left)?;
    Some(done.since(order.paid_at.unwrap_or(order.created_at)).max(0))
}

/// Order lead times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeadTimes {
    /// Number of orders.
    pub orders: i64,
    /// Median time for an order to become ready, in milliseconds; `None` if there are no orders.
    pub median_ms: Option<i64>,
    /// Time, in milliseconds, within which four out of five orders were ready; `None` if there are no orders.
    pub most_ms: Option<i64>,
    /// Number of orders per group: lead times up to each of [`LEAD_STEPS_MS`] and above the previous one; the last
    /// group contains all longer ones.
    pub spread: [i64; LEAD_STEPS_MS.len() + 1],
}

impl LeadTimes {
    /// Summarizes the given lead times, in milliseconds.
    pub fn of(mut times: Vec<i64>) -> Self {
        times.sort_unstable();
        let mut spread = [0; LEAD_STEPS_MS.len() + 1];
        for time in &times {
            let group = LEAD_STEPS_MS.iter().position(|step| time <= step).unwrap_or(LEAD_STEPS_MS.len());
            if let Some(count) = spread.get_mut(group) {
                *count += 1;
            }
        }
        let at = |share: f64| {
            let place = (times.len() as f64 * share).ceil() as usize;
            times.get(place.saturating_sub(1)).copied()
        };
        Self { orders: times.len() as i64, median_ms: at(0.5), most_ms: at(MOST_SHARE), spread }
    }
}

/// Numbers of promises kept and broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PromiseTally {
    /// Number of orders that were ready by the promised time.
    pub on_time: i64,
    /// Number of orders that were ready later, or are not ready although the promised time has passed.
    pub late: i64,
}

impl PromiseTally {
    /// Counts an order. Orders that may still be ready in time are not counted, nor are those cancelled or refunded
    /// before they were ready, because no customer is waiting for them.
    pub fn add(&mut self, order: &Order, now: Timestamp) {
        let Some(promise) = order.promise else { return };
        let over = matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded);
        match promise.met_at {
            Some(met) if met <= promise.promised_at => self.on_time += 1,
            None if over || now <= promise.promised_at => {}
            _ => self.late += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;
    use crate::order::{OrderCommand, SentShipment, Shipment};
    use crate::promise::Promise;
    use crate::testing::orders::order_to;
    use crate::testing::{Bench, id};

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    /// Builds an order in the given status, promised for within an hour of its creation.
    fn order(status: OrderStatus, met_at: Option<Timestamp>) -> Order {
        let (bench, mut order) = (Bench::new(), None::<Order>);
        let create = OrderCommand::Create(Box::new(order_to("US", 500)));
        bench.tell(&mut order, id(1), &create).unwrap();
        let promise = Promise { made_at: NOW, expected_at: NOW, promised_at: NOW.plus_ms(HOUR_MS), met_at };
        Order { status, promise: Some(promise), ..order.unwrap() }
    }

    #[test]
    fn attempts_are_counted_by_how_they_ended() {
        use AttemptState as S;
        let mut tally = PrintTally::default();
        for (state, attempts, prints) in
            [(S::Finished, 6, 6), (S::Failed, 1, 1), (S::Abandoned, 1, 1), (S::Cancelled, 3, 2), (S::Refused, 4, 0)]
        {
            tally.add(state, attempts, prints, prints * 1000);
        }
        tally.add(S::Confirmed, 9, 0, 0);
        let expected = PrintTally { finished: 6, failed: 2, cancelled: 2, not_started: 5, print_ms: 10_000 };
        assert_eq!((tally, tally.prints(), tally.failure_rate()), (expected, 10, Some(0.25)));
        assert_eq!(PrintTally::default().failure_rate(), None, "nothing failed and nothing went well");
        let other = PrintTally { finished: 1, failed: 10, cancelled: 100, not_started: 1_000, print_ms: 5 };
        let both = PrintTally { finished: 7, failed: 12, cancelled: 102, not_started: 1_005, print_ms: 10_005 };
        assert_eq!(tally.with(other), both);
    }

    #[test]
    fn a_printer_is_judged_by_the_time_that_it_was_there() {
        let half = PrintTally { print_ms: HOUR_MS, ..PrintTally::default() };
        let (from, to) = (NOW, NOW.plus_ms(4 * HOUR_MS));
        assert_eq!(half.utilisation(NOW.plus_ms(-DAY_MS), from, to), Some(0.25));
        assert_eq!(half.utilisation(NOW.plus_ms(2 * HOUR_MS), from, to), Some(0.5));
        assert_eq!(half.utilisation(to, from, to), None);
        let long = PrintTally { print_ms: DAY_MS, ..half };
        assert_eq!(long.utilisation(NOW, from, to), Some(1.0), "a print that ends later fills the time");
    }

    #[test]
    fn days_begin_at_midnight_utc() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let days = |from: &str, to: &str| {
            days_between(at(from), at(to), &ShopClock::default()).map(day_text).collect::<Vec<_>>()
        };
        let two = days("2026-11-02T23:59:59.999Z", "2026-11-03T00:00:00.001Z");
        assert_eq!(two, ["2026-11-02", "2026-11-03"]);
        assert_eq!(days("2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z"), ["2026-11-02"], "the end is not in it");
        let all = days("1970-01-01T00:00:00Z", "2026-11-03T00:00:00Z");
        assert_eq!((all.len(), all.last().map(String::as_str)), (MAX_DAYS, Some("2026-11-02")));
    }

    #[test]
    fn lead_times_are_told_by_the_middle_and_by_four_of_five() {
        let hours = [1, 2, 3, 30, 400].map(|hours| hours * HOUR_MS);
        let of = LeadTimes::of(hours.to_vec());
        assert_eq!((of.orders, of.median_ms, of.most_ms), (5, Some(3 * HOUR_MS), Some(30 * HOUR_MS)));
        assert_eq!(of.spread, [1, 2, 0, 1, 0, 0, 0, 1]);
        assert_eq!(LeadTimes::of(Vec::new()), LeadTimes::default());
    }

    #[test]
    fn promises_are_counted_of_orders_that_somebody_waits_for() {
        let [early, late] = [NOW.plus_ms(HOUR_MS), NOW.plus_ms(HOUR_MS + 1)];
        let tally = |status, met_at| {
            let mut tally = PromiseTally::default();
            tally.add(&order(status, met_at), late);
            (tally.on_time, tally.late)
        };
        for status in [OrderStatus::Ready, OrderStatus::Shipped, OrderStatus::Refunded] {
            assert_eq!((tally(status, Some(early)), tally(status, Some(late))), ((1, 0), (0, 1)), "{status}");
        }
        for status in [OrderStatus::Paid, OrderStatus::Printing] {
            assert_eq!(tally(status, None), (0, 1), "{status}");
        }
        for status in [OrderStatus::Cancelled, OrderStatus::Refunded] {
            assert_eq!(tally(status, None), (0, 0), "{status}");
        }
        let mut open = PromiseTally::default();
        open.add(&order(OrderStatus::Printing, None), early);
        assert_eq!(open, PromiseTally::default(), "it may still be in time");
    }

    #[test]
    fn an_order_took_until_all_of_it_was_there() {
        let mut sent = Order { promise: None, created_at: NOW, ..order(OrderStatus::Printing, None) };
        let parcel = Shipment {
            carrier: "DHL".to_owned(),
            tracking_number: "JD 1".to_owned(),
            estimated_delivery: "2026-12-01".to_owned(),
        };
        let shipped_at = NOW.plus_ms(HOUR_MS);
        sent.shipments.push(SentShipment { number: 1, shipment: parcel.clone(), lines: Vec::new(), shipped_at });
        assert_eq!(lead_ms(&sent), None, "a part of it");
        sent.shipment = Some(parcel);
        assert_eq!(lead_ms(&sent), Some(HOUR_MS));
        let ready_order = Order { created_at: NOW, ..order(OrderStatus::Ready, Some(NOW.plus_ms(7))) };
        assert_eq!(lead_ms(&ready_order), Some(7));
    }

    proptest! {
        /// Checks that, for any lead times, each order is in exactly one group, and the median is no longer than the
        /// time for four out of five orders.
        #[test]
        fn every_order_is_counted_once(times in prop::collection::vec(0i64..40 * DAY_MS, 1..60)) {
            let of = LeadTimes::of(times.clone());
            prop_assert_eq!(of.spread.iter().sum::<i64>(), times.len() as i64);
            prop_assert!(of.median_ms <= of.most_ms);
            let in_time = times.iter().filter(|time| Some(**time) <= of.most_ms).count();
            prop_assert!(in_time as f64 >= times.len() as f64 * MOST_SHARE);
        }
    }
}
