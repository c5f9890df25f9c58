//! Printer type `prusa_link`: Prusa printers with their own web API, `PrusaLink`, on the printer itself or on a small
//! computer next to it.
//!
//! These printers have no console, no emergency stop and no push, and remember only the print that they currently
//! report. Each print has its own number, which reveals that a file is being printed again, but not how the previous
//! print ended. The key is sent in a header; a key of the form `user:password` (the user name is `maker` on printers)
//! is used for HTTP Digest authentication.

mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod read;
mod recognition;
mod status;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use reqwest::{Method, Response, Url};
use serde_json::Value;
use tokio::time::Instant;

use crate::PrinterType;
use crate::adapter::{Adapter, Deleted, Operation, PrinterError, RemoteFile, Source, Webcam};
use crate::adapter_parts::{AdapterParts, MakeError};
use crate::run_count::RunCounter;
use crate::upload;
use crate::wire::{PrinterHttpClient, file_name};
use domain::file::GcodeForm;
use domain::printer_status::{Connection, Status};
use domain::time::Timestamp;
use words::staff::printer_form as texts;

/// Printer type declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    name: "Prusa (PrusaLink)",
    usual_volume_mm: [250, 210, 220],
    models: Some(texts::models_of_web_interface),
    key_may_be_password: true,
    key_hint: texts::hint_key_screen,
    address_hint: texts::hint_address_screen,
    guards_camera: true,
    web_probes: recognition::PROBES,
    forms: &[GcodeForm::Text, GcodeForm::Binary],
    lacks: &[
        Operation::History,
        Operation::RunGcode,
        Operation::RestartFirmware,
        Operation::Home,
        Operation::SystemInfo,
        Operation::EmergencyStop,
    ],
    ..PrinterType::of("prusa_link", "PrusaLink", 80)
};

/// Makes the adapter for one printer; sends nothing.
pub(super) fn make(parts: AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> {
    Ok(Arc::new(PrusaLink {
        wire: PrinterHttpClient::new(parts)?.judged_by(read::judge).asking_for_json(),
        let_go: AtomicBool::new(false),
        storage: Mutex::default(),
        shown_job: AtomicU64::new(NO_JOB),
        cancelled: AtomicU64::new(NO_JOB),
        runs: RunCounter::default(),
    }))
}

/// Placeholder for a job number when there is no job.
const NO_JOB: u64 = u64::MAX;

/// Adapter for one printer with `PrusaLink`.
struct PrusaLink {
    wire: PrinterHttpClient,
    /// `true` after an operator disconnected the printer.
    let_go: AtomicBool,
    /// Storage for uploads, as last reported.
    storage: Mutex<Option<String>>,
    /// Number of the job last reported by the printer, or [`NO_JOB`].
    shown_job: AtomicU64,
    /// Number of the last job whose cancellation the printer accepted, or [`NO_JOB`].
    cancelled: AtomicU64,
    /// Print counter for each file, which distinguishes prints by job number.
    runs: RunCounter,
}

impl PrusaLink {
    /// Reads the printer's self-description and state; the state is always present.
    async fn state(&self) -> Result<Value, PrinterError> {
        let answer = self.wire.get("api/v1/status", &[]).await.map_err(|error| self.wire.at_first(error))?;
        if answer.pointer("/printer/state").is_some_and(Value::is_string) {
            return Ok(answer);
        }
        Err(self.wire.at_first(PrinterError::BadAnswer("no state".into())))
    }

    /// Reads the current or last print; null if the printer reports none.
    async fn job(&self) -> Result<Value, PrinterError> {
        let job = self.wire.get("api/v1/job", &[]).await?;
        self.shown_job.store(read::number(&job).unwrap_or(NO_JOB), Ordering::Relaxed);
        Ok(job)
    }

    /// Returns the number of the job to which commands apply.
    async fn current(&self) -> Result<u64, PrinterError> {
        let none = || PrinterError::Refused { status: 409, message: "no print is running".into() };
        read::number(&self.job().await?).ok_or_else(none)
    }

    async fn command(&self, verb: &str) -> Result<(), PrinterError> {
        let job = self.current().await?;
        self.wire.send_put(&format!("api/v1/job/{job}/{verb}")).await.map(drop)
    }

    /// Returns the storage for uploads, such as `usb`.
    async fn storage(&self) -> Result<String, PrinterError> {
        let cached = self.storage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match cached {
            Some(storage) => Ok(storage),
            None => self.storage_now().await,
        }
    }

    /// Returns the resource path of an uploaded file.
    async fn resource(&self, name: &str) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        Ok(files::resource(&self.storage().await?, name))
    }

    /// Returns the storage for uploads like [`Self::storage`], but queries the printer again, because a USB drive may
    /// have been removed.
    async fn storage_now(&self) -> Result<String, PrinterError> {
        let storage = files::storage(&self.wire.get("api/v1/storage", &[]).await?)?;
        *self.storage.lock().unwrap_or_else(PoisonError::into_inner) = Some(storage.clone());
        Ok(storage)
    }
}

