//! Messages that the product writes in English, found by their text and translated.
//!
//! The rules of the shop write their errors where they are decided, in English. A file of phrases has each of them as a
//! message: its English version is the text as the rules write it, with its variables, and stands on one line. A text
//! is compared with all of them, and the values of its variables go into the translation.

use std::sync::OnceLock;

use fluent_bundle::FluentValue;

use crate::Language;
use crate::catalogue::MessageFile;

/// Variables that are counts. Only these are written as the language writes numbers: a material called `2024`, a
/// version or the number of an invoice stays as it is.
const COUNTS: [&str; 9] = ["count", "days", "good", "jobs", "least", "length", "most", "ordered", "running"];
/// Variables that contain free text, so that their values may contain the text around them. A phrase has at most one of
/// these.
const FREE_TEXTS: [&str; 2] = ["material", "name"];

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
    /// Takes the messages in the file.
    pub(crate) const fn new(file: MessageFile) -> Self {
        Self { file, phrases: OnceLock::new() }
    }

    /// Returns the messages in the file.
    #[cfg(test)]
    pub(crate) const fn file(&self) -> &MessageFile {
        &self.file
    }

    /// Translates a text; `None` if it is none of the phrases. Of several that fit, the most specific one counts.
    pub(crate) fn translate(&self, language: Language, text: &str) -> Option<String> {
        let phrases = self.phrases.get_or_init(|| read(self.file.text(Language::English)));
        let fitting = phrases.iter().filter_map(|phrase| Some((phrase, phrase.values(text)?)));
        let (phrase, values) = fitting.max_by_key(|(phrase, _)| phrase.length())?;
        let values = values.into_iter().map(|(name, value)| (name, value_of(name, value)));
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

    /// Returns the values of the variables in a text; `None` if it is another text. The variables before a free text
    /// are looked for from the left, and those after it from the right, so that it may contain anything.
    fn values<'t>(&self, text: &'t str) -> Option<Vec<(&'static str, &'t str)>> {
        let Some(last) = self.rest.len().checked_sub(1) else {
            return (text == self.start).then(Vec::new);
        };
        let free_text = self.rest.iter().position(|(variable, _)| FREE_TEXTS.contains(variable));
        let (from_left, from_right) = self.rest.split_at(free_text.unwrap_or(last));
        let mut left = text.strip_prefix(self.start)?;
        let mut values = Vec::with_capacity(self.rest.len());
        for (variable, after) in from_left {
            let (value, next) = left.split_once(*after)?;
            values.push((*variable, value));
            left = next;
        }
        let mut backwards = Vec::with_capacity(from_right.len());
        left = left.strip_suffix(from_right.last()?.1)?;
        for pair in from_right.windows(2).rev() {
            let [(_, between), (variable, _)] = pair else { return None };
            let (before, value) = left.rsplit_once(*between)?;
            backwards.push((*variable, value));
            left = before;
        }
        backwards.push((from_right.first()?.0, left));
        values.extend(backwards.into_iter().rev());
        values.iter().all(|(_, value)| !value.is_empty()).then_some(values)
    }

    /// Returns the text without its variables, whose places are marked.
    #[cfg(test)]
    fn literals(&self) -> String {
        self.rest.iter().fold(self.start.to_owned(), |text, (_, after)| format!("{text}{{}}{after}"))
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

/// Returns the value of a variable: a count as a number, so that it is written as the language does.
fn value_of<'t>(variable: &str, text: &'t str) -> FluentValue<'t> {
    let is_whole = |number: &u64| COUNTS.contains(&variable) && number.to_string() == text;
    let number = text.parse::<u64>().ok().filter(is_whole);
    number.map_or_else(|| FluentValue::from(text), FluentValue::from)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::staff::refusals_of_api;

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
    fn a_name_may_contain_the_texts_around_it() {
        let values = |line: &'static str, text| {
            let values = Phrase::read(line)?.values(text)?;
            Some(values.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
        };
        let short = "a = needs { $need } of { $material }, { $available } free";
        assert_eq!(values(short, "needs 5 g of PLA, black, 2 g free"), Some(vec!["5 g", "PLA, black", "2 g"]));
        assert_eq!(values(short, "needs 5 g of PLA of gold, 2 g free"), Some(vec!["5 g", "PLA of gold", "2 g"]));
        let left = "a = only { $amount } of { $material } on hand";
        assert_eq!(values(left, "only 5 g of PLA of gold on hand"), Some(vec!["5 g", "PLA of gold"]));
        let linked = "a = { $material } is linked to { $system }; remove it";
        assert_eq!(values(linked, "It is linked to A is linked to B; remove it"), Some(vec!["It is linked to A", "B"]));
        assert_eq!(values(linked, " is linked to B; remove it"), None);
    }

    #[test]
    fn only_counts_are_written_as_the_language_writes_numbers() {
        assert!(matches!(value_of("most", "10000"), FluentValue::Number(_)));
        for (variable, text) in
            [("most", "0012"), ("most", "1.5"), ("most", "-3"), ("most", "PLA"), ("material", "2024"), ("version", "5")]
        {
            assert!(matches!(value_of(variable, text), FluentValue::String(_)), "{variable}: {text}");
        }
    }

    #[test]
    fn no_two_phrases_are_the_same_and_none_has_two_free_texts() {
        let mut names = BTreeMap::new();
        for (file, phrases) in refusals_of_api::files() {
            for phrase in read(phrases.file().text(Language::English)) {
                let free_texts = phrase.rest.iter().filter(|(variable, _)| FREE_TEXTS.contains(variable)).count();
                assert!(free_texts <= 1, "{file}: {}", phrase.name);
                let other = names.insert(phrase.literals(), phrase.name);
                assert_eq!(other, None, "{file}: {} is there twice", phrase.name);
            }
        }
        assert!(names.len() > 100, "{} phrases were read", names.len());
    }
}
