//! Printer type `mqtt_lan`: Bambu Lab printers in LAN-only mode with Developer Mode, used without the manufacturer's
//! cloud. Reports and commands are sent through the printer's own MQTT broker, and files through its FTP server. Both
//! connections are encrypted, and authenticated with the printer's serial number and access code.

mod address;
mod certificate;
mod command;
mod ftps;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod merge;
mod recognition;
mod report;
mod session;
mod slots;
#[cfg(test)]
mod tests;
mod tls;
mod words;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use self::address::{MQTT_PORT, MqttLanAddress};
use self::command::{MqttCommand, stored_name, subtask_of};
use self::ftps::Ftps;
use self::session::{PrinterSession, SessionSettings};
use self::tls::Tls;
use crate::PrinterType;
use crate::adapter::{
    Adapter, Deleted, Launch, Operation, PrinterError, PushState, RemoteFile, RequestedSlots, Source, Telemetry,
};
use crate::adapter_parts::{AdapterParts, MakeError};
use crate::wire::file_name;
use ::words::staff::printer_form as texts;
use domain::file::GcodeForm;
use domain::launch::FilamentSlot;
use domain::printer_status::{Connection, Status};
use domain::slot_label::SlotLabels;
use domain::time::Timestamp;
use platform::secrets::random::secret_bytes;

/// User name for signing in to printers; the password is the access code.
const USER: &str = "bblp";
/// Time after a failed start command during which the printer is still checked for the print.
const START_SETTLE_TIME: Duration = Duration::from_secs(1);
/// Interval at which a printer that rejected a command is probed to find out whether it accepts commands again.
const REFUSAL_PROBE_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum time to wait for the response to such a probe. The probe is part of a status poll, and a printer that
/// ignores the probe must not appear unreachable.
const REFUSAL_PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// G-code that switches off the heaters of nozzle and bed.
const HEATERS_OFF: [&str; 2] = ["M104 S0", "M140 S0"];

/// Printer type declaration.
pub(super) const TYPE: PrinterType = PrinterType {
    name: "Bambu Lab",
    models: Some(texts::models_of_lan_mode),
    forms: &[GcodeForm::Package],
    maps_slots: true,
    slot_labels: SlotLabels::Changers,
    spool_beside: Some(slots::BESIDE_SLOT),
    lacks: &[
        Operation::History,
        Operation::RestartFirmware,
        Operation::Webcams,
        Operation::SystemInfo,
        Operation::EmergencyStop,
    ],
    scheme: "mqtts",
    needs_serial: true,
    key_label: texts::access_code_field,
    key_hint: texts::hint_key_lan,
    address_hint: texts::hint_address_lan,
    serial_hint: Some(texts::hint_serial_lan),
    own_probe: Some(recognition::PROBE),
    announced: Some(recognition::ANNOUNCEMENT),
    // After a start the state of the last print stays for up to 210 s.
    confirm_factor: 3,
    usual_volume_mm: [256, 256, 256],
    ..PrinterType::of("mqtt_lan", "Bambu Lab printer", MQTT_PORT)
};

