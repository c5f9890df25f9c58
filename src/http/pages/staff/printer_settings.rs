//! Printer form fields that are not in the setup wizard (location, equipment, camera), and their conversion to and from
//! the API.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::form::PageForm;
use crate::printer_fields::{PrinterFieldText, number, request_members};
use domain::printer::{MAX_ROOM_PLACE, PrinterFields};
use domain::sku::Dimensions;
use words::Language;
use words::staff::printer_form as texts;

/// Single-line text fields: name in the form and in the API, label, maximum length in characters, and hint.
const TEXTS: [(&str, PrinterFieldText, usize, PrinterFieldText); 3] = [
    ("model", texts::model_field, 100, texts::model_hint),
    ("plateType", texts::plate_field, 50, texts::plate_hint),
    ("location", texts::location_field, 200, texts::location_hint),
];
/// Fields for the position on the plan: name, label, and hint.
const POSITION: [(&str, PrinterFieldText, PrinterFieldText); 2] =
    [("row", texts::row_field, texts::row_hint), ("column", texts::column_field, texts::column_hint)];
/// Separator between tags.
const TAG_SEPARATOR: char = ',';

/// Returns the initial value of a form field for an existing printer; empty for fields that the form does not show.
pub(super) fn value_of(fields: &PrinterFields, name: &str) -> String {
    let volume = |side: fn(&Dimensions) -> f64| {
        fields.build_volume.as_ref().map(|volume| side(volume).to_string()).unwrap_or_default()
    };
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    match name {
        "name" => fields.name.clone(),
        "type" => fields.kind.clone(),
        "baseUrl" => fields.base_url.clone(),
        "serial" => text(fields.serial.as_ref()),
        "machineType" => fields.machine_type.word().to_owned(),
        "x" => volume(|volume| volume.x),
        "y" => volume(|volume| volume.y),
        "z" => volume(|volume| volume.z),
        "model" => text(fields.model.as_ref()),
        "plateType" => text(fields.plate_type.as_ref()),
        "location" => text(fields.location.as_ref()),
        "row" => fields.position.map(|place| place.row.to_string()).unwrap_or_default(),
        "column" => fields.position.map(|place| place.column.to_string()).unwrap_or_default(),
        "nozzle" => fields.nozzle.as_ref().map(|nozzle| nozzle.diameter.to_string()).unwrap_or_default(),
        "nozzleKind" => fields.nozzle.as_ref().and_then(|nozzle| nozzle.kind.clone()).unwrap_or_default(),
        "tags" => fields.tags.join(&format!("{TAG_SEPARATOR} ")),
        "camera" => fields.camera.as_ref().map(|camera| camera.snapshot_url.clone()).unwrap_or_default(),
        "autoClear" => {
            if fields.auto_clear {
                "true".to_owned()
            } else {
                String::new()
            }
        }
        _ => String::new(),
    }
}

/// Renders the printer form fields that are not in the setup wizard.
pub(super) fn more_inputs(language: Language, value: &dyn Fn(&str) -> Option<String>) -> Markup {
    let of = |name: &str| value(name).unwrap_or_default();
    html! {
        @for (name, label, most, hint) in TEXTS {
            div class="field" {
                label for=(name) { (label(language)) }
                input id=(name) name=(name) maxlength=(most) value=(of(name)) aria-describedby={ "about-" (name) };
                p class="hint" id={ "about-" (name) } { (hint(language)) }
            }
        }
        fieldset class="field" {
            legend { (texts::position_fields(language)) }
            @for (name, label, hint) in POSITION {
                div class="field" {
                    label for=(name) { (label(language)) }
                    input id=(name) name=(name) type="number" min="1" max=(MAX_ROOM_PLACE) value=(of(name))
                        aria-describedby={ "about-" (name) };
                    p class="hint" id={ "about-" (name) } { (hint(language)) }
                }
            }
        }
        fieldset class="field" {
            legend { (texts::nozzle_fields(language)) }
            div class="field" {
                label for="nozzle" { (texts::nozzle_field(language)) }
                input id="nozzle" name="nozzle" data-member="nozzle.diameter" inputmode="decimal" maxlength="10" value=(of("nozzle"));
            }
            div class="field" {
                label for="nozzleKind" { (texts::nozzle_material_field(language)) }
                input id="nozzleKind" name="nozzleKind" data-member="nozzle.kind" maxlength="50" value=(of("nozzleKind"));
            }
        }
        div class="field" {
            label for="tags" { (texts::tags_field(language)) }
            input id="tags" name="tags" maxlength="1000" value=(of("tags")) aria-describedby="about-tags";
            p class="hint" id="about-tags" { (texts::tags_hint(language)) }
        }
        div class="field" {
            label for="camera" { (texts::camera_field(language)) }
            input id="camera" name="camera" data-member="camera.snapshotUrl" inputmode="url" maxlength="500" value=(of("camera")) aria-describedby="about-camera";
            p class="hint" id="about-camera" { (texts::camera_hint(language)) }
        }
        div class="field" {
            label for="cameraLogin" { (texts::camera_login_field(language)) }
            input id="cameraLogin" name="cameraLogin" data-member="camera.credentials" type="password" autocomplete="off" maxlength="500" aria-describedby="about-login";
            p class="hint" id="about-login" { (texts::camera_login_hint(language)) }
        }
        div class="field" {
            input id="autoClear" name="autoClear" type="checkbox" value="true" checked[of("autoClear") == "true"];
            label for="autoClear" class="inline" { " " (texts::auto_clear_field(language)) }
        }
    }
}

/// Converts the values of [`more_inputs`] to API fields.
pub(super) fn more_said(sent: &PageForm) -> Map<String, Value> {
    let any_filled = |names: [&str; 2]| names.iter().any(|name| !sent.text(name).is_empty());
    let place =
        |name: &str| sent.text(name).parse::<u32>().map_or_else(|_| json!(sent.text(name)), |place| json!(place));
    let position = any_filled(["row", "column"]).then(|| json!({"row": place("row"), "column": place("column")}));
    let nozzle = any_filled(["nozzle", "nozzleKind"])
        .then(|| json!({"diameter": number(sent.text("nozzle")), "kind": sent.some("nozzleKind")}));
    let tags: Vec<&str> = sent.text("tags").split(TAG_SEPARATOR).map(str::trim).filter(|tag| !tag.is_empty()).collect();
    let camera = sent.some("camera").map(|url| match sent.some("cameraLogin") {
        Some(login) => json!({"snapshotUrl": url, "credentials": login}),
        None => json!({"snapshotUrl": url}),
    });
    let texts = TEXTS.into_iter().map(|(name, ..)| (name, json!(sent.some(name))));
    let others = [
        ("position", json!(position)),
        ("nozzle", json!(nozzle)),
        ("tags", json!(tags)),
        ("camera", json!(camera)),
        ("autoClear", json!(sent.text("autoClear") == "true")),
    ];
    texts.chain(others).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Builds the API request body for changing a printer, without its type. If the API key is left empty or the address is
/// unchanged, the stored values are kept.
pub(super) fn change_said(fields: &PrinterFields, sent: &PageForm) -> Value {
    let mut change = request_members(sent);
    change.extend(more_said(sent));
    change.remove("type");
    if sent.text("apiKey").is_empty() {
        change.remove("apiKey");
    }
    if sent.text("baseUrl") == fields.base_url {
        change.remove("baseUrl");
    }
    // The form of a type that needs none does not show it.
    if sent.text("serial").is_empty() {
        change.remove("serial");
    }
    change.into()
}
