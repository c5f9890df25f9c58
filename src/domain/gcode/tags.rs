//! Parser for the tags of the small XML files inside a sliced package. All data is in attributes, so nesting, text and
//! declarations are ignored.

use std::borrow::Cow;

/// Maximum number of attributes read per tag.
const MAX_ATTRIBUTES: usize = 64;

/// Parsed tag: `<plate>`, `</plate>`, `<filament id="1" type="PLA"/>`.
#[derive(Debug, PartialEq)]
pub(super) struct PackageTag<'a> {
    /// Name of the element.
    pub(super) name: &'a str,
    /// `true` for a closing tag.
    pub(super) ends: bool,
    attributes: Vec<(&'a str, Cow<'a, str>)>,
}

impl PackageTag<'_> {
    /// Returns the value of an attribute, if present.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }
}

/// Returns the tags in a text, in order. A tag that is never closed ends the list and is omitted.
pub(super) fn tags(mut text: &str) -> impl Iterator<Item = PackageTag<'_>> {
    std::iter::from_fn(move || {
        loop {
            let at = text.find('<')?;
            text = &text[at + 1..];
            if let Some(rest) = text.strip_prefix("!--") {
                text = &rest[rest.find("-->")? + 3..];
                continue;
            }
            let (tag, rest) = tag(text)?;
            text = rest;
            if !tag.name.starts_with(['?', '!']) {
                return Some(tag);
            }
        }
    })
}

/// Parses the tag that follows a `<`, and returns it with the remaining text.
fn tag(text: &str) -> Option<(PackageTag<'_>, &str)> {
    let (ends, text) = match text.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let length = text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
    let (name, mut rest) = text.split_at(length);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '?'));
        if let Some(after) = rest.strip_prefix('>') {
            return Some((PackageTag { name, ends, attributes }, after));
        }
        let length = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'))?;
        let (key, after) = rest.split_at(length);
        let after = after.trim_start();
        let Some(after) = after.strip_prefix('=') else {
            // A word without a value. One character is passed over at least, so that this ends.
            rest = if length == 0 { &rest[rest.chars().next()?.len_utf8()..] } else { after };
            continue;
        };
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let value = &after[1..];
        let end = value.find(quote)?;
        if attributes.len() < MAX_ATTRIBUTES {
            attributes.push((key, plain(&value[..end])));
        }
        rest = &value[end + 1..];
    }
}

/// Decodes the five predefined XML entities in a value.
fn plain(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let plain = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Cow::Owned(plain.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn attributes_are_read_however_they_are_written() {
        let text = "<?xml version=\"1.0\"?><!-- <not me/> --><config>\n <plate>\n<metadata key='plater_name' \
                    value=\"a &lt;b&gt; &amp; c\" lone/>\n</plate ></config>";
        let all: Vec<PackageTag<'_>> = tags(text).collect();
        let names: Vec<(&str, bool)> = all.iter().map(|tag| (tag.name, tag.ends)).collect();
        assert_eq!(
            names,
            [("config", false), ("plate", false), ("metadata", false), ("plate", true), ("config", true)]
        );
        assert_eq!((all[2].get("key"), all[2].get("value")), (Some("plater_name"), Some("a <b> & c")));
        assert_eq!(tags("<a b=\"1\"><c d=\"never ends").last().unwrap().name, "a");
    }

    #[test]
    fn a_tag_has_at_most_64_attributes() {
        let attributes: Vec<String> = (1..=65).map(|n| format!(" a{n}=\"{n}\"")).collect();
        let text = format!("<plate{}>", attributes.concat());
        let tag = tags(&text).next().unwrap();
        assert_eq!((tag.get("a64"), tag.get("a65")), (Some("64"), None));
    }

    proptest! {
        #[test]
        fn any_text_comes_to_an_end(text in "[<>/=\"'a b!?&é-]{0,200}") {
            prop_assert!(tags(&text).count() <= text.len());
        }
    }
}
