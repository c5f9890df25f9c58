//! Branding of the pages that customers see: the shop's name, logo, colour and contact details. They come from the
//! settings for invoices and their PDFs, so that pages, emails and documents look alike.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tokio::io::AsyncReadExt as _;

use crate::design::{Icon, icon};
use config::Config;
use documents::mail::is_light;
use domain::address::Address;
use domain::country::country_name_in;
use domain::refusal::Refusal;
use http::error::ApiError;
use printers::cameras::frame::PictureKind;
use words::{Language, pages};

/// Path of the style sheet with the shop's colour.
pub(super) const STYLE_PATH: &str = "/brand/style.css";
/// Path of the shop's logo.
pub(super) const LOGO_PATH: &str = "/brand/logo";
/// Name shown if no shop name is set.
const NO_NAME: &str = "Printfloor";
/// Colour used if no colour is set.
const PLAIN_COLOR: (u8, u8, u8) = (0x1f, 0x4e, 0x79);
/// Maximum size of the logo, in bytes; the same as for PDFs.
const MAX_LOGO_BYTES: u64 = 2 * 1024 * 1024;

/// Name, logo, colour and contact details of the shop, for pages in one language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Brand {
    /// Language of the page.
    pub(super) language: Language,
    name: String,
    color: (u8, u8, u8),
    has_logo: bool,
    email: Option<String>,
    phone: Option<String>,
    address: Option<String>,
}

impl Brand {
    /// Creates the brand from the settings.
    pub(super) fn new(config: &Config, language: Language) -> Self {
        let seller = config.invoices.rules().seller;
        Self {
            language,
            name: if seller.name.is_empty() { NO_NAME.to_owned() } else { seller.name },
            color: config.pdf.accent().unwrap_or(PLAIN_COLOR),
            has_logo: !config.pdf.logo_file.as_os_str().is_empty(),
            email: seller.email,
            phone: seller.phone,
            address: seller.address.as_ref().map(|address| address_line(language, address)),
        }
    }

    /// Returns a page title, followed by the shop's name.
    pub(super) fn page_title(&self, title: &str) -> String {
        format!("{title} · {}", self.name)
    }

    /// Renders the link to the style sheet with the shop's colour. The link may also be placed in the body of a page.
    pub(super) fn style(&self) -> Markup {
        html! { link rel="stylesheet" href={ (STYLE_PATH) "?" (hex(self.color)) }; }
    }

    /// Renders the logo or, if there is none, the name with its initial in the shop's colour.
    pub(super) fn head(&self) -> Markup {
        html! {
            @if self.has_logo {
                img class="logo" src=(LOGO_PATH) alt=(self.name) height="32";
            } @else {
                span class="mark" aria-hidden="true" { (self.name.chars().next().unwrap_or('P')) }
                span { (self.name) }
            }
        }
    }

    /// Renders the footer with the shop's contact details.
    pub(super) fn foot(&self) -> Markup {
        html! {
            footer class="small muted" {
                span { (self.name) }
                @if let Some(address) = &self.address { span { (address) } }
                @if let Some(email) = &self.email { a class="tall" href={ "mailto:" (email) } { (email) } }
                @if let Some(phone) = &self.phone { a class="tall" href={ "tel:" (dialled(phone)) } { (phone) } }
            }
        }
    }

    /// Renders a link for emailing the shop about the document with the given number; renders nothing if no email
    /// address is set.
    pub(super) fn ask(&self, number: &str) -> Markup {
        html! {
            @if let Some(email) = &self.email {
                a class="btn" href={ "mailto:" (email) "?subject=" (number) } { (icon(Icon::Mail)) (pages::ask_shop(self.language)) }
            }
        }
    }
}

