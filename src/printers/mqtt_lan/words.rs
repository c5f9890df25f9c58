//! Descriptions of the printer's most common error codes. Other errors are shown as codes, which are explained on the
//! printer's screen and the manufacturer's website.

use serde_json::Value;

use super::report::unsigned;

/// Codes for a cancelled print, which are reported for a few seconds and then withdrawn.
const CANCELLED: [u32; 2] = [0x0300_400C, 0x0500_400E];
/// Code for a printer that is busy with a print and does not accept a new one.
pub(super) const BUSY_ERROR: u32 = 0x0500_4004;
/// Code with which a printer rejects commands from programs other than the manufacturer's own.
const COMMANDS_REFUSED: u64 = 0x0500_0500_0001_0007;
/// Text in the reply to a command that the printer rejects as unverified.
const VERIFY_FAILED: &str = "verify failed";
/// Maximum number of notices shown together.
const MAX_TOLD: usize = 4;
/// Severity of a notice that requires no action.
const INFORMATION_LEVEL: u64 = 4;
/// Severity of a notice after which the printer stops operating.
const FATAL_LEVEL: u64 = 1;
/// Module number, within a notice, of the component that drives motors and heaters.
const MOTION_MODULE: u64 = 0x03;

/// Message for a printer whose status can be read but which accepts no commands, with instructions.
pub(super) const READ_ONLY: &str = "connected, but read-only: the printer rejects commands from this server. Enable LAN-only mode and \
     Developer Mode on its screen, then enter the access code that it shows";
/// Advice for an access code that is no longer valid.
pub(super) const CODE_HINT: &str = "the access code is wrong. It changes whenever LAN-only or Developer Mode is toggled: check it on the printer's screen";

/// Descriptions of `print_error` codes.
const PRINT_ERRORS: [(u32, &str); 35] = [
    (0x0300_4000, "printing stopped because homing the Z axis failed"),
    (0x0300_4001, "the printer timed out waiting for the nozzle to cool down before homing"),
    (0x0300_4002, "printing stopped because auto bed levelling failed"),
    (0x0300_4005, "the nozzle fan speed is abnormal"),
    (0x0300_4006, "the nozzle is clogged"),
    (0x0300_4008, "the AMS failed to change filament"),
    (0x0300_400C, "the print was cancelled"),
    (0x0300_8000, "printing was paused for an unknown reason"),
    (0x0300_8001, "printing was paused at the printer"),
    (0x0300_8002, "first-layer defects were detected"),
    (0x0300_8003, "spaghetti was detected"),
    (0x0300_8004, "the filament ran out"),
    (0x0300_8005, "the front cover of the tool head fell off"),
    (0x0300_8007, "a print was not finished when the printer lost power"),
    (0x0300_8008, "the nozzle's temperature is abnormal"),
    (0x0300_8009, "the bed's temperature is abnormal"),
    (0x0300_800A, "filament piled up in the waste chute"),
    (0x0300_800B, "the filament cutter is stuck"),
    (0x0500_4001, "the printer failed to reach the manufacturer's cloud"),
    (0x0500_4002, "the file's path or name is not supported"),
    (0x0500_4003, "the printer was unable to read the file"),
    (BUSY_ERROR, "the printer is busy and does not accept a new print"),
    (0x0500_4005, "the printer accepts no prints while its firmware is being updated"),
    (0x0500_4006, "the printer's storage has too little space for the print"),
    (0x0500_4008, "starting the print failed"),
    (0x0500_400A, "the file's name is not supported"),
    (0x0500_400B, "the printer failed to fetch the file"),
    (0x0500_400C, "the printer has no memory card: insert one"),
    (0x0500_400D, "the printer must run its self-test first"),
    (0x0500_400E, "the print was cancelled"),
    (0x0500_8030, "the build plate has no marker or is not aligned"),
    (0x0700_8010, "the AMS assist motor is overloaded"),
    (0x0700_8011, "the AMS filament ran out"),
    (0x0700_8012, "the AMS mapping is wrong: a filament in the file has no slot"),
    (0x1200_8012, "the AMS mapping is wrong: a filament in the file has no slot"),
];

/// Descriptions of the printer's notices (HMS).
const NOTICES: [(u64, &str); 12] = [
    (0x0300_0100_0001_0001, "the bed's temperature is abnormal: its heater may have a short circuit"),
    (0x0300_0100_0001_0002, "the bed's temperature is abnormal: its heater may be disconnected"),
    (0x0300_0200_0001_0001, "the nozzle's temperature is abnormal: its heater may have a short circuit"),
    (0x0300_0200_0001_0002, "the nozzle's temperature is abnormal: its heater may be disconnected"),
    (0x0300_0300_0001_0001, "the hot end's fan is slow or stopped"),
    (0x0300_0D00_0001_0003, "the build plate is not placed properly"),
    (0x0300_1A00_0002_0002, "the nozzle is clogged"),
    (0x0500_0400_0001_0001, "the printer failed to fetch the print"),
    (COMMANDS_REFUSED, "commands are rejected: Developer Mode is off"),
    (0x0700_2000_0002_0001, "the filament in AMS slot A1 ran out"),
    (0x0700_2100_0002_0001, "the filament in AMS slot A2 ran out"),
    (0x0C00_0300_0003_0008, "spaghetti was detected"),
];

