//! The calls of Moonraker's HTTP API.

use reqwest::multipart::Form;
use serde_json::{Value, json};

use super::status;
use crate::domain::bounds;
use crate::domain::printer_status::{PastPrint, PrintEnd};
use crate::domain::time::Timestamp;
use crate::printers::adapter::{Deleted, Operation, PrinterError, RemoteFile, Source, Temperatures, Webcam};
use crate::printers::upload;
use crate::printers::wire::{Wire, file_name};

/// Prints asked for at a time from the history.
const PAGE: usize = 100;
/// Pages read before we say that the printer does not remember: our files are young when somebody asks.
const PAGES: usize = 20;

/// One Moonraker's HTTP API.
pub struct Client {
    wire: Wire,
}

impl Client {
    pub(in crate::printers) fn new(wire: Wire) -> Self {
        Self { wire: wire.judged_by(judge) }
    }

    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PrinterError> {
        result(self.wire.get(path, query).await?)
    }

    /// What the server says of itself, `klippy_connected` included; answers whatever the firmware does.
    pub async fn server_info(&self) -> Result<Value, PrinterError> {
        self.get("server/info", &[]).await
    }

    /// What the firmware's host says of itself.
    pub async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.get("printer/info", &[]).await.map_err(no_route)
    }

    /// Fields of printer objects, `{object: {field: value}}`; what the printer does not have is left out.
    pub(super) async fn query(&self, objects: &[(&str, &str)]) -> Result<Value, PrinterError> {
        let mut result = self.get("printer/objects/query", objects).await?;
        match result.get_mut("status").map(Value::take) {
            Some(status @ Value::Object(_)) => Ok(status),
            _ => Err(PrinterError::BadAnswer("no status of the printer's objects".into())),
        }
    }

    /// `extruder` and `heater_bed`, temperature and target.
    pub async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        let fields = [("extruder", "temperature,target"), ("heater_bed", "temperature,target")];
        Ok(status::temperatures(&self.query(&fields).await.map_err(no_route)?))
    }

    /// How far the print is, as a fraction from 0 to 1.
    pub async fn print_progress(&self) -> Result<f64, PrinterError> {
        let objects =
            self.query(&[("print_stats", "state"), ("virtual_sdcard", "progress")]).await.map_err(no_route)?;
        Ok(status::fraction(&objects))
    }

    /// A command without arguments; waits for the macros that it runs.
    pub(super) async fn command(&self, path: &str) -> Result<(), PrinterError> {
        self.wire.post(path, &[], None).await.map(drop)
    }

    /// Starts an uploaded file.
    pub(super) async fn start(&self, name: &str) -> Result<(), PrinterError> {
        let name = file_name(name)?;
        self.wire.post("printer/print/start", &[("filename", name)], None).await.map(drop)
    }

    /// Shuts the firmware down at once. Before the firmware first connected there is no such route, and nothing to stop.
    pub(super) async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.wire.post_emergency("printer/emergency_stop", None).await.map(drop).map_err(no_route)
    }

    /// Runs lines of G-code and waits for their end.
    pub async fn run_gcode(&self, script: &str) -> Result<(), PrinterError> {
        self.wire
            .post("printer/gcode/script", &[], Some(&json!({ "script": script })))
            .await
            .map(drop)
            .map_err(no_route)
    }

    /// Stores a file. The printer compares its SHA-256, so a file cut short is never kept.
    pub(super) async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        upload::text_only(name)?;
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let mut form =
            Form::new().text("root", "gcodes").text("print", "false").text("checksum", upload::sha256(source).await?);
        if !folder.is_empty() {
            form = form.text("path", folder.to_owned());
        }
        let form = upload::with_file(form, file, source).await?;
        let timeout = self.wire.settings.upload_timeout(source.size);
        // Not in the usual envelope.
        let stored =
            self.wire.post_form("server/files/upload", form, timeout).await.map_err(|error| in_use(error, name))?;
        let path = stored.pointer("/item/path").and_then(Value::as_str);
        path.map(str::to_owned).ok_or_else(|| PrinterError::BadAnswer("the upload's answer names no file".into()))
    }

    /// Deletes a file: 403 is a file in use, 400 a file that is not there.
    pub async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        let name = file_name(name)?;
        match self.wire.delete(&format!("server/files/gcodes/{name}")).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(PrinterError::Refused { status: 400, .. } | PrinterError::NotFound(_)) => Ok(Deleted::NotFound),
            Err(error) => Err(in_use(error, name)),
        }
    }

    /// All G-code files.
    pub async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        let files = self.get("server/files/list", &[("root", "gcodes")]).await?;
        let files = files.as_array().ok_or_else(|| PrinterError::BadAnswer("the file list is no list".into()))?;
        Ok(files
            .iter()
            .filter_map(|file| {
                Some(RemoteFile {
                    path: file.get("path")?.as_str()?.to_owned(),
                    size: file.get("size").and_then(Value::as_u64),
                    modified_at: file.get("modified").and_then(moment),
                })
            })
            .collect())
    }

    /// Cameras, with URLs made absolute: those told without a host belong to the web front end, on the host's port 80.
    pub async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        let list = self.get("server/webcams/list", &[]).await?;
        let cams = list
            .get("webcams")
            .and_then(Value::as_array)
            .ok_or_else(|| PrinterError::BadAnswer("no list of webcams".into()))?;
        let mut front = self.wire.base.clone();
        front.set_path("/");
        // Cannot fail: the base is http or https with a host.
        let _ = front.set_port(None);
        let absolute = |cam: &Value, field: &str| {
            let text = cam.get(field)?.as_str().filter(|text| !text.is_empty())?;
            front.join(text).ok().map(String::from)
        };
        Ok(cams
            .iter()
            .map(|cam| Webcam {
                name: cam.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                stream_url: absolute(cam, "stream_url"),
                snapshot_url: absolute(cam, "snapshot_url"),
                enabled: cam.get("enabled").and_then(Value::as_bool).unwrap_or(true),
            })
            .collect())
    }

    /// The computer and operating system.
    pub async fn system_info(&self) -> Result<Value, PrinterError> {
        let mut info = self.get("machine/system_info", &[]).await?;
        Ok(info.get_mut("system_info").map(Value::take).unwrap_or(info))
    }

    /// Prints of a file, newest first. A Moonraker without history: unsupported, which is not the same as remembering nothing.
    pub(super) async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        let name = file_name(name)?;
        let limit = PAGE.to_string();
        for page in 0..PAGES {
            let start = (page * PAGE).to_string();
            let query = [("limit", limit.as_str()), ("start", start.as_str()), ("order", "desc")];
            let answer = self.get("server/history/list", &query).await.map_err(|error| match error {
                PrinterError::NotFound(_) => PrinterError::Unsupported(Operation::History),
                other => other,
            })?;
            let jobs = answer
                .get("jobs")
                .and_then(Value::as_array)
                .ok_or_else(|| PrinterError::BadAnswer("no list of past prints".into()))?;
            let ours: Vec<_> = jobs
                .iter()
                .filter(|job| job.get("filename").and_then(Value::as_str) == Some(name))
                .map(|job| past(job, name))
                .collect();
            if !ours.is_empty() || jobs.len() < PAGE {
                return Ok(ours);
            }
        }
        Ok(Vec::new())
    }
}

