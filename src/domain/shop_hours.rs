//! Staffed hours of the shop: opening hours by weekday, and closed days. Printers continue at night, whereas work that
//! requires staff is deferred until the shop opens.

use std::collections::BTreeSet;

use jiff::ToSpan as _;
use jiff::civil::{Date, Time, Weekday};

use crate::shop_clock::ShopClock;
use crate::time::Timestamp;

/// Number of days searched for the next opening; a shop that is closed for longer is treated as permanently closed.
const MAX_DAYS_AHEAD: usize = 400;
/// Maximum number of opening periods per week.
const MAX_PERIODS: usize = 50;
/// Maximum number of closed days.
const MAX_CLOSED_DAYS: usize = 1000;

/// Days of the week, as named in settings.
const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// Opening hours of a shop. A shop without opening periods is treated as always staffed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShopHours {
    clock: ShopClock,
    periods: Vec<Period>,
    closed: BTreeSet<Date>,
}

/// Opening period on a weekday. If it ends at midnight, the end is [`None`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Period {
    day: Weekday,
    from: Time,
    to: Option<Time>,
}

/// Reason why opening hours cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShopHoursError {
    /// A period has the wrong format.
    #[error("{0:?} is not a valid period; use the form \"mon-fri 08:00-18:00\"")]
    Period(String),
    /// A closed day is not a date.
    #[error("{0:?} is not a valid date; use a date such as \"2026-12-25\"")]
    Day(String),
    /// The number of entries exceeds the given maximum.
    #[error("must have at most {0} entries")]
    TooMany(usize),
}

impl ShopHours {
    /// Parses opening hours from the settings: periods such as `mon-fri 08:00-18:00`, and dates, both in the shop's
    /// time zone.
    pub fn parse(clock: ShopClock, hours: &[String], closed: &[String]) -> Result<Self, ShopHoursError> {
        let mut periods = Vec::new();
        for text in hours {
            periods.extend(periods_of(text).ok_or_else(|| ShopHoursError::Period(text.clone()))?);
        }
        if periods.len() > MAX_PERIODS {
            return Err(ShopHoursError::TooMany(MAX_PERIODS));
        }
        if closed.len() > MAX_CLOSED_DAYS {
            return Err(ShopHoursError::TooMany(MAX_CLOSED_DAYS));
        }
        let date = |text: &String| text.parse::<Date>().map_err(|_| ShopHoursError::Day(text.clone()));
        let closed = closed.iter().map(date).collect::<Result<_, _>>()?;
        Ok(Self { clock, periods, closed })
    }

    /// Returns the time at which the shop has been open for `open_ms` milliseconds since `from`. Returns `None` if it
    /// is not open that long within `MAX_DAYS_AHEAD` days.
    pub fn after(&self, from: Timestamp, open_ms: i64) -> Option<Timestamp> {
        if self.periods.is_empty() {
            return Some(from.plus_ms(open_ms.max(0)));
        }
        let mut left = open_ms.max(0);
        for (opens, closes) in self.openings(from) {
            let begins = opens.max(from);
            let open = closes.since(begins);
            if open <= 0 {
                continue;
            }
            if left <= open {
                return Some(begins.plus_ms(left));
            }
            left -= open;
        }
        None
    }

    /// Returns the number of milliseconds for which the shop is open between two times; 0 if the second is not later
    /// than the first.
    pub fn open_ms(&self, from: Timestamp, to: Timestamp) -> i64 {
        if self.periods.is_empty() {
            return to.since(from).max(0);
        }
        let within = self.openings(from).take_while(|(opens, _)| *opens < to);
        within.map(|(opens, closes)| closes.min(to).since(opens.max(from)).max(0)).sum()
    }

