//! Form fields of a printer, for the setup wizard and the staff pages. Fields and hints are derived from the
//! declarations of the printer types.

use maud::{Markup, html};

use super::form::{FormBody, PageForm};
use actors::app::service_tests::{self, ServiceTest};
use config::Config;
use domain::sku::MachineType;
use domain::time::Timestamp;
use printers::registry::PrinterAddress;
use printers::{PRINTER_TYPES, PrinterType};
use words::Language;
use words::staff::printer_form as texts;

/// Text of a form field in the language of the page.
pub(super) type PrinterFieldText = fn(Language) -> String;

/// Display names of the machine types.
const MACHINES: [(MachineType, PrinterFieldText); 6] = [
    (MachineType::FdmStandard, texts::machine_fdm_standard),
    (MachineType::FdmLarge, texts::machine_fdm_large),
    (MachineType::ResinStandard, texts::machine_resin_standard),
    (MachineType::ResinLarge, texts::machine_resin_large),
    (MachineType::LaserCutter, texts::machine_laser_cutter),
    (MachineType::LaserEngraver, texts::machine_laser_engraver),
];
/// Printer types that reject requests without an API key.
const TYPES_WITH_KEY: [&str; 1] = ["server_rest"];
/// Fields for the dimensions of the build volume: name and label.
const SIDES: [(&str, PrinterFieldText); 3] = [
    ("buildVolume.x", texts::width_field),
    ("buildVolume.y", texts::depth_field),
    ("buildVolume.z", texts::height_field),
];
/// Initial dimensions of the build volume while no type is chosen, in millimetres.
const USUAL_VOLUME_MM: [u16; 3] = [220, 220, 250];

/// Lists the names of the printer types that satisfy the given predicate, as text for display.
fn types_that(holds: impl Fn(&PrinterType) -> bool) -> String {
    let names: Vec<&str> = PRINTER_TYPES.iter().filter(|one| holds(one)).map(|one| one.name).collect();
    names.join(", ")
}

/// Returns the name of a printer type, as owners know it; for a type unknown to this release, returns the type itself.
pub(super) fn type_name(kind: &str) -> &str {
    PrinterType::of_word(kind).map_or(kind, |declared| declared.name)
}

/// Renders the fields that every printer needs; all others have defaults ([`more`]). `kind` is the printer type, if
/// already chosen; otherwise, the form offers a choice of types. `value` returns a field's initial value, or `None` to
/// keep the default.
pub(super) fn inputs(language: Language, kind: Option<&PrinterType>, value: &dyn Fn(&str) -> Option<String>) -> Markup {
    let of = |name: &str| value(name).unwrap_or_default();
    html! {
        div class="field" {
            label for="name" { (texts::name_field(language)) }
            input id="name" name="name" autocomplete="off" required maxlength="200" value=(of("name"));
        }
        @match kind {
            Some(declared) => { input type="hidden" name="type" value=(declared.word); },
            None => { (type_choice(language, &of("type"))) },
        }
        (address(language, kind, &of("baseUrl")))
        @if kind.is_none_or(|declared| !declared.keyless) { (key(language, kind)) }
        @if kind.is_none_or(|declared| declared.needs_serial) { (serial(language, kind, &of("serial"))) }
    }
}

/// Renders the fields that have defaults and the `further` fields, collapsed below a summary of the machine: its type
/// and its build volume. `is_open` expands them. Without `kind`, the initial build volume is the usual one of the type
/// that `value` returns.
pub(super) fn more(
    language: Language,
    kind: Option<&PrinterType>,
    value: &dyn Fn(&str) -> Option<String>,
    is_open: bool,
    further: &Markup,
) -> Markup {
    let chosen = value("machineType").unwrap_or_default();
    let type_name = value("type");
    let kind = kind.or_else(|| PrinterType::of_word(type_name.as_deref()?));
    let usual = kind.map_or(USUAL_VOLUME_MM, |declared| declared.usual_volume_mm);
    let sides: Vec<String> =
        SIDES.iter().zip(usual).map(|((name, _), usual)| value(name).unwrap_or_else(|| usual.to_string())).collect();
    html! {
        details class="field" open[is_open] {
            summary {
                (texts::more_fields(language)) " "
                span class="soft" { (machine_words(language, &chosen, &sides)) }
            }
            div class="field" {
                label for="machineType" { (texts::machine_field(language)) }
                select id="machineType" name="machineType" {
                    @for (machine_type, label) in MACHINES {
                        option value=(machine_type.word()) selected[machine_type.word() == chosen] { (label(language)) }
                    }
                }
            }
            fieldset class="field" {
                legend { (texts::volume_fields(language)) }
                @for ((name, label), side) in SIDES.iter().zip(&sides) {
                    div class="field" {
                        label for=(name) { (label(language)) }
                        input id=(name) name=(name) inputmode="decimal" maxlength="10" value=(side);
                    }
                }
            }
            (further)
        }
    }
}

/// Describes a machine by its type and, if it is stated, its build volume: `Filament printer, 220 × 220 × 250 mm`.
fn machine_words(language: Language, machine_type: &str, sides: &[String]) -> String {
    let label = |(_, label): &(MachineType, PrinterFieldText)| label(language);
    let chosen = MACHINES.iter().find(|(machine, _)| machine.word() == machine_type);
    let machine = chosen.or(MACHINES.first()).map(label).unwrap_or_default();
    if sides.iter().any(String::is_empty) {
        return machine;
    }
    texts::machine_with_volume(language, &machine, &sides.join(" × "))
}

fn type_choice(language: Language, chosen: &str) -> Markup {
    html! {
        div class="field" {
            label for="type" { (texts::type_field(language)) }
            select id="type" name="type" {
                @for declared in PRINTER_TYPES {
                    option value=(declared.word) selected[declared.word == chosen] {
                        (texts::type_with_port(language, declared.name, &declared.default_port.to_string()))
                    }
                }
            }
        }
    }
}

