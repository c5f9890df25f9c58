//! Documents for customers and programs: invoices and credit notes as PDF (PDF/A-3, tagged) and as XML (the Cross
//! Industry Invoice of EN 16931), which the PDF embeds; and labels for scanning in the shop ([`labels`]).
//!
//! All functions are pure: the same document yields the same bytes. They read no clock, no database and, except for the
//! configured files at startup, no files.

mod canvas;
pub mod cii;
pub mod labels;
pub mod mail;
mod sample;
mod scripts;
mod sheet;
mod text;
mod xml;
mod xmp;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use krilla::image::Image;
use sha2::{Digest as _, Sha256};

use canvas::Canvas;
use config::sections::PdfConfig;
use domain::invoice::{InvoiceStatus, IssuedDocument, Payment};
use domain::time::Timestamp;
use scripts::{SystemFonts, read_font};
use text::Fonts;

/// Maximum size of the logo in bytes; the logo is part of every PDF.
const MAX_LOGO_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of unprintable characters listed in a message.
const MAX_SHOWN_CHARACTERS: usize = 20;
/// Version of the PDF design. A new version invalidates all stored PDFs.
const LOOK_VERSION: u32 = 5;

/// Reason why documents cannot be rendered with the configured design.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// A configured file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Underlying operating system error.
        source: std::io::Error,
    },
    /// The file is not a usable image or font.
    #[error("{} cannot be used: {words}", path.display())]
    Unusable {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the file cannot be used.
        words: String,
    },
    /// A built-in font is broken.
    #[error("a built-in font cannot be used: {0}")]
    BuiltIn(String),
    /// A sample document violates PDF/A, for example because the logo is meant for print and has no colour profile, or
    /// because a font may not be embedded.
    #[error("invoices cannot be rendered with this logo and these fonts: {0}")]
    Sample(#[from] RenderError),
}

/// Reason why a document could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("rendering the PDF failed: {0}")]
pub struct RenderError(String);

/// Renderer for documents in the configured design. It is created once and shared.
pub struct Renderer {
    fonts: Fonts,
    system: SystemFonts,
    logo: Option<Image>,
    accent: (u8, u8, u8),
    footer: Vec<String>,
    /// Identifier of the design in the storage keys of PDFs, so that a different design results in different PDFs.
    look: String,
}

/// Contents of the PDF of an issued document.
#[derive(Clone, Copy, Debug)]
pub struct PdfContent<'a> {
    /// Issued document, including its number.
    pub document: &'a IssuedDocument,
    /// Number and issue date of the invoice reversed by a credit note.
    pub preceding: Option<(&'a str, Timestamp)>,
    /// Number of the credit note that voided the invoice.
    pub voided_by: Option<&'a str>,
    /// Status of the invoice, which determines the payment information in its PDF.
    pub status: InvoiceStatus,
    /// Payments and refunds, oldest first.
    pub payments: &'a [Payment],
}

impl Renderer {
    /// Reads the configured logo and fonts and renders a sample with them, so that anything that PDF/A forbids is
    /// detected before the first invoice.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or is not a usable logo or font.
    pub fn new(settings: &PdfConfig) -> Result<Self, DesignError> {
        let mut fonts = Fonts::built_in().map_err(DesignError::BuiltIn)?;
        let mut look = format!("{LOOK_VERSION} {} {}", settings.accent_color, settings.footer);
        for path in &settings.fonts {
            let data = read(path)?;
            let _ = write!(look, " {}", hex::encode(Sha256::digest(&data)));
            fonts.add(data).map_err(|words| DesignError::Unusable { path: path.clone(), words })?;
        }
        let system = SystemFonts::find(&settings.font_folders);
        look += &system.look();
        let logo = if settings.logo_file.as_os_str().is_empty() { None } else { Some(&settings.logo_file) };
        let logo = logo.map(|path| {
            let unusable = |words: String| DesignError::Unusable { path: path.clone(), words };
            let data = read(path)?;
            if data.len() > MAX_LOGO_BYTES {
                return Err(unusable(format!("it is larger than {MAX_LOGO_BYTES} bytes")));
            }
            let _ = write!(look, " {}", hex::encode(Sha256::digest(&data)));
            picture(data).map_err(unusable)
        });
        let renderer = Self {
            fonts,
            system,
            logo: logo.transpose()?,
            accent: settings.accent().unwrap_or((0x1f, 0x4e, 0x79)),
            footer: settings.footer.lines().take(3).map(str::to_owned).collect(),
            look,
        };
        // Of the program's own fonts without a logo the tests know it.
        if renderer.logo.is_some() || !settings.fonts.is_empty() {
            let document = sample::document(renderer.fonts.own_letters());
            let status = InvoiceStatus::Open;
            let view = PdfContent { document: &document, preceding: None, voided_by: None, status, payments: &[] };
            renderer.pdf_with(&renderer.fonts, &view)?;
        }
        Ok(renderer)
    }