    /// Returns the start of the shift that is under way at a time. A shift is an opening period; one that ends at
    /// midnight and the next, which begins then, are one shift, unless it lasts the whole day. After a day's last
    /// shift, that shift still counts. Before a day's first shift, and without opening periods, the result is the
    /// shop's midnight.
    pub fn shift_start(&self, now: Timestamp) -> Timestamp {
        let (today, yesterday) = (self.clock.day_start_before(now, 0), self.clock.day_start_before(now, 1));
        if self.periods.is_empty() {
            return today;
        }
        let begun: Vec<(Timestamp, Timestamp)> =
            self.openings(yesterday).take_while(|(opens, _)| *opens <= now).collect();
        let Some((opens, _)) = begun.last().copied().filter(|(opens, _)| *opens >= today) else { return today };
        let before = begun.iter().rev().find(|(begins, ends)| *ends == opens && *begins > yesterday);
        before.filter(|_| opens == today).map_or(opens, |(begins, _)| *begins)
    }

    /// Returns the opening periods in order, starting with the day of `from`.
    fn openings(&self, from: Timestamp) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let first = self.clock.day(from);
        let days = first.series(1.day()).take(MAX_DAYS_AHEAD).filter(move |day| !self.closed.contains(day));
        days.flat_map(move |day| {
            let of_day = self.periods.iter().filter(move |period| period.day == day.weekday());
            let mut spans: Vec<(Timestamp, Timestamp)> = of_day
                .filter_map(|period| {
                    let to = match period.to {
                        Some(time) => self.moment(day, time)?,
                        None => self.moment(day.tomorrow().ok()?, Time::midnight())?,
                    };
                    Some((self.moment(day, period.from)?, to))
                })
                .collect();
            spans.sort_unstable();
            spans
        })
    }

    fn moment(&self, day: Date, time: Time) -> Option<Timestamp> {
        self.clock.moment(day.to_datetime(time))
    }
}

/// Parses periods such as `mon-fri 08:00-18:00` or `sat 09:00-24:00`. Returns `None` for any other format.
fn periods_of(text: &str) -> Option<Vec<Period>> {
    let text = text.trim().to_ascii_lowercase();
    let (days, times) = text.split_once(' ')?;
    let place = |name: &str| DAYS.iter().position(|(word, _)| *word == name);
    let (first, last) = match days.split_once('-') {
        Some((first, last)) => (place(first)?, place(last)?),
        None => (place(days)?, place(days)?),
    };
    let (from, to) = times.trim().split_once('-')?;
    let from = time(from)?;
    let to = if to == "24:00" || to == "00:00" { None } else { Some(time(to)?) };
    if to.is_some_and(|to| to <= from) {
        return None;
    }
    // From Saturday to Monday goes over Sunday.
    let count = (last + DAYS.len() - first) % DAYS.len() + 1;
    let days = DAYS.iter().cycle().skip(first).take(count);
    Some(days.map(|(_, day)| Period { day: *day, from, to }).collect())
}

