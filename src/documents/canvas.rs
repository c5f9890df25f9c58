//! Pages that are drawn in memory before they are written: the position of each element, and its role for screen
//! readers.
//!
//! Drawing operations are first recorded in lists, because a text such as "page 2 of 3" requires the total number of
//! pages. [`Canvas::finish`] then writes the pages with the tag tree.

use std::num::NonZeroU16;

use krilla::SerializeSettings;
use krilla::color::rgb;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::embed::{AssociationKind, EmbeddedFile, MimeType};
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, SpanTag, TableHeaderScope, Tag, TagGroup, TagTree,
};

use super::text::{Fonts, Style, TextLine, Typesetter};
use domain::invoice::{DocumentKind, IssuedDocument};
use domain::time::Timestamp;
use words::{Language, invoices};

/// File name of the embedded XML, as specified by ZUGFeRD and Factur-X.
pub const XML_NAME: &str = "factur-x.xml";

/// RGB colour.
pub type Rgb = (u8, u8, u8);

/// Horizontal alignment of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    Left,
    Right,
}

/// Heading of a document part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SheetHeading {
    BillTo,
    CreditTo,
    Issuer,
    Payments,
}

impl SheetHeading {
    /// Returns the text of the heading.
    pub fn text(self, language: Language) -> String {
        match self {
            Self::BillTo => invoices::bill_to(language),
            Self::CreditTo => invoices::credit_to(language),
            Self::Issuer => invoices::issuer(language),
            Self::Payments => invoices::payments_heading(language),
        }
    }
}

/// Role of a document element in the tag tree, for screen readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagRole {
    Title,
    /// Heading with its text, which PDF/UA additionally requires as the tag's title.
    Heading(SheetHeading),
    Paragraph,
    Table,
    HeadRow,
    Row,
    HeadCell,
    Cell,
    Logo,
}

/// Node in the tag tree.
#[derive(Debug)]
struct TagNode {
    role: TagRole,
    children: Vec<usize>,
    identifiers: Vec<Identifier>,
}

/// Drawing operation. Lengths are in points from the upper left corner of the page.
#[derive(Debug)]
pub(super) enum DrawingOperation {
    Text { x: f32, y: f32, line: TextLine, size: f32, color: Rgb },
    Box { x: f32, y: f32, width: f32, height: f32, color: Rgb },
    Logo { x: f32, y: f32, width: f32, height: f32 },
}

/// Drawing operation and the tag tree node that it belongs to; decoration belongs to none.
#[derive(Debug)]
struct TaggedOperation {
    node: Option<usize>,
    ink: DrawingOperation,
}

/// Pages being drawn. Lengths are in points from the upper left corner of each page.
pub struct Canvas<'f> {
    pub fonts: Typesetter<'f>,
    pub width: f32,
    pub height: f32,
    pub accent: Rgb,
    pages: Vec<Vec<TaggedOperation>>,
    nodes: Vec<TagNode>,
    top: Vec<usize>,
    open: Vec<usize>,
    /// `true` while everything drawn is decoration, such as repeated table headers, and not part of the tag tree.
    pub decoration: bool,
}

impl<'f> Canvas<'f> {
    /// Creates a document with one empty page.
    pub fn new(fonts: &'f Fonts, (width, height): (f32, f32), accent: Rgb) -> Self {
        let (pages, nodes, fonts) = (vec![Vec::new()], Vec::new(), fonts.typesetter());
        Self { fonts, width, height, accent, pages, nodes, top: Vec::new(), open: Vec::new(), decoration: false }
    }

    /// Starts a new page, on which all subsequent elements are drawn.
    pub fn next_page(&mut self) {
        self.pages.push(Vec::new());
    }

    /// Draws a document element whose content is drawn by `draw`.
    pub fn part<T>(&mut self, role: TagRole, draw: impl FnOnce(&mut Self) -> T) -> T {
        if self.decoration {
            return draw(self);
        }
        let node = self.nodes.len();
        self.nodes.push(TagNode { role, children: Vec::new(), identifiers: Vec::new() });
        match self.open.last() {
            Some(parent) => self.nodes[*parent].children.push(node),
            None => self.top.push(node),
        }
        self.open.push(node);
        let drawn = draw(self);
        self.open.pop();
        drawn
    }

    fn mark(&mut self, ink: DrawingOperation) {
        let node = if self.decoration { None } else { self.open.last().copied() };
        if let Some(page) = self.pages.last_mut() {
            page.push(TaggedOperation { node, ink });
        }
    }

