//! Clock of the shop: the time zone in which people see and enter times, both on pages and in emails. Programs exchange
//! times in UTC instead ([`Timestamp`]).
//!
//! A time is written relative to the current day of the shop: `today 17:40`, `tomorrow 09:00`, `yesterday 08:12`, the
//! weekday within six days (`Tue 09:00`), otherwise the date, with the year only if it is not the current one
//! (`3 Nov 17:40`, `3 Nov 2025 17:40`). Times use the 24-hour clock.

use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, de};

use crate::time::{DAY_MS, EARLIEST, HOUR_MS, LATEST, Timestamp};

/// Number of days before and after the current day for which the weekday is written.
const WEEKDAY_DAYS: i64 = 6;
/// Length, in characters, of a date as sent by browsers: `2026-11-28`.
const DATE_CHARS: usize = 10;
/// Length, in characters, of a date and time as sent by browsers: `2026-11-28T17:40`.
const MINUTE_CHARS: usize = 16;
/// Time zone database entries that are copies of other zones or do not represent places.
const NO_PLACES: [&str; 7] = ["posix/", "right/", "posixrules", "localtime", "Factory", "Etc/", "SystemV/"];

/// Clock of the shop. Cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub struct ShopClock {
    zone: TimeZone,
}

/// Error for a time zone that is not available on this machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not a time zone of this server; use a name such as \"Europe/Berlin\" or a rule such as \
     \"CET-1CEST,M3.5.0,M10.5.0/3\""
)]
pub struct TimeZoneError(pub String);

impl Default for ShopClock {
    fn default() -> Self {
        Self { zone: TimeZone::UTC }
    }
}

impl<'de> Deserialize<'de> for ShopClock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl ShopClock {
    /// Returns the clock for a time zone, given by its name or as a POSIX rule; an empty text means UTC.
    pub fn parse(name: &str) -> Result<Self, TimeZoneError> {
        let zone = match name {
            "" | "UTC" => TimeZone::UTC,
            name => {
                TimeZone::get(name).or_else(|_| TimeZone::posix(name)).map_err(|_| TimeZoneError(name.to_owned()))?
            }
        };
        Ok(Self { zone })
    }

    /// Lists the time zones available on this machine by name, UTC first.
    pub fn zone_names() -> Vec<String> {
        let is_place = |name: &str| name != "UTC" && !NO_PLACES.iter().any(|other| name.starts_with(other));
        let names = jiff::tz::db().available().map(|name| name.as_str().to_owned());
        let mut names: Vec<String> = names.filter(|name| is_place(name)).collect();
        names.sort_unstable();
        names.insert(0, "UTC".to_owned());
        names
    }

    /// Describes a time relative to the current day: `today 17:40`, `Tue 09:00`, `3 Nov 17:40`.
    pub fn describe(&self, at: Timestamp, now: Timestamp) -> String {
        let (then, today) = (self.zoned(at), self.zoned(now).date());
        let day = match then.date().duration_since(today).as_hours() / 24 {
            0 => "today".to_owned(),
            1 => "tomorrow".to_owned(),
            -1 => "yesterday".to_owned(),
            days if days.abs() <= WEEKDAY_DAYS => then.strftime("%a").to_string(),
            _ if then.year() == today.year() => then.strftime("%-d %b").to_string(),
            _ => then.strftime("%-d %b %Y").to_string(),
        };
        format!("{day} {}", then.strftime("%H:%M"))
    }

    /// Describes the day of a time relative to the current day: `today`, `Tue 3 Nov`, `3 Nov 2027`.
    pub fn describe_day(&self, at: Timestamp, now: Timestamp) -> String {
        let (then, today) = (self.zoned(at), self.zoned(now).date());
        match then.date().duration_since(today).as_hours() / 24 {
            0 => "today".to_owned(),
            1 => "tomorrow".to_owned(),
            -1 => "yesterday".to_owned(),
            _ if then.year() == today.year() => then.strftime("%a %-d %b").to_string(),
            _ => then.strftime("%-d %b %Y").to_string(),
        }
    }

