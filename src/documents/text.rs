//! Text layout: font selection per character, shaping, direction, width, and wrapping.

use std::ops::Range;
use std::sync::Arc;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Direction, Face, UnicodeBuffer};
use unicode_bidi::BidiInfo;

use super::scripts::{BOLD, FURTHER, REGULAR};

/// Replacement for a character that no font has.
const UNKNOWN: char = '?';
/// Tolerance for the width of a line, in points. Sums of the same widths in a different order differ by less than this.
const WIDTH_SLACK: f32 = 0.01;
/// Maximum number of attempts to set a line that fits the width.
const MAX_TRIES: usize = 8;

/// Fonts, in the order in which they are tried for each character.
#[derive(Clone)]
pub struct Fonts {
    regular: Vec<FontFile>,
    bold: Vec<FontFile>,
}

#[derive(Clone)]
struct FontFile {
    data: Arc<Vec<u8>>,
    font: Font,
}

/// Text style.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Style {
    /// Font size in points.
    pub size: f32,
    /// `true` if the text is bold.
    pub bold: bool,
}

/// Adjacent glyphs in the same font.
#[derive(Clone, Debug)]
pub struct GlyphRun {
    pub font: Font,
    pub glyphs: Vec<KrillaGlyph>,
    /// Text that the glyphs represent, in logical order.
    pub text: String,
    /// Width in points.
    pub width: f32,
}

/// Line of text that is ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct TextLine {
    /// Glyph runs from left to right.
    pub runs: Vec<GlyphRun>,
    /// Width of the line in points, without trailing spaces.
    pub width: f32,
}

impl FontFile {
    fn new(data: Vec<u8>) -> Result<Self, String> {
        let data = Arc::new(data);
        Face::from_slice(&data, 0).ok_or("it is not a font")?;
        let font = Font::new(data.clone().into(), 0).ok_or("the font cannot be embedded in a PDF")?;
        Ok(Self { data, font })
    }
}

/// Font parsed for use in one document.
struct OpenFont<'f> {
    face: Face<'f>,
    font: Font,
}

/// Typesetter whose fonts are parsed once per document, because parsing them for each line would take longer than
/// setting the line.
pub struct Typesetter<'f> {
    regular: Vec<OpenFont<'f>>,
    bold: Vec<OpenFont<'f>>,
}

/// Part of a text in a single font and direction.
struct Segment {
    font: usize,
    rtl: bool,
    range: Range<usize>,
}

impl Fonts {
    /// Loads the built-in fonts: Latin, Greek and Cyrillic, Arabic, Armenian, Devanagari, Georgian, Hebrew and Thai.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the fonts is broken, because its text would then be missing from documents.
    pub fn built_in() -> Result<Self, String> {
        let file = |data: &[u8]| FontFile::new(data.to_vec());
        let further = FURTHER.into_iter().map(file).collect::<Result<Vec<_>, _>>()?;
        let with = |first: &[u8]| Ok::<_, String>([vec![file(first)?], further.clone()].concat());
        Ok(Self { regular: with(REGULAR)?, bold: with(BOLD)? })
    }

    /// Returns the visible characters in a text that none of the fonts has, sorted and without duplicates.
    pub fn lacking(&self, text: &str) -> Vec<char> {
        let fonts = open(&self.regular);
        let has = |c: char| fonts.iter().any(|font| font.has(c));
        // What is set as another character is judged by that; what stands for unknown ones is none that was written.
        let lacks =
            |c: &char| printable(*c).is_some_and(|set| (set == UNKNOWN && *c != UNKNOWN) || !has(set)) && !joins(*c);
        let mut lacking: Vec<char> = text.chars().filter(lacks).collect();
        lacking.sort_unstable();
        lacking.dedup();
        lacking
    }

    /// Adds a font for characters that the other fonts lack.
    pub fn add(&mut self, data: Vec<u8>) -> Result<(), String> {
        let file = FontFile::new(data)?;
        self.regular.push(file.clone());
        self.bold.push(file);
        Ok(())
    }

    /// Parses the fonts for one document.
    pub fn typesetter(&self) -> Typesetter<'_> {
        Typesetter { regular: open(&self.regular), bold: open(&self.bold) }
    }

    /// Returns, for each added font, one character that no earlier font has, so that a text with all of these
    /// characters uses all fonts.
    pub fn own_letters(&self) -> String {
        let fonts = open(&self.regular);
        let own = fonts.iter().enumerate().skip(1 + FURTHER.len()).filter_map(|(n, font)| {
            let before = |c: char| fonts.iter().take(n).any(|font| font.has(c));
            ('!'..='\u{2ffff}').find(|c| font.has(*c) && printable(*c) == Some(*c) && !joins(*c) && !before(*c))
        });
        own.collect()
    }
}

