//! Translations of the API's messages about the shop's settings: keys, users, backups and restores.

use words::Language;
use words::staff::settings as texts;

/// Returns the message of a validation error; `None` for other messages.
pub(super) fn fault_text(language: Language, message: &str) -> Option<String> {
    if message == "must be in the future" {
        return Some(texts::fault_future(language));
    }
    let (least, reason) = message.strip_prefix("must be at least ")?.split_once(", because ")?;
    if reason == "lower numbers may have been issued since the restore" {
        return Some(texts::fault_issued(language, least));
    }
    let last = reason.strip_prefix("the backup has documents up to ")?;
    Some(texts::fault_in_backup(language, least, last))
}

/// Returns the message of an error with this code; `None` for other errors.
pub(super) fn refusal_text(language: Language, code: &str) -> Option<String> {
    let text = match code {
        "email_taken" => texts::email_taken,
        "last_admin" => texts::last_admin,
        "already_reviewed" => texts::already_reviewed,
        "backup_under_way" => texts::backup_under_way,
        "backup_failed" => texts::backup_failed,
        "settings_fixed" => texts::settings_fixed,
        "invalid_settings" => texts::invalid_settings,
        _ => return None,
    };
    Some(text(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_settings_are_translated() {
        let both = |message: &str| Language::ALL.map(|language| fault_text(language, message).unwrap_or_default());
        for message in [
            "must be in the future",
            "must be at least 106, because lower numbers may have been issued since the restore",
            "must be at least 6, because the backup has documents up to 5",
        ] {
            let [english, german] = both(message);
            assert_eq!(english, message);
            assert!(german.starts_with("muss "), "{german}");
        }
        for message in ["must be at least 6", "must be at least 6, because of the moon", "is odd"] {
            assert_eq!(fault_text(Language::German, message), None, "{message}");
        }
        let text = refusal_text(Language::German, "backup_under_way");
        assert_eq!(text.as_deref(), Some("Eine Sicherung läuft bereits."));
        assert_eq!(refusal_text(Language::German, "full_moon"), None);
    }
}