/// Returns whether the given `print_error` means that the print was cancelled.
pub(super) fn is_cancel(error: u32) -> bool {
    CANCELLED.contains(&error)
}

/// Returns the description of a `print_error`; `None` for 0, which means no error.
pub(super) fn print_error(error: u32) -> Option<String> {
    if error == 0 {
        return None;
    }
    // The second digit pair of the AMS errors is the number of the unit.
    let unit = if error >> 24 == 0x07 { error & 0xFF00_FFFF } else { error };
    let number = format!("{:04X}-{:04X}", error >> 16, error & 0xFFFF);
    let entry = PRINT_ERRORS.iter().find(|(code, _)| *code == unit);
    Some(match entry {
        Some((_, text)) => format!("{text} ({number})"),
        None => format!("error {number}; see the printer's screen"),
    })
}

/// Returns the notices in a report as 64-bit numbers, without those that require no action.
pub(super) fn notices(hms: Option<&Value>) -> Vec<u64> {
    let all = hms.and_then(Value::as_array).into_iter().flatten();
    let number = |one: &Value| {
        let [attr, code] = ["attr", "code"].map(|name| one.get(name).and_then(unsigned).filter(|n| *n <= 0xFFFF_FFFF));
        Some(attr? << 32 | code?)
    };
    all.filter_map(number).filter(|notice| (*notice >> 16) & 0xFFFF != INFORMATION_LEVEL).collect()
}

/// Joins the descriptions of the given notices, if any.
pub(super) fn describe(notices: &[u64]) -> Option<String> {
    let words = |notice: &u64| {
        let [a, b, c, d] = [48, 32, 16, 0].map(|shift| (notice >> shift) & 0xFFFF);
        let number = format!("HMS {a:04X}-{b:04X}-{c:04X}-{d:04X}");
        match NOTICES.iter().find(|(code, _)| code == notice) {
            Some((_, text)) => format!("{text} ({number})"),
            None => format!("{number}; see the printer's screen"),
        }
    };
    let descriptions: Vec<String> = notices.iter().take(MAX_TOLD).map(words).collect();
    Some(descriptions.join("; ")).filter(|text| !text.is_empty())
}

/// Returns whether one of the notices reports a heater or motor fault after which nothing may be printed until an
/// operator has inspected the printer.
pub(super) fn is_fault(notices: &[u64]) -> bool {
    notices.iter().any(|notice| notice >> 56 == MOTION_MODULE && (notice >> 16) & 0xFFFF == FATAL_LEVEL)
}

/// Returns whether one of the notices reports that commands are rejected.
pub(super) fn refuses_commands(notices: &[u64]) -> bool {
    notices.contains(&COMMANDS_REFUSED)
}

/// Returns whether the reason given in a reply means that all commands are rejected.
pub(super) fn is_unverified(reason: &str) -> bool {
    reason.to_ascii_lowercase().contains(VERIFY_FAILED)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_told_in_words_and_with_their_number() {
        assert_eq!(print_error(0), None);
        assert_eq!(print_error(50_348_044).as_deref(), Some("the print was cancelled (0300-400C)"));
        assert_eq!(
            print_error(0x0702_8012).as_deref(),
            Some("the AMS mapping is wrong: a filament in the file has no slot (0702-8012)"),
            "of any unit"
        );
        assert_eq!(print_error(0x0123_ABCD).as_deref(), Some("error 0123-ABCD; see the printer's screen"));
        assert!(is_cancel(0x0300_400C) && is_cancel(0x0500_400E) && !is_cancel(BUSY_ERROR));
    }

    #[test]
    fn notices_are_told_in_words_or_with_their_number() {
        let hms = json!([
            {"attr": 0x0300_0D00, "code": 0x0001_0003},
            {"attr": "83887360", "code": "65543"},
            {"attr": 0x0C00_0100, "code": 0x0004_000D},
            {"attr": 0x1234_5678, "code": 0x0002_0001},
            {"attr": -1, "code": "x"},
        ]);
        let codes = notices(Some(&hms));
        assert_eq!(codes.len(), 3, "no information, nothing malformed: {codes:x?}");
        assert!(refuses_commands(&codes) && is_fault(&codes));
        assert!(!is_fault(&codes[1..]), "neither a fault of another part nor one that is not fatal");
        let words = describe(&codes).unwrap_or_default();
        assert!(words.starts_with("the build plate is not placed properly (HMS 0300-0D00-0001-0003); "), "{words}");
        assert!(words.ends_with("HMS 1234-5678-0002-0001; see the printer's screen"), "{words}");
        assert_eq!((describe(&[]), notices(None).len()), (None, 0));
    }

    #[test]
    fn a_refusal_for_want_of_a_signature_is_known() {
        assert!(is_unverified("mqtt message Verify Failed"));
        assert!(!is_unverified("busy"));
    }
}
