//! Design of emails: one frame for all of them, as text and as HTML, with the shop's name, logo and colour. This module
//! is independent of the content and purpose of emails.
//!
//! All text is escaped. Emails load no external resources: the logo is attached.

use bytes::Bytes;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{DesignError, read};
use config::sections::PdfConfig;
use domain::invoice::Party;
use domain::mail::part::{MailFact, MailItem, MailLink, MailPart, plain};
use words::staff::alerts;
use words::{Language, mails};

#[cfg(test)]
mod tests;

/// Maximum size, in bytes, of a logo attached to each email; a larger logo appears only in PDFs.
const MAX_MAIL_LOGO_BYTES: usize = 64 * 1024;
/// Name shown in the frame if the settings contain no shop name.
const NO_NAME: &str = "Printfloor";
/// Colour of the frame if the settings contain none.
const PLAIN_ACCENT: (u8, u8, u8) = (0x1f, 0x4e, 0x79);
/// Content ID of the logo within an email.
pub const LOGO_ID: &str = "logo";

/// Style for dark mode; email programs that do not support it show the light colours.
const DARK_STYLE: &str = "@media (prefers-color-scheme:dark){\
.paper{background:#12161d!important}.card{background:#1b212b!important}\
.ink{color:#e8ecf2!important}.soft{color:#a0abba!important}.line{border-color:#2c3542!important}}";

const PAPER: &str = "margin:0;padding:0;background:#f4f6f9";
const CARD: &str = "width:100%;max-width:560px;background:#ffffff;border-radius:12px";
const FONT: &str = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const INK: &str = "color:#1c2430;font-size:16px;line-height:24px;margin:0 0 16px";
const CELL: &str =
    "color:#1c2430;font-size:16px;line-height:24px;padding:6px 0;border-bottom:1px solid #dde3ea;vertical-align:top";
const HEADING: &str = "color:#1c2430;font-size:22px;line-height:28px;margin:0 0 16px;font-weight:600";
const SHOP: &str = "color:#1c2430;font-size:15px;line-height:20px;margin:0;font-weight:600";
const SOFT: &str = "color:#5a6678;font-size:13px;line-height:19px;margin:0 0 4px";

/// Logo attached to an email.
#[derive(Clone, Debug)]
pub struct MailLogo {
    /// File name of the logo.
    pub name: &'static str,
    /// Media type of the logo.
    pub content_type: &'static str,
    /// Contents of the configured image file.
    pub bytes: Bytes,
}

/// Contents of an email.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'a> {
    /// Subject, which is also the heading.
    pub subject: &'a str,
    /// Introductory text.
    pub text: &'a str,
    /// Tables and further links.
    pub parts: &'a [MailPart],
    /// Link that the recipient is asked to open.
    pub link: Option<&'a MailLink>,
    /// Language of the texts.
    pub language: Language,
    /// `true` if the recipient is staff rather than a customer.
    pub to_staff: bool,
}

/// Frame for all emails in the configured design. It is created once and shared.
pub struct MailFrame {
    shop: String,
    bar: String,
    button: String,
    imprint: Vec<String>,
    logo: Option<MailLogo>,
}

impl MailFrame {
    /// Creates the frame with the same colours and seller details as documents. Reads the logo.
    ///
    /// # Errors
    ///
    /// Returns an error if the logo file cannot be read.
    pub fn new(look: &PdfConfig, seller: Party) -> Result<Self, DesignError> {
        let shop = if seller.name.is_empty() { NO_NAME.to_owned() } else { seller.name };
        let (red, green, blue) = look.accent().unwrap_or(PLAIN_ACCENT);
        let accent = format!("#{red:02x}{green:02x}{blue:02x}");
        let written = if is_light((red, green, blue)) { "#000000" } else { "#ffffff" };
        let footer: Vec<String> = look.footer.lines().take(3).map(str::to_owned).collect();
        let own = [Some(shop.clone()), seller.email, seller.phone, seller.vat_id];
        let own = own.into_iter().flatten().collect::<Vec<_>>().join("  ·  ");
        Ok(Self {
            bar: format!("padding:24px 28px 0;border-top:4px solid {accent};border-radius:12px 12px 0 0"),
            button: format!(
                "display:inline-block;background:{accent};color:{written};{FONT};font-size:16px;line-height:24px;\
                 font-weight:600;padding:12px 22px;border-radius:9px;text-decoration:none"
            ),
            imprint: if footer.is_empty() { vec![own] } else { footer },
            logo: logo(look)?,
            shop,
        })
    }

