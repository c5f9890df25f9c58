//! Fields of a printer in requests to register or change it.

use std::sync::Arc;
use std::time::Duration;

use api_derive::Request;
use serde::Serialize;
use serde_json::{Value, json};

use super::PrinterHandles;
use super::camera::GivenCamera;
use crate::production::materials;
use domain::id::Id;
use domain::printer::{MachineAddress, Nozzle, PrinterFields, RoomPosition, check_base_url, same_machine};
use domain::refusal::{Faults, Refusal};
use domain::sku::{Dimensions, MachineType};
use http::error::ApiError;
use http::openapi::shape::{Shape, word};
use http::wire::{Filled, FromJson, MaxChars, ONE_LINE, Optional, SecretText, TextList, ToSchema, ValuePath};
use printers::adapter::{Adapter, PrinterError};
use printers::registry::{MakeError, PrinterAddress, StoredAddress};
use printers::{BUILT_IN, PrinterType as Declared};

/// Maximum time that a registration waits for the program at the printer's address to be detected.
const RECOGNITION_TIMEOUT: Duration = Duration::from_millis(1500);
/// Limits on the tags of a printer, because a printer is held in memory and written as a whole.
const TAGS: TextList = TextList { max_items: 20, max_chars: 50 };

/// Protocol of a printer.
#[derive(Clone, Debug, Serialize)]
pub struct PrinterTypeWord(String);

impl ToSchema for PrinterTypeWord {
    const NAME: Option<&'static str> = Some("PrinterType");
    fn schema() -> Shape {
        word(BUILT_IN).about("Protocol that a printer uses.")
    }
}

impl FromJson for PrinterTypeWord {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(kind) if BUILT_IN.contains(&kind.as_str()) => Some(Self(kind)),
            _ => place.fault(faults, format!("must be one of {}", BUILT_IN.join(", "))),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Printer to register.
#[derive(Request, Clone, Debug)]
#[api(
    change = PrinterChange, shown = PrinterDetails,
    change_example = json!({"loadedMaterialId": materials::EXAMPLE_ID}),
    example = json!({
        "name": "Left", "type": BUILT_IN[0], "machineType": "fdm_standard", "baseUrl": "http://192.168.1.20:7125",
        "apiKey": "", "buildVolume": {"x": 220, "y": 220, "z": 250},
    })
)]
pub struct NewPrinter {
    /// Display name of the printer, one line of text.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    name: String,
    /// Protocol of the printer.
    #[api(name = "type")]
    kind: PrinterTypeWord,
    /// Machine type, which determines the jobs that the printer can print.
    machine_type: MachineType,
    /// Slicers' name for the printer's model (such as `MK4`); if null, the printer accepts files for any model.
    #[api(ONE_LINE, MaxChars(100))]
    model: Option<String>,
    /// Address of the printer's server: an http or https URL with the port. If omitted or empty, the default from the
    /// server's settings is used, if any. Changing the address clears the API key, unless a new key is sent in the same
    /// request.
    #[api(MaxChars(500))]
    base_url: Optional<String>,
    /// API key of the printer; empty or null if it does not require one.
    #[api(MaxChars(500), SecretText, separate)]
    api_key: Option<String>,
    /// Serial number, for printer types that need one.
    #[api(ONE_LINE, MaxChars(100))]
    serial: Option<String>,
    /// Inner dimensions, in millimetres; if null, the printer accepts prints of any size.
    build_volume: Option<Dimensions>,
    /// `true` if the printer clears its bed automatically after a print, so that no operator has to confirm that the
    /// bed is clear.
    #[api(default = false)]
    auto_clear: bool,
    /// Material loaded in the first slot; if null, a printer with one slot accepts jobs of any material.
    loaded_material_id: Option<Id>,
    /// Installed nozzle; if null, the printer accepts files for any nozzle.
    nozzle: Option<Nozzle>,
    /// Slicers' name for the installed build plate (such as `Textured PEI Plate`); if null, the printer accepts files
    /// for any plate.
    #[api(ONE_LINE, MaxChars(50))]
    plate_type: Option<String>,
    /// Location of the printer, as a note for staff.
    #[api(ONE_LINE, MaxChars(200))]
    location: Option<String>,
    /// Position of the printer on the floor plan.
    position: Option<RoomPosition>,
    /// Free-form labels for filtering lists.
    #[api(TAGS, default = Vec::new())]
    tags: Vec<String>,
    /// Camera to use for the printer. If null, the camera that the printer reports on its own host is used, if any.
    #[api(separate)]
    camera: Option<GivenCamera>,
}

