//! Printers: registered, shown, changed, deleted (production spec §2, decisions §6). Operations are in [`super::operate`].

use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::printer::{Attention, Printer, PrinterAnswer, PrinterCommand, PrinterFields};
use crate::domain::printer_status::{Activity, Connection, Status};
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::sku::{Dimensions, MachineType};
use crate::http::AppState;
use crate::http::body::{Fields, sure};
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body, cut};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::printers::registry::PrinterAddress;
use axum::extract::State;
use serde_json::{Value, json};

/// Most tags of a printer.
pub const TAGS_MOST: usize = 20;

/// A printer as it is shown: its secrets never.
pub fn view(app: &AppState, printer: &Printer, version: i64) -> Value {
    let f = &printer.fields;
    json!({
        "id": printer.id, "name": f.name, "type": f.kind, "machineType": f.machine_type, "baseUrl": f.base_url,
        "hasApiKey": !f.encrypted_api_key.is_empty(), "serial": f.serial, "buildVolume": f.build_volume,
        "autoClear": f.auto_clear, "loadedMaterialId": f.loaded_material_id, "location": f.location, "tags": f.tags,
        "status": status_view(app, printer), "maintenance": printer.maintenance,
        "jobId": printer.in_hand.as_ref().map(|in_hand| in_hand.job),
        "createdAt": printer.created_at, "updatedAt": printer.updated_at, "version": version,
    })
}

/// Its state and how we stand with it. What the printer's own actor committed decides whether it is away; telemetry may be a
/// look older or newer.
fn stands(app: &AppState, printer: &Printer) -> (Activity, Connection) {
    let seen = app.printer_connections.status(printer.id).unwrap_or_default();
    let away = printer.disconnected || printer.activity == Activity::Offline && seen.state == Activity::Offline;
    if away { (Activity::Offline, printer.connection) } else { (seen.state, seen.connection) }
}

/// The status record of production spec §2 with the additions of decisions §6.
pub fn status_view(app: &AppState, printer: &Printer) -> Value {
    let seen = app.printer_connections.status(printer.id).unwrap_or_default();
    let (state, connection) = stands(app, printer);
    let Status { progress, nozzle, bed, file, remaining_seconds, message, updated_at, .. } = seen;
    json!({
        "state": state, "progress": progress, "temperatures": {"nozzle": nozzle, "bed": bed},
        "connection": connection, "file": file, "remainingSeconds": remaining_seconds, "message": message,
        "updatedAt": (updated_at.0 > 0).then_some(updated_at), "lastSeenAt": printer.last_seen_at,
        "attention": printer.attention(), "manualPrint": printer.manual.as_ref().map(|manual| &manual.file_name), "jobId": printer.in_hand.as_ref().map(|in_hand| in_hand.job),
    })
}

/// The printer after a change.
pub fn shown(app: &AppState, done: &CommandOutcome<PrinterAnswer>) -> Result<Value, ApiError> {
    match &done.answer {
        PrinterAnswer::Printer(printer) => Ok(view(app, printer, done.version)),
        other => Err(ApiError::internal(format!("a printer answered {other:?}"))),
    }
}

/// A printer that is not deleted.
pub async fn present(app: &AppState, id: Id) -> Result<(i64, Printer), ApiError> {
    let (version, state) = found(&app.printers, id).await?;
    let printer = state_of(&state)?;
    if printer.archived { Err(Refusal::not_found("printer").into()) } else { Ok((version, printer.clone())) }
}

/// All printers that are not deleted, with their versions, newest first: they are in memory, whatever the database does.
pub fn present_all(app: &AppState) -> Vec<(i64, Printer)> {
    let all = app.printers.all_resident();
    let mut all: Vec<(i64, Printer)> = all
        .iter()
        .filter_map(|(_, known)| known.state.as_ref().map(|printer| (known.version, printer)))
        .filter(|(_, printer)| !printer.archived)
        .map(|(version, printer)| (version, printer.clone()))
        .collect();
    all.sort_by_key(|(_, printer)| std::cmp::Reverse((printer.created_at, printer.id)));
    all
}

