//! Mishaps on the simulated floor, one after another, from each of which the shop recovers: a printer loses its network
//! connection in the middle of a print, a print fails, or the response to a start is lost, so that its outcome is
//! unknown.
//!
//! Only the virtual printers are manipulated; the server's reaction is read from its API.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use api_requests::{HttpApi, RequestError};
use serde_json::Value;
use simulator::faults::{Delay, FailAt};
use simulator::{PrinterFaults, SimHandle};
use tokio::time::{Instant, sleep};

use super::screen::{LineTone, Screen};
use super::tally::{Tally, count};
use crate::error::DemoError;

/// Time without mishaps before each mishap.
const QUIET_TIME: Duration = Duration::from_secs(8);
/// Time for viewers to read the server's reaction to a mishap before the printer comes back.
const READING_TIME: Duration = Duration::from_secs(5);
/// Polling interval while waiting for a state.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum time to wait for a step of a mishap; after that, the mishap is abandoned.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);
/// Delay in milliseconds before a printer executes a start whose response is lost.
const LATE_START_MS: u64 = 2_000;

/// Virtual printer as registered with the server.
#[derive(Clone, Debug)]
pub struct DemoPrinter {
    /// ID of the printer on the server.
    pub id: String,
    /// Printer name in the shop.
    pub name: String,
    /// Handle that controls the virtual printer.
    pub handle: SimHandle,
    /// Set while a simulation uses the printer exclusively.
    is_busy: Arc<AtomicBool>,
}

impl DemoPrinter {
    /// Builds a printer that no simulation is using.
    pub fn new(id: String, name: String, handle: SimHandle) -> Self {
        Self { id, name, handle, is_busy: Arc::default() }
    }

    /// Reserves the printer for exclusive use; returns `false` if it is already in use.
    pub fn take(&self) -> bool {
        !self.is_busy.swap(true, Relaxed)
    }

    /// Releases the printer from exclusive use.
    pub fn release(&self) {
        self.is_busy.store(false, Relaxed);
    }
}

/// Job affected by a mishap.
struct AffectedJob {
    id: String,
    number: String,
}

/// Simulation that causes mishaps, one at a time, and reports them.
pub struct Mishaps {
    api: HttpApi,
    machines: Vec<DemoPrinter>,
    screen: Screen,
    tally: Arc<Tally>,
}

