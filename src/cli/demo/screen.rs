//! What the demo shows. At a terminal a short block above says how the shop stands, and what happens scrolls below it,
//! in colours; elsewhere there are plain lines.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::{CliError, output};

/// Lines of the block, besides the rule under it.
pub const BLOCK_LINES: usize = 4;
/// Smallest terminal that gets a block: a few lines must be left to scroll.
const MIN_ROWS: u16 = 14;
const MIN_COLUMNS: u16 = 40;

/// What a line tells, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// A step among many.
    Quiet,
    /// Something that people wait for.
    Plain,
    /// Something that went well.
    Good,
    /// Something that went wrong.
    Bad,
}

impl Tone {
    /// How a terminal is told to use its colour (SGR).
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
struct Size {
    rows: u16,
    columns: u16,
}

/// The demo's standard output. Clones are the same screen.
#[derive(Clone, Debug)]
pub struct Screen(Arc<Mutex<ScreenState>>);

#[derive(Debug, Default)]
struct ScreenState {
    /// The terminal that has the block; `None` for plain lines.
    block: Option<Size>,
    colours: bool,
}

impl Screen {
    /// A screen without a block.
    pub fn new() -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(Arc::new(Mutex::new(ScreenState { block: None, colours: terminal && !plain })))
    }

    /// Begins the block, if the terminal is one and large enough.
    pub fn begin_block(&self) -> Result<(), CliError> {
        let Some(size) = size().filter(|size| size.rows >= MIN_ROWS && size.columns >= MIN_COLUMNS) else {
            return Ok(());
        };
        self.with(|state| state.block = Some(size));
        output::print(&format!("\x1b[2J{}", region(size)))
    }

    /// Shows a line of the stream.
    pub fn line(&self, tone: Tone, text: &str) -> Result<(), CliError> {
        let (block, colours) = self.with(|state| (state.block, state.colours));
        let text = if colours { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_owned() };
        match block {
            // The cursor stands in the last row of the part that scrolls.
            Some(size) => output::print(&format!("\x1b[{};1H\n{}", size.rows, text.replace('\n', "\n\r"))),
            None => output::line(&text),
        }
    }

    /// Shows how the shop stands, where there is a block.
    pub fn status(&self, lines: &[String; BLOCK_LINES]) -> Result<(), CliError> {
        let Some(known) = self.with(|state| state.block) else { return Ok(()) };
        let now = size().unwrap_or(known);
        let mut text = String::new();
        if now != known {
            self.with(|state| state.block = Some(now));
            text = region(now);
        }
        output::print(&(text + &drawn(lines, now)))
    }

    /// Gives the terminal back as it was.
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

/// The size of the terminal, if standard output is one.
fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(Size { rows: size.ws_row, columns: size.ws_col })
}

/// Has only the rows below the block and its rule scroll.
fn region(size: Size) -> String {
    format!("\x1b[{};{}r\x1b[{};1H", BLOCK_LINES + 2, size.rows, size.rows)
}

/// The block, drawn at the top while the cursor returns to where it was.
fn drawn(lines: &[String; BLOCK_LINES], size: Size) -> String {
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
        let size = Size { rows: 24, columns: 5 };
        assert_eq!(region(size), "\x1b[6;24r\x1b[24;1H", "four lines and a rule stay");
        let text = drawn(&["one".to_owned(), "too long".to_owned(), String::new(), "äöüßäöü".to_owned()], size);
        let rows: Vec<_> = text.split("\x1b[K").collect();
        assert!(rows[1].starts_with("one\x1b[2;1H"), "{text:?}");
        assert!(rows[2].starts_with("too l\x1b[3;1H") && rows[4].starts_with("äöüßä\x1b"), "{text:?}");
        assert_eq!(rows[5], "─────\x1b8", "and the cursor goes back");
    }
}