#[async_trait]
impl Adapter for PrusaLink {
    fn declared(&self) -> &'static PrinterType {
        self.wire.declared
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.let_go.store(false, Ordering::Relaxed);
        let version = self.wire.get("api/version", &[]).await.map_err(|error| self.wire.at_first(error))?;
        if version.get("api").is_none() {
            return Err(self.wire.at_first(PrinterError::BadAnswer("no version".into())));
        }
        match status::printer_away(&self.state().await?) {
            Some(words) => Err(PrinterError::FirmwareDisconnected(words)),
            None => Ok(()),
        }
    }

    /// Marks the printer as disconnected. `PrusaLink` has no concept of disconnecting a client; a running print
    /// continues.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        self.let_go.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        let answers = async { self.state().await.is_ok_and(|answer| status::printer_away(&answer).is_none()) };
        !self.let_go.load(Ordering::Relaxed) && answers.await
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        let answer = match self.state().await {
            // It is starting up.
            Err(PrinterError::FirmwareDisconnected(words)) => {
                return Ok(Status::unavailable(Connection::FirmwareDisconnected, words, at));
            }
            answer => answer?,
        };
        if let Some(words) = status::printer_away(&answer) {
            return Ok(Status::unavailable(Connection::FirmwareDisconnected, words, at));
        }
        let job = if status::may_show_job(&answer) { self.job().await? } else { Value::Null };
        let cancelled = Some(self.cancelled.load(Ordering::Relaxed)).filter(|job| *job != NO_JOB);
        let mut status = status::read(&answer, &job, cancelled, at);
        let number = read::number(&job).map(|number| number.to_string());
        status.runs = status.file.as_deref().and_then(|file| self.runs.count(file, number.as_deref(), Instant::now()));
        Ok(status)
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        self.wire.declared.takes(name)?;
        upload::check(source).await?;
        let storage = self.storage_now().await?;
        files::upload(&self.wire, &storage, name, source).await
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        self.wire.post(&self.resource(name).await?, &[], None).await.map(drop)
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.command("pause").await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.command("resume").await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        let job = self.current().await?;
        self.wire.delete(&format!("api/v1/job/{job}")).await?;
        self.cancelled.store(job, Ordering::Relaxed);
        Ok(())
    }

    /// Stops the current print, because there is no emergency stop. The printer stops once its planned moves are done,
    /// and then switches off its heaters.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        let stop = async |job: u64| self.wire.emergency(Method::DELETE, &format!("api/v1/job/{job}")).await.map(drop);
        let shown_job = self.shown_job.load(Ordering::Relaxed);
        if shown_job != NO_JOB {
            match stop(shown_job).await {
                // It was over, or is another one by now.
                Err(PrinterError::NotFound(_) | PrinterError::Refused { status: 409, .. }) => {}
                done => return done,
            }
        }
        let job = self.wire.emergency(Method::GET, "api/v1/job").await?;
        match read::number(&job).filter(|_| status::is_on(&job)) {
            Some(job) => stop(job).await,
            None => Err(PrinterError::Unsupported(Operation::EmergencyStop)),
        }
    }

    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        match self.wire.delete(&self.resource(name).await?).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(PrinterError::NotFound(_)) => Ok(Deleted::NotFound),
            // The file is printing or paused.
            Err(error) => Err(error.or_in_use(409, name)),
        }
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        let storage = self.storage_now().await?;
        files::list(&self.wire, &storage).await
    }

    async fn server_info(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/version", &[]).await
    }

    async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.wire.get("api/v1/info", &[]).await
    }

    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        Ok(read::webcams(&self.state().await?, &self.wire.base))
    }

    async fn open_camera(&self, url: &Url) -> Result<Response, PrinterError> {
        self.wire.open(url).await
    }
}