impl Mishaps {
    /// Builds a simulation with these printers without starting it.
    pub fn new(api: HttpApi, machines: Vec<DemoPrinter>, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, machines, screen, tally }
    }

    /// Causes one mishap after another; returns only on an error.
    pub async fn happen(self) -> DemoError {
        loop {
            for mishap in 0..3 {
                sleep(QUIET_TIME).await;
                let outcome = match mishap {
                    0 => self.lost_network().await,
                    1 => self.failed_print().await,
                    _ => self.unknown_start().await,
                };
                // However it ended, the floor is whole again.
                self.machines.iter().for_each(|machine| machine.handle.set_faults(PrinterFaults::default()));
                match outcome {
                    Ok(()) => {}
                    Err(error) => return error,
                }
            }
        }
    }

    /// Disconnects a printer in the middle of a print, to demonstrate that a failure stays local and that no print is
    /// started twice.
    async fn lost_network(&self) -> Result<(), DemoError> {
        let Some((machine, job)) = self.printing(0.1..0.6).await? else { return Ok(()) };
        let outcome = self.lose_network(machine, job).await;
        machine.release();
        outcome
    }

    async fn lose_network(&self, machine: &DemoPrinter, job: AffectedJob) -> Result<(), DemoError> {
        let (name, number) = (&machine.name, &job.number);
        self.bad(&format!("{name} loses its network connection in the middle of {number} and keeps printing unseen"))?;
        machine.handle.set_faults(PrinterFaults { disconnect: true, ..PrinterFaults::default() });
        if !self.printer_until(machine, |printer| printer["status"]["state"] == "offline").await? {
            return Ok(());
        }
        self.quiet(&format!("{number} is on hold until {name} responds again; it is not started anywhere else"))?;
        sleep(READING_TIME).await;
        machine.handle.set_faults(PrinterFaults::default());
        self.quiet(&format!("{name} is back on the network"))?;
        self.rescued(&job, |job| match starts(job) {
            1 => format!("{number} is finished: {name} printed it exactly once"),
            _ => format!("{number} is finished: it was printed again, because {name} had lost it"),
        })
        .await
    }

    /// Makes a print fail, to demonstrate that the server detects a failed print and prints it again.
    async fn failed_print(&self) -> Result<(), DemoError> {
        let Some((machine, job)) = self.printing(0.05..0.5).await? else { return Ok(()) };
        let outcome = self.fail_print(machine, job).await;
        machine.release();
        outcome
    }

    async fn fail_print(&self, machine: &DemoPrinter, job: AffectedJob) -> Result<(), DemoError> {
        let progress = machine.handle.with(|machine| machine.job().map_or(0.5, simulator::printer::PrintJob::progress));
        let fail_at = Some(FailAt { progress: (progress + 0.1).min(0.9) });
        machine.handle.set_faults(PrinterFaults { fail_at, ..PrinterFaults::default() });
        // Some printers cannot tell a failed print from a cancelled one.
        let ended =
            |job: &Value| matches!(last_attempt(job)["state"].as_str(), Some("finished" | "failed" | "cancelled"));
        let failed = self.job_until(&job, ended).await?.filter(|job| last_attempt(job)["state"] != "finished");
        let Some(failed) = failed else { return Ok(()) };
        let (name, number) = (&machine.name, &job.number);
        let reason = last_attempt(&failed)["reason"].as_str().unwrap_or("the printer did not report a reason");
        self.bad(&format!("the print of {number} on {name} fails: {reason}"))?;
        self.quiet(&format!("staff clear {name}; {number} is printed again"))?;
        self.rescued(&job, |job| format!("{number} is finished after {} starts", starts(job))).await
    }

    /// Loses the response to a start, to demonstrate that the server does not guess when it is unknown whether a print
    /// has started.
    async fn unknown_start(&self) -> Result<(), DemoError> {
        let late = PrinterFaults { start_late: Some(Delay { after_ms: LATE_START_MS }), ..PrinterFaults::default() };
        let late_starts = |machine: &DemoPrinter| machine.handle.with(|machine| machine.withheld_starts());
        let earlier: Vec<u64> = self.machines.iter().map(late_starts).collect();
        self.machines.iter().for_each(|machine| machine.handle.set_faults(late.clone()));
        let end = Instant::now() + STEP_TIMEOUT;
        let struck = loop {
            let mut machines = self.machines.iter().zip(&earlier);
            match machines.find(|(machine, earlier)| late_starts(machine) > **earlier) {
                Some((machine, _)) => break machine,
                None if Instant::now() > end => return Ok(()),
                None => sleep(LOOK_INTERVAL / 10).await,
            }
        };
        struck.handle.set_faults(PrinterFaults { disconnect: true, ..late });
        self.machines.iter().filter(|machine| machine.id != struck.id).for_each(|machine| {
            machine.handle.set_faults(PrinterFaults::default());
        });
        let Some(job) = self.in_hand(struck).await? else { return Ok(()) };
        let (name, number) = (&struck.name, &job.number);
        self.bad(&format!(
            "{name} receives the start of {number} and goes offline, so it is unknown whether it is printing"
        ))?;
        let doubted = |job: &Value| last_attempt(job)["unverified"] == true;
        if self.job_until(&job, doubted).await?.is_none() {
            return Ok(());
        }
        self.quiet(&format!("{number} is unverified: the server does not guess, and does not start it anywhere else"))?;
        sleep(READING_TIME).await;
        struck.handle.set_faults(PrinterFaults::default());
        self.quiet(&format!("{name} is back and reports the outcome"))?;
        self.rescued(&job, |job| match starts(job) {
            1 => format!("{number} is finished: the start had arrived and was not sent again"),
            _ => format!("{number} is finished: the first start had provably not arrived, so it was started again"),
        })
        .await
    }

    /// Waits until a printer is printing a job whose progress is within the given bounds; returns both.
    async fn printing(&self, within: std::ops::Range<f64>) -> Result<Option<(&DemoPrinter, AffectedJob)>, DemoError> {
        let end = Instant::now() + STEP_TIMEOUT;
        let mut first = 0;
        while Instant::now() < end {
            // Another one each time, as far as there are several.
            first += 1;
            for machine in self.machines.iter().cycle().skip(first).take(self.machines.len()) {
                let progress = machine.handle.with(|machine| {
                    machine.job().filter(|job| job.ended.is_none()).map(simulator::printer::PrintJob::progress)
                });
                if !progress.is_some_and(|progress| within.contains(&progress)) || !machine.take() {
                    continue;
                }
                if let Some(job) = self.in_hand(machine).await? {
                    return Ok(Some((machine, job)));
                }
                machine.release();
            }
            sleep(LOOK_INTERVAL).await;
        }
        Ok(None)
    }

    /// Returns the job that a printer is working on.
    async fn in_hand(&self, machine: &DemoPrinter) -> Result<Option<AffectedJob>, DemoError> {
        let Some(printer) = self.read(&format!("/api/printers/{}", machine.id)).await? else { return Ok(None) };
        let Some(id) = printer["jobId"].as_str() else { return Ok(None) };
        let Some(job) = self.read(&format!("/api/jobs/{id}")).await? else { return Ok(None) };
        let number = job["number"].as_str().unwrap_or(id).to_owned();
        Ok(Some(AffectedJob { id: id.to_owned(), number }))
    }

    async fn printer_until(&self, machine: &DemoPrinter, so: impl Fn(&Value) -> bool) -> Result<bool, DemoError> {
        Ok(self.until(&format!("/api/printers/{}", machine.id), so).await?.is_some())
    }

    async fn job_until(&self, job: &AffectedJob, so: impl Fn(&Value) -> bool) -> Result<Option<Value>, DemoError> {
        self.until(&format!("/api/jobs/{}", job.id), so).await
    }

    /// Polls a resource until it satisfies `so`; `None` on timeout.
    async fn until(&self, path: &str, so: impl Fn(&Value) -> bool) -> Result<Option<Value>, DemoError> {
        let end = Instant::now() + STEP_TIMEOUT;
        while Instant::now() < end {
            if let Some(value) = self.read(path).await?.filter(|value| so(value)) {
                return Ok(Some(value));
            }
            sleep(LOOK_INTERVAL).await;
        }
        Ok(None)
    }

    /// Reads a resource; `None` if the server cannot respond at the moment.
    async fn read(&self, path: &str) -> Result<Option<Value>, DemoError> {
        match self.api.get(path).await {
            Ok(value) => Ok(Some(value)),
            Err(RequestError::Refused { .. } | RequestError::Unavailable(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the affected job recovers from a mishap, and reports that.
    async fn rescued(&self, job: &AffectedJob, words: impl Fn(&Value) -> String) -> Result<(), DemoError> {
        let Some(done) = self.job_until(job, |job| job["state"] == "COMPLETED").await? else { return Ok(()) };
        count(&self.tally.rescued);
        self.screen.line(LineTone::Good, &format!("RESCUED   {}", words(&done)))
    }

    fn bad(&self, words: &str) -> Result<(), DemoError> {
        count(&self.tally.mishaps);
        self.screen.line(LineTone::Bad, &format!("MISHAP    {words}"))
    }

    fn quiet(&self, words: &str) -> Result<(), DemoError> {
        self.screen.line(LineTone::Plain, &format!("          {words}"))
    }
}

/// Returns the number of a job's attempts whose print was, or may have been, started.
fn starts(job: &Value) -> usize {
    let attempts = job["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
    attempts.iter().filter(|attempt| !matches!(attempt["state"].as_str(), Some("not_started" | "refused"))).count()
}

fn last_attempt(job: &Value) -> &Value {
    job["attempts"].as_array().and_then(|attempts| attempts.last()).unwrap_or(&Value::Null)
}
