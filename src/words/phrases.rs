//! Messages that the product writes in English, found by their text and translated.
//!
//! The rules of the shop write their errors where they are decided, in English. A file of phrases has each of them as a
//! message: its English version is the text as the rules write it, with its variables, and stands on one line. A text
//! is compared with all of them, and the values of its variables go into the translation.

use std::sync::OnceLock;

use fluent_bundle::FluentValue;

use crate::Language;
use crate::catalogue::MessageFile;

/// Phrases of one file.
pub(crate) struct PhraseFile {
    file: MessageFile,
    phrases: OnceLock<Vec<Phrase>>,
}

/// Text with variables.
struct Phrase {
    /// Name of the message.
    name: &'static str,
    /// Text before the first variable.
    start: &'static str,
    /// Variables, each with the text after it.
    rest: Vec<(&'static str, &'static str)>,
}

impl PhraseFile {
    /// Takes the messages of the file.
    pub(crate) const fn new(file: MessageFile) -> Self {
        Self { file, phrases: OnceLock::new() }
    }

    /// Returns the messages of the file.
    #[cfg(test)]
    pub(crate) const fn file(&self) -> &MessageFile {
        &self.file
    }

    /// Translates a text; `None` if it is none of the phrases. Of several that fit, the most specific one counts.
    pub(crate) fn translate(&self, language: Language, text: &str) -> Option<String> {
        let phrases = self.phrases.get_or_init(|| read(self.file.text(Language::English)));
        let fitting = phrases.iter().filter_map(|phrase| Some((phrase, phrase.values(text)?)));
        let (phrase, values) = fitting.max_by_key(|(phrase, _)| phrase.length())?;
        let values = values.into_iter().map(|(name, value)| (name, value_of(value)));
        Some(self.file.check(language, phrase.name, values)?.0)
    }
}

impl Phrase {
    /// Reads the line of a message; `None` for other lines.
    fn read(line: &'static str) -> Option<Self> {
        let (name, pattern) = line.split_once(" = ").filter(|_| !line.starts_with('#'))?;
        let mut pieces = pattern.split("{ $");
        let start = pieces.next()?;
        let rest = pieces.map(|piece| piece.split_once(" }")).collect::<Option<_>>()?;
        Some(Self { name, start, rest })
    }

    /// Returns the values of the variables in a text; `None` if it is another text.
    fn values<'t>(&self, text: &'t str) -> Option<Vec<(&'static str, &'t str)>> {
        let mut left = text.strip_prefix(self.start)?;
        let mut values = Vec::with_capacity(self.rest.len());
        for (n, (variable, after)) in self.rest.iter().enumerate() {
            let is_last = n + 1 == self.rest.len();
            let (value, next) = if is_last { (left.strip_suffix(*after)?, "") } else { left.split_once(*after)? };
            if value.is_empty() {
                return None;
            }
            values.push((*variable, value));
            left = next;
        }
        left.is_empty().then_some(values)
    }

    /// Returns the length of the text without its variables.
    fn length(&self) -> usize {
        self.start.len() + self.rest.iter().map(|(_, after)| after.len()).sum::<usize>()
    }
}

/// Reads the phrases of a file in English.
fn read(text: &'static str) -> Vec<Phrase> {
    text.lines().filter_map(Phrase::read).collect()
}

/// Returns the value of a variable: a whole number as such, so that it is written as the language does.
fn value_of(text: &str) -> FluentValue<'_> {
    let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    number.map_or_else(|| FluentValue::from(text), FluentValue::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_compared_with_the_texts_around_the_variables() {
        let values = |line: &'static str, text| Phrase::read(line)?.values(text);
        assert_eq!(values("a = must be odd", "must be odd"), Some(vec![]));
        assert_eq!(values("a = must be odd", "must be odd too"), None);
        let between = "a = must be { $least } to { $most } items";
        assert_eq!(values(between, "must be 1 to 10 items"), Some(vec![("least", "1"), ("most", "10")]));
        assert_eq!(values(between, "must be  to 10 items"), None);
        assert_eq!(values(between, "must be 1 to 10"), None);
        assert_eq!(values("a = { $name } is taken", "PLA black is taken"), Some(vec![("name", "PLA black")]));
        assert_eq!(values("# a = b", "b"), None);
        assert!(Phrase::read("## Fields").is_none());
    }

    #[test]
    fn whole_numbers_are_written_as_the_language_does() {
        assert!(matches!(value_of("10000"), FluentValue::Number(_)));
        for text in ["0012", "1.5", "-3", "PLA"] {
            assert!(matches!(value_of(text), FluentValue::String(_)), "{text}");
        }
    }
}