    /// Describes a time as [`Self::describe`] does, but omits the day if it is the current day: `17:40`.
    pub fn describe_near(&self, at: Timestamp, now: Timestamp) -> String {
        if self.zoned(at).date() == self.zoned(now).date() { self.time(at) } else { self.describe(at, now) }
    }

    /// Returns the time of day: `17:40`.
    pub fn time(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%H:%M").to_string()
    }

    /// Returns the date: `28 Nov 2026`.
    pub fn date(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%-d %b %Y").to_string()
    }

    /// Returns the date and time for texts that may be read much later, such as emails: `28 Nov 2026 17:40`.
    pub fn date_and_time(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%-d %b %Y %H:%M").to_string()
    }

    /// Returns the time to the second, with its time zone: `Saturday 28 November 2026, 17:40:05 CET`.
    pub fn exact(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%A %-d %B %Y, %H:%M:%S %Z").to_string()
    }

    /// Returns the date in the format of date fields: `2026-11-28`.
    pub fn field_date(&self, at: Timestamp) -> String {
        self.day(at).to_string()
    }

    /// Returns the day that a time falls on.
    pub fn day(&self, at: Timestamp) -> Date {
        self.zoned(at).date()
    }

    /// Returns the first moment of a day. This is not always midnight, because clocks may be set forwards at midnight.
    fn day_start(&self, date: Date) -> Timestamp {
        self.moment(date.to_datetime(Time::midnight())).unwrap_or_default()
    }

    /// Returns the last millisecond of a day.
    fn day_end(&self, date: Date) -> Timestamp {
        let next = date.tomorrow().ok().map(|next| self.day_start(next));
        Timestamp(next.map_or(i64::MAX, |next| next.0.saturating_sub(1)))
    }

    /// Returns the number of milliseconds until the next day begins.
    pub fn day_left_ms(&self, now: Timestamp) -> i64 {
        self.day_end(self.day(now)).since(now).saturating_add(1)
    }

    /// Returns the day number of a time, counted from 1970-01-01.
    pub fn day_number(&self, at: Timestamp) -> i64 {
        at.0.saturating_add(self.offset_ms(at)).div_euclid(DAY_MS)
    }

    /// Returns the first moment of the day that is the given number of days before the day of a time.
    pub fn day_start_before(&self, at: Timestamp, days: i64) -> Timestamp {
        let midnight = Timestamp(self.day_number(at).saturating_sub(days).saturating_mul(DAY_MS));
        self.day_start(ShopClock::default().day(midnight))
    }

    /// Returns the start of the hour that a time falls in.
    pub fn hour_start(&self, at: Timestamp) -> Timestamp {
        at.plus_ms(-at.0.saturating_add(self.offset_ms(at)).rem_euclid(HOUR_MS))
    }

    /// Divides a time span at the points at which the clocks change. Each part has its start, its end, and the number
    /// of milliseconds by which the clock is ahead of UTC.
    pub fn offsets(&self, from: Timestamp, to: Timestamp) -> Vec<(Timestamp, Timestamp, i64)> {
        let changes = self.zone.following(from.jiff()).map(|change| Timestamp(change.timestamp().as_millisecond()));
        let starts = [from].into_iter().chain(changes.take_while(|change| *change < to));
        let starts: Vec<Timestamp> = starts.collect();
        let ends = starts.iter().skip(1).copied().chain([to]);
        starts.iter().copied().zip(ends).map(|(start, end)| (start, end, self.offset_ms(start))).collect()
    }

    fn offset_ms(&self, at: Timestamp) -> i64 {
        i64::from(self.zone.to_offset(at.jiff()).seconds()).saturating_mul(1000)
    }

    /// Returns the first moment of the day entered in a date field; `None` if the text is not a date from 1970 to 2999.
    pub fn parse_day_start(&self, text: &str) -> Option<Timestamp> {
        date_of(text).and_then(|date| self.moment(date.to_datetime(Time::midnight()))).and_then(within_bounds)
    }