impl From<PrinterFields> for PrinterDetails {
    fn from(fields: PrinterFields) -> Self {
        let PrinterFields { name, kind, machine_type, base_url, serial, build_volume, auto_clear, .. } = fields;
        let PrinterFields { model, loaded_material_id, nozzle, plate_type, location, position, tags, .. } = fields;
        let kind = PrinterTypeWord(kind);
        Self {
            name,
            kind,
            machine_type,
            model,
            base_url,
            serial,
            build_volume,
            auto_clear,
            loaded_material_id,
            nozzle,
            plate_type,
            location,
            position,
            tags,
        }
    }
}

impl NewPrinter {
    /// Converts the request into the fields of a new printer; an empty address or key may be filled in from the
    /// settings.
    pub async fn into_fields(self, app: &PrinterHandles) -> Result<PrinterFields, ApiError> {
        check_material(app, "loadedMaterialId", self.loaded_material_id).await?;
        let kind = self.kind.0;
        let requested_url = self.base_url.present();
        check_given(requested_url.as_deref())?;
        let (url, key) = (requested_url.unwrap_or_default(), self.api_key.unwrap_or_default());
        let (base_url, api_key) = match Declared::of_word(&kind) {
            Some(declared) => declared.fill_in(&app.config.printers, url, key),
            None => (url, key),
        };
        let fields = PrinterFields {
            name: self.name,
            kind,
            machine_type: self.machine_type,
            model: self.model,
            base_url,
            encrypted_api_key: app.cipher.encrypt_or_empty(&api_key),
            serial: self.serial,
            build_volume: self.build_volume,
            auto_clear: self.auto_clear,
            loaded_material_id: self.loaded_material_id,
            nozzle: self.nozzle,
            plate_type: self.plate_type,
            location: self.location,
            position: self.position,
            tags: self.tags,
            camera: self.camera.map(|camera| camera.into_fields(app, None)).transpose()?,
        };
        let adapter = check_address(app, &fields, &api_key)?;
        check_unique(app, None, &fields)?;
        check_type(&*adapter).await?;
        Ok(fields)
    }
}

impl PrinterChange {
    /// Checks that everything the change refers to exists.
    pub async fn check_named(&self, app: &PrinterHandles) -> Result<(), ApiError> {
        check_material(app, "loadedMaterialId", self.loaded_material_id.or(None)).await
    }

    /// Checks that the program at the printer's address matches the printer's type, if the change affects either.
    pub async fn check_program(&self, app: &PrinterHandles, id: Id, old: &PrinterFields) -> Result<(), ApiError> {
        let mut fields = self.clone().merged_into(app, id, old.clone())?;
        if (&fields.kind, &fields.base_url) == (&old.kind, &old.base_url) {
            return Ok(());
        }
        if !self.api_key.is_present() && !MachineAddress::same(&fields.base_url, &old.base_url) {
            // The stored key goes to no other server.
            fields.encrypted_api_key.clear();
        }
        let PrinterFields { kind, base_url, encrypted_api_key, serial, .. } = fields;
        let stored = StoredAddress { kind, base_url, encrypted_api_key, serial, known_key: None };
        match app.printer_connections.registry.open(&stored, &app.cipher) {
            Ok(adapter) => check_type(&*adapter).await,
            // A key that cannot be decrypted is reported where it is needed.
            Err(_) => Ok(()),
        }
    }

