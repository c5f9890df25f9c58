//! Translations of the API's messages about amounts of material.

use super::TranslatedText;
use domain::amount::AmountError;
use words::staff::stock as texts;

/// Returns the message for a validation error; `None` for messages about anything else.
pub(super) fn fault(message: &str) -> Option<TranslatedText> {
    let all: [(AmountError, TranslatedText); 2] =
        [(AmountError::TooFine, texts::fault_decimals), (AmountError::TooLarge, texts::fault_too_large)];
    all.into_iter().find(|(error, _)| error.to_string() == message).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::Language;

    #[test]
    fn messages_about_amounts_are_translated() {
        for message in [AmountError::TooFine.to_string(), AmountError::TooLarge.to_string()] {
            assert!(fault(&message).is_some_and(|text| !text(Language::German).is_empty()), "{message:?}");
        }
        assert!(fault("must be odd").is_none());
    }
}
