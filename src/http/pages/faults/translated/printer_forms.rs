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
    FAULTS_BY_START.into_iter().find(|(start, _)| message.starts_with(start)).map(|(_, text)| text)
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
    }
}
