//! Tables as comma-separated values (RFC 4180), for people who open them in a spreadsheet.
//!
//! Pure text: where it goes is up to the caller, who may also take it piece by piece ([`Csv::take`]).
//!
//! A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula and calculates it, also one that a
//! stranger gave as the name of something. Such texts get an apostrophe in front, by which spreadsheets know that they
//! are texts.

use std::fmt::{Display, Write as _};

/// First characters by which a spreadsheet, or what it makes of the text when reading it, takes a cell for a formula.
const FORMULA_STARTS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];

/// One cell of a row.
pub enum Cell<'a> {
    /// Nothing is known, or nothing is to be said.
    Empty,
    /// A number, which cannot be a formula.
    Number(&'a dyn Display),
    /// Words that anybody may have given.
    Text(&'a str),
}

/// A table that grows by its rows.
pub struct Csv(String);

impl Csv {
    /// Only the head, with the names of the columns.
    pub fn new(columns: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(columns.iter().map(|name| Cell::Text(name)));
        csv
    }

    /// The same for people who open it in a spreadsheet, which takes text for that of an old code page where no mark of
    /// UTF-8 stands in front.
    pub fn for_spreadsheets(columns: &[&str]) -> Self {
        let mut csv = Self("\u{feff}".to_owned());
        csv.row(columns.iter().map(|name| Cell::Text(name)));
        csv
    }

    /// One row more. It has as many cells as the head.
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

    /// Rows alone, which continue a table that was begun elsewhere.
    pub fn further() -> Self {
        Self(String::new())
    }

    /// What was written since the last time, so that a long table is never in memory as a whole.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }

    /// The whole table.
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

    /// The cells of a table, as a spreadsheet reads them.
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
        /// Whatever people call things: no cell begins like a formula, and each is read as it was written.
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
            let found = read(&csv.into_text());
            prop_assert_eq!(found.len(), 1 + rows);
            for row in &found[1..] {
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
