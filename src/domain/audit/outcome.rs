//! Human-readable outcomes of acts in the audit log, which stores them as error codes of the API.

use super::DONE;
use crate::second_factor::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use words::Language;
use words::staff::audit as texts;

/// Outcome of the entries that sum up rejected requests.
const COUNTED: &str = "counted";

/// Returns the reason why an act was not carried out; `None` if it was, and for an entry that sums up rejected
/// requests. A code without its own message is described as a rejection; the entry has the details.
pub fn outcome_label(language: Language, outcome: &str) -> Option<String> {
    let text = match outcome {
        DONE | COUNTED => return None,
        "printer_timeout" | "camera_timeout" => texts::outcome_no_response,
        "printer_refused" | "camera_refused" => texts::outcome_refused_by_printer,
        "printer_in_use" | "printer_busy" | "printing" => texts::outcome_printer_busy,
        "unsupported_by_printer" => texts::outcome_unsupported,
        "printer_disconnected" => texts::outcome_disconnected,
        "invalid_transition" | "conflict" => texts::outcome_not_possible,
        "stale_version" | "form_outdated" | "spool_changed" | "theirs_changed" => texts::outcome_stale,
        "validation_failed" => texts::outcome_invalid,
        "unauthorized" | "session_required" => texts::outcome_not_signed_in,
        "wrong_credentials" | "wrong_password" | "invalid_signature" | WRONG_CODE => texts::outcome_wrong_credentials,
        SECOND_FACTOR_REQUIRED => texts::outcome_second_factor,
        "forbidden" | "insufficient_role" | "user_not_allowed" => texts::outcome_forbidden,
        "cross_site" => texts::outcome_cross_site,
        "rate_limited" | TOO_MANY_CODES => texts::outcome_too_many,
        "unknown_outcome" => texts::outcome_unknown,
        "disk_full" | "internal" | "overloaded" | "parked" | "read_only" | "shutting_down" | "timeout"
        | "unavailable" => texts::outcome_unavailable,
        code if code == "not_found" || code.ends_with("_not_found") => texts::outcome_not_found,
        _ => texts::outcome_rejected,
    };
    Some(text(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of the errors that end acts at printers and acts of agents, and of those that the log samples.
    const CODES: [&str; 32] = [
        "printer_timeout",
        "camera_timeout",
        "printer_refused",
        "camera_refused",
        "printer_in_use",
        "printer_busy",
        "printing",
        "unsupported_by_printer",
        "printer_disconnected",
        "printer_file_not_found",
        "invalid_transition",
        "conflict",
        "stale_version",
        "form_outdated",
        "validation_failed",
        "unauthorized",
        "session_required",
        "wrong_credentials",
        "wrong_password",
        "forbidden",
        "insufficient_role",
        "user_not_allowed",
        "cross_site",
        "rate_limited",
        "unknown_outcome",
        "overloaded",
        "parked",
        "unavailable",
        "disk_full",
        "read_only",
        "timeout",
        "shutting_down",
    ];

    #[test]
    fn each_outcome_has_words_in_each_language() {
        for language in Language::ALL {
            let rejected = outcome_label(language, "last_admin");
            for code in CODES {
                let label = outcome_label(language, code).unwrap_or_default();
                assert!(
                    !label.is_empty() && !label.contains('_') && Some(&label) != rejected.as_ref(),
                    "{code}: {label}"
                );
                // The field's own term for it has the same words.
                let is_term = language == Language::English && code == "printer_in_use";
                assert!(!code.contains('_') || is_term || label != code.replace('_', " "), "{code}: {label}");
            }
            assert_eq!((outcome_label(language, DONE), outcome_label(language, COUNTED)), (None, None));
        }
        let of = |code| Language::ALL.map(|language| outcome_label(language, code).unwrap_or_default());
        assert_eq!(of("printer_timeout"), ["no response from the printer", "keine Antwort vom Drucker"]);
        assert_eq!(of("order_not_found"), ["not found", "nicht gefunden"]);
        assert_eq!(of("last_admin"), ["rejected", "abgelehnt"]);
    }
}
