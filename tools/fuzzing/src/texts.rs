//! Texts entered by people, contained in settings, or stored.

use std::str::from_utf8;
use std::sync::LazyLock;

use config::{Config, dotenv as dotenv_file, fuzzing, listen};
use documents::Renderer;
use documents::labels::{Label, LabelPaper};
use domain::access::normal_email;
use domain::currency;
use domain::database_address::addresses_of_hosts;
use domain::file_name::{clean_name, printer_name};
use domain::gcode_form::GcodeForm;
use domain::mailbox::mailbox;
use domain::material::MaterialType;
use domain::peer_address::{PeerAddress, without_login, without_queries};
use domain::picture_address::is_picture_address;
use domain::printer::{MachineAddress, check_base_url, check_camera_url};
use domain::second_factor::step_of_code;
use domain::shop_clock::ShopClock;
use domain::sku::slug_of;
use domain::target;
use domain::tax::percent_of;
use domain::time::Timestamp;
use domain::{typed_amount, unit_cost};
use platform::secrets::encryption::SecretCipher;
use platform::secrets::rotation::rotate_document;
use services::fuzzing::mail_texts;

/// Separator of the texts in an input.
const SEPARATOR: char = '\u{1e}';
/// Keys for stored secrets: the former one and the new one.
const KEYS: [&str; 2] =
    ["AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="];
/// Maximum length of a label's text, in characters. Longer ones are skipped, because rendering them would take too
/// long.
const MAX_LABEL_CHARS: usize = 500;

/// Renderer of labels.
static RENDERER: LazyLock<Option<Renderer>> = LazyLock::new(|| Renderer::new(&Config::default().pdf).ok());

/// Validates the addresses of webhooks, printers, cameras, services and databases, and email addresses.
pub(crate) fn addresses(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let _ = (target::check(text, true), target::check(text, false));
    let _ = (PeerAddress::web(text), PeerAddress::broker(text));
    let _ = (without_login(text), without_queries(text));
    let _ = (check_base_url(text), check_camera_url(text), MachineAddress::of(text));
    let _ = is_picture_address(text);
    let _ = addresses_of_hosts(text);
    let _ = listen::parse(text);
    if let Ok(email) = normal_email(text) {
        assert_eq!(normal_email(&email).ok().as_ref(), Some(&email), "a normal address stays as it is");
        let _ = mailbox(&email);
    }
}

/// Parses amounts, dates, names and codes as people type them.
pub(crate) fn typed_texts(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    for code in ["usd", "jpy"] {
        let _ = (typed_amount::parse(text, code), currency::parse(text, code));
        let _ = unit_cost::parse(text, MaterialType::Filament, code);
    }
    let _ = percent_of(text);
    let _ = slug_of(text);
    let _ = ShopClock::parse(text);
    let clock = ShopClock::default();
    let _ = (clock.parse_day_start(text), clock.parse_day_end(text), clock.parse_minute(text));
    let _ = step_of_code("JBSWY3DPEHPK3PXP", text, Timestamp(1_700_000_000_000), 0);
    if let Ok(name) = clean_name(text) {
        assert!(!name.contains(['/', '\\']), "{name:?} is a path");
        let _ = printer_name(&name, GcodeForm::Text);
    }
}

/// Parses a `.env` file.
pub(crate) fn dotenv(data: &[u8]) {
    if let Ok(text) = from_utf8(data) {
        let _ = dotenv_file::parse(text);
    }
}

/// Parses a settings file.
pub(crate) fn settings_file(data: &[u8]) {
    if let Ok(text) = from_utf8(data) {
        fuzzing::settings_file(text);
    }
}

/// Rotates the key of the secrets in a stored document, and decrypts a text.
pub(crate) fn stored_secret(data: &[u8]) {
    let (Ok(text), [Ok(former), Ok(new)]) = (from_utf8(data), KEYS.map(SecretCipher::new)) else { return };
    let _ = former.decrypt(text);
    let rotated = rotate_document(text, &former, &new);
    assert_eq!(rotate_document(&rotated.text, &former, &new).renewed, 0, "a second rotation finds nothing");
}

/// Composes an email with an untrusted subject, text and HTML version.
pub(crate) fn mail(data: &[u8]) {
    let Ok(input) = from_utf8(data) else { return };
    let mut texts = input.splitn(3, SEPARATOR);
    let mut next = || texts.next().unwrap_or_default();
    let (subject, text, html) = (next(), next(), next());
    mail_texts(subject, text, html);
}

/// Renders a label with a name, a line of text and the URL of its code.
pub(crate) fn label(data: &[u8]) {
    let (Ok(input), Some(renderer)) = (from_utf8(data), RENDERER.as_ref()) else { return };
    if input.chars().nth(MAX_LABEL_CHARS).is_some() {
        return;
    }
    let mut texts = input.splitn(3, SEPARATOR).map(str::to_owned);
    let mut next = || texts.next().unwrap_or_default();
    let label = Label { name: next(), words: vec![next()], url: next() };
    let _ = renderer.labels(&[label], LabelPaper::Roll);
}
