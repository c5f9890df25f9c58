//! Amounts, sizes and dates in texts for customers and staff, in the notation of each language. English numbers and
//! dates use the same notation as the rest of the shop ([`crate::currency`], [`crate::shop_clock`]).

mod durations;

use std::fmt::Display;

use jiff::civil::Date;

pub use self::durations::compact_duration;
use crate::currency;
use crate::shop_clock::{ShopClock, date_of};
use crate::sku::Dimensions;
use crate::tax::percent_text;
use crate::time::Timestamp;
use words::Language;
use words::staff::common;

/// Number of days before and after the current one that are displayed as weekdays.
const WEEKDAY_DAYS: i64 = 6;
/// Months as German dates name them, in full and short.
const GERMAN_MONTHS: [(&str, &str); 12] = [
    ("Januar", "Jan."),
    ("Februar", "Feb."),
    ("März", "März"),
    ("April", "Apr."),
    ("Mai", "Mai"),
    ("Juni", "Juni"),
    ("Juli", "Juli"),
    ("August", "Aug."),
    ("September", "Sept."),
    ("Oktober", "Okt."),
    ("November", "Nov."),
    ("Dezember", "Dez."),
];
/// German weekdays, in full and short, Monday first.
const GERMAN_WEEKDAYS: [(&str, &str); 7] = [
    ("Montag", "Mo."),
    ("Dienstag", "Di."),
    ("Mittwoch", "Mi."),
    ("Donnerstag", "Do."),
    ("Freitag", "Fr."),
    ("Samstag", "Sa."),
    ("Sonntag", "So."),
];

/// Formats minor units with the currency: `€1,234.50` or `1.234,50 €`, which contains a non-breaking space.
///
/// In English, the symbol or code goes before the number and after the minus sign: `-$0.05`, `CHF 48.00`.
pub fn amount(language: Language, cents: i64, currency: &str) -> String {
    with_currency(language, &figure(language, cents, currency), currency)
}