/// `GET /api/printers?type=&machineType=&state=&tag=&attention=&q=`: `attention` is one of its words, or `true` for any.
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let machine_type: Option<MachineType> = params.word("machineType")?;
    let state: Option<Activity> = params.word("state")?;
    let any_attention = params.text("attention") == Some("true");
    let attention: Option<Attention> = if any_attention { None } else { params.word("attention")? };
    let (kind, tag, q) = (params.text("type"), params.text("tag"), params.text("q").map(str::to_lowercase));
    let mut found = present_all(&app);
    found.retain(|(_, printer)| {
        let f = &printer.fields;
        kind.is_none_or(|kind| f.kind == kind)
            && machine_type.is_none_or(|wanted| f.machine_type == wanted)
            && tag.is_none_or(|tag| f.tags.iter().any(|one| one == tag))
            && q.as_ref().is_none_or(|q| f.name.to_lowercase().contains(q))
            && state.is_none_or(|wanted| stands(&app, printer).0 == wanted)
            && attention.is_none_or(|wanted| printer.attention().contains(&wanted))
            && (!any_attention || !printer.attention().is_empty())
    });
    let (some, total) = cut(page, found);
    let items = some.iter().map(|(version, printer)| view(&app, printer, *version)).collect();
    reply::ok(body(page, "printers", items, total))
}

/// `GET /api/printers/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let (version, printer) = present(&app, id).await?;
    reply::resource(version, &view(&app, &printer, version))
}

/// `GET /api/printers/{id}/status`
pub async fn status(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let (_, printer) = present(&app, id).await?;
    reply::ok(status_view(&app, &printer))
}

/// The members that a body said; absent ones stay.
#[derive(Clone)]
struct Said {
    name: Option<String>,
    kind: Option<String>,
    machine_type: Option<MachineType>,
    base_url: Option<String>,
    api_key: Option<String>,
    serial: Option<Option<String>>,
    build_volume: Option<Option<Dimensions>>,
    auto_clear: Option<bool>,
    loaded_material_id: Option<Option<Id>>,
    location: Option<Option<String>>,
    tags: Option<Vec<String>>,
}

impl Said {
    fn read(app: &AppState, mut body: Fields, new: bool) -> Result<Self, ApiError> {
        for member in ["name", "type", "machineType"] {
            body.check(!new || body.has(member), member, "is required");
        }
        let said = Self {
            name: body.opt_text("name", 200),
            kind: body.opt_text("type", 50),
            machine_type: body.opt("machineType"),
            base_url: body.opt_text("baseUrl", 500),
            api_key: body.nullable_text("apiKey", 500).map(Option::unwrap_or_default),
            serial: body.nullable_text("serial", 100),
            build_volume: body.nullable("buildVolume"),
            auto_clear: body.opt("autoClear"),
            loaded_material_id: body.nullable("loadedMaterialId"),
            location: body.nullable_text("location", 200),
            tags: body.opt("tags"),
        };
        let types = app.printer_connections.registry.types();
        let known = said.kind.as_ref().is_none_or(|kind| types.contains(&kind.as_str()));
        body.check(known, "type", format!("must be one of {}", types.join(", ")));
        body.check(said.name.as_ref().is_none_or(|name| !name.trim().is_empty()), "name", "must not be empty");
        let short = |tags: &Vec<String>| tags.len() <= TAGS_MOST && tags.iter().all(|tag| tag.chars().count() <= 50);
        let tags = said.tags.as_ref().is_none_or(short);
        body.check(tags, "tags", format!("must be at most {TAGS_MOST} texts of at most 50 characters"));
        body.finish()?;
        Ok(said)
    }

    /// A new printer's fields; those of an `fw_rest` printer that are empty are filled from the settings.
    fn fresh(self, app: &AppState) -> Result<PrinterFields, ApiError> {
        let kind = sure(self.kind)?;
        let (base_url, api_key) =
            filled(&app.config, &kind, self.base_url.unwrap_or_default(), self.api_key.unwrap_or_default());
        let fields = PrinterFields {
            name: sure(self.name)?,
            kind,
            machine_type: sure(self.machine_type)?,
            base_url,
            encrypted_api_key: app.seal(&api_key),
            serial: self.serial.flatten(),
            build_volume: self.build_volume.flatten(),
            auto_clear: self.auto_clear.unwrap_or(false),
            loaded_material_id: self.loaded_material_id.flatten(),
            location: self.location.flatten(),
            tags: self.tags.unwrap_or_default(),
        };
        check_address(app, &fields, &api_key)?;
        Ok(fields)
    }

