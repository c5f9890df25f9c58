//! Adapter that drives a simulated machine directly: method calls replace the protocol.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use simulator::gcode::GcodeFacts;
use simulator::printer::machine::SHUTDOWN_BY_REQUEST;
use simulator::printer::{CommandError, Controller, DeleteError, Machine};
use tokio::time::sleep;

use crate::machine::{FloorMachine, Stumble};
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::report;
use domain::printer_status::{Activity, PastPrint, PrintEnd, ServerRun, Status};
use domain::time::Timestamp;
use printers::PrinterType;
use printers::adapter::{Adapter, Deleted, Launch, Operation, PrinterError, RemoteFile, Source};

/// Latency of a request in each direction.
const WAY: Duration = Duration::from_millis(5);
/// Timeout for a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Types of printers that report what is in their slots.
pub const REPORT_SLOTS: [&str; 2] = ["fw_rest", "mqtt_lan"];

/// Adapter for one machine.
pub struct MachineAdapter {
    /// Printer type as which the machine is registered.
    pub declared: &'static PrinterType,
    /// Machine on the shop floor.
    pub machine: Arc<FloorMachine>,
    /// Power of the server that the adapter belongs to.
    pub power: Arc<Power>,
    /// Fault planted in the run.
    pub planter: Arc<Planter>,
}

impl MachineAdapter {
    /// Executes a request on the machine, with network latency. The request or the response may be lost, and the
    /// machine may refuse the request or only pretend to execute it.
    async fn call<T: Send>(
        &self,
        act: impl FnOnce(&mut Machine) -> Result<T, PrinterError> + Send,
    ) -> Result<T, PrinterError> {
        self.power.hold().await;
        let passage = self.machine.passage();
        sleep(WAY + passage.delay).await;
        self.power.hold().await;
        let is_lost = |machine: &mut Machine| machine.reachable() && (machine.loses_request() || machine.faults().hang);
        if passage.loses_request || self.machine.with(is_lost) {
            sleep(PATIENCE).await;
            return Err(PrinterError::Timeout);
        }
        let stumble = self.machine.stumble();
        let (result, is_cut) = self.machine.with(|machine| {
            if !machine.reachable() {
                return (Err(PrinterError::Unreachable("no response".to_owned())), false);
            }
            if machine.faults().wrong_key {
                return (Err(PrinterError::WrongKey("unauthorized".to_owned())), false);
            }
            let result = match stumble {
                None => act(machine),
                Some(Stumble::Refuses) => Err(internal_error()),
                Some(Stumble::Pretends) => act(machine).and(Err(internal_error())),
            };
            (result, !machine.reachable())
        });
        if is_cut {
            return Err(PrinterError::Lost("the connection was cut".to_owned()));
        }
        if passage.loses_answer {
            sleep(PATIENCE).await;
            return Err(PrinterError::Timeout);
        }
        sleep(WAY).await;
        result
    }

    /// Executes a read-only request. Its response may be delayed and thus outdated.
    async fn query<T: Send>(
        &self,
        act: impl FnOnce(&mut Machine) -> Result<T, PrinterError> + Send,
    ) -> Result<T, PrinterError> {
        let result = self.call(act).await;
        if let Some(delay) = self.machine.with(|machine| machine.faults().queries_answer_late) {
            sleep(Duration::from_millis(delay.after_ms)).await;
        }
        result
    }

    /// Fails if printers of the type lack an operation.
    fn check(&self, operation: Operation) -> Result<(), PrinterError> {
        if self.supports(operation) { Ok(()) } else { Err(PrinterError::Unsupported(operation)) }
    }

    /// Executes a request that changes something; each direction counts as a step at which the server may crash.
    async fn change<T: Send>(
        &self,
        act: impl FnOnce(&mut Machine) -> Result<T, PrinterError> + Send,
    ) -> Result<T, PrinterError> {
        self.power.pass().await;
        let result = self.call(act).await;
        self.power.pass().await;
        result
    }

    /// Starts a print that takes its filaments from these slots, if any.
    async fn begin(&self, name: &str, slots: Vec<(u32, i64)>) -> Result<(), PrinterError> {
        let is_repeated = self.planter.strikes(Plant::RepeatedStart);
        self.command(|machine| {
            if !slots.is_empty() {
                machine.feed(name, slots);
            }
            machine.start(name)?;
            if is_repeated {
                machine.cancel()?;
                machine.start(name)?;
            }
            Ok(())
        })
        .await
    }

    /// Executes a command on the machine.
    async fn command<T>(
        &self,
        act: impl FnOnce(&mut Machine) -> Result<T, CommandError> + Send,
    ) -> Result<(), PrinterError> {
        self.change(|machine| act(machine).map(drop).map_err(refusal)).await
    }
}

/// Returns the error for a command that the machine did not execute.
fn refusal(error: CommandError) -> PrinterError {
    let words = error.to_string();
    match error {
        CommandError::NotReady => PrinterError::FirmwareDisconnected(words),
        CommandError::Busy => PrinterError::InUse(words),
        CommandError::NoFile => PrinterError::NotFound(words),
        CommandError::Refused => PrinterError::Refused { status: 400, message: words },
    }
}

/// Returns the response from a machine that fails with an internal error.
fn internal_error() -> PrinterError {
    PrinterError::Refused { status: 500, message: "internal server error".to_owned() }
}