    /// Returns the identifier of the design.
    pub fn look(&self) -> &str {
        &self.look
    }

    /// Renders the document as PDF/A-3, with the XML embedded.
    ///
    /// # Errors
    ///
    /// Returns an error if the PDF would violate PDF/A.
    pub fn pdf(&self, view: &PdfContent<'_>) -> Result<Vec<u8>, RenderError> {
        let text = self.text_of(view);
        let Some(fonts) = self.with_system_fonts(&text) else { return self.pdf_with(&self.fonts, view) };
        let lacking = fonts.lacking(&text);
        if !lacking.is_empty() {
            let (number, characters) = (view.document.number_text(), in_words(&lacking));
            tracing::warn!(number, characters, "the PDF shows ? for characters that no font contains");
        }
        // A font of the machine that must not be embedded is no reason to have no PDF.
        self.pdf_with(&fonts, view).or_else(|error| {
            tracing::warn!(%error, "rendering the PDF without this machine's fonts");
            self.pdf_with(&self.fonts, view)
        })
    }

    /// Returns the characters in a document that are printed as `?`, as text for display; empty if all characters can
    /// be printed. The call may read fonts installed on this machine, which takes a few milliseconds.
    pub fn unprintable(&self, view: &PdfContent<'_>) -> String {
        let text = self.text_of(view);
        self.with_system_fonts(&text).map(|fonts| in_words(&fonts.lacking(&text))).unwrap_or_default()
    }

    /// Returns the names of the scripts for which no font is available.
    pub fn scripts_without_fonts(&self) -> Vec<&'static str> {
        self.system.lacking(|sample| self.fonts.lacking(sample.encode_utf8(&mut [0; 4])).is_empty())
    }

    /// Returns these fonts plus the fonts installed on this machine that the text needs; `None` if it needs no
    /// installed font.
    fn with_system_fonts(&self, text: &str) -> Option<Fonts> {
        let lacking = self.fonts.lacking(text);
        if lacking.is_empty() {
            return None;
        }
        let mut fonts = self.fonts.clone();
        for path in self.system.files_for(&lacking) {
            let added = read_font(path).ok_or_else(|| "it cannot be read".to_owned()).and_then(|data| fonts.add(data));
            if let Err(error) = added {
                tracing::warn!(font = %path.display(), error, "cannot use one of this machine's fonts");
            }
        }
        Some(fonts)
    }

    /// Returns all text that a PDF may contain, including characters that every font has.
    fn text_of(&self, view: &PdfContent<'_>) -> String {
        serde_json::json!([view.document, view.payments, self.footer]).to_string()
    }

    fn pdf_with(&self, fonts: &Fonts, view: &PdfContent<'_>) -> Result<Vec<u8>, RenderError> {
        let xml = cii::xml(view.document, view.preceding);
        let page = sheet::page_size(view.document);
        let mut canvas = Canvas::new(fonts, page, self.accent);
        sheet::draw(&mut canvas, self, view);
        let bytes = canvas.finish(self.logo.as_ref(), view.document, xml).map_err(RenderError)?;
        Ok(xmp::with_invoice_schema(bytes))
    }
}

/// Formats at most [`MAX_SHOWN_CHARACTERS`] characters for display.
fn in_words(characters: &[char]) -> String {
    let more = if characters.len() > MAX_SHOWN_CHARACTERS { " …" } else { "" };
    let listed: Vec<String> = characters.iter().take(MAX_SHOWN_CHARACTERS).map(char::to_string).collect();
    format!("{}{more}", listed.join(" "))
}

fn read(path: &PathBuf) -> Result<Vec<u8>, DesignError> {
    std::fs::read(path).map_err(|source| DesignError::Read { path: path.clone(), source })
}

/// Loads a logo. The logo is not interpolated when scaled, because PDF/A forbids it.
fn picture(data: Vec<u8>) -> Result<Image, String> {
    let data = Arc::new(data);
    if data.starts_with(&[0x89, b'P', b'N', b'G']) {
        Image::from_png(data.into(), false)
    } else {
        Image::from_jpeg(data.into(), false)
    }
}