    /// Returns the logo shown in the HTML version of each email, if any.
    pub fn logo(&self) -> Option<&MailLogo> {
        self.logo.as_ref()
    }

    /// Renders the email as plain text.
    pub fn text(&self, letter: &Letter<'_>) -> String {
        let body = plain(letter.text, letter.parts, letter.link);
        format!("{body}\n-- \n{}\n", self.imprint.join("\n"))
    }

    /// Renders the email as HTML.
    pub fn html(&self, letter: &Letter<'_>) -> String {
        let page = html! {
            (DOCTYPE)
            html lang=(letter.language.tag()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (letter.subject) }
                    style { (PreEscaped(DARK_STYLE)) }
                }
                body class="paper" style=(PAPER) {
                    table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" {
                        tr { td align="center" style={ "padding:24px 12px;" (FONT) } { (self.card(letter)) } }
                    }
                }
            }
        };
        page.into_string()
    }

    fn card(&self, letter: &Letter<'_>) -> Markup {
        html! {
            table role="presentation" class="card" cellpadding="0" cellspacing="0" border="0" style=(CARD) {
                tr {
                    td align="left" style={ (self.bar) ";" (FONT) } {
                        @if self.logo.is_some() {
                            img src={ "cid:" (LOGO_ID) } alt=(self.shop) height="40" style="display:block;border:0;height:40px";
                        } @else {
                            p class="ink" style=(SHOP) { (self.shop) }
                        }
                    }
                }
                tr {
                    td align="left" style={ "padding:20px 28px 12px;" (FONT) } {
                        h1 class="ink" style=(HEADING) { (letter.subject) }
                        (paragraphs(letter.text))
                        @for one in letter.parts { (part(one)) }
                        @if let Some(MailLink { label, url }) = letter.link {
                            p style="margin:24px 0 16px" { a href=(url) style=(self.button) { (label) } }
                        }
                    }
                }
                tr {
                    td class="line" align="left" style={ "padding:16px 28px 20px;border-top:1px solid #dde3ea;" (FONT) } {
                        p class="soft" style=(SOFT) {
                            @if letter.to_staff { (alerts::staff_footer(letter.language, &self.shop)) }
                            @else { (mails::customer_footer(letter.language, &self.shop)) }
                        }
                        @for line in &self.imprint { p class="soft" style=(SOFT) { (line) } }
                    }
                }
            }
        }
    }
}

/// Reads the configured logo if it is small enough for emails.
fn logo(look: &PdfConfig) -> Result<Option<MailLogo>, DesignError> {
    let path = &look.logo_file;
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let bytes = Bytes::from(read(path)?);
    let png = bytes.starts_with(&[0x89, b'P', b'N', b'G']);
    let (name, content_type) = if png { ("logo.png", "image/png") } else { ("logo.jpg", "image/jpeg") };
    Ok((bytes.len() <= MAX_MAIL_LOGO_BYTES).then_some(MailLogo { name, content_type, bytes }))
}

/// Returns whether black is more legible than white on the given colour: its relative luminance exceeds that of the
/// grey on which both are equally legible.
pub fn is_light((red, green, blue): (u8, u8, u8)) -> bool {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.179
}

fn paragraphs(text: &str) -> Markup {
    let all = text.trim().split("\n\n").filter(|one| !one.trim().is_empty());
    html! {
        @for paragraph in all {
            p class="ink" style=(INK) {
                @for (n, line) in paragraph.trim().lines().enumerate() {
                    @if n > 0 { br; }
                    (line)
                }
            }
        }
    }
}

fn part(part: &MailPart) -> Markup {
    match part {
        MailPart::Text(text) => paragraphs(text),
        MailPart::Items(all) => html! {
            table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px" {
                @for MailItem { quantity, what, amount } in all {
                    tr {
                        td class="ink line" align="left" style=(CELL) { (quantity) " × " (what) }
                        @if let Some(amount) = amount {
                            td class="ink line" align="right" style={ (CELL) ";padding-left:16px;white-space:nowrap" } { (amount) }
                        }
                    }
                }
            }
        },
        MailPart::Facts(all) => html! {
            table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px" {
                @for MailFact { label, value } in all {
                    tr {
                        td class="soft line" align="left" style={ (CELL) ";color:#5a6678" } { (label) }
                        td class="ink line" align="right" style={ (CELL) ";padding-left:16px" } { (value) }
                    }
                }
            }
        },
        MailPart::Link(MailLink { label, url }) => html! {
            p class="ink" style=(INK) { a class="ink" href=(url) style="color:#1c2430;text-decoration:underline" { (label) } }
        },
    }
}
