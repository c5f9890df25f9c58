//! Tables as comma-separated values (RFC 4180), for use in a spreadsheet.
//!
//! Only builds text: the caller decides where to write it, and can take it in chunks ([`Csv::take`]).
//!
//! A spreadsheet evaluates text that begins with `=`, `+`, `-` or `@` as a formula, even if the text is a name entered
//! by a stranger. Such text is prefixed with an apostrophe, which marks it as text in spreadsheets.

use std::fmt::{Display, Write as _};

/// Initial characters that make a spreadsheet treat a cell as a formula, directly or after it has processed the text.
const FORMULA_STARTS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];

/// Value of one cell of a row.
pub enum Cell<'a> {
    /// No value.
    Empty,
    /// A number, which cannot be a formula.
    Number(&'a dyn Display),
    /// Text from an untrusted source; escaped if it looks like a formula.
    Text(&'a str),
}

/// Builder for a table, row by row.
pub struct Csv(String);

impl Csv {
    /// Creates a table with only its header row.
    pub fn new(columns: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(columns.iter().map(|name| Cell::Text(name)));
        csv
    }

    /// Creates a table like [`Csv::new`], with a leading byte order mark; otherwise, spreadsheets assume a legacy code
    /// page instead of UTF-8.
    pub fn for_spreadsheets(columns: &[&str]) -> Self {
        let mut csv = Self("\u{feff}".to_owned());
        csv.row(columns.iter().map(|name| Cell::Text(name)));
        csv
    }

    /// Appends a row, which must have as many cells as the header.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        for (at, cell) in cells.into_iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            match cell {
                Cell::Empty => {}
                Cell::Number(number) => {
                    let _ = write!(self.0, "{number}");
                }
                Cell::Text(text) => self.text(text),
            }
        }
        self.0.push_str("\r\n");
    }

    /// Creates a table without a header, to continue a table started elsewhere.
    pub fn further() -> Self {
        Self(String::new())
    }

    /// Returns the text written since the previous call and removes it, so that a long table is never held in memory as
    /// a whole.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }

    /// Returns the text of the whole table.
    pub fn into_text(self) -> String {
        self.0
    }

    fn text(&mut self, text: &str) {
        let guard = if text.starts_with(FORMULA_STARTS) { "'" } else { "" };
        if text.contains([',', '"', '\n', '\r']) {
            let _ = write!(self.0, "\"{guard}{}\"", text.replace('"', "\"\""));
        } else {
            self.0.push_str(guard);
            self.0.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a table into cells the way a spreadsheet does.
    fn read(table: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut letters = table.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted && letters.peek() == Some(&'\n') => {
                    letters.next();
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                letter => cell.push(letter),
            }
        }
        rows
    }

    #[test]
    fn what_spreadsheets_calculate_is_marked_as_text() {
        for text in ["=1+1", "+49 30", "-1", "@SUM(A1)", "\tx", "\r=1"] {
            let mut csv = Csv::new(&["name"]);
            csv.row([Cell::Text(text)]);
            assert_eq!(read(&csv.into_text())[1], [format!("'{text}")]);
        }
        assert_eq!(Csv::for_spreadsheets(&["a"]).take(), "\u{feff}a\r\n");
        let mut csv = Csv::new(&["a"]);
        let head = csv.take();
        csv.row([Cell::Text("1")]);
        assert_eq!((head.as_str(), csv.take().as_str(), csv.take().as_str()), ("a\r\n", "1\r\n", ""));
        let mut csv = Csv::new(&["a", "b", "c"]);
        csv.row([Cell::Number(&-1.5), Cell::Empty, Cell::Text("a=b, \"c\"")]);
        assert_eq!(csv.into_text(), "a,b,c\r\n-1.5,,\"a=b, \"\"c\"\"\"\r\n");
    }

    proptest! {
        /// Checks that, for any text, no cell starts like a formula and each is read back as written.
        #[test]
        fn no_text_becomes_a_formula_or_another_cell(
            texts in prop::collection::vec(".*|[-=+@\t\r\n\",;']{0,6}", 1..5),
            rows in 1usize..4,
        ) {
            let columns: Vec<String> = (0..texts.len()).map(|n| format!("c{n}")).collect();
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let mut csv = Csv::new(&columns);
            for _ in 0..rows {
                csv.row(texts.iter().map(|text| Cell::Text(text)));
            }
            let parsed = read(&csv.into_text());
            prop_assert_eq!(parsed.len(), 1 + rows);
            for row in &parsed[1..] {
                prop_assert_eq!(row.len(), texts.len());
                for (cell, text) in row.iter().zip(&texts) {
                    prop_assert!(!cell.starts_with(FORMULA_STARTS), "{:?}", cell);
                    let without = cell.strip_prefix('\'').filter(|_| text.starts_with(FORMULA_STARTS));
                    prop_assert_eq!(without.unwrap_or(cell), text);
                }
            }
        }
    }
}