    /// Applies the change to the printer's current fields and returns the result.
    pub fn merged_into(self, app: &PrinterHandles, id: Id, old: PrinterFields) -> Result<PrinterFields, ApiError> {
        let api_key = self.api_key.present().map(Option::unwrap_or_default);
        let requested_url = self.base_url.clone().present();
        check_given(requested_url.as_deref())?;
        let elsewhere = requested_url.is_some() || self.serial.is_present();
        let camera = match self.camera.present() {
            None => old.camera.clone(),
            Some(change) => change.map(|change| change.into_fields(app, old.camera.as_ref())).transpose()?,
        };
        let fields = PrinterFields {
            name: self.name.or(old.name),
            kind: self.kind.present().map_or(old.kind, |kind| kind.0),
            machine_type: self.machine_type.or(old.machine_type),
            model: self.model.or(old.model),
            base_url: self.base_url.or(old.base_url),
            encrypted_api_key: api_key.as_deref().map_or(old.encrypted_api_key, |key| app.cipher.encrypt_or_empty(key)),
            serial: self.serial.or(old.serial),
            build_volume: self.build_volume.or(old.build_volume),
            auto_clear: self.auto_clear.or(old.auto_clear),
            loaded_material_id: self.loaded_material_id.or(old.loaded_material_id),
            nozzle: self.nozzle.or(old.nozzle),
            plate_type: self.plate_type.or(old.plate_type),
            location: self.location.or(old.location),
            position: self.position.or(old.position),
            tags: self.tags.or(old.tags),
            camera,
        };
        check_address(app, &fields, api_key.as_deref().unwrap_or_default())?;
        if elsewhere {
            check_unique(app, Some(id), &fields)?;
        }
        Ok(fields)
    }
}

/// Checks that a material, if given, exists.
pub(super) async fn check_material(app: &PrinterHandles, member: &str, id: Option<Id>) -> Result<(), ApiError> {
    let Some(id) = id else { return Ok(()) };
    let state = app.materials.read(id).await?;
    let material = state.as_ref().and_then(|state| state.present());
    if material.is_some() { Ok(()) } else { Err(Refusal::field(member, "no such material").into()) }
}

/// Checks that an address in a request is an HTTP URL. Addresses from the settings were already checked at startup.
fn check_given(base_url: Option<&str>) -> Result<(), ApiError> {
    let non_empty = base_url.filter(|text| !text.trim().is_empty());
    match non_empty.map(check_base_url) {
        Some(Err(words)) => Err(Refusal::field("baseUrl", words).into()),
        _ => Ok(()),
    }
}

/// Rejects a second registration of the same machine, because both registrations would be assigned jobs at the same
/// time.
fn check_unique(app: &PrinterHandles, id: Option<Id>, fields: &PrinterFields) -> Result<(), ApiError> {
    let present = super::present_all(app);
    for other in present.iter().filter_map(|versioned| versioned.state.as_ref()).filter(|other| Some(other.id) != id) {
        if let Some(what) = same_machine(&other.fields, fields) {
            let words = format!("{} has already been added with this {what}", other.fields.name);
            return Err(ApiError::conflict("printer_exists", words));
        }
    }
    Ok(())
}

/// Rejects a printer if a program for a different printer type responds at its address. A printer that does not respond
/// in time is accepted without this check.
async fn check_type(adapter: &dyn Adapter) -> Result<(), ApiError> {
    match tokio::time::timeout(RECOGNITION_TIMEOUT, adapter.recognise()).await {
        Ok(Err(PrinterError::WrongType { word, program, address })) => {
            let words = format!("must be {word}, because {program} responds at {address}");
            Err(Refusal::field("type", words).into())
        }
        _ => Ok(()),
    }
}

/// Checks that an adapter accepts the type, address, key and serial number; sends nothing to the printer.
fn check_address(app: &PrinterHandles, fields: &PrinterFields, api_key: &str) -> Result<Arc<dyn Adapter>, ApiError> {
    if fields.base_url.trim().is_empty() {
        return Err(Refusal::field("baseUrl", "is required").into());
    }
    let address = PrinterAddress {
        base_url: fields.base_url.clone(),
        api_key: api_key.to_owned(),
        serial: fields.serial.clone().unwrap_or_default(),
        known_key: None,
    };
    match app.printer_connections.registry.make(&fields.kind, address) {
        Ok(adapter) => Ok(adapter),
        Err(error) => Err(Refusal::field(member_of(&error), error.to_string()).into()),
    }
}

/// Returns the name of the request body field that contains the value rejected by an adapter.
fn member_of(error: &MakeError) -> &'static str {
    match error {
        MakeError::UnknownType(_) => "type",
        MakeError::BadAddress(_) => "baseUrl",
        MakeError::BadKey(_) | MakeError::Key(_) => "apiKey",
        MakeError::BadSerial(_) => "serial",
    }
}
