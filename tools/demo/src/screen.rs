//! Demo output. On a terminal, a short status block remains at the top while events scroll below it in colour;
//! otherwise, the output consists of plain lines.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::DemoError;
use crate::output;

/// Number of lines in the status block, not counting the rule below it.
pub const BLOCK_LINES: usize = 4;
/// Minimum terminal height for a status block, in rows; a few rows must remain for scrolling.
const MIN_ROWS: u16 = 14;
const MIN_COLUMNS: u16 = 40;

/// Tone of a line, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineTone {
    /// Routine event.
    Quiet,
    /// Notable event.
    Plain,
    /// Success.
    Good,
    /// Failure.
    Bad,
}

impl LineTone {
    /// Returns the escape code (SGR) for the colour.
    const fn code(self) -> &'static str {
        match self {
            Self::Quiet => "2",
            Self::Plain => "0",
            Self::Good => "1;32",
            Self::Bad => "1;31",
        }
    }
}

/// Terminal size in rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct TerminalSize {
    rows: u16,
    columns: u16,
}

/// Standard output of the demo. Clones share the same screen.
#[derive(Clone, Debug)]
pub struct Screen(Arc<Mutex<ScreenState>>);

#[derive(Debug, Default)]
struct ScreenState {
    /// Size of the terminal that shows the status block; `None` for plain lines.
    block: Option<TerminalSize>,
    colours: bool,
}

impl Screen {
    /// Creates a screen without a status block.
    pub fn new() -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(Arc::new(Mutex::new(ScreenState { block: None, colours: terminal && !plain })))
    }

    /// Starts the status block if standard output is a sufficiently large terminal.
    pub fn begin_block(&self) -> Result<(), DemoError> {
        let Some(size) = size().filter(|size| size.rows >= MIN_ROWS && size.columns >= MIN_COLUMNS) else {
            return Ok(());
        };
        self.with(|state| state.block = Some(size));
        output::print(&format!("\x1b[2J{}", region(size)))
    }

    /// Prints a line about an event.
    pub fn line(&self, tone: LineTone, text: &str) -> Result<(), DemoError> {
        let (block, colours) = self.with(|state| (state.block, state.colours));
        let text = if colours { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_owned() };
        match block {
            // The cursor stands in the last row of the part that scrolls.
            Some(size) => output::print(&format!("\x1b[{};1H\n{}", size.rows, text.replace('\n', "\n\r"))),
            None => output::line(&text),
        }
    }

    /// Prints a line from the server's log: among the events if there is a status block, otherwise to standard error.
    /// If it cannot be written, the line is lost.
    pub fn log(&self, text: &str) {
        if self.with(|state| state.block.is_some()) {
            let _ = self.line(LineTone::Plain, text);
        } else {
            output::note(text);
        }
    }

    /// Updates the shop's status in the status block, if any.
    pub fn status(&self, lines: &[String; BLOCK_LINES]) -> Result<(), DemoError> {
        let Some(previous) = self.with(|state| state.block) else { return Ok(()) };
        let now = size().unwrap_or(previous);
        let mut text = String::new();
        if now != previous {
            self.with(|state| state.block = Some(now));
            text = region(now);
        }
        output::print(&(text + &drawn(lines, now)))
    }

    /// Removes the status block and restores the terminal.
    pub fn end_block(&self) {
        if let Some(size) = self.with(|state| state.block.take()) {
            let mut out = io::stdout().lock();
            let _ = writeln!(out, "\x1b[r\x1b[{};1H", size.rows).and_then(|()| out.flush());
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut ScreenState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the size of the terminal if standard output is one.
fn size() -> Option<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(TerminalSize { rows: size.ws_row, columns: size.ws_col })
}

/// Returns the escape sequence that restricts scrolling to the rows below the status block and its rule.
fn region(size: TerminalSize) -> String {
    format!("\x1b[{};{}r\x1b[{};1H", BLOCK_LINES + 2, size.rows, size.rows)
}

/// Renders the status block at the top of the terminal; afterwards, the cursor returns to its position.
fn drawn(lines: &[String; BLOCK_LINES], size: TerminalSize) -> String {
    let width = usize::from(size.columns);
    let mut text = String::from("\x1b7");
    for (row, line) in lines.iter().chain([&"─".repeat(width)]).enumerate() {
        let line: String = line.chars().take(width).collect();
        let _ = write!(text, "\x1b[{};1H\x1b[K{line}", row + 1);
    }
    text + "\x1b8"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_drawn_at_the_top_within_the_width() {
        let size = TerminalSize { rows: 24, columns: 5 };
        assert_eq!(region(size), "\x1b[6;24r\x1b[24;1H", "four lines and a rule stay");
        let text = drawn(&["one".to_owned(), "too long".to_owned(), String::new(), "äöüßäöü".to_owned()], size);
        let rows: Vec<_> = text.split("\x1b[K").collect();
        assert!(rows[1].starts_with("one\x1b[2;1H"), "{text:?}");
        assert!(rows[2].starts_with("too l\x1b[3;1H") && rows[4].starts_with("äöüßä\x1b"), "{text:?}");
        assert_eq!(rows[5], "─────\x1b8", "and the cursor goes back");
    }
}
