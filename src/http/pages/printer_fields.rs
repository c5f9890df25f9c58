//! Form fields of a printer, for the setup wizard and the staff pages. Fields and hints are derived from the
//! declarations of the printer types.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::form::PageForm;
use actors::app::service_tests::{self, ServiceTest};
use config::Config;
use domain::sku::MachineType;
use domain::time::Timestamp;
use printers::registry::PrinterAddress;
use printers::{PRINTER_TYPES, PrinterType};

/// Display names of the machine types.
const MACHINES: [(MachineType, &str); 6] = [
    (MachineType::FdmStandard, "Filament printer"),
    (MachineType::FdmLarge, "Filament printer, large"),
    (MachineType::ResinStandard, "Resin printer"),
    (MachineType::ResinLarge, "Resin printer, large"),
    (MachineType::LaserCutter, "Laser cutter"),
    (MachineType::LaserEngraver, "Laser engraver"),
];
/// Printer types that reject requests without an API key.
const TYPES_WITH_KEY: [&str; 1] = ["server_rest"];
/// Fields for the dimensions of the build volume: name, label, and sample value.
const SIDES: [(&str, &str, &str); 3] =
    [("x", "Width in mm", "220"), ("y", "Depth in mm", "220"), ("z", "Height in mm", "250")];

/// Lists the programs of the printer types that satisfy the given predicate, as text for display.
fn types_that(holds: impl Fn(&PrinterType) -> bool) -> String {
    let names: Vec<&str> = PRINTER_TYPES.iter().filter(|one| holds(one)).map(|one| one.program).collect();
    names.join(", ")
}

/// Returns the name of the program that runs on printers of a type; for a type unknown to this release, returns the
/// type itself.
pub(super) fn program_of(kind: &str) -> &str {
    PrinterType::of_word(kind).map_or(kind, |declared| declared.program)
}

/// Renders the fields common to all printers. `kind` is the printer type, if already chosen; otherwise, the form offers
/// a choice of types. `value` returns a field's initial value, or `None` to keep the default.
pub(super) fn inputs(kind: Option<&PrinterType>, value: &dyn Fn(&str) -> Option<String>) -> Markup {
    let of = |name: &str| value(name).unwrap_or_default();
    html! {
        div class="field" {
            label for="name" { "Name" }
            input id="name" name="name" autocomplete="off" required maxlength="200" value=(of("name"));
        }
        @match kind {
            Some(declared) => { input type="hidden" name="type" value=(declared.word); },
            None => { (type_choice(&of("type"))) },
        }
        (address(kind, &of("baseUrl")))
        @if kind.is_none_or(|declared| !declared.keyless) { (key(kind)) }
        @if kind.is_none_or(|declared| declared.needs_serial) { (serial(kind, &of("serial"))) }
        div class="field" {
            label for="machineType" { "Machine type" }
            select id="machineType" name="machineType" {
                @for (machine_type, words) in MACHINES {
                    option value=(machine_type.word()) selected[machine_type.word() == of("machineType")] { (words) }
                }
            }
        }
        fieldset class="field" {
            legend { "Build volume (leave all three empty if it doesn't matter)" }
            @for (name, label, usual) in SIDES {
                div class="field" {
                    label for=(name) { (label) }
                    input id=(name) name=(name) inputmode="decimal" maxlength="10"
                        value=(value(name).unwrap_or_else(|| usual.to_owned()));
                }
            }
        }
    }
}

fn type_choice(chosen: &str) -> Markup {
    html! {
        div class="field" {
            label for="type" { "Type" }
            select id="type" name="type" {
                @for declared in PRINTER_TYPES {
                    option value=(declared.word) selected[declared.word == chosen] {
                        (declared.program) ", port " (declared.default_port)
                    }
                }
            }
        }
    }
}

fn address(kind: Option<&PrinterType>, value: &str) -> Markup {
    let by_type = "Where to find it depends on the printer type. You can also enter a URL with a port.";
    html! {
        div class="field" {
            label for="baseUrl" { "URL or IP address" }
            input id="baseUrl" name="baseUrl" autocomplete="off" spellcheck="false" required maxlength="500"
                value=(value) aria-describedby="about-url";
            p class="hint" id="about-url" {
                "Such as 192.168.1.20. "
                @if let Some(declared) = kind {
                    (declared.address_hint) " If the port isn't " (declared.default_port) ", add it: 192.168.1.20:8080."
                } @else { (by_type) }
            }
        }
    }
}