    /// Draws a line of text with its baseline at `y`; `x` is the left or right end, depending on the alignment. Returns
    /// the width of the text.
    pub fn text(&mut self, (x, y): (f32, f32), text: &str, style: Style, color: Rgb, align: Align) -> f32 {
        let line = self.fonts.line(text, style);
        self.line((x, y), line, style.size, color, align)
    }

    /// Draws a line of laid-out text and returns its width.
    pub fn line(&mut self, (x, y): (f32, f32), line: TextLine, size: f32, color: Rgb, align: Align) -> f32 {
        let width = line.width;
        if line.runs.is_empty() {
            return width;
        }
        let x = if align == Align::Right { x - width } else { x };
        self.mark(DrawingOperation::Text { x, y, line, size, color });
        width
    }

    /// Draws a filled rectangle, which is decoration.
    pub fn fill(&mut self, (x, y): (f32, f32), (width, height): (f32, f32), color: Rgb) {
        let before = std::mem::replace(&mut self.decoration, true);
        self.mark(DrawingOperation::Box { x, y, width, height, color });
        self.decoration = before;
    }

    /// Draws the logo from its upper left corner, scaled to fit into a box of the given size.
    pub fn logo(&mut self, logo: &Image, (x, y): (f32, f32), (most_width, most_height): (f32, f32)) -> f32 {
        let (width, height) = logo.size();
        let (width, height) = (width.max(1) as f32, height.max(1) as f32);
        let scale = (most_width / width).min(most_height / height);
        let (width, height) = (width * scale, height * scale);
        self.part(TagRole::Logo, |canvas| canvas.mark(DrawingOperation::Logo { x, y, width, height }));
        height
    }

    /// Draws decoration on every page; `draw` receives the page number and the total number of pages.
    pub fn on_each_page(&mut self, mut draw: impl FnMut(&mut Self, usize, usize)) {
        let count = self.pages.len();
        let (pages, before) = (std::mem::take(&mut self.pages), std::mem::replace(&mut self.decoration, true));
        for (n, page) in pages.into_iter().enumerate() {
            self.pages.push(page);
            draw(self, n + 1, count);
        }
        self.decoration = before;
    }

    /// Writes the PDF, with the XML embedded.
    pub fn finish(mut self, logo: Option<&Image>, document: &IssuedDocument, xml: String) -> Result<Vec<u8>, String> {
        let configuration = ConfigurationBuilder::new()
            .with_archival_validator(Archival::A3_A)
            .with_accessibility_validator(Accessibility::UA1)
            .finish()
            .map_err(|error| format!("{error:?}"))?;
        let settings = SerializeSettings { configuration, enable_tagging: true, ..SerializeSettings::default() };
        let mut pdf = krilla::Document::new_with(settings);
        let size = PageSettings::from_wh(self.width, self.height).ok_or("the page has no size")?;
        for marks in std::mem::take(&mut self.pages) {
            let mut page = pdf.start_page_with(size.clone());
            let mut surface = page.surface();
            for mark in marks {
                let tag = match (&mark.node, &mark.ink) {
                    (None, _) => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
                    (Some(_), DrawingOperation::Text { .. }) => ContentTag::Span(SpanTag::empty()),
                    (Some(_), _) => ContentTag::Other,
                };
                let identifier = surface.start_tagged(tag);
                draw(&mut surface, mark.ink, logo);
                surface.end_tagged();
                if let Some(node) = mark.node.and_then(|node| self.nodes.get_mut(node)) {
                    node.identifiers.push(identifier);
                }
            }
            surface.finish();
            page.finish();
        }
        let language = document.content.buyer.language;
        let mut tree = TagTree::new().with_lang(Some(language.tag().to_owned()));
        for node in &self.top {
            tree.push(self.group(*node, document));
        }
        pdf.set_tag_tree(tree);
        let title = title(document);
        let mut outline = Outline::new();
        outline.push_child(OutlineNode::new(title.clone(), XyzDestination::new(0, Point::from_xy(0.0, 0.0))));
        pdf.set_outline(outline);
        let at = moment(document.issued_at);
        pdf.set_metadata(
            Metadata::new()
                .title(title)
                .authors(vec![seller_name(document).to_owned()])
                .creator("Printfloor".to_owned())
                .producer("Printfloor".to_owned())
                .language(language.tag().to_owned())
                .document_id(document.id.to_string())
                .creation_date(at),
        );
        let file = EmbeddedFile {
            path: XML_NAME.to_owned(),
            mime_type: MimeType::new("text/xml"),
            description: Some("The same document as a Cross Industry Invoice of EN 16931".to_owned()),
            association_kind: AssociationKind::Alternative,
            data: xml.into_bytes().into(),
            modification_date: Some(at),
            compress: Some(true),
            location: None,
        };
        pdf.embed_file(file).ok_or("the XML is already embedded")?;
        pdf.finish().map_err(|error| format!("{error:?}"))
    }

