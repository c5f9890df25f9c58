//! Printer type `sdcp`: Elegoo printers that speak SDCP over a WebSocket. The supported model is the Centauri Carbon,
//! which prints plain-text G-code.
//!
//! The printer requires no key, so anyone who can reach it can send commands. Its firmware is a single program, and an
//! unknown command crashes it and thereby ends the print, so only commands known to be safe are sent
//! ([`message::PrinterRequest`]). It has no emergency stop, no console and no history that can be queried.

mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod link;
mod message;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use self::link::LazySocket;
use self::message::PrinterRequest;
use crate::PrinterType;
use crate::adapter::{Adapter, Deleted, Operation, PrinterError, PushState, RemoteFile, Source, Telemetry, Webcam};
use crate::adapter_parts::{AdapterParts, MakeError};
use crate::run_count::RunCounter;
use crate::upload;
use crate::wire::{PrinterHttpClient, file_name};
use domain::printer_status::{Activity, Status};
use domain::time::Timestamp;
use words::staff::printer_form as texts;

/// Time for which nothing is sent to the printer after an upload, while it moves the file into place.
const UPLOAD_SETTLE_TIME: Duration = Duration::from_secs(1);
/// TCP port on which the printer serves its camera.
const CAMERA_PORT: u16 = 3031;

/// Printer type declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    name: "Elegoo (SDCP)",
    usual_volume_mm: [256, 256, 256],
    models: Some(texts::models_of_resin_and_board),
    keyless: true,
    address_hint: texts::hint_address_screen,
    lacks: &[
        Operation::History,
        Operation::RunGcode,
        Operation::RestartFirmware,
        Operation::Home,
        Operation::ServerInfo,
        Operation::SystemInfo,
        Operation::EmergencyStop,
    ],
    ..PrinterType::of("sdcp", "SDCP", 3030)
};

/// Makes the adapter for one printer; sends nothing.
pub(super) fn make(parts: AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> {
    let wire = PrinterHttpClient::new(parts)?;
    let mut url = wire.url("websocket");
    if url.scheme() != "http" {
        return Err(MakeError::BadAddress("must begin with http: these printers do not support encryption".to_owned()));
    }
    // Cannot fail: http becomes ws.
    let _ = url.set_scheme("ws");
    let link = LazySocket::new(url, wire.strange(), wire.settings.clone());
    Ok(Arc::new(Sdcp { wire, link, let_go: AtomicBool::new(false), runs: RunCounter::default() }))
}

/// Adapter for one printer.
struct Sdcp {
    /// HTTP client for uploads; everything else uses the socket.
    wire: PrinterHttpClient,
    link: LazySocket,
    /// `true` after an operator disconnected the printer.
    let_go: AtomicBool,
    /// Print counter for each file, which distinguishes prints by task ID.
    runs: RunCounter,
}

impl Sdcp {
    async fn files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        files::list(&self.link.ask(PrinterRequest::Files).await?)
    }

    async fn has(&self, name: &str) -> Result<bool, PrinterError> {
        Ok(self.files().await?.iter().any(|file| file.path == name))
    }
}

#[async_trait]
impl Adapter for Sdcp {
    fn declared(&self) -> &'static PrinterType {
        self.wire.declared
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.let_go.store(false, Ordering::Relaxed);
        self.link.ask(PrinterRequest::Status).await.map(drop)
    }

    /// Closes the socket, which lets another client connect. A running print continues.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        self.let_go.store(true, Ordering::Relaxed);
        self.link.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        !self.let_go.load(Ordering::Relaxed) && self.link.ask(PrinterRequest::Status).await.is_ok()
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        self.link.note_time(at.0);
        let answer = self.link.ask(PrinterRequest::Status).await?;
        let mut status = status::read(&answer, at);
        let task = status::task(&answer);
        status.runs = status.file.as_deref().and_then(|file| self.runs.count(file, task, Instant::now()));
        Ok(status)
    }

    /// Stores a file. The printer's storage has no directories, so only the last part of the name is used.
    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        self.wire.declared.takes(name)?;
        upload::check(source).await?;
        let name = name.rsplit('/').next().unwrap_or(name);
        files::upload(&self.wire, name, source).await?;
        sleep(UPLOAD_SETTLE_TIME).await;
        let stored = self.files().await?.into_iter().find(|file| file.path == name);
        let words = match stored.map(|file| file.size) {
            None => "no file with this name".to_owned(),
            Some(Some(size)) if size != source.sent_bytes() => format!("{size} of {} bytes", source.sent_bytes()),
            Some(_) => return Ok(name.to_owned()),
        };
        tracing::warn!(file = name, words, "deleted an altered file from the printer");
        let _ = self.delete_file(name).await;
        Err(PrinterError::Altered(words))
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        let name = file_name(name)?;
        self.link.ask(PrinterRequest::Start(name.to_owned())).await.map(drop)
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.link.ask(PrinterRequest::Pause).await.map(drop)
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.link.ask(PrinterRequest::Resume).await.map(drop)
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.link.ask(PrinterRequest::Stop).await.map(drop)
    }

    /// Stops the current print, because there is no emergency stop. The command is sent over the printer's only socket,
    /// after any short requests in progress; uploads use a separate connection.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        let stopping = timeout(self.wire.settings.emergency_timeout, self.link.ask(PrinterRequest::Stop));
        match stopping.await.map_err(|_| PrinterError::Timeout)? {
            Err(PrinterError::Refused { status: 409, .. }) => Err(PrinterError::Unsupported(Operation::EmergencyStop)),
            done => done.map(drop),
        }
    }

    /// Deletes a file. The firmware would even delete a file that it is printing, so the state is checked first.
    /// Afterwards, the deletion is verified.
    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        let name = file_name(name)?;
        if !self.has(name).await? {
            return Ok(Deleted::NotFound);
        }
        let now = status::read(&self.link.ask(PrinterRequest::Status).await?, Timestamp::default());
        let on = matches!(now.state, Activity::Printing | Activity::Paused);
        if on && now.file.as_deref().is_none_or(|file| file == name) {
            return Err(PrinterError::InUse(name.to_owned()));
        }
        self.link.ask(PrinterRequest::Delete(name.to_owned())).await?;
        if self.has(name).await? {
            return Err(PrinterError::Refused { status: 500, message: "the file still exists".into() });
        }
        Ok(Deleted::Gone)
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        self.files().await
    }

    async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.link.ask(PrinterRequest::Attributes).await
    }

    /// Returns the camera. Each viewer of the camera occupies one of the few available connections.
    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        let mut url = self.wire.base.clone();
        url.set_path("/video");
        let stream_url = url.set_port(Some(CAMERA_PORT)).is_ok().then(|| url.to_string());
        Ok(vec![Webcam { name: "camera".to_owned(), stream_url, snapshot_url: None, enabled: true }])
    }

    async fn changed(&self) {
        self.link.changed().await;
    }

    fn push(&self) -> PushState {
        self.link.push()
    }

    async fn telemetry_pushed(&self) {
        self.link.telemetry_pushed().await;
    }

    fn telemetry(&self) -> Option<Telemetry> {
        self.link.telemetry()
    }
}
