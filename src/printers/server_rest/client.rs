//! The calls of `OctoPrint`'s HTTP API, in the shapes of 1.x; 2.0 answers them too, since we do not ask for its version.

use reqwest::multipart::Form;
use serde_json::{Value, json};

use crate::domain::bounds;
use crate::domain::printer_status::{PastPrint, PrintEnd};
use crate::domain::time::Timestamp;
use crate::printers::adapter::{Deleted, PrinterError, RemoteFile, Source, Webcam};
use crate::printers::upload;
use crate::printers::wire::{Wire, file_name};

/// One `OctoPrint`'s HTTP API.
pub(super) struct Client {
    wire: Wire,
}

/// The serial port to the firmware.
pub(super) enum Port {
    /// The firmware answers.
    Open,
    /// Being opened.
    Opening,
    /// Not open, in the server's words.
    Closed(String),
}

impl Client {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire: wire.judged_by(judge) }
    }

    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    /// State flags and temperatures; `None` while the serial port is closed (409).
    pub(super) async fn printer(&self) -> Result<Option<Value>, PrinterError> {
        match self.wire.get("api/printer", &[("exclude", "sd")]).await {
            Ok(printer) if printer.pointer("/state/flags").is_some_and(Value::is_object) => Ok(Some(printer)),
            Ok(_) => Err(PrinterError::BadAnswer("no state flags".into())),
            Err(PrinterError::Refused { status: 409, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The selected file and how far it is; answers whatever the printer does.
    pub(super) async fn job(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/job", &[]).await
    }

    /// How the serial port stands. The texts are those of `OctoPrint`'s states; what is none of the closed or opening ones is open.
    pub(super) async fn port(&self) -> Result<Port, PrinterError> {
        let connection = self.wire.get("api/connection", &[]).await?;
        let state = connection
            .pointer("/current/state")
            .and_then(Value::as_str)
            .ok_or_else(|| PrinterError::BadAnswer("no connection state".into()))?;
        Ok(if ["Closed", "Offline", "Error"].iter().any(|word| state.starts_with(word)) {
            Port::Closed(state.to_owned())
        } else if ["Opening", "Detecting", "Connecting"].iter().any(|word| state.starts_with(word)) {
            Port::Opening
        } else {
            Port::Open
        })
    }

    /// `connect` (with the preferred port) or `disconnect`.
    pub(super) async fn serial(&self, command: &str) -> Result<(), PrinterError> {
        self.wire.post("api/connection", &[], Some(&json!({ "command": command }))).await.map(drop)
    }

    pub(super) async fn job_command(&self, command: &Value) -> Result<(), PrinterError> {
        self.wire.post("api/job", &[], Some(command)).await.map(drop)
    }

    /// Selects an uploaded file and prints it, in one call.
    pub(super) async fn start(&self, name: &str) -> Result<(), PrinterError> {
        let path = local(name)?;
        self.wire.post(&path, &[], Some(&json!({"command": "select", "print": true}))).await.map(drop)
    }

    pub(super) async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.wire.post_emergency("api/printer/command", Some(&json!({"command": "M112"}))).await.map(drop)
    }

    pub(super) async fn gcode(&self, commands: &[String]) -> Result<(), PrinterError> {
        self.wire.post("api/printer/command", &[], Some(&json!({ "commands": commands }))).await.map(drop)
    }

    pub(super) async fn home(&self) -> Result<(), PrinterError> {
        self.wire
            .post("api/printer/printhead", &[], Some(&json!({"command": "home", "axes": ["x", "y", "z"]})))
            .await
            .map(drop)
    }

    /// Stores a file; `OctoPrint` may change the name.
    pub(super) async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        upload::text_only(name)?;
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let mut form = Form::new().text("select", "false").text("print", "false");
        if !folder.is_empty() {
            form = form.text("path", folder.to_owned());
        }
        let form = upload::with_file(form, file, source).await?;
        let timeout = self.wire.settings.upload_timeout(source.size);
        let stored =
            self.wire.post_form("api/files/local", form, timeout).await.map_err(|error| in_use(error, name))?;
        let path = stored.pointer("/files/local/path").or_else(|| stored.pointer("/file/path")).and_then(Value::as_str);
        path.map(str::to_owned).ok_or_else(|| PrinterError::BadAnswer("the upload's answer names no file".into()))
    }

    /// Deletes a file; 409 while it is printing or paused.
    pub(super) async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        match self.wire.delete(&local(name)?).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(PrinterError::NotFound(_)) => Ok(Deleted::NotFound),
            Err(error) => Err(in_use(error, name)),
        }
    }

    pub(super) async fn file_exists(&self, name: &str) -> Result<bool, PrinterError> {
        match self.wire.get(&local(name)?, &[]).await {
            Ok(_) => Ok(true),
            Err(PrinterError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All files, folders flattened.
    pub(super) async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        let answer = self.wire.get("api/files/local", &[("recursive", "true")]).await?;
        let mut waiting: Vec<&Value> = answer
            .get("files")
            .and_then(Value::as_array)
            .ok_or_else(|| PrinterError::BadAnswer("no list of files".into()))?
            .iter()
            .rev()
            .collect();
        let mut files = Vec::new();
        while let Some(entry) = waiting.pop() {
            if let Some(children) = entry.get("children").and_then(Value::as_array) {
                waiting.extend(children.iter().rev());
            } else if let Some(path) = entry
                .get("path")
                .and_then(Value::as_str)
                .filter(|_| entry.get("type").and_then(Value::as_str) != Some("folder"))
            {
                files.push(RemoteFile {
                    path: path.to_owned(),
                    size: entry.get("size").and_then(Value::as_u64),
                    modified_at: entry.get("date").and_then(moment),
                });
            }
        }
        Ok(files)
    }

    /// The last ended print of a file, from the file's own record: `prints: {success, failure, last: {date, success}}`, written when a print ends. One that did not succeed
    /// was cancelled or failed; the record does not tell which.
    pub(super) async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        let file = self.wire.get(&local(name)?, &[]).await?;
        let Some(last) = file.pointer("/prints/last") else {
            return Ok(Vec::new());
        };
        let ended_at = last.get("date").and_then(moment);
        let seconds = last.get("printTime").and_then(Value::as_f64).and_then(bounds::print_seconds);
        Ok(vec![PastPrint {
            file: name.to_owned(),
            ended: last
                .get("success")
                .and_then(Value::as_bool)
                .map(|success| if success { PrintEnd::Finished } else { PrintEnd::Failed }),
            filament_mm: None,
            started_at: ended_at.zip(seconds).map(|(end, seconds)| end.plus_ms(seconds * -1000)),
            ended_at,
        }])
    }

    pub(super) async fn server_info(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/version", &[]).await
    }

    pub(super) async fn printer_info(&self) -> Result<Value, PrinterError> {
        let mut connection = self.wire.get("api/connection", &[]).await?;
        connection
            .get_mut("current")
            .map(Value::take)
            .ok_or_else(|| PrinterError::BadAnswer("no connection state".into()))
    }

    /// Version of the server and whether it runs in safe mode; it tells no more of its computer.
    pub(super) async fn system_info(&self) -> Result<Value, PrinterError> {
        let version = self.wire.get("api/version", &[]).await?;
        let server = self.wire.get("api/server", &[]).await?;
        Ok(json!({ "version": version, "server": server }))
    }

    /// The camera of the settings; its URLs may be relative to the server.
    pub(super) async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        let settings = self.wire.get("api/settings", &[]).await?;
        let Some(webcam) = settings.get("webcam") else {
            return Ok(Vec::new());
        };
        let absolute = |field: &str| {
            let text = webcam.get(field)?.as_str().filter(|text| !text.is_empty())?;
            self.wire.base.join(text).ok().map(String::from)
        };
        let cam = Webcam {
            name: "webcam".to_owned(),
            stream_url: absolute("streamUrl"),
            snapshot_url: absolute("snapshotUrl"),
            enabled: webcam.get("webcamEnabled").and_then(Value::as_bool).unwrap_or(true),
        };
        Ok(if cam.stream_url.is_none() && cam.snapshot_url.is_none() { Vec::new() } else { vec![cam] })
    }

    /// A session for the push socket, `name:session`, from the key alone.
    pub(super) async fn session(&self) -> Result<String, PrinterError> {
        let login = self.wire.post("api/login", &[], Some(&json!({"passive": true}))).await?;
        let field = |name: &str| login.get(name).and_then(Value::as_str);
        field("name")
            .zip(field("session"))
            .map(|(name, session)| format!("{name}:{session}"))
            .ok_or_else(|| PrinterError::BadAnswer("no session".into()))
    }
}

/// The path of an uploaded file's resource.
fn local(name: &str) -> Result<String, PrinterError> {
    Ok(format!("api/files/local/{}", file_name(name)?))
}

/// A number of Unix seconds.
fn moment(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(bounds::unix_seconds)
}

/// A missing or wrong key is 403, never 401.
fn judge(status: u16, message: String) -> PrinterError {
    match status {
        401 | 403 => PrinterError::WrongKey(message),
        404 => PrinterError::NotFound(message),
        _ => PrinterError::Refused { status, message },
    }
}

/// Storing and deleting answer 409 for the file that is printing or paused.
fn in_use(error: PrinterError, name: &str) -> PrinterError {
    match error {
        PrinterError::Refused { status: 409, .. } => PrinterError::InUse(name.to_owned()),
        other => other,
    }
}
