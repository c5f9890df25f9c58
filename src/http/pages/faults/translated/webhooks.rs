//! Translations of the API's messages about webhook endpoints and their deliveries.

use super::TranslatedText;
use domain::target::TargetError;
use words::staff::webhooks as texts;

/// Returns the message for a validation error; `None` for messages about anything else.
pub(super) fn fault(message: &str) -> Option<TranslatedText> {
    let whole: [(TargetError, TranslatedText); 3] = [
        (TargetError::TooLong, texts::fault_url_length),
        (TargetError::NotAUrl, texts::fault_url),
        (TargetError::Credentials, texts::fault_url_credentials),
    ];
    let beginnings: [(&str, TranslatedText); 3] = [
        ("the scheme must be http or https", texts::fault_url_scheme),
        ("the address is not allowed", texts::fault_url_address),
        ("the secret must be at most ", texts::fault_secret_length),
    ];
    let whole = whole.into_iter().find(|(error, _)| error.to_string() == message).map(|(_, text)| text);
    whole.or_else(|| beginnings.into_iter().find(|(start, _)| message.starts_with(*start)).map(|(_, text)| text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::signing::check_secret;
    use domain::target;
    use words::Language;

    #[test]
    fn messages_of_rules_are_translated() {
        let long = "x".repeat(10_000);
        let urls = [&*long, "nowhere", "ftp://example.org", "https://ann:secret@example.org", "http://127.0.0.1"];
        let of_urls = urls.map(|url| target::check(url, false).err().map(|error| error.to_string()));
        let of_secret = check_secret(&long).err().map(|error| error.to_string());
        for message in of_urls.into_iter().chain([of_secret]) {
            let message = message.unwrap_or_default();
            assert!(fault(&message).is_some_and(|text| !text(Language::German).is_empty()), "{message:?}");
        }
        assert!(fault("must be odd").is_none());
    }
}
