//! What a printer type declares about itself. All that other rooms know of a type follows from its declaration.

use std::sync::Arc;

use super::PRINTER_TYPES;
use crate::config::sections::Printers;
use crate::config::values::Secret;
use crate::domain::file::GcodeForm;
use crate::printers::adapter::{Adapter, Operation, PrinterError};
use crate::printers::discovery::{Announcement, OwnProbe, WebProbe};
use crate::printers::registry::{AdapterParts, MakeError};

/// Makes the adapter of one printer. Nothing is sent.
pub(super) type MakeAdapter = fn(AdapterParts) -> Result<Arc<dyn Adapter>, MakeError>;

/// Address and API key that the settings hold for printers of a type that were registered without.
pub type TypeDefaults = fn(&Printers) -> (&str, &Secret);

/// The declaration of a printer type.
pub struct PrinterType {
    /// The word for it in the API and in settings, such as `fw_rest`.
    pub word: &'static str,
    /// The program that runs on its printers, for messages to people.
    pub program: &'static str,
    /// The port that its printers usually listen on.
    pub default_port: u16,
    /// The scheme with which their addresses begin.
    pub scheme: &'static str,
    /// The request header that carries the API key, in lower case.
    pub key_header: &'static str,
    /// Whether the key may be `user:password` instead, which is then used for HTTP Digest.
    pub key_may_be_password: bool,
    /// Whether its printers ask for no key, so that whoever reaches them may command them.
    pub keyless: bool,
    /// The forms of G-code that its printers print.
    pub forms: &'static [GcodeForm],
    /// Whether a start tells its printers which slot each filament comes from, of those that they report. Others with
    /// several slots take filament n of a file from slot n.
    pub maps_slots: bool,
    /// The number by which a person names the spool beside the slots that its printers report; `None` for types that
    /// do not map slots.
    pub spool_beside: Option<u32>,
    /// The optional operations that its printers do not have; the adapter answers them with
    /// [`PrinterError::Unsupported`].
    pub lacks: &'static [Operation],
    /// Whether uploads to one host must not overlap, because several servers on one computer share a folder for
    /// unfinished uploads and mix them up.
    pub one_upload_per_host: bool,
    /// Whether its printers are only reached with their serial number.
    pub needs_serial: bool,
    /// Whether its printers' cameras only answer who shows the printer's key.
    pub guards_camera: bool,
    /// How many times as long as the settings say (`dispatch.confirm_seconds`) its printers may take to show a
    /// print that they were told to start.
    pub confirm_factor: u32,
    /// Where the settings hold an address and a key for this type; `None` where they hold none.
    pub defaults: Option<TypeDefaults>,
    /// How a search tells its printers by what their web server answers; empty: not so.
    pub(super) web_probes: &'static [WebProbe],
    /// How a search tells its printers in their own protocol; `None`: not so.
    pub(super) own_probe: Option<OwnProbe>,
    /// How its printers announce themselves in the network; `None`: they do not.
    pub(super) announced: Option<Announcement>,
    /// Makes the adapter of one printer.
    pub(super) make: MakeAdapter,
}

impl PrinterType {
    /// What most types have in common; a declaration names what differs.
    pub(super) const fn of(word: &'static str, program: &'static str, default_port: u16, make: MakeAdapter) -> Self {
        Self {
            word,
            program,
            default_port,
            scheme: "http",
            key_header: "x-api-key",
            key_may_be_password: false,
            keyless: false,
            forms: &[GcodeForm::Text],
            maps_slots: false,
            spool_beside: None,
            lacks: &[],
            one_upload_per_host: false,
            needs_serial: false,
            guards_camera: false,
            confirm_factor: 1,
            defaults: None,
            web_probes: &[],
            own_probe: None,
            announced: None,
            make,
        }
    }

    /// The type of this word.
    pub fn of_word(word: &str) -> Option<&'static Self> {
        PRINTER_TYPES.iter().find(|declared| declared.word == word)
    }

    /// Whether its printers print files of this form.
    pub fn prints(&self, form: GcodeForm) -> bool {
        self.forms.contains(&form)
    }

    /// Refuses a file that its printers cannot print, by the ending that tells its form.
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

/// The form of G-code that the ending of a file's name tells.
fn form_of(name: &str) -> GcodeForm {
    let name = name.to_ascii_lowercase();
    let ends = |form: &GcodeForm| name.ends_with(&format!(".{}", form.ending()));
    [GcodeForm::Package, GcodeForm::Binary].into_iter().find(ends).unwrap_or(GcodeForm::Text)
}

/// The words of the printer types.
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

    #[test]
    fn a_type_takes_the_forms_that_it_declares() {
        let text_only = PrinterType::of_word("fw_rest").unwrap_or_else(|| panic!("declared"));
        for (name, taken) in [("a.gcode", true), ("a.g", true), ("A.BGCODE", false), ("a.gcode.3mf", false)] {
            assert_eq!(text_only.takes(name).is_ok(), taken, "{name}");
        }
        let refused = text_only.takes("a.bgcode").map_err(|error| error.to_string());
        assert_eq!(refused, Err("printers of type fw_rest print .gcode, not .bgcode files".to_owned()));
        assert!(text_only.prints(GcodeForm::Text) && !text_only.prints(GcodeForm::Package));
    }

    #[test]
    fn words_of_types_differ() {
        let words: std::collections::BTreeSet<_> = BUILT_IN.into_iter().collect();
        assert_eq!(words.len(), BUILT_IN.len());
        assert!(PrinterType::of_word("teapot").is_none());
    }
}
