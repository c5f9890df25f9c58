//! Messages for one module in both languages, read at their first use from the files that are part of the program.

use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::Language;

/// Messages of one file, as Fluent reads them.
type Bundle = FluentBundle<FluentResource>;

/// Messages for one module: a file for each language.
pub(crate) struct MessageFile {
    english: Translation,
    german: Translation,
}

/// Messages for one module in one language.
struct Translation {
    text: &'static str,
    bundle: OnceLock<Bundle>,
}

impl MessageFile {
    /// Takes the contents of the files.
    pub(crate) const fn new(english: &'static str, german: &'static str) -> Self {
        Self {
            english: Translation { text: english, bundle: OnceLock::new() },
            german: Translation { text: german, bundle: OnceLock::new() },
        }
    }

    const fn translation(&self, language: Language) -> &Translation {
        match language {
            Language::English => &self.english,
            Language::German => &self.german,
        }
    }

    /// Returns the content of the file in a language.
    pub(crate) const fn text(&self, language: Language) -> &'static str {
        self.translation(language).text
    }

    /// Writes a message with its variables. Its name stands in for a message that the file does not have.
    pub(crate) fn write<const N: usize>(
        &self,
        language: Language,
        name: &str,
        variables: [(&'static str, FluentValue<'_>); N],
    ) -> String {
        self.check(language, name, variables).map_or_else(|| name.to_owned(), |(text, _)| text)
    }

    /// Writes a message and returns it with the faults in it; `None` if there is no such message.
    pub(crate) fn check<'a>(
        &self,
        language: Language,
        name: &str,
        variables: impl IntoIterator<Item = (&'static str, FluentValue<'a>)>,
    ) -> Option<(String, Vec<FluentError>)> {
        let Translation { text, bundle } = self.translation(language);
        let bundle = bundle.get_or_init(|| read(language, text));
        let message = bundle.get_message(name)?;
        let pattern = message.value()?;
        let mut arguments = FluentArgs::new();
        variables.into_iter().for_each(|(name, value)| arguments.set(name, value));
        let mut faults = Vec::new();
        let text = bundle.format_pattern(pattern, Some(&arguments), &mut faults).into_owned();
        Some((text, faults))
    }
}

/// Reads the messages in a file. A malformed or duplicate message is left out; the tests of this crate find it.
fn read(language: Language, text: &str) -> Bundle {
    let tag: LanguageIdentifier = language.tag().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![tag]);
    // Marks of direction around each variable would be seen in mails and PDFs.
    bundle.set_use_isolating(false);
    if language == Language::German {
        bundle.set_formatter(Some(german_number));
    }
    let resource = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(resource, _)| resource);
    let _ = bundle.add_resource(resource);
    bundle
}

/// Writes the number in a variable with a point between thousands; `None` for any other variable.
fn german_number<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    let FluentValue::Number(FluentNumber { value, .. }) = value else { return None };
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    if *value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push('.');
        }
        text.push(digit);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_german_have_points_between_thousands() {
        for (number, text) in [
            (0, "0"),
            (123, "123"),
            (1_234, "1.234"),
            (1_234_567, "1.234.567"),
            (-1, "-1"),
            (-123, "-123"),
            (-1_234, "-1.234"),
            (-123_456, "-123.456"),
        ] {
            assert_eq!(german_number(&FluentValue::from(number), &()).as_deref(), Some(text));
        }
        assert_eq!(german_number(&FluentValue::from(-0.2), &()).as_deref(), Some("0"));
        assert_eq!(german_number(&FluentValue::from("2024"), &()), None);
    }
}
