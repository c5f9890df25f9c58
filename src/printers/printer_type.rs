//! Declarations of printer types. Everything that other modules need to know about a type follows from its declaration.

use std::net::Ipv6Addr;

use super::PRINTER_TYPES;
use crate::error::PrinterError;
use crate::operation::Operation;
use crate::probes::{Announcement, OwnProbe, WebProbe};
use config::sections::PrintersConfig;
use config::values::Secret;
use domain::file::GcodeForm;
use domain::printer::{MachineAddress, Printer};
use domain::slot_label::{SlotLabel, SlotLabels};
use words::Language;
use words::staff::printer_form as texts;

/// Accessor for the configured default address and API key, which apply to printers registered without their own.
pub type TypeDefaults = fn(&PrintersConfig) -> (&str, &Secret);

/// Text for owners of printers, in the language of the page.
pub type PrinterTypeText = fn(Language) -> String;

/// Declaration of a printer type.
pub struct PrinterType {
    /// Type name in the API and in settings, such as `fw_rest`.
    pub word: &'static str,
    /// Name by which owners choose the type: the maker or the firmware, and the interface.
    pub name: &'static str,
    /// Phrase that states which printers are of this type, if the name alone does not.
    pub models: Option<PrinterTypeText>,
    /// Name of the program that runs on the printers, for messages to operators.
    pub program: &'static str,
    /// Default port of the program on the printers.
    pub default_port: u16,
    /// URL scheme of the printers' addresses.
    pub scheme: &'static str,
    /// Request header that carries the API key, in lowercase.
    pub key_header: &'static str,
    /// Label of the field for the key, as the printers or their program call it.
    pub key_label: PrinterTypeText,
    /// Sentence that tells owners where to find the key.
    pub key_hint: PrinterTypeText,
    /// Sentence that tells owners where to find the printer's IP address.
    pub address_hint: PrinterTypeText,
    /// Sentence that tells owners where to find the serial number; `None` if none is needed.
    pub serial_hint: Option<PrinterTypeText>,
    /// `true` if the key may instead have the form `user:password`, which is then used for HTTP Digest authentication.
    pub key_may_be_password: bool,
    /// `true` if the printers require no key, so anyone who can reach them can send commands.
    pub keyless: bool,
    /// G-code formats that the printers accept.
    pub forms: &'static [GcodeForm],
    /// `true` if a start command maps each filament to one of the slots that the printer reports. Other types with
    /// several slots take filament n of a file from slot n.
    pub maps_slots: bool,
    /// Labels that the vendor gives the slots.
    pub slot_labels: SlotLabels,
    /// Number that operators use for the external spool, which is separate from the reported slots; `None` for types
    /// that do not map slots.
    pub spool_beside: Option<u32>,
    /// Optional operations that the printers lack; they fail with [`PrinterError::Unsupported`].
    pub lacks: &'static [Operation],
    /// `true` if uploads to one host must not overlap, because several servers on one computer share a directory for
    /// unfinished uploads and mix them up.
    pub one_upload_per_host: bool,
    /// `true` if printers can only be reached with their serial number.
    pub needs_serial: bool,
    /// `true` if the printers' cameras require the printer's key.
    pub guards_camera: bool,
    /// Multiple of `dispatch.confirm_seconds` that these printers may take to report a print after a start command.
    pub confirm_factor: u32,
    /// Usual width, depth and height of these printers' build volumes, in millimetres; the initial values in forms.
    pub usual_volume_mm: [u16; 3],
    /// Accessor for this type's default address and key in the settings, if any.
    pub defaults: Option<TypeDefaults>,
    /// HTTP probes by which a search recognises these printers, if any.
    pub(super) web_probes: &'static [WebProbe],
    /// Probe by which a search recognises these printers in their own protocol, if any.
    pub(super) own_probe: Option<OwnProbe>,
    /// Protocol with which the printers announce themselves on the network; `None` if they do not.
    pub(super) announced: Option<Announcement>,
}