/// Adds the currency to a number that is already in the notation of the language, with any number of decimals: `$0.025`
/// or `0,025 USD`.
pub(crate) fn with_currency(language: Language, number: &str, currency: &str) -> String {
    match (language, currency::symbol(currency)) {
        (Language::English, symbol) => {
            let (minus, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
            match symbol {
                Some(symbol) => format!("{minus}{symbol}{number}"),
                None => format!("{minus}{}\u{a0}{number}", currency.to_uppercase()),
            }
        }
        (Language::German, Some("€")) => format!("{number}\u{a0}€"),
        (Language::German, _) => format!("{number} {}", currency.to_uppercase()),
    }
}

/// Formats minor units without the currency: `1,234.50` or `1.234,50`.
pub fn figure(language: Language, cents: i64, currency: &str) -> String {
    match language {
        Language::English => currency::figure(cents, currency),
        Language::German => currency::split(cents, currency, ".", ','),
    }
}

/// Currencies whose prices have a symbol in API responses.
const SYMBOL_CURRENCIES: [&str; 3] = ["usd", "eur", "gbp"];

/// Formats a price for programs that show it as it is: `$1,234.50`, or `1,234.50 CHF` if the currency has no symbol
/// here. This form is part of the API, so it does not follow the way in which pages write amounts.
pub fn response_price(cents: i64, currency: &str) -> String {
    if SYMBOL_CURRENCIES.iter().any(|one| one.eq_ignore_ascii_case(currency)) {
        return amount(Language::English, cents, currency);
    }
    format!("{} {}", figure(Language::English, cents, currency), currency.to_uppercase())
}

/// Returns the date: `28 Nov 2026` or `28. November 2026`.
pub fn date(language: Language, clock: &ShopClock, at: Timestamp) -> String {
    match language {
        Language::English => clock.date(at),
        Language::German => german_date(clock.day(at)),
    }
}

/// Returns the date and time: `28 Nov 2026 17:40` or `28. November 2026 um 17:40 Uhr`.
pub fn date_and_time(language: Language, clock: &ShopClock, at: Timestamp) -> String {
    match language {
        Language::English => clock.date_and_time(at),
        Language::German => format!("{} um {} Uhr", german_date(clock.day(at)), clock.time(at)),
    }
}

/// Describes a time relative to the current day: `today 17:40` or `heute 17:40` ([`ShopClock::describe`]).
pub fn moment(language: Language, clock: &ShopClock, at: Timestamp, now: Timestamp) -> String {
    if language == Language::English {
        return clock.describe(at, now);
    }
    let (then, today) = (clock.day(at), clock.day(now));
    let day = match days_between(today, then) {
        0 => "heute".to_owned(),
        1 => "morgen".to_owned(),
        -1 => "gestern".to_owned(),
        days if days.abs() <= WEEKDAY_DAYS => german_weekday(then).1.to_owned(),
        _ => german_short_date(then, today),
    };
    format!("{day} {}", clock.time(at))
}

/// Describes a time as [`moment`] does, but omits the day if it is the current day: `17:40`
/// ([`ShopClock::describe_near`]).
pub fn near(language: Language, clock: &ShopClock, at: Timestamp, now: Timestamp) -> String {
    match language {
        Language::English => clock.describe_near(at, now),
        Language::German if clock.day(at) == clock.day(now) => clock.time(at),
        Language::German => moment(language, clock, at, now),
    }
}

/// Describes the day of a time relative to the current day: `Tue 3 Nov` or `Di., 3. Nov.`
/// ([`ShopClock::describe_day`]).
pub fn relative_day(language: Language, clock: &ShopClock, at: Timestamp, now: Timestamp) -> String {
    if language == Language::English {
        return clock.describe_day(at, now);
    }
    let (then, today) = (clock.day(at), clock.day(now));
    match days_between(today, then) {
        0 => "heute".to_owned(),
        1 => "morgen".to_owned(),
        -1 => "gestern".to_owned(),
        _ if then.year() == today.year() => format!("{}, {}", german_weekday(then).1, german_short_date(then, today)),
        _ => german_short_date(then, today),
    }
}

/// Returns the time to the second, with its time zone: `Saturday 28 November 2026, 17:40:05 CET` or
/// `Samstag, 28. November 2026, 17:40:05 CET`.
pub fn exact(language: Language, clock: &ShopClock, at: Timestamp) -> String {
    let english = clock.exact(at);
    let time = english.split_once(", ").map(|(_, time)| time.to_owned());
    match (language, time) {
        (Language::German, Some(time)) => {
            let day = clock.day(at);
            format!("{}, {}, {time}", german_weekday(day).0, german_date(day))
        }
        _ => english,
    }
}

/// Returns the date of an invoice or credit note: `28 Nov 2026` or `28. November 2026`. Document dates are always days
/// in UTC, because they appear in the documents as such, and because document numbers restart with each year in UTC.
pub fn document_date(language: Language, at: Timestamp) -> String {
    date(language, &ShopClock::default(), at)
}

/// Returns the date of an invoice or credit note in figures, a day in UTC: `2026-11-28` or `28.11.2026`.
pub fn document_day(language: Language, at: Timestamp) -> String {
    let day = ShopClock::default().day(at);
    match language {
        Language::English => day.to_string(),
        Language::German => format!("{:02}.{:02}.{}", day.day(), day.month(), day.year()),
    }
}

/// Formats basis points as a percentage: `7.25%` or `7,25 %`.
pub fn percent(language: Language, bps: i64) -> String {
    percentage(language, percent_text(bps))
}

/// Formats a number of hundredths as a percentage: `7.5%` or `7,5 %`, which contains a non-breaking space.
pub fn percentage(language: Language, number: impl Display) -> String {
    let sign = match language {
        Language::English => "%",
        Language::German => "\u{a0}%",
    };
    format!("{}{sign}", decimal(language, number))
}

/// Formats a size: `20.5 × 12 × 8 mm` or `20,5 × 12 × 8 mm`.
pub fn size(language: Language, size: Dimensions) -> String {
    let figures = [size.x, size.y, size.z].map(|length| length.to_string()).join(" × ");
    match language {
        Language::English => format!("{figures} mm"),
        Language::German => format!("{} mm", figures.replace('.', ",")),
    }
}

/// Formats a number with the language's decimal separator: `20.5` or `20,5`.
pub fn decimal(language: Language, number: impl Display) -> String {
    let number = number.to_string();
    match language {
        Language::English => number,
        Language::German => number.replace('.', ","),
    }
}

/// Writes a number into a field in which people type one, with the decimal separator of the language. A zero follows a
/// comma with three digits, which could separate thousands.
pub fn field_decimal(language: Language, number: impl Display) -> String {
    let text = decimal(language, number);
    let is_ambiguous = text.split_once(',').is_some_and(|(_, fraction)| fraction.len() == 3);
    if is_ambiguous { format!("{text}0") } else { text }
}

/// Joins the entries of a list: `a, b and c` or `a, b und c`.
pub fn list(language: Language, entries: &[impl AsRef<str>]) -> String {
    let entries: Vec<&str> = entries.iter().map(AsRef::as_ref).collect();
    match entries.split_last() {
        Some((last, rest)) if !rest.is_empty() => common::list_end(language, &rest.join(", "), last),
        _ => entries.concat(),
    }
}

/// Returns a date that staff typed, such as an expected delivery. A date such as `2026-11-28` is written as [`date`]
/// writes it; any other text stays as it is.
pub fn typed_date(language: Language, text: &str) -> String {
    match (language, date_of(text)) {
        (Language::English, Some(date)) => date.strftime("%-d %b %Y").to_string(),
        (Language::German, Some(date)) => german_date(date),
        (_, None) => text.to_owned(),
    }
}

fn german_date(date: Date) -> String {
    format!("{}. {} {}", date.day(), german_month(date).0, date.year())
}

/// Writes a date with a short month, and with the year only if it is not the current one.
fn german_short_date(date: Date, today: Date) -> String {
    let year = if date.year() == today.year() { String::new() } else { format!(" {}", date.year()) };
    format!("{}. {}{year}", date.day(), german_month(date).1)
}

/// Returns the name of the month, in full and short.
fn german_month(date: Date) -> (&'static str, &'static str) {
    let month = usize::try_from(date.month() - 1).ok().and_then(|month| GERMAN_MONTHS.get(month));
    month.copied().unwrap_or_default()
}

/// Returns the name of the weekday, in full and short.
fn german_weekday(date: Date) -> (&'static str, &'static str) {
    let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).ok();
    weekday.and_then(|weekday| GERMAN_WEEKDAYS.get(weekday)).copied().unwrap_or_default()
}