/// Parses a time of day such as `08:00`.
fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    if hour.len() != 2 || minute.len() != 2 {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap_or_default()
    }

    fn shop(zone: &str, hours: &[&str], closed: &[&str]) -> Result<ShopHours, ShopHoursError> {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        ShopHours::parse(ShopClock::parse(zone).unwrap_or_default(), &owned(hours), &owned(closed))
    }

    #[test]
    fn what_needs_a_person_waits_for_the_next_opening() -> Result<(), ShopHoursError> {
        // 2026-11-20 is a Friday.
        let shop = shop("UTC", &["mon-fri 08:00-18:00"], &["2026-11-23"])?;
        assert_eq!(shop.after(at("2026-11-20T10:00:00Z"), HOUR), Some(at("2026-11-20T11:00:00Z")));
        assert_eq!(shop.after(at("2026-11-20T17:30:00Z"), HOUR), Some(at("2026-11-24T08:30:00Z")), "Monday is closed");
        assert_eq!(shop.after(at("2026-11-20T03:00:00Z"), 0), Some(at("2026-11-20T08:00:00Z")));
        assert_eq!(shop.open_ms(at("2026-11-20T17:30:00Z"), at("2026-11-24T08:30:00Z")), HOUR);
        Ok(())
    }

    #[test]
    fn hours_are_those_of_the_zone_also_when_clocks_change() -> Result<(), ShopHoursError> {
        let shop = shop("CET-1CEST,M3.5.0,M10.5.0/3", &["sun 00:00-24:00"], &[])?;
        // On 2026-10-25 clocks go back: the Sunday has 25 hours.
        let (from, to) = (at("2026-10-24T22:00:00Z"), at("2026-10-25T23:00:00Z"));
        assert_eq!(shop.open_ms(from, to), 25 * HOUR);
        assert_eq!(shop.after(from.plus_ms(-HOUR), 0), Some(from));
        Ok(())
    }

    #[test]
    fn a_shift_begins_with_its_opening_period_also_over_midnight() -> Result<(), ShopHoursError> {
        let shop =
            shop("UTC", &["mon-fri 06:00-14:00", "mon-fri 14:00-22:00", "mon 22:00-24:00", "tue 00:00-02:00"], &[])?;
        let start = |now: &str| shop.shift_start(at(now)).to_string()[5..16].to_owned();
        // 2026-11-23 is a Monday.
        for (now, expected) in [
            ("2026-11-23T05:59:00Z", "11-23T00:00"),
            ("2026-11-23T06:00:00Z", "11-23T06:00"),
            ("2026-11-23T14:30:00Z", "11-23T14:00"),
            ("2026-11-23T23:00:00Z", "11-23T22:00"),
            ("2026-11-24T00:00:00Z", "11-23T22:00"),
            ("2026-11-24T05:00:00Z", "11-23T22:00"),
            ("2026-11-24T06:00:00Z", "11-24T06:00"),
            ("2026-11-24T23:00:00Z", "11-24T14:00"),
            ("2026-11-25T01:00:00Z", "11-25T00:00"),
            ("2026-11-28T12:00:00Z", "11-28T00:00"),
        ] {
            assert_eq!(start(now), expected, "{now}");
        }
        Ok(())
    }

    #[test]
    fn without_hours_or_with_whole_days_a_shift_begins_at_midnight() -> Result<(), ShopHoursError> {
        let whole_days = shop("UTC", &["mon-sun 00:00-24:00"], &[])?;
        for shop in [ShopHours::default(), whole_days] {
            assert_eq!(shop.shift_start(at("2026-11-24T17:00:00Z")), at("2026-11-24T00:00:00Z"));
            assert_eq!(shop.shift_start(at("2026-11-24T00:00:00Z")), at("2026-11-24T00:00:00Z"));
        }
        let closed = shop("UTC", &["mon-sun 08:00-18:00"], &["2026-11-24"])?;
        assert_eq!(closed.shift_start(at("2026-11-24T12:00:00Z")), at("2026-11-24T00:00:00Z"));
        Ok(())
    }

    #[test]
    fn a_shift_begins_by_the_clock_of_the_shop_also_when_clocks_change() -> Result<(), ShopHoursError> {
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        let day = shop(berlin, &["mon-sun 08:00-18:00"], &[])?;
        let none = shop(berlin, &[], &[])?;
        let night = shop(berlin, &["sat 22:00-24:00", "sun 00:00-06:00"], &[])?;
        // Clocks go forward on 2026-03-29 and back on 2026-10-25, both Sundays.
        for (now, by_day, by_midnight, by_night) in [
            ("2026-03-29T10:00:00Z", "2026-03-29T06:00:00Z", "2026-03-28T23:00:00Z", "2026-03-28T21:00:00Z"),
            ("2026-10-25T10:00:00Z", "2026-10-25T07:00:00Z", "2026-10-24T22:00:00Z", "2026-10-24T20:00:00Z"),
        ] {
            let starts = [&day, &none, &night].map(|shop| shop.shift_start(at(now)));
            assert_eq!(starts, [by_day, by_midnight, by_night].map(at), "{now}");
        }
        Ok(())
    }

    #[test]
    fn a_shop_without_hours_is_always_open_and_one_that_never_opens_is_told() -> Result<(), ShopHoursError> {
        let now = at("2026-11-20T10:00:00Z");
        assert_eq!(ShopHours::default().after(now, HOUR), Some(now.plus_ms(HOUR)));
        assert_eq!(ShopHours::default().open_ms(now, now.plus_ms(HOUR)), HOUR);
        let days: Vec<String> = (0..=400).map(|n| now.plus_ms(n * 24 * HOUR).to_string()[..10].to_owned()).collect();
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        assert_eq!(shop("UTC", &["mon-sun 08:00-09:00"], &days)?.after(now, 1), None);
        Ok(())
    }

    #[test]
    fn what_is_written_wrongly_is_refused() {
        for hours in ["", "mon", "mon 8-18", "mon 18:00-08:00", "monday 08:00-18:00", "mon-fri 08:00 - 25:00"] {
            assert_eq!(shop("UTC", &[hours], &[]), Err(ShopHoursError::Period(hours.to_owned())), "{hours}");
        }
        assert_eq!(shop("UTC", &[], &["25.12.2026"]), Err(ShopHoursError::Day("25.12.2026".to_owned())));
    }

    proptest! {
        /// Checks that waiting for an amount of open time and counting the open time that has passed are inverse
        /// operations.
        #[test]
        fn waiting_and_counting_agree(minutes in 0i64..100_000, wait in 1i64..200_000_000) {
            let from = at("2026-01-01T00:00:00Z").plus_ms(minutes * 60_000);
            let hours = ["sat-mon 10:00-14:00", "wed 22:00-24:00", "thu 00:00-02:00"];
            let shop = shop("EST5EDT,M3.2.0,M11.1.0", &hours, &["2026-03-08"]).unwrap_or_default();
            let until = shop.after(from, wait).unwrap_or_default();
            prop_assert_eq!(shop.open_ms(from, until), wait);
            prop_assert!(until >= from.plus_ms(wait));
        }
    }

    #[test]
    fn periods_and_closed_days_are_bounded_in_number() {
        let of = |days: usize, closed: usize| {
            let closed = vec!["2026-12-25".to_owned(); closed];
            ShopHours::parse(ShopClock::default(), &vec!["mon 08:00-09:00".to_owned(); days], &closed).map(|_| ())
        };
        assert_eq!((of(50, 1000), of(51, 0)), (Ok(()), Err(ShopHoursError::TooMany(50))));
        assert_eq!(of(0, 1001), Err(ShopHoursError::TooMany(1000)));
    }

    #[test]
    fn a_period_is_written_with_two_digits_and_may_end_at_midnight() -> Result<(), ShopHoursError> {
        for hours in ["mon 8:00-18:00", "mon 08:0-18:00", "mon 08:00-08:00", "mon 08:00", "mon-day 08:00-18:00"] {
            assert_eq!(shop("UTC", &[hours], &[]), Err(ShopHoursError::Period(hours.to_owned())), "{hours}");
        }
        // 2026-11-20 is a Friday.
        let (from, to) = (at("2026-11-20T00:00:00Z"), at("2026-11-22T00:00:00Z"));
        for hours in ["FRI 22:00-24:00", " fri 22:00-00:00 "] {
            let shop = shop("UTC", &[hours], &[])?;
            assert_eq!(shop.open_ms(from, to), 2 * HOUR, "{hours}");
            assert_eq!(shop.after(from, 2 * HOUR), Some(at("2026-11-21T00:00:00Z")), "its last moment is in it");
        }
        assert_eq!(shop("UTC", &["fri-mon 00:00-24:00"], &[])?.open_ms(from, from.plus_ms(7 * 24 * HOUR)), 96 * HOUR);
        assert_eq!(ShopHours::default().open_ms(to, from), 0);
        assert_eq!(ShopHours::default().after(from, -1), Some(from));
        Ok(())
    }
}