impl PrinterType {
    /// Returns a declaration with the properties that most types share; each type overrides those that differ.
    pub(super) const fn of(word: &'static str, program: &'static str, default_port: u16) -> Self {
        Self {
            word,
            name: program,
            models: None,
            program,
            default_port,
            scheme: "http",
            key_header: "x-api-key",
            key_label: texts::key_field,
            key_hint: texts::hint_key,
            address_hint: texts::hint_address,
            serial_hint: None,
            key_may_be_password: false,
            keyless: false,
            forms: &[GcodeForm::Text],
            maps_slots: false,
            slot_labels: SlotLabels::Numbers,
            spool_beside: None,
            lacks: &[],
            one_upload_per_host: false,
            needs_serial: false,
            guards_camera: false,
            confirm_factor: 1,
            usual_volume_mm: [220, 220, 250],
            defaults: None,
            web_probes: &[],
            own_probe: None,
            announced: None,
        }
    }

    /// Returns the printer type with the given API name.
    pub fn of_word(word: &str) -> Option<&'static Self> {
        PRINTER_TYPES.iter().find(|declared| declared.word == word)
    }

    /// Returns the URL of a printer from the address that its owner entered: an IP address or a host name gets the
    /// scheme and port of the type. A URL is returned unchanged.
    pub fn url_of(&self, address: &str) -> String {
        let address = address.trim();
        if address.is_empty() || address.contains("://") {
            return address.to_owned();
        }
        let (scheme, address) = (self.scheme, address.trim_end_matches('/'));
        if address.parse::<Ipv6Addr>().is_ok() {
            return format!("{scheme}://[{address}]:{}", self.default_port);
        }
        let (host, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if has_port {
            format!("{scheme}://{host}{path}")
        } else {
            format!("{scheme}://{host}:{}{path}", self.default_port)
        }
    }

    /// Fills in an empty address or key from the settings, for types that have such settings. The key is only used
    /// together with the address from the settings.
    pub fn fill_in(&self, settings: &PrintersConfig, base_url: String, api_key: String) -> (String, String) {
        let Some(defaults) = self.defaults else { return (base_url, api_key) };
        let (url, key) = defaults(settings);
        let base_url = if base_url.is_empty() { url.to_owned() } else { base_url };
        let theirs = !url.is_empty() && MachineAddress::same(&base_url, url);
        let api_key = if api_key.is_empty() && theirs { key.expose().to_owned() } else { api_key };
        (base_url, api_key)
    }

    /// Returns whether the printers print files in this format.
    pub fn prints(&self, form: GcodeForm) -> bool {
        self.forms.contains(&form)
    }

    /// Rejects a file that, according to its file name extension, the printers cannot print.
    pub(super) fn takes(&self, name: &str) -> Result<(), PrinterError> {
        let form = form_of(name);
        if self.prints(form) {
            return Ok(());
        }
        let forms: Vec<_> = self.forms.iter().map(|form| format!(".{}", form.ending())).collect();
        Err(PrinterError::Invalid(format!(
            "printers of type {} print {}, not .{} files",
            self.word,
            forms.join(" and "),
            form.ending()
        )))
    }
}

/// Returns the label of a printer's slot, as its vendor writes it on the machine.
pub fn slot_label(printer: &Printer, number: u32) -> SlotLabel {
    let declared = PrinterType::of_word(&printer.fields.kind);
    printer.slot_label(number, declared.map(|declared| declared.slot_labels).unwrap_or_default())
}

/// Determines the G-code format from the extension of a file name.
fn form_of(name: &str) -> GcodeForm {
    let name = name.to_ascii_lowercase();
    let ends = |form: &GcodeForm| name.ends_with(&format!(".{}", form.ending()));
    [GcodeForm::Package, GcodeForm::Binary].into_iter().find(ends).unwrap_or(GcodeForm::Text)
}

/// API names of all printer types.
pub const BUILT_IN: [&str; PRINTER_TYPES.len()] = {
    let mut words = [""; PRINTER_TYPES.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = PRINTER_TYPES[at].word;
        at += 1;
    }
    words
};

#[cfg(test)]
mod tests {
    use super::*;
    use config::Config;

    #[test]
    fn a_type_takes_the_forms_that_it_declares() {
        let text_only = PrinterType::of_word("fw_rest").unwrap_or_else(|| panic!("declared"));
        for (name, is_accepted) in [("a.gcode", true), ("a.g", true), ("A.BGCODE", false), ("a.gcode.3mf", false)] {
            assert_eq!(text_only.takes(name).is_ok(), is_accepted, "{name}");
        }
        let refused = text_only.takes("a.bgcode").map_err(|error| error.to_string());
        assert_eq!(refused, Err("printers of type fw_rest print .gcode, not .bgcode files".to_owned()));
        assert!(text_only.prints(GcodeForm::Text) && !text_only.prints(GcodeForm::Package));
    }