fn address(language: Language, kind: Option<&PrinterType>, value: &str) -> Markup {
    html! {
        div class="field" {
            label for="baseUrl" { (texts::url_field(language)) }
            input id="baseUrl" name="baseUrl" autocomplete="off" spellcheck="false" required maxlength="500"
                value=(value) aria-describedby="about-url";
            p class="hint" id="about-url" {
                (texts::url_sample(language)) " "
                @if let Some(declared) = kind {
                    ((declared.address_hint)(language)) " "
                    (texts::url_port(language, &declared.default_port.to_string()))
                } @else { (texts::url_by_type(language)) }
            }
        }
    }
}

/// Returns the label of the key's field.
fn key_label(kind: Option<&PrinterType>) -> PrinterFieldText {
    match kind {
        Some(declared) => declared.key_label,
        None => texts::key_field,
    }
}

/// Renders the API key field, which never shows a stored key.
fn key(language: Language, kind: Option<&PrinterType>) -> Markup {
    let keyless = types_that(|declared| declared.keyless);
    let keyed = types_that(|declared| TYPES_WITH_KEY.contains(&declared.word));
    let by_password = kind.is_some_and(|declared| declared.key_may_be_password);
    html! {
        div class="field" {
            label for="apiKey" { (key_label(kind)(language)) }
            input id="apiKey" name="apiKey" type="password" autocomplete="off" maxlength="500" aria-describedby="about-key";
            p class="hint" id="about-key" {
                @if let Some(declared) = kind { ((declared.key_hint)(language)) }
                @if by_password { " " (texts::key_password(language)) }
                @if kind.is_none() {
                    (texts::key_text(language))
                    @if !keyless.is_empty() { " " (texts::key_not_needed(language, &keyless)) }
                    " " (texts::key_required(language, &keyed))
                }
            }
        }
    }
}

fn serial(language: Language, kind: Option<&PrinterType>, value: &str) -> Markup {
    let needed = kind.is_some();
    html! {
        div class="field" {
            label for="serial" { (texts::serial_field(language)) }
            input id="serial" name="serial" autocomplete="off" maxlength="100" value=(value) required[needed]
                aria-describedby="about-serial";
            p class="hint" id="about-serial" {
                @match kind {
                    Some(declared) => { @if let Some(hint) = declared.serial_hint { (hint(language)) } },
                    None => { (texts::serial_text(language, &types_that(|declared| declared.needs_serial))) },
                }
            }
        }
    }
}

/// Returns the printer URL entered in a form, where an IP address is sufficient.
fn url_of(sent: &PageForm) -> String {
    let address = sent.text("baseUrl");
    PrinterType::of_word(sent.text("type")).map_or_else(|| address.to_owned(), |declared| declared.url_of(address))
}

/// Completes the body of a printer's API operation, which is read from the fields rendered by [`inputs`].
pub(super) fn with_url(body: FormBody, sent: &PageForm) -> FormBody {
    body.with("baseUrl", url_of(sent))
}

/// Returns the wizard's error messages for empty fields that are required to test the printer.
pub(super) fn missing(language: Language, sent: &PageForm) -> Vec<String> {
    missing_of(language, &|name| sent.text(name))
}

fn missing_of<'a>(language: Language, text: &dyn Fn(&str) -> &'a str) -> Vec<String> {
    let key_label = key_label(PrinterType::of_word(text("type")))(language);
    let lines = [
        ("name", true, texts::name_missing(language)),
        ("baseUrl", true, texts::url_missing(language)),
        ("apiKey", TYPES_WITH_KEY.contains(&text("type")), texts::key_missing(language, &key_label)),
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
        let lines = missing_of(Language::English, &text);
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
    fn what_has_a_default_is_folded_away_below_it() {
        let typed = |side: &'static str| move |name: &str| name.starts_with("buildVolume").then(|| side.to_owned());
        let form = |language, kind, side: Option<&'static str>, is_open| match side {
            Some(side) => more(language, kind, &typed(side), is_open, &html! {}).into_string(),
            None => more(language, kind, &|_| None, is_open, &html! {}).into_string(),
        };
        let new = form(Language::English, None, None, false);
        assert!(new.contains("Filament printer, 220 × 220 × 250 mm") && new.contains("value=\"250\""), "{new}");
        assert!(!new.contains(" open") && new.contains("<summary>More details: <span"), "{new}");
        let lan = PrinterType::of_word("mqtt_lan");
        let by_type = form(Language::German, lan, None, true);
        assert!(by_type.contains("<summary>Weitere Angaben: <span"), "{by_type}");
        assert!(by_type.contains("Filamentdrucker, 256 × 256 × 256 mm") && by_type.contains(" open"), "{by_type}");
        let by_find = |name: &str| (name == "type").then(|| "mqtt_lan".to_owned());
        let page = more(Language::English, None, &by_find, false, &html! {}).into_string();
        assert!(page.contains("Filament printer, 256 × 256 × 256 mm") && page.contains("value=\"256\""), "{page}");
        let cleared = form(Language::English, lan, Some(""), false);
        assert!(cleared.contains(">Filament printer</span>") && !cleared.contains("256"), "{cleared}");
    }

    #[test]
    fn people_read_names_that_they_know() {
        assert_eq!(type_name("of another release"), "of another release");
        for declared in PRINTER_TYPES {
            assert_eq!(type_name(declared.word), declared.name);
        }
        let choice = type_choice(Language::English, "").into_string();
        assert!(PRINTER_TYPES.iter().all(|one| choice.contains(&format!(">{}, port ", one.name))), "{choice}");
    }
}