    /// Returns the last millisecond of the day entered in a date field; `None` if the text is not a date.
    pub fn parse_day_end(&self, text: &str) -> Option<Timestamp> {
        date_of(text).map(|date| self.day_end(date)).and_then(within_bounds)
    }

    /// Returns the moment entered in a date and time field, `2026-11-28T17:40`; `None` for any other text. If the
    /// clocks skip the time, returns the moment after the gap; if they show it twice, returns the first.
    pub fn parse_minute(&self, text: &str) -> Option<Timestamp> {
        let local: DateTime = Some(text).filter(|text| text.len() == MINUTE_CHARS)?.parse().ok()?;
        self.moment(local).and_then(within_bounds)
    }

    /// Returns the moment at which the clock shows a date and time.
    pub fn moment(&self, local: DateTime) -> Option<Timestamp> {
        let zoned = local.to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp(zoned.timestamp().as_millisecond()))
    }

    fn zoned(&self, at: Timestamp) -> Zoned {
        at.jiff().to_zoned(self.zone.clone())
    }
}

/// Returns the time if it is within the range that the API accepts.
fn within_bounds(at: Timestamp) -> Option<Timestamp> {
    (EARLIEST..=LATEST).contains(&at).then_some(at)
}

/// Parses a date as date fields send it; `None` for any other text.
pub(crate) fn date_of(text: &str) -> Option<Date> {
    Some(text).filter(|text| text.len() == DATE_CHARS)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    /// Rules rather than names, so that the tests need no time zone database.
    const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
    const NEW_YORK: &str = "EST5EDT,M3.2.0,M11.1.0";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn clock(zone: &str) -> ShopClock {
        ShopClock::parse(zone).unwrap()
    }

    #[test]
    fn a_time_is_described_from_the_current_day_of_the_shop() {
        // A Saturday, 00:30 in Berlin and still the day before in UTC and in New York.
        let now = at("2026-11-27T23:30:00Z");
        let berlin = clock(BERLIN);
        for (moment, words) in [
            ("2026-11-27T23:00:00Z", "today 00:00"),
            ("2026-11-28T22:59:59Z", "today 23:59"),
            ("2026-11-27T22:59:00Z", "yesterday 23:59"),
            ("2026-11-28T23:00:00Z", "tomorrow 00:00"),
            ("2026-12-01T08:00:00Z", "Tue 09:00"),
            ("2026-11-24T08:00:00Z", "Tue 09:00"),
            ("2026-12-04T08:00:00Z", "Fri 09:00"),
            ("2026-12-05T08:00:00Z", "5 Dec 09:00"),
            ("2026-11-21T08:00:00Z", "21 Nov 09:00"),
            ("2025-11-03T16:40:00Z", "3 Nov 2025 17:40"),
            ("2027-01-02T08:00:00Z", "2 Jan 2027 09:00"),
        ] {
            assert_eq!(berlin.describe(at(moment), now), words, "{moment}");
        }
        for (moment, day) in [
            ("2026-11-28T22:59:59Z", "today"),
            ("2026-11-28T23:00:00Z", "tomorrow"),
            ("2026-11-27T22:59:00Z", "yesterday"),
            ("2026-12-01T08:00:00Z", "Tue 1 Dec"),
            ("2026-11-03T16:40:00Z", "Tue 3 Nov"),
            ("2027-01-02T08:00:00Z", "2 Jan 2027"),
        ] {
            assert_eq!(berlin.describe_day(at(moment), now), day, "{moment}");
        }
        assert_eq!(clock(NEW_YORK).describe(now, now), "today 18:30");
        assert_eq!(ShopClock::default().describe(at("2026-11-28T00:10:00Z"), now), "tomorrow 00:10");
        assert_eq!(berlin.describe_near(now, now), "00:30");
        assert_eq!(berlin.describe_near(at("2026-11-28T23:30:00Z"), now), "tomorrow 00:30");
    }

    #[test]
    fn exact_times_name_their_zone() {
        let berlin = clock(BERLIN);
        assert_eq!(berlin.exact(at("2026-11-28T16:40:05Z")), "Saturday 28 November 2026, 17:40:05 CET");
        assert_eq!(berlin.exact(at("2026-07-01T16:40:05Z")), "Wednesday 1 July 2026, 18:40:05 CEST");
        assert_eq!(clock(NEW_YORK).exact(at("2026-07-01T04:00:00Z")), "Wednesday 1 July 2026, 00:00:00 EDT");
        assert_eq!(ShopClock::default().exact(at("2026-11-28T16:40:05Z")), "Saturday 28 November 2026, 16:40:05 UTC");
        assert_eq!(berlin.date_and_time(at("2026-11-28T23:40:05Z")), "29 Nov 2026 00:40");
        assert_eq!(
            (berlin.date(at("2026-11-28T23:40:05Z")), berlin.time(at("2026-11-28T23:40:05Z"))),
            ("29 Nov 2026".to_owned(), "00:40".to_owned())
        );
    }

    #[test]
    fn days_have_23_or_25_hours_when_clocks_change() {
        for (zone, text, hours) in [
            (BERLIN, "2026-03-29", 23),
            (BERLIN, "2026-10-25", 25),
            (BERLIN, "2026-10-26", 24),
            (NEW_YORK, "2026-03-08", 23),
            (NEW_YORK, "2026-11-01", 25),
        ] {
            let clock = clock(zone);
            let (start, end) = (clock.parse_day_start(text).unwrap(), clock.parse_day_end(text).unwrap());
            assert_eq!(end.since(start) + 1, hours * HOUR_MS, "{zone} {text}");
            assert_eq!(clock.day_left_ms(start), hours * HOUR_MS, "{zone} {text}");
        }
        let berlin = clock(BERLIN);
        // In the night of 25 October, 02:30 comes twice, an hour apart.
        assert_eq!(berlin.time(at("2026-10-25T00:30:00Z")), "02:30");
        assert_eq!(berlin.time(at("2026-10-25T01:30:00Z")), "02:30");
        assert_eq!(berlin.parse_minute("2026-10-25T02:30"), Some(at("2026-10-25T00:30:00Z")));
        // In the night of 29 March, 02:30 does not come.
        assert_eq!(berlin.parse_minute("2026-03-29T02:30"), Some(at("2026-03-29T01:30:00Z")));
    }

    #[test]
    fn spans_are_divided_where_clocks_change() {
        let (from, to) = (at("2026-03-01T00:00:00Z"), at("2026-12-01T00:00:00Z"));
        let (spring, autumn) = (at("2026-03-29T01:00:00Z"), at("2026-10-25T01:00:00Z"));
        let offsets = clock(BERLIN).offsets(from, to);
        assert_eq!(offsets, [(from, spring, HOUR_MS), (spring, autumn, 2 * HOUR_MS), (autumn, to, HOUR_MS)]);
        assert_eq!(ShopClock::default().offsets(from, to), [(from, to, 0)]);
        let berlin = clock(BERLIN);
        let late = at("2026-11-27T23:30:00Z");
        assert_eq!(berlin.day_number(late), ShopClock::default().day_number(late) + 1);
        assert_eq!(berlin.day_start_before(late, 0), at("2026-11-27T23:00:00Z"));
        assert_eq!(berlin.day_start_before(late, 34), at("2026-10-24T22:00:00Z"), "it was summer then");
    }

    #[test]
    fn hours_begin_by_the_clock_of_the_zone() {
        let moment = at("2026-11-27T23:50:05Z");
        assert_eq!(clock(BERLIN).hour_start(moment), at("2026-11-27T23:00:00Z"));
        assert_eq!(clock("IST-5:30").hour_start(moment), at("2026-11-27T23:30:00Z"));
        assert_eq!(clock(BERLIN).hour_start(at("2026-11-27T23:00:00Z")), at("2026-11-27T23:00:00Z"));
    }

    #[test]
    fn what_is_typed_is_read_in_the_zone() {
        let berlin = clock(BERLIN);
        assert_eq!(berlin.parse_day_start("2026-11-28"), Some(at("2026-11-27T23:00:00Z")));
        assert_eq!(berlin.parse_day_end("2026-11-28"), Some(at("2026-11-28T22:59:59.999Z")));
        assert_eq!(berlin.parse_minute("2026-11-28T17:40"), Some(at("2026-11-28T16:40:00Z")));
        for text in ["", "28.11.2026", "2026-02-30", "2026-1-1", "2026-11-28T17:40", "0001-01-01", "9999-12-31"] {
            assert_eq!((berlin.parse_day_start(text), berlin.parse_day_end(text)), (None, None), "{text}");
        }
        for text in ["", "2026-11-28", "2026-11-28T25:00", "2026-11-28T17:40:00"] {
            assert_eq!(berlin.parse_minute(text), None, "{text}");
        }
    }

    #[test]
    fn zones_that_this_machine_does_not_have_are_refused() {
        let error = ShopClock::parse("Nowhere/At all").unwrap_err();
        assert_eq!(error, TimeZoneError("Nowhere/At all".to_owned()));
        assert!(error.to_string().starts_with("\"Nowhere/At all\" is not a time zone of this server"), "{error}");
        assert_eq!(
            (ShopClock::parse(""), ShopClock::parse("UTC")),
            (Ok(ShopClock::default()), Ok(ShopClock::default()))
        );
        let names = ShopClock::zone_names();
        assert_eq!(names.first().map(String::as_str), Some("UTC"));
        for name in names {
            assert!(ShopClock::parse(&name).is_ok(), "{name}");
        }
    }

    proptest! {
        /// Checks that what a date field shows is read back as the day of the time for which it was shown.
        #[test]
        fn dates_are_read_back(
            ms in 2 * DAY_MS..LATEST.0 - 2 * DAY_MS,
            zone in prop::sample::select(vec!["UTC", BERLIN, NEW_YORK]),
        ) {
            let (clock, at) = (clock(zone), Timestamp(ms));
            let text = clock.field_date(at);
            let (start, end) = (clock.parse_day_start(&text).unwrap(), clock.parse_day_end(&text).unwrap());
            prop_assert!(start <= at && at <= end, "{} {} {}", start, at, end);
            prop_assert_eq!(end.since(at) + 1, clock.day_left_ms(at));
            prop_assert!(clock.field_date(start.plus_ms(-1)) < text);
            prop_assert!(clock.field_date(end.plus_ms(1)) > text);
        }

        /// Checks that later times of a day are written later, and that what is written is read back to the minute.
        #[test]
        fn times_of_a_day_stay_in_order(first in 0..DAY_MS, second in 0..DAY_MS, day in 1i64..20_000) {
            // A zone whose clocks never change: there no time of day comes twice.
            let clock = clock("JST-9");
            let start = clock.day_start(clock.day(Timestamp(day * DAY_MS)));
            let (first, second) = (start.plus_ms(first.min(second)), start.plus_ms(first.max(second)));
            prop_assert!(clock.describe(first, start) <= clock.describe(second, start));
            let read = clock.parse_minute(&format!("{}T{}", clock.field_date(first), clock.time(first)));
            prop_assert_eq!(read, Some(Timestamp(first.0 / 60_000 * 60_000)));
        }
    }

    #[test]
    fn zones_are_places_in_alphabetical_order() {
        let names = ShopClock::zone_names();
        let places = &names[1..];
        assert!(places.is_sorted() && !places.contains(&"UTC".to_owned()), "{places:?}");
        assert!(!places.iter().any(|name| NO_PLACES.iter().any(|other| name.starts_with(other))), "{places:?}");
        // A machine without a time zone database has no places.
        assert!(places.is_empty() || places.contains(&"Europe/Berlin".to_owned()), "{places:?}");
    }
}
