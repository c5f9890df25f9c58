//! Translations of the API's messages about printers.

use super::TranslatedText;
use words::staff::printer_form;

/// Beginnings of messages, each with the text that translates the message.
const FAULTS_BY_START: [(&str, TranslatedText); 5] = [
    ("must be an http, https or mqtts URL", printer_form::fault_url),
    ("must be an http or https URL, such as http://192.168.1.20/webcam/", printer_form::fault_camera_url),
    ("must be the address of a printer, not ", printer_form::fault_no_printer),
    ("must be the address of a camera, not ", printer_form::fault_no_camera),
    ("is required to connect to printers of type ", printer_form::fault_serial),
];

/// Returns the text of a validation error that the form of a printer causes; `None` for other messages.
pub(super) fn fault(message: &str) -> Option<TranslatedText> {
    match message {
        "must be user:password" => Some(printer_form::fault_login),
        "must not contain a user name, password or key; use `credentials` for them" => {
            Some(printer_form::fault_login_in_url)
        }
        _ => FAULTS_BY_START.into_iter().find(|(start, _)| message.starts_with(start)).map(|(_, text)| text),
    }
}

/// Returns the text of an error with this code in the forms of a printer; `None` for other errors.
pub(super) fn refusal(code: &str) -> Option<TranslatedText> {
    Some(match code {
        "printer_exists" => printer_form::printer_exists,
        "printer_disconnected" => printer_form::printer_disconnected,
        "printer_in_error" => printer_form::printer_in_error,
        "nothing_to_sign_off" => printer_form::nothing_to_sign_off,
        "sign_offs_waiting" => printer_form::sign_offs_waiting,
        "last_slot" => printer_form::last_slot,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::printer::check_base_url;
    use words::Language;

    #[test]
    fn messages_about_addresses_are_translated() {
        for (address, text) in [("ftp://ada", "muss eine URL mit http"), ("http://169.254.169.254", "muss die Adresse")]
        {
            let message = check_base_url(address).err().unwrap_or_default();
            let german = fault(&message).map(|text| text(Language::German)).unwrap_or_default();
            assert!(german.starts_with(text), "{message}: {german}");
        }
        assert!(fault("must be odd").is_none());
        let german = refusal("printer_exists").map(|text| text(Language::German)).unwrap_or_default();
        assert!(german.starts_with("Ein Drucker mit dieser Adresse"), "{german}");
        assert!(refusal("printer_busy").is_none(), "its message says what the printer does");
    }
}