/// Makes the adapter for one printer; sends nothing.
pub(super) fn make(parts: AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> {
    Ok(Arc::new(MqttLan::new(parts)?))
}

/// Adapter for one printer.
struct MqttLan {
    declared: &'static PrinterType,
    session: PrinterSession,
    files: Ftps,
    /// Time at which the printer was last probed to find out whether it still rejects commands.
    probed: Mutex<Option<Instant>>,
}

impl MqttLan {
    fn new(parts: AdapterParts) -> Result<Self, MakeError> {
        let AdapterParts { declared, address, shared } = parts;
        let serial = address.serial.trim().to_uppercase();
        if !serial.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(MakeError::BadSerial(format!("{serial:?} is not a valid serial number")));
        }
        let code = address.api_key.trim().to_owned();
        if code.chars().any(char::is_control) {
            return Err(MakeError::BadKey("the access code must be one line".to_owned()));
        }
        let at = MqttLanAddress::read(&address.base_url)?;
        let tls = Tls::new(&serial, &at.host().to_string(), address.known_key.as_deref())?;
        // Random, because a broker closes the older of two connections with the same ID, and a server that was
        // overtaken may still be connected. 23 characters, which every broker accepts.
        let client_id = format!("printfloor-{}", hex::encode(secret_bytes::<6>()));
        let link = SessionSettings { address: at, tls, serial, code, settings: shared.settings, client_id };
        let session = PrinterSession::new(link);
        let files = Ftps::new(session.link.clone());
        Ok(Self { declared, session, files, probed: Mutex::default() })
    }

    /// Sends a command and waits for the reply, within the time limit for commands that may move the printer.
    async fn command(&self, command: &MqttCommand) -> Result<(), PrinterError> {
        self.session.ready().await?;
        self.session.ask(command, self.session.link.settings.command_timeout).await
    }

    /// Probes whether a printer that rejected a command accepts commands again. Its owner may have enabled Developer
    /// Mode in the meantime, which some models do not report. The probe is an empty line of G-code, which does nothing
    /// and is rejected like any other command.
    ///
    /// The probe is also sent during a print. Otherwise the print could not be cancelled until it ended, because
    /// nothing is sent to a printer considered read-only. During a print, at most one such line is accepted, because
    /// probing then stops. Nothing is sent while the printer prepares a print by homing and measuring.
    async fn probe_refusal(&self) {
        if !self.session.read(report::PrinterKnowledge::calls_for_probe) {
            return;
        }
        {
            let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
            if probed.is_some_and(|at| at.elapsed() < REFUSAL_PROBE_INTERVAL) {
                return;
            }
            *probed = Some(Instant::now());
        }
        let probe = MqttCommand::gcode(&[String::new()]);
        let within = self.session.link.settings.request_timeout.min(REFUSAL_PROBE_TIMEOUT);
        let _ = self.session.ask(&probe, within).await;
    }

    /// Stops the current print. A stop command that was definitely not carried out is not recorded as the reason why
    /// the print ended.
    async fn stop(&self, within: Duration) -> Result<(), PrinterError> {
        let mut ends = None;
        self.session.note(|track| ends = track.cancels(Instant::now()));
        let stopped = self.session.ask(&MqttCommand::print("stop"), within).await;
        if let (Some(print), Err(error)) = (&ends, &stopped)
            && error.certainly_not_done()
        {
            self.session.note(|track| track.cancel_failed(print));
        }
        stopped
    }

    /// Fails if a print is in progress, because these printers cancel the current print when a new one is started.
    async fn free(&self) -> Result<(), PrinterError> {
        self.session.fresh().await?;
        self.session.read(report::PrinterKnowledge::busy).map_or(Ok(()), |file| Err(PrinterError::InUse(file)))
    }

    async fn begin(
        &self,
        name: &str,
        subtask: String,
        plate: u32,
        slots: &[Option<FilamentSlot>],
    ) -> Result<(), PrinterError> {
        let name = file_name(name)?;
        self.declared.takes(name)?;
        self.free().await?;
        if self.session.status(Timestamp::default()).connection == Connection::ReadOnly {
            return Err(PrinterError::Refused { status: 409, message: words::READ_ONLY.to_owned() });
        }
        // A start of what is not there is accepted, and fails later. Once the file was looked for, the state is looked
        // at anew.
        let unsent = |error| match error {
            PrinterError::Timeout | PrinterError::Lost(_) => PrinterError::Unreachable(format!("file server: {error}")),
            other => other,
        };
        if !self.files.has(name).await.map_err(unsent)? {
            return Err(PrinterError::NotFound(name.to_owned()));
        }
        self.free().await?;
        let feed = self.session.read(report::PrinterKnowledge::changer).feed(slots)?;
        self.session.note(|track| track.starts(subtask.clone(), name.to_owned()));
        let start = MqttCommand::start(name, plate, &subtask, &feed);
        let error = match self.session.ask(&start, self.session.link.settings.command_timeout).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match error {
            // What it says no to it may do all the same.
            PrinterError::Refused { .. } => {
                sleep(START_SETTLE_TIME).await;
                if self.session.read(|track| track.prints(&subtask)) { Ok(()) } else { Err(error) }
            }
            // Some models say no in their report alone.
            PrinterError::Timeout if self.session.read(report::PrinterKnowledge::print_error) == words::BUSY_ERROR => {
                Err(PrinterError::InUse("the printer reports that it is busy".to_owned()))
            }
            error => Err(error),
        }
    }
}