/// Stores an upload, subject to the machine's faults.
fn store(machine: &mut Machine, name: &str, bytes: Vec<u8>, facts: Arc<GcodeFacts>) -> Result<String, PrinterError> {
    let mut faults = machine.faults().clone();
    if faults.cut_uploads > 0 {
        faults.cut_uploads -= 1;
        machine.set_faults(faults);
        return Err(PrinterError::Lost("the connection was cut".to_owned()));
    }
    if machine.in_use(name) {
        return Err(PrinterError::InUse(name.to_owned()));
    }
    if faults.disk_full {
        return Err(PrinterError::Refused { status: 507, message: "no space left on device".to_owned() });
    }
    let sent = bytes.len();
    let stored = machine.store(name, bytes.into(), facts).bytes.len();
    if faults.drop_after_upload {
        return Err(PrinterError::Lost("no response".to_owned()));
    }
    if stored == sent {
        return Ok(name.to_owned());
    }
    // It is read back, and what was stored instead is of no use to anybody.
    let _ = machine.delete(name); // it may never have been stored
    Err(PrinterError::Altered(format!("{stored} of {sent} bytes")))
}

/// Reads the file to send, preceded by the line that identifies its print. Reads on the caller's thread, so that
/// nothing depends on the timing of another one.
fn contents(source: &Source) -> io::Result<Vec<u8>> {
    let mut bytes = source.first_line.as_ref().map(|line| format!("{line}\n").into_bytes()).unwrap_or_default();
    bytes.extend(std::fs::read(&source.path)?);
    Ok(bytes)
}

#[async_trait]
impl Adapter for MachineAdapter {
    fn declared(&self) -> &'static PrinterType {
        self.declared
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.change(|machine| {
            machine.connect();
            Ok(())
        })
        .await
    }

    async fn disconnect(&self) -> Result<(), PrinterError> {
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        self.query(|machine| Ok(*machine.controller() == Controller::Ready)).await.unwrap_or(false)
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        let has_slots = REPORT_SLOTS.contains(&self.declared.word);
        let status = self.query(|machine| Ok(report::status(machine, has_slots, at))).await?;
        if self.planter.has(Plant::DeafPrinter) && status.ended == Some(PrintEnd::Finished) {
            return Ok(Status { state: Activity::Printing, ended: None, ..status });
        }
        Ok(status)
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let bytes = contents(source).map_err(|error| PrinterError::Invalid(error.to_string()))?;
        let facts = Arc::new(GcodeFacts::read(&bytes));
        if let Some(slow) = self.machine.with(|machine| machine.faults().slow_upload) {
            sleep(Duration::from_secs(bytes.len() as u64 / slow.bytes_per_second.max(1))).await;
        }
        self.change(|machine| store(machine, name, bytes, facts)).await
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        self.begin(name, Vec::new()).await
    }

    async fn launch(&self, launch: &Launch) -> Result<(), PrinterError> {
        let slots = launch.slots.iter().filter(|_| self.declared.maps_slots).zip(0..);
        let slots = slots.filter_map(|(chosen, filament)| Some((filament, i64::from(chosen.as_ref()?.slot))));
        self.begin(&launch.name, slots.collect()).await
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.command(Machine::pause).await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.command(Machine::resume).await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.command(Machine::cancel).await
    }

    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        self.check(Operation::EmergencyStop)?;
        self.command(|machine| machine.emergency_stop(SHUTDOWN_BY_REQUEST)).await
    }

    async fn history(&self, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        self.check(Operation::History)?;
        self.query(|machine| Ok(report::history(machine, name))).await
    }

    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        if !self.supports(Operation::History) {
            return Ok(None);
        }
        self.query(|machine| Ok(Some(machine.server_started_at().to_string()))).await
    }

    async fn server_ran_since(&self, mark: &str) -> Result<ServerRun, PrinterError> {
        self.query(|machine| {
            let is_same = machine.server_started_at().to_string() == mark;
            Ok(if is_same { ServerRun::Unbroken } else { ServerRun::Restarted })
        })
        .await
    }

    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        if self.planter.strikes(Plant::KeptFile) {
            return Ok(Deleted::Gone);
        }
        self.change(|machine| match machine.delete(name) {
            Ok(()) => Ok(Deleted::Gone),
            Err(DeleteError::NoFile) => Ok(Deleted::NotFound),
            Err(DeleteError::InUse) => Err(PrinterError::InUse(name.to_owned())),
        })
        .await
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        let file = |(path, size): (&String, usize)| RemoteFile {
            path: path.clone(),
            size: Some(size as u64),
            modified_at: None,
        };
        self.query(|machine| {
            let files = machine.files().iter().map(|(path, stored)| (path, stored.bytes.len()));
            Ok(files.map(file).collect())
        })
        .await
    }

    async fn run_gcode(&self, commands: &[String]) -> Result<Vec<String>, PrinterError> {
        self.check(Operation::RunGcode)?;
        self.command(|machine| commands.iter().try_for_each(|line| machine.gcode(line))).await?;
        Ok(Vec::new())
    }

    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        self.check(Operation::RestartFirmware)?;
        self.command(Machine::restart).await
    }

    async fn home(&self) -> Result<(), PrinterError> {
        self.check(Operation::Home)?;
        self.command(|machine| machine.gcode("G28")).await
    }
}
