//! Labels of 62 × 29 mm with a QR code for scanning in the shop: one per page, as label printers require, or many on
//! each A4 sheet.
//!
//! The code contains a URL of this server. In the PDF, each label is also a link to that URL.

use krilla::SerializeSettings;
use krilla::action::{Action, LinkAction};
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::geom::{PathBuilder, Rect};
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::surface::Surface;
use qrcode::{Color, EcLevel, QrCode};

use super::canvas::{DrawingOperation, Rgb, draw, ink};
use super::text::{Style, TextLine, Typesetter};
use super::{RenderError, Renderer};

/// Maximum number of labels per PDF.
pub const MAX_LABELS: usize = 200;
/// Points per millimetre.
const POINTS_PER_MM: f32 = 72.0 / 25.4;
const LABEL_WIDTH: f32 = 62.0 * POINTS_PER_MM;
const LABEL_HEIGHT: f32 = 29.0 * POINTS_PER_MM;
/// Margin of a label in points; the code's quiet zone is added to it.
const LABEL_MARGIN: f32 = 1.5 * POINTS_PER_MM;
/// Width, in modules, of the quiet zone around a code. Scanners do not detect a code that has no quiet zone.
const QUIET_SQUARES: usize = 4;
/// Width and height of an A4 sheet in points.
const SHEET_SIZE: (f32, f32) = (210.0 * POINTS_PER_MM, 297.0 * POINTS_PER_MM);
/// Number of labels per sheet, horizontally and vertically.
const SHEET_GRID: (usize, usize) = (3, 9);

const BLACK: Rgb = (0, 0, 0);
/// Colour of the lines along which a sheet is cut.
const CUT: Rgb = (0xb8, 0xbe, 0xc6);
const CUT_WIDTH: f32 = 0.4;

const NAME: Style = Style { size: 11.0, bold: true };
const WORDS: Style = Style { size: 8.0, bold: false };
/// Maximum number of lines for the name, and for the text below it.
const MAX_LINES: (usize, usize) = (2, 4);
/// Line spacing as a multiple of the font size.
const LINE_SPACING: f32 = 1.25;

/// Text and URL of a label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Name, printed in large letters.
    pub name: String,
    /// Additional lines of text; lines that do not fit are omitted.
    pub words: Vec<String>,
    /// URL contained in the code.
    pub url: String,
}

/// Paper that labels are printed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelPaper {
    /// Label roll with a 62 × 29 mm page for each label.
    Roll,
    /// A4 sheets that are cut into labels.
    Sheet,
}

/// Run of adjacent dark modules in one row of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct DarkRun {
    x: usize,
    y: usize,
    length: usize,
}

impl Renderer {
    /// Renders the first [`MAX_LABELS`] labels as a PDF.
    ///
    /// # Errors
    ///
    /// Returns an error if a URL is too long for a code.
    pub fn labels(&self, labels: &[Label], paper: LabelPaper) -> Result<Vec<u8>, RenderError> {
        let labels = labels.get(..MAX_LABELS).unwrap_or(labels);
        let text: String = labels.iter().flat_map(|label| label.words.iter().chain([&label.name])).cloned().collect();
        let with_system = self.with_system_fonts(&text);
        let fonts = with_system.as_ref().unwrap_or(&self.fonts).typesetter();
        // Not for archives: no tree of tags, and whatever letters the fonts have.
        let settings = SerializeSettings { enable_tagging: false, ..SerializeSettings::default() };
        let mut pdf = krilla::Document::new_with(settings);
        let (columns, rows) = if paper == LabelPaper::Roll { (1, 1) } else { SHEET_GRID };
        let (width, height) = if paper == LabelPaper::Roll { (LABEL_WIDTH, LABEL_HEIGHT) } else { SHEET_SIZE };
        let size =
            PageSettings::from_wh(width, height).ok_or_else(|| RenderError("the page has no size".to_owned()))?;
        let left = (width - columns as f32 * LABEL_WIDTH) / 2.0;
        let top = (height - rows as f32 * LABEL_HEIGHT) / 2.0;
        for on_page in labels.chunks(columns * rows) {
            let places = (0..)
                .map(|n: usize| (left + (n % columns) as f32 * LABEL_WIDTH, top + (n / columns) as f32 * LABEL_HEIGHT));
            let placed: Vec<((f32, f32), &Label)> = places.zip(on_page).collect();
            let mut page = pdf.start_page_with(size.clone());
            let mut surface = page.surface();
            for (at, label) in &placed {
                if paper == LabelPaper::Sheet {
                    cut_lines(&mut surface, *at);
                }
                let beside = code(&mut surface, *at, &label.url)?;
                words(&mut surface, &fonts, *at, beside, label);
            }
            surface.finish();
            for ((x, y), label) in placed {
                if let Some(area) = Rect::from_xywh(x, y, LABEL_WIDTH, LABEL_HEIGHT) {
                    let target = Target::Action(Action::Link(LinkAction::new(label.url.clone())));
                    page.add_annotation(Annotation::new_link(
                        LinkAnnotation::new(area, target),
                        Some(label.name.clone()),
                    ));
                }
            }
            page.finish();
        }
        pdf.set_metadata(Metadata::new().title("Labels".to_owned()).language("en".to_owned()));
        pdf.finish().map_err(|error| RenderError(format!("{error:?}")))
    }
}

