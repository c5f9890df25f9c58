//! Capitalization of texts written to appear within a sentence.

/// Formats an error message as a sentence.
pub(super) fn sentence(words: &str) -> String {
    format!("{}.", capital(words.trim_end_matches('.')))
}

/// Capitalizes a text shown on its own, such as an option in a list.
pub(super) fn capital(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_sentences() {
        assert_eq!(sentence("the form is old"), "The form is old.");
        assert_eq!((sentence("Done."), sentence("")), ("Done.".to_owned(), ".".to_owned()));
        assert_eq!((capital("über 3.5 mm"), capital("")), ("Über 3.5 mm".to_owned(), String::new()));
    }
}
