//! Translations of the API's messages, which are in English. They are found by their text ([`refusals_of_api`]). The
//! lists here contain only messages that cannot be matched by a text with variables: those written by types, those with
//! bounds, and errors identified by their code.

#[cfg(test)]
mod coverage;
mod printer_forms;
mod stock;
mod webhooks;

use domain::second_factor::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use domain::typed_amount::TypedAmountError;
use words::staff::{printer_form, refusals, refusals_of_api, settings};
use words::{Language, pages};

/// Code of the error for a form that acts once and was sent again with other values. Users do not know the key that the
/// API's message mentions.
const KEY_REUSED: &str = "idempotency_key_reused";

/// Function that writes a translation without variables.
type TranslatedText = fn(Language) -> String;

/// Returns the message of a validation error in a language other than English; `None` for English, and for messages
/// that no form on a page causes.
pub(crate) fn fault_text(language: Language, message: &str) -> Option<String> {
    if language.is_english() {
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
    let text = match message {
        "must not be empty" | "is required" => pages::fault_empty,
        "must be an email address" => pages::fault_email,
        "must be a two-letter country code" => pages::fault_country,
        message => amount_text(message)
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

/// Returns the message of an error in a language other than English, by its text or else by its code; `None` for
/// English, unless the API's message is not for people, and for errors that no form on a page causes.
pub(crate) fn error_text(language: Language, code: &str, message: &str) -> Option<String> {
    if code == KEY_REUSED {
        return Some(refusals::form_sent_before(language));
    }
    if language.is_english() {
        return None;
    }
    let gone = || code.ends_with("_not_found").then(|| refusals::record_gone(language));
    refusals_of_api::refusal(language, message).or_else(|| refusal_text(language, code)).or_else(gone)
}

/// Returns the message of an error with this code, whose text contains no more than the code or is written by a type;
/// `None` for other errors.
fn refusal_text(language: Language, code: &str) -> Option<String> {
    let text = match code {
        "wrong_credentials" => refusals::wrong_credentials,
        SECOND_FACTOR_REQUIRED => refusals::second_factor_required,
        WRONG_CODE => refusals::wrong_code,
        TOO_MANY_CODES => refusals::too_many_codes,
        "rate_limited" => refusals::too_many_tries,
        "form_outdated" => refusals::form_outdated,
        "printer_disconnected" => printer_form::printer_disconnected,
        "backup_under_way" => settings::backup_under_way,
        "backup_failed" => settings::backup_failed,
        "invalid_settings" => settings::invalid_settings,
        _ => return None,
    };
    Some(text(language))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::amount::MAX_AMOUNT;
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
        let short = german("parts_not_there", "line 2 has too few unshipped good parts (1)");
        assert_eq!(short, "Gute Teile von Position 2, die noch nicht versendet sind: nur 1.");
        assert_eq!(german("sku_not_found", "no such SKU"), "Das gibt es nicht oder nicht mehr.");
        assert_eq!((german("odd", "the moon is full"), german("rate_limited", "x").is_empty()), (String::new(), false));
        assert_eq!(error_text(Language::English, "sku_not_found", "no such SKU"), None);
        for (language, text) in [(Language::English, "already submitted"), (Language::German, "bereits")] {
            assert!(error_text(language, KEY_REUSED, "the key was used").is_some_and(|line| line.contains(text)));
        }
        for (message, text) in [
            ("is listed twice", "ist doppelt angegeben"),
            ("must be in the future", "muss in der Zukunft liegen"),
            ("must be at most 500, the amount due", "darf den offenen Betrag nicht übersteigen"),
            (
                "must be from 1 to 500, the amount not yet refunded",
                "darf den noch nicht erstatteten Betrag nicht übersteigen",
            ),
            ("must be within the last 30 days", "muss innerhalb der letzten 30 Tage liegen"),
        ] {
            assert_eq!(fault_text(Language::German, message).as_deref(), Some(text), "{message}");
        }
        for reason in ["lower numbers may have been issued since the restore", "the backup has documents up to 5"] {
            let message = format!("must be at least 6, because {reason}");
            let text = fault_text(Language::German, &message).unwrap_or_default();
            assert!(text.starts_with("muss mindestens 6 sein, weil "), "{text}");
        }
        assert_eq!(fault_text(Language::German, "must be at least 6, because of the moon"), None);
        let above = fault_text(Language::German, &format!("must not raise the stock above {MAX_AMOUNT}"));
        assert!(above.is_some_and(|text| text.contains("darf den Bestand nicht über ")));
    }

    #[test]
    fn a_text_says_more_than_the_code() {
        let german = |code, message: &str| error_text(Language::German, code, message).unwrap_or_default();
        for (code, message, text) in [
            (
                "invalid_transition",
                "the quote cannot be sent while its status is accepted",
                "Das Angebot kann in seinem aktuellen Status nicht gesendet werden.",
            ),
            ("insufficient_stock", "only 5 g of PLA black on hand", "Von PLA black sind nur 5 g vorrätig."),
            ("wrong_credentials", "the current password is incorrect", "Das aktuelle Passwort ist falsch."),
        ] {
            assert_eq!(german(code, message), text);
        }
    }

    #[test]
    fn errors_are_translated_by_their_codes() {
        let german = error_text(Language::German, WRONG_CODE, "the code is odd").unwrap_or_default();
        assert!(german.starts_with("Der Code ist falsch"), "{german}");
        assert_eq!(error_text(Language::English, WRONG_CODE, "the code is odd"), None);
        let backup = error_text(Language::German, "backup_under_way", "odd");
        assert_eq!(backup.as_deref(), Some("Eine Sicherung läuft bereits."));
        assert_eq!(error_text(Language::German, "full_moon", "odd"), None);
    }
}