/// Returns the number of modules per side of the code for a URL, and the code's dark modules.
fn dark_runs(url: &str) -> Result<(usize, Vec<DarkRun>), RenderError> {
    let code = QrCode::with_error_correction_level(url.as_bytes(), EcLevel::M);
    let code = code.map_err(|error| RenderError(format!("the address does not fit into a QR code: {error}")))?;
    let side = code.width();
    let squares = code.into_colors();
    let mut runs: Vec<DarkRun> = Vec::new();
    for (y, row) in squares.chunks(side.max(1)).enumerate() {
        for (x, _) in row.iter().enumerate().filter(|(_, square)| **square == Color::Dark) {
            match runs.last_mut() {
                Some(run) if run.y == y && run.x + run.length == x => run.length += 1,
                _ => runs.push(DarkRun { x, y, length: 1 }),
            }
        }
    }
    Ok((side, runs))
}

/// Draws the code at the left of a label. Returns the left edge of the remaining space for text.
fn code(surface: &mut Surface<'_>, (x, y): (f32, f32), url: &str) -> Result<f32, RenderError> {
    let (side, runs) = dark_runs(url)?;
    let whole = LABEL_HEIGHT - 2.0 * LABEL_MARGIN;
    let square = whole / (side + 2 * QUIET_SQUARES) as f32;
    let quiet = LABEL_MARGIN + QUIET_SQUARES as f32 * square;
    let mut path = PathBuilder::new();
    for run in runs {
        let at = (x + quiet + run.x as f32 * square, y + quiet + run.y as f32 * square);
        if let Some(rect) = Rect::from_xywh(at.0, at.1, run.length as f32 * square, square) {
            path.push_rect(rect);
        }
    }
    if let Some(path) = path.finish() {
        surface.set_fill(Some(ink(BLACK)));
        surface.draw_path(&path);
    }
    Ok(LABEL_MARGIN + whole)
}

/// Draws the name and text at the right of a label, vertically centred.
fn words(surface: &mut Surface<'_>, fonts: &Typesetter<'_>, (x, y): (f32, f32), beside: f32, label: &Label) {
    let width = LABEL_WIDTH - beside - LABEL_MARGIN;
    let mut lines: Vec<(TextLine, Style)> = Vec::new();
    lines.extend(fonts.wrapped(&label.name, NAME, width).into_iter().take(MAX_LINES.0).map(|line| (line, NAME)));
    let below = label.words.iter().flat_map(|words| fonts.wrapped(words, WORDS, width));
    lines.extend(below.take(MAX_LINES.1).map(|line| (line, WORDS)));
    let whole: f32 = lines.iter().map(|(_, style)| style.size * LINE_SPACING).sum();
    let mut at = y + (LABEL_HEIGHT - whole) / 2.0;
    for (line, style) in lines {
        at += style.size * LINE_SPACING;
        // Letters stand above the lower end of their line.
        let stands = at - style.size * 0.3;
        draw(surface, DrawingOperation::Text { x: x + beside, y: stands, line, size: style.size, color: BLACK }, None);
    }
}

fn cut_lines(surface: &mut Surface<'_>, (x, y): (f32, f32)) {
    let edges = [
        (x, y, LABEL_WIDTH, CUT_WIDTH),
        (x, y + LABEL_HEIGHT, LABEL_WIDTH, CUT_WIDTH),
        (x, y, CUT_WIDTH, LABEL_HEIGHT),
        (x + LABEL_WIDTH, y, CUT_WIDTH, LABEL_HEIGHT),
    ];
    for (x, y, width, height) in edges {
        draw(surface, DrawingOperation::Box { x, y, width, height, color: CUT }, None);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use config::Config;

    const ADDRESS: &str =
        "https://shop.example/shop/stock/spools/26112304350701?material=01890a5d-ac96-774b-bcce-b302099a8061";

    fn label(name: &str) -> Label {
        Label {
            name: name.to_owned(),
            words: vec!["PLA black".to_owned(), "Полка A3".to_owned()],
            url: ADDRESS.to_owned(),
        }
    }

    fn count(pdf: &[u8], what: &str) -> usize {
        pdf.windows(what.len()).filter(|window| *window == what.as_bytes()).count()
    }

    #[test]
    fn a_code_has_its_three_corners_and_is_large_enough_to_be_read() {
        let (side, runs) = dark_runs(ADDRESS).unwrap();
        assert!((21..=57).contains(&side), "{side} squares a side on 26 mm");
        // The upper edge of a corner is seven dark squares, and a light one is beside it.
        for (x, y) in [(0, 0), (side - 7, 0), (0, side - 7)] {
            let corner = DarkRun { x, y, length: 7 };
            assert!(runs.contains(&corner), "{corner:?}");
        }
        assert_ne!(dark_runs(ADDRESS).unwrap(), dark_runs("https://shop.example/floor").unwrap());
        assert!(dark_runs(&"x".repeat(5_000)).is_err());
    }

    #[test]
    fn labels_are_pages_of_their_own_or_share_sheets_and_lead_to_their_addresses() {
        let renderer = Renderer::new(&Config::default().pdf).unwrap();
        let labels: Vec<Label> = (0..30).map(|n| label(&format!("Spool {n}"))).collect();
        let link = format!("({ADDRESS})");
        for (paper, pages, width) in [(LabelPaper::Roll, 30, "175.7"), (LabelPaper::Sheet, 2, "595.2")] {
            let pdf = renderer.labels(&labels, paper).unwrap();
            assert!(pdf.starts_with(b"%PDF-"), "{paper:?}");
            assert_eq!((count(&pdf, "/MediaBox"), count(&pdf, &link)), (pages, 30), "{paper:?}");
            assert!(count(&pdf, width) >= pages, "{paper:?}");
            assert_eq!(pdf, renderer.labels(&labels, paper).unwrap(), "the same labels are the same bytes");
        }
        let many: Vec<Label> = (0..=MAX_LABELS).map(|n| label(&n.to_string())).collect();
        assert_eq!(count(&renderer.labels(&many, LabelPaper::Roll).unwrap(), &link), MAX_LABELS);
    }
}
