//! Printer form fields that are not in the setup wizard (location, equipment, camera), and their conversion to and from
//! the API.

use maud::{Markup, html};

use crate::form::{FormBody, PageForm};
use crate::printer_fields::{PrinterFieldText, with_url};
use domain::notation::field_decimal;
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
    [("position.row", texts::row_field, texts::row_hint), ("position.column", texts::column_field, texts::column_hint)];
/// Separator between tags.
const TAG_SEPARATOR: char = ',';

/// Returns the initial value of a form field for an existing printer; empty for fields that the form does not show.
pub(super) fn value_of(language: Language, fields: &PrinterFields, name: &str) -> String {
    let volume = |side: fn(&Dimensions) -> f64| {
        fields.build_volume.as_ref().map(|volume| field_decimal(language, side(volume))).unwrap_or_default()
    };
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    match name {
        "name" => fields.name.clone(),
        "type" => fields.kind.clone(),
        "baseUrl" => fields.base_url.clone(),
        "serial" => text(fields.serial.as_ref()),
        "machineType" => fields.machine_type.word().to_owned(),
        "buildVolume.x" => volume(|volume| volume.x),
        "buildVolume.y" => volume(|volume| volume.y),
        "buildVolume.z" => volume(|volume| volume.z),
        "model" => text(fields.model.as_ref()),
        "plateType" => text(fields.plate_type.as_ref()),
        "location" => text(fields.location.as_ref()),
        "position.row" => fields.position.map(|place| place.row.to_string()).unwrap_or_default(),
        "position.column" => fields.position.map(|place| place.column.to_string()).unwrap_or_default(),
        "nozzle.diameter" => {
            fields.nozzle.as_ref().map(|nozzle| field_decimal(language, nozzle.diameter)).unwrap_or_default()
        }
        "nozzle.kind" => fields.nozzle.as_ref().and_then(|nozzle| nozzle.kind.clone()).unwrap_or_default(),
        "tags" => fields.tags.join(&format!("{TAG_SEPARATOR} ")),
        "camera.snapshotUrl" => fields.camera.as_ref().map(|camera| camera.snapshot_url.clone()).unwrap_or_default(),
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
                label for="nozzle.diameter" { (texts::nozzle_field(language)) }
                input id="nozzle.diameter" name="nozzle.diameter" inputmode="decimal" maxlength="10" value=(of("nozzle.diameter"));
            }
            div class="field" {
                label for="nozzle.kind" { (texts::nozzle_material_field(language)) }
                input id="nozzle.kind" name="nozzle.kind" maxlength="50" value=(of("nozzle.kind"));
            }
        }
        div class="field" {
            label for="tags" { (texts::tags_field(language)) }
            input id="tags" name="tags" maxlength="1000" value=(of("tags")) aria-describedby="about-tags";
            p class="hint" id="about-tags" { (texts::tags_hint(language)) }
        }
        div class="field" {
            label for="camera.snapshotUrl" { (texts::camera_field(language)) }
            input id="camera.snapshotUrl" name="camera.snapshotUrl" inputmode="url" maxlength="500" value=(of("camera.snapshotUrl"))
                aria-describedby="about-camera";
            p class="hint" id="about-camera" { (texts::camera_hint(language)) }
        }
        div class="field" {
            label for="camera.credentials" { (texts::camera_login_field(language)) }
            input id="camera.credentials" name="camera.credentials" type="password" autocomplete="off" maxlength="500"
                aria-describedby="about-login";
            p class="hint" id="about-login" { (texts::camera_login_hint(language)) }
        }
        div class="field" {
            input id="autoClear" name="autoClear" type="checkbox" value="true" checked[of("autoClear") == "true"];
            label for="autoClear" class="inline" { " " (texts::auto_clear_field(language)) }
        }
    }
}

/// Reads the body of the API operation from the form for a new printer.
pub(super) fn new_body(sent: &PageForm) -> FormBody {
    body_of(sent, sent.body())
}

/// Reads the body of the API operation from the form for changing a printer. If the API key is left empty or the
/// address is unchanged, the stored values are kept, as is the type.
pub(super) fn change_body(fields: &PrinterFields, sent: &PageForm) -> FormBody {
    // The form of a type that needs no serial number does not show it.
    let body = body_of(sent, sent.change().unless_empty(&["apiKey", "serial"])).without("type");
    if sent.text("baseUrl") == fields.base_url { body.without("baseUrl") } else { body }
}

fn body_of(sent: &PageForm, body: FormBody) -> FormBody {
    with_url(body, sent).list("tags", TAG_SEPARATOR).ticked("autoClear")
}
