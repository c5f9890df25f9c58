//! Type `server_rest`: a print server, `OctoPrint`.

mod client;
mod push;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::domain::file::GcodeForm;
use crate::domain::printer_status::{Activity, PastPrint, PrintEnd, Status};
use crate::domain::time::Timestamp;
use crate::printers::adapter::{Adapter, Deleted, Operation, PrinterError, RemoteFile, Source, Temperatures, Webcam};
use crate::printers::push::{Endpoint, Push};
use crate::printers::registry::PrinterType;
use crate::printers::wire::Wire;
use client::{Client, Port};

/// How often the serial port is asked for while it opens.
const PORT_POLL: Duration = Duration::from_millis(250);

/// One `OctoPrint`.
pub struct ServerRest {
    client: Arc<Client>,
    push: Push,
}

/// The type's declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    word: "server_rest",
    default_port: 5000,
    forms: &[GcodeForm::Text],
    make: |wire| Arc::new(ServerRest::new(wire)),
};

impl ServerRest {
    pub(super) fn new(wire: Wire) -> Self {
        Self { client: Arc::new(Client::new(wire)), push: Push::default() }
    }
}

#[async_trait]
impl Adapter for ServerRest {
    fn supports(&self, operation: Operation) -> bool {
        match operation {
            Operation::RestartFirmware => false,
            Operation::Push => self.client.wire().base.scheme() == "http",
            _ => true,
        }
    }

    /// Opens the serial port, also after an emergency stop, which closes it; waits until the firmware answers (2 to 6 s).
    async fn connect(&self) -> Result<(), PrinterError> {
        match self.client.port().await? {
            Port::Open => return Ok(()),
            Port::Opening => {}
            Port::Closed(_) => self.client.serial("connect").await?,
        }
        let until = Instant::now() + self.client.wire().settings.command_timeout;
        let mut begun = false;
        loop {
            match self.client.port().await? {
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
            sleep(PORT_POLL).await;
        }
    }

    /// Closes the serial port, which would end a print: refused while one is on.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        if let Some(printer) = self.client.printer().await? {
            let job = self.client.job().await?;
            let status = status::read(&printer, &job, Timestamp::default());
            if matches!(status.state, Activity::Printing | Activity::Paused) {
                return Err(PrinterError::InUse(status.file.unwrap_or_else(|| "a print is on".into())));
            }
            self.client.serial("disconnect").await?;
        }
        self.push.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        matches!(self.client.port().await, Ok(Port::Open))
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        let printer = self.client.printer().await?;
        let job = self.client.job().await?;
        let Some(printer) = printer else {
            return Ok(status::port_closed(&job, at));
        };
        let mut status = status::read(&printer, &job, at);
        // `OctoPrint` shows a cancelled print as a selected file without completion, just like one never printed: what it remembers of the file tells.
        if let (Activity::Idle, None, Some(file)) = (status.state, status.ended, &status.file) {
            let past = match self.client.history(file).await {
                // Gone in the meantime, and with it what was remembered.
                Err(PrinterError::NotFound(_)) => None,
                other => other?.into_iter().next(),
            };
            status.ended = past
                .and_then(|print| print.ended)
                .map(|end| if end == PrintEnd::Failed { PrintEnd::Cancelled } else { end });
        }
        Ok(status)
    }

    async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        match self.client.printer().await? {
            Some(printer) => Ok(status::temperatures(&printer)),
            None => Err(PrinterError::FirmwareDisconnected("the serial port is closed".into())),
        }
    }

    async fn progress(&self) -> Result<f64, PrinterError> {
        Ok(status::completion(&self.client.job().await?).unwrap_or(0.0))
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        self.client.upload(name, source).await
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        self.client.start(name).await
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.client.job_command(&json!({"command": "pause", "action": "pause"})).await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.client.job_command(&json!({"command": "pause", "action": "resume"})).await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.client.job_command(&json!({"command": "cancel"})).await
    }

    /// M112 jumps `OctoPrint`'s queue; it then closes the serial port, so [`Adapter::connect`] is needed before anything else.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.client.emergency_stop().await
    }

    async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        match self.client.history(name).await {
            // With the file goes what was remembered of it.
            Err(PrinterError::NotFound(_)) => Ok(Vec::new()),
            other => other,
        }
    }

    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        self.client.delete_file(name).await
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        self.client.list_files().await
    }

    async fn file_exists(&self, name: &str) -> Result<bool, PrinterError> {
        self.client.file_exists(name).await
    }

    /// `OctoPrint` queues the commands and does not tell when they are done.
    async fn run_gcode(&self, commands: &[String]) -> Result<(), PrinterError> {
        self.client.gcode(commands).await
    }

    async fn home(&self) -> Result<(), PrinterError> {
        self.client.home().await
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
                let endpoint = Endpoint::new(wire.url("sockjs/websocket"), wire.api_key.as_deref(), &wire.settings)?;
                Some((endpoint, push::Socket::new(self.client.clone())))
            })
            .await;
    }
}