    /// The fields after a change.
    fn over(self, app: &AppState, old: &PrinterFields) -> Result<PrinterFields, ApiError> {
        let old = old.clone();
        let fields = PrinterFields {
            name: self.name.unwrap_or(old.name),
            kind: self.kind.unwrap_or(old.kind),
            machine_type: self.machine_type.unwrap_or(old.machine_type),
            base_url: self.base_url.unwrap_or(old.base_url),
            encrypted_api_key: self.api_key.as_deref().map_or(old.encrypted_api_key, |key| app.seal(key)),
            serial: self.serial.unwrap_or(old.serial),
            build_volume: self.build_volume.unwrap_or(old.build_volume),
            auto_clear: self.auto_clear.unwrap_or(old.auto_clear),
            loaded_material_id: self.loaded_material_id.unwrap_or(old.loaded_material_id),
            location: self.location.unwrap_or(old.location),
            tags: self.tags.unwrap_or(old.tags),
        };
        check_address(app, &fields, self.api_key.as_deref().unwrap_or_default())?;
        Ok(fields)
    }

    async fn check_named(&self, app: &AppState) -> Result<(), ApiError> {
        let Some(id) = self.loaded_material_id.flatten() else { return Ok(()) };
        let state = app.materials.read(id).await?;
        let there = state.as_ref().and_then(|state| state.state.as_ref()).is_some_and(|material| !material.archived);
        if there { Ok(()) } else { Err(Refusal::field("loadedMaterialId", "no such material").into()) }
    }
}

/// `FW_REST_URL` and `FW_REST_API_KEY` fill an `fw_rest` printer's empty fields.
fn filled(config: &Config, kind: &str, base_url: String, api_key: String) -> (String, String) {
    if kind != "fw_rest" {
        return (base_url, api_key);
    }
    let or = |given: String, setting: &str| if given.is_empty() { setting.to_owned() } else { given };
    (or(base_url, &config.printers.fw_rest_url), or(api_key, config.printers.fw_rest_api_key.expose()))
}

/// Type, address and key must be such that an adapter can be made; nothing is sent.
fn check_address(app: &AppState, fields: &PrinterFields, api_key: &str) -> Result<(), ApiError> {
    let registry = &app.printer_connections.registry;
    let mut faults = Faults::default();
    faults.check(!fields.base_url.trim().is_empty(), "baseUrl", "is required");
    faults.refuse()?;
    let address = PrinterAddress {
        base_url: fields.base_url.clone(),
        api_key: api_key.to_owned(),
        serial: fields.serial.clone().unwrap_or_default(),
    };
    match registry.make(&fields.kind, &address) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::field("baseUrl", error.to_string()).into()),
    }
}

/// `POST /api/printers`: 201 even while it does not answer.
pub async fn create(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let command = async {
        let said = Said::read(&app, call.fields()?, true)?;
        said.check_named(&app).await?;
        Ok(PrinterCommand::Create(Box::new(said.fresh(&app)?)))
    };
    let done = call.ask_with(&app.printers, CommandTarget::New, command).await?;
    reply::created(&done, &format!("/api/printers/{}", done.id), shown(&app, &done)?)
}

/// `PATCH /api/printers/{id}`: type and address not while it has a job in hand (409).
pub async fn update(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let said = Said::read(&app, call.fields()?, false)?;
    said.check_named(&app).await?;
    let merge = |printer: &Printer, version: i64| {
        let fields = Box::new(said.clone().over(&app, &printer.fields)?);
        Ok(PrinterCommand::Update { if_version: Some(version), fields })
    };
    let done = call.merge(&app.printers, id, merge).await?;
    reply::changed(&done, shown(&app, &done)?)
}

/// `DELETE /api/printers/{id}`: not while it has a job in hand (409).
pub async fn remove(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::Archive).await?;
    reply::no_content()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_fill_only_what_an_fw_rest_printer_leaves_empty() {
        let mut config = Config::default();
        config.printers.fw_rest_url = "http://10.0.0.9:7125".to_owned();
        let fill = |kind: &str, url: &str| filled(&config, kind, url.to_owned(), "k".to_owned());
        assert_eq!(fill("fw_rest", ""), ("http://10.0.0.9:7125".to_owned(), "k".to_owned()));
        assert_eq!(fill("fw_rest", "http://a").0, "http://a");
        assert_eq!(fill("server_rest", "").0, "");
    }
}
