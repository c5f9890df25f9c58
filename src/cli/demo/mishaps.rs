//! Mishaps on the simulated floor, one after the other, and how the shop gets over each: a printer loses its network in
//! the middle of a print, a print fails, and the answer to a start is lost, so that nobody can tell whether it
//! happened.
//!
//! Only the virtual printers are tampered with; what the server makes of it is read from its API.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::Value;
use simulator::faults::{Delay, FailAt};
use simulator::{Faults, SimHandle};
use tokio::time::{Instant, sleep};

use super::screen::{Screen, Tone};
use super::tally::{Tally, count};
use crate::cli::CliError;
use crate::cli::api::{Api, ApiFailure};

/// Quiet time before each mishap.
const QUIET_TIME: Duration = Duration::from_secs(8);
/// How long people have to read what the server makes of a mishap, before the printer comes back.
const READING_TIME: Duration = Duration::from_secs(5);
/// Interval between two looks at what is waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Longest wait for one step; then the mishap is called off.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);
/// How late a printer carries out the start whose answer is lost, in milliseconds.
const LATE_START_MS: u64 = 2_000;

/// A virtual printer, as it is registered.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The server's id of it.
    pub id: String,
    /// Its name in the shop.
    pub name: String,
    /// Controls the virtual printer.
    pub handle: SimHandle,
    /// Whether something is being done to it that nothing else should meddle with.
    taken: Arc<AtomicBool>,
}

impl Machine {
    /// A machine that nothing is done to.
    pub fn new(id: String, name: String, handle: SimHandle) -> Self {
        Self { id, name, handle, taken: Arc::default() }
    }

    /// Takes it for something that nothing else should meddle with; says whether nothing else had.
    pub fn take(&self) -> bool {
        !self.taken.swap(true, Relaxed)
    }

    /// Gives it back.
    pub fn release(&self) {
        self.taken.store(false, Relaxed);
    }
}

/// The job in which a mishap happens.
struct Struck {
    id: String,
    number: String,
}

/// Brings mishaps about, one at a time, and tells them.
pub struct Mishaps {
    api: Api,
    machines: Vec<Machine>,
    screen: Screen,
    tally: Arc<Tally>,
}

