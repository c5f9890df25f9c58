//! Printer type `fw_rest`: Klipper firmware behind the web API server Moonraker.

mod components;
mod console;
mod continuity;
mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gates;
mod history;
mod push;
mod read;
mod recognition;
mod runs;
mod spools;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use self::components::ComponentCache;
use self::read::{no_route, result};
use self::runs::RunCountCache;
use self::spools::BookingCache;
use self::status::{FileFacts, FileFactsCache};
use crate::PrinterType;
use crate::adapter::{Adapter, Deleted, PrinterError, PushState, RemoteFile, Source, Telemetry, Webcam};
use crate::adapter_parts::{AdapterParts, MakeError};
use crate::push::{Push, PushTarget};
use crate::wire::{PrinterHttpClient, file_name};
use domain::printer_status::{PastPrint, ServerRun, Status};
use domain::slot_label::SlotLabels;
use domain::time::Timestamp;
use words::staff::printer_form as texts;

/// Printer type declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    name: "Klipper (Moonraker)",
    models: Some(texts::models_of_firmware),
    one_upload_per_host: true,
    key_hint: texts::hint_key_web,
    address_hint: texts::hint_address_web,
    web_probes: recognition::PROBES,
    defaults: Some(|printers| (&printers.fw_rest_url, &printers.fw_rest_api_key)),
    slot_labels: SlotLabels::Tools,
    ..PrinterType::of("fw_rest", "Moonraker", 7125)
};