/// Formats an address on one line.
pub(super) fn address_line(language: Language, address: &Address) -> String {
    let city = format!("{} {}", address.postal_code, address.city);
    let country = country_name_in(language, &address.country).unwrap_or(&address.country);
    let second = address.line2.as_deref().unwrap_or_default();
    let parts = [address.line1.trim(), second.trim(), city.trim(), country.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns a telephone number without spaces and punctuation.
fn dialled(phone: &str) -> String {
    phone.chars().filter(|part| part.is_ascii_digit() || *part == '+').collect()
}

fn hex((red, green, blue): (u8, u8, u8)) -> String {
    format!("{red:02x}{green:02x}{blue:02x}")
}

/// Returns the style sheet that replaces the pages' accent colour. Text on the accent colour is black or white,
/// whichever is more legible.
fn style_sheet(color: (u8, u8, u8)) -> String {
    let (accent, ink) = (hex(color), if is_light(color) { "000000" } else { "ffffff" });
    format!(
        ":root{{--accent:#{accent};--accent-ink:#{ink};\
         --accent-soft:color-mix(in srgb,#{accent} 14%,var(--panel))}}\n"
    )
}

/// Serves the style sheet with the shop's colour.
pub(super) async fn style(State(config): State<Arc<Config>>) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, style_sheet(Brand::new(&config, Language::default()).color)).into_response()
}

/// Serves the shop's logo; fails with 404 if there is none.
pub(super) async fn logo(State(config): State<Arc<Config>>) -> Result<Response, ApiError> {
    let nothing = || ApiError::from(Refusal::not_found("picture"));
    let path = &config.pdf.logo_file;
    if path.as_os_str().is_empty() {
        return Err(nothing());
    }
    let mut bytes = Vec::new();
    tokio::fs::File::open(path).await?.take(MAX_LOGO_BYTES).read_to_end(&mut bytes).await?;
    let kind = PictureKind::of(&bytes).ok_or_else(nothing)?;
    let headers = [
        (header::CONTENT_TYPE, kind.media()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    Ok((headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        Address {
            line1: "Hafenstr. 2".to_owned(),
            line2: None,
            city: "Hamburg".to_owned(),
            region: None,
            postal_code: "20095".to_owned(),
            country: "DE".to_owned(),
        }
    }

    fn brand() -> Brand {
        Brand {
            language: Language::English,
            name: "Nordlicht <Prints>".to_owned(),
            color: (0x0f, 0x76, 0x6e),
            has_logo: false,
            email: Some("hello@nordlicht.example".to_owned()),
            phone: Some("+49 (40) 123-45".to_owned()),
            address: Some(address_line(Language::English, &address())),
        }
    }

    #[test]
    fn the_shop_is_named_with_its_initial_or_its_logo() {
        let brand = brand();
        let head = brand.head().0;
        assert!(head.contains(">N</span>") && head.contains("Nordlicht &lt;Prints&gt;"), "{head}");
        let with_logo = Brand { has_logo: true, ..brand }.head().0;
        assert!(with_logo.contains("src=\"/brand/logo\" alt=\"Nordlicht &lt;Prints&gt;\""), "{with_logo}");
        assert!(!with_logo.contains("class=\"mark\""), "{with_logo}");
    }

    #[test]
    fn the_contact_is_what_the_settings_contain() {
        let foot = brand().foot().0;
        for part in ["Hafenstr. 2, 20095 Hamburg, Germany", "mailto:hello@nordlicht.example", "tel:+494012345"] {
            assert!(foot.contains(part), "{part} in {foot}");
        }
        assert!(brand().ask("ORD-000123").0.contains("?subject=ORD-000123\""));
        assert_eq!(address_line(Language::German, &address()), "Hafenstr. 2, 20095 Hamburg, Deutschland");
        let silent = Brand { email: None, phone: None, address: None, ..brand() };
        assert!(!silent.foot().0.contains("href") && silent.ask("ORD-000123").0.is_empty());
    }

    #[test]
    fn text_on_the_colour_of_the_shop_is_legible() {
        assert!(style_sheet((0x1f, 0x4e, 0x79)).starts_with(":root{--accent:#1f4e79;--accent-ink:#ffffff;"));
        assert!(style_sheet((0xff, 0xe0, 0x00)).starts_with(":root{--accent:#ffe000;--accent-ink:#000000;"));
    }
}
