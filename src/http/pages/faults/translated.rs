//! Translations of the API's messages, which are in English. Those of one area are in a file of their own; those that
//! are in no list here are found by their text ([`refusals_of_api`]).

mod billing;
#[cfg(test)]
mod coverage;
mod printer_forms;
mod stock;
mod webhooks;

use super::{NOT_WHOLE, of_settings};
use domain::access::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use domain::typed_amount::TypedAmountError;
use words::staff::{orders, products, refusals, refusals_of_api};
use words::{Language, pages};

/// Function that writes a translation without variables.
type TranslatedText = fn(Language) -> String;

/// Returns the message of a validation error in another language than English; `None` for English, and for messages
/// that no form on a page causes.
pub(crate) fn fault_text(language: Language, message: &str) -> Option<String> {
    if language == Language::English {
        return None;
    }
    listed_fault(language, message).or_else(|| refusals_of_api::fault(language, message))
}

/// Returns the message of a validation error that is in the lists of this module.
fn listed_fault(language: Language, message: &str) -> Option<String> {
    let characters =
        |start: &str| -> Option<u64> { message.strip_prefix(start)?.strip_suffix(" characters")?.parse().ok() };
    if let Some(most) = characters("must be at most ") {
        return Some(pages::fault_too_long(language, most));
    }
    if let Some(least) = characters("must be at least ") {
        return Some(refusals::fault_too_short(language, least));
    }
    if let Some(text) = bound_text(language, message) {
        return Some(text);
    }
    if let Some(text) = of_settings::fault_text(language, message) {
        return Some(text);
    }
    let text = match message {
        "must not be empty" | "is required" => pages::fault_empty,
        NOT_WHOLE => refusals::fault_whole,
        "must be a number" => refusals::fault_number,
        "must be above 0" => refusals::fault_not_positive,
        "must not be negative" => refusals::fault_negative,
        "must be a date, YYYY-MM-DD"
        | "must be an RFC 3339 date and time from 1970 to 2999"
        | "must be an RFC 3339 date and time, or a date YYYY-MM-DD, from 1970 to 2999" => refusals::fault_date,
        "must not contain control characters"
        | "must be one line, without line breaks, tabs or other control characters" => refusals::fault_one_line,
        "must be an email address" => pages::fault_email,
        "must be a two-letter country code" => pages::fault_country,
        "must not be only whitespace" => refusals::fault_blank,
        "must not be one of the most common passwords" => refusals::fault_common_password,
        "must not be the account's own email address" => refusals::fault_own_address,
        "no product has this name or code" => orders::fault_unknown_product,
        "several products have this name; enter the code" => orders::fault_several_products,
        "at least one line is required" => orders::fault_no_line,
        "choose a printer" => products::fault_no_printer,
        "choose at least one printer, spool or bin" => refusals::fault_no_label,
        "choose the material of the spools" => refusals::fault_no_material,
        message => amount_text(message)
            .or_else(|| billing::fault(message))
            .or_else(|| printer_forms::fault(message))
            .or_else(|| stock::fault(message))
            .or_else(|| webhooks::fault(message))?,
    };
    Some(text(language))
}

/// Returns the message for a number outside of its bounds; `None` for other messages.
fn bound_text(language: Language, message: &str) -> Option<String> {
    let number = |text: &str| text.parse::<i64>().is_ok();
    if let Some(bound) = message.strip_prefix("must be at least ").filter(|text| number(text)) {
        return Some(refusals::fault_too_small(language, bound));
    }
    if let Some(bound) = message.strip_prefix("must be at most ").filter(|text| number(text)) {
        return Some(refusals::fault_too_large(language, bound));
    }
    let whole = message.strip_prefix("must be a whole number from ");
    let (least, most) = whole.or_else(|| message.strip_prefix("must be from "))?.split_once(" to ")?;
    (number(least) && number(most)).then(|| refusals::fault_range(language, least, most))
}

/// Returns the message for an amount of money as typed that is none; `None` for other messages.
fn amount_text(message: &str) -> Option<fn(Language) -> String> {
    let all: [(TypedAmountError, TranslatedText); 3] = [
        (TypedAmountError::Malformed, refusals::fault_amount),
        (TypedAmountError::Ambiguous, refusals::fault_amount_ambiguous),
        (TypedAmountError::TooPrecise, refusals::fault_amount_precise),
    ];
    all.into_iter().find(|(error, _)| error.to_string() == message).map(|(_, text)| text)
}