fn open(files: &[FontFile]) -> Vec<OpenFont<'_>> {
    files
        .iter()
        .filter_map(|file| Some(OpenFont { face: Face::from_slice(&file.data, 0)?, font: file.font.clone() }))
        .collect()
}

impl OpenFont<'_> {
    fn has(&self, c: char) -> bool {
        self.face.glyph_index(c).is_some_and(|glyph| glyph.0 != 0)
    }
}

impl<'f> Typesetter<'f> {
    fn fonts(&self, style: Style) -> &[OpenFont<'f>] {
        if style.bold { &self.bold } else { &self.regular }
    }

    /// Lays out one line of text.
    pub fn line(&self, text: &str, style: Style) -> TextLine {
        let fonts = self.fonts(style);
        let text: String = text.chars().filter_map(|c| settable(c, fonts)).collect();
        let mut line = TextLine::default();
        for Segment { font, rtl, range } in segments(&text, fonts) {
            if let (Some(part), Some(font)) = (text.get(range), fonts.get(font)) {
                line.runs.push(shape(part, font, rtl, style.size));
            }
        }
        let blanks = text.chars().rev().take_while(|c| *c == ' ').count();
        let whole: f32 = line.runs.iter().map(|run| run.width).sum();
        let blank = if blanks == 0 { 0.0 } else { blank(fonts, style.size) };
        line.width = (whole - blank * blanks as f32).max(0.0);
        line
    }

    /// Wraps the text into lines of at most the given width. Longer words are broken; line breaks in the text are
    /// preserved.
    ///
    /// Each paragraph is measured once, and then each of its lines is set once. The time is therefore linear in the
    /// length of the text, even for text without spaces.
    pub fn wrapped(&self, text: &str, style: Style, width: f32) -> Vec<TextLine> {
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let measured = Measured::new(paragraph, self.fonts(style), style.size);
            let mut from = 0;
            loop {
                let (line, end) = self.longest(&measured, from, style, width);
                lines.push(line);
                from = end;
                if from >= measured.letters.len() {
                    break;
                }
            }
        }
        if lines.is_empty() {
            lines.push(TextLine::default());
        }
        lines
    }

    /// Sets the longest possible line starting at the given cluster, and returns it with the index of the cluster after
    /// it. Clusters may be wider in the line than in the paragraph (because of kerning and joining), in which case the
    /// line is shortened and set again.
    fn longest(&self, measured: &Measured, from: usize, style: Style, width: f32) -> (TextLine, usize) {
        let mut most = measured.fitting(from, width);
        let mut tries = 1;
        loop {
            let end = measured.break_before(from, most);
            let line = self.line(measured.text_of(from, end), style);
            if line.width <= width + WIDTH_SLACK || end <= from + 1 || tries == MAX_TRIES {
                return (line, end);
            }
            (most, tries) = (end - 1, tries + 1);
        }
    }
}

/// Paragraph with its measured glyph clusters. Characters that are set together, such as a letter with its accents,
/// form a single cluster.
struct Measured {
    text: String,
    /// Byte offset of each cluster and its width in points, in text order.
    letters: Vec<(usize, f32)>,
    /// Sorted positions at which a line may end, which are those after spaces.
    breaks: Vec<usize>,
}

impl Measured {
    fn new(paragraph: &str, fonts: &[OpenFont<'_>], size: f32) -> Self {
        let (mut text, mut breaks) = (String::new(), Vec::new());
        for c in paragraph.chars() {
            text.extend(settable(c, fonts));
            if matches!(c, ' ' | '\t') {
                breaks.push(text.len());
            }
        }
        let mut letters: Vec<(usize, f32)> = Vec::new();
        for Segment { font, rtl, range } in segments(&text, fonts) {
            let start = range.start;
            if let (Some(part), Some(font)) = (text.get(range), fonts.get(font)) {
                let glyphs = shape(part, font, rtl, size).glyphs;
                letters.extend(glyphs.iter().map(|glyph| (start + glyph.text_range.start, glyph.x_advance * size)));
            }
        }
        letters.sort_by_key(|(start, _)| *start);
        letters.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
        Self { text, letters, breaks }
    }

    /// Returns the byte offset of a glyph cluster, or the end of the text for the index after the last one.
    fn start(&self, letter: usize) -> usize {
        self.letters.get(letter).map_or(self.text.len(), |(start, _)| *start)
    }

    fn text_of(&self, from: usize, end: usize) -> &str {
        // The first letter begins with the text, whatever it begins with.
        let start = if from == 0 { 0 } else { self.start(from) };
        self.text.get(start..self.start(end)).unwrap_or_default()
    }

    /// Returns the first cluster that does not fit on a line starting at `from`, ignoring trailing spaces. At least one
    /// cluster fits.
    fn fitting(&self, from: usize, width: f32) -> usize {
        let mut sum = 0.0;
        for (n, (start, own)) in self.letters.iter().enumerate().skip(from) {
            sum += own;
            let blank = self.text.get(*start..).is_some_and(|rest| rest.starts_with(' '));
            if sum > width && !blank && n > from {
                return n;
            }
        }
        self.letters.len()
    }

    /// Returns the end of the line if `most` is the first cluster that does not fit: after the last space on the line
    /// or, if there is none, within the word.
    fn break_before(&self, from: usize, most: usize) -> usize {
        if most >= self.letters.len() {
            return most;
        }
        let last = self.start(most);
        let at = self.breaks.partition_point(|at| *at <= last).checked_sub(1).and_then(|n| self.breaks.get(n));
        let end = at.and_then(|at| self.letters.binary_search_by_key(at, |(start, _)| *start).ok());
        end.filter(|end| *end > from).unwrap_or(most)
    }
}

/// Returns the character to set; `None` if the character is invisible or forbidden by PDF/A.
fn printable(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{a0}' | '\u{202f}' => Some(' '),
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{ffff}' => None,
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => Some(UNKNOWN),
        c if c.is_control() => None,
        c => Some(c),
    }
}

