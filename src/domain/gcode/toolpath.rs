//! Reader for the extruding moves of G-code, from which an image of the part can be drawn.
//!
//! A state machine without I/O that accepts any bytes: lines that are too long, malformed numbers and positions beyond
//! [`MAX_MM`] are ignored. At most [`MAX_SEGMENTS`] moves are held in memory; for longer prints, only every second,
//! fourth or eighth move is held, so that memory does not grow with the file. The printer's own sections and skirts,
//! which lie beside the part, are excluded.

mod arc;
mod line;
mod meatpack;
mod source;

pub use source::read_toolpath;

use line::LineWords;

/// Maximum number of moves held in memory.
const MAX_SEGMENTS: usize = 200_000;
/// Maximum length of a line that is parsed, in bytes; longer lines contain no moves.
const MAX_LINE_BYTES: usize = 512;
/// Largest plausible coordinate, in millimetres.
const MAX_MM: f64 = 10_000.0;
/// Largest plausible filament length, in millimetres.
const MAX_FILAMENT_MM: f64 = 1e9;
/// Minimum width and depth, in millimetres, of a part that is worth drawing.
const MIN_PART_MM: f32 = 0.5;

/// Straight extruding move between two positions, in millimetres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSegment {
    /// X, Y and Z of the start.
    pub from: [f32; 3],
    /// X, Y and Z of the end.
    pub to: [f32; 3],
}

/// Extruding moves of a print, in the order in which they are printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Toolpath {
    segments: Vec<PathSegment>,
}

impl Toolpath {
    /// Returns the moves.
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// Returns whether the moves cover an area, so that there is something to draw.
    pub fn has_area(&self) -> bool {
        (0..2).all(|axis: usize| {
            let values = || {
                self.segments.iter().flat_map(move |one| [one.from, one.to]).filter_map(move |at| at.get(axis).copied())
            };
            values().fold(f32::NEG_INFINITY, f32::max) - values().fold(f32::INFINITY, f32::min) >= MIN_PART_MM
        })
    }
}

/// Streaming reader for the moves in G-code that arrives in chunks. The result does not depend on how the file is
/// divided into chunks.
#[derive(Debug)]
pub struct ToolpathReader {
    line: Vec<u8>,
    position: [f64; 3],
    extruded: f64,
    relative: bool,
    relative_extruder: bool,
    /// `true` in sections that print next to the part.
    beside: bool,
    segments: Vec<PathSegment>,
    max_segments: usize,
    /// Interval at which moves are held: one of every `stride` moves.
    stride: usize,
    /// Number of moves since the last one that was retained.
    passed: usize,
}

impl Default for ToolpathReader {
    fn default() -> Self {
        Self::with_room(MAX_SEGMENTS)
    }
}

impl ToolpathReader {
    /// Creates a reader that holds at most the given number of moves.
    fn with_room(max_segments: usize) -> Self {
        Self {
            line: Vec::new(),
            position: [0.0; 3],
            extruded: 0.0,
            relative: false,
            relative_extruder: false,
            beside: false,
            segments: Vec::new(),
            max_segments,
            stride: 1,
            passed: 0,
        }
    }

    /// Reads the next bytes of the file.
    pub fn push(&mut self, mut chunk: &[u8]) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.take(&chunk[..end]);
            self.end_line();
            chunk = &chunk[end + 1..];
        }
        self.take(chunk);
    }

    /// Finishes reading and returns the moves.
    pub fn finish(mut self) -> Toolpath {
        self.end_line();
        Toolpath { segments: self.segments }
    }

    /// Appends bytes to the current line. One byte beyond the limit marks the line as too long.
    fn take(&mut self, bytes: &[u8]) {
        let room = (MAX_LINE_BYTES + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if line.len() <= MAX_LINE_BYTES
            && let Ok(text) = std::str::from_utf8(&line)
        {
            self.read(text.trim());
        }
        line.clear();
        self.line = line;
    }

    fn read(&mut self, line: &str) {
        if let Some(comment) = line.strip_prefix(';') {
            return self.comment(comment.trim_start());
        }
        let mut words = LineWords::new(line);
        let Some((letter, number)) = words.next() else { return };
        match (letter, number as i64) {
            (b'G', code @ 0..=3) => self.go(code, words),
            (b'G', 90) => self.relative = false,
            (b'G', 91) => self.relative = true,
            (b'G', 92) => words.for_each(|(letter, value)| self.place(letter, value, false)),
            (b'M', 82) => self.relative_extruder = false,
            (b'M', 83) => self.relative_extruder = true,
            _ => {}
        }
    }

    /// Reads the comment that states the type of the moves after it, as written by PrusaSlicer, OrcaSlicer, Cura and
    /// Bambu Studio.
    fn comment(&mut self, text: &str) {
        if let Some(kind) = text.strip_prefix("TYPE:").or_else(|| text.strip_prefix("FEATURE:")) {
            let kind = kind.trim().to_ascii_lowercase();
            self.beside = kind == "custom" || kind.starts_with("skirt");
        }
    }

    /// Moves one axis, unless the position would be implausible.
    fn place(&mut self, letter: u8, value: f64, relative: bool) {
        let axis: usize = match letter {
            b'X' => 0,
            b'Y' => 1,
            b'Z' => 2,
            b'E' => 3,
            _ => return,
        };
        let limit = if axis == 3 { MAX_FILAMENT_MM } else { MAX_MM };
        let place = self.position.get_mut(axis).unwrap_or(&mut self.extruded);
        let next = if relative { *place + value } else { value };
        if next.abs() <= limit {
            *place = next;
        }
    }

    fn go(&mut self, code: i64, words: LineWords<'_>) {
        let (from, extruded) = (self.position, self.extruded);
        let mut shape = arc::ArcShape::default();
        for (letter, value) in words {
            let relative = self.relative || (letter == b'E' && self.relative_extruder);
            self.place(letter, value, relative);
            shape.take(letter, value);
        }
        let to = self.position;
        if self.extruded <= extruded || self.beside {
            return;
        }
        let points = if code >= 2 { shape.points(from, to, code == 2) } else { Vec::new() };
        let mut last = from;
        for point in points.into_iter().chain([to]) {
            self.draw(last, point);
            last = point;
        }
    }

    /// Holds a move, or skips it if the print has more moves than can be held.
    fn draw(&mut self, from: [f64; 3], to: [f64; 3]) {
        let segment = PathSegment { from: from.map(|mm| mm as f32), to: to.map(|mm| mm as f32) };
        if (0..2).all(|axis| (from[axis] - to[axis]).abs() <= f64::EPSILON) {
            return;
        }
        self.passed += 1;
        if self.passed < self.stride {
            return;
        }
        self.passed = 0;
        if self.segments.len() >= self.max_segments {
            let mut is_held = false;
            self.segments.retain(|_| {
                is_held = !is_held;
                is_held
            });
            self.stride *= 2;
        }
        self.segments.push(segment);
    }
}

#[cfg(test)]
mod tests;