#[async_trait]
impl Adapter for MqttLan {
    fn declared(&self) -> &'static PrinterType {
        self.declared
    }

    fn shown_key(&self) -> Option<String> {
        self.session.link.tls.known_key()
    }

    async fn connect(&self) -> Result<(), PrinterError> {
        self.session.fresh().await
    }

    /// Closes the session. A running print continues.
    async fn disconnect(&self) -> Result<(), PrinterError> {
        self.session.stop();
        Ok(())
    }

    async fn is_connected(&self) -> bool {
        let connection = self.session.status(Timestamp::default()).connection;
        self.session.is_open() && matches!(connection, Connection::Connected | Connection::ReadOnly)
    }

    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError> {
        self.session.fresh().await?;
        self.probe_refusal().await;
        Ok(self.session.status(at))
    }

    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError> {
        let name = file_name(name)?;
        self.declared.takes(name)?;
        self.free().await?;
        let stored = stored_name(name);
        self.files.store(&stored, source).await?;
        Ok(stored)
    }

    async fn start(&self, name: &str) -> Result<(), PrinterError> {
        self.begin(name, subtask_of(name), 1, &[]).await
    }

    async fn launch(&self, launch: &Launch) -> Result<(), PrinterError> {
        let Launch { name, print, plate, slots } = launch;
        self.begin(name, subtask_of(&print.to_string()), *plate, slots).await
    }

    async fn choose_slots(&self, request: &RequestedSlots) -> Result<Vec<Option<FilamentSlot>>, PrinterError> {
        self.session.fresh().await?;
        self.session.read(report::PrinterKnowledge::changer).choose(request)
    }

    async fn pause(&self) -> Result<(), PrinterError> {
        self.command(&MqttCommand::print("pause")).await
    }

    async fn resume(&self) -> Result<(), PrinterError> {
        self.command(&MqttCommand::print("resume")).await
    }

    async fn cancel(&self) -> Result<(), PrinterError> {
        self.session.ready().await?;
        self.stop(self.session.link.settings.command_timeout).await
    }

    /// Ends the current print, if any, gracefully and switches off the heaters. These printers have no emergency stop;
    /// this is the closest equivalent.
    async fn emergency_stop(&self) -> Result<(), PrinterError> {
        let within = self.session.link.settings.emergency_timeout;
        let stopping = async {
            self.session.ready().await?;
            let busy = self.session.read(report::PrinterKnowledge::busy).is_some();
            let cool = MqttCommand::gcode(&HEATERS_OFF.map(str::to_owned));
            let (stopped, cooled) = tokio::join!(self.stop(within), self.session.ask(&cool, within));
            if !busy {
                return cooled.and(Err(PrinterError::Unsupported(Operation::EmergencyStop)));
            }
            stopped.and(cooled)
        };
        timeout(within, stopping).await.map_err(|_| PrinterError::Timeout)?
    }

    /// Deletes a file and verifies with the file list that it is gone, because a remaining file might start printing by
    /// itself after a power failure.
    async fn delete_file(&self, name: &str) -> Result<Deleted, PrinterError> {
        let name = file_name(name)?;
        self.session.ready().await?;
        if self.session.read(report::PrinterKnowledge::busy).is_some_and(|file| file == name) {
            return Err(PrinterError::InUse(name.to_owned()));
        }
        self.files.delete(name).await
    }

    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        self.files.list().await
    }

    /// Sends lines of G-code, which the printer queues. Their output is not available.
    async fn run_gcode(&self, commands: &[String]) -> Result<Vec<String>, PrinterError> {
        self.command(&MqttCommand::gcode(commands)).await?;
        Ok(Vec::new())
    }

    async fn home(&self) -> Result<(), PrinterError> {
        self.command(&MqttCommand::gcode(&["G28".to_owned()])).await
    }

    /// Returns the serial number and the firmware version.
    async fn server_info(&self) -> Result<Value, PrinterError> {
        let versions = self.printer_info().await?;
        let modules = versions.get("module").and_then(Value::as_array).into_iter().flatten();
        let whole = modules.into_iter().find(|module| module.get("name").and_then(Value::as_str) == Some("ota"));
        let firmware = whole.and_then(|module| module.get("sw_ver")).cloned().unwrap_or_default();
        Ok(json!({ "serial": self.session.link.serial, "firmware": firmware }))
    }

    /// Returns the versions of the printer's components.
    async fn printer_info(&self) -> Result<Value, PrinterError> {
        self.session.ready().await?;
        self.session.ask(&MqttCommand::versions(), self.session.link.settings.request_timeout).await?;
        self.session.versions().ok_or_else(|| PrinterError::BadAnswer("no versions".to_owned()))
    }

    async fn changed(&self) {
        self.session.begin();
        self.session.inbox().woken().await;
    }

    fn push(&self) -> PushState {
        self.session.inbox().state()
    }

    async fn telemetry_pushed(&self) {
        self.session.inbox().collected().await;
    }

    fn telemetry(&self) -> Option<Telemetry> {
        self.session.inbox().telemetry()
    }
}