/// Returns whether a character attaches to the previous one and must therefore be set in the same font.
fn joins(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20ff}')
}

/// Returns the character to set in the given fonts, which is a question mark if none of the fonts has it.
fn settable(c: char, fonts: &[OpenFont<'_>]) -> Option<char> {
    let c = printable(c)?;
    if fonts.iter().any(|font| font.has(c)) { Some(c) } else { (!joins(c)).then_some(UNKNOWN) }
}

/// Returns the width of a space in points.
fn blank(fonts: &[OpenFont<'_>], size: f32) -> f32 {
    let Some(font) = fonts.iter().find(|font| font.has(' ')) else { return 0.0 };
    let advance = font.face.glyph_index(' ').and_then(|glyph| font.face.glyph_hor_advance(glyph));
    f32::from(advance.unwrap_or_default()) / font.font.units_per_em() * size
}

/// Splits the text into segments, each in a single font and direction, from left to right.
fn segments(text: &str, fonts: &[OpenFont<'_>]) -> Vec<Segment> {
    let bidi = BidiInfo::new(text, None);
    let mut segments = Vec::new();
    for paragraph in &bidi.paragraphs {
        let (levels, ranges) = bidi.visual_runs(paragraph, paragraph.range.clone());
        for range in ranges {
            let rtl = levels.get(range.start).is_some_and(unicode_bidi::Level::is_rtl);
            let mut parts = by_font(text, range, fonts);
            if rtl {
                parts.reverse();
            }
            segments.extend(parts.into_iter().map(|(font, range)| Segment { font, rtl, range }));
        }
    }
    segments
}

/// Splits part of the text into ranges that each use a single font, with the index of the font.
fn by_font(text: &str, within: Range<usize>, fonts: &[OpenFont<'_>]) -> Vec<(usize, Range<usize>)> {
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    let from = within.start;
    for (at, c) in text.get(within).unwrap_or_default().char_indices() {
        let (start, end) = (from + at, from + at + c.len_utf8());
        let own = fonts.iter().position(|font| font.has(c)).unwrap_or(0);
        let in_font = |font: usize| fonts.get(font).is_some_and(|font| font.face.glyph_index(c).is_some());
        match parts.last_mut() {
            Some((font, range)) if *font == own || (joins(c) && in_font(*font)) => range.end = end,
            _ => parts.push((own, start..end)),
        }
    }
    parts
}

fn shape(text: &str, open: &OpenFont<'_>, rtl: bool, size: f32) -> GlyphRun {
    let font = open.font.clone();
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(text);
    buffer.guess_segment_properties();
    buffer.set_direction(if rtl { Direction::RightToLeft } else { Direction::LeftToRight });
    let shaped = rustybuzz::shape(&open.face, &[], buffer);
    let per_em = font.units_per_em();
    let mut starts: Vec<usize> = shaped.glyph_infos().iter().map(|info| info.cluster as usize).collect();
    starts.sort_unstable();
    starts.dedup();
    let end = |start: usize| starts.get(starts.partition_point(|other| *other <= start)).copied().unwrap_or(text.len());
    let glyphs: Vec<KrillaGlyph> = shaped
        .glyph_infos()
        .iter()
        .zip(shaped.glyph_positions())
        .map(|(info, at)| {
            let start = info.cluster as usize;
            KrillaGlyph::new(
                GlyphId::new(info.glyph_id),
                at.x_advance as f32 / per_em,
                at.x_offset as f32 / per_em,
                at.y_offset as f32 / per_em,
                at.y_advance as f32 / per_em,
                start..end(start),
                None,
            )
        })
        .collect();
    let width = glyphs.iter().map(|glyph| glyph.x_advance * size).sum();
    GlyphRun { font, glyphs, text: text.to_owned(), width }
}
