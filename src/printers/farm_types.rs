//! Mapping from the numbers that print farm software assigns to printer types to this server's printer types.

use super::PrinterType;

/// API names of the printer types; the index, which starts at 0, is the number.
const WORDS: [&str; 4] = ["server_rest", "fw_rest", "prusa_link", "mqtt_lan"];

/// Returns the printer type with the given number in the print farm software; `None` if this server does not support
/// it.
pub fn farm_type(number: i64) -> Option<&'static PrinterType> {
    let word = usize::try_from(number).ok().and_then(|number| WORDS.get(number))?;
    PrinterType::of_word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_type_and_others_have_none() {
        for (number, word) in (0..).zip(WORDS) {
            assert_eq!(farm_type(number).map(|declared| declared.word), Some(word));
        }
        assert!(farm_type(-1).is_none() && farm_type(4).is_none());
    }
}