/// Renders the API key field, which never shows a stored key.
fn key(kind: Option<&PrinterType>) -> Markup {
    let keyless = types_that(|declared| declared.keyless);
    let keyed = types_that(|declared| TYPES_WITH_KEY.contains(&declared.word));
    let by_password = kind.is_some_and(|declared| declared.key_may_be_password);
    html! {
        div class="field" {
            label for="apiKey" { (kind.map_or("API key", |declared| declared.key_label)) }
            input id="apiKey" name="apiKey" type="password" autocomplete="off" maxlength="500" aria-describedby="about-key";
            p class="hint" id="about-key" {
                @if let Some(declared) = kind { (declared.key_hint) }
                @if by_password { " You can also enter a user name and password, as user:password." }
                @if kind.is_none() {
                    "Shown on the printer's web page or screen, sometimes called the access code. Leave it empty if there is none."
                    @if !keyless.is_empty() { " Not needed for " (keyless) "." }
                    " Always required for " (keyed) "."
                }
            }
        }
    }
}

fn serial(kind: Option<&PrinterType>, value: &str) -> Markup {
    let needed = kind.is_some();
    html! {
        div class="field" {
            label for="serial" { "Serial number" }
            input id="serial" name="serial" autocomplete="off" maxlength="100" value=(value) required[needed]
                aria-describedby="about-serial";
            p class="hint" id="about-serial" {
                @if let Some(declared) = kind { (declared.serial_hint) } @else {
                    "Only needed for " (types_that(|declared| declared.needs_serial)) "."
                }
            }
        }
    }
}

/// Converts a form field's text to a JSON number. Text that is not a number is passed on unchanged, so that the API
/// reports the error.
pub(super) fn number(text: &str) -> Value {
    text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number))
}

/// Returns the printer URL entered in a form, where an IP address is sufficient.
fn url_of(sent: &PageForm) -> String {
    let address = sent.text("baseUrl");
    PrinterType::of_word(sent.text("type")).map_or_else(|| address.to_owned(), |declared| declared.url_of(address))
}

/// Converts the fields rendered by [`inputs`] to API request fields.
pub(super) fn request_members(sent: &PageForm) -> Map<String, Value> {
    let room = SIDES.iter().any(|(name, ..)| !sent.text(name).is_empty());
    let side = |name: &str| number(sent.text(name));
    let room = room.then(|| json!({"x": side("x"), "y": side("y"), "z": side("z")}));
    let members = [
        ("name", json!(sent.text("name"))),
        ("type", json!(sent.text("type"))),
        ("machineType", json!(sent.text("machineType"))),
        ("baseUrl", json!(url_of(sent))),
        ("apiKey", json!(sent.some("apiKey"))),
        ("serial", json!(sent.some("serial"))),
        ("buildVolume", json!(room)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the wizard's error messages for empty fields that are required to test the printer.
pub(super) fn missing(sent: &PageForm) -> Vec<String> {
    missing_of(&|name| sent.text(name))
}

fn missing_of<'a>(text: &dyn Fn(&str) -> &'a str) -> Vec<String> {
    let key_label = PrinterType::of_word(text("type")).map_or("API key", |declared| declared.key_label);
    let lines = [
        ("name", true, "Name: enter a name.".to_owned()),
        ("baseUrl", true, "URL or IP address: enter the printer's address.".to_owned()),
        (
            "apiKey",
            TYPES_WITH_KEY.contains(&text("type")),
            format!(
                "{key_label}: required for printers of this type. It is shown on the printer's web page or screen."
            ),
        ),
    ];
    let empty = lines.into_iter().filter(|(name, is_needed, _)| *is_needed && text(name).is_empty());
    empty.map(|(.., line)| line).collect()
}

/// Tests whether the printer in the form responds and accepts the API key.
pub(super) async fn tested(config: &Config, sent: &PageForm, now: Timestamp) -> ServiceTest {
    let address = PrinterAddress {
        base_url: url_of(sent),
        api_key: sent.text("apiKey").to_owned(),
        serial: sent.text("serial").to_owned(),
        known_key: None,
    };
    service_tests::test_printer(config, sent.text("type"), address, now).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the beginnings of the messages for a form with these fields.
    fn labels(fields: &[(&str, &'static str)]) -> Vec<String> {
        let text = |name: &str| fields.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| *text);
        let lines = missing_of(&text);
        lines.iter().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    }

    #[test]
    fn an_empty_form_is_not_tested() {
        assert_eq!(labels(&[("type", "fw_rest")]), ["Name", "URL or IP address"]);
        let (name, url) = (("name", "Ada"), ("baseUrl", "http://192.168.1.20"));
        assert_eq!(labels(&[name, url, ("type", "fw_rest")]), Vec::<String>::new());
        assert_eq!(labels(&[name, url, ("type", "server_rest")]), ["API key"]);
        assert_eq!(labels(&[name, url, ("type", "server_rest"), ("apiKey", "k")]), Vec::<String>::new());
    }

    #[test]
    fn people_read_the_names_of_programs() {
        assert_eq!(program_of("of another release"), "of another release");
        for declared in PRINTER_TYPES {
            assert_eq!(program_of(declared.word), declared.program);
        }
        let choice = type_choice("").into_string();
        assert!(PRINTER_TYPES.iter().all(|one| choice.contains(&format!(">{}, port ", one.program))), "{choice}");
    }
}