    #[test]
    fn slots_are_labelled_as_each_vendor_does() {
        let first = |word: &str| {
            let declared = PrinterType::of_word(word).unwrap_or_else(|| panic!("{word} is declared"));
            declared.slot_labels.label(0).to_string()
        };
        let labels = ["fw_rest", "server_rest", "prusa_link", "mqtt_lan", "sdcp"].map(first);
        assert_eq!(labels, ["T0", "T0", "1", "A1", "1"]);
        let mapping = PRINTER_TYPES.iter().filter(|declared| declared.maps_slots);
        assert!(mapping.clone().count() > 0 && mapping.clone().all(|declared| !declared.slot_labels.is_numbers()));
        let external = PrinterType::of_word("mqtt_lan").and_then(|declared| declared.spool_beside);
        assert_eq!(external.map(|number| SlotLabels::Changers.label(number)), Some(SlotLabel::External));
    }

    #[test]
    fn an_ip_address_becomes_a_url() {
        let of = |word: &str| PrinterType::of_word(word).unwrap_or_else(|| panic!("declared"));
        for (address, url) in [
            (" 192.168.1.20 ", "http://192.168.1.20:7125"),
            ("192.168.1.20:80", "http://192.168.1.20:80"),
            ("ada.local/", "http://ada.local:7125"),
            ("ada.local/moonraker", "http://ada.local:7125/moonraker"),
            ("fd00::20", "http://[fd00::20]:7125"),
            ("[fd00::20]:81", "http://[fd00::20]:81"),
            ("https://ada.local/x", "https://ada.local/x"),
            ("", ""),
        ] {
            assert_eq!(of("fw_rest").url_of(address), url, "{address}");
        }
        assert_eq!(of("mqtt_lan").url_of("10.0.0.5"), format!("mqtts://10.0.0.5:{}", of("mqtt_lan").default_port));
    }

    /// Fills in what a printer of the given type leaves empty.
    fn fill_in(settings: &PrintersConfig, word: &str, url: &str, key: &str) -> (String, String) {
        let declared = PrinterType::of_word(word).unwrap_or_else(|| panic!("{word} is declared"));
        declared.fill_in(settings, url.to_owned(), key.to_owned())
    }

    #[test]
    fn settings_fill_only_what_an_fw_rest_printer_leaves_empty() {
        let settings = PrintersConfig { fw_rest_url: "http://10.0.0.9:7125".to_owned(), ..Config::default().printers };
        let fill = |word: &str, url: &str| fill_in(&settings, word, url, "k");
        assert_eq!(fill("fw_rest", ""), ("http://10.0.0.9:7125".to_owned(), "k".to_owned()));
        assert_eq!(fill("fw_rest", "http://a").0, "http://a");
        assert_eq!(fill("server_rest", "").0, "");
    }

    #[test]
    fn the_key_of_the_settings_goes_only_to_their_address() {
        let mut settings = Config::default().printers;
        settings.fw_rest_url = "http://10.0.0.9:7125".to_owned();
        settings.fw_rest_api_key = Secret::new("secret");
        let key = |url: &str| fill_in(&settings, "fw_rest", url, "").1;
        assert_eq!(key(""), "secret");
        assert_eq!(key("http://10.0.0.9:7125/"), "secret");
        assert_eq!(key("http://10.0.0.10:7125"), "");
        assert_eq!(key("http://10.0.0.9:7126"), "");
    }

    #[test]
    fn types_with_a_serial_number_say_where_it_is() {
        for declared in PRINTER_TYPES {
            assert_eq!(declared.needs_serial, declared.serial_hint.is_some(), "{}", declared.word);
            for hint in [declared.key_hint, declared.address_hint].into_iter().chain(declared.serial_hint) {
                assert!(Language::ALL.iter().all(|language| hint(*language).ends_with('.')), "{}", declared.word);
            }
        }
    }

    #[test]
    fn words_of_types_differ() {
        let words: std::collections::BTreeSet<_> = BUILT_IN.into_iter().collect();
        assert_eq!(words.len(), BUILT_IN.len());
        assert!(PrinterType::of_word("teapot").is_none());
    }
}
