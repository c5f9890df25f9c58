//! Output of the demo. On a terminal, a short status block stays at the top while events scroll below it in colour;
//! elsewhere the output is plain lines.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::DemoError;
use crate::output;

/// Number of lines in the block, without the rule below it.
pub const BLOCK_LINES: usize = 4;
/// Smallest terminal height that gets a block: a few lines must remain for scrolling.
const MIN_ROWS: u16 = 14;
const MIN_COLUMNS: u16 = 40;

/// Tone of a line, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineTone {
    /// One step among many.
    Quiet,
    /// A notable event.
    Plain,
    /// A success.
    Good,
    /// A failure.
    Bad,
}

impl LineTone {
    /// Returns the terminal's escape code for the colour (SGR).
    const fn code(self) -> &'static str {
        match self {
            Self::Quiet => "2",
            Self::Plain => "0",
            Self::Good => "1;32",
            Self::Bad => "1;31",
        }
    }
}

/// Rows and columns of a terminal.
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
    /// Size of the terminal that has the block; `None` for plain lines.
    block: Option<TerminalSize>,
    colours: bool,
}

impl Screen {
    /// Creates a screen without a block.
    pub fn new() -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(Arc::new(Mutex::new(ScreenState { block: None, colours: terminal && !plain })))
    }

    /// Starts the block if standard output is a terminal and large enough.
    pub fn begin_block(&self) -> Result<(), DemoError> {
        let Some(size) = size().filter(|size| size.rows >= MIN_ROWS && size.columns >= MIN_COLUMNS) else {
            return Ok(());
        };
        self.with(|state| state.block = Some(size));
        output::print(&format!("\x1b[2J{}", region(size)))
    }

    /// Prints a line of the event stream.
    pub fn line(&self, tone: LineTone, text: &str) -> Result<(), DemoError> {
        let (block, colours) = self.with(|state| (state.block, state.colours));
        let text = if colours { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_owned() };
        match block {
            // The cursor stands in the last row of the part that scrolls.
            Some(size) => output::print(&format!("\x1b[{};1H\n{}", size.rows, text.replace('\n', "\n\r"))),
            None => output::line(&text),
        }
    }

    /// Prints a line of the server's log: above the block if there is one, otherwise on standard error. The line is
    /// lost if it cannot be written.
    pub fn log(&self, text: &str) {
        if self.with(|state| state.block.is_some()) {
            let _ = self.line(LineTone::Plain, text);
        } else {
            output::note(text);
        }
    }

    /// Updates the status of the shop, if there is a block.
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

    /// Restores the terminal.
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

/// Returns the size of the terminal, if standard output is one.
fn size() -> Option<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(TerminalSize { rows: size.ws_row, columns: size.ws_col })
}

/// Returns the escape sequence that restricts scrolling to the rows below the block and its rule.
fn region(size: TerminalSize) -> String {
    format!("\x1b[{};{}r\x1b[{};1H", BLOCK_LINES + 2, size.rows, size.rows)
}

/// Renders the block at the top; the cursor returns to its position.
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
