//! Words of a line of G-code: each a letter and a number, with or without spaces between them.

/// Iterator over the words of a line, up to its comment or checksum. The line number (`N12`) is skipped. Ends at
/// anything that is not a word, such as a macro name.
#[derive(Debug)]
pub(super) struct LineWords<'a> {
    rest: &'a str,
}

impl<'a> LineWords<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line }
    }
}

impl Iterator for LineWords<'_> {
    type Item = (u8, f64);

    fn next(&mut self) -> Option<(u8, f64)> {
        loop {
            let text = self.rest.trim_start();
            let (&letter, _) = text.as_bytes().split_first().filter(|(letter, _)| letter.is_ascii_alphabetic())?;
            let number = text.get(1..)?;
            let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
            let length = number.bytes().take_while(|byte| is_part(byte)).count();
            let (number, rest) = number.split_at_checked(length)?;
            self.rest = rest;
            let letter = letter.to_ascii_uppercase();
            if letter == b'N' {
                continue;
            }
            return Some((letter, number.parse().ok().filter(|value: &f64| value.is_finite())?));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<(char, f64)> {
        LineWords::new(line).map(|(letter, value)| (char::from(letter), value)).collect()
    }

    #[test]
    fn words_are_read_with_and_without_spaces() {
        let expected = [('G', 1.0), ('X', 1.5), ('Y', -2.0), ('E', 0.25)];
        assert_eq!(words("G1 X1.5 Y-2 E.25 ; outer wall"), expected);
        assert_eq!(words("N7 g1x1.5y-2e.25*71"), expected);
    }

    #[test]
    fn what_is_no_word_ends_the_line() {
        assert!(words("EXCLUDE_OBJECT_START NAME=part").is_empty());
        assert_eq!(words("G1 X1 Y- E5"), [('G', 1.0), ('X', 1.0)]);
        assert_eq!(words("G1 Xé"), [('G', 1.0)]);
        assert!(words("").is_empty());
    }
}