/// One entry of the history; a print that is on has `in_progress` and no end.
fn past(job: &Value, name: &str) -> PastPrint {
    PastPrint {
        file: name.to_owned(),
        ended: match job.get("status").and_then(Value::as_str) {
            Some("completed") => Some(PrintEnd::Finished),
            Some("cancelled") => Some(PrintEnd::Cancelled),
            Some("error" | "klippy_shutdown" | "klippy_disconnect" | "interrupted" | "server_exit") => {
                Some(PrintEnd::Failed)
            }
            _ => None,
        },
        filament_mm: job.get("filament_used").and_then(Value::as_f64).and_then(bounds::filament_mm),
        started_at: job.get("start_time").and_then(moment),
        ended_at: job.get("end_time").and_then(moment),
    }
}

/// A float of Unix seconds.
fn moment(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(bounds::unix_seconds)
}

/// Takes the success envelope off.
fn result(mut answer: Value) -> Result<Value, PrinterError> {
    answer.get_mut("result").map(Value::take).ok_or_else(|| PrinterError::BadAnswer("no result".into()))
}

fn judge(status: u16, message: String) -> PrinterError {
    match status {
        401 => PrinterError::WrongKey(message),
        404 => PrinterError::NotFound(message),
        503 => PrinterError::FirmwareDisconnected(message),
        _ => PrinterError::Refused { status, message },
    }
}

/// Routes to the firmware exist only after its first connection: their 404 means that it never was there.
fn no_route(error: PrinterError) -> PrinterError {
    match error {
        PrinterError::NotFound(message) => PrinterError::FirmwareDisconnected(message),
        other => other,
    }
}

/// Storing and deleting answer 403 for the file that is printing or paused.
fn in_use(error: PrinterError, name: &str) -> PrinterError {
    match error {
        PrinterError::Refused { status: 403, .. } => PrinterError::InUse(name.to_owned()),
        other => other,
    }
}
