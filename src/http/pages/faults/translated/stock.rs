//! Translations of the API's messages about materials, spools and slots.

use super::TranslatedText;
use domain::amount::AmountError;
use words::staff::{spools, stock as texts};

/// Returns the message of a validation error; `None` for messages about anything else.
pub(super) fn fault(message: &str) -> Option<TranslatedText> {
    Some(match message {
        "must be a colour such as #1a2b3c" => texts::fault_color,
        "must not be zero" => texts::fault_zero,
        "choose a printer and a slot" => spools::fault_place,
        "enter the scale reading or the remaining amount" => spools::fault_no_weight,
        "must be at least the weight of the empty spool" => spools::fault_below_empty_weight,
        message if message == AmountError::TooFine.to_string() => texts::fault_decimals,
        message if message == AmountError::TooLarge.to_string() => texts::fault_too_large,
        message if message.starts_with("must not raise the stock above ") => texts::fault_too_large,
        _ => return None,
    })
}

/// Returns the message of an error with this code; `None` for errors about anything else.
pub(super) fn refusal(code: &str) -> Option<TranslatedText> {
    Some(match code {
        "stale_version" => texts::changed_since,
        "insufficient_stock" => texts::insufficient_stock,
        "material_in_use" => texts::material_in_use,
        "nothing_to_decide" => texts::nothing_to_decide,
        "theirs_changed" => texts::theirs_changed,
        "spool_changed" => spools::spool_changed,
        "spool_not_loaded" => spools::spool_not_loaded,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::amount::{Amount, MAX_AMOUNT};
    use domain::spool::left_by_scale;
    use words::Language;

    #[test]
    fn messages_of_rules_are_translated() {
        let scale = left_by_scale(Amount::ZERO, Amount::units(1)).err();
        let of_scale = scale.and_then(|refusal| refusal.faults.into_iter().next()).map(|fault| fault.message);
        for message in [
            of_scale.unwrap_or_default(),
            AmountError::TooFine.to_string(),
            AmountError::TooLarge.to_string(),
            format!("must not raise the stock above {MAX_AMOUNT}"),
        ] {
            assert!(fault(&message).is_some_and(|text| !text(Language::German).is_empty()), "{message:?}");
        }
        assert!(fault("must be odd").is_none() && refusal("last_admin").is_none());
    }
}
