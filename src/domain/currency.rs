//! Currencies: number of decimals, symbol, and amounts formatted as decimal numbers. Amounts with their currency, as
//! people read them, are written in [`crate::notation`].

use std::fmt::Write as _;

use crate::bounds::MAX_CENTS;

/// Currencies without a minor unit.
const WITHOUT_DECIMALS: [&str; 16] =
    ["bif", "clp", "djf", "gnf", "isk", "jpy", "kmf", "krw", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf"];
/// Currencies whose minor unit is a thousandth.
const WITH_THREE_DECIMALS: [&str; 7] = ["bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd"];
/// Lowercase codes of the currencies written with a symbol in English.
const SYMBOLS: [(&str, &str); 4] = [("eur", "€"), ("gbp", "£"), ("jpy", "¥"), ("usd", "$")];

/// Returns the symbol of the given currency (ISO 4217); `None` if English uses its code.
pub(crate) fn symbol(currency: &str) -> Option<&'static str> {
    SYMBOLS.iter().find(|(code, _)| code.eq_ignore_ascii_case(currency)).map(|(_, symbol)| *symbol)
}

/// Returns the number of decimals of the given currency (ISO 4217), or two if the currency is unknown.
pub(crate) fn decimals(currency: &str) -> u32 {
    let is = |one: &&str| one.eq_ignore_ascii_case(currency);
    if WITHOUT_DECIMALS.iter().any(is) {
        0
    } else if WITH_THREE_DECIMALS.iter().any(is) {
        3
    } else {
        2
    }
}

/// Returns whether the given currency has decimals.
pub fn has_decimals(currency: &str) -> bool {
    decimals(currency) > 0
}

/// Parses a decimal number written by a program, such as `1234.5`, into minor units. Returns `None` if it is malformed,
/// above [`MAX_CENTS`], or with more decimals than the currency has, unless the extra decimals are zeros.
pub fn parse(text: &str, currency: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let decimals = decimals(currency) as usize;
    let is_number = |part: &str| part.len() <= 15 && part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(rest) {
        return None;
    }
    let (fraction, beyond) = rest.split_at(rest.len().min(decimals));
    if beyond.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let cents: i64 = format!("{whole}{fraction:0<decimals$}").parse().ok()?;
    let cents = Some(cents).filter(|cents| *cents <= MAX_CENTS)?;
    Some(if negative { -cents } else { cents })
}

/// Formats minor units as a plain decimal number for programs: `1234.50`.
pub fn plain(cents: i64, currency: &str) -> String {
    split(cents, currency, "", '.')
}

/// Formats minor units for display, without the currency: `1,234.50`.
pub fn figure(cents: i64, currency: &str) -> String {
    split(cents, currency, ",", '.')
}

/// Formats minor units with the given separators between thousands and before the decimals.
pub(crate) fn split(cents: i64, currency: &str, group: &str, point: char) -> String {
    let decimals = decimals(currency);
    let unit = 10u64.pow(decimals);
    let (whole, rest) = (cents.unsigned_abs() / unit, cents.unsigned_abs() % unit);
    let digits = whole.to_string();
    let mut text = String::from(if cents < 0 { "-" } else { "" });
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push_str(group);
        }
        text.push(digit);
    }
    if decimals > 0 {
        text.push(point);
        let _ = write!(text, "{rest:0width$}", width = decimals as usize);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        assert_eq!(figure(123_456_789, "usd"), "1,234,567.89");
        assert_eq!(plain(-5, "EUR"), "-0.05");
        assert_eq!(figure(1500, "jpy"), "1,500");
        assert_eq!(plain(1500, "kwd"), "1.500");
        assert_eq!(figure(99_900, "eur"), "999.00");
        assert_eq!(
            ["USD", "eur", "Gbp", "jpy", "chf", ""].map(symbol),
            [Some("$"), Some("€"), Some("£"), Some("¥"), None, None]
        );
        assert_eq!(plain(i64::MIN, "usd"), "-92233720368547758.08");
    }

    #[test]
    fn what_is_written_is_read() {
        for (text, currency, cents) in [
            ("12.50", "usd", 1250),
            ("12.5", "usd", 1250),
            ("7", "usd", 700),
            ("-0.05", "eur", -5),
            ("3.0000", "usd", 300),
        ] {
            assert_eq!(parse(text, currency), Some(cents), "{text}");
        }
        assert_eq!((parse("1500", "jpy"), parse("1.5", "kwd")), (Some(1500), Some(1500)));
        for wrong in ["", ".5", "1,50", "1.005", "x", "1e3", "--1", "99999999999999999999", "100000000.01"] {
            assert_eq!(parse(wrong, "usd"), None, "{wrong}");
        }
    }

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!([plain(0, "usd"), figure(0, "jpy"), figure(0, "kwd")], ["0.00", "0", "0.000"]);
        assert_eq!(["usd", "JPY", "kwd", "xyz"].map(has_decimals), [true, false, true, true]);
        assert_eq!((parse("100000000", "usd"), parse("-100000000", "usd")), (Some(MAX_CENTS), Some(-MAX_CENTS)));
    }
}