impl Mishaps {
    /// On these printers; nothing happens yet.
    pub fn new(api: Api, machines: Vec<Machine>, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, machines, screen, tally }
    }

    /// One mishap after the other; returns only on an error.
    pub async fn happen(self) -> CliError {
        loop {
            for mishap in 0..3 {
                sleep(QUIET_TIME).await;
                let told = match mishap {
                    0 => self.lost_network().await,
                    1 => self.failed_print().await,
                    _ => self.unknown_start().await,
                };
                // However it ended, the floor is whole again.
                self.machines.iter().for_each(|machine| machine.handle.set_faults(Faults::default()));
                match told {
                    Ok(()) => {}
                    Err(error) => return error,
                }
            }
        }
    }

    /// Promise: a failure stays local, and no print is started twice.
    async fn lost_network(&self) -> Result<(), CliError> {
        let Some((machine, job)) = self.printing(0.1..0.6).await? else { return Ok(()) };
        let told = self.lose_network(machine, job).await;
        machine.release();
        told
    }

    async fn lose_network(&self, machine: &Machine, job: Struck) -> Result<(), CliError> {
        let (name, number) = (&machine.name, &job.number);
        self.bad(&format!("{name} loses its network in the middle of {number}; it prints on unseen"))?;
        machine.handle.set_faults(Faults { disconnect: true, ..Faults::default() });
        if !self.printer_until(machine, |printer| printer["status"]["state"] == "offline").await? {
            return Ok(());
        }
        self.quiet(&format!("{number} waits for {name} to answer again and is started nowhere else"))?;
        sleep(READING_TIME).await;
        machine.handle.set_faults(Faults::default());
        self.quiet(&format!("{name} has its network back"))?;
        self.rescued(&job, |job| match starts(job) {
            1 => format!("{number} is finished: {name} printed it once, from beginning to end"),
            _ => format!("{number} is finished: it was made again, because {name} had lost it"),
        })
        .await
    }

    /// Promise: a failed print is seen, and made again.
    async fn failed_print(&self) -> Result<(), CliError> {
        let Some((machine, job)) = self.printing(0.05..0.5).await? else { return Ok(()) };
        let told = self.fail_print(machine, job).await;
        machine.release();
        told
    }

    async fn fail_print(&self, machine: &Machine, job: Struck) -> Result<(), CliError> {
        let progress = machine.handle.with(|machine| machine.job().map_or(0.5, simulator::printer::Job::progress));
        let fail_at = Some(FailAt { progress: (progress + 0.1).min(0.9) });
        machine.handle.set_faults(Faults { fail_at, ..Faults::default() });
        // Some printers cannot tell a failed print from a cancelled one.
        let ended =
            |job: &Value| matches!(last_attempt(job)["state"].as_str(), Some("finished" | "failed" | "cancelled"));
        let failed = self.job_until(&job, ended).await?.filter(|job| last_attempt(job)["state"] != "finished");
        let Some(failed) = failed else { return Ok(()) };
        let (name, number) = (&machine.name, &job.number);
        let reason = last_attempt(&failed)["reason"].as_str().unwrap_or("the printer does not say why");
        self.bad(&format!("the print of {number} on {name} fails: {reason}"))?;
        self.quiet(&format!("staff looks after {name} and has {number} printed again"))?;
        self.rescued(&job, |job| format!("{number} was made again, after {} starts in all", starts(job))).await
    }

    /// Promise: when nobody can tell whether a print began, the server does not guess.
    async fn unknown_start(&self) -> Result<(), CliError> {
        let late = Faults { start_late: Some(Delay { after_ms: LATE_START_MS }), ..Faults::default() };
        self.machines.iter().for_each(|machine| machine.handle.set_faults(late.clone()));
        let end = Instant::now() + STEP_TIMEOUT;
        let struck = loop {
            let waits = |machine: &&Machine| machine.handle.with(|machine| machine.start_awaited());
            match self.machines.iter().find(waits) {
                Some(machine) => break machine,
                None if Instant::now() > end => return Ok(()),
                None => sleep(LOOK_INTERVAL / 10).await,
            }
        };
        struck.handle.set_faults(Faults { disconnect: true, ..late });
        self.machines.iter().filter(|machine| machine.id != struck.id).for_each(|machine| {
            machine.handle.set_faults(Faults::default());
        });
        let Some(job) = self.in_hand(struck).await? else { return Ok(()) };
        let (name, number) = (&struck.name, &job.number);
        self.bad(&format!("{name} takes the start of {number} and is gone: nobody can tell whether it prints"))?;
        let doubted = |job: &Value| last_attempt(job)["unverified"] == true;
        if self.job_until(&job, doubted).await?.is_none() {
            return Ok(());
        }
        self.quiet(&format!("{number} is unverified: the server does not guess and starts it nowhere else"))?;
        sleep(READING_TIME).await;
        struck.handle.set_faults(Faults::default());
        self.quiet(&format!("{name} is back, and says itself what it did"))?;
        self.rescued(&job, |job| match starts(job) {
            1 => format!("{number} is finished: the start had arrived, and was never repeated"),
            _ => format!("{number} is finished: the first start had not arrived, and was proven so before another"),
        })
        .await
    }

    /// Waits until a printer prints a job whose progress is within these bounds.
    async fn printing(&self, within: std::ops::Range<f64>) -> Result<Option<(&Machine, Struck)>, CliError> {
        let end = Instant::now() + STEP_TIMEOUT;
        let mut first = 0;
        while Instant::now() < end {
            // Another one each time, as far as there are several.
            first += 1;
            for machine in self.machines.iter().cycle().skip(first).take(self.machines.len()) {
                let progress = machine.handle.with(|machine| {
                    machine.job().filter(|job| job.ended.is_none()).map(simulator::printer::Job::progress)
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

    /// The job that a printer has in hand.
    async fn in_hand(&self, machine: &Machine) -> Result<Option<Struck>, CliError> {
        let Some(printer) = self.read(&format!("/api/printers/{}", machine.id)).await? else { return Ok(None) };
        let Some(id) = printer["jobId"].as_str() else { return Ok(None) };
        let Some(job) = self.read(&format!("/api/jobs/{id}")).await? else { return Ok(None) };
        let number = job["number"].as_str().unwrap_or(id).to_owned();
        Ok(Some(Struck { id: id.to_owned(), number }))
    }

    async fn printer_until(&self, machine: &Machine, so: impl Fn(&Value) -> bool) -> Result<bool, CliError> {
        Ok(self.until(&format!("/api/printers/{}", machine.id), so).await?.is_some())
    }

    async fn job_until(&self, job: &Struck, so: impl Fn(&Value) -> bool) -> Result<Option<Value>, CliError> {
        self.until(&format!("/api/jobs/{}", job.id), so).await
    }

    /// The resource once it is so; `None` when it is not in time.
    async fn until(&self, path: &str, so: impl Fn(&Value) -> bool) -> Result<Option<Value>, CliError> {
        let end = Instant::now() + STEP_TIMEOUT;
        while Instant::now() < end {
            if let Some(found) = self.read(path).await?.filter(|found| so(found)) {
                return Ok(Some(found));
            }
            sleep(LOOK_INTERVAL).await;
        }
        Ok(None)
    }

    /// A resource; `None` when the server has no answer right now.
    async fn read(&self, path: &str) -> Result<Option<Value>, CliError> {
        match self.api.get(path).await {
            Ok(found) => Ok(Some(found)),
            Err(ApiFailure::Refused { .. } | ApiFailure::Unavailable(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the good end of a mishap, and tells it.
    async fn rescued(&self, job: &Struck, words: impl Fn(&Value) -> String) -> Result<(), CliError> {
        let Some(done) = self.job_until(job, |job| job["state"] == "COMPLETED").await? else { return Ok(()) };
        count(&self.tally.rescued);
        self.screen.line(Tone::Good, &format!("RESCUED   {}", words(&done)))
    }

    fn bad(&self, words: &str) -> Result<(), CliError> {
        count(&self.tally.mishaps);
        self.screen.line(Tone::Bad, &format!("MISHAP    {words}"))
    }

    fn quiet(&self, words: &str) -> Result<(), CliError> {
        self.screen.line(Tone::Plain, &format!("          {words}"))
    }
}

/// How many attempts of a job had their print started, or may have had.
fn starts(job: &Value) -> usize {
    let attempts = job["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
    attempts.iter().filter(|attempt| !matches!(attempt["state"].as_str(), Some("not_started" | "refused"))).count()
}

fn last_attempt(job: &Value) -> &Value {
    job["attempts"].as_array().and_then(|attempts| attempts.last()).unwrap_or(&Value::Null)
}