/// Returns the message of an error in another language than English, by its code or else by its text; `None` for
/// English, and for errors that no form on a page causes.
pub(crate) fn error_text(language: Language, code: &str, message: &str) -> Option<String> {
    if language == Language::English {
        return None;
    }
    let by_text = || refusals_of_api::refusal(language, message);
    let gone = || code.ends_with("_not_found").then(|| refusals::record_gone(language));
    refusal_text(language, code).or_else(by_text).or_else(gone)
}

/// Returns the message of an error with this code in another language than English; `None` for English, and for errors
/// that no form on a translated page causes.
pub(crate) fn refusal_text(language: Language, code: &str) -> Option<String> {
    if language == Language::English {
        return None;
    }
    if let Some(text) = of_settings::refusal_text(language, code) {
        return Some(text);
    }
    let text = match code {
        "wrong_credentials" => refusals::wrong_credentials,
        "wrong_password" => refusals::wrong_password,
        SECOND_FACTOR_REQUIRED => refusals::second_factor_required,
        WRONG_CODE => refusals::wrong_code,
        TOO_MANY_CODES => refusals::too_many_codes,
        "rate_limited" => refusals::too_many_tries,
        "form_outdated" => refusals::form_outdated,
        "nothing_good" => orders::refusal_nothing_good,
        "order_short" => orders::refusal_order_short,
        "code_taken" => products::refusal_code_taken,
        "slug_taken" => products::refusal_slug_taken,
        "spools_counted_elsewhere" => refusals::spools_counted_elsewhere,
        code => billing::refusal(code)
            .or_else(|| printer_forms::refusal(code))
            .or_else(|| stock::refusal(code))
            .or_else(|| webhooks::refusal(code))?,
    };
    Some(text(language))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::password::{own_password_fault, password_fault};

    #[test]
    fn messages_about_passwords_are_translated() {
        for password in ["short", "            ", "password123"] {
            let message = password_fault(password).unwrap_or_default();
            assert_ne!(message, "", "{password:?}");
            assert_ne!(fault_text(Language::German, &message), None, "{message}");
            assert_eq!(fault_text(Language::English, &message), None);
        }
        let own = own_password_fault("ann@example.org", "ann@example.org").unwrap_or_default();
        assert_ne!(fault_text(Language::German, &own), None, "{own}");
        let short = fault_text(Language::German, "must be at least 10 characters");
        assert_eq!(short.as_deref(), Some("muss mindestens 10 Zeichen lang sein"));
    }

    #[test]
    fn messages_about_numbers_are_translated() {
        let german = |message: &str| fault_text(Language::German, message).unwrap_or_default();
        for (message, text) in [
            ("must be a whole number", "muss eine ganze Zahl sein"),
            ("must be at least 1", "muss mindestens 1 sein"),
            ("must be at most 500", "darf höchstens 500 sein"),
            ("must be from 0 to 9", "muss zwischen 0 und 9 liegen"),
            ("must be a whole number from 0 to 255", "muss zwischen 0 und 255 liegen"),
            ("must be at least soon", ""),
        ] {
            assert_eq!(german(message), text, "{message}");
            assert_eq!(fault_text(Language::English, message), None);
        }
        for error in [TypedAmountError::Malformed, TypedAmountError::Ambiguous, TypedAmountError::TooPrecise] {
            assert_ne!(german(&error.to_string()), "", "{error}");
        }
    }

    #[test]
    fn messages_that_are_in_no_list_are_found_by_their_text() {
        let german = |code, message| error_text(Language::German, code, message).unwrap_or_default();
        let short = german("parts_not_there", "line 2 has only 1 unshipped good parts");
        assert_eq!(short, "Position 2 hat nur 1 gute Teile, die noch nicht versendet sind.");
        assert_eq!(german("sku_not_found", "no such SKU"), "Das gibt es nicht oder nicht mehr.");
        assert_eq!((german("odd", "the moon is full"), german("rate_limited", "x").is_empty()), (String::new(), false));
        assert_eq!(error_text(Language::English, "sku_not_found", "no such SKU"), None);
        let fault = fault_text(Language::German, "is listed twice");
        assert_eq!(fault.as_deref(), Some("ist doppelt angegeben"));
    }

    #[test]
    fn errors_are_translated_by_their_codes() {
        let german = refusal_text(Language::German, WRONG_CODE).unwrap_or_default();
        assert!(german.starts_with("Der Code ist falsch"), "{german}");
        assert_eq!(refusal_text(Language::English, WRONG_CODE), None);
        assert_eq!(refusal_text(Language::German, "full_moon"), None);
    }
}
