//! Type `fw_rest`: a firmware web-API server, Moonraker in front of Klipper.

mod client;
mod push;
mod status;
#[cfg(test)]
mod tests;

pub use client::Client;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::file::GcodeForm;
use crate::domain::printer_status::{PastPrint, Status};
use crate::domain::time::Timestamp;
use crate::printers::adapter::{Adapter, Deleted, Operation, PrinterError, RemoteFile, Source, Temperatures, Webcam};
use crate::printers::push::{Endpoint, Push};
use crate::printers::registry::PrinterType;
use crate::printers::wire::Wire;

/// One Moonraker.
pub struct FwRest {
    client: Client,
    push: Push,
    /// An operator disconnected it.
    let_go: AtomicBool,
}

/// The type's declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    word: "fw_rest",
    default_port: 7125,
    forms: &[GcodeForm::Text],
    make: |wire| Arc::new(FwRest::new(wire)),
};

impl FwRest {
    pub(super) fn new(wire: Wire) -> Self {
        Self { client: Client::new(wire), push: Push::default(), let_go: AtomicBool::new(false) }
    }
}

#[async_trait]
impl Adapter for FwRest {
    fn supports(&self, operation: Operation) -> bool {
        operation != Operation::Push || self.client.wire().base.scheme() == "http"
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.let_go.store(false, Ordering::Relaxed);
        let info = self.client.server_info().await?;
        if status::klippy_connected(&info) {
            Ok(())
        } else {
            Err(PrinterError::FirmwareDisconnected(status::klippy_state(&info).to_owned()))
        }
    }

    /// Moonraker knows no clients to disconnect: only our push connection closes. A print goes on.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        self.let_go.store(true, Ordering::Relaxed);
        self.push.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        !self.let_go.load(Ordering::Relaxed)
            && self.client.server_info().await.is_ok_and(|info| status::klippy_connected(&info))
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        match self.client.query(status::OBJECTS).await {
            Ok(objects) => Ok(status::read(&objects, at)),
            // These routes answer 404 until Klipper connected for the first time, 503 while it is away; `/server/info` then tells whether this is a Moonraker at all.
            Err(PrinterError::NotFound(_) | PrinterError::FirmwareDisconnected(_)) => {
                let info = self.client.server_info().await?;
                Ok(status::firmware_away(&info, at))
            }
            Err(error) => Err(error),
        }
    }

    async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        self.client.temperatures().await
    }

    async fn progress(&self) -> Result<f64, PrinterError> {
        Ok(self.client.print_progress().await? * 100.0)
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        self.client.upload(name, source).await
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        self.client.start(name).await
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.client.command("printer/print/pause").await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.client.command("printer/print/resume").await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.client.command("printer/print/cancel").await
    }

    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.client.emergency_stop().await
    }

    async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        self.client.history(name).await
    }

    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        self.client.delete_file(name).await
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        self.client.list_files().await
    }

    async fn run_gcode(&self, commands: &[String]) -> Result<(), PrinterError> {
        self.client.run_gcode(&commands.join("\n")).await
    }

    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        self.client.command("printer/firmware_restart").await
    }

    async fn home(&self) -> Result<(), PrinterError> {
        self.client.run_gcode("G28").await
    }

    async fn server_info(&self) -> Result<Value, PrinterError> {
        self.client.server_info().await
    }

    async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.client.printer_info().await
    }

    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        self.client.webcams().await
    }

    async fn system_info(&self) -> Result<Value, PrinterError> {
        self.client.system_info().await
    }

    async fn changed(&self) {
        let wire = self.client.wire();
        self.push
            .changed(|| {
                let endpoint = Endpoint::new(wire.url("websocket"), wire.api_key.as_deref(), &wire.settings)?;
                Some((endpoint, push::Socket::new(wire.api_key.clone())))
            })
            .await;
    }
}