    fn group(&self, node: usize, document: &IssuedDocument) -> TagGroup {
        let Some(node) = self.nodes.get(node) else { return TagGroup::new(Tag::P) };
        let (level, language) = (NonZeroU16::MIN, document.content.buyer.language);
        let mut group = match node.role {
            TagRole::Title => TagGroup::new(Tag::Hn(level, Some(title(document)))),
            TagRole::Heading(heading) => TagGroup::new(Tag::Hn(level.saturating_add(1), Some(heading.text(language)))),
            TagRole::Paragraph => TagGroup::new(Tag::P),
            TagRole::Table => TagGroup::new(Tag::Table.with_summary(Some(invoices::table_summary(language)))),
            TagRole::HeadRow | TagRole::Row => TagGroup::new(Tag::TR),
            TagRole::HeadCell => TagGroup::new(Tag::TH(TableHeaderScope::Column)),
            TagRole::Cell => TagGroup::new(Tag::TD),
            TagRole::Logo => TagGroup::new(Tag::Figure(Some(invoices::logo_of(language, seller_name(document))))),
        };
        let identifiers = node.identifiers.iter().copied();
        match node.role {
            // A table's cells hold paragraphs, so that their content is never without a block around it.
            TagRole::HeadCell | TagRole::Cell if !node.identifiers.is_empty() => {
                let mut paragraph = TagGroup::new(Tag::P);
                identifiers.for_each(|identifier| paragraph.push(identifier));
                group.push(paragraph);
            }
            _ => identifiers.for_each(|identifier| group.push(identifier)),
        }
        let (mut head, mut body) = (TagGroup::new(Tag::THead), TagGroup::new(Tag::TBody));
        for child in &node.children {
            let inner = self.group(*child, document);
            match self.nodes.get(*child).map(|child| child.role) {
                Some(TagRole::HeadRow) => head.push(inner),
                Some(TagRole::Row) => body.push(inner),
                _ => group.push(inner),
            }
        }
        if node.role == TagRole::Table {
            group.push(head);
            group.push(body);
        }
        group
    }
}

/// Returns the issuer's name; empty if none is set.
pub fn seller_name(document: &IssuedDocument) -> &str {
    if document.seller.name.is_empty() { "Printfloor" } else { &document.seller.name }
}

/// Returns the title of the document.
pub fn title(document: &IssuedDocument) -> String {
    let (language, number) = (document.content.buyer.language, document.number_text());
    match document.kind {
        DocumentKind::Invoice => invoices::invoice_title(language, &number),
        DocumentKind::CreditNote => invoices::credit_note_title(language, &number),
    }
}

fn moment(at: Timestamp) -> DateTime {
    let text = at.to_string();
    let part = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<u8>().ok()).unwrap_or(0);
    let year = text.get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970);
    DateTime::new(year)
        .month(part(5, 7))
        .day(part(8, 10))
        .hour(part(11, 13))
        .minute(part(14, 16))
        .second(part(17, 19))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

/// Returns an opaque fill with the given colour.
pub(super) fn ink(color: Rgb) -> Fill {
    let (red, green, blue) = color;
    Fill { paint: rgb::Color::new(red, green, blue).into(), opacity: NormalizedF32::ONE, rule: FillRule::NonZero }
}

/// Draws on a page; `logo` is the image used for [`DrawingOperation::Logo`].
pub(super) fn draw(surface: &mut Surface<'_>, mark: DrawingOperation, logo: Option<&Image>) {
    match mark {
        DrawingOperation::Text { x, y, line, size, color } => {
            surface.set_fill(Some(ink(color)));
            let mut x = x;
            for run in line.runs {
                surface.draw_glyphs(Point::from_xy(x, y), &run.glyphs, run.font, &run.text, size, false);
                x += run.width;
            }
        }
        DrawingOperation::Box { x, y, width, height, color } => {
            let mut path = PathBuilder::new();
            if let Some(rect) = Rect::from_xywh(x, y, width, height) {
                path.push_rect(rect);
            }
            if let Some(path) = path.finish() {
                surface.set_fill(Some(ink(color)));
                surface.draw_path(&path);
            }
        }
        DrawingOperation::Logo { x, y, width, height } => {
            if let (Some(logo), Some(size)) = (logo, Size::from_wh(width, height)) {
                surface.push_transform(&Transform::from_translate(x, y));
                surface.draw_image(logo.clone(), size);
                surface.pop();
            }
        }
    }
}
