//! Errors that the API writes in English, for the forms of the staff's pages. They are found by their text, as
//! `phrases.rs` describes: about fields in `refusals_fields.ftl`, about everything else in `refusals_records.ftl`
//! and `refusals_work.ftl`. Those whose code says enough are in [`super::refusals`] and in the areas.

use crate::Language;
use crate::catalogue::MessageFile;
use crate::phrases::PhraseFile;

/// Declares a file of phrases by its name.
macro_rules! phrases {
    ($file:literal) => {
        PhraseFile::new(MessageFile::new(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/en/staff/", $file, ".ftl")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/de/staff/", $file, ".ftl")),
        ))
    };
}

static FIELDS: PhraseFile = phrases!("refusals_fields");
static RECORDS: PhraseFile = phrases!("refusals_records");
static WORK: PhraseFile = phrases!("refusals_work");

/// Returns the error in a field, phrased to follow its name; `None` if it has no translation.
pub fn fault(language: Language, message: &str) -> Option<String> {
    FIELDS.translate(language, message)
}

/// Returns the error as a sentence; `None` if it has no translation.
pub fn refusal(language: Language, message: &str) -> Option<String> {
    RECORDS.translate(language, message).or_else(|| WORK.translate(language, message))
}

/// Returns all files, each with its name.
#[cfg(test)]
pub(crate) fn files() -> [(&'static str, &'static PhraseFile); 3] {
    [("staff/refusals_fields", &FIELDS), ("staff/refusals_records", &RECORDS), ("staff/refusals_work", &WORK)]
}
