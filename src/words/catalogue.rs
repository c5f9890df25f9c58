//! Messages of both languages, read once from the files that are part of the program.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::Language;

/// Messages of one language.
type Bundle = FluentBundle<FluentResource>;

/// Files with the English messages.
const ENGLISH_FILES: &[&str] = &[include_str!("en/mails.ftl")];
/// Files with the German messages.
const GERMAN_FILES: &[&str] = &[include_str!("de/mails.ftl")];

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English));
static GERMAN: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::German));

/// Returns the contents of the files with the messages of a language.
pub(crate) const fn files(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => ENGLISH_FILES,
        Language::German => GERMAN_FILES,
    }
}

/// Reads the messages of a language. A message that is malformed or there twice is left out; the tests of this crate
/// find it.
fn bundle(language: Language) -> Bundle {
    let tag: LanguageIdentifier = language.tag().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![tag]);
    // Marks of direction around each variable would be seen in mails and PDFs.
    bundle.set_use_isolating(false);
    if language == Language::German {
        bundle.set_formatter(Some(german_number));
    }
    for file in files(language) {
        let resource = FluentResource::try_new((*file).to_owned()).unwrap_or_else(|(resource, _)| resource);
        let _ = bundle.add_resource(resource);
    }
    bundle
}

/// Writes the number in a variable with a point between thousands; `None` for any other variable.
fn german_number<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    let FluentValue::Number(FluentNumber { value, .. }) = value else { return None };
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push('.');
        }
        text.push(digit);
    }
    Some(text)
}

/// Writes a message with its variables. Its name stands in for a message that the catalogue does not have.
pub(crate) fn written<const N: usize>(
    language: Language,
    name: &str,
    variables: [(&'static str, FluentValue<'_>); N],
) -> String {
    checked(language, name, variables).map_or_else(|| name.to_owned(), |(text, _)| text)
}

/// Writes a message and returns it with the faults in it; `None` if there is no such message.
pub(crate) fn checked<'a>(
    language: Language,
    name: &str,
    variables: impl IntoIterator<Item = (&'static str, FluentValue<'a>)>,
) -> Option<(String, Vec<FluentError>)> {
    let bundle: &Bundle = match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
    };
    let message = bundle.get_message(name)?;
    let pattern = message.value()?;
    let arguments: FluentArgs<'_> = variables.into_iter().collect();
    let mut faults = Vec::new();
    let text = bundle.format_pattern(pattern, Some(&arguments), &mut faults).into_owned();
    Some((text, faults))
}
