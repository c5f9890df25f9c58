//! Counts in English sentences for operators and developers: the log, the command line and the API's own messages.
//! Texts for customers and the staff are messages of the crate `words`, which know the plurals of each language.

use std::fmt::Display;

/// Formats a number with the counted noun: `1 file`, `2 files`. The plural of `noun` ends in an s.
pub fn english_count<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_plural() {
        assert_eq!([0_usize, 1, 2].map(|number| english_count(number, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!(english_count(1_u64, "row"), "1 row");
    }
}
