//! Translations of the API's messages, which are in English.

use domain::access::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use words::staff::refusals;
use words::{Language, pages};

/// Returns the message of a validation error in another language than English; `None` for English, and for messages
/// that no form on a translated page causes.
pub(crate) fn fault_text(language: Language, message: &str) -> Option<String> {
    if language == Language::English {
        return None;
    }
    let characters =
        |start: &str| -> Option<u64> { message.strip_prefix(start)?.strip_suffix(" characters")?.parse().ok() };
    if let Some(most) = characters("must be at most ") {
        return Some(pages::fault_too_long(language, most));
    }
    if let Some(least) = characters("must be at least ") {
        return Some(refusals::fault_too_short(language, least));
    }
    let text = match message {
        "must not be empty" | "is required" => pages::fault_empty,
        "must be an email address" => pages::fault_email,
        "must be a two-letter country code" => pages::fault_country,
        "must not be only whitespace" => refusals::fault_blank,
        "must not be one of the most common passwords" => refusals::fault_common_password,
        "must not be the account's own email address" => refusals::fault_own_address,
        _ => return None,
    };
    Some(text(language))
}

/// Returns the message of an error with this code in another language than English; `None` for English, and for errors
/// that no form on a translated page causes.
pub(crate) fn refusal_text(language: Language, code: &str) -> Option<String> {
    if language == Language::English {
        return None;
    }
    let text = match code {
        "wrong_credentials" => refusals::wrong_credentials,
        "wrong_password" => refusals::wrong_password,
        SECOND_FACTOR_REQUIRED => refusals::second_factor_required,
        WRONG_CODE => refusals::wrong_code,
        TOO_MANY_CODES => refusals::too_many_codes,
        "rate_limited" => refusals::too_many_tries,
        "form_outdated" => refusals::form_outdated,
        _ => return None,
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
    fn errors_are_translated_by_their_codes() {
        let german = refusal_text(Language::German, WRONG_CODE).unwrap_or_default();
        assert!(german.starts_with("Der Code ist falsch"), "{german}");
        assert_eq!(refusal_text(Language::English, WRONG_CODE), None);
        assert_eq!(refusal_text(Language::German, "last_admin"), None);
    }
}
