//! Printer type `server_rest`: printers behind the print server `OctoPrint`. The adapter uses version 1.x of its HTTP
//! API, which 2.0 also serves to requests that do not specify a version.

mod console;
mod continuity;
mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod push;
mod read;
mod recognition;
mod runs;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::read::Port;
use crate::adapter::{Adapter, Deleted, Operation, PrinterError, PushState, RemoteFile, Source, Telemetry, Webcam};
use crate::adapter_parts::{AdapterParts, MakeError};
use crate::push::{Push, PushTarget};
use crate::wire::PrinterHttpClient;
use crate::{PrinterType, fw_rest};
use domain::printer_status::{Activity, PastPrint, PrintEnd, ServerRun, Status};
use domain::slot_label::SlotLabels;
use domain::time::Timestamp;
use words::staff::printer_form as texts;

/// Interval at which the serial port is polled while it is being opened.
const PORT_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Printer type declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    models: Some(texts::models_of_server),
    lacks: &[Operation::RestartFirmware],
    key_hint: texts::hint_key_application,
    address_hint: texts::hint_address_browser,
    web_probes: recognition::PROBES,
    slot_labels: SlotLabels::Tools,
    ..PrinterType::of("server_rest", "OctoPrint", 5000)
};

/// Makes the adapter for one printer; sends nothing.
pub(super) fn make(parts: AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> {
    Ok(Arc::new(ServerRest {
        wire: PrinterHttpClient::new(parts)?.judged_by(read::judge),
        push: Push::default(),
        is_known: AtomicBool::new(false),
        runs: runs::RecordedRuns::default(),
    }))
}

/// Adapter for one printer behind `OctoPrint`.
struct ServerRest {
    wire: PrinterHttpClient,
    push: Push,
    /// `true` once the server is confirmed to be `OctoPrint` rather than a program that imitates it.
    is_known: AtomicBool,
    runs: runs::RecordedRuns,
}

impl ServerRest {
    /// Reads state flags and temperatures; `None` while the serial port is closed (409).
    async fn printer(&self) -> Result<Option<Value>, PrinterError> {
        match self.wire.get("api/printer", &[("exclude", "sd")]).await {
            Ok(printer) if printer.pointer("/state/flags").is_some_and(Value::is_object) => Ok(Some(printer)),
            Ok(_) => Err(self.wire.at_first(PrinterError::BadAnswer("no state flags".into()))),
            Err(PrinterError::Refused { status: 409, .. }) => Ok(None),
            Err(error) => Err(self.wire.at_first(error)),
        }
    }

    /// Reads the selected file and the print's progress. The server responds regardless of the printer's state.
    async fn job(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/job", &[]).await
    }

    /// Reads the state of the serial port.
    async fn port(&self) -> Result<Port, PrinterError> {
        let connection = self.wire.get("api/connection", &[]).await.map_err(|error| self.wire.at_first(error))?;
        read::port(&connection)
    }

    /// Sends a `connect` (with the preferred port) or `disconnect` command.
    async fn serial(&self, command: &str) -> Result<(), PrinterError> {
        self.wire.post("api/connection", &[], Some(&json!({ "command": command }))).await.map(drop)
    }

    /// Sends a command for the current print or the selected file.
    async fn job_command(&self, command: &Value) -> Result<(), PrinterError> {
        self.wire.post("api/job", &[], Some(command)).await.map(drop)
    }
}

#[async_trait]
impl Adapter for ServerRest {
    fn declared(&self) -> &'static PrinterType {
        self.wire.declared
    }

    /// Rejects a Moonraker server, which imitates `OctoPrint` for slicers and always reports an idle printer.
    async fn recognise(&self) -> Result<(), PrinterError> {
        if self.is_known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let version = match self.wire.get("api/version", &[]).await {
            Ok(version) => version,
            // What does not tell is judged by what else it answers.
            Err(PrinterError::NotFound(_) | PrinterError::BadAnswer(_) | PrinterError::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let PrinterType { word, program, .. } = fw_rest::TYPE;
        if version.get("text").and_then(Value::as_str).is_some_and(|text| text.contains(program)) {
            return Err(PrinterError::WrongType { word, program, address: self.wire.base.to_string() });
        }
        self.is_known.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Opens the serial port, which is also necessary after an emergency stop. Waits until the firmware responds (2 to
    /// 6 s).
    async fn connect(&self) -> Result<(), PrinterError> {
        self.recognise().await?;
        match self.port().await? {
            Port::Open => return Ok(()),
            Port::Opening => {}
            Port::Closed(_) => self.serial("connect").await?,
        }
        let until = Instant::now() + self.wire.settings.command_timeout;
        let mut begun = false;
        loop {
            match self.port().await? {
                Port::Open => return Ok(()),
                Port::Opening => begun = true,
                // Right after the command the old state may still be told.
                Port::Closed(words) if begun => {
                    return Err(PrinterError::FirmwareDisconnected(words));
                }
                Port::Closed(words) if Instant::now() >= until => {
                    return Err(PrinterError::FirmwareDisconnected(words));
                }
                Port::Closed(_) => {}
            }
            if Instant::now() >= until {
                return Err(PrinterError::Timeout);
            }
            sleep(PORT_POLL_INTERVAL).await;
        }
    }

    /// Closes the serial port. Fails while a print is in progress, because closing the port would end the print.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        if let Some(printer) = self.printer().await? {
            let job = self.job().await?;
            let status = status::read(&printer, &job, Timestamp::default());
            if matches!(status.state, Activity::Printing | Activity::Paused) {
                return Err(PrinterError::InUse(status.file.unwrap_or_else(|| "a print is running".into())));
            }
            self.serial("disconnect").await?;
        }
        self.push.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        matches!(self.port().await, Ok(Port::Open))
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        self.recognise().await?;
        let printer = self.printer().await?;
        let job = self.job().await?;
        let Some(printer) = printer else {
            return Ok(status::port_closed(&job, at));
        };
        let mut status = status::read(&printer, &job, at);
        // `OctoPrint` shows a cancelled print as a selected file without completion, just like one never printed: what
        // it remembers of the file tells.
        if let (Activity::Idle, None, Some(file)) = (status.state, status.ended, &status.file) {
            let past = match files::history(&self.wire, file).await {
                // Gone in the meantime, and with it what was remembered.
                Err(PrinterError::NotFound(_)) => None,
                other => other?.into_iter().next(),
            };
            status.ended = past
                .and_then(|print| print.ended)
                .map(|end| if end == PrintEnd::Failed { PrintEnd::Cancelled } else { end });
        }
        status.runs = runs::of(self, &status, &job).await;
        Ok(status)
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        files::upload(&self.wire, name, source).await
    }

    /// Selects an uploaded file and starts printing it, in one call.
    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        let select = json!({"command": "select", "print": true});
        self.wire.post(&files::resource(name)?, &[], Some(&select)).await.map(drop)
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.job_command(&json!({"command": "pause", "action": "pause"})).await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.job_command(&json!({"command": "pause", "action": "resume"})).await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.job_command(&json!({"command": "cancel"})).await
    }

    /// Sends M112, which bypasses `OctoPrint`'s queue. `OctoPrint` then closes the serial port, so [`Adapter::connect`]
    /// must be called before anything else.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.wire.post_emergency("api/printer/command", Some(&json!({"command": "M112"}))).await.map(drop)
    }

    /// Returns the past prints of a file. Deleting a file also deletes its history.
    async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        match files::history(&self.wire, name).await {
            Err(PrinterError::NotFound(_)) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns whether the server has a record of the file. The record contains the outcome of each print, and is
    /// deleted with the file.
    async fn keeps_record(&self, name: &str) -> Result<bool, PrinterError> {
        match files::history(&self.wire, name).await {
            Err(PrinterError::NotFound(_)) => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Returns a token that identifies the server's current run.
    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        continuity::mark(&self.wire).await
    }

    async fn server_ran_since(&self, mark: &str) -> Result<ServerRun, PrinterError> {
        continuity::ran_since(&self.wire, mark).await
    }

    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        match self.wire.delete(&files::resource(name)?).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(PrinterError::NotFound(_)) => Ok(Deleted::NotFound),
            Err(error) => Err(error.or_in_use(read::IN_USE_STATUS, name)),
        }
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        files::list(&self.wire.get("api/files/local", &[("recursive", "true")]).await?)
    }

    /// Sends G-code, which `OctoPrint` queues. The firmware's output arrives over the push connection if it is open.
    async fn run_gcode(&self, commands: &[String]) -> Result<Vec<String>, PrinterError> {
        let console = self.push.state().open.then(|| self.push.console());
        self.wire.post("api/printer/command", &[], Some(&json!({ "commands": commands }))).await?;
        match console {
            Some(console) => Ok(console::answers(console, commands).await),
            None => Ok(Vec::new()),
        }
    }

    async fn home(&self) -> Result<(), PrinterError> {
        let home = json!({"command": "home", "axes": ["x", "y", "z"]});
        self.wire.post("api/printer/printhead", &[], Some(&home)).await.map(drop)
    }

    async fn server_info(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/version", &[]).await
    }

    async fn printer_info(&self) -> Result<Value, PrinterError> {
        let mut connection = self.wire.get("api/connection", &[]).await?;
        connection
            .get_mut("current")
            .map(Value::take)
            .ok_or_else(|| PrinterError::BadAnswer("no connection state".into()))
    }

    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        Ok(read::webcams(&self.wire.get("api/settings", &[]).await?, &self.wire.base))
    }

    /// Returns the server's version and whether it runs in safe mode; no other information is available about its
    /// computer.
    async fn system_info(&self) -> Result<Value, PrinterError> {
        let version = self.wire.get("api/version", &[]).await?;
        let server = self.wire.get("api/server", &[]).await?;
        Ok(json!({ "version": version, "server": server }))
    }

    async fn changed(&self) {
        let endpoint = || PushTarget::beside(&self.wire, "sockjs/websocket");
        self.push
            .changed(|| Some((endpoint()?, push::OctoPrintDialect::new(self.wire.clone(), self.runs.ends.clone()))))
            .await;
    }

    fn push(&self) -> PushState {
        self.push.state()
    }

    async fn telemetry_pushed(&self) {
        self.push.telemetry_pushed().await;
    }

    fn telemetry(&self) -> Option<Telemetry> {
        self.push.telemetry()
    }
}
