//! Languages, and the choice among them.

use serde::{Deserialize, Serialize};

/// Maximum number of entries read from an `Accept-Language` header; browsers send fewer than ten.
const MAX_ENTRIES: usize = 32;

/// Language of the texts that a person reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Language {
    /// English; also for everyone whose language is unknown or not one of these.
    #[default]
    #[serde(rename = "en")]
    English,
    /// German, with the polite form of address.
    #[serde(rename = "de")]
    German,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// Returns the language's tag, as HTML and PDF name it (BCP 47).
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// Returns the language's name in the language itself.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }

    /// Returns whether the language is English, which stored documents leave out.
    pub fn is_english(&self) -> bool {
        *self == Self::English
    }

    /// Returns the tag that marks a text in English on a page in this language; `None` if the page is in English too.
    pub fn foreign_tag(self) -> Option<&'static str> {
        (!self.is_english()).then_some(Self::English.tag())
    }

    /// Returns the language that a BCP 47 tag such as `de-AT` names; `None` if it is not one of these.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or(tag).trim();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// Returns the language that an `Accept-Language` header prefers; `None` if it names none of these. Among languages
    /// of the same weight, the first one counts.
    pub fn of_header(header: &str) -> Option<Self> {
        let entries = header.split(',').take(MAX_ENTRIES).filter_map(|entry| {
            let (tag, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            let weight = parameters.split(';').find_map(|one| one.trim().strip_prefix("q=")).unwrap_or("1");
            let weight: f32 = weight.trim().parse().ok().filter(|weight| (0.0..=1.0).contains(weight))?;
            Some((Self::of_tag(tag)?, weight)).filter(|(_, weight)| *weight > 0.0)
        });
        let best = entries.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(language, _)| language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_a_language_by_its_first_part() {
        for (tag, language) in [
            ("de", Some(Language::German)),
            ("DE-at", Some(Language::German)),
            ("de_CH", Some(Language::German)),
            ("en-US", Some(Language::English)),
            ("den", None),
            ("fr", None),
            ("", None),
        ] {
            assert_eq!(Language::of_tag(tag), language, "{tag:?}");
        }
    }

    #[test]
    fn a_browser_gets_the_language_that_it_prefers() {
        for (header, language) in [
            ("de-DE,de;q=0.9,en;q=0.8", Some(Language::German)),
            ("en-GB,en;q=0.9,de;q=0.8", Some(Language::English)),
            ("fr-CH, fr;q=0.9, en;q=0.5, de;q=0.7, *;q=0.5", Some(Language::German)),
            ("en;q=0.5, de;q=0.5", Some(Language::English)),
            ("de;q=0, en;q=0.1", Some(Language::English)),
            ("de ; q=0.3", Some(Language::German)),
            ("de;q=high, de;q=2, de;q=NaN", None),
            ("fr, *", None),
            ("", None),
        ] {
            assert_eq!(Language::of_header(header), language, "{header:?}");
        }
        let long = "fr,".repeat(MAX_ENTRIES) + "de";
        assert_eq!(Language::of_header(&long), None, "what comes far behind is not read");
    }

    #[test]
    fn english_is_marked_on_pages_in_other_languages() {
        assert_eq!(Language::ALL.map(Language::foreign_tag), [None, Some("en")]);
    }

    #[test]
    fn a_language_is_stored_by_its_tag() {
        for language in Language::ALL {
            let stored = serde_json::to_value(language).ok();
            assert_eq!(stored, Some(language.tag().into()));
            assert_eq!(serde_json::from_value::<Language>(language.tag().into()).ok(), Some(language));
        }
    }
}
