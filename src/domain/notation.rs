//! Amounts and dates in texts for customers, as each language writes them. English is written as everywhere else in the
//! shop ([`crate::currency`], [`crate::shop_clock`]).

use jiff::civil::Date;

use crate::currency;
use crate::shop_clock::{ShopClock, date_of};
use crate::tax::percent_text;
use crate::time::Timestamp;
use words::Language;

/// Months as German dates name them.
const GERMAN_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// Formats minor units with the currency: `1,234.50 EUR` or `1.234,50 €`.
pub fn amount(language: Language, cents: i64, currency: &str) -> String {
    match language {
        Language::English => currency::format_amount(cents, currency),
        Language::German if currency.eq_ignore_ascii_case("eur") => format!("{} €", figure(language, cents, currency)),
        Language::German => format!("{} {}", figure(language, cents, currency), currency.to_uppercase()),
    }
}

/// Formats minor units without the currency: `1,234.50` or `1.234,50`.
pub fn figure(language: Language, cents: i64, currency: &str) -> String {
    match language {
        Language::English => currency::figure(cents, currency),
        Language::German => currency::split(cents, currency, ".", ','),
    }
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

/// Returns the date of an invoice or credit note, which is a day in UTC ([`crate::shop_clock::document_date`]).
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

/// Formats basis points as a percentage: `7.25 %` or `7,25 %`.
pub fn percent(language: Language, bps: i64) -> String {
    let figure = percent_text(bps);
    match language {
        Language::English => format!("{figure} %"),
        Language::German => format!("{} %", figure.replace('.', ",")),
    }
}

/// Returns a date that staff typed, such as an expected delivery. German writes a date such as `2026-11-28` out; any
/// other text stays as it is.
pub fn typed_date(language: Language, text: &str) -> String {
    match (language, date_of(text)) {
        (Language::German, Some(date)) => german_date(date),
        _ => text.to_owned(),
    }
}

fn german_date(date: Date) -> String {
    let month = usize::try_from(date.month() - 1).ok().and_then(|month| GERMAN_MONTHS.get(month));
    format!("{}. {} {}", date.day(), month.copied().unwrap_or_default(), date.year())
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
        assert_eq!(both(123_456_789, "eur"), ["1,234,567.89 EUR", "1.234.567,89 €"]);
        assert_eq!(both(-5, "USD"), ["-0.05 USD", "-0,05 USD"]);
        assert_eq!(both(1500, "jpy"), ["1,500 JPY", "1.500 JPY"]);
        assert_eq!(Language::ALL.map(|language| figure(language, 99_900, "eur")), ["999.00", "999,00"]);
        assert_eq!(Language::ALL.map(|language| percent(language, 725)), ["7.25 %", "7,25 %"]);
        assert_eq!(Language::ALL.map(|language| percent(language, 1900)), ["19 %", "19 %"]);
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
        for (text, german) in [("2026-01-09", "9. Januar 2026"), ("Tuesday", "Tuesday"), ("2026-02-30", "2026-02-30")] {
            assert_eq!(Language::ALL.map(|language| typed_date(language, text)), [text, german]);
        }
    }
}
