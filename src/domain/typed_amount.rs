//! Amounts of money as people type them into forms: `2,50`, `2.50`, `1 234,50`, `1'234.50`, `€2.50`, and as they are
//! shown by [`crate::notation::amount`]. Amounts written by programs are parsed in [`crate::currency`].

use crate::currency::{self, decimals, symbol};

/// Number of digits between two thousands separators.
const GROUP_DIGITS: usize = 3;
/// Maximum length of a typed amount, in bytes.
const MAX_BYTES: usize = 60;

/// Reason why a text is not an amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TypedAmountError {
    /// The text is not a number, or the amount is too large.
    #[error("must be an amount such as 2.50, 2,50 or 1 234.50")]
    Malformed,
    /// A single point or comma before exactly three digits, which could be a thousands separator or a decimal
    /// separator.
    #[error(
        "is ambiguous: a point or comma before three digits may separate thousands or decimals; write 1234.00 or 1.23"
    )]
    Ambiguous,
    /// The amount has more decimals than the currency.
    #[error("has more decimals than the currency")]
    TooPrecise,
}

/// Parses an amount into minor units of the currency.
///
/// If the text has two different separators, the one that comes last is the decimal separator. The meaning of a single
/// separator before exactly three digits depends on the currency: it is a decimal separator if the currency has three
/// decimals, and a thousands separator if it has none. In any other currency, the text is ambiguous and is rejected.
pub fn parse(text: &str, of: &str) -> Result<i64, TypedAmountError> {
    if text.len() > MAX_BYTES {
        return Err(TypedAmountError::Malformed);
    }
    let (negative, number) = bare_number(text, of);
    let (whole, fraction) = split(&number, of)?;
    let is_number = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && fraction.trim_end_matches('0').len() > decimals(of) as usize {
        return Err(TypedAmountError::TooPrecise);
    }
    let plain = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
    let cents = currency::parse(&plain, of).filter(|_| !plain.starts_with('-')).ok_or(TypedAmountError::Malformed)?;
    Ok(if negative { -cents } else { cents })
}

/// Returns whether the amount is negative, and its text without sign, currency, spaces and apostrophes.
fn bare_number(text: &str, of: &str) -> (bool, String) {
    let is_spacing = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '’');
    let mut number: String = text.chars().filter(|letter| !is_spacing(*letter)).collect();
    let mut negative = take_minus(&mut number);
    let lower = number.to_ascii_lowercase();
    let code = of.to_ascii_lowercase();
    for mark in [Some(code.as_str()), symbol(of)].into_iter().flatten().filter(|mark| !mark.is_empty()) {
        let bare = lower.strip_prefix(mark).or_else(|| lower.strip_suffix(mark));
        if let Some(bare) = bare {
            bare.clone_into(&mut number);
            break;
        }
    }
    negative |= !negative && take_minus(&mut number);
    (negative, number)
}

/// Removes a leading minus sign. Returns whether there was one.
fn take_minus(number: &mut String) -> bool {
    match number.strip_prefix(['-', '−']).map(str::to_owned) {
        Some(rest) => {
            *number = rest;
            true
        }
        None => false,
    }
}

/// Returns the digits before and after the decimal separator.
fn split(number: &str, of: &str) -> Result<(String, String), TypedAmountError> {
    let Some(last) = number.rfind(['.', ',']) else { return Ok((number.to_owned(), String::new())) };
    let (whole, fraction) = number.split_at(last);
    let separator = fraction.chars().next().unwrap_or('.');
    let fraction = fraction.trim_start_matches(['.', ',']);
    let other = if separator == '.' { ',' } else { '.' };
    if fraction.is_empty() {
        return Err(TypedAmountError::Malformed);
    }
    if whole.contains(separator) {
        // It stands more than once, and therefore separates thousands.
        return if whole.contains(other) { Err(TypedAmountError::Malformed) } else { grouped(number, separator) };
    }
    if whole.contains(other) {
        let (whole, _) = grouped(whole, other)?;
        return Ok((whole, fraction.to_owned()));
    }
    let may_group = fraction.len() == GROUP_DIGITS && is_first_group(whole);
    match decimals(of) {
        0 if may_group => grouped(number, separator),
        2 if may_group => Err(TypedAmountError::Ambiguous),
        _ => Ok((whole.to_owned(), fraction.to_owned())),
    }
}

/// Returns whether the digits may precede a thousands separator.
fn is_first_group(digits: &str) -> bool {
    (1..=GROUP_DIGITS).contains(&digits.len()) && !digits.starts_with('0')
}