/// Returns the number of days from one day to another; negative if the other is earlier.
fn days_between(from: Date, to: Date) -> i64 {
    to.duration_since(from).as_hours() / 24
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn amounts_are_written_as_in_each_language() {
        let both = |cents, currency| Language::ALL.map(|language| amount(language, cents, currency));
        assert_eq!(both(123_456_789, "eur"), ["€1,234,567.89", "1.234.567,89\u{a0}€"]);
        assert_eq!(both(1350, "usd"), ["$13.50", "13,50 USD"]);
        assert_eq!(both(-5, "USD"), ["-$0.05", "-0,05 USD"]);
        assert_eq!(both(0, "gbp"), ["£0.00", "0,00 GBP"]);
        assert_eq!(both(-7, "eur"), ["-€0.07", "-0,07\u{a0}€"]);
        assert_eq!(both(4800, "chf"), ["CHF\u{a0}48.00", "48,00 CHF"]);
        assert_eq!(both(-123_456, "chf"), ["-CHF\u{a0}1,234.56", "-1.234,56 CHF"]);
        assert_eq!(both(1500, "jpy"), ["¥1,500", "1.500 JPY"]);
        assert_eq!(both(1500, "krw"), ["KRW\u{a0}1,500", "1.500 KRW"]);
        assert_eq!(both(1500, "kwd"), ["KWD\u{a0}1.500", "1,500 KWD"]);
        assert_eq!(Language::ALL.map(|language| figure(language, 99_900, "eur")), ["999.00", "999,00"]);
        assert_eq!(Language::ALL.map(|language| percent(language, 725)), ["7.25%", "7,25\u{a0}%"]);
        assert_eq!(Language::ALL.map(|language| percent(language, 1900)), ["19%", "19\u{a0}%"]);
    }

    #[test]
    fn numbers_in_fields_can_be_read_in_one_way_only() {
        let both = |number: &str| Language::ALL.map(|language| field_decimal(language, number));
        assert_eq!(both("20.5"), ["20.5", "20,5"]);
        assert_eq!(both("12.345"), ["12.345", "12,3450"]);
        assert_eq!(both("-0.125"), ["-0.125", "-0,1250"]);
        assert_eq!(both("1000"), ["1000", "1000"]);
    }

    #[test]
    fn sizes_are_written_as_in_each_language() {
        let both = |x, y, z| Language::ALL.map(|language| size(language, Dimensions { x, y, z }));
        assert_eq!(both(20.5, 12.0, 8.125), ["20.5 × 12 × 8.125 mm", "20,5 × 12 × 8,125 mm"]);
        assert_eq!(both(1200.0, 0.4, 3.0), ["1200 × 0.4 × 3 mm", "1200 × 0,4 × 3 mm"]);
    }

    #[test]
    fn numbers_and_lists_are_written_as_in_each_language() {
        assert_eq!(Language::ALL.map(|language| decimal(language, 20.5)), ["20.5", "20,5"]);
        let both = |entries: &[&str]| Language::ALL.map(|language| list(language, entries));
        assert_eq!(both(&["a", "b", "c"]), ["a, b and c", "a, b und c"]);
        assert_eq!(both(&["a", "b"]), ["a and b", "a und b"]);
        assert_eq!((both(&["a"]), both(&[])), (["a"; 2].map(str::to_owned), [const { String::new() }; 2]));
    }

    #[test]
    fn times_are_described_from_the_current_day_of_the_shop() {
        // A Saturday, 00:30 in Berlin and still the day before in UTC.
        let (berlin, now) = (ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(), at("2026-11-27T23:30:00Z"));
        for (time, of_moment, of_day) in [
            ("2026-11-27T23:00:00Z", "heute 00:00", "heute"),
            ("2026-11-27T22:59:00Z", "gestern 23:59", "gestern"),
            ("2026-11-28T23:00:00Z", "morgen 00:00", "morgen"),
            ("2026-12-01T08:00:00Z", "Di. 09:00", "Di., 1. Dez."),
            ("2026-12-05T08:00:00Z", "5. Dez. 09:00", "Sa., 5. Dez."),
            ("2025-11-03T16:40:00Z", "3. Nov. 2025 17:40", "3. Nov. 2025"),
        ] {
            assert_eq!(moment(Language::German, &berlin, at(time), now), of_moment);
            assert_eq!(relative_day(Language::German, &berlin, at(time), now), of_day);
            assert_eq!(moment(Language::English, &berlin, at(time), now), berlin.describe(at(time), now));
            assert_eq!(relative_day(Language::English, &berlin, at(time), now), berlin.describe_day(at(time), now));
        }
        let exactly = Language::ALL.map(|language| exact(language, &berlin, at("2026-11-28T16:40:05Z")));
        assert_eq!(exactly, ["Saturday 28 November 2026, 17:40:05 CET", "Samstag, 28. November 2026, 17:40:05 CET"]);
    }

    #[test]
    fn dates_are_written_as_in_each_language() {
        let berlin = ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let late = at("2026-02-28T23:40:05Z");
        assert_eq!(Language::ALL.map(|language| date(language, &berlin, late)), ["1 Mar 2026", "1. März 2026"]);
        assert_eq!(
            Language::ALL.map(|language| date_and_time(language, &berlin, late)),
            ["1 Mar 2026 00:40", "1. März 2026 um 00:40 Uhr"]
        );
        let new_year = at("2026-12-31T23:40:05Z");
        assert_eq!(
            Language::ALL.map(|language| document_date(language, new_year)),
            ["31 Dec 2026", "31. Dezember 2026"]
        );
        assert_eq!(Language::ALL.map(|language| document_day(language, new_year)), ["2026-12-31", "31.12.2026"]);
        for (text, written) in [
            ("2026-01-09", ["9 Jan 2026", "9. Januar 2026"]),
            ("Tuesday", ["Tuesday", "Tuesday"]),
            ("2026-02-30", ["2026-02-30", "2026-02-30"]),
        ] {
            assert_eq!(Language::ALL.map(|language| typed_date(language, text)), written);
        }
    }

    #[test]
    fn sizes_and_times_of_today_are_short() {
        let sizes = Language::ALL.map(|language| size(language, Dimensions { x: 20.5, y: 12.0, z: 8.0 }));
        assert_eq!(sizes, ["20.5 × 12 × 8 mm", "20,5 × 12 × 8 mm"]);
        let (berlin, now) = (ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(), at("2026-11-27T23:30:00Z"));
        let short = |time: &str| Language::ALL.map(|language| near(language, &berlin, at(time), now));
        assert_eq!(short("2026-11-28T16:40:00Z"), ["17:40", "17:40"]);
        assert_eq!(short("2026-11-28T23:00:00Z"), ["tomorrow 00:00", "morgen 00:00"]);
        assert_eq!(short("2026-12-04T08:00:00Z"), ["Fri 09:00", "Fr. 09:00"], "within six days by the weekday");
    }

    #[test]
    fn prices_keep_their_form_in_responses() {
        for (cents, currency, expected) in [
            (12_345, "usd", "$123.45"),
            (123_456, "EUR", "€1,234.56"),
            (5, "gbp", "£0.05"),
            (12_345, "chf", "123.45 CHF"),
            (1500, "jpy", "1,500 JPY"),
        ] {
            assert_eq!(response_price(cents, currency), expected);
        }
    }
}