/// Makes the adapter for one printer; sends nothing.
pub(super) fn make(parts: AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> {
    Ok(Arc::new(FwRest {
        wire: PrinterHttpClient::new(parts)?.judged_by(read::judge),
        push: Push::default(),
        let_go: AtomicBool::new(false),
        facts: Arc::default(),
        spools: Arc::default(),
        components: Arc::default(),
        runs: RunCountCache::default(),
    }))
}

/// Adapter for one printer behind Moonraker.
struct FwRest {
    wire: PrinterHttpClient,
    push: Push,
    /// `true` after an operator disconnected the printer.
    let_go: AtomicBool,
    /// Metadata that Moonraker extracted from the file being printed.
    facts: Arc<FileFactsCache>,
    /// Spool to which Moonraker attributes consumed filament.
    spools: Arc<BookingCache>,
    /// Components that Moonraker reports.
    components: Arc<ComponentCache>,
    /// Number of times that the file shown by the printer has been printed.
    runs: RunCountCache,
}

impl FwRest {
    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PrinterError> {
        result(self.wire.get(path, query).await?)
    }

    /// Reads the server's self-description, including `klippy_connected`. The server responds regardless of the
    /// firmware's state.
    async fn info(&self) -> Result<Value, PrinterError> {
        self.get("server/info", &[]).await.map_err(|error| self.wire.at_first(error))
    }

    /// Returns the metadata that Moonraker extracted from a file. The metadata of the file being printed is requested
    /// only once.
    async fn facts(&self, file: &str) -> FileFacts {
        if let Some(facts) = self.facts.of(file) {
            return facts;
        }
        let facts = match self.get("server/files/metadata", &[("filename", file)]).await {
            Ok(metadata) => FileFacts::read(&metadata),
            // It could not read the file, and will not later.
            Err(PrinterError::NotFound(_)) => FileFacts::default(),
            Err(_) => return FileFacts::default(),
        };
        self.facts.note(file, facts);
        facts
    }

    /// Sends a command without arguments and waits for the macros that it runs.
    async fn command(&self, path: &str) -> Result<(), PrinterError> {
        self.wire.post(path, &[], None).await.map(drop)
    }

    /// Runs lines of G-code and waits until they have finished.
    async fn script(&self, script: &str) -> Result<(), PrinterError> {
        let script = json!({ "script": script });
        self.wire.post("printer/gcode/script", &[], Some(&script)).await.map(drop).map_err(no_route)
    }
}

#[async_trait]
impl Adapter for FwRest {
    fn declared(&self) -> &'static PrinterType {
        self.wire.declared
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.let_go.store(false, Ordering::Relaxed);
        let info = self.info().await?;
        if status::klippy_connected(&info) {
            Ok(())
        } else {
            Err(PrinterError::FirmwareDisconnected(status::klippy_state(&info).to_owned()))
        }
    }

    /// Closes the push connection. Moonraker has no concept of disconnecting a client; a running print continues.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        self.let_go.store(true, Ordering::Relaxed);
        self.push.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        !self.let_go.load(Ordering::Relaxed) && self.info().await.is_ok_and(|info| status::klippy_connected(&info))
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        match self.get("printer/objects/query", status::OBJECTS).await {
            Ok(answer) => {
                let objects = status::objects(&answer)?;
                let facts = match status::open_file(objects) {
                    Some(file) => self.facts(file).await,
                    None => FileFacts::default(),
                };
                let books_on = spools::booking(self).await;
                let runs = runs::of(self, objects).await;
                Ok(Status { runs, books_on, ..status::read(objects, facts, at) })
            }
            // These routes answer 404 until Klipper connected for the first time, 503 while it is unavailable;
            // `/server/info` then tells whether this is a Moonraker at all.
            Err(PrinterError::NotFound(_) | PrinterError::FirmwareDisconnected(_)) => {
                Ok(status::firmware_away(&self.info().await?, at))
            }
            Err(error @ (PrinterError::BadAnswer(_) | PrinterError::Stranger { .. })) => {
                self.info().await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        files::upload(&self.wire, name, source).await
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        let name = file_name(name)?;
        self.wire.post("printer/print/start", &[("filename", name)], None).await.map(drop)
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.command("printer/print/pause").await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.command("printer/print/resume").await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.command("printer/print/cancel").await
    }

    /// Shuts the firmware down immediately. The route does not exist until the firmware first connects to Moonraker;
    /// until then, there is nothing to stop.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.wire.post_emergency("printer/emergency_stop", None).await.map(drop).map_err(no_route)
    }

    async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        history::of(self, name).await
    }

    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        continuity::mark(self).await
    }

    async fn server_ran_since(&self, mark: &str) -> Result<ServerRun, PrinterError> {
        continuity::ran_since(self, mark).await
    }

    /// Deletes a file. Status 403 means that the file is in use; 400 means that it does not exist.
    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        let name = file_name(name)?;
        match self.wire.delete(&format!("server/files/gcodes/{name}")).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(PrinterError::Refused { status: 400, .. } | PrinterError::NotFound(_)) => Ok(Deleted::NotFound),
            Err(error) => Err(error.or_in_use(read::IN_USE_STATUS, name)),
        }
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        files::list(&self.get("server/files/list", &[("root", "gcodes")]).await?)
    }

    async fn run_gcode(&self, commands: &[String]) -> Result<Vec<String>, PrinterError> {
        // A Moonraker that does not show its console runs G-code all the same.
        let before = console::lines(self, 1).await.unwrap_or_default().pop();
        self.script(&commands.join("\n")).await?;
        let lines = console::lines(self, console::MAX_LINES).await.unwrap_or_default();
        Ok(console::responses_after(lines, before.as_ref()))
    }

    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        self.command("printer/firmware_restart").await
    }

    async fn home(&self) -> Result<(), PrinterError> {
        self.script("G28").await
    }

    async fn server_info(&self) -> Result<Value, PrinterError> {
        self.info().await
    }

    async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.get("printer/info", &[]).await.map_err(no_route)
    }

    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        read::webcams(&self.get("server/webcams/list", &[]).await?, &self.wire.base)
    }

    async fn system_info(&self) -> Result<Value, PrinterError> {
        let mut info = self.get("machine/system_info", &[]).await?;
        Ok(info.get_mut("system_info").map(Value::take).unwrap_or(info))
    }

    async fn changed(&self) {
        let endpoint = || PushTarget::beside(&self.wire, "websocket");
        let socket = || {
            let caches = (self.facts.clone(), self.spools.clone(), self.components.clone());
            push::MoonrakerDialect::new(self.wire.api_key.clone(), caches)
        };
        self.push.changed(|| Some((endpoint()?, socket()))).await;
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