/// Returns the digits of a whole number with thousands separators.
fn grouped(number: &str, separator: char) -> Result<(String, String), TypedAmountError> {
    let mut groups = number.split(separator);
    let is_first_sound = groups.next().is_some_and(is_first_group);
    if !is_first_sound || groups.any(|group| group.len() != GROUP_DIGITS) {
        return Err(TypedAmountError::Malformed);
    }
    Ok((number.replace(separator, ""), String::new()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bounds::MAX_CENTS;
    use crate::currency::plain;
    use crate::notation::amount;
    use words::Language;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for text in ["1234.5", "1234,50", "1 234,50", "1.234,50", "1,234.50", "1'234.50", "1’234,5", "1\u{a0}234,50"]
        {
            assert_eq!(parse(text, "eur"), Ok(123_450), "{text}");
        }
        for text in ["2,50", "2.50", "€ 2.50", "2,50 €", "EUR 2.5", "2.5 eur", "2,5000"] {
            assert_eq!(parse(text, "EUR"), Ok(250), "{text}");
        }
        for text in ["-2.50", "−2,50", "-€2.50", "€ -2.50"] {
            assert_eq!(parse(text, "eur"), Ok(-250), "{text}");
        }
        assert_eq!((parse("¥1,500", "jpy"), parse("-CHF\u{a0}48.00", "chf")), (Ok(1_500), Ok(-4_800)));
        assert_eq!(
            (parse("7", "usd"), parse("0,125", "kwd"), parse("1.234.567", "usd")),
            (Ok(700), Ok(125), Ok(123_456_700))
        );
    }

    #[test]
    fn a_separator_before_three_digits_is_read_by_the_currency() {
        for text in ["1.234", "1,234", "12,000", "€ 1.234"] {
            assert_eq!(parse(text, "eur"), Err(TypedAmountError::Ambiguous), "{text}");
        }
        assert_eq!((parse("1.234", "jpy"), parse("1,234", "jpy")), (Ok(1_234), Ok(1_234)));
        assert_eq!((parse("1.234", "kwd"), parse("1,234", "kwd")), (Ok(1_234), Ok(1_234)));
        assert_eq!(parse("0.500", "eur"), Ok(50));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in [
            "",
            "much",
            "$2.50",
            "2.50 usd",
            ".5",
            "5.",
            "1,23,4",
            "1.2,3.4",
            "--1",
            "1e3",
            "€",
            "12,34.50",
            "100000000.01",
        ] {
            assert_eq!(parse(text, "eur"), Err(TypedAmountError::Malformed), "{text}");
        }
        for (text, of) in [("2.505", "x"), ("0.125", "usd"), ("2.5", "jpy"), ("2.5551", "eur")] {
            let answer = parse(text, of);
            let is_refused = matches!(answer, Err(TypedAmountError::TooPrecise | TypedAmountError::Ambiguous));
            assert!(is_refused, "{text}: {answer:?}");
        }
        let spaced = |bytes: usize| format!("{}7", " ".repeat(bytes - 1));
        assert_eq!(parse(&spaced(MAX_BYTES), "eur"), Ok(700));
        assert_eq!(parse(&spaced(MAX_BYTES + 1), "eur"), Err(TypedAmountError::Malformed));
        assert_eq!(parse(&"1".repeat(MAX_BYTES + 1), "eur"), Err(TypedAmountError::Malformed));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(
            cents in -MAX_CENTS..=MAX_CENTS,
            of in prop::sample::select(vec!["eur", "usd", "gbp", "jpy", "krw", "kwd", "chf", "CHF"]),
        ) {
            let written = Language::ALL.map(|language| amount(language, cents, of));
            for text in written.into_iter().chain([plain(cents, of)]) {
                prop_assert_eq!(parse(&text, of), Ok(cents), "{}", text);
            }
            // As written with the separators exchanged, and with spaces between thousands.
            let exchanged = amount(Language::English, cents, of).replace(',', " ").replace('.', ",");
            prop_assert_eq!(parse(&exchanged, of), Ok(cents), "{}", exchanged);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9.,€ ']{0,20}", of in prop::sample::select(vec!["eur", "jpy", "kwd"])) {
            if let Ok(cents) = parse(&text, of) {
                prop_assert!(cents.abs() <= MAX_CENTS);
                prop_assert_eq!(parse(&plain(cents, of), of), Ok(cents));
            }
        }
    }
}
